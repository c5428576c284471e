/* Declarations shared by the files of this folder. */
#pragma once
#include "dm.h"
#include "../forecast/forecast.h"
#include "../support/setting.h"

/* the dimension, 3 by default */
static inline PetscInt DMVPatchDGDim(DM dm)
{
  return dm->dim > 0 ? dm->dim : 3;
}

/* settings.c: settings with one value in the DM's data, and settings that PETSc keeps in the DM */
enum {
  VP_DM_DOMAIN,
  VP_DM_NBOX,
  VP_DM_DEGREE,
  VP_DM_PENALTY,
  VP_DM_REACTION,
  VP_DM_BASIS,
  VP_DM_QUADRATURE,
  VP_DM_CONTINUOUS,
  VP_DM_JUMP,
  VP_DM_GEOMETRY,
  VP_DM_BACKEND,
  VP_DM_TRANSPORT,
  VP_DM_MAP_DEGREE,
  VP_DM_SETTINGS
};
enum { VP_DM_DIM, VP_DM_REFINE };
extern const VpSettings DMVPatchDGSettings, DMVPatchDGPetscSettings;
/* Setters and getters; caller: name of the getter. Ensures: an error if the DM is set up and the setting would change. */
PetscErrorCode DMVPatchDGSet(DM, int setting, PetscReal value);
PetscErrorCode DMVPatchDGGet(DM, int setting, void *value, const char caller[]);
/* Ensures: an error if `changes` holds and the DM is set up. */
PetscErrorCode DMVPatchDGCheckChange(DM, PetscBool changes, const char what[]);
/* options.c */
PetscErrorCode DMSetFromOptions_VPatchDG(DM, VpOptionItems);
/* Records that the refining options with the prefix of `of` were applied to dm. */
PetscErrorCode DMVPatchDGEndOptions(DM of, DM dm);

/* domain.c: makes the boxes that the settings describe. Ensures: an error on all ranks unless the settings are equal on all ranks. */
PetscErrorCode DMVPatchDGCheckAgreement(DM);
PetscErrorCode DMVPatchDGCreateDomain(DM, VpDomain *);
PetscErrorCode DMVPatchDGMakeBoxes(DM); /* the local part of DMVPatchDGCreateDomain() */
/* Tests whether the box at the domain's upper corner is missing. */
static inline PetscBool VpIsReentrant(VPatchDGDomain domain)
{
  return (PetscBool)(domain == VPATCHDG_DOMAIN_LSHAPE || domain == VPATCHDG_DOMAIN_FICHERA);
}
/* Kind of side of a condition. Sides that are inside a periodic direction, around a hole for instance, are Dirichlet. */
static inline VpSide VpSideOf(VPatchDGBoundary boundary)
{
  return boundary == VPATCHDG_BOUNDARY_PERIODIC ? VP_SIDE_DIRICHLET : (VpSide)((int)boundary + 1);
}
static inline PetscBool VpIsOfOneSide(VPatchDGBoundary boundary)
{
  return (PetscBool)(boundary != VPATCHDG_BOUNDARY_PERIODIC && VpIsCondition(VpSideOf(boundary)));
}
/* Tests whether the condition has a number alpha, and whether it allows this alpha. */
static inline PetscBool VpHasAlpha(VPatchDGBoundary boundary)
{
  return (PetscBool)VpReadsAlpha(VpSideOf(boundary));
}
static inline PetscBool VpIsAlpha(VPatchDGBoundary boundary, PetscReal alpha)
{
  return (PetscBool)(!VpHasAlpha(boundary) || (alpha > 0 && !PetscIsInfOrNanReal(alpha)));
}
static inline VpBoundary VpBoundaryOf(VPatchDGBoundary boundary, PetscReal alpha)
{
  return (VpBoundary){VpSideOf(boundary), VpHasAlpha(boundary) ? alpha : 0};
}
/* labels.c. `from` and `to` have the same dimension. */
PetscErrorCode DMVPatchDGCopyLabels(DM from, DM to);
PetscErrorCode DMVPatchDGDestroyLabels(DM);
void           VpListConditions(const VpLabels *, PetscReal list[]); /* list: [n][3] label, VPatchDGBoundary, alpha */
/* Ensures: an error on all ranks unless all ranks agree, the labels belong to the boxes, and a side has every label with a condition. */
PetscErrorCode DMVPatchDGCheckLabels(DM);
/* Overwrites the condition of a box's side if its label has one. */
void DMVPatchDGAskLabels(DM, PetscInt box, PetscInt side, VPatchDGBoundary *, PetscReal *alpha);
/* boundaryfunction.c: sets the domain's conditions from labels and the user's function, if any */
PetscErrorCode DMVPatchDGAskBoundary(DM, VpDomain);
/* boxes.c: copies the corners of the boxes, [nbox][dim]. NULL: only allocates */
PetscErrorCode DMVPatchDGStoreBoxes(DM, PetscInt nbox, const PetscReal lower[], const PetscReal upper[]);
/* Ensures: an error unless the DM is not set up, has a dimension, and nbox is a possible number of boxes. what: the list that changes */
PetscErrorCode DMVPatchDGCheckBoxes(DM, PetscInt nbox, const char what[]);
/* gridlines.c: coordinate of face i of the grid; reads the options of the grid. others: other options describe the grid, too */
PetscReal      DMVPatchDGFace(DM, PetscInt direction, PetscInt i);
PetscErrorCode DMVPatchDGGridOptions(DM, PetscBool others, VpOptionItems);

