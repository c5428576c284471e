/* One colour of the patch smoother on any patches: in every residual mode, with every space and table, in 2D and 3D. A patch first takes
   its residual, direction by direction, then goes to eigen-coordinates and back:

       Load --> Subtract x, y, z --> F z --> F y --> F x, weights, B x --> B y --> B z --> Store

   All of it happens in shared memory, which has two arrays of a patch: Y is b, then the residual, then the correction; X, which only some
   modes need, keeps the patch's values of x. anypatchshape.cuh draws them.

   A thread reads every entry of a matrix once for both of its lines. It holds the same lines whenever a direction comes again, so threads
   wait for one another only where the direction changes.

   If patches are TURNED, their cells or those beyond may have other directions. Y and X are along the patch's axes, and values change
   places and signs on their way from and to the vectors. A line of a cell whose direction runs against the axis is read from its other
   end. */
#pragma once
#include "anypatchshape.cuh"
#include "../cell.cuh"
#include "../framedline.cuh"
#include "fdm.cuh"

namespace vpatchdg::patch {
/* What a launch works on in addition to the operator's Field. */
template <class T>
struct Sweep {
  const int32_t *patch, *type;
  const uint8_t *mirrored, *cover, *frame;
  const T       *fdm, *factor, *drop;
  T              reaction, cutoff;
  unsigned       done;
  const T       *b;
  T             *x[2];

  Sweep(const VpPatchView *v, unsigned before, const void *right, void *const both[2])
      : patch(v->patch), type(v->type), mirrored(v->mirrored), cover(v->cover), frame(v->frame), fdm((const T *)v->fdm),
        factor((const T *)v->factor), drop((const T *)v->drop), reaction((T)v->reaction), cutoff((T)v->cutoff), done(before),
        b((const T *)right), x{(T *)both[0], (T *)both[1]}
  {
  }
};

/* whether a patch of this mode needs its values of x for the residual */
__host__ __device__ constexpr bool KeepsValues(VpResidualMode mode)
{
  return mode == VP_MODE_CORRECT || mode == VP_MODE_LOCAL;
}

/* The outer side of one of a patch's cells in a direction: the cell's line (VpLineSize), and the values of the cell beyond, or NULL. */
template <class T, bool TURNED>
struct PatchSide {
  const T *entry, *beyond;
};
template <class T>
struct PatchSide<T, true> : PatchSide<T, false> {
  bool flips; /* The cell's direction runs against the patch's axis. */
  int  frame; /* of the cell beyond, whose direction across the side counts as the cell's own direction runs */
};

template <class T, int DIM, int N, class S, bool TURNED = false>
struct AnyPatch {
  typedef Mirror<N, VpThinLayers(N, DIM)>   Map;
  static constexpr int                      m = S::m, R = S::rounds, nt = Map::nt;
  static constexpr bool                     FEW = S::few;
  typedef PatchSide<T, TURNED>              Side;
  typedef FramedLine<N, (Map::sign(1) < 0)> Framed;
  static_assert(!TURNED || R == S::each, "all lines of a thread of a turned patch are in the same cells");

  /* the values that make the traces at an end of the thread's lines */
  struct Layers {
    T a[R][nt];
  };
  /* the patch's problem along a direction */
  struct Problem {
    const T *table; /* F, B, lambda */
    bool     mirrored;
  };
  typedef Problem Problems[DIM];

  const Field<T> &f;
  const Sweep<T> &w;
  VpResidualMode  mode;
  int32_t         patch;
  const int32_t  *cells;
  T              *Y, *X; /* the patch in shared memory; X may be NULL */
  Side           *side;  /* [direction][cell] */
  const uint8_t  *cover; /* Sweep::cover, or that of a stage (sweepall.cuh) */
  unsigned        done;
  int             me; /* number of the thread in its patch */

  /* the cell's values in the buffer that holds them, or in the other one */
  __device__ __forceinline__ T *Values(int32_t cell, bool other) const
  {
    return (BufferOf(__ldg(cover + cell), done) != other ? w.x[1] : w.x[0]) + (size_t)cell * S::values;
  }
  /* the number of the first of the values that make the traces at an end */
  __device__ __forceinline__ int First(int end) const
  {
    return end ? N - nt : 0;
  }

  template <int D>
  __device__ __forceinline__ AnyLine<S, D, DIM, N> At(int r) const
  {
    return AnyLine<S, D, DIM, N>(me, r);
  }

