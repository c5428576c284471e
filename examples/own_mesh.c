static char help[] = "A Q1 discontinuous Galerkin code of one's own on a DMDA, -div grad u + q x y u, preconditioned by the cycle.\n\n\
  -n number : cells per direction, 48 by default\n\
  -q number : 20 by default; with 0 both operators are the same\n\n";

#include <petscdmda.h>
#include <petscsf.h>
#include <vpatchdg.h>

typedef struct {
  DM        da, dm;
  PetscSF   map; /* from cells of dm to those of da */
  PetscReal h, q;
  Vec       mine;
} Code;

/* y += weight times the form on a line: u are a cell's values at two Gauss points, lower and upper those of its neighbours, or NULL on the
   boundary */
static void Line(PetscReal h, PetscReal weight, const PetscScalar *u, const PetscScalar *lower, const PetscScalar *upper, PetscScalar *y)
{
  const PetscReal    a = (1 - PetscSqrtReal(3)) / 2, b = (1 + PetscSqrtReal(3)) / 2, s = PetscSqrtReal(3) / h, gamma = 4 / h;
  const PetscScalar *beyond[2] = {lower, upper};

  for (int i = 0; i < 2; i++) y[i] += weight * (i ? s : -s) * h * s * (u[1] - u[0]);
  for (int end = 0; end < 2; end++) {
    const PetscScalar *o = beyond[end];
    const PetscReal    out = end ? s : -s, half = o ? 0.5 : 1, here[2] = {end ? a : b, end ? b : a};
    const PetscScalar  jump = here[0] * u[0] + here[1] * u[1] - (o ? here[1] * o[0] + here[0] * o[1] : 0);
    const PetscScalar  slope = half * out * (u[1] - u[0] + (o ? o[1] - o[0] : 0));

    for (int i = 0; i < 2; i++) y[i] += weight * (here[i] * (gamma * jump - slope) - half * (i ? out : -out) * jump);
  }
}

/* Applies the code's own operator: u[j][i][4] are the values at the Gauss points of cell i, j. */
static PetscErrorCode ApplyMine(Code *c, Vec v, Vec w)
{
  PetscScalar ***u, ***y;
  PetscInt       n, i0, j0, ni, nj;
  Vec            ghosted;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(c->da, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(c->da, &i0, &j0, NULL, &ni, &nj, NULL));
  PetscCall(DMGetLocalVector(c->da, &ghosted));
  PetscCall(DMGlobalToLocal(c->da, v, INSERT_VALUES, ghosted));
  PetscCall(VecSet(w, 0));
  PetscCall(DMDAVecGetArrayDOFRead(c->da, ghosted, &u));
  PetscCall(DMDAVecGetArrayDOF(c->da, w, &y));
  for (PetscInt j = j0; j < j0 + nj; j++) {
    for (PetscInt i = i0; i < i0 + ni; i++) {
      const PetscReal q = c->q * ((PetscReal)i + 0.5) * ((PetscReal)j + 0.5) * c->h * c->h;

      for (int l = 0; l < 2; l++) {
        const PetscScalar *x = u[j][i], column[2] = {x[l], x[2 + l]};
        const PetscScalar  below[2] = {j ? u[j - 1][i][l] : 0, j ? u[j - 1][i][2 + l] : 0};
        const PetscScalar  above[2] = {j < n - 1 ? u[j + 1][i][l] : 0, j < n - 1 ? u[j + 1][i][2 + l] : 0};
        PetscScalar        sum[2] = {0, 0};

        Line(c->h, c->h / 2, x + 2 * l, i ? u[j][i - 1] + 2 * l : NULL, i < n - 1 ? u[j][i + 1] + 2 * l : NULL, y[j][i] + 2 * l);
        Line(c->h, c->h / 2, column, j ? below : NULL, j < n - 1 ? above : NULL, sum);
        for (int k = 0; k < 2; k++) y[j][i][2 * k + l] += sum[k] + c->h * c->h / 4 * q * x[2 * k + l];
      }
    }
  }
  PetscCall(DMDAVecRestoreArrayDOF(c->da, w, &y));
  PetscCall(DMDAVecRestoreArrayDOFRead(c->da, ghosted, &u));
  PetscCall(DMRestoreLocalVector(c->da, &ghosted));
  PetscFunctionReturn(0);
}

