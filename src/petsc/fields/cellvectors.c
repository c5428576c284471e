/* Vectors of coefficients in cells, which functions of points work with. They are the DM's own vectors or, of a continuous DM, others. */
#include "functions.h"

PetscErrorCode VpCellsCreate(const VpField *field, Vec v, Vec *cells)
{
  PetscFunctionBegin;
  if (field->nodes) PetscCall(VpPointVectorCreate(field, VP_GIVEN_SOURCE, 1, cells));
  else {
    PetscCall(PetscObjectReference((PetscObject)v));
    *cells = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Converts between a vector on nodes and one of cells by one of the functions of nodes.h. */
static PetscErrorCode ConvertVector(const VpField *field, PetscErrorCode (*convert)(VpNodes, VpLevel, const double *, double *), Vec from,
                                    Vec to)
{
  const VpBackend *backend = field->level->backend;
  VpValues         in, out;

  PetscFunctionBegin;
  PetscCall(VpValuesGet(backend, from, VP_READ, &in));
  PetscCall(VpValuesGet(backend, to, VP_WRITE, &out));
  PetscCall(convert(field->nodes, field->level, in.at, out.at));
  PetscCall(VpValuesRestore(&out));
  PetscCall(VpValuesRestore(&in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddUp(VpNodes nodes, VpLevel level, const double *values, double *sums)
{
  return VpNodesAddUp(nodes, values, sums);
}

PetscErrorCode VpCellsOf(const VpField *field, Vec x, Vec *cells)
{
  PetscFunctionBegin;
  PetscCall(VpCellsCreate(field, x, cells));
  if (field->nodes) PetscCall(ConvertVector(field, VpNodesInject, x, *cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellsToRHS(const VpField *field, PetscBool add, Vec *cells, Vec b)
{
  Vec sum = b;

  PetscFunctionBegin;
  if (field->nodes) {
    if (add) PetscCall(VecDuplicate(b, &sum));
    PetscCall(ConvertVector(field, VpNodesCollect, *cells, sum));
    if (add) PetscCall(VecAXPY(b, 1, sum));
    if (add) PetscCall(VecDestroy(&sum));
  }
  PetscCall(VecDestroy(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellsToFunction(const VpField *field, Vec *cells, Vec x)
{
  VpField without = *field;
  double  node[VP_MAX_N];
  Vec     values, weights;

  PetscFunctionBegin;
  if (field->nodes) {
    VpGaussLobatto(field->basis->degree, node);
    without.nodes = NULL;
    PetscCall(VecDuplicate(*cells, &values));
    PetscCall(VpComputeAtPoints(&without, VP_GIVEN_SOURCE, VP_VALUE, node, *cells, values));
    PetscCall(ConvertVector(field, AddUp, values, x));
    PetscCall(VecSet(values, 1));
    PetscCall(VecDuplicate(x, &weights));
    PetscCall(ConvertVector(field, AddUp, values, weights));
    PetscCall(VecPointwiseDivide(x, x, weights));
    PetscCall(VecDestroy(&weights));
    PetscCall(VecDestroy(&values));
  }
  PetscCall(VecDestroy(cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}
