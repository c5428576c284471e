/* What a smoother is: smoother.c makes it, sweep.c sweeps. */
#pragma once
#include "cellsweep.h"
#include "internal.h"

/* patches [first, last) of one colour that get their residual the same way */
typedef struct {
  int32_t first, last;
  VpForm  form;
} Batch;

/* patches that are swept together: all; those near corners; those where a level of an adaptive mesh ends */
enum { PART_ALL, PART_CORNERS, PART_EDGES, PARTS };
typedef struct {
  VpPatchView view;
  int         start[VP_MOST_COLORS + 1]; /* the batches of colour c are [start[c], start[c+1]) */
  int32_t     color[VP_MOST_COLORS + 1],
    inner[VP_MOST_COLORS]; /* patches of colour c are [color[c], color[c+1]), those before inner[c] touch no ghost */
  int32_t        nexact;   /* patches that are marked in view.exact */
  Batch         *batch;
  PetscLogDouble flops; /* of a sweep over all of them */
} Part;

struct VpSmoother_ {
  VpLevel     level;
  VpArrays    arrays; /* of the views */
  int         ncolor;
  Part        part[PARTS];
  PetscInt    repeats, ncorner; /* how often the corners' patches are swept after the others; their number on all ranks */
  PetscBool   ends;             /* Some rank has patches where the level ends. */
  VpExchange  exchange;
  PetscBool   exact;       /* Ghosts are current after every colour, of the repeats, too, as if there were one rank. */
  PetscBool   current;     /* Ghosts are current at least when the repeats begin, which is enough across thin cells. */
  PetscBool   renews;      /* Ghosts are fetched again before the last colour. */
  VpCellSweep cells;       /* the sweeps of single cells that follow, or NULL */
  PetscInt    cell_sweeps; /* how many of these */
  VpVector    r;           /* residual `global`: b - A x wherever patches are */
  int         kind, kinds; /* bits of the directions in which its patches are at seams; in which the mesh has seams */
  int         digit[3];    /* as of VpPatches */
  VpSmoother  seams;       /* of the patches at the next kind of seams, or NULL */
};
