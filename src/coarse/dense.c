/* The inverse of a small coarsest problem as a dense matrix. A rank has the rows of its own cells, and gathers all of b. The matrix maps
   values in the level's basis to values in this basis:

       M = E A^-1 L    A: in the orthonormal basis; L: from the level's basis to it, cell by cell; E: back

   Without Dirichlet and Robin sides, constants are an eigenvector of A, whose eigenvalue is the reaction c. Rounding errors would hide a
   small c, and if c = 0 there is no inverse. So a multiple of the projection on constants is added to A, and another one to A^-1, whose
   eigenvalue then is 1/c, or 0. If 1/c is so large that its rounding errors hide the rest of A^-1, there is no dense inverse. */
#include "internal.h"
#include <float.h>

#define MOST_LOST 0.01 /* the fraction of A^-1 that rounding errors of 1/c may hide */

typedef struct {
  VpLevel      level;
  size_t       rows, columns; /* unknowns of this rank, of all ranks */
  PetscMPIInt *count, *first; /* [ranks] the number of own cells, and the first one */
  VpArrays     arrays;
  const void  *M;       /* [rows][columns] */
  void        *b;       /* [columns]; NULL if one rank has all cells */
  double       largest; /* the largest number on the diagonal of A^-1, without what constants add */
} Dense;

