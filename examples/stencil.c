static char help[] = "Finite differences on a DMDA, -u'' = f on the unit square or cube, by a program that knows nothing of vpatchdg:\n\n\
  stencil -dll_append build/lib/libvpatchdg.so -da_grid_x 200 -da_grid_y 200 -ksp_type fgmres -pc_type vpatchdg -ksp_view\n\n\
Compare -pc_type gamg, or hypre, or mg with -da_refine 5 -pc_mg_levels 6. -dim 3 takes the cube. Points on the boundary have rows of the\n\
identity, as in PETSc's ksp ex45; with -neumann points are centres of cells and sides are insulated, as in ex50. -solves n prints the\n\
seconds of set-up and of the last of n solves, without those of matrix and right-hand side, and the CPU seconds of all ranks.\n\n";

#include <petscdm.h>
#include <petscdmda.h>
#include <petscksp.h>
#include <petsctime.h>
#include <time.h>

typedef struct {
  PetscInt       dim;
  PetscBool      neumann;
  PetscLogDouble own[2]; /* seconds of this program's functions, as Count() has them */
} Problem;

/* Stop watch: sign -1 starts it and +1 stops it. seconds [2]: of the clock, and CPU seconds of all ranks */
static PetscErrorCode Count(PetscInt sign, PetscLogDouble seconds[2])
{
  PetscLogDouble now, cpu = (PetscLogDouble)clock() / CLOCKS_PER_SEC;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&now));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cpu, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  seconds[0] += (PetscLogDouble)sign * now;
  seconds[1] += (PetscLogDouble)sign * cpu;
  PetscFunctionReturn(0);
}

/* place [dim] of a point, for n points along each direction */
static void FindPlace(const Problem *problem, const DMDALocalInfo *info, const PetscInt at[], PetscReal x[])
{
  const PetscInt n[3] = {info->mx, info->my, info->mz};

  for (PetscInt d = 0; d < problem->dim; d++)
    x[d] = problem->neumann ? ((PetscReal)at[d] + 0.5) / (PetscReal)n[d] : (PetscReal)at[d] / (PetscReal)(n[d] - 1);
}

static PetscErrorCode ComputeMatrix(KSP ksp, Mat J, Mat A, void *ctx)
{
  Problem      *problem = ctx;
  DMDALocalInfo info;
  MatNullSpace  constants;
  DM            da;

  PetscFunctionBeginUser;
  PetscCall(Count(-1, problem->own));
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  for (PetscInt k = info.zs; k < info.zs + info.zm; k++) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; j++) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; i++) {
        const PetscInt at[3] = {i, j, k}, n[3] = {info.mx, info.my, info.mz};
        MatStencil     row = {.i = i, .j = j, .k = k, .c = 0}, column[7] = {row};
        PetscScalar    value[7] = {0};
        PetscInt       entries = 1;
        PetscBool      fixed = PETSC_FALSE;
        PetscReal      volume = 1;

        for (PetscInt d = 0; d < problem->dim; d++) {
          volume /= (PetscReal)n[d];
          if (!problem->neumann && (at[d] == 0 || at[d] == n[d] - 1)) fixed = PETSC_TRUE;
        }
        for (PetscInt d = 0; d < problem->dim; d++) {
          const PetscReal coupling = volume * (PetscReal)(n[d] * n[d]);

          for (PetscInt step = -1; step <= 1; step += 2) {
            if (at[d] + step < 0 || at[d] + step >= n[d]) continue;
            value[0] += coupling;
            if (fixed) continue;
            column[entries] =
              (MatStencil){.i = i + (d == 0 ? step : 0), .j = j + (d == 1 ? step : 0), .k = k + (d == 2 ? step : 0), .c = 0};
            value[entries++] = -coupling;
          }
        }
        PetscCall(MatSetValuesStencil(A, 1, &row, entries, column, value, INSERT_VALUES));
      }
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Count(1, problem->own));
  if (!problem->neumann) PetscFunctionReturn(0);
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)A), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(A, constants));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(0);
}

