/* Kernels where vectors are so long that 32 bits count neither their numbers nor their bytes: the cells of a small level, told to lie
   after 2^31 / n^dim others. Nobody touches these, so that they take no memory on the host.
   ranks: 1 */
#include "support/multigrid.h"
#include <sys/mman.h>

/* the same cells near, as the level's views say, and far; smoother: NULL, or with patches */
typedef struct {
  const char      *name;
  VpLevel          level;
  VpSmoother       smoother;
  const VpBackend *backend;
  VpView           far;
  VpTransferView   far_transfer;
  VpPatchView      far_patches;
  int32_t          before; /* cells before the far ones */
  size_t           bytes;  /* of the own cells of a vector */
} Pair;

/* zero, and on the host only as large as what is written */
static PetscErrorCode Reserve(const VpBackend *backend, size_t bytes, void **p)
{
  PetscFunctionBeginUser;
  if (backend == &VpBackendHost) {
    *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    PetscCheck(*p != MAP_FAILED, PETSC_COMM_SELF, PETSC_ERR_MEM, "%.0f bytes are more than this process may address", (double)bytes);
  } else PetscCall(backend->alloc(bytes, "far cells", p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Release(const VpBackend *backend, size_t bytes, void *p)
{
  PetscFunctionBeginUser;
  if (backend == &VpBackendHost) (void)munmap(p, bytes);
  else PetscCall(backend->release(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* moved = `zeros` zeros, then p[i] + by, or p[i] where it is negative */
static PetscErrorCode MoveWords(const VpBackend *backend, size_t zeros, const int32_t *p, size_t count, int32_t by, const int32_t **moved)
{
  int32_t *host;
  void    *to;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(count, &host));
  PetscCall(backend->download(p, count * sizeof(*p), host));
  for (size_t i = 0; i < count; i++) host[i] += host[i] < 0 ? 0 : by;
  PetscCall(Reserve(backend, (zeros + count) * sizeof(*p), &to));
  PetscCall(backend->upload(host, count * sizeof(*p), (int32_t *)to + zeros));
  PetscCall(PetscFree(host));
  *moved = (const int32_t *)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of bytes, which stay what they are */
static PetscErrorCode MoveBytes(const VpBackend *backend, size_t zeros, const uint8_t *p, size_t count, const uint8_t **moved)
{
  void *to;

  PetscFunctionBeginUser;
  PetscCall(Reserve(backend, zeros + count, &to));
  PetscCall(backend->copy(p, count, (uint8_t *)to + zeros));
  *moved = (const uint8_t *)to;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairCreate(VpLevel level, VpSmoother smoother, int32_t npatch, const char name[], Pair *pair)
{
  const VpBackend      *backend = level->backend;
  const VpView         *near = &level->view;
  const VpTransferView *transfer = &level->transfer;
  const size_t          n = (size_t)near->nlocal;
  const int             dim = near->dim;
  VpView               *far = &pair->far;
  VpTransferView       *far_transfer = &pair->far_transfer;
  int32_t               s;

  PetscFunctionBeginUser;
  *pair = (Pair){.name = name, .level = level, .smoother = smoother, .backend = backend, .bytes = n * level->block};
  *far = *near;
  *far_transfer = *transfer;
  pair->before = s = (int32_t)(((size_t)1 << 31) / (level->block / level->real)) + 5;
  far->plans = NULL;
  far_transfer->plans = NULL;
  far->nown += s, far->nsweep += s, far->nlocal += s, far->position -= s;
  PetscCall(MoveWords(backend, (size_t)s * 2 * dim, near->neighbor, n * 2 * dim, s, &far->neighbor));
  PetscCall(MoveWords(backend, (size_t)s * dim, near->line, n * dim, 0, &far->line));
  PetscCall(MoveWords(backend, s, transfer->parent, n, s, &far_transfer->parent));
  PetscCall(MoveBytes(backend, s, transfer->corner, n, &far_transfer->corner));
  PetscCall(MoveWords(backend, 0, transfer->child, (size_t)transfer->ncoarse << dim, s, &far_transfer->child));
  if (smoother) {
    const VpPatchView *patches = VpSmootherPatches(smoother);

    pair->far_patches = *patches;
    pair->far_patches.plans = NULL;
    PetscCall(MoveWords(backend, 0, patches->patch, (size_t)npatch << dim, s, &pair->far_patches.patch));
    PetscCall(MoveBytes(backend, s, patches->cover, n, &pair->far_patches.cover));
    if (level->ops->prepare_patches) PetscCall(level->ops->prepare_patches(&pair->far_patches));
  }
  if (level->ops->prepare) PetscCall(level->ops->prepare(far));
  if (level->ops->prepare_transfer) PetscCall(level->ops->prepare_transfer(far_transfer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PairDestroy(Pair *pair, int32_t npatch)
{
  const VpBackend *backend = pair->backend;
  VpView          *far = &pair->far;
  VpTransferView  *transfer = &pair->far_transfer;
  const int        dim = far->dim;

  PetscFunctionBeginUser;
  if (backend->release_plans) {
    PetscCall(backend->release_plans(&far->plans));
    PetscCall(backend->release_plans(&transfer->plans));
    PetscCall(backend->release_plans(&pair->far_patches.plans));
  }
  PetscCall(Release(backend, (size_t)far->nlocal * 2 * dim * sizeof(int32_t), (void *)far->neighbor));
  PetscCall(Release(backend, (size_t)far->nlocal * dim * sizeof(int32_t), (void *)far->line));
  PetscCall(Release(backend, (size_t)far->nlocal * sizeof(int32_t), (void *)transfer->parent));
  PetscCall(Release(backend, (size_t)far->nlocal, (void *)transfer->corner));
  PetscCall(Release(backend, ((size_t)transfer->ncoarse << dim) * sizeof(int32_t), (void *)transfer->child));
  if (pair->smoother) {
    PetscCall(Release(backend, ((size_t)npatch << dim) * sizeof(int32_t), (void *)pair->far_patches.patch));
    PetscCall(Release(backend, (size_t)far->nlocal, (void *)pair->far_patches.cover));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a vector near and far, with the same random numbers in [-1,1] */
typedef struct {
  char *near, *far; /* of the own cells */
  void *whole;
} Twice;

static PetscErrorCode TwiceCreate(const Pair *pair, int seed, Twice *v)
{
  const size_t count = pair->bytes / pair->level->real, zeros = (size_t)pair->before * pair->level->block;
  double      *host;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(count, &host));
  for (size_t i = 0; i < count; i++) {
    const double number = sin(1.7 * (double)i + seed);

    if (pair->level->precision == VP_DOUBLE) host[i] = number;
    else ((float *)host)[i] = (float)number;
  }
  PetscCall(pair->backend->alloc(pair->bytes, "near cells", (void **)&v->near));
  PetscCall(Reserve(pair->backend, zeros + pair->bytes, &v->whole));
  v->far = (char *)v->whole + zeros;
  PetscCall(pair->backend->upload(host, pair->bytes, v->near));
  PetscCall(pair->backend->upload(host, pair->bytes, v->far));
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TwiceDestroy(const Pair *pair, Twice *v)
{
  PetscFunctionBeginUser;
  PetscCall(pair->backend->release(v->near));
  PetscCall(Release(pair->backend, (size_t)pair->before * pair->level->block + pair->bytes, v->whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the two agree, up to roundings, and are not zero */
static PetscErrorCode Agree(const Pair *pair, const char what[], const void *near, const void *far, size_t bytes)
{
  const PetscBool is_double = (PetscBool)(pair->level->precision == VP_DOUBLE);
  double          largest = 0, error = 0, *a, *b;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc(bytes, &a));
  PetscCall(PetscMalloc(bytes, &b));
  PetscCall(pair->backend->download(near, bytes, a));
  PetscCall(pair->backend->download(far, bytes, b));
  for (size_t i = 0; i < bytes / pair->level->real; i++) {
    const double x = is_double ? a[i] : ((float *)a)[i], y = is_double ? b[i] : ((float *)b)[i];

    largest = PetscMax(largest, fabs(x));
    error = PetscMax(error, fabs(x - y));
  }
  TapOk((PetscBool)(largest > 0 && error <= (is_double ? 1e-13 : 1e-5) * largest), "far_cells_are_as_near_ones: %s, %s (%.1e of %.1e)",
        pair->name, what, error, largest);
  PetscCall(PetscFree(a));
  PetscCall(PetscFree(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a side of every near cell, `before` cells farther: 2 dim cell + side, on the backend */
static PetscErrorCode Sides(const Pair *pair, int32_t before, const int32_t **list)
{
  const int32_t n = pair->level->view.nown, nside = 2 * pair->level->view.dim;
  int32_t      *host;
  void         *placed;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &host));
  for (int32_t i = 0; i < n; i++) host[i] = nside * (before + i) + i % nside;
  PetscCall(pair->backend->alloc(n * sizeof(*host), "sides", &placed));
  PetscCall(pair->backend->upload(host, n * sizeof(*host), placed));
  PetscCall(PetscFree(host));
  *list = (const int32_t *)placed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b - A x on the outer operator; both transfers, from far cells to far ones and to near ones; what goes to messages and comes from them */
static PetscErrorCode OuterKernels(Pair *pair)
{
  const VpLevel  level = pair->level;
  const VpOps   *ops = level->ops;
  const VpView  *near = &level->view, *far = &pair->far;
  const int32_t  s = pair->before, ncoarse = level->transfer.ncoarse;
  const int32_t *list, *sides[2];
  Twice          x, y;
  void          *other;

  PetscFunctionBeginUser;
  PetscCall(TwiceCreate(pair, 1, &x));
  PetscCall(TwiceCreate(pair, 2, &y));
  PetscCall(pair->backend->alloc(pair->bytes, "near cells", &other));
  PetscCall(ops->apply(near, 0, near->nown, x.near, VpGhostsAt(x.near + pair->bytes), y.near, y.near));
  PetscCall(ops->apply(far, s, far->nown, x.whole, VpGhostsAt(x.far + pair->bytes), y.whole, y.whole));
  PetscCall(Agree(pair, "b - A x", y.near, y.far, pair->bytes));

  PetscCall(ops->prolong(&level->transfer, 0, near->nown, PETSC_TRUE, x.near, y.near));
  PetscCall(ops->prolong(&pair->far_transfer, s, far->nown, PETSC_TRUE, x.whole, y.whole));
  PetscCall(Agree(pair, "prolongation", y.near, y.far, pair->bytes));
  PetscCall(ops->restrict_(&level->transfer, x.near, y.near));
  PetscCall(ops->restrict_(&pair->far_transfer, x.whole, other));
  PetscCall(Agree(pair, "restriction", y.near, other, ncoarse * level->block));

  PetscCall(pair->backend->zero(other, pair->bytes));
  /* the first children of the list: any cells */
  PetscCall(pair->backend->move(ncoarse, level->block, pair->far_transfer.child, x.whole, NULL, other));
  PetscCall(pair->backend->move(ncoarse, level->block, level->transfer.child, x.near, NULL, y.near));
  PetscCall(Agree(pair, "gather", y.near, other, ncoarse * level->block));
  PetscCall(MoveWords(pair->backend, 0, pair->far_transfer.child, ncoarse, -1, &list));
  PetscCall(pair->backend->move(ncoarse, level->block, NULL, other, list, (char *)x.whole + level->block));
  PetscCall(pair->backend->move(ncoarse, level->block, NULL, y.near, level->transfer.child, x.near));
  PetscCall(Agree(pair, "scatter", x.near, x.far, pair->bytes));
  PetscCall(Release(pair->backend, ncoarse * sizeof(*list), (void *)list));

  PetscCall(Sides(pair, 0, &sides[0]));
  PetscCall(Sides(pair, s, &sides[1]));
  PetscCall(ops->pack_traces(near, near->nown, sides[0], x.near, y.near));
  PetscCall(ops->pack_traces(far, near->nown, sides[1], x.whole, other));
  PetscCall(Agree(pair, "traces", y.near, other, near->nown * 2 * (level->block / near->n)));
  PetscCall(ops->unpack_traces(near, near->nown, sides[0], y.near, x.near));
  PetscCall(ops->unpack_traces(far, near->nown, sides[1], y.near, x.whole));
  PetscCall(Agree(pair, "coefficients from traces", x.near, x.far, pair->bytes));
  for (int i = 0; i < 2; i++) PetscCall(pair->backend->release((void *)sides[i]));
  PetscCall(pair->backend->release(other));
  PetscCall(TwiceDestroy(pair, &x));
  PetscCall(TwiceDestroy(pair, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a colour of the smoother in two residual modes */
static PetscErrorCode Sweeps(Pair *pair, const VpPatches *of)
{
  const VpOps       *ops = pair->level->ops;
  const VpView      *near = &pair->level->view, *far = &pair->far;
  const VpPatchView *patches = VpSmootherPatches(pair->smoother), *far_patches = &pair->far_patches;
  const int          color = (1 << of->dim) - 1, first = of->start[color], last = of->start[color + 1];
  const unsigned     done = 1u << color;

  PetscFunctionBeginUser;
  for (int corrects = 0; corrects < 2; corrects++) {
    const VpResidualMode mode = corrects ? VP_MODE_CORRECT : VP_MODE_REPLACE;
    Twice                b, x[2];

    PetscCall(TwiceCreate(pair, 3, &b));
    for (int i = 0; i < 2; i++) PetscCall(TwiceCreate(pair, 4 + i, &x[i]));
    PetscCall(ops->sweep(near, patches, mode, first, last, 0, b.near, (void *[]){x[0].near, x[1].near}));
    PetscCall(ops->settle(patches, near->nown, done, (void *[]){x[0].near, x[1].near}));
    PetscCall(ops->sweep(far, far_patches, mode, first, last, 0, b.whole, (void *[]){x[0].whole, x[1].whole}));
    PetscCall(ops->settle(far_patches, far->nown, done, (void *[]){x[0].whole, x[1].whole}));
    PetscCall(Agree(pair, corrects ? "sweep by residuals" : "sweep by replacement", x[0].near, x[0].far, pair->bytes));
    PetscCall(TwiceDestroy(pair, &b));
    for (int i = 0; i < 2; i++) PetscCall(TwiceDestroy(pair, &x[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Setting *s)
{
  World      w;
  VpMesh     coarse;
  VpLevel    level;
  VpSmoother smoother;
  VpPatches  patches;
  Pair       pair;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_SELF, s, &w));
  PetscCall(VpMeshCoarsen(w.mesh, w.mesh->geometry->lattice, VP_COARSEN_FULL, &coarse));
  PetscCall(VpLevelSetTransfer(w.outer));
  PetscCall(PairCreate(w.outer, NULL, 0, s->name, &pair));
  PetscCall(OuterKernels(&pair));
  PetscCall(PairDestroy(&pair, 0));

  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_SINGLE, TestBackend(), &level));
  PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother));
  PetscCall(VpLevelSetTransfer(level));
  PetscCall(VpPatchesCreate(w.mesh, w.mesh->geometry->lattice->thinnest, &patches));
  PetscCall(PairCreate(level, smoother, patches.n, s->name, &pair));
  PetscCall(Sweeps(&pair, &patches));
  PetscCall(PairDestroy(&pair, patches.n));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(VpSmootherDestroy(&smoother));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Setting far[] = {
    {"cube, degree 7", 3, 7, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"cube, degree 2", 3, 2, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"square, degree 4", 2, 4, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
  };
  double available = 1e11, total;

  PetscFunctionBeginUser;
  if (TestBackend()->memory) PetscCall(TestBackend()->memory(&available, &total));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(far) && available > 5e10; i++) PetscCall(Compare(&far[i]));
  if (available <= 5e10) PetscCall(TapSkip("vectors of 2^31 numbers need 50 GB of device memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
