/* The kernels by name. operator.c, sweep.c, cells.c, interfaces.c, transfer.c, separable.c, convert.c,
   modes.c and traces.c are compiled for every -DVP_REAL=float|double and -DVP_DIM=2|3, points.c, metric.c and
   metricsmall.c for double alone. They define one function per degree k and slot, VpHost<slot>_<real>_<dim>_<k>; backend.c gathers them. */
#pragma once
#include "../ops.h"
#include "../../compat.h"

#define VP_NAME_(slot, real, dim, k) VpHost##slot##_##real##_##dim##_##k
#define VP_NAME(slot, real, dim, k)  VP_NAME_(slot, real, dim, k)

/* VP_SLOTS is f(slot of VpOps, its name in functions, ...) for all slots but those of functions at points, VP_POINT_SLOTS for these. */
/* clang-format off */
#define VP_SLOTS(f, ...) \
  f(apply, Apply, __VA_ARGS__) \
  f(sweep, Sweep, __VA_ARGS__) \
  f(solve_cells, SolveCells, __VA_ARGS__) \
  f(add_coarse, AddCoarse, __VA_ARGS__) \
  f(subtract_fine, SubtractFine, __VA_ARGS__) \
  f(solve_interfaces, SolveInterfaces, __VA_ARGS__) \
  f(settle, Settle, __VA_ARGS__) \
  f(current, Current, __VA_ARGS__) \
  f(prolong, Prolong, __VA_ARGS__) \
  f(restrict_, Restrict, __VA_ARGS__) \
  f(restrict_modes, RestrictModes, __VA_ARGS__) \
  f(prolong_modes, ProlongModes, __VA_ARGS__) \
  f(pack_traces, PackTraces, __VA_ARGS__) \
  f(unpack_traces, UnpackTraces, __VA_ARGS__) \
  f(solve_lines, SolveLines, __VA_ARGS__) \
  f(product, Product, __VA_ARGS__) \
  f(enter, Enter, __VA_ARGS__) \
  f(leave, Leave, __VA_ARGS__)
#define VP_POINT_SLOTS(f, ...) \
  f(coordinates, Coordinates, __VA_ARGS__) \
  f(evaluate, Evaluate, __VA_ARGS__) \
  f(integrate, Integrate, __VA_ARGS__) \
  f(distance, Distance, __VA_ARGS__) \
  f(probe, Probe, __VA_ARGS__) \
  f(column, Column, __VA_ARGS__) \
  f(add_to_side, AddToSide, __VA_ARGS__)
/* clang-format on */

extern const VpMakers VpHostMakers; /* pullback.c */
/* dense.c */
PetscErrorCode VpHostInvertDense(const VpDenseInverse *, VpPrecision, void *M, double *largest);
/* nodes.c */
void           VpHostGather(const VpGather *, int32_t first, int32_t n, const double *nodes, double *cells); /* cells [n][ndof] */
PetscErrorCode VpHostScatter(const VpNodeView *, const double *of_cell, const double *of_node, const double *cells, double *nodes);
PetscErrorCode VpHostFormDiagonal(const VpNodeView *, const VpNodeForm *, double *nodes);
PetscErrorCode VpHostReciprocals(size_t n, double *x, double *one);
PetscErrorCode VpHostRelax(size_t n, PetscBool add, const double *step, const double *r, const double *y, double *x);
PetscErrorCode VpHostDescend(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *square);

/* y [last - first cells] = A x, or b - A x if b is not NULL, on cells [first, last). b begins with cell 0, y with cell `first`. */
typedef void VpHostResidual(const VpView *, int32_t first, int32_t last, const void *x, const void *ghost, const void *b, void *y);

/* metric.c: the same where the view has a metric, after the traces of x in the view were found; and the slots for traces of sides */
typedef PetscErrorCode VpHostMetricTraces(const VpView *, const double *x, VpGhosts);
typedef void           VpHostMetricPack(const VpView *, int32_t n, const int32_t *list, const void *x, void *to);
typedef void           VpHostMetricUnpack(int32_t n, const int32_t *list, const void *from, void *x);
#define VP_DECLARE_METRIC(dim, k) \
  VpHostMetricTraces VP_NAME(MetricTraces, double, dim, k); \
  VpHostResidual     VP_NAME(MetricResidual, double, dim, k); \
  VpHostMetricPack   VP_NAME(MetricPack, double, dim, k); \
  VpHostMetricUnpack VP_NAME(MetricUnpack, double, dim, k);

#define VP_DECLARE_SLOT(slot, name, real, dim, k) __typeof__(*((VpOps *)NULL)->slot) VP_NAME(name, real, dim, k);
#define VP_DECLARE(real, dim, k) \
  VP_SLOTS(VP_DECLARE_SLOT, real, dim, k) \
  VpHostResidual VP_NAME(Residual, real, dim, k);
/* clang-format off */
#define VP_DEGREE(k) \
  VP_DECLARE(float, 2, k) VP_DECLARE(float, 3, k) VP_DECLARE(double, 2, k) VP_DECLARE(double, 3, k) \
  VP_POINT_SLOTS(VP_DECLARE_SLOT, double, 2, k) VP_POINT_SLOTS(VP_DECLARE_SLOT, double, 3, k) \
  VP_DECLARE_METRIC(2, k) VP_DECLARE_METRIC(3, k)
/* clang-format on */
#include "../degrees.def"
#undef VP_DEGREE
