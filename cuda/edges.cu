/* Edge patches of a level of an adaptive mesh: a leaf K of the coarser level and the cells F behind one of its sides (VpEdgeView). A block
   works on one side, in the way of hanging.cuh. */
#include "edgepatch.cuh"
#include <type_traits>

/* b += sign A_FK xc, on sides that are on the same side of their K: so no two of them have an F in common */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(Side<T, DIM, N>::threads) AddCoarse(const __grid_constant__ EdgeWork<T> w, const int32_t *order, T sign)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ T                s[S::room];
  const S                     side(w, s);
  const int32_t               at = order[blockIdx.x];

  side.AddToFine(at, sign, w.coarse.Cell(side.Item(at)[0], S::values), w.b);
}

/* bc -= A_KF x and the rest, on the same sides: no two of them have K in common, or the refined cell beyond */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(Side<T, DIM, N>::threads) SubtractFine(const __grid_constant__ EdgeWork<T> w, const int32_t *order, T *bc)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ T                s[S::room];
  const S                     side(w, s);
  const int32_t               at = order[blockIdx.x], *item = side.Item(at), K = item[0];
  const T                    *u = w.coarse.Cell(K, S::values);

  side.SubtractFine(at, u, bc + (size_t)K * S::values);
  if (!w.excess) return;
  const int32_t refined = w.coarse.neighbor[(size_t)K * 2 * DIM + item[1]];
  if (refined < w.coarse.nown) side.SubtractExcessBeyond(at, u, bc + (size_t)refined * S::values);
}

/* Solves on the patches order[0], order[1], ..., of one colour: none of them writes what another one reads or writes. Their sides are across
   direction D. */
template <class T, int DIM, int N, int D>
__global__ void __launch_bounds__(Side<T, DIM, N>::threads, EdgePatch<T, DIM, N, D>::least)
  SolveEdges(const __grid_constant__ EdgeWork<T> w, const int32_t *order)
{
  extern __shared__ __align__(16) unsigned char shared[];

  EdgePatch<T, DIM, N, D>(w, order[blockIdx.x], (T *)shared).Solve();
}

template <class T, int DIM, int N>
struct Edges {
  static constexpr int threads = Side<T, DIM, N>::threads;

  /* launch(how many sides, which) for one kind of sides after the other */
  template <class Launch>
  static PetscErrorCode ByKind(const VpEdgeView *edges, Launch launch)
  {
    PetscFunctionBegin;
    for (int kind = 0; kind < 2 * DIM; kind++)
      PetscCall(launch(edges->kind[kind + 1] - edges->kind[kind], edges->by_kind + edges->kind[kind]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode AddingCoarse(const VpView *view, const VpEdgeView *edges, int sign, const void *xc, void *b)
  {
    EdgeWork<T> w(view, view, edges, NULL, xc);

    w.b = (T *)b;
    return ByKind(edges, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("coarse values to right-hand side", AddCoarse<T, DIM, N>, {n, threads}, w, order, (T)sign);
    });
  }

  static PetscErrorCode SubtractingFine(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, const void *x, const void *xc,
                                        void *bc)
  {
    const EdgeWork<T> w(fine, coarse, edges, x, xc);

    return ByKind(edges, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("fine values from right-hand side", SubtractFine<T, DIM, N>, {n, threads}, w, order, (T *)bc);
    });
  }

  static PetscErrorCode Solving(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, int32_t first, int32_t last, void *b,
                                void *x, const void *bc, void *xc)
  {
    EdgeWork<T> w(fine, coarse, edges, x, xc);

    w.b = (T *)b;
    w.bc = (const T *)bc;
    auto across = [=](auto d) {
      constexpr int D = decltype(d)::value;
      return VpCudaLaunch("edge patches", SolveEdges<T, DIM, N, D>, {last - first, threads, EdgePatch<T, DIM, N, D>::bytes}, w,
                          edges->order + first);
    };
    int color = 0;

    while (edges->start[color + 1] <= first) color++;
    switch (VpEdgeColorSide(color, DIM) / 2) {
    case 0:
      return across(std::integral_constant<int, 0>());
    case 1:
      return across(std::integral_constant<int, 1>());
    default:
      return across(std::integral_constant<int, DIM - 1>());
    }
  }
};

void VpCudaEdgesOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Edges>(precision, dim, degree, [ops](auto of) {
    ops->add_coarse = of.AddingCoarse;
    ops->subtract_fine = of.SubtractingFine;
    ops->solve_edges = of.Solving;
  });
}
