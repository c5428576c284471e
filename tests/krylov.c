/* The vectors that every KSP of PETSc takes: as many as VpKrylovVectors() counts.
   ranks: 1 */
#include "support/problem.h"
#include "../src/petsc/forecast/forecast.h"

PETSC_EXTERN PetscFunctionList KSPList;

/* KSPs that need a PC of a certain type, solve least squares problems, belong to other packages or do not end */
static const char left_out[] = "qcg|fetidp|tsirm|eksm|pipelcg|hpddm|python|lsqr|cgls";

/* *iterations: after how many it has converged */
static PetscErrorCode ConvergedAfter(KSP ksp, PetscInt i, PetscReal norm, KSPConvergedReason *reason, void *iterations)
{
  (void)ksp, (void)norm;
  *reason = i < *(PetscInt *)iterations ? KSP_CONVERGED_ITERATING : KSP_CONVERGED_RTOL;
  return PETSC_SUCCESS;
}

/* *measured: what a KSP has allocated after this number of iterations; *counted: what the library counts */
static PetscErrorCode Measure(Problem *p, const char type[], PetscInt iterations, const char more[], PetscReal *measured, PetscInt *counted)
{
  char           options[256];
  PetscLogDouble before, after;
  PetscInt       local, used;
  PetscOptions   own;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type none -ksp_max_it 200 %s", type, more));
  PetscCall(NewKSP(p));
  PetscCall(VecGetLocalSize(p->x, &local));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(PetscMallocGetCurrentUsage(&before));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSetConvergenceTest(p->ksp, ConvergedAfter, &iterations, NULL));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(PetscMallocGetCurrentUsage(&after));
  PetscCall(VpKrylovVectors(p->ksp, iterations, counted, &used));
  PetscCall(TestOptionsPop(&own));
  *measured = (after - before) / (PetscReal)sizeof(PetscScalar) / (PetscReal)local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hessenberg matrices and the like take up to two vectors here. */
static PetscErrorCode takes_what_is_counted(Problem *p, const char type[], PetscInt iterations, const char more[])
{
  PetscReal measured;
  PetscInt  counted;

  PetscFunctionBeginUser;
  PetscCall(Measure(p, type, iterations, more, &measured, &counted));
  TapOk((PetscBool)(PetscAbsReal(measured - (PetscReal)counted) < 2.5),
        "takes_what_is_counted: %s %s, %" PetscInt_FMT " iterations: %.1f, %" PetscInt_FMT " counted", type, more, iterations,
        (double)measured, counted);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode every_ksp_takes_what_is_counted(Problem *p, PetscInt iterations, const char more[])
{
  const char **types;
  int          n;
  PetscBool    out;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListGet(KSPList, &types, &n));
  for (int t = 0; t < n; t++) {
    if (!types[t]) continue;
    PetscCall(PetscStrInList(types[t], left_out, '|', &out));
    if (!out) PetscCall(takes_what_is_counted(p, types[t], iterations, more));
  }
  PetscCall(PetscFree(types));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From PETSc 3.24 on, the set-up allocates for max_it iterations at most, and without norms for all until the restart. */
static PetscErrorCode gmres_takes_what_is_counted(Problem *p)
{
  const char *types[] = {KSPGMRES, KSPFGMRES};

  PetscFunctionBeginUser;
  for (int t = 0; t < 2; t++) {
    PetscCall(takes_what_is_counted(p, types[t], 1, "-ksp_max_it 3"));
    PetscCall(takes_what_is_counted(p, types[t], 12, "-ksp_max_it 12 -ksp_norm_type none"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const PetscInt iterations[] = {1, 5, 10, 11, 20};
  Problem        p;
  PetscBool      counts;

  PetscFunctionBeginUser;
  PetscCall(KSPInitializePackage());
  PetscCall(PetscMallocGetDebug(&counts, NULL, NULL)); /* It is on by -malloc_dump in run.sh. */
  if (!counts || VectorsOnDevice()) {
    TapOk(PETSC_TRUE, "takes_what_is_counted # SKIP PETSc does not count the bytes of vectors");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 5, NULL, &p));
  for (int i = 0; i < 5; i++) PetscCall(every_ksp_takes_what_is_counted(&p, iterations[i], ""));
  PetscCall(every_ksp_takes_what_is_counted(&p, 10, "-ksp_gmres_restart 12 -ksp_gmres_preallocate -ksp_gcr_restart 5 -ksp_fcg_mmax 4"));
  PetscCall(every_ksp_takes_what_is_counted(&p, 28, "-ksp_gmres_restart 28 -ksp_pipefcg_mmax 4 -ksp_pipegcr_mmax 4 -ksp_lcd_restart 6"));
  PetscCall(gmres_takes_what_is_counted(&p));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