  /* the frame of cell q */
  __device__ __forceinline__ int Frame(int q) const
  {
    return TURNED && w.frame ? __ldg(w.frame + (size_t)patch * S::cells + q) : 0;
  }
  /* In: a line along D of a cell with a frame, in the vectors; Half: half a line in shared memory, as its cell's direction runs */
  template <int D>
  __device__ __forceinline__ auto In(const AnyLine<S, D, DIM, N> &line, int frame) const
  {
    if constexpr (TURNED) {
      constexpr int e[2] = {D == 0 ? 1 : 0, D == 2 ? 1 : 2};
      int           at[3] = {};

      at[e[0]] = line.other[0] % N;
      if (DIM == 3) at[e[1]] = line.other[1] % N;
      return Framed(LoadFrame<DIM, N, nt>(frame), D, at);
    } else return PlainLine<VpLineStride(D, N, N * N)>{line.at};
  }
  template <int D>
  static __device__ __forceinline__ auto Half(bool flips)
  {
    if constexpr (TURNED) return Framed(nt, flips, S::step(D));
    else return PlainLine<S::step(D)>{0};
  }
  static __device__ __forceinline__ bool Flips(const Side &at)
  {
    if constexpr (TURNED) return at.flips;
    else return false;
  }
  static __device__ __forceinline__ int FrameBeyond(const Side &at)
  {
    if constexpr (TURNED) return at.frame;
    else return 0;
  }

  /* Ensures: Y = b, X = x, and `side` is filled. */
  __device__ __forceinline__ void Load() const
  {
    UNROLL (int r = 0; r < R; r++) {
      const auto line = At<S::slow>(r);
      UNROLL (int c = 0; c < 2; c++) {
        const int     q = line.cell | c << S::slow;
        const int32_t cell = cells[q];
        const auto    its = In<S::slow>(line, Frame(q));
        const size_t  at = (size_t)cell * S::values;
        const T      *b = its.First(w.b + at), *x = its.First(Values(cell, false));
        UNROLL (int i = 0; i < N; i++) Y[line.start + S::offset(S::slow, c * N + i)] = its.Signed(i, b[its.Index(i)]);
        if (X) {
          UNROLL (int i = 0; i < N; i++) X[line.start + S::offset(S::slow, c * N + i)] = its.Signed(i, x[its.Index(i)]);
        }
      }
    }
    for (int h = me; mode != VP_MODE_GIVEN && h < S::sides; h += S::threads) FindSide(h, h / S::cells, h % S::cells);
    __syncthreads();
  }
  /* Fills side h, that of cell q along d. */
  __device__ __forceinline__ void FindSide(int h, int d, int q) const
  {
    const int     s = q >> d & 1, own = TURNED ? VpFrameSide(Frame(q), 2 * d + s) : 2 * d + s;
    const int     direction = TURNED ? own / 2 : d, end = TURNED ? own % 2 : s;
    const int32_t cell = cells[q], next = __ldg(f.neighbor + (size_t)cell * 2 * DIM + own);
    const int32_t entry = __ldg(f.line + (size_t)cell * DIM + direction);
    const bool    drop = mode == VP_MODE_LOCAL && next >= 0;

    side[h].entry = drop ? w.drop + (2 * (size_t)entry + end) * VpLineSize(N) : f.lines + (size_t)entry * VpLineSize(N);
    side[h].beyond = next >= 0 ? Values(next, false) : NULL;
    if constexpr (TURNED) {
      const int frame = VpFrameBeyond(DIM, Frame(q), own, __ldg(f.turn + (size_t)cell * 2 * DIM + own));

      side[h].flips = end != s;
      side[h].frame = frame ^ (end != s) << VpFrameDirection(frame, d);
    }
  }

