/* Iterations on domains of trees, with random b, beside what two independent programs took. -first, -last, -k0, -k1: other cases and
   degrees; -mesh file -dim 2 -refine 2: of a mesh
   ranks: 1 3 */
#include "support/nu.h"
#include "support/trees_dm.h"

typedef struct {
  PetscInt    dim, refine;
  const char *options;
  double      nu[4]; /* degrees 1, 2, 3, 4; 0: not known */
} NuCase;

static const NuCase cases[] = {
  {2, 4, "-dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 5", {9.5, 9.6, 9.6, 9.8}},
  {2, 4, "-dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 8", {18.1, 19.8, 19.9, 19.8}},
  {2, 4, "-dm_vpatchdg_domain disc", {12.2, 14.3, 15.6, 16.3}},
  {3, 2, "-dm_vpatchdg_domain ball", {11.1, 14.1, 15.4}},
  {3, 2, "-dm_vpatchdg_domain cylinder", {9.1, 11.3, 12.6}},
  {3, 2, "-dm_vpatchdg_domain shell", {8.8, 10.1}},
  {2, 4, "-dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 3", {10.9, 12.0, 12.6, 12.9}},
  {2, 4, "-dm_vpatchdg_domain star -dm_vpatchdg_domain_parameters 6", {12.9, 13.3, 13.4, 13.5}},
};

static PetscErrorCode Measure(const NuCase *c, PetscInt degree, const char how[], PetscReal *nu)
{
  char options[256];
  DM   dm;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s %s", c->options, how));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, degree, c->refine, &dm));
  PetscCall(TestDMOptions(dm, options));
  PetscCall(DMSetUp(dm));
  PetscCall(NuOfRandom(dm, how, nu));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nu = iterations on straight trees; *unsymmetric = |x.My - y.Mx| of a symmetric cycle M, relative */
static PetscErrorCode MeasureTrees(const Trees *t, PetscReal *nu, PetscReal *unsymmetric)
{
  DM           dm;
  Mat          A;
  Vec          x, y, z;
  PC           pc;
  PetscScalar  one, other;
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(New(t, 2, 2, "", &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(DMVPatchDGInterpolate(dm, Wave, NULL, x)); /* does not depend on directions */
  PetscCall(MatMult(A, x, y));
  PetscCall(Nu(dm, y, KSPFGMRES, "", nu));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(TestOptionsPush("-pc_vpatchdg_symmetric -pc_vpatchdg_precision double", &own));
  PetscCall(PCSetFromOptions(pc));
  PetscCall(TestOptionsPop(&own));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecPointwiseMult(y, x, x));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecDot(z, y, &one));
  PetscCall(PCApply(pc, y, z));
  PetscCall(VecDot(z, x, &other));
  *unsymmetric = PetscAbsScalar(one - other) / PetscAbsScalar(one);
  PetscCall(PCDestroy(&pc));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Trees that are turned at random take the same iterations, and symmetric cycles on them are symmetric. */
static PetscErrorCode Turn(Trees *t, const char name[])
{
  PetscReal first, nu, unsymmetric;

  PetscFunctionBeginUser;
  PetscCall(MeasureTrees(t, &first, &unsymmetric));
  for (unsigned int seed = 1; seed < 3; seed++) {
    TreesTurn(seed, t);
    PetscCall(MeasureTrees(t, &nu, &unsymmetric));
    TapOk((PetscBool)(fabs(nu - first) < 0.6), "turned_trees_take_the_same_iterations: %s, %.1f and %.1f", name, first, nu);
    TapOk((PetscBool)(unsymmetric < 1e-9), "symmetric_cycles_are_symmetric: %s, %.1e", name, unsymmetric);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees     t;
  NuCase    mesh = {2, 2, NULL, {0, 0, 0, 0}};
  char      name[256], file[200];
  PetscInt  first = 0, last = 2, k[2] = {2, 2};
  PetscBool given;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", file, sizeof(file), &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &mesh.dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &mesh.refine, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-last", &last, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k0", &k[0], NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-k1", &k[1], NULL));
  if (given) PetscCall(PetscSNPrintf(name, sizeof(name), "-dm_vpatchdg_mesh %s", file));
  if (given) mesh.options = name;
  for (PetscInt degree = k[0]; given && degree <= k[1]; degree++) {
    PetscReal nu;

    PetscCall(Measure(&mesh, degree, "-pc_vpatchdg_colors 0", &nu));
    TapOk(PETSC_TRUE, "iterations: degree %d, %.1f", (int)degree, nu);
  }
  if (given) last = -1;
  for (PetscInt i = first; i <= last; i++) {
    for (PetscInt degree = k[0]; degree <= k[1]; degree++) {
      const double known = cases[i].nu[degree - 1];
      PetscReal    nu;

      if (known <= 0) continue;
      PetscCall(Measure(&cases[i], degree, "-pc_vpatchdg_colors 0", &nu));
      TapOk((PetscBool)(fabs(nu - known) < 0.8), "iterations_are_known: %s, degree %d, %.1f for %.1f", cases[i].options, (int)degree, nu,
            known);
    }
  }
  if (!given) {
    TreesStar(5, &t);
    PetscCall(Turn(&t, "star"));
    TreesBall(3, &t);
    PetscCall(Turn(&t, "ball"));
    TreesGrid(3, 2, &t);
    PetscCall(Turn(&t, "cube"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
