/* A DMDA or DMPLEX as cells of a grid. */
#pragma once
#include "internal.h"

#define VP_GRID_SLACK 1e-8 /* of a width: what rounding may make of equal coordinates and widths */

/* one of the cells that do not fill the grid of their faces, or so many of these in every direction that form a box */
typedef struct {
  PetscInt at[3], n[3]; /* its first place, and the places that it takes; in 2D 0 and 1 along the third direction */
  PetscInt label[6];    /* of its sides on the boundary, -1 for none */
} VpUserCell;

typedef struct {
  int         dim, degree; /* degree: that of a DMDA with so many numbers a cell; 0: none */
  PetscInt    n[3];        /* cells; in 2D 1 along the third direction */
  PetscReal  *face[3];     /* [n + 1] */
  PetscReal  *entry[3];    /* where a DMDA's entries are */
  PetscBool   periodic[3];
  PetscInt   *label[6]; /* of cells' faces at an end of the domain, see VpLabelOf(); NULL: none has one */
  PetscInt    ncell;
  VpUserCell *cell; /* [ncell] those of all ranks where they do not fill the grid; NULL: they do */
} VpUserGrid;
/* the lower (i = 0) or the upper direction of a side of the domain */
static inline int VpAlongSide(int side, int i)
{
  return i ? (side < 4 ? 2 : 1) : side < 2;
}
/* the label, -1 for none, of the face of the cell at these places, at an end of the domain */
static inline PetscInt *VpLabelOf(const VpUserGrid *grid, int side, const PetscInt at[3])
{
  const int lower = VpAlongSide(side, 0), upper = VpAlongSide(side, 1);

  return grid->label[side] + at[upper] * grid->n[lower] + at[lower];
}
/* All collective. Ensures: an error on all ranks that says why where the mesh has other cells than boxes along the axes. */
PetscErrorCode VpUserGridCreate(DM mesh, VpUserGrid *);
PetscErrorCode VpUserGridDestroy(VpUserGrid *);
/* center[n][dim] of the mesh's own cells, for the caller to free. Requires: VpUserGridCreate() found no error in it. */
PetscErrorCode VpUserGridCenters(DM mesh, PetscInt *n, PetscReal **center);
/* region[n] of own cells of a DMPLEX in the same order, by its label "Cell Sets", -1 for none; for the caller to free. Collective. Ensures:
   an error on all ranks where no rank has the label. */
PetscErrorCode VpRegionsOfPlex(DM, PetscInt *n, PetscInt **region);
/* gridda.c and gridplex.c: that for the two types */
PetscErrorCode VpGridOfDA(DM, VpUserGrid *);
PetscErrorCode VpGridOfPlex(DM, VpUserGrid *);
PetscErrorCode VpCentersOfDA(DM, PetscInt *n, PetscReal **center);
PetscErrorCode VpCentersOfPlex(DM, PetscInt *n, PetscReal **center);
/* gridcells.c: gives the DM boxes that the cells form, and their labels. Requires: they do not fill the grid. */
PetscErrorCode VpSetUserCells(DM, VpUserGrid *);
/* whether so many cells from face i on are all equally wide */
PetscBool VpAreEqual(const PetscReal face[], PetscInt i, PetscInt count);
/* convert.c: for DMConvert() */
PetscErrorCode DMConvert_VPatchDG(DM mesh, DMType, DM *);
