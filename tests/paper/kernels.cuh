/* The kernels of paper.cu: sweeps in the manner of Cui and Kanschat. m = 2n functions of a patch and direction; P of them are solved for.
 */
#pragma once
#include <cuda_runtime.h>
#include "banks.h"

/* Access: where thread `row` begins to read row `row` of a matrix [P][P] in shared memory */
struct Basic {
  static constexpr bool rotates = false;
  static constexpr int  unroll = 64;

  template <class T, int P>
  static __device__ int Start(int)
  {
    return 0;
  }
};
struct ConflictFree {
  static constexpr bool rotates = true;
  static constexpr int  unroll = 64;

  template <class T, int P>
  static __device__ int Start(int row)
  {
    return RotatedStart(128 / sizeof(T), P, row);
  }
};
/* for the few patches at the boundary: quick to compile */
struct Rolled : Basic {
  static constexpr int unroll = 2;
};

/* place of function (X, Y, Z) of the lattice of nc n functions a side */
struct CellWise {
  template <int n>
  static __device__ __host__ unsigned At(int nc, int X, int Y, int Z)
  {
    return ((unsigned)(Z / n * nc + Y / n) * nc + X / n) * (n * n * n) + (Z % n * n + Y % n) * n + X % n;
  }
};
struct Lexicographic {
  template <int n>
  static __device__ __host__ unsigned At(int nc, int X, int Y, int Z)
  {
    return ((unsigned)Z * (nc * n) + Y) * (nc * n) + X;
  }
};

struct Dirichlet {
  static constexpr bool exact = false;
  static constexpr int  lost = 2; /* functions a direction of a patch inside */
};
struct Full {
  static constexpr bool exact = true;
  static constexpr int  lost = 0;
};

/* Tables of a direction by kind, at the lower boundary, inside, at the upper one, at both, and inside without the lost functions:
   L [m][m], S [P][P] (columns: modes), lambda [P], G [m][m] (columns: the cells beyond, lower and upper), padded to Stride(m) */
enum { LOWER, INSIDE, UPPER, BOTH, REDUCED, KINDS };
__device__ __forceinline__ int Kind(bool lower, bool upper)
{
  return lower && upper ? BOTH : lower ? LOWER : upper ? UPPER : INSIDE;
}
__host__ __device__ constexpr int Stride(int m)
{
  return 3 * m * m + m;
}

/* sum[z] += (A along D applied to in [P][P][P]) at (x, y, z); transposed: A^T */
template <int D, bool TRANSPOSED, class Access, int P, class T>
__device__ __forceinline__ void Add(const T *A, const T *in, int x, int y, T (&sum)[P])
{
  constexpr bool rotates = Access::rotates && D == 0 && !TRANSPOSED;
  int            turn = Access::template Start<T, P>(x);

#pragma unroll Access::unroll
  for (int i = 0; i < P; i++) {
    const int k = rotates ? turn : i, row = D == 0 ? x : y;

    if (D < 2) {
      const T a = A[TRANSPOSED ? k * P + row : row * P + k];
#pragma unroll
      for (int z = 0; z < P; z++) sum[z] += a * in[D == 0 ? k + P * (y + P * z) : x + P * (k + P * z)];
    } else {
      const T u = in[x + P * (y + P * k)];
#pragma unroll
      for (int z = 0; z < P; z++) sum[z] += A[TRANSPOSED ? k * P + z : z * P + k] * u;
    }
    turn = turn + 1 == P ? 0 : turn + 1;
  }
}

/* in [P][P][P] = v; v = 0 */
template <int P, class T>
__device__ __forceinline__ void Write(T *in, int x, int y, bool active, T (&v)[P])
{
#pragma unroll
  for (int z = 0; z < P; z++) {
    if (active) in[x + P * (y + P * z)] = v[z];
    v[z] = T(0);
  }
}

/* the same, once all have read what is there, and for all to read */
template <int P, class T>
__device__ __forceinline__ void Put(T *in, int x, int y, bool active, T (&v)[P])
{
  __syncthreads();
  Write(in, x, y, active, v);
  __syncthreads();
}

