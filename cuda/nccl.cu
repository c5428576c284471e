/* Messages between GPUs by NCCL, sent and received on a stream of their own. The library is opened when it is first wanted, so that
   nothing depends on it where it is not. */
#include "kernel.cuh"
#include "../src/communication/messages.h"
#include <petscsys.h>
#include <cstdlib>
#include <cstring>

#if defined(VP_HAVE_NCCL)
  #include <dlfcn.h>
  #include <nccl.h>

  /* the functions that are used */
  #define NCCL_FUNCTIONS(f) f(GetUniqueId) f(CommInitRank) f(CommDestroy) f(GroupStart) f(GroupEnd) f(Send) f(Recv) f(GetErrorString)

  #define DECLARE(name) decltype(&nccl##name) name;
static struct {
  void *library;
  NCCL_FUNCTIONS(DECLARE)
} nccl;

  #define NcclCall(...) \
    do { \
      ncclResult_t result_ = (__VA_ARGS__); \
      PetscCheck(result_ == ncclSuccess, PETSC_COMM_SELF, PETSC_ERR_LIB, "NCCL: %s", nccl.GetErrorString(result_)); \
    } while (0)

struct Link {
  ncclComm_t   comm;
  cudaStream_t stream;
  cudaEvent_t  begun, ended;
};

  #define FIND(name) &&(nccl.name = (decltype(nccl.name))dlsym(nccl.library, "nccl" #name))
static bool Open(void)
{
  if (nccl.library) return nccl.GetErrorString != NULL;
  nccl.library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  return nccl.library NCCL_FUNCTIONS(FIND);
}

/* does every rank have a device of its own? */
static PetscErrorCode OwnDevices(MPI_Comm comm, bool *own)
{
  cudaDeviceProp properties;
  PetscMPIInt    size;
  char          *all;
  int            device;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  VpCudaCall(cudaGetDeviceProperties(&properties, device));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMalloc1(16 * size, &all));
  PetscCallMPI(MPI_Allgather(&properties.uuid, 16, MPI_CHAR, all, 16, MPI_CHAR, comm));
  *own = true;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < i; j++) *own = *own && memcmp(all + 16 * i, all + 16 * j, 16);
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int DeleteLink(MPI_Comm, int, void *value, void *)
{
  Link *link = (Link *)value;

  nccl.CommDestroy(link->comm);
  (void)cudaEventDestroy(link->begun);
  (void)cudaEventDestroy(link->ended);
  (void)cudaStreamDestroy(link->stream);
  delete link;
  return MPI_SUCCESS;
}

/* NCCL's communicator, or NULL on all ranks; *why: what NCCL said. Only messages from rank to rank are wanted: no multicast objects */
static PetscErrorCode Start(MPI_Comm comm, ncclComm_t *started, const char **why)
{
  const char  *set = getenv("NCCL_NVLS_ENABLE");
  PetscMPIInt  rank, size, good;
  ncclUniqueId id = {};
  ncclResult_t result = ncclSuccess;

  PetscFunctionBegin;
  *started = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (!set) setenv("NCCL_NVLS_ENABLE", "0", 0);
  if (!rank) result = nccl.GetUniqueId(&id);
  good = result == ncclSuccess;
  PetscCallMPI(MPI_Bcast(&good, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm));
  if (good) result = nccl.CommInitRank(started, size, id, rank);
  if (!set) unsetenv("NCCL_NVLS_ENABLE");
  good = good && result == ncclSuccess;
  *why = good ? "another rank's NCCL does not start" : nccl.GetErrorString(result);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm));
  if (!good && *started) nccl.CommDestroy(*started);
  if (!good) *started = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLink(MPI_Comm comm, Link **out, const char **why)
{
  ncclComm_t started;
  int        first;

  PetscFunctionBegin;
  *out = NULL;
  PetscCall(Start(comm, &started, why));
  if (!started) PetscFunctionReturn(PETSC_SUCCESS);
  *out = new Link();
  (*out)->comm = started;
  VpCudaCall(cudaDeviceGetStreamPriorityRange(NULL, &first));
  VpCudaCall(cudaStreamCreateWithPriority(&(*out)->stream, cudaStreamNonBlocking, first)); /* goes before the work that hides it */
  VpCudaCall(cudaEventCreateWithFlags(&(*out)->begun, cudaEventDisableTiming));
  VpCudaCall(cudaEventCreateWithFlags(&(*out)->ended, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one link a communicator, which goes with it */
static PetscErrorCode Connect(MPI_Comm comm, void **link, const char **why)
{
  static int  key = MPI_KEYVAL_INVALID;
  PetscMPIInt found, good[2];
  bool        own = false;
  Link       *made = NULL;

  PetscFunctionBegin;
  *link = NULL;
  if (key == MPI_KEYVAL_INVALID) PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, DeleteLink, &key, NULL));
  PetscCallMPI(MPI_Comm_get_attr(comm, key, link, &found));
  *why = "linked";
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  *link = NULL;
  PetscCall(OwnDevices(comm, &own));
  good[0] = Open();
  good[1] = own;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, good, 2, MPI_INT, MPI_LAND, comm));
  *why = !good[1] ? "ranks share a GPU" : "libnccl.so.2 is not there";
  if (!good[0] || !good[1]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateLink(comm, &made, why));
  if (!made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_set_attr(comm, key, made));
  *link = made;
  *why = "linked";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* packing and unpacking are also the link's work */
