/* The kernel of replacepatch.cuh for patches that compute their own residual: x += A_j^-1 (b - A x) in every space, where the coefficient a
   varies over cells of one size, or is 1 in cells with the common lines, and x += A_j^-1 b. F and B are those of common patches, whose
   coefficients were fitted by a constant, or of a group.

   A x along a direction is a K u on a cell, where K has no faces, and on both sides of a face what the jump of traces adds times the
   harmonic mean H of the cells' coefficients. So all cells share one K and one g, and five numbers are a line's own:

              a0        a1                thin basis: a jump is two differences of coefficients,
        H0 |------ H ------| H1                u[n] - u[n-1]  and  u[n+1] - u[n-2]  at the face in the middle;
                                          else it is that of the value and that of the slope

   On the domain's boundary the jump is a multiple of the cell's own traces, and H = a. A residual without the patch's outer faces has
   H0 = H1 = 0 there. A cell takes jumps at both of its sides, of which the even and the odd parts are added to those of K u.

       x ==> X --> x: A --> y: A --> z: b - A, F --> .. as in replacepatch.cuh .. --> z: B + X ==> x

   X and Y are two arrays of a patch in shared memory. Y is A x, then what replacepatch.cuh has there. */
#pragma once
#include "replacepatch.cuh"

namespace vpatchdg::patch {
/* K and what jumps add as even and odd halves: functions i and n-1-i of a cell mirror each other, and for odd n the middle one is even. In
   the orthonormal basis functions are even and odd in turn. */
template <class T, int N>
struct CorrectTables {
  static constexpr int  half = N / 2, even = N - half, nt = VpThinLayers(N, 3);
  static constexpr bool thin = nt < VpDenseLayers(N);
  T                     even_K[3][even * even], odd_K[3][half * half];
  T                     even_add[3][2][even], odd_add[3][2][half]; /* [direction][jump] what jumps at the lower side add */
  T                     outside[3][2][2][2]; /* [direction][side] from the cell's own pair there (CorrectPair) to the jumps */
};

/* The pair of traces beyond side s, if the cell beyond is the mirror image of this one: two coefficients, or value and slope. trace: of
   PatchTables */
template <class T, int N>
__device__ __forceinline__ Pack<T, 2> CorrectPair(const T (&trace)[2][2][VpThinLayers(N, 3)], int s, const T *u)
{
  typedef CorrectTables<T, N> Tables;
  Pack<T, 2>                  pair;

  if constexpr (Tables::thin) return {{s ? u[N - 1] : u[1], s ? u[N - 2] : u[0]}};
  else {
    UNROLL (int f = 0; f < 2; f++) {
      pair.a[f] = trace[s][f][0] * u[0];
      UNROLL (int i = 1; i < N; i++) pair.a[f] += trace[s][f][i] * u[i];
    }
    return pair;
  }
}

/* lines of two cells in a patch, four along each direction; the numbers of one: the coefficients of its cells, and the harmonic means at
   its lower end, between the cells and at its upper end */
enum { PATCH_LINES = 3 * VP_PATCH_CELLS / 2 };
enum { LINE_A0, LINE_A1, LINE_H0, LINE_H, LINE_H1, LINE_NUMBERS };

template <class T, int N, class S>
struct CorrectShape {
  static constexpr int    X = RoundUp(S::stride, Wide<T>::n);                         /* numbers of a patch's X */
  static constexpr size_t pointers = (S::sides + (size_t)S::patches * X) * sizeof(T); /* where pointers begin, then coefficients */
  static constexpr int    words = PATCH_SIDES + PATCH_LINES * LINE_NUMBERS * sizeof(T) / sizeof(void *);
  static constexpr size_t bytes = pointers + (size_t)S::patches * words * sizeof(void *);
};

template <class T, int N, class Boundary>
struct CorrectThread : PatchThread<T, N, Boundary, false> {
  typedef PatchThread<T, N, Boundary, false> Thread;
  typedef typename Thread::S                 S;
  typedef CorrectShape<T, N, S>              Shape;
  typedef Pack<T, 2>                         Pair;
  using Thread::inside, Thread::m, Thread::layer, Thread::R, Thread::abreast;
  using Thread::kx, Thread::ky, Thread::kz, Thread::Sync, Thread::Line, Thread::LineZ, Thread::Cell;
  using Thread::t, Thread::boundary, Thread::table, Thread::cells, Thread::sides, Thread::around, Thread::values, Thread::me, Thread::v;
  static constexpr bool thin = CorrectTables<T, N>::thin;

