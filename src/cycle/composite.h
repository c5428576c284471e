/* What an adaptive mesh adds to a cycle. Its finer levels have a part of the cells each: those of one depth, among the
   leaves and the cells that were refined. A level's right-hand side is the residual restricted to refined cells, and
   the leaves' own. Where it ends, its cells see values of the coarser level, which stay as they are while patches are
   swept; then edge patches correct both sides together. */
#pragma once
#include "../smoother/smoother.h"

typedef struct VpComposite_ *VpComposite;
/* levels: those of the cycle, of which `parts` are parts and the next one has all cells of its depth. */
PetscErrorCode VpCompositeCreate(VpMesh leaves, const VpProblem *, VpExchange, PetscInt parts, const VpLevel levels[], VpComposite *);
PetscErrorCode VpCompositeDestroy(VpComposite *);
/* what goes into the cycle and comes out of it, on the leaves */
VpVector       VpCompositeIn(VpComposite);
VpVector       VpCompositeOut(VpComposite);
PetscErrorCode VpCompositeEnter(VpComposite, PetscInt level, VpVector b); /* b = that of the leaves on these */
PetscErrorCode VpCompositeLeave(VpComposite, PetscInt level, VpVector x); /* the leaves' values = x */
/* b += sign times what xc of the next coarser level adds to A x on this one; bc -= what x adds on that one and, where the coefficient
   varies, what xc adds there over that level's own form */
PetscErrorCode VpCompositeAddCoarse(VpComposite, PetscInt level, int sign, VpVector xc, VpVector b);
PetscErrorCode VpCompositeSubtractFine(VpComposite, PetscInt level, VpVector x, VpVector xc, VpVector bc);
/* Solves on the edge patches of a level. x and xc get the corrections, and b is updated for xc. Requires: VpCompositeAddCoarse with sign -1
   has changed b for xc; bc is the leaves' own right-hand side on the next level, changed likewise where that level is a part. The patches
   themselves take off what VpCompositeSubtractFine does. */
PetscErrorCode VpCompositeSolveEdges(VpComposite, PetscInt level, PetscBool reverse, VpVector b, VpVector x, VpVector bc, VpVector xc);
