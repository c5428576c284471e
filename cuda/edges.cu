/* Edge patches of a level of an adaptive mesh: a leaf K of the coarser level and the cells F behind one of its sides (VpEdgeView). A block
   works on one side, in the way of hanging.cuh. */
#include "edgepatch.cuh"

/* b += sign A_FK xc, on sides that are on the same side of their K: so no two of them have an F in common */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  AddCoarse(const __grid_constant__ EdgeWork<T> w, const int32_t *order, T sign)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ __align__(16) T s[S::room];
  const S                    side(w, s);
  const int32_t              at = order[blockIdx.x];

  side.AddToFine(at, sign, w.coarse.Cell(side.Item(at)[0], S::values), w.b);
}

/* bc -= A_KF x and the rest, on the same sides: no two of them have K in common, or the refined cell beyond */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  SubtractFine(const __grid_constant__ EdgeWork<T> w, const int32_t *order, T *bc)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ __align__(16) T s[S::room];
  const S                    side(w, s);
  const int32_t              at = order[blockIdx.x], *item = side.Item(at), K = item[0];
  const T                   *u = w.coarse.Cell(K, S::values);

  side.SubtractFine(at, u, bc + (size_t)K * S::values);
  if (!w.excess) return;
  const int32_t refined = w.coarse.neighbor[(size_t)K * 2 * DIM + item[1]];
  if (refined < w.coarse.nown) side.SubtractExcessBeyond(at, u, bc + (size_t)refined * S::values);
}

/* Solves on the patches order[0], order[1], ...: none of them writes what another one reads or writes. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads, EdgePatch<T, DIM, N, 0>::least)
  SolveEdges(const __grid_constant__ EdgeWork<T> w, const int32_t *order)
{
  extern __shared__ __align__(16) unsigned char shared[];

  const int32_t at = order[blockIdx.x];
  const int     d = w.sides.cell[(size_t)at * VP_HANG_CELL + 1] / 2;

  if (d == 0) EdgePatch<T, DIM, N, 0>(w, at, (T *)shared).Solve();
  else if (DIM == 3 && d == 1) EdgePatch<T, DIM, N, 1>(w, at, (T *)shared).Solve();
  else EdgePatch<T, DIM, N, DIM - 1>(w, at, (T *)shared).Solve();
}

template <class T, int DIM, int N>
struct Edges {
  static constexpr int threads = HangThread<T, DIM, N>::threads;

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
    return VpCudaLaunch("edge patches", SolveEdges<T, DIM, N>, {last - first, threads, EdgePatch<T, DIM, N, 0>::bytes}, w,
                        edges->order + first);
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