  const CorrectTables<T, N> &k;
  const CellCoefficients<T> &of;
  T                         *numbers; /* [direction][line of cells: 4][LINE_NUMBERS] shared */

  template <class Residual>
  __device__ __forceinline__ CorrectThread(const typename Thread::Tables &tables, const Boundary &boundary, const Residual &residual,
                                           const PatchWork<T> &w, unsigned done, int32_t at, unsigned char *shared)
      : Thread(tables, boundary, w, done, at, shared, Shape::X, Shape::pointers, Shape::words), k(residual.tables), of(residual.of)
  {
    numbers = (T *)(around + PATCH_SIDES);
  }

  /* from the planes to X */
  __device__ __forceinline__ int X() const
  {
    return (int)(sides - values);
  }
  /* H at a side along d with the cell h beyond, of a cell with coefficient a */
  __device__ __forceinline__ T Mean(int h, int d, T a) const
  {
    const bool drop = of.mode == VP_MODE_LOCAL && __ldg(cells + h) >= 0;
    return drop ? T(0) : of.coefficient ? of.Mean(cells, h, d, a) : a;
  }
  __device__ __forceinline__ T Coefficient(int h, int d) const
  {
    return of.coefficient ? of.At(cells, h, d) : T(1);
  }
  /* Ensures: `around` are the cells beyond the sides, and `numbers`. */
  __device__ __forceinline__ void FindNumbers() const
  {
    this->FindBeyond();
#pragma unroll 1
    for (int h = me; h < PATCH_LINES; h += S::threads) {
      const int d = h / 4, q = h % 4, lower = PatchCellAt(d, 0, q);
      const T   a0 = Coefficient(lower, d), a1 = Coefficient(lower | 1 << d, d);
      T        *to = numbers + LINE_NUMBERS * h;
      to[LINE_A0] = a0;
      to[LINE_A1] = a1;
      to[LINE_H0] = Mean(VP_PATCH_CELLS + PatchSideAt(d, 0, q), d, a0);
      to[LINE_H] = HarmonicMean(a0, a1);
      to[LINE_H1] = Mean(VP_PATCH_CELLS + PatchSideAt(d, 1, q), d, a1);
    }
    Sync();
  }

  /* whether side s along D is at the domain's boundary */
  template <int D>
  __device__ __forceinline__ bool AtBoundary(int s) const
  {
    if constexpr (Thread::Of::grouped) return t.sides[D] >> s & 1;
    else return (D == 0 ? kx : D == 1 ? ky : kz) == LIES_LOWER + s;
  }

  /* the number q of the cells of line r along D, and its place in a cell's vector */
  template <int D>
  __device__ __forceinline__ void Find(int r, int &q, int &at) const
  {
    if (D == 2) {
      q = LineZ(r) / layer;
      at = LineZ(r) % layer;
    } else {
      constexpr Digits o = D == 0 ? S::x : S::y;
      const int        l = Line(r), z = l / o.z % m;
      q = l / o.cell % 2 + 2 * (z >= N);
      at = l / o.place % N * (D == 0 ? N : 1) + z % N * layer;
    }
  }
  template <int D>
  __device__ __forceinline__ void Beyond(Pair (&p)[R][2]) const
  {
    UNROLL (int r = 0; r < R; r++) {
      int q, at;
      Find<D>(r, q, at);
      UNROLL (int s = 0; s < 2; s++)
        p[r][s] = TracePair<false, T, N>(t.trace, 1 - s, around[PatchSideAt(D, s, q)] + at, VpLineStride(D, N, layer));
    }
  }

