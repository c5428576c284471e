/* The multigrid cycle, for one vector or several, and nested iteration. */
#pragma once
#include "../coarse/coarse.h"
#include "../smoother/smoother.h"

typedef enum { VP_CYCLE_V, VP_CYCLE_W, VP_CYCLE_F, VP_CYCLE_AUTO } VpCycleType;
typedef struct {
  VpSpace      space;
  VpResidual   residual;
  VpExchange   exchange;
  VpPrecision  precision;
  VpCycleType  type;
  PetscInt     pre, post;
  PetscInt     corners;     /* how often a sweep repeats the patches near corners; PETSC_DECIDE: VpCornerSweeps() */
  PetscInt     colors;      /* colours of patches that a sweep goes through; 0: all; PETSC_DECIDE: by the metric */
  PetscInt     cell_sweeps; /* sweeps of single cells after one of patches; PETSC_DECIDE: where the coefficient is rough */
  PetscReal    cell_ratio;  /* of VpCellSweepCreate(); PETSC_DECIDE: some cells where levels are handed over, else all */
  PetscReal    handover;    /* A level is handed over to finite volumes where the coefficients of siblings differ by more than this factor;
                               0: VpHandoverRatio() */
  PetscBool    symmetric;   /* The pre-smoother takes colours in reverse order. */
  PetscInt     levels;      /* 0: all; PETSC_DECIDE: VpCycleCountLevels() */
  VpCoarsen    coarsening;
  VpCoarseType coarse;
  PetscBool    coarse_ksp; /* coarse is VP_COARSE_KSP only because the KSP has options: finite volumes may take them. */
  PetscInt     gather;     /* levels with fewer cells per rank than this gather on fewer ranks; PETSC_DECIDE: VpLeastCells() */
  PetscBool    replay;     /* Devices record and replay the cycle's launches. */
} VpCycleOptions;
/* The number of levels of a cycle. */
typedef struct {
  int         most;         /* levels that there are */
  PetscInt    levels;       /* levels of the cycle */
  VpCoarseWay way;          /* that is expected for the coarsest of them; VP_COARSE_WAYS if the options ask for others than there are */
  double      seconds, all; /* time of a cycle with these levels, and with all levels; 0 unless the time has decided */
} VpLevelCount;
/* Work whose launches are replayed, with what it adds to PETSc's counters (flops; messages sent and received, and their bytes), and the
   states of the vectors after it. */
enum { VP_COUNTERS = 4 };
typedef struct {
  VpRecording    recording;
  PetscLogDouble flops, messages[VP_COUNTERS];
  VpVectorState *after;
} VpRecorded;

/* A level of a cycle. Nested iteration uses level, b, x and move alone. */
typedef struct {
  VpLevel    level;
  VpVector   b, x, r;  /* right-hand side, correction, residual; r is NULL until it is first needed */
  VpSmoother smoother; /* NULL on the coarsest level, unless it is handed over */
  VpMove     move;     /* from the ranks with the finer level's parents to those with this level; NULL if these are the same */
  PetscInt   visits;   /* how often a W or F cycle corrects x from the next level */
  PetscInt   repeats;  /* sweeps in place of one (VpCountSweeps()) */
  struct VpPartial_
    *partial; /* how the level is connected to the leaves of an adaptive mesh; NULL if no leaf is a cell of the level or of a coarser one */
  VpRecorded recorded[2][2]; /* [plain, transposed][whole or before, after the coarse solve] from this level down */
} VpCycleLevel;

typedef struct VpCycle_ *VpCycle;
struct VpCycle_ {
  VpCycleOptions options; /* as the user wishes */
  struct {
    VpCycleType type;
    PetscInt    cell_sweeps;
    PetscInt    colors;
    PetscReal   cell_ratio;
    PetscBool   for_angles; /* The type is V because angles rule. */
  } chosen;                 /* what `options` say, or what suits the coefficient if they leave it open */
  VpLevelCount  count;
  VpLattice     base;     /* lattice of the finest mesh, with the coefficient that the coarsening needs */
  PetscReal     contrast; /* largest ratio of the coefficients of two siblings, over all levels but (unless adaptive) the finest */
  PetscBool     ends;     /* There are no coarser levels because the next one would join coefficients that differ too much ... */
  PetscReal     joined;   /* ... by this ratio. */
  PetscBool     handed;   /* The coarsest level, or all leaves, are handed over to finite volumes. Requires: `ends` */
  double        rough;    /* fraction of second-level cells whose children's coefficients differ by more than a factor VP_VARIES */
  PetscInt      nlevel;
  VpCycleLevel *at;       /* [nlevel] at[0] is the finest level, at[nlevel - 1] the coarsest */
  PetscInt      npartial; /* levels finer than the finest one that covers the domain; 0 unless the mesh is adaptive */
  struct {
    VpLevel   level;
    PetscBool rough;            /* Refined cells join coefficients that differ too much. */
    PetscBool handed;           /* Finite volumes of all leaves correct x before the levels do. The coarsest level only sweeps then. */
    VpVector  b, x;             /* then: what enters the cycle, and that correction; else NULL */
    VpVector  in, out;          /* the vectors that r enters and z leaves */
  } leaves;                     /* of an adaptive mesh; else NULL */
  VpCoarse  coarse;             /* A cycle of several columns shares that of its base. */
  int32_t   ncolumn;            /* 0 unless the cycle has several columns: copies of the mesh */
  VpVector  column_b, column_x; /* vectors of one column on the base's coarsest level */
  PetscBool replays, whole; /* Launches are recorded and replayed, as one record (whole) or as two, before and after the coarse solve. */
  VpVector *vectors;        /* [3 nlevel] scratch for lists of them */
};
/* ratio of siblings' coefficients up to which a coarse cell's polynomials follow them */
PetscReal VpHandoverRatio(const VpCycleOptions *, const VpBackend *, int dim, int degree);
/* Finite volumes take the place of a solver that the user has not chosen. Where they are slow, or the coefficient is oblique, the user must
   have given a ratio. */
