/* Host and device agree: operator, transfers, cycle, guess, solvers, to rounding. And what only a device can get wrong: copies, memory.
   ranks: 1 2 3 */
#include "support/agree.h"
#include "support/refused.h"

/* these with all options and solvers; their coarsest levels are solved exactly */
static const Case thorough[] = {
  {"square", 2, 3, 3, UNIT},
  {"cube of degree 2", 3, 2, 3, UNIT},
  {"cube of degree 4", 3, 4, 2, UNIT},
};
/* these with the default cycle */
static const Case kinds[] = {
  {"mixed square", 2, 4, 3, BOX, N, D, 3, PETSC_FALSE},
  {"Neumann square", 2, 3, 2, BOX, N, N, 0, PETSC_FALSE},
  {"torus", 3, 3, 2, BOX, P, P, 0, PETSC_FALSE},
  {"mixed cube", 3, 3, 3, BOX, P, N, 1, PETSC_FALSE},
  {"stretched boxes", 2, 2, 3, VPATCHDG_DOMAIN_BOX, 3, D, N, 0, PETSC_FALSE},
  {"L-shape", 2, 5, 3, VPATCHDG_DOMAIN_LSHAPE, 0, D, D, 0, PETSC_FALSE},
  {"Fichera corner", 3, 2, 2, VPATCHDG_DOMAIN_FICHERA, 0, D, D, 0, PETSC_FALSE},
  {"Fichera corner of thin boxes", 3, 3, 2, VPATCHDG_DOMAIN_BOXES, 0, D, D, 0, PETSC_FALSE},
  {"square with a coefficient", 2, 3, 3, BOX, D, D, 1, PETSC_TRUE},
  {"cube with a coefficient", 3, 3, 2, BOX, D, N, 0, PETSC_TRUE},
};

