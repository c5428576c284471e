/* Error estimates where the coefficient is given at points, on boxes and on mapped cells. All is computed in the reference cell, from the
   numbers of VpMetricView. With G = |det J| J^-1 K J^-T, h^2/a is the least of |det J| / G_dd over directions. On a side with the normal d
   h/a is the element of area divided by G_dd, and the flux G grad u is that of physical space times this element. It is interpolated at
   the points of a cell, also for its divergence and its values on sides. */
#include "estimate.h"
#include "../../base/threads.h"

enum { FACE = VP_MAX_N * VP_MAX_N, CELL = FACE * VP_MAX_N };

typedef struct {
  VpMesh              mesh;
  const VpMetricView *m; /* on the host */
  VpMetric            metric;
  const VpGivenSides *given;
  const double       *x, *b; /* solution and source */
  int                 dim, n, size, face;
  double              gauss[VP_MAX_N], weight[VP_MAX_N];
  double             *sides; /* [nface][2 dim][u, outward flux, G_dd][face] the first two times the root of the point's weight */
  PetscReal          *eta;
} Estimate;

static double *SideOf(const Estimate *e, int32_t cell, int side)
{
  return e->sides + ((size_t)cell * 2 * (size_t)e->dim + (size_t)side) * 3 * (size_t)e->face;
}

