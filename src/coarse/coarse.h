/* The solver of the coarsest level. */
#pragma once
#include "../level/level.h"
#include <petscksp.h>

typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP, VP_COARSE_DENSE } VpCoarseType;
typedef struct VpCoarse_ *VpCoarse;
/* parent: whose prefix and tab level a KSP takes */
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
/* for n vectors of own cells, one after the other in b and x. n > 1 requires: VpCoarseTakesColumns() */
PetscErrorCode VpCoarseSolve(VpCoarse, int32_t n, VpVector b, VpVector x);
PetscBool      VpCoarseTakesColumns(VpCoarse);
PetscErrorCode VpCoarseDestroy(VpCoarse *);
PetscErrorCode VpCoarseGetKSP(VpCoarse, KSP *); /* NULL where there is none */
PetscInt       VpCoarseStopped(VpCoarse);       /* iterations after which that KSP did not converge since this was called; 0: it did */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);

/* boxgrid.c: the cells of boxes that lie on a grid, which at degree n - 1 has lines of no more than VP_LONGEST_LINE values */
typedef struct {
  int32_t extent[3]; /* cells on a line in every direction, those included that are missing; extent[0] = 0: the boxes lie on no such grid */
  double  sides;     /* of cells, towards missing ones; 0: none is missing */
} VpBoxGrid;
PetscErrorCode VpBoxGridFind(VpLattice, int n, VpBoxGrid *);

/* What decides in which way the coarsest level is solved, and is known before there is a level */
typedef struct {
  VpCoarseType type;
  PetscBool    device, uniform; /* uniform: so is the coefficient */
  PetscInt     ranks;           /* that have cells */
  int          n, dim;
  double       cells;
  VpBoxGrid    grid; /* of boxes whose coefficient is uniform */
} VpCoarseCase;
PetscErrorCode VpCoarseCaseOf(VpLattice, VpCoarseType, PetscBool device, PetscBool uniform, PetscInt ranks, int n, VpCoarseCase *);
/* along lines (separable.c), by a dense matrix (dense.c), along lines and by a dense matrix at a notch (notched.c), by sweeps (sweeps.c),
   by a KSP (ksp.c) */
typedef enum { VP_WAY_LINES, VP_WAY_DENSE, VP_WAY_NOTCH, VP_WAY_SWEEPS, VP_WAY_KSP, VP_COARSE_WAYS } VpCoarseWay;
/* the first of them that suits the case. VpCoarseCreate() takes a later one where rounding or the partition leaves no other. */
VpCoarseWay VpCoarseExpect(const VpCoarseCase *);
/* rows of the dense matrix of a notch */
static inline double VpNotchSums(const VpCoarseCase *c)
{
  return 2 * c->grid.sides * pow(c->n, c->dim - 1);
}
static inline double VpCoarseUnknowns(const VpCoarseCase *c)
{
  return c->cells * pow(c->n, c->dim);
}
