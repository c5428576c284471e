/* The exact inverse of A = D_x + D_y + D_z on a mesh that is a grid, by fast diagonalisation (Lynch, Rice, Thomas 1964) of whole grid
   lines: D_d = V_d lambda_d V_d^T in the orthonormal basis, so A^-1 = V (lambda_x + lambda_y + lambda_z)^-1 V^T with V = V_z V_y V_x. A
   singular A gets its pseudo-inverse. The boxes form a grid, the coefficient is constant, the boundary has one condition per normal, and
   every rank with cells has all of them. */
#include "internal.h"

typedef struct {
  VpLevel     level;
  VpArrays    arrays;
  VpSeparable s;
} Separable;

/* D_d on the lines of the grid, L [m][m], and its modes V [mode][value] with their eigenvalues lambda [m]. Those of the last direction
   contain the reaction. same: the first direction with the same L. In 2D, the third direction has m = V = 1 and lambda = 0. */
typedef struct {
  int     m[3], same[3];
  double *L[3], *V[3], *lambda[3];
} LineModes;

/* L [m][m] = D_d on a grid line */
static PetscErrorCode BuildLineMatrix(VpLevel host, const int32_t extent[3], const int32_t cell[], int d, double L[])
{
  const VpView *v = &host->view;
  const int     n = v->n, m = extent[d] * n, step = VpLineStride(d, extent[0], extent[0] * extent[1]);
  const double *traces = (const double *)v->traces;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(L, (size_t)m * m));
  for (int p = 0; p < extent[d]; p++) {
    const int32_t c = cell[p * step];
    const double *D = VpLevelLine(host, c, d), *g = D + VpLineSide(n, 0);

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
  for (int i = 0; i < m; i++) /* removes rounding errors: D_d is symmetric */
    for (int j = 0; j < i; j++) L[(size_t)i * m + j] = L[(size_t)j * m + i] = (L[(size_t)i * m + j] + L[(size_t)j * m + i]) / 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places to = leave^T V and from = V^T enter^T of one direction; enter and leave act on one cell at a time. V: [mode][value] */
static PetscErrorCode PlaceTransforms(VpLevel level, int d, const double V[], VpArrays *arrays, VpSeparable *s)
{
  const double *enter = level->enter, *leave = level->leave;
  const int     n = level->basis.n, m = s->extent[d] * n;
  double       *to, *from;

  PetscFunctionBegin;
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
  PetscCall(VpArraysPlaceReals(arrays, to, (size_t)m * m, "coarse inverse", &s->to[d]));
  PetscCall(VpArraysPlaceReals(arrays, from, (size_t)m * m, "coarse inverse", &s->from[d]));
  PetscCall(PetscFree2(to, from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the first direction whose lines have the same length and the same matrix as those along `to` */
static int FindSameDirection(const LineModes *modes, int to)
{
  const size_t all = PetscSqr((size_t)modes->m[to]);

  for (int d = 0; d < to; d++) {
    size_t i = 0;

    if (modes->m[d] != modes->m[to]) continue;
    while (i < all && modes->L[d][i] == modes->L[to][i]) i++;
    if (i == all) return d;
  }
  return to;
}

static PetscErrorCode DiagonalizeLines(VpDomain domain, int d, LineModes *modes)
{
  const int    m = modes->m[d], same = modes->same[d];
  const size_t all = PetscSqr((size_t)m);

  PetscFunctionBegin;
  if (same < d) {
    PetscCall(PetscArraycpy(modes->V[d], modes->V[same], all));
    PetscCall(PetscArraycpy(modes->lambda[d], modes->lambda[same], m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArraycpy(modes->V[d], modes->L[d], all));
  PetscCall(VpDiagonalize(m, modes->V[d], modes->lambda[d]));
  /* Rounding errors would hide a small reaction, or that there is none. */
  if (VpEndsLeaveConstants(domain->periodic[d] ? VP_SIDE_WRAP : domain->boundary[2 * d].kind, domain->boundary[2 * d + 1].kind))
    VpZeroLeast(m, modes->lambda[d]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LineModesCreate(VpLevel host, double reaction, const int32_t extent[3], const int32_t cell[], LineModes *modes)
{
  const int dim = host->mesh->dim;

  PetscFunctionBegin;
  *modes = (LineModes){.m = {1, 1, 1}};
  for (int d = 0; d < 3; d++) {
    if (d < dim) modes->m[d] = extent[d] * host->basis.n;
    PetscCall(PetscMalloc3(PetscSqr((size_t)modes->m[d]), &modes->L[d], PetscSqr((size_t)modes->m[d]), &modes->V[d], modes->m[d],
                           &modes->lambda[d]));
    modes->V[d][0] = 1;
    modes->L[d][0] = modes->lambda[d][0] = 0;
    if (d >= dim) continue;
    PetscCall(BuildLineMatrix(host, extent, cell, d, modes->L[d]));
    modes->same[d] = FindSameDirection(modes, d);
    PetscCall(DiagonalizeLines(host->mesh->geometry->domain, d, modes));
  }
  for (int i = 0; i < modes->m[dim - 1]; i++) modes->lambda[dim - 1][i] += reaction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LineModesDestroy(LineModes *modes)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(PetscFree3(modes->L[d], modes->V[d], modes->lambda[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills *s. Requires: its extent is set. */
static PetscErrorCode PlaceModes(VpLevel level, const LineModes *modes, const int32_t cell[], VpArrays *arrays, VpSeparable *s)
{
  const int dim = level->mesh->dim;

  PetscFunctionBegin;
  PetscCall(VpPlaceArray(arrays, cell, (size_t)level->mesh->ncell, "coarse inverse", &s->cell));
  for (int d = 0; d < dim; d++) {
    const int same = modes->same[d];

    if (same == d) PetscCall(PlaceTransforms(level, d, modes->V[d], arrays, s));
    s->to[d] = s->to[same];
    s->from[d] = s->from[same];
    PetscCall(VpArraysPlaceReals(arrays, modes->lambda[d], modes->m[d], "coarse inverse", &s->eigenvalue[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroySeparable(void *data)
{
  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&((Separable *)data)->arrays));
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* host: the level in double precision on the host, in the orthonormal basis and without reaction */
static PetscErrorCode PlaceInverse(Separable *s, VpLevel host, const int32_t cell[])
{
  LineModes modes;

  PetscFunctionBegin;
  PetscCall(LineModesCreate(host, VpLevelReaction(s->level), s->s.extent, cell, &modes));
  PetscCall(PlaceModes(s->level, &modes, cell, &s->arrays, &s->s));
  PetscCall(LineModesDestroy(&modes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSeparable(VpLevel level, const char prefix[], PetscObject parent, void **data)
{
  const VpMesh mesh = level->mesh;
  VpProblem    problem = level->problem;
  Separable   *s;
  VpLevel      host;
  int32_t      extent[3], *cell = NULL;
  int          whole; /* Every rank with cells has all of them. */

  PetscFunctionBegin;
  whole = !mesh->nown || mesh->nsweep == mesh->ncell;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &whole, 1, MPI_INT, MPI_LAND, mesh->comm));
  if (whole) PetscCall(VpBoxGridCells(mesh, level->basis.n, extent, &cell)); /* with the same result on all ranks */
  if (cell) {
    PetscCall(PetscNew(&s));
    s->level = level;
    s->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
    PetscCall(PetscArraycpy(s->s.extent, extent, 3));
    problem.reaction = 0;
    PetscCall(VpLevelCreate(mesh, &problem, VP_BASIS_ORTHONORMAL, VP_DOUBLE, &VpBackendHost, &host));
    PetscCall(VpTogether(mesh->comm, mesh->nown ? PlaceInverse(s, host, cell) : PETSC_SUCCESS));
    PetscCall(VpLevelDestroy(&host));
    *data = s;
  }
  PetscCall(PetscFree(cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveSeparable(void *data, int32_t n, VpVector b, VpVector x)
{
  const Separable *s = (const Separable *)data;
  const VpLevel    level = s->level;
  const void      *from;
  double           lines = 0;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(b, VP_GHOST_SWEEP, &from));
  PetscCall(VpVectorWrite(x, VP_GHOST_NONE, NULL));
  if (!level->mesh->nown) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < level->mesh->dim; d++) lines += s->s.extent[d] * level->basis.n;
  PetscCall(level->ops->solve_lines(&level->view, &s->s, n, from, VpVectorBuffers(x, NULL)));
  PetscCall(VpLogFlops(level->backend, 4. * n * lines * (double)level->mesh->ncell * (double)VpLevelValues(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewSeparable(void *data, PetscViewer viewer)
{
  return PetscViewerASCIIPrintf(viewer, "inverted exactly, by fast diagonalisation\n");
}

const VpCoarseOps VpCoarseSeparable = {
  .create = CreateSeparable, .solve = SolveSeparable, .columns = PETSC_TRUE, .view = ViewSeparable, .destroy = DestroySeparable};
