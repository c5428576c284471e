/* What a block does on an interface patch (VpInterfaceView). The inverses of A_KK and A_FF are tensor products of lines. A dense matrix of
   the side couples them:

       r_K, r_F --> y = A_FF^-1 r_F --> r_K -= A_KF y --> u = S^-1 r_K --> y -= A_FF^-1 A_FK u --> K += u, F += y, b -= A_FK u

   If the coefficient is the same everywhere, the inverse of A_FF is exact. Then r_F is without A_FF x, r_K without A_KF x, and F = y. */
#pragma once
#include "interfacesum.cuh"
#include "hanging.cuh"
#include <cuda_pipeline.h>

/* what a launch works on */
template <class T>
struct InterfaceWork {
  Field<T>       fine, coarse;
  VpHangView     sides;
  const int32_t *type, *around;
  const T       *table, *weight;
  T              reaction;
  const T       *ready = NULL; /* [entries][InterfaceTable::size] the tables that blocks have */
  T             *b = NULL;
  const T       *bc = NULL;

  static Field<T> All(const VpView *view, const void *x)
  {
    return Field<T>(view, x, (const T *)x + (size_t)view->nown * view->n * VpFaceSize(view->n, view->dim));
  }
  InterfaceWork(const VpView *f, const VpView *c, const VpInterfaceView *e, const void *x, const void *xc)
      : fine(All(f, x)), coarse(All(c, xc)), sides(e->sides), type(e->type), around(e->around), table((const T *)e->table),
        weight((const T *)e->weight), reaction((T)e->reaction)
  {
  }
};

template <class T, int DIM, int N>
struct InterfaceSide : HangThread<T, DIM, N> {
  typedef HangThread<T, DIM, N> S;
  typedef TraceOf<T>            Trace;
  using S::faces, S::values, S::i, S::l, S::Face, S::Form, S::ToFaces, S::FromFaces, S::Flux, S::AddLift, S::AddLiftTogether;

  const InterfaceWork<T> &w;

  __device__ __forceinline__ InterfaceSide(const InterfaceWork<T> &work, T *shared) : S(work.sides, shared), w(work)
  {
  }
  /* traces at an end of a line. The basis is that of a cycle's level, so the compiler knows how many values make traces. */
  static __device__ __forceinline__ Trace TraceAt(const Field<T> &f, int end, const T *line, int stride)
  {
    constexpr int nt = VpThinLayers(N, DIM), last = nt < VpDenseLayers(N) ? N - nt : 0;
    Trace         t;

    Traces(nt, end * last, f.traces, end, line, stride, t.V, t.Q);
    return t;
  }
  /* traces at an end along d of line l of a cell that has the values u */
  __device__ __forceinline__ Trace Of(const Field<T> &f, int d, int end, const T *u) const
  {
    return TraceAt(f, end, u + LineStart<DIM>(d, N, l, N, N * N), VpLineStride(d, N, N * N));
  }
  /* the factors (Flux) on the group's cell F for the values u on K; a: VP_HANG_A or VP_HANG_EXCESS, where coefficients of faces begin */
  __device__ __forceinline__ Trace ToFine(int32_t at, int a, const T *u) const
  {
    const VpFace &item = Face(at);
    Trace         here = {T(0), T(0)}, there = here;

    if (i == 0) there = Of(w.coarse, item.side / 2, item.side % 2, u);
    ToFaces(there);
    Flux(Form(at), true, Form(at)[a + i], here, there);
    return here;
  }
  /* Adds sign A_FK u to the group's cell F, in y. Without `there` it adds nothing. */
  __device__ __forceinline__ void AddToFine(int32_t at, bool there, T sign, const T *u, T *y) const
  {
    const VpFace &item = Face(at);
    const Trace   fine = ToFine(at, VP_HANG_A, u);

    if (there) AddLift(item.side / 2, 1 - item.side % 2, sign, fine, y + (size_t)item.cell[1 + i] * values, 0, 1);
  }
  /* r -= A_KF x and, where the coefficient varies, the terms of K's values u with the excess as the coefficient */
  __device__ __forceinline__ void SubtractFine(int32_t at, const T *u, T *r) const
  {
    const VpFace &item = Face(at);
    const int     d = item.side / 2, end = item.side % 2;
    const T      *form = Form(at);
    Trace         here = {T(0), T(0)}, none = here;

    Flux(form, false, form[VP_HANG_A + i], here, Of(w.fine, d, 1 - end, w.fine.Cell(item.cell[1 + i], values)));
    if (w.weight) {
      Trace own = none;
      if (i == 0) own = Of(w.coarse, d, end, u);
      ToFaces(own);
      Flux(form, false, form[VP_HANG_EXCESS + i], own, none);
      here.V += own.V;
      here.Q += own.Q;
    }
    FromFaces(here);
    AddLiftTogether(d, end, T(-1), here, r);
  }
  /* r -= the terms of u with the excess as the coefficient, on the refined cell beyond the side. It is as large as K, so its traces in
     reference scaling count 1/sqrt(2) and 1/sqrt(8) times as much as those of F. */
  __device__ __forceinline__ void SubtractExcess(int32_t at, const T *u, T *r) const
  {
    const VpFace &item = Face(at);
    Trace         here = ToFine(at, VP_HANG_EXCESS, u);

    FromFaces(here);
    here.V *= T(M_SQRT1_2);
    here.Q *= T(M_SQRT1_2 / 2);
    AddLiftTogether(item.side / 2, 1 - item.side % 2, T(-1), here, r);
  }
  /* a side of the same K, or -1 */
  __device__ __forceinline__ int32_t Around(int32_t at, int side) const
  {
    return __ldg(w.around + (size_t)at * 2 * DIM + side);
  }
  /* f(side) for all sides of the same K */
  template <class F>
  __device__ __forceinline__ void ForSides(int32_t at, F f) const
  {
    const int32_t *other = w.around + (size_t)at * 2 * DIM, *const end = other + 2 * DIM;

#pragma unroll 1
    for (; other < end; other++) {
      if (__ldg(other) >= 0) f(__ldg(other));
    }
  }
};