static PetscErrorCode Pack(Link *link, const VpMessages *m, int way, const void *from, void *to)
{
  const cudaStream_t stream = VpCudaStream;
  PetscErrorCode     error;

  PetscFunctionBegin;
  VpCudaStream = link->stream;
  error = m->pack(m, way, from, to);
  VpCudaStream = stream;
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SendReceive(Link *link, const VpMessages *m)
{
  PetscFunctionBegin;
  for (int way = 0; way < VP_WAYS; way++) {
    for (int i = 0; i < m->n[way]; i++) {
      const PetscInt first = m->start[way][i];
      const size_t   bytes = (size_t)(m->start[way][i + 1] - first) * m->block;
      char          *data = (char *)m->data[way] + (size_t)first * m->block;

      if (way == VP_OUT) NcclCall(nccl.Send(data, bytes, ncclChar, m->rank[way][i], link->comm, link->stream));
      else NcclCall(nccl.Recv(data, bytes, ncclChar, m->rank[way][i], link->comm, link->stream));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(void *context, const VpMessages *m, const void *roots)
{
  Link          *link = (Link *)context;
  PetscErrorCode error;
  ncclResult_t   ended;

  PetscFunctionBegin;
  VpCudaCall(cudaEventRecord(link->begun, VpCudaStream));
  VpCudaCall(cudaStreamWaitEvent(link->stream, link->begun, 0));
  if (roots) PetscCall(Pack(link, m, VP_OUT, roots, m->data[VP_OUT]));
  NcclCall(nccl.GroupStart());
  error = SendReceive(link, m);
  ended = nccl.GroupEnd(); /* in any case: an open group would keep all later messages back */
  PetscCall(error);
  NcclCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(void *context, const VpMessages *m, void *leaves)
{
  Link *link = (Link *)context;

  PetscFunctionBegin;
  PetscCall(Pack(link, m, VP_IN, m->data[VP_IN], leaves));
  VpCudaCall(cudaEventRecord(link->ended, link->stream));
  VpCudaCall(cudaStreamWaitEvent(VpCudaStream, link->ended, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else
static PetscErrorCode Connect(MPI_Comm, void **link, const char **why)
{
  PetscFunctionBegin;
  *link = NULL;
  *why = "this library was built without NCCL";
  PetscFunctionReturn(PETSC_SUCCESS);
}
static PetscErrorCode Begin(void *, const VpMessages *, const void *)
{
  return PETSC_ERR_PLIB;
}
static PetscErrorCode End(void *, const VpMessages *, void *)
{
  return PETSC_ERR_PLIB;
}
#endif

extern "C" const VpLinks VpCudaLinks = {Connect, Begin, End};
