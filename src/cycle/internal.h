/* What the files of this folder share. */
#pragma once
#include "cycle.h"
#include "../base/memory.h"
#include "../collective.h"

/* replay.c: launches that are replayed; what PETSc counts of them (flops, messages sent and received, their bytes); the states of the
   vectors after them */
enum { VP_COUNTERS = 4 };
typedef PetscErrorCode (*VpWork)(void *context);
typedef struct VpRecorded_ {
  VpRecording    recording;
  PetscLogDouble flops, messages[VP_COUNTERS];
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
PetscErrorCode VpCycleSolveCoarsest(VpCycle);         /* apply.c */
PetscErrorCode VpCycleUp(const VpPass *, PetscInt l); /* prolongs x of the next level, smooths */
PetscErrorCode VpCycleResidual(VpCycle, PetscInt l);  /* r = b - A x */
PetscErrorCode VpCycleCorrect(VpCycle, PetscInt l);   /* x += P x of the next level */
/* parts.c: the way down and the smoothing on the way up, on a level that has a part of the cells */
PetscErrorCode VpCycleDownPart(VpCycle, PetscInt l);
PetscErrorCode VpCycleUpPart(VpCycle, PetscInt l);
/* parts.c: x of the levels that are parts, from b there and x of the next level: prolonged from level to level, and smoothed; not on a
   finest level that is large */
PetscErrorCode VpCycleRise(VpCycle);
PetscInt       VpCycleVectors(VpCycle, PetscInt l, VpVector vectors[]); /* lists those of levels l, l + 1, ..., and says how many */
/* apply.c: x[l] = M b[l] by the cycle from level l down */
PetscErrorCode VpCycleRun(VpCycle, PetscInt l, PetscBool transpose);
/* apply.c: z = scale x[l], of all leaves where l is the finest level; add: += */
PetscErrorCode VpCycleLeave(VpCycle, PetscInt l, PetscBool add, double scale, double *z);
/* hierarchy.c: how many sweeps take the place of one on a level that is not the coarsest */
PetscErrorCode VpCountSweeps(VpLattice, VpCoarsen, PetscInt *sweeps);
/* hierarchy.c: the cycle on n copies of its meshes. It shares the base's coarse solver, and is destroyed before the base. Requires:
   VpColumnsCan() */
PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *);
/* the coarse solver takes one column after the other, in vectors of their own */
typedef struct VpCoarseColumns_ *VpCoarseColumns;
PetscErrorCode                   VpCoarseColumnsCreate(VpCycle base, int32_t n, VpCoarseColumns *);
PetscErrorCode                   VpCoarseColumnsSolve(VpCoarseColumns, VpCoarse, VpVector b, VpVector x);
PetscErrorCode                   VpCoarseColumnsDestroy(VpCoarseColumns *);
