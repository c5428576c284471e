/* The solver of the coarsest level. */
#pragma once
#include "../level/level.h"
#include <petscksp.h>

typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP, VP_COARSE_DENSE } VpCoarseType;
typedef struct VpCoarse_ *VpCoarse;
/* parent: whose prefix and tab level a KSP takes */
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
PetscErrorCode VpCoarseSolve(VpCoarse, VpVector b, VpVector x);
PetscErrorCode VpCoarseSolveColumns(VpCoarse, int32_t n, VpVector b, VpVector x, PetscBool *did);
PetscErrorCode VpCoarseDestroy(VpCoarse *);
PetscErrorCode VpCoarseGetKSP(VpCoarse, KSP *); /* NULL where there is none */
PetscInt       VpCoarseStopped(VpCoarse);       /* iterations after which that KSP did not converge since this was called; 0: it did */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);

/* whether a coarsest level of so many unknowns, on so many ranks, has a dense matrix as its inverse, unless it separates */
PetscBool VpCoarseIsDense(VpCoarseType, PetscBool device, PetscInt ranks, double unknowns);

/* boxgrid.c: the cells of boxes that lie on a grid, which at degree n - 1 has lines of no more than VP_LONGEST_LINE values */
typedef struct {
  int32_t extent[3]; /* cells on a line in every direction, those included that are missing; extent[0] = 0: the boxes lie on no such grid */
  double  sides;     /* of cells, towards missing ones; 0: none is missing */
} VpBoxGrid;
PetscErrorCode VpBoxGridFind(VpLattice, int n, VpBoxGrid *);
/* coarse.c: whether cells are missing, and those beside them are few enough for a dense matrix of the sums of VpNotch */
PetscBool VpNotchIsFew(const VpBoxGrid *, int n, int dim);
