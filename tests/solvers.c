/* Outer solvers with PCVPATCHDG: each reaches what it reports, or does not and is expected not to.
   ranks: 1 2 4 */
#include "support/problem.h"

/* true residual at most 10 x tolerance; those that stop by another norm, a preconditioned one, get a hundred times more */
static PetscErrorCode every_ksp_runs(void)
{
  static const char *const types[] = {KSPRICHARDSON, KSPCHEBYSHEV, KSPCG,       KSPGROPPCG, KSPPIPECG,  KSPPIPECGRR,   KSPNASH,
                                      KSPSTCG,       KSPGLTR,      KSPFCG,      KSPPIPEFCG, KSPGMRES,   KSPPIPEFGMRES, KSPFGMRES,
                                      KSPLGMRES,     KSPDGMRES,    KSPPGMRES,   KSPTCQMR,   KSPBCGS,    KSPIBCGS,      KSPFBCGS,
                                      KSPFBCGSR,     KSPBCGSL,     KSPPIPEBCGS, KSPCGS,     KSPTFQMR,   KSPCR,         KSPPIPECR,
                                      KSPBICG,       KSPMINRES,    KSPSYMMLQ,   KSPGCR,     KSPPIPEGCR, KSPQMRCGS};
  static const PetscInt    problems[][3] = {{2, 3, 3}, {3, 2, 2}};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Problem p;

    PetscCall(ProblemCreate(PETSC_COMM_WORLD, problems[i][0], problems[i][1], problems[i][2], NULL, &p));
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      char        options[256];
      PetscReal   residual, bound;
      PetscInt    its;
      PetscBool   fused;
      KSPNormType norm;

      if (VectorsOnDevice() && (!strcmp(types[t], KSPIBCGS) || !strcmp(types[t], KSPFBCGSR))) {
        TapOk(PETSC_TRUE, "every_ksp_runs: %s # SKIP it keeps pointers to host memory while vectors change on the device", types[t]);
        continue;
      }
      PetscCall(PetscSNPrintf(options, sizeof(options),
                              "-ksp_type %s -pc_type vpatchdg -pc_vpatchdg_symmetric -pc_vpatchdg_exchange color "
                              "-ksp_rtol 1e-9 -ksp_max_it 60",
                              types[t]));
      PetscCall(NewKSP(&p));
      PetscCall(SolveWith(&p, options, &residual, &its, NULL));
      PetscCall(KSPGetNormType(p.ksp, &norm));
      PetscCall(PetscStrcmp(types[t], KSPRICHARDSON, &fused)); /* which stops by the true residual, whatever the norm */
      bound = fused || norm == KSP_NORM_UNPRECONDITIONED ? 1e-8 : 1e-6;
      TapOk((PetscBool)(residual <= bound),
            "every_ksp_runs: %s, %" PetscInt_FMT "D: true residual %.1e, at most %.0e, after %" PetscInt_FMT " iterations", types[t],
            problems[i][0], (double)residual, (double)bound, its);
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode precisions_agree(void)
{
  Problem   p;
  Vec       x;
  PetscInt  its[2];
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 4, 2, NULL, &p));
  PetscCall(VecDuplicate(p.x, &x));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-10 -pc_type vpatchdg -pc_vpatchdg_precision double", NULL, &its[0], NULL));
  PetscCall(VecCopy(p.x, x));
  PetscCall(SolveWith(&p, "-pc_vpatchdg_precision single", NULL, &its[1], NULL));
  PetscCall(Difference(p.x, x, &difference));
  TapOk((PetscBool)(PetscAbsInt(its[0] - its[1]) <= 1 && difference <= 1e-8),
        "precisions_agree: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, solutions differ by %.1e", its[0], its[1],
        (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Forcing(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 1;
  return PETSC_SUCCESS;
}

/* GMRES forms x from what it takes for the cycle's linear image; the others keep r = b - A x */
static PetscErrorCode gmres_with_single_cycle_stalls(void)
{
  Problem   p;
  PetscReal gmres, fgmres, norm, b;
  PetscBool said;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 4, 5, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Forcing, NULL, NULL, NULL, p.b));
  PetscCall(
    SolveWith(&p, "-ksp_type gmres -ksp_pc_side right -ksp_rtol 1e-9 -pc_type vpatchdg -pc_vpatchdg_precision single", &gmres, NULL, NULL));
  PetscCall(KSPGetResidualNorm(p.ksp, &norm));
  PetscCall(VecNorm(p.b, NORM_2, &b));
  PetscCall(ViewSays((PetscObject)p.ksp, "with KSPGMRES the true residual stalls", &said));
  TapOk(said, "view_says_what_gmres_cannot_reach");
  TapOk((PetscBool)(norm <= 1e-9 * b && gmres > 1e-7), "gmres_with_single_cycle_stalls: it reports %.1e, true residual %.1e",
        (double)(norm / b), (double)gmres);
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-9 -pc_type vpatchdg", &fgmres, NULL, NULL));
  TapOk((PetscBool)(fgmres <= 1e-8), "fgmres_with_single_cycle_does_not_stall: true residual %.1e", (double)fgmres);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode nan_stops_the_ksp(void)
{
  static const char *const types[] = {"richardson", "fgmres", "gmres", "cg", "bcgs"};

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    Problem            p;
    PetscInt           its, size;
    KSPConvergedReason reason;
    char               options[64];

    PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 2, NULL, &p));
    PetscCall(VecGetSize(p.b, &size));
    PetscCall(VecSetValue(p.b, size / 2, NAN, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(p.b));
    PetscCall(VecAssemblyEnd(p.b));
    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type vpatchdg", types[t]));
    PetscCall(SolveWith(&p, options, NULL, &its, &reason));
    TapOk((PetscBool)(reason < 0 && its <= 1), "nan_stops_the_ksp: %s, reason %s", types[t], KSPConvergedReasons[reason]);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* f = 1: residuals at the start and after each refinement, relative to b, at most those given (0: any); no more iterations to rtol than
   from zero, fewer where `fewer` */
typedef struct {
  PetscInt  dim, degree, refine;
  PetscReal rtol, residual[4];
  PetscBool fewer;
} Nested;

static PetscErrorCode nested_guess_starts_small(const Nested *c)
{
  Problem   p;
  PetscReal history[2][50], residual, b;
  PetscInt  n, its[2];
  PetscBool small = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(p.dm, Forcing, NULL, NULL, NULL, p.b));
  PetscCall(VecNorm(p.b, NORM_2, &b));
  for (int guess = 0; guess < 2; guess++) {
    char options[256];

    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-ksp_type richardson -ksp_norm_type unpreconditioned -pc_type vpatchdg -ksp_rtol %g %s", (double)c->rtol,
                            guess ? "-ksp_guess_type vpatchdg" : ""));
    PetscCall(NewKSP(&p));
    PetscCall(KSPSetResidualHistory(p.ksp, history[guess], 50, PETSC_TRUE));
    PetscCall(SolveWith(&p, options, &residual, &its[guess], NULL));
  }
  PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
  for (PetscInt i = 0; i < 4 && c->residual[i]; i++) small = (PetscBool)(small && i < n && history[1][i] <= c->residual[i] * b);
  TapOk(small, "nested_guess_starts_small: %" PetscInt_FMT "D Q%" PetscInt_FMT " L=%" PetscInt_FMT ": residuals %.1e %.1e %.1e", c->dim,
        c->degree, c->refine, (double)(history[1][0] / b), n > 1 ? (double)(history[1][1] / b) : 0.,
        n > 2 ? (double)(history[1][2] / b) : 0.);
  TapOk((PetscBool)(residual <= 1.01 * c->rtol && its[1] + (c->fewer ? 1 : 0) <= its[0]),
        "nested_guess_saves_iterations: %" PetscInt_FMT "D Q%" PetscInt_FMT " L=%" PetscInt_FMT ", to %.0e: %" PetscInt_FMT
        ", from zero %" PetscInt_FMT,
        c->dim, c->degree, c->refine, (double)c->rtol, its[1], its[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 : 1000 by quadrants of the square, octants of the cube; also the guess and the symmetric cycle take them */
static PetscErrorCode coefficient_jumps_converge(PetscInt dim, PetscInt degree, PetscInt refine)
{
  static const char *const options[] = {"-ksp_type fgmres", "-ksp_type richardson", "-ksp_type fgmres -ksp_guess_type vpatchdg",
                                        "-ksp_type cg -pc_vpatchdg_symmetric"};
  Problem                  p;
  PetscInt                 ncell, its;
  PetscReal               *a, lower[3] = {0, 0, 0}, upper[3], residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, dim, degree, refine, NULL, &p));
  PetscCall(DMVPatchDGGetCells(p.dm, &ncell));
  PetscCall(PetscMalloc1(ncell, &a));
  for (PetscInt c = 0; c < ncell; c++) {
    int odd = 0;

    PetscCall(DMVPatchDGGetCellBounds(p.dm, c, lower, upper));
    for (PetscInt d = 0; d < dim; d++) odd += lower[d] > 0.49;
    a[c] = odd % 2 ? 1000 : 1;
  }
  PetscCall(DMVPatchDGSetCoefficient(p.dm, a));
  PetscCall(PetscFree(a));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(options); i++) {
    char all[256];

    PetscCall(PetscSNPrintf(all, sizeof(all), "%s -pc_type vpatchdg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned", options[i]));
    PetscCall(NewKSP(&p));
    PetscCall(SolveWith(&p, all, &residual, &its, NULL));
    TapOk((PetscBool)(residual <= 1e-7 && its <= 12),
          "coefficient_jumps_converge: %" PetscInt_FMT "D Q%" PetscInt_FMT ", %s: %" PetscInt_FMT " iterations, residual %.1e", dim, degree,
          options[i], its, (double)residual);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neumann: b made orthogonal to the constants, which KSPs remove because the matrix tells them */
static PetscErrorCode singular_problem_is_solved(PetscInt dim)
{
  static const char *const options[] = {"-ksp_type fgmres", "-ksp_type richardson", "-ksp_type fgmres -ksp_guess_type vpatchdg",
                                        "-ksp_type cg -pc_vpatchdg_symmetric"};
  const VPatchDGBoundary   neumann[6] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN,
                                         VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN};
  Problem                  p;
  DM                       dm;
  MatNullSpace             constants;
  PetscReal                residual;
  PetscInt                 its;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 3, 5 - dim, &dm));
  PetscCall(DMVPatchDGSetBoundary(dm, neumann));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(MatGetNullSpace(p.A, &constants));
  PetscCall(MatNullSpaceRemove(constants, p.b));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(options); i++) {
    char all[256];

    PetscCall(PetscSNPrintf(all, sizeof(all), "%s -pc_type vpatchdg -ksp_rtol 1e-8 -ksp_norm_type unpreconditioned", options[i]));
    PetscCall(NewKSP(&p));
    PetscCall(SolveWith(&p, all, &residual, &its, NULL));
    TapOk((PetscBool)(residual <= 1e-7 && its <= 8),
          "singular_problem_is_solved: %" PetscInt_FMT "D, %s: %" PetscInt_FMT " iterations, residual %.1e", dim, options[i], its,
          (double)residual);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The mesh has coarser ones, by another rule than the cycle's, which then has a copy of the mesh. */
static PetscErrorCode guess_takes_full_coarsening(void)
{
  const PetscInt n[] = {3, 1};
  DM             dm, coarse;
  Problem        p;
  PetscReal      residual;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 2, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, NULL, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &coarse));
  PetscCall(DMDestroy(&coarse));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_guess_type vpatchdg -ksp_rtol 1e-8 -pc_type vpatchdg -pc_vpatchdg_coarsening full",
                      &residual, NULL, NULL));
  TapOk((PetscBool)(residual <= 1e-8), "guess_takes_full_coarsening: residual %.1e", (double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the KSP's operator is not the preconditioner's: refinement must use the first for its residuals */
static PetscErrorCode amat_may_differ_from_pmat(void)
{
  Problem   p;
  Mat       A, P;
  PetscReal residual;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 2, 3, 3, NULL, &p));
  P = p.A;
  PetscCall(MatDuplicate(P, MAT_COPY_VALUES, &A));
  PetscCall(MatShift(A, 10));
  PetscCall(KSPSetOperators(p.ksp, A, P));
  p.A = A;
  PetscCall(SolveWith(&p, "-ksp_type richardson -ksp_rtol 1e-9 -pc_type vpatchdg", &residual, NULL, NULL));
  TapOk((PetscBool)(residual <= 1e-8), "amat_may_differ_from_pmat: residual %.1e", (double)residual);
  PetscCall(MatDestroy(&A));
  PetscCall(DMSetMatType(p.dm, MATAIJ));
  PetscCall(DMCreateMatrix(p.dm, &p.A));
  PetscCall(NewKSP(&p));
  PetscCall(SolveWith(&p, "-ksp_type richardson -ksp_rtol 1e-9 -pc_type vpatchdg", &residual, NULL, NULL));
  TapOk((PetscBool)(residual <= 1e-8), "pmat_may_be_assembled: residual %.1e", (double)residual);
  PetscCall(MatDestroy(&P));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  /* tolerances: a factor of ten and more from every residual that decides the counts compared */
  static const Nested nested[] = {
    {2, 3, 5, 1e-9, {5e-2, 4e-4, 2e-6, 1.5e-8}, PETSC_FALSE},
    {2, 3, 7, 3e-8, {1.2e-2, 8e-5, 5e-7, 4e-9}, PETSC_TRUE},
    {2, 4, 6, 5e-7, {1.2e-2, 1.4e-5, 3e-8}, PETSC_TRUE},
    {3, 4, 3, 1e-8, {1.6e-1, 6e-4, 1e-6, 2e-9}, PETSC_FALSE},
  };

  PetscCall(every_ksp_runs());
  PetscCall(precisions_agree());
  PetscCall(gmres_with_single_cycle_stalls());
  PetscCall(nan_stops_the_ksp());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(nested); i++) PetscCall(nested_guess_starts_small(&nested[i]));
  PetscCall(coefficient_jumps_converge(2, 3, 4));
  PetscCall(coefficient_jumps_converge(3, 2, 2));
  PetscCall(singular_problem_is_solved(2));
  PetscCall(singular_problem_is_solved(3));
  PetscCall(guess_takes_full_coarsening());
  PetscCall(amat_may_differ_from_pmat());
  PetscFunctionReturn(PETSC_SUCCESS);
}
