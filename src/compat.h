/* PETSc 3.18 to 3.26 under one set of names. */
#pragma once
#include <petscsys.h>

#if PETSC_VERSION_LT(3, 19, 0)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

/* The largest PetscInt is PETSC_MAX_INT in all versions (PETSC_INT_MAX is an enum constant in new ones, and unknown to 3.18). */

/* The argument of every setfromoptions, whose name must be PetscOptionsObject. */
#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *VpOptionItems;
#else
typedef PetscOptionItems VpOptionItems;
#endif

/* Dense matrices on devices: PETSc 3.18 has these calls for vectors only. For matrices these macros give the values on the host. */
#if PETSC_VERSION_LT(3, 19, 0)
  #define MatDenseGetArrayReadAndMemType(X, array, type)  (*(type) = PETSC_MEMTYPE_HOST, MatDenseGetArrayRead(X, array))
  #define MatDenseRestoreArrayReadAndMemType              MatDenseRestoreArrayRead
  #define MatDenseGetArrayWriteAndMemType(X, array, type) (*(type) = PETSC_MEMTYPE_HOST, MatDenseGetArrayWrite(X, array))
  #define MatDenseRestoreArrayWriteAndMemType             MatDenseRestoreArrayWrite
  #define MatDenseGetArrayAndMemType(X, array, type)      (*(type) = PETSC_MEMTYPE_HOST, MatDenseGetArray(X, array))
  #define MatDenseRestoreArrayAndMemType                  MatDenseRestoreArray
#endif

/* the type of functions that MatShellSetOperation and VecSetOperation take */
#if PETSC_VERSION_LT(3, 24, 0)
typedef void VpFunction(void);
#else
typedef PetscErrorCodeFn VpFunction;
#endif

/* the context that destroy callbacks of MatShell and PetscContainer get */
#if PETSC_VERSION_LT(3, 23, 0)
  #define VpDestroyedContext(type, ctx) ((type *)(ctx))
#else
  #define VpDestroyedContext(type, ctx) (*(type **)(ctx))
#endif

#if PETSC_VERSION_LT(3, 23, 0)
  #define PetscContainerSetCtxDestroy PetscContainerSetUserDestroy
#endif

/* the type of the numbers of ranks from PetscSFGetRootRanks and PetscSFGetLeafRanks */
#if PETSC_VERSION_LT(3, 22, 0)
typedef PetscInt VpRankCount;
#else
typedef PetscMPIInt      VpRankCount;
#endif

/* The number of iterations for which the set-up of a KSP like KSPGMRES allocates vectors. all: with -ksp_gmres_preallocate */
#if PETSC_VERSION_LT(3, 24, 0)
  #define VpGMRESPrepared(ksp, restart, all) ((all) ? (restart) : 1)
#else
  #define VpGMRESPrepared(ksp, restart, all) \
    PetscMin((ksp)->max_it, (all) || (ksp)->normtype == KSP_NORM_NONE ? (restart) : PetscMin(5, restart))
#endif
