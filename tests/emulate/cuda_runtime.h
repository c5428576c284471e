/* As much of CUDA's language and runtime as the library uses, for a C++ compiler on a machine without GPU. emulate.cc runs the threads.

   A stream does its work at once, in the order in which it is given, unless a graph is captured. Device memory is the host's; what was
   never written there is NaN. `__shared__` is written as `static` by translate.pl, so that blocks which run at the same time can only have
   shared memory of the launch's size. */
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_)
  {
  }
  size_t Size() const
  {
    return (size_t)x * y * z;
  }
};
struct int2 {
  int x, y;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
inline int2 make_int2(int x, int y)
{
  return {x, y};
}

/* the name of a launch that has none of its own */
static const char *const what = "without name";

/* of the thread that runs */
extern uint3 threadIdx, blockIdx;
extern dim3  blockDim, gridDim;

namespace emulated {
typedef std::function<void()> Work;

extern unsigned char *shared; /* of the block that runs, of the launch's size */

/* These return when all threads of the block, the warp or the grid have called them. */
void SyncBlock(), SyncWarp(), SyncGrid();
int  Lane();
/* mine in all lanes of the warp, until it waits again */
const uint64_t *OfLanes(uint64_t mine);

/* does the work now, or puts it into the graph that is captured */
void Submit(const Work &);
/* runs a kernel's threads; `together`: all blocks are there at once */
void Run(const char *name, dim3 blocks, dim3 threads, size_t bytes, bool together, const Work &thread);

template <class T>
T Shuffle(T value, int from)
{
  uint64_t word = 0;

  memcpy(&word, &value, sizeof(value));
  word = OfLanes(word)[from % 32];
  memcpy(&value, &word, sizeof(value));
  return value;
}

struct Launch {
  dim3                 blocks, threads;
  size_t               bytes = 0;
  struct StreamHandle *stream = nullptr;
};
template <class... Parameters>
void Start(const char *name, const Launch &l, bool together, void (*kernel)(Parameters...),
           std::shared_ptr<std::tuple<std::decay_t<Parameters>...>> held)
{
  Submit([=] { Run(name, l.blocks, l.threads, l.bytes, together, [=] { std::apply(kernel, *held); }); });
}
/* kernel<<<...>>>(arguments...) */
template <class... Parameters, class... Arguments>
void Start(const char *name, const Launch &l, void (*kernel)(Parameters...), const Arguments &...arguments)
{
  Start(name, l, false, kernel, std::make_shared<std::tuple<std::decay_t<Parameters>...>>(arguments...));
}
template <class... Parameters, size_t... I>
void StartTogether(const Launch &l, void (*kernel)(Parameters...), void **arguments, std::index_sequence<I...>)
{
  Start("cooperative launch", l, true, kernel,
        std::make_shared<std::tuple<std::decay_t<Parameters>...>>(*(std::decay_t<Parameters> *)arguments[I]...));
}
} // namespace emulated

inline void __syncthreads()
{
  emulated::SyncBlock();
}
inline void __syncwarp(unsigned = ~0u)
{
  emulated::SyncWarp();
}
inline unsigned __activemask()
{
  return ~0u;
}
inline unsigned __ballot_sync(unsigned, bool is)
{
  const uint64_t *word = emulated::OfLanes(is);
  unsigned        all = 0;

  for (int lane = 0; lane < 32; lane++) all |= (unsigned)word[lane] << lane;
  return all;
}
inline int __all_sync(unsigned mask, bool is)
{
  return __ballot_sync(mask, is) == ~0u;
}
template <class T>
T __shfl_sync(unsigned, T value, int from)
{
  return emulated::Shuffle(value, from);
}
template <class T>
T __shfl_down_sync(unsigned, T value, int by)
{
  return emulated::Shuffle(value, std::min(emulated::Lane() + by, 31));
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int by)
{
  return emulated::Shuffle(value, emulated::Lane() ^ by);
}
template <class T>
T __ldg(const T *p)
{
  return *p;
}
inline int __popc(unsigned a)
{
  return __builtin_popcount(a);
}
inline int __ffs(unsigned a)
{
  return __builtin_ffs((int)a);
}

enum cudaError_t {
  cudaSuccess,
  cudaErrorMemoryAllocation,
  cudaErrorNotSupported,
  cudaErrorCooperativeLaunchTooLarge,
  cudaErrorPeerAccessUnsupported
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum { cudaEventDisableTiming, cudaStreamNonBlocking, cudaStreamCaptureModeRelaxed, cudaGraphInstantiateFlagUseNodePriority };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin };
enum { cudaIpcMemLazyEnablePeerAccess };
enum { cudaMemAllocationTypePinned, cudaMemLocationTypeDevice };
enum { cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrUsedMemCurrent };

typedef struct emulated::StreamHandle *cudaStream_t;
typedef struct EventHandle            *cudaEvent_t;
typedef struct PoolHandle             *cudaMemPool_t;
typedef std::vector<emulated::Work>   *cudaGraph_t, *cudaGraphExec_t;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char       name[256];
  cudaUUID_t uuid;
  int        major, minor, multiProcessorCount;
};
struct cudaIpcMemHandle_t {
  char bytes[64];
};
struct cudaFuncAttributes {
  int numRegs;
};
struct cudaMemPoolProps {
  int allocType;
  struct {
    int type, id;
  } location;
};