  /* y = a K u on a cell, split by parity: y[i] is entry i of the even part, y[N - 1 - i] entry i of the odd part. */
  template <int D>
  __device__ __forceinline__ void OperateCell(T a, const T *u, T *y) const
  {
    constexpr int half = CorrectTables<T, N>::half, even = CorrectTables<T, N>::even;
    const int     d = t.template Same<D>();
    T             e[even], o[half];

    UNROLL (int i = 0; i < half; i++) {
      e[i] = thin ? a * (u[i] + u[N - 1 - i]) : a * u[2 * i];
      o[i] = thin ? a * (u[i] - u[N - 1 - i]) : a * u[2 * i + 1];
    }
    if (even > half) e[even - 1] = a * u[thin ? half : N - 1];
    UNROLL (int i = 0; i < even; i++) {
      y[i] = k.even_K[d][i * even] * e[0];
      UNROLL (int j = 1; j < even; j++) y[i] += k.even_K[d][i * even + j] * e[j];
    }
    UNROLL (int i = 0; i < half; i++) {
      y[N - 1 - i] = k.odd_K[d][i * half] * o[0];
      UNROLL (int j = 1; j < half; j++) y[N - 1 - i] += k.odd_K[d][i * half + j] * o[j];
    }
  }
  /* y = that, plus what the jumps times H add at the lower and the upper side of the cell. They come last, since neighbours' values may
     still be under way. */
  template <int D>
  __device__ __forceinline__ void AddJumps(const T (&lower)[2], const T (&upper)[2], T *y) const
  {
    constexpr int half = CorrectTables<T, N>::half, even = CorrectTables<T, N>::even;
    const int     d = t.template Same<D>();
    const T       u0 = upper[thin], u1 = upper[!thin]; /* as they are mirrored */
    const T       e0 = lower[0] + u0, e1 = lower[1] + u1, o0 = lower[0] - u0, o1 = lower[1] - u1;
    T             all[N];

    UNROLL (int i = 0; i < even; i++) {
      T p = y[i] + k.even_add[d][0][i] * e0;
      p += k.even_add[d][1][i] * e1;
      if (i < half) {
        T q = y[N - 1 - i] + k.odd_add[d][0][i] * o0;
        q += k.odd_add[d][1][i] * o1;
        all[thin ? i : 2 * i] = thin ? p + q : p;
        all[thin ? N - 1 - i : 2 * i + 1] = thin ? p - q : q;
      } else all[thin ? i : N - 1] = p;
    }
    UNROLL (int i = 0; i < N; i++) y[i] = all[i];
  }
  /* The jumps at the outer side s, times H; own: the cell's pair there */
  template <int D>
  __device__ __forceinline__ void Jumps(int s, bool boundary, const Pair &beyond, const Pair &own, T H, T (&j)[2]) const
  {
    j[0] = beyond.a[0] - own.a[0];
    j[1] = beyond.a[1] - own.a[1];
    if (!inside && boundary)
      UNROLL (int f = 0; f < 2; f++) j[f] = k.outside[D][s][f][1] * own.a[1] + k.outside[D][s][f][0] * own.a[0];
    j[0] *= H;
    j[1] *= H;
  }
  /* the jumps times H at the face in the middle, as the lower and as the upper cell sees them */
  __device__ __forceinline__ void InnerJumps(const T (&u)[m], T H, T (&up)[2], T (&down)[2]) const
  {
    const Pair lower = CorrectPair<T, N>(t.trace, 1, u), upper = CorrectPair<T, N>(t.trace, 0, u + N);

    UNROLL (int f = 0; f < 2; f++) up[f] = H * (upper.a[thin ? 1 - f : f] - lower.a[f]);
    UNROLL (int f = 0; f < 2; f++) down[f] = -up[thin ? 1 - f : f];
  }
  /* y = A u on line r along D */
  template <int D>
  __device__ __forceinline__ void Operate(int r, const Pair (&beyond)[2], const T (&u)[m], T (&y)[m]) const
  {
    int q, at;
    T   lower[2], upper[2], up[2], down[2];

    Find<D>(r, q, at);
    const T *own = numbers + LINE_NUMBERS * (4 * D + q);
    InnerJumps(u, own[LINE_H], up, down);
    OperateCell<D>(own[LINE_A0], u, y);
    OperateCell<D>(own[LINE_A1], u + N, y + N);
    Jumps<D>(0, AtBoundary<D>(0), beyond[0], CorrectPair<T, N>(t.trace, 0, u), own[LINE_H0], lower);
    AddJumps<D>(lower, up, y);
    Jumps<D>(1, AtBoundary<D>(1), beyond[1], CorrectPair<T, N>(t.trace, 1, u + N), own[LINE_H1], upper);
    AddJumps<D>(down, upper, y + N);
  }

