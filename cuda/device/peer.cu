/* Messages between GPUs of one host without a library: ranks map the memory where the others receive, and kernels write there.

     begin:  the ack of what was unpacked, to its senders;  wait for the acks of what was sent;  copy to the receivers' data;  flag
     end:    wait for the flags;  unpack

   Flags and acks are counts, so that recorded launches can be repeated. Acks wait for the next `begin`, because a record ends with the
   unpacking, for which later work waits. */
#include "link.cuh"
#include "load.cuh"
#include <cstring>
#include <vector>

/* Memory that other ranks map. Blocks are taken one after the other. When all blocks are given back, the memory is free again. */
struct Chunk {
  char              *p;
  size_t             bytes, taken;
  int                live;
  cudaIpcMemHandle_t handle;
};
struct Mapped {
  cudaIpcMemHandle_t handle;
  char              *p;
};
struct PeerLink : StreamLink {
  MPI_Comm            comm;
  std::vector<Chunk>  own;
  std::vector<Mapped> others;
};

/* What one rank tells another one: offsets, in its memory, of the data that it receives from that rank and of both counts. */
struct Offer {
  cudaIpcMemHandle_t handle;
  size_t             data, flag, ack;
};
/* The messages to one rank. Its ack arrives in own memory. */
struct Out {
  const char        *from;
  char              *to;
  size_t             bytes;
  volatile uint32_t *flag, *ack;
  uint32_t           sent, done; /* counts of messages sent, and of blocks that have copied their part */
};
struct In {
  volatile uint32_t *flag, *ack;
  uint32_t           received;
};
/* VpMessages.route. counts: [in] flags, [out] acks, at the beginning of a block of `chunk`, before data[VP_IN] */
struct Route {
  size_t             chunk;
  volatile uint32_t *counts;
  VpArray            out, in;
  int32_t            blocks; /* of a launch, for each rank */
};

enum { CHUNK = 1 << 25, ALIGNED = 256, MOST_BLOCKS = 64, EACH = 64 * VP_THREADS /* bytes that a block copies at least */ };

/* Copies the words of a message with all blocks of its rank. Returns the bytes copied. */
template <class Word>
__device__ __forceinline__ size_t CopyWords(const Out &out)
{
  const size_t words = out.bytes / sizeof(Word);

  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
    ((Word *)out.to)[i] = ((const Word *)out.from)[i];
  return words * sizeof(Word);
}

/* blockIdx.y: which receiver */
static __global__ void PushMessages(int nin, const In *in, int nout, Out *outs)
{
  if (blockIdx.x == 0 && blockIdx.y == 0) {
    for (int i = threadIdx.x; i < nin; i += blockDim.x) *in[i].ack = in[i].received;
  }
  if (!nout) return;
  Out &out = outs[blockIdx.y];
  if (threadIdx.x == 0) {
    while ((int32_t)(*out.ack - out.sent) < 0) {
    }
    __threadfence_system();
  }
  __syncthreads();
  const bool   wide = ((size_t)out.from | (size_t)out.to) % VP_WIDE_BYTES == 0;
  const size_t copied = wide ? CopyWords<Wide<int>>(out) : CopyWords<int>(out);
  if (blockIdx.x == 0 && copied + 4 * threadIdx.x < out.bytes) {
    *(int *)(out.to + copied + 4 * threadIdx.x) = *(const int *)(out.from + copied + 4 * threadIdx.x);
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0 && atomicAdd(&out.done, 1u) == gridDim.x - 1) {
    out.done = 0;
    __threadfence_system();
    *out.flag = ++out.sent;
  }
}

/* one block, a thread for every rank */
static __global__ void AwaitFlags(In *in)
{
  In &from = in[threadIdx.x];

  while (*from.flag == from.received) {
  }
  from.received++;
  __threadfence_system();
}

/* ---- memory */