  /* Calls f(r, i, number i from `place` on of entry r) for i < N. ALIKE: all entries are the first one */
  template <bool ALIKE, class F>
  static __device__ __forceinline__ void ForEntries(const T *const (&entry)[R], int place, F f)
  {
    UNROLL (int r = 0; r < (ALIKE ? 1 : R); r++) {
      ForRow<N>(entry[r] + place, [&](int i, T a) {
        UNROLL (int k = r; k < (ALIKE ? R : r + 1); k++) f(k, i, a);
      });
    }
  }
  /* y -= what neighbours beyond side s add to the cells' lines. Their traces at end 1 - s are made of layers: read(r, t, i) is layer t of
     the line beyond line r, its value i. */
  template <bool ALIKE, class Read>
  __device__ __forceinline__ void Face(const T *const (&entry)[R], int s, Read read, T (&y)[R][N]) const
  {
    T V[R] = {}, Q[R] = {};

    UNROLL (int t = 0; t < nt; t++) {
      const T v = __ldg(f.traces + 2 * (1 - s) * nt + t), q = __ldg(f.traces + (2 * (1 - s) + 1) * nt + t);
      UNROLL (int r = 0; r < R; r++) {
        const T u = read(r, t, First(1 - s) + t);
        V[r] += v * u;
        Q[r] += q * u;
      }
    }
    ForEntries<ALIKE>(entry, VpLineSide(N, 0) + 2 * s * N, [&](int r, int i, T a) { y[r][i] -= a * V[r]; });
    ForEntries<ALIKE>(entry, VpLineSide(N, 0) + 2 * s * N + N, [&](int r, int i, T a) { y[r][i] -= a * Q[r]; });
  }

  /* Y -= A x along D on the lines' halves in cell c = 0, 1. flips: whether the cell's direction does; read: as in Face, of cells beyond the
     patch */
  template <int D, bool ALIKE, class Read>
  __device__ __forceinline__ void SubtractHalf(int c, bool flips, const T *const (&entry)[R], Read read) const
  {
    const auto own = Half<D>(flips);
    const int  end = TURNED ? c ^ (int)flips : c; /* the cell's end at the patch's side */
    T          y[R][N] = {};

    if (X) {
      T u[R][N];
      UNROLL (int j = 0; j < N; j++) {
        UNROLL (int r = 0; r < R; r++) u[r][j] = own.Signed(j, own.First(X + At<D>(r).start + c * S::half(D))[own.Index(j)]);
      }
      UNROLL (int i = 0; i < N; i++) {
        ForEntries<ALIKE>(entry, i * N, [&](int r, int j, T a) { y[r][i] -= a * u[r][j]; });
      }
      Face<ALIKE>(
        entry, 1 - end,
        [=](int r, int, int i) { return own.Signed(i, own.First(X + At<D>(r).start + (1 - c) * S::half(D))[own.Index(i)]); }, y);
    }
    if (mode != VP_MODE_LOCAL) Face<ALIKE>(entry, end, read, y);
    UNROLL (int r = 0; r < R; r++) {
      T *to = own.First(Y + At<D>(r).start + c * S::half(D));
      UNROLL (int i = 0; i < N; i++) to[own.Index(i)] += own.Signed(i, y[r][i]);
    }
  }
  /* Y -= A x along D. Two lines with the same entry read its numbers once. */
  template <int D>
  __device__ __forceinline__ void Subtract(const Layers (&before)[2]) const
  {
#pragma unroll(FEW ? 2 : 1)
    for (int c = 0; c < 2; c++) {
      const T *entry[R], *beyond[R];
      bool     alike = true, flips = false;

      UNROLL (int r = 0; r < R; r++) {
        const auto line = At<D>(r);
        const auto there = side[D * S::cells + (line.cell | c << D)];
        entry[r] = there.entry;
        beyond[r] = there.beyond ? In<D>(line, FrameBeyond(there)).First(there.beyond) : NULL;
        alike = alike && (S::paired || entry[r] == entry[0]);
        flips = Flips(there);
      }
      const auto read = [&](int r, int t, int i) {
        const auto line = At<D>(r);
        const auto its = In<D>(line, FrameBeyond(side[D * S::cells + (line.cell | c << D)]));
        return FEW ? before[c].a[r][t] : beyond[r] ? its.Signed(i, beyond[r][its.Index(i)]) : T(0);
      };
      if (R == 1 || S::paired || alike) SubtractHalf<D, true>(c, flips, entry, read);
      else SubtractHalf<D, false>(c, flips, entry, read);
    }
    if (D < S::slow) __syncthreads();
  }
  template <int D>
  __device__ __forceinline__ void ReadBefore(Layers (&u)[2]) const
  {
    UNROLL (int c = 0; FEW && mode != VP_MODE_LOCAL && c < 2; c++) {
      UNROLL (int r = 0; r < R; r++) {
        const auto  line = At<D>(r);
        const Side &at = side[D * S::cells + (line.cell | c << D)];
        const auto  its = In<D>(line, FrameBeyond(at));
        const int   first = First(TURNED ? 1 - (c ^ (int)Flips(at)) : 1 - c);
        UNROLL (int t = 0; t < nt; t++) u[c].a[r][t] = at.beyond ? its.Signed(first + t, its.First(at.beyond)[its.Index(first + t)]) : T(0);
      }
    }
  }
  /* Y -= A x. If patches are few, all values beyond are requested before the first one is awaited. */
  __device__ __forceinline__ void SubtractAll() const
  {
    Layers beyond[DIM][2];

    ReadBefore<0>(beyond[0]);
    ReadBefore<1>(beyond[1]);
    if (DIM == 3) ReadBefore<S::slow>(beyond[S::slow]);
    Subtract<0>(beyond[0]);
    Subtract<1>(beyond[1]);
    if (DIM == 3) Subtract<S::slow>(beyond[S::slow]);
  }