/* D is the direction across the side. */
template <class T, int DIM, int N, int D>
struct InterfacePatch : InterfaceSide<T, DIM, N> {
  typedef InterfaceSide<T, DIM, N>  S;
  typedef CellShape<DIM, N>         C;
  typedef TraceOf<T>                Trace;
  typedef InterfaceTable<T, DIM, N> Tables;
  using S::faces, S::lines, S::values, S::threads, S::w, S::s, S::i, S::l, S::Face, S::Form;

  /* rows of Z, numbers of an array that holds all F, and of `half` and `lift`; where arrays begin in shared memory */
  static constexpr int m = 2 * lines, fine = faces * C::size, maps = 4 * N * N + 4 * N;
  static constexpr int at_y = Tables::size, at_u = at_y + 2 * fine, at_t = at_u + 2 * values,
                       at_maps = RoundUp(at_t + 4 * threads, Tables::W), at_lines = at_maps + maps + S::scratch;
  static constexpr size_t bytes(bool replaces)
  {
    return (at_lines + (replaces ? 0 : faces * CellLines<T, DIM, N>::size)) * sizeof(T);
  }
  /* threads and blocks of a multiprocessor, which bounds the registers. Blocks wait at barriers most of the time, so there must be many. */
  static constexpr int wanted = sizeof(T) == 4 ? 1024 : 512, most = 16, many = wanted / RoundUp(threads, VP_WARP),
                       least = many > most ? most : Max(1, many);

  const T *Z;        /* of the entry */
  int32_t  at, K, F; /* the side, its cell, the group's cell beyond it */
  int      end;
  bool     replaces; /* F's values are replaced, not corrected: the patch's inverse is exact on F */
  T        weight;
  T       *y, *q, *u, *v, *t, *other, *line; /* shared memory: all F, all F again, K, K again, traces, traces again, F's lines */
  LineSum<T, DIM, N, D, false> own;          /* of K */
  LineSum<T, DIM, N, D, true>  finer;        /* of F */

  __device__ __forceinline__ InterfacePatch(const InterfaceWork<T> &work, int32_t which, T *shared)
      : S(work, shared + at_maps + maps), at(which), K(Face(which).cell[0]), F(Face(which).cell[1 + i]), end(Face(which).side % 2),
        replaces(!w.weight), weight(w.weight ? w.weight[which] : T(1)), y(shared + at_y), q(y + fine), u(shared + at_u), v(u + values),
        t(shared + at_t), other(t + 2 * threads),
        line(shared + at_lines), own{shared, w.reaction * weight}, finer{shared, w.reaction * weight}
  {
    T *map = shared + at_maps;

    Z = w.table + (size_t)w.type[which] * VpInterfaceSize(N, DIM) + VpInterfaceZ(N, DIM);
    Copy<4 * N * N>(this->half, map);
    Copy<4 * N>(this->lift, map + 4 * N * N);
    this->half = map;
    this->lift = map + 4 * N * N;
    __pipeline_commit();
    Copy<Tables::size>(w.ready + (size_t)w.type[which] * Tables::size, shared);
    __pipeline_commit();
    __pipeline_wait_prior(1);
  }
  /* Begins to copy COUNT numbers, a multiple of W. */
  template <int COUNT>
  static __device__ __forceinline__ void Copy(const T *from, T *to)
  {
    ForEach<COUNT / Tables::W, threads>([=](int k) { __pipeline_memcpy_async(to + k * Tables::W, from + k * Tables::W, VP_WIDE_BYTES); });
  }

