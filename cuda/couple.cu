/* Entries of a matrix that couples sums over modes (kernels/views.h says which), step by step:

       X[k][m][i] = sum_n beta[n][i] / (lambda[0][k] + lambda[1][m] + lambda[2][n])
       R[k][j][i] = sum_m alpha[m][j] gamma[m][i] X[k][m][i]
       K[row][column] = sum_k W[k][a] W[k][a'] R[k][j][i]

   A thread makes one number. */
#include "device/kernel.cuh"

static __global__ void SumOverLast(VpCouple c, double *X)
{
  const int32_t at = blockIdx.x * blockDim.x + threadIdx.x, i = at % c.i, k = at / c.i / c.modes[1];

  if (k >= c.modes[0]) return;
  const double rest = c.lambda[0][k] + c.lambda[1][at / c.i % c.modes[1]];
  double       sum = 0;
  for (int32_t n = 0; n < c.modes[2]; n++) sum += c.beta[(size_t)n * c.i + i] / (rest + c.lambda[2][n]);
  X[at] = sum;
}

static __global__ void SumOverMiddle(VpCouple c, const double *X, double *R)
{
  const int32_t at = blockIdx.x * blockDim.x + threadIdx.x, i = at % c.i, j = at / c.i % c.j, k = at / c.i / c.j;
  double        sum = 0;

  if (k >= c.modes[0]) return;
  for (int32_t m = 0; m < c.modes[1]; m++)
    sum += c.alpha[(size_t)m * c.j + j] * c.gamma[(size_t)m * c.i + i] * X[((size_t)k * c.modes[1] + m) * c.i + i];
  R[at] = sum;
}

/* Block y makes the entries of row y. */
static __global__ void SumOverFirst(VpCouple c, const double *R, double *K)
{
  const int32_t  q = blockIdx.x * blockDim.x + threadIdx.x;
  const int32_t *row = c.row + 3 * (size_t)blockIdx.y, *column = c.column + 3 * (size_t)q;
  double         sum = 0;

  if (q >= c.columns) return;
  const double *W = c.W + row[1], *V = c.W + column[1], *r = R + (size_t)row[2] * c.i + column[2];
  for (int32_t k = 0; k < c.modes[0]; k++) sum += W[(size_t)k * c.a] * V[(size_t)k * c.a] * r[(size_t)k * c.i * c.j];
  K[(size_t)row[0] * c.size + column[0]] = sum;
}

template <class A>
static PetscErrorCode Place(const A **p, size_t count, VpArray *array)
{
  PetscFunctionBegin;
  PetscCall(VpCudaPlace(*p, count * sizeof(A), "coarse inverse", array));
  *p = (const A *)array->p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCudaCouple(const VpCouple *host, double *K)
{
  const int32_t *m = host->modes;
  const size_t   i = (size_t)host->i, j = (size_t)host->j;
  VpCouple       c = *host;
  VpArray        lambda[3], W, alpha, beta, gamma, row, column, X, R;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(Place(&c.lambda[d], (size_t)m[d], &lambda[d]));
  PetscCall(Place(&c.W, (size_t)m[0] * host->a, &W));
  PetscCall(Place(&c.alpha, (size_t)m[1] * j, &alpha));
  PetscCall(Place(&c.beta, (size_t)m[2] * i, &beta));
  PetscCall(Place(&c.gamma, (size_t)m[1] * i, &gamma));
  PetscCall(Place(&c.row, 3 * (size_t)host->rows, &row));
  PetscCall(Place(&c.column, 3 * (size_t)host->columns, &column));
  PetscCall(VpCudaAlloc((size_t)m[0] * m[1] * i * sizeof(double), "coarse inverse", &X.p));
  PetscCall(VpCudaAlloc((size_t)m[0] * i * j * sizeof(double), "coarse inverse", &R.p));
  PetscCall(VpCudaLaunch("sums over modes", SumOverLast, {VpBlocks(m[0] * m[1] * host->i, VP_THREADS), VP_THREADS}, c, (double *)X.p));
  PetscCall(VpCudaLaunch("sums over modes", SumOverMiddle, {VpBlocks(m[0] * host->i * host->j, VP_THREADS), VP_THREADS}, c,
                         (const double *)X.p, (double *)R.p));
  PetscCall(VpCudaLaunch("sums over modes", SumOverFirst, {dim3(VpBlocks(host->columns, VP_THREADS), host->rows), VP_THREADS}, c,
                         (const double *)R.p, K));
  VpCudaCall(cudaStreamSynchronize(VpCudaStream)); /* before the arrays go */
  PetscFunctionReturn(PETSC_SUCCESS);
}
