/* The members of a smoother. smoother.c creates it, program.c writes the steps of its sweeps, sweep.c runs them. */
#pragma once
#include "cellsweep.h"
#include "internal.h"

/* patches that are swept together: all; those near corners; those where a level of an adaptive mesh ends */
enum { SUBSET_ALL, SUBSET_CORNERS, SUBSET_ENDS, SUBSETS };
typedef struct {
  VpPatchView view[VP_MOST_COVERS];  /* [c / VP_COVER_COLORS] the view of colour c. Views differ in `cover`. */
  VpStep      color[VP_MOST_COLORS]; /* VP_STEP_SWEEP of every colour; n = 0 if it has no patches */
  PetscInt    count;                 /* patches on all ranks; 0 for SUBSET_ALL */
  int32_t     nreplaceable;          /* replaceable patches */
  PetscBool   syncs;                 /* Ghosts are current after every colour. */
  PetscBool   renews;                /* Ghosts are fetched again before the last colour. */
} Subset;

/* the steps of a sweep */
typedef struct {
  int            n;
  VpStep        *step;
  PetscLogDouble flops; /* of all patches */
} Program;

struct VpSmoother_ {
  VpLevel     level;
  VpArrays    arrays; /* of the views */
  int         ncolor;
  int         minor;   /* number of colours that may be left out, as VpPatches.minor */
  int         skipped; /* colours [0, skipped) that sweeps over all patches leave out */
  Subset      subset[SUBSETS];
  Program     program[SUBSETS][2]; /* [subset][forward, reverse] of SUBSET_ALL, and of SUBSET_ENDS unless that is empty */
  PetscInt    repeats;             /* how often a sweep repeats SUBSET_CORNERS */
  PetscBool   current;             /* Ghosts are fetched before the repeats, which is enough across thin cells. */
  VpCellSweep cells;               /* sweeps of single cells that follow the patches, or NULL */
  PetscInt    cell_sweeps;         /* how many of these sweeps */
  VpVector    r;                   /* b - A x, for the residual `global`; else NULL */
};

/* program.c: writes all programs. Must be called whenever one of the members above has changed. */
PetscErrorCode VpSmootherWritePrograms(VpSmoother);
