/* Makes the lines of all cells, as VpLineBuild() does, where the coefficient varies from cell to cell: for kernels that cannot do with the
   view's `unit`. */
#include "plan/viewplans.cuh"

/* tables of the basis, a kernel parameter */
struct LineBasis {
  int    n;
  double inner[VP_MAX_N * VP_MAX_N], lift[2][2][VP_MAX_N], trace[2][2][VP_MAX_N]; /* [end][value, slope] */

  LineBasis(const VpBasis *b) : n(b->n)
  {
    for (int i = 0; i < n * n; i++) inner[i] = b->inner[i];
    for (int i = 0; i < 4 * n; i++) {
      const int end = i / n / 2, k = i / n % 2, at = i % n;
      lift[end][k][at] = (double)VpBasisLift(b, end, k, at);
      trace[end][k][at] = (k ? b->slope : b->value)[end][at];
    }
  }
};

/* The form at a side of a line: c, gamma and mean are those of VpFaceForm(). value and slope are factors of the traces beyond: 1/(2 h) and
   1/(2 h'), divided by the root of h h', where h' is the size beyond; 0 at a boundary. */
struct SideTerms {
  double c, gamma, mean, value, slope;
};
template <class T>
static __device__ SideTerms TermsOf(const VpView &v, int32_t cell, int d, int s, double a)
{
  const size_t       at = (size_t)cell * 2 * v.dim + 2 * d + s;
  const int32_t      beyond = v.neighbor[at];
  const VpLineParts &p = v.parts;
  const double       h = p.h[d];

  if (beyond < 0) {
    const double *is = p.condition + 3 * VpBoundaryEntry(beyond);
    return {a, is[1] / h + is[2], is[0], 0, 0};
  }
  const int    there = v.turn ? VpTurnSide(2 * d + s, v.turn[at]) / 2 : d;
  const T     *volume = (const T *)p.volume, *coefficient = (const T *)v.coefficient;
  const double larger = v.weighed && v.weighed[cell] >> (2 * d + s) & 1 ? (double)volume[beyond] / (double)volume[cell] : 1.;
  const double other = larger * coefficient[(size_t)beyond * v.directions + (v.directions > 1 ? there : 0)], hb = p.h[there];
  const double root = sqrt(h * hb);
  return {HarmonicMean(a, other), p.penalty * (1 / h + 1 / (hb * larger)), 0.5, 1 / (2 * h * root), 1 / (2 * hb * larger * root)};
}

/* A thread makes row i of the matrices of a line. */
template <class T>
static __global__ void MakeLines(const __grid_constant__ VpView v, const __grid_constant__ LineBasis b, T *table, int32_t *line)
{
  const int    n = b.n;
  const size_t number = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) / n;
  const int    i = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) % n), d = (int)(number % v.dim);
  const auto   cell = (int32_t)(number / v.dim);

  if (cell >= v.nsweep) return;
  const double    a = ((const T *)v.coefficient)[(size_t)cell * v.directions + (v.directions > 1 ? d : 0)], h = v.parts.h[d];
  const SideTerms ends[2] = {TermsOf<T>(v, cell, d, 0, a), TermsOf<T>(v, cell, d, 1, a)};
  T              *to = table + number * VpLineSize(n);

  if (i == 0) line[number] = (int32_t)number;
  for (int j = 0; j < n; j++) {
    double sum = a / (h * h) * b.inner[i * n + j] + (i == j ? v.parts.reaction : 0);
    for (int s = 0; s < 2; s++) {
      const double *lift[2] = {b.lift[s][0], b.lift[s][1]}, *trace[2] = {b.trace[s][0], b.trace[s][1]};
      sum += ends[s].c / h *
             (ends[s].gamma * lift[0][i] * trace[0][j] - ends[s].mean / h * (lift[0][i] * trace[1][j] + lift[1][i] * trace[0][j]));
    }
    to[i * n + j] = (T)sum;
  }
  for (int s = 0; s < 2; s++) {
    const SideTerms &e = ends[s];
    T               *g = to + VpLineSide(n, s) + i;
    g[0] = (T)(e.c * e.value * (b.lift[s][1][i] - 2 * h * e.gamma * b.lift[s][0][i]));
    g[n] = (T)(e.c * e.slope * b.lift[s][0][i]);
  }
}

template <class T>
PetscErrorCode VpCudaMakeLines(const VpView *view, LinePlan *plan)
{
  const size_t lines = (size_t)view->nsweep * view->dim;

  PetscFunctionBegin;
  PetscCall(VpCudaAlloc(lines * sizeof(int32_t), "operator tables", &plan->line.p));
  PetscCall(VpCudaAlloc(lines * VpLineSize(view->n) * sizeof(T), "operator tables", &plan->table.p));
  PetscCall(VpCudaLaunch("make lines", MakeLines<T>, {(int)((lines * view->n + VP_THREADS - 1) / VP_THREADS), VP_THREADS}, *view,
                         LineBasis(view->basis), (T *)plan->table.p, (int32_t *)plan->line.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
template PetscErrorCode VpCudaMakeLines<double>(const VpView *, LinePlan *);
template PetscErrorCode VpCudaMakeLines<float>(const VpView *, LinePlan *);
