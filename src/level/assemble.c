/* Assembles the matrix of an outer level (host, double precision, orthonormal basis) row by row from its lines. */
#include "internal.h"

/* Largest number of entries of a row. An unknown couples with the lines through it in its own cell and in the cell beyond each side. A side
   that hangs couples it with all unknowns of the cells on both sides. Equal columns are not merged yet. */
static size_t MostEntries(VpLevel level)
{
  const size_t n = (size_t)level->basis.n, dim = (size_t)level->mesh->dim, ndof = (size_t)PetscPowInt((PetscInt)n, (PetscInt)dim);

  return 3 * dim * n + (level->mesh->faces.n ? 2 * dim * VP_HANG_TERMS * ndof : 0);
}

/* Computes row i of the operator of direction d in a cell: the entries own [n] towards the cell itself and beyond[s] [n] towards the cell
   beyond side s. On a torus of one or two cells some of these cells are the same cell, and the first of its arrays gets all its entries. */
static void ComputeLineRow(VpLevel level, int32_t cell, int d, int i, double own[], double beyond[2][VP_MAX_N])
{
  const VpBasis *basis = &level->basis;
  const int32_t *neighbor = level->mesh->neighbor + (size_t)cell * 2 * level->mesh->dim + 2 * d;
  const int      n = basis->n;
  const double  *D = VpLevelLine(level, cell, d), *g = D + VpLineSide(n, 0);

  for (int j = 0; j < n; j++) {
    own[j] = D[i * n + j];
    for (int s = 0; s < 2; s++) beyond[s][j] = g[2 * s * n + i] * basis->value[1 - s][j] + g[(2 * s + 1) * n + i] * basis->slope[1 - s][j];
    if (neighbor[0] == neighbor[1] && neighbor[0] >= 0) {
      beyond[0][j] += beyond[1][j];
      beyond[1][j] = 0;
    }
    if (neighbor[0] == cell) {
      own[j] += beyond[0][j];
      beyond[0][j] = 0;
    }
  }
}

/* the entry towards function i of the term's cell; d: the side's normal */
static double TermAt(const VpHangTerm *term, int dim, int n, int d, int i)
{
  double value = 1;

  for (int e = 0, bit = 0; e < dim; e++, i /= n) value *= e == d ? term->normal[i % n] : term->tangential[bit++][i % n];
  return value;
}

/* Adds the entries of a hanging side to row `at` of its cell. */
static void AddHangingSide(VpLevel level, const PetscInt position[], int32_t side, int at, VpRow *row)
{
  const int      n = level->basis.n, dim = level->mesh->dim, d = level->mesh->faces.face[side].side / 2;
  const PetscInt ndof = PetscPowInt(n, dim);
  VpHangTerm     term[VP_HANG_TERMS];
  int            own;
  const int      terms = VpHangingRow(level, side, at, term, &own);

  for (int t = 0; t < terms; t++) {
    for (int i = 0; i < ndof; i++) VpRowAdd(row, position[term[t].cell] * ndof + i, TermAt(&term[t], dim, n, d, i));
  }
}

/* the global position of function i, in the directions of the cell, of the cell beyond a side, and the sign that it has there */
static PetscInt PositionBeyond(VpLevel level, const PetscInt position[], int32_t cell, int side, int i, int *sign)
{
  const int n = level->basis.n, dim = level->mesh->dim, turn = VpMeshTurn(level->mesh, cell, side);

  *sign = 1;
  if (turn) i = VpFrameValue(dim, n, level->basis.nt, VpFrameBeyond(dim, 0, side, turn), i, sign);
  return position[VpMeshNeighbor(level->mesh, cell, side)] * PetscPowInt(n, dim) + i;
}

