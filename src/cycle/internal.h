/* What the files of this folder share. Each calls those below it alone:

     nested.c      columns.c        initial guesses, several right-hand sides
          |           |
          |      hierarchy.c        builds the levels
          |       |        |
          apply.c     levelcount.c  a cycle as a linear map, recorded; how many levels there are, and on how many ranks
             |
           walk.c                   the way through the levels */
#pragma once
#include "cycle.h"
#include "../base/memory.h"
#include "../collective.h"

/* What ties a level of an adaptive mesh to the leaves and to the next coarser level. Finer levels cover a part of the domain: they have
   the cells of one depth, among the leaves and the cells that were refined. A level's right-hand side is the residual restricted to refined
   cells, and the leaves' own. Where the level ends, its cells see values of the coarser level, which are constant while patches are swept;
   then interface patches correct both sides together. */
typedef struct VpPartial_ {
  int32_t         n;           /* leaves that are cells of the level: */
  const int32_t  *leaf, *cell; /* [n] their numbers among all leaves and on the level, on the backend */
  VpArrays        arrays;
  VpInterfaceView interfaces; /* between the level and the next one; none on the finest level that covers the domain */
  uint64_t        steps;      /* bit c: some rank has interface patches of step c */
  PetscBool       exchanges;  /* Ghosts travel after every step. */
} VpPartial;

/* one application of the cycle from `level` down */
typedef struct {
  VpCycle   cycle;
  PetscInt  level;
  PetscBool transpose;
} VpPass;

/* levelcount.c: how many sweeps take the place of one on a level that is not the coarsest */
PetscErrorCode VpCountSweeps(VpLattice, VpCoarsen, PetscInt *sweeps);

/* walk.c */
PetscErrorCode VpCycleWhole(const VpPass *); /* x += M (b - A x) */
/* Smooths, and restricts the residual to b of the next level, whose x is 0 then. On the coarsest level it only smooths, where there is a
   smoother. */
PetscErrorCode VpCycleDown(const VpPass *, PetscInt l);
PetscErrorCode VpCycleTurn(const VpPass *);
PetscErrorCode VpCycleSolveCoarsest(VpCycle);
PetscErrorCode VpCycleUp(const VpPass *, PetscInt l);  /* prolongs x of the next level, smooths; likewise */
PetscErrorCode VpCycleFromLeaves(VpCycle, PetscInt l); /* b takes the leaves' own right-hand side where the level has leaves */
PetscErrorCode VpCycleToLeaves(VpCycle, PetscInt l);   /* the leaves take x */
/* Prolongs x from level to level to the partial ones and smooths it, but not on a finest level that is large. Requires: b there, and x of
   the finest level that covers the domain. */
PetscErrorCode VpCycleRise(VpCycle);

/* apply.c: Runs work(context), or replays its launches. vectors[n]: those that the work changes and later work uses; some may be NULL. */
typedef PetscErrorCode (*VpWork)(void *context);
PetscErrorCode VpReplay(VpLevel, VpRecorded *, PetscInt n, const VpVector vectors[], VpWork work, void *context);
PetscErrorCode VpRecordedForget(const VpBackend *, VpRecorded *);
PetscInt       VpCycleVectors(VpCycle, PetscInt l, VpVector vectors[]); /* lists those of levels l, l + 1, ..., and says how many */
/* x of level l = M b by the cycle from level l down */
PetscErrorCode VpCycleRun(VpCycle, PetscInt l, PetscBool transpose);
/* z = scale x of level l, of all leaves where l is the finest level; add: += */
PetscErrorCode VpCycleLeave(VpCycle, PetscInt l, PetscBool add, double scale, double *z);

/* hierarchy.c: the cycle on n copies of its meshes. It shares the base's coarse solver, and is destroyed before the base. Requires:
   VpColumnsCan() */
PetscErrorCode VpCycleRepeat(VpCycle base, int32_t n, VpCycle *);
