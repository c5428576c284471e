/* The dense inverse of a sparse matrix (kernels/views.h says what it is for), by Gauss and Jordan in blocks. With the
   rows P of a block and the others R, a step turns

       A_PP  A_PR          A_PP^-1                A_PP^-1 A_PR
       A_RP  A_RR   -->   -A_RP A_PP^-1    A_RR - A_RP A_PP^-1 A_PR

   After a step with every block A has become its inverse. No pivots are sought, because A's leading parts are not singular.
   A has `ld` rows and columns, a multiple of BLOCK. Surplus ones are those of the identity. */
#include "device/load.cuh"

enum { BLOCK = 64, DEPTH = 32, SPAN = 16, EACH = BLOCK / SPAN }; /* SPAN^2 threads make BLOCK^2 numbers, each thread EACH^2 of them */

static __global__ void FillRows(const PetscInt *start, const PetscInt *column, const PetscScalar *value, int32_t n, int32_t ld, double *A)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= ld) return;
  if (i >= n) A[(size_t)i * ld + i] = 1;
  else
    for (PetscInt k = start[i]; k < start[i + 1]; k++) A[(size_t)i * ld + column[k]] += PetscRealPart(value[k]);
}

/* rows += weight e e^T, where e [n]; rows begin with row `first` */
static __global__ void AddProjection(double weight, const double *e, int32_t n, int32_t first, int32_t ld, double *rows)
{
  const int32_t j = blockIdx.x * blockDim.x + threadIdx.x;

  if (j < n) rows[(size_t)blockIdx.y * ld + j] += weight * e[first + blockIdx.y] * e[j];
}

/* D [BLOCK][BLOCK] = the inverse of the block at A, by the same steps with single rows */
static __global__ void __launch_bounds__(VP_MAX_THREADS) InvertBlock(int32_t ld, const double *A, double *D)
{
  constexpr int     rows = VP_MAX_THREADS / BLOCK, each = BLOCK / rows;
  __shared__ double a[BLOCK][BLOCK + 1];
  const int         j = threadIdx.x, i0 = threadIdx.y;

  UNROLL (int r = 0; r < each; r++) a[i0 + r * rows][j] = A[(size_t)(i0 + r * rows) * ld + j];
  __syncthreads();
  for (int p = 0; p < BLOCK; p++) {
    const double one = 1 / a[p][p], row = j == p ? one : one * a[p][j];
    double       next[each];

    UNROLL (int r = 0; r < each; r++) {
      const int i = i0 + r * rows;
      next[r] = i == p ? row : (j == p ? 0 : a[i][j]) - a[i][p] * row;
    }
    __syncthreads();
    UNROLL (int r = 0; r < each; r++) a[i0 + r * rows][j] = next[r];
    __syncthreads();
  }
  UNROLL (int r = 0; r < each; r++) D[(i0 + r * rows) * BLOCK + j] = a[i0 + r * rows][j];
}

/* row or column number i of the EACH ones of thread t, which lie side by side in pairs */
static __device__ __forceinline__ int RowAt(int t, int i)
{
  return i / 2 * 2 * SPAN + 2 * t + i % 2;
}

/* sum[i][j] += row RowAt(y, i) of a times column RowAt(x, j) of b, [BLOCK][BLOCK] numbers whose rows are lda and ldb apart */
static __device__ __forceinline__ void AddProduct(const double *a, int32_t lda, const double *b, int32_t ldb, double (&sum)[EACH][EACH])
{
  typedef Pack<double, 2> Pair;
  __shared__ __align__(VP_WIDE_BYTES) double l[DEPTH][BLOCK + 2], r[DEPTH][BLOCK + 2]; /* a, transposed; b */
  const int                                  me = threadIdx.x + SPAN * threadIdx.y;

  for (int k0 = 0; k0 < BLOCK; k0 += DEPTH) {
    for (int i = me; i < DEPTH * BLOCK; i += SPAN * SPAN) {
      l[i % DEPTH][i / DEPTH] = a[(size_t)(i / DEPTH) * lda + k0 + i % DEPTH];
      r[i / BLOCK][i % BLOCK] = b[(size_t)(k0 + i / BLOCK) * ldb + i % BLOCK];
    }
    __syncthreads();
#pragma unroll 4
    for (int k = 0; k < DEPTH; k++) {
      double u[EACH], v[EACH];
      UNROLL (int i = 0; i < EACH; i += 2) {
        *(Pair *)(u + i) = *(const Pair *)(&l[k][RowAt(threadIdx.y, i)]);
        *(Pair *)(v + i) = *(const Pair *)(&r[k][RowAt(threadIdx.x, i)]);
      }
      UNROLL (int i = 0; i < EACH; i++) {
        UNROLL (int j = 0; j < EACH; j++) sum[i][j] += u[i] * v[j];
      }
    }
    __syncthreads();
  }
}

