/* What the files of this folder share. */
#pragma once
#include "dm.h"
#include "../forecast/forecast.h"
#include "../support/setting.h"

/* the dimension, 3 where it is not set */
static inline PetscInt DMVPatchDGDim(DM dm)
{
  return dm->dim > 0 ? dm->dim : 3;
}

/* settings.c: the settings that are a number or a name, in the DM's data; and those that PETSc keeps in the DM itself */
enum { VP_DM_DOMAIN, VP_DM_NBOX, VP_DM_DEGREE, VP_DM_PENALTY, VP_DM_REACTION, VP_DM_BACKEND, VP_DM_TRANSPORT, VP_DM_SETTINGS };
enum { VP_DM_DIM, VP_DM_REFINE };
extern const VpSettings DMVPatchDGSettings, DMVPatchDGPetscSettings;
/* what setters and getters do; caller: the getter. Ensures: an error where the DM is set up and the setting would change. */
PetscErrorCode DMVPatchDGSet(DM, int setting, PetscReal value);
PetscErrorCode DMVPatchDGGet(DM, int setting, void *value, const char caller[]);
/* Ensures: an error if something changes and the DM is set up. */
PetscErrorCode DMVPatchDGCheckChange(DM, PetscBool changes, const char what[]);
/* options.c */
PetscErrorCode DMSetFromOptions_VPatchDG(DM, VpOptionItems);
/* From now on options with the prefix of `of` that refine have done so on dm. */
PetscErrorCode DMVPatchDGEndOptions(DM of, DM dm);

/* domain.c: the boxes that the settings describe. Ensures: an error on all ranks unless they have the same settings. */
PetscErrorCode DMVPatchDGCheckAgreement(DM);
PetscErrorCode DMVPatchDGCreateDomain(DM, VpDomain *);
PetscErrorCode DMVPatchDGMakeBoxes(DM); /* the part of it that is not collective */
/* whether a box is missing at the domain's upper corner */
static inline PetscBool VpIsReentrant(VPatchDGDomain domain)
{
  return (PetscBool)(domain == VPATCHDG_DOMAIN_LSHAPE || domain == VPATCHDG_DOMAIN_FICHERA);
}
/* The sides of the domain with a condition that one side may have. What is not at an end of the domain in a periodic direction, as around a
   hole, is Dirichlet. */
static inline VpSide VpSideOf(VPatchDGBoundary boundary)
{
  return boundary == VPATCHDG_BOUNDARY_PERIODIC ? VP_SIDE_DIRICHLET : (VpSide)((int)boundary + 1);
}
static inline PetscBool VpIsOfOneSide(VPatchDGBoundary boundary)
{
  return (PetscBool)(boundary != VPATCHDG_BOUNDARY_PERIODIC && VpIsCondition(VpSideOf(boundary)));
}
/* whether the condition has a number alpha, and whether it may be this one */
static inline PetscBool VpHasAlpha(VPatchDGBoundary boundary)
{
  return (PetscBool)(VpConditions[VpSideOf(boundary)].alpha != 0);
}
static inline PetscBool VpIsAlpha(VPatchDGBoundary boundary, PetscReal alpha)
{
  return (PetscBool)(!VpHasAlpha(boundary) || (alpha > 0 && !PetscIsInfOrNanReal(alpha)));
}
static inline VpBoundary VpBoundaryOf(VPatchDGBoundary boundary, PetscReal alpha)
{
  return (VpBoundary){VpSideOf(boundary), VpHasAlpha(boundary) ? alpha : 0};
}
/* labels.c, where `from` and `to` have the same dimension */
typedef struct VpLabels_ *VpLabels;
PetscErrorCode            DMVPatchDGCopyLabels(DM from, DM to);
PetscErrorCode            DMVPatchDGDestroyLabels(DM);
PetscInt                  DMVPatchDGLabelConditions(DM);              /* how many labels have one */
void DMVPatchDGListCondition(DM, PetscInt i, PetscReal condition[3]); /* the i-th one: label, VPatchDGBoundary, alpha */
/* Ensures: an error on all ranks unless the labels that have conditions are there, and are those of the boxes. */
PetscErrorCode DMVPatchDGCheckLabels(DM);
/* changes what holds on a side of a box if its label has a condition */
void DMVPatchDGAskLabels(DM, PetscInt box, PetscInt side, VPatchDGBoundary *, PetscReal *alpha);
/* boundaryfunction.c: gives the domain the conditions that labels and the user's function say, if there are any */
PetscErrorCode DMVPatchDGAskBoundary(DM, VpDomain);
/* boxes.c: copies the corners of so many boxes, [nbox][dim]; NULL: makes room for them */
PetscErrorCode DMVPatchDGStoreBoxes(DM, PetscInt nbox, const PetscReal lower[], const PetscReal upper[]);
/* gridlines.c: where face i of the grid's boxes is; others: whether other options describe the grid */
PetscReal      DMVPatchDGFace(DM, PetscInt direction, PetscInt i);
PetscErrorCode DMVPatchDGGridOptions(DM, PetscBool others, VpOptionItems);

