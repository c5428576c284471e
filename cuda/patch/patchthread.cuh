/* A thread of a like patch, and the steps of a solve that all kernels of like patches share: F and B along lines that the thread holds in
   registers, and shared memory between them (patchshape.cuh draws both). */
#pragma once
#include "../device/load.cuh"
#include "grouptables.cuh"
#include "patchshape.cuh"

namespace vpatchdg::patch {
/* Reads a value of x. If AGAIN, another block may have written it earlier in the same launch, so it must not come from the read-only
   cache. */
template <bool AGAIN, class T>
__device__ __forceinline__ T Value(const T *p)
{
  return AGAIN ? LoadNow(p) : __ldg(p);
}

/* the kind of a patch: KIND_REST if it is not common, else KIND_COMMON + sum_d 4^d (how it lies along d) */
enum : int { KIND_REST, KIND_COMMON, KIND_LEFT_OUT = 255 };

/* What a launch works on: the vectors, and its patches in launch order. */
template <class T>
struct PatchWork {
  const T           *table, *b;
  T                 *x0, *x1;
  const PatchCells  *cells;
  const PatchCovers *covers;
  const uint8_t     *kinds; /* of common patches; unread where none is at the boundary */
};

/* A thread of a patch, and the lines it holds. Launches of whole sweeps, where values are read AGAIN, have few patches. */
template <class T, int N, class Boundary, bool AGAIN>
struct PatchThread {
  typedef TablesOf<T, N, Boundary>                                                        Of;
  typedef Patch<T, N, Of::grouped ? GROUPED_PATCHES : AGAIN ? FEW_PATCHES : LIKE_PATCHES> S;
  typedef typename Of::type                                                               Tables;
  enum { ENDS = 1 };
  static constexpr bool inside = std::is_same<Boundary, NoBoundary>::value;
  static constexpr int  m = S::m, layer = S::layer, R = S::rounds;
  static constexpr int  abreast = S::adjacent ? R : 1; /* the z lines of a thread that lie side by side */

  const Tables   &t;
  const Boundary &boundary;
  const T        *table;          /* PatchTable */
  const int32_t  *cells;          /* PatchCells */
  const uint8_t  *covers;         /* PatchCovers */
  unsigned        done;           /* colours that were swept before */
  T              *x0, *x1;        /* the two buffers of x */
  T              *values, *sides; /* shared memory of the patch: its planes, its traces */
  const T       **around;         /* [..][direction][side][4] shared: the values of cells along the patch's sides */
  int             me;             /* number of the thread in its patch */
  int             kx, ky, kz;     /* how it lies along each direction (LIES_INSIDE, ...) */
  T               v[R][m];        /* its lines */

  /* Thread of patch `at` of the launch. A block's shared memory has planes, `traces` numbers per patch, and, from byte `start` on,
     `pointers` pointers per patch. */
  __device__ __forceinline__ PatchThread(const Tables &tables, const Boundary &boundary, const PatchWork<T> &w, unsigned before, int32_t at,
                                         unsigned char *shared, int traces, size_t start, int pointers)
      : t(tables), boundary(boundary), table(w.table), cells(w.cells[at].cell), covers(w.covers[at].cover), done(before), x0(w.x0), x1(w.x1)
  {
    const int slot = threadIdx.x / S::threads, kind = inside || Of::grouped ? LIES_INSIDE : w.kinds[at] - KIND_COMMON;

    values = (T *)shared + slot * S::stride;
    sides = (T *)shared + S::sides + slot * traces;
    around = (const T **)(shared + start) + slot * pointers;
    me = threadIdx.x % S::threads;
    kx = kind & 3;
    ky = kind >> 2 & 3;
    kz = kind >> 4;
    if constexpr (Of::full) {
      kx = t.is_full[0] ? LIES_FULL : LIES_INSIDE;
      ky = t.is_full[1] ? LIES_FULL : LIES_INSIDE;
      kz = t.is_full[2] ? LIES_FULL : LIES_INSIDE;
    }
  }

  static __device__ __forceinline__ void Sync()
  {
    if (S::warp) __syncwarp();
    else __syncthreads();
  }
  __device__ __forceinline__ int Line(int r) const
  {
    return me + r * S::threads;
  }
  /* Line l along z starts at place l % layer of the patch's cell l / layer; along y and x, at the digits of l. */
  __device__ __forceinline__ int LineZ(int r) const
  {
    return S::adjacent ? R * me + r : Line(r);
  }
  /* Start: where line r along D begins in the planes; Offset: how far from there its value i is */
  template <int D>
  __device__ __forceinline__ T *Start(int r) const
  {
    const int l = Line(r);

    if (D == 2) return values + LineZ(r);
    if (D == 1) return values + l / S::y.place % N + l / S::y.cell % 2 * layer + l / S::y.z % m * S::sz;
    return values + l / S::x.place % N * N + l / S::x.cell % 2 * 2 * layer + l / S::x.z % m * S::sz;
  }
  template <int D>
  static constexpr __device__ int Offset(int i)
  {
    return D == 0 ? i % N + i / N * layer : D == 1 ? i % N * N + i / N * 2 * layer : S::sz * i;
  }
  /* the values of cell h of PatchCells: the current ones, or, if `other`, where its new ones belong */
  __device__ __forceinline__ T *Cell(int h, bool other) const
  {
    T *x = BufferOf(__ldg(covers + h), done) != other ? x1 : x0;
    return x + (size_t)__ldg(cells + h) * S::values;
  }

