/* What the files of this folder share. */
#pragma once
#include "coarse.h"
#include "../base/dictionary.h"
#include "../base/memory.h"
#include "../collective.h"

/* transfer.c. A move is NULL where the finer level's parents live where the coarse level does. b = R r; x = P xc (add: +=) on cells
   [0, count) of the finer level. */
typedef struct VpMove_ *VpMove;
PetscErrorCode          VpMoveCreate(VpMesh spread, VpLevel, VpMove *);
PetscErrorCode          VpMoveDestroy(VpMove *);
PetscErrorCode          VpRestrict(VpLevel fine, VpMove, VpVector r, VpVector b);
PetscErrorCode          VpProlong(VpLevel fine, VpMove, VpVector xc, int32_t count, PetscBool add, void *x);
/* replay.c: launches that are replayed; what PETSc counts of them (flops, messages sent and received, their bytes); the states of the
   vectors after them */
typedef PetscErrorCode (*VpWork)(void *context);
typedef struct VpRecorded_ {
  VpRecording    recording;
  PetscLogDouble flops, messages[4];
  VpVectorState *after;
} VpRecorded;
/* Runs work(context), or replays its launches. vectors[n]: those that the work changes and later work uses; some may be NULL. */
PetscErrorCode VpReplay(VpLevel, VpRecorded *, PetscInt n, const VpVector vectors[], VpWork work, void *context);
PetscErrorCode VpRecordedForget(const VpBackend *, VpRecorded *);
/* cycle.c: the way of one application through the levels from `level` down */
typedef struct {
  VpCycle   cycle;
  PetscInt  level;
  PetscBool transpose;
} VpPass;
PetscErrorCode VpCycleWhole(const VpPass *);            /* x += M (b - A x) */
PetscErrorCode VpCycleDown(const VpPass *, PetscInt l); /* smooths, restricts the residual to b of the next level, whose x is 0 then */
PetscErrorCode VpCycleTurn(const VpPass *);
PetscErrorCode VpCycleSolveCoarsest(VpCycle);
PetscErrorCode VpCycleUp(const VpPass *, PetscInt l); /* prolongs x of the next level, smooths */
/* x of the levels that are parts, from b there and x of the next level: prolonged from level to level, and smoothed; not on a finest
   level that is large */
PetscErrorCode VpCycleRise(VpCycle);
PetscInt       VpCycleVectors(VpCycle, PetscInt l, VpVector vectors[]); /* lists those of levels l, l + 1, ..., and says how many */
/* apply.c: x[l] = M b[l] by the cycle from level l down */
PetscErrorCode VpCycleRun(VpCycle, PetscInt l, PetscBool transpose);
/* apply.c: z = scale x[l], of all leaves where l is the finest level; add: += */
PetscErrorCode VpCycleLeave(VpCycle, PetscInt l, PetscBool add, double scale, double *z);
/* hierarchy.c: the cycle on n copies of its meshes. It shares the base's coarse solver, and is destroyed before the base. Requires:
   VpColumnsCan() */
PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *);
/* columns.c: the coefficient of n copies of a level's own cells, for the caller to free; NULL where it has none */
PetscErrorCode VpRepeatCoefficient(VpLevel, int32_t n, PetscReal **);
/* the coarse solver takes one column after the other, in vectors of their own */
typedef struct VpCoarseColumns_ *VpCoarseColumns;
PetscErrorCode                   VpCoarseColumnsCreate(VpCycle base, int32_t n, VpCoarseColumns *);
PetscErrorCode                   VpCoarseColumnsSolve(VpCoarseColumns, VpCoarse, VpVector b, VpVector x);
PetscErrorCode                   VpCoarseColumnsDestroy(VpCoarseColumns *);
/* level.c: puts an array of the mesh, which lives as long as the level, on the backend; the host need not copy it */
PetscErrorCode VpLevelPlaceMeshArray(VpLevel, const int32_t *array, size_t count, const char what[], const int32_t **p);
/* coefficient.c: keeps the coefficient (NULL on all ranks: 1) for all local cells; sets level->uniform and typical */
PetscErrorCode VpLevelSetCoefficient(VpLevel, const VpProblem *);
/* fit.c: The coefficients a[c][d] of a patch's 2^dim cells c, along each direction d a scale times a product of one factor a direction:

     a[.][0] as sigma_0 X(step) y(step + skew) z(step + skew),    a[.][1] as sigma_1 x(step + skew) Y(step) z(step + skew), ...

   A factor X or x of the second cell is 2^(its number/VP_STEPS) times that of the first one; the smaller of the two is 1. The product is
   nowhere less than the coefficient. beyond[c][d] is the coefficient of the cell beyond cell c along d, or that of cell c where there is
   none. 2^face is by how much the harmonic mean with that is larger than the product, at most, on the lower and on the upper side. ratio =
   sigma / scale, where scale is the largest sigma; it is rounded up to steps unless the cells of the patch have the same coefficients. With
   one number a cell (tensor 0) skew is 0 and ratio 1. Steps of fewer octaves than `least` become none. */
