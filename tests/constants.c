/* Constants where no side holds them: solutions of singular problems have none, whoever applies the preconditioner, and reactions and
   shifts that hardly hold them leave the iterations as they are. ranks: 1 3 */
#include "support/problem.h"
#include "support/refused.h"

static PetscErrorCode Rough(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscExpReal(x[0]) * PetscSinReal(3 * x[1]);
  return 0;
}

static PetscErrorCode Five(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 5;
  return 0;
}

/* all sides Neumann, with a reaction; b is that of a smooth f */
static PetscErrorCode Free(PetscInt dim, PetscInt degree, PetscInt refine, PetscReal reaction, Problem *p)
{
  const VPatchDGBoundary n = VPATCHDG_BOUNDARY_NEUMANN, sides[] = {n, n, n, n, n, n};
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMVPatchDGSetReaction(dm, reaction));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(DMVPatchDGComputeRHS(dm, Rough, NULL, NULL, NULL, p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the mean of x over its norm in L2, both on a domain of volume 1 */
static PetscErrorCode Mean(Problem *p, Vec x, PetscReal *mean)
{
  PetscReal   norm;
  PetscScalar integral;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGIntegrate(p->dm, x, &integral));
  PetscCall(VecNorm(x, NORM_2, &norm));
  *mean = PetscAbsScalar(integral) / norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SYMMETRIC "-pc_type vpatchdg -pc_vpatchdg_symmetric -pc_vpatchdg_smooth_pre 1 "
static const char *const solvers[] = {"-ksp_type fgmres -pc_type vpatchdg",
                                      "-ksp_type gcr -pc_type vpatchdg",
                                      "-ksp_type fcg " SYMMETRIC,
                                      "-ksp_type cg " SYMMETRIC,
                                      "-ksp_type gmres -pc_type vpatchdg",
                                      "-ksp_type gmres -ksp_pc_side right -pc_type vpatchdg",
                                      "-ksp_type bcgs -pc_type vpatchdg",
                                      "-ksp_type bcgs -ksp_pc_side right -pc_type vpatchdg",
                                      "-ksp_type fbcgs -pc_type vpatchdg",
                                      "-ksp_type qmrcgs -pc_type vpatchdg",
                                      "-ksp_type richardson -pc_type vpatchdg",
                                      "-ksp_type preonly -pc_type vpatchdg",
                                      "-ksp_type fgmres -ksp_guess_type vpatchdg -pc_type vpatchdg",
                                      "-ksp_type fgmres -pc_type vpatchdg -pc_vpatchdg_precision double",
                                      "-ksp_type fgmres -ksp_max_it 2 -pc_type vpatch"};

static PetscErrorCode solutions_have_no_mean(PetscInt dim, PetscInt degree)
{
  Problem   p;
  PetscReal mean;

  PetscFunctionBeginUser;
  PetscCall(Free(dim, degree, dim == 2 ? 4 : 2, 0, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(solvers); i++) {
    PetscCall(NewKSP(&p));
    PetscCall(VecSet(p.x, 0));
    PetscCall(SolveWith(&p, solvers[i], NULL, NULL, NULL));
    PetscCall(Mean(&p, p.x, &mean));
    TapOk((PetscBool)(mean < 1e-12), "solutions_have_no_mean: %" PetscInt_FMT "D, degree %" PetscInt_FMT ", %s: %.1e", dim, degree,
          solvers[i], (double)mean);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A guess may have one, as the user means it: it stays. */
static PetscErrorCode the_mean_of_a_guess_stays(void)
{
  static const char *const flexible[] = {"-ksp_type fgmres -pc_type vpatchdg", "-ksp_type gmres -pc_type vpatchdg"};
  Problem                  p;
  PetscScalar              integral;

  PetscFunctionBeginUser;
  PetscCall(Free(2, 3, 3, 0, &p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(flexible); i++) {
    PetscCall(NewKSP(&p));
    PetscCall(KSPSetInitialGuessNonzero(p.ksp, PETSC_TRUE));
    PetscCall(DMVPatchDGInterpolate(p.dm, Five, NULL, p.x));
    PetscCall(SolveWith(&p, flexible[i], NULL, NULL, NULL));
    PetscCall(DMVPatchDGIntegrate(p.dm, p.x, &integral));
    TapOk((PetscBool)(PetscAbsScalar(integral - 5) < 1e-12), "the_mean_of_a_guess_stays: %s: %.15g", flexible[i], (double)integral);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetColumn(Mat Y, PetscInt k, Vec y)
{
  Vec column;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetColumnVecRead(Y, k, &column));
  PetscCall(VecCopy(column, y));
  PetscCall(MatDenseRestoreColumnVecRead(Y, k, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetColumn(Mat X, PetscInt k, Vec x)
{
  Vec column;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetColumnVecWrite(X, k, &column));
  PetscCall(VecCopy(x, column));
  PetscCall(MatDenseRestoreColumnVecWrite(X, k, &column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode applications_have_no_mean(const char options[], PetscBool transpose)
{
  Problem   p;
  PC        pc;
  Mat       X, Y;
  PetscReal mean, worst = 0;
  PetscInt  m;

  PetscFunctionBeginUser;
  PetscCall(Free(2, 2, 2, 0, &p));
  PetscCall(ReadOptions(&p, options, PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  if (transpose) PetscCall(PCApplyTranspose(pc, p.b, p.x));
  else PetscCall(PCApply(pc, p.b, p.x));
  PetscCall(Mean(&p, p.x, &worst));
  PetscCall(VecGetLocalSize(p.b, &m));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DECIDE, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  PetscCall(PCMatApply(pc, X, Y));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(GetColumn(Y, k, p.x));
    PetscCall(Mean(&p, p.x, &mean));
    worst = PetscMax(worst, mean);
  }
  TapOk((PetscBool)(worst < 1e-12), "applications_have_no_mean: %s%s, and of columns: %.1e", options, transpose ? ", transposed" : "",
        (double)worst);
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refinement sees how well the cycle stands for the operator: a small reaction or shift takes no more iterations than none. */
static PetscErrorCode small_eigenvalues_of_constants_cost_nothing(PetscInt dim, PetscReal reaction, PetscReal shift)
{
  Problem            p;
  PetscInt           its[2];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(Free(dim, 3, dim == 2 ? 4 : 2, i ? reaction : 0, &p));
    if (i && shift != 0) PetscCall(MatShift(p.A, shift));
    PetscCall(SolveWith(&p, "-ksp_type richardson -pc_type vpatchdg -ksp_rtol 1e-8 -ksp_max_it 30", NULL, &its[i], &reason));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk((PetscBool)(reason > 0 && its[1] <= its[0] + 1),
        "small_eigenvalues_of_constants_cost_nothing: %" PetscInt_FMT "D, reaction %g, shift %g: %" PetscInt_FMT " and %" PetscInt_FMT
        " iterations",
        dim, (double)reaction, (double)shift, its[1], its[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* refinement, as another PC may ask for it, from a guess with a mean of 5 and from none */
static PetscErrorCode refinement_keeps_the_mean(PetscBool guess)
{
  Problem                     p;
  PC                          pc;
  Vec                         w;
  PetscScalar                 integral;
  PetscInt                    its;
  PCRichardsonConvergedReason reason;
  MatNullSpace                constants;

  PetscFunctionBeginUser;
  PetscCall(Free(2, 3, 3, 0, &p));
  PetscCall(MatGetNullSpace(p.A, &constants));
  PetscCall(MatNullSpaceRemove(constants, p.b));
  PetscCall(ReadOptions(&p, "-pc_type vpatchdg", PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(VecDuplicate(p.b, &w));
  if (guess) PetscCall(DMVPatchDGInterpolate(p.dm, Five, NULL, p.x));
  PetscCall(PCApplyRichardson(pc, p.b, p.x, w, 1e-8, 0, 1e5, 10, (PetscBool)!guess, &its, &reason));
  PetscCall(DMVPatchDGIntegrate(p.dm, p.x, &integral));
  TapOk((PetscBool)(reason == PCRICHARDSON_CONVERGED_RTOL && PetscAbsScalar(integral - (guess ? 5 : 0)) < 1e-13),
        "refinement_keeps_the_mean: %" PetscInt_FMT " iterations, mean %g", its, (double)integral);
  PetscCall(VecDestroy(&w));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how far M (r + large * one) is from z = M r and what M makes of the constant; it goes in as a vector, or in columns */
static PetscErrorCode FarFrom(PC pc, PetscBool columns, Vec r, Vec one, PetscScalar large, PetscScalar inverse, Vec z, PetscReal *worst)
{
  Mat       X, Y;
  Vec       sum, found;
  PetscReal difference;
  PetscInt  m;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &sum));
  PetscCall(VecDuplicate(r, &found));
  PetscCall(VecWAXPY(sum, large, one, r));
  PetscCall(VecGetLocalSize(r, &m));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, PETSC_DECIDE, 3, NULL, &X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  if (!columns) PetscCall(PCApply(pc, sum, found));
  for (PetscInt k = 0; k < 3 && columns; k++) PetscCall(SetColumn(X, k, sum));
  if (columns) PetscCall(PCMatApply(pc, X, Y));
  *worst = 0;
  for (PetscInt k = 0; k < (columns ? 3 : 1); k++) {
    if (columns) PetscCall(GetColumn(Y, k, found));
    PetscCall(VecAXPY(found, -large * inverse, one));
    PetscCall(Difference(found, z, &difference));
    *worst = PetscMax(*worst, difference);
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(VecDestroy(&sum));
  PetscCall(VecDestroy(&found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Single precision would lose the rest of a vector beside a constant 1e6 times as large. */
static PetscErrorCode large_constants_hide_nothing(PetscBool columns)
{
  const PetscReal reaction = 1e-3;
  Problem         p;
  PC              pc;
  Vec             one;
  PetscReal       worst = 0;
  PetscScalar     multiple;

  PetscFunctionBeginUser;
  PetscCall(Free(2, 2, 3, reaction, &p));
  PetscCall(ReadOptions(&p, "-pc_type vpatchdg -pc_vpatchdg_precision single", PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(VecDuplicate(p.b, &one));
  PetscCall(DMVPatchDGInterpolate(p.dm, Five, NULL, one));
  PetscCall(VecNormalize(one, NULL));
  PetscCall(VecDot(one, p.b, &multiple));
  PetscCall(VecAXPY(p.b, -multiple, one));
  PetscCall(VecNormalize(p.b, NULL));
  PetscCall(PCApply(pc, p.b, p.x));
  PetscCall(FarFrom(pc, columns, p.b, one, 1e6, 1 / reaction, p.x, &worst));
  TapOk((PetscBool)(worst < 1e-3), "large_constants_hide_nothing: %s: %.1e", columns ? "columns" : "a vector", (double)worst);
  PetscCall(VecDestroy(&one));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const other[] = {"-ksp_type fgmres -pc_type vpatchdg", "-ksp_type gmres -pc_type vpatchdg",
                                    "-ksp_type gmres -ksp_pc_side right -pc_type vpatchdg -pc_vpatchdg_precision double",
                                    "-ksp_type fcg " SYMMETRIC};

/* An Amat with another reaction than the Pmat, which PETSc would take the constants off b for; without and with the Pmat's null space. */
static PetscErrorCode other_operators_keep_their_constants(const char solver[], PetscBool known, PetscReal shift)
{
  Problem            p;
  Mat                A;
  PetscReal          residual, wrong;
  MatNullSpace       space, after;
  KSPConvergedReason reason;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(Free(2, 2, 3, 0, &p));
  PetscCall(DMVPatchDGInterpolate(p.dm, Rough, NULL, p.b));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &A));
  PetscCall(MatShift(A, shift));
  if (!known) PetscCall(MatSetNullSpace(p.A, NULL));
  PetscCall(MatGetNullSpace(p.A, &space));
  PetscCall(KSPSetOperators(p.ksp, A, p.A));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -ksp_rtol 1e-8 -ksp_max_it 100", solver));
  PetscCall(SolveWith(&p, options, NULL, NULL, &reason));
  PetscCall(TrueResidual(A, p.b, p.x, &residual));
  PetscCall(MatGetNullSpace(p.A, &after));
  PetscCall(TrueResidual(p.A, p.b, p.x, &wrong));
  TapOk((PetscBool)(reason > 0 && residual < 1e-3 && after == space),
        "other_operators_keep_their_constants: %s, shift %g, null space %d: residual %.1e (%.1e for the Pmat)", solver, (double)shift,
        known, (double)residual, (double)wrong);
  PetscCall(MatDestroy(&A));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector of ones is no constant function in this basis: what would be solved is another problem. */
static PetscErrorCode the_vector_of_ones_is_refused(void)
{
  Problem      p;
  MatNullSpace ones;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(Free(2, 2, 2, 0, &p));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &ones));
  PetscCall(MatSetNullSpace(p.A, ones));
  PetscCall(MatNullSpaceDestroy(&ones));
  PetscCall(TestPC(p.ksp, &pc));
  Refused(KSPSetUp(p.ksp), "is not the constant function in the basis", "vector of ones as null space");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(solutions_have_no_mean(2, 1));
  PetscCall(solutions_have_no_mean(2, 3));
  PetscCall(solutions_have_no_mean(3, 2));
  PetscCall(the_mean_of_a_guess_stays());
  PetscCall(applications_have_no_mean("-pc_type vpatchdg", PETSC_FALSE));
  PetscCall(applications_have_no_mean(SYMMETRIC "-pc_vpatchdg_exchange color", PETSC_TRUE));
  PetscCall(applications_have_no_mean("-pc_type vpatch", PETSC_FALSE));
  for (PetscInt dim = 2; dim <= 3; dim++) {
    PetscCall(small_eigenvalues_of_constants_cost_nothing(dim, 1e-2, 0));
    PetscCall(small_eigenvalues_of_constants_cost_nothing(dim, 0, 1e-2));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(other); i++) {
    for (int known = 0; known < 2; known++) {
      PetscCall(other_operators_keep_their_constants(other[i], (PetscBool)known, 100));
      PetscCall(other_operators_keep_their_constants(other[i], (PetscBool)known, 1e-2));
    }
  }
  PetscCall(refinement_keeps_the_mean(PETSC_FALSE));
  PetscCall(refinement_keeps_the_mean(PETSC_TRUE));
  PetscCall(large_constants_hide_nothing(PETSC_FALSE));
  PetscCall(large_constants_hide_nothing(PETSC_TRUE));
  PetscCall(the_vector_of_ones_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
