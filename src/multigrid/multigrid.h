/* What other folders use of the algorithm: levels and their vectors, the cycle, nested iteration, one sweep. All arithmetic on the vectors
   of levels goes through the table of kernels: no file of this folder loops over their values. */
#pragma once
#include "vector.h"
#include <petscksp.h>

/* what -log_view shows; src/petsc/plugin.c registers them */
extern PetscClassId  VP_CLASSID;
extern PetscLogEvent VP_EVENT_SETUP, VP_EVENT_APPLY, VP_EVENT_SWEEP, VP_EVENT_TRANSFER, VP_EVENT_COARSE, VP_EVENT_CONVERT;

typedef enum { VP_RESIDUAL_EXACT, VP_RESIDUAL_LOCAL, VP_RESIDUAL_GLOBAL } VpResidual;
typedef enum { VP_EXCHANGE_AUTO, VP_EXCHANGE_SWEEP, VP_EXCHANGE_COLOR } VpExchange;
typedef enum { VP_CYCLE_V, VP_CYCLE_W, VP_CYCLE_F, VP_CYCLE_AUTO } VpCycleType;
typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP, VP_COARSE_DENSE } VpCoarseType;

/* The operator 2^exponent (-div(a grad u) + c u) on polynomials of a degree. coefficient [nown] is a on own cells; NULL means 1. Where a is
   a diagonal tensor, coefficient [nown][dim] are its diagonals. The exponent brings the numbers near 1, where single precision holds them;
   only a level's tables contain it. */
typedef struct {
  int              degree;
  double           penalty, reaction;
  const PetscReal *coefficient;
  const PetscReal *coarser; /* of a level with a part of its cells that has a coefficient: the same of the next coarser one; else NULL */
  int              tensor;  /* dim where a is a tensor, else 0 */
  VpLattice        lattice; /* with the means of a in boxes, or NULL: VpMeshBaseLattice(). Cycles coarsen by it */
  int              exponent;
} VpProblem;
/* numbers of a cell's coefficient, and that along direction d */
static inline int VpProblemWidth(const VpProblem *problem)
{
  return PetscMax(problem->tensor, 1);
}
static inline PetscReal VpProblemCoefficient(const VpProblem *problem, int32_t cell, int d)
{
  if (!problem->coefficient) return 1;
  return problem->coefficient[problem->tensor ? (size_t)cell * problem->tensor + d : (size_t)cell];
}

/* Arrays on a backend that are released together. */
typedef struct {
  const VpBackend *backend;
  VpPrecision      precision;
  int              n;
  void            *array[32];
} VpArrays;
PetscErrorCode VpArraysReserve(VpArrays *, size_t bytes, const char *what, void **p); /* zeroed */
/* copies a host array to the backend; VpArraysPlaceReals converts it from double to the precision */
PetscErrorCode VpArraysPlace(VpArrays *, const void *host, size_t bytes, const char *what, const void **p);
PetscErrorCode VpArraysPlaceReals(VpArrays *, const double *host, size_t count, const char *what, const void **p);
PetscErrorCode VpArraysRelease(VpArrays *);

/* A level has the mesh, tables and kernels of one precision and basis. It is the outer operator (in double precision and the orthonormal
   basis, with ghosts by sides) or a level of the cycle. */