  /* v = the thread's lines of Y along D */
  template <int D>
  __device__ __forceinline__ void Read(T (&v)[R][m]) const
  {
    UNROLL (int r = 0; r < R; r++) {
      const T *from = Y + At<D>(r).start;
      UNROLL (int i = 0; i < m; i++) v[r][i] = from[S::offset(D, i)];
    }
  }
  __device__ __forceinline__ Problem ProblemAlong(int d) const
  {
    const int32_t type = __ldg(w.type + (size_t)patch * DIM + d);

    return {w.fdm + (size_t)type * VpFdmSize(N), (bool)__ldg(w.mirrored + type)};
  }
  /* the thread's lines of Y along D = F v, or B v if BACK; v is lost. before: all problems, if patches are few */
  template <int D, bool BACK>
  __device__ __forceinline__ void Transform(const Problems &before, T (&v)[R][m]) const
  {
    const Problem problem = FEW ? before[D] : ProblemAlong(D);
    const T      *a = problem.table + (BACK ? VpBackAt(m) : 0);
    auto          write = [=](int r, int i, T y) { Y[At<D>(r).start + S::offset(D, i)] = y; };

    if (!problem.mirrored) {
#pragma unroll(N > VP_UNROLLED_N ? 1 : m)
      for (int i = 0; i < m; i++) {
        T sum[R] = {};
        AddRow(a + i * m, v, sum);
        UNROLL (int r = 0; r < R; r++) write(r, i, sum[r]);
      }
    } else if (BACK) {
      UNROLL (int i = 0; i < N; i++) { /* as Backward(), but row by row, as the table is read */
        T half[2][R] = {};
        ForRow<m>(a + i * m, [&](int j, T b) {
          UNROLL (int r = 0; r < R; r++) half[j % 2][r] += b * v[r][j];
        });
        UNROLL (int r = 0; r < R; r++) {
          write(r, i, half[0][r] + half[1][r]);
          write(r, N + Map::index(i), Map::sign(i) < 0 ? half[1][r] - half[0][r] : half[0][r] - half[1][r]);
        }
      }
    } else {
      T half[2][R][N];
      Fold<Map, T, N, R>(v, half[0], half[1]);
      UNROLL (int i = 0; i < m; i++) {
        T sum[R] = {};
        AddRow(a + i * m, half[i % 2], sum);
        UNROLL (int r = 0; r < R; r++) write(r, i, sum[r]);
      }
    }
  }
  /* sum[r] += the product of a table's row with v[r] */
  template <int COUNT>
  static __device__ __forceinline__ void AddRow(const T *row, const T (&v)[R][COUNT], T (&sum)[R])
  {
    ForRow<COUNT>(row, [&](int j, T a) {
      UNROLL (int r = 0; r < R; r++) sum[r] += a * v[r][j];
    });
  }

  /* number i of VpPatchView.factor */
  __device__ __forceinline__ T Factor(int i) const
  {
    return w.factor ? __ldg(w.factor + (size_t)patch * (DIM + 1) + i) : i < DIM ? T(1) : w.reaction;
  }
  /* v divided by a sum of eigenvalues, or 0 where the sum is not above the cutoff, or infinite */
  __device__ __forceinline__ T Divide(T v, T sum) const
  {
    return sum > w.cutoff && sum < INFINITY ? v * Reciprocal(sum) : T(0);
  }
  /* v /= sum of eigenvalues, or v = 0 where the sum is not above the cutoff; v are x lines in eigen-coordinates */
  __device__ __forceinline__ void Scale(const Problems &before, T (&v)[R][m]) const
  {
    const T *lambda[DIM];

    UNROLL (int d = 0; d < DIM; d++) lambda[d] = (FEW ? before[d] : ProblemAlong(d)).table + VpLambdaAt(m);
    UNROLL (int r = 0; r < R; r++) {
      const auto line = At<0>(r);
      T          rest = Factor(DIM);
      UNROLL (int k = 0; k < S::slow; k++) rest += Factor(k + 1) * __ldg(lambda[k + 1] + line.other[k]);
      UNROLL (int i = 0; i < m; i++) {
        const T sum = Factor(0) * __ldg(lambda[0] + i) + rest;
        v[r][i] = Divide(v[r][i], sum);
      }
    }
  }

