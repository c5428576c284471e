/* The slots for views with a coefficient at points: A x, traces of sides, numbers given at sides. */
#include "metric.cuh"
#include "device/sum.cuh"

/* partial: the blocks' sums of x y, or NULL */
template <int DIM, int N, class K>
__global__ void __launch_bounds__(MetricShape<DIM, N, K>::threads, MetricShape<DIM, N, K>::least)
  ApplyMetric(const __grid_constant__ MetricTables<N> t, const __grid_constant__ MetricField f, const int32_t *list, int32_t first,
              int32_t count, const double *b, double *y, double *partial)
{
  typedef MetricShape<DIM, N, K> S;
  __shared__ double              s[S::cells * S::cell];
  __shared__ int32_t             cells[S::cells];
  const int                      slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t                  at = blockIdx.x * S::cells + slot, in = at < count ? at : count - 1, cell = list ? list[in] : first + in;
  const int32_t                  number = f.Number(cell);
  double                        *Z = s + slot * S::cell, z[N], v[N];
  MetricLine<S>                  line;

  if (l == 0) PrefetchNumbers<S>(f, number);
  if (l == 0) cells[slot] = cell;
  line.Load(f, cell, number, S::slow, l);
  line.Scale(z);
  WriteLine<S>(Z, S::slow, l, z);
  __syncthreads();
  MetricSides<DIM, N, K> sides = {f, t, cell, number, l, slot, cells, Z};
  ApplyMetricCell<DIM, N, K>(sides, z, v);
  const size_t from = (size_t)number * S::values + l, to = (size_t)cell * S::values + l;
  const double scale = __ldg(f.m.scale + number);
  UNROLL (int i = 0; i < N; i++) {
    const double its = S::many && f.m.factor ? scale * __ldg((const typename S::Real *)f.m.factor + from + i * S::lines) : scale;
    if (f.m.mass) v[i] += __ldg(f.m.mass + from + i * S::lines) * its * __ldg(f.x + to + i * S::lines);
    v[i] *= its;
  }
  if (partial) {
    double energy = 0;

    UNROLL (int i = 0; at < count && i < N; i++) energy += v[i] * __ldg(f.x + to + i * S::lines);
    BlockSum(energy, partial);
  }
  if (at >= count) return;
  UNROLL (int i = 0; i < N; i++) y[to + i * S::lines] = b ? b[to + i * S::lines] - v[i] : v[i];
}

/* A block's memory where a thread has one point of a side: D, and two numbers at every point. */
template <int DIM, int N, class K>
struct MetricSide : MetricShape<DIM, N, K> {
  static constexpr int cells = CellShape<DIM, N>::cells;

  /* Calls f(H, d) for the entries of H along the side, and what belongs to row e of D, or of D^T, there. */
  template <bool BACK>
  static __device__ __forceinline__ double Along(int e, const double *D, const double *numbers, int l)
  {
    return DIM == 2 || e == 0 ? AlongSide<N, 0, BACK>(D, numbers, l) : AlongSide<N, 1, BACK>(D, numbers, l);
  }
};

/* V and F on sides, list[i] = 2 dim cell + side, in the order of the points of the cells beyond; turn: as in VpView */
template <int DIM, int N, class K>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  PackMetric(const __grid_constant__ MetricTables<N> t, const __grid_constant__ MetricField f, const uint8_t *turn, int32_t count,
             const int32_t *list, double *to)
{
  typedef MetricSide<DIM, N, K> S;
  __shared__ double             V[S::cells * S::lines], D[N * (N | 1)];
  const int                     slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t i = blockIdx.x * S::cells + slot, item = list[i < count ? i : count - 1], cell = item / S::sides, side = item % S::sides;
  const int32_t number = f.Number(cell);
  double        z[N], own, Q;
  MetricLine<S> line;

  KeepSlopes<N>(f, D);
  line.Load(f, cell, number, side / 2, l);
  line.Scale(z);
  LineEnd(t, side % 2, z, own, Q);
  V[slot * S::lines + l] = own;
  __syncthreads();
  Q *= *SideNumber<S>(f, number, side, 0, l);
  UNROLL (int e = 0; e < S::tangents; e++)
    Q += SideTangent<S>(f, number, side, e, l) * S::template Along<false>(e, D, V + slot * S::lines, l);
  if (i >= count) return;
  to += (size_t)i * 2 * S::lines + (turn ? VpTurnPoint(N, turn[item], l) : l);
  to[0] = own;
  to[S::lines] = Q;
}

