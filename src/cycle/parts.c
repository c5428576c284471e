/* The levels of an adaptive mesh that have a part of the cells. */
#include "composite.h"
#include "internal.h"

/* Pre-smoothing also writes x of the next level's leaves, which stays, and for which the leaves' own b is needed. Values beyond the edge
   count as 0 in the residual, which on those leaves is b less what this level adds to A x. Where the coefficient varies, the coarser level
   adds less there, and on the cells beyond, than the leaves and this level do. */
PetscErrorCode VpCycleDownPart(VpCycle cycle, PetscInt l)
{
  const VpComposite c = cycle->composite;
  const VpVector    b = cycle->b[l], x = cycle->x[l], bc = cycle->b[l + 1], xc = cycle->x[l + 1];
  const PetscInt    count = cycle->options.pre;
  VpVector          r = b;

  PetscFunctionBegin;
  for (PetscInt part = 0; !l && part <= cycle->parts; part++) PetscCall(VpVectorZero(cycle->x[part]));
  if (!l) PetscCall(VpCompositeEnter(c, l, b));
  if (count) PetscCall(VpCompositeEnter(c, l + 1, bc));
  for (PetscInt i = 0; i < count; i++) {
    PetscCall(VpSmootherSweepEdges(cycle->smoother[l], PETSC_TRUE, b, x));
    PetscCall(VpCompositeSolveEdges(c, l, PETSC_TRUE, b, x, bc, xc));
    PetscCall(VpSmootherSweep(cycle->smoother[l], PETSC_TRUE, b, x));
  }
  if (count) {
    PetscCall(VpCompositeAddCoarse(c, l, 1, xc, b));
    PetscCall(VpCycleResidual(cycle, l));
    r = cycle->r[l];
  }
  PetscCall(VpRestrict(cycle->level[l], cycle->move[l + 1], r, bc));
  PetscCall(VpCompositeEnter(c, l + 1, bc));
  if (count) PetscCall(VpCompositeSubtractFine(c, l, x, xc, bc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smooths patches, edge patches, then once more those patches that see cells beyond the edge. Edge patches take the leaves' own b, which
   pre-smoothing has changed. */
PetscErrorCode VpCycleUpPart(VpCycle cycle, PetscInt l)
{
  const VpComposite c = cycle->composite;
  const VpVector    b = cycle->b[l], x = cycle->x[l], bc = cycle->b[l + 1], xc = cycle->x[l + 1];

  PetscFunctionBegin;
  PetscCall(VpCompositeAddCoarse(c, l, -1, xc, b));
  if (cycle->options.pre) PetscCall(VpCompositeEnter(c, l + 1, bc));
  if (cycle->options.pre && l + 1 < cycle->parts) PetscCall(VpCompositeAddCoarse(c, l + 1, -1, cycle->x[l + 2], bc));
  for (PetscInt i = 0; i < cycle->options.post; i++) {
    PetscCall(VpSmootherSweep(cycle->smoother[l], PETSC_FALSE, b, x));
    PetscCall(VpCompositeSolveEdges(c, l, PETSC_FALSE, b, x, bc, xc));
    PetscCall(VpSmootherSweepEdges(cycle->smoother[l], PETSC_FALSE, b, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Smoothing a finest level with most of the cells costs most of a cycle; without it a solve begins at a few percent of the residual. Where
   cells crowd at a point it costs little; without it a solve would begin at more than the residual. */
PetscErrorCode VpCycleRise(VpCycle cycle)
{
  const PetscBool large = (PetscBool)(2 * (double)cycle->level[0]->mesh->ncell > 3 * (double)cycle->level[1]->mesh->ncell);

  PetscFunctionBegin;
  for (PetscInt l = cycle->parts - 1; l >= 0; l--) {
    PetscCall(VpVectorZero(cycle->x[l]));
    PetscCall(VpCycleCorrect(cycle, l));
    if (l || !large) PetscCall(VpCycleUpPart(cycle, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