/* Computes row `at` of a cell. position: global positions of the local cells */
static PetscErrorCode RowCreate(const VpRows *rows, const PetscInt position[], int32_t cell, int at, VpRow *row)
{
  const VpLevel  level = rows->level;
  const VpMesh   mesh = level->mesh;
  const int      n = level->basis.n, dim = mesh->dim;
  const PetscInt ndof = PetscPowInt(n, dim);
  const int32_t  hanging = VpFirstFace(mesh->faces.n, mesh->faces.face, cell);
  double         own[VP_MAX_N], beyond[2][VP_MAX_N], diagonal = 0;

  PetscFunctionBegin;
  row->n = 0;
  for (int d = 0, stride = 1; d < dim; d++, stride *= n) {
    const int i = at / stride % n, line = at - i * stride;

    ComputeLineRow(level, cell, d, i, own, beyond);
    diagonal += own[i];
    for (int j = 0; j < n; j++) {
      if (j != i) VpRowAdd(row, position[cell] * ndof + line + j * stride, own[j]);
    }
    for (int s = 0; s < 2; s++) {
      const int32_t next = VpMeshNeighbor(mesh, cell, 2 * d + s);

      for (int j = 0; j < n && next >= 0; j++) {
        int            sign;
        const PetscInt there = PositionBeyond(level, position, cell, 2 * d + s, line + j * stride, &sign);

        VpRowAdd(row, there, sign * beyond[s][j]);
      }
    }
  }
  VpRowAdd(row, position[cell] * ndof + at, diagonal);
  for (int32_t side = hanging; side < mesh->faces.n && mesh->faces.face[side].cell[0] == cell; side++)
    AddHangingSide(level, position, side, at, row);
  if (hanging < mesh->faces.n && mesh->faces.face[hanging].cell[0] == cell) PetscCall(VpRowMerge(row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rows of A; VpMetricRowsDestroy() releases them */
static PetscErrorCode RowsOf(VpLevel level, VpRows *rows)
{
  const int ndof = (int)PetscPowInt(level->basis.n, level->mesh->dim);

  PetscFunctionBegin;
  *rows = (VpRows){.level = level, .rows = ndof, .columns = ndof, .most = MostEntries(level), .create = RowCreate};
  if (level->view.metric.components) PetscCall(VpMetricRowsCreate(level, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MPIBAIJ refuses MAT_SPD (PETSc 3.18). */
PetscErrorCode VpSetPositiveDefinite(Mat A)
{
  PetscBool refuses;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIBAIJ, &refuses));
  if (!refuses) PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAssemble(VpLevel level, MatType type, Mat *out)
{
  VpRows    rows;
  PetscBool aij;

  PetscFunctionBegin;
  PetscCall(RowsOf(level, &rows));
  PetscCall(PetscStrInList(type, "aij|seqaij|mpiaij|aijcusparse|seqaijcusparse|mpiaijcusparse", '|', &aij));
  PetscCall(VpAssembleRows(&rows, aij ? type : MATAIJ, out));
  PetscCall(VpMetricRowsDestroy(&rows));
  PetscCall(MatSetOption(*out, MAT_SYMMETRIC, PETSC_TRUE)); /* The conversion to sbaij requires this. */
  if (!aij) PetscCall(MatConvert(*out, type, MAT_INPLACE_MATRIX, out));
  PetscCall(MatSetOption(*out, MAT_SYMMETRIC, PETSC_TRUE));
  if (level->problem.penalty >= 1 && !VpProblemIsSingular(level->mesh, &level->problem)) PetscCall(VpSetPositiveDefinite(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SumRow(PetscInt i, const VpRow *row, void *context)
{
  PetscReal *sums = context, sum = 0; /* largest sum of absolute values; sum of squares */

  PetscFunctionBegin;
  for (int k = 0; k < row->n; k++) {
    sum += PetscAbsScalar(row->value[k]);
    sums[1] += PetscRealPart(row->value[k] * row->value[k]);
  }
  sums[0] = PetscMax(sums[0], sum);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpAbsoluteSums(VpLevel level, NormType type, PetscReal *norm)
{
  const PetscBool square = type == NORM_FROBENIUS;
  PetscReal       sums[2] = {0, 0};
  VpRows          rows;

  PetscFunctionBegin;
  PetscCheck(square || type == NORM_1 || type == NORM_INFINITY, level->mesh->comm, PETSC_ERR_SUP,
             "Matrix norms are NORM_1, NORM_FROBENIUS and NORM_INFINITY");
  PetscCall(RowsOf(level, &rows));
  PetscCall(VpForEachRow(&rows, SumRow, sums)); /* A is symmetric: column sums are row sums */
  PetscCall(VpMetricRowsDestroy(&rows));
  PetscCallMPI(MPI_Allreduce(&sums[square], norm, 1, MPIU_REAL, square ? MPIU_SUM : MPIU_MAX, level->mesh->comm));
  if (square) *norm = PetscSqrtReal(*norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* out [n^dim] = sum, or product, over the directions of factor[d] [n] */
static void FillTensor(int dim, int n, PetscBool product, const double factor[3][VP_MAX_N], double out[])
{
  for (int at = 0; at < PetscPowInt(n, dim); at++) {
    out[at] = product ? 1 : 0;
    for (int d = 0, rest = at; d < dim; d++, rest /= n) {
      const double f = factor[d][rest % n];

      out[at] = product ? out[at] * f : out[at] + f;
    }
  }
}

/* Adds the terms of a hanging side to the diagonal [n^dim] of its cell. */
static void AddHangingDiagonal(VpLevel level, int32_t side, double diagonal[])
{
  const int  n = level->basis.n, dim = level->mesh->dim, d = level->mesh->faces.face[side].side / 2;
  VpHangTerm term[VP_HANG_TERMS];
  int        own;

  for (int at = 0; at < PetscPowInt(n, dim); at++) {
    (void)VpHangingRow(level, side, at, term, &own);
    for (int t = 0; t < own; t++) diagonal[at] += TermAt(&term[t], dim, n, d, at);
  }
}

PetscErrorCode VpDiagonal(VpLevel level, double diagonal[])
{
  const int n = level->basis.n, dim = level->mesh->dim, ndof = (int)PetscPowInt(n, dim);
  double    factor[3][VP_MAX_N], own[VP_MAX_N], beyond[2][VP_MAX_N];

  PetscFunctionBegin;
  if (level->view.metric.components) {
    PetscCall(VpMetricDiagonal(level, diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int32_t c = 0; c < level->mesh->nown; c++) {
    for (int d = 0; d < dim; d++) {
      for (int i = 0; i < n; i++) {
        ComputeLineRow(level, c, d, i, own, beyond);
        factor[d][i] = own[i];
      }
    }
    FillTensor(dim, n, PETSC_FALSE, (const double(*)[VP_MAX_N])factor, diagonal + (size_t)c * ndof);
  }
  for (int32_t side = 0; side < level->mesh->faces.n; side++)
    AddHangingDiagonal(level, side, diagonal + (size_t)level->mesh->faces.face[side].cell[0] * ndof);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves M c = integrals of the phi_i, so that 1 = sum_i c_i phi_i. The integral of phi_i is sqrt(h) legendre[i][0]. */
void VpConstant(VpLevel level, double one[])
{
  const VpBasis *basis = &level->basis;
  const int      n = basis->n, dim = level->mesh->dim, ndof = (int)PetscPowInt(n, dim);
  double         unit[VP_MAX_N] = {0}, factor[3][VP_MAX_N];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) unit[i] += basis->imass[i * n + j] * basis->legendre[j * n];
  }
  for (int32_t c = 0; c < level->mesh->nown; c++) {
    for (int d = 0; d < dim; d++) {
      for (int i = 0; i < n; i++) factor[d][i] = unit[i] * sqrt(VpGeometrySize(level->mesh->geometry, c, d));
    }
    FillTensor(dim, n, PETSC_TRUE, (const double(*)[VP_MAX_N])factor, one + (size_t)c * ndof);
  }
  if (level->outer && level->view.metric.root) {
    for (size_t i = 0; i < (size_t)level->mesh->nown * (size_t)ndof; i++) one[i] /= level->view.metric.root[i];
  }
}

/* Gives the coefficients of the function 1 to PETSc, because in this basis these are not all 1. */
PetscErrorCode VpSetConstantNullSpace(VpLevel level, Mat A)
{
  MatNullSpace constants;
  Vec          one;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &one, NULL));
  PetscCall(VecGetArrayWrite(one, &values));
  VpConstant(level, values);
  PetscCall(VecRestoreArrayWrite(one, &values));
  PetscCall(VecNormalize(one, NULL));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_FALSE, 1, &one, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}
