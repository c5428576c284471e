/* The algorithm: levels, smoother, cycle. Loops over the ops table; nothing here knows a precision, a dimension or a device. */
#pragma once
#include "../communication/communication.h"
#include <petscksp.h>

/* what -log_view shows; registered by src/petsc/plugin.c */
extern PetscClassId  VP_CLASSID;
extern PetscLogEvent VP_EVENT_SETUP, VP_EVENT_APPLY, VP_EVENT_SWEEP, VP_EVENT_TRANSFER, VP_EVENT_COARSE, VP_EVENT_CONVERT;

typedef enum { VP_RESIDUAL_EXACT, VP_RESIDUAL_LOCAL, VP_RESIDUAL_GLOBAL } VpResidual;
typedef enum { VP_EXCHANGE_AUTO, VP_EXCHANGE_SWEEP, VP_EXCHANGE_COLOR } VpExchange;
typedef enum { VP_CYCLE_V, VP_CYCLE_W } VpCycleType;
typedef enum { VP_COARSE_AUTO, VP_COARSE_SWEEPS, VP_COARSE_KSP } VpCoarseType;

/* 2^exponent (-div(a grad u) + c u), degree of the polynomials; the coefficient of own cells, or NULL: 1. The exponent brings the numbers
   near 1, for single precision; only a level's tables contain it. */
typedef struct {
  int              degree;
  double           penalty, reaction;
  const PetscReal *coefficient;
  int              exponent;
} VpProblem;

/* Arrays on a backend that are released together. */
typedef struct {
  const VpBackend *backend;
  VpPrecision      precision;
  int              n;
  void            *array[32];
} VpArrays;
/* copies a host array to the backend; VpArraysPlaceReals converts it from double to the precision */
PetscErrorCode VpArraysPlace(VpArrays *, const void *host, size_t bytes, const char *what, const void **p);
PetscErrorCode VpArraysPlaceReals(VpArrays *, const double *host, size_t count, const char *what, const void **p);
PetscErrorCode VpArraysRelease(VpArrays *);

/* A level: mesh, tables and kernels in one precision and basis. Two uses: the outer operator (double, orthonormal, ghosts by sides) and a
   level of the cycle. */