template <int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  UnpackMetric(int32_t count, const int32_t *list, const double *from, double *x)
{
  typedef CellShape<DIM, N> S;
  const int                 l = threadIdx.x % S::lines;
  const int32_t             i = blockIdx.x * S::cells + threadIdx.x / S::lines;

  if (i >= count) return;
  UNROLL (int k = 0; k < 2; k++) x[(size_t)(list[i] / (2 * DIM)) * S::values + k * S::lines + l] = from[((size_t)i * 2 + k) * S::lines + l];
}

/* The slot add_to_side. A thread has a point of the side, then the line that ends there. */
template <int DIM, int N, class K>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  AddToSide(const __grid_constant__ MetricTables<N> t, const __grid_constant__ MetricField f, const __grid_constant__ VpPlaces places,
            int side, bool value, const double *given, double *b)
{
  typedef MetricSide<DIM, N, K> S;
  __shared__ double             r[S::cells * (DIM - 1) * S::lines], D[N * (N | 1)];
  const int                     slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t i = blockIdx.x * S::cells + slot, in = i < places.n ? i : places.n - 1, cell = places.list[in], number = f.Number(cell);
  const double  weight = f.m.weight[l % N] * (DIM == 3 ? f.m.weight[l / N] : 1.), v = weight * given[(size_t)in * S::lines + l];
  double       *Hr = r + slot * (DIM - 1) * S::lines, p, back = 0;

  KeepSlopes<N>(f, D);
  if (value) {
    p = (f.m.penalty[number] * *SideNumber<S>(f, number, side, 0, l) + *SideBeyond<S>(f, number, side, l)) * v;
    back = -v / 2;
  } else p = f.m.flux[side][(size_t)(places.first + in) * S::lines + l] * v;
  UNROLL (int e = 0; e < S::tangents; e++) Hr[e * S::lines + l] = SideTangent<S>(f, number, side, e, l) * back;
  __syncthreads();
  UNROLL (int e = 0; e < S::tangents; e++) p += S::template Along<true>(e, D, Hr + e * S::lines, l);
  if (i >= places.n) return;
  const int    first = LineStart<DIM>(side / 2, N, l, N, N * N), stride = VpLineStride(side / 2, N, N * N);
  const double q = *SideNumber<S>(f, number, side, 0, l) * back, scale = f.m.scale[number];
  const auto  *factor = (const typename S::Real *)f.m.factor + (size_t)number * S::values + first;
  double      *to = b + (size_t)cell * S::values + first;
  UNROLL (int k = 0; k < N; k++)
    to[k * stride] +=
      (S::many && f.m.factor ? scale * factor[k * stride] : scale) * (t.end[side % 2][0][k] * p + t.end[side % 2][1][k] * q);
}

/* list[i] = the side that an own cell beyond turned side i has there, 2 dim cell + side, or 0 if the cell beyond is no own one. An own cell
   becomes number first + i in `neighbor`, as if it were a ghost. side [n]: the turned sides */
static __global__ void LinkTurnedSides(const uint8_t *turn, const int32_t *side, int32_t n, int nside, int32_t nown, int32_t first,
                                       int32_t *neighbor, int32_t *list)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i >= n) return;
  const int32_t at = side[i], beyond = neighbor[at];
  const bool    own = beyond >= 0 && beyond < nown;

  list[i] = own ? beyond * nside + VpTurnSide(at % nside, turn[at]) : 0;
  if (own) neighbor[at] = first + i;
}

