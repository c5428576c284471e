/* What a block does on an edge patch. Its parts K and F are solved one by one, by the tensor products of their lines; a dense matrix of the
   side puts them together:

       r_K, r_F --> y = A_FF^-1 r_F --> r_K -= A_KF y --> u = S^-1 r_K --> y -= A_FF^-1 A_FK u --> K += u, F += y, b -= A_FK u

   In shared memory F is one array with 2n values along the side and n across it. */
#pragma once
#include "hanging.cuh"

/* what a launch works on */
template <class T>
struct EdgeWork {
  Field<T>       fine, coarse;
  VpHangView     sides;
  const int32_t *type;
  const T       *table, *weight, *excess;
  T              reaction;
  T             *b = NULL;
  const T       *bc = NULL;

  static Field<T> All(const VpView *view, const void *x)
  {
    const size_t values = view->dim == 3 ? (size_t)view->n * view->n * view->n : (size_t)view->n * view->n;

    return Field<T>(view, x, (const T *)x + (size_t)view->nown * values);
  }
  EdgeWork(const VpView *f, const VpView *c, const VpEdgeView *e, const void *x, const void *xc)
      : fine(All(f, x)), coarse(All(c, xc)), sides(e->sides), type(e->type), table((const T *)e->table), weight((const T *)e->weight),
        excess((const T *)e->excess), reaction((T)e->reaction)
  {
  }
};

template <class T, int DIM, int N>
struct EdgeSide : Side<T, DIM, N> {
  typedef Side<T, DIM, N> S;
  typedef TraceOf<T>      Trace;
  using S::faces, S::values, S::i, S::l, S::Item, S::Form, S::Of, S::ToFace, S::FromFaces, S::Flux, S::AddLift, S::AddLiftTogether;

  const EdgeWork<T> &w;

  __device__ __forceinline__ EdgeSide(const EdgeWork<T> &work, T *shared) : S(work.sides, shared), w(work)
  {
  }
  /* what the values u of K test the group's cell F with */
  __device__ __forceinline__ Trace ToFine(int32_t at, const T *u) const
  {
    const int32_t *item = Item(at);
    Trace          here = {T(0), T(0)}, there = Of(w.coarse, item[1] / 2, item[1] % 2, u);

    ToFace(i, there);
    Flux(Form(at), true, Form(at)[5 + i], here, there);
    return here;
  }
  /* F += sign A_FK u, in y */
  __device__ __forceinline__ void AddToFine(int32_t at, T sign, const T *u, T *y) const
  {
    const int32_t *item = Item(at);

    AddLift(item[1] / 2, 1 - item[1] % 2, sign, ToFine(at, u), y + (size_t)item[3 + i] * values, 0, 1);
  }
  /* r -= A_KF x, and what the line of K, whose values are u, lacks there */
  __device__ __forceinline__ void SubtractFine(int32_t at, const T *u, T *r) const
  {
    const int32_t *item = Item(at);
    const int      d = item[1] / 2, end = item[1] % 2;
    const T       *form = Form(at);
    Trace          here = {T(0), T(0)}, none = here;

    Flux(form, false, form[5 + i], here, Of(w.fine, d, 1 - end, w.fine.Cell(item[3 + i], values)));
    if (w.excess) {
      Trace own = Of(w.coarse, d, end, u);
      ToFace(i, own);
      Flux(form, false, w.excess[(size_t)at * faces + i], own, none);
      here.V += own.V;
      here.Q += own.Q;
    }
    FromFaces(here);
    AddLiftTogether(d, end, T(-1), here, r);
  }
  /* r of the cell beyond that was refined -= what the lines lack there; that cell is as large as K */
  __device__ __forceinline__ void SubtractExcessBeyond(int32_t at, const T *u, T *r) const
  {
    const int32_t *item = Item(at);
    const T       *form = Form(at), root = T(0.70710678118654752);
    const T        large[5] = {form[2] * root, form[3] * root / 2, form[0], form[1], form[4]};
    Trace          here = {T(0), T(0)}, own = Of(w.coarse, item[1] / 2, item[1] % 2, u);

    ToFace(i, own);
    Flux(large, false, w.excess[(size_t)at * faces + i], here, own);
    FromFaces(here);
    AddLiftTogether(item[1] / 2, 1 - item[1] % 2, T(-1), here, r);
  }
  /* the first side of the same K */
  __device__ __forceinline__ int32_t First(int32_t at) const
  {
    while (at > 0 && Item(at - 1)[0] == Item(at)[0]) at--;
    return at;
  }
  __device__ __forceinline__ bool IsOf(int32_t at, int32_t K) const
  {
    return at < w.sides.n && Item(at)[0] == K;
  }
};

/* the inverse of a sum along the directions of an array with n values along each, or 2n where it is wide */
template <class T, int DIM, int N>
struct LineSum {
  const T *table[DIM]; /* F, B, lambda */
  bool     wide[DIM];

