/* Which backend a DM takes, the device it works on and the stream. */
#include "../impl.h"
#include <petscdevice.h>

const char *const VPatchDGBackends[] = {"auto", "host", "cuda", "VPatchDGBackend", "VPATCHDG_BACKEND_", NULL};

/* PETSc's current stream; where it has no CUDA, or does not tell (before 3.20), the default one, which waits for the others */
PetscErrorCode VpUseCurrentStream(const VpBackend *backend)
{
  void *stream = NULL;

  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  PetscDeviceContext context;
  PetscDeviceType    type;
  void              *handle;

  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDeviceType(context, &type));
  if (type == PETSC_DEVICE_CUDA) {
    PetscCall(PetscDeviceContextGetStreamHandle(context, &handle));
    stream = *(void **)handle;
  }
#endif
  PetscCall(backend->use_stream(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PETSc with CUDA chooses the device; otherwise the ranks of a host take its devices in turn. */
static PetscErrorCode ChooseDevice(const VpBackend *backend)
{
  int count;

  PetscFunctionBegin;
  PetscCall(backend->choose(-1, &count));
  if (!count) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscDefined(HAVE_CUDA)) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  else PetscCall(backend->choose(VPatchDGHostRank, &count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on all ranks or on none */
static PetscErrorCode OpenDevice(MPI_Comm comm, const VpBackend *backend)
{
  PetscBool   here;
  PetscMPIInt everywhere;

  PetscFunctionBegin;
  PetscCall(ChooseDevice(backend));
  PetscCall(backend->available(&here));
  everywhere = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_LAND, comm));
  PetscCheck(everywhere, comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_backend cuda: %s no CUDA device that this library's kernels were compiled for. Use -dm_vpatchdg_backend host, or "
             "build with CUDA_ARCH= of the device that is there",
             here ? "another rank has" : "there is");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsCuda(VecType type, PetscBool *cuda)
{
  static const char *const types[] = {VECCUDA, VECSEQCUDA, VECMPICUDA};

  PetscFunctionBegin;
  *cuda = PETSC_FALSE;
  for (int i = 0; i < 3 && !*cuda; i++) PetscCall(PetscStrcmp(type, types[i], cuda));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGFindBackend(DM dm, const VpBackend **out)
{
  const VPatchDGBackend asked = ((DM_VPatchDG *)dm->data)->backend;
  const VpBackend      *cuda = VpBackendFind("cuda");
  PetscBool             device;

  PetscFunctionBegin;
  PetscCheck(asked != VPATCHDG_BACKEND_CUDA || cuda, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "-dm_vpatchdg_backend cuda: this libvpatchdg has no CUDA kernels. Build it where nvcc is found (make CUDA=1)");
  PetscCall(IsCuda(dm->vectype, &device));
  *out = asked == VPATCHDG_BACKEND_CUDA || (asked == VPATCHDG_BACKEND_AUTO && device && cuda) ? cuda : &VpBackendHost;
  if ((*out)->use_stream) PetscCall(OpenDevice(PetscObjectComm((PetscObject)dm), *out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetKernels(DM dm, const VpBackend **out)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  if (dg->kernels && !dg->mats && strncmp(dg->chosen_for, dm->vectype, sizeof(dg->chosen_for) - 1)) { /* only viewed so far */
    PetscCall(VpOperatorClear(dg->op));
    if (dg->ghost) PetscCall(dg->kernels->release(dg->ghost));
    dg->ghost = NULL;
    dg->kernels = NULL;
  }
  if (!dg->kernels) {
    const VpBackend *backend;

    PetscCall(DMVPatchDGFindBackend(dm, &backend));
    PetscCall(DMVPatchDGChooseTransport(dm, backend));
    PetscCall(PetscInfo(dm, "Vectors of type %s: backend %s\n", dm->vectype, backend->name));
    PetscCall(PetscStrncpy(dg->chosen_for, dm->vectype, sizeof(dg->chosen_for)));
    dg->kernels = backend;
  }
  if (dg->kernels->use_stream) PetscCall(VpUseCurrentStream(dg->kernels));
  *out = dg->kernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpViewKernels(Mat A, const VpBackend *backend, PetscViewer viewer)
{
  VecType   type;
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(IsCuda(type, &cuda));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  backend %s%s\n", backend->name,
                                   cuda == (PetscBool)!!backend->use_stream ? "" : ", vectors are copied to and from it at every use"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetBackend - Sets where operators, preconditioners and transfers of the DM do their work

   Logically Collective

   Input Parameters:
+  dm      - the DM
-  backend - `VPATCHDG_BACKEND_AUTO` (on the GPU where the vectors are of type `VECCUDA`), `VPATCHDG_BACKEND_HOST`, or
`VPATCHDG_BACKEND_CUDA`

   Options Database Key:
.  -dm_vpatchdg_backend auto|host|cuda - the backend, auto by default

   Level: intermediate

   Note:
   Vectors that live elsewhere than the backend are copied at every use: with a PETSc without CUDA, cuda does so.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBackend()`, `DMSetVecType()`
@*/
PetscErrorCode DMVPatchDGSetBackend(DM dm, VPatchDGBackend backend)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveEnum(dm, backend, 2);
  PetscCheck((int)backend >= 0 && backend <= VPATCHDG_BACKEND_CUDA, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetBackend(): value %d does not exist, 0 to %d do (VPatchDGBackend)", (int)backend, (int)VPATCHDG_BACKEND_CUDA);
  PetscCall(DMVPatchDGCheckChange(dm, dg->backend != backend ? PETSC_TRUE : PETSC_FALSE, "backend"));
  dg->backend = backend;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBackend - Gets where the work is done

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  backend - the one in use, or, before anything was computed with the DM, as set

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBackend()`
@*/
PetscErrorCode DMVPatchDGGetBackend(DM dm, VPatchDGBackend *backend)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(backend, 2);
  *backend = dg->backend;
  if (dg->kernels) *backend = dg->kernels == &VpBackendHost ? VPATCHDG_BACKEND_HOST : VPATCHDG_BACKEND_CUDA;
  PetscFunctionReturn(PETSC_SUCCESS);
}
