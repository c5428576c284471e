/* What the files of this folder share. Each calls those below it alone:

     nested.c      columns.c        initial guesses; several right-hand sides
          |           |
          |      hierarchy.c        builds the levels
          |       |        |
          apply.c     levelcount.c  a cycle as a linear map, recorded; the numbers of levels and of their ranks
             |        choice.c      what options leave open
             |
           walk.c                   the walk through the levels */
#pragma once
#include "cycle.h"
#include "../base/memory.h"
#include "../collective.h"

/* Connects a level of an adaptive mesh to the leaves and to the next coarser level. A partial level has the leaves and refined cells of one
   depth. Its right-hand side is the leaves' own on leaves, and the restricted residual on refined cells. Where the level ends, its cells
   see values of the coarser level, which stay constant while patches are swept. Then interface patches correct both sides together. */
typedef struct VpPartial_ {
  int32_t         n;           /* leaves that are cells of the level */
  const int32_t  *leaf, *cell; /* [n] their numbers among all leaves, and among the level's cells, on the backend */
  VpArrays        arrays;
  VpInterfaceView interfaces; /* between the level and the next one; none unless the level is partial */
  uint64_t        steps;      /* bit c: some rank has interface patches of step c */
  PetscBool       exchanges;  /* Ghosts travel after every step. */
} VpPartial;

/* an application of the cycle from `level` down */
typedef struct {
  VpCycle   cycle;
  PetscInt  level;
  PetscBool transpose;
} VpPass;

/* levelcount.c: the number of sweeps that take the place of one, on a level that is not the coarsest */
PetscErrorCode VpCountSweeps(VpLattice, VpCoarsen, PetscInt *sweeps);

/* walk.c */
PetscErrorCode VpCycleWhole(const VpPass *); /* x += M (b - A x) */
/* Smooths, then restricts the residual to b of the next level, and sets x there to 0. The coarsest level is only smoothed, if it has a
   smoother. */
PetscErrorCode VpCycleDown(const VpPass *, PetscInt l);
PetscErrorCode VpCycleSendGhosts(const VpPass *);
PetscErrorCode VpCycleSolveCoarsest(VpCycle);
PetscErrorCode VpCycleUp(const VpPass *, PetscInt l);  /* prolongs x of the next level, then smooths; likewise */
PetscErrorCode VpCycleFromLeaves(VpCycle, PetscInt l); /* b on leaves = the leaves' own right-hand side */
PetscErrorCode VpCycleToLeaves(VpCycle, PetscInt l);   /* the leaves' correction = x on leaves */
/* Prolongs x of the finest level that covers the domain to all partial levels, and smooths it there, except on a large finest level.
   Requires: b of the partial levels is set. */
PetscErrorCode VpCycleRise(VpCycle);

/* apply.c: runs work(context), or replays its launches. vectors [n]: those that the work changes and later work uses; some may be NULL */
typedef PetscErrorCode (*VpWork)(void *context);
PetscErrorCode VpReplay(VpLevel, VpRecorded *, PetscInt n, const VpVector vectors[], VpWork work, void *context);
PetscErrorCode VpRecordedForget(const VpBackend *, VpRecorded *);
PetscInt       VpCycleVectors(VpCycle, PetscInt l, VpVector vectors[]); /* lists those of levels l, l + 1, ..., and returns their number */
/* x of level l = M b by the cycle from level l down */
PetscErrorCode VpCycleRun(VpCycle, PetscInt l, PetscBool transpose);

/* hierarchy.c: creates the cycle on n copies of the base's meshes. It shares the base's coarse solver, so the base must outlive it.
   Requires: VpColumnsCan() */
PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *);
/* choice.c: sets cycle->chosen, and what smoothers do by it. Collective */
PetscErrorCode VpCycleChoose(VpCycle);
