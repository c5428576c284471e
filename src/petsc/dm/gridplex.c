/* A DMPLEX as a grid of cells: lists the cells with their labels, and finds the faces in every direction. */
#include "usergrid.h"
#include <petscdmplex.h>

/* the labels of sides and cells; NULL on a rank that has none */
typedef struct {
  DMLabel sides, regions;
} PlexLabels;

/* The labels of sides are "Face Sets" or "marker", whichever the mesh has. */
static PetscErrorCode FindPlexLabels(DM plex, VpUserGrid *grid, PlexLabels *labels)
{
  PetscInt depth;
  int      found[2];

  PetscFunctionBegin;
  PetscCall(DMGetLabel(plex, "Cell Sets", &labels->regions));
  PetscCall(DMGetLabel(plex, "Face Sets", &labels->sides));
  if (!labels->sides) PetscCall(DMGetLabel(plex, "marker", &labels->sides));
  PetscCall(DMPlexGetDepth(plex, &depth));
  if (depth != grid->dim) labels->sides = NULL; /* Meshes that are not interpolated have no faces. */
  found[0] = labels->sides != NULL;
  found[1] = labels->regions != NULL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_INT, MPI_LOR, grid->comm));
  grid->labeled = (PetscBool)found[0];
  grid->regions = (PetscBool)found[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsOwnPoint(DM plex, PetscInt point, PetscBool *own)
{
  PetscInt        ghosts, where = -1;
  const PetscInt *ghost;
  PetscSF         sf;

  PetscFunctionBegin;
  PetscCall(DMGetPointSF(plex, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &ghosts, &ghost, NULL));
  if (ghosts > 0 && ghost) PetscCall(PetscFindInt(point, ghosts, ghost, &where));
  *own = (PetscBool)(where < 0 && (ghost || point >= ghosts)); /* Without a list, the first points are ghosts. */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* end: the lower and upper bounds of a cell. *box becomes false unless every vertex of the cell is a corner. Else *place tells how the cell
   lies. */
static PetscErrorCode FindPlexBounds(DM plex, PetscInt cell, int dim, PetscReal end[2][3], VpPlace *place, PetscBool *box)
{
  PetscReal         *lower = end[0], *upper = end[1];
  const PetscScalar *array;
  PetscScalar       *x;
  PetscBool          discontinuous;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(DMPlexGetCellCoordinates(plex, cell, &discontinuous, &n, &array, &x));
  if (n != dim << dim) *box = PETSC_FALSE;
  for (int d = 0; d < dim; d++) lower[d] = PETSC_MAX_REAL, upper[d] = -PETSC_MAX_REAL;
  for (PetscInt i = 0; i < n; i++) {
    lower[i % dim] = PetscMin(lower[i % dim], PetscRealPart(x[i]));
    upper[i % dim] = PetscMax(upper[i % dim], PetscRealPart(x[i]));
  }
  for (PetscInt i = 0; i < n; i++) { /* NaN is no corner. */
    const PetscReal at = PetscRealPart(x[i]), eps = VP_GRID_SLACK * (upper[i % dim] - lower[i % dim]);

    if (!(at - lower[i % dim] <= eps) && !(upper[i % dim] - at <= eps)) *box = PETSC_FALSE;
  }
  for (int a = 0; a < dim && *box; a++) {
    const PetscScalar *from = x + VpPlexVertexAt[dim][0] * dim, *to = x + VpPlexVertexAt[dim][1 << a] * dim;

    for (int d = 0; d < dim; d++) {
      const PetscReal step = PetscRealPart(to[d] - from[d]);

      if (PetscAbsReal(step) <= (upper[d] - lower[d]) / 2) continue;
      place->axis[d] = (int8_t)a;
      place->flip[d] = step < 0;
    }
  }
  PetscCall(DMPlexRestoreCellCoordinates(plex, cell, &discontinuous, &n, &array, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills label[side] of a cell. The centre of a face tells its side. */
static PetscErrorCode GetSideLabels(DM plex, DMLabel sides, PetscInt cell, const PetscReal lower[], const PetscReal upper[], VpUserCell *to)
{
  const PetscInt *face;
  PetscInt        faces, number, dim;
  PetscReal       center[3];

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(plex, &dim));
  PetscCall(DMPlexGetConeSize(plex, cell, &faces));
  PetscCall(DMPlexGetCone(plex, cell, &face));
  for (PetscInt i = 0; i < faces; i++) {
    PetscCall(DMLabelGetValue(sides, face[i], &number));
    if (number < 0) continue;
    PetscCall(DMPlexComputeCellGeometryFVM(plex, face[i], NULL, center, NULL));
    for (int side = 0; side < 2 * dim; side++) {
      const int d = side / 2;

      if (PetscAbsReal(center[d] - (side % 2 ? upper[d] : lower[d])) <= (upper[d] - lower[d]) / 4) to->label[side] = number;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the own cells in order, without their places in the grid. *boxes: all ranks' cells are boxes */
static PetscErrorCode ListPlexCells(DM plex, const PlexLabels *labels, VpUserGrid *grid, PetscBool *boxes)
{
  PetscInt    first, last;
  PetscMPIInt other;
  PetscBool   own = PETSC_FALSE;

  PetscFunctionBegin;
  *boxes = PETSC_TRUE;
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(PetscMalloc1(last - first, &grid->cell));
  PetscCall(PetscMalloc1(last - first, &grid->point));
  PetscCall(PetscCalloc1(last - first, &grid->place));
  for (int d = 0; d < grid->dim; d++) PetscCall(PetscMalloc1(2 * (last - first), &grid->x[d]));
  for (PetscInt c = first; c < last; c++) {
    VpUserCell *to = grid->cell + grid->ncell;
    PetscReal   end[2][3];

    PetscCall(IsOwnPoint(plex, c, &own));
    if (!own) continue;
    PetscCall(FindPlexBounds(plex, c, grid->dim, end, grid->place + grid->ncell, boxes));
    *to = VP_USER_CELL;
    if (labels->regions) PetscCall(DMLabelGetValue(labels->regions, c, &to->region));
    for (int d = 0; d < grid->dim; d++) {
      for (int s = 0; s < 2; s++) grid->x[d][2 * grid->ncell + s] = end[s][d];
    }
    grid->point[grid->ncell++] = c;
  }
  PetscCall(VpFirstRank(grid->comm, (PetscBool) !*boxes, &other));
  *boxes = (PetscBool)(other == INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sorts x[n] and removes duplicates. Coordinates at most eps apart count as equal. */
static PetscErrorCode RemoveDuplicates(PetscInt *n, PetscReal x[], PetscReal eps)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  if (*n) PetscCall(PetscSortReal(*n, x)); /* x may be NULL on a rank without cells. */
  for (PetscInt i = 0; i < *n; i++) {
    if (!count || x[i] > x[count - 1] + eps) x[count++] = x[i];
  }
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the faces along d from the ends of all ranks' cells. */
static PetscErrorCode FindPlexFaces(VpUserGrid *grid, int d)
{
  PetscInt         n = 2 * grid->ncell;
  const PetscReal *end = grid->x[d];
  PetscReal        eps = PETSC_MAX_REAL, *mine;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += 2) eps = PetscMin(eps, end[i + 1] - end[i]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &eps, 1, MPIU_REAL, MPIU_MIN, grid->comm));
  eps *= 10 * VP_GRID_SLACK;
  PetscCall(PetscMalloc1(n, &mine));
  PetscCall(PetscArraycpy(mine, end, n));
  PetscCall(RemoveDuplicates(&n, mine, eps));
  PetscCall(VpGatherAll(grid->comm, n, sizeof(PetscReal), mine, &grid->n[d], &grid->face[d]));
  PetscCall(PetscFree(mine));
  PetscCall(RemoveDuplicates(&grid->n[d], grid->face[d], eps));
  PetscCheck(grid->n[d], grid->comm, PETSC_ERR_SUP, "DMConvert(): the DMPLEX has no cells");
  grid->n[d]--;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* index along d of the face closest to x */
static PetscInt FaceAt(const VpUserGrid *grid, int d, PetscReal x)
{
  const PetscInt   at = VpUserCellAt(grid, d, x);
  const PetscReal *face = grid->face[d] + at;

  return x - face[0] < face[1] - x ? at : at + 1;
}

/* Places cells that are boxes between the faces of all of them. */
static PetscErrorCode PlaceBoxes(DM plex, DMLabel sides, VpUserGrid *grid)
{
  const PetscReal *most, *start, *L;

  PetscFunctionBegin;
  PetscCall(DMGetPeriodicity(plex, &most, &start, &L));
  for (PetscInt c = 0; c < grid->ncell && sides; c++) {
    PetscReal lower[3], upper[3];

    for (int d = 0; d < grid->dim; d++) lower[d] = grid->x[d][2 * c], upper[d] = grid->x[d][2 * c + 1];
    PetscCall(GetSideLabels(plex, sides, grid->point[c], lower, upper, grid->cell + c));
  }
  for (int d = 0; d < grid->dim; d++) grid->periodic[d] = (PetscBool)(L && L[d] > 0);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, grid->periodic, 3, MPIU_BOOL, MPI_LOR, grid->comm));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(FindPlexFaces(grid, d));
    for (PetscInt c = 0; c < grid->ncell; c++) {
      grid->cell[c].at[d] = FaceAt(grid, d, grid->x[d][2 * c]);
      grid->cell[c].n[d] = FaceAt(grid, d, grid->x[d][2 * c + 1]) - grid->cell[c].at[d];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGridOfPlex(DM plex, VpUserGrid *grid)
{
  PetscInt   dim, cells;
  PlexLabels labels;
  PetscBool  boxes = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMGetDimension(plex, &cells));
  PetscCall(DMGetCoordinateDim(plex, &dim));
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCheck(dim == 2 || dim == 3, grid->comm, PETSC_ERR_SUP,
             "DMConvert() of a DMPLEX of %" PetscInt_FMT " dimensions: two or three are needed", dim);
  PetscCheck(cells == dim, grid->comm, PETSC_ERR_SUP,
             "DMConvert(): the cells of the DMPLEX have %" PetscInt_FMT " dimensions and lie in space of %" PetscInt_FMT
             ". Surfaces in space are no domains: mesh the volume, or give points in the plane",
             cells, dim);
  grid->dim = (int)dim;
  PetscCall(FindPlexLabels(plex, grid, &labels));
  PetscCall(ListPlexCells(plex, &labels, grid, &boxes));
  PetscCall(boxes ? PlaceBoxes(plex, labels.sides, grid) : VpPlacePlexCells(plex, labels.sides, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
