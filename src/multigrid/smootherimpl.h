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
  VpPatchView    view;
  int            start[9];           /* the batches of colour c are [start[c], start[c+1]) */
  int32_t        color[9], inner[8]; /* patches of colour c are [color[c], color[c+1]), those before inner[c] touch no ghost */
  Batch         *batch;
  PetscLogDouble flops; /* of a sweep over all of them */
} Part;

struct VpSmoother_ {
  VpLevel     level;
  VpArrays    arrays; /* of the views */
  int         ncolor;
  Part        part[PARTS];
  PetscInt    repeats, ncorner; /* sweeps over the corners' patches after one over others; these patches on all ranks */
  PetscBool   ends;             /* Does the level end within some rank's cells? */
  VpExchange  exchange;
  PetscBool   exact;       /* ghosts are current after every colour of the repeats, too: as if there were one rank; */
  PetscBool   current;     /* or at least when the repeats begin, which is enough across thin cells */
  PetscBool   renews;      /* ghosts are fetched again before the last colour */
  VpCellSweep cells;       /* what follows, or NULL, */
  PetscInt    cell_sweeps; /* and how often */
  VpVector    r;           /* residual `global`: b - A x wherever patches are */
  int         kind, kinds; /* the directions, as bits, in which its patches are at seams; in which the mesh has seams */
  int         place[3];    /* as of VpPatches */
  VpSmoother  seams;       /* of the patches at the next kind of seams, or NULL */
};