struct VpLevel_ {
  int              refct;
  VpMesh           mesh;
  VpProblem        problem;     /* coefficient: own copy for cells [0, nlocal), or NULL; coarser: [nsweep][2 dim] beyond edges */
  PetscReal        scale;       /* 2^exponent of the problem */
  PetscReal        uniform[3];  /* 2^exponent a along each direction where a is the same in all cells of all ranks, else 0 */
  PetscReal        typical;     /* the scale of the patches' eigenvalues: the largest of uniform; where that is 0, the largest power of two
                                  that is at most the largest 2^exponent a */
  PetscReal        thinnest[3]; /* least size of a cell in every direction; h/sqrt(a) counts as the size where a is a tensor */
  PetscReal        aspect;      /* least ratio of two of these sizes of a cell */
  VpPrecision      precision;
  VpBasis          basis;
  const VpBackend *backend;
  const VpOps     *ops;
  VpView           view;
  PetscReal        common[3]; /* size of the cells that have the view's common lines */
  VpTransferView   transfer;  /* empty until VpLevelSetTransfer */
  size_t           real;      /* bytes of a number */
  size_t           block;     /* bytes of a cell: real n^dim */
  MPI_Datatype     unit;      /* a cell */
  VpGhostKind      reads;     /* the ghosts that A x reads: VP_GHOST_SIDE of an outer level, VP_GHOST_FACE of another */
  VpArrays         arrays;    /* of the views */
  VpGhostExchange  exchange;  /* of its vectors */
};
PetscErrorCode VpLevelCreate(VpMesh, const VpProblem *, VpBasisType, VpPrecision, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelCreateOuter(VpMesh, const VpProblem *, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelDestroy(VpLevel *);
PetscErrorCode VpLevelSetTransfer(VpLevel fine); /* fills the view of the transfers to mesh->coarser */
/* The most that a precision holds of penalty k(k+1). Beyond it sweeps in single precision diverge (it is 1/eps there), and A x in double
   precision has fewer than three digits. Single precision holds numbers of VpProblemRange() whose quotient is at most
   2^VP_SPREAD_SINGLE. */
#define VP_MOST_PENALTY(precision) ((precision) == VP_SINGLE ? 8e6 : 4e10)
#define VP_SPREAD_SINGLE           80
/* The least and the largest number that the operator is made of, over all cells, directions and ranks: a/h^2, or the reaction where it is
   larger, and a alpha/h at Robin sides. Where constants would be the null space without the reaction, the reaction also counts as the least
   number. */
PetscErrorCode VpProblemRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* the smallest and the largest value of the coefficient on all ranks, in any direction */
PetscErrorCode VpCoefficientRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* what a cycle coarsens by: a new reference */
PetscErrorCode VpProblemGetLattice(VpMesh, const VpProblem *, VpLattice *);
/* the number of levels that a cycle may have, the finest included, and their cells (NULL: not asked for) */
PetscErrorCode VpProblemCountLevels(VpMesh, const VpProblem *, VpCoarsen, int *levels, double cells[]);
/* the lattice for a problem with a coefficient. Collective */
PetscErrorCode VpProblemCreateLattice(VpMesh, const VpProblem *, VpLattice *);
/* The coefficient's means over the children, on the coarse mesh's own cells, but where there are none; a: that of own cells, so many
   numbers a cell. contrast [own coarse cells] or NULL: the largest quotient of the coefficients of two children, along one direction. */
PetscErrorCode VpCoarsenCoefficient(VpMesh fine, int width, const PetscReal a[], PetscReal coarse[], PetscReal contrast[]);
/* If a coefficient varies by more than this factor among a cell's children, F cycles are faster than V cycles, or sweeps of cells pay, as
   measured. */
#define VP_VARIES 3.5
/* flops of A x on own cells */
PetscLogDouble VpLevelApplyFlops(VpLevel);
PetscErrorCode VpLogFlops(VpLevel, PetscLogDouble); /* logs those of work on the level's backend */
/* of a transfer or conversion: one small matrix a cell and direction */
static inline PetscLogDouble VpTransferFlops(const VpView *view, int32_t cells)
{
  return 2. * cells * view->dim * pow(view->n, view->dim + 1);
}

/* With fewer cells a rank than this, copies of neighbours' patches are a large part of the work: sweeps exchange after every colour and
   repeat none of them. Levels on devices gather on fewer ranks. */
#define VP_FEW_CELLS 4096
/* With fewer unknowns a rank a level gathers on fewer hosts: a core sweeps them in the time of some messages. */
#define VP_FEW_UNKNOWNS 500
/* what is asked, or where that is auto, the exchange that suits the level */
VpExchange VpChooseExchange(VpLevel, VpExchange asked);

/* Is a coarsest level of so many unknowns, on so many ranks, one whose inverse is a dense matrix, unless it separates? */
PetscBool VpCoarseIsDense(VpCoarseType, PetscBool device, PetscInt ranks, double unknowns);

/* The matrix and its parts. Requires: the level is on the host, in double precision and the orthonormal basis. */
PetscErrorCode VpSetPositiveDefinite(Mat);
PetscErrorCode VpAssemble(VpLevel, MatType, Mat *);
PetscErrorCode VpDiagonal(VpLevel, double d[]);                /* [nown][n^dim] */
PetscErrorCode VpAbsoluteSums(VpLevel, NormType, PetscReal *); /* matrix norms: NORM_1, NORM_FROBENIUS, NORM_INFINITY, over all ranks */
PetscErrorCode VpConstant(VpLevel, double one[]);              /* [nown][n^dim] coefficients of the function 1 */
PetscErrorCode VpSetConstantNullSpace(VpLevel, Mat);           /* gives the constants to a matrix of the level */
PetscBool      VpProblemIsSingular(VpMesh, const VpProblem *); /* Are constants the null space: no Dirichlet or Robin side, no reaction? */

/* The multigrid cycle. */
typedef struct {
  VpSpace      space;
  VpResidual   residual;
  VpExchange   exchange;
  VpPrecision  precision;
  VpCycleType  type;
  PetscInt     pre, post;
  PetscInt     corners;     /* how often a sweep repeats the patches near corners; PETSC_DECIDE: VpCornerSweeps() */
  PetscBool    line_search; /* Each coarse correction counts by as much as helps most. */
  PetscInt     cell_sweeps; /* sweeps of single cells after one of patches; PETSC_DECIDE: where the coefficient is rough */
  PetscBool    symmetric;   /* colours in reverse order in the pre-smoother */
  PetscInt     levels;      /* 0: all; PETSC_DECIDE: VpCycleDepth() */
  VpCoarsen    coarsening;
  VpCoarseType coarse;
  PetscInt     gather; /* levels with fewer cells a rank than this gather on fewer ranks; PETSC_DECIDE: VpLeastCells() */
  PetscBool    replay; /* on devices: the cycle's launches as one recorded piece, where that is possible */
} VpCycleOptions;
/* How many levels a cycle has. */
typedef struct {
  int      most;         /* that there are */
  PetscInt levels;       /* of the cycle */
  double   seconds, all; /* of a cycle with these, and with all levels, where the cost has decided; else 0 */
} VpDepth;
typedef struct VpCoarse_ *VpCoarse;
typedef struct VpCycle_  *VpCycle;
struct VpCycle_ {
  VpCycleOptions options; /* with the type that was chosen */
  VpDepth        depth;
  VpLattice      base;     /* the finest mesh's, with the coefficient that the coarsening needs */
  PetscReal      contrast; /* the largest quotient of the coefficients of two children of a cell, below the finest level, on any rank */
  double         rough;    /* the part of the second level's cells with children of the finest where it is more than VP_VARIES */
  PetscInt       nlevel;
  VpLevel       *level;               /* level[0] is the finest, level[nlevel - 1] the coarsest */
  struct VpComposite_     *composite; /* of an adaptive mesh: its leaves, and what is between its levels; else NULL */
  PetscInt                 parts;     /* levels with a part of the cells of their size; 0 unless there is `composite` */
  VpVector                *b, *x, *r; /* [nlevel] right-hand sides, corrections, residuals; r[l] is NULL until a residual is first needed */
  struct VpSmoother_     **smoother;  /* [nlevel]; the coarsest has none */
  PetscInt                *visits;    /* [nlevel] how often a W cycle corrects a level's x from the next one */
  PetscInt                *repeats;   /* [nlevel] how often every sweep is made: twice where `hard` of VpCoarsening is */
  struct VpLineSearch_   **search;    /* [nlevel] NULL without line search */
  struct VpMove_         **move;    /* [nlevel] between the ranks where the parents of level l - 1 live and those where level l lives; NULL
                                       where these are the same */
  VpCoarse                 coarse;  /* A cycle of several columns has that of its base. */
  struct VpCoarseColumns_ *columns; /* what brings columns to it; NULL unless the cycle has several */
  PetscBool                replays, whole; /* Launches are recorded and replayed; as one record (whole), else as two, before and after the
                                            coarse solve. */
  struct VpRecorded_      *recorded;       /* [nlevel][plain, transposed][whole or before, after] from a level down */
  VpVector                *vectors;        /* [3 nlevel] room for a list of them */
};
PetscInt VpCornerSweeps(const VpCycleOptions *, int degree);
PetscInt VpLeastCells(const VpCycleOptions *, const VpBackend *, int dim, int degree);
/* on how few ranks a level lives, where the finer one is on `ranks` */
PetscMPIInt VpCycleRanks(const VpCycleOptions *, const VpBackend *, VpLattice, int degree, PetscMPIInt ranks);
/* Collective. depth->levels may be more than there are, where the options say so. */
PetscErrorCode VpCycleDepth(VpMesh finest, const VpProblem *, const VpCycleOptions *, const VpBackend *, VpDepth *);
/* how many levels there are above the one that has the cells of the least depth everywhere; 0 unless the mesh is adaptive */
static inline PetscInt VpCycleParts(VpMesh finest)
{
  return finest->depth ? finest->level - finest->least : 0;
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

/* columns.c: an outer level for so many vectors at once. Requires: its mesh is not adaptive */
PetscErrorCode VpLevelRepeatOuter(VpLevel, int32_t n, VpLevel *);
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

/* the solver of the coarsest level */
PetscErrorCode VpCoarseGetKSP(VpCoarse, KSP *); /* NULL where there is none */
PetscInt       VpCoarseStopped(VpCoarse);       /* iterations after which that KSP did not converge; 0: it always did */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);

/* One sweep from zero as a preconditioner M. First r goes in, by VpVectorEnter or VpVectorEnterResidual. */
typedef struct VpOneSweep_ *VpOneSweep;
PetscErrorCode              VpOneSweepCreate(VpLevel, VpSpace, VpResidual, VpExchange, VpOneSweep *);
PetscErrorCode              VpOneSweepBegin(VpOneSweep, VpVector *b); /* b: where r goes in */
/* z = scale M r (add: z += scale M r). M approximates (2^exponent A)^-1: the caller undoes the exponent. */
PetscErrorCode VpOneSweepSolve(VpOneSweep, PetscBool reverse, PetscBool add, double scale, double *z);
PetscErrorCode VpOneSweepDestroy(VpOneSweep *);

/* Nested iteration, x = about A^-1 b, with the levels of a cycle that lives longer. finest: the outer operator of the cycle's finest level.
   b is what went in on that level after VpCycleBegin. */
typedef struct VpNested_ *VpNested;
PetscErrorCode            VpNestedCreate(VpCycle, VpLevel finest, VpNested *);
PetscErrorCode            VpNestedGuess(VpNested, double *x);
PetscErrorCode            VpNestedDestroy(VpNested *);