  __device__ __forceinline__ int Extent(int d) const
  {
    return wide[d] ? 2 * N : N;
  }
  __device__ __forceinline__ int Total() const
  {
    int total = 1;

    UNROLL (int d = 0; d < DIM; d++) total *= Extent(d);
    return total;
  }
  /* lines of M values, `stride` apart: A times each */
  template <int M>
  static __device__ __forceinline__ void Contract(const T *A, int stride, int total, T *v)
  {
    for (int l = threadIdx.x; l < total / M; l += blockDim.x) {
      T *line = v + l % stride + l / stride * stride * M, in[M];

      UNROLL (int j = 0; j < M; j++) in[j] = line[j * stride];
#pragma unroll 1
      for (int k = 0; k < M; k++) {
        T sum = T(0);
        UNROLL (int j = 0; j < M; j++) sum += __ldg(A + k * M + j) * in[j];
        line[k * stride] = sum;
      }
    }
  }
  __device__ __forceinline__ void Transform(bool back, T *v) const
  {
    int stride = 1;

    UNROLL (int d = 0; d < DIM; d++) {
      __syncthreads();
      if (wide[d]) Contract<2 * N>(table[d] + (back ? 4 * N * N : 0), stride, Total(), v);
      else Contract<N>(table[d] + (back ? N * N : 0), stride, Total(), v);
      stride *= Extent(d);
    }
    __syncthreads();
  }
  /* v = weight (A + reaction)^-1 v, in shared memory. All threads of the block call. */
  __device__ __forceinline__ void Solve(T reaction, T weight, T *v) const
  {
    Transform(false, v);
    for (int k = threadIdx.x; k < Total(); k += blockDim.x) {
      T   sum = reaction;
      int mode = k;

      UNROLL (int d = 0; d < DIM; d++) {
        sum += __ldg(table[d] + 2 * Extent(d) * Extent(d) + mode % Extent(d));
        mode /= Extent(d);
      }
      v[k] *= weight / sum;
    }
    Transform(true, v);
  }
};

template <class T, int DIM, int N>
struct EdgePatch : EdgeSide<T, DIM, N> {
  typedef EdgeSide<T, DIM, N> S;
  typedef CellShape<DIM, N>   C;
  typedef TraceOf<T>          Trace;
  typedef LineSum<T, DIM, N>  Sum;
  static constexpr int        m = 2 * S::lines, fine = S::faces * C::size; /* numbers of Z's rows, of an array that holds all F */
  static constexpr size_t     bytes = (2 * fine + 2 * S::values + S::room) * sizeof(T);
  using S::faces, S::lines, S::values, S::w, S::s, S::i, S::l, S::Item, S::Form, S::Of, S::First, S::IsOf, S::Lift;

  int32_t at, K, F; /* the side, its cell, the group's cell behind it */
  int     d, end;
  T      *y, *q, *u, *v; /* shared memory: all F, all F again, K, K again */

  __device__ __forceinline__ EdgePatch(const EdgeWork<T> &work, int32_t which, T *shared)
      : S(work, shared + 2 * fine + 2 * values), at(which), K(Item(which)[0]), F(Item(which)[3 + i]), d(Item(which)[1] / 2),
        end(Item(which)[1] % 2), y(shared), q(shared + fine), u(shared + 2 * fine), v(u + values)
  {
  }

  /* strides along y and z of the arrays of all F, and where the group's cell begins in them */
  __device__ __forceinline__ int StrideY() const
  {
    return d == 0 ? N : 2 * N;
  }
  __device__ __forceinline__ int StrideZ() const
  {
    return StrideY() * (d == 1 ? N : 2 * N);
  }
  __device__ __forceinline__ int Start() const
  {
    int start = 0, bit = 0;

    UNROLL (int e = 0; e < DIM; e++) {
      if (e != d) start += (i >> bit++ & 1) * N * VpLineStride(e, StrideY(), StrideZ());
    }
    return start;
  }
  /* line l of the group's cell along e there, and its stride */
  __device__ __forceinline__ int LineAt(int e) const
  {
    return Start() + LineStart<DIM>(e, N, l, StrideY(), StrideZ());
  }
  __device__ __forceinline__ int Step(int e) const
  {
    return VpLineStride(e, StrideY(), StrideZ());
  }

  /* the parts' inverses in the entry of the table */
  __device__ __forceinline__ const T *Table() const
  {
    return w.table + (size_t)w.type[at] * VpEdgeSize(N, DIM);
  }
  __device__ __forceinline__ Sum OfK() const
  {
    Sum sum;

    UNROLL (int e = 0; e < DIM; e++) {
      sum.table[e] = Table() + e * VpBlockSize(N);
      sum.wide[e] = false;
    }
    return sum;
  }
  __device__ __forceinline__ Sum OfF() const
  {
    const T *along = Table() + (DIM + 1) * VpBlockSize(N);
    Sum      sum;

    UNROLL (int e = 0; e < DIM; e++) {
      sum.wide[e] = e != d;
      sum.table[e] = e == d ? Table() + DIM * VpBlockSize(N) : along;
      if (e != d) along += VpFdmSize(N);
    }
    return sum;
  }

