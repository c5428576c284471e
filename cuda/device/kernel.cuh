/* What the CUDA sources share: the stream, error checks, kernels by type, dimension and degree, the plans of views. */
#pragma once
#include "../../src/kernels/ops.h"
#include <cuda_runtime.h>
#include <map>
#include <memory>

extern cudaStream_t VpCudaStream;

/* an error of CUDA as one of PETSc */
static inline PetscErrorCode VpCudaCheck(cudaError_t error)
{
  PetscFunctionBegin;
  PetscCheck(error == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA: %s", cudaGetErrorString(error));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#define VpCudaCall(...) PetscCall(VpCudaCheck(__VA_ARGS__))

/* Blocks, threads per block, and bytes of shared memory in addition to what the kernel declares. */
struct VpLaunch {
  dim3         blocks, threads;
  size_t       bytes = 0;
  cudaStream_t stream = VpCudaStream;
};
/* Launches kernel(arguments), unless there are no blocks. Ensures: an error if the launch is impossible. */
template <class... Parameters, class... Arguments>
PetscErrorCode VpCudaLaunch(const char *what, void (*kernel)(Parameters...), const VpLaunch &launch, const Arguments &...arguments)
{
  cudaError_t error;

  PetscFunctionBegin;
  if (!launch.blocks.x) PetscFunctionReturn(PETSC_SUCCESS);
  if (launch.bytes) VpCudaCall(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)launch.bytes));
  kernel<<<launch.blocks, launch.threads, launch.bytes, launch.stream>>>(arguments...);
  error = cudaGetLastError();
  PetscCheck(error == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "CUDA kernel %s: %s", what, cudaGetErrorString(error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define UNROLL(...) _Pragma("unroll") for (__VA_ARGS__)

/* threads of a warp; warps of a block that has one item per warp */
enum { VP_WARP = 32, VP_WARPS = 8 };
/* most threads of a block; default number of threads; most blocks of a launch whose threads loop over items */
enum { VP_MAX_THREADS = 1024, VP_THREADS = 256, VP_MAX_LOOPING = 65536 };
/* most bytes of shared memory that a kernel may declare */
enum { VP_MAX_STATIC = 48 << 10 };

/* most bytes that a thread reads at once, from an address that is a multiple of this */
enum { VP_WIDE_BYTES = 16 };

/* blocks of a launch for n items, `each` per block; VpLoopingBlocks: or more per block, in a loop */
static inline int32_t VpBlocks(int32_t n, int each)
{
  return (n + each - 1) / each;
}
static inline int32_t VpLoopingBlocks(size_t n, int each)
{
  return (int32_t)PetscMin((n + each - 1) / each, (size_t)VP_MAX_LOOPING);
}

__host__ __device__ constexpr int Power(int n, int d)
{
  return d ? n * Power(n, d - 1) : 1;
}
__host__ __device__ constexpr int Max(int a, int b)
{
  return a > b ? a : b;
}
template <class Int>
__host__ __device__ constexpr Int RoundUp(Int a, int to)
{
  return (a + to - 1) / to * to;
}

/* A block whose threads hold one line each, of cells with LINES lines: as many whole cells as `wanted` threads hold, or one cell. */
template <int LINES>
struct LineShape {
  static constexpr int wanted = 128, lines = LINES, cells = Max(1, wanted / lines), threads = cells * lines;
};

/* VpMirror and VpMirrorSign as a type */
template <int N, int NT>
struct Mirror {
  static constexpr int                     nt = NT;
  static __host__ __device__ constexpr int index(int i)
  {
    return VpMirror(N, NT, i);
  }
  static __host__ __device__ constexpr int sign(int i)
  {
    return VpMirrorSign(N, NT, i);
  }
};

/* Calls f(Of<T, DIM, N>()) for a precision, dimension and n = degree + 1 given at run time. */
template <template <class, int, int> class Of, class T, int DIM, class F>
void VpCudaForDegree(int degree, F f)
{
  switch (degree) {
#define VP_DEGREE(k) \
  case k: \
    f(Of<T, DIM, k + 1>()); \
    break;
#ifdef VP_DEGREES /* tests/bench/shapes.py compiles only some */
    VP_DEGREES
#else
  #include "../../src/kernels/degrees.def"
#endif
#undef VP_DEGREE
  }
}

template <template <class, int, int> class Of, class T, class F>
void VpCudaForDim(int dim, int degree, F f)
{
  if (dim == 2) VpCudaForDegree<Of, T, 2>(degree, f);
  else VpCudaForDegree<Of, T, 3>(degree, f);
}

template <template <class, int, int> class Of, class F>
void VpCudaForKind(VpPrecision precision, int dim, int degree, F f)
{
  if (precision == VP_SINGLE) VpCudaForDim<Of, float>(dim, degree, f);
  else VpCudaForDim<Of, double>(dim, degree, f);
}

/* Each function fills the slots that its file has kernels for. */
typedef void VpCudaFill(VpPrecision, int dim, int degree, VpOps *);
VpCudaFill   VpCudaOperatorOps, VpCudaSweepOps, VpCudaTransferOps, VpCudaTracesOps, VpCudaSeparableOps, VpCudaConvertOps, VpCudaPointsOps,
  VpCudaCellsOps, VpCudaInterfacesOps, VpCudaModesOps, VpCudaMetricOps;

/* what the slot apply is asked for */
struct VpCudaApply {
  const VpView *view;
  int32_t       first, last; /* on cells [first, last) */
  const void   *x;
  VpGhosts      ghosts;
  const void   *b;
  void         *y;
};
/* metric.cu: slots where the view has a metric */
PetscErrorCode VpCudaMetricApply(const VpCudaApply &);
PetscErrorCode VpCudaMetricPack(const VpView *, int32_t n, const int32_t *list, const void *x, void *to);
PetscErrorCode VpCudaMetricUnpack(const VpView *, int32_t n, const int32_t *list, const void *from, void *x);
/* pullback.cu */
extern const VpMakers VpCudaMakers;
/* vectors.cu */
PetscErrorCode VpCudaDots(size_t n, const double *x, int count, const double *const y[], double *dots);
PetscErrorCode VpCudaMaxpy(size_t n, double *x, int count, const double a[], const double *const y[]);
PetscErrorCode VpCudaDescend(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *square);
/* nodes.cu */
PetscErrorCode VpCudaScatter(const VpNodeView *, const double *of_cell, const double *of_node, const double *cells, double *nodes);
PetscErrorCode VpCudaFormDiagonal(const VpNodeView *, const VpNodeForm *, double *nodes);
PetscErrorCode VpCudaReciprocals(size_t n, double *x, double *one);
PetscErrorCode VpCudaRelax(size_t n, PetscBool add, const double *step, const double *r, const double *y, double *x);
PetscErrorCode VpCudaNumberNodes(const VpEntities *, int32_t *node);
PetscErrorCode VpCudaListPlaces(const VpNodeView *, int32_t *start, int32_t *place);
/* vectors.cu: sums[i], on the host, = the sum of partial[i][blocks], i in [0, n); waits */
PetscErrorCode VpCudaSums(int n, int blocks, const double *partial, double *sums);
/* dense.cu */
PetscErrorCode VpCudaInvertDense(const VpDenseInverse *, VpPrecision, void *M, double *largest);

/* sweep.cu, sweepdouble.cu */
void VpCudaSweepSingle(int dim, int degree, VpOps *), VpCudaSweepDouble(int dim, int degree, VpOps *);

/* device memory that is freed with its plan */
struct VpArray {
  void *p = NULL;
  VpArray()
  {
  }
  VpArray(const VpArray &) = delete;
  ~VpArray()
  {
    (void)cudaFree(p);
  }
};
PetscErrorCode VpCudaAlloc(size_t bytes, const char *what, void **p);
PetscErrorCode VpCudaPlace(const void *host, size_t bytes, const char *what, VpArray *);
PetscErrorCode VpCudaUpload(const void *host, size_t bytes, void *device); /* waits */
PetscErrorCode VpCudaFetch(const void *device, size_t bytes, void *host);  /* waits */
/* to = an entry of a table on the device, of the size of `to`; waits */
template <class Entry>
PetscErrorCode VpCudaFetchEntry(const void *table, int32_t entry, Entry &to)
{
  return VpCudaFetch((const char *)table + (size_t)entry * sizeof(to), sizeof(to), &to);
}
/* to [end][value, slope][i] = VpBasisTrace or VpBasisExpand, rounded to T */
template <class T, int NT>
void VpTabulate(double (*of)(const VpBasis *, int, int, int), const VpBasis *basis, T (&to)[2][2][NT])
{
  for (int end = 0; end < 2; end++)
    for (int k = 0; k < 2; k++)
      for (int i = 0; i < NT; i++) to[end][k][i] = (T)of(basis, end, k, i);
}
PetscErrorCode VpCudaAttribute(cudaDeviceAttr, int *value); /* of the present device */

/* streams.cu: Fork gives a second stream, which begins after all work so far. Join makes later work wait for it. Aside and Rejoin are the
   slots of VpBackend, with a third stream. Fork may be called inside Aside. */
PetscErrorCode VpCudaFork(cudaStream_t *side);
PetscErrorCode VpCudaJoin(void);
PetscErrorCode VpCudaAside(PetscErrorCode (*work)(void *), void *context);
PetscErrorCode VpCudaRejoin(void);

/* The plans of a view. Each kind of view has its own type, which its prepare() makes. */
struct VpPlans {
  virtual ~VpPlans()
  {
  }
};
/* the plans of a view, which are of this type */
template <class Plans, class View>
Plans &VpCudaPlans(const View *view)
{
  return *static_cast<Plans *>(view->plans);
}
/* A plan that is filled when it is first asked for. */
template <class Plan>
struct VpOnce {
  std::unique_ptr<Plan> plan;

  template <class F>
  PetscErrorCode Get(Plan **out, F fill)
  {
    PetscFunctionBegin;
    if (!plan) {
      std::unique_ptr<Plan> made(new Plan());
      PetscCall(fill(made.get()));
      plan = std::move(made);
    }
    *out = plan.get();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
/* such plans for ranges of cells or patches */
template <class Plan>
struct VpByRange {
  std::map<std::pair<int32_t, int32_t>, VpOnce<Plan>> plan;

  template <class F>
  PetscErrorCode Get(int32_t first, int32_t last, Plan **out, F fill)
  {
    return plan[{first, last}].Get(out, fill);
  }
};

/* Prefetches the `bytes` at p to L2. Does nothing on GPUs before Hopper, which lack the instruction. */
template <int bytes>
__device__ __forceinline__ void Prefetch(const void *p)
{
#if __CUDA_ARCH__ >= 900
  constexpr int unit = 16; /* of the instruction */
  const size_t  skip = (unit - (size_t)p % unit) % unit;

  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"((const char *)p + skip), "r"((int)(bytes - skip) & ~(unit - 1)));
#endif
}

/* number of the buffer of x that holds a cell. cover: colours that hold the cell; done: colours swept before */
__device__ __forceinline__ int BufferOf(unsigned cover, unsigned done)
{
  return __popc(cover & done) & 1;
}

template <class T>
VP_HARMONIC_MEAN(__device__ __forceinline__ T HarmonicMean, T)

__device__ __forceinline__ float Reciprocal(float a)
{
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
}
/* 1/a by two Newton steps from the hardware's 20 bits. Requires: a is a normal number */
__device__ __forceinline__ double Reciprocal(double a)
{
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  r = fma(r, fma(-a, r, 1.), r);
  return fma(r, fma(-a, r, 1.), r);
}

/* offset of line l along direction d in an array of values with the strides 1, sy, sz. `extent` lines lie side by side. */
template <int DIM>
__device__ __forceinline__ int LineStart(int d, int extent, int l, int sy, int sz)
{
  if (DIM == 2) return d == 0 ? l * sy : l;
  const int a = l % extent, b = l / extent;
  return d == 0 ? a * sy + b * sz : d == 1 ? a + b * sz : a + b * sy;
}

/* the roots of mapped cells, or NULL: a mapped level's coefficients are outer ones divided by these (VpMetricView) */
struct Roots {
  const double *root;
  int32_t       period;

  explicit Roots(const VpView *view) : root(view->metric.root), period(view->metric.period)
  {
  }
  /* 1 / the root of value k, of `values`, of a cell */
  __device__ __forceinline__ double Inverse(int32_t cell, int k, int values) const
  {
    return root ? Reciprocal(__ldg(root + (size_t)(cell % period) * values + k)) : 1.;
  }
};
