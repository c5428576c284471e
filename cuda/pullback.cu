/* The making of a metric (VpMakers): a block of threads has a cell, and a thread some of its points. */
#include "maps.cuh"

enum { MAKERS = 128 }; /* threads of a block */

/* f over the values of all threads of a block, for all of them; s: a number per warp */
template <class F>
__device__ __forceinline__ double ReduceBlock(double a, double *s, F f)
{
  for (int o = VP_WARP / 2; o; o /= 2) a = f(a, __shfl_down_sync(0xffffffff, a, o));
  __syncthreads();
  if (threadIdx.x % VP_WARP == 0) s[threadIdx.x / VP_WARP] = a;
  __syncthreads();
  a = s[0];
  for (int w = 1; w < MAKERS / VP_WARP; w++) a = f(a, s[w]);
  return a;
}
__device__ __forceinline__ double SumBlock(double a, double *s)
{
  return ReduceBlock(a, s, [](double x, double y) { return x + y; });
}
__device__ __forceinline__ double MostOfBlock(double a, double *s)
{
  return ReduceBlock(a, s, [](double x, double y) { return x > y ? x : y; });
}

/* what a thread finds at a point: A, |det J| and, of all of its points, how many have which sign */
template <int DIM>
struct Point {
  double A[DIM * DIM], det;
  int    positive, negative, good;

  __device__ __forceinline__ void Find(const VpMaking &m, const double *node, int32_t cell, int side, int q)
  {
    double J[DIM * DIM];
    int    sign;

    MapPoint<DIM>(m.maps, node, cell, m.at[1 + side], q, (double *)NULL, J);
    det = VpAdjugate(DIM, J, A);
    sign = VpSignOf(DIM, J, det);
    positive += sign > 0;
    negative += sign < 0;
    det = fabs(det);
    good += VpKIsDefinite(DIM, m.given, VpMakingK(&m, cell, side, q));
  }
};

/* Makes G, root and mass of a cell, and what `made` says of them. s: as in ReduceBlock() */
template <int DIM>
__device__ __forceinline__ void MakeCell(const VpMaking &m, const double *node, int32_t cell, Point<DIM> &p, VpMadeCell &made, double *s)
{
  const int     size = m.at[0].size;
  const double *h = m.maps.bounds + 6 * (size_t)cell + 3, volume = h[0] * h[1] * h[2];
  double       *G = m.G + (size_t)cell * m.components * size, sum[6] = {0}, D[DIM], range[DIM][2], extremes[2] = {DBL_MAX, 0};

  UNROLL (int d = 0; d < DIM; d++) range[d][0] = DBL_MAX, range[d][1] = 0;
  for (int q = threadIdx.x; q < size; q += MAKERS) {
    const size_t  at = (size_t)cell * size + q;
    const double *K = VpMakingK(&m, cell, -1, q), w = m.weight[q];
    double        AK[DIM];

    p.Find(m, node, cell, -1, q);
    UNROLL (int d = 0; d < DIM; d++) {
      VpRowTimesK(DIM, p.A, m.given, K, d, AK);
      UNROLL (int e = d; e < DIM; e++) {
        const double entry = VpEntryOfG(DIM, p.A, AK, e, p.det);

        if (e > d && m.components == DIM) continue;
        G[VpMetricEntry(DIM, m.components, d, e) * size + q] = entry;
        sum[VpMetricEntry(DIM, 6, d, e)] += w * entry;
        if (e > d) continue;
        range[d][0] = entry < range[d][0] ? entry : range[d][0];
        range[d][1] = entry > range[d][1] ? entry : range[d][1];
      }
    }
    made.volume += w * p.det;
    if (m.root) m.root[at] = VpAsStored(m.precision, sqrt(volume / p.det));
    if (m.mass) m.mass[at] = p.det * (m.reaction ? m.reaction[at] : m.constant);
    if (m.mass) made.mass += w * m.mass[at];
  }
  UNROLL (int d = 0; d < DIM; d++) {
    UNROLL (int e = d; e < DIM; e++) {
      const double all = SumBlock(sum[VpMetricEntry(DIM, 6, d, e)], s);

      if (e == d) D[d] = all;
      if (e == d || m.components > DIM) made.mean[VpMetricEntry(DIM, m.components, d, e)] = all;
    }
    made.variation = fmax(made.variation, MostOfBlock(range[d][1], s) / -MostOfBlock(-range[d][0], s));
  }
  made.volume = SumBlock(made.volume, s);
  made.mass = SumBlock(made.mass, s);
  for (int q = threadIdx.x; q < size; q += MAKERS) VpPointExtremes(DIM, m.components, G + q, size, D, extremes);
  made.least = -MostOfBlock(-extremes[0], s);
  made.most = MostOfBlock(extremes[1], s);
}