typedef struct VpLevel_     *VpLevel;
typedef struct VpGather_    *VpGather;    /* gather.c */
struct VpLevel_ {
  int              refct;
  VpMesh           mesh;
  VpProblem        problem;     /* coefficient: own copy for cells [0, nlocal), or NULL */
  PetscReal        scale;       /* 2^exponent of the problem */
  PetscReal        uniform;     /* 2^exponent a where a is the same in all cells of all ranks, else 0 */
  PetscReal        typical;     /* that of the patches' eigenvalues: uniform, else a power of two next to the largest 2^exponent a */
  VpPrecision      precision;
  VpBasis          basis;
  const VpBackend *backend;
  const VpOps     *ops;
  VpView           view;
  PetscReal        common[3];   /* size of the cells that have the view's common lines */
  VpTransferView   transfer;    /* empty until VpLevelSetTransfer */
  size_t           real;        /* bytes of a number */
  size_t           block;       /* bytes of a cell: real n^dim */
  MPI_Datatype     unit;        /* a cell */
  VpGhostKind      reads;       /* the ghosts that A x reads: VP_GHOST_SIDE of an outer level, VP_GHOST_FACE of another */
  VpArrays         arrays;      /* of the views */
  VpGhostExchange  exchange;    /* of its vectors */
};
PetscErrorCode VpLevelCreate(VpMesh, const VpProblem *, VpBasisType, VpPrecision, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelCreateOuter(VpMesh, const VpProblem *, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelReference(VpLevel);
PetscErrorCode VpLevelDestroy(VpLevel *);
PetscErrorCode VpLevelSetTransfer(VpLevel fine); /* fills the view of the transfers to mesh->coarser */
PetscErrorCode VpLevelVectorCreate(VpLevel, const char *what, void **v); /* zero; with room for ghosts of all kinds */
/* Ghost values from their owners; own: [nown] cells, ghost: those of the kind, which are there after VpArrive; of VP_GHOST_SIDE only those
   that make the traces. One of a kind at a time. */
PetscErrorCode VpLevelExchangeBegin(VpLevel, VpGhostKind, const void *own, void *ghost, VpGhosts *);
PetscErrorCode VpLevelRefresh(VpLevel, VpGhostKind, void *v, VpGhosts *); /* the same with ghosts right behind own cells */
PetscErrorCode VpLevelExchange(VpLevel, VpGhostKind, void *v);            /* and waits */
/* Outer vectors, double and orthonormal, to b and from x of a level, own cells: b = scale r; b = scale (f - A x) (x NULL: scale f), norm2:
   the sum of its squares over all ranks, or NULL; z = scale x (add: z += scale x) */
PetscErrorCode VpLevelEnter(VpLevel, double scale, const double *r, void *b);
PetscErrorCode VpLevelEnterResidual(VpLevel, VpLevel outer, double scale, const double *x, VpGhosts, const double *f, void *b,
                                    PetscReal *norm2);
PetscErrorCode VpLevelLeave(VpLevel, PetscBool add, double scale, const void *x, double *z);
/* What a precision holds: penalty k(k+1), beyond which sweeps in single precision diverge (1/eps) and A x in double has fewer than three
   digits; and 2^spread, the quotient of the numbers of VpProblemRange() */
#define VP_MOST_PENALTY(precision) ((precision) == VP_SINGLE ? 8e6 : 4e10)
#define VP_SPREAD_SINGLE           80
/* the least and the largest of what the operator is made of, over all cells, directions and ranks: a/h^2, or the reaction where that is
   more. Where constants have nothing but the reaction, the least counts it */
PetscErrorCode VpProblemRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* smallest and largest of the coefficient, of all ranks */
PetscErrorCode VpCoefficientRange(VpMesh, const PetscReal own[], PetscReal range[2]);
/* arithmetic means of the coefficient over the children, on the coarse mesh's own cells */
PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const PetscReal a[], PetscReal coarse[]);
/* flops of one application on own cells / of one sweep, this rank */
PetscLogDouble VpLevelApplyFlops(VpLevel);
PetscErrorCode VpLogFlops(VpLevel, PetscLogDouble); /* of work on the level's backend */

/* The coloured multiplicative vertex-patch smoother of one level. */
typedef struct VpSmoother_ *VpSmoother;
PetscErrorCode VpSmootherCreate(VpLevel, VpSpace, VpResidual, VpExchange, VpSmoother *);
PetscErrorCode VpSmootherDestroy(VpSmoother *);
const VpPatchView *VpSmootherPatches(VpSmoother);
/* a smoother's sweep or color, where auto is asked: on small levels every colour exchanges */
PetscErrorCode VpChooseExchange(VpLevel, VpExchange asked, VpExchange *);
/* In single precision: before the last colour the owners' values come to ghosts, whose copies have rounding errors of their own. Neighbours
   would else be solved against what differs by these, and the residual shows it, on the finest level. */
PetscErrorCode VpSmootherClose(VpSmoother);
/* takes the residual form also where the replacement form would do: for comparison */
PetscErrorCode VpSmootherUseResidualForm(VpSmoother);
/* One sweep over all colours (reverse: in opposite order). x: two buffers, values in x[0] before and after (own cells). Ghosts (VP_GHOST_ALL
   of x[0], VP_GHOST_SWEEP of b) are current on entry, but for some that may be under way, unless zero: x[0] is all 0. They are not, of x[0],
   on return. */
PetscErrorCode VpSmootherSweep(VpSmoother, PetscBool zero, PetscBool reverse, VpGhosts under_way, void *b, void *const x[2]);
PetscLogDouble VpSmootherFlops(VpSmoother);

/* The coarsest problem. auto: its inverse where it separates (separable.c), otherwise sweeps on devices and a KSP on the host; sweeps that do
   not converge: a KSP on the assembled matrix. */
typedef struct VpCoarse_ *VpCoarse;
PetscErrorCode VpCoarseCreate(VpLevel, VpCoarseType, const char prefix[], PetscObject parent, VpCoarse *);
PetscErrorCode VpCoarseSolve(VpCoarse, void *b, void *const x[2]); /* x[0] = A^-1 b on own cells */
PetscErrorCode VpCoarseGetKSP(VpCoarse, KSP *); /* NULL where there is none */
PetscInt       VpCoarseStopped(VpCoarse); /* iterations after which its KSP did not converge; 0: it always did */
PetscErrorCode VpCoarseView(VpCoarse, PetscViewer);
PetscErrorCode VpCoarseDestroy(VpCoarse *);

/* assemble.c: the matrix of a (host, double, orthonormal) level; its diagonal; a function equal to 1 */
PetscErrorCode VpSetPositiveDefinite(Mat);
PetscErrorCode VpAssemble(VpLevel, MatType, Mat *);
PetscErrorCode VpDiagonal(VpLevel, double d[]);      /* [nown][n^dim] */
PetscErrorCode VpAbsoluteSums(VpLevel, NormType, PetscReal *); /* matrix norms: NORM_1, NORM_FROBENIUS, NORM_INFINITY, over all ranks */
PetscErrorCode VpConstant(VpLevel, double one[]);    /* [nown][n^dim] coefficients of the function 1 */
PetscBool      VpProblemIsSingular(VpMesh, const VpProblem *); /* no Dirichlet face, no reaction: constants are the null space */

/* launches that are replayed, and what PETSc counts of them: flops, messages sent and received, their bytes */
typedef struct {
  VpRecording    recording;
  PetscLogDouble flops, messages[4];
} VpRecorded;

/* The multigrid cycle. */
typedef struct {
  VpSpace     space;
  VpResidual  residual;
  VpExchange  exchange;
  VpPrecision precision;
  VpCycleType type;
  PetscInt    pre, post;
  PetscBool   symmetric; /* colours in reverse order in the pre-smoother */
  PetscInt    levels;    /* 0: down to boxes refined once */
  VpCoarseType coarse;
  PetscInt    gather;    /* levels with fewer cells a rank than this gather on fewer ranks; PETSC_DECIDE */
  PetscBool   replay;    /* on devices: the cycle's launches as one recorded piece, where that is possible */
} VpCycleOptions;
typedef struct VpCycle_ *VpCycle;
struct VpCycle_ {
  VpCycleOptions options;
  PetscInt       nlevel;   /* 0 is the finest */
  VpLevel       *level;
  VpSmoother    *smoother; /* [nlevel]; the coarsest has none */
  VpGather      *gather;   /* [nlevel]; NULL where a level lives on as many ranks as the finer one */
  VpCoarse       coarse;
  void         **b, **x[2], **r; /* [nlevel] vectors; r[l] NULL until it is needed */
  VpGhosts      *under_way;      /* [nlevel] ghosts of b for sweeps, there or under way until b changes; values NULL: not asked for */
  PetscBool      replays, whole; /* the cycle, or what comes before and after its coarse solve */
  VpRecorded    *recorded;       /* [nlevel][plain, transposed][whole or before, after] from a level down */
};
/* parent: the PC, whose prefix and tab level the coarse KSP takes */
PetscErrorCode VpCycleCreate(VpMesh finest, const VpProblem *, const VpCycleOptions *, const VpBackend *, PetscObject parent, VpCycle *);
PetscErrorCode VpCycleDestroy(VpCycle *);
/* The outer vectors are [own cells of the finest level][n^dim] double, orthonormal basis. First one of these puts a right-hand side r in,
   `scale` times what it is given ... */
PetscErrorCode VpCycleEnter(VpCycle, PetscInt level, double scale, const double *r);
PetscErrorCode VpCycleEnterResidual(VpCycle, PetscInt level, VpLevel outer, double scale, const double *x, VpGhosts, const double *f,
                                    PetscReal *norm2); /* over all ranks, or NULL */
/* ... then this runs the cycle from `level` down, z = scale M r (add: z += scale M r), M about A^-1, whatever the problem's exponent.
   transpose: the adjoint cycle */
PetscErrorCode VpCycleSolve(VpCycle, PetscInt level, PetscBool transpose, PetscBool add, double scale, double *z);

/* runs work(context) or replays its launches, where the cycle replays; forget with the backend */
PetscErrorCode VpCycleReplay(VpCycle, VpRecorded *, PetscErrorCode (*work)(void *), void *context);

/* Nested iteration, x = about A^-1 b, with the levels of a cycle that lives longer. finest: the outer operator of the cycle's finest level.
   b is what VpCycleEnter put in on that level. */
typedef struct VpNested_ *VpNested;
PetscErrorCode VpNestedCreate(VpCycle, VpLevel finest, VpNested *);
PetscErrorCode VpNestedGuess(VpNested, double *x);
PetscErrorCode VpNestedDestroy(VpNested *);
