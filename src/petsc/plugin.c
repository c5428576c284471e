/* The entry points: PETSc calls one after loading the library, a program calls the other first. */
#include "dm/dm.h"
#include "pc/pc.h"
#include "pcbase/pcbase.h"
#include "support/session.h"

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
  #error "vpatchdg needs a PETSc of real numbers in double precision (--with-scalar-type=real --with-precision=double)"
#endif

static PetscBool initialized = PETSC_FALSE;

static PetscErrorCode VPatchDGFinalizePackage(void)
{
  PetscFunctionBegin;
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Registers the events of level.h, and the package's name for -info and -log_exclude. */
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
  PetscCall(PetscLogEventRegister("VPatchDGAMGUp", VP_CLASSID, &VP_EVENT_AMG));
  PetscCall(PetscLogEventRegister("VPatchDGExchange", VP_CLASSID, &VP_EVENT_EXCHANGE));
  PetscCall(PetscLogEventRegister("VPatchDGConvert", VP_CLASSID, &VP_EVENT_CONVERT));
  PetscCall(PetscInfoProcessClass("vpatchdg", 1, &VP_CLASSID));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-log_exclude", list, sizeof(list), &set));
  if (set) PetscCall(PetscStrInList("vpatchdg", list, ',', &found));
  if (found) PetscCall(PetscLogEventExcludeClass(VP_CLASSID));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   VPatchDGInitializePackage - Registers everything that this library adds to PETSc: the `DM` type `DMVPATCHDG`, the preconditioners
   `PCVPATCHDG` and `PCVPATCH`, the solver `KSPVPATCHDGFCG`, the initial guess `KSPGUESSVPATCHDG`, and the log events.

   Collective

   Level: beginner

   Note:
   A program that links the library calls this function after `PetscInitialize()`, unless it makes its DM with `DMVPatchDGCreate()`. A
   library that is loaded with -dll_append calls this function itself.

.seealso: `DMVPATCHDG`, `PCVPATCHDG`, `PCVPATCH`, `KSPVPATCHDGFCG`, `KSPGUESSVPATCHDG`
@*/
PetscErrorCode VPatchDGInitializePackage(void)
{
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  initialized = PETSC_TRUE;
  PetscCall(DMRegister(DMVPATCHDG, DMCreate_VPatchDG));
  PetscCall(DMGenerateRegister(DMVPATCHDG, NULL, NULL, DMVPatchDGAdaptLabel, -1));
  PetscCall(PCRegister(PCVPATCHDG, PCCreate_VPatchDG));
  PetscCall(PCRegister(PCVPATCH, PCCreate_VPatch));
  PetscCall(VpNormRegister());
  PetscCall(KSPRegister(KSPVPATCHDGFCG, KSPCreate_VPatchDGFCG));
  PetscCall(KSPGuessRegister(KSPGUESSVPATCHDG, KSPGuessCreate_VPatchDG));
  PetscCall(VpRegisterFactors());
  PetscCall(VpRegisterAssembledPCs());
  PetscCall(RegisterLogging());
  PetscCall(VpSessionBegin());
  PetscCall(PetscRegisterFinalize(VPatchDGFinalizePackage));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGCreate - Creates a `DMVPATCHDG`, by default the unit square or cube as one box with Dirichlet conditions

   Collective

   Input Parameters:
+  comm   - MPI communicator
.  dim    - dimension, 2 or 3
.  degree - degree of the polynomials, 1 to 8
-  refine - number of refinements of every box

   Output Parameter:
.  dm - the DM

   Level: beginner

   Note:
   The DM is not set up. Call `DMSetFromOptions()` if options may change the settings, then call `DMSetUp()`.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDomain()`, `DMVPatchDGSetBoxes()`, `DMVPatchDGSetBoundary()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGCreate(MPI_Comm comm, PetscInt dim, PetscInt degree, PetscInt refine, DM *dm)
{
  PetscFunctionBegin;
  VpAssertPointer(dm, 5);
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMCreate(comm, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetDimension(*dm, dim));
  PetscCall(DMVPatchDGCheckDimension(*dm));
  PetscCall(DMVPatchDGSetDegree(*dm, degree));
  PetscCall(DMSetRefineLevel(*dm, refine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error if the PETSc that loads the library differs from the PETSc that the library is linked to. The latter is not initialized
   then and cannot print an error. */
static PetscErrorCode CheckOnePetsc(void)
{
  char        version[256];
  const char *folder = "";

  PetscFunctionBegin;
  if (PETSC_COMM_WORLD != MPI_COMM_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetVersion(version, sizeof(version)));
  PetscCall(PetscGetPetscDir(&folder));
  (void)fprintf(stderr,
                "vpatchdg: libvpatchdg.so uses the PETSc in %s (%s) and is being loaded by another PETSc: build vpatchdg with that one\n"
                "vpatchdg: (PETSC_DIR, PETSC_ARCH), or run a program of the former, in Python its petsc4py\n",
                folder, version);
  PetscFunctionReturn(PETSC_ERR_LIB);
}

/* Ensures: an error unless version, scalars and PetscInt of the running PETSc are those that this library was compiled for. Its PetscInt
   may be wider than ours, so the version is read into 64-bit integers. */
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
  PetscCall(CheckOnePetsc());
  PetscCall(CheckPetsc());
  PetscCall(VPatchDGInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
