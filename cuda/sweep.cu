/* One colour of the patch smoother. Patches of the view's commonest kind take the kernel of patch.cuh, all others the general one here:
   one patch a block, the residual and both transforms line by line in shared memory. */
#include "sweepall.cuh"

template <int DIM, int N>
struct PatchShape {
  static constexpr int m = 2 * N, lines = Power(m, DIM - 1), threads = DIM == 2 ? 32 : lines < 128 ? (lines + 31) / 32 * 32 : 128;
  static constexpr int sy = m + 1, sz = m * sy, size = DIM == 3 ? m * sz : m * sy, slow = DIM - 1, cells = 1 << DIM, values = Power(N, DIM);
};

/* For line l along d: which of the patch's cells it starts in (its coordinate along d is 0), and its place within cells */
template <int DIM, int N>
__device__ __forceinline__ void PatchLine(int d, int l, int &q, int &at)
{
  constexpr int m = 2 * N;
  const int     i0 = l % m, i1 = DIM == 3 ? l / m : 0, d0 = d == 0 ? 1 : 0, d1 = d == 2 ? 1 : 2;

  q = (i0 / N) << d0 | (DIM == 3 ? (i1 / N) << d1 : 0);
  at = (i0 % N) * (d0 ? N : 1) + (DIM == 3 ? (i1 % N) * (d1 == 2 ? N * N : N) : 0);
}

/* R -= A x on line l along d; X: the patch's values, or NULL: zero; local: without faces on the patch's sides towards cells */
template <class T, int DIM, int N>
__device__ __forceinline__ void ResidualLine(const Field<T> &f, const int32_t *drop, const Sweep<T> &w, const int32_t *cells, const T *X,
                                             bool local, int d, int l, T *R)
{
  typedef PatchShape<DIM, N> S;
  const int base = LineStart<DIM>(d, S::m, l, S::sy, S::sz), stride = LineStride(d, S::sy, S::sz), step = LineStride(d, N, N * N);
  int       q, at;

  PatchLine<DIM, N>(d, l, q, at);
#pragma unroll 1
  for (int c = 0; c < 2; c++) {
    const int32_t cell = cells[q | c << d], beyond = f.neighbor[(size_t)cell * 2 * DIM + 2 * d + c];
    int32_t       entry = f.line[(size_t)cell * DIM + d];
    T             y[N], V, Q;

    if (local && beyond >= 0) entry = drop[2 * entry + c];
    const T *D = f.lines + (size_t)entry * (N * N + 4 * N), *g = D + N * N;
    UNROLL for (int i = 0; i < N; i++) y[i] = T(0);
    if (X) {
      UNROLL for (int j = 0; j < N; j++) {
        const T u = X[base + (c * N + j) * stride];
        UNROLL for (int i = 0; i < N; i++) y[i] += __ldg(D + i * N + j) * u;
      }
      Traces(f.nt, f.first, f.traces, c, X + base + (1 - c) * N * stride, stride, V, Q);
      UNROLL for (int i = 0; i < N; i++) y[i] += __ldg(g + 2 * (1 - c) * N + i) * V + __ldg(g + (2 * (1 - c) + 1) * N + i) * Q;
    }
    if (!local && beyond >= 0) {
      Traces(f.nt, f.first, f.traces, 1 - c, w.x[Parity(w.cover, w.done, beyond)] + (size_t)beyond * S::values + at, step, V, Q);
      UNROLL for (int i = 0; i < N; i++) y[i] += __ldg(g + 2 * c * N + i) * V + __ldg(g + (2 * c + 1) * N + i) * Q;
    }
    UNROLL for (int i = 0; i < N; i++) R[base + (c * N + i) * stride] -= y[i];
  }
}