  /* x = Y, or x += Y, written to the buffers that do not hold the cells */
  __device__ __forceinline__ void Store() const
  {
    UNROLL (int r = 0; r < R; r++) {
      const auto line = At<S::slow>(r);
      UNROLL (int c = 0; c < 2; c++) {
        const int     q = line.cell | c << S::slow;
        const int32_t cell = cells[q];
        const auto    its = In<S::slow>(line, Frame(q));
        const T      *old = its.First(Values(cell, false));
        T            *to = its.First(Values(cell, true));
        UNROLL (int i = 0; i < N; i++) {
          const int place = line.start + S::offset(S::slow, c * N + i), own = its.Index(i);
          to[own] = its.Signed(i, Y[place]) + (mode == VP_MODE_REPLACE ? T(0) : X ? its.Signed(i, X[place]) : old[own]);
        }
      }
    }
  }

  template <int D>
  __device__ __forceinline__ void ToModes(const Problems &before) const
  {
    T v[R][m];

    Read<D>(v);
    Transform<D, false>(before, v);
    if (D) __syncthreads();
  }
  template <int D>
  __device__ __forceinline__ void FromModes(const Problems &before) const
  {
    T v[R][m];

    Read<D>(v);
    if (D == 0) Scale(before, v);
    Transform<D, true>(before, v);
    if (D < S::slow) __syncthreads();
  }
  __device__ __forceinline__ void Solve(bool active) const
  {
    Problems before;

    UNROLL (int d = 0; FEW && d < DIM; d++) before[d] = ProblemAlong(d);
    Load();
    if (mode != VP_MODE_GIVEN) SubtractAll();
    ToModes<S::slow>(before);
    if (DIM == 3) ToModes<1>(before);
    ToModes<0>(before);
    FromModes<0>(before);
    if (DIM == 3) FromModes<1>(before);
    FromModes<S::slow>(before);
    if (active) Store();
  }
};

/* bytes of shared memory. values: whether patches keep their values of x */
template <class L, class T, bool TURNED>
constexpr size_t AnyBytes(bool values)
{
  return L::patches * ((values ? 2 : 1) * L::Any::stride * sizeof(T) + L::Any::sides * sizeof(PatchSide<T, TURNED>));
}

/* Solves on the patches list[first], ..., list[last - 1], or first, ..., last - 1 if list is NULL, as many as a block holds. Threads left
   over repeat the last patch and write nothing. mode(patch): the patch's mode */
template <class L, class T, int DIM, int N, bool TURNED, class Mode>
__device__ __forceinline__ void SolveAny(const Field<T> &f, const Sweep<T> &w, const uint8_t *cover, unsigned done, const int32_t *list,
                                         int32_t first, int32_t last, Mode mode)
{
  typedef typename L::Any S;
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];
  const int                                                slot = threadIdx.x / S::threads;
  const int32_t                index = first + slot, in = index < last ? index : last - 1, patch = list ? list[in] : in;
  const VpResidualMode         of = mode(patch);
  typedef PatchSide<T, TURNED> Side;
  Side                        *side = (Side *)shared;
  T                           *Y = (T *)(side + L::patches * S::sides) + slot * S::stride;

  const AnyPatch<T, DIM, N, S, TURNED> any = {f,
                                              w,
                                              of,
                                              patch,
                                              w.patch + (size_t)patch * S::cells,
                                              Y,
                                              KeepsValues(of) ? Y + L::patches * S::stride : NULL,
                                              side + slot * S::sides,
                                              cover,
                                              done,
                                              (int)threadIdx.x % S::threads};
  any.Solve(index < last);
}

template <class T, int DIM, int N, class L, bool TURNED>
__global__ void __launch_bounds__(L::block, L::least) SweepAny(const __grid_constant__ Field<T> f, const __grid_constant__ Sweep<T> w,
                                                               VpResidualMode mode, const int32_t *list, int32_t first, int32_t last)
{
  SolveAny<L, T, DIM, N, TURNED>(f, w, w.cover, w.done, list, first + blockIdx.x * L::patches, last, [mode](int32_t) { return mode; });
}
} // namespace vpatchdg::patch
