/* What the files of this folder share. */
#pragma once
#include "multigrid.h"
#include "dictionary.h"
#include "../base/memory.h"
#include "../together.h"

/* gather.c. A gather is NULL where the finer level's parents live where the level does. b = R r on the next level, own cells; x = P xc
   (add: +=) on cells [0, count), for which the ghosts of xc travel */
PetscErrorCode VpGatherCreate(VpMesh spread, VpLevel, VpGather *);
PetscErrorCode VpGatherDestroy(VpGather *);
PetscErrorCode VpRestrict(VpLevel fine, VpGather, const void *r, void *b);
PetscErrorCode VpProlong(VpLevel fine, VpLevel coarse, VpGather, int32_t count, PetscBool add, void *xc, void *x);
/* separable.c: NULL where the level's problem does not separate. x[0] = A^-1 b on own cells; the level outlives it */
typedef struct VpSeparable_ *VpSeparable;
PetscErrorCode VpSeparableCreate(VpLevel, VpSeparable *);
PetscErrorCode VpSeparableSolve(VpSeparable, void *b, void *const x[2]);
PetscErrorCode VpSeparableDestroy(VpSeparable *);
/* coefficient.c: keeps the coefficient for all local cells; sets level->uniform and typical */
PetscErrorCode VpLevelSetCoefficient(VpLevel, const PetscReal own[]);
/* coefficient.c: the 2^dim cells' coefficients as scale times a product of one factor per direction, which is 1 in the cell where it is
   less and 2^(|step|/4) in the other, the second where step > 0; the product is nowhere less than the coefficient */
void VpCoefficientFit(int dim, const PetscReal a[], int step[], double *scale);
/* lines.c: the level's view.line and lines; the lines without face terms that VP_FORM_LOCAL needs (VpPatchView.drop) */
PetscErrorCode VpLevelPlaceLines(VpLevel);
PetscErrorCode VpLevelPlaceDrops(VpLevel, VpArrays *, const void **drop);
/* patch.c: fills the view, all but `drop`, and its arrays; error, collectively, where a patch's problem cannot be solved */
PetscErrorCode VpLevelPlacePatches(VpLevel, const VpPatches *, VpSpace, VpArrays *, VpPatchView *);

/* size in direction d of the cells of a box, of a cell */
static inline PetscReal VpCellSizeIn(VpMesh mesh, int32_t box, int d)
{
  const int64_t i = 3 * (int64_t)box + d;

  return (mesh->domain->upper[i] - mesh->domain->lower[i]) / (1 << mesh->level);
}

static inline PetscReal VpCellSize(VpMesh mesh, int32_t cell, int d)
{
  return VpCellSizeIn(mesh, mesh->box[cell], d);
}

static inline double VpLevelReaction(VpLevel level)
{
  return level->scale * level->problem.reaction;
}

/* one small matrix a cell and direction */
static inline PetscLogDouble VpTransferFlops(const VpView *view, int32_t cells)
{
  return 2. * cells * view->dim * pow(view->n, view->dim + 1);
}

/* 2^exponent a */
static inline PetscReal VpLevelCoefficient(VpLevel level, int32_t cell)
{
  return level->uniform > 0 ? level->uniform : level->scale * level->problem.coefficient[cell];
}
