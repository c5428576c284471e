/* The exact inverse where A = D_x + D_y + D_z separates on the whole mesh: the boxes form a grid, the coefficient is
   constant, the boundary has one condition by normal, and every rank with cells has them all. Fast diagonalisation
   (Lynch, Rice, Thomas 1964) of whole grid lines: D_d = V_d lambda_d V_d^T in the orthonormal basis, so A^-1 = V
   (lambda_x + lambda_y + lambda_z)^-1 V^T with V = V_z V_y V_x. A singular A gets its pseudo-inverse. */
#include "internal.h"

typedef struct {
  VpLevel     level;
  VpArrays    arrays;
  VpSeparable s; /* extent 0 on ranks without cells */
} Separable;

/* slot[box] = how many classes of boxes are below along d; how many there are */
static PetscErrorCode Enumerate(VpDomain domain, int d, PetscReal lower[], int32_t slot[], int32_t *count)
{
  const int32_t *class;
  PetscReal size = PETSC_MAX_REAL;
  PetscInt  at;

  PetscFunctionBegin;
  PetscCall(VpDomainGetClasses(domain, d, &class));
  *count = 0;
  for (int32_t b = 0; b < domain->nbox; b++) {
    if (class[b] != b) continue;
    lower[(*count)++] = domain->lower[3 * (size_t)b + d];
    size = PetscMin(size, VpDomainWidth(domain, b, d));
  }
  PetscCall(PetscSortReal(*count, lower));
  for (int32_t b = 0; b < domain->nbox; b++) {
    PetscCall(PetscFindReal(domain->lower[3 * (size_t) class[b] + d], *count, lower, size / 4, &at));
    slot[b] = (int32_t)at;
  }
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
  for (int d = 0; d < domain->dim; d++) PetscCall(Enumerate(domain, d, lower, slot + (size_t)d * n, &grid[d]));
  PetscCall(PetscFree(lower));
  PetscCall(FillsGrid(domain, slot, grid, &fills));
  if (!fills) grid[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* start[slot] = the cells on a line before the slot's, start[grid] all of them. Requires: grid <= VP_LONGEST_LINE */
static void CountCells(VpLattice L, int d, const int32_t slot[], int32_t grid, int32_t start[])
{
  for (int32_t b = 0; b < L->domain->nbox; b++) start[slot[b] + 1] = 1 << VpShapeOf(L, b)->bits[d];
  start[0] = 0;
  for (int32_t i = 0; i < grid; i++) start[i + 1] += start[i];
}

/* The cells on a line in every direction, and how many of them are before those of a slot. extent[0] = 0 where the boxes form no grid, the
   boundary has more than one condition by normal, or lines have more than VP_LONGEST_LINE values. slot [3][nbox] */
static PetscErrorCode FindExtent(VpLattice L, int n, int32_t slot[], int32_t start[3][VP_LONGEST_LINE + 1], int32_t extent[3])
{
  const int32_t most = VP_LONGEST_LINE / n;

  PetscFunctionBegin;
  extent[0] = 0;
  if (L->ncell > PetscPowInt64(most, L->domain->dim) || !VpDomainIsByNormal(L->domain)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindGrid(L->domain, slot, extent));
  for (int d = 0; d < L->domain->dim && extent[0]; d++) {
    const int32_t slots = extent[d];

    if (slots <= most) {
      CountCells(L, d, slot + (size_t)d * L->domain->nbox, slots, start[d]);
      extent[d] = start[d][slots];
    }
    if (extent[d] > most) extent[0] = 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSeparableExtent(VpLattice L, int n, int32_t extent[3])
{
  int32_t *slot, start[3][VP_LONGEST_LINE + 1];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3 * (size_t)L->domain->nbox, &slot));
  PetscCall(FindExtent(L, n, slot, start, extent));
  PetscCall(PetscFree(slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cell[extent] of the lattice, NULL where there is none */
static PetscErrorCode FindLattice(VpMesh mesh, int n, int32_t extent[3], int32_t **cell)
{
  const int32_t nbox = mesh->domain->nbox;
  int32_t      *slot, start[3][VP_LONGEST_LINE + 1];

  PetscFunctionBegin;
  *cell = NULL;
  PetscCall(PetscMalloc1(3 * (size_t)nbox, &slot));
  PetscCall(FindExtent(mesh->lattice, n, slot, start, extent));
  if (extent[0]) {
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
static PetscErrorCode LineMatrix(VpLevel host, const int32_t extent[3], const int32_t cell[], int d, double L[])
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
      double *row = L + (size_t)(p * n + i) * m;

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

/* to = leave^T V and from = V^T enter^T for one direction, a cell at a time. V [mode][value] */
static PetscErrorCode PlaceTransforms(Separable *s, int d, const double V[])
{
  const VpBasis *basis = &s->level->basis;
  const int      n = basis->n, m = s->s.extent[d] * n;
  double         enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N], *to, *from;
  VpBasis        outer;

  PetscFunctionBegin;
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, basis->degree, &outer));
  PetscCall(VpBasisChange(&outer, basis, enter));
  PetscCall(VpBasisChange(basis, &outer, leave));
  PetscCall(PetscCalloc2((size_t)m * m, &to, (size_t)m * m, &from));
  for (int q = 0; q < m; q++) {
    for (int p = 0; p < m; p++) {
      const int first = p / n * n, i = p % n;

      for (int k = 0; k < n; k++) {
        to[(size_t)p * m + q] += V[(size_t)q * m + first + k] * leave[k * n + i];
        from[(size_t)q * m + p] += enter[i * n + k] * V[(size_t)q * m + first + k];
      }
    }
  }
  PetscCall(VpArraysPlaceReals(&s->arrays, to, (size_t)m * m, "coarse inverse", &s->s.to[d]));
  PetscCall(VpArraysPlaceReals(&s->arrays, from, (size_t)m * m, "coarse inverse", &s->s.from[d]));
  PetscCall(PetscFree2(to, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Do constants have the eigenvalue 0 along d? Rounding would hide a small reaction, or that there is none. */
static PetscBool LeavesConstants(VpDomain domain, int d)
{
  return (PetscBool)(domain->periodic[d] ||
                     (domain->boundary[2 * d].kind == VP_SIDE_NEUMANN && domain->boundary[2 * d + 1].kind == VP_SIDE_NEUMANN));
}

/* transforms and eigenvalues of direction d, from L, which is lost */
static PetscErrorCode Diagonalize(Separable *s, int d, double L[], double lambda[])
{
  const VpLevel level = s->level;
  const int     m = s->s.extent[d] * level->basis.n;
  double       *V, *room;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)m * m, &V, 3 * m, &room));
  VpDiagonalize(m, L, V, lambda, room);
  if (LeavesConstants(level->mesh->domain, d)) VpZeroLeast(m, lambda);
  PetscCall(PlaceTransforms(s, d, V));
  PetscCall(PetscFree2(V, room));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first direction whose lines are as long and have the same matrix: `to` itself, if no other */
static int SameAs(const Separable *s, int to, double *const L[])
{
  const size_t m = (size_t)s->s.extent[to] * s->level->basis.n;

  for (int d = 0; d < to; d++) {
    size_t i = 0;

    if (s->s.extent[d] != s->s.extent[to]) continue;
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
  double       *L[3], lambda[3][VP_LONGEST_LINE];
  int           same[3];

  PetscFunctionBegin;
  PetscCall(VpArraysPlace(&s->arrays, cell, (size_t)level->mesh->ncell * sizeof(*cell), "coarse inverse", (const void **)&s->s.cell));
  for (int d = 0; d < dim; d++) {
    PetscCall(PetscMalloc1(PetscSqr((size_t)s->s.extent[d] * level->basis.n), &L[d]));
    PetscCall(LineMatrix(host, s->s.extent, cell, d, L[d]));
    same[d] = SameAs(s, d, L);
  }
  for (int d = 0; d < dim; d++) {
    const int m = s->s.extent[d] * level->basis.n;

    if (same[d] == d) PetscCall(Diagonalize(s, d, L[d], lambda[d]));
    else {
      s->s.to[d] = s->s.to[same[d]];
      s->s.from[d] = s->s.from[same[d]];
      PetscCall(PetscArraycpy(lambda[d], lambda[same[d]], m));
    }
  }
  for (int d = 0; d < dim; d++) {
    const int m = s->s.extent[d] * level->basis.n;

    for (int i = 0; d == dim - 1 && i < m; i++) lambda[d][i] += VpLevelReaction(level);
    PetscCall(VpArraysPlaceReals(&s->arrays, lambda[d], m, "coarse inverse", &s->s.eigenvalue[d]));
    PetscCall(PetscFree(L[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(void *data)
{
  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&((Separable *)data)->arrays));
  PetscCall(PetscFree(data));
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
  separates = VpLevelIsUniform(level) && (!mesh->nown || mesh->nsweep == mesh->ncell);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &separates, 1, MPI_INT, MPI_LAND, mesh->comm));
  if (!separates) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&s));
  s->level = level;
  s->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCall(FindLattice(mesh, level->basis.n, s->s.extent, &cell)); /* the same everywhere */
  if (cell) {
    problem.reaction = 0;
    PetscCall(VpLevelCreate(mesh, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &host));
    PetscCall(VpTogether(mesh->comm, mesh->nown ? Fill(s, host, cell) : PETSC_SUCCESS));
    PetscCall(VpLevelDestroy(&host));
    *data = s;
  } else PetscCall(Destroy(s));
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n > 1: own cells are all cells */
static PetscErrorCode SolveSome(const Separable *s, int32_t n, VpVector b, VpVector x)
{
  const VpLevel level = s->level;
  const void   *from;
  double        lines = 0;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_SWEEP, &from));
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, NULL));
  if (!level->mesh->nown) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < level->mesh->dim; d++) lines += s->s.extent[d] * level->basis.n;
  PetscCall(level->ops->invert(&level->view, &s->s, n, from, x->buffer));
  PetscCall(VpLogFlops(level, 4. * n * lines * (double)level->mesh->ncell * (double)(level->block / level->real)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(void *data, VpVector b, VpVector x)
{
  return SolveSome((const Separable *)data, 1, b, x);
}

static PetscErrorCode SolveColumns(void *data, int32_t n, VpVector b, VpVector x, PetscBool *did)
{
  const Separable *s = (const Separable *)data;

  PetscFunctionBegin;
  *did = (PetscBool)(VpMeshRanks(s->level->mesh) == 1);
  if (*did) PetscCall(SolveSome(s, n, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(void *data, PetscViewer viewer)
{
  return PetscViewerASCIIPrintf(viewer, "inverted exactly, by fast diagonalisation\n");
}

const VpCoarseOps VpCoarseSeparable = {.create = Create, .solve = Solve, .solve_columns = SolveColumns, .view = View, .destroy = Destroy};