static cudaError_t AddChunk(PeerLink *link, size_t bytes)
{
  Chunk       chunk = {NULL, bytes, 0, 0, {}};
  cudaError_t error = cudaMalloc(&chunk.p, bytes);

  if (error == cudaSuccess) error = cudaIpcGetMemHandle(&chunk.handle, chunk.p);
  if (error == cudaSuccess) link->own.push_back(chunk);
  else if (chunk.p) (void)cudaFree(chunk.p);
  (void)cudaGetLastError();
  return error;
}

static PetscErrorCode TakeBlock(PeerLink *link, size_t bytes, size_t *chunk, char **p)
{
  cudaError_t error = cudaSuccess;

  PetscFunctionBegin;
  bytes = RoundUp(bytes, ALIGNED);
  for (*chunk = 0; *chunk < link->own.size() && link->own[*chunk].taken + bytes > link->own[*chunk].bytes; ++*chunk) {
  }
  if (*chunk == link->own.size()) error = AddChunk(link, PetscMax(bytes, (size_t)CHUNK));
  PetscCheck(error != cudaErrorMemoryAllocation, PETSC_COMM_SELF, PETSC_ERR_MEM, "The GPU has no %.3g MB left for messages",
             1e-6 * (double)bytes);
  VpCudaCall(error);
  *p = link->own[*chunk].p + link->own[*chunk].taken;
  link->own[*chunk].taken += bytes;
  link->own[*chunk].live++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *p = address of a rank's chunk, which is mapped at the first call. A rank may send messages to itself. */
static cudaError_t MapChunk(PeerLink *link, const cudaIpcMemHandle_t *handle, char **p)
{
  Mapped      mapped = {*handle, NULL};
  cudaError_t error;

  for (const Chunk &c : link->own) {
    *p = c.p;
    if (!memcmp(&c.handle, handle, sizeof(*handle))) return cudaSuccess;
  }
  for (const Mapped &m : link->others) {
    *p = m.p;
    if (!memcmp(&m.handle, handle, sizeof(*handle))) return cudaSuccess;
  }
  error = cudaIpcOpenMemHandle((void **)&mapped.p, *handle, cudaIpcMemLazyEnablePeerAccess);
  if (error == cudaSuccess) link->others.push_back(mapped);
  (void)cudaGetLastError();
  *p = mapped.p;
  return error;
}

/* ---- one set of messages */

static PetscErrorCode RemoveMessages(VpLink base, VpMessages *m)
{
  PeerLink *link = (PeerLink *)base;
  Route    *route = (Route *)m->route;
  Chunk    &chunk = link->own[route->chunk];

  PetscFunctionBegin;
  if (!--chunk.live) chunk.taken = 0;
  m->data[VP_IN] = m->route = NULL;
  delete route;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReserveMessages(VpLink link, VpMessages *m)
{
  const size_t counts = RoundUp(sizeof(uint32_t) * (size_t)(m->n[VP_IN] + m->n[VP_OUT] + 1), ALIGNED);
  Route       *route;
  size_t       chunk;
  char        *p;

  PetscFunctionBegin;
  PetscCall(TakeBlock((PeerLink *)link, counts + VpMessageItems(m, VP_IN) * m->block, &chunk, &p));
  route = new Route();
  route->chunk = chunk;
  route->counts = (volatile uint32_t *)p;
  m->route = route;
  m->data[VP_IN] = p + counts;
  VpCudaCall(cudaMemsetAsync(p, 0, counts, VpCudaStream));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills offers[rank] for every rank that sends messages here or receives them. */
static void MakeOffers(const PeerLink *link, const VpMessages *m, Offer offers[])
{
  const Route *route = (const Route *)m->route;
  const Chunk &chunk = link->own[route->chunk];
  const size_t at = (size_t)((char *)route->counts - chunk.p);

  for (int end = 0; end < VP_BOTH; end++) {
    for (int i = 0; i < m->n[end]; i++) {
      Offer &offer = offers[m->rank[end][i]];

      offer.handle = chunk.handle;
      if (end == VP_OUT) offer.ack = at + sizeof(uint32_t) * (size_t)(m->n[VP_IN] + i);
      else {
        offer.flag = at + sizeof(uint32_t) * (size_t)i;
        offer.data = (size_t)((char *)m->data[VP_IN] - chunk.p) + (size_t)m->start[VP_IN][i] * m->block;
      }
    }
  }
}

static PetscErrorCode TakeOffers(PeerLink *link, const VpMessages *m, const Offer offers[])
{
  Route           *route = (Route *)m->route;
  std::vector<Out> out(m->n[VP_OUT]);
  std::vector<In>  in(m->n[VP_IN]);
  size_t           most = 1;
  char            *p;

  PetscFunctionBegin;
  for (int i = 0; i < m->n[VP_OUT]; i++) {
    const Offer   &offer = offers[m->rank[VP_OUT][i]];
    const PetscInt first = m->start[VP_OUT][i];
    const size_t   bytes = (size_t)(m->start[VP_OUT][i + 1] - first) * m->block;

    VpCudaCall(MapChunk(link, &offer.handle, &p));
    out[i] = {(const char *)m->data[VP_OUT] + (size_t)first * m->block,
              p + offer.data,
              bytes,
              (volatile uint32_t *)(p + offer.flag),
              route->counts + m->n[VP_IN] + i,
              0,
              0};
    most = PetscMax(most, bytes);
  }
  for (int i = 0; i < m->n[VP_IN]; i++) {
    const Offer &offer = offers[m->rank[VP_IN][i]];

    VpCudaCall(MapChunk(link, &offer.handle, &p));
    in[i] = {route->counts + i, (volatile uint32_t *)(p + offer.ack), 0};
  }
  route->blocks = PetscMin(VpBlocks((int32_t)PetscMin(most, (size_t)INT32_MAX / 2), EACH), MOST_BLOCKS);
  PetscCall(VpCudaPlace(out.data(), out.size() * sizeof(Out), "messages", &route->out));
  PetscCall(VpCudaPlace(in.data(), in.size() * sizeof(In), "messages", &route->in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrepareMessages(VpLink base, VpMessages *m)
{
  PeerLink   *link = (PeerLink *)base;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(link->comm, &size));
  std::vector<Offer> given(size), got(size);
  MakeOffers(link, m, given.data());
  PetscCallMPI(MPI_Alltoall(given.data(), sizeof(Offer), MPI_BYTE, got.data(), sizeof(Offer), MPI_BYTE, link->comm));
  PetscCall(TakeOffers(link, m, got.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BeginMessages(VpLink base, const VpMessages *m, const void *roots)
{
  const PeerLink *link = (const PeerLink *)base;
  const Route    *route = (const Route *)m->route;

  PetscFunctionBegin;
  PetscCall(VpStreamLinkPack(link, m, roots));
  PetscCall(VpCudaLaunch("messages to peers", PushMessages, {dim3(route->blocks, PetscMax(m->n[VP_OUT], 1)), VP_THREADS, 0, link->stream},
                         m->n[VP_IN], (const In *)route->in.p, m->n[VP_OUT], (Out *)route->out.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EndMessages(VpLink base, const VpMessages *m, void *leaves)
{
  const PeerLink *link = (const PeerLink *)base;
  const Route    *route = (const Route *)m->route;
  const VpLaunch  launch = {m->n[VP_IN] ? 1 : 0, PetscMax(m->n[VP_IN], 1), 0, link->stream};

  PetscFunctionBegin;
  PetscCall(VpCudaLaunch("messages from peers", AwaitFlags, launch, (In *)route->in.p));
  PetscCall(VpStreamLinkUnpack(link, m, leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the link */

static int DeleteLink(MPI_Comm comm, int, void *value, void *)
{
  PeerLink *link = (PeerLink *)value;

  (void)cudaDeviceSynchronize();
  for (const Mapped &m : link->others) (void)cudaIpcCloseMemHandle(m.p);
  (void)MPI_Barrier(comm); /* No rank maps what is released now. */
  for (const Chunk &c : link->own) (void)cudaFree(c.p);
  VpStreamLinkDestroy(link);
  delete link;
  return MPI_SUCCESS;
}

/* Tests the link: every rank writes its number to its place in the chunks of all others. *error: the first error, before or in the test;
   cudaErrorPeerAccessUnsupported if numbers got lost */
static PetscErrorCode TestLink(PeerLink *link, cudaError_t *error)
{
  PetscMPIInt        rank, size;
  cudaIpcMemHandle_t own = {};
  char              *p;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(link->comm, &rank));
  PetscCallMPI(MPI_Comm_size(link->comm, &size));
  std::vector<cudaIpcMemHandle_t> all(size);
  std::vector<int>                numbers(size, -1);
  if (*error == cudaSuccess) own = link->own[0].handle;
  if (*error == cudaSuccess)
    *error = cudaMemcpyAsync(link->own[0].p, numbers.data(), size * sizeof(int), cudaMemcpyHostToDevice, link->stream);
  (void)cudaStreamSynchronize(link->stream);
  PetscCallMPI(MPI_Allgather(&own, sizeof(own), MPI_BYTE, all.data(), sizeof(own), MPI_BYTE, link->comm));
  for (int i = 0; i < size && *error == cudaSuccess; i++) {
    if (i == rank) continue;
    *error = MapChunk(link, &all[i], &p);
    if (*error == cudaSuccess) *error = cudaMemcpyAsync(p + rank * sizeof(int), &rank, sizeof(int), cudaMemcpyHostToDevice, link->stream);
  }
  (void)cudaStreamSynchronize(link->stream);
  PetscCallMPI(MPI_Barrier(link->comm));
  if (*error == cudaSuccess)
    *error = cudaMemcpyAsync(numbers.data(), link->own[0].p, size * sizeof(int), cudaMemcpyDeviceToHost, link->stream);
  (void)cudaStreamSynchronize(link->stream);
  for (int i = 0; i < size && *error == cudaSuccess; i++) {
    if (i != rank && numbers[i] != i) *error = cudaErrorPeerAccessUnsupported;
  }
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLink(MPI_Comm comm, VpLink *out, const char **why)
{
  PeerLink   *link;
  PetscMPIInt size, here, good;
  MPI_Comm    host;
  cudaError_t error;
  int         failed;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_size(host, &here));
  PetscCallMPI(MPI_Comm_free(&host));
  good = here == size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_LAND, comm));
  *why = "there are several hosts";
  if (!good) PetscFunctionReturn(PETSC_SUCCESS);
  link = new PeerLink();
  link->kind = &VpCudaPeerLinks;
  link->comm = comm;
  error = AddChunk(link, CHUNK);
  PetscCall(VpStreamLinkCreate(link));
  PetscCall(TestLink(link, &error));
  failed = error;
  PetscCall(VpLinkFailure(comm, cudaSuccess, &failed));
  *why = cudaGetErrorString((cudaError_t)failed);
  if (failed == cudaSuccess) *out = link;
  else (void)DeleteLink(comm, 0, link, NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConnectRanks(MPI_Comm comm, VpLink *link, const char **why)
{
  static int key = MPI_KEYVAL_INVALID;

  return VpLinkOnce(comm, &key, CreateLink, DeleteLink, link, why);
}

extern "C" const VpLinks VpCudaPeerLinks = {.name = "peer",
                                            .connect = ConnectRanks,
                                            .reserve = ReserveMessages,
                                            .prepare = PrepareMessages,
                                            .remove = RemoveMessages,
                                            .begin = BeginMessages,
                                            .end = EndMessages};
