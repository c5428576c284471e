/* A DMDA or DMPLEX as a grid of cells: where faces are in every direction. */
#include "grids.h"
#include <petscdmda.h>
#include <petscdmplex.h>

PetscErrorCode VpUserGridDestroy(VpUserGrid *grid)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscFree(grid->face[d]));
    PetscCall(PetscFree(grid->entry[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- DMDA */

typedef struct {
  PetscInt  dim, n[3], dof, start[3], count[3]; /* entries of all ranks, own ones */
  PetscBool periodic[3], cells;                 /* Entries are cells, else vertices. */
} Entries;

static PetscErrorCode GetEntries(DM da, Entries *e)
{
  DMBoundaryType        type[3];
  DMDAInterpolationType kind;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &e->dim, &e->n[0], &e->n[1], &e->n[2], NULL, NULL, NULL, &e->dof, NULL, &type[0], &type[1], &type[2], NULL));
  PetscCall(DMDAGetCorners(da, &e->start[0], &e->start[1], &e->start[2], &e->count[0], &e->count[1], &e->count[2]));
  PetscCall(DMDAGetInterpolationType(da, &kind));
  e->cells = (PetscBool)(kind == DMDA_Q0);
  for (int d = 0; d < 3; d++) e->periodic[d] = (PetscBool)(d < e->dim && type[d] == DM_BOUNDARY_PERIODIC);
  PetscCheck(e->dim >= 2, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
             "DMConvert() of a DMDA of one dimension: two or three are needed");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the least and the largest coordinate along d of the entries of every number there, on all ranks: range [n][2]; integers where none are set */
static PetscErrorCode FindRanges(DM da, const Entries *e, int d, const PetscScalar values[], PetscReal range[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2 * e->n[d]; i++) range[i] = PETSC_MAX_REAL;
  for (PetscInt i = 0; i < e->count[0] * e->count[1] * e->count[2]; i++) {
    const PetscInt  at[3] = {i % e->count[0], i / e->count[0] % e->count[1], i / e->count[0] / e->count[1]}, to = e->start[d] + at[d];
    const PetscReal x = values ? PetscRealPart(values[i * e->dim + d]) : (PetscReal)to + (e->cells ? 0.5 : 0);

    range[2 * to] = PetscMin(range[2 * to], x);
    range[2 * to + 1] = PetscMin(range[2 * to + 1], -x);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, (PetscMPIInt)(2 * e->n[d]), MPIU_REAL, MPIU_MIN, PetscObjectComm((PetscObject)da)));
  for (PetscInt i = 0; i < e->n[d]; i++) range[2 * i + 1] = -range[2 * i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fills grid->entry. Ensures: an error unless coordinates are those of a grid. */
static PetscErrorCode FindCoordinates(DM da, const Entries *e, VpUserGrid *grid)
{
  const PetscScalar *values = NULL;
  PetscReal         *range, apart[2] = {0, 0};
  Vec                coordinates;
  PetscInt           bad = -1;
  int                along = 0;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(da, &coordinates));
  if (coordinates) PetscCall(VecGetArrayRead(coordinates, &values));
  for (int d = 0; d < e->dim; d++) {
    PetscCall(PetscMalloc1(e->n[d], &grid->entry[d]));
    PetscCall(PetscMalloc1(2 * e->n[d], &range));
    PetscCall(FindRanges(da, e, d, values, range));
    for (PetscInt i = 0; i < e->n[d]; i++) grid->entry[d][i] = range[2 * i];
    for (PetscInt i = 0; i < e->n[d] && bad < 0; i++) {
      const PetscInt  upper = PetscMax(i, 1);
      const PetscReal width = e->n[d] > 1 ? PetscAbsReal(range[2 * upper] - range[2 * upper - 2]) : 1;

      if (range[2 * i + 1] - range[2 * i] <= VP_GRID_SLACK * width) continue;
      bad = i;
      along = d;
      for (int k = 0; k < 2; k++) apart[k] = range[2 * i + k];
    }
    PetscCall(PetscFree(range));
  }
  if (coordinates) PetscCall(VecRestoreArrayRead(coordinates, &values));
  PetscCheck(bad < 0, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
             "DMConvert(): the entries %" PetscInt_FMT " in direction %c of the DMDA lie between %g and %g: cells must form a grid", bad,
             (char)('x' + along), (double)apart[0], (double)apart[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are all of n coordinates as far from one another as the first two are? */
static PetscBool AreRegular(PetscInt n, const PetscReal x[])
{
  for (PetscInt i = 1; i + 1 < n; i++) {
    if (PetscAbsReal(x[i + 1] - x[i] - (x[1] - x[0])) > VP_GRID_SLACK * PetscAbsReal(x[1] - x[0])) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* The faces along d from the coordinates of entries. The last one of a periodic direction is that of its period, if it is known. */
static PetscErrorCode FindFaces(DM da, const Entries *e, int d, const PetscReal x[], PetscReal face[])
{
  const PetscInt   n = e->n[d];
  const PetscReal *L, *start, *most, h = n > 1 ? (x[n - 1] - x[0]) / (PetscReal)(n - 1) : 2 * x[0];
  const PetscBool  regular = AreRegular(n, x);

  PetscFunctionBegin;
  PetscCall(DMGetPeriodicity(da, &most, &start, &L));
  if (e->cells) {
    PetscCheck(regular, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
               "DMConvert(): entries of a DMDA_Q0 are centres of cells, which do not say where faces are unless all cells are as wide in "
               "direction %c. Set other faces in the DM that cells of equal widths give (DMVPatchDGSetGrid()), or convert a DMDA_Q1, whose "
               "entries are vertices (DMDASetInterpolationType())",
               (char)('x' + d));
    for (PetscInt i = 0; i <= n; i++) face[i] = x[0] + ((PetscReal)i - 0.5) * h;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt i = 0; i < n; i++) face[i] = x[i];
  if (!e->periodic[d]) PetscFunctionReturn(PETSC_SUCCESS);
  if (L && L[d] > 0) face[n] = x[0] + L[d];
  else {
    PetscCheck(
      regular, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
      "DMConvert(): the DMDA is periodic in direction %c and its cells differ in width, so that the last one has any: say the period by "
      "DMSetPeriodicity()",
      (char)('x' + d));
    face[n] = x[n - 1] + h;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateOfDA(DM da, VpUserGrid *grid)
{
  Entries e;

  PetscFunctionBegin;
  PetscCall(GetEntries(da, &e));
  PetscCall(FindCoordinates(da, &e, grid));
  grid->dim = (int)e.dim;
  for (int d = 0; d < e.dim; d++) {
    grid->n[d] = e.cells || e.periodic[d] ? e.n[d] : e.n[d] - 1;
    grid->periodic[d] = e.periodic[d];
    PetscCheck(grid->n[d] > 0, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP, "DMConvert(): the DMDA has no cell in direction %c",
               (char)('x' + d));
    PetscCall(PetscMalloc1(grid->n[d] + 1, &grid->face[d]));
    PetscCall(FindFaces(da, &e, d, grid->entry[d], grid->face[d]));
  }
  for (int k = 1; e.cells && k <= VP_MAX_DEGREE; k++) {
    if (PetscPowInt(k + 1, e.dim) == e.dof) grid->degree = k;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- DMPLEX */

/* Calls work(context, lower, upper) for own cells in order. Ensures: an error on all ranks unless all are boxes. */
typedef void          CellWork(void *context, const PetscReal lower[], const PetscReal upper[]);
static PetscErrorCode ForCells(DM plex, CellWork *work, void *context)
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

    if (ghosts > 0) PetscCall(PetscFindInt(c, ghosts, ghost, &where));
    if (where >= 0) continue;
    PetscCall(DMPlexGetCellCoordinates(plex, c, &discontinuous, &n, &array, &x));
    boxes = (PetscBool)(boxes && n == dim << dim);
    for (PetscInt d = 0; d < dim; d++) lower[d] = PETSC_MAX_REAL, upper[d] = -PETSC_MAX_REAL;
    for (PetscInt i = 0; i < n; i++) {
      lower[i % dim] = PetscMin(lower[i % dim], PetscRealPart(x[i]));
      upper[i % dim] = PetscMax(upper[i % dim], PetscRealPart(x[i]));
    }
    for (PetscInt i = 0; i < n; i++) { /* every vertex is a corner */
      const PetscReal at = PetscRealPart(x[i]), eps = VP_GRID_SLACK * (upper[i % dim] - lower[i % dim]);

      if (PetscMin(at - lower[i % dim], upper[i % dim] - at) > eps) boxes = PETSC_FALSE;
    }
    work(context, lower, upper);
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

static void CountCell(void *context, const PetscReal lower[], const PetscReal upper[])
{
  ((CellEnds *)context)->n++;
}

static void StoreEnds(void *context, const PetscReal lower[], const PetscReal upper[])
{
  CellEnds *c = (CellEnds *)context;

  for (int d = 0; d < c->dim; d++) {
    c->end[d][2 * c->n] = lower[d];
    c->end[d][2 * c->n + 1] = upper[d];
  }
  c->n++;
}

static void StoreCenter(void *context, const PetscReal lower[], const PetscReal upper[])
{
  CellEnds *c = (CellEnds *)context;

  for (int d = 0; d < c->dim; d++) c->center[c->n * c->dim + d] = (lower[d] + upper[d]) / 2;
  c->n++;
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
  mine = (PetscMPIInt)n;
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, number, 1, MPI_INT, comm));
  for (PetscMPIInt r = 0; r < size; r++) {
    first[r] = total;
    total += number[r];
  }
  PetscCall(PetscMalloc1(total, all));
  PetscCallMPI(MPI_Allgatherv(x, mine, MPIU_REAL, *all, number, first, MPIU_REAL, comm));
  PetscCall(PetscFree2(number, first));
  *count = total;
  PetscCall(Unique(count, *all, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells that do not overlap fill the grid of their faces if they are as many as it has. */
static PetscErrorCode CreateOfPlex(DM plex, VpUserGrid *grid)
{
  const MPI_Comm   comm = PetscObjectComm((PetscObject)plex);
  const PetscReal *most, *start, *L;
  CellEnds         cells = {0};
  PetscInt         total;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinateDim(plex, &total));
  grid->dim = cells.dim = (int)total;
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCheck(total == 2 || total == 3, comm, PETSC_ERR_SUP,
             "DMConvert() of a DMPLEX of %" PetscInt_FMT " dimensions: two or three are needed", total);
  PetscCall(ForCells(plex, CountCell, &cells));
  for (int d = 0; d < grid->dim; d++) PetscCall(PetscMalloc1(2 * cells.n, &cells.end[d]));
  total = cells.n;
  cells.n = 0;
  PetscCall(ForCells(plex, StoreEnds, &cells));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT, MPI_SUM, comm));
  PetscCheck(total > 0, comm, PETSC_ERR_SUP, "DMConvert(): the DMPLEX has no cells");
  PetscCall(DMGetPeriodicity(plex, &most, &start, &L));
  for (int d = 0; d < grid->dim; d++) {
    PetscCall(UniqueOfAll(comm, 2 * cells.n, cells.end[d], &grid->n[d], &grid->face[d]));
    PetscCall(PetscFree(cells.end[d]));
    grid->n[d]--;
    grid->periodic[d] = (PetscBool)(L && L[d] > 0);
  }
  PetscCheck(grid->n[0] * grid->n[1] * grid->n[2] == total, comm, PETSC_ERR_SUP,
             "DMConvert(): the %" PetscInt_FMT " cells of the DMPLEX do not fill a grid, which with their faces has %" PetscInt_FMT
             ". Give boxes by DMVPatchDGSetBoxes()",
             total, grid->n[0] * grid->n[1] * grid->n[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- both */

static PetscErrorCode IsDA(DM mesh, PetscBool *da)
{
  PetscBool plex;

  PetscFunctionBegin;
  VpAssertObject(mesh, DM_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMDA, da));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  PetscCheck(*da || plex, PetscObjectComm((PetscObject)mesh), PETSC_ERR_ARG_WRONG,
             "A mesh of type %s: DMDA and DMPLEX have cells that form a grid", VpTypeName((PetscObject)mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpUserGridCreate(DM mesh, VpUserGrid *grid)
{
  PetscBool      da;
  PetscErrorCode error;

  PetscFunctionBegin;
  *grid = (VpUserGrid){.n = {1, 1, 1}};
  PetscCall(IsDA(mesh, &da));
  error = da ? CreateOfDA(mesh, grid) : CreateOfPlex(mesh, grid);
  if (error) PetscCall(VpUserGridDestroy(grid));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CentersOfDA(DM da, PetscInt *n, PetscReal **center)
{
  VpUserGrid grid;
  Entries    e;

  PetscFunctionBegin;
  PetscCall(VpUserGridCreate(da, &grid));
  PetscCall(GetEntries(da, &e));
  for (int d = 0; d < grid.dim; d++) e.count[d] = PetscMax(0, PetscMin(e.start[d] + e.count[d], grid.n[d]) - e.start[d]);
  *n = e.count[0] * e.count[1] * e.count[2];
  PetscCall(PetscMalloc1(*n * grid.dim, center));
  for (PetscInt i = 0; i < *n; i++) {
    const PetscInt at[3] = {i % e.count[0], i / e.count[0] % e.count[1], i / e.count[0] / e.count[1]};

    for (int d = 0; d < grid.dim; d++) {
      const PetscReal *face = grid.face[d] + e.start[d] + at[d];

      (*center)[i * grid.dim + d] = (face[0] + face[1]) / 2;
    }
  }
  PetscCall(VpUserGridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CentersOfPlex(DM plex, PetscInt *n, PetscReal **center)
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

PetscErrorCode VpUserGridCenters(DM mesh, PetscInt *n, PetscReal **center)
{
  PetscBool da;

  PetscFunctionBegin;
  PetscCall(IsDA(mesh, &da));
  PetscCall(da ? CentersOfDA(mesh, n, center) : CentersOfPlex(mesh, n, center));
  PetscFunctionReturn(PETSC_SUCCESS);
}
