/* The operator on trees that are turned: against its matrix, on the same trees that are turned otherwise, on polynomials; named domains,
   files, and what is refused.
   ranks: 1 3 */
#include "support/trees_dm.h"
#include <unistd.h>

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1;
  return 0;
}

/* Compares trees with the same ones in other directions. */
static PetscErrorCode TurnedTrees(const Trees *t, PetscInt degree, PetscInt refine, const char name[])
{
  PetscReal straight[3], turned[3];
  Trees     other = *t;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(New(t, degree, refine, "", &dm));
  PetscCall(Numbers(dm, straight));
  PetscCall(DMDestroy(&dm));
  for (unsigned int seed = 1; seed < 4; seed++) {
    TreesTurn(seed, &other);
    PetscCall(New(&other, degree, refine, "", &dm));
    PetscCall(Numbers(dm, turned));
    TapOk(AreSame(straight, turned), "directions_of_trees_do_not_matter: %s Q%d, %.1e %.1e %.1e", name, (int)degree,
          (double)(turned[0] / straight[0] - 1), (double)(turned[1] / straight[1] - 1), (double)(turned[2] / straight[2] - 1));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(New(&other, degree, PetscMin(refine, 1), "", &dm));
  PetscCall(MatrixIsTheOperator(dm, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On straight kites polynomials of degree 2 are among the functions of degree 2, so that their residual is 0. Without Dirichlet sides
   constants have no residual. */
static PetscErrorCode Polynomials(void)
{
  DM        dm;
  Mat       A;
  Vec       x, y, b;
  PetscReal norm[2];
  Trees     t;

  PetscFunctionBeginUser;
  TreesStar(5, &t);
  TreesTurn(7, &t);
  PetscCall(New(&t, 2, 2, "", &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(DMVPatchDGInterpolate(dm, Polynomial, NULL, x));
  PetscCall(DMVPatchDGComputeRHS(dm, PolynomialSource, Polynomial, NULL, NULL, b));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_2, &norm[0]));
  PetscCall(VecAXPY(y, -1, b));
  PetscCall(VecNorm(y, NORM_2, &norm[1]));
  TapOk((PetscBool)(norm[1] < 1e-11 * norm[0]), "polynomials_are_exact: %.1e", (double)(norm[1] / norm[0]));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Polynomial, NULL, NULL, &norm[0], NULL));
  TapOk((PetscBool)(norm[0] < 1e-12), "errors_are_found: %.1e", (double)norm[0]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));

  PetscCall(NewByOptions(3, 3, 1, "-dm_vpatchdg_domain ball -dm_vpatchdg_boundary neumann", &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(DMVPatchDGInterpolate(dm, One, NULL, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm[0]));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm[1]));
  TapOk((PetscBool)(norm[0] < 1e-14 * norm[1]), "constants_are_in_the_kernel: %.1e", (double)(norm[0] / norm[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the volume of a domain with a name, and u at a point inside. */
static PetscErrorCode NamedDomain(PetscInt dim, const char options[], double volume, const PetscReal at[])
{
  DM          dm;
  Vec         x;
  PetscScalar u, wave, sum;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(dim, 5, 2, options, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMVPatchDGInterpolate(dm, One, NULL, x));
  PetscCall(VecDot(x, x, &sum)); /* the integral of 1, since A's masses are 1 */
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, x));
  PetscCall(DMVPatchDGEvaluate(dm, x, 1, at, &u));
  PetscCall(Wave(dim, at, &wave, NULL));
  TapOk((PetscBool)(PetscAbsReal(PetscRealPart(sum) / volume - 1) < 1e-7), "volume_is_that_of_the_domain: %s, %.1e", options,
        (double)(PetscRealPart(sum) / volume - 1));
  TapOk((PetscBool)(PetscAbsScalar(u - wave) < 1e-3), "functions_are_evaluated: %s, %.1e", options, (double)PetscAbsScalar(u - wave));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DM that was refined, coarsened, cloned or loaded is as one that was made so. */
static PetscErrorCode Relatives(const Trees *t, const char options[])
{
  DM          dm, next, fine;
  PetscReal   expected[3], found[3];
  PetscMPIInt rank;
  char        name[] = "/tmp/vpatchdg-trees-XXXXXX";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) close(mkstemp(name));
  PetscCallMPI(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD));
  for (int named = 0; named < 2; named++) {
    const char *what = named ? options : "trees";

    PetscCall(named ? NewByOptions(t->dim, 2, 2, options, &fine) : New(t, 2, 2, "", &fine));
    PetscCall(Numbers(fine, expected));
    PetscCall(named ? NewByOptions(t->dim, 2, 1, options, &dm) : New(t, 2, 1, "", &dm));
    PetscCall(DMSetUp(dm));
    PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &next));
    PetscCall(Numbers(next, found));
    TapOk(AreSame(expected, found), "refined_dm_is_as_made: %s", what);
    PetscCall(DMDestroy(&next));
    PetscCall(Numbers(dm, expected));
    PetscCall(DMCoarsen(fine, PETSC_COMM_WORLD, &next));
    PetscCall(Numbers(next, found));
    TapOk(AreSame(expected, found), "coarsened_dm_is_as_made: %s", what);
    PetscCall(DMDestroy(&next));
    PetscCall(DMClone(dm, &next));
    PetscCall(Numbers(next, found));
    TapOk(AreSame(expected, found), "clone_is_the_same: %s", what);
    PetscCall(DMDestroy(&next));
    PetscCall(SaveAndLoad(dm, name, &next));
    PetscCall(Numbers(next, found));
    TapOk(AreSame(expected, found), "loaded_dm_is_the_same: %s", what);
    PetscCall(DMDestroy(&next));
    PetscCall(DMDestroy(&dm));
    PetscCall(DMDestroy(&fine));
  }
  if (!rank) {
    char info[sizeof(name) + 8];

    snprintf(info, sizeof(info), "%s.info", name);
    remove(info);
    remove(name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's multigrid goes down to the trees. */
static PetscErrorCode Multigrid(void)
{
  PetscInt  its[2];
  PetscReal residual = 0;

  PetscFunctionBeginUser;
  for (int refine = 1; refine < 3; refine++) {
    DM      dm;
    Problem p;

    PetscCall(NewByOptions(3, 2, refine, "-dm_vpatchdg_domain ball", &dm));
    PetscCall(DMSetUp(dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(GiveLevels(&p));
    PetscCall(SolveWith(&p,
                        refine == 1 ? "-ksp_type cg -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 2 -mg_levels_pc_type jacobi"
                                    : "-ksp_type cg -ksp_rtol 1e-8 -pc_type mg -pc_mg_levels 3 -mg_levels_pc_type jacobi",
                        NULL, &its[refine - 1], NULL));
    PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk((PetscBool)(its[1] <= its[0] + 3 && its[1] < 30 && residual < 1e-6),
        "multigrid_of_petsc_goes_down_to_trees: %d and %d iterations, %.1e", (int)its[0], (int)its[1], (double)residual);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpTrees(const Trees *t, PetscBool apart)
{
  PetscReal node[MOST_TREES * 8 * 3];
  PetscInt  corner[MOST_TREES * 8];
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, t->dim, 2, 1, &dm));
  PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_HOST));
  for (int i = 0; i < t->ntree << t->dim; i++) {
    corner[i] = t->corner[i];
    for (int d = 0; d < t->dim; d++) node[i * t->dim + d] = t->x[t->corner[i]][d] + (apart && i < 1 << t->dim ? 1e-6 : 0);
  }
  PetscCall(DMVPatchDGSetTrees(dm, t->nvertex, NULL, t->ntree, corner, 1, node));
  PetscCall(DMSetUp(dm));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpPC(PetscInt refine, PCType type, const char options[])
{
  DM           dm;
  PC           pc;
  Mat          A;
  Vec          x, y;
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(NewByOptions(2, 2, refine, "-dm_vpatchdg_domain disc -dm_vpatchdg_boundary neumann", &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, type));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(TestOptionsPop(&own));
  PetscCall(PCSetUp(pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(PCApply(pc, x, y)); /* builds what waits for a KSP */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two trees beside one, in a square of 2 x 2 trees otherwise, or in a layer of cubes. */
static void Divided(int dim, Trees *t)
{
  static const int32_t corner[] = {0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 9, 10, 9, 10, 7, 8};
  static const double  x[][2] = {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}, {2, 2}, {1, 1.5}, {2, 1.5}};

  *t = (Trees){.dim = dim, .ntree = 5, .nvertex = 11 << (dim - 2)};
  for (int i = 0; i < 5 << dim; i++) t->corner[i] = dim == 2 ? corner[i] : 2 * corner[i / 8 * 4 + i % 4] + i / 4 % 2;
  for (int v = 0; v < t->nvertex; v++) {
    for (int d = 0; d < dim; d++) t->x[v][d] = d < 2 ? x[dim == 2 ? v : v / 2][d] : v % 2;
  }
}

/* A half ring that is one tree is taken, although the chord of its outer arc goes through the ends of the inner one. */
static PetscErrorCode curved_sides_are_no_chords(void)
{
  static const PetscInt corner[] = {0, 1, 2, 3};
  PetscReal             node[9 * 2];
  PetscScalar           sum;
  DM                    dm;
  Vec                   x;

  PetscFunctionBeginUser;
  for (int i = 0; i < 9; i++) {
    const PetscReal r = 0.5 + 0.25 * (i % 3), angle = PETSC_PI / 2 * (i / 3);

    node[2 * i] = r * PetscCosReal(angle);
    node[2 * i + 1] = r * PetscSinReal(angle);
  }
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMVPatchDGSetTrees(dm, 4, NULL, 1, corner, 2, node));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(DMVPatchDGInterpolate(dm, One, NULL, x));
  PetscCall(VecDot(x, x, &sum)); /* between parabolas */
  TapOk((PetscBool)(PetscAbsScalar(sum - 1) < 1e-12), "curved_sides_are_no_chords: %.1e", (double)PetscAbsScalar(sum - 1));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refusals(void)
{
  Trees t;

  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected());
  Refused(SetUpPC(1, PCVPATCHDG, "-pc_vpatchdg_space dirichlet -pc_vpatchdg_residual local"), "the residual local works on boxes",
          "local_residual");
  Refused(SetUpPC(1, PCVPATCHDG, "-pc_vpatchdg_space clamped"), "the space clamped works on boxes", "clamped_space");
  Refused(SetUpPC(2, PCVPATCHDG, "-pc_vpatchdg_colors 2"), "a sweep through fewer than 4 does not converge", "few_colors");
  Refused(SetUpPC(1, PCVPATCHDG, "-pc_vpatchdg_levels 9"), "these trees, refined 1 times, have", "levels_of_trees");
  Refused(SetUpPC(0, PCVPATCHDG, "-pc_vpatchdg_coarse ksp"), "on trees of one cell", "ksp_of_trees_of_one_cell");
  Refused(SetUpPC(0, PCVPATCH, ""), "-pc_type vpatch needs trees that are refined", "smoother_of_trees_that_are_not_refined");
  Refused(SetUpPC(1, PCVPATCH, "-pc_vpatch_space dirichlet -pc_vpatch_residual local"), "the residual local works on boxes", "smoother");
  Refused(SetUpWith(2, "-dm_vpatchdg_domain disc -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 30"), "-dm_vpatchdg_map maps boxes",
          "map");
  Refused(SetUpWith(2, "-dm_vpatchdg_domain disc -dm_vpatchdg_domain_parameters 2"), "half the diagonal of the inner square", "parameter");
  Refused(SetUpWith(2, "-dm_vpatchdg_domain_parameters 2"), "are the numbers of -dm_vpatchdg_domain star", "parameter_of_a_box");
  Refused(SetUpWith(2, "-dm_vpatchdg_dim 2 -dm_vpatchdg_domain ball"), "a domain in dimension 3, not 2", "dimension");
  Refused(SetUpWith(2, "-dm_vpatchdg_domain star -dm_vpatchdg_boundary periodic"), "periodic does not fit", "periodic_direction");
  Refused(SetUpWith(2, "-dm_vpatchdg_domain trees"), "the trees are given by DMVPatchDGSetTrees()", "no_trees");
  Divided(2, &t);
  Refused(SetUpTrees(&t, PETSC_FALSE), "vertex 9 at (1., 1.5) lies inside of an edge of tree 2, between its vertices 4 and 7",
          "half_a_side");
  Divided(3, &t);
  Refused(SetUpTrees(&t, PETSC_FALSE), "vertex 18 at (1., 1.5, 0.) lies inside of an edge of tree 2", "half_a_face");
  TreesBall(2, &t);
  Refused(SetUpTrees(&t, PETSC_TRUE), "cells do not meet, cell 0 is the first", "nodes_that_differ");
  t.x[0][0] = t.x[0][1] = 0.7; /* The inner square folds. */
  Refused(SetUpTrees(&t, PETSC_FALSE), "det J must have the same sign", "folded_tree");
  TreesGrid(2, 2, &t);
  for (int v = 2; v < 9; v += 3) t.x[v][0] = 0; /* Two trees lie upon the others. */
  Refused(SetUpTrees(&t, PETSC_FALSE), "det J must have the same sign", "trees_upon_one_another");
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const double s = sin(2 * PETSC_PI / 5);
  Trees        t;

  PetscFunctionBeginUser;
  for (PetscInt degree = 1; degree <= 4; degree++) {
    TreesStar(5, &t);
    PetscCall(TurnedTrees(&t, degree, 2, "star"));
    TreesBall(3, &t);
    if (degree < 4) PetscCall(TurnedTrees(&t, degree, 1, "ball"));
  }
  TreesGrid(3, 2, &t);
  PetscCall(TurnedTrees(&t, 2, 0, "cube"));
  PetscCall(Polynomials());
  PetscCall(NamedDomain(2, "-dm_vpatchdg_domain star", 2.5 * s, (PetscReal[]){0.1, 0.3}));
  PetscCall(NamedDomain(2, "-dm_vpatchdg_domain disc -dm_vpatchdg_domain_parameters .3", PETSC_PI, (PetscReal[]){-0.7, 0.6}));
  PetscCall(NamedDomain(3, "-dm_vpatchdg_domain cylinder -dm_vpatchdg_domain_parameters .4,3", PETSC_PI, (PetscReal[]){-0.7, 0.6, 0.8}));
  PetscCall(NamedDomain(3, "-dm_vpatchdg_domain ball", 4 * PETSC_PI / 3, (PetscReal[]){-0.6, 0.5, 0.4}));
  PetscCall(NamedDomain(3, "-dm_vpatchdg_domain shell", 28 * PETSC_PI / 3, (PetscReal[]){-0.6, 1.1, -0.7}));
  TreesStar(5, &t);
  TreesTurn(5, &t);
  PetscCall(Relatives(&t, "-dm_vpatchdg_domain disc"));
  PetscCall(Multigrid());
  PetscCall(curved_sides_are_no_chords());
  PetscCall(Refusals());
  PetscFunctionReturn(PETSC_SUCCESS);
}
