/* A randomly refined mesh, its levels, and a problem on each of them. */
#pragma once
#include "multigrid.h"
#include "../../src/cycle/cycle.h"

static const Setting refined[] = {{"2D Q1, periodic, reaction", 2, 1, 2, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 2},
                                  {"2D Q2", 2, 2, 1, {3, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                                  {"2D Q3, waves, reaction", 2, 3, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_ROBIN, COEFFICIENT_WAVES, 2},
                                  {"2D Q4, octaves", 2, 4, 1, {2, 2, 1}, PETSC_FALSE, 0, COEFFICIENT_OCTAVES, 0},
                                  {"2D Q5, Neumann", 2, 5, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_UNIFORM, 1},
                                  {"2D Q6, Neumann", 2, 6, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_UNIFORM, 1},
                                  {"2D Q8, Robin", 2, 8, 1, {3, 1, 1}, PETSC_FALSE, VP_SIDE_ROBIN, COEFFICIENT_ONE, 0},
                                  {"3D Q1", 3, 1, 1, {2, 2, 1}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                                  {"3D Q1, checkerboard", 3, 1, 1, {2, 2, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_CHECKERBOARD, 1},
                                  {"3D Q2, octaves", 3, 2, 1, {2, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_OCTAVES, 0},
                                  {"3D Q3, Neumann", 3, 3, 1, {1, 1, 2}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 3},
                                  {"3D Q4", 3, 4, 1, {2, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
                                  {"3D Q7", 3, 7, 1, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0}};

/* periodic with one cell on the coarsest level, which is its own neighbour */
static const Setting across[] = {{"2D Q3, a cell across", 2, 3, 0, {3, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 1},
                                 {"3D Q2, a cell across", 3, 2, 0, {3, 1, 2}, PETSC_FALSE, 0, COEFFICIENT_UNIFORM, 1}};

/* a number in [0, 1) that depends on a position and a seed */
static inline double Lot(const PetscReal lower[], int seed)
{
  const double x = 43758.5453 * sin(seed + 12.9898 * lower[0] + 78.233 * lower[1] + 37.719 * lower[2]);

  return x - floor(x);
}

/* a mesh refined three times at random, or once if boxes were single cells, with its levels */
typedef struct {
  VpMesh    leaves, mesh[16]; /* levels, the finest first */
  int       n;                /* number of levels */
  VpProblem problem;
  VpLevel   outer, level[16];
  int       ndof;

  const VpBackend *backend; /* backend of the levels */
  VpPrecision      precision;
} Refined;

/* *a: [nown] coefficient on a level, that of its leaves and the mean of other cells' children */
static inline PetscErrorCode LevelCoefficient(const Refined *r, int l, const PetscReal finer[], PetscReal **a)
{
  const VpMesh mesh = r->mesh[l];

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nown + 1, a)); /* not NULL on ranks without cells */
  if (l) PetscCall(VpCoarsenCoefficient(r->mesh[l - 1], &(VpMeans){.from = 1, .to = 1}, finer, *a, NULL));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (mesh->leaf[c] >= 0) (*a)[c] = r->problem.coefficient[mesh->leaf[c]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LevelsCreate(Refined *r)
{
  PetscReal *a[16] = {NULL};

  PetscFunctionBeginUser;
  for (r->n = 0; r->mesh[r->n]; r->n++) {
    if (r->problem.coefficient) PetscCall(LevelCoefficient(r, r->n, r->n ? a[r->n - 1] : NULL, &a[r->n]));
    r->mesh[r->n + 1] = VpMeshCoarser(r->mesh[r->n]);
  }
  for (int l = 0; l < r->n; l++) {
    VpProblem problem = r->problem;

    problem.coefficient = a[l];
    problem.coarser = a[l + 1];
    PetscCall(VpLevelCreate(r->mesh[l], &problem, VP_BASIS_THIN, r->precision, r->backend, &r->level[l]));
  }
  for (int l = 0; l < r->n; l++) PetscCall(PetscFree(a[l]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode RefinedCreate(const Setting *s, const VpBackend *backend, VpPrecision precision, Refined *r)
{
  PetscFunctionBeginUser;
  *r = (Refined){.ndof = (int)PetscPowInt(s->degree + 1, s->dim), .backend = backend, .precision = precision};
  PetscCall(MakeMesh(PETSC_COMM_WORLD, s, &r->leaves));
  for (int seed = 0; seed < (s->level ? 3 : 1); seed++) {
    VpMesh  next;
    int8_t *mark;

    PetscCall(PetscMalloc1(r->leaves->nown, &mark));
    for (int32_t c = 0; c < r->leaves->nown; c++) {
      PetscReal lower[3], size[3];

      VpGeometryBounds(r->leaves->geometry, c, lower, size);
      mark[c] = Lot(lower, seed) < (s->dim == 2 ? 0.3 : 0.15) || c == seed ? VP_MARK_REFINE : VP_MARK_KEEP;
    }
    PetscCall(VpMeshAdapt(r->leaves, mark, 0, NULL, &next, NULL));
    PetscCall(PetscFree(mark));
    PetscCall(VpMeshDestroy(&r->leaves));
    r->leaves = next;
  }
  PetscCall(MakeProblem(s, r->leaves, &r->problem));
  PetscCall(VpLevelCreateOuter(r->leaves, &r->problem, backend, &r->outer));
  PetscCall(VpMeshCreateLevels(r->leaves, &r->mesh[0]));
  PetscCall(LevelsCreate(r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode RefinedDestroy(Refined *r)
{
  PetscFunctionBeginUser;
  for (int l = 0; l < r->n; l++) PetscCall(VpLevelDestroy(&r->level[l]));
  PetscCall(VpLevelDestroy(&r->outer));
  PetscCall(FreeProblem(&r->problem));
  PetscCall(VpMeshDestroy(&r->mesh[0]));
  PetscCall(VpMeshDestroy(&r->leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}
