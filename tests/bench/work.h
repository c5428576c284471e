/* The problem that bench_gpu measures: -div a grad u = f in the unit cube or square, u = 0 on its boundary, and its preconditioner. */
#pragma once
#include "../../src/cycle/internal.h"
#include "report.h"

/* a problem, its preconditioner in one precision, and what is being measured */
typedef struct {
  Bench      *bench;
  int         degree;
  PetscInt    dofs;
  double      memory, setup[2]; /* bytes in use before; seconds of mesh and operator, of the preconditioner and all first times */
  DM          dm;
  Mat         A;
  Vec         b, x;
  Vec         boundary, gradients; /* numbers at points of Dirichlet sides, at points of cells */
  VpLevel     outer;
  VpPrecision precision;
  PC          pc;
  VpCycle     cycle;
  VpSmoother  smoother;
  KSP         ksp;
} Work;

static inline VecType VectorType(const Bench *bench)
{
  return bench->backend == &VpBackendHost ? VECSTANDARD : VECCUDA;
}

/* a = 1 + (sum of the coordinates of the cell's lower corner) / 2; or, where there are jumps, 1 and such a number in
   turn along x, in layers of three cells */
static inline PetscErrorCode SetCoefficient(DM dm, int dim, PetscReal jump)
{
  PetscInt   n;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    a[i] = 1;
    for (int d = 0; d < dim && !jump; d++) a[i] += lower[d] / 2;
    if (jump && (PetscInt)(lower[0] / (3 * (upper[0] - lower[0])) + 0.1) % 2) a[i] = jump;
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same in device memory (support/waves.cu); NULL without CUDA */
extern PetscErrorCode WavesOnDevice(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
  __attribute__((weak));

/* 1 + 0.9 sin 4 pi x sin 4 pi y .. */
static inline PetscErrorCode Waves(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    PetscReal product = 0.9;

    for (PetscInt d = 0; d < dim; d++) product *= PetscSinReal(4 * PETSC_PI * x[i * dim + d]);
    a[i] = 1 + product;
  }
  return PETSC_SUCCESS;
}

/* a full matrix I + v v^T whose direction turns, or its first entry. *ctx: numbers of a point */
static inline PetscErrorCode TurningMatrix(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[],
                                           void *ctx)
{
  const int points = *(int *)ctx;

  for (PetscInt i = 0; i < n; i++, x += dim) {
    const PetscReal v[3] = {PetscCosReal(3 * x[0]), PetscSinReal(3 * x[0]), dim == 3 ? x[2] : 0};

    if (points == 1) *a++ = 1 + v[0] * v[0];
    for (PetscInt d = 0; d < dim && points > 1; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = (d == e) + v[d] * v[e];
    }
  }
  return PETSC_SUCCESS;
}

static inline PetscErrorCode WorkCreate(Bench *bench, int degree, PetscInt refine, Work *w)
{
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  *w = (Work){.bench = bench, .degree = degree};
  PetscCall(UsedBytes(bench, &w->memory));
  PetscCall(PetscTime(&start));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_SELF, bench->dim, degree, refine, &w->dm));
  PetscCall(DMSetVecType(w->dm, VectorType(bench)));
  PetscCall(DMSetFromOptions(w->dm));
  if (bench->waves && WavesOnDevice && VpIsDevice(bench->backend) && !bench->host_waves)
    PetscCall(DMVPatchDGSetCoefficientFunction(w->dm, 1, WavesOnDevice, PETSC_MEMTYPE_CUDA, NULL));
  else if (bench->waves) PetscCall(DMVPatchDGSetCoefficientFunction(w->dm, 1, Waves, PETSC_MEMTYPE_HOST, NULL));
  else if (bench->points)
    PetscCall(DMVPatchDGSetCoefficientFunction(w->dm, bench->points, TurningMatrix, PETSC_MEMTYPE_HOST, &bench->points));
  PetscCall(DMSetUp(w->dm));
  PetscCall(PetscTime(&end));
  w->setup[0] = end - start;
  if (bench->varying) PetscCall(SetCoefficient(w->dm, bench->dim, bench->jump));
  PetscCall(PetscTime(&start));
  PetscCall(DMCreateMatrix(w->dm, &w->A));
  PetscCall(DMVPatchDGGetLevel(w->dm, &w->outer));
  PetscCall(DMCreateGlobalVector(w->dm, &w->b));
  PetscCall(VecDuplicate(w->b, &w->x));
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&end));
  w->setup[0] += end - start;
  PetscCall(VecGetSize(w->b, &w->dofs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seconds that the first applications take longer than later ones: they choose and list patches and tiles, and record the cycle. */
static inline PetscErrorCode FirstTimes(Work *w, double *seconds)
{
  PetscLogDouble t[3];

  PetscFunctionBeginUser;
  PetscCall(VecSet(w->b, 1));
  PetscCall(Wait(w->bench));
  for (int i = 0; i < 3; i++) {
    PetscCall(PetscTime(&t[i]));
    for (int twice = 0; i < 2 && twice < 2; twice++) {
      PetscCall(MatMult(w->A, w->b, w->x));
      PetscCall(PCApply(w->pc, w->b, w->x));
    }
    PetscCall(Wait(w->bench));
  }
  *seconds = PetscMax(0, (t[1] - t[0]) - (t[2] - t[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode WorkPrecision(Work *w, VpPrecision precision)
{
  PetscLogDouble start, end;
  double         first = 0;

  PetscFunctionBeginUser;
  w->precision = precision;
  PetscCall(PetscTime(&start));
  PetscCall(PCCreate(PETSC_COMM_SELF, &w->pc));
  PetscCall(PCSetOperators(w->pc, w->A, w->A));
  PetscCall(PCSetType(w->pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetPrecision(w->pc, precision == VP_SINGLE ? VPATCHDG_PRECISION_SINGLE : VPATCHDG_PRECISION_DOUBLE));
  PetscCall(PCVPatchDGSetLevels(w->pc, w->bench->levels));
  PetscCall(PCSetUp(w->pc));
  PetscCall(Wait(w->bench));
  PetscCall(PetscTime(&end));
  PetscCall(FirstTimes(w, &first));
  w->setup[1] = end - start + first;
  w->cycle = ((PC_VPatchDG *)w->pc->data)->cycle;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode WorkDestroy(Work *w)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&w->b));
  PetscCall(VecDestroy(&w->x));
  PetscCall(MatDestroy(&w->A));
  PetscCall(DMDestroy(&w->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Are all cells of one box, so that f = 1 has the same coefficients in all of them? */
static inline PetscBool IsOneBox(const Work *w)
{
  return (PetscBool)(w->outer->mesh->geometry->domain->nbox == 1);
}

/* b: f = 1. The basis is orthonormal: coefficients are moments. They are the same in all cells, and go with the root of a cell's volume,
   so that those of a mesh of 2^dim cells do. */
static inline PetscErrorCode SetConstant(Work *w)
{
  DM           few;
  VpLevel      level;
  PetscInt     n, cells;
  PetscScalar *one;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_SELF, w->bench->dim, w->degree, 1, &few));
  PetscCall(DMSetUp(few));
  PetscCall(DMVPatchDGGetLevel(few, &level));
  cells = level->mesh->nown;
  n = cells * (PetscInt)PetscPowInt(w->degree + 1, w->bench->dim);
  PetscCall(PetscMalloc1(n, &one));
  VpConstant(level, one);
  for (PetscInt i = 0; i < n; i++) one[i] *= sqrt((double)cells / w->outer->mesh->nown);
  PetscCall(Repeat(w->bench->backend, w->b, n, one));
  PetscCall(PetscFree(one));
  PetscCall(DMDestroy(&few));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b: f = 1, or random numbers, on the device where PETSc can */
static inline PetscErrorCode SetRightHandSide(Work *w, int side)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  if (!side) {
    PetscCall(SetConstant(w));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
#if defined(PETSC_HAVE_CUDA)
  if (w->bench->backend != &VpBackendHost) PetscCall(PetscRandomSetType(random, PETSCCURAND));
#endif
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(VecSetRandom(w->b, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* norms of b and b - A x */
static inline PetscErrorCode Norms(const Work *w, PetscReal *bnorm, PetscReal *rnorm)
{
  Vec r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w->b, &r));
  PetscCall(MatMult(w->A, w->x, r));
  PetscCall(VecAYPX(r, -1, w->b));
  PetscCall(VecNorm(w->b, NORM_2, bnorm));
  PetscCall(VecNorm(r, NORM_2, rnorm));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