/* row [BLOCK][ld] = D A_P, with D in the place of A_PP; column [ld][BLOCK] = A's column of blocks. Block x of the grid does block x of
   both. */
static __global__ void __launch_bounds__(SPAN *SPAN)
  TakePanels(int32_t ld, int32_t p, const double *A, const double *D, double *row, double *column)
{
  const size_t at = (size_t)blockIdx.x * BLOCK, pivot = (size_t)p * BLOCK;
  double       sum[EACH][EACH] = {};

  if ((int32_t)blockIdx.x != p) AddProduct(D, BLOCK, A + pivot * ld + at, ld, sum);
  UNROLL (int i = 0; i < EACH; i++) {
    UNROLL (int j = 0; j < EACH; j++) {
      const size_t y = RowAt(threadIdx.y, i), x = RowAt(threadIdx.x, j);
      row[y * ld + at + x] = (int32_t)blockIdx.x == p ? D[y * BLOCK + x] : sum[i][j];
      column[(at + y) * BLOCK + x] = A[(at + y) * ld + pivot + x];
    }
  }
}

/* Does the step on A by the two panels. A block of the grid works on a block of A. */
static __global__ void __launch_bounds__(SPAN *SPAN) Eliminate(int32_t ld, int32_t p, const double *row, const double *column, double *A)
{
  const size_t y0 = (size_t)blockIdx.y * BLOCK, x0 = (size_t)blockIdx.x * BLOCK;
  const bool   above = (int32_t)blockIdx.y == p, beside = (int32_t)blockIdx.x == p;
  double       sum[EACH][EACH] = {};

  if (!above) AddProduct(column + y0 * BLOCK, BLOCK, row + x0, ld, sum);
  UNROLL (int i = 0; i < EACH; i++) {
    UNROLL (int j = 0; j < EACH; j++) {
      const size_t y = RowAt(threadIdx.y, i), x = x0 + RowAt(threadIdx.x, j);
      double      *to = A + (y0 + y) * ld + x;
      *to = above ? row[y * ld + x] : (beside ? 0. : *to) - sum[i][j];
    }
  }
}

/* The numbers along one index of an array [rows][..][order][inner] are multiplied by K [order][order]; rows are ld apart, with `lines` such
   lines each. */
static __global__ void ChangeLines(int order, int32_t inner, int32_t lines, int32_t ld, const double *K, double *A)
{
  const int32_t l = blockIdx.x * blockDim.x + threadIdx.x;
  double       *line = A + (size_t)blockIdx.y * ld + (size_t)(l / inner) * inner * order + l % inner, v[VP_MAX_N];

  if (l >= lines) return;
  for (int k = 0; k < order; k++) v[k] = line[(size_t)k * inner];
  for (int i = 0; i < order; i++) {
    double sum = 0;
    for (int k = 0; k < order; k++) sum += K[i * order + k] * v[k];
    line[(size_t)i * inner] = sum;
  }
}

static __global__ void TakeDiagonal(int32_t n, int32_t first, int32_t ld, const double *rows, double *diagonal)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) diagonal[i] = rows[(size_t)i * ld + first + i];
}

template <class T>
static __global__ void RoundRows(int32_t n, int32_t ld, const double *rows, T *M)
{
  const int32_t j = blockIdx.x * blockDim.x + threadIdx.x;

  if (j < n) M[(size_t)blockIdx.y * n + j] = (T)rows[(size_t)blockIdx.y * ld + j];
}

/* a launch of a thread for each number of an array [rows][n] */
static VpLaunch EachNumber(int32_t n, int32_t rows)
{
  return {dim3(VpBlocks(n, VP_THREADS), rows), VP_THREADS};
}

struct DenseInverse {
  const VpDenseInverse *d;
  const int32_t         ld;
  VpArray               A, row, column, one, pivot; /* pivot: the inverse of a diagonal block */

  explicit DenseInverse(const VpDenseInverse *inverse) : d(inverse), ld(RoundUp(inverse->n, BLOCK))
  {
  }
  double *Rows() const /* the wanted rows */
  {
    return (double *)A.p + (size_t)d->first * ld;
  }

