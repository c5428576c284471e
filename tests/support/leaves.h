/* Randomly refined meshes, and all their cells on every rank. */
#pragma once
#include "problem.h"

typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGDomain   domain;
  VPatchDGBoundary boundary[6];
  PetscReal        reaction, penalty;
  PetscBool        coefficient;
} Case;

#define D VPATCHDG_BOUNDARY_DIRICHLET
#define N VPATCHDG_BOUNDARY_NEUMANN
#define P VPATCHDG_BOUNDARY_PERIODIC

/* a number in [0,1) that depends on the cell and the seed, not on the ranks */
static inline PetscReal Lot(const PetscReal lower[], const PetscReal upper[], int dim, int seed)
{
  PetscReal x = seed;

  for (int d = 0; d < dim; d++) x += (12.9898 + 65.233 * d) * lower[d] + (31.7 + 7.1 * d) * upper[d];
  x = PetscSinReal(x) * 43758.5453;
  return x - PetscFloorReal(x);
}

/* Refines about the fraction `part` of the cells of *dm. */
static inline PetscErrorCode RefineSome(DM *dm, PetscReal part, int seed)
{
  PetscInt     n, dim;
  PetscReal    lower[3], upper[3];
  DMAdaptFlag *mark;
  DM           refined;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n, &mark));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(*dm, c, lower, upper));
    mark[c] = Lot(lower, upper, (int)dim, seed) < part ? DM_ADAPT_REFINE : DM_ADAPT_KEEP;
  }
  PetscCall(DMVPatchDGRefineCells(*dm, mark, &refined));
  PetscCall(PetscFree(mark));
  PetscCall(DMDestroy(dm));
  *dm = refined;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a DM by options, with the functions that `functions` sets, and refines about a quarter of its cells twice. It is on the host,
   since GPUs have no kernels for metrics where sides hang. */
static inline PetscErrorCode CreateAdaptive(const char options[], PetscErrorCode (*functions)(DM), DM *dm)
{
  PetscOptions own;
  PetscInt     dim;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetFromOptions(*dm));
  if (functions) PetscCall(functions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  for (int i = 0; i < 2; i++) PetscCall(RefineSome(dm, dim == 2 ? 0.25 : 0.2, i));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscReal Coefficient(const PetscReal lower[], const PetscReal upper[], PetscReal dim)
{
  return PetscExpReal(4 * Lot(lower, upper, (int)dim, 5));
}

/* Creates boxes of different widths, refined three times at random. */
static inline PetscErrorCode CaseCreate(const Case *c, DM *dm)
{
  const PetscReal face[4] = {0, 0.5, 1.5, 2};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  if (c->domain == VPATCHDG_DOMAIN_BOX) PetscCall(DMVPatchDGSetGrid(*dm, 0, c->dim == 2 ? 3 : 2, face));
  PetscCall(DMVPatchDGSetBoundary(*dm, c->boundary));
  PetscCall(DMVPatchDGSetReaction(*dm, c->reaction));
  PetscCall(DMVPatchDGSetPenalty(*dm, c->penalty));
  PetscCall(DMSetUp(*dm));
  if (c->coefficient) PetscCall(SetCoefficient(*dm, Coefficient, (PetscReal)c->dim));
  for (int i = 0; i < 2; i++) PetscCall(RefineSome(dm, c->dim == 2 ? 0.25 : 0.2, i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all cells of a DM on every rank */
typedef struct {
  int        dim, n;
  PetscInt   ncell;
  PetscReal *lower, *upper, *a; /* [ncell][dim], [ncell] */
  VpBasis    basis;
} Cells;

static inline PetscErrorCode CellsCreate(DM dm, Cells *all)
{
  PetscInt         n, dim, degree;
  PetscMPIInt      size, mine, *count, *start;
  const PetscReal *a;
  PetscReal       *own, *got;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetDegree(dm, &degree));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(DMVPatchDGGetCoefficient(dm, &a));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscMalloc3(7 * n, &own, size, &count, size + 1, &start));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, own + 7 * c, own + 7 * c + 3));
    own[7 * c + 6] = a ? a[c] : 1;
  }
  mine = (PetscMPIInt)(7 * n);
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, count, 1, MPI_INT, PETSC_COMM_WORLD));
  start[0] = 0;
  for (int r = 0; r < size; r++) start[r + 1] = start[r] + count[r];
  *all = (Cells){.dim = (int)dim, .n = (int)degree + 1, .ncell = start[size] / 7};
  PetscCall(VpBasisCreate(VP_BASIS_ORTHONORMAL, (int)degree, &all->basis));
  PetscCall(PetscMalloc1(start[size], &got));
  PetscCallMPI(MPI_Allgatherv(own, mine, MPIU_REAL, got, count, start, MPIU_REAL, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc3(dim * all->ncell, &all->lower, dim * all->ncell, &all->upper, all->ncell, &all->a));
  for (PetscInt c = 0; c < all->ncell; c++) {
    for (int d = 0; d < dim; d++) {
      all->lower[dim * c + d] = got[7 * c + d];
      all->upper[dim * c + d] = got[7 * c + 3 + d];
    }
    all->a[c] = got[7 * c + 6];
  }
  PetscCall(PetscFree(got));
  PetscCall(PetscFree3(own, count, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CellsDestroy(Cells *all)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(all->lower, all->upper, all->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