/* v = M v on a line; M [m][m] */
template <class T, int m>
__device__ __forceinline__ void Transform(const T *M, T (&v)[m])
{
  T out[m];

  UNROLL for (int i = 0; i < m; i++) {
    out[i] = T(0);
    UNROLL for (int j = 0; j < m; j++) out[i] += __ldg(M + i * m + j) * v[j];
  }
  UNROLL for (int i = 0; i < m; i++) v[i] = out[i];
}

template <class T, int DIM, int N>
__global__ void __launch_bounds__(PatchShape<DIM, N>::threads)
  SweepPatches(const __grid_constant__ Field<T> f, const __grid_constant__ Sweep<T> w, const int32_t *drop, VpForm form,
               const int32_t *list, int32_t first)
{
  typedef PatchShape<DIM, N> S;
  extern __shared__ __align__(16) unsigned char shared[];
  T                                            *R = (T *)shared, *X = form == VP_FORM_EXACT || form == VP_FORM_LOCAL ? R + S::size : NULL;
  constexpr int                                 m = S::m, step = Power(N, DIM - 1);
  const int32_t p = list ? list[blockIdx.x] : first + blockIdx.x, *cells = w.patch + (size_t)p * S::cells, *type = w.type + (size_t)p * DIM;
  const T      *table[DIM];

  UNROLL for (int d = 0; d < DIM; d++) table[d] = w.fdm + (size_t)type[d] * (2 * m * m + m);
  for (int l = threadIdx.x; l < S::lines; l += S::threads) {
    const int base = LineStart<DIM>(S::slow, m, l, S::sy, S::sz), stride = LineStride(S::slow, S::sy, S::sz);
    int       q, at;

    PatchLine<DIM, N>(S::slow, l, q, at);
    for (int i = 0; i < m; i++) {
      const int32_t cell = cells[q | (i / N) << S::slow];
      const size_t  k = (size_t)cell * S::values + at + (i % N) * step;
      R[base + i * stride] = w.b[k];
      if (X) X[base + i * stride] = w.x[Parity(w.cover, w.done, cell)][k];
    }
  }
  if (form != VP_FORM_GIVEN) {
#pragma unroll 1
    for (int d = 0; d < DIM; d++) {
      __syncthreads();
      for (int l = threadIdx.x; l < S::lines; l += S::threads)
        ResidualLine<T, DIM, N>(f, drop, w, cells, X, form == VP_FORM_LOCAL, d, l, R);
    }
  }
  const T weight = w.weight ? w.weight[p] : T(1), c = w.reaction * weight;
#pragma unroll 1
  for (int pass = 0; pass < 2 * DIM; pass++) { /* slow .. x forward, x .. slow backward; on x both at once */
    const int d = pass < DIM ? DIM - 1 - pass : pass - DIM;

    if (pass == DIM) continue;
    __syncthreads();
    for (int l = threadIdx.x; l < S::lines; l += S::threads) {
      T        *line = R + LineStart<DIM>(d, m, l, S::sy, S::sz), v[m];
      const int stride = LineStride(d, S::sy, S::sz);
      UNROLL for (int i = 0; i < m; i++) v[i] = line[i * stride];
      Transform<T, m>(table[d] + (pass < DIM ? 0 : m * m), v);
      if (d == 0) {
        T rest = table[1][2 * m * m + l % m] + c;
        if (DIM == 3) rest += table[DIM - 1][2 * m * m + l / m];
        UNROLL for (int i = 0; i < m; i++) {
          const T sum = table[0][2 * m * m + i] + rest;
          v[i] = sum > w.cutoff ? v[i] * (weight / sum) : T(0);
        }
        Transform<T, m>(table[0] + m * m, v);
      }
      UNROLL for (int i = 0; i < m; i++) line[i * stride] = v[i];
    }
  }
  __syncthreads();
  for (int l = threadIdx.x; l < S::lines; l += S::threads) {
    const int base = LineStart<DIM>(S::slow, m, l, S::sy, S::sz), stride = LineStride(S::slow, S::sy, S::sz);
    int       q, at;

    PatchLine<DIM, N>(S::slow, l, q, at);
    for (int i = 0; i < m; i++) {
      const int32_t cell = cells[q | (i / N) << S::slow];
      const size_t  k = (size_t)cell * S::values + at + (i % N) * step;
      const int     now = Parity(w.cover, w.done, cell);
      w.x[1 - now][k] = R[base + i * stride] + (form == VP_FORM_REPLACE ? T(0) : w.x[now][k]);
    }
  }
}

