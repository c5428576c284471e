/* A problem whose functions at points are known, single basis functions, and the host as a device. */
#pragma once
#include "backend.h"
#include "pretend.h"

typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGBoundary boundary[6];
  PetscBool        coefficient;
} Case;

/* a polynomial of degree 1, its derivative, and a function that is no polynomial */
static PetscReal Line(PetscInt dim, const PetscReal x[])
{
  return 0.3 + x[0] - 2 * x[1] + (dim == 3 ? 3 * x[2] : 0);
}
static PetscReal Wave(PetscInt dim, const PetscReal x[])
{
  return PetscSinReal(2 * Line(dim, x));
}
static PetscErrorCode WaveAt(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = Wave(dim, x);
  return 0;
}
static PetscErrorCode SlopeAt(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const PetscReal slope[3] = {1, -2, 3};

  for (PetscInt d = 0; d < dim; d++) value[d] = 2 * slope[d] * PetscCosReal(2 * Line(dim, x));
  return 0;
}
static PetscErrorCode FluxAt(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  PetscScalar g[3];

  SlopeAt(dim, x, g, ctx);
  value[0] = 0;
  for (PetscInt d = 0; d < dim; d++) value[0] += normal[d] * g[d];
  return 0;
}
static PetscErrorCode Waves(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) WaveAt(dim, x + i * dim, value + i, ctx);
  return 0;
}
static PetscErrorCode Slopes(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) SlopeAt(dim, x + i * dim, value + i * dim, ctx);
  return 0;
}
static PetscErrorCode Fluxes(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) FluxAt(dim, x + i * dim, normal, value + i, ctx);
  return 0;
}
static PetscErrorCode Fails(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  return PETSC_ERR_USER;
}

typedef struct {
  DM      dm;
  VpMesh  mesh;
  VpBasis basis;
  int     dim, n, ndof;
  double  penalty;
  Vec     x, b; /* x random */
} World;

