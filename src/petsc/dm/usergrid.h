/* A DMDA or DMPLEX as cells of a grid. */
#pragma once
#include "internal.h"

#define VP_GRID_SLACK 1e-8 /* tolerance for equal coordinates and widths, relative to a width */

/* a cell of a mesh that does not fill the grid of its faces, or a box of n[] such cells */
typedef struct {
  PetscInt at[3], n[3]; /* first place, and number of places in each direction; the third direction has 0 and 1 in 2D */
  PetscInt label[6];    /* labels of its sides on the boundary, -1 for none */
} VpUserCell;

typedef struct {
  int         dim, degree; /* degree of a DMDA that has (degree + 1)^dim values per cell; 0: none */
  PetscInt    n[3];        /* number of cells; n[2] = 1 in 2D */
  PetscReal  *face[3];     /* [n + 1] */
  PetscReal  *entry[3];    /* coordinates of a DMDA's entries */
  PetscBool   periodic[3];
  PetscInt   *label[6]; /* labels of faces on each end of the domain, see VpLabelOf(); NULL: no face has a label */
  PetscInt    ncell;
  VpUserCell *cell; /* [ncell] the cells of all ranks if these do not fill the grid; otherwise NULL */
} VpUserGrid;
/* the lower (i = 0) or upper (i = 1) direction along a side of the domain */
static inline int VpAlongSide(int side, int i)
{
  return i ? (side < 4 ? 2 : 1) : side < 2;
}
/* label of the face of cell `at` on an end of the domain, -1 for none */
static inline PetscInt *VpLabelOf(const VpUserGrid *grid, int side, const PetscInt at[3])
{
  const int lower = VpAlongSide(side, 0), upper = VpAlongSide(side, 1);

  return grid->label[side] + at[upper] * grid->n[lower] + at[lower];
}
/* All are collective. Ensures: an error on all ranks that gives the reason if a cell is not an axis-parallel box. */
PetscErrorCode VpUserGridCreate(DM mesh, VpUserGrid *);
PetscErrorCode VpUserGridDestroy(VpUserGrid *);
/* center [n][dim] of the mesh's own cells, freed by the caller. Requires: VpUserGridCreate() accepted the mesh. */
PetscErrorCode VpUserGridCenters(DM mesh, PetscInt *n, PetscReal **center);
/* region [n] of the own cells of a DMPLEX in the same order, from its label "Cell Sets", -1 for none; freed by the caller. Collective.
   Ensures: an error on all ranks if no rank has the label. */
PetscErrorCode VpRegionsOfPlex(DM, PetscInt *n, PetscInt **region);
/* gridda.c and gridplex.c: the same for both types */
PetscErrorCode VpGridOfDA(DM, VpUserGrid *);
PetscErrorCode VpGridOfPlex(DM, VpUserGrid *);
PetscErrorCode VpCentersOfDA(DM, PetscInt *n, PetscReal **center);
PetscErrorCode VpCentersOfPlex(DM, PetscInt *n, PetscReal **center);
/* gridcells.c: sets the DM's boxes, which the cells form, and their labels. Requires: the cells do not fill the grid. */
PetscErrorCode VpSetUserCells(DM, VpUserGrid *);
/* Tests whether the `count` cells from face i on have the same width. */
PetscBool VpAreEqual(const PetscReal face[], PetscInt i, PetscInt count);
/* convert.c: for DMConvert() */
PetscErrorCode DMConvert_VPatchDG(DM mesh, DMType, DM *);