/* sum += what the cells beyond the sides along D add to A x; in: work space */
template <int D, class Access, class Numbering, int m, class T>
__device__ __forceinline__ void AddBeyond(int nc, const int (&first)[3], const T *M, const T *G, const T *u, T *in, int x, int y,
                                          T (&sum)[m])
{
  constexpr int n = m / 2, D1 = D == 0 ? 1 : 0, D2 = D == 2 ? 1 : 2;
  T             v[m];

#pragma unroll
  for (int z = 0; z < m; z++) {
    int i[3] = {x, y, z};

    i[D] += i[D] < n ? -n : n;
    i[D] += first[D];
    v[z] = i[D] < 0 || i[D] >= nc * n
             ? T(0)
             : u[Numbering::template At<n>(nc, i[0] + (D != 0) * first[0], i[1] + (D != 1) * first[1], i[2] + (D != 2) * first[2])];
  }
  Put(in, x, y, true, v);
  Add<D1, false, Access>(M, in, x, y, v);
  Put(in, x, y, true, v);
  Add<D2, false, Access>(M, in, x, y, v);
  Put(in, x, y, true, v);
  Add<D, false, Access>(G, in, x, y, sum);
}

/* s = A_j^-1 U: into the modes of all directions, division by the sums of eigenvalues, and back. Thread (px, py) has a line along z */
template <class T, int P, class Access>
__device__ __forceinline__ void Invert(const T *const (&S)[3], const T *const (&lambda)[3], T *U, bool active, int px, int py, T (&s)[P])
{
  if (active) Add<0, true, Access>(S[0], U, px, py, s);
  Put(U, px, py, active, s);
  if (active) Add<1, true, Access>(S[1], U, px, py, s);
  Put(U, px, py, active, s);
  if (active) Add<2, true, Access>(S[2], U, px, py, s);
#pragma unroll
  for (int z = 0; z < P; z++) {
    if (active) s[z] /= lambda[0][px] + lambda[1][py] + lambda[2][z];
  }
  Put(U, px, py, active, s);
  if (active) Add<2, false, Access>(S[2], U, px, py, s);
  Put(U, px, py, active, s);
  if (active) Add<1, false, Access>(S[1], U, px, py, s);
  Put(U, px, py, active, s);
  if (active) Add<0, false, Access>(S[0], U, px, py, s);
}

/* Shared memory of a block's patch gets the mass matrix M and after it the tables of the patch's kinds, P functions a direction. */
template <class T, int n, int P, class Space, bool EDGE>
__device__ __forceinline__ void GetTables(int nc, const int (&first)[3], const T *mass, const T *table, int t, T *M, const T *(&L)[3],
                                          const T *(&S)[3], const T *(&lambda)[3])
{
  constexpr int m = 2 * n, part = m * m + P * P + P + Space::exact * m * m;
  T            *tables = M + m * m;

  M[t] = mass[t];
#pragma unroll
  for (int d = 0; d < 3; d++) {
    const int kind = EDGE ? Kind(first[d] == 0, first[d] + m == nc * n) : Space::lost ? REDUCED : INSIDE;
    T        *own = tables + (EDGE ? d * part : 0);

    for (int i = t; (EDGE || d == 0) && i < part; i += m * m) own[i] = table[kind * Stride(m) + i];
    L[d] = own, S[d] = own + m * m, lambda[d] = S[d] + P * P;
  }
}

/* r += A u on the patch's cells, without the faces towards others unless the space is exact; U, V: work space */
template <int P, class Access, class Numbering, class Space, int m, class T>
__device__ __forceinline__ void AddProduct(int nc, const int (&first)[3], const T *M, const T *const (&L)[3], const T *const (&lambda)[3],
                                           const T *u, T *U, T *V, int x, int y, T (&r)[m])
{
  constexpr int n = m / 2;
  T             v[m], w[m] = {T(0)};

#pragma unroll
  for (int z = 0; z < m; z++) v[z] = u[Numbering::template At<n>(nc, first[0] + x, first[1] + y, first[2] + z)];
  Put(U, x, y, true, v);
  Add<0, false, Access>(M, U, x, y, v);
  Add<0, false, Access>(L[0], U, x, y, w);
  __syncthreads();
  Write(U, x, y, true, v);
  Write(V, x, y, true, w);
  __syncthreads();
  Add<1, false, Access>(M, U, x, y, v);
  Add<1, false, Access>(L[1], U, x, y, w);
  Add<1, false, Access>(M, V, x, y, w);
  __syncthreads();
  Write(U, x, y, true, v);
  Write(V, x, y, true, w);
  __syncthreads();
  Add<2, false, Access>(L[2], U, x, y, r);
  Add<2, false, Access>(M, V, x, y, r);
  if (Space::exact) {
    AddBeyond<0, Access, Numbering>(nc, first, M, lambda[0] + P, u, U, x, y, r);
    AddBeyond<1, Access, Numbering>(nc, first, M, lambda[1] + P, u, U, x, y, r);
    AddBeyond<2, Access, Numbering>(nc, first, M, lambda[2] + P, u, U, x, y, r);
  }
}

