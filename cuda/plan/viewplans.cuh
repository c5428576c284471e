/* What is kept for a view of cells. */
#pragma once
#include "../hanging.cuh"
#include "../tile.cuh"

/* lines.cu: the lines of a view that has `parts` instead, an entry for every cell and direction */
struct LinePlan {
  VpArray line, table; /* VpView.line, VpView.lines */
};
template <class T>
PetscErrorCode VpCudaMakeLines(const VpView *, LinePlan *);

/* of all precisions, dimensions and degrees */
struct CellPlans : VpPlans {
  VpOnce<LinePlan>      lines;
  VpByRange<SplitCells> cells;
  VpByRange<HangPlan>   hanging;
};
/* of views that may have tiles, of either shape */
template <class S>
struct TilesOf {
  VpByRange<vpatchdg::tile::TilePlan<S>> tiles[2]; /* [vary] */
};
template <class T, int DIM, int N>
struct TilePlans : CellPlans {
};
template <int N>
struct TilePlans<double, 3, N> : CellPlans, TilesOf<vpatchdg::tile::Tile<N>>, TilesOf<vpatchdg::tile::Octet<N>> {
};

/* convert.cu */
template <class T, int N>
struct ConvertPlan {
  Matrix<T, N> enter, leave;
  VpArray      partial; /* sums of squares, one per block of cells, or per tile, which has 8 cells or more; cells are split in two */
  int          blocks;
};
/* metric.cuh: the matrices of one direction as a kernel parameter, so that their entries are operands of instructions */
template <int N>
struct MetricTables {
  double slope[N * N], end[2][2][N]; /* as in VpMetricView */
};
/* metric.cu: sides that are turned against the own cell beyond. What is beyond them comes like ghosts: the traces of that cell's side, in
   the order of the points of the own one. */
struct TurnPlan {
  int32_t n = 0;
  VpArray neighbor; /* as in VpView, but from `nlocal` on the numbers of turned sides */
  VpArray list;     /* [n] the sides beyond, 2 dim cell + side */
  VpArray traces;   /* [n][V, F][n^(dim-1)] */
};
/* interfaces.cu */
struct InterfacePlan {
  VpArray ready;
};

template <class T, int DIM, int N>
struct ViewPlans : TilePlans<T, DIM, N> {
  VpOnce<ConvertPlan<T, N>> convert;
  VpOnce<VpArray>           points; /* points.cu: sums, one per block */
  VpOnce<InterfacePlan>     interfaces;
  VpOnce<MetricTables<N>>   metric;
  VpOnce<TurnPlan>          turned;
};

/* *f = the field of a view for kernels that read lines */
template <class T>
static PetscErrorCode VpCudaFieldWithLines(const VpView *view, const void *own, const void *beyond, Field<T> *f)
{
  LinePlan *plan = NULL;

  PetscFunctionBegin;
  *f = Field<T>(view, own, beyond);
  if (view->lines || !view->unit) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCudaPlans<CellPlans>(view).lines.Get(&plan, [view](LinePlan *p) { return VpCudaMakeLines<T>(view, p); }));
  f->line = (const int32_t *)plan->line.p;
  f->lines = (const T *)plan->table.p;
  PetscFunctionReturn(PETSC_SUCCESS);
}