/* maps.c: the maps that options name; the last name is NULL */
extern const VpMapKind VpMapKinds[];
/* map.c: sets a map by its name, or a kind (NULL: none), and n numbers; reads the options */
PetscErrorCode DMVPatchDGSetMapKind(DM, const char name[], PetscInt n, const PetscReal number[]);
PetscErrorCode DMVPatchDGSetMapOf(DM, const VpMapKind *, PetscInt n, const PetscReal number[]);
/* trees.c: copies the corners [ntree][2^dim] of trees; sets the numbers of a domain of trees that has a name, and its trees. Ensures: an
   error on all ranks unless ranks have the same trees. */
PetscErrorCode DMVPatchDGStoreTrees(DM, PetscInt nvertex, PetscInt ntree, const PetscInt corner[]);
PetscErrorCode DMVPatchDGSetTreeNumbers(DM, PetscInt n, const PetscReal number[]);
PetscErrorCode DMVPatchDGCheckSameTrees(DM);
PetscErrorCode DMVPatchDGReadMesh(DM, const char file[]); /* convert.c: gives a DM that is not set up the cells of a file */
PetscInt       VpDomainDimension(VPatchDGDomain);         /* the dimension that a domain with a name has; 0: any */
PetscErrorCode DMVPatchDGMapOptions(DM, VpOptionItems);
PetscErrorCode DMVPatchDGCheckMapAgrees(DM); /* Ensures: an error on all ranks unless ranks have the same map. */
/* map.c: sets the map by the nodes of a lattice's places. place [n], node [n][(order+1)^dim][dim]: those that this rank gives, x fastest */
PetscErrorCode DMVPatchDGSetMapLattice(DM, const PetscInt lattice[3], int order, PetscInt n, const PetscInt place[],
                                       const PetscReal node[]);
/* degree of the nodes that users give and get */
static inline PetscInt DMVPatchDGNodeDegree(DM dm)
{
  const DM_VPatchDG *dg = dm->data;

  return dg->map_degree ? dg->map_degree : dg->degree;
}
/* degree of the map's polynomials. The coordinates of a mesh are polynomials already: those of a higher degree would be the same. */
static inline PetscInt DMVPatchDGMapDegree(DM dm)
{
  const VpMapSettings *map = &((const DM_VPatchDG *)dm->data)->map;

  return map->by == VP_MAP_LATTICE ? PetscMin(map->order, DMVPatchDGNodeDegree(dm)) : DMVPatchDGNodeDegree(dm);
}
/* mapmesh.c: gives the mesh the DM's map, unless it has one or cells are boxes. from: the mesh that was refined or coarsened, or NULL.
   The metric (DMVPatchDGMakeMetric()) finds out whether det J is of one sign. Collective */
PetscErrorCode DMVPatchDGMapMesh(DM, VpMesh from, VpMesh);
/* mapperiod.c: whether the cell beyond an upper side is the first one around a periodic direction. Ensures: an error on all ranks unless
   lengths along periodic sides agree, collective */