  /* stride of the values of a line along e in an array of all F that has `deep` values across the side; start of line l of the group's cell
     there */
  static __device__ __forceinline__ constexpr int Step(int e, int deep = N)
  {
    return LineSum<T, DIM, N, D, true>::stride(e, deep);
  }
  __device__ __forceinline__ int LineAt(int e, int deep = N) const
  {
    int start = 0, bit = 0;

    UNROLL (int d = 0; d < DIM; d++) {
      if (d != D) start += (i >> bit++ & 1) * N * Step(d, deep);
    }
    return start + LineStart<DIM>(e, N, l, Step(1, deep), DIM == 3 ? Step(DIM - 1, deep) : 0);
  }

  /* t [side][line] = the traces beyond K's sides; 0 where there is no cell, or finer ones */
  __device__ __forceinline__ void TracesBeyond() const
  {
    static_assert(4 * DIM * lines <= 4 * threads, "t and the other traces hold them");
    ForEach<2 * DIM * lines, threads>([&](int number) {
      const int     side = number / lines, line = number % lines, e = side / 2;
      const int32_t beyond = __ldg(w.coarse.neighbor + (size_t)K * 2 * DIM + side);
      Trace         its = {T(0), T(0)};

      if (beyond >= 0 && S::Around(at, side) < 0)
        its = S::TraceAt(w.coarse, 1 - side % 2, w.coarse.Cell(beyond, values) + LineStart<DIM>(e, N, line, N, N * N),
                         VpLineStride(e, N, N * N));
      t[2 * number] = its.V;
      t[2 * number + 1] = its.Q;
    });
  }
  /* u -= A x on K without the terms of finer cells. v = K's values; t as TracesBeyond() makes it. The groups share the values of a line. */
  __device__ __forceinline__ void SubtractCoarse() const
  {
    UNROLL (int e = 0; e < DIM; e++) {
      const int start = LineStart<DIM>(e, N, l, N, N * N), step = VpLineStride(e, N, N * N);
      const T  *A = w.coarse.lines + (size_t)__ldg(w.coarse.line + (size_t)K * DIM + e) * VpLineSize(N), *g = A + VpLineSide(N, 0);
      const T  *beyond[2] = {t + 2 * (2 * e * lines + l), t + 2 * ((2 * e + 1) * lines + l)};
      T         in[N];

      UNROLL (int j = 0; j < N; j++) in[j] = v[start + j * step];
      UNROLL (int n = 0; n < (N + faces - 1) / faces; n++) {
        const int k = i + n * faces;
        if (N % faces && k >= N) continue;
        T sum = T(0);
        UNROLL (int j = 0; j < N; j++) sum += __ldg(A + k * N + j) * in[j];
        UNROLL (int side = 0; side < 2; side++)
          sum += __ldg(g + 2 * side * N + k) * beyond[side][0] + __ldg(g + (2 * side + 1) * N + k) * beyond[side][1];
        u[start + k * step] -= sum;
      }
      __syncthreads();
    }
  }
  /* u = the residual of K, with traces of the finer level where its cells are beyond K's sides. If F's values are replaced, the terms of F
     are missing; SubtractFineOfPatch() subtracts them. v and t are lost. */
  __device__ __forceinline__ void CoarseResidual() const
  {
    const T *own = w.coarse.Cell(K, values), *b = w.bc + (size_t)K * values;

    ForEach<values, threads>([&](int k) {
      v[k] = own[k];
      u[k] = b[k];
    });
    TracesBeyond();
    __syncthreads();
    SubtractCoarse();
    S::ForSides(at, [&](int32_t side) {
      if (side != at || !replaces) S::SubtractFine(side, v, u);
    });
  }
  /* Whether a cell is one of the patch's F. The cell beyond F is one of them in a periodic direction without other cells. */
  __device__ __forceinline__ bool IsFine(int32_t cell) const
  {
    bool is = false;

    UNROLL (int k = 0; k < faces; k++) is = is || cell == Face(at).cell[1 + k];
    return is;
  }
  /* y = b less what cells outside the patch add to A x, on all F */
  __device__ __forceinline__ void FineRight() const
  {
    const T *b = w.b + (size_t)F * values + l, *lift[DIM];
    Trace    beyond[DIM];

    UNROLL (int e = 0, bit = 0; e < DIM; e++) {
      const int     side = e == D ? end : i >> bit++ & 1;
      const int32_t cell = __ldg(w.fine.neighbor + (size_t)F * 2 * DIM + 2 * e + side);

      lift[e] = w.fine.lines + (size_t)__ldg(w.fine.line + (size_t)F * DIM + e) * VpLineSize(N) + VpLineSide(N, side);
      beyond[e] = {T(0), T(0)};
      if (cell >= 0 && !IsFine(cell)) beyond[e] = S::Of(w.fine, e, 1 - side, w.fine.Cell(cell, values));
    }
    UNROLL (int k = 0; k < N; k++) y[LineAt(C::slow) + k * Step(C::slow)] = b[k * lines];
    UNROLL (int e = 0; e < DIM; e++) {
      __syncthreads();
      UNROLL (int k = 0; k < N; k++) y[LineAt(e) + k * Step(e)] -= __ldg(lift[e] + k) * beyond[e].V + __ldg(lift[e] + N + k) * beyond[e].Q;
    }
    __syncthreads();
  }
  /* y = the residuals of all F; q is lost */
  __device__ __forceinline__ void FineResidual() const
  {
    const T *b = w.b + (size_t)F * values + l;
    T        r[N];

    LoadCell<T, DIM, N>(w.fine.Cell(F, values), y + i * C::size, l);
    ApplyCell<T, DIM, N>(w.fine, F, y + i * C::size, q + i * C::size, line + i * CellLines<T, DIM, N>::size, l, r);
    __syncthreads();
    UNROLL (int k = 0; k < N; k++) y[LineAt(C::slow) + k * Step(C::slow)] = b[k * lines] - r[k];
    __syncthreads();
  }

