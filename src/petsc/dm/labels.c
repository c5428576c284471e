/* Boundary conditions by labels: the sides of boxes have labels, and labels have conditions. */
#include "internal.h"

typedef struct {
  PetscInt         label;
  VPatchDGBoundary boundary;
  PetscReal        alpha;
} Condition;

struct VpLabels_ {
  PetscInt   dim, nbox, *side; /* side: [nbox][2 dim] labels */
  PetscInt   n;
  Condition *condition; /* [n] */
};

PetscErrorCode DMVPatchDGDestroyLabels(DM dm)
{
  DM_VPatchDG *dg = DMVPatchDGData(dm);

  PetscFunctionBegin;
  if (dg->labels) {
    PetscCall(PetscFree(dg->labels->side));
    PetscCall(PetscFree(dg->labels->condition));
  }
  PetscCall(PetscFree(dg->labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLabels(DM dm)
{
  DM_VPatchDG *dg = DMVPatchDGData(dm);

  PetscFunctionBegin;
  if (!dg->labels) PetscCall(PetscNew(&dg->labels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreSides(DM dm, PetscInt nbox, const PetscInt label[])
{
  const PetscInt n = nbox * 2 * dm->dim;
  VpLabels       labels;
  PetscInt      *copy;

  PetscFunctionBegin;
  PetscCall(CreateLabels(dm));
  labels = DMVPatchDGData(dm)->labels;
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(PetscArraycpy(copy, label, n));
  PetscCall(PetscFree(labels->side));
  labels->side = copy;
  labels->dim = dm->dim;
  labels->nbox = nbox;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreCondition(DM dm, Condition condition)
{
  VpLabels labels;
  PetscInt i = 0;

  PetscFunctionBegin;
  PetscCall(CreateLabels(dm));
  labels = DMVPatchDGData(dm)->labels;
  while (i < labels->n && labels->condition[i].label != condition.label) i++;
  if (i == labels->n) PetscCall(PetscRealloc(++labels->n * sizeof(condition), &labels->condition));
  labels->condition[i] = condition;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCopyLabels(DM from, DM to)
{
  const VpLabels labels = DMVPatchDGData(from)->labels;

  PetscFunctionBegin;
  DMVPatchDGData(to)->labels = NULL;
  if (labels && labels->nbox) PetscCall(StoreSides(to, labels->nbox, labels->side));
  for (PetscInt i = 0; labels && i < labels->n; i++) PetscCall(StoreCondition(to, labels->condition[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt DMVPatchDGLabelConditions(DM dm)
{
  return DMVPatchDGData(dm)->labels ? DMVPatchDGData(dm)->labels->n : 0;
}

static void ListCondition(const Condition *condition, PetscReal to[3])
{
  to[0] = (PetscReal)condition->label;
  to[1] = (PetscReal)condition->boundary;
  to[2] = condition->alpha;
}

void DMVPatchDGListCondition(DM dm, PetscInt i, PetscReal condition[3])
{
  ListCondition(&DMVPatchDGData(dm)->labels->condition[i], condition);
}

static const Condition *FindCondition(VpLabels labels, PetscInt label)
{
  for (PetscInt i = 0; i < labels->n; i++) {
    if (labels->condition[i].label == label) return &labels->condition[i];
  }
  return NULL;
}

void DMVPatchDGAskLabels(DM dm, PetscInt box, PetscInt side, VPatchDGBoundary *boundary, PetscReal *alpha)
{
  const VpLabels   labels = DMVPatchDGData(dm)->labels;
  const Condition *found = labels && labels->n ? FindCondition(labels, labels->side[box * 2 * dm->dim + side]) : NULL;

  if (!found) return;
  *boundary = found->boundary;
  *alpha = found->alpha;
}

/* Ensures: an error on all ranks unless labels and conditions are equal on all ranks. */
static PetscErrorCode CheckSame(MPI_Comm comm, VpLabels labels)
{
  const PetscInt sides = labels ? labels->nbox * 2 * labels->dim : 0, n = labels ? labels->n : 0;
  PetscReal      counts[2] = {(PetscReal)sides, (PetscReal)n}, *numbers, *conditions;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(VpCheckSameReals(comm, 2, counts, "how many sides have labels and how many labels conditions"));
  PetscCall(PetscMalloc1(sides + 3 * n, &numbers));
  for (PetscInt i = 0; i < sides; i++) numbers[i] = (PetscReal)labels->side[i];
  conditions = numbers + sides;
  for (PetscInt i = 0; i < n; i++) ListCondition(&labels->condition[i], conditions + 3 * i);
  error = VpCheckSameReals(comm, sides, numbers, "the labels of sides (DMVPatchDGSetSideLabels())");
  if (!error) error = VpCheckSameReals(comm, 3 * n, conditions, "the conditions of labels (DMVPatchDGSetLabelBoundary())");
  PetscCall(PetscFree(numbers));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckLabels(DM dm)
{
  const DM_VPatchDG *dg = DMVPatchDGData(dm);
  const VpLabels     labels = dg->labels;
  MPI_Comm           comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(CheckSame(comm, labels));
  if (!DMVPatchDGLabelConditions(dm)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(labels->nbox, comm, PETSC_ERR_ARG_WRONGSTATE,
             "DMVPatchDGSetLabelBoundary(): the sides of boxes have no labels. DMVPatchDGSetSideLabels() gives them, or DMConvert() of a "
             "DMPLEX whose faces have a label \"Face Sets\" or \"marker\"");
  PetscCheck(labels->nbox == dg->nbox && labels->dim == dm->dim, comm, PETSC_ERR_ARG_INCOMP,
             "The sides of %" PetscInt_FMT " boxes in %" PetscInt_FMT " dimensions have labels, and the domain has %" PetscInt_FMT
             " in %" PetscInt_FMT ": call DMVPatchDGSetSideLabels() again where boxes change",
             labels->nbox, labels->dim, dg->nbox, dm->dim);
  for (PetscInt i = 0; i < labels->n; i++) {
    PetscInt side = 0;

    while (side < labels->nbox * 2 * dm->dim && labels->side[side] != labels->condition[i].label) side++;
    PetscCheck(side < labels->nbox * 2 * dm->dim, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "DMVPatchDGSetLabelBoundary(): no side has the label %" PetscInt_FMT " (DMVPatchDGGetSideLabels() says which there are)",
               labels->condition[i].label);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetSideLabels - Sets labels of the sides of boxes, for `DMVPatchDGSetLabelBoundary()`

   Logically Collective

   Input Parameters:
+  dm    - the DM
.  nbox  - number of boxes, as in `DMVPatchDGGetBoxes()`
-  label - [nbox][2 dim] in the order x-, x+, y-, y+, z-, z+ the label of every side, -1 for none. The array is copied

   Level: intermediate

   Notes:
   The boxes are in the order of `DMVPatchDGGetBoxes()`. Labels of sides between boxes are not used.

   `DMConvert()` from a `DMPLEX` sets the labels from its label "Face Sets", or from "marker" if it has no "Face Sets". Boxes are then so
   small that each side has one label.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetSideLabels()`, `DMVPatchDGSetLabelBoundary()`, `DMVPatchDGSetBoundaryFunction()`
@*/
PetscErrorCode DMVPatchDGSetSideLabels(DM dm, PetscInt nbox, const PetscInt label[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, nbox, 2);
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "label of sides"));
  PetscCheck(dm->dim == 2 || dm->dim == 3, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "Call DMSetDimension() with 2 or 3 before DMVPatchDGSetSideLabels()");
  PetscCheck(nbox > 0 && nbox <= VP_MAX_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "Labels of %" PetscInt_FMT " boxes: there is at least one box, and at most %d", nbox, VP_MAX_BOXES);
  VpAssertPointer(label, 3);
  PetscCall(StoreSides(dm, nbox, label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetSideLabels - Gets the labels of the sides of boxes that `DMVPatchDGSetSideLabels()` or `DMConvert()` has set

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameters:
+  nbox  - number of boxes, 0 if there are no labels
-  label - [nbox][2 dim] in the order x-, x+, y-, y+, z-, z+ the label of every side, -1 for none. The array belongs to the DM

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetSideLabels()`, `DMVPatchDGSetLabelBoundary()`, `DMVPatchDGGetBoxes()`
@*/
PetscErrorCode DMVPatchDGGetSideLabels(DM dm, PetscInt *nbox, const PetscInt *label[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (nbox) *nbox = dg->labels ? dg->labels->nbox : 0;
  if (label) *label = dg->labels ? dg->labels->side : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetLabelBoundary - Sets the boundary condition of all sides of boxes that have a given label

   Logically Collective

   Input Parameters:
+  dm       - the DM
.  label    - the label, see `DMVPatchDGSetSideLabels()`
.  boundary - `VPATCHDG_BOUNDARY_DIRICHLET`, `VPATCHDG_BOUNDARY_NEUMANN` or `VPATCHDG_BOUNDARY_ROBIN`
-  alpha    - alpha of a Robin condition du/dn + alpha u = h, positive; not used by other conditions

   Level: intermediate

   Notes:
   A side whose label has no condition gets the condition that `DMVPatchDGSetBoundary()` sets for its outward normal. A function
   (`DMVPatchDGSetBoundaryFunction()`) is called after the labels are applied and may change the condition.

   `DMSetUp()` reports an error if no side has the label.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetSideLabels()`, `DMVPatchDGSetBoundary()`, `DMVPatchDGSetBoundaryFunction()`
@*/
PetscErrorCode DMVPatchDGSetLabelBoundary(DM dm, PetscInt label, VPatchDGBoundary boundary, PetscReal alpha)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, label, 2);
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "boundary condition of a label"));
  PetscCheck(VpIsOfOneSide(boundary), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetLabelBoundary(): %d for label %" PetscInt_FMT ", which is no condition of one side", (int)boundary, label);
  PetscCheck(VpIsAlpha(boundary, alpha), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetLabelBoundary(): alpha = %g for label %" PetscInt_FMT ", which is positive", (double)alpha, label);
  PetscCall(StoreCondition(dm, (Condition){label, boundary, VpBoundaryOf(boundary, alpha).alpha}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