/* limits.c, all collective. Ensures: an error when boxes refined `level` times have more unknowns than PetscInt counts, or more on a rank
   than its part of a vector or its memory holds. */
PetscErrorCode DMVPatchDGCheckSize(DM, PetscInt nbox, PetscInt level);
/* the same of a mesh that is there, and DMVPatchDGCheckScale() */
PetscErrorCode DMVPatchDGCheckMesh(DM, VpMesh);
/* Ensures: an error when double precision does not hold what the operator and its vectors are made of, with these boxes, or with a
   coefficient of own cells (NULL: 1). */
PetscErrorCode DMVPatchDGCheckScale(DM, VpDomain, PetscInt level);
PetscErrorCode DMVPatchDGCheckCoefficient(DM, int tensor, const PetscReal a[]);
/* coefficient.c: the coefficient of own cells of the next finer or coarser mesh, for the caller to free; NULL: 1. A coarser cell gets the
   mean of its children's. */
PetscErrorCode DMVPatchDGMoveCoefficient(DM, VpMesh next, PetscReal **);
/* doctor.c: prints what -vpatchdg_doctor says before there is a mesh of that level; of one that is adaptive, else nothing */
PetscErrorCode DMVPatchDGDoctor(DM, PetscInt level);
PetscErrorCode DMVPatchDGDoctorAdaptive(DM, VpMesh);

/* adapt.c: the mesh of dg->leaves; one in whose place, as it is not the DM's yet, comes one whose cells at the point and the sphere are
   refined, which the doctor sees; a DM with all cells marked */
PetscErrorCode DMVPatchDGCreateLeaves(DM, VpMesh *);
PetscErrorCode DMVPatchDGRefineLocally(DM, VpMesh *);
PetscErrorCode DMVPatchDGAdaptAll(DM, int8_t mark, DM *);
/* dm.c: a DM like this one that is set up, on another mesh, whose reference it takes over, with that coefficient of own cells, or NULL */
PetscErrorCode DMVPatchDGCreateOn(DM, VpMesh, const PetscReal a[], DM *);
/* view.c: DMView(); and what PetscObjectView() does with a DM */
PetscErrorCode DMView_VPatchDG(DM, PetscViewer);
PetscErrorCode DMVPatchDGViewObject(PetscObject, PetscViewer);
/* restart.c: writes the DM to a viewer that vectors can be written to; reads one */
PetscErrorCode DMVPatchDGSave(DM, PetscViewer);
PetscErrorCode DMLoad_VPatchDG(DM, PetscViewer);
/* vectors.c: gives the DM its operations on vectors */
void DMVPatchDGSetVectorOps(DM);
/* coordinates.c: what DMGetCoordinates() and DMGetBoundingBox() ask; to be called when there is a mesh */
PetscErrorCode DMVPatchDGSetCoordinateOps(DM);
PetscErrorCode DMVPatchDGSetLocalCoordinates(DM);
