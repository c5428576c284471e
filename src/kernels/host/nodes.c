/* Between values at nodes and values of cells. */
#include "host.h"

PetscErrorCode VpHostGather(const VpNodeView *view, const double *of_cell, const double *of_node, const double *nodes, double *cells)
{
  PetscFunctionBegin;
  for (int32_t c = 0; c < view->ncell; c++) {
    const size_t   at = (size_t)c * (size_t)view->ndof;
    const int32_t *node = view->node + at;

    for (int i = 0; i < view->ndof; i++) {
      const int32_t k = node[i];

      cells[at + (size_t)i] = k < 0 ? 0 : of_cell[c] * (of_node ? of_node[k] : 1) * nodes[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpHostScatter(const VpNodeView *view, const double *of_cell, const double *of_node, const double *cells, double *nodes)
{
  PetscFunctionBegin;
  for (int32_t k = 0; k < view->nnode; k++) {
    double sum = 0;

    for (int32_t i = view->start[k]; i < view->start[k + 1]; i++) sum += of_cell[view->place[i] / view->ndof] * cells[view->place[i]];
    nodes[k] = of_node ? of_node[k] * sum : sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
