/* The exact inverse where A = D_x + D_y + D_z separates on the whole mesh: the boxes form a grid, the coefficient is constant, the boundary
   has one condition by normal, and every rank with cells has them all. Fast diagonalisation (Lynch, Rice, Thomas 1964) of whole grid lines: D_d = V_d lambda_d V_d^T in the
   orthonormal basis, so A^-1 = V (lambda_x + lambda_y + lambda_z)^-1 V^T with V = V_z V_y V_x. A singular A gets its pseudo-inverse. */
#include "internal.h"

#define LONGEST 128 /* numbers on a line */

typedef struct {
  VpLevel        level;
  int32_t        extent[3];   /* the lattice of cells; 0 on ranks without */
  const int32_t *cell;        /* [extent 0 1 2] x fastest: the local cell; this and the following on the backend */
  const void    *F[3], *B[3]; /* [m][m], m = extent n: V^T from the level's basis, V to it */
  const void    *inverse;     /* [cells][n^dim] of modes: 1 / (lambda_x + lambda_y + lambda_z) */
} Separable;

/* numbers the different values of x[i], which are apart by more than eps; how many there are */
static PetscErrorCode Enumerate(PetscInt n, const PetscReal x[], PetscReal eps, int32_t number[], int32_t *count)
{
  PetscReal *sorted;
  PetscInt   at;

  PetscFunctionBegin;
  *count = 0;
  PetscCall(PetscMalloc1(n, &sorted));
  PetscCall(PetscArraycpy(sorted, x, n));
  PetscCall(PetscSortReal(n, sorted));
  for (PetscInt i = 0; i < n; i++) {
    if (!i || sorted[i] > sorted[*count - 1] + eps) sorted[(*count)++] = sorted[i];
  }
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(PetscFindReal(x[i], *count, sorted, eps, &at));
    number[i] = (int32_t)at;
  }
  PetscCall(PetscFree(sorted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline int32_t NumberOf(const int32_t slot[], const int32_t grid[3], int32_t nbox, int32_t box) /* x fastest */
{
  return slot[box] + grid[0] * (slot[nbox + box] + grid[1] * slot[2 * (size_t)nbox + box]);
}

/* Has every slot a box, and beyond it the box of the next slot? */
static PetscErrorCode FillsGrid(VpDomain domain, const int32_t slot[], const int32_t grid[3], PetscBool *fills)
{
  const int32_t n = domain->nbox;
  int32_t      *at; /* the box in a slot */

  PetscFunctionBegin;
  *fills = (int64_t)grid[0] * grid[1] * grid[2] == n;
  if (!*fills) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(n, &at));
  for (int32_t i = 0; i < n; i++) at[i] = -1;
  for (int32_t b = 0; b < n; b++) at[NumberOf(slot, grid, n, b)] = b;
  for (int32_t b = 0; b < n; b++) {
    const int32_t i = NumberOf(slot, grid, n, b);

    if (at[i] != b) *fills = PETSC_FALSE;
    for (int d = 0, step = 1; d < domain->dim && *fills; step *= grid[d++]) {
      const int32_t p = slot[(size_t)d * n + b], beyond = domain->beyond[(size_t)b * 2 * domain->dim + 2 * d + 1];

      *fills = p + 1 == grid[d] ? beyond < 0 || beyond == at[i - p * step] : beyond == at[i + step];
    }
    if (!*fills) break;
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the boxes are in a grid: slot [3][nbox], grid[3]; grid[0] = 0 where they form none */
static PetscErrorCode FindGrid(VpDomain domain, int32_t slot[], int32_t grid[3])
{
  const int32_t n = domain->nbox;
  PetscReal    *lower;
  PetscBool     fills;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &lower));
  grid[2] = 1;
  PetscCall(PetscArrayzero(slot, 3 * (size_t)n));
  for (int d = 0; d < domain->dim; d++) {
    PetscReal size = PETSC_MAX_REAL;

    for (int32_t b = 0; b < n; b++) {
      lower[b] = domain->lower[3 * (size_t)b + d];
      size = PetscMin(size, domain->upper[3 * (size_t)b + d] - lower[b]);
    }
    PetscCall(Enumerate(n, lower, size / 4, slot + (size_t)d * n, &grid[d]));
  }
  PetscCall(PetscFree(lower));
  PetscCall(FillsGrid(domain, slot, grid, &fills));
  if (!fills) grid[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[slot] = the cells on a line before the slot's, start[grid] all of them. Requires: grid <= LONGEST */
static void CountCells(VpLattice L, int d, const int32_t slot[], int32_t grid, int32_t start[])
{
  for (int32_t b = 0; b < L->domain->nbox; b++) start[slot[b] + 1] = 1 << VpShapeOf(L, b)->bits[d];
  start[0] = 0;
  for (int32_t i = 0; i < grid; i++) start[i + 1] += start[i];
}

/* cell[extent] of the lattice, NULL where the domain is no grid or lines are too long */
static PetscErrorCode FindLattice(VpMesh mesh, int n, int32_t extent[3], int32_t **cell)
{
  const int32_t nbox = mesh->domain->nbox, most = LONGEST / n; /* cells on a line */
  int32_t      *slot, longest = 0, start[3][LONGEST + 1];

  PetscFunctionBegin;
  *cell = NULL;
  if (mesh->ncell > PetscPowInt64(most, mesh->dim)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(3 * (size_t)nbox, &slot));
  PetscCall(FindGrid(mesh->domain, slot, extent));
  for (int d = 0; d < mesh->dim && extent[0] && longest <= most; d++) {
    longest = PetscMax(longest, extent[d]);
    if (longest > most) break;
    CountCells(mesh->lattice, d, slot + (size_t)d * nbox, extent[d], start[d]);
    extent[d] = start[d][extent[d]];
    longest = PetscMax(longest, extent[d]);
  }
  if (extent[0] && longest <= most) {
    PetscCall(PetscMalloc1(mesh->ncell, cell));
    for (int32_t i = 0; i < mesh->nsweep; i++) {
      int64_t at = 0;

      for (int d = mesh->dim - 1; d >= 0; d--)
        at = at * extent[d] + start[d][slot[(size_t)d * nbox + mesh->box[i]]] + mesh->coord[3 * (size_t)i + d];
      (*cell)[at] = i;
    }
  }
  PetscCall(PetscFree(slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* D_d on a grid line, of the host's orthonormal level: L [m][m] */
static PetscErrorCode LineMatrix(VpLevel host, const int32_t extent[3], const int32_t cell[], int d, long double L[])
{
  const VpView *v = &host->view;
  const int     n = v->n, m = extent[d] * n, step = d ? extent[0] * (d == 2 ? extent[1] : 1) : 1;
  const double *traces = (const double *)v->traces;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(L, (size_t)m * m));
  for (int p = 0; p < extent[d]; p++) {
    const int32_t c = cell[p * step];
    const double *D = VpLevelLine(host, c, d), *g = D + n * n;

    for (int i = 0; i < n; i++) {
      long double *row = L + (size_t)(p * n + i) * m;

      for (int j = 0; j < n; j++) row[p * n + j] += D[i * n + j];
      for (int s = 0; s < 2; s++) {
        const int q = (p + (s ? 1 : extent[d] - 1)) % extent[d], end = 1 - s;

        if (v->neighbor[(size_t)c * 2 * v->dim + 2 * d + s] < 0) continue;
        for (int t = 0; t < v->nt; t++)
          row[q * n + v->first[end] + t] +=
            g[2 * s * n + i] * traces[2 * end * v->nt + t] + g[(2 * s + 1) * n + i] * traces[(2 * end + 1) * v->nt + t];
      }
    }
  }
  for (int i = 0; i < m; i++) /* rounding apart, it is symmetric */
    for (int j = 0; j < i; j++) L[(size_t)i * m + j] = L[(size_t)j * m + i] = (L[(size_t)i * m + j] + L[(size_t)j * m + i]) / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F = V^T leave, B = enter V for one direction, a cell at a time */
static PetscErrorCode PlaceTransforms(Separable *s, int d, const long double V[])
{
  const VpBasis *basis = &s->level->basis;
  const int      n = basis->n, m = s->extent[d] * n;
  double         enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N], *F, *B;
  VpBasis        outer;

  PetscFunctionBegin;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, basis->degree, &outer));
  PetscCall(VpBasisChange(&outer, basis, enter));
  PetscCall(VpBasisChange(basis, &outer, leave));
  PetscCall(PetscCalloc2((size_t)m * m, &F, (size_t)m * m, &B));
  for (int q = 0; q < m; q++) {
    for (int p = 0; p < m; p++) {
      const int first = p / n * n, i = p % n;

      for (int k = 0; k < n; k++) {
        F[(size_t)q * m + p] += (double)(V[(size_t)q * m + first + k] * leave[k * n + i]);
        B[(size_t)p * m + q] += (double)(enter[i * n + k] * V[(size_t)q * m + first + k]);
      }
    }
  }
  PetscCall(VpArraysPlaceReals(&s->level->arrays, F, (size_t)m * m, "coarse inverse", &s->F[d]));
  PetscCall(VpArraysPlaceReals(&s->level->arrays, B, (size_t)m * m, "coarse inverse", &s->B[d]));
  PetscCall(PetscFree2(F, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 1 / (c + the sum of eigenvalues), or 0 where that is 0 */
static PetscErrorCode PlaceInverse(Separable *s, const int32_t cell[], double lambda[][LONGEST])
{
  const int    n = s->level->basis.n, dim = s->level->mesh->dim;
  const size_t block = s->level->block / s->level->real, count = (size_t)s->level->mesh->ncell * block;
  double      *inverse;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(count, &inverse));
  for (size_t t = 0; t < count; t++) {
    size_t at = t / block, k = t % block;
    double sum = VpLevelReaction(s->level);

    for (int d = 0; d < dim; d++) {
      sum += lambda[d][(int)(at % (size_t)s->extent[d]) * n + (int)(k % (size_t)n)];
      at /= (size_t)s->extent[d];
      k /= (size_t)n;
    }
    inverse[(size_t)cell[t / block] * block + t % block] = sum == 0 ? 0 : 1 / sum;
  }
  PetscCall(VpArraysPlaceReals(&s->level->arrays, inverse, count, "coarse inverse", &s->inverse));
  PetscCall(PetscFree(inverse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do constants have the eigenvalue 0 along d? Rounding would hide a small reaction, or that there is none. */
static PetscBool LeavesConstants(VpDomain domain, int d)
{
  return (PetscBool)(domain->periodic[d] ||
                     (domain->boundary[2 * d].kind == VP_SIDE_NEUMANN && domain->boundary[2 * d + 1].kind == VP_SIDE_NEUMANN));
}

/* F, B and lambda of direction d, from L, which is lost */
static PetscErrorCode Diagonalize(Separable *s, int d, long double L[], double lambda[])
{
  const int    m = s->extent[d] * s->level->basis.n;
  long double *V;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)m * m, &V));
  for (int i = 0; i < m; i++) V[(size_t)i * m + i] = 1;
  VpJacobi(m, m, m, L, V);
  for (int i = 0; i < m; i++) lambda[i] = (double)L[(size_t)i * m + i];
  if (LeavesConstants(s->level->mesh->domain, d)) VpZeroLeast(m, lambda);
  PetscCall(PlaceTransforms(s, d, V));
  PetscCall(PetscFree(V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first direction whose lines are as long and have the same matrix: `to` itself, if no other */
static int SameAs(const Separable *s, int to, long double *const L[])
{
  const size_t m = (size_t)s->extent[to] * s->level->basis.n;

  for (int d = 0; d < to; d++) {
    size_t i = 0;

    if (s->extent[d] != s->extent[to]) continue;
    while (i < m * m && L[d][i] == L[to][i]) i++;
    if (i == m * m) return d;
  }
  return to;
}

/* host: the same level there, orthonormal, double, without reaction */
static PetscErrorCode Fill(Separable *s, VpLevel host, const int32_t cell[])
{
  const VpLevel level = s->level;
  const int     dim = level->mesh->dim;
  int           same[3];
  double        lambda[3][LONGEST];
  long double  *L[3];

  PetscFunctionBegin;
  PetscCall(VpArraysPlace(&level->arrays, cell, (size_t)level->mesh->ncell * sizeof(*cell), "coarse inverse", (const void **)&s->cell));
  for (int d = 0; d < dim; d++) {
    PetscCall(PetscMalloc1(PetscSqr((size_t)s->extent[d] * level->basis.n), &L[d]));
    PetscCall(LineMatrix(host, s->extent, cell, d, L[d]));
    same[d] = SameAs(s, d, L);
  }
  for (int d = 0; d < dim; d++) {
    if (same[d] == d) PetscCall(Diagonalize(s, d, L[d], lambda[d]));
    else {
      s->F[d] = s->F[same[d]];
      s->B[d] = s->B[same[d]];
      PetscCall(PetscArraycpy(lambda[d], lambda[same[d]], s->extent[d] * level->basis.n));
    }
    PetscCall(PetscFree(L[d]));
  }
  PetscCall(PlaceInverse(s, cell, lambda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpMesh mesh = level->mesh;
  VpProblem    problem = level->problem;
  Separable   *s;
  VpLevel      host;
  int32_t     *cell;
  int          separates;

  PetscFunctionBegin;
  separates = level->uniform > 0 && VpDomainIsByNormal(mesh->domain) && (!mesh->nown || mesh->nsweep == mesh->ncell);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &separates, 1, MPI_INT, MPI_LAND, mesh->comm));
  if (!separates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&s));
  s->level = level;
  PetscCall(FindLattice(mesh, level->basis.n, s->extent, &cell)); /* the same everywhere */
  if (cell) {
    problem.reaction = 0;
    PetscCall(VpLevelCreate(mesh, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &host));
    PetscCall(VpTogether(mesh->comm, mesh->nown ? Fill(s, host, cell) : PETSC_SUCCESS));
    PetscCall(VpLevelDestroy(&host));
    *data = s;
  } else PetscCall(PetscFree(s));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Along every direction forwards and back, between the two buffers of x: an even number of times. */
static PetscErrorCode Solve(void *data, VpVector b, VpVector x)
{
  const Separable *s = data;
  const VpLevel    level = s->level;
  const int        dim = level->mesh->dim;
  const void      *from;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_SWEEP, &from));
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, NULL));
  if (!level->mesh->nown) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2 * dim; i++) {
    const int   d = i < dim ? dim - 1 - i : i - dim;
    void       *to = x->buffer[(i + 1) % 2];
    const void *M = i < dim ? s->F[d] : s->B[d], *w = i == dim - 1 ? s->inverse : NULL;

    PetscCall(level->ops->along(&level->view, d, s->extent, s->cell, M, w, from, to));
    PetscCall(VpLogFlops(level, 2. * s->extent[d] * level->basis.n * (double)level->mesh->ncell * (double)(level->block / level->real)));
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(void *data, PetscViewer viewer)
{
  return PetscViewerASCIIPrintf(viewer, "inverted exactly, by fast diagonalisation\n");
}

static PetscErrorCode Destroy(void *data)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpCoarseOps VpCoarseSeparable = {.create = Create, .solve = Solve, .view = View, .destroy = Destroy};
