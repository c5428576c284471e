static char help[] = "-div grad u = 1 in the unit square or cube, u = 0 on its boundary, by spectral elements: an operator of one's own\n\
as a MATSHELL, whose preconditioner gets the element restriction. -dm_vpatchdg_dim, -dm_vpatchdg_degree and -dm_refine choose the mesh.\n\n";

#include <vpatchdg.h>

enum { MOST = 9 }; /* nodes along a direction */

typedef struct {
  int        dim, n;                 /* dimension, and nodes along a direction: degree + 1 */
  PetscInt   ncell, ndof, N;         /* own cells, nodes of a cell, cells along a direction */
  PetscReal  w[MOST], K[MOST][MOST]; /* weights of the nodes on [0,1], and the integrals of l_i' l_j' by these */
  PetscInt  *node;                   /* [ncell][ndof] rows, x fastest; -1 on the boundary */
  VecScatter scatter;                /* from rows to the nodes of cells */
  Vec        in, out;                /* [ncell][ndof] values at the nodes of cells */
} Spectral;

/* p = the Legendre polynomial of degree k at x in [-1,1], q = its derivative */
static void Legendre(int k, PetscReal x, PetscReal *p, PetscReal *q)
{
  PetscReal before = 0, slope = 0;

  *p = 1;
  *q = 0;
  for (int m = 1; m <= k; m++) {
    const PetscReal next = ((2 * m - 1) * x * *p - (m - 1) * before) / m, dnext = slope + (2 * m - 1) * *p;

    before = *p;
    slope = *q;
    *p = next;
    *q = dnext;
  }
}

/* Gauss-Lobatto points are the ends and the zeros of the derivative of the Legendre polynomial p of degree k; weights 2/(k (k+1) p^2). */
static void FillElement(Spectral *s)
{
  const int k = s->n - 1;
  PetscReal x[MOST], p, q, D[MOST][MOST];

  for (int i = 0; i <= k; i++) {
    x[i] = -PetscCosReal(PETSC_PI * i / k);
    for (int it = 0; it < 50 && i % k; it++) {
      Legendre(k, x[i], &p, &q);
      x[i] -= q * (1 - x[i] * x[i]) / (2 * x[i] * q - k * (k + 1) * p);
    }
    Legendre(k, x[i], &p, &q);
    s->w[i] = 1 / (k * (k + 1) * p * p);
  }
  for (int i = 0; i <= k; i++) {
    for (int j = 0; j <= k; j++) { /* D = twice the derivative of l_j at x_i */
      PetscReal pi, pj;

      Legendre(k, x[i], &pi, &q);
      Legendre(k, x[j], &pj, &q);
      D[i][j] = i != j ? 2 * pi / (pj * (x[i] - x[j])) : i % k ? 0 : (i ? 1 : -1) * k * (k + 1) / 2.;
    }
  }
  for (int i = 0; i <= k; i++) {
    for (int j = 0; j <= k; j++) {
      s->K[i][j] = 0;
      for (int m = 0; m <= k; m++) s->K[i][j] += s->w[m] * D[m][i] * D[m][j];
    }
  }
}

/* Numbers the inner nodes of the grid of all nodes, x fastest. */
static PetscErrorCode FillNodes(DM dm, Spectral *s)
{
  const PetscInt k = s->n - 1, inner = s->N * k - 1;
  PetscReal      lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(s->ncell * s->ndof, &s->node));
  for (PetscInt c = 0; c < s->ncell; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (PetscInt i = 0; i < s->ndof; i++) {
      PetscInt row = 0, stride = 1;

      for (PetscInt d = 0, rest = i; d < s->dim; d++, rest /= s->n) {
        const PetscInt at = (PetscInt)(lower[d] * (PetscReal)s->N + 0.5) * k + rest % s->n - 1;

        if (row >= 0) row = at < 0 || at == inner ? -1 : row + stride * at;
        stride *= inner;
      }
      s->node[c * s->ndof + i] = row;
    }
  }
  PetscFunctionReturn(0);
}

/* Makes the scatter, and a vector of rows. */
static PetscErrorCode CreateScatter(MPI_Comm comm, Spectral *s, Vec *rows)
{
  const PetscInt n = s->ncell * s->ndof;
  PetscInt       count = 0, *from, *to;
  IS             is[2];

  PetscFunctionBeginUser;
  PetscCall(VecCreateMPI(comm, PETSC_DECIDE, PetscPowInt(s->N * (s->n - 1) - 1, s->dim), rows));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &s->in));
  PetscCall(VecDuplicate(s->in, &s->out));
  PetscCall(VecSet(s->in, 0)); /* the values on the boundary */
  PetscCall(PetscMalloc2(n, &from, n, &to));
  for (PetscInt i = 0; i < n; i++) {
    if (s->node[i] < 0) continue;
    from[count] = s->node[i];
    to[count++] = i;
  }
  PetscCall(ISCreateGeneral(comm, count, from, PETSC_COPY_VALUES, &is[0]));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, count, to, PETSC_COPY_VALUES, &is[1]));
  PetscCall(VecScatterCreate(*rows, is[0], s->in, is[1], &s->scatter));
  for (int i = 0; i < 2; i++) PetscCall(ISDestroy(&is[i]));
  PetscCall(PetscFree2(from, to));
  PetscFunctionReturn(0);
}

