/* y = A x and y = b - A x: tiles where the mesh has them, cells elsewhere, then the terms of sides that hang. */
#include "hanging.cuh"
#include "tile.cuh"

template <class T, int DIM, int N>
__global__ void __launch_bounds__(CellShape<DIM, N>::threads)
  ApplyCells(const __grid_constant__ Field<T> f, const int32_t *list, int32_t first, int32_t count, const T *b, T *y)
{
  typedef CellShape<DIM, N> S;
  __shared__ T              X[S::cells * S::size], Y[S::cells * S::size];
  const int                 slot = threadIdx.x / S::lines, l = threadIdx.x % S::lines;
  const int32_t             at = blockIdx.x * S::cells + slot, in = at < count ? at : count - 1, cell = list ? list[in] : first + in;
  T                         v[N];

  LoadCell<T, DIM, N>(f.Cell(cell, S::values), X + slot * S::size, l);
  __syncthreads();
  ApplyCell<T, DIM, N>(f, cell, X + slot * S::size, Y + slot * S::size, l, v);
  if (at < count) {
    const size_t to = (size_t)cell * S::values + l;
    UNROLL (int i = 0; i < N; i++) y[to + i * S::lines] = b ? b[to + i * S::lines] - v[i] : v[i];
  }
}

template <int N, bool RESIDUAL>
__global__ void __launch_bounds__(Tile<N>::threads, Tile<N>::least)
  ApplyTiles(const __grid_constant__ TileTables<N> t, const __grid_constant__ Field<double> f, const int32_t *list, int32_t start,
             const double *b, double *y)
{
  typedef Tile<N>          S;
  extern __shared__ double X[];
  double                  *Y = X + S::size;
  const int32_t            first = list ? list[blockIdx.x] : start + blockIdx.x * S::cells;
  const size_t             at = (size_t)first * S::values;

  CopyTile<N>(f.x + at, X);
  if (threadIdx.x == 0 && blockIdx.x + Ahead<N>() < gridDim.x) PrefetchTile<N>(f.x + at + (size_t)Ahead<N>() * S::cells * S::values);
  const TileTraces<N, 0> T0 = LoadTraces<N, 0>(t, f, first);
  const TileTraces<N, 1> T1 = LoadTraces<N, 1>(t, f, first);
  const TileTraces<N, 2> T2 = LoadTraces<N, 2>(t, f, first);
  AwaitCopy();
  ApplyLines<N, 0>(t, T0, X, [=](int, int, int i, int, int in, double v) { Y[in + i] = v; });
  __syncthreads();
  ApplyLines<N, 1>(t, T1, X, [=](int, int, int i, int, int in, double v) { Y[in + i * S::sy] += v; });
  __syncthreads();
  const double *from = b + at;
  double       *to = y + at;
  ApplyLines<N, 2>(t, T2, X, [=](int, int, int i, int place, int in, double v) {
    const double sum = Y[in + i * S::sz] + v;
    to[place + i * N * N] = RESIDUAL ? from[place + i * N * N] - sum : sum;
  });
}

/* y += sign times the terms of all sides of a cell that hang. The block with its first one works on all of them. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(Side<T, DIM, N>::threads)
  AddHanging(const __grid_constant__ Field<T> f, const __grid_constant__ VpHangView hang, int32_t first, int32_t last, T sign, T *y)
{
  typedef Side<T, DIM, N> S;
  __shared__ T            s[S::room];
  const S                 side(hang, s);
  int32_t                 at = blockIdx.x;
  const int32_t           cell = side.Item(at)[0];

  if (cell < first || cell >= last || (at && side.Item(at - 1)[0] == cell)) return;
  for (; at < hang.n && side.Item(at)[0] == cell; at++) {
    const int32_t *item = side.Item(at);
    const int      d = item[1] / 2, end = item[1] % 2, part = item[2];
    const bool     coarse = part < 0;
    const T       *form = side.Form(at);
    TraceOf<T>     own = side.Of(f, d, end, f.Cell(cell, S::values));
    TraceOf<T>     there = side.Of(f, d, 1 - end, f.Cell(item[coarse ? 3 + side.i : 3], S::values));

    if (coarse) side.ToFace(side.i, own);
    else side.ToFace(part, there);
    S::Flux(form, false, form[coarse ? 5 + side.i : 5], own, there);
    if (coarse) side.FromFaces(own);
    side.AddLiftTogether(d, end, sign, own, y + (size_t)cell * S::values);
  }
}

template <class T, int DIM, int N>
struct Operator {
  typedef CellShape<DIM, N> S;

  static PetscErrorCode Cells(const Field<T> &f, const Parts &cell, int part, const void *b, void *y)
  {
    const int32_t count = cell.n[part];

    return VpCudaLaunch("apply", ApplyCells<T, DIM, N>, {VpBlocks(count, S::cells), S::threads}, f, cell.List(part), cell.start, count,
                        (const T *)b, (T *)y);
  }

  static PetscErrorCode Tiles(const Field<T> &f, const TilePlan<N> &plan, int part, const void *b, void *y)
  {
    auto kernel = b ? ApplyTiles<N, true> : ApplyTiles<N, false>;

    return VpCudaLaunch("apply on tiles", kernel, {plan.tile.n[part], Tile<N>::threads, 2 * Tile<N>::bytes}, plan.tables, f,
                        plan.tile.List(part), plan.tile.start, (const double *)b, (double *)y);
  }

  static PetscErrorCode Apply(const VpView *view, int32_t first, int32_t last, const void *x, VpGhosts ghosts, const void *b, void *y)
  {
    const Field<T> f(view, x, ghosts.values);

    PetscFunctionBegin;
    PetscCall((VpCudaOnTiles<DIM, N>(
      view, first, last, (const T *)x, ghosts, [=](const auto &plan, int part) { return Tiles(f, plan, part, b, y); },
      [=](const Parts &cell, int part) { return Cells(f, cell, part, b, y); })));
    PetscCall(VpCudaLaunch("apply on sides that hang", AddHanging<T, DIM, N>, {view->hang.n, Side<T, DIM, N>::threads}, f, view->hang,
                           first, last, T(b ? -1 : 1), (T *)y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaOperatorOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Operator>(precision, dim, degree, [ops](auto of) { ops->apply = of.Apply; });
}