/* Copies values from the order of the DM's cells to that of the code's cells, or back. */
static PetscErrorCode Reorder(Code *c, PetscBool back, Vec values, Vec mine)
{
  PetscScalar *v, *m;
  MPI_Datatype cell;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Type_contiguous(4, MPIU_SCALAR, &cell));
  PetscCallMPI(MPI_Type_commit(&cell));
  PetscCall(VecGetArray(values, &v));
  PetscCall(VecGetArray(mine, &m));
  if (back) {
    PetscCall(PetscSFReduceBegin(c->map, cell, m, v, MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(c->map, cell, m, v, MPI_REPLACE));
  } else {
    PetscCall(PetscSFBcastBegin(c->map, cell, v, m, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(c->map, cell, v, m, MPI_REPLACE));
  }
  PetscCall(VecRestoreArray(mine, &m));
  PetscCall(VecRestoreArray(values, &v));
  PetscCallMPI(MPI_Type_free(&cell));
  PetscFunctionReturn(0);
}

/* Applies the code's operator to the DM's vectors. Let V map coefficients to values, for which the mass matrix is the diagonal h^2/4. The
   DM's basis is orthonormal, so V^T A V = V^-1 (h^2/4)^-1 A V. */
static PetscErrorCode Apply(Mat shell, Vec x, Vec y)
{
  Code *c;
  Vec   values, result;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(shell, &c));
  PetscCall(DMGetGlobalVector(c->dm, &values));
  PetscCall(DMGetGlobalVector(c->da, &result));
  PetscCall(DMVPatchDGGetPointValues(c->dm, x, values));
  PetscCall(Reorder(c, PETSC_FALSE, values, c->mine));
  PetscCall(ApplyMine(c, c->mine, result));
  PetscCall(VecScale(result, 4 / (c->h * c->h)));
  PetscCall(Reorder(c, PETSC_TRUE, values, result));
  PetscCall(DMVPatchDGSetPointValues(c->dm, values, y));
  PetscCall(DMRestoreGlobalVector(c->da, &result));
  PetscCall(DMRestoreGlobalVector(c->dm, &values));
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMeshes(Code *c, PetscInt n)
{
  PetscFunctionBeginUser;
  c->h = 1 / (PetscReal)n;
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, PETSC_DECIDE, PETSC_DECIDE, 4, 1,
                         NULL, NULL, &c->da));
  PetscCall(DMSetUp(c->da));
  PetscCall(DMDASetInterpolationType(c->da, DMDA_Q0)); /* Entries are cells, coordinates are their centres. */
  PetscCall(DMDASetUniformCoordinates(c->da, c->h / 2, 1 - c->h / 2, c->h / 2, 1 - c->h / 2, 0, 0));
  PetscCall(DMConvert(c->da, DMVPATCHDG, &c->dm)); /* Four numbers per cell make the degree 1. */
  PetscCall(DMSetFromOptions(c->dm));
  PetscCall(DMSetUp(c->dm));
  PetscCall(DMVPatchDGCreateCellMap(c->dm, c->da, &c->map));
  PetscCall(DMCreateGlobalVector(c->da, &c->mine));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Code      code = {.q = 20};
  Mat       shell, P;
  KSP       ksp;
  PC        pc;
  Vec       b, x, r;
  PetscReal norm[2];
  PetscInt  cells = 48, n, its;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &cells, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-q", &code.q, NULL));
  PetscCall(CreateMeshes(&code, cells));
  PetscCall(DMCreateMatrix(code.dm, &P));
  PetscCall(MatCreateVecs(P, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, &code, &shell));
  PetscCall(MatShellSetOperation(shell, MATOP_MULT, (void (*)(void))Apply));

  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatMult(P, b, x));
  PetscCall(MatResidual(shell, x, b, r));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(VecNorm(r, NORM_2, &norm[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the operators differ by %.1e\n", (double)(norm[1] / norm[0])));

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
  PetscCall(MatDestroy(&shell));
  PetscCall(MatDestroy(&P));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&code.mine));
  PetscCall(PetscSFDestroy(&code.map));
  PetscCall(DMDestroy(&code.dm));
  PetscCall(DMDestroy(&code.da));
  PetscCall(PetscFinalize());
  return 0;
}