PetscBool      VpIsAround(VpMesh, int32_t cell, int direction);
PetscErrorCode DMVPatchDGCheckPeriods(DM, VpMesh);
/* mapnodes.c: sets the nodes of own cells from the vector of the DM, or from the mesh that was refined or coarsened. Collective */
PetscErrorCode DMVPatchDGFillByVector(DM, VpMesh, VpMap);
PetscErrorCode DMVPatchDGFillByLattice(DM, VpMesh, VpMap);
PetscErrorCode DMVPatchDGFillByMesh(VpMesh from, VpMesh, VpMap);

/* limits.c: adds what a coefficient at points and a map need to a size */
void DMVPatchDGCountPoints(DM, VpSize *);
/* limits.c: the size of a mesh of boxes refined `level` times, and the DM's backend */
PetscErrorCode DMVPatchDGSizeOf(DM, PetscInt nbox, PetscInt level, const VpBackend **, VpSize *);
/* All are collective. Ensures: an error if boxes refined `level` times have more unknowns than PetscInt counts, or more per rank than
   vectors or memory hold. */
PetscErrorCode DMVPatchDGCheckSize(DM, PetscInt nbox, PetscInt level);
/* The same for an existing mesh, and DMVPatchDGCheckScale(). */
PetscErrorCode DMVPatchDGCheckMesh(DM, VpMesh);
/* Ensures: an error if double precision cannot represent the operator and its vectors, on these boxes or with this coefficient [own cells]
   (NULL: 1). */
PetscErrorCode DMVPatchDGCheckScale(DM, VpDomain, PetscInt level);
PetscErrorCode DMVPatchDGCheckCoefficient(DM, int tensor, const PetscReal a[]);
/* coefficient.c: the coefficient on own cells of the next finer or coarser mesh, freed by the caller; NULL: 1. A coarser cell gets the mean
   of its children. */
PetscErrorCode DMVPatchDGMoveCoefficient(DM, VpMesh next, PetscReal **);
/* pointcoefficient.c: sets the basis of a DM with a mesh, if that is still to choose. Ensures: an error if the DM cannot have it. */
PetscErrorCode DMVPatchDGChooseBasis(DM);
/* doctor.c: prints the lines of -vpatchdg_doctor before a mesh of that level is made; prints the lines about an adaptive mesh */
PetscErrorCode DMVPatchDGDoctor(DM, PetscInt level);
PetscErrorCode DMVPatchDGDoctorAdaptive(DM, VpMesh);
/* conform.c. Collective. Ensures: an error on all ranks unless trees touch at faces, edges and vertices that they share. Requires: the map
   has the nodes of trees */
PetscErrorCode DMVPatchDGCheckConforming(DM, VpDomain);

/* adapt.c: makes the mesh whose depths are dg->leaves; replaces *mesh by one that is refined at the point and the sphere, and calls the
   doctor; makes a DM with all cells marked */
PetscErrorCode DMVPatchDGCreateLeaves(DM, VpMesh *);
PetscErrorCode DMVPatchDGRefineLocally(DM, VpMesh *);
PetscErrorCode DMVPatchDGAdaptAll(DM, int8_t mark, DM *);
/* dm.c: creates a DM with the same settings that is set up on another mesh, and takes over the mesh's reference. a: [own cells], or NULL */
PetscErrorCode DMVPatchDGCreateOn(DM, VpMesh, const PetscReal a[], DM *);
/* view.c: DMView(); DMViewFromOptions() */
PetscErrorCode DMView_VPatchDG(DM, PetscViewer);
PetscErrorCode DMVPatchDGViewObject(PetscObject, PetscViewer);
/* restart.c: writes the DM to a binary or HDF5 viewer; reads a DM */
PetscErrorCode DMVPatchDGSave(DM, PetscViewer);
PetscErrorCode DMLoad_VPatchDG(DM, PetscViewer);
/* vectors.c: sets the DM's vector operations */
void DMVPatchDGSetVectorOps(DM);
/* Does nothing: the beginning of a transfer between vectors does it all. */
PetscErrorCode DMVPatchDGTransferEnd(DM, Vec from, InsertMode, Vec to);
/* coordinates.c: sets the operations of DMGetCoordinates() and DMGetBoundingBox(); makes the local coordinates of a DM with a mesh */
PetscErrorCode DMVPatchDGSetCoordinateOps(DM);
PetscErrorCode DMVPatchDGSetLocalCoordinates(DM);