/* the largest quotient of a number on the diagonal of K at two points of a cell */
static __device__ __forceinline__ double FindChange(const VpMaking &m, int32_t cell, double *s)
{
  double change = 1;

  for (int d = 0; d < (m.given > 1 ? m.dim : 1) && !m.flat; d++) {
    double range[2] = {DBL_MAX, 0};

    for (int q = threadIdx.x; q < m.at[0].size; q += MAKERS) {
      const double a = VpMakingK(&m, cell, -1, q)[VpDiagonalOfK(m.dim, m.given, d)];

      range[0] = fmin(range[0], a);
      range[1] = fmax(range[1], a);
    }
    change = fmax(change, MostOfBlock(range[1], s) / -MostOfBlock(-range[0], s));
  }
  return change;
}

template <int DIM>
__device__ __forceinline__ void MakeSides(const VpMaking &m, const double *node, int32_t cell, Point<DIM> &p)
{
  const int face = VpFaceSize(m.n, DIM), rows = VpMetricRows(DIM, m.components);

  for (int t = threadIdx.x; t < 2 * DIM * face; t += MAKERS) {
    const int side = t / face, q = t % face, d = side / 2;
    double   *H = m.H + VpSideAt(DIM, cell, side, rows * face) + q, *seen = m.seen + VpSideAt(DIM, cell, side, 2 * face) + q;
    double    AK[DIM], normal;

    p.Find(m, node, cell, side, q);
    VpRowTimesK(DIM, p.A, m.given, VpMakingK(&m, cell, side, q), d, AK);
    normal = VpEntryOfG(DIM, p.A, AK, d, p.det);
    H[0] = seen[0] = normal;
    seen[face] = normal * p.det;
    for (int r = 1; r < rows; r++) H[r * face] = VpEntryOfG(DIM, p.A, AK, VpAlongSide(d, r), p.det) * (side % 2 ? 1 : -1);
  }
}

template <int DIM>
__global__ void __launch_bounds__(MAKERS) MakePoints(const __grid_constant__ VpMaking m)
{
  extern __shared__ double node[];
  __shared__ double        s[MAKERS / VP_WARP];
  const int32_t            cell = blockIdx.x;
  const double             all = m.at[0].size + 2 * DIM * VpFaceSize(m.n, DIM);
  Point<DIM>               p = {};
  VpMadeCell               made = {};

  made.variation = made.jump = 1;
  KeepNodes<DIM>(m.maps, cell, node);
  MakeCell<DIM>(m, node, cell, p, made, s);
  MakeSides<DIM>(m, node, cell, p);
  made.change = FindChange(m, cell, s);
  made.sign = (SumBlock(p.positive, s) == all) - (SumBlock(p.negative, s) == all);
  made.definite = SumBlock(p.good, s) == all;
  if (threadIdx.x == 0) m.made[cell] = made;
}

static __global__ void __launch_bounds__(MAKERS) WeighSides(const __grid_constant__ VpMaking m)
{
  __shared__ double s[MAKERS / VP_WARP];
  const int         face = VpFaceSize(m.n, m.dim), rows = VpMetricRows(m.dim, m.components);
  const int32_t     cell = blockIdx.x;
  double            jump = 1;

  for (int t = threadIdx.x; t < 2 * m.dim * face; t += MAKERS) {
    const int     side = t / face, q = t % face;
    const size_t  at = VpSideAt(m.dim, cell, side, 1);
    const int32_t next = m.neighbor[at];
    const int     turn = m.turn ? m.turn[at] : 0, p = turn ? VpTurnPoint(m.n, turn, q) : q;
    double       *H = m.H + VpSideAt(m.dim, cell, side, rows * face) + q;
    const double *own = m.seen + VpSideAt(m.dim, cell, side, 2 * face) + q;
    const double *there = next < 0 ? own : m.seen + VpSideAt(m.dim, next, VpTurnSide(side, turn), 2 * face) + p;
    const double  weight = next < 0 ? m.condition[2 * VpBoundaryEntry(next)] : VpOwnWeight(&m, own[face], there[face]);
    const double  other = next < 0 ? 1. : VpOwnWeight(&m, there[face], own[face]);

    for (int r = 0; r < rows; r++) H[r * face] *= weight;
    m.beyond[VpSideAt(m.dim, cell, side, face) + q] = other * there[0];
    if (next >= 0) jump = fmax(jump, VpJumpOf(&m, weight, other));
  }
  jump = MostOfBlock(jump, s);
  if (threadIdx.x == 0) m.made[cell].jump = jump;
}