  /* u -= A_KF x on the patch's side, for the x of all F that has the modes y */
  __device__ __forceinline__ void SubtractFineOfPatch()
  {
    const T *form = Form(at);
    Trace    here = {T(0), T(0)};

    finer.TracesOf(y, t, other);
    S::Flux(form, false, form[VP_HANG_A + i], here, {t[LineAt(D, 2)], t[LineAt(D, 2) + Step(D, 2)]});
    S::FromFaces(here);
    S::AddLiftTogether(D, end, T(-1), here, u);
  }
  /* t = Z t */
  __device__ __forceinline__ void Couple() const
  {
    constexpr int parts = threads / m, low = LineSum<T, DIM, N, D, false>::stride(D, 2);
    const int     row = threadIdx.x % m, part = threadIdx.x / m;
    T             sum = T(0);

    /* K's traces have the order of V and Q across the side, those of Z have V before Q. In 3D a thread takes one of the two. */
    static_assert(parts <= 2, "V and Q make two parts");
    const auto place = [](int line, int f) { return line % low + (line / low * 2 + f) * low; };
    UNROLL (int k = 0; k < 2 / parts; k++) {
      const int f = parts == 2 ? part : k;
      const T  *column = Z + f * lines * m + row, *trace = t + f * low;
#pragma unroll 5
      for (int line = 0; line < lines; line++) sum += __ldg(column + line * m) * trace[place(line, 0)];
    }
    other[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < m) {
      UNROLL (int k = 1; k < parts; k++) sum += other[k * m + row];
      t[place(row % lines, row / lines)] = sum;
    }
    __syncthreads();
  }
  /* u = S^-1 u for K, S = A_KK - A_KF A_FF^-1 A_FK; v is lost */
  __device__ __forceinline__ void SolveCoarse()
  {
    own.template Transform<false, false>(u, v);
    own.Divide(weight, u);
    own.TracesOf(u, t, other);
    Couple();
    own.AddLifted(T(1), t, other, u);
    own.template Transform<true, false>(u, v);
  }
  /* y -= A_FF^-1 A_FK u in modes, for the values u of K */
  __device__ __forceinline__ void SubtractCoarseOfPatch()
  {
    const Trace here = S::ToFine(at, VP_HANG_A, u);

    t[LineAt(D, 2)] = here.V;
    t[LineAt(D, 2) + Step(D, 2)] = here.Q;
    __syncthreads();
    finer.AddLifted(-weight, t, other, y);
  }
  /* Adds u to the coarser level's vector, adds y to the finer level's vector or stores y there, and subtracts A_FK u from b. */
  __device__ __forceinline__ void Store() const
  {
    T *x = (T *)w.fine.Cell(F, values) + l, *xc = (T *)w.coarse.Cell(K, values);

    UNROLL (int k = 0; k < N; k++) {
      const T value = y[LineAt(C::slow) + k * Step(C::slow)];
      x[k * lines] = replaces ? value : x[k * lines] + value;
    }
    ForEach<values, threads>([&](int k) { xc[k] += u[k]; });
    S::ForSides(at, [&](int32_t side) { S::AddToFine(side, true, T(-1), u, w.b); });
  }
  __device__ __forceinline__ void Solve()
  {
    CoarseResidual();
    __pipeline_wait_prior(0); /* All threads wait for one another in what follows. */
    if (replaces) FineRight();
    else FineResidual();
    finer.template Transform<false, false>(y, q);
    finer.Divide(weight, y);
    SubtractFineOfPatch();
    SolveCoarse();
    SubtractCoarseOfPatch();
    finer.template Transform<true, false>(y, q);
    Store();
  }
};
