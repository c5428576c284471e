/* KSPVPATCHDGFCG takes the steps of PETSc's KSPFCG with one direction, to rounding errors, and ends where it must.
   ranks: 1 2 4 8 */
#include "support/problem.h"

enum { MOST = 100 };

/* *its and the residuals of a solve by a new KSP, which starts from x = start b (0: from zero) */
static PetscErrorCode History(Problem *p, const char options[], PetscReal start, PetscInt *its, PetscReal residual[MOST])
{
  const PetscReal *history;
  PetscInt         n;

  PetscFunctionBeginUser;
  PetscCall(NewKSP(p));
  PetscCall(KSPSetResidualHistory(p->ksp, NULL, MOST, PETSC_TRUE));
  PetscCall(KSPSetInitialGuessNonzero(p->ksp, (PetscBool)(start != 0)));
  PetscCall(VecCopy(p->b, p->x));
  PetscCall(VecScale(p->x, start));
  PetscCall(SolveWith(p, options, NULL, its, NULL));
  PetscCall(KSPGetResidualHistory(p->ksp, &history, &n));
  PetscCall(PetscArrayzero(residual, MOST));
  PetscCall(PetscArraycpy(residual, history, PetscMin(n, MOST)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* other: options of both. bound: how far residuals may lie apart, as a fraction; 0: their numbers differ by one at most */
static PetscErrorCode steps_are_those_of_petsc(Problem *p, const char what[], const char other[], PetscReal start, PetscReal bound)
{
  char      options[512];
  PetscReal own[MOST], petsc[MOST], apart = 0, difference;
  PetscInt  its[2];
  Vec       x;

  PetscFunctionBeginUser;
  PetscCall(
    PetscSNPrintf(options, sizeof(options), "-ksp_norm_type unpreconditioned -ksp_rtol 1e-9 -ksp_type fcg -ksp_fcg_mmax 1 %s", other));
  PetscCall(History(p, options, start, &its[0], petsc));
  PetscCall(VecDuplicate(p->x, &x));
  PetscCall(VecCopy(p->x, x));
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_rtol 1e-9 -ksp_type vpatchdgfcg %s", other));
  PetscCall(History(p, options, start, &its[1], own));
  PetscCall(Difference(p->x, x, &difference));
  for (PetscInt i = 0; i <= its[0]; i++) apart = PetscMax(apart, PetscAbsReal(own[i] / petsc[i] - 1));
  TapOk((PetscBool)(bound > 0 ? its[0] == its[1] && apart <= bound && difference <= 1e-9 : PetscAbsInt(its[0] - its[1]) <= 1),
        "steps_are_those_of_petsc: %s, %" PetscInt_FMT " (%" PetscInt_FMT ") iterations, residuals differ by %.1e, x by %.1e", what, its[1],
        its[0], (double)apart, (double)difference);
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMapped(PetscInt dim, PetscInt degree, PetscInt refine, Problem *p)
{
  PetscOptions own;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
  PetscCall(TestOptionsPush("-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05", &own));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(TestOptionsPop(&own));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CYCLE "-pc_type vpatchdg -pc_vpatchdg_precision "

/* Directions far beyond rounding errors do no harm, however small they are. */
static PetscErrorCode steps_go_on_when_nothing_is_left(Problem *p)
{
  KSPConvergedReason reason;
  PetscReal          residual;
  PetscInt           its;

  PetscFunctionBeginUser;
  PetscCall(NewKSP(p));
  PetscCall(SolveWith(p, "-ksp_type vpatchdgfcg -ksp_norm_type none -ksp_max_it 120 " CYCLE "double", &residual, &its, &reason));
  TapOk((PetscBool)(its == 120 && reason == KSP_CONVERGED_ITS && residual < 1e-11),
        "steps_go_on_when_nothing_is_left: %" PetscInt_FMT ", %s, residual %.1e", its, KSPConvergedReasons[reason], (double)residual);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode with_cycles(void)
{
  Problem p;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  PetscCall(steps_are_those_of_petsc(&p, "square", CYCLE "double", 0, 1e-5));
  PetscCall(steps_are_those_of_petsc(&p, "square, natural norm", CYCLE "double -ksp_norm_type natural", 0, 1e-5));
  PetscCall(steps_go_on_when_nothing_is_left(&p));
  PetscCall(ProblemDestroy(&p));
  for (PetscInt dim = 2; dim <= 3; dim++) {
    PetscCall(CreateMapped(dim, 2, 5 - dim, &p));
    PetscCall(steps_are_those_of_petsc(&p, dim == 2 ? "mapped square" : "mapped cube", CYCLE "double", 0, 1e-5));
    PetscCall(steps_are_those_of_petsc(&p, "from a guess", CYCLE "double", 0.3, 1e-5));
    PetscCall(steps_are_those_of_petsc(&p, "in single precision", CYCLE "single", 0, 0));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The KSP needs neither a DM nor a PC of this library. It ends where the matrix is not definite, after the iterations that are allowed, and
   where nothing is left to do. */
static PetscErrorCode with_any_matrix(void)
{
  Problem            p;
  Mat                A;
  PetscInt           rows, first, end, its;
  KSPConvergedReason reason;
  PetscReal          residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 1, 3, NULL, &p));
  PetscCall(MatGetSize(p.A, &rows, NULL));
  PetscCall(MatGetLocalSize(p.A, &end, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, end, end, rows, rows, 3, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscCall(MatSetValue(A, i, i, 2.1 + 0.5 * (PetscReal)(i % 3), INSERT_VALUES));
    if (i) PetscCall(MatSetValue(A, i, i - 1, -1, INSERT_VALUES));
    if (i < rows - 1) PetscCall(MatSetValue(A, i, i + 1, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&p.A));
  p.A = A;
  PetscCall(VecDestroy(&p.x));
  PetscCall(VecDestroy(&p.b));
  PetscCall(MatCreateVecs(A, &p.x, &p.b));
  PetscCall(VecSetRandom(p.b, NULL));
  PetscCall(steps_are_those_of_petsc(&p, "a matrix", "-pc_type jacobi", 0, 1e-5));
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type vpatchdgfcg -pc_type jacobi -ksp_max_it 5 -ksp_rtol 1e-9", NULL, &its, &reason));
  TapOk((PetscBool)(its == 5 && reason == KSP_DIVERGED_ITS), "ends_after_5: %" PetscInt_FMT ", %s", its, KSPConvergedReasons[reason]);
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type vpatchdgfcg -pc_type jacobi -ksp_max_it 60 -ksp_norm_type none", &residual, &its, &reason));
  TapOk((PetscBool)(its == 60 && reason == KSP_CONVERGED_ITS && residual < 1e-9), "needs_no_norm: %" PetscInt_FMT ", %s, residual %.1e",
        its, KSPConvergedReasons[reason], (double)residual);
  PetscCall(VecScale(p.b, 1e-143)); /* Squares of smaller norms are not taken from the step. */
  PetscCall(steps_are_those_of_petsc(&p, "a tiny vector", "-pc_type jacobi -ksp_atol 0", 0, 1e-5));
  PetscCall(MatScale(A, -1));
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type vpatchdgfcg -pc_type none -ksp_rtol 1e-9 -ksp_atol 0", NULL, &its, &reason));
  TapOk((PetscBool)(reason == KSP_DIVERGED_INDEFINITE_MAT), "says_indefinite: %s", KSPConvergedReasons[reason]);
  PetscCall(VecZeroEntries(p.b));
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type vpatchdgfcg -pc_type jacobi", NULL, &its, &reason));
  TapOk((PetscBool)(its == 0 && reason > 0), "zero_needs_no_step: %s", KSPConvergedReasons[reason]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(with_cycles());
  PetscCall(with_any_matrix());
  PetscFunctionReturn(PETSC_SUCCESS);
}