static PetscErrorCode FillTurnPlan(const VpView *view, size_t traces, TurnPlan *plan)
{
  const size_t         nside = 2 * (size_t)view->dim, count = (size_t)view->nown * nside, numbers = (size_t)view->nsweep * nside;
  std::vector<int32_t> side;
  std::vector<uint8_t> turn(count);
  VpArray              sides;

  PetscFunctionBegin;
  PetscCall(VpCudaFetch(view->turn, count, turn.data()));
  for (size_t i = 0; i < count; i++)
    if (turn[i]) side.push_back((int32_t)i);
  plan->n = (int32_t)side.size();
  PetscCall(VpCudaPlace(side.data(), side.size() * sizeof(int32_t), "turned sides", &sides));
  PetscCall(VpCudaAlloc((side.size() + 1) * sizeof(int32_t), "turned sides", &plan->list.p));
  PetscCall(VpCudaAlloc(numbers * sizeof(int32_t), "neighbors", &plan->neighbor.p));
  PetscCall(VpBackendCuda.copy(view->neighbor, numbers * sizeof(int32_t), plan->neighbor.p));
  PetscCall(VpCudaLaunch("turned sides", LinkTurnedSides, {VpBlocks(plan->n, 256), 256}, view->turn, (const int32_t *)sides.p, plan->n,
                         (int)nside, view->nown, view->nlocal, (int32_t *)plan->neighbor.p, (int32_t *)plan->list.p));
  PetscCall(VpCudaAlloc((side.size() + 1) * traces, "traces of turned sides", &plan->traces.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, int DIM, int N>
struct Metric {
  typedef CellShape<DIM, N> S;
  typedef MetricTables<N>   Tables;

  template <bool FULL, class Real, class F>
  static PetscErrorCode OfPrecision(const VpView *view, const Tables &tables, F f)
  {
    if (!view->metric.affine) return f(tables, MetricKind<FULL, Real, false, false>());
    return view->metric.spread == 1 ? f(tables, MetricKind<FULL, Real, true, true>()) : f(tables, MetricKind<FULL, Real, true, false>());
  }

  template <bool FULL, class F>
  static PetscErrorCode OfKind(const VpView *view, const Tables &tables, F f)
  {
    if (view->metric.precision == VP_DOUBLE) return OfPrecision<FULL, double>(view, tables, f);
    return OfPrecision<FULL, float>(view, tables, f);
  }

  /* Calls f(tables, the view's kind). */
  template <class F>
  static PetscErrorCode Run(const VpView *view, F f)
  {
    Tables *tables = NULL;

    PetscFunctionBegin;
    PetscCall((VpCudaPlans<ViewPlans<double, DIM, N>>(view).metric.Get(&tables, [view](Tables *t) {
      PetscFunctionBegin;
      PetscCall(VpCudaFetchEntry(view->metric.slope, 0, t->slope));
      PetscCall(VpCudaFetchEntry(view->metric.end, 0, t->end));
      PetscFunctionReturn(PETSC_SUCCESS);
    })));
    PetscCall(view->metric.components > DIM ? OfKind<true>(view, *tables, f) : OfKind<false>(view, *tables, f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Finds what is beyond turned sides, for A x. */
  static PetscErrorCode FindTurned(const VpView *view, MetricField *field)
  {
    TurnPlan *plan = NULL;

    PetscFunctionBegin;
    PetscCall((VpCudaPlans<ViewPlans<double, DIM, N>>(view).turned.Get(
      &plan, [view](TurnPlan *p) { return FillTurnPlan(view, 2 * S::lines * sizeof(double), p); })));
    PetscCall(Pack(view, plan->n, (const int32_t *)plan->list.p, field->x, plan->traces.p));
    field->neighbor = (const int32_t *)plan->neighbor.p;
    field->turned = (const double *)plan->traces.p;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* energy: the sum of x y, or NULL */
  static PetscErrorCode Apply(const VpCudaApply &a, double *energy)
  {
    SplitCells *cells = NULL;
    MetricField field(a.view, a.x, a.ghosts.values);
    double     *partial = NULL;
    int         blocks = 0;

    PetscFunctionBegin;
    PetscCall(VpCudaSplitCells(a.view, a.first, a.last, &cells));
    if (a.view->turn) PetscCall(FindTurned(a.view, &field));
    PetscCall(Run(a.view, [&](const Tables &tables, auto kind) {
      typedef MetricShape<DIM, N, decltype(kind)> M;

      PetscFunctionBegin;
      if (energy)
        PetscCall(VpBackendCuda.borrow((VpBlocks(a.last - a.first, M::cells) + 2) * sizeof(double), "products", (void **)&partial));
      PetscCall(VpCudaInnerThenBorder(a.ghosts, [&](int border) {
        const int32_t count = cells->n[border], here = VpBlocks(count, M::cells);
        double *const sums = energy ? partial + blocks : NULL;

        blocks += here;
        return VpCudaLaunch("apply at points", ApplyMetric<DIM, N, decltype(kind)>, {here, M::threads}, tables, field, cells->List(border),
                            cells->start, count, (const double *)a.b, (double *)a.y, sums);
      }));
      PetscFunctionReturn(PETSC_SUCCESS);
    }));
    if (energy) PetscCall(VpCudaSums(1, blocks, partial, energy));
    if (energy) PetscCall(VpBackendCuda.give_back(partial));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ApplyEnergy(const VpView *view, const void *x, VpGhosts ghosts, void *y, double *energy)
  {
    return Apply({view, 0, view->nown, x, ghosts, NULL, y}, energy);
  }

  static PetscErrorCode Pack(const VpView *view, int32_t n, const int32_t *list, const void *x, void *to)
  {
    return Run(view, [=](const Tables &tables, auto kind) {
      return VpCudaLaunch("traces to messages", PackMetric<DIM, N, decltype(kind)>, {VpBlocks(n, S::cells), S::threads}, tables,
                          MetricField(view, x, NULL), view->turn, n, list, (double *)to);
    });
  }

  static PetscErrorCode Unpack(int32_t n, const int32_t *list, const void *from, void *x)
  {
    return VpCudaLaunch("traces from messages", UnpackMetric<DIM, N>, {VpBlocks(n, S::cells), S::threads}, n, list, (const double *)from,
                        (double *)x);
  }

  static PetscErrorCode ToSide(const VpView *view, int side, PetscBool value, const VpPlaces *places, const double *given, double *b)
  {
    return Run(view, [=](const Tables &tables, auto kind) {
      return VpCudaLaunch("add to a side", AddToSide<DIM, N, decltype(kind)>, {VpBlocks(places->n, S::cells), S::threads}, tables,
                          MetricField(view, NULL, NULL), *places, side, value, given, b);
    });
  }
};

/* calls f(Metric of the view's dimension and degree) */
template <class F>
static PetscErrorCode OfView(const VpView *view, F f)
{
  PetscErrorCode error = PETSC_SUCCESS;

  VpCudaForDim<Metric, double>(view->dim, view->n - 1, [&](auto of) { error = f(of); });
  return error;
}

PetscErrorCode VpCudaMetricApply(const VpCudaApply &a)
{
  return OfView(a.view, [&](auto of) { return of.Apply(a, NULL); });
}

PetscErrorCode VpCudaMetricPack(const VpView *view, int32_t n, const int32_t *list, const void *x, void *to)
{
  return OfView(view, [=](auto of) { return of.Pack(view, n, list, x, to); });
}

PetscErrorCode VpCudaMetricUnpack(const VpView *view, int32_t n, const int32_t *list, const void *from, void *x)
{
  return OfView(view, [=](auto of) { return of.Unpack(n, list, from, x); });
}

void VpCudaMetricOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  if (precision == VP_DOUBLE)
    VpCudaForDim<Metric, double>(dim, degree, [ops](auto of) {
      ops->add_to_side = of.ToSide;
      ops->apply_energy = of.ApplyEnergy;
    });
}
