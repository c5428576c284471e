/* The backend under test: the host's, or the GPU's with VPATCHDG_TEST=cuda in the environment. */
#pragma once
#include "tap.h"
#include <vpatchdg.h>
#ifdef __cplusplus
extern "C" {
#endif
#include "../../src/kernels/ops.h"
#ifdef __cplusplus
}
#endif

/* gets the KSP's preconditioner, which becomes this library's */
static inline PetscErrorCode TestPC(KSP ksp, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, pc));
  PetscCall(PCSetType(*pc, PCVPATCHDG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* makes the KSP FGMRES with this library's preconditioner */
static inline PetscErrorCode TestSolver(KSP ksp, PetscReal rtol, PetscInt most)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(TestPC(ksp, &pc));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a setting of a PC that only has an option. option: without prefix, as "-pc_vpatchdg_corners" */
static inline PetscErrorCode SetByOption(PC pc, const char option[], const char value[])
{
  const char    *prefix;
  char           name[128];
  PetscErrorCode error;

  PetscFunctionBeginUser;
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(name, sizeof(name), "-%s%s", prefix ? prefix : "", option + 1));
  PetscCall(PetscOptionsSetValue(NULL, name, value));
  error = PCSetFromOptions(pc);
  PetscCall(PetscOptionsClearValue(NULL, name));
  PetscFunctionReturn(error);
}
static inline PetscErrorCode SetCorners(PC pc, PetscInt corners)
{
  char value[16];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(value, sizeof(value), "%" PetscInt_FMT, corners));
  PetscCall(SetByOption(pc, "-pc_vpatchdg_corners", value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL if the backend was not compiled or has no device */
static inline const VpBackend *UsableBackend(const char name[])
{
  const VpBackend *backend = VpBackendFind(name);
  PetscBool        available = PETSC_TRUE;

  if (backend && backend->available) PetscCallAbort(PETSC_COMM_SELF, backend->available(&available));
  return available ? backend : NULL;
}

static inline const VpBackend *TestBackend(void)
{
  const char      *asked = getenv("VPATCHDG_TEST"), *name = asked && *asked ? asked : "host";
  const VpBackend *backend = UsableBackend(name);

  if (!backend) {
    printf("not ok - VPATCHDG_TEST=%s was compiled in, and has a device here\n", name);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return backend;
}

/* Tests whether the vectors of tested DMs are on a device. */
static inline PetscBool VectorsOnDevice(void)
{
  return (PetscBool)(PetscDefined(HAVE_CUDA) && VpIsDevice(TestBackend()));
}

/* Puts the DM's vectors on the tested backend. If PETSc does not support it, the values are copied. Must be called before options are
   read. */
static inline PetscErrorCode UseTestBackend(DM dm)
{
  PetscFunctionBeginUser;
  if (VectorsOnDevice()) PetscCall(DMSetVecType(dm, VECCUDA));
  else if (VpIsDevice(TestBackend())) PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_CUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestDMCreate(MPI_Comm comm, PetscInt dim, PetscInt degree, PetscInt refine, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, dim, degree, refine, dm));
  PetscCall(UseTestBackend(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the options database until TestOptionsPop(). On a device the default is all levels, as in run.sh. An empty text changes
   nothing. */
static inline PetscErrorCode TestOptionsPush(const char options[], PetscOptions *own)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(own));
  if (options[0] && VpIsDevice(TestBackend())) PetscCall(PetscOptionsInsertString(*own, "-pc_vpatchdg_levels 0"));
  PetscCall(PetscOptionsInsertString(*own, options));
  PetscCall(PetscOptionsPush(*own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestOptionsPop(PetscOptions *own)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMSetFromOptions() with these options alone */
static inline PetscErrorCode TestDMOptions(DM dm, const char options[])
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v = random numbers between -1 and 1, which depend on the number of ranks. seed: 0 is PETSc's own */
static inline PetscErrorCode TestRandom(Vec v, unsigned long seed)
{
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  if (seed) PetscCall(PetscRandomSetSeed(random, seed));
  if (seed) PetscCall(PetscRandomSeed(random));
  PetscCall(VecSetRandom(v, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the sum of v 0. */
static inline PetscErrorCode TestWithoutMean(Vec v)
{
  PetscScalar sum;
  PetscInt    N;

  PetscFunctionBeginUser;
  PetscCall(VecSum(v, &sum));
  PetscCall(VecGetSize(v, &N));
  PetscCall(VecShift(v, -sum / (PetscReal)N));
  PetscFunctionReturn(PETSC_SUCCESS);
}
