/* A DMPLEX of boxes as a grid of cells: where faces are in every direction, and their labels. */
#include "usergrid.h"
#include <petscdmplex.h>

/* Calls work(context, cell, lower, upper) for own cells in order. Ensures: an error on all ranks unless all are boxes. */
typedef PetscErrorCode CellWork(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[]);
static PetscErrorCode  ForCells(DM plex, CellWork *work, void *context)
{
  PetscInt        first, last, ghosts, dim;
  const PetscInt *ghost;
  PetscSF         sf;
  PetscBool       boxes = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(plex, &dim));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(DMGetPointSF(plex, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &ghosts, &ghost, NULL));
  for (PetscInt c = first; c < last; c++) {
    const PetscScalar *array;
    PetscScalar       *x;
    PetscReal          lower[3], upper[3];
    PetscBool          discontinuous;
    PetscInt           n, where = -1;

    if (ghosts > 0 && ghost) PetscCall(PetscFindInt(c, ghosts, ghost, &where));
    if (where >= 0 || (!ghost && c < ghosts)) continue; /* without a list ghosts are the first points */
    PetscCall(DMPlexGetCellCoordinates(plex, c, &discontinuous, &n, &array, &x));
    boxes = (PetscBool)(boxes && n == dim << dim);
    for (PetscInt d = 0; d < dim; d++) lower[d] = PETSC_MAX_REAL, upper[d] = -PETSC_MAX_REAL;
    for (PetscInt i = 0; i < n; i++) {
      lower[i % dim] = PetscMin(lower[i % dim], PetscRealPart(x[i]));
      upper[i % dim] = PetscMax(upper[i % dim], PetscRealPart(x[i]));
    }
    for (PetscInt i = 0; i < n; i++) { /* every vertex is a corner, and no NaN */
      const PetscReal at = PetscRealPart(x[i]), eps = VP_GRID_SLACK * (upper[i % dim] - lower[i % dim]);

      if (!(at - lower[i % dim] <= eps) && !(upper[i % dim] - at <= eps)) boxes = PETSC_FALSE;
    }
    PetscCall(work(context, c, lower, upper));
    PetscCall(DMPlexRestoreCellCoordinates(plex, c, &discontinuous, &n, &array, &x));
  }
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)plex), boxes,
                              "DMConvert(): cells of the DMPLEX must be boxes along the axes: quadrilaterals in 2D, hexahedra in 3D"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* lower and upper ends of cells along every direction */
typedef struct {
  int        dim;
  PetscInt   n;
  PetscReal *end[3]; /* [2 n] */
  PetscReal *center; /* [n][dim] */
} CellEnds;

static PetscErrorCode CountCell(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  ((CellEnds *)context)->n++;
  return PETSC_SUCCESS;
}

static PetscErrorCode StoreEnds(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  CellEnds *c = (CellEnds *)context;

  for (int d = 0; d < c->dim; d++) {
    c->end[d][2 * c->n] = lower[d];
    c->end[d][2 * c->n + 1] = upper[d];
  }
  c->n++;
  return PETSC_SUCCESS;
}

static PetscErrorCode StoreCenter(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  CellEnds *c = (CellEnds *)context;

  for (int d = 0; d < c->dim; d++) c->center[c->n * c->dim + d] = (lower[d] + upper[d]) / 2;
  c->n++;
  return PETSC_SUCCESS;
}

