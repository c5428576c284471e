/* The coarsest problem's inverse as a dense matrix, where the problem is small. A rank has the rows of its own cells, and gets all of b.
   The matrix maps values in the level's basis to such values:

       M = E A^-1 L    A in the orthonormal basis; L from the level's basis to that one, E back, both a cell at a time

   Without a Dirichlet side constants are an eigenvector of A, and its eigenvalue is the reaction c. Rounding would lose a small c, and for
   c = 0 there is no inverse. So a multiple of the projection on constants is added to A, and another one to A^-1, so that their eigenvalue
   is 1/c there, or 0. Where 1/c is so large that rounding errors of its part hide the rest of A^-1, there is no dense inverse. */
#include "internal.h"
#include "../base/threads.h"
#include <float.h>

enum { TILE = 64 }; /* columns that are worked on at once */

typedef struct {
  VpLevel      level;
  size_t       rows, columns; /* unknowns of this rank, of all ranks */
  PetscMPIInt *count, *first; /* [ranks] own cells, the first of them */
  VpArrays     arrays;
  const void  *M;       /* [rows][columns] */
  void        *b;       /* [columns]; NULL where one rank has all cells */
  double       largest; /* number on the diagonal of A^-1 without the part of constants */
} Dense;

/* what every rank has of its own cells, for all of them */
static PetscErrorCode Gather(const Dense *dense, MPI_Datatype cell, const void *own, void *all)
{
  const VpMesh mesh = dense->level->mesh;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgatherv(own, mesh->nown, cell, all, dense->count, dense->first, cell, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of so many double precision numbers a cell */
static PetscErrorCode GatherReals(const Dense *dense, size_t width, const double own[], double all[])
{
  MPI_Datatype cell;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous((int)width, MPI_DOUBLE, &cell));
  PetscCallMPI(MPI_Type_commit(&cell));
  PetscCall(Gather(dense, cell, own, all));
  PetscCallMPI(MPI_Type_free(&cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows += weight part one^T */
typedef struct {
  size_t        columns;
  double       *rows;
  const double *one, *part; /* of the columns, of the rows */
  double        weight;
} Projection;

static void AddProjection(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Projection *p = (Projection *)context;

  for (size_t i = (size_t)first; i < (size_t)last; i++) {
    for (size_t j = 0; j < p->columns; j++) p->rows[i * p->columns + j] += p->weight * p->part[i] * p->one[j];
  }
}

/* rows [first, first + count) of A^-1, by an LU of the symmetric A [n][n], which it overwrites: the inverse's columns are its rows */
static PetscErrorCode InvertRows(PetscInt n, double A[], PetscInt first, PetscInt count, double rows[])
{
  Mat          matrix, unit, columns;
  PetscScalar *one;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, A, &matrix));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, count, NULL, &unit));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, count, rows, &columns));
  PetscCall(MatDenseGetArrayWrite(unit, &one));
  for (size_t i = 0; i < (size_t)count; i++) one[i * (size_t)n + (size_t)first + i] = 1; /* it is zero at first */
  PetscCall(MatDenseRestoreArrayWrite(unit, &one));
  PetscCall(MatLUFactor(matrix, NULL, NULL, NULL));
  PetscCall(MatMatSolve(matrix, unit, columns));
  PetscCall(MatDestroy(&matrix));
  PetscCall(MatDestroy(&unit));
  PetscCall(MatDestroy(&columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  int     dim, n;
  size_t  ndof, columns;
  double  enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N];
  double *rows; /* [own cells][ndof][columns] */
} Change;

/* The rows of a line of a cell, `step` apart: rows = enter rows */
static void ChangeRows(const Change *c, double *rows, size_t step)
{
  const int n = c->n;
  double    t[VP_MAX_N][TILE];

  for (size_t at = 0; at < c->columns; at += TILE) {
    const size_t width = PetscMin(TILE, c->columns - at);

    for (int i = 0; i < n; i++) {
      for (size_t j = 0; j < width; j++) t[i][j] = 0;
      for (int k = 0; k < n; k++) {
        const double *row = rows + (size_t)k * step + at;
        for (size_t j = 0; j < width; j++) t[i][j] += c->enter[i * n + k] * row[j];
      }
    }
    for (int i = 0; i < n; i++) memcpy(rows + (size_t)i * step + at, t[i], width * sizeof(double));
  }
}