static __global__ void FinishSides(const __grid_constant__ VpMaking m)
{
  const size_t face = VpFaceSize(m.n, m.dim), sides = 2 * (size_t)m.dim, count = (size_t)m.ncell * sides * face;

  for (size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += (size_t)gridDim.x * blockDim.x) {
    const int32_t next = m.neighbor[t / face];

    m.beyond[t] = next < 0 ? m.penalty[t / face / sides] * m.condition[2 * VpBoundaryEntry(next) + 1] * m.beyond[t]
                           : m.penalty[next] * VpAsStored(m.precision, m.beyond[t]);
  }
}

static __global__ void __launch_bounds__(MAKERS) ScaleCells(const __grid_constant__ VpMaking m, double *entry)
{
  __shared__ double s[MAKERS / VP_WARP];
  const int         size = m.at[0].size;
  const int32_t     cell = blockIdx.x;
  const double     *h = m.maps.bounds + 6 * (size_t)cell + 3;
  double            share = 0, volume = 0, mean[6] = {0};

  for (int q = threadIdx.x; q < size; q += MAKERS) {
    const size_t at = (size_t)cell * size + q;
    const double a = *VpMakingK(&m, cell, -1, q), part = m.weight[q] / sqrt(a), root = m.root ? m.root[at] : 1.;

    entry[at] = root * sqrt(sqrt(a));
    share += part;
    volume += part * h[0] * h[1] * h[2] / (root * root);
    for (int i = 0; i < m.components; i++) mean[i] += part * m.G[((size_t)cell * m.components + i) * size + q];
  }
  share = SumBlock(share, s);
  volume = SumBlock(volume, s);
  for (int i = 0; i < 6; i++) mean[i] = SumBlock(mean[i], s);
  if (threadIdx.x) return;
  m.made[cell].share = share;
  m.made[cell].volume = volume;
  for (int i = 0; i < 6; i++) m.made[cell].mean[i] = mean[i];
}

static __global__ void __launch_bounds__(MAKERS) CompareCells(const __grid_constant__ VpMaking m, double rounding, int32_t *all)
{
  __shared__ double s[MAKERS / VP_WARP];
  const int         size = m.at[0].size, face = VpFaceSize(m.n, m.dim), rows = VpMetricRows(m.dim, m.components);
  const int32_t     cell = blockIdx.x;
  const double     *G = m.G + (size_t)cell * m.components * size, *root = m.root + (size_t)cell * size;
  int               so = VP_ALL_SAME;

  for (int q = threadIdx.x; q < size; q += MAKERS) {
    for (int d = 0; d < m.dim; d++) {
      for (int e = d; e < m.dim && (e == d || m.components > m.dim); e++) {
        const double *entry = G + VpMetricEntry(m.dim, m.components, d, e) * size;

        so &= VpCompareG(rounding, entry[q], entry[0], G[VpMetricEntry(m.dim, m.components, d, d) * size + q],
                         G[VpMetricEntry(m.dim, m.components, e, e) * size + q], G[q] / G[0]);
      }
    }
    if (m.root && VpDiffer(rounding, root[q], root[0], root[0])) so &= ~VP_SAME_ROOT;
  }
  for (int t = threadIdx.x; t < 2 * m.dim * face; t += MAKERS)
    so &= VpCompareH(&m, rounding, t / face, t % face, G, m.H + VpSideAt(m.dim, cell, t / face, rows * face));
  so = (int)ReduceBlock(so, s, [](double x, double y) { return (double)((int)x & (int)y); });
  if (threadIdx.x == 0) all[cell] = so;
}

static __global__ void MakeAffine(const __grid_constant__ VpMaking m, double *affine)
{
  const size_t each = VpMetricAffine(m.dim, m.components), count = (size_t)m.ncell * each;

  for (size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x; t < count; t += (size_t)gridDim.x * blockDim.x)
    affine[t] = VpAffineNumber(&m, m.G + t / each * m.components * m.at[0].size, (int)(t % each));
}