  /* v = the z lines of b */
  __device__ __forceinline__ void LoadB(const T *b)
  {
    UNROLL (int r = 0; r < R; r += abreast) {
      const int l = LineZ(r);
      UNROLL (int c = 0; c < 2; c++) {
        const T *from = b + (size_t)__ldg(cells + l / layer + 4 * c) * S::values + l % layer;
        UNROLL (int i = 0; i < N; i++) {
          const Pack<T, abreast> lines = LoadNow((const Pack<T, abreast> *)(from + i * layer));
          UNROLL (int k = 0; k < abreast; k++) v[r + k][c * N + i] = lines.a[k];
        }
      }
    }
  }
  /* where line r along z has its values in cell c = 0, 1: the current ones, or, if `other`, its new ones */
  __device__ __forceinline__ T *CellZ(int r, int c, bool other) const
  {
    return Cell(LineZ(r) / layer + 4 * c, other) + LineZ(r) % layer;
  }
  /* writes v on lines r and beside it there */
  __device__ __forceinline__ void Store(int r, int c, T *to) const
  {
    UNROLL (int i = 0; i < N; i++) {
      Pack<T, abreast> lines;
      UNROLL (int k = 0; k < abreast; k++) lines.a[k] = v[r + k][c * N + i];
      *(Pack<T, abreast> *)(to + i * layer) = lines;
    }
  }

  /* Ensures, after Sync(): `around` are the cells beyond the sides; where the level ends, the patch's own, marked by ENDS in pointers. */
  __device__ __forceinline__ void FindBeyond() const
  {
#pragma unroll 1
    for (int h = me; h < PATCH_SIDES; h += S::threads) {
      const int32_t cell = inside ? 0 : __ldg(cells + VP_PATCH_CELLS + h);
      around[h] = cell >= 0 ? Cell(VP_PATCH_CELLS + h, false) : table + PatchTable<N>::zero;
      if constexpr (Of::grouped) {
        if (cell < -1 && t.all.mixes) around[h] = (const T *)((uintptr_t)Cell(-2 - cell, false) | ENDS);
      }
    }
  }

  /* Read: u = line r along D of the planes, or of an array of planes `apart` numbers after them; Write: back. Values side by side along x
     are read and written many at once. */
  template <int D>
  __device__ __forceinline__ void Read(int r, int apart, T (&u)[m]) const
  {
    constexpr int W = D ? 1 : S::width;

    UNROLL (int i = 0; i < m; i += W) {
      const Pack<T, W> p = *(const Pack<T, W> *)(Start<D>(r) + apart + Offset<D>(i));
      UNROLL (int k = 0; k < W; k++) u[i + k] = p.a[k];
    }
  }
  template <int D>
  __device__ __forceinline__ void Write(int r, const T (&u)[m]) const
  {
    constexpr int W = D ? 1 : S::width;

    UNROLL (int i = 0; i < m; i += W) {
      Pack<T, W> p;
      UNROLL (int k = 0; k < W; k++) p.a[k] = u[i + k];
      *(Pack<T, W> *)(Start<D>(r) + Offset<D>(i)) = p;
    }
  }
  template <int D>
  __device__ __forceinline__ void ReadLines()
  {
    UNROLL (int r = 0; r < R; r++) Read<D>(r, 0, v[r]);
  }
  /* the same for `abreast` lines along z from line r on */
  __device__ __forceinline__ void ReadZ(int r, int apart, T (*u)[m]) const
  {
    UNROLL (int i = 0; i < m; i++) {
      const Pack<T, abreast> lines = *(const Pack<T, abreast> *)(Start<2>(r) + apart + S::sz * i);
      UNROLL (int k = 0; k < abreast; k++) u[k][i] = lines.a[k];
    }
  }
  __device__ __forceinline__ void ReadAllZ()
  {
    UNROLL (int r = 0; r < R; r += abreast) ReadZ(r, 0, v + r);
  }
  __device__ __forceinline__ void WriteZ(int r, int apart, const T (*u)[m]) const
  {
    UNROLL (int i = 0; i < m; i++) {
      Pack<T, abreast> lines;
      UNROLL (int k = 0; k < abreast; k++) lines.a[k] = u[k][i];
      *(Pack<T, abreast> *)(Start<2>(r) + apart + S::sz * i) = lines;
    }
  }