/* a line of a cell's values in one row: v = v leave */
static void ChangeColumns(const Change *c, double *v, int step)
{
  double t[VP_MAX_N] = {0};

  for (int k = 0; k < c->n; k++) {
    for (int i = 0; i < c->n; i++) t[i] += v[k * step] * c->leave[k * c->n + i];
  }
  for (int i = 0; i < c->n; i++) v[i * step] = t[i];
}

static void ChangeCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Change *c = (Change *)context;
  const int     lines = (int)c->ndof / c->n;

  for (int32_t cell = first; cell < last; cell++) {
    double *rows = c->rows + (size_t)cell * c->ndof * c->columns;

    for (int d = 0; d < c->dim; d++) {
      const int step = VpLineStride(d, c->n, c->n * c->n);

      for (int l = 0; l < lines; l++) {
        const size_t start = (size_t)(l % step + l / step * step * c->n);

        ChangeRows(c, rows + start * c->columns, (size_t)step * c->columns);
        for (size_t at = 0; at < c->ndof * c->columns; at += c->ndof) ChangeColumns(c, rows + at + start, step);
      }
    }
  }
}

/* own rows of A^-1 to those of M, which are placed where the level wants them */
static PetscErrorCode PlaceRows(Dense *dense, double *rows)
{
  const VpLevel level = dense->level;
  Change  c = {.dim = level->mesh->dim, .n = level->basis.n, .ndof = level->block / level->real, .columns = dense->columns, .rows = rows};
  VpBasis outer;

  PetscFunctionBegin;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, level->basis.degree, &outer));
  PetscCall(VpBasisChange(&outer, &level->basis, c.enter));
  PetscCall(VpBasisChange(&level->basis, &outer, c.leave));
  if (level->basis.type != VP_BASIS_ORTHONORMAL) VpLoop(level->mesh->nown, ChangeCells, &c);
  PetscCall(VpArraysPlaceReals(&dense->arrays, rows, dense->rows * dense->columns, "coarse inverse", &dense->M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the matrix and the constant, of norm 1, of all ranks; own rows of them */
typedef struct {
  double *A, *rows, *one, *part;
} Room;

static PetscErrorCode RoomCreate(const Dense *dense, Room *room)
{
  const size_t n = dense->b || dense->rows ? dense->columns : 0;

  PetscFunctionBegin;
  *room = (Room){0};
  PetscCall(VpMallocLarge(dense->rows * n, &room->rows));
  PetscCall(VpMallocLarge(n * n, &room->A));
  PetscCall(PetscMalloc2(dense->rows, &room->part, n, &room->one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fills A and the constant. host: the same level there, orthonormal, double */
static PetscErrorCode Assemble(const Dense *dense, VpLevel host, Room *room)
{
  const size_t ndof = host->block / host->real;
  double       norm = 0;

  PetscFunctionBegin;
  PetscCall(VpAssembleRows(host, room->rows));
  PetscCall(VpConstant(host, room->part));
  if (dense->b) {
    PetscCall(GatherReals(dense, ndof * dense->columns, room->rows, room->A));
    PetscCall(GatherReals(dense, ndof, room->part, room->one));
  } else {
    PetscCall(PetscArraycpy(room->A, room->rows, dense->rows * dense->columns));
    PetscCall(PetscArraycpy(room->one, room->part, dense->rows));
  }
  if (!dense->rows) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t i = 0; i < dense->columns; i++) norm += room->one[i] * room->one[i];
  for (size_t i = 0; i < dense->columns; i++) room->one[i] /= sqrt(norm);
  for (size_t i = 0; i < dense->rows; i++) room->part[i] /= sqrt(norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own rows of M. c: the eigenvalue of constants, where they have one */
static PetscErrorCode Fill(Dense *dense, PetscBool constants, double c, Room *room)
{
  const VpMesh   mesh = dense->level->mesh;
  const PetscInt n = (PetscInt)dense->columns, ndof = n / mesh->ncell;
  const double   shift = room->A[0];
  Projection     all = {.columns = dense->columns, .rows = room->A, .one = room->one, .part = room->one, .weight = shift};
  Projection     own = {.columns = dense->columns, .rows = room->rows, .one = room->one, .part = room->part};

  PetscFunctionBegin;
  own.weight = (c > 0 ? 1 / c : 0) - 1 / (c + shift);
  if (constants) VpLoop((int32_t)dense->columns, AddProjection, &all);
  PetscCall(InvertRows(n, room->A, mesh->first * ndof, mesh->nown * ndof, room->rows));
  for (size_t i = 0; i < dense->rows; i++)
    dense->largest = PetscMax(dense->largest, room->rows[i * dense->columns + (size_t)(mesh->first * ndof) + i]);
  if (constants) VpLoop((int32_t)dense->rows, AddProjection, &own);
  PetscCall(PlaceRows(dense, room->rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(void *data)
{
  Dense *dense = (Dense *)data;

  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&dense->arrays));
  PetscCall(PetscFree2(dense->count, dense->first));
  PetscCall(PetscFree(dense->b));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DenseCreate(VpLevel level, Dense **out)
{
  const VpMesh mesh = level->mesh;
  const size_t ndof = level->block / level->real;
  Dense       *dense;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dense));
  *out = dense;
  dense->level = level;
  dense->rows = (size_t)mesh->nown * ndof;
  dense->columns = (size_t)mesh->ncell * ndof;
  dense->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCallMPI(MPI_Comm_size(mesh->comm, &size));
  PetscCall(PetscMalloc2(size, &dense->count, size, &dense->first));
  for (PetscMPIInt r = 0; r < size; r++) {
    dense->first[r] = (PetscMPIInt)mesh->starts[r];
    dense->count[r] = (PetscMPIInt)(mesh->starts[r + 1] - mesh->starts[r]);
  }
  if (VpMeshRanks(mesh) > 1) PetscCall(PetscMalloc(dense->columns * level->real, &dense->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpMesh   mesh = level->mesh;
  const double   c = VpLevelReaction(level), rounding = level->precision == VP_SINGLE ? FLT_EPSILON : DBL_EPSILON;
  VpProblem      diffusion = level->problem;
  Dense         *dense = NULL;
  VpLevel        host;
  Room           room;
  PetscBool      constants;
  PetscErrorCode failed = PETSC_SUCCESS;

  PetscFunctionBegin;
  diffusion.reaction = 0;
  constants = VpProblemIsSingular(mesh, &diffusion);
  PetscCall(DenseCreate(level, &dense));
  PetscCall(VpLevelCreate(mesh, &level->problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &host));
  PetscCall(VpTogether(mesh->comm, RoomCreate(dense, &room)));
  PetscCall(Assemble(dense, host, &room));
  if (dense->rows) failed = Fill(dense, constants, c, &room);
  PetscCall(VpTogether(mesh->comm, failed));
  PetscCall(PetscFree(room.A));
  PetscCall(PetscFree(room.rows));
  PetscCall(PetscFree2(room.part, room.one));
  PetscCall(VpLevelDestroy(&host));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &dense->largest, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (constants && c > 0 && rounding / c > 0.01 * dense->largest) PetscCall(Destroy(dense));
  else *data = dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *data, VpVector b, VpVector x)
{
  const Dense  *dense = (const Dense *)data;
  const VpLevel level = dense->level;
  const void   *from;
  void         *to;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &from));
  if (dense->b) {
    PetscCall(Gather(dense, level->unit, from, dense->b));
    from = dense->b;
  }
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &to));
  if (dense->rows) PetscCall(level->ops->product(&level->view, (int32_t)dense->rows, (int32_t)dense->columns, dense->M, from, to));
  PetscCall(VpLogFlops(level, 2. * (double)dense->rows * (double)dense->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(void *data, PetscViewer viewer)
{
  const Dense *dense = (const Dense *)data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "inverted exactly, as a dense matrix: its %d unknowns are few\n", (int)dense->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseDense = {.create = Create, .solve = Solve, .view = View, .destroy = Destroy};
