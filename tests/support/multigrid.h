/* Common code of tests of the algorithm: problems on grids of boxes, vectors of a level, and functionals that do not depend on the
   ranks. */
#pragma once
#include "backend.h"
#include "../../src/cycle/cycle.h"
#include "../../src/collective.h"

typedef enum {
  COEFFICIENT_ONE,
  COEFFICIENT_UNIFORM,
  COEFFICIENT_SEPARABLE,
  COEFFICIENT_CHECKERBOARD,
  COEFFICIENT_LAYERS,
  COEFFICIENT_OCTAVES,
  COEFFICIENT_WAVES
} CoefficientKind;

typedef struct {
  const char     *name;
  int             dim, degree, level, grid[3]; /* number of boxes per side of the unit cube */
  PetscBool       lshape;                      /* the last box is left out */
  int             boundary;                    /* VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN, VP_SIDE_ROBIN, or 0: periodic */
  CoefficientKind coefficient;
  double          reaction;
} Setting;

static inline PetscErrorCode MakeMesh(MPI_Comm comm, const Setting *s, VpMesh *mesh)
{
  VpBoundary boundary[6];
  PetscBool  periodic[3];
  PetscReal  lower[3 * 64], upper[3 * 64];
  int        nbox = 0;
  VpDomain   domain;

  PetscFunctionBeginUser;
  for (int side = 0; side < 6; side++) boundary[side] = (VpBoundary){(VpSide)s->boundary, s->boundary == VP_SIDE_ROBIN ? 3 : 0};
  for (int d = 0; d < 3; d++) periodic[d] = (PetscBool)(!s->boundary);
  for (int z = 0; z < (s->dim == 3 ? s->grid[2] : 1); z++) {
    for (int y = 0; y < s->grid[1]; y++) {
      for (int x = 0; x < s->grid[0]; x++, nbox++) {
        const int at[3] = {x, y, z};

        for (int d = 0; d < s->dim; d++) {
          lower[nbox * s->dim + d] = (PetscReal)at[d] / s->grid[d];
          upper[nbox * s->dim + d] = (PetscReal)(at[d] + 1) / s->grid[d];
        }
      }
    }
  }
  PetscCall(VpDomainCreate(comm, &(VpBoxes){s->dim, s->lshape ? nbox - 1 : nbox, lower, upper, boundary, periodic}, &domain));
  PetscCall(VpMeshCreate(comm, domain, s->level, mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The steps of layers are inside the coarsest cells. */
static PetscReal CoefficientAt(CoefficientKind kind, int dim, const PetscReal lower[], const PetscReal size[])
{
  PetscReal a = 1, wave = 1;
  int       sum = 0;

  if (kind == COEFFICIENT_UNIFORM) return 0.3;
  for (int d = 0; d < dim; d++) {
    const PetscReal center = lower[d] + size[d] / 2;
    const int       half = center > 0.5;

    wave *= sin(2 * PETSC_PI * center);
    sum += (int)(2 * lower[d] + 1e-9);
    if (kind == COEFFICIENT_SEPARABLE && half) a *= PetscPowReal(2, (d == 1 ? -5 : 3 + d) / 4.);
  }
  if (kind == COEFFICIENT_WAVES) a = exp(3 * wave);
  if (kind == COEFFICIENT_CHECKERBOARD) a = sum % 2 ? 1000 : 1;
  if (kind == COEFFICIENT_LAYERS) a = lower[0] + size[0] / 2 > 0.5 ? 1 : 1000;
  if (kind == COEFFICIENT_OCTAVES) a = lower[0] + size[0] / 2 > 0.5 ? 8 : 1;
  return a;
}

/* FreeProblem() frees the problem. */
static inline PetscErrorCode MakeProblem(const Setting *s, VpMesh mesh, VpProblem *problem)
{
  PetscReal *a;

  PetscFunctionBeginUser;
  *problem = (VpProblem){.degree = s->degree, .penalty = 1, .reaction = s->reaction};
  if (s->coefficient == COEFFICIENT_ONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(mesh->nown + 1, &a)); /* not NULL on ranks without cells */
  for (int32_t c = 0; c < mesh->nown; c++) {
    PetscReal lower[3], size[3];

    VpGeometryBounds(mesh->geometry, c, lower, size);
    a[c] = CoefficientAt(s->coefficient, s->dim, lower, size);
  }
  problem->coefficient = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FreeProblem(VpProblem *problem)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(problem->coefficient));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mesh, outer operator and problem of a setting */
typedef struct {
  VpMesh    mesh;
  VpProblem problem;
  VpLevel   outer, host; /* on the tested backend and on the host */
  int       ndof;        /* number of values per cell */
} World;

static inline PetscErrorCode WorldCreate(MPI_Comm comm, const Setting *s, World *w)
{
  PetscFunctionBeginUser;
  w->ndof = (int)PetscPowInt(s->degree + 1, s->dim);
  PetscCall(MakeMesh(comm, s, &w->mesh));
  PetscCall(MakeProblem(s, w->mesh, &w->problem));
  PetscCall(VpLevelCreateOuter(w->mesh, &w->problem, TestBackend(), &w->outer));
  PetscCall(VpLevelCreateOuter(w->mesh, &w->problem, &VpBackendHost, &w->host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode WorldDestroy(World *w)
{
  PetscFunctionBeginUser;
  PetscCall(VpLevelDestroy(&w->outer));
  PetscCall(VpLevelDestroy(&w->host));
  PetscCall(FreeProblem(&w->problem));
  PetscCall(VpMeshDestroy(&w->mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a zero vector with memory for all kinds of ghosts */
static inline PetscErrorCode VectorCreate(VpLevel level, double **v)
{
  const size_t bytes = PetscMax(level->mesh->nlocal, level->view.nlocal) * level->block;

  return VpTogether(level->mesh->comm, level->backend->alloc(bytes, "test", (void **)v));
}

static inline PetscErrorCode VectorDestroy(VpLevel level, double **v)
{
  return level->backend->release(*v);
}

static inline size_t OwnSize(VpLevel level)
{
  return level->mesh->nown * level->block / level->real;
}

/* Updates the ghosts of a kind from their owners. */
static inline PetscErrorCode Exchange(VpLevel level, VpGhostKind kind, double v[])
{
  VpGhosts ghosts;

  PetscFunctionBeginUser;
  PetscCall(VpGhostExchangeBegin(&level->exchange, kind, v, (char *)v + level->mesh->nown * level->block, &ghosts));
  PetscCall(VpArrive(ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies own values in double precision to the host, freed with PetscFree(), and from there to a vector. */
static inline double *Get(VpLevel level, const double v[])
{
  const size_t bytes = OwnSize(level) * sizeof(double);
  double      *host;

  PetscCallAbort(PETSC_COMM_SELF, PetscMalloc(bytes, &host));
  PetscCallAbort(PETSC_COMM_SELF, level->backend->download(v, bytes, host));
  return host;
}

static inline void Put(VpLevel level, const double host[], double v[])
{
  PetscCallAbort(PETSC_COMM_SELF, level->backend->upload(host, OwnSize(level) * sizeof(double), v));
}

/* numbers in [-1,1] that depend only on the cell's global position, the index in the cell and the seed */
static inline void Fill(VpLevel level, int seed, double v[])
{
  const uint64_t first = level->mesh->first * (level->block / level->real);
  double        *host = Get(level, v);

  for (size_t i = 0; i < OwnSize(level); i++) {
    uint64_t h = ((first + i) * 1000003u + (uint64_t)seed) * 0x9E3779B97F4A7C15u;

    h = (h ^ h >> 31) * 0xBF58476D1CE4E5B9u;
    host[i] = (double)((h ^ h >> 29) >> 11) / (double)(1ull << 52) - 1;
  }
  Put(level, host, v);
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(host));
}

/* the function 1 */
static inline PetscErrorCode FillOnes(World *w, double v[])
{
  double *host;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(OwnSize(w->host), &host));
  VpConstant(w->host, host);
  Put(w->outer, host, v);
  PetscCall(PetscFree(host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline double Dot(VpLevel level, const double a[], const double b[])
{
  double *ha = Get(level, a), *hb = Get(level, b), sum = 0;

  for (size_t i = 0; i < OwnSize(level); i++) sum += ha[i] * hb[i];
  PetscCallAbort(level->mesh->comm, MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, level->mesh->comm));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(ha));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(hb));
  return sum;
}

static inline double Distance(VpLevel level, const double a[], const double b[])
{
  double *ha = Get(level, a), *hb = Get(level, b), largest = 0;

  for (size_t i = 0; i < OwnSize(level); i++) largest = PetscMax(largest, fabs(ha[i] - hb[i]));
  PetscCallAbort(level->mesh->comm, MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, level->mesh->comm));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(ha));
  PetscCallAbort(PETSC_COMM_SELF, PetscFree(hb));
  return largest;
}

/* y = A x, or y = b - A x, on own cells */
static inline PetscErrorCode Apply(VpLevel level, double x[], const double b[], double y[])
{
  PetscFunctionBeginUser;
  PetscCall(Exchange(level, level->reads, x));
  PetscCall(level->ops->apply(&level->view, 0, level->view.nown, x, VpGhostsAt((char *)x + level->view.nown * level->block), b, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += M (b - A x) until |b - A x| is below 1e-8 |b|, at most 100 times. nu = -8 / log10 of the mean factor. x: outer vector */
static inline PetscErrorCode Refinement(World *w, VpCycle cycle, const double b[], double x[], double *nu, double *final)
{
  double    first = 0, last = 0;
  VpVector  r;
  PetscReal norm2;
  int       n = 0;

  PetscFunctionBeginUser;
  for (;; n++) {
    PetscCall(Exchange(w->outer, w->outer->reads, x));
    PetscCall(VpCycleBegin(cycle, 0, &r));
    PetscCall(VpVectorEnterResidual(
      r, &(VpOuterResidual){.outer = w->outer, .scale = 1, .x = x, .f = b, .ghosts = VpGhostsAt(x + (size_t)w->mesh->nown * w->ndof)},
      &norm2));
    last = sqrt(norm2);
    if (!n) first = last;
    if (last <= 1e-8 * first || n == 100 || last > 1e10 * first || last != last) break;
    PetscCall(VpCycleSolve(cycle, 0, PETSC_FALSE, PETSC_TRUE, 1, x));
  }
  *nu = -8 / (log10(last / first) / n);
  *final = last / first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static const Setting settings[] = {
  {"square", 2, 3, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
  {"boxes", 2, 2, 2, {3, 2, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 5},
  {"lshape", 2, 4, 2, {2, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 0},
  {"torus", 2, 3, 2, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 0},
  {"small torus", 2, 3, 1, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 0},
  {"neumann square", 2, 5, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0},
  {"checkerboard", 2, 3, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_CHECKERBOARD, 1},
  {"layers", 2, 1, 3, {2, 1, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_LAYERS, 0},
  {"cube", 3, 2, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
  {"fichera", 3, 1, 1, {2, 2, 2}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_SEPARABLE, 0},
  {"torus in 3D", 3, 3, 1, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 2},
};
#define FOR_SETTINGS(s) for (const Setting *s = settings; s < settings + PETSC_STATIC_ARRAY_LENGTH(settings); s++)
