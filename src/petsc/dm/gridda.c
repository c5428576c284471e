/* A DMDA as a grid of cells: finds the coordinates of the faces in every direction. */
#include "usergrid.h"
#include <petscdmda.h>

typedef struct {
  PetscInt  dim, n[3], dof, start[3], count[3]; /* n: entries on all ranks; start, count: own entries */
  PetscBool periodic[3], cells;                 /* cells: the entries are cells; otherwise vertices */
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

/* range [n][2]: the smallest and the largest coordinate along d of the entries with each index, over all ranks. Without coordinates:
   indices */
static PetscErrorCode FindRanges(MPI_Comm comm, const Entries *e, int d, const PetscScalar values[], PetscReal range[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < 2 * e->n[d]; i++) range[i] = PETSC_MAX_REAL;
  for (PetscInt i = 0; i < e->count[0] * e->count[1] * e->count[2]; i++) {
    const PetscInt  at[3] = {i % e->count[0], i / e->count[0] % e->count[1], i / e->count[0] / e->count[1]}, to = e->start[d] + at[d];
    const PetscReal x = values ? PetscRealPart(values[i * e->dim + d]) : (PetscReal)to + (e->cells ? 0.5 : 0);

    range[2 * to] = PetscMin(range[2 * to], x);
    range[2 * to + 1] = PetscMin(range[2 * to + 1], -x);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, (PetscMPIInt)(2 * e->n[d]), MPIU_REAL, MPIU_MIN, comm));
  for (PetscInt i = 0; i < e->n[d]; i++) range[2 * i + 1] = -range[2 * i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the ranges x [n][2] of n entries by their coordinates. Returns whether the coordinates form a grid. */
static PetscBool TakeCoordinates(PetscInt n, PetscReal x[])
{
  PetscBool grid = PETSC_TRUE;

  for (PetscInt i = 0; i < n; i++) {
    const PetscInt  upper = PetscMax(i, 1);
    const PetscReal width = n > 1 ? PetscAbsReal(x[2 * upper] - x[2 * upper - 2]) : 1;

    grid = (PetscBool)(grid && x[2 * i + 1] - x[2 * i] <= VP_GRID_SLACK * width);
  }
  for (PetscInt i = 0; i < n; i++) x[i] = x[2 * i];
  return grid;
}

/* Fills grid->x with the coordinates of the entries in each direction. *boxes: these form a grid */
static PetscErrorCode FindCoordinates(DM da, const Entries *e, VpUserGrid *grid, PetscBool *boxes)
{
  const PetscScalar *values = NULL;
  Vec                coordinates;

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(da, &coordinates));
  if (coordinates) PetscCall(VecGetArrayRead(coordinates, &values));
  for (int d = 0; d < e->dim; d++) {
    PetscCall(PetscMalloc1(2 * e->n[d], &grid->x[d]));
    PetscCall(FindRanges(grid->comm, e, d, values, grid->x[d]));
  }
  if (coordinates) PetscCall(VecRestoreArrayRead(coordinates, &values));
  *boxes = PETSC_TRUE;
  for (int d = 0; d < e->dim; d++) *boxes = (PetscBool)(TakeCoordinates(e->n[d], grid->x[d]) && *boxes);
  PetscCheck(*boxes || !e->cells, grid->comm, PETSC_ERR_SUP,
             "DMConvert(): entries of a DMDA_Q0 are centres of cells, which do not say where corners are unless they form a grid along the "
             "axes. Convert a DMDA_Q1, whose entries are vertices (DMDASetInterpolationType())");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the faces along d from the coordinates of the entries. If PETSc knows the period, it gives the last face of a periodic
   direction. */
static PetscErrorCode FindFaces(DM da, const Entries *e, int d, const PetscReal x[], PetscReal face[])
{
  const PetscInt   n = e->n[d];
  const PetscReal *L, *start, *most, h = n > 1 ? (x[n - 1] - x[0]) / (PetscReal)(n - 1) : 2 * x[0];
  const PetscBool  regular = VpAreEqual(x, 0, n - 1);

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

/* Lists the own cells, x fastest: those whose lower corner or centre is an own entry. */
static PetscErrorCode ListDACells(const Entries *e, VpUserGrid *grid)
{
  PetscInt count[3] = {1, 1, 1};

  PetscFunctionBegin;
  for (int d = 0; d < grid->dim; d++) count[d] = PetscMax(0, PetscMin(e->start[d] + e->count[d], grid->n[d]) - e->start[d]);
  grid->ncell = count[0] * count[1] * count[2];
  PetscCall(PetscMalloc1(grid->ncell, &grid->cell));
  for (PetscInt i = 0; i < grid->ncell; i++) {
    const PetscInt at[3] = {i % count[0], i / count[0] % count[1], i / count[0] / count[1]};

    grid->cell[i] = VP_USER_CELL;
    for (int d = 0; d < grid->dim; d++) grid->cell[i].at[d] = e->start[d] + at[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *near = a DMDA with the same vertices that has ghosts at corners, too, for coordinates */
static PetscErrorCode CreateNear(DM da, const Entries *e, DM *near)
{
  const PetscInt      *own[3];
  PetscInt             ranks[3];
  const DMBoundaryType type[2] = {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC};

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, NULL, NULL, NULL, &ranks[0], &ranks[1], &ranks[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &own[0], &own[1], &own[2]));
  PetscCall(DMDACreate(PetscObjectComm((PetscObject)da), near));
  PetscCall(DMSetDimension(*near, e->dim));
  PetscCall(DMDASetSizes(*near, e->n[0], e->n[1], e->n[2]));
  PetscCall(DMDASetNumProcs(*near, ranks[0], ranks[1], ranks[2]));
  PetscCall(DMDASetOwnershipRanges(*near, own[0], own[1], own[2]));
  PetscCall(DMDASetBoundaryType(*near, type[e->periodic[0]], type[e->periodic[1]], type[e->periodic[2]]));
  PetscCall(DMDASetDof(*near, e->dim));
  PetscCall(DMDASetStencilWidth(*near, 1));
  PetscCall(DMDASetStencilType(*near, DMDA_STENCIL_BOX));
  PetscCall(DMSetUp(*near));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own vertices and those next to them */
typedef struct {
  const Entries     *e;
  PetscInt           first[3], count[3];
  const PetscScalar *x;
  PetscReal          period[3]; /* by what vertices beyond the last one are moved along an axis */
} Near;

/* X [dim] = the vertex at a corner of the cell at[] */
static void TakeCorner(const Near *near, const PetscInt at[3], int corner, PetscReal X[])
{
  const int dim = (int)near->e->dim;
  PetscInt  entry = 0;

  for (int d = dim - 1; d >= 0; d--) entry = entry * near->count[d] + at[d] + (corner >> d & 1) - near->first[d];
  for (int d = 0; d < dim; d++)
    X[d] = PetscRealPart(near->x[entry * dim + d]) + (at[d] + (corner >> d & 1) == near->e->n[d] ? near->period[d] : 0);
}

/* Where the DMDA knows a period, vertices beyond a periodic side are moved by it, or lie where the first ones are, as in a ring: whatever
   makes the last cells shorter. */
static PetscErrorCode FindPeriods(DM da, const VpUserGrid *grid, Near *near)
{
  const PetscReal *L, *start, *most;
  PetscReal        square[6] = {0};

  PetscFunctionBegin;
  PetscCall(DMGetPeriodicity(da, &most, &start, &L));
  for (int d = 0; d < grid->dim; d++) near->period[d] = near->e->periodic[d] && L && L[d] > 0 ? L[d] : 0;
  for (PetscInt i = 0; i < grid->ncell * grid->dim; i++) {
    const PetscInt *at = grid->cell[i / grid->dim].at, d = i % grid->dim;
    PetscReal       from[3], to[3];

    if (at[d] < near->e->n[d] - 1) continue;
    TakeCorner(near, at, 0, from);
    TakeCorner(near, at, 1 << d, to);
    for (int k = 0; k < grid->dim; k++) {
      square[d] += PetscSqr(to[k] - from[k]);
      square[3 + d] += PetscSqr(to[k] - from[k] - (k == d ? near->period[d] : 0));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, square, 6, MPIU_REAL, MPIU_SUM, grid->comm));
  for (int d = 0; d < grid->dim; d++) {
    if (square[3 + d] < square[d] * (1 - VP_GRID_SLACK)) near->period[d] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills grid->node with the vertices of the own cells. Ensures: an error on all ranks unless they are finite. */
static PetscErrorCode FindDANodes(DM da, const Entries *e, VpUserGrid *grid)
{
  const PetscInt each = e->dim << e->dim;
  PetscBool      finite = PETSC_TRUE;
  Vec            coordinates, own, local;
  DM             near;
  Near           n = {.e = e};

  PetscFunctionBegin;
  PetscCall(DMGetCoordinates(da, &coordinates));
  PetscCall(CreateNear(da, e, &near));
  PetscCall(DMGetGlobalVector(near, &own));
  PetscCall(DMGetLocalVector(near, &local));
  PetscCall(VecCopy(coordinates, own));
  PetscCall(DMGlobalToLocalBegin(near, own, INSERT_VALUES, local));
  PetscCall(DMGlobalToLocalEnd(near, own, INSERT_VALUES, local));
  PetscCall(DMDAGetGhostCorners(near, &n.first[0], &n.first[1], &n.first[2], &n.count[0], &n.count[1], &n.count[2]));
  PetscCall(VecGetArrayRead(local, &n.x));
  PetscCall(FindPeriods(da, grid, &n));
  PetscCall(PetscMalloc1(grid->ncell * each + 1, &grid->node));
  for (PetscInt i = 0; i < grid->ncell << e->dim; i++)
    TakeCorner(&n, grid->cell[i >> e->dim].at, (int)(i & ((1 << e->dim) - 1)), grid->node + i * e->dim);
  for (PetscInt i = 0; i < grid->ncell * each; i++) finite = (PetscBool)(finite && !PetscIsInfOrNanReal(grid->node[i]));
  PetscCall(VecRestoreArrayRead(local, &n.x));
  PetscCall(DMRestoreLocalVector(near, &local));
  PetscCall(DMRestoreGlobalVector(near, &own));
  PetscCall(DMDestroy(&near));
  PetscCall(VpCheckEverywhere(grid->comm, finite, "DMConvert(): a coordinate of the DMDA is no finite number"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpGridOfDA(DM da, VpUserGrid *grid)
{
  PetscBool boxes = PETSC_FALSE;
  Entries   e;

  PetscFunctionBegin;
  PetscCall(GetEntries(da, &e));
  PetscCall(FindCoordinates(da, &e, grid, &boxes));
  grid->dim = (int)e.dim;
  for (int d = 0; d < e.dim; d++) {
    grid->n[d] = e.cells || e.periodic[d] ? e.n[d] : e.n[d] - 1;
    grid->periodic[d] = e.periodic[d];
    PetscCheck(grid->n[d] > 0, grid->comm, PETSC_ERR_SUP, "DMConvert(): the DMDA has no cell in direction %c", (char)('x' + d));
    if (boxes) {
      PetscCall(PetscMalloc1(grid->n[d] + 1, &grid->face[d]));
      PetscCall(FindFaces(da, &e, d, grid->x[d], grid->face[d]));
    } else PetscCall(VpNumberFaces(grid, d));
  }
  for (int k = 1; e.cells && k <= VP_MAX_DEGREE; k++) {
    if (PetscPowInt(k + 1, e.dim) == e.dof) grid->degree = k;
  }
  PetscCall(ListDACells(&e, grid));
  if (boxes) PetscFunctionReturn(PETSC_SUCCESS);
  grid->order = 1;
  PetscCall(FindDANodes(da, &e, grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}
