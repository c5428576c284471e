/* The plugin: what PETSc sees when it loads the library, or when a program calls VPatchDGInitializePackage(). */
#include "impl.h"
#include "../base/threads.h"

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "vpatchdg needs a PETSc of real numbers in double precision (--with-scalar-type=real --with-precision=double)"
#endif

const char *const VPatchDGDomains[] = {"box", "lshape", "fichera", "boxes", "VPatchDGDomain", "VPATCHDG_DOMAIN_", NULL};
const char *const VPatchDGBoundaries[] = {"dirichlet", "neumann", "periodic", "VPatchDGBoundary", "VPATCHDG_BOUNDARY_", NULL};
const char *const VPatchDGSpaces[] = {"full", "dirichlet", "clamped", "VPatchDGSpace", "VPATCHDG_SPACE_", NULL};
const char *const VPatchDGResiduals[] = {"exact", "local", "global", "VPatchDGResidual", "VPATCHDG_RESIDUAL_", NULL};
const char *const VPatchDGPrecisions[] = {"single", "double", "auto", "VPatchDGPrecision", "VPATCHDG_PRECISION_", NULL};
const char *const VPatchDGCycleTypes[] = {"v", "w", "VPatchDGCycleType", "VPATCHDG_CYCLE_", NULL};
const char *const VPatchDGCoarses[] = {"auto", "sweeps", "ksp", "VPatchDGCoarse", "VPATCHDG_COARSE_", NULL};
const char *const VPatchDGExchanges[] = {"auto", "sweep", "color", "VPatchDGExchange", "VPATCHDG_EXCHANGE_", NULL};

PetscMPIInt      VPatchDGHostRank = 0, VPatchDGHostSize = 1;
static PetscBool initialized = PETSC_FALSE, cited = PETSC_FALSE;

static const char citation[] = "@article{CuiKanschat2024,\n"
                               "  author = {Cui, Cu and Kanschat, Guido},\n"
                               "  title  = {Multilevel Interior Penalty Methods on {GPU}s},\n"
                               "  eprint = {2405.18982},\n"
                               "  archivePrefix = {arXiv},\n"
                               "  year   = {2024}\n"
                               "}\n";

PetscErrorCode VPatchDGCite(void)
{
  PetscFunctionBegin;
  PetscCall(PetscCitationsRegister(citation, &cited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VPatchDGFinalizePackage(void)
{
  PetscFunctionBegin;
  initialized = cited = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the events of multigrid.h, and -info and -log_exclude by the package's name */
static PetscErrorCode RegisterLogging(void)
{
  char      list[256];
  PetscBool set, found = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("VPatchDG", &VP_CLASSID));
  PetscCall(PetscLogEventRegister("VPatchDGSetUp", VP_CLASSID, &VP_EVENT_SETUP));
  PetscCall(PetscLogEventRegister("VPatchDGApply", VP_CLASSID, &VP_EVENT_APPLY));
  PetscCall(PetscLogEventRegister("VPatchDGSmooth", VP_CLASSID, &VP_EVENT_SWEEP));
  PetscCall(PetscLogEventRegister("VPatchDGTransfer", VP_CLASSID, &VP_EVENT_TRANSFER));
  PetscCall(PetscLogEventRegister("VPatchDGCoarse", VP_CLASSID, &VP_EVENT_COARSE));
  PetscCall(PetscLogEventRegister("VPatchDGExchange", VP_CLASSID, &VP_EVENT_EXCHANGE));
  PetscCall(PetscLogEventRegister("VPatchDGConvert", VP_CLASSID, &VP_EVENT_CONVERT));
  PetscCall(PetscInfoProcessClass("vpatchdg", 1, &VP_CLASSID));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-log_exclude", list, sizeof(list), &set));
  if (set) PetscCall(PetscStrInList("vpatchdg", list, ',', &found));
  if (found) PetscCall(PetscLogEventExcludeClass(VP_CLASSID));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindHostRank(void)
{
  MPI_Comm host;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_rank(host, &VPatchDGHostRank));
  PetscCallMPI(MPI_Comm_size(host, &VPatchDGHostSize));
  PetscCall(VpFindThreads(host));
  PetscCallMPI(MPI_Comm_free(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   VPatchDGInitializePackage - Registers everything this library adds to PETSc: the `DM` type `DMVPATCHDG`, the preconditioners `PCVPATCHDG`
   and `PCVPATCH`, the initial guess `KSPGUESSVPATCHDG`, and the log events.

   Collective

   Level: beginner

   Note:
   A program that links the library calls it after `PetscInitialize()`, unless it makes its DM with `DMVPatchDGCreate()`, which does it. A
   library loaded with -dll_append does it by itself.

.seealso: `DMVPATCHDG`, `PCVPATCHDG`, `PCVPATCH`, `KSPGUESSVPATCHDG`
@*/
PetscErrorCode VPatchDGInitializePackage(void)
{
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  initialized = PETSC_TRUE;
  PetscCall(DMRegister(DMVPATCHDG, DMCreate_VPatchDG));
  PetscCall(PCRegister(PCVPATCHDG, PCCreate_VPatchDG));
  PetscCall(PCRegister(PCVPATCH, PCCreate_VPatch));
  PetscCall(KSPGuessRegister(KSPGUESSVPATCHDG, KSPGuessCreate_VPatchDG));
  PetscCall(RegisterLogging());
  PetscCall(FindHostRank());
  PetscCall(PetscRegisterFinalize(VPatchDGFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Error unless the PETSc that runs is of the kind this library was compiled for. Its PetscInt may be wider than ours. */
static PetscErrorCode CheckPetsc(void)
{
  static const char again[] = "build vpatchdg again with that PETSc (PETSC_DIR, PETSC_ARCH)";
  PetscInt64        version[4] = {0, 0, 0, 0};
  PetscDataType     scalar = PETSC_DATATYPE_UNKNOWN;
  PetscBool         found = PETSC_FALSE;
  size_t            index = 0;

  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber((PetscInt *)&version[0], (PetscInt *)&version[1], (PetscInt *)&version[2], (PetscInt *)&version[3]));
  PetscCheck(version[0] == PETSC_VERSION_MAJOR && version[1] == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libvpatchdg was built for PETSc %d.%d and is being loaded into PETSc %d.%d: %s", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
             (int)version[0], (int)version[1], again);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCheck(found && scalar == PETSC_DOUBLE, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libvpatchdg needs a PETSc of real numbers in double precision, this one's scalars are of type %s",
             found ? PetscDataTypes[scalar] : "unknown");
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index));
  PetscCheck(index == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "libvpatchdg was built for %d-bit PetscInt and is being loaded into a PETSc with %d-bit ones: %s", (int)(8 * sizeof(PetscInt)),
             (int)(8 * index), again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this when it has loaded libvpatchdg. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_vpatchdg(void);
PetscErrorCode              PetscDLLibraryRegister_vpatchdg(void)
{
  PetscFunctionBegin;
  PetscCall(CheckPetsc());
  PetscCall(VPatchDGInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
