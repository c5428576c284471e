static char help[] = "An operator of one's own, -div grad u + q(x) u, as a MATSHELL, preconditioned by the cycle for -div grad u + c u.\n\n\
  -c number : 50 by default, about the mean of q\n\n";

#include <vpatchdg.h>

typedef struct {
  DM  dm;
  Mat A; /* -div grad */
  Vec q; /* values at points */
} Operator;

static PetscErrorCode Reaction(const PetscReal x[], PetscScalar *q)
{
  *q = 50 * (1 + PetscSinReal(2 * PETSC_PI * x[0]) * PetscSinReal(2 * PETSC_PI * x[1]));
  return 0;
}

/* w = A v + (q v, phi_i), integrated with the DM's points */
static PetscErrorCode Apply(Mat shell, Vec v, Vec w)
{
  Operator *op;
  Vec       values, product;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(shell, &op));
  PetscCall(DMGetGlobalVector(op->dm, &values));
  PetscCall(DMGetGlobalVector(op->dm, &product));
  PetscCall(DMVPatchDGGetPointValues(op->dm, v, values));
  PetscCall(VecPointwiseMult(values, op->q, values));
  PetscCall(DMVPatchDGSetPointValues(op->dm, values, product));
  PetscCall(MatMultAdd(op->A, v, product, w));
  PetscCall(DMRestoreGlobalVector(op->dm, &product));
  PetscCall(DMRestoreGlobalVector(op->dm, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode FillReaction(DM dm, Vec q)
{
  const PetscScalar *point;
  PetscScalar       *value;
  PetscInt           dim, n;
  Vec                coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetPoints(dm, &coordinates));
  PetscCall(VecGetLocalSize(q, &n));
  PetscCall(VecGetArrayRead(coordinates, &point));
  PetscCall(VecGetArrayWrite(q, &value));
  for (PetscInt i = 0; i < n; i++) PetscCall(Reaction(point + i * dim, &value[i]));
  PetscCall(VecRestoreArrayWrite(q, &value));
  PetscCall(VecRestoreArrayRead(coordinates, &point));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(0);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return 0;
}

int main(int argc, char **argv)
{
  Operator  op;
  Mat       shell, P;
  KSP       ksp;
  PC        pc;
  Vec       b, x, r;
  PetscReal c = 50, norm[2];
  PetscInt  n, its;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-c", &c, NULL));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 4, 5, &op.dm));
  PetscCall(DMSetFromOptions(op.dm));
  PetscCall(DMSetUp(op.dm));
  PetscCall(DMCreateMatrix(op.dm, &op.A));
  PetscCall(MatCreateVecs(op.A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(DMCreateGlobalVector(op.dm, &op.q));
  PetscCall(FillReaction(op.dm, op.q));
  PetscCall(DMVPatchDGComputeRHS(op.dm, One, NULL, NULL, NULL, b));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, &op, &shell));
  PetscCall(MatShellSetOperation(shell, MATOP_MULT, (void (*)(void))Apply));
  PetscCall(DMCreateMatrix(op.dm, &P)); /* The basis is orthonormal, so A + c I is -div grad u + c u. */
  PetscCall(MatShift(P, c));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, shell, P));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(MatResidual(shell, b, x, r));
  PetscCall(VecNorm(b, NORM_2, &norm[0]));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d iterations, relative residual %.1e\n", (int)its, (double)(norm[1] / norm[0])));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&shell));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&op.q));
  PetscCall(MatDestroy(&op.A));
  PetscCall(DMDestroy(&op.dm));
  PetscCall(PetscFinalize());
  return 0;
}
