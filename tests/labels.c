/* Boundary conditions by labels: of one's own boxes, and of the faces of a DMPLEX. */
/* ranks: 1 2 3 */
#include "support/backend.h"
#include "support/refused.h"
#include <petscdmplex.h>

/* what holds where a side of a box has its middle, and a number for it */
static PetscInt LabelAt(PetscInt dim, const PetscReal x[])
{
  PetscReal sum = 0;

  for (PetscInt d = 0; d < dim; d++) sum += x[d];
  return 10 + (PetscInt)PetscFloorReal(sum + 8) % 3;
}

static VPatchDGBoundary ConditionOf(PetscInt label, PetscReal *alpha)
{
  *alpha = (PetscReal)label;
  return label == 10 ? VPATCHDG_BOUNDARY_NEUMANN : label == 11 ? VPATCHDG_BOUNDARY_DIRICHLET : VPATCHDG_BOUNDARY_ROBIN;
}

static PetscErrorCode ByPlace(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                              PetscReal *alpha, void *ctx)
{
  *boundary = ConditionOf(LabelAt(dim, center), alpha);
  return PETSC_SUCCESS;
}

static PetscErrorCode SetConditions(DM dm, PetscInt first, PetscInt last)
{
  PetscFunctionBeginUser;
  for (PetscInt label = first; label <= last; label++) {
    PetscReal        alpha;
    VPatchDGBoundary boundary = ConditionOf(label, &alpha);

    PetscCall(DMVPatchDGSetLabelBoundary(dm, label, boundary, alpha));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* label[nbox][2 dim] by place, before the DM is set up */
static PetscErrorCode LabelBoxes(DM dm)
{
  const PetscReal *lower, *upper;
  PetscInt         dim, nbox, *label;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, &lower, &upper));
  PetscCall(PetscMalloc1(nbox * 2 * dim, &label));
  for (PetscInt i = 0; i < nbox * 2 * dim; i++) {
    const PetscInt b = i / (2 * dim) * dim, side = i % (2 * dim);
    PetscReal      center[3];

    for (PetscInt d = 0; d < dim; d++) center[d] = lower[b + d] / 2 + upper[b + d] / 2;
    center[side / 2] = (side % 2 ? upper : lower)[b + side / 2];
    label[i] = LabelAt(dim, center);
  }
  PetscCall(DMVPatchDGSetSideLabels(dm, nbox, label));
  PetscCall(PetscFree(label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |A x - B x| / |A x| of the operators of two DMs that are set up, for some x */
static PetscErrorCode Difference(DM a, DM b, PetscReal *difference)
{
  DM        dm[2] = {a, b};
  Vec       x, y[2];
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(a, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (int i = 0; i < 2; i++) {
    Mat A;

    PetscCall(VecDuplicate(x, &y[i]));
    PetscCall(DMCreateMatrix(dm[i], &A));
    PetscCall(MatMult(A, x, y[i]));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(VecNorm(y[0], NORM_2, &norm));
  PetscCall(VecAXPY(y[1], -1, y[0]));
  PetscCall(VecNorm(y[1], NORM_2, difference));
  *difference /= norm;
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&y[i]));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* options say which domain, by grid or by name; copy: a clone also has the labels */
static PetscErrorCode labels_are_what_a_function_says(PetscInt dim, const char options[], PetscBool copy)
{
  DM           dm[2], clone;
  PetscReal    difference;
  PetscOptions database;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(TestOptionsPush(options, &database));
    PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, 1, &dm[i]));
    PetscCall(DMSetFromOptions(dm[i]));
    PetscCall(TestOptionsPop(&database));
  }
  PetscCall(DMVPatchDGSetBoundaryFunction(dm[0], ByPlace, NULL));
  PetscCall(LabelBoxes(dm[1]));
  PetscCall(SetConditions(dm[1], 10, 12));
  if (copy) {
    PetscCall(DMClone(dm[1], &clone));
    PetscCall(DMDestroy(&dm[1]));
    PetscCall(DMSetRefineLevel(clone, 1));
    dm[1] = clone;
  }
  for (int i = 0; i < 2; i++) PetscCall(DMSetUp(dm[i]));
  PetscCall(Difference(dm[0], dm[1], &difference));
  TapOk((PetscBool)(difference == 0), "labels_are_what_a_function_says: %s%s: %.1e", options, copy ? ", a clone" : "", (double)difference);
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&dm[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A mesh of [0,2] x [0,1] (x [0,1]) with PETSc's labels of its sides, 1 at y = 0 in 2D and at z = 0 in 3D; own: faces there in x < 1/2
   have 10. */
static PetscErrorCode Plex(PetscInt dim, PetscBool own, DM *plex)
{
  const PetscInt  n[3] = {16, 8, 8};
  const PetscReal lower[3] = {0, 0, 0}, upper[3] = {2, 1, 1};
  DM              distributed = NULL;
  DMLabel         label;
  PetscInt        first, last, value;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, plex));
#else
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, 0, PETSC_TRUE, plex));
#endif
  PetscCall(DMGetLabel(*plex, "Face Sets", &label));
  PetscCall(DMPlexGetHeightStratum(*plex, 1, &first, &last));
  for (PetscInt f = first; f < last && own; f++) {
    PetscReal center[3];

    PetscCall(DMLabelGetValue(label, f, &value));
    PetscCall(DMPlexComputeCellGeometryFVM(*plex, f, NULL, center, NULL));
    if (value >= 0 && center[dim - 1] == 0 && center[0] < 0.5) {
      PetscCall(DMLabelClearValue(label, f, value));
      PetscCall(DMLabelSetValue(label, f, 10));
    }
  }
  PetscCall(DMPlexDistribute(*plex, 0, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(plex));
    *plex = distributed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how often each number up to 15 is the label of a box's side, those without one at [15] */
static PetscErrorCode Count(DM dm, PetscInt count[16])
{
  const PetscInt *label;
  PetscInt        dim, nbox;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(count, 16));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetSideLabels(dm, &nbox, &label));
  for (PetscInt i = 0; i < nbox * 2 * dim; i++) count[label[i] >= 0 && label[i] < 15 ? label[i] : 15]++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neumann at x < 1/2 of the lowest side in the last direction, Dirichlet elsewhere */
