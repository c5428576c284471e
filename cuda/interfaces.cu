/* Interface patches of a level of an adaptive mesh: a leaf K of the coarser level and the cells F beyond one of its sides
   (VpInterfaceView). A block works on one side with groups of threads (hanging.cuh); in AddCoarse it works on HangThread::sides sides. */
#include "interfacepatch.cuh"
#include "plan/viewplans.cuh"

/* b += sign A_FK xc, on n sides. Requires: all are the same side of their K, so that no two of them have an F in common */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads *HangThread<T, DIM, N>::sides)
  AddCoarse(const __grid_constant__ InterfaceWork<T> w, const int32_t *order, int32_t n, T sign)
{
  typedef InterfaceSide<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::sides * S::scratch], half[4 * N * N];
  S                                     side(w, s);
  const int32_t                         number = blockIdx.x * S::sides + threadIdx.x / S::threads, at = order[number < n ? number : n - 1];

  side.KeepHalf(half);
  side.AddToFine(at, number < n, sign, w.coarse.Cell(side.Face(at).cell[0], S::values), w.b);
}

/* bc -= A_KF x and, where the coefficient varies, the terms with the excess. Requires: all are the same side of their K, so that no two of
   them have K or the refined cell beyond in common */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads)
  SubtractFine(const __grid_constant__ InterfaceWork<T> w, const int32_t *order, T *bc)
{
  typedef InterfaceSide<T, DIM, N> S;
  __shared__ __align__(VP_WIDE_BYTES) T s[S::scratch];
  const S                               side(w, s);
  const int32_t                         at = order[blockIdx.x], K = side.Face(at).cell[0];
  const T                              *u = w.coarse.Cell(K, S::values);

  side.SubtractFine(at, u, bc + (size_t)K * S::values);
  if (!w.weight) return;
  const int32_t refined = w.coarse.neighbor[(size_t)K * 2 * DIM + side.Face(at).side];
  if (refined < w.coarse.nown) side.SubtractExcess(at, u, bc + (size_t)refined * S::values);
}

/* ready: as in InterfaceWork. A block makes an entry. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(InterfaceTable<T, DIM, N>::threads) ReadyInterfaces(const T *table, T *ready)
{
  typedef InterfaceTable<T, DIM, N> Tables;

  Tables::Copy(table + (size_t)blockIdx.x * VpInterfaceSize(N, DIM), ready + (size_t)blockIdx.x * Tables::size);
}

/* Solves on the patches order[0], order[1], ...: none of them writes what another one reads or writes. */
template <class T, int DIM, int N>
__global__ void __launch_bounds__(HangThread<T, DIM, N>::threads, InterfacePatch<T, DIM, N, 0>::least)
  SolveInterfaces(const __grid_constant__ InterfaceWork<T> w, const int32_t *order)
{
  extern __shared__ __align__(VP_WIDE_BYTES) unsigned char shared[];

  const int32_t at = order[blockIdx.x];
  const int     d = w.sides.face[at].side / 2;

  if (d == 0) InterfacePatch<T, DIM, N, 0>(w, at, (T *)shared).Solve();
  else if (DIM == 3 && d == 1) InterfacePatch<T, DIM, N, 1>(w, at, (T *)shared).Solve();
  else InterfacePatch<T, DIM, N, DIM - 1>(w, at, (T *)shared).Solve();
}

template <class T, int DIM, int N>
struct Interfaces {
  static constexpr int threads = HangThread<T, DIM, N>::threads, sides = HangThread<T, DIM, N>::sides;

  static PetscErrorCode CheckBasis(const VpView *view)
  {
    PetscFunctionBegin;
    PetscCheck(view->nt == VpThinLayers(N, DIM), PETSC_COMM_SELF, PETSC_ERR_PLIB,
               "Interfaces of a level with another basis than a cycle's");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* launch(how many sides, which) for one kind of sides after the other */
  template <class Launch>
  static PetscErrorCode ByKind(const VpView *view, const VpInterfaceView *interfaces, Launch launch)
  {
    PetscFunctionBegin;
    PetscCall(CheckBasis(view));
    for (int kind = 0; kind < 2 * DIM; kind++)
      PetscCall(launch(interfaces->kind[kind + 1] - interfaces->kind[kind], interfaces->by_kind + interfaces->kind[kind]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode AddingCoarse(const VpView *view, const VpInterfaceView *interfaces, int sign, const void *xc, void *b)
  {
    InterfaceWork<T> w(view, view, interfaces, NULL, xc);

    w.b = (T *)b;
    return ByKind(view, interfaces, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("coarse values to right-hand side", AddCoarse<T, DIM, N>, {VpBlocks(n, sides), threads * sides}, w, order, n,
                          (T)sign);
    });
  }

  static PetscErrorCode SubtractingFine(const VpView *fine, const VpView *coarse, const VpInterfaceView *interfaces, const void *x,
                                        const void *xc, void *bc)
  {
    const InterfaceWork<T> w(fine, coarse, interfaces, x, xc);

    return ByKind(fine, interfaces, [=](int32_t n, const int32_t *order) {
      return VpCudaLaunch("fine values from right-hand side", SubtractFine<T, DIM, N>, {n, threads}, w, order, (T *)bc);
    });
  }

  static PetscErrorCode SolveRange(const VpView *fine, const VpView *coarse, const VpInterfaceView *interfaces, int32_t first, int32_t last,
                                   void *b, void *x, const void *bc, void *xc)
  {
    InterfaceWork<T> w(fine, coarse, interfaces, x, xc);
    InterfacePlan   *plan = NULL;
    const size_t     bytes = InterfaceTable<T, DIM, N>::size * sizeof(T);
    const auto       fill = [&](InterfacePlan *p) {
      PetscFunctionBegin;
      PetscCall(VpCudaAlloc(interfaces->ntype * bytes, "tables of interface patches", &p->ready.p));
      PetscCall(VpCudaLaunch("tables of interface patches", ReadyInterfaces<T, DIM, N>, {interfaces->ntype, threads},
                                   (const T *)interfaces->table, (T *)p->ready.p));
      PetscFunctionReturn(PETSC_SUCCESS);
    };

    PetscFunctionBegin;
    PetscCall(CheckBasis(fine));
    PetscCall((VpCudaPlans<ViewPlans<T, DIM, N>>(fine).interfaces.Get(&plan, fill)));
    w.b = (T *)b;
    w.bc = (const T *)bc;
    w.ready = (const T *)plan->ready.p;
    PetscCall(VpCudaLaunch("interface patches", SolveInterfaces<T, DIM, N>,
                           {last - first, threads, InterfacePatch<T, DIM, N, 0>::bytes(!interfaces->weight)}, w,
                           interfaces->order + first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

void VpCudaInterfacesOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  VpCudaForKind<Interfaces>(precision, dim, degree, [ops](auto of) {
    ops->add_coarse = of.AddingCoarse;
    ops->subtract_fine = of.SubtractingFine;
    ops->solve_interfaces = of.SolveRange;
  });
}
