/* Between values at nodes and values of cells. */
#include "host.h"
#include "../pointform.h"
#include "../../base/threads.h"

/* the value of node k, -1: 0 */
static inline double ValueOf(const double *of_node, const double *nodes, int32_t k)
{
  return k < 0 ? 0 : (of_node ? of_node[k] : 1) * nodes[k];
}

/* the value of corner i of a wide cell */
static inline double AddPlaces(const VpNodeView *view, const int32_t node[], const double *of_node, const double *nodes, int i)
{
  double sum = 0, share;

  for (int m = 0; m < view->ndof; m++) {
    const int place = VpWidePlace(view->dim, i, m, &share);

    sum += share * ValueOf(of_node, nodes, node[place]);
  }
  return sum;
}

void VpHostGather(const VpGather *gather, int32_t first, int32_t n, const double *nodes, double *cells)
{
  const VpNodeView *view = &gather->nodes;

  for (int32_t c = first; c < first + n; c++, cells += view->ndof) {
    const int32_t *node = view->node + (size_t)c * (size_t)view->places;

    for (int i = 0; i < view->ndof; i++)
      cells[i] =
        gather->of_cell[c] * (view->wide ? AddPlaces(view, node, gather->of_node, nodes, i) : ValueOf(gather->of_node, nodes, node[i]));
  }
}

PetscErrorCode VpHostScatter(const VpNodeView *view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  PetscFunctionBegin;
  for (int32_t k = 0; k < view->nnode; k++) {
    double sum = 0;

    for (int32_t i = view->start[k]; i < view->start[k + 1]; i++) {
      const int32_t place = view->place[i], cell = place / view->places;
      const double *x = cells ? cells + (size_t)cell * (size_t)view->ndof : NULL;

      if (!x) sum += of_cell[cell];
      else sum += of_cell[cell] * (view->wide ? VpWideValue(view->dim, x, place % view->places) : x[place % view->places]);
    }
    nodes[k] = of_node ? of_node[k] * sum : sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostReciprocals(size_t n, double *x, double *one)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < n; i++) {
    if (one) one[i] = x[i] > 0;
    x[i] = x[i] > 0 ? 1 / x[i] : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostRelax(size_t n, PetscBool add, const double *step, const double *r, const double *y, double *x)
{
  PetscFunctionBegin;
  for (size_t i = 0; i < n; i++) {
    const double v = (step ? step[i] : 1) * (r[i] - (y ? y[i] : 0));

    x[i] = add ? x[i] + v : v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostDescend(size_t n, double alpha, const double *p, const double *c, double *x, double *r, double *square)
{
  double sum = 0;

  PetscFunctionBegin;
  for (size_t i = 0; i < n; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * c[i];
    sum += r[i] * r[i];
  }
  *square = sum;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostFormDiagonal(const VpNodeView *view, const VpNodeForm *form, double *nodes)
{
  PetscFunctionBegin;
  if (form->points) {
    VP_LOOP_HEAVY (c, view->ncell) {
      double x[VP_MAX_N * VP_MAX_N * VP_MAX_N], y[VP_MAX_N * VP_MAX_N * VP_MAX_N];

      VpSumPointForm(form->points, c, x, y, form->cells + (size_t)c * (size_t)view->ndof);
    }
  }
  VP_LOOP (k, view->nnode) {
    nodes[k] = 0;
    for (int32_t i = view->start[k]; i < view->start[k + 1]; i++)
      nodes[k] += VpNodeFormEntry(view, form, view->place[i] / view->places, view->place[i] % view->places);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