/* out = A u on patches that tile the mesh; list: their first cells, 10 bits a direction. EDGE: at the boundary */
template <class T, int n, class Access, class Numbering, bool EDGE>
__global__ void __launch_bounds__(4 * n * n, 512 / (4 * n * n))
  PaperApply(int nc, const int *list, const T *mass, const T *table, const T *u, T *out)
{
  constexpr int     m = 2 * n;
  extern __shared__ __align__(16) unsigned char shared[];
  T                                            *U = (T *)shared, *V = U + m * m * m, *M = V + m * m * m;
  const T                                      *L[3], *S[3], *lambda[3];
  const int                                     t = threadIdx.x, x = t % m, y = t / m, code = list[blockIdx.x];
  const int                                     first[3] = {(code & 1023) * n, (code >> 10 & 1023) * n, (code >> 20) * n};
  T                                             r[m] = {T(0)};

  GetTables<T, n, m, Full, EDGE>(nc, first, mass, table, t, M, L, S, lambda);
  AddProduct<m, Access, Numbering, Full>(nc, first, M, L, lambda, u, U, V, x, y, r);
#pragma unroll
  for (int z = 0; z < m; z++) out[Numbering::template At<n>(nc, first[0] + x, first[1] + y, first[2] + z)] = r[z];
}

/* out = u + A_j^-1 (b - A u) on patches j of one colour */
template <class T, int n, class Access, class Numbering, class Space, bool EDGE>
__global__ void __launch_bounds__(4 * n * n, 512 / (4 * n * n))
  PaperSweep(int nc, const int *list, const T *mass, const T *table, const T *b, const T *u, T *out)
{
  constexpr int     m = 2 * n, P = EDGE ? m : m - Space::lost, cut = (m - P) / 2;
  extern __shared__ __align__(16) unsigned char shared[];
  T                                            *U = (T *)shared, *V = U + m * m * m, *M = V + m * m * m;
  const T                                      *L[3], *S[3], *lambda[3];
  const int                                     t = threadIdx.x, x = t % m, y = t / m, code = list[blockIdx.x];
  const int                                     first[3] = {(code & 1023) * n, (code >> 10 & 1023) * n, (code >> 20) * n};
  T                                             r[m] = {T(0)};

  GetTables<T, n, P, Space, EDGE>(nc, first, mass, table, t, M, L, S, lambda);
  AddProduct<P, Access, Numbering, Space>(nc, first, M, L, lambda, u, U, V, x, y, r);
  __syncthreads();
#pragma unroll
  for (int z = cut; z < m - cut; z++) {
    if (x < cut || x >= m - cut || y < cut || y >= m - cut) continue;
    U[x - cut + P * (y - cut + P * (z - cut))] = b[Numbering::template At<n>(nc, first[0] + x, first[1] + y, first[2] + z)] - r[z];
  }
  __syncthreads();

  const bool active = t < P * P;
  const int  px = t % P, py = t / P;
  T          s[P] = {T(0)};

  Invert<T, P, Access>(S, lambda, U, active, px, py, s);
#pragma unroll
  for (int z = 0; z < P; z++) {
    const unsigned at = Numbering::template At<n>(nc, first[0] + cut + px, first[1] + cut + py, first[2] + cut + z);

    if (active) out[at] = u[at] + s[z];
  }
}

/* out = u on cells without a patch of this colour */
template <class T, int n, class Numbering>
__global__ void Carry(int nc, int color, const T *u, T *out)
{
  const int cell = blockIdx.x * blockDim.y + threadIdx.y, c[3] = {cell % nc, cell / nc % nc, cell / nc / nc};
  bool      covered = true;

  for (int d = 0; d < 3; d++) covered = covered && ((color >> d & 1) || (c[d] > 0 && c[d] < nc - 1));
  for (int i = threadIdx.x; !covered && i < n * n * n; i += blockDim.x) {
    const unsigned at = Numbering::template At<n>(nc, c[0] * n + i % n, c[1] * n + i / n % n, c[2] * n + i / n / n);

    out[at] = u[at];
  }
}
