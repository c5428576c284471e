/* y = A x and y = b - A x: traces of sides that hang, then tiles where the mesh has them, cells elsewhere, then other sides that hang.
   Where cells are turned there are no tiles. */
#include "plan/hangplan.cuh"
#include "plan/viewplans.cuh"

using namespace vpatchdg::tile;

template <class T, int DIM, int N, class Hanging>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  ApplyCells(const __grid_constant__ Field<T> f, const __grid_constant__ Hanging hanging, const int32_t *list, int32_t first, int32_t count,
             const T *b, T *y)
{
  typedef CellShape<DIM, N>    S;
  typedef CellLines<T, DIM, N> Lines;
  __shared__ T                 X[S::cells * S::size], Y[S::cells * S::size];
  __shared__ __align__(VP_WIDE_BYTES) T line[S::cells * Lines::size];
  const int                             slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t at = blockIdx.x * S::cells + slot, in = at < count ? at : count - 1, cell = list ? list[in] : first + in;
  T             v[N];

  LoadCell<T, DIM, N>(f.Cell(cell, S::values), X + slot * S::size, l);
  ApplyCell<T, DIM, N>(f, cell, X + slot * S::size, Y + slot * S::size, line + slot * Lines::size, l, v, hanging);
  if (at < count) {
    const size_t to = (size_t)cell * S::values + l;
    UNROLL (int i = 0; i < N; i++) y[to + i * S::lines] = b ? b[to + i * S::lines] - v[i] : v[i];
  }
}

template <class S, bool RESIDUAL, class Numbers, class Hanging>
__global__ void __launch_bounds__(S::threads, S::least)
  ApplyTiles(const __grid_constant__ TileTables<S::n> t, const __grid_constant__ Field<double> f, const __grid_constant__ Hanging hanging,
             const __grid_constant__ CellNumbers of, const int32_t *list, int32_t start, const double *b, double *y)
{
  extern __shared__ double X[];
  double                  *Y = X + S::size;
  const int32_t            first = list ? list[blockIdx.x] : start + blockIdx.x * S::cells;
  const size_t             at = (size_t)first * S::values;
  Numbers                  numbers;

  CopyTile<S>(f.x + at, X);
  if constexpr (Numbers::varies) {
    numbers.of = Y + S::size;
    of.Load<S>(f, first, Y + S::size);
  }
  if (threadIdx.x == 0 && blockIdx.x + Ahead<S>() < gridDim.x) PrefetchTile<S>(f.x + at + (size_t)Ahead<S>() * S::cells * S::values);
  const TileTraces<S, 0> T0 = LoadTraces<S, 0>(t, f, first, hanging);
  const TileTraces<S, 1> T1 = LoadTraces<S, 1>(t, f, first, hanging);
  const TileTraces<S, 2> T2 = LoadTraces<S, 2>(t, f, first, hanging);
  AwaitCopy();
  ApplyLines<S, 0>(
    t, T0, X, [=](int, int, int i, int, int in, double v) { Y[in + i] = v; }, numbers);
  __syncthreads();
  ApplyLines<S, 1>(
    t, T1, X, [=](int, int, int i, int, int in, double v) { Y[in + i * S::sy] += v; }, numbers);
  __syncthreads();
  const double *from = b + at;
  double       *to = y + at;
  auto          store = [=](int, int, int i, int place, int in, double v) {
    const double sum = Y[in + i * S::sz] + (Numbers::varies ? v + t.reaction * X[in + i * S::sz] : v);
    to[place + i * S::n * S::n] = RESIDUAL ? from[place + i * S::n * S::n] - sum : sum;
  };
  ApplyLines<S, 2>(t, T2, X, store, numbers);
}