  PetscErrorCode Fill()
  {
    VpArray start, columns, value;

    PetscFunctionBegin;
    PetscCall(VpCudaAlloc((size_t)ld * ld * sizeof(double), "a dense inverse", &A.p));
    PetscCall(VpCudaPlace(d->start, (size_t)(d->n + 1) * sizeof(PetscInt), "a dense inverse", &start));
    PetscCall(VpCudaPlace(d->column, (size_t)d->start[d->n] * sizeof(PetscInt), "a dense inverse", &columns));
    PetscCall(VpCudaPlace(d->value, (size_t)d->start[d->n] * sizeof(PetscScalar), "a dense inverse", &value));
    PetscCall(VpCudaLaunch("rows of a dense matrix", FillRows, EachNumber(ld, 1), (const PetscInt *)start.p, (const PetscInt *)columns.p,
                           (const PetscScalar *)value.p, d->n, ld, (double *)A.p));
    VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* before the arrays go */
    if (d->one) PetscCall(VpCudaPlace(d->one, (size_t)d->n * sizeof(double), "a dense inverse", &one));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Project(double weight, int32_t first, int32_t count, double *rows) const
  {
    PetscFunctionBegin;
    if (!d->one) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpCudaLaunch("projection", AddProjection, EachNumber(d->n, count), weight, (const double *)one.p, d->n, first, ld, rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Invert()
  {
    const dim3 threads(SPAN, SPAN);

    PetscFunctionBegin;
    PetscCall(VpCudaAlloc((size_t)ld * BLOCK * sizeof(double), "a dense inverse", &row.p));
    PetscCall(VpCudaAlloc((size_t)ld * BLOCK * sizeof(double), "a dense inverse", &column.p));
    PetscCall(VpCudaAlloc(BLOCK * BLOCK * sizeof(double), "a dense inverse", &pivot.p));
    for (int32_t p = 0; p < ld / BLOCK; p++) {
      double *a = (double *)A.p, *D = (double *)pivot.p, *r = (double *)row.p, *c = (double *)column.p;
      PetscCall(
        VpCudaLaunch("inverse of a block", InvertBlock, {1, dim3(BLOCK, VP_MAX_THREADS / BLOCK)}, ld, a + (size_t)p * BLOCK * (ld + 1), D));
      PetscCall(VpCudaLaunch("panels", TakePanels, {ld / BLOCK, threads}, ld, p, a, D, r, c));
      PetscCall(VpCudaLaunch("elimination", Eliminate, {dim3(ld / BLOCK, ld / BLOCK), threads}, ld, p, r, c, a));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Largest(double *largest) const
  {
    VpArray diagonal;
    double *host;

    PetscFunctionBegin;
    *largest = 0;
    PetscCall(VpCudaAlloc((size_t)d->count * sizeof(double), "a dense inverse", &diagonal.p));
    PetscCall(VpCudaLaunch("diagonal", TakeDiagonal, EachNumber(d->count, 1), d->count, d->first, ld, Rows(), (double *)diagonal.p));
    PetscCall(PetscMalloc1(d->count, &host));
    PetscCall(VpCudaFetch(diagonal.p, (size_t)d->count * sizeof(double), host));
    for (int32_t i = 0; i < d->count; i++) {
      PetscCheck(!PetscIsInfOrNanReal(host[i]), PETSC_COMM_SELF, PETSC_ERR_MAT_LU_ZRPVT, "A dense matrix has no inverse");
      *largest = PetscMax(*largest, host[i]);
    }
    PetscCall(PetscFree(host));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* rows = E rows L, one index of a cell after the other */
  PetscErrorCode ChangeBasis() const
  {
    const int n = d->order;
    VpArray   matrices;
    double    host[2 * VP_MAX_N * VP_MAX_N], *K;

    PetscFunctionBegin;
    if (!d->enter) PetscFunctionReturn(PETSC_SUCCESS);
    for (int i = 0; i < n * n; i++) {
      host[i] = d->enter[i];
      host[n * n + i] = d->leave[i % n * n + i / n]; /* transposed */
    }
    PetscCall(VpCudaPlace(host, 2 * n * n * sizeof(double), "a dense inverse", &matrices));
    K = (double *)matrices.p;
    for (int k = 0; k < d->dim; k++) {
      const int32_t inner = VpLineStride(k, n, n * n), lines = d->count / n * ld;
      PetscCall(VpCudaLaunch("change of basis", ChangeLines, EachNumber(lines, 1), n, inner * ld, lines, 0, K, Rows()));
      PetscCall(VpCudaLaunch("change of basis", ChangeLines, EachNumber(d->n / n, d->count), n, inner, d->n / n, ld, K + n * n, Rows()));
    }
    VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* before the matrices go */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode VpCudaInvertDense(const VpDenseInverse *d, VpPrecision precision, void *M, double *largest)
{
  DenseInverse inverse(d);

  PetscFunctionBegin;
  PetscCall(inverse.Fill());
  PetscCall(inverse.Project(d->weight[0], 0, d->n, (double *)inverse.A.p));
  PetscCall(inverse.Invert());
  PetscCall(inverse.Largest(largest));
  PetscCall(inverse.Project(d->weight[1], d->first, d->count, inverse.Rows()));
  PetscCall(inverse.ChangeBasis());
  if (precision == VP_SINGLE)
    PetscCall(VpCudaLaunch("rounding", RoundRows<float>, EachNumber(d->n, d->count), d->n, inverse.ld, inverse.Rows(), (float *)M));
  else PetscCall(VpCudaLaunch("rounding", RoundRows<double>, EachNumber(d->n, d->count), d->n, inverse.ld, inverse.Rows(), (double *)M));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* before the matrix goes */
  PetscFunctionReturn(PETSC_SUCCESS);
}
