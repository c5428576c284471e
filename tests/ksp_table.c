/* Every KSP of PETSc with PCVPATCHDG as it is, which solves twice: where it says that it converged, the true
   residual is at most 10 times the tolerance, or a warning was printed.
   ranks: 1 2 */
#include "support/problem.h"
#include "support/said.h"

PETSC_EXTERN PetscFunctionList KSPList;

static const char *const left_out[][2] = {
  {"qcg", "minimises in a trust region, by symmetric preconditioning"},
  {"fetidp", "is made for PCBDDC"},
  {"lsqr", "solves least squares problems"},
  {"cgls", "solves least squares problems"},
  {"tsirm", "needs a PCKSP"},
  {"eksm", "solves with many shifts at a time"},
  {"pipelcg", "does not end with a preconditioner that is not symmetric"},
  {"hpddm", "is another package"},
  {"python", "is what the user makes it"},
};

typedef struct {
  int       solves, converged, warned, of_residual;
  PetscReal worst; /* true residual over tolerance, of those that converged silently */
} Row;

/* with the KSP that there is; *told: whether it has warned, which it does once */
static PetscErrorCode Solve(Problem *p, const char type[], PetscReal rtol, PetscBool *told, Row *row)
{
  char               options[128];
  PetscReal          residual;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type vpatchdg -ksp_rtol %g -ksp_max_it 60", type, (double)rtol));
  ListenBegin();
  PetscCall(SolveWith(p, options, &residual, NULL, &reason));
  PetscCall(ListenEnd(PETSC_COMM_WORLD));
  row->solves++;
  row->warned += Said("vpatchdg: warning: ") > 0;
  row->of_residual += Said("says CONVERGED") > 0;
  if (Said("vpatchdg: warning: ")) *told = PETSC_TRUE;
  if (reason < 0 || reason == KSP_CONVERGED_ITS) PetscFunctionReturn(PETSC_SUCCESS);
  row->converged++;
  if (!*told) row->worst = PetscMax(row->worst, PetscIsNanReal(residual) ? PETSC_INFINITY : residual / rtol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *WhyLeftOut(const char type[])
{
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(left_out); i++) {
    if (!strcmp(left_out[i][0], type)) return left_out[i][1];
  }
  if (VectorsOnDevice() && (!strcmp(type, KSPIBCGS) || !strcmp(type, KSPFBCGSR))) return "keeps pointers to host memory";
  return NULL;
}

static PetscErrorCode SolveAll(Problem *p, const char *const types[], int n, Row rows[])
{
  PetscBool told = PETSC_FALSE;

  PetscFunctionBeginUser;
  for (int t = 0; t < n; t++) {
    if (!types[t] || WhyLeftOut(types[t])) continue;
    for (int k = 0; k < 4; k++) {
      if (k % 2 == 0) told = PETSC_FALSE;
      if (k % 2 == 0) PetscCall(NewKSP(p));
      PetscCall(Solve(p, types[t], k < 2 ? 1e-8 : 1e-10, &told, &rows[t]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A KSP whose true residual stalls would be warned of in most solves. One that stops by the preconditioned norm may be in some. */
static PetscErrorCode every_ksp_is_right_or_says_so(void)
{
  static const PetscInt refine[2][8] = {{4, 4, 3, 3, 2, 2, 2, 2}, {3, 2, 2, 1, 1, 1, 1, 1}};
  const char          **types;
  int                   n;
  PetscMPIInt           size;
  PetscInt              step;
  Row                  *rows;
  Problem               p;

  PetscFunctionBeginUser;
  PetscCall(PetscFunctionListGet(KSPList, &types, &n));
  PetscCall(PetscCalloc1(n, &rows));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  step = size > 1 ? 3 : 1; /* several ranks share the cores of a test machine */
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (PetscInt degree = 1; degree <= 8; degree += step) {
      PetscCall(ProblemCreate(PETSC_COMM_WORLD, dim, degree, refine[dim - 2][degree - 1], NULL, &p));
      PetscCall(SolveAll(&p, types, n, rows));
      PetscCall(ProblemDestroy(&p));
    }
  }
  for (int t = 0; t < n; t++) {
    const Row *row = &rows[t];

    if (!types[t]) continue;
    if (WhyLeftOut(types[t])) TapOk(PETSC_TRUE, "every_ksp_is_right_or_says_so: %s # SKIP it %s", types[t], WhyLeftOut(types[t]));
    else {
      TapOk((PetscBool)(row->solves == (size > 1 ? 24 : 64) && row->worst <= 10 && 4 * row->of_residual <= row->solves),
            "every_ksp_is_right_or_says_so: %s converged in %d of %d solves, %d with warnings, %d of them of the residual; the others "
            "reach %.1f "
            "times the tolerance",
            types[t], row->converged, row->solves, row->warned, row->of_residual, (double)row->worst);
    }
  }
  PetscCall(PetscFree(rows));
  PetscCall(PetscFree(types));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(KSPInitializePackage());
  PetscCall(every_ksp_is_right_or_says_so());
  PetscFunctionReturn(PETSC_SUCCESS);
}