/* What does nothing here, or answers alike whatever it is asked */
#define EMULATED(name, ...) \
  template <class... Arguments> \
  cudaError_t name(Arguments...) \
  { \
    return cudaSuccess; \
  }
EMULATED(cudaGetLastError)
EMULATED(cudaDeviceSynchronize)
EMULATED(cudaStreamSynchronize)
EMULATED(cudaStreamDestroy)
EMULATED(cudaStreamWaitEvent)
EMULATED(cudaEventRecord)
EMULATED(cudaEventSynchronize)
EMULATED(cudaEventDestroy)
EMULATED(cudaSetDevice)
EMULATED(cudaMemPoolSetAttribute)
EMULATED(cudaMemPoolTrimTo)
EMULATED(cudaFuncSetAttribute)
#undef EMULATED
#define EMULATED(name, type, value) \
  template <class... Arguments> \
  cudaError_t name(type *to, Arguments...) \
  { \
    *to = value; \
    return cudaSuccess; \
  }
EMULATED(cudaStreamCreateWithFlags, cudaStream_t, nullptr)
EMULATED(cudaStreamCreateWithPriority, cudaStream_t, nullptr)
EMULATED(cudaEventCreateWithFlags, cudaEvent_t, nullptr)
EMULATED(cudaDeviceGetMemPool, cudaMemPool_t, nullptr)
EMULATED(cudaMemPoolCreate, cudaMemPool_t, (cudaMemPool_t)8) /* not NULL, which is a pool that was not made yet */
EMULATED(cudaGetDevice, int, 0)
EMULATED(cudaGetDeviceCount, int, 1)
EMULATED(cudaRuntimeGetVersion, int, 12040)
EMULATED(cudaDriverGetVersion, int, 12040)
EMULATED(cudaFuncGetAttributes, cudaFuncAttributes, {32})
#undef EMULATED

inline const char *cudaGetErrorString(cudaError_t)
{
  return "refused by the emulator";
}
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
  *value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 << 10 : 132;
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
  *p = cudaDeviceProp{"emulated GPU", {}, 9, 0, 132};
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int threads, size_t bytes)
{
  *blocks = (int)std::min(2048 / (size_t)threads, ((size_t)228 << 10) / (bytes + 1024));
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
  *available = *total = (size_t)8 << 30;
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, int, uint64_t *bytes)
{
  *bytes = 0;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
  *least = *greatest = 0;
  return cudaSuccess;
}

template <class T>
cudaError_t cudaMalloc(T **p, size_t bytes)
{
  if (posix_memalign((void **)p, 256, bytes)) return cudaErrorMemoryAllocation;
  memset((void *)*p, 0xff, bytes);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMallocHost(T **p, size_t bytes)
{
  return cudaMalloc(p, bytes);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T **p, size_t bytes, cudaMemPool_t, cudaStream_t)
{
  return cudaMalloc(p, bytes);
}
inline cudaError_t cudaFree(void *p)
{
  free(p);
  return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *p)
{
  return cudaFree(p);
}
inline cudaError_t cudaFreeAsync(void *p, cudaStream_t)
{
  return cudaFree(p);
}
/* Processes share no memory. */
inline cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *, void *)
{
  return cudaErrorNotSupported;
}
inline cudaError_t cudaIpcOpenMemHandle(void **, cudaIpcMemHandle_t, unsigned)
{
  return cudaErrorNotSupported;
}
inline cudaError_t cudaIpcCloseMemHandle(void *)
{
  return cudaErrorNotSupported;
}
inline unsigned atomicAdd(unsigned *p, unsigned a)
{
  const unsigned before = *p;

  *p += a;
  return before;
}
inline void __threadfence_system(void)
{
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
  emulated::Submit([=] { memmove(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t apart, const void *from, size_t apart_there, size_t width, size_t rows,
                                     cudaMemcpyKind, cudaStream_t)
{
  emulated::Submit([=] {
    for (size_t i = 0; i < rows; i++) memmove((char *)to + i * apart, (const char *)from + i * apart_there, width);
  });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
  emulated::Submit([=] { memset(p, value, bytes); });
  return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, void **arguments, size_t bytes,
                                        cudaStream_t)
{
  emulated::StartTogether({blocks, threads, bytes}, kernel, arguments, std::index_sequence_for<Parameters...>());
  return cudaSuccess;
}

cudaError_t        cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *);
cudaError_t        cudaStreamBeginCapture(cudaStream_t, int);
cudaError_t        cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *to, cudaGraph_t graph, unsigned)
{
  *to = new std::vector<emulated::Work>(*graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
  for (const emulated::Work &work : *graph) emulated::Submit(work);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
  return cudaGraphDestroy(graph);
}
