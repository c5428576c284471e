/* What a smoother is: smoother.c makes it, program.c writes the steps of its sweeps, sweep.c runs them. */
#pragma once
#include "cellsweep.h"
#include "internal.h"

/* patches that are swept together: all; those near corners; those where a level of an adaptive mesh ends */
enum { SUBSET_ALL, SUBSET_CORNERS, SUBSET_ENDS, SUBSETS };
typedef struct {
  VpPatchView view[VP_MOST_COVERS];  /* [c / VP_COVER_COLORS] that of colour c; they differ in `cover` */
  VpStep      color[VP_MOST_COLORS]; /* VP_STEP_SWEEP of every colour; n = 0 where it has no patches */
  PetscInt    count;                 /* of SUBSET_CORNERS and SUBSET_ENDS: patches on all ranks */
  int32_t     nreplaceable;          /* replaceable patches */
  PetscBool   syncs;                 /* Ghosts are current after every colour. */
  PetscBool   renews;                /* Ghosts are fetched again before the last colour. */
} Subset;

/* the steps of a sweep */
typedef struct {
  int            n;
  VpStep        *step;
  PetscLogDouble flops; /* of its patches */
} Program;

struct VpSmoother_ {
  VpLevel     level;
  VpArrays    arrays; /* of the views */
  int         ncolor;
  Subset      subset[SUBSETS];
  Program     program[SUBSETS][2]; /* [subset][forward, reverse] of sweeps over SUBSET_ALL, and over SUBSET_ENDS unless that is empty */
  PetscInt    repeats;             /* how often the corners' patches are swept after the others */
  PetscBool   current;             /* Ghosts are current at least when the repeats begin, which is enough across thin cells. */
  VpCellSweep cells;               /* the sweeps of single cells that follow, or NULL */
  PetscInt    cell_sweeps;         /* how many of these */
  VpVector    r;                   /* residual `global`: b - A x wherever patches are */
};

/* program.c: writes all programs anew. Required after the members above have changed. */
PetscErrorCode VpSmootherWritePrograms(VpSmoother);
