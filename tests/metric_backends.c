/* Host and device agree where the coefficient is given at points: slot by slot, on mapped cells and boxes.
   ranks: 1 2 */
#include "support/backend.h"
#include "../src/petsc/dm/internal.h"
#include "../src/petsc/fields/fields.h"
#include "../src/level/internal.h"

/* numbers: of the coefficient at a point, or 0; -1: one that changes much inside of cells */
static const struct {
  int         numbers;
  const char *options;
} cases[] = {
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 3 -dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1 "
      "-dm_vpatchdg_reaction 2 -dm_vpatchdg_boundary robin,dirichlet,neumann,robin"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 8 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.05"},
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 5 -dm_refine 1 -dm_vpatchdg_basis gauss -dm_vpatchdg_reaction 3"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 1 -dm_refine 2 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_map torus -dm_vpatchdg_boundary "
      "dirichlet,robin,periodic,periodic,neumann,robin"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1 "
      "-dm_vpatchdg_reaction 1"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 6 -dm_refine 1 -dm_vpatchdg_map torus -dm_vpatchdg_reaction 2"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 7 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 8 -dm_refine 0 -dm_vpatchdg_boxes 2,1,1 -dm_vpatchdg_upper 1,0.5,0.5 -dm_vpatchdg_map sine "
      "-dm_vpatchdg_map_parameters 0.05"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 4 -dm_refine 1 -dm_vpatchdg_basis gauss -dm_vpatchdg_boundary "
      "periodic,periodic,dirichlet,neumann,robin,robin"},
  /* matrices of cells: alone, times numbers at points, and beside cells where they differ */
  {0, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50 -dm_vpatchdg_boundary "
      "robin,dirichlet,neumann,robin"},
  {0, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 120"},
  {1,
   "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50 -dm_vpatchdg_reaction 2"},
  {1, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 2 -dm_refine 2 -dm_vpatchdg_boundary robin,dirichlet,neumann,dirichlet"},
  {1, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_upper 1,2,3"},
  {2, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 2"},
  {3, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 4 -dm_refine 1 -dm_vpatchdg_geometry_precision single"},
  {-1, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 3 -dm_refine 1"},
  {-1, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1"},
  {6, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 2 -dm_refine 1"},
  {1, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 5 -dm_refine 1 -dm_vpatchdg_geometry_precision single"},
  {1, "-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 4 -dm_refine 2 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50 "
      "-dm_vpatchdg_geometry_precision single"},
  {6, "-dm_vpatchdg_dim 3 -dm_vpatchdg_degree 3 -dm_refine 1 -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1 -dm_vpatchdg_reaction 1 "
      "-dm_vpatchdg_boundary robin -dm_vpatchdg_geometry_precision single"},
};

/* (1 + x) D, where D is a matrix of these many numbers; exp(5 x) for -1 */
static PetscErrorCode Coefficient(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  static const PetscReal D[6] = {1, 0.2, 0.1, 2, 0.3, 3}, diagonal[3] = {1, 2, 3};
  const int              numbers = *(int *)ctx;

  for (PetscInt i = 0; i < n; i++) {
    if (numbers < 0) *a++ = exp(5 * x[i * dim]);
    for (int c = 0; c < numbers; c++) *a++ = (1 + x[i * dim]) * (numbers > dim ? D[c] : diagonal[c]);
  }
  return 0;
}

enum { HOST, DEVICE, PLACES };
/* what the slots work on, on both backends */
typedef struct {
  const char      *name;
  VpMesh           mesh;
  const VpBackend *backend[PLACES];
  VpLevel          outer[PLACES];
  size_t           ndof, own;
} Both;

/* numbers between -1/2 and 1/2 that a seed decides */
static PetscErrorCode Random(const VpBackend *backend, VpPrecision precision, size_t n, unsigned seed, void **p)
{
  const size_t size = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  char        *values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n * size + 1, &values));
  for (size_t i = 0; i < n; i++) {
    seed = seed * 1664525u + 1013904223u;
    if (precision == VP_DOUBLE) ((double *)values)[i] = (seed >> 8) * ldexp(1, -24) - 0.5;
    else ((float *)values)[i] = (float)((seed >> 8) * ldexp(1, -24) - 0.5);
  }
  PetscCall(backend->alloc(n * size, "a test", p));
  PetscCall(backend->upload(values, n * size, *p));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares, and releases, arrays of both backends, which were computed in a precision. */
static PetscErrorCode Agree(const Both *b, VpPrecision precision, VpPrecision computed, size_t n, void *const p[PLACES], const char what[])
{
  const size_t size = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  char        *values[PLACES];
  double       sum[2] = {0, 0};
  PetscBool    near;

  PetscFunctionBeginUser;
  for (int i = 0; i < PLACES; i++) {
    PetscCall(PetscMalloc1(n * size + 1, &values[i]));
    PetscCall(b->backend[i]->download(p[i], n * size, values[i]));
    PetscCall(b->backend[i]->release(p[i]));
  }
  for (size_t i = 0; i < n; i++) {
    const double ours = precision == VP_DOUBLE ? ((double *)values[HOST])[i] : (double)((float *)values[HOST])[i];
    const double theirs = precision == VP_DOUBLE ? ((double *)values[DEVICE])[i] : (double)((float *)values[DEVICE])[i];

    sum[0] += PetscSqr(theirs - ours);
    sum[1] += PetscSqr(ours);
  }
  for (int i = 0; i < PLACES; i++) PetscCall(PetscFree(values[i]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  near = (PetscBool)(sqrt(sum[0]) <= (computed == VP_DOUBLE ? 1e-13 : 1e-6) * sqrt(sum[1]) && sum[1] > 0);
  TapOk(near, "%s: %.1e, %s", what, sqrt(sum[0] / sum[1]), b->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an array of the metrics that both backends have made, or none */
static PetscErrorCode Made(const Both *b, VpPrecision precision, size_t n, const void *host, const void *device, const char what[])
{
  const size_t bytes = n * (precision == VP_DOUBLE ? sizeof(double) : sizeof(float));
  const void  *from[PLACES] = {host, device};
  void        *p[PLACES];

  PetscFunctionBeginUser;
  PetscCheck(!host == !device, PETSC_COMM_SELF, PETSC_ERR_PLIB, "One metric has %s, the other has none", what);
  if (!host) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < PLACES; i++) {
    PetscCall(b->backend[i]->alloc(bytes, "a test", &p[i]));
    PetscCall(b->backend[i]->copy(from[i], bytes, p[i]));
  }
  PetscCall(Agree(b, precision, precision, n, p, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the largest relative difference of n positive numbers */
static double Differ(size_t n, const double a[], const double b[])
{
  double most = 0;

  for (size_t i = 0; i < n; i++) most = PetscMax(most, fabs(a[i] - b[i]) / PetscMax(fabs(a[i]), 1e-300));
  return most;
}

static PetscErrorCode makings_agree(const Both *b)
{
  const VpMetric m = b->outer[HOST]->problem.metric, d = b->outer[DEVICE]->problem.metric;
  const int      dim = b->mesh->dim, n = b->outer[HOST]->basis.n;
  const size_t   cells = (size_t)b->mesh->nown, face = b->ndof / (size_t)n, rows = (size_t)VpMetricRows(dim, m->components);
  const double   of[2][6] = {{m->kappa, m->typical, m->variation, m->dilation, m->reaction + 1, m->penalty + 1},
                             {d->kappa, d->typical, d->variation, d->dilation, d->reaction + 1, d->penalty + 1}};
  double         worst = PetscMax(Differ(cells * (size_t)dim, m->mean, d->mean), Differ(6, of[0], of[1]));

  PetscFunctionBeginUser;
  PetscCheck(!VpIsDevice(m->arrays.backend) && d->arrays.backend == b->backend[DEVICE], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Wrong backends");
  worst = PetscMax(worst, Differ(cells, m->masses, d->masses));
  worst = PetscMax(worst, Differ(cells, m->volumes, d->volumes));
  worst = PetscMax(worst, Differ(cells, m->shares, d->shares));
  for (int side = 0; side < 2 * dim; side++) {
    int32_t count[VP_GIVEN_KINDS] = {0};

    for (int32_t c = 0; c < b->mesh->nown; c++) {
      const VpSide kind = VpDomainSide(b->mesh->geometry->domain, VpMeshNeighbor(b->mesh, c, side));

      count[VpIsCondition(kind) ? VpConditions[kind].given : 0]++;
    }
    worst = PetscMax(worst, Differ((size_t)m->nflux[side] * face, m->flux[side], d->flux[side]));
    for (size_t at = 0; at < (size_t)count[VP_GIVEN_VALUE] * rows * face; at += rows * face) /* those of tangents may cancel */
      worst = PetscMax(worst, Differ(face, m->outflow[VP_GIVEN_VALUE][side] + at, d->outflow[VP_GIVEN_VALUE][side] + at));
  }
  TapOk((PetscBool)(worst < 1e-11), "makings_agree, numbers of cells and sides: %.1e, %s", worst, b->name);
  PetscCall(Made(b, m->precision, cells * (size_t)(m->affine ? 1 : m->components) * b->ndof, m->cell, d->cell, "makings_agree, G"));
  PetscCall(Made(b, m->precision, cells * VpMetricSideNumbers(m, dim), m->side, d->side, "makings_agree, H"));
  PetscCall(Made(b, m->precision, b->own, m->factor, d->factor, "makings_agree, factors"));
  PetscCall(Made(b, VP_DOUBLE, cells * (size_t)VpMetricAffine(dim, m->components), m->affine, d->affine, "makings_agree, affine"));
  PetscCall(Made(b, VP_DOUBLE, cells * 2 * (size_t)dim * face, m->beyond, d->beyond, "makings_agree, beyond"));
  PetscCall(Made(b, VP_DOUBLE, cells, m->eta, d->eta, "makings_agree, penalties"));
  PetscCall(Made(b, VP_DOUBLE, cells, m->scale, d->scale, "makings_agree, scales"));
  PetscCall(Made(b, VP_DOUBLE, b->own, m->root, d->root, "makings_agree, roots"));
  PetscCall(Made(b, VP_DOUBLE, b->own, m->mass, d->mass, "makings_agree, masses"));
  PetscCall(Made(b, VP_DOUBLE, b->own, m->entry, d->entry, "makings_agree, entries"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode products_agree(const Both *b)
{
  const size_t all = b->own + (size_t)(b->outer[HOST]->view.nlocal - b->mesh->nown) * b->ndof;
  void        *y[PLACES], *r[PLACES];
  double       energy[PLACES] = {0, 0};

  PetscFunctionBeginUser;
  for (int i = 0; i < PLACES; i++) {
    const VpLevel outer = b->outer[i];
    void         *x, *f;

    PetscCall(Random(b->backend[i], VP_DOUBLE, all, 1, &x));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 2, &f));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 3, &y[i]));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 4, &r[i]));
    const VpGhosts ghosts = VpGhostsAt((char *)x + b->own * sizeof(double));

    if (outer->ops->apply_energy) {
      PetscCall(outer->ops->apply_energy(&outer->view, x, ghosts, y[i], &energy[i]));
    } else {
      PetscCall(outer->ops->apply(&outer->view, 0, b->mesh->nown, x, ghosts, NULL, y[i]));
      for (size_t k = 0; i == HOST && k < b->own; k++) energy[i] += ((double *)x)[k] * ((double *)y[i])[k];
    }
    PetscCall(outer->ops->apply(&outer->view, 0, b->mesh->nown, x, ghosts, f, r[i]));
    PetscCall(b->backend[i]->release(x));
    PetscCall(b->backend[i]->release(f));
  }
  PetscCall(Agree(b, VP_DOUBLE, VP_DOUBLE, b->own, y, "products_agree, A x"));
  PetscCall(Agree(b, VP_DOUBLE, VP_DOUBLE, b->own, r, "products_agree, b - A x"));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, energy, PLACES, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(fabs(energy[DEVICE] - energy[HOST]) <= 1e-12 * fabs(energy[HOST])), "products_agree, x A x: %.1e, %s",
        energy[DEVICE] / energy[HOST] - 1, b->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* traces of every side of every cell, last cells first, and back */
static PetscErrorCode traces_agree(const Both *b)
{
  const int32_t nside = 2 * b->mesh->dim, n = b->mesh->nown * nside;
  const size_t  size = 2 * b->ndof / (size_t)b->outer[HOST]->basis.n;
  int32_t      *list;
  void         *traces[PLACES], *back[PLACES];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n + 1, &list));
  for (int32_t i = 0; i < n; i++) list[i] = n - 1 - i;
  for (int i = 0; i < PLACES; i++) {
    const VpLevel outer = b->outer[i];
    void         *x, *sides;

    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 1, &x));
    PetscCall(Random(b->backend[i], VP_DOUBLE, (size_t)n * size, 2, &traces[i]));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 3, &back[i]));
    PetscCall(b->backend[i]->alloc((size_t)n * sizeof(int32_t), "a test", &sides));
    PetscCall(b->backend[i]->upload(list, (size_t)n * sizeof(int32_t), sides));
    PetscCall(outer->ops->pack_traces(&outer->view, n, sides, x, traces[i]));
    for (int32_t k = 0; k < n; k += n / 3 + 1) /* a cell is listed once */
      PetscCall(outer->ops->unpack_traces(&outer->view, 1, (const int32_t *)sides + k, traces[i], back[i]));
    PetscCall(b->backend[i]->release(x));
    PetscCall(b->backend[i]->release(sides));
  }
  PetscCall(PetscFree(list));
  PetscCall(Agree(b, VP_DOUBLE, VP_DOUBLE, (size_t)n * size, traces, "traces_agree, packed"));
  PetscCall(Agree(b, VP_DOUBLE, VP_DOUBLE, b->own, back, "traces_agree, unpacked"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What enters a cycle's level and leaves it, in both precisions. */
static PetscErrorCode conversions_agree(const Both *b, VpPrecision precision)
{
  const size_t all = b->own + (size_t)(b->outer[HOST]->view.nlocal - b->mesh->nown) * b->ndof;
  void        *in[3][PLACES], *out[PLACES];
  double       norm2[2][PLACES];

  PetscFunctionBeginUser;
  for (int i = 0; i < PLACES; i++) {
    const VpLevel outer = b->outer[i];
    VpLevel       level;
    void         *x, *f, *c;

    PetscCall(VpLevelCreate(b->mesh, &outer->problem, VP_BASIS_THIN, precision, b->backend[i], &level));
    PetscCall(Random(b->backend[i], VP_DOUBLE, all, 1, &x));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 2, &f));
    PetscCall(Random(b->backend[i], precision, b->own, 3, &c));
    PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 4, &out[i]));
    for (int k = 0; k < 3; k++) PetscCall(Random(b->backend[i], precision, b->own, 5, &in[k][i]));
    const VpGhosts ghosts = VpGhostsAt((char *)x + b->own * sizeof(double)), none = VpGhostsAt(NULL);

    PetscCall(level->ops->enter(&level->view, &outer->view, 0.5, x, ghosts, f, in[0][i], &norm2[0][i]));
    PetscCall(level->ops->enter(&level->view, &outer->view, 3, NULL, none, f, in[1][i], &norm2[1][i]));
    PetscCall(level->ops->enter(&level->view, NULL, 1, NULL, none, f, in[2][i], NULL));
    PetscCall(level->ops->leave(&level->view, PETSC_TRUE, 0.5, c, out[i]));
    PetscCall(b->backend[i]->release(x));
    PetscCall(b->backend[i]->release(f));
    PetscCall(b->backend[i]->release(c));
    PetscCall(VpLevelDestroy(&level));
  }
  PetscCall(Agree(b, precision, precision, b->own, in[0], "conversions_agree, residual"));
  PetscCall(Agree(b, precision, precision, b->own, in[1], "conversions_agree, with the norm"));
  PetscCall(Agree(b, precision, precision, b->own, in[2], "conversions_agree, without it"));
  PetscCall(Agree(b, VP_DOUBLE, precision, b->own, out, "conversions_agree, back"));
  for (int k = 0; k < 2; k++)
    TapOk((PetscBool)(fabs(norm2[k][DEVICE] - norm2[k][HOST]) <= 1e-13 * norm2[k][HOST]), "conversions_agree, norm: %.1e, %s",
          norm2[k][DEVICE] / norm2[k][HOST] - 1, b->name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* numbers given at the sides of every condition */
static PetscErrorCode sides_agree(const Both *b)
{
  const int     dim = b->mesh->dim;
  const size_t  face = b->ndof / (size_t)b->outer[HOST]->basis.n;
  const VpLevel host = b->outer[HOST];
  int32_t      *list;
  void         *sum[PLACES];

  PetscFunctionBeginUser;
  for (int i = 0; i < PLACES; i++) PetscCall(Random(b->backend[i], VP_DOUBLE, b->own, 1, &sum[i]));
  PetscCall(PetscMalloc1(b->mesh->nown + 1, &list));
  for (int side = 0; side < 2 * dim; side++) {
    for (int value = 0; value < 2; value++) {
      int32_t n = 0;

      for (int32_t c = 0; c < b->mesh->nown; c++) {
        const VpSide kind = VpDomainSide(b->mesh->geometry->domain, b->mesh->neighbor[(size_t)c * 2 * (size_t)dim + (size_t)side]);

        if (VpIsCondition(kind) && VpConditions[kind].given == (value ? VP_GIVEN_VALUE : VP_GIVEN_FLUX)) list[n++] = c;
      }
      PetscCheck(value || n == host->problem.metric->nflux[side], PETSC_COMM_SELF, PETSC_ERR_PLIB, "Fluxes are listed in another way");
      if (!n) continue;
      const int32_t from = n / 2; /* the second half of the places */
      for (int i = 0; i < PLACES; i++) {
        void    *given, *cells;
        VpPlaces places = {.n = n - from, .first = from};

        PetscCall(Random(b->backend[i], VP_DOUBLE, (size_t)n * face, 2, &given));
        PetscCall(b->backend[i]->alloc((size_t)n * sizeof(int32_t), "a test", &cells));
        PetscCall(b->backend[i]->upload(list, (size_t)n * sizeof(int32_t), cells));
        places.list = (const int32_t *)cells + from;
        PetscCall(b->outer[i]->ops->add_to_side(&b->outer[i]->view, side, (PetscBool)value, &places, given, sum[i]));
        PetscCall(b->backend[i]->release(given));
        PetscCall(b->backend[i]->release(cells));
      }
    }
  }
  PetscCall(PetscFree(list));
  PetscCall(Agree(b, VP_DOUBLE, VP_DOUBLE, b->own, sum, "sides_agree"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(VPatchDGBackend where, int *numbers, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMVPatchDGSetBackend(*dm, where));
  PetscCall(DMSetFromOptions(*dm));
  if (*numbers) PetscCall(DMVPatchDGSetCoefficientFunction(*dm, abs(*numbers), Coefficient, PETSC_MEMTYPE_HOST, numbers));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const VpBackend *device, int numbers, const char options[])
{
  Both b = {.name = options, .backend = {&VpBackendHost, device}};
  DM   dm[PLACES];

  PetscFunctionBeginUser;
  for (int i = 0; i < PLACES; i++) {
    PetscCall(CreateDM(i ? VPATCHDG_BACKEND_CUDA : VPATCHDG_BACKEND_HOST, &numbers, options, &dm[i]));
    PetscCall(DMVPatchDGGetLevel(dm[i], &b.outer[i]));
  }
  b.mesh = b.outer[HOST]->mesh;
  b.ndof = (size_t)PetscPowInt(b.outer[HOST]->basis.n, b.mesh->dim);
  b.own = (size_t)b.mesh->nown * b.ndof;
  PetscCall(makings_agree(&b));
  PetscCall(products_agree(&b));
  PetscCall(traces_agree(&b));
  for (int p = 0; p < 2; p++) PetscCall(conversions_agree(&b, p ? VP_DOUBLE : VP_SINGLE));
  PetscCall(sides_agree(&b));
  for (int i = 0; i < PLACES; i++) PetscCall(DMDestroy(&dm[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const VpBackend *device = UsableBackend("cuda");

  PetscFunctionBeginUser;
  if (!device) PetscFunctionReturn(TapSkip("no CUDA device"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Compare(device, cases[i].numbers, cases[i].options));
  PetscFunctionReturn(PETSC_SUCCESS);
}
