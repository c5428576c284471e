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
  PetscInt     cell_sweeps; /* sweeps of single cells after one of patches; PETSC_DECIDE: where the coefficient is rough */
  PetscReal    cell_ratio;  /* of VpCellSweepCreate(); PETSC_DECIDE: some cells where levels are handed over, else all */
  PetscReal    handover;    /* A level is handed over to finite volumes where the coefficients of siblings differ by more than this factor;
                               0: VpHandoverRatio() */
  PetscBool    symmetric;   /* colours in reverse order in the pre-smoother */
  PetscInt     levels;      /* 0: all; PETSC_DECIDE: VpCycleCountLevels() */
  VpCoarsen    coarsening;
  VpCoarseType coarse;
  PetscBool    coarse_ksp; /* coarse is VP_COARSE_KSP only because the KSP has options: finite volumes may take them. */
  PetscInt     gather;     /* levels with fewer cells per rank than this gather on fewer ranks; PETSC_DECIDE: VpLeastCells() */
  PetscBool    replay;     /* on devices: the cycle's launches as one recorded piece, where that is possible */
} VpCycleOptions;
/* How many levels a cycle has. */
typedef struct {
  int       most;         /* that there are */
  PetscInt  levels;       /* of the cycle */
  PetscBool dense;        /* the coarsest of them is inverted as a dense matrix */
  double    seconds, all; /* of a cycle with these, and with all levels, where the cost has decided; else 0 */
} VpLevelCount;
/* A piece of work whose launches are replayed: what PETSc counts of it (flops; messages sent and received, and their bytes), and the states
   of the vectors after it. */
enum { VP_COUNTERS = 4 };
typedef struct {
  VpRecording    recording;
  PetscLogDouble flops, messages[VP_COUNTERS];
  VpVectorState *after;
} VpRecorded;

/* A level of a cycle. Nested iteration uses level, b, x and move alone. */
typedef struct {
  VpLevel            level;
  VpVector           b, x, r;        /* right-hand side, correction, residual; r is NULL until it is first needed */
  VpSmoother         smoother;       /* NULL on the coarsest level, unless it is handed over */
  VpMove             move;           /* from the ranks with the finer level's parents to those with this level; NULL if they are the same */
  PetscInt           visits;         /* how often a W or F cycle corrects x from the next level */
  PetscInt           repeats;        /* sweeps in place of one: 2 where `hard` of VpCoarsening is */
  struct VpPartial_ *partial;        /* what ties the level to the leaves of an adaptive mesh; NULL on coarser levels than any leaf */
  VpRecorded         recorded[2][2]; /* [plain, transposed][whole or before, after the coarse solve] from this level down */
} VpCycleLevel;