static PetscErrorCode WorldCreate(const Case *c, const VpBackend *pretended, World *w)
{
  PetscReal *a, lower[3], upper[3];
  PetscInt   ncell;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, &w->dm));
  PetscCall(DMVPatchDGSetBoxGrid(w->dm, (PetscInt[]){2, 1, 1}, (PetscReal[]){0, -1, 0.5}, (PetscReal[]){1, 1, 1}));
  PetscCall(DMVPatchDGSetBoundary(w->dm, c->boundary));
  PetscCall(DMVPatchDGSetPenalty(w->dm, 1.5));
  PetscCall(DMSetUp(w->dm));
  if (pretended) PetscCall(Pretend(w->dm, pretended, VP_TRANSPORT_HOST));
  PetscCall(DMVPatchDGGetCells(w->dm, &ncell));
  PetscCall(PetscMalloc1(ncell, &a));
  for (PetscInt i = 0; i < ncell; i++) {
    PetscCall(DMVPatchDGGetCellBounds(w->dm, i, lower, upper));
    a[i] = lower[0] < 0.5 ? 1 : 7;
  }
  if (c->coefficient) PetscCall(DMVPatchDGSetCoefficient(w->dm, a));
  PetscCall(PetscFree(a));
  w->mesh = ((DM_VPatchDG *)w->dm->data)->mesh;
  w->dim = (int)c->dim;
  w->penalty = 1.5;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, (int)c->degree, &w->basis));
  w->n = w->basis.n;
  w->ndof = (int)PetscPowInt(w->n, w->dim);
  PetscCall(DMCreateGlobalVector(w->dm, &w->b));
  PetscCall(VecDuplicate(w->b, &w->x));
  PetscCall(VecSetRandom(w->x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WorldDestroy(World *w)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&w->x));
  PetscCall(VecDestroy(&w->b));
  PetscCall(DMDestroy(&w->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* basis function i of a cell, or its derivative along d (d < 0: none), at a point */
static double Phi(const World *w, int32_t cell, int i, int d, const double x[])
{
  PetscReal lower[3], size[3];
  double    product = 1;

  VpGeometryBounds(w->mesh->geometry, cell, lower, size);
  for (int e = 0; e < w->dim; e++, i /= w->n) {
    double phi[VP_MAX_N], dphi[VP_MAX_N];

    VpBasisEvaluate(&w->basis, (x[e] - lower[e]) / size[e], phi, dphi);
    product *= (e == d ? dphi[i % w->n] / size[e] : phi[i % w->n]) / sqrt(size[e]);
  }
  return product;
}

static double Field(const World *w, int32_t cell, int d, const double u[], const double x[])
{
  double sum = 0;

  for (int i = 0; i < w->ndof; i++) sum += u[(size_t)cell * (size_t)w->ndof + (size_t)i] * Phi(w, cell, i, d, x);
  return sum;
}

/* the cell and its side that have point p in a list of points by sides */
static int32_t CellOnSide(const World *w, VpSide kind, PetscInt p, int *side)
{
  const PetscInt each = PetscPowInt(w->n, w->dim - 1);

  for (*side = 0; *side < 2 * w->dim; (*side)++) {
    for (int32_t c = 0; c < w->mesh->nown; c++) {
      if (VpDomainSide(w->mesh->geometry->domain, w->mesh->neighbor[(size_t)c * 2 * w->dim + *side]) != kind) continue;
      if (p < each) return c;
      p -= each;
    }
  }
  return -1;
}

static double Relative(double error, double size)
{
  double both[2] = {error, size};

  PetscCallAbort(PETSC_COMM_WORLD, MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  return both[1] > 0 ? both[0] / both[1] : both[0];
}

static PetscErrorCode DifferenceOf(Vec a, Vec b, PetscReal *relative)
{
  PetscReal norm;
  Vec       d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecCopy(a, d));
  PetscCall(VecAXPY(d, -1, b));
  PetscCall(VecNorm(d, NORM_INFINITY, relative));
  PetscCall(VecNorm(b, NORM_INFINITY, &norm));
  if (norm > 0) *relative /= norm;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b_i of a cell, with k+3 points in each direction of the cell (side < 0) or of a side */
static double Integral(const World *w, int32_t cell, int i, int side, VpSide kind)
{
  const int    d = side < 0 ? -1 : side / 2, nq = w->n + 2, k = w->n - 1;
  const double sign = side % 2 ? 1 : -1;
  double       q[2 * VP_MAX_N], weight[2 * VP_MAX_N], sum = 0, normal[3] = {0, 0, 0}, flux;
  PetscReal    lower[3], size[3];

  VpGauss(nq, q, weight);
  VpGeometryBounds(w->mesh->geometry, cell, lower, size);
  if (d >= 0) normal[d] = sign;
  for (int p = 0; p < PetscPowInt(nq, w->dim - (side >= 0)); p++) {
    double x[3] = {0, 0, 0}, measure = 1, gamma = d < 0 ? 0 : w->penalty * 2 * k * (k + 1) / size[d];

    for (int e = 0, r = p; e < w->dim; e++) {
      if (e == d) x[e] = lower[e] + (side % 2 ? size[e] : 0);
      else {
        x[e] = lower[e] + size[e] * q[r % nq];
        measure *= size[e] * weight[r % nq];
        r /= nq;
      }
    }
    FluxAt(w->dim, x, normal, &flux, NULL);
    if (d < 0) sum += measure * Wave(w->dim, x) * Phi(w, cell, i, -1, x);
    else if (kind == VP_SIDE_NEUMANN) sum += measure * flux * Phi(w, cell, i, -1, x);
    else sum += measure * Wave(w->dim, x) * (gamma * Phi(w, cell, i, -1, x) - sign * Phi(w, cell, i, d, x));
  }
  return sum;
}

static PetscErrorCode NoStream(void *stream)
{
  return PETSC_SUCCESS;
}
static PetscErrorCode Lend(size_t bytes, const char *what, void **p)
{
  return VpBackendHost.alloc(bytes, what, p);
}

/* the host as a device, whose memory does not hold the vectors */
static VpBackend Device(void)
{
  VpBackend backend = PretendedBackend(PETSC_FALSE);

  backend.name = "pretended";
  backend.use_stream = NoStream;
  backend.borrow = Lend;
  backend.give_back = VpBackendHost.release;
  return backend;
}