static double NumberAt(const VpMetricView *m, const void *from, size_t at)
{
  return m->precision == VP_DOUBLE ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

/* entry number c of G at point i of a cell */
static double EntryAt(const Estimate *e, int32_t cell, int c, int i)
{
  const VpMetricView *m = e->m;
  const size_t        number = (size_t)cell, components = (size_t)m->components, size = (size_t)e->size;

  if (!m->shape) return NumberAt(m, m->cell, (number * components + (size_t)c) * size + (size_t)i);
  return m->shape[number * (size_t)VpMetricShape(e->dim, m->components) + (size_t)c] *
         (m->cell ? NumberAt(m, m->cell, number * size + (size_t)i) : 1);
}

/* H_dd at point t of a side */
static double WeighedAt(const Estimate *e, int32_t cell, int side, int t)
{
  const VpMetricView *m = e->m;
  const size_t        rows = m->shape ? 1 : (size_t)VpMetricRows(e->dim, m->components);
  const size_t        first = ((size_t)cell * 2 * (size_t)e->dim + (size_t)side) * rows * (size_t)m->spread;

  return NumberAt(m, m->side, first + (size_t)(t % m->spread));
}

/* 1 / sqrt(|det J|) at a point of a cell, by which unknowns become u times the root of the point's weight */
static double ScaleAt(const Estimate *e, int32_t cell, int i)
{
  const VpMetricView *m = e->m;

  return m->scale[cell] * (m->factor ? NumberAt(m, m->factor, (size_t)cell * (size_t)e->size + (size_t)i) : 1);
}

/* to += D from along direction d of the n^dim numbers of a cell */
static void AddDerivative(const Estimate *e, int d, const double from[], double to[])
{
  const int stride = VpLineStride(d, e->n, e->n * e->n);

  for (int line = 0; line < e->face; line++) {
    const int start = VpLineStart(e->n, stride, line);

    for (int q = 0; q < e->n; q++) {
      for (int i = 0; i < e->n; i++) to[start + q * stride] += e->m->slope[q * e->n + i] * from[start + i * stride];
    }
  }
}

/* to [face] = the values at an end of direction d of a function whose numbers at points, times roots of weights, are `from` */
static void ExtrapolateToSide(const Estimate *e, int side, const double from[], double to[])
{
  const int     stride = VpLineStride(side / 2, e->n, e->n * e->n);
  const double *end = e->m->end + 2 * (side % 2) * e->n;

  for (int line = 0; line < e->face; line++) {
    to[line] = 0;
    for (int i = 0; i < e->n; i++) to[line] += end[i] * from[VpLineStart(e->n, stride, line) + i * stride];
  }
}

/* flux [dim][size] = G grad u of a cell, times the roots of weights. z: u at the points, likewise */
static void FindFlux(const Estimate *e, int32_t cell, const double z[], double flux[])
{
  const VpMetricView *m = e->m;
  double              slope[CELL];

  memset(flux, 0, (size_t)(e->dim * e->size) * sizeof(double));
  for (int j = 0; j < e->dim; j++) {
    memset(slope, 0, (size_t)e->size * sizeof(double));
    AddDerivative(e, j, z, slope);
    for (int d = 0; d < e->dim; d++) {
      const int c = VpMetricEntry(e->dim, m->components, d, j);

      for (int i = 0; i < e->size && (d == j || m->components > e->dim); i++) flux[d * e->size + i] += EntryAt(e, cell, c, i) * slope[i];
    }
  }
}

/* the norm of h/(k sqrt(a)) (f + div(K grad u) - c u) */
static double CellNorm(const Estimate *e, int32_t cell, const double flux[])
{
  const VpMetricView *m = e->m;
  const size_t        first = (size_t)cell * (size_t)e->size;
  double              divergence[CELL] = {0}, r[CELL], volume = 0, most = 0;

  for (int d = 0; d < e->dim; d++) {
    const int c = VpMetricEntry(e->dim, m->components, d, d);
    double    mean = 0;

    for (int i = 0; i < e->size; i++) mean += VpPointWeight(e->dim, e->n, e->weight, i) * EntryAt(e, cell, c, i);
    most = PetscMax(most, mean);
    AddDerivative(e, d, flux + d * e->size, divergence);
  }
  for (int i = 0; i < e->size; i++) {
    const size_t at = first + (size_t)i;
    const double scale = ScaleAt(e, cell, i);

    volume += VpPointWeight(e->dim, e->n, e->weight, i) / (scale * scale);
    r[i] = e->b[at] + scale * divergence[i] - (m->mass ? m->mass[at] * scale * scale * e->x[at] : 0);
  }
  return sqrt(volume / most) / (e->n - 1) * VpNorm(e->size, r);
}

/* Sets the norms of cells, and what neighbours need of their sides. */
static void WorkOnCells(void *context, int32_t piece, int32_t begin, int32_t end)
{
  const Estimate *e = context;
  double          z[CELL], flux[3 * CELL];

  for (int32_t cell = begin; cell < end; cell++) {
    for (int i = 0; i < e->size; i++) {
      const size_t at = (size_t)cell * (size_t)e->size + (size_t)i;

      z[i] = ScaleAt(e, cell, i) * e->x[at];
    }
    FindFlux(e, cell, z, flux);
    e->eta[cell] = CellNorm(e, cell, flux);
    for (int side = 0; side < 2 * e->dim; side++) {
      double *to = SideOf(e, cell, side);

      ExtrapolateToSide(e, side, z, to);
      ExtrapolateToSide(e, side, flux + side / 2 * e->size, to + e->face);
      for (int t = 0; t < e->face; t++) {
        if (side % 2 == 0) to[e->face + t] *= -1;
        to[2 * e->face + t] = WeighedAt(e, cell, side, t);
      }
    }
  }
}

/* hypot of the norms of the numbers flux / sqrt(k G) and sqrt(k (k + 1) G) jump at a side's points; NULL: 0 */
static double SideNorm(const Estimate *e, const double G[], const double flux[], const double jump[])
{
  const double k = e->n - 1;
  double       r[2][FACE] = {{0}, {0}};

  for (int t = 0; t < e->face; t++) {
    if (flux) r[0][t] = flux[t] / sqrt(k * G[t]);
    if (jump) r[1][t] = sqrt(k * (k + 1) * G[t]) * jump[t];
  }
  return hypot(VpNorm(e->face, r[0]), VpNorm(e->face, r[1]));
}

static double FaceNorm(const Estimate *e, int32_t cell, int side, int32_t next)
{
  const int     turn = VpMeshTurn(e->mesh, cell, side);
  const double *own = SideOf(e, cell, side), *other = SideOf(e, next, VpTurnSide(side, turn));
  double        G[FACE], flux[FACE], jump[FACE];

  for (int t = 0; t < e->face; t++) {
    const int there = VpTurnPoint(e->n, turn, t);

    jump[t] = own[t] - other[there];
    flux[t] = own[e->face + t] + other[e->face + there];
    G[t] = PetscMax(own[2 * e->face + t], other[2 * e->face + there]);
  }
  return SideNorm(e, G, flux, jump) / PETSC_SQRT2;
}

/* to [face] = numbers of a coarse side at the points of its half, times the roots of the weights there. from: the same on that side */
static void TakeHalf(const Estimate *e, int half, const double from[], double to[])
{
  const int n = e->n;
  double    between[FACE];

  for (int bit = 0; bit < e->dim - 1; bit++) {
    const int     stride = bit ? n : 1;
    const double *A = e->m->half + (half >> bit & 1) * n * n, *in = bit ? between : from;

    for (int t = 0; t < e->face; t++) {
      const int q = t / stride % n;

      to[t] = 0;
      for (int i = 0; i < n; i++) to[t] += A[q * n + i] * in[t + (i - q) * stride];
    }
    memcpy(between, to, (size_t)e->face * sizeof(double));
  }
}

/* The norm on a part of the side of a coarse cell, which it and the fine cell there have. Fluxes are per area of the fine reference cell's
   side. */
static double PartNorm(const Estimate *e, const VpFace *hang, int half, int32_t part)
{
  const int     fine = hang->kind == VP_FACE_FINE, there = VpTurnSide(hang->side, hang->turn);
  const double *own = SideOf(e, fine ? hang->cell[0] : hang->cell[1 + half], fine ? hang->side : there);
  const double *other = SideOf(e, hang->cell[fine], fine ? there : hang->side);
  const double *H = e->m->part + (size_t)part * (size_t)((VpMetricRows(e->dim, e->m->components) + 1) * e->face);
  double        G[FACE], flux[FACE], jump[FACE];

  TakeHalf(e, half, other, jump);
  TakeHalf(e, half, other + e->face, flux);
  for (int k = 0; k < e->face; k++) { /* t: a point of the coarse side, p: the same of the fine one */
    const int turned = VpTurnPoint(e->n, hang->turn, k), t = fine ? turned : k, p = fine ? k : turned;

    jump[t] -= own[p];
    flux[t] = flux[t] / (1 << (e->dim - 1)) + own[e->face + p];
    G[t] = PetscMax(own[2 * e->face + p], H[t]);
  }
  return SideNorm(e, G, flux, jump) / PETSC_SQRT2;
}

static double HangingNorm(const Estimate *e, int32_t cell, int side)
{
  const int32_t at = VpFaceAt(e->mesh->faces.n, e->mesh->faces.face, cell, side);
  const VpFace *hang = &e->mesh->faces.face[at];
  double        norm = 0;

  if (hang->kind == VP_FACE_FINE) return PartNorm(e, hang, hang->half, e->m->first[at]);
  for (int i = 0; i < 1 << (e->dim - 1); i++) norm = hypot(norm, PartNorm(e, hang, i, e->m->first[at] + i));
  return norm;
}

/* points [face][dim] and outward normals [face][dim] of a side */
static void FindPoints(const Estimate *e, int32_t cell, int side, double points[], double normal[])
{
  const double  end = side % 2, sign = side % 2 ? 1 : -1;
  const int     dim = e->dim, d = side / 2;
  int           count[3] = {1, 1, 1};
  double        J[9 * FACE], inverse[9];
  const double *x[3] = {e->gauss, e->gauss, e->gauss};

  for (int j = 0; j < dim; j++) count[j] = j == d ? 1 : e->n;
  x[d] = &end;
  VpGeometryEvaluate(e->mesh->geometry, cell, count, x, points, J);
  for (int t = 0; t < e->face; t++) {
    double length = 0;

    VpInvert(dim, J + t * dim * dim, VpDeterminant(dim, J + t * dim * dim), inverse);
    for (int r = 0; r < dim; r++) length += PetscSqr(inverse[d * dim + r]);
    for (int r = 0; r < dim; r++) normal[t * dim + r] = sign * inverse[d * dim + r] / sqrt(length);
  }
}

/* The norm on a boundary side. place: its number among those of this number and kind of data */
static PetscErrorCode BoundaryNorm(const Estimate *e, int32_t cell, int side, int32_t place, double *norm)
{
  const VpDomain    domain = e->mesh->geometry->domain;
  const int32_t     beyond = e->mesh->neighbor[(size_t)cell * 2 * (size_t)e->dim + (size_t)side];
  const VpGivenKind kind = VpConditions[VpDomainSide(domain, beyond)].given;
  const size_t      rows = (size_t)VpMetricRows(e->dim, e->m->components), first = (size_t)place * (size_t)e->face;
  const double     *own = SideOf(e, cell, side), *G = e->metric->outflow[kind][side] + rows * first, *area = e->metric->flux[side] + first;
  double            points[3 * FACE], normal[3 * FACE], r[FACE];

  PetscFunctionBegin;
  FindPoints(e, cell, side, points, normal);
  for (int t = 0; t < e->face; t++) {
    const double root = sqrt(e->weight[t % e->n] * (e->dim == 3 ? e->weight[t / e->n] : 1));
    PetscScalar  g = 0;

    if (kind == VP_GIVEN_VALUE) {
      if (e->given->dirichlet) PetscCall(e->given->dirichlet(e->dim, points + t * e->dim, &g, e->given->ctx));
      r[t] = own[t] - root * PetscRealPart(g);
    } else {
      if (e->given->flux) PetscCall(e->given->flux(e->dim, points + t * e->dim, normal + t * e->dim, &g, e->given->ctx));
      r[t] = own[e->face + t] + area[t] * (VpDomainAlpha(domain, beyond) * own[t] - root * PetscRealPart(g));
    }
  }
  *norm = kind == VP_GIVEN_VALUE ? SideNorm(e, G, NULL, r) : SideNorm(e, G, r, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddSides(const Estimate *e)
{
  int32_t places[VP_GIVEN_KINDS][6] = {{0}};

  PetscFunctionBegin;
  for (int32_t cell = 0; cell < e->mesh->nown; cell++) {
    for (int side = 0; side < 2 * e->dim; side++) {
      const int32_t next = e->mesh->neighbor[(size_t)cell * 2 * (size_t)e->dim + (size_t)side];
      double        norm;

      if (next >= 0) norm = FaceNorm(e, cell, side, next);
      else if (next == VP_HANGING) norm = HangingNorm(e, cell, side);
      else PetscCall(BoundaryNorm(e, cell, side, places[VpConditions[VpDomainSide(e->mesh->geometry->domain, next)].given][side]++, &norm));
      e->eta[cell] = hypot(e->eta[cell], norm);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGEstimateAtPoints(DM dm, Vec x, Vec b, const VpGivenSides *given, PetscReal eta[])
{
  Estimate e = {.mesh = DMVPatchDGData(dm)->mesh, .metric = DMVPatchDGData(dm)->op->problem.metric, .given = given, .eta = eta};
  VpLevel  level;
  size_t   each;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetHostLevel(dm, &level));
  e.m = &level->view.metric;
  e.dim = e.mesh->dim;
  e.n = level->basis.n;
  e.face = VpFaceSize(e.n, e.dim);
  e.size = e.n * e.face;
  each = (size_t)(6 * e.dim * e.face);
  VpGauss(e.n, e.gauss, e.weight);
  PetscCall(PetscMalloc1((size_t)e.mesh->nface * each + 1, &e.sides));
  PetscCall(VecGetArrayRead(x, &e.x));
  PetscCall(VecGetArrayRead(b, &e.b));
  VpLoop(e.mesh->nown, WorkOnCells, &e);
  PetscCall(VpMeshExchange(e.mesh, VP_GHOST_FACE, each, MPI_DOUBLE, e.sides, e.sides + (size_t)e.mesh->nown * each));
  PetscCall(VpTogether(e.mesh->comm, AddSides(&e)));
  PetscCall(VecRestoreArrayRead(b, &e.b));
  PetscCall(VecRestoreArrayRead(x, &e.x));
  PetscCall(PetscFree(e.sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}