/* sorts x[n] and leaves one of those that rounding alone makes different; eps: how far these are apart at most */
static PetscErrorCode Unique(PetscInt *n, PetscReal x[], PetscReal eps)
{
  PetscInt count = 0;

  PetscFunctionBegin;
  PetscCall(PetscSortReal(*n, x));
  for (PetscInt i = 0; i < *n; i++) {
    if (!count || x[i] > x[count - 1] + eps) x[count++] = x[i];
  }
  *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the different coordinates of all ranks' x[n] */
static PetscErrorCode UniqueOfAll(MPI_Comm comm, PetscInt n, PetscReal x[], PetscInt *count, PetscReal **all)
{
  PetscReal   eps = PETSC_MAX_REAL;
  PetscMPIInt size, mine, *number, *first, total = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += 2) eps = PetscMin(eps, x[i + 1] - x[i]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &eps, 1, MPIU_REAL, MPIU_MIN, comm));
  eps *= 10 * VP_GRID_SLACK;
  PetscCall(Unique(&n, x, eps));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &number, size, &first));
  PetscCall(VpTogether(comm, PetscMPIIntCast(n, &mine)));
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, number, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    first[r] = total;
    PetscCheck(number[r] <= PETSC_MPI_INT_MAX - total, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "DMConvert(): the DMPLEX has more cells than MPI counts");
    total += number[r];
  }
  PetscCall(PetscMalloc1(total, all));
  PetscCallMPI(MPI_Allgatherv(x, mine, MPIU_REAL, *all, number, first, MPIU_REAL, comm));
  PetscCall(PetscFree2(number, first));
  *count = total;
  PetscCall(Unique(count, *all, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* faces' labels */
typedef struct {
  DM          plex;
  DMLabel     label;
  VpUserGrid *grid;
} FaceLabels;

/* the cell along d that x is in */
static PetscInt CellAt(const VpUserGrid *grid, int d, PetscReal x)
{
  PetscInt lower = 0, upper = grid->n[d];

  while (upper - lower > 1) {
    const PetscInt middle = (lower + upper) / 2;

    if (x < grid->face[d][middle]) upper = middle;
    else lower = middle;
  }
  return lower;
}

/* of cells, on a side of the domain */
static PetscInt FacesOf(const VpUserGrid *grid, int side)
{
  return grid->n[VpAlongSide(side, 0)] * grid->n[VpAlongSide(side, 1)];
}

/* A cell's face is on that side of it where its centre is. */
static PetscErrorCode StoreLabels(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  FaceLabels     *f = (FaceLabels *)context;
  VpUserGrid     *grid = f->grid;
  const PetscInt *face;
  PetscInt        faces, label, at[3] = {0, 0, 0};
  PetscReal       center[3];

  PetscFunctionBegin;
  if (!f->label) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < grid->dim; d++) at[d] = CellAt(grid, d, (lower[d] + upper[d]) / 2);
  PetscCall(DMPlexGetConeSize(f->plex, cell, &faces));
  PetscCall(DMPlexGetCone(f->plex, cell, &face));
  for (PetscInt i = 0; i < faces; i++) {
    PetscCall(DMLabelGetValue(f->label, face[i], &label));
    if (label < 0) continue;
    PetscCall(DMPlexComputeCellGeometryFVM(f->plex, face[i], NULL, center, NULL));
    for (int side = 0; side < 2 * grid->dim; side++) {
      const int       d = side / 2;
      const PetscReal end = side % 2 ? upper[d] : lower[d];

      if (PetscAbsReal(center[d] - end) > (upper[d] - lower[d]) / 4 || at[d] != (side % 2 ? grid->n[d] - 1 : 0)) continue;
      *VpLabelOf(grid, side, at) = label;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The labels that PETSc's own meshes have, and those that it reads from files. Some ranks may not have any. */
static PetscErrorCode FindLabels(DM plex, VpUserGrid *grid)
{
  MPI_Comm   comm = PetscObjectComm((PetscObject)plex);
  FaceLabels f = {.plex = plex, .grid = grid};
  PetscInt   depth;
  int        found;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(plex, &depth));
  PetscCall(DMGetLabel(plex, "Face Sets", &f.label));
  if (!f.label) PetscCall(DMGetLabel(plex, "marker", &f.label));
  found = f.label && depth == grid->dim; /* Meshes that are not interpolated have no faces. */
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_LOR, comm));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  for (int side = 0; side < 2 * grid->dim; side++) {
    PetscCall(PetscMalloc1(FacesOf(grid, side), &grid->label[side]));
    for (PetscInt i = 0; i < FacesOf(grid, side); i++) grid->label[side][i] = -1;
  }
  PetscCall(ForCells(plex, StoreLabels, &f));
  for (int side = 0; side < 2 * grid->dim; side++) {
    PetscMPIInt faces;

    PetscCall(PetscMPIIntCast(FacesOf(grid, side), &faces));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, grid->label[side], faces, MPIU_INT, MPI_MAX, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells that do not overlap fill the grid of their faces if they are as many as it has. */
PetscErrorCode VpGridOfPlex(DM plex, VpUserGrid *grid)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)plex);
  const PetscReal *most, *start, *L;
  CellEnds         cells = {0};
  double           whole = 1, total;
  PetscInt         dim;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(plex, &dim));
  grid->dim = cells.dim = (int)dim;
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCheck(dim == 2 || dim == 3, comm, PETSC_ERR_SUP, "DMConvert() of a DMPLEX of %" PetscInt_FMT " dimensions: two or three are needed",
             dim);
  PetscCall(ForCells(plex, CountCell, &cells));
  for (int d = 0; d < grid->dim; d++) PetscCall(PetscMalloc1(2 * cells.n, &cells.end[d]));
  total = (double)cells.n; /* PetscInt may not count the cells of all ranks */
  cells.n = 0;
  PetscCall(ForCells(plex, StoreEnds, &cells));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCheck(total > 0, comm, PETSC_ERR_SUP, "DMConvert(): the DMPLEX has no cells");
  PetscCall(DMGetPeriodicity(plex, &most, &start, &L));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(UniqueOfAll(comm, 2 * cells.n, cells.end[d], &grid->n[d], &grid->face[d]));
    PetscCall(PetscFree(cells.end[d]));
    whole *= (double)--grid->n[d];
    grid->periodic[d] = (PetscBool)(L && L[d] > 0);
  }
  PetscCheck(
    whole == total, comm, PETSC_ERR_SUP,
    "DMConvert(): the %.0f cells of the DMPLEX do not fill a grid, which with their faces has %.0f. Give boxes by DMVPatchDGSetBoxes()",
    total, whole);
  PetscCall(FindLabels(plex, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCentersOfPlex(DM plex, PetscInt *n, PetscReal **center)
{
  CellEnds cells = {0};
  PetscInt dim;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(plex, &dim));
  cells.dim = (int)dim;
  PetscCall(ForCells(plex, CountCell, &cells));
  PetscCall(PetscMalloc1(cells.n * cells.dim, &cells.center));
  cells.n = 0;
  PetscCall(ForCells(plex, StoreCenter, &cells));
  *n = cells.n;
  *center = cells.center;
  PetscFunctionReturn(PETSC_SUCCESS);
}
