/* Vectors, domains, coefficients and reactions of sizes far from 1: all but rounding is as at size 1.
   ranks: 1 2 3 */
#include "support/problem.h"
#include <petsc/private/petscimpl.h>

/* ---- the preconditioner is homogeneous */

/* z = M (2^e r) 2^-e; known: r has a norm that was computed before */
static PetscErrorCode ApplyScaled(PC pc, Vec r, int e, PetscBool known, Vec z)
{
  Vec scaled;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(r, &scaled));
  PetscCall(VecCopy(r, scaled));
  PetscCall(VecScale(scaled, ldexp(1, e)));
  if (!known) PetscCall(PetscObjectStateIncrease((PetscObject)scaled));
  PetscCall(PCApply(pc, scaled, z));
  PetscCall(VecScale(z, ldexp(1, -e)));
  PetscCall(VecDestroy(&scaled));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preconditioner_is_homogeneous(PetscInt dim, const char options[])
{
  static const int e[] = {-990, -400, -130, -70, 70, 130, 400, 990};
  Problem          p;
  PC               pc;
  Vec              first, z;
  PetscReal        apart, worst = 0, norm;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, dim, 3, dim == 2 ? 4 : 2, NULL, &p));
  PetscCall(ReadOptions(&p, options, PETSC_FALSE));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(VecDuplicate(p.x, &first));
  PetscCall(VecDuplicate(p.x, &z));
  PetscCall(VecNorm(p.b, NORM_2, &norm));
  PetscCall(PCApply(pc, p.b, first));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(e); i++) {
    for (int known = 0; known < 2; known++) {
      PetscCall(ApplyScaled(pc, p.b, e[i], (PetscBool)known, z));
      PetscCall(Difference(z, first, &apart));
      worst = apart <= worst ? worst : apart;
    }
  }
  TapOk((PetscBool)(worst <= 1e-14), "preconditioner_is_homogeneous: %" PetscInt_FMT "D, %s: %.1e", dim, options, (double)worst);
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&first));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Preconditioners(void)
{
  static const char *const options[] = {
    "-pc_type vpatchdg",
    "-pc_type vpatchdg -pc_vpatchdg_precision double",
    "-pc_type vpatchdg -pc_vpatchdg_coarse ksp -pc_vpatchdg_levels 1",
    "-pc_type vpatchdg -pc_vpatchdg_coarse ksp -vpatchdg_coarse_ksp_type fgmres -vpatchdg_coarse_pc_type jacobi",
    "-pc_type vpatchdg -pc_vpatchdg_coarse sweeps -pc_vpatchdg_space dirichlet -pc_vpatchdg_residual local",
    "-pc_type vpatchdg -pc_vpatchdg_gather 1000 -pc_vpatchdg_cycle_type w -pc_vpatchdg_smooth_pre 1",
    "-pc_type vpatch -pc_vpatch_precision single",
    "-pc_type vpatch"};

  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(options); i++) PetscCall(preconditioner_is_homogeneous(dim, options[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- solvers */

/* what there is to solve on [0, size]^dim: the operator of the unit cube times factor / size^2; a = factor, 1000 times as much in a half
   where it jumps */
typedef struct {
  PetscInt         dim, degree, refine;
  PetscReal        size, factor;
  PetscReal        reaction; /* of the unit cube */
  PetscBool        jumps;
  VPatchDGBoundary boundary;
} World;

static PetscReal Half(const PetscReal lower[], const PetscReal upper[], PetscReal split)
{
  return lower[0] > split ? 1000 : 1;
}

static PetscErrorCode Solvable(const World *w, Problem *p)
{
  const PetscReal        upper[3] = {w->size, w->size, w->size};
  const VPatchDGBoundary sides[6] = {w->boundary, w->boundary, w->boundary, w->boundary, w->boundary, w->boundary};
  const PetscReal       *old;
  PetscReal             *a;
  PetscInt               n;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, w->dim, w->degree, w->refine, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, upper));
  PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMVPatchDGSetReaction(dm, w->reaction * w->factor / w->size / w->size));
  PetscCall(DMSetUp(dm));
  if (w->jumps) PetscCall(SetCoefficient(dm, Half, 0.49 * w->size));
  if (w->factor != 1) {
    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(DMVPatchDGGetCoefficient(dm, &old));
    PetscCall(PetscMalloc1(n + 1, &a));
    for (PetscInt i = 0; i < n; i++) a[i] = w->factor * (old ? old[i] : 1);
    PetscCall(DMVPatchDGSetCoefficient(dm, a));
    PetscCall(PetscFree(a));
  }
  PetscCall(ProblemOf(dm, NULL, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* iterations for b times `scale`, and the true residual, computed where its squares are numbers */
static PetscErrorCode SolveScaled(Problem *p, const char options[], PetscReal scale, PetscInt *its, PetscReal *residual,
                                  KSPConvergedReason *reason)
{
  Vec b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p->b, &b));
  PetscCall(VecCopy(p->b, b));
  PetscCall(VecScale(p->b, scale));
  PetscCall(NewKSP(p));
  PetscCall(SolveWith(p, options, NULL, its, reason));
  PetscCall(VecScale(p->x, 1 / scale));
  PetscCall(VecCopy(b, p->b));
  PetscCall(TrueResidual(p->A, p->b, p->x, residual));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define FUSED     "-ksp_type richardson -pc_type vpatchdg "
#define FLEXIBLE  "-ksp_type fgmres -pc_type vpatchdg "
#define CONJUGATE "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type vpatchdg -pc_vpatchdg_symmetric "
#define GUESS     "-ksp_guess_type vpatchdg "
#define REST      "-ksp_rtol 1e-9 -ksp_atol 0 -ksp_max_it 40 "

static const struct {
  const char *options;
  PetscReal   most; /* size of b, or its inverse: PETSc's own solvers take squares */
} solvers[] = {
  {FUSED REST, 1e300},
  {FUSED GUESS REST, 1e300},
  {FUSED REST "-pc_vpatchdg_precision double", 1e300},
  {FLEXIBLE REST, 1e140},
  {FLEXIBLE GUESS REST "-pc_vpatchdg_coarse ksp", 1e140},
  {CONJUGATE REST, 1e130},
};

static PetscErrorCode right_sides_of_all_sizes_are_solved(PetscInt dim)
{
  static const PetscReal scales[] = {1e-300, 1e-140, 1e-130, 1e-40, 1e-32, 1e38, 1e130, 1e140, 1e300};
  const World            w = {dim, 3, dim == 2 ? 4 : 2, 1, 1, 0, PETSC_FALSE, VPATCHDG_BOUNDARY_DIRICHLET};
  Problem                p;
  PetscInt               its, first;
  PetscReal              residual;
  KSPConvergedReason     reason;

  PetscFunctionBeginUser;
  PetscCall(Solvable(&w, &p));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); k++) {
    PetscCall(SolveScaled(&p, solvers[k].options, 1, &first, &residual, &reason));
    for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(scales); i++) {
      if (scales[i] > solvers[k].most || 1 / scales[i] > solvers[k].most) continue;
      PetscCall(SolveScaled(&p, solvers[k].options, scales[i], &its, &residual, &reason));
      TapOk((PetscBool)(its == first && residual <= 1e-8 && reason > 0),
            "right_sides_of_all_sizes_are_solved: %" PetscInt_FMT "D, %s, %.0e: %" PetscInt_FMT " and %" PetscInt_FMT
            " iterations, residual %.1e",
            dim, solvers[k].options, (double)scales[i], its, first, (double)residual);
    }
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* as many iterations as on the unit cube with the coefficient 1 */
static PetscErrorCode operators_of_all_sizes_are_solved(World w, const char name[])
{
  static const PetscReal size[][2] = {{1e-30, 1}, {1e-10, 1}, {1e10, 1}, {1e30, 1}, {1, 1e-30}, {1, 1e30}, {1e-10, 1e-30}, {1e10, 1e30}};
  PetscInt               its, first[PETSC_STATIC_ARRAY_LENGTH(solvers)];
  PetscReal              residual;
  KSPConvergedReason     reason;
  Problem                p;

  PetscFunctionBeginUser;
  w.size = w.factor = 1;
  PetscCall(Solvable(&w, &p));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); k++)
    PetscCall(SolveScaled(&p, solvers[k].options, 1, &first[k], &residual, &reason));
  PetscCall(ProblemDestroy(&p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(size); i++) {
    w.size = size[i][0];
    w.factor = size[i][1];
    PetscCall(Solvable(&w, &p));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); k++) {
      PetscCall(SolveScaled(&p, solvers[k].options, 1, &its, &residual, &reason));
      TapOk((PetscBool)(its == first[k] && residual <= 1e-8 && reason > 0),
            "operators_of_all_sizes_are_solved: %s, size %.0e, a %.0e, %s: %" PetscInt_FMT " and %" PetscInt_FMT
            " iterations, residual %.1e",
            name, (double)w.size, (double)w.factor, solvers[k].options, its, first[k], (double)residual);
    }
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the smoother in PETSc's multigrid */
static PetscErrorCode smoothers_of_all_sizes_work(void)
{
  static const char options[] = "-ksp_type fgmres -ksp_rtol 1e-9 -ksp_atol 0 -pc_type mg -pc_mg_levels 2 -mg_levels_ksp_type richardson "
                                "-mg_levels_ksp_max_it 1 -mg_levels_pc_type vpatch -mg_levels_pc_vpatch_precision single "
                                "-mg_coarse_pc_type vpatchdg -mg_coarse_ksp_type preonly -mg_coarse_pc_vpatchdg_precision single";
  PetscInt          its[2];
  PetscReal         residual[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const World w = {2, 3, 3, i ? 1e-20 : 1, i ? 1e-10 : 1, 1, PETSC_FALSE, VPATCHDG_BOUNDARY_DIRICHLET};
    Problem     p;

    PetscCall(Solvable(&w, &p));
    PetscCall(GiveLevels(&p));
    PetscCall(SolveWith(&p, options, &residual[i], &its[i], NULL));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk((PetscBool)(its[0] == its[1] && residual[1] <= 1e-8),
        "smoothers_of_all_sizes_work: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, residual %.1e", its[1], its[0],
        (double)residual[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one KSP, whose guess is the solution before, for right-hand sides of quite other sizes */
static PetscErrorCode sizes_may_change_between_solves(const char options[])
{
  const World        w = {2, 3, 3, 1, 1, 0, PETSC_FALSE, VPATCHDG_BOUNDARY_DIRICHLET};
  const PetscReal    by[] = {1e-270, 1e270, 1e200};
  Problem            p;
  PetscReal          size = 1;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Solvable(&w, &p));
  PetscCall(NewKSP(&p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(by); i++) {
    size *= by[i];
    PetscCall(VecScale(p.b, by[i]));
    PetscCall(SolveWith(&p, options, NULL, &its, &reason));
    TapOk((PetscBool)(reason > 0), "sizes_may_change_between_solves: %s, %.0e: %" PetscInt_FMT " iterations", options, (double)size, its);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- what has no size */

static PetscErrorCode zero_and_nan_end_as_they_should(const char options[])
{
  const World        w = {2, 3, 3, 1, 1, 0, PETSC_FALSE, VPATCHDG_BOUNDARY_DIRICHLET};
  const PetscReal    bad[] = {NAN, INFINITY};
  Problem            p;
  PetscReal          norm;
  PetscInt           its, first, last;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Solvable(&w, &p));
  PetscCall(NewKSP(&p));
  PetscCall(VecSet(p.b, 0));
  PetscCall(VecSet(p.x, 1));
  PetscCall(SolveWith(&p, options, NULL, &its, &reason));
  PetscCall(VecNorm(p.x, NORM_2, &norm));
  TapOk((PetscBool)(norm == 0 && its == 0 && reason > 0), "zero_is_solved_by_zero: %s", options);
  for (int i = 0; i < 2; i++) {
    PetscCall(VecSetRandom(p.b, NULL));
    PetscCall(VecGetOwnershipRange(p.b, &first, &last));
    if (first == 0 && last) PetscCall(VecSetValue(p.b, 0, bad[i], INSERT_VALUES));
    PetscCall(VecAssemblyBegin(p.b));
    PetscCall(VecAssemblyEnd(p.b));
    PetscCall(SolveWith(&p, options, NULL, NULL, &reason));
    TapOk((PetscBool)(reason == KSP_DIVERGED_NANORINF), "not_a_number_diverges: %s, %g", options, (double)bad[i]);
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const World plain = {2, 3, 3, 1, 1, 0, PETSC_FALSE, VPATCHDG_BOUNDARY_DIRICHLET},
              cube = {3, 2, 2, 1, 1, 30, PETSC_FALSE, VPATCHDG_BOUNDARY_NEUMANN},
              jumps = {2, 2, 3, 1, 1, 5, PETSC_TRUE, VPATCHDG_BOUNDARY_DIRICHLET};

  PetscFunctionBeginUser;
  PetscCall(Preconditioners());
  PetscCall(right_sides_of_all_sizes_are_solved(2));
  PetscCall(right_sides_of_all_sizes_are_solved(3));
  PetscCall(operators_of_all_sizes_are_solved(plain, "square"));
  PetscCall(operators_of_all_sizes_are_solved(cube, "cube with reaction"));
  PetscCall(operators_of_all_sizes_are_solved(jumps, "square with jumps"));
  PetscCall(smoothers_of_all_sizes_work());
  PetscCall(sizes_may_change_between_solves(FUSED REST "-ksp_initial_guess_nonzero"));
  PetscCall(zero_and_nan_end_as_they_should("-ksp_type richardson -pc_type vpatchdg"));
  PetscCall(zero_and_nan_end_as_they_should("-ksp_type fgmres -pc_type vpatchdg"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
