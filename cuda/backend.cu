/* The GPU as a backend: memory on the current device, one stream, the kernels by precision, dimension and degree. */
#include "prefers.h"
#include "device/link.cuh"
#include "patch/patchshape.cuh"
#include <vector>

cudaStream_t VpCudaStream = NULL;

static PetscErrorCode UseStream(void *stream)
{
  PetscFunctionBegin;
  if (stream != (void *)VpCudaStream) VpCudaCall(cudaDeviceSynchronize()); /* what was given to the old one comes first */
  VpCudaStream = (cudaStream_t)stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to[places[i]] = from[list[i]] for cells of 4-byte words, one warp per cell. A thread loads several words before it waits for one. */
static __global__ void MoveCells(int32_t n, int words, const int32_t *list, const uint32_t *from, const int32_t *places, uint32_t *to)
{
  for (int32_t i = blockIdx.x * blockDim.y + threadIdx.y; i < n; i += gridDim.x * blockDim.y) {
    const size_t there = (size_t)(list ? list[i] : i) * words, here = (size_t)(places ? places[i] : i) * words;
    for (int first = threadIdx.x; first < words; first += 4 * VP_WARP) {
      uint32_t word[4];

      UNROLL (int k = 0; k < 4; k++) word[k] = first + VP_WARP * k < words ? from[there + first + VP_WARP * k] : 0;
      UNROLL (int k = 0; k < 4; k++)
        if (first + VP_WARP * k < words) to[here + first + VP_WARP * k] = word[k];
    }
  }
}

static PetscErrorCode MoveAllCells(int32_t n, size_t block, const int32_t *list, const void *from, const int32_t *places, void *to)
{
  return VpCudaLaunch("cells to other places", MoveCells, {VpLoopingBlocks(n, VP_WARPS), dim3(VP_WARP, VP_WARPS)}, n, (int)(block / 4),
                      list, (const uint32_t *)from, places, (uint32_t *)to);
}

/* a device, and one that these kernels were compiled for */
static PetscErrorCode HasDevice(PetscBool *available)
{
  cudaFuncAttributes attributes;
  int                count = 0;

  PetscFunctionBegin;
  *available =
    (PetscBool)(cudaGetDeviceCount(&count) == cudaSuccess && count > 0 && cudaFuncGetAttributes(&attributes, MoveCells) == cudaSuccess);
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ChooseDevice(int index, int *count)
{
  PetscFunctionBegin;
  if (cudaGetDeviceCount(count) != cudaSuccess) *count = 0;
  (void)cudaGetLastError();
  if (index >= 0 && *count) VpCudaCall(cudaSetDevice(index % *count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WaitForWork(void)
{
  return VpCudaCheck(cudaStreamSynchronize(VpCudaStream));
}

/* the pool that PETSc takes the memory of its vectors from */
static PetscErrorCode GetPool(cudaMemPool_t *pool)
{
  int device;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  VpCudaCall(cudaDeviceGetMemPool(pool, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what the pool holds but does not use counts as available */
static PetscErrorCode GetMemory(double *available, double *total)
{
  size_t        free = 0, all = 0;
  uint64_t      reserved = 0, used = 0;
  cudaMemPool_t pool;

  PetscFunctionBegin;
  VpCudaCall(cudaMemGetInfo(&free, &all));
  PetscCall(GetPool(&pool));
  VpCudaCall(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  VpCudaCall(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  *available = (double)free + (double)reserved - (double)used;
  *total = (double)all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DescribeDevice(char text[], size_t size)
{
  cudaDeviceProp properties;
  int            device, runtime, driver;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  VpCudaCall(cudaGetDeviceProperties(&properties, device));
  VpCudaCall(cudaRuntimeGetVersion(&runtime));
  VpCudaCall(cudaDriverGetVersion(&driver));
  PetscCall(PetscSNPrintf(text, size, "%s, compute capability %d.%d, CUDA %d.%d, driver for %d.%d", properties.name, properties.major,
                          properties.minor, runtime / 1000, runtime % 1000 / 10, driver / 1000, driver % 1000 / 10));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAllocation(cudaError_t error, size_t bytes, const char *what)
{
  double available, total;

  PetscFunctionBegin;
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    PetscCall(GetMemory(&available, &total));
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "No device memory for %s: %.0f bytes asked for, %.0f of %.0f free", what, (double)bytes,
            available, total);
  }
  VpCudaCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaAlloc(size_t bytes, const char *what, void **p)
{
  cudaError_t   error = cudaMalloc(p, bytes ? bytes : 1);
  cudaMemPool_t pool;

  PetscFunctionBegin;
  if (error == cudaErrorMemoryAllocation) { /* once more with what the pool does not need */
    (void)cudaGetLastError();
    PetscCall(GetPool(&pool));
    VpCudaCall(cudaDeviceSynchronize());
    VpCudaCall(cudaMemPoolTrimTo(pool, 0));
    error = cudaMalloc(p, bytes ? bytes : 1);
  }
  PetscCall(CheckAllocation(error, bytes, what));
  VpCudaCall(cudaMemsetAsync(*p, 0, bytes, VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a pool of the present device that keeps what is given back for the next time */
static PetscErrorCode GetOwnPool(cudaMemPool_t *pool)
{
  static std::vector<cudaMemPool_t> own; /* by device */
  cudaMemPoolProps                  properties = {};
  uint64_t                          all = UINT64_MAX;
  int                               device;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  if ((size_t)device >= own.size()) own.resize((size_t)device + 1);
  if (!own[device]) {
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = device;
    VpCudaCall(cudaMemPoolCreate(&own[device], &properties));
    VpCudaCall(cudaMemPoolSetAttribute(own[device], cudaMemPoolAttrReleaseThreshold, &all));
  }
  *pool = own[device];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BorrowMemory(size_t bytes, const char *what, void **p)
{
  cudaMemPool_t pool;

  PetscFunctionBegin;
  PetscCall(GetOwnPool(&pool));
  PetscCall(CheckAllocation(cudaMallocFromPoolAsync(p, bytes ? bytes : 1, pool, VpCudaStream), bytes, what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GiveBackMemory(void *p)
{
  return VpCudaCheck(cudaFreeAsync(p, VpCudaStream));
}

static PetscErrorCode AllocHost(size_t bytes, const char *what, void **p)
{
  cudaError_t error = cudaMallocHost(p, bytes ? bytes : 1);

  PetscFunctionBegin;
  PetscCheck(error != cudaErrorMemoryAllocation, PETSC_COMM_SELF, PETSC_ERR_MEM, "No page-locked host memory for %s: %.0f bytes asked for",
             what, (double)bytes);
  VpCudaCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReleaseHost(void *p)
{
  return VpCudaCheck(cudaFreeHost(p));
}

static PetscErrorCode ReleaseMemory(void *p)
{
  return VpCudaCheck(cudaFree(p));
}

PetscErrorCode VpCudaPlace(const void *host, size_t bytes, const char *what, VpArray *array)
{
  PetscFunctionBegin;
  PetscCall(VpCudaAlloc(bytes, what, &array->p));
  PetscCall(VpCudaUpload(host, bytes, array->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaAttribute(cudaDeviceAttr attribute, int *value)
{
  int device;

  PetscFunctionBegin;
  VpCudaCall(cudaGetDevice(&device));
  VpCudaCall(cudaDeviceGetAttribute(value, attribute, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroMemory(void *p, size_t bytes)
{
  return VpCudaCheck(bytes ? cudaMemsetAsync(p, 0, bytes, VpCudaStream) : cudaSuccess);
}

static PetscErrorCode CopyMemory(const void *from, size_t bytes, void *to)
{
  return VpCudaCheck(bytes ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, VpCudaStream) : cudaSuccess);
}

static PetscErrorCode ReleasePlans(VpPlans **plans)
{
  PetscFunctionBegin;
  delete *plans;
  *plans = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NULL where there is none */
static const VpOps *GetOps(VpPrecision precision, int dim, int degree)
{
  static VpCudaFill *const fill[] = {VpCudaOperatorOps,   VpCudaSweepOps,   VpCudaTransferOps, VpCudaTracesOps,
                                     VpCudaSeparableOps,  VpCudaConvertOps, VpCudaPointsOps,   VpCudaCellsOps,
                                     VpCudaInterfacesOps, VpCudaModesOps,   VpCudaMetricOps};
  static VpOps             table[2][2][VP_MAX_DEGREE];
  VpOps                   *ops;

  if (dim < 2 || dim > 3 || degree < 1 || degree > VP_MAX_DEGREE) return NULL;
  ops = &table[precision == VP_DOUBLE][dim - 2][degree - 1];
  for (auto f : fill) f(precision, dim, degree, ops);
  return ops;
}

/* captures on a stream of its own, since the default stream cannot be captured */
static PetscErrorCode RecordWork(PetscErrorCode (*work)(void *), void *context, cudaGraphExec_t *graph)
{
  cudaStream_t   outer = VpCudaStream, stream;
  cudaGraph_t    captured = NULL;
  PetscErrorCode error;
  cudaError_t    ended;

  PetscFunctionBegin;
  VpCudaCall(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  VpCudaCall(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  VpCudaStream = stream;
  error = work(context);
  VpCudaStream = outer;
  ended = cudaStreamEndCapture(stream, &captured);
  VpCudaCall(cudaStreamDestroy(stream));
  if (error && captured) VpCudaCall(cudaGraphDestroy(captured));
  PetscCall(error);
  VpCudaCall(ended);
  VpCudaCall(cudaGraphInstantiateWithFlags(graph, captured, cudaGraphInstantiateFlagUseNodePriority));
  VpCudaCall(cudaGraphDestroy(captured));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first call runs the work: it prepares plans, for which the host waits. */
static PetscErrorCode ReplayWork(VpRecording *recording, PetscErrorCode (*work)(void *), void *context)
{
  cudaStreamCaptureStatus status;

  PetscFunctionBegin;
  VpCudaCall(cudaStreamIsCapturing(VpCudaStream, &status));
  if (status != cudaStreamCaptureStatusNone || !recording->calls++) {
    PetscCall(work(context));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!recording->graph) PetscCall(RecordWork(work, context, (cudaGraphExec_t *)&recording->graph));
  VpCudaCall(cudaGraphLaunch((cudaGraphExec_t)recording->graph, VpCudaStream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ForgetRecord(VpRecording *recording)
{
  PetscFunctionBegin;
  if (recording->graph) VpCudaCall(cudaGraphExecDestroy((cudaGraphExec_t)recording->graph));
  recording->graph = NULL;
  recording->calls = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpBackend VpBackendCuda = {.name = "cuda",
                                 .prefers = &VpCudaPrefers,
                                 .alloc = VpCudaAlloc,
                                 .release = ReleaseMemory,
                                 .borrow = BorrowMemory,
                                 .give_back = GiveBackMemory,
                                 .upload = VpCudaUpload,
                                 .download = VpCudaFetch,
                                 .zero = ZeroMemory,
                                 .copy = CopyMemory,
                                 .aside = VpCudaAside,
                                 .rejoin = VpCudaRejoin,
                                 .mdot = VpCudaDots,
                                 .maxpy = VpCudaMaxpy,
                                 .descend = VpCudaDescend,
                                 .ops = GetOps,
                                 .make = &VpCudaMakers,
                                 .move = MoveAllCells,
                                 .invert_dense = VpCudaInvertDense,
                                 .scatter = VpCudaScatter,
                                 .form_diagonal = VpCudaFormDiagonal,
                                 .reciprocals = VpCudaReciprocals,
                                 .relax = VpCudaRelax,
                                 .number_nodes = VpCudaNumberNodes,
                                 .list_places = VpCudaListPlaces,
                                 .release_plans = ReleasePlans,
                                 .available = HasDevice,
                                 .choose = ChooseDevice,
                                 .use_stream = UseStream,
                                 .wait = WaitForWork,
                                 .memory = GetMemory,
                                 .describe = DescribeDevice,
                                 .alloc_host = AllocHost,
                                 .release_host = ReleaseHost,
                                 .replay = ReplayWork,
                                 .forget = ForgetRecord,
                                 .links = VpCudaLinks,
                                 .patch_bytes = sizeof(vpatchdg::patch::PatchCells) + sizeof(vpatchdg::patch::PatchCovers) +
                                                sizeof(uint8_t) + sizeof(int32_t)};
