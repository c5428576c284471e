/* Edge patches of a level of an adaptive mesh: a leaf K of the coarser level and the cells F beyond one of its sides (VpEdgeView). A block
   works on one side, in the way of hanging.cuh, in AddCoarse on HangThread::sides of them. */
#include "edgepatch.cuh"
#include "plan/viewplans.cuh"

/* b += sign A_FK xc, on n sides that are on the same side of their K: so no two of them have an F in common */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads *HangThread<T, DIM, N>::sides)
  AddCoarse(const __grid_constant__ EdgeWork<T> w, const int32_t *order, int32_t n, T sign)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::sides * S::room], half[4 * N * N];
  S                                     side(w, s);
  const int32_t                         number = blockIdx.x * S::sides + threadIdx.x / S::threads, at = order[number < n ? number : n - 1];

  side.KeepHalf(half);
  side.AddToFine(at, number < n, sign, w.coarse.Cell(side.Face(at).cell[0], S::values), w.b);
}

/* bc -= A_KF x and the rest, on the same sides: no two of them have K in common, or the refined cell beyond */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  SubtractFine(const __grid_constant__ EdgeWork<T> w, const int32_t *order, T *bc)
{
  typedef EdgeSide<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::room];
  const S                               side(w, s);
  const int32_t                         at = order[blockIdx.x], K = side.Face(at).cell[0];
  const T                              *u = w.coarse.Cell(K, S::values);

  side.SubtractFine(at, u, bc + (size_t)K * S::values);
  if (!w.excess) return;
  const int32_t refined = w.coarse.neighbor[(size_t)K * 2 * DIM + side.Face(at).side];
  if (refined < w.coarse.nown) side.SubtractExcessBeyond(at, u, bc + (size_t)refined * S::values);
}

/* A block makes an entry, in global memory. */
template <class T, int DIM, int N, int D>
__device__ __forceinline__ void Ready(const T *table, T *ready)
{
  EdgeTable<T, DIM, N, D>::Copy(table, ready);
  __syncthreads();
  LineSum<T, DIM, N, D, false>{ready, T(0)}.Complete();
  LineSum<T, DIM, N, D, true>{ready, T(0)}.Complete();
}
/* ready: as in EdgeWork */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  ReadyEdges(const __grid_constant__ EdgeWork<T> w, const int32_t *of_type, T *ready)
{
  const int32_t type = blockIdx.x;
  const int     d = w.sides.face[of_type[type]].side / 2;
  const T      *table = w.table + (size_t)type * VpEdgeSize(N, DIM);

  ready += (size_t)type * EdgeTable<T, DIM, N, 0>::size;
  if (d == 0) Ready<T, DIM, N, 0>(table, ready);
  else if (DIM == 3 && d == 1) Ready<T, DIM, N, 1>(table, ready);
  else Ready<T, DIM, N, DIM - 1>(table, ready);
}

/* Solves on the patches order[0], order[1], ...: none of them writes what another one reads or writes. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads, EdgePatch<T, DIM, N, 0>::least)
  SolveEdges(const __grid_constant__ EdgeWork<T> w, const int32_t *order)
{
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];

  const int32_t at = order[blockIdx.x];
  const int     d = w.sides.face[at].side / 2;

  if (d == 0) EdgePatch<T, DIM, N, 0>(w, at, (T *)shared).Solve();
  else if (DIM == 3 && d == 1) EdgePatch<T, DIM, N, 1>(w, at, (T *)shared).Solve();
  else EdgePatch<T, DIM, N, DIM - 1>(w, at, (T *)shared).Solve();
}

template <class T, int DIM, int N>
struct Edges {
  static constexpr int threads = HangThread<T, DIM, N>::threads, sides = HangThread<T, DIM, N>::sides;

  static PetscErrorCode CheckBasis(const VpView *view)
  {
    PetscFunctionBegin;
    PetscCheck(view->nt == VpThinLayers(N, DIM), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Edges of a level with another basis than a cycle's");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* launch(how many sides, which) for one kind of sides after the other */
  template <class Launch>
  static PetscErrorCode ByKind(const VpView *view, const VpEdgeView *edges, Launch launch)
  {
    PetscFunctionBegin;
    PetscCall(CheckBasis(view));
    for (int kind = 0; kind < 2 * DIM; kind++)
      PetscCall(launch(edges->kind[kind + 1] - edges->kind[kind], edges->by_kind + edges->kind[kind]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode AddingCoarse(const VpView *view, const VpEdgeView *edges, int sign, const void *xc, void *b)
  {
    EdgeWork<T> w(view, view, edges, NULL, xc);

    w.b = (T *)b;
    return ByKind(view, edges, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("coarse values to right-hand side", AddCoarse<T, DIM, N>, {VpBlocks(n, sides), threads * sides}, w, order, n,
                          (T)sign);
    });
  }

  static PetscErrorCode SubtractingFine(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, const void *x, const void *xc,
                                        void *bc)
  {
    const EdgeWork<T> w(fine, coarse, edges, x, xc);

    return ByKind(fine, edges, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("fine values from right-hand side", SubtractFine<T, DIM, N>, {n, threads}, w, order, (T *)bc);
    });
  }

  static PetscErrorCode Solving(const VpView *fine, const VpView *coarse, const VpEdgeView *edges, int32_t first, int32_t last, void *b,
                                void *x, const void *bc, void *xc)
  {
    EdgeWork<T> w(fine, coarse, edges, x, xc);
    EdgePlan   *plan = NULL;
    const auto  fill = [&](EdgePlan *p) {
      PetscFunctionBegin;
      PetscCall(VpCudaAlloc((size_t)edges->ntype * EdgeTable<T, DIM, N, 0>::size * sizeof(T), "tables of edge patches", &p->ready.p));
      PetscCall(VpCudaLaunch("tables of edge patches", ReadyEdges<T, DIM, N>, {edges->ntype, threads}, w, edges->of_type, (T *)p->ready.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    PetscFunctionBegin;
    PetscCall(CheckBasis(fine));
    PetscCall((VpCudaPlans<ViewPlans<T, DIM, N>>(fine).edges.Get(&plan, fill)));
    w.b = (T *)b;
    w.bc = (const T *)bc;
    w.ready = (const T *)plan->ready.p;
    PetscCall(VpCudaLaunch("edge patches", SolveEdges<T, DIM, N>, {last - first, threads, EdgePatch<T, DIM, N, 0>::bytes(!edges->weight)},
                           w, edges->order + first));
    PetscFunctionReturn(PETSC_SUCCESS);
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