  /* F along z, to shared memory */
  __device__ __forceinline__ void ForwardZ()
  {
    if (!inside && kz) ToModes<2>(t, boundary, kz, v, [=](int r, int i, T w) { Start<2>(r)[S::sz * i] = w; });
    else {
      ForwardInside<2>(t, v);
      UNROLL (int r = 0; r < R; r += abreast) WriteZ(r, 0, v + r);
    }
    Sync();
  }
  /* the eigenvalue of mode i along x; the sum of those of two modes along y and z, which are multiplied by s[1] and s[2], and of the
     reaction of the tables */
  __device__ __forceinline__ T LambdaX(int i) const
  {
    if constexpr (Of::grouped) return t.template Tail<0>(m, i);
    else return inside || !kx ? t.lambda[i] : __ldg(table + PatchTable<N>::lambda + m + i);
  }
  template <bool FACTORS>
  __device__ __forceinline__ T LambdaYZ(int y, int z, const Pack<T, 4> &s) const
  {
    auto add = [&s](T a, T b) { return FACTORS ? s.a[1] * a + s.a[2] * b : a + b; };

    if constexpr (Of::grouped) return add(__ldg(t.tail[1] - m + y), __ldg(t.tail[2] - m + z)) + t.all.reaction;
    else {
      const T *lambda = table + PatchTable<N>::lambda;
      return add(__ldg(lambda + (2 + !!ky) * m + y), __ldg(lambda + (4 + !!kz) * m + z));
    }
  }
  /* Applies F along x, divides by the sums of eigenvalues, and applies B, in place. FACTORS: eigenvalues along d are multiplied by s[d],
     and s[3] is added to their sums */
  template <bool FACTORS = false>
  __device__ __forceinline__ void SolveX(const Pack<T, 4> &s = Pack<T, 4>())
  {
    auto write = [=](int r, int i, T w) { Start<0>(r)[Offset<0>(i)] = w; };

    ReadLines<0>();
    if (!inside && kx) {
      ToModes<0>(t, boundary, kx, v, write);
      ReadLines<0>();
    } else ForwardInside<0>(t, v);
    UNROLL (int r = 0; r < R; r++) {
      const int l = Line(r);
      const T   yz = LambdaYZ<FACTORS>(l / S::x.place % N + l / S::x.cell % 2 * N, l / S::x.z % m, s), rest = FACTORS ? yz + s.a[3] : yz;
      UNROLL (int i = 0; i < m; i++) v[r][i] *= Reciprocal((FACTORS ? s.a[0] * LambdaX(i) : LambdaX(i)) + rest);
    }
    if (!inside && kx) FromModes<0>(t, boundary, kx, v, write);
    else {
      BackwardInside<0>(t, v);
      UNROLL (int r = 0; r < R; r++) Write<0>(r, v[r]);
    }
    Sync();
  }
  /* F and B along y */
  __device__ __forceinline__ void ForwardY()
  {
    ReadLines<1>();
    ToModes<1>(t, boundary, ky, v, [=](int r, int i, T w) { Start<1>(r)[Offset<1>(i)] = w; });
    Sync();
  }
  __device__ __forceinline__ void BackwardY()
  {
    ReadLines<1>();
    FromModes<1>(t, boundary, ky, v, [=](int r, int i, T w) { Start<1>(r)[Offset<1>(i)] = w; });
    Sync();
  }
  /* v = B along z of what is in shared memory */
  __device__ __forceinline__ void BackwardZ()
  {
    ReadAllZ();
    if (!inside && kz) {
      FromModes<2>(t, boundary, kz, v, [=](int r, int i, T w) { Start<2>(r)[S::sz * i] = w; });
      ReadAllZ();
    } else BackwardInside<2>(t, v);
  }
};

/* patches in launch order, on the device */
struct PatchList {
  int     n = 0;
  VpArray cells, covers, kinds, numbers;
};

template <class T>
static PatchWork<T> WorkOn(const PatchList &list, const VpArray &table, const void *b, void *const x[2])
{
  return {
    (const T *)table.p,           (const T *)b, (T *)x[0], (T *)x[1], (const PatchCells *)list.cells.p, (const PatchCovers *)list.covers.p,
    (const uint8_t *)list.kinds.p};
}

/* Launches kernel(tables..., w, done, n) on n patches, S::patches per block. */
template <class S, class Kernel, class T, class... Tables>
static PetscErrorCode LaunchPatches(Kernel kernel, size_t bytes, int n, cudaStream_t stream, const PatchWork<T> &w, unsigned done,
                                    const Tables &...tables)
{
  return VpCudaLaunch("sweep of like patches", kernel, {VpBlocks(n, S::patches), S::block, bytes, stream}, tables..., w, done, n);
}
} // namespace vpatchdg::patch
