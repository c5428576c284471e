/* K = U^T B^-1 U of a notch (notchsides.c), from the modes of lines. A sum f at a line that crosses a side is a product of U along the
   side's direction and of values along the others. So are its modes, and an entry of K is

       sum_klm  (modes of one sum) (modes of the other one) / (lambda_x[k] + lambda_y[l] + lambda_z[m]).

   Two planes of sides have a tangential direction in common, a. Along the other ones, b and c, the sums over modes depend on one place of
   the row and one of the column only:

       normals alike, c                normals b and c
       b: V row's, V column's          b: row's V, column's U
       c: U of both                    c: row's U, column's V                */
#include "internal.h"

/* the sums of one entry */
typedef struct {
  int     d;        /* normal */
  int32_t n, *line; /* lines, [n][4] number of the sum f = 0, place along x, y, z */
  int32_t first[3], last[3];
  double *mode[2]; /* [f][m] modes of U */
} Plane;

static PetscErrorCode PlaneCreate(int n, int dim, const VpBoxGrid *grid, const VpLineModes *modes, const VpNotchSides *s, int32_t e,
                                  Plane *p)
{
  const int32_t *extent = grid->extent, side = s->plane[2 * e], at = s->plane[2 * e + 1], next = side % 2 ? at + 1 : at - 1;
  const int      d = side / 2, m = modes->m[d], lines = (int)PetscPowInt(n, dim - 1), o[2] = {d ? 0 : 1, d == 2 ? 1 : 2};

  PetscFunctionBegin;
  *p = (Plane){.d = d};
  PetscCall(PetscMalloc3((size_t)s->n * lines * 4, &p->line, m, &p->mode[0], m, &p->mode[1]));
  for (int f = 0; f < 2; f++) {
    const double *u = s->u + ((size_t)e * 2 + f) * 2 * n;

    for (int k = 0; k < m; k++) {
      const double *V = modes->V[d] + (size_t)k * m;

      p->mode[f][k] = 0;
      for (int i = 0; i < n; i++) p->mode[f][k] += V[at * n + i] * u[i] + V[next * n + i] * u[n + i];
    }
  }
  for (int32_t i = 0; i < s->n; i++) {
    if (s->side[(size_t)i * VP_NOTCH_SIDE + 2] / (2 * dim) != e) continue;
    for (int l = 0; l < lines; l++) {
      int32_t *to = p->line + 4 * (size_t)p->n++, place = s->place[i];

      to[0] = i * lines + l;
      for (int k = 0; k < 3; place /= extent[k++]) to[1 + k] = place % extent[k] * (k < dim ? n : 1);
      to[1 + o[0]] += l % n;
      if (dim == 3) to[1 + o[1]] += l / n;
      for (int k = 0; k < 3; k++) {
        p->first[k] = p->n == 1 ? to[1 + k] : PetscMin(p->first[k], to[1 + k]);
        p->last[k] = p->n == 1 ? to[1 + k] + 1 : PetscMax(p->last[k], to[1 + k] + 1);
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to [n][3]: number of sum f, place along a, place along another direction from its first one on */
static void List(const Plane *p, int f, int32_t half, int a, int other, int32_t to[])
{
  for (int32_t i = 0; i < p->n; i++) {
    const int32_t *line = p->line + 4 * (size_t)i;

    to[3 * i] = line[0] + f * half;
    to[3 * i + 1] = line[1 + a];
    to[3 * i + 2] = line[1 + other] - p->first[other];
  }
}

/* table[k][i] = by[k] V[k][first + i], or the one without the other */
static void Columns(int m, const double *by, const double *V, int32_t first, int32_t n, double table[])
{
  for (int k = 0; k < m; k++) {
    for (int32_t i = 0; i < n; i++) table[(size_t)k * n + i] = (by ? by[k] : 1) * (V ? V[(size_t)k * m + first + i] : 1);
  }
}

/* the entries of K in rows of sum f of plane r and columns of sum g of plane q */
static PetscErrorCode Block(const VpLineModes *modes, const VpBackend *backend, int32_t half, const Plane *r, int f, const Plane *q, int g,
                            double *K)
{
  const PetscBool alike = (PetscBool)(r->d == q->d);
  const int       c = r->d, a = alike ? (c ? 0 : 1) : 3 - r->d - q->d, b = 3 - a - c, *m = modes->m; /* the row's U is along c */
  const int       along_j = b, along_i = alike ? b : c;
  VpCouple        block = {.modes = {m[a], m[b], m[c]},
                           .a = m[a],
                           .j = r->last[along_j] - r->first[along_j],
                           .i = q->last[along_i] - q->first[along_i],
                           .lambda = {modes->lambda[a], modes->lambda[b], modes->lambda[c]},
                           .W = modes->V[a],
                           .rows = r->n,
                           .columns = q->n,
                           .size = 2 * half};
  double         *alpha, *beta, *gamma, *both;
  int32_t        *row, *column;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4((size_t)m[b] * block.j, &alpha, (size_t)m[c] * block.i, &beta, (size_t)m[b] * block.i, &gamma, m[c], &both));
  PetscCall(PetscMalloc2(3 * (size_t)r->n, &row, 3 * (size_t)q->n, &column));
  for (int k = 0; k < m[c]; k++) both[k] = r->mode[f][k] * (alike ? q->mode[g][k] : 1);
  Columns(m[b], alike ? NULL : q->mode[g], modes->V[b], r->first[along_j], block.j, alpha);
  Columns(m[c], both, alike ? NULL : modes->V[c], q->first[along_i], block.i, beta);
  Columns(m[b], NULL, alike ? modes->V[b] : NULL, q->first[along_i], block.i, gamma);
  List(r, f, half, a, along_j, row);
  List(q, g, half, a, along_i, column);
  block.alpha = alpha;
  block.beta = beta;
  block.gamma = gamma;
  block.row = row;
  block.column = column;
  PetscCall(backend->couple(&block, K));
  PetscCall(PetscFree4(alpha, beta, gamma, both));
  PetscCall(PetscFree2(row, column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNotchCouple(VpLevel level, const VpBoxGrid *grid, const VpLineModes *modes, const VpNotchSides *s, double *K)
{
  const int     n = level->basis.n, dim = level->mesh->dim;
  const int32_t half = s->n * (int32_t)PetscPowInt(n, dim - 1);
  Plane        *plane;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->entries, &plane));
  for (int32_t e = 0; e < s->entries; e++) PetscCall(PlaneCreate(n, dim, grid, modes, s, e, &plane[e]));
  for (int32_t i = 0; i < 4 * s->entries * s->entries; i++)
    PetscCall(Block(modes, level->backend, half, &plane[i / 4 / s->entries], i / 2 % 2, &plane[i / 4 % s->entries], i % 2, K));
  for (int32_t e = 0; e < s->entries; e++) PetscCall(PetscFree3(plane[e].line, plane[e].mode[0], plane[e].mode[1]));
  PetscCall(PetscFree(plane));
  PetscFunctionReturn(PETSC_SUCCESS);
}