typedef struct VpCycle_ *VpCycle;
struct VpCycle_ {
  VpCycleOptions options; /* as the user wishes */
  struct {
    VpCycleType type;
    PetscInt    cell_sweeps;
    PetscReal   cell_ratio;
  } chosen; /* by the coefficient where the options leave it open, else as there */
  VpLevelCount  count;
  VpLattice     base;     /* the finest mesh's, with the coefficient that the coarsening needs */
  PetscReal     contrast; /* largest ratio of the coefficients of two siblings, over all levels but (unless adaptive) the finest */
  PetscBool     ends;     /* Levels end where the next one would join coefficients that are too different ... */
  PetscReal     joined;   /* ... by this ratio; */
  PetscBool     handed;   /* then the coarsest one is handed over to finite volumes, unless it is so small that it is solved exactly. */
  double        rough;    /* fraction of second-level cells whose children's coefficients differ by more than a factor VP_VARIES */
  PetscInt      nlevel;
  VpCycleLevel *at;       /* [nlevel] at[0] is the finest level, at[nlevel - 1] the coarsest */
  PetscInt      npartial; /* levels finer than the finest one that covers the domain; 0 unless the mesh is adaptive */
  struct {
    VpLevel  level;
    VpVector in, out;           /* what enters the cycle and what leaves it */
  } leaves;                     /* of an adaptive mesh; NULL without one */
  VpCoarse  coarse;             /* A cycle of several columns has that of its base. */
  int32_t   ncolumn;            /* 0 unless the cycle has several columns: copies of the mesh */
  VpVector  column_b, column_x; /* of one column on the base's coarsest level */
  PetscBool replays, whole;     /* Launches are recorded and replayed; as one record (whole), else as two, before and after the coarse
                                   solve. */
  VpVector *vectors;            /* [3 nlevel] scratch for lists of them */
};
/* Polynomials of a coarse cell follow coefficients that differ by less. */
PetscReal VpHandoverRatio(const VpCycleOptions *, int dim, int degree);
/* finest: the finest level's lattice; coarse: for a coarser level */
PetscInt VpCornerSweeps(const VpCycleOptions *, int degree, VpLattice finest, PetscBool coarse);
PetscInt VpLeastCells(const VpCycleOptions *, const VpBackend *, int dim, int degree);
/* on how few ranks a level lives, where the finer one is on `ranks` */
PetscMPIInt VpCycleRanks(const VpCycleOptions *, const VpBackend *, VpLattice, int degree, PetscMPIInt ranks);
/* Collective. count->levels may be more than there are, where the options say so. */
PetscErrorCode VpCycleCountLevels(VpMesh finest, const VpProblem *, const VpCycleOptions *, const VpBackend *, VpLevelCount *);
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
/* how many patches of all ranks are near corners on a level, and how often a sweep repeats them */
void VpCycleCorners(VpCycle, PetscInt level, PetscInt *patches, PetscInt *repeats);
/* The cycle as a linear map M on outer vectors [nown][n^dim] (double precision, orthonormal basis). M approximates A^-1: the problem's
   exponent is undone. Before every VpCycleSolve, VpCycleBegin says which vector takes the right-hand side of a level, and VpVectorEnter or
   VpVectorEnterResidual puts it in: scale r, or scale (f - A x). */
PetscErrorCode VpCycleBegin(VpCycle, PetscInt level, VpVector *r);
/* Then this computes z = scale M r (add: z += scale M r) by the cycle from that level down; transpose: by its adjoint. */
PetscErrorCode VpCycleSolve(VpCycle, PetscInt level, PetscBool transpose, PetscBool add, double scale, double *z);

/* the cycle for several vectors at once, as one for a mesh of so many copies. Requires: VpColumnsCan() */
typedef struct VpColumns_ *VpColumns;
PetscBool                  VpColumnsCan(VpCycle);
PetscInt                   VpColumnsAtOnce(VpLevel finest, PetscInt n); /* how many of n go together; 1 or 0: none do */
PetscErrorCode             VpColumnsCreate(VpCycle, int32_t n, VpColumns *);
PetscErrorCode             VpColumnsDestroy(VpColumns *);
PetscErrorCode             VpColumnsBegin(VpColumns);                                          /* comes first; then every column goes in */
VpVector                   VpColumnsRight(VpColumns, int32_t column);                          /* where the r of a column goes in */
PetscErrorCode             VpColumnsSolve(VpColumns, PetscBool transpose);                     /* applies the cycle to all columns */
PetscErrorCode             VpColumnsLeave(VpColumns, int32_t column, double scale, double *z); /* z = scale M r of a column */

/* Nested iteration, x = about A^-1 b, with the levels of a cycle that lives longer. finest: the outer operator of the cycle's finest level.
   b is what went in on that level after VpCycleBegin. */
typedef struct VpNested_ *VpNested;
PetscErrorCode            VpNestedCreate(VpCycle, VpLevel finest, VpNested *);
PetscErrorCode            VpNestedGuess(VpNested, double *x);
PetscErrorCode            VpNestedDestroy(VpNested *);
