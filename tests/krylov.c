/* The vectors that every KSP of PETSc takes: as many as VpKrylovVectors() counts.
   ranks: 1 */
#include "support/problem.h"
#include "../src/petsc/forecast/forecast.h"

PETSC_EXTERN PetscFunctionList KSPList;

/* KSPs that need a PC of a certain type, solve least squares problems, belong to other packages or do not end */
static const char left_out[] = "qcg|fetidp|tsirm|eksm|pipelcg|hpddm|python|lsqr|cgls";

/* *measured: what a KSP has allocated after this number of iterations; *counted: what the library counts */
static PetscErrorCode Measure(Problem *p, const char type[], PetscInt iterations, const char more[], PetscReal *measured, PetscInt *counted)
{
  char           options[256];
  PetscLogDouble before, after;
  PetscInt       local;
  PetscOptions   own;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type none -ksp_rtol 1e-300 -ksp_max_it %" PetscInt_FMT " %s", type,
                          iterations, more));
  PetscCall(NewKSP(p));
  PetscCall(VecGetLocalSize(p->x, &local));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(PetscMallocGetCurrentUsage(&before));
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(PetscMallocGetCurrentUsage(&after));
  PetscCall(VpKrylovVectors(p->ksp, iterations, counted));
  PetscCall(TestOptionsPop(&own));
  *measured = (after - before) / (PetscReal)sizeof(PetscScalar) / (PetscReal)local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Hessenberg matrices and the like take up to two vectors here. */
static PetscErrorCode every_ksp_takes_what_is_counted(Problem *p, PetscInt iterations, const char more[])
{
  const char **types;
  int          n;
  PetscReal    measured;
  PetscInt     counted;
  PetscBool    out;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListGet(KSPList, &types, &n));
  for (int t = 0; t < n; t++) {
    if (!types[t]) continue;
    PetscCall(PetscStrInList(types[t], left_out, '|', &out));
    if (out) continue;
    PetscCall(Measure(p, types[t], iterations, more, &measured, &counted));
    TapOk((PetscBool)(PetscAbsReal(measured - (PetscReal)counted) < 2.5),
          "every_ksp_takes_what_is_counted: %s %s, %" PetscInt_FMT " iterations: %.1f, %" PetscInt_FMT " counted", types[t], more,
          iterations, (double)measured, counted);
  }
  PetscCall(PetscFree(types));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem   p;
  PetscBool counts;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(KSPInitializePackage());
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(PetscMallocGetDebug(&counts, NULL, NULL)); /* It is on by -malloc_dump in run.sh. */
  if (!counts || VectorsOnDevice()) {
    TapOk(PETSC_TRUE, "every_ksp_takes_what_is_counted # SKIP PETSc does not count the bytes of vectors");
    PetscCall(PetscFinalize());
    return TapEnd();
  }
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 5, NULL, &p));
  PetscCall(every_ksp_takes_what_is_counted(&p, 1, ""));
  PetscCall(every_ksp_takes_what_is_counted(&p, 10, ""));
  PetscCall(every_ksp_takes_what_is_counted(&p, 10, "-ksp_gmres_restart 12 -ksp_gmres_preallocate -ksp_gcr_restart 5 -ksp_fcg_mmax 4"));
  PetscCall(every_ksp_takes_what_is_counted(&p, 28, "-ksp_gmres_restart 28 -ksp_pipefcg_mmax 4 -ksp_pipegcr_mmax 4 -ksp_lcd_restart 6"));
  PetscCall(ProblemDestroy(&p));
  PetscCall(PetscFinalize());
  return TapEnd();
}