static PetscErrorCode transfers_agree(const Case *c, Problem p[2])
{
  Vec       coarse[2];
  PetscReal apart[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    DM  dm;
    Mat E;

    PetscCall(DMCoarsen(p[i].dm, PETSC_COMM_WORLD, &dm));
    PetscCall(DMCreateInterpolation(dm, p[i].dm, &E, NULL));
    PetscCall(DMCreateGlobalVector(dm, &coarse[i]));
    PetscCall(MatMultTranspose(E, p[i].b, coarse[i]));
    PetscCall(MatMultAdd(E, coarse[i], p[i].b, p[i].x));
    PetscCall(MatDestroy(&E));
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(Apart(coarse[0], coarse[1], &apart[0]));
  PetscCall(Apart(p[0].x, p[1].x, &apart[1]));
  TapOk((PetscBool)(apart[0] <= 1e-12 && apart[1] <= 1e-12), "transfers_agree: %s, degree %d: %.1e, %.1e", c->name, (int)c->degree,
        (double)apart[0], (double)apart[1]);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&coarse[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode all_cycles_agree(const Case *c, Problem p[2])
{
  static const struct {
    const char *options;
    PetscInt    degree; /* at least */
    PetscBool   transposed;
  } cycles[] = {
    {"-pc_vpatchdg_replay 0", 1, PETSC_TRUE},
    {"-pc_vpatchdg_space dirichlet", 1, PETSC_TRUE},
    {"-pc_vpatchdg_space dirichlet -pc_vpatchdg_residual local", 1, PETSC_FALSE},
    {"-pc_vpatchdg_space clamped", 3, PETSC_FALSE},
    {"-pc_vpatchdg_space clamped -pc_vpatchdg_residual local", 3, PETSC_TRUE},
    {"-pc_vpatchdg_residual global", 1, PETSC_FALSE},
    {"-pc_vpatchdg_cycle_type w -pc_vpatchdg_smooth_pre 1 -pc_vpatchdg_smooth_post 2", 1, PETSC_TRUE},
    {"-pc_vpatchdg_cell_sweeps 1 -pc_vpatchdg_smooth_pre 1", 1, PETSC_TRUE},
    {"-pc_vpatchdg_cycle_type f -pc_vpatchdg_smooth_pre 1", 1, PETSC_TRUE},
    {"-pc_vpatchdg_symmetric", 1, PETSC_FALSE},
    {"-pc_vpatchdg_exchange color", 1, PETSC_FALSE},
    {"-pc_vpatchdg_gather 1000", 1, PETSC_TRUE},
    {"-pc_vpatchdg_levels 2", 1, PETSC_FALSE},
    {"-pc_vpatchdg_levels 2 -pc_vpatchdg_coarse sweeps", 1, PETSC_TRUE},
    {"-pc_type vpatch", 1, PETSC_TRUE},
    {"-pc_type vpatch -pc_vpatch_reverse -pc_vpatch_space dirichlet", 1, PETSC_FALSE},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
    for (int t = 0; t <= (int)cycles[i].transposed; t++) {
      if (c->degree >= cycles[i].degree) PetscCall(cycles_agree(c, p, cycles[i].options, (PetscBool)t, PETSC_FALSE));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode guesses_agree(const Case *c, Problem p[2])
{
  PetscReal apart;
  KSPGuess  guess;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(NewKSP(&p[i]));
    PetscCall(ReadOptions(&p[i],
                          "-ksp_type richardson -ksp_guess_type vpatchdg -pc_type vpatchdg -pc_vpatchdg_gather 0 -pc_vpatchdg_coarse ksp "
                          "-pc_vpatchdg_precision double",
                          PETSC_FALSE));
    PetscCall(KSPSetUp(p[i].ksp));
    PetscCall(KSPGetGuess(p[i].ksp, &guess));
    PetscCall(KSPGuessSetUp(guess));
    for (int k = 0; k < 3; k++) PetscCall(KSPGuessFormGuess(guess, p[i].b, p[i].x));
  }
  PetscCall(Apart(p[0].x, p[1].x, &apart));
  TapOk((PetscBool)(apart <= 1e-12), "guesses_agree: %s, degree %d: %.1e", c->name, (int)c->degree, (double)apart);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solvers_agree(const Case *c, Problem p[2])
{
  static const struct {
    const char *options;
    PetscInt    most;
  } solvers[] = {
    {"-ksp_type richardson", 1}, /* one apart in single precision */
    {"-ksp_type richardson -ksp_guess_type vpatchdg", 1},
    {"-ksp_type fgmres", 1},
    {"-ksp_type fgmres -pc_vpatchdg_precision double", 0},
    {"-ksp_type gmres -ksp_pc_side right -pc_vpatchdg_precision double", 0},
    {"-ksp_type cg -pc_vpatchdg_symmetric -pc_vpatchdg_exchange color", 1},
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(solvers); k++) PetscCall(solver_agrees(c, p, solvers[k].options, solvers[k].most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a KSP that has solved already sends between host and device when it solves again: norms and products, not vectors */
static PetscErrorCode iterations_copy_no_vectors(const Case *c, Problem *device, const char options[])
{
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscLogDouble bytes;
  PetscInt       its;
  char           all[256];

  PetscCall(PetscSNPrintf(all, sizeof(all), "%s -pc_type vpatchdg -ksp_rtol 1e-9", options));
  PetscCall(NewKSP(device));
  PetscCall(SolveWith(device, all, NULL, NULL, NULL));
  bytes = petsc_ctog_sz + petsc_gtoc_sz;
  PetscCall(KSPSolve(device->ksp, device->b, device->x));
  bytes = petsc_ctog_sz + petsc_gtoc_sz - bytes;
  PetscCall(KSPGetIterationNumber(device->ksp, &its));
  TapOk((PetscBool)(bytes <= 1000 * (its + 1)), "iterations_copy_no_vectors: %s, %s: %.0f bytes in %d iterations", c->name, options, bytes,
        (int)its);
#else
  TapOk(PETSC_TRUE, "iterations_copy_no_vectors # SKIP this PETSc has no CUDA");
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode view_says_where(Problem *p, PetscBool copied)
{
  PetscBool cuda, copies, vectors;

  PetscFunctionBeginUser;
  PetscCall(NewKSP(p));
  PetscCall(ReadOptions(p, "-ksp_type fgmres -pc_type vpatchdg", PETSC_FALSE));
  PetscCall(KSPSetUp(p->ksp));
  PetscCall(ViewSays((PetscObject)p->ksp, "backend cuda", &cuda));
  PetscCall(ViewSays((PetscObject)p->ksp, "vectors are copied to and from it", &copies));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)p->x, &vectors, VECSEQCUDA, VECMPICUDA, ""));
  TapOk((PetscBool)(cuda && copies == copied && vectors != copied), "view_says_where: %s",
        copied ? "vectors on the host" : "vectors on the device");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* more vectors than go at once, and a number of values that no block divides */
static PetscErrorCode dots_and_multiples_are_sums(void)
{
  enum { ROWS = 300007, COUNT = 11 };
  const VpBackend *cuda = VpBackendFind("cuda");
  double          *host, *device, dots[COUNT], a[COUNT], *sums, apart = 0;
  const double    *y[COUNT];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(COUNT * ROWS, &host));
  PetscCall(cuda->alloc(COUNT * (size_t)ROWS * sizeof(*device), "a test", (void **)&device));
  for (int i = 0; i < COUNT * ROWS; i++) host[i] = sin(0.1 * i) + 0.1;
  PetscCall(cuda->upload(host, COUNT * (size_t)ROWS * sizeof(*host), device));
  for (int i = 0; i < COUNT; i++) y[i] = device + (size_t)i * ROWS;
  PetscCall(cuda->mdot(ROWS, device + 2 * ROWS, COUNT, y, dots));
  for (int i = 0; i < COUNT; i++) {
    double sum = 0;

    for (int k = 0; k < ROWS; k++) sum += host[2 * ROWS + k] * host[i * ROWS + k];
    apart = PetscMax(apart, PetscAbsReal(dots[i] - sum) / ROWS);
  }
  TapOk((PetscBool)(apart < 1e-12), "dots_are_sums: %.1e", apart);
  PetscCall(PetscMalloc1(ROWS, &sums));
  for (int i = 0; i < COUNT; i++) a[i] = i - 3.5;
  PetscCall(cuda->maxpy(ROWS, device, COUNT - 1, a, y + 1));
  PetscCall(cuda->download(device, ROWS * sizeof(*sums), sums));
  apart = 0;
  for (int k = 0; k < ROWS; k++) {
    double sum = host[k];

    for (int i = 1; i < COUNT; i++) sum += a[i - 1] * host[i * ROWS + k];
    apart = PetscMax(apart, PetscAbsReal(sums[k] - sum));
  }
  TapOk((PetscBool)(apart < 1e-12), "multiples_are_added: %.1e", apart);
  PetscCall(PetscFree(sums));
  PetscCall(cuda->mdot(0, device, 1, y, dots));
  TapOk((PetscBool)(dots[0] == 0), "dots_of_nothing_are_0");
  PetscCall(cuda->release(device));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode steps_descend(const VpBackend *backend)
{
  enum { ROWS = 300007, ARRAYS = 4 };
  const double alpha = 0.7;
  double      *host, *device, *after, square, sum = 0, apart = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(ARRAYS * ROWS, &host, ARRAYS * ROWS, &after));
  PetscCall(backend->alloc(ARRAYS * (size_t)ROWS * sizeof(*device), "a test", (void **)&device));
  for (int i = 0; i < ARRAYS * ROWS; i++) host[i] = sin(0.1 * i) + 0.1;
  PetscCall(backend->upload(host, ARRAYS * (size_t)ROWS * sizeof(*host), device));
  PetscCall(backend->descend(ROWS, alpha, device, device + ROWS, device + 2 * ROWS, device + 3 * ROWS, &square));
  PetscCall(backend->download(device, ARRAYS * (size_t)ROWS * sizeof(*after), after));
  for (int k = 0; k < ROWS; k++) {
    const double x = host[2 * ROWS + k] + alpha * host[k], r = host[3 * ROWS + k] - alpha * host[ROWS + k];

    apart = PetscMax(apart, PetscAbsReal(after[2 * ROWS + k] - x) + PetscAbsReal(after[3 * ROWS + k] - r));
    sum += r * r;
  }
  TapOk((PetscBool)(apart < 1e-14 && PetscAbsReal(square / sum - 1) < 1e-12), "steps_descend, %s: %.1e, %.1e", backend->name, apart,
        square / sum - 1);
  PetscCall(backend->release(device));
  PetscCall(PetscFree2(host, after));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VecMDot(), VecMAXPY() and VecNorm() of the DM's vectors against VecDot() and VecAXPY(), on a device also where squares are no numbers; on
   several ranks PETSc's own norm adds squares */
static PetscErrorCode products_agree(const Case *c, Problem *p)
{
  static const PetscReal factors[] = {1, 1e-200, 1e200};
  Vec                    y[3];
  PetscScalar            many[3], one;
  PetscReal              norm, scaled, apart = 0;
  PetscMPIInt            size;
  PetscBool              device;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)p->b), &size));
  for (int i = 0; i < 3; i++) {
    PetscCall(VecDuplicate(p->b, &y[i]));
    PetscCall(VecSetRandom(y[i], NULL));
  }
  PetscCall(VecMDot(p->b, 3, y, many));
  for (int i = 0; i < 3; i++) {
    PetscCall(VecDot(p->b, y[i], &one));
    apart = PetscMax(apart, PetscAbsScalar(many[i] - one) / PetscMax(1, PetscAbsScalar(one)));
  }
  PetscCall(VecDot(y[0], y[0], &one));
  norm = PetscSqrtReal(PetscRealPart(one));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)p->b, &device, VECSEQCUDA, VECMPICUDA, ""));
  for (int i = 0; i < (device && size == 1 ? 3 : 1); i++) {
    PetscCall(VecCopy(y[0], y[1]));
    PetscCall(VecScale(y[1], factors[i]));
    PetscCall(VecAXPY(y[1], 0.5 * factors[i], y[0])); /* of multiples PETSc knows the norms */
    PetscCall(VecNorm(y[1], NORM_2, &scaled));
    apart = PetscMax(apart, PetscAbsReal(scaled / 1.5 / factors[i] / norm - 1));
  }
  PetscCall(VecCopy(p->b, y[1]));
  PetscCall(VecCopy(p->b, y[2]));
  PetscCall(VecMAXPY(y[1], 2, (PetscScalar[]){3, -0.5}, (Vec[]){y[0], p->b}));
  PetscCall(VecScale(y[2], 0.5));
  PetscCall(VecAXPY(y[2], 3, y[0]));
  PetscCall(VecAXPY(y[1], -1, y[2]));
  PetscCall(VecNorm(y[1], NORM_INFINITY, &scaled));
  apart = PetscMax(apart, scaled);
  TapOk((PetscBool)(apart < 1e-11), "products_agree: %s, degree %d: %.1e", c->name, (int)c->degree, (double)apart);
  for (int i = 0; i < 3; i++) PetscCall(VecDestroy(&y[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode memory_errors_say_what(void)
{
  const VpBackend *cuda = VpBackendFind("cuda");
  double           available = 0, total = 0;
  void            *p;

  PetscFunctionBeginUser;
  Refused(cuda->alloc((size_t)1 << 60, "a test", &p), "memory for a test: 1152921504606846976 bytes asked for",
          "more memory than there is");
  TapOk((PetscBool)(strstr(message, "free") != NULL), "memory_errors_say_what_is_free");
  PetscCall(cuda->memory(&available, &total));
  TapOk((PetscBool)(available > 0 && total >= available), "memory_is_known: %.0f of %.0f bytes", available, total);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a case on the host and in another place */
static PetscErrorCode Agree(const Case *c, Place place, PetscBool everything)
{
  const PetscBool copied = (PetscBool)(!PetscDefined(HAVE_CUDA) || place == COPIED);
  PetscMPIInt     size;
  Problem         p[2];
  DM              dm;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(CaseDM(c, i ? place : HOST, &dm));
    PetscCall(CaseProblem(c, dm, &p[i]));
  }
  PetscCall(CopyValues(p[0].b, p[1].b));
  PetscCall(operators_agree(c, p));
  PetscCall(transfers_agree(c, p));
  PetscCall(cycles_agree(c, p, "", PETSC_FALSE, PETSC_FALSE));
  PetscCall(cycles_agree(c, p, "-pc_vpatchdg_exchange auto", PETSC_FALSE, PETSC_FALSE));
  PetscCall(guesses_agree(c, p));
  if (everything) {
    PetscCall(products_agree(c, &p[1]));
    PetscCall(all_cycles_agree(c, p));
    PetscCall(solvers_agree(c, p));
    PetscCall(view_says_where(&p[1], copied));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size)); /* several ranks on one device send ghosts through the host */
    if (place == DEVICE && size == 1) PetscCall(iterations_copy_no_vectors(c, &p[1], "-ksp_type richardson"));
    if (place == DEVICE && size == 1) PetscCall(iterations_copy_no_vectors(c, &p[1], "-ksp_type fgmres"));
  }
  for (int i = 0; i < 2; i++) PetscCall(ProblemDestroy(&p[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (!UsableBackend("cuda")) PetscFunctionReturn(TapSkip("no CUDA device"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(thorough); i++) PetscCall(Agree(&thorough[i], DEVICE, PETSC_TRUE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kinds); i++) PetscCall(Agree(&kinds[i], DEVICE, PETSC_FALSE));
  PetscCall(Agree(&thorough[0], COPIED, PETSC_TRUE));
  for (PetscInt degree = 1; degree <= (tap.size == 1 ? VP_MAX_DEGREE : 2); degree++) {
    for (PetscInt dim = 2; dim <= 3; dim++) {
      const Case c = {dim == 2 ? "unit square" : "unit cube", dim, degree, dim == 2 || degree < 5 ? 3 : 2, UNIT};

      PetscCall(Agree(&c, DEVICE, PETSC_FALSE));
    }
  }
  PetscCall(steps_descend(&VpBackendHost));
  PetscCall(steps_descend(VpBackendFind("cuda")));
  PetscCall(dots_and_multiples_are_sums());
  PetscCall(memory_errors_say_what());
  PetscFunctionReturn(PETSC_SUCCESS);
}
