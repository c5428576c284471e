/* The residuals of error estimates. All is computed in the reference cell, from the numbers of VpMetricView or, without a metric, from
   sizes and numbers of boxes. With G = |det J| J^-1 K J^-T, h^2/a is the least of |det J| / G_dd over directions. On a side with the normal
   d h/a is the element of area divided by G_dd, and the flux G grad u is that of physical space times this element. It is interpolated at
   the points of a cell, also for its divergence and its values on sides. */
#include "estimate.h"
#include "../../base/threads.h"

enum { FACE = VP_MAX_N * VP_MAX_N, CELL = FACE * VP_MAX_N };

typedef struct {
  VpMesh                    mesh;
  const VpProblem          *problem;
  const VpMetricView       *m; /* on the host; NULL: boxes with a number each */
  const VpPointCoefficient *exact;
  const VpGivenSides       *given;
  const double             *u, *f; /* solution and source at points */
  int                       dim, n, size, face;
  double                    gauss[VP_MAX_N], root[CELL]; /* root [size]: of the points' weights */
  VpMetricBasis             t;
  double                   *sides; /* [nface][2 dim][u, outward flux, G_dd][face] the first two times the root of the point's weight */
  PetscReal                *eta;
} Estimate;

static double *SideOf(const Estimate *e, int32_t cell, int side)
{
  return e->sides + ((size_t)cell * 2 * (size_t)e->dim + (size_t)side) * 3 * (size_t)e->face;
}