template <class T>
__global__ void StoreNumbers(const __grid_constant__ VpNumbers a, T *to)
{
  for (size_t t = (size_t)blockIdx.x * blockDim.x + threadIdx.x; t < a.n * a.count; t += (size_t)gridDim.x * blockDim.x) {
    const double *from = a.from + t / a.count * a.stride;

    to[t] = (T)((a.relative ? 1 / from[0] : 1.) * from[t % a.count]);
  }
}

template <int DIM>
__global__ void __launch_bounds__(MAKERS) MapPlaces(const __grid_constant__ VpCellMaps maps, const __grid_constant__ VpPlaces places,
                                                    int side, const VpMapGrid *grid, const __grid_constant__ VpPlaceNumbers to)
{
  extern __shared__ double node[];
  const int32_t            i = blockIdx.x, cell = VpPlaceCell(&places, i);

  KeepNodes<DIM>(maps, cell, node);
  for (int q = threadIdx.x; q < grid->size; q += MAKERS) {
    const VpPlaceNumbers at = VpNumbersAt(&to, DIM, side < 0 ? DIM : 1, (size_t)i * grid->size + q);
    double               J[DIM * DIM];

    MapPoint<DIM>(maps, node, cell, *grid, q, at.point, J);
    if (side < 0) VpMapInCell(DIM, VpPlaceSize(&places, i), J, &at);
    else VpMapOnSide(DIM, side, VpPlaceSize(&places, i), J, &at);
  }
}

static PetscErrorCode MakeAllPoints(const VpMaking *m)
{
  const VpLaunch launch = {(unsigned)m->ncell, MAKERS, MapBytes(m->dim, &m->maps)};

  return m->dim == 2 ? VpCudaLaunch("numbers at points", MakePoints<2>, launch, *m)
                     : VpCudaLaunch("numbers at points", MakePoints<3>, launch, *m);
}

static PetscErrorCode WeighAllSides(const VpMaking *m)
{
  return VpCudaLaunch("weights at points of sides", WeighSides, {(unsigned)m->ncell, MAKERS}, *m);
}

static PetscErrorCode FinishAllSides(const VpMaking *m)
{
  const size_t count = (size_t)m->ncell * 2 * m->dim * VpFaceSize(m->n, m->dim);

  return VpCudaLaunch("penalties at points", FinishSides, {(unsigned)VpLoopingBlocks(count, VP_THREADS), VP_THREADS}, *m);
}

static PetscErrorCode ScaleUnknowns(const VpMaking *m, double *entry)
{
  return VpCudaLaunch("another unknown", ScaleCells, {(unsigned)m->ncell, MAKERS}, *m, entry);
}

static PetscErrorCode ComparePoints(const VpMaking *m, double rounding, int32_t *so)
{
  return VpCudaLaunch("comparison of points", CompareCells, {(unsigned)m->ncell, MAKERS}, *m, rounding, so);
}

static PetscErrorCode MakeAllAffine(const VpMaking *m, double *affine)
{
  const size_t count = (size_t)m->ncell * VpMetricAffine(m->dim, m->components);

  return VpCudaLaunch("matrices of cells", MakeAffine, {(unsigned)VpLoopingBlocks(count, VP_THREADS), VP_THREADS}, *m, affine);
}

static PetscErrorCode StoreAllNumbers(const VpNumbers *a, VpPrecision precision, void *to)
{
  const VpLaunch launch = {(unsigned)VpLoopingBlocks(a->n * a->count, VP_THREADS), VP_THREADS};

  return precision == VP_DOUBLE ? VpCudaLaunch("numbers at points", StoreNumbers<double>, launch, *a, (double *)to)
                                : VpCudaLaunch("numbers at points", StoreNumbers<float>, launch, *a, (float *)to);
}

static PetscErrorCode MapAllPlaces(int dim, const VpCellMaps *maps, const VpPlaces *places, int side, const VpMapGrid *grid,
                                   const VpPlaceNumbers *to)
{
  const VpLaunch launch = {(unsigned)places->n, MAKERS, MapBytes(dim, maps)};

  return dim == 2 ? VpCudaLaunch("maps at points", MapPlaces<2>, launch, *maps, *places, side, grid, *to)
                  : VpCudaLaunch("maps at points", MapPlaces<3>, launch, *maps, *places, side, grid, *to);
}

extern const VpMakers VpCudaMakers = {.points = MakeAllPoints,
                                      .weigh = WeighAllSides,
                                      .finish = FinishAllSides,
                                      .scale = ScaleUnknowns,
                                      .compare = ComparePoints,
                                      .affine = MakeAllAffine,
                                      .numbers = StoreAllNumbers,
                                      .places = MapAllPlaces};