/* y = the sums over cells of s->out */
static PetscErrorCode AddCells(Spectral *s, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(y, 0));
  PetscCall(VecScatterBegin(s->scatter, s->out, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(s->scatter, s->out, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(0);
}

/* the weight of a node along all directions but d, times h^(dim - 2) */
static PetscReal WeightOf(const Spectral *s, PetscInt i, int d)
{
  PetscReal weight = s->dim == 2 ? 1 : 1 / (PetscReal)s->N;

  for (int e = 0; e < s->dim; e++, i /= s->n) weight *= e == d ? 1 : s->w[i % s->n];
  return weight;
}

/* y = A x */
static PetscErrorCode Multiply(Mat A, Vec x, Vec y)
{
  Spectral          *s;
  const PetscScalar *u;
  PetscScalar       *v;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(VecScatterBegin(s->scatter, x, s->in, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s->scatter, x, s->in, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(s->in, &u));
  PetscCall(VecGetArrayWrite(s->out, &v));
  for (PetscInt i = 0; i < s->ncell * s->ndof; i++) {
    v[i] = 0;
    for (PetscInt d = 0, stride = 1; d < s->dim; d++, stride *= s->n) {
      const PetscInt at = i / stride % s->n;
      PetscScalar    sum = 0;

      for (PetscInt j = 0; j < s->n; j++) sum += s->K[at][j] * u[i + (j - at) * stride];
      v[i] += WeightOf(s, i % s->ndof, (int)d) * sum;
    }
  }
  PetscCall(VecRestoreArrayWrite(s->out, &v));
  PetscCall(VecRestoreArrayRead(s->in, &u));
  PetscCall(AddCells(s, y));
  PetscFunctionReturn(0);
}

/* diagonal = that of A, or the integrals of the nodes' functions if A is NULL */
static PetscErrorCode FillByNode(Spectral *s, PetscBool integrals, Vec rows)
{
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(s->out, &v));
  for (PetscInt i = 0; i < s->ncell * s->ndof; i++) {
    v[i] = integrals ? WeightOf(s, i % s->ndof, -1) / (PetscReal)(s->N * s->N) : 0;
    for (PetscInt d = 0, rest = i % s->ndof; d < s->dim && !integrals; d++, rest /= s->n)
      v[i] += WeightOf(s, i % s->ndof, (int)d) * s->K[rest % s->n][rest % s->n];
  }
  PetscCall(VecRestoreArrayWrite(s->out, &v));
  PetscCall(AddCells(s, rows));
  PetscFunctionReturn(0);
}

static PetscErrorCode GetDiagonal(Mat A, Vec diagonal)
{
  Spectral *s;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(A, &s));
  PetscCall(FillByNode(s, PETSC_FALSE, diagonal));
  PetscFunctionReturn(0);
}

/* Solves A x = b and prints what came out. */
static PetscErrorCode Solve(DM dm, Spectral *s, Mat A, Vec b)
{
  KSP         ksp;
  PC          pc;
  Vec         x;
  PetscInt    its, n;
  PetscReal   norm[2];
  PetscScalar product;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetElementRestriction(pc, dm, s->ncell, s->node));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(VecDot(x, b, &product));
  PetscCall(VecNorm(b, NORM_2, &norm[0]));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(A, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &norm[1]));
  PetscCall(VecGetSize(x, &n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%" PetscInt_FMT " unknowns, %" PetscInt_FMT " iterations, true relative residual %.1e, (f,u) %.6e\n", n, its,
                        (double)(norm[1] / norm[0]), (double)PetscRealPart(product)));
  PetscCall(VecDestroy(&x));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  DM       dm;
  Mat      A;
  Vec      b;
  PetscInt dim, degree, refine, n;
  Spectral s;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 7, 2, &dm));
  PetscCall(DMVPatchDGSetQuadrature(dm, VPATCHDG_QUADRATURE_LOBATTO));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetDegree(dm, &degree));
  PetscCall(DMGetRefineLevel(dm, &refine));
  s = (Spectral){.dim = (int)dim, .n = (int)degree + 1, .N = PetscPowInt(2, (int)refine), .ndof = PetscPowInt(degree + 1, (int)dim)};
  PetscCall(DMVPatchDGGetCells(dm, &s.ncell));
  FillElement(&s);
  PetscCall(FillNodes(dm, &s));
  PetscCall(CreateScatter(PETSC_COMM_WORLD, &s, &b));

  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, &s, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))Multiply));
  PetscCall(MatShellSetOperation(A, MATOP_GET_DIAGONAL, (void (*)(void))GetDiagonal)); /* The preconditioner's Jacobi steps need it. */
  PetscCall(FillByNode(&s, PETSC_TRUE, b));
  PetscCall(Solve(dm, &s, A, b));

  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&s.in));
  PetscCall(VecDestroy(&s.out));
  PetscCall(VecScatterDestroy(&s.scatter));
  PetscCall(PetscFree(s.node));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