typedef struct {
  int16_t step[3], skew[3], face[3][2];
  double  ratio[3];
} VpFit;
double VpFitProduct(int dim, const VpFit *, int c, int d); /* that at the patch's cell c for the coefficient along d */
void   VpCoefficientFit(int dim, int tensor, const PetscReal a[][3], const PetscReal beyond[][3], double least, VpFit *, double *scale);
/* patchproblems.c: a key's numbers as words, to tell keys apart */
enum { VP_FDM_WORDS = 6 };
void VpFdmWords(const VpFdmKey *, uint64_t word[VP_FDM_WORDS]);
/* rounds a ratio of the coefficients of two directions up to steps */
double VpRoundRatio(double ratio);
/* linetables.c: PlaceLines fills what the level's view has of lines: line, lines, common, outside. PlaceDrops makes
   VpPatchView.drop, PlaceUnit `unit` and `coefficient`, and what belongs to them in the level. */
PetscErrorCode VpLevelPlaceLines(VpLevel);
PetscErrorCode VpLevelPlaceDrops(VpLevel, VpArrays *, const void **drop);
PetscErrorCode VpLevelPlaceUnit(VpLevel, VpArrays *, VpPatchView *);
/* linetables.c: what the line of a cell depends on. relative: the cell's coefficient counts as 1 */
VpLineKey VpLevelLineKey(VpLevel, PetscBool relative, int32_t cell, int d);
/* linetables.c: the largest coefficient of a cell, of which those of its lines are multiples */
PetscReal VpLevelLargest(VpLevel, int32_t cell);
/* linetables.c: fills all of the view but `cell` */
PetscErrorCode VpLevelPlaceBlocks(VpLevel, VpArrays *, VpCellView *);
/* hanging.c: fills the level's view of the sides that hang */
PetscErrorCode VpLevelPlaceHanging(VpLevel);
/* the form of a side whose cell is on one level, while the cells beyond are on another, and the view of such sides */
void           VpHangingForm(VpLevel, VpLevel other, const VpHang *, double form[VP_HANG_FORM]);
PetscErrorCode VpPlaceHanging(VpLevel, VpLevel other, int32_t count, const VpHang sides[], VpArrays *, VpHangView *);
/* edges.c: the view of the edge patches between a level of an adaptive mesh and the next coarser one. */
PetscErrorCode VpPlaceEdges(VpLevel fine, VpLevel coarse, VpArrays *, VpEdgeView *);
/* hanging.c: one row of A's terms on a hanging side as a sum of few products. A term adds normal[i] tangential[0][j] tangential[1][k] to
   the entry towards the function that is i along the side's normal and j, k along the other directions, in cell. The first `own` terms are
   towards the side's own cell. Requires: the level is on the host, in double precision. */
typedef struct {
  int32_t cell;
  double  normal[VP_MAX_N], tangential[2][VP_MAX_N];
} VpHangTerm;
enum { VP_HANG_TERMS = 8 };
int VpHangingRow(VpLevel, int32_t side, int row, VpHangTerm[], int *own);
/* patchtables.c: fills all of the view but `drop`; its arrays are added to VpArrays. Collective. Error where a problem cannot be solved. */
PetscErrorCode VpLevelPlacePatches(VpLevel, const VpPatches *, VpSpace, VpArrays *, VpPatchView *);
/* patchtables.c: the view of a selection of the patches of a view, of which there are so many in all */
PetscErrorCode VpLevelSelectPatches(VpLevel, const VpPatchView *, int32_t all, const VpPatches *some, VpArrays *, VpPatchView *selected);

static inline double VpLevelReaction(VpLevel level)
{
  return level->scale * level->problem.reaction;
}

/* the line of a cell along d, on the host in double precision */
static inline const double *VpLevelLine(VpLevel level, int32_t cell, int d)
{
  const VpView *v = &level->view;

  return (const double *)v->lines + (size_t)v->line[(size_t)cell * v->dim + d] * VpLineSize(v->n);
}
/* 2^exponent a along d */
static inline PetscReal VpLevelCoefficient(VpLevel level, int32_t cell, int d)
{
  return level->uniform[d] > 0 ? level->uniform[d] : level->scale * VpProblemCoefficient(&level->problem, cell, d);
}
/* coefficient.c: 2^exponent a of the cell beyond a side, also where the level ends; 0 where there is none, and the cell's own where what is
   there is not local. Requires: the cell is in [0, nsweep) */
PetscReal VpLevelCoefficientBeyond(VpLevel, int32_t cell, int side);
/* Is a the same in all cells, and beyond the edge where the level ends? */
static inline PetscBool VpLevelIsUniform(VpLevel level)
{
  return (PetscBool)(level->uniform[0] > 0);
}