static PetscErrorCode InACorner(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                                PetscReal *alpha, void *ctx)
{
  if (side == 2 * (dim - 1) && center[0] < 0.5) *boundary = VPATCHDG_BOUNDARY_NEUMANN;
  return PETSC_SUCCESS;
}

static PetscErrorCode faces_of_a_plex_bring_their_labels(PetscInt dim)
{
  const PetscInt across = dim == 3 ? 2 : 1; /* boxes in a direction of the last mesh other than x */
  PetscInt       whole[16], part[16], level[2];
  PetscReal      difference;
  DM             plex, dm, other;

  PetscFunctionBeginUser;
  PetscCall(Plex(dim, PETSC_FALSE, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMDestroy(&plex));
  PetscCall(Count(dm, whole));
  PetscCall(DMGetRefineLevel(dm, &level[0]));
  PetscCall(DMDestroy(&dm));
  PetscCall(Plex(dim, PETSC_TRUE, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(Count(dm, part));
  PetscCall(DMGetRefineLevel(dm, &level[1]));
  /* two boxes of 8 cells a direction, then 4 by 2 (by 2) of 4 */
  TapOk((PetscBool)(level[0] == 3 && whole[1] == 2 && whole[10] == 0 && level[1] == 2 && part[10] == across && part[1] == 3 * across),
        "faces_of_a_plex_bring_their_labels, %dD: levels %d and %d, %d sides with 1, then %d and %d with 10", (int)dim, (int)level[0],
        (int)level[1], (int)whole[1], (int)part[1], (int)part[10]);
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 10, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMConvert(plex, DMVPATCHDG, &other));
  PetscCall(DMVPatchDGSetBoundaryFunction(other, InACorner, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetUp(other));
  PetscCall(Difference(dm, other, &difference));
  TapOk((PetscBool)(difference == 0), "conditions_hold_where_faces_have_the_label, %dD: %.1e", (int)dim, (double)difference);
  PetscCall(DMDestroy(&plex));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* arrays that the DM gave may be given back, changed or not */
static PetscErrorCode own_arrays_are_copied(void)
{
  const PetscInt   given[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, *label;
  const PetscReal *lower, *upper;
  PetscReal        corners[12];
  PetscInt         n;
  PetscBool        same = PETSC_TRUE;
  DM               dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMVPatchDGSetSideLabels(dm, 3, given));
  PetscCall(DMVPatchDGGetSideLabels(dm, &n, &label));
  PetscCall(DMVPatchDGSetSideLabels(dm, n, label));
  PetscCall(DMVPatchDGGetSideLabels(dm, &n, &label));
  for (int i = 0; i < 12; i++) same = (PetscBool)(same && label[i] == given[i]);
  PetscCall(DMVPatchDGGetBoxes(dm, &n, &lower, &upper));
  PetscCall(PetscArraycpy(corners, lower, 6));
  PetscCall(PetscArraycpy(corners + 6, upper, 6));
  PetscCall(DMVPatchDGSetBoxes(dm, n, lower, upper));
  PetscCall(DMVPatchDGGetBoxes(dm, &n, &lower, &upper));
  for (int i = 0; i < 6; i++) same = (PetscBool)(same && lower[i] == corners[i] && upper[i] == corners[6 + i]);
  TapOk((PetscBool)(same && n == 3), "own_arrays_are_copied: labels and boxes that the DM gave");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the last rank says something else */
static PetscErrorCode labels_that_differ(void)
{
  PetscMPIInt rank, size;
  PetscInt    odd;
  DM          dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  odd = rank == size - 1;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMVPatchDGSetSideLabels(dm, 1, (const PetscInt[]){1 + odd, 5, 5, 5}));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 1, VPATCHDG_BOUNDARY_ROBIN, 1));
  Refused(DMSetUp(dm), "Ranks disagree about the labels of sides", "labels that differ between ranks");
  PetscCall(DMVPatchDGSetSideLabels(dm, 1, (const PetscInt[]){1, 5, 5, 5}));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 1, VPATCHDG_BOUNDARY_ROBIN, 1 + (PetscReal)odd));
  Refused(DMSetUp(dm), "Ranks disagree about the conditions of labels", "conditions that differ between ranks");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_labels(void)
{
  const PetscInt label[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  DM             dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 9, VPATCHDG_BOUNDARY_NEUMANN, 0));
  Refused(DMSetUp(dm), "have no labels", "a condition without labels");
  PetscCall(DMVPatchDGSetSideLabels(dm, 2, label));
  Refused(DMSetUp(dm), "The sides of 2 boxes", "labels of other boxes");
  PetscCall(DMVPatchDGSetSideLabels(dm, 1, label));
  Refused(DMSetUp(dm), "no side has the label 9", "a label that is not there");
  Refused(DMVPatchDGSetLabelBoundary(dm, 1, VPATCHDG_BOUNDARY_PERIODIC, 0), "which is no condition of one side", "a periodic label");
  Refused(DMVPatchDGSetLabelBoundary(dm, 1, VPATCHDG_BOUNDARY_ROBIN, 0), "which is positive", "alpha = 0");
  Refused(DMVPatchDGSetSideLabels(dm, 0, label), "at least one box", "labels of no boxes");
  PetscCall(DMVPatchDGSetSideLabels(dm, 1, (const PetscInt[]){9, 2, 3, 4}));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetLabelBoundary(dm, 9, VPATCHDG_BOUNDARY_NEUMANN, 0), "cannot change", "a change after the set-up");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMVPATCHDG));
  Refused(DMVPatchDGSetSideLabels(dm, 1, label), "DMSetDimension()", "labels without a dimension");
  Refused(DMVPatchDGGetBoxes(dm, NULL, NULL, NULL), "DMSetDimension()", "boxes without a dimension");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(labels_are_what_a_function_says(2, "-dm_vpatchdg_boxes 3,5 -dm_vpatchdg_upper 3,5", PETSC_FALSE));
  PetscCall(labels_are_what_a_function_says(2, "-dm_vpatchdg_domain lshape", PETSC_TRUE));
  PetscCall(labels_are_what_a_function_says(3, "-dm_vpatchdg_boxes 2,3,4 -dm_vpatchdg_upper 2,3,4", PETSC_TRUE));
  PetscCall(labels_are_what_a_function_says(3, "-dm_vpatchdg_domain fichera", PETSC_FALSE));
  PetscCall(faces_of_a_plex_bring_their_labels(2));
  PetscCall(faces_of_a_plex_bring_their_labels(3));
  PetscCall(own_arrays_are_copied());
  PetscCall(labels_that_differ());
  PetscCall(bad_labels());
  PetscFunctionReturn(PETSC_SUCCESS);
}
