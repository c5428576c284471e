/* Small problems and their solvers, for tests of the PETSc interface. */
#pragma once
#include "backend.h"

typedef struct {
  DM  dm;
  Mat A;
  Vec b, x;
  KSP ksp;
} Problem;

/* Sets the coefficient of each cell from the cell's corners. */
static inline PetscErrorCode SetCoefficient(DM        dm, PetscReal (*value)(const PetscReal lower[], const PetscReal upper[], PetscReal),
                                            PetscReal parameter)
{
  PetscInt   n;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &a)); /* not NULL on ranks without cells */
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    a[i] = value(lower, upper, parameter);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a new KSP for the same system. */
static inline PetscErrorCode NewKSP(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&p->ksp));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)p->A), &p->ksp));
  PetscCall(KSPSetOperators(p->ksp, p->A, p->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the vectors and the KSP of p->A. */
static inline PetscErrorCode CompleteProblem(Problem *p)
{
  PetscFunctionBeginUser;
  p->ksp = NULL;
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscCall(NewKSP(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a problem from a DM that is set up, and takes over the DM: b is random, and the KSP has the prefix and has not read its
   options. */
static inline PetscErrorCode ProblemOf(DM dm, const char prefix[], Problem *p)
{
  PetscFunctionBeginUser;
  p->dm = dm;
  PetscCall(DMCreateMatrix(p->dm, &p->A));
  PetscCall(CompleteProblem(p));
  PetscCall(VecSetRandom(p->b, NULL));
  PetscCall(KSPSetOptionsPrefix(p->ksp, prefix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the unit square or cube, u = 0 on its boundary */
static inline PetscErrorCode ProblemCreate(MPI_Comm comm, PetscInt dim, PetscInt degree, PetscInt refine, const char prefix[], Problem *p)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(comm, dim, degree, refine, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, prefix, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ProblemDestroy(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&p->ksp));
  PetscCall(VecDestroy(&p->x));
  PetscCall(VecDestroy(&p->b));
  PetscCall(MatDestroy(&p->A));
  PetscCall(DMDestroy(&p->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| / |b| */
static inline PetscErrorCode TrueResidual(Mat A, Vec b, Vec x, PetscReal *relative)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |x - y| / |y| */
static inline PetscErrorCode Difference(Vec x, Vec y, PetscReal *relative)
{
  Vec       d;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, y, x));
  PetscCall(VecNorm(d, NORM_2, relative));
  PetscCall(VecNorm(y, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The KSP reads `options` in addition to the options database and solves if `solve` holds. The options are then removed. */
static inline PetscErrorCode ReadOptions(Problem *p, const char options[], PetscBool solve)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(KSPSetFromOptions(p->ksp));
  if (solve) PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode SolveWith(Problem *p, const char options[], PetscReal *residual, PetscInt *its, KSPConvergedReason *reason)
{
  PetscFunctionBeginUser;
  PetscCall(ReadOptions(p, options, PETSC_TRUE));
  if (residual) PetscCall(TrueResidual(p->A, p->b, p->x, residual));
  if (its) PetscCall(KSPGetIterationNumber(p->ksp, its));
  if (reason) PetscCall(KSPGetConvergedReason(p->ksp, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The KSP's PC gets its levels from the DM. The KSP does not get operator and right-hand side from it. */
static inline PetscErrorCode GiveLevels(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(KSPSetDM(p->ksp, p->dm));
#if PETSC_VERSION_LT(3, 25, 0)
  PetscCall(KSPSetDMActive(p->ksp, PETSC_FALSE));
#else
  PetscCall(KSPSetDMActive(p->ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *says, on every rank: the object's view, as the first rank prints it, contains the text */
static inline PetscErrorCode ViewSays(PetscObject object, const char text[], PetscBool *says)
{
  const MPI_Comm comm = PetscObjectComm(object);
  char           line[1024];
  int            found = 0;
  FILE          *file = tmpfile();
  PetscViewer    viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, file, &viewer));
  PetscCall(PetscObjectView(object, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  rewind(file);
  while (fgets(line, sizeof(line), file)) found = found || strstr(line, text);
  fclose(file);
  PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, comm));
  *says = (PetscBool)found;
  PetscFunctionReturn(PETSC_SUCCESS);
}
