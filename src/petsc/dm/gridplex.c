/* A DMPLEX of boxes as a grid of cells: where faces are in every direction. */
#include "grids.h"
#include <petscdmplex.h>

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
PetscErrorCode VpGridOfPlex(DM plex, VpUserGrid *grid)
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
