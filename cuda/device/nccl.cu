/* Messages between GPUs by NCCL, sent and received on the link's stream. The library is opened when it is first wanted, so that programs
   also run where it is missing. */
#include "link.cuh"
#include <cstdlib>

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

struct NcclLink : StreamLink {
  ncclComm_t comm;
};

  #define FIND(name) &&(nccl.name = (decltype(nccl.name))dlsym(nccl.library, "nccl" #name))
static bool OpenLibrary(void)
{
  if (nccl.library) return nccl.GetErrorString != NULL;
  nccl.library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  return nccl.library NCCL_FUNCTIONS(FIND);
}

static int DeleteLink(MPI_Comm, int, void *value, void *)
{
  NcclLink *link = (NcclLink *)value;

  nccl.CommDestroy(link->comm);
  VpStreamLinkDestroy(link);
  delete link;
  return MPI_SUCCESS;
}

/* *started = NCCL's communicator, or NULL on all ranks. *why = NCCL's message on the first rank where it failed. Only messages from rank to
   rank are wanted, so no multicast objects are made. */
static PetscErrorCode StartNccl(MPI_Comm comm, ncclComm_t *started, const char **why)
{
  const char  *set = getenv("NCCL_NVLS_ENABLE");
  PetscMPIInt  rank, size;
  ncclUniqueId id = {};
  int          result = ncclSuccess;

  PetscFunctionBegin;
  *started = NULL;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (!set) setenv("NCCL_NVLS_ENABLE", "0", 0);
  if (!rank) result = nccl.GetUniqueId(&id);
  PetscCallMPI(MPI_Bcast(&result, 1, MPI_INT, 0, comm));
  PetscCallMPI(MPI_Bcast(&id, sizeof(id), MPI_BYTE, 0, comm));
  if (result == ncclSuccess) result = nccl.CommInitRank(started, size, id, rank);
  if (!set) unsetenv("NCCL_NVLS_ENABLE");
  PetscCall(VpLinkFailure(comm, ncclSuccess, &result));
  *why = nccl.GetErrorString((ncclResult_t)result);
  if (result == ncclSuccess) PetscFunctionReturn(PETSC_SUCCESS);
  if (*started) nccl.CommDestroy(*started);
  *started = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VpLinkCreate: a link if the library is there on all ranks, and starts */
static PetscErrorCode CreateLink(MPI_Comm comm, VpLink *out, const char **why)
{
  PetscMPIInt good = OpenLibrary();
  ncclComm_t  started;
  NcclLink   *link;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm));
  *why = "libnccl.so.2 is not there";
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(StartNccl(comm, &started, why));
  if (!started) PetscFunctionReturn(PETSC_SUCCESS);
  link = new NcclLink();
  link->kind = &VpCudaNcclLinks;
  link->comm = started;
  PetscCall(VpStreamLinkCreate(link));
  *out = link;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConnectRanks(MPI_Comm comm, VpLink *link, const char **why)
{
  static int key = MPI_KEYVAL_INVALID;

  return VpLinkOnce(comm, &key, CreateLink, DeleteLink, link, why);
}

static PetscErrorCode SendReceive(NcclLink *link, const VpMessages *m)
{
  PetscFunctionBegin;
  for (int end = 0; end < VP_BOTH; end++) {
    for (int i = 0; i < m->n[end]; i++) {
      const PetscInt first = m->start[end][i];
      const size_t   bytes = (size_t)(m->start[end][i + 1] - first) * m->block;
      char          *data = (char *)m->data[end] + (size_t)first * m->block;

      if (end == VP_OUT) NcclCall(nccl.Send(data, bytes, ncclChar, m->rank[end][i], link->comm, link->stream));
      else NcclCall(nccl.Recv(data, bytes, ncclChar, m->rank[end][i], link->comm, link->stream));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginMessages(VpLink base, const VpMessages *m, const void *roots)
{
  NcclLink      *link = (NcclLink *)base;
  PetscErrorCode error;
  ncclResult_t   ended;

  PetscFunctionBegin;
  PetscCall(VpStreamLinkPack(link, m, roots));
  NcclCall(nccl.GroupStart());
  error = SendReceive(link, m);
  ended = nccl.GroupEnd(); /* in any case: an open group would keep all later messages back */
  PetscCall(error);
  NcclCall(ended);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EndMessages(VpLink link, const VpMessages *m, void *leaves)
{
  return VpStreamLinkUnpack((NcclLink *)link, m, leaves);
}

#else
static PetscErrorCode ConnectRanks(MPI_Comm, VpLink *link, const char **why)
{
  PetscFunctionBegin;
  *link = NULL;
  *why = "this library was built without it";
  PetscFunctionReturn(PETSC_SUCCESS);
}
static constexpr decltype(VpLinks::begin) BeginMessages = NULL;
static constexpr decltype(VpLinks::end)   EndMessages = NULL;
#endif

extern "C" const VpLinks VpCudaNcclLinks = {
  .name = "nccl", .connect = ConnectRanks, .reserve = NULL, .prepare = NULL, .remove = NULL, .begin = BeginMessages, .end = EndMessages};
