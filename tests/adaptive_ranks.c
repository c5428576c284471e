/* Multigrid on meshes of cells of different levels: several ranks against one. */
/* ranks: 2 3 5 8 */
#include "support/leaves.h"

/* how a mesh is made, and the cycle on it */
typedef struct {
  const char      *name;
  VPatchDGDomain   domain;
  PetscInt         dim, degree, refine, times; /* times: refined at random */
  PetscReal        part;
  VPatchDGBoundary side;
  PetscReal        reaction;
  PetscInt         corners;
  PetscBool        symmetric, varies;
} Mesh;

#define LSHAPE  VPATCHDG_DOMAIN_LSHAPE
#define FICHERA VPATCHDG_DOMAIN_FICHERA
#define BOX     VPATCHDG_DOMAIN_BOX
static const Mesh meshes[] = {{"L-shape", LSHAPE, 2, 2, 1, 4, 0.3, D, 0, 0, PETSC_FALSE, PETSC_FALSE},
                              {"L-shape, refined much", LSHAPE, 2, 3, 1, 5, 0.5, D, 0, 2, PETSC_FALSE, PETSC_FALSE},
                              {"square that ends nowhere", BOX, 2, 1, 2, 3, 0.2, P, 1, 0, PETSC_FALSE, PETSC_FALSE},
                              {"square of four cells, one refined often", BOX, 2, 4, 1, 7, 0, N, 1, 0, PETSC_FALSE, PETSC_FALSE},
                              {"square of seven cells", BOX, 2, 2, 1, 1, 0, D, 0, 0, PETSC_FALSE, PETSC_FALSE},
                              {"Fichera's corner", FICHERA, 3, 1, 1, 2, 0.15, D, 0, 1, PETSC_FALSE, PETSC_FALSE},
                              {"cube with islands", BOX, 3, 2, 1, 2, 0.1, N, 1, 0, PETSC_FALSE, PETSC_FALSE},
                              {"L-shape, symmetric", LSHAPE, 2, 3, 1, 3, 0.3, D, 0, 0, PETSC_TRUE, PETSC_FALSE},
                              {"Fichera's corner, symmetric", FICHERA, 3, 2, 1, 2, 0.1, D, 0, 1, PETSC_TRUE, PETSC_FALSE},
                              {"L-shape, coefficient", LSHAPE, 2, 3, 1, 4, 0.3, D, 0, 0, PETSC_FALSE, PETSC_TRUE},
                              {"cube, coefficient, symmetric", BOX, 3, 2, 1, 2, 0.1, N, 1, 0, PETSC_TRUE, PETSC_TRUE}};

static PetscErrorCode MeshCreate(MPI_Comm comm, const Mesh *m, DM *dm)
{
  const VPatchDGBoundary boundary[6] = {m->side, m->side, m->side, m->side, m->side, m->side};
  const PetscReal        near[3] = {0.01, 0.02, 0.03};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(comm, m->dim, m->degree, m->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, m->domain));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetReaction(*dm, m->reaction));
  if (m->part == 0) PetscCall(DMVPatchDGSetLocalRefinement(*dm, m->times, near, NULL));
  PetscCall(DMSetUp(*dm));
  for (int i = 0; i < m->times && m->part > 0; i++) PetscCall(RefineSome(dm, m->part / (1 + i), i));
  if (m->varies) PetscCall(SetCoefficient(*dm, Coefficient, (PetscReal)m->dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values that are the same on any number of ranks */
static PetscErrorCode SetValues(Vec b)
{
  PetscScalar *value;
  PetscInt     first, last;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(b, &first, &last));
  PetscCall(VecGetArray(b, &value));
  for (PetscInt i = first; i < last; i++) value[i - first] = PetscSinReal((PetscReal)(i % 1009) * (PetscReal)(i % 13));
  PetscCall(VecRestoreArray(b, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CyclePC(KSP ksp, const Mesh *m, const char exchange[], PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(TestPC(ksp, pc));
  PetscCall(PCVPatchDGSetPrecision(*pc, VPATCHDG_PRECISION_DOUBLE));
  PetscCall(SetByOption(*pc, "-pc_vpatchdg_exchange", exchange));
  PetscCall(SetByOption(*pc, "-pc_vpatchdg_handover_ratio", "1e99")); /* whose KSP has a tolerance */
  PetscCall(PCVPatchDGSetLevels(*pc, 0));                             /* not as many as cost least on a GPU, which ranks change */
  PetscCall(SetCorners(*pc, m->corners));
  PetscCall(PCVPatchDGSetSymmetric(*pc, m->symmetric));
  if (m->symmetric) PetscCall(PCVPatchDGSetSmooth(*pc, 1, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = M b for a b that is the same on any number of ranks; all of y on every rank */
static PetscErrorCode Apply(MPI_Comm comm, const Mesh *m, Vec *y)
{
  VecScatter scatter;
  Problem    p;
  PC         pc;
  DM         dm;

  PetscFunctionBeginUser;
  PetscCall(MeshCreate(comm, m, &dm));
  PetscCall(ProblemOf(dm, "ranks_", &p));
  PetscCall(CyclePC(p.ksp, m, "color", &pc));
  PetscCall(SetValues(p.b));
  PetscCall(PCSetUp(pc));
  PetscCall(PCApply(pc, p.b, p.x));
  PetscCall(VecScatterCreateToAll(p.x, &scatter, y));
  PetscCall(VecScatterBegin(scatter, p.x, *y, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, p.x, *y, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode cycle_is_that_of_one_rank(const Mesh *m)
{
  PetscReal difference;
  PetscInt  n;
  Vec       y, one;

  PetscFunctionBeginUser;
  PetscCall(Apply(PETSC_COMM_WORLD, m, &y));
  PetscCall(Apply(PETSC_COMM_SELF, m, &one));
  PetscCall(Difference(y, one, &difference));
  PetscCall(VecGetSize(y, &n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &difference, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(difference < 1e-12), "cycle_is_that_of_one_rank, %s, %d unknowns: %g", m->name, (int)n, (double)difference);
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* -8 / log10 of the residual's factor an iteration */
static PetscErrorCode Rate(MPI_Comm comm, const Mesh *m, const char exchange[], PetscReal *nu)
{
  PetscReal history[102];
  PetscInt  n;
  Problem   p;
  PC        pc;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(MeshCreate(comm, m, &dm));
  PetscCall(ProblemOf(dm, "rate_", &p));
  PetscCall(SetValues(p.b));
  PetscCall(KSPSetType(p.ksp, KSPFGMRES));
  PetscCall(CyclePC(p.ksp, m, exchange, &pc));
  PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
  *nu = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fewer_exchanges_cost_few_iterations(const Mesh *m)
{
  PetscReal nu[3];

  PetscFunctionBeginUser;
  PetscCall(Rate(PETSC_COMM_SELF, m, "auto", &nu[0]));
  PetscCall(Rate(PETSC_COMM_WORLD, m, "auto", &nu[1]));
  PetscCall(Rate(PETSC_COMM_WORLD, m, "sweep", &nu[2]));
  TapOk((PetscBool)(nu[1] < nu[0] + 0.3 && nu[2] < nu[0] + 0.5), "fewer_exchanges_cost_few_iterations, %s: %.2f, %.2f, on one rank %.2f",
        m->name, (double)nu[1], (double)nu[2], (double)nu[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(meshes); i++) PetscCall(cycle_is_that_of_one_rank(&meshes[i]));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(meshes); i++) PetscCall(fewer_exchanges_cost_few_iterations(&meshes[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
