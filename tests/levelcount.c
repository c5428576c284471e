/* How many levels a cycle takes on a device, and what a cycle of few levels does: the coarsest of them is inverted.
   ranks: 1 2 */
#include "support/multigrid.h"
#include "../cuda/prefers.h"

#define BOX     {1, 1, 1}, PETSC_FALSE
#define GRID    {2, 1, 3}, PETSC_FALSE
#define FICHERA {2, 2, 2}, PETSC_TRUE
#define LSHAPE  {2, 2, 1}, PETSC_TRUE

/* the host, which prefers what a GPU does */
static VpBackend Device(void)
{
  VpBackend backend = VpBackendHost;

  backend.prefers = &VpCudaPrefers;
  return backend;
}

static PetscErrorCode CountLevels(MPI_Comm comm, const Setting *s, VpCycleOptions o, const VpBackend *backend, VpLevelCount *count)
{
  VpMesh    mesh;
  VpProblem problem;

  PetscFunctionBeginUser;
  PetscCall(MakeMesh(comm, s, &mesh));
  PetscCall(MakeProblem(s, mesh, &problem));
  PetscCall(VpCycleCountLevels(mesh, &problem, &o, backend, count));
  PetscCall(FreeProblem(&problem));
  PetscCall(VpMeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is chosen on one rank, of how many levels */
static const struct {
  Setting        setting;
  VpCycleOptions options;
  PetscInt       levels, most;
} choices[] = {
  {{"cube", 3, 4, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 1, 4},
  {{"torus", 3, 2, 3, BOX, 0, COEFFICIENT_UNIFORM, 0}, {.post = 1, .levels = PETSC_DECIDE}, 1, 3},
  {{"grid of boxes", 3, 2, 3, GRID, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 1, 5},
  {{"square", 2, 3, 5, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 1}, {.post = 1, .levels = PETSC_DECIDE}, 1, 5},
  {{"large cube", 3, 4, 6, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 3, 6},
  {{"cube with lines of 160", 3, 4, 5, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 1, 5},
  {{"square that rounding forbids", 2, 8, 5, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 2, 5},
  {{"all levels", 3, 4, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = 0}, 4, 4},
  {{"two levels", 3, 4, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = 2}, 2, 4},
  {{"coarsest level by a KSP", 3, 4, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
   {.post = 1, .levels = PETSC_DECIDE, .coarse = VP_COARSE_KSP},
   4,
   4},
  {{"Fichera", 3, 4, 3, FICHERA, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE, .corners = 2}, 4, 4},
  {{"Fichera, finer", 3, 4, 4, FICHERA, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE, .corners = 2}, 5, 5},
  {{"Fichera, Neumann", 3, 4, 3, FICHERA, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 1}, {.post = 1, .levels = PETSC_DECIDE, .corners = 2}, 4, 4},
  {{"Fichera that is small", 3, 2, 2, FICHERA, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE}, 2, 3},
  {{"L-shape", 2, 4, 5, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE, .corners = 2}, 4, 6},
  {{"L-shape, finer", 2, 4, 6, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}, {.post = 1, .levels = PETSC_DECIDE, .corners = 2}, 5, 7},
  {{"L-shape, coefficient", 2, 4, 5, LSHAPE, VP_SIDE_DIRICHLET, COEFFICIENT_WAVES, 0}, {.post = 1, .levels = PETSC_DECIDE}, 4, 6},
  {{"coefficient", 3, 2, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_WAVES, 0}, {.post = 1, .levels = PETSC_DECIDE}, 3, 4},
};

/* Fichera's corner: levels of 7 and of 56 cells are inverted as a dense matrix, finer ones are too large, and a cube separates. */
static PetscErrorCode DenseMatricesAreKnown(const VpBackend *device)
{
  const Setting  fichera = {"Fichera", 3, 4, 4, FICHERA, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  VpCycleOptions options = {.post = 1, .corners = 2};
  VpLevelCount   count;

  PetscFunctionBeginUser;
  for (options.levels = 3; options.levels < 6; options.levels++) {
    PetscCall(CountLevels(PETSC_COMM_SELF, &fichera, options, device, &count));
    TapOk((PetscBool)((count.way == VP_WAY_DENSE) == (options.levels > 3)), "dense_matrices_are_known: %d levels", (int)options.levels);
  }
  options.levels = PETSC_DECIDE;
  PetscCall(CountLevels(PETSC_COMM_SELF, &choices[0].setting, options, device, &count));
  TapOk((PetscBool)(count.way == VP_WAY_LINES), "what_separates_has_no_dense_matrix");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A tensor that is the same everywhere separates as a number does. */
static PetscErrorCode TensorsSeparate(const VpBackend *device)
{
  const Setting  cube = {"cube", 3, 4, 4, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  VpCycleOptions options = {.post = 1, .levels = PETSC_DECIDE};
  VpLevelCount   count[2];
  VpMesh         mesh;
  VpProblem      problem;
  PetscReal     *a;

  PetscFunctionBeginUser;
  PetscCall(MakeMesh(PETSC_COMM_SELF, &cube, &mesh));
  PetscCall(MakeProblem(&cube, mesh, &problem));
  PetscCall(PetscMalloc1(3 * (size_t)mesh->nown, &a));
  for (int32_t i = 0; i < 3 * mesh->nown; i++) a[i] = 1 + i % 3 / 4.;
  problem.tensor = 3;
  problem.coefficient = a;
  PetscCall(VpCycleCountLevels(mesh, &problem, &options, device, &count[0]));
  a[1] = 2;
  PetscCall(VpCycleCountLevels(mesh, &problem, &options, device, &count[1]));
  TapOk((PetscBool)(count[0].levels == 1 && count[1].levels > 1), "uniform_tensors_separate: %d levels, else %d", (int)count[0].levels,
        (int)count[1].levels);
  PetscCall(PetscFree(a));
  problem.coefficient = NULL;
  PetscCall(FreeProblem(&problem));
  PetscCall(VpMeshDestroy(&mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Choices(void)
{
  const VpBackend device = Device();
  VpLevelCount    count;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(choices); i++) {
    PetscCall(CountLevels(PETSC_COMM_SELF, &choices[i].setting, choices[i].options, &device, &count));
    TapOk((PetscBool)(count.levels == choices[i].levels && count.most == choices[i].most),
          "cheapest_level_is_inverted: %s: %d of %d levels, expected %d of %d", choices[i].setting.name, (int)count.levels, count.most,
          (int)choices[i].levels, (int)choices[i].most);
  }
  PetscCall(CountLevels(PETSC_COMM_SELF, &choices[0].setting, choices[0].options, &VpBackendHost, &count));
  TapOk((PetscBool)(count.levels == count.most), "the_host_takes_all_levels");
  PetscCall(DenseMatricesAreKnown(&device));
  PetscCall(TensorsSeparate(&device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On several ranks levels are inverted that live on one of them: 4096 cells and fewer, or none if nothing is gathered. */
static PetscErrorCode RanksChooseGatheredLevels(void)
{
  const VpBackend device = Device();
  const Setting   s = {"cube", 3, 2, 5, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  VpLevelCount    count;

  PetscFunctionBeginUser;
  PetscCall(
    CountLevels(PETSC_COMM_WORLD, &s, (VpCycleOptions){.post = 1, .levels = PETSC_DECIDE, .gather = PETSC_DECIDE}, &device, &count));
  TapOk((PetscBool)(count.levels == 2), "ranks_invert_what_one_of_them_has: %d levels", (int)count.levels);
  PetscCall(CountLevels(PETSC_COMM_WORLD, &s, (VpCycleOptions){.post = 1, .levels = PETSC_DECIDE}, &device, &count));
  TapOk((PetscBool)(count.levels == count.most), "ranks_invert_nothing_that_all_have: %d levels", (int)count.levels);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| / |b| after two steps from 0, with cycles of so many levels; b random or smooth */
static PetscErrorCode TwoSteps(const Setting *s, PetscInt levels, VpPrecision precision, PetscBool smooth, double *left)
{
  const VpCycleOptions options = {.post = 1, .levels = levels, .precision = precision};
  World                w;
  VpCycle              cycle;
  VpVector             r;
  double              *b, *x, *y;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_SELF, s, &w));
  PetscCall(VpCycleCreate(w.mesh, &w.problem, &options, TestBackend(), NULL, &cycle));
  PetscCall(VectorCreate(w.outer, &b));
  PetscCall(VectorCreate(w.outer, &x));
  PetscCall(VectorCreate(w.outer, &y));
  if (smooth) PetscCall(FillOnes(&w, b));
  else Fill(w.outer, 1, b);
  PetscCall(VpCycleBegin(cycle, 0, &r));
  PetscCall(VpVectorEnter(r, 1, b));
  PetscCall(VpCycleSolve(cycle, 0, PETSC_FALSE, PETSC_FALSE, 1, x));
  PetscCall(Apply(w.outer, x, b, y));
  PetscCall(VpCycleBegin(cycle, 0, &r));
  PetscCall(VpVectorEnter(r, 1, y));
  PetscCall(VpCycleSolve(cycle, 0, PETSC_FALSE, PETSC_TRUE, 1, x));
  PetscCall(Apply(w.outer, x, b, y));
  *left = sqrt(Dot(w.outer, y, y) / Dot(w.outer, b, b));
  PetscCall(VectorDestroy(w.outer, &b));
  PetscCall(VectorDestroy(w.outer, &x));
  PetscCall(VectorDestroy(w.outer, &y));
  PetscCall(VpCycleDestroy(&cycle));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode InvertedLevelsSolve(void)
{
  static const Setting boxes[] = {
    {"cube", 3, 4, 3, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"square", 2, 3, 6, BOX, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"grid of boxes", 3, 2, 3, GRID, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 3},
    {"Neumann, reaction", 3, 3, 2, BOX, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 1},
  };
  double left[2], single, all, two;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(boxes); i++) {
    for (int smooth = 0; smooth < 2; smooth++) {
      PetscCall(TwoSteps(&boxes[i], 1, VP_DOUBLE, (PetscBool)smooth, &left[smooth]));
      PetscCall(TwoSteps(&boxes[i], 1, VP_SINGLE, (PetscBool)smooth, &single));
      TapOk((PetscBool)(left[smooth] < 1e-11 && single < 1e-8), "inverse_is_exact_in_two_steps: %s, %s b: %.1e, single %.1e", boxes[i].name,
            smooth ? "smooth" : "random", left[smooth], single);
    }
    PetscCall(TwoSteps(&boxes[i], 0, VP_SINGLE, PETSC_FALSE, &all));
    PetscCall(TwoSteps(&boxes[i], 2, VP_SINGLE, PETSC_FALSE, &two));
    TapOk((PetscBool)(two <= 1.1 * all), "two_levels_reduce_as_all: %s: %.2e, all %.2e", boxes[i].name, two, all);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (tap.size > 1) PetscCall(RanksChooseGatheredLevels());
  else {
    PetscCall(Choices());
    PetscCall(InvertedLevelsSolve());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