  /* u = the residual of K, with traces of the finer level on sides that hang. All groups compute the same; y and q are lost. */
  __device__ __forceinline__ void CoarseResidual() const
  {
    const T      *own = w.coarse.Cell(K, values), *b = w.bc + (size_t)K * values + l;
    const int32_t first = First(at);
    int           without = 0;
    T             r[N];

    for (int32_t side = first; IsOf(side, K); side++) without |= 1 << Item(side)[1];
    LoadCell<T, DIM, N>(own, y + i * C::size, l);
    __syncthreads();
    ApplyCell<T, DIM, N>(w.coarse, K, y + i * C::size, q + i * C::size, l, r, without);
    UNROLL (int k = 0; k < N; k++) {
      if (i == 0) u[l + k * lines] = b[k * lines] - r[k];
    }
    __syncthreads();
    for (int32_t side = first; IsOf(side, K); side++) S::SubtractFine(side, own, u);
  }
  /* y = the residuals of all F; q is lost */
  __device__ __forceinline__ void FineResidual() const
  {
    const T *b = w.b + (size_t)F * values + l;
    T        r[N];

    LoadCell<T, DIM, N>(w.fine.Cell(F, values), y + i * C::size, l);
    __syncthreads();
    ApplyCell<T, DIM, N>(w.fine, F, y + i * C::size, q + i * C::size, l, r);
    __syncthreads();
    UNROLL (int k = 0; k < N; k++) y[LineAt(C::slow) + k * Step(C::slow)] = b[k * lines] - r[k];
  }

  /* u -= A_KF y on the patch's side */
  __device__ __forceinline__ void SubtractFineOfPatch() const
  {
    const T *form = Form(at);
    Trace    here = {T(0), T(0)}, there;

    Traces(w.fine.nt, w.fine.first, w.fine.traces, 1 - end, y + LineAt(d), Step(d), there.V, there.Q);
    S::Flux(form, false, form[5 + i], here, there);
    S::FromFaces(here);
    S::AddLiftTogether(d, end, T(-1), here, u);
  }
  /* t = Z t, which is the same in all groups */
  __device__ __forceinline__ void Couple(Trace &t) const
  {
    const T *Z = Table() + (DIM + 1) * VpBlockSize(N) + (DIM - 1) * VpFdmSize(N);

    __syncthreads();
    if (i == 0) {
      s[l] = t.V;
      s[lines + l] = t.Q;
    }
    __syncthreads();
    if (threadIdx.x < m) {
      const T *row = Z + threadIdx.x * m;
      T        sum = T(0);

      for (int k = 0; k < m; k++) sum += __ldg(row + k) * s[k];
      v[threadIdx.x] = sum;
    }
    __syncthreads();
    t = {v[l], v[lines + l]};
    __syncthreads();
  }
  /* u = S^-1 u for K, S = A_KK - A_KF A_FF^-1 A_FK; v is lost */
  __device__ __forceinline__ void SolveCoarse(T reaction, T weight) const
  {
    const Sum sum = OfK();
    Trace     t;

    sum.Solve(reaction, weight, u);
    t = Of(w.coarse, d, end, u);
    Couple(t);
    for (int k = threadIdx.x; k < values; k += blockDim.x) v[k] = T(0);
    __syncthreads();
    S::AddLiftTogether(d, end, T(1), t, v);
    sum.Solve(reaction, T(1), v);
    for (int k = threadIdx.x; k < values; k += blockDim.x) u[k] += v[k];
    __syncthreads();
  }
  /* q = A_FK u */
  __device__ __forceinline__ void CoarseToPatch() const
  {
    const Trace t = S::ToFine(at, u);

    UNROLL (int k = 0; k < N; k++) q[LineAt(d) + k * Step(d)] = Lift(1 - end, t, k);
  }
  /* adds u and y - q to the vectors, and keeps b right */
  __device__ __forceinline__ void Store() const
  {
    T *x = (T *)w.fine.Cell(F, values) + l, *xc = (T *)w.coarse.Cell(K, values);

    UNROLL (int k = 0; k < N; k++) {
      const int place = LineAt(C::slow) + k * Step(C::slow);
      x[k * lines] += y[place] - q[place];
    }
    for (int k = threadIdx.x; k < values; k += blockDim.x) xc[k] += u[k];
    for (int32_t side = First(at); IsOf(side, K); side++) S::AddToFine(side, T(-1), u, w.b);
  }
  __device__ __forceinline__ void Solve() const
  {
    const T weight = w.weight ? w.weight[at] : T(1), reaction = w.reaction * weight;

    CoarseResidual();
    FineResidual();
    OfF().Solve(reaction, weight, y);
    SubtractFineOfPatch();
    SolveCoarse(reaction, weight);
    CoarseToPatch();
    OfF().Solve(reaction, weight, q);
    Store();
  }
};