/* all = the values of all cells; own: those of own cells */
static PetscErrorCode GatherCells(const Dense *dense, MPI_Datatype cell, const void *own, void *all)
{
  const VpMesh mesh = dense->level->mesh;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgatherv(own, mesh->nown, cell, all, dense->count, dense->first, cell, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one [columns] = the constant function of norm 1. host: the level in double precision on the host, in the orthonormal basis */
static PetscErrorCode GatherConstant(const Dense *dense, VpLevel host, double one[])
{
  const int    ndof = (int)VpLevelValues(host);
  MPI_Datatype cell;
  double      *own, norm = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(dense->rows, &own));
  VpConstant(host, own);
  PetscCallMPI(MPI_Type_contiguous(ndof, MPI_DOUBLE, &cell));
  PetscCallMPI(MPI_Type_commit(&cell));
  PetscCall(GatherCells(dense, cell, own, one));
  PetscCallMPI(MPI_Type_free(&cell));
  for (size_t i = 0; i < dense->columns; i++) norm += one[i] * one[i];
  for (size_t i = 0; i < dense->columns; i++) one[i] /= sqrt(norm);
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the rows of A of all ranks on each rank. *copy holds them until RestoreRows(). */
static PetscErrorCode GatherRows(VpLevel host, VpDenseInverse *d, Mat *copy)
{
  Mat          A;
  PetscInt     n;
  PetscScalar *value;
  PetscBool    done;

  PetscFunctionBegin;
  PetscCall(VpAssemble(host, MATAIJ, &A));
  if (host->mesh->size > 1) {
    PetscCall(MatCreateRedundantMatrix(A, host->mesh->size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, copy));
    PetscCall(MatDestroy(&A));
  } else *copy = A;
  PetscCall(MatGetRowIJ(*copy, 0, PETSC_FALSE, PETSC_FALSE, &n, &d->start, &d->column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The gathered matrix has no rows to look at");
  PetscCall(MatSeqAIJGetArray(*copy, &value));
  d->value = value;
  d->n = (int32_t)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestoreRows(VpDenseInverse *d, Mat *copy)
{
  PetscScalar *value = (PetscScalar *)d->value;
  PetscInt     n;
  PetscBool    done;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJRestoreArray(*copy, &value));
  PetscCall(MatRestoreRowIJ(*copy, 0, PETSC_FALSE, PETSC_FALSE, &n, &d->start, &d->column, &done));
  PetscCall(MatDestroy(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the weights of the projection on constants. c: their eigenvalue */
static void WeighConstants(double c, VpDenseInverse *d)
{
  PetscInt k = d->start[0];

  while (d->column[k] != 0) k++;
  d->weight[0] = PetscRealPart(d->value[k]);
  d->weight[1] = (c > 0 ? 1 / c : 0) - 1 / (c + d->weight[0]);
}

/* Computes own rows of M. */
static PetscErrorCode InvertRows(Dense *dense, VpDenseInverse *d)
{
  const VpLevel level = dense->level;
  const size_t  ndof = VpLevelValues(level);
  void         *M;

  PetscFunctionBegin;
  d->first = (int32_t)(level->mesh->first * (int64_t)ndof);
  d->count = (int32_t)dense->rows;
  d->dim = level->mesh->dim;
  d->order = level->basis.n;
  if (level->basis.type != VP_BASIS_ORTHONORMAL) {
    d->enter = level->enter;
    d->leave = level->leave;
  }
  PetscCall(VpArraysReserve(&dense->arrays, dense->rows * dense->columns * level->real, "coarse inverse", &M));
  PetscCall(level->backend->invert_dense(d, level->precision, M, &dense->largest));
  dense->M = M;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyDense(void *data)
{
  Dense *dense = (Dense *)data;

  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&dense->arrays));
  PetscCall(PetscFree2(dense->count, dense->first));
  PetscCall(PetscFree(dense->b));
  PetscCall(PetscFree(dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocateDense(VpLevel level, Dense **out)
{
  const VpMesh mesh = level->mesh;
  const size_t ndof = VpLevelValues(level);
  Dense       *dense;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dense));
  *out = dense;
  dense->level = level;
  dense->rows = (size_t)mesh->nown * ndof;
  dense->columns = (size_t)mesh->ncell * ndof;
  dense->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCall(PetscMalloc2(mesh->size, &dense->count, mesh->size, &dense->first));
  for (PetscMPIInt r = 0; r < mesh->size; r++) {
    dense->first[r] = (PetscMPIInt)mesh->starts[r];
    dense->count[r] = (PetscMPIInt)(mesh->starts[r + 1] - mesh->starts[r]);
  }
  if (VpMeshRanks(mesh) > 1) PetscCall(PetscMalloc(dense->columns * level->real, &dense->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDense(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpMesh   mesh = level->mesh;
  const double   c = VpLevelReaction(level), rounding = level->precision == VP_SINGLE ? FLT_EPSILON : DBL_EPSILON;
  VpProblem      diffusion = level->problem;
  VpDenseInverse inverse = {0};
  Dense         *dense = NULL;
  VpLevel        host;
  double        *one = NULL;
  Mat            A;
  PetscBool      constants;

  PetscFunctionBegin;
  diffusion.reaction = 0;
  constants = (PetscBool)(!level->problem.apart.reaction && VpProblemIsSingular(mesh, &diffusion));
  PetscCall(AllocateDense(level, &dense));
  PetscCall(VpLevelCreate(mesh, &level->problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &host));
  PetscCall(GatherRows(host, &inverse, &A));
  if (constants) {
    PetscCall(PetscMalloc1(dense->columns, &one));
    PetscCall(GatherConstant(dense, host, one));
    WeighConstants(c, &inverse);
  }
  inverse.one = one;
  PetscCall(VpLevelDestroy(&host));
  PetscCall(VpTogether(mesh->comm, dense->rows ? InvertRows(dense, &inverse) : PETSC_SUCCESS));
  PetscCall(RestoreRows(&inverse, &A));
  PetscCall(PetscFree(one));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &dense->largest, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  if (constants && c > 0 && rounding / c > MOST_LOST * dense->largest) PetscCall(DestroyDense(dense));
  else *data = dense;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveDense(void *data, int32_t n, VpVector b, VpVector x)
{
  const Dense  *dense = (const Dense *)data;
  const VpLevel level = dense->level;
  const void   *from;
  void         *to;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &from));
  if (dense->b) {
    PetscCall(GatherCells(dense, level->unit, from, dense->b));
    from = dense->b;
  }
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, &to));
  if (dense->rows) PetscCall(level->ops->product(&level->view, (int32_t)dense->rows, (int32_t)dense->columns, dense->M, n, from, to));
  PetscCall(VpLogFlops(level->backend, 2. * n * (double)dense->rows * (double)dense->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewDense(void *data, PetscViewer viewer)
{
  const Dense *dense = (const Dense *)data;

  return PetscViewerASCIIPrintf(viewer, "inverted exactly, as a dense matrix: its %d unknowns are few\n", (int)dense->columns);
}

const VpCoarseOps VpCoarseDense = {
  .create = CreateDense, .solve = SolveDense, .columns = PETSC_TRUE, .view = ViewDense, .destroy = DestroyDense};