/* f = prod_d cos(pi x_d), whose integral is 0; on the boundary u = 0 */
static PetscErrorCode ComputeRHS(KSP ksp, Vec b, void *ctx)
{
  Problem      *problem = ctx;
  DMDALocalInfo info;
  PetscScalar  *values;
  DM            da;

  PetscFunctionBeginUser;
  PetscCall(Count(-1, problem->own));
  PetscCall(KSPGetDM(ksp, &da));
  PetscCall(DMDAGetLocalInfo(da, &info));
  PetscCall(VecGetArrayWrite(b, &values));
  for (PetscInt p = 0; p < info.xm * info.ym * info.zm; p++) {
    const PetscInt at[3] = {info.xs + p % info.xm, info.ys + p / info.xm % info.ym, info.zs + p / info.xm / info.ym};
    const PetscInt n[3] = {info.mx, info.my, info.mz};
    PetscReal      x[3];

    FindPlace(problem, &info, at, x);
    values[p] = 1;
    for (PetscInt d = 0; d < problem->dim; d++) {
      values[p] *= PetscCosReal(PETSC_PI * x[d]) / (PetscReal)n[d];
      if (!problem->neumann && (at[d] == 0 || at[d] == n[d] - 1)) values[p] = 0;
    }
  }
  PetscCall(VecRestoreArrayWrite(b, &values));
  PetscCall(Count(1, problem->own));
  PetscFunctionReturn(0);
}

/* Sets up, solves `solves` times from 0, and prints the seconds of set-up and of the last solve. */
static PetscErrorCode TimeSolves(KSP ksp, Problem *problem, PetscInt solves)
{
  PetscLogDouble setup[2] = {0}, solve[2] = {0};

  PetscFunctionBeginUser;
  PetscCall(Count(-1, setup));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(Count(1, setup));
  for (int k = 0; k < 2; k++) setup[k] -= problem->own[k];
  for (PetscInt i = 0; i < solves; i++) {
    for (int k = 0; k < 2; k++) solve[k] = problem->own[k] = 0;
    PetscCall(Count(-1, solve));
    PetscCall(KSPSolve(ksp, NULL, NULL));
    PetscCall(Count(1, solve));
  }
  for (int k = 0; k < 2; k++) solve[k] -= problem->own[k];
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "set-up %.3f s (CPU %.2f), solve %.3f s (CPU %.2f)\n", setup[0], setup[1], solve[0], solve[1]));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem            problem = {.dim = 2, .neumann = PETSC_FALSE};
  PetscReal          bnorm, rnorm;
  PetscInt           its, solves = 0;
  KSPConvergedReason reason;
  DM                 da;
  KSP                ksp;
  Mat                A;
  Vec                b, x, r;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &problem.dim, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-neumann", &problem.neumann, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCall(DMDACreate(PETSC_COMM_WORLD, &da));
  PetscCall(DMSetDimension(da, problem.dim));
  PetscCall(DMDASetSizes(da, 33, 33, problem.dim == 3 ? 33 : 1));
  PetscCall(DMDASetDof(da, 1));
  PetscCall(DMDASetStencilType(da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(da, 1));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, da));
  PetscCall(KSPSetComputeOperators(ksp, ComputeMatrix, &problem));
  PetscCall(KSPSetComputeRHS(ksp, ComputeRHS, &problem));
  PetscCall(KSPSetFromOptions(ksp));
  if (solves) PetscCall(TimeSolves(ksp, &problem, solves));
  else PetscCall(KSPSolve(ksp, NULL, NULL));

  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &rnorm));
  PetscCall(VecNorm(b, NORM_2, &bnorm));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations, true relative residual %.1e\n",
                        KSPConvergedReasons[reason], its, (double)(rnorm / bnorm)));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