/* Finds the HangingTraces of the sides of faces list[0], ..., list[n - 1]. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads *HangThread<T, DIM, N>::sides)
  FindTraces(const __grid_constant__ Field<T> f, const __grid_constant__ VpHangView hang, const int32_t *list, int32_t n, T *traces)
{
  typedef HangThread<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::sides * S::scratch], half[4 * N * N];
  S                                     side(hang, s);
  const int32_t                         number = blockIdx.x * S::sides + threadIdx.x / S::threads, at = list[number < n ? number : n - 1];
  const VpFace                         &item = side.Face(at);
  const int                             d = item.side / 2, end = item.side % 2;
  const T                              *form = side.Form(at), a = form[VP_HANG_A + side.i];
  TraceOf<T>                            there = side.Of(f, d, 1 - end, f.Cell(item.cell[1 + side.i], S::values)), own = {};
  T *to = traces + (size_t)number * (1 + S::faces) * 2 * S::lines + side.l, *fine = to + (1 + side.i) * 2 * S::lines;

  side.KeepHalf(half);
  if (side.i == 0) own = side.Of(f, d, end, f.Cell(item.cell[0], S::values));
  side.ToFaces(own);
  const TraceOf<T> coarse = own;
  S::Flux(form, false, a, own, there);
  S::Flux(form, true, a, there, coarse);
  if (number < n) {
    fine[0] = there.V;
    fine[S::lines] = there.Q;
  }
  side.FromFaces(own);
  if (side.i || number >= n) return;
  to[0] = own.V;
  to[S::lines] = own.Q;
}

/* y += sign times the terms of the hanging sides list[0], ..., list[n - 1]. The block with a cell's first side in the list works on all
   sides of the cell. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  AddHanging(const __grid_constant__ Field<T> f, const __grid_constant__ VpHangView hang, const int32_t *list, int32_t n, T sign, T *y)
{
  typedef HangThread<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::scratch];
  const S                               side(hang, s);
  int32_t                               k = blockIdx.x;
  const int32_t                         cell = side.Face(list[k]).cell[0];

  if (k && side.Face(list[k - 1]).cell[0] == cell) return;
  for (; k < n && side.Face(list[k]).cell[0] == cell; k++) {
    const VpFace &item = side.Face(list[k]);
    const int     d = item.side / 2, end = item.side % 2, half = item.half;
    const bool    coarse = item.kind == VP_FACE_COARSE;
    const T      *form = side.Form(list[k]);
    TraceOf<T>    own = side.Of(f, d, end, f.Cell(cell, S::values));
    TraceOf<T>    there = side.Of(f, d, 1 - end, f.Cell(item.cell[1 + (coarse ? side.i : 0)], S::values));

    if (coarse) side.ToFace(side.i, own);
    else side.ToFace(half, there);
    S::Flux(form, false, form[coarse ? VP_HANG_A + side.i : VP_HANG_A], own, there);
    if (coarse) side.FromFaces(own);
    side.AddLiftTogether(d, end, sign, own, y + (size_t)cell * S::values);
  }
}

template <class T, int DIM, int N>
PetscErrorCode VpCudaHangPlan(const VpView *view, int32_t first, int32_t last, HangPlan **plan)
{
  const auto fill = [=](HangPlan *p) { return FillHangPlan(view, first, last, 2 * HangThread<T, DIM, N>::lines * sizeof(T), p); };

  return VpCudaPlans<CellPlans>(view).hanging.Get(first, last, plan, fill);
}

template <class T, int DIM, int N>
PetscErrorCode VpCudaFindTraces(const VpView *view, const HangPlan *plan, Field<T> *f, HangingTraces<T> *hanging)
{
  typedef HangThread<T, DIM, N> Sides;

  PetscFunctionBegin;
  PetscCall(VpCudaLaunch("traces of faces that hang", FindTraces<T, DIM, N>,
                         {VpBlocks(plan->nface, Sides::sides), Sides::threads * Sides::sides}, *f, view->hang,
                         (const int32_t *)plan->list.p, plan->nface, (T *)plan->traces.p));
  f->neighbor = (const int32_t *)plan->neighbor.p;
  *hanging = {(const T *)plan->traces.p, (const T *)view->hang.lift};
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, int DIM, int N>
struct Operator {
  typedef CellShape<DIM, N> S;

  template <class Hanging>
  static PetscErrorCode ApplyToCells(const VpCudaApply &a, const Field<T> &f, const Hanging &hanging, const SplitCells &cell, int border)
  {
    const int32_t count = cell.n[border];

    return VpCudaLaunch("apply", ApplyCells<T, DIM, N, Hanging>, {VpBlocks(count, S::cells), S::threads}, f, hanging, cell.List(border),
                        cell.start, count, (const T *)a.b, (T *)a.y);
  }

  template <class Numbers, class Hanging>
  static PetscErrorCode ApplyToTiles(const VpCudaApply &a, const Field<T> &f, const Hanging &hanging, const SizeTiles<N> &size, int border)
  {
    typedef TilesFor<N, Hanging> Tiles;
    auto                         kernel = a.b ? ApplyTiles<Tiles, true, Numbers, Hanging> : ApplyTiles<Tiles, false, Numbers, Hanging>;
    const size_t                 bytes = 2 * Tiles::bytes + (Numbers::varies ? OwnNumbers<Tiles>::size * sizeof(double) : 0);
    const CellNumbers            of = {(const double *)a.view->coefficient, a.view->directions};

    return VpCudaLaunch("apply on tiles", kernel, {size.tile.n[border], Tiles::threads, bytes}, size.tables, f, hanging, of,
                        size.tile.List(border), size.tile.start, (const double *)a.b, (double *)a.y);
  }

  template <class Hanging>
  static PetscErrorCode ApplyToAll(const VpCudaApply &a, const Field<T> &f, const Hanging &hanging)
  {
    typedef TilesFor<N, Hanging> Tiles;

    return VpCudaOnTiles<DIM, Tiles, true, T>(
      a,
      [=](const auto &size, int border) {
        if constexpr (std::is_same<Hanging, NoHangingTraces<T>>::value) {
          if (size.varies) return ApplyToTiles<OwnNumbers<Tiles>>(a, f, hanging, size, border);
        }
        return ApplyToTiles<SameNumbers<Tiles>>(a, f, hanging, size, border);
      },
      [=](const SplitCells &cell, int border) { return ApplyToCells(a, f, hanging, cell, border); });
  }

  static PetscErrorCode ApplyHanging(const VpCudaApply &a, Field<T> f)
  {
    HangPlan        *plan = NULL;
    HangingTraces<T> hanging = {};

    PetscFunctionBegin;
    PetscCall(VpCudaHangPlan<T, DIM, N>(a.view, a.first, a.last, &plan));
    PetscCall(VpCudaFindTraces<T, DIM, N>(a.view, plan, &f, &hanging));
    PetscCall(ApplyToAll(a, f, hanging));
    PetscCall(VpCudaLaunch("apply on sides that hang", AddHanging<T, DIM, N>, {plan->nother, HangThread<T, DIM, N>::threads}, f,
                           a.view->hang, (const int32_t *)plan->list.p + plan->nface, plan->nother, T(a.b ? -1 : 1), (T *)a.y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ApplyTurned(const VpCudaApply &a, const Field<T> &f)
  {
    SplitCells *cells = NULL;

    PetscFunctionBegin;
    PetscCall(VpCudaSplitCells(a.view, a.first, a.last, &cells));
    PetscCall(VpCudaInnerThenBorder(a.ghosts, [=](int border) { return ApplyToCells(a, f, TurnedSides<T>(), *cells, border); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode PrepareView(VpView *view)
  {
    PetscFunctionBegin;
    view->plans = new ViewPlans<T, DIM, N>();
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode ApplyToRange(const VpView *view, int32_t first, int32_t last, const void *x, VpGhosts ghosts, const void *b,
                                     void *y)
  {
    const VpCudaApply a = {view, first, last, x, ghosts, b, y};
    Field<T>          f(view, x, ghosts.values);

    PetscFunctionBegin;
    PetscCall(VpCudaFieldWithLines(view, x, ghosts.values, &f));
    if (view->metric.components) PetscCall(VpCudaMetricApply(a));
    else if (view->hang.n) PetscCall(ApplyHanging(a, f));
    else if (view->turn) PetscCall(ApplyTurned(a, f));
    else PetscCall(ApplyToAll(a, f, NoHangingTraces<T>()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaOperatorOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Operator>(precision, dim, degree, [ops](auto of) {
    ops->prepare = of.PrepareView;
    ops->apply = of.ApplyToRange;
  });
}

#define HANGING(DIM, N) \
  template PetscErrorCode VpCudaHangPlan<double, DIM, N>(const VpView *, int32_t, int32_t, HangPlan **); \
  template PetscErrorCode VpCudaFindTraces<double, DIM, N>(const VpView *, const HangPlan *, Field<double> *, HangingTraces<double> *);
#define VP_DEGREE(k) HANGING(2, k + 1) HANGING(3, k + 1)
#include "../src/kernels/degrees.def"
#undef VP_DEGREE
