/* A DMPLEX of boxes as a grid of cells: finds the faces in every direction, the labels, and the list of cells if these do not fill the
   grid. */
#include "usergrid.h"
#include <petscdmplex.h>

/* Calls work(context, cell, lower, upper) for own cells in order. Ensures: an error on all ranks unless all cells are boxes. */
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
    if (where >= 0 || (!ghost && c < ghosts)) continue; /* Without a list, the first points are ghosts. */
    PetscCall(DMPlexGetCellCoordinates(plex, c, &discontinuous, &n, &array, &x));
    boxes = (PetscBool)(boxes && n == dim << dim);
    for (PetscInt d = 0; d < dim; d++) lower[d] = PETSC_MAX_REAL, upper[d] = -PETSC_MAX_REAL;
    for (PetscInt i = 0; i < n; i++) {
      lower[i % dim] = PetscMin(lower[i % dim], PetscRealPart(x[i]));
      upper[i % dim] = PetscMax(upper[i % dim], PetscRealPart(x[i]));
    }
    for (PetscInt i = 0; i < n; i++) { /* Every vertex must be a corner; NaN fails, too. */
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

/* the lower and upper ends of cells in every direction */
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

/* Sorts x[n] and removes duplicates. Coordinates at most eps apart count as equal. */
static PetscErrorCode RemoveDuplicates(PetscInt *n, PetscReal x[], PetscReal eps)
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

/* *all: the n items of `bytes` bytes from every rank, ordered by rank; freed by the caller */
static PetscErrorCode GatherAll(MPI_Comm comm, PetscInt n, MPI_Datatype type, size_t bytes, const void *mine, PetscInt *count, void *all)
{
  PetscMPIInt size, here, *number, *first, total = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc2(size, &number, size, &first));
  PetscCall(VpTogether(comm, PetscMPIIntCast(n, &here)));
  PetscCallMPI(MPI_Allgather(&here, 1, MPI_INT, number, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    first[r] = total;
    PetscCheck(number[r] <= PETSC_MPI_INT_MAX - total, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "DMConvert(): the DMPLEX has more cells than MPI counts");
    total += number[r];
  }
  PetscCall(PetscMalloc((size_t)total * bytes, (void **)all));
  PetscCallMPI(MPI_Allgatherv(mine, here, type, *(void **)all, number, first, type, comm));
  PetscCall(PetscFree2(number, first));
  *count = total;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *all: the distinct coordinates of all ranks' x[n] */
static PetscErrorCode GatherDistinct(MPI_Comm comm, PetscInt n, PetscReal x[], PetscInt *count, PetscReal **all)
{
  PetscReal eps = PETSC_MAX_REAL;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i += 2) eps = PetscMin(eps, x[i + 1] - x[i]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &eps, 1, MPIU_REAL, MPIU_MIN, comm));
  eps *= 10 * VP_GRID_SLACK;
  PetscCall(RemoveDuplicates(&n, x, eps));
  PetscCall(GatherAll(comm, n, MPIU_REAL, sizeof(PetscReal), x, count, all));
  PetscCall(RemoveDuplicates(count, *all, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the places of cells in the grid, and the labels of their faces */
typedef struct {
  DM          plex;
  DMLabel     label; /* or NULL */
  VpUserGrid *grid;
  PetscInt    n;
  VpUserCell *cell; /* [n] own cells */
} Places;

/* index along d of the cell that contains x */
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

/* index along d of the face closest to x */
static PetscInt FaceAt(const VpUserGrid *grid, int d, PetscReal x)
{
  const PetscInt   at = CellAt(grid, d, x);
  const PetscReal *face = grid->face[d] + at;

  return x - face[0] < face[1] - x ? at : at + 1;
}

/* label[side] of a cell, -1 for none. The centre of a face tells its side. */
static PetscErrorCode GetLabels(const Places *p, PetscInt cell, const PetscReal lower[], const PetscReal upper[], PetscInt label[6])
{
  const PetscInt *face;
  PetscInt        faces, number;
  PetscReal       center[3];

  PetscFunctionBegin;
  for (int side = 0; side < 6; side++) label[side] = -1;
  if (!p->label) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMPlexGetConeSize(p->plex, cell, &faces));
  PetscCall(DMPlexGetCone(p->plex, cell, &face));
  for (PetscInt i = 0; i < faces; i++) {
    PetscCall(DMLabelGetValue(p->label, face[i], &number));
    if (number < 0) continue;
    PetscCall(DMPlexComputeCellGeometryFVM(p->plex, face[i], NULL, center, NULL));
    for (int side = 0; side < 2 * p->grid->dim; side++) {
      const int d = side / 2;

      if (PetscAbsReal(center[d] - (side % 2 ? upper[d] : lower[d])) <= (upper[d] - lower[d]) / 4) label[side] = number;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number of faces on a side of the domain */
static PetscInt CountFaces(const VpUserGrid *grid, int side)
{
  return grid->n[VpAlongSide(side, 0)] * grid->n[VpAlongSide(side, 1)];
}

static PetscErrorCode StoreLabels(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  const Places *p = (const Places *)context;
  PetscInt      label[6], at[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(GetLabels(p, cell, lower, upper, label));
  for (int d = 0; d < p->grid->dim; d++) at[d] = CellAt(p->grid, d, (lower[d] + upper[d]) / 2);
  for (int side = 0; side < 2 * p->grid->dim; side++) {
    if (label[side] >= 0 && at[side / 2] == (side % 2 ? p->grid->n[side / 2] - 1 : 0)) *VpLabelOf(p->grid, side, at) = label[side];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreCell(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  Places     *p = (Places *)context;
  VpUserCell *to = p->cell + p->n++;

  PetscFunctionBegin;
  *to = (VpUserCell){.n = {1, 1, 1}};
  PetscCall(GetLabels(p, cell, lower, upper, to->label));
  for (int d = 0; d < p->grid->dim; d++) {
    to->at[d] = FaceAt(p->grid, d, lower[d]);
    to->n[d] = FaceAt(p->grid, d, upper[d]) - to->at[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *label: "Face Sets" or "marker", whichever the mesh has; NULL on a rank that has none. *found: some rank has one */
static PetscErrorCode FindLabel(DM plex, int dim, DMLabel *label, int *found)
{
  PetscInt depth;

  PetscFunctionBegin;
  PetscCall(DMPlexGetDepth(plex, &depth));
  PetscCall(DMGetLabel(plex, "Face Sets", label));
  if (!*label) PetscCall(DMGetLabel(plex, "marker", label));
  if (depth != dim) *label = NULL; /* Meshes that are not interpolated have no faces. */
  *found = *label != NULL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 1, MPI_INT, MPI_LOR, PetscObjectComm((PetscObject)plex)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindLabels(DM plex, VpUserGrid *grid)
{
  Places p = {.plex = plex, .grid = grid};
  int    found;

  PetscFunctionBegin;
  PetscCall(FindLabel(plex, grid->dim, &p.label, &found));
  if (!found) PetscFunctionReturn(PETSC_SUCCESS);
  for (int side = 0; side < 2 * grid->dim; side++) {
    PetscCall(PetscMalloc1(CountFaces(grid, side), &grid->label[side]));
    for (PetscInt i = 0; i < CountFaces(grid, side); i++) grid->label[side][i] = -1;
  }
  PetscCall(ForCells(plex, StoreLabels, &p));
  for (int side = 0; side < 2 * grid->dim; side++) {
    PetscMPIInt faces;

    PetscCall(PetscMPIIntCast(CountFaces(grid, side), &faces));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, grid->label[side], faces, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)plex)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the n own cells of a mesh whose cells do not fill the grid. */
static PetscErrorCode FindCells(DM plex, PetscInt n, VpUserGrid *grid)
{
  Places       p = {.plex = plex, .grid = grid};
  MPI_Datatype cell;
  int          found;

  PetscFunctionBegin;
  PetscCall(FindLabel(plex, grid->dim, &p.label, &found));
  PetscCall(PetscMalloc1(n, &p.cell));
  PetscCall(ForCells(plex, StoreCell, &p));
  PetscCallMPI(MPI_Type_contiguous(sizeof(VpUserCell), MPI_BYTE, &cell));
  PetscCallMPI(MPI_Type_commit(&cell));
  PetscCall(GatherAll(PetscObjectComm((PetscObject)plex), n, cell, sizeof(VpUserCell), p.cell, &grid->ncell, &grid->cell));
  PetscCallMPI(MPI_Type_free(&cell));
  PetscCall(PetscFree(p.cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells do not overlap, so they fill the grid if their number equals the grid's. Otherwise they are listed. */
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
  total = (double)cells.n; /* The number of all cells may exceed PetscInt. */
  cells.n = 0;
  PetscCall(ForCells(plex, StoreEnds, &cells));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCheck(total > 0, comm, PETSC_ERR_SUP, "DMConvert(): the DMPLEX has no cells");
  PetscCall(DMGetPeriodicity(plex, &most, &start, &L));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(GatherDistinct(comm, 2 * cells.n, cells.end[d], &grid->n[d], &grid->face[d]));
    PetscCall(PetscFree(cells.end[d]));
    whole *= (double)--grid->n[d];
    grid->periodic[d] = (PetscBool)(L && L[d] > 0);
  }
  if (whole == total) PetscCall(FindLabels(plex, grid));
  else PetscCall(FindCells(plex, cells.n, grid));
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

typedef struct {
  DMLabel   label; /* or NULL */
  PetscInt  n;
  PetscInt *region; /* [n] */
} Regions;

static PetscErrorCode StoreRegion(void *context, PetscInt cell, const PetscReal lower[], const PetscReal upper[])
{
  Regions  *r = (Regions *)context;
  PetscInt *to = r->region + r->n++;

  *to = -1;
  return r->label ? DMLabelGetValue(r->label, cell, to) : PETSC_SUCCESS;
}

PetscErrorCode VpRegionsOfPlex(DM plex, PetscInt *n, PetscInt **region)
{
  Regions   r = {.n = 0};
  MPI_Comm  comm = PetscObjectComm((PetscObject)plex);
  PetscBool is;
  PetscInt  first, last;
  int       found;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)plex, DMPLEX, &is));
  PetscCheck(is, comm, PETSC_ERR_ARG_WRONG, "A mesh of type %s: regions are those of a DMPLEX", VpTypeName((PetscObject)plex));
  PetscCall(DMGetLabel(plex, "Cell Sets", &r.label));
  found = r.label != NULL;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_LOR, comm));
  PetscCheck(found, comm, PETSC_ERR_ARG_WRONGSTATE,
             "The DMPLEX has no label \"Cell Sets\", which says the region of every cell: give it one by DMSetLabelValue(), or physical "
             "groups to the cells of a Gmsh file");
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(PetscMalloc1(last - first, &r.region));
  PetscCall(ForCells(plex, StoreRegion, &r));
  *n = r.n;
  *region = r.region;
  PetscFunctionReturn(PETSC_SUCCESS);
}