static double NumberAt(const VpMetricView *m, const void *from, size_t at)
{
  return m->precision == VP_DOUBLE ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

/* G_dd of a box where the coefficient is a */
static double EntryOfBox(const Estimate *e, int32_t cell, int d, double a)
{
  const VpGeometry g = e->mesh->geometry;

  return a * VpGeometryArea(g, cell, 2 * d) / VpGeometrySize(g, cell, d);
}

/* the coefficient that a side of a box has */
static double TraceOf(const Estimate *e, int32_t cell, int side)
{
  return e->exact->a ? e->exact->trace[(size_t)cell * 2 * (size_t)e->dim + (size_t)side] : VpProblemCoefficient(e->problem, cell, side / 2);
}

static int ComponentsOf(const Estimate *e)
{
  return e->m ? e->m->components : 1;
}

/* to [size] = entry (d, j) of G at the points of a cell */
static void FindEntries(const Estimate *e, int32_t cell, int d, int j, double to[])
{
  const VpMetricView *m = e->m;
  const int           components = ComponentsOf(e), c = VpMetricEntry(e->dim, components, d, j);
  const size_t        number = (size_t)cell, size = (size_t)e->size, first = (number * (size_t)components + (size_t)c) * size;
  double              one = 0;

  if (!m) one = EntryOfBox(e, cell, d, VpProblemCoefficient(e->problem, cell, d));
  else if (m->affine) one = m->affine[number * (size_t)VpMetricAffine(e->dim, components) + (size_t)c];
  for (size_t i = 0; i < size; i++) {
    if (!m || (m->affine && !m->cell)) to[i] = one;
    else to[i] = m->affine ? one * NumberAt(m, m->cell, number * size + i) : NumberAt(m, m->cell, first + i);
  }
}

/* H_dd at point t of a side */
static double WeighedAt(const Estimate *e, int32_t cell, int side, int t)
{
  const VpMetricView *m = e->m;
  const size_t        rows = m->affine ? 1 : (size_t)VpMetricRows(e->dim, m->components);
  const size_t        first = ((size_t)cell * 2 * (size_t)e->dim + (size_t)side) * rows * (size_t)m->spread;
  return NumberAt(m, m->side, first + (size_t)(t % m->spread));
}

/* to [size] = 1 / sqrt(|det J|) at the points of a cell */
static void FindScales(const Estimate *e, int32_t cell, double to[])
{
  const VpMetricView *m = e->m;
  const double        one = m ? m->scale[cell] : 1 / sqrt(VpGeometryVolume(e->mesh->geometry, cell));

  for (int i = 0; i < e->size; i++) to[i] = m && m->factor ? one * NumberAt(m, m->factor, (size_t)cell * (size_t)e->size + (size_t)i) : one;
}

/* to += D from along direction d of the n^dim numbers of a cell */
static void AddDerivative(const Estimate *e, int d, const double from[], double to[])
{
  const int stride = VpLineStride(d, e->n, e->n * e->n);

  for (int line = 0; line < e->face; line++) {
    const int start = VpLineStart(e->n, stride, line);

    for (int q = 0; q < e->n; q++) {
      for (int i = 0; i < e->n; i++) to[start + q * stride] += e->t.slope[q * e->n + i] * from[start + i * stride];
    }
  }
}

/* to [face] = the values at an end of direction d of a function whose numbers at points, times roots of weights, are `from` */
static void ExtrapolateToSide(const Estimate *e, int side, const double from[], double to[])
{
  const int     stride = VpLineStride(side / 2, e->n, e->n * e->n);
  const double *end = e->t.end + 2 * (side % 2) * e->n;

  for (int line = 0; line < e->face; line++) {
    to[line] = 0;
    for (int i = 0; i < e->n; i++) to[line] += end[i] * from[VpLineStart(e->n, stride, line) + i * stride];
  }
}

/* flux [dim][size] = G grad u of a cell, times the roots of weights. z: u at the points, likewise */
static void FindFlux(const Estimate *e, int32_t cell, const double z[], double flux[])
{
  const PetscBool full = (PetscBool)(ComponentsOf(e) > e->dim);
  double          slope[CELL], entry[CELL];

  memset(flux, 0, (size_t)(e->dim * e->size) * sizeof(double));
  for (int j = 0; j < e->dim; j++) {
    memset(slope, 0, (size_t)e->size * sizeof(double));
    AddDerivative(e, j, z, slope);
    for (int d = 0; d < e->dim; d++) {
      if (d != j && !full) continue;
      FindEntries(e, cell, d, j, entry);
      for (int i = 0; i < e->size; i++) flux[d * e->size + i] += entry[i] * slope[i];
    }
  }
}

/* the norm of h/(k sqrt(a)) (f + div(K grad u) - c u). z: u at the points, times the roots of weights */
static double CellNorm(const Estimate *e, int32_t cell, const double z[], const double flux[])
{
  const double *f = e->f + (size_t)cell * (size_t)e->size, *mass = e->m ? e->m->mass : NULL;
  double        divergence[CELL] = {0}, r[CELL], scale[CELL], volume = 0, most = 0;

  for (int d = 0; d < e->dim; d++) {
    double mean = 0;

    FindEntries(e, cell, d, d, r);
    for (int i = 0; i < e->size; i++) mean += PetscSqr(e->root[i]) * r[i];
    most = PetscMax(most, mean);
    if (!e->exact->a) AddDerivative(e, d, flux + d * e->size, divergence);
  }
  FindScales(e, cell, scale);
  for (int i = 0; i < e->size; i++) {
    const double c = mass ? mass[(size_t)cell * (size_t)e->size + (size_t)i] * scale[i] * scale[i] : e->m ? 0 : e->problem->reaction;

    volume += PetscSqr(e->root[i] / scale[i]);
    r[i] = (e->root[i] * f[i] - c * z[i]) / scale[i] + scale[i] * divergence[i];
  }
  return sqrt(volume / most) / (e->n - 1) * VpNorm(e->size, r);
}

/* Sets the norm of a cell, and what neighbours need of its sides. */
static void WorkOnCell(const Estimate *e, int32_t cell)
{
  double z[CELL], flux[3 * CELL];

  for (int i = 0; i < e->size; i++) z[i] = e->root[i] * e->u[(size_t)cell * (size_t)e->size + (size_t)i];
  FindFlux(e, cell, z, flux);
  e->eta[cell] = hypot(e->exact->a ? e->eta[cell] : 0, CellNorm(e, cell, z, flux));
  for (int side = 0; side < 2 * e->dim; side++) {
    const double factor =
      (side % 2 ? 1 : -1) * (e->exact->a ? TraceOf(e, cell, side) / VpProblemCoefficient(e->problem, cell, side / 2) : 1);
    const double entry = e->m ? 0 : EntryOfBox(e, cell, side / 2, VpProblemCoefficient(e->problem, cell, side / 2));
    double      *to = SideOf(e, cell, side);

    ExtrapolateToSide(e, side, z, to);
    ExtrapolateToSide(e, side, flux + side / 2 * e->size, to + e->face);
    for (int t = 0; t < e->face; t++) {
      to[e->face + t] *= factor;
      to[2 * e->face + t] = e->m ? WeighedAt(e, cell, side, t) : entry;
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

/* G_dd of the face of two boxes, from theirs: the harmonic mean of their coefficients by the smaller width, times the area of the face.
   cell, side: of the first one */
static double EntryOfBoxes(const Estimate *e, const int32_t cell[2], int side, double own, double other)
{
  const VpGeometry g = e->mesh->geometry;
  const double     h[2] = {VpGeometrySize(g, cell[0], side / 2), VpGeometrySize(g, cell[1], side / 2)};
  const double     area[2] = {VpGeometryArea(g, cell[0], side), VpGeometryArea(g, cell[1], side)};

  return VpHarmonicMean(own * h[0] / area[0], other * h[1] / area[1]) / PetscMin(h[0], h[1]) * PetscMin(area[0], area[1]);
}

static double FaceNorm(const Estimate *e, int32_t cell, int side, int32_t next)
{
  const int     turn = VpMeshTurn(e->mesh, cell, side);
  const double *own = SideOf(e, cell, side), *other = SideOf(e, next, VpTurnSide(side, turn));
  const double  boxes = e->m ? 0 : EntryOfBoxes(e, (int32_t[]){cell, next}, side, own[2 * e->face], other[2 * e->face]);
  double        G[FACE], flux[FACE], jump[FACE];

  for (int t = 0; t < e->face; t++) {
    const int there = VpTurnPoint(e->n, turn, t);

    jump[t] = own[t] - other[there];
    flux[t] = own[e->face + t] + other[e->face + there];
    G[t] = e->m ? PetscMax(own[2 * e->face + t], other[2 * e->face + there]) : boxes;
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
    const double *A = e->t.half + (half >> bit & 1) * n * n, *in = bit ? between : from;

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
  const int32_t cell[2] = {fine ? hang->cell[0] : hang->cell[1 + half], hang->cell[fine]};
  const double *own = SideOf(e, cell[0], fine ? hang->side : there), *other = SideOf(e, cell[1], fine ? there : hang->side);
  const double  boxes = e->m ? 0 : EntryOfBoxes(e, cell, hang->side, own[2 * e->face], other[2 * e->face]);
  const double *H = e->m ? e->m->part + (size_t)part * (size_t)((VpMetricRows(e->dim, e->m->components) + 1) * e->face) : NULL;
  double        G[FACE], flux[FACE], jump[FACE];

  TakeHalf(e, half, other, jump);
  TakeHalf(e, half, other + e->face, flux);
  for (int k = 0; k < e->face; k++) { /* t: a point of the coarse side, p: the same of the fine one */
    const int turned = VpTurnPoint(e->n, hang->turn, k), t = fine ? turned : k, p = fine ? k : turned;

    jump[t] -= own[p];
    flux[t] = flux[t] / (1 << (e->dim - 1)) + own[e->face + p];
    G[t] = H ? PetscMax(own[2 * e->face + p], H[t]) : boxes;
  }
  return SideNorm(e, G, flux, jump) / PETSC_SQRT2;
}

static double HangingNorm(const Estimate *e, int32_t cell, int side)
{
  const int32_t at = VpFaceAt(e->mesh->faces.n, e->mesh->faces.face, cell, side);
  const int32_t first = e->m ? e->m->first[at] : 0;
  const VpFace *hang = &e->mesh->faces.face[at];
  double        norm = 0;

  if (hang->kind == VP_FACE_FINE) return PartNorm(e, hang, hang->half, first);
  for (int i = 0; i < 1 << (e->dim - 1); i++) norm = hypot(norm, PartNorm(e, hang, i, first + i));
  return norm;
}

/* points [face][dim] and outward normals [face][dim] of a side */
static void FindPoints(const Estimate *e, int32_t cell, int side, double points[], double normal[])
{
  const double  end = side % 2, unit[3] = {1, 1, 1};
  const int     dim = e->dim, d = side / 2;
  int           count[3] = {1, 1, 1};
  double        J[9 * FACE];
  const double *x[3] = {e->gauss, e->gauss, e->gauss};

  for (int j = 0; j < dim; j++) count[j] = j == d ? 1 : e->n;
  x[d] = &end;
  VpGeometryEvaluate(e->mesh->geometry, cell, count, x, points, J);
  for (int t = 0; t < e->face; t++) VpMapOnSide(dim, side, unit, J + t * dim * dim, &(VpPlaceNumbers){.normal = normal + t * dim});
}

/* numbers at the points of a boundary side: row d of G, n.K n times the element of area, and memory for both of a box */
typedef struct {
  const double *G, *area;
  double        box[2][FACE];
} Boundary;

/* place: number of the side among those of this number and kind of data */
static void FindBoundary(const Estimate *e, int32_t cell, int side, VpGivenKind kind, int32_t place, Boundary *b)
{
  const VpMetric metric = e->problem->metric;
  const size_t   first = (size_t)place * (size_t)e->face;

  b->G = e->m ? metric->outflow[kind][side] + (size_t)VpMetricRows(e->dim, e->m->components) * first : b->box[0];
  b->area = e->m ? metric->flux[side] + first : b->box[1];
  for (int t = 0; t < e->face && !e->m; t++) {
    b->box[0][t] = EntryOfBox(e, cell, side / 2, TraceOf(e, cell, side));
    b->box[1][t] = TraceOf(e, cell, side) * VpGeometryArea(e->mesh->geometry, cell, side);
  }
}

/* the norm on a boundary side. place: as of FindBoundary() */
static PetscErrorCode BoundaryNorm(const Estimate *e, int32_t cell, int side, int32_t place, double *norm)
{
  const VpDomain    domain = e->mesh->geometry->domain;
  const int32_t     beyond = e->mesh->neighbor[(size_t)cell * 2 * (size_t)e->dim + (size_t)side];
  const VpGivenKind kind = VpConditions[VpDomainSide(domain, beyond)].given;
  const double     *own = SideOf(e, cell, side);
  double            points[3 * FACE], normal[3 * FACE], r[FACE];
  Boundary          b;

  PetscFunctionBegin;
  FindBoundary(e, cell, side, kind, place, &b);
  FindPoints(e, cell, side, points, normal);
  for (int t = 0; t < e->face; t++) {
    const double root = e->t.weight[t % e->n] * (e->dim == 3 ? e->t.weight[t / e->n] : 1);
    PetscScalar  g = 0;

    if (kind == VP_GIVEN_VALUE) {
      if (e->given->dirichlet) PetscCall(e->given->dirichlet(e->dim, points + t * e->dim, &g, e->given->ctx));
      r[t] = own[t] - root * PetscRealPart(g);
    } else {
      if (e->given->flux) PetscCall(e->given->flux(e->dim, points + t * e->dim, normal + t * e->dim, &g, e->given->ctx));
      r[t] = own[e->face + t] + b.area[t] * (VpDomainAlpha(domain, beyond) * own[t] - root * PetscRealPart(g));
    }
  }
  *norm = kind == VP_GIVEN_VALUE ? SideNorm(e, b.G, NULL, r) : SideNorm(e, b.G, r, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddSides(const Estimate *e)
{
  int32_t places[VP_GIVEN_KINDS][6] = {{0}};

  PetscFunctionBegin;
  for (int32_t cell = 0; cell < e->mesh->nown; cell++) {
    for (int side = 0; side < 2 * e->dim; side++) {
      const int32_t next = e->mesh->neighbor[(size_t)cell * 2 * (size_t)e->dim + (size_t)side];
      double        norm = 0;

      if (next >= 0) norm = FaceNorm(e, cell, side, next);
      else if (next == VP_HANGING) norm = HangingNorm(e, cell, side);
      else PetscCall(BoundaryNorm(e, cell, side, places[VpConditions[VpDomainSide(e->mesh->geometry->domain, next)].given][side]++, &norm));
      e->eta[cell] = hypot(e->eta[cell], norm);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGEstimateResiduals(DM dm, Vec u, Vec f, const VpPointCoefficient *exact, const VpGivenSides *given, PetscReal eta[])
{
  Estimate e = {.mesh = DMVPatchDGData(dm)->mesh, .problem = &DMVPatchDGData(dm)->op->problem, .exact = exact, .given = given, .eta = eta};
  double   weight[VP_MAX_N];
  VpBasis  basis;
  VpLevel  level;
  size_t   each;

  PetscFunctionBegin;
  PetscCall(VpBasisCreate(VP_BASIS_GAUSS, e.problem->degree, &basis));
  VpMetricBasisFill(&basis, &e.t);
  if (e.problem->metric) {
    PetscCall(DMVPatchDGGetHostLevel(dm, &level));
    e.m = &level->view.metric;
  }
  e.dim = e.mesh->dim;
  e.n = basis.n;
  e.face = VpFaceSize(e.n, e.dim);
  e.size = e.n * e.face;
  each = (size_t)(6 * e.dim * e.face);
  VpGauss(e.n, e.gauss, weight);
  for (int i = 0; i < e.size; i++) e.root[i] = VpPointWeight(e.dim, e.n, e.t.weight, i);
  PetscCall(PetscMalloc1((size_t)e.mesh->nface * each + 1, &e.sides));
  PetscCall(VecGetArrayRead(u, &e.u));
  PetscCall(VecGetArrayRead(f, &e.f));
  VP_LOOP (cell, e.mesh->nown) WorkOnCell(&e, cell);
  PetscCall(VpMeshExchange(e.mesh, VP_GHOST_FACE, each, MPI_DOUBLE, e.sides, e.sides + (size_t)e.mesh->nown * each));
  PetscCall(VpTogether(e.mesh->comm, AddSides(&e)));
  PetscCall(VecRestoreArrayRead(f, &e.f));
  PetscCall(VecRestoreArrayRead(u, &e.u));
  PetscCall(PetscFree(e.sides));
  PetscFunctionReturn(PETSC_SUCCESS);
}