  /* X = x on the z lines */
  __device__ __forceinline__ void LoadX() const
  {
    typedef Pack<T, abreast> Lines;

    UNROLL (int r = 0; r < R; r += abreast) {
      UNROLL (int c = 0; c < 2; c++) {
        const T *from = this->CellZ(r, c, false);
        T       *to = this->template Start<2>(r) + X() + S::sz * c * N;
        UNROLL (int i = 0; i < N; i++) *(Lines *)(to + S::sz * i) = LoadOnce((const Lines *)(from + i * layer));
      }
    }
  }
  /* Y = A x along D, or Y += A x */
  template <int D>
  __device__ __forceinline__ void Step(const Pair (&beyond)[R][2]) const
  {
    UNROLL (int r = 0; r < R; r++) {
      T u[m], y[m], before[m];
      this->template Read<D>(r, X(), u);
      Operate<D>(r, beyond[r], u, y);
      if (D) this->template Read<D>(r, 0, before);
      UNROLL (int i = 0; D && i < m; i++) y[i] += before[i];
      this->template Write<D>(r, y);
    }
    Sync();
  }
  /* v = b - A x on the z lines */
  __device__ __forceinline__ void Residual(const T *b)
  {
    Pair p[R][2];

    FindNumbers();
    LoadX();
    Beyond<0>(p);
    Sync();
    Step<0>(p);
    Beyond<1>(p);
    Step<1>(p);
    Beyond<2>(p);
    this->LoadB(b);
    UNROLL (int r = 0; r < R; r += abreast) {
      T x[abreast][m], y[abreast][m];
      this->ReadZ(r, X(), x);
      UNROLL (int k = 0; k < abreast; k++) {
        T z[m];
        Operate<2>(r + k, p[r + k], x[k], z);
        UNROLL (int i = 0; i < m; i++) x[k][i] = z[i] + of.reaction * x[k][i];
      }
      this->ReadZ(r, 0, y);
      UNROLL (int k = 0; k < abreast; k++) {
        UNROLL (int i = 0; i < m; i++) v[r + k][i] -= x[k][i] + y[k][i];
      }
    }
  }

  /* B along z; where `active`, the old values and the result go to the cells' other buffers */
  __device__ __forceinline__ void BackwardZ(bool active)
  {
    Thread::BackwardZ();
    UNROLL (int r = 0; r < R; r += abreast) {
      T x[abreast][m];
      this->ReadZ(r, X(), x);
      UNROLL (int k = 0; k < abreast; k++) {
        UNROLL (int i = 0; i < m; i++) v[r + k][i] += x[k][i];
      }
      if (!active) continue;
      UNROLL (int c = 0; c < 2; c++) this->Store(r, c, this->CellZ(r, c, true));
    }
  }
  __device__ __forceinline__ void Solve(const T *b, int32_t patch, bool active)
  {
    const Pack<T, 4> factors = of.Factors(patch);

    if (of.mode == VP_MODE_GIVEN) {
      LoadX();
      this->LoadB(b);
    } else Residual(b);
    this->ForwardZ();
    this->ForwardY();
    this->template SolveX<true>(factors);
    this->BackwardY();
    BackwardZ(active);
  }
};

/* the Residual of likepatch.cuh */
template <class T, int N>
struct Correct {
  static constexpr int blocks = Patch<T, N>::roomy, tail = GroupTail<N>::lambda;
  template <class S>
  static constexpr size_t bytes = CorrectShape<T, N, S>::bytes;
  template <class Boundary>
  using Thread = CorrectThread<T, N, Boundary>;

  CorrectTables<T, N> tables;
  CellCoefficients<T> of;
};
} // namespace vpatchdg::patch