template <class T, int DIM, int N>
struct Smoother {
  typedef PatchShape<DIM, N> S;

  static PetscErrorCode Rest(const Field<T> &f, const Sweep<T> &w, const int32_t *drop, VpForm form, const int32_t *list, int32_t first,
                             int32_t count)
  {
    const size_t bytes = (form == VP_FORM_EXACT || form == VP_FORM_LOCAL ? 2 : 1) * S::size * sizeof(T);

    PetscFunctionBegin;
    if (!count) PetscFunctionReturn(PETSC_SUCCESS);
    VpCudaCall(cudaFuncSetAttribute(SweepPatches<T, DIM, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(2 * S::size * sizeof(T))));
    SweepPatches<T, DIM, N><<<count, S::threads, bytes, VpCudaStream>>>(f, w, drop, form, list, first);
    VpCudaLaunched("sweep");
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode Apply(const VpView *view, VpForm form, int32_t first, int32_t last, unsigned done, const void *b, void *const x[2])
  {
    const Field<T> f(view, NULL, NULL);
    const Sweep<T> w = {view->patch,       view->type,      view->cover, (const T *)view->fdm, (const T *)view->weight,
                        (T)view->reaction, (T)view->cutoff, done,        (const T *)b,         {(T *)x[0], (T *)x[1]}};

    PetscFunctionBegin;
    if (first >= last) PetscFunctionReturn(PETSC_SUCCESS);
    if constexpr (DIM == 3) {
      if (form == VP_FORM_REPLACE) {
        SweepPlan<T, N> *plan = NULL;
        auto             fill = [=](SweepPlan<T, N> *p) { return SweepSetup<T, N>::Fill(view, first, last - first, p); };

        PetscCall(VpCudaPlan<SweepPlan<T, N>>(view, VP_PLAN_SWEEP, first, last, &plan, fill));
        if (plan->inside.n) {
          cudaStream_t side = VpCudaStream;

          if (plan->edge.n) PetscCall(VpCudaFork(&side));
          PetscCall(LaunchPatches(plan->tables, plan->edges, WorkOn<T>(plan->edge, plan->table, b, x), done, plan->edge.n, side));
          PetscCall(LaunchPatches(plan->tables, NoEdges(), WorkOn<T>(plan->inside, plan->table, b, x), done, plan->inside.n, VpCudaStream));
          if (plan->edge.n) PetscCall(VpCudaJoin());
          PetscCall(Rest(f, w, view->drop, form, (const int32_t *)plan->rest.p, 0, plan->nrest));
          PetscFunctionReturn(PETSC_SUCCESS);
        }
      }
    }
    PetscCall(Rest(f, w, view->drop, form, NULL, first, last - first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  static PetscErrorCode All(const VpView *view, int n, const int order[], const int32_t start[], VpGhosts ghosts, const void *b,
                            void *const x[2], PetscBool *did)
  {
    PetscFunctionBegin;
    *did = PETSC_FALSE;
    if constexpr (DIM == 3) PetscCall((SweepAll<T, N>(view, n, order, start, ghosts, b, x, did)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode VpCudaSweepOps(VpPrecision precision, int dim, int degree, VpOps *ops)
{
  return VpCudaForKind(precision, dim, degree, [ops](auto kind) {
    typedef decltype(kind) K;

    ops->sweep = Smoother<typename K::Real, K::DIM, K::N>::Apply;
    ops->sweep_all = Smoother<typename K::Real, K::DIM, K::N>::All;
    return PETSC_SUCCESS;
  });
}
