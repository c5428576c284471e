/* Random views of levels for the tests of the kernels. */
#pragma once
#include "tap.h"
#include "../src/kernels/ops.h"
#include <math.h>

enum { CELLS = 180, OWN = 120, SWEPT = 165, ENTRIES = 5, PATCHES = 19, COARSE = 3, VIEWS = 2 * 2 * VP_MAX_DEGREE * 2 };

extern const VpBackend VpBackendHost;

/* a view in one precision, and its tables in double */
typedef struct {
  VpView       view;
  const VpOps *ops;
  VpPrecision  precision;
  int          N, corners;
  double      *lines, *traces, *fdm, *weight, *P, *R, *enter, *leave;
  double      *x[2], *b, *xc;             /* vectors */
  void        *vx[2], *vb, *vxc, *vy;     /* the same, and room, in the view's precision */
  void        *kept[64];
  int          nkept;
} Case;

static unsigned long long seed = 1;

static unsigned Random(unsigned below)
{
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(seed >> 33) % below;
}

static double Real(void) { return (double)Random(1 << 20) / (1 << 19) - 1; }

static void *Keep(Case *c, void *p)
{
  c->kept[c->nkept++] = p;
  return p;
}

static void *Room(Case *c, size_t count)
{
  void *p;

  PetscCallAbort(PETSC_COMM_SELF, VpBackendHost.alloc(count * (c->precision == VP_DOUBLE ? 8 : 4) + 1, "a test", &p));
  return Keep(c, p);
}

/* the view's copy of doubles; these are rounded, too */
static void *Place(Case *c, size_t count, double *from)
{
  void *p = Room(c, count);

  for (size_t i = 0; i < count; i++) {
    if (c->precision == VP_DOUBLE) ((double *)p)[i] = from[i];
    else from[i] = ((float *)p)[i] = (float)from[i];
  }
  return p;
}

static double Get(const Case *c, const void *p, size_t i) { return c->precision == VP_DOUBLE ? ((const double *)p)[i] : (double)((const float *)p)[i]; }

static double *Reals(Case *c, size_t count, double scale, void **placed)
{
  double *p = Keep(c, malloc(count * sizeof(double)));

  for (size_t i = 0; i < count; i++) p[i] = scale * Real();
  *placed = Place(c, count, p);
  return p;
}

static int32_t *Ints(Case *c, size_t count, unsigned below, int lowest)
{
  int32_t *p = Keep(c, malloc(count * sizeof(int32_t)));

  for (size_t i = 0; i < count; i++) p[i] = (int32_t)Random(below) + lowest;
  return p;
}

static void CaseCreate(Case *c, VpPrecision precision, int dim, int degree, int thin)
{
  VpView *v = &c->view;
  int     n = degree + 1, m = 2 * n, corners = 1 << dim;
  uint8_t *bytes;
  int32_t *cells;

  memset(c, 0, sizeof *c);
  c->precision = precision;
  c->ops       = VpBackendHost.ops(precision, dim, degree);
  c->corners   = corners;
  c->N         = dim == 3 ? n * n * n : n * n;
  v->dim       = dim;
  v->n         = n;
  v->nt        = n < 4 ? n : thin && n >= VP_THIN_FROM(dim) ? 2 : 4;
  v->first[1]  = n < VP_THIN_FROM(dim) || !thin ? 0 : n - 2;
  v->nown      = OWN;
  v->nsweep    = SWEPT;
  v->nhalo     = v->nlocal = CELLS;
  v->neighbor  = Ints(c, SWEPT * 2 * (size_t)dim, CELLS + 2, -2);
  v->line      = Ints(c, SWEPT * (size_t)dim, ENTRIES, 0);
  v->drop      = Ints(c, ENTRIES * 2, ENTRIES, 0);
  c->lines     = Reals(c, (size_t)(ENTRIES * (n * n + 4 * n)), 1. / n, (void **)&v->lines);
  c->traces    = Reals(c, (size_t)(4 * v->nt), 1, (void **)&v->traces);
  /* patches: disjoint sets of cells */
  v->patch = cells = Keep(c, malloc(PATCHES * (size_t)corners * sizeof(int32_t)));
  for (int i = 0; i < PATCHES * corners; i++) cells[i] = (i * 7 + 3) % SWEPT;
  v->type = cells = Ints(c, PATCHES * (size_t)dim, ENTRIES, 0);
  for (int d = 0; d < dim; d++) { /* in some directions all patches are alike, of mirrored type 0 or of type 2 */
    const int alike = (int)Random(3);
    for (int i = 0; i < PATCHES && alike; i++) cells[i * dim + d] = 2 * alike - 2;
  }
  c->fdm    = Keep(c, malloc((size_t)(ENTRIES * (2 * m * m + m)) * sizeof(double)));
  for (int e = 0; e < ENTRIES; e++) {
    for (int i = 0; i < 2 * m * m + m; i++) c->fdm[e * (2 * m * m + m) + i] = i < 2 * m * m ? 2 * Real() / m : 1.5 + Real();
    if (e % 2) c->fdm[e * (2 * m * m + m) + 2 * m * m + 1] = INFINITY;
  }
  for (int i = 0; i < n; i++) {
    const int mirror = n < 4 ? n + i : m - 1 - i, sign = Random(2) ? 1 : -1;
    for (int r = 0; r < m; r++) {
      c->fdm[r * m + mirror]         = (r % 2 ? -sign : sign) * c->fdm[r * m + i];
      c->fdm[m * m + mirror * m + r] = (r % 2 ? -sign : sign) * c->fdm[m * m + i * m + r];
    }
  }
  v->fdm      = Place(c, (size_t)(ENTRIES * (2 * m * m + m)), c->fdm);
  c->weight   = Reals(c, PATCHES, 0.5, (void **)&v->weight);
  v->reaction = 0.75;
  v->cutoff   = -1;
  v->cover = bytes = Keep(c, malloc(CELLS));
  for (int i = 0; i < CELLS; i++) bytes[i] = (uint8_t)Random(256);
  c->P      = Reals(c, (size_t)(2 * n * n), 2. / n, (void **)&v->P);
  c->R      = Reals(c, (size_t)(2 * n * n), 2. / n, (void **)&v->R);
  c->enter  = Reals(c, (size_t)(n * n), 2. / n, (void **)&v->enter);
  c->leave  = Reals(c, (size_t)(n * n), 2. / n, (void **)&v->leave);
  v->parent = Ints(c, CELLS, COARSE, 0);
  v->corner = bytes = Keep(c, malloc(CELLS));
  for (int i = 0; i < CELLS; i++) bytes[i] = (uint8_t)Random((unsigned)corners);
  v->child   = Ints(c, COARSE * (size_t)corners, SWEPT, 0);
  v->ncoarse = COARSE;
  for (int i = 0; i < 2; i++) c->x[i] = Reals(c, (size_t)(CELLS * c->N), 1, &c->vx[i]);
  c->b  = Reals(c, (size_t)(CELLS * c->N), 1, &c->vb);
  c->xc = Reals(c, (size_t)(COARSE * c->N), 1, &c->vxc);
  c->vy = Room(c, (size_t)(CELLS * c->N));
}

static void CaseDestroy(Case *c)
{
  while (c->nkept) free(c->kept[--c->nkept]);
}
