/* Boundary conditions by labels: the sides of boxes have labels, and labels have conditions. */
#include "internal.h"

PetscErrorCode DMVPatchDGDestroyLabels(DM dm)
{
  VpLabels *labels = &DMVPatchDGData(dm)->labels;

  PetscFunctionBegin;
  PetscCall(PetscFree(labels->side));
  PetscCall(PetscFree(labels->condition));
  labels->nbox = labels->n = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreSideLabels(DM dm, PetscInt nbox, const PetscInt label[])
{
  const PetscInt n = nbox * 2 * dm->dim;
  VpLabels      *labels = &DMVPatchDGData(dm)->labels;
  PetscInt      *copy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &copy));
  PetscCall(PetscArraycpy(copy, label, n));
  PetscCall(PetscFree(labels->side));
  labels->side = copy;
  labels->dim = dm->dim;
  labels->nbox = nbox;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreCondition(DM dm, VpLabelCondition condition)
{
  VpLabels *labels = &DMVPatchDGData(dm)->labels;
  PetscInt  i = 0;

  PetscFunctionBegin;
  while (i < labels->n && labels->condition[i].label != condition.label) i++;
  if (i == labels->n) PetscCall(PetscRealloc(++labels->n * sizeof(condition), &labels->condition));
  labels->condition[i] = condition;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCopyLabels(DM from, DM to)
{
  const VpLabels *labels = &DMVPatchDGData(from)->labels;

  PetscFunctionBegin;
  DMVPatchDGData(to)->labels = (VpLabels){0};
  if (labels->side) PetscCall(StoreSideLabels(to, labels->nbox, labels->side));
  for (PetscInt i = 0; i < labels->n; i++) PetscCall(StoreCondition(to, labels->condition[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpListConditions(const VpLabels *labels, PetscReal list[])
{
  for (PetscInt i = 0; i < labels->n; i++) {
    list[3 * i] = (PetscReal)labels->condition[i].label;
    list[3 * i + 1] = (PetscReal)labels->condition[i].boundary;
    list[3 * i + 2] = labels->condition[i].alpha;
  }
}

void DMVPatchDGAskLabels(DM dm, PetscInt box, PetscInt side, VPatchDGBoundary *boundary, PetscReal *alpha)
{
  const VpLabels *labels = &DMVPatchDGData(dm)->labels;

  for (PetscInt i = 0; i < labels->n; i++) {
    if (labels->condition[i].label != labels->side[box * 2 * dm->dim + side]) continue;
    *boundary = labels->condition[i].boundary;
    *alpha = labels->condition[i].alpha;
  }
}

/* Ensures: an error on all ranks unless labels and conditions are equal on all ranks. */
static PetscErrorCode CheckSameLabels(MPI_Comm comm, const VpLabels *labels)
{
  const PetscInt sides = labels->nbox * 2 * labels->dim, n = labels->n;
  PetscReal      counts[2] = {(PetscReal)sides, (PetscReal)n}, *numbers;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(VpCheckSameReals(comm, 2, counts, "how many sides have labels and how many labels conditions"));
  PetscCall(PetscMalloc1(sides + 3 * n, &numbers));
  for (PetscInt i = 0; i < sides; i++) numbers[i] = (PetscReal)labels->side[i];
  VpListConditions(labels, numbers + sides);
  error = VpCheckSameReals(comm, sides, numbers, "the labels of sides (DMVPatchDGSetSideLabels())");
  if (!error) error = VpCheckSameReals(comm, 3 * n, numbers + sides, "the conditions of labels (DMVPatchDGSetLabelBoundary())");
  PetscCall(PetscFree(numbers));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckLabels(DM dm)
{
  const DM_VPatchDG *dg = DMVPatchDGData(dm);
  const VpLabels    *labels = &dg->labels;
  const PetscInt     sides = labels->nbox * 2 * dm->dim;
  MPI_Comm           comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(CheckSameLabels(comm, labels));
  if (!labels->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(labels->nbox, comm, PETSC_ERR_ARG_WRONGSTATE,
             "DMVPatchDGSetLabelBoundary(): the sides of boxes have no labels. DMVPatchDGSetSideLabels() gives them, or DMConvert() of a "
             "DMPLEX whose faces have a label \"Face Sets\" or \"marker\"");
  PetscCheck(labels->nbox == dg->nbox && labels->dim == dm->dim, comm, PETSC_ERR_ARG_INCOMP,
             "The sides of %" PetscInt_FMT " boxes in %" PetscInt_FMT " dimensions have labels, and the domain has %" PetscInt_FMT
             " in %" PetscInt_FMT ": call DMVPatchDGSetSideLabels() again where boxes change",
             labels->nbox, labels->dim, dg->nbox, dm->dim);
  for (PetscInt i = 0; i < labels->n; i++) {
    PetscInt side = 0;

    while (side < sides && labels->side[side] != labels->condition[i].label) side++;
    PetscCheck(side < sides, comm, PETSC_ERR_ARG_OUTOFRANGE,
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
  PetscCall(DMVPatchDGCheckBoxes(dm, nbox, "list of labels of sides"));
  VpAssertPointer(label, 3);
  PetscCall(StoreSideLabels(dm, nbox, label));
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
  if (nbox) *nbox = dg->labels.nbox;
  if (label) *label = dg->labels.side;
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
  PetscCall(StoreCondition(dm, (VpLabelCondition){label, boundary, VpBoundaryOf(boundary, alpha).alpha}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
