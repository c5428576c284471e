/* Chooses the backend of a DM, its device and its stream. */
#include "dmdata.h"
#include "../support/session.h"
#include <petscdevice.h>

/* Uses PETSc's current stream. If PETSc has no CUDA or does not tell its stream (before 3.20), uses the default stream, which waits for
   other streams. */
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

/* PETSc with CUDA chooses the device. Otherwise the ranks of a host take its devices in turn. */
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

/* Ensures: the device is open on all ranks, or an error on all ranks. */
static PetscErrorCode OpenDevice(MPI_Comm comm, const VpBackend *backend)
{
  PetscBool   here;
  PetscMPIInt everywhere;

  PetscFunctionBegin;
  PetscCall(ChooseDevice(backend));
  PetscCall(backend->available(&here));
  everywhere = here;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &everywhere, 1, MPI_INT, MPI_LAND, comm));
  PetscCheck(
    everywhere, comm, PETSC_ERR_SUP,
    "-dm_vpatchdg_backend cuda: %s no CUDA device that this library's kernels were compiled for. Use -dm_vpatchdg_backend host, or "
    "build with CUDA_ARCH= of the device that is there",
    here ? "another rank has" : "there is");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* types of vectors that may live on a GPU, for PetscStrInList() */
#define CUDA_TYPES VECCUDA "|" VECSEQCUDA "|" VECMPICUDA

PetscErrorCode DMVPatchDGFindBackend(DM dm, const VpBackend **out)
{
  const VPatchDGBackend asked = DMVPatchDGData(dm)->backend;
  const VpBackend      *cuda = VpBackendFind("cuda");
  PetscBool             device;

  PetscFunctionBegin;
  PetscCheck(asked != VPATCHDG_BACKEND_CUDA || cuda, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "-dm_vpatchdg_backend cuda: this libvpatchdg has no CUDA kernels. Build it where nvcc is found (make CUDA=1)");
  PetscCall(PetscStrInList(dm->vectype, CUDA_TYPES, '|', &device));
  *out = asked == VPATCHDG_BACKEND_CUDA || (asked == VPATCHDG_BACKEND_AUTO && device && cuda) ? cuda : &VpBackendHost;
  if (VpIsDevice(*out)) PetscCall(OpenDevice(PetscObjectComm((PetscObject)dm), *out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGUseBackend(DM dm, const VpBackend **out)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  /* The type of vectors may have changed since the choice. */
  if (dg->in_use && !dg->mats && strncmp(dg->chosen_for, dm->vectype, sizeof(dg->chosen_for) - 1)) {
    if (dg->ghost) PetscCall(dg->in_use->release(dg->ghost));
    dg->ghost = NULL;
    dg->in_use = NULL;
  }
  if (!dg->in_use) {
    const VpBackend *backend;

    PetscCall(DMVPatchDGFindBackend(dm, &backend));
    PetscCall(DMVPatchDGChooseTransport(dm, backend));
    PetscCall(PetscInfo(dm, "Vectors of type %s: backend %s\n", dm->vectype, backend->name));
    PetscCall(PetscStrncpy(dg->chosen_for, dm->vectype, sizeof(dg->chosen_for)));
    dg->in_use = backend;
  }
  if (VpIsDevice(dg->in_use)) PetscCall(VpUseCurrentStream(dg->in_use));
  *out = dg->in_use;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpViewBackend(Mat A, const VpBackend *backend, PetscViewer viewer)
{
  VecType   type;
  PetscBool cuda;

  PetscFunctionBegin;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrInList(type, CUDA_TYPES, '|', &cuda));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  backend %s%s\n", backend->name,
                                   cuda == VpIsDevice(backend) ? "" : ", vectors are copied to and from it at every use"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