PetscBool VpCycleMayHandOver(const VpCycleOptions *, const VpBackend *, const VpProblem *);
/* Levels of at most this number of cells in a direction are coarsened in any case, unless finer levels end on them. */
enum { VP_FEW_CELLS_ALONG = 4 };
/* how often sweeps repeat the patches near corners. finest: the finest level's lattice; coarse: on a coarser level */
PetscInt VpCornerSweeps(const VpCycleOptions *, int degree, VpLattice finest, PetscBool coarse);
PetscInt VpLeastCells(const VpCycleOptions *, const VpBackend *, int dim, int degree);
/* the number of ranks of a level, if the next finer one is on `ranks` */
PetscMPIInt VpCycleRanks(const VpCycleOptions *, const VpBackend *, VpLattice, int degree, PetscMPIInt ranks);
/* Collective. count->levels may be more than there are if the options say so. */
PetscErrorCode VpCycleCountLevels(VpMesh finest, const VpProblem *, const VpCycleOptions *, const VpBackend *, VpLevelCount *);
/* The levels that the options ask for; <= 0: none. Finite volumes in place of a partial level are those of all leaves. */
PetscInt VpCycleAskedLevels(VpMesh finest, const VpCycleOptions *);
/* whether the options ask for that */
PetscBool VpCycleHandsLeavesOver(PetscInt npartial, const VpCycleOptions *);
/* Error unless levels <= most. levels <= 0 means that none were requested. */
PetscErrorCode VpCycleCheckLevels(VpMesh finest, PetscInt levels, int most);
/* number of partial levels: those finer than the finest level that covers the whole domain */
static inline PetscInt VpCyclePartial(VpMesh finest)
{
  return finest->level - finest->least;
}
/* parent: the PC, whose prefix and tab level the coarse KSP takes */
PetscErrorCode VpCycleCreate(VpMesh finest, const VpProblem *, const VpCycleOptions *, const VpBackend *, PetscObject parent, VpCycle *);
PetscErrorCode VpCycleDestroy(VpCycle *);
/* the number of patches near corners on a level, on all ranks, and how often a sweep repeats them */
void VpCycleCorners(VpCycle, PetscInt level, PetscInt *patches, PetscInt *repeats);
/* The cycle as a linear map M on outer vectors [nown][n^dim] (double precision, orthonormal basis). M approximates A^-1 without the
   problem's exponent. Before every VpCycleSolve(), VpCycleBegin() gives the vector of a level that takes the right-hand side, scale r or
   scale (f - A x), by VpVectorEnter() or VpVectorEnterResidual(). */
PetscErrorCode VpCycleBegin(VpCycle, PetscInt level, VpVector *r);
/* z = scale M r (add: z += scale M r) by the cycle from that level down; transpose: by its adjoint */
PetscErrorCode VpCycleSolve(VpCycle, PetscInt level, PetscBool transpose, PetscBool add, double scale, double *z);
/* apply.c: the finest level's cycle in two steps: M r stays in the cycle, and products[n] of scale M r with vectors y[n], n = 1 or 2, are
   found; then VpCycleLeave(), as often as wanted. Requires: VpCycleHolds() */
PetscBool      VpCycleHolds(VpCycle);
PetscErrorCode VpCycleHold(VpCycle, double scale, int n, const double *const y[], double products[]);
/* z = scale x of level l, on all leaves if l is the finest level of an adaptive mesh; add: z += scale x */
PetscErrorCode VpCycleLeave(VpCycle, PetscInt l, PetscBool add, double scale, double *z);

/* The cycle for several vectors (columns) at once. Requires: VpColumnsCan() */
typedef struct VpColumns_ *VpColumns;
PetscBool                  VpColumnsCan(VpCycle);
PetscInt                   VpColumnsAtOnce(VpLevel finest, PetscInt n); /* how many of n columns are treated at once; 1 or 0: no two */
PetscErrorCode             VpColumnsCreate(VpCycle, int32_t n, VpColumns *);
PetscErrorCode             VpColumnsDestroy(VpColumns *);
PetscErrorCode             VpColumnsBegin(VpColumns);                 /* must come first; then every column enters */
VpVector                   VpColumnsRight(VpColumns, int32_t column); /* the vector that r of a column enters */
PetscErrorCode             VpColumnsSolve(VpColumns);                 /* applies the cycle to all columns */
PetscErrorCode             VpColumnsLeave(VpColumns, int32_t column, double scale, double *z); /* z = scale M r of a column */

/* Nested iteration: x approximates A^-1 b. It uses the levels of a cycle, which must outlive it. finest: the outer operator of the cycle's
   finest level. VpCycleBegin() on the finest level gives the vector that b enters first. */
typedef struct VpNested_ *VpNested;
PetscErrorCode            VpNestedCreate(VpCycle, VpLevel finest, VpNested *);
PetscErrorCode            VpNestedGuess(VpNested, double *x);
PetscErrorCode            VpNestedDestroy(VpNested *);
