/* A level of a hierarchy, and the work on it that is neither smoothing nor coarse solve: A x, transfers, conversion, its matrix. All
   arithmetic on vectors goes through the table of kernels: no file here, in smoother/, coarse/ or cycle/ loops over their values. */
#pragma once
#include "problem.h"
#include "vector.h"
#include <petscmat.h>

/* what -log_view shows; src/petsc/plugin.c registers them */
extern PetscClassId  VP_CLASSID;
extern PetscLogEvent VP_EVENT_SETUP, VP_EVENT_APPLY, VP_EVENT_SWEEP, VP_EVENT_TRANSFER, VP_EVENT_COARSE, VP_EVENT_CONVERT;

/* Arrays on a backend that are released together. */
typedef struct {
  const VpBackend *backend;
  VpPrecision      precision;
  int              n;
  void            *array[32];
} VpArrays;
PetscErrorCode VpArraysReserve(VpArrays *, size_t bytes, const char *what, void **p); /* zeroed */
/* copies a host array to the backend: of bytes, of so many items, or of real numbers, which it converts from double to the precision */
PetscErrorCode VpArraysPlace(VpArrays *, const void *host, size_t bytes, const char *what, const void **p);
#define VpPlaceArray(arrays, host, count, what, p) VpArraysPlace(arrays, host, (count) * sizeof(*(host)), what, (const void **)(p))
PetscErrorCode VpArraysPlaceReals(VpArrays *, const double *host, size_t count, const char *what, const void **p);
PetscErrorCode VpArraysRelease(VpArrays *);

/* A level has the mesh, tables and kernels of one precision and basis. It is the outer operator (in double precision and the orthonormal
   basis; ghosts mostly by sides) or a level of the cycle. */
struct VpLevel_ {
  int              refct;
  VpMesh           mesh;
  VpProblem        problem;     /* coefficient: own copy for cells [0, nlocal), or NULL; coarser: NULL */
  PetscReal       *beyond;      /* [nsweep][2 dim] the coefficient beyond sides where the level ends, or NULL */
  PetscReal        scale;       /* 2^exponent of the problem */
  PetscReal        uniform[3];  /* 2^exponent a along each direction where a is the same in all cells of all ranks, else 0 */
  PetscReal        typical;     /* the scale of the patches' eigenvalues: the largest of uniform; where that is 0, the largest power of two
                                  that is at most the largest 2^exponent a */
  PetscReal        thinnest[3]; /* least size of a cell in every direction; h/sqrt(a) counts as the size where a is a tensor */
  PetscReal        aspect;      /* least ratio of two of these sizes of a cell */
  VpPrecision      precision;
  VpBasis          basis;
  double           enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N]; /* [n][n] from the orthonormal basis to the level's, and back */
  const VpBackend *backend;
  const VpOps     *ops;
  VpView           view;
  PetscReal        common[3]; /* size of the cells that have the view's common lines; of all, where patches have `unit` */
  VpTransferView   transfer;  /* empty until VpLevelSetTransfer */
  size_t           real;      /* bytes of a number */
  size_t           block;     /* bytes of a cell: real n^dim */
  MPI_Datatype     unit;      /* a cell */
  VpGhostKind      reads;     /* A x reads these: VP_GHOST_SIDE of an outer level, unless adaptive; else VP_GHOST_FACE */
  VpArrays         arrays;    /* of the views */
  VpGhostExchange  exchange;  /* of its vectors */
};
PetscErrorCode VpLevelCreate(VpMesh, const VpProblem *, VpBasisType, VpPrecision, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelCreateOuter(VpMesh, const VpProblem *, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelDestroy(VpLevel *);
/* copies.c: an outer level for n vectors at once. Requires: its mesh is not adaptive */
PetscErrorCode VpLevelRepeatOuter(VpLevel, int32_t n, VpLevel *);
/* copies.c: the coefficient of n copies of a level's own cells, for the caller to free; NULL where it has none */
PetscErrorCode VpRepeatCoefficient(VpLevel, int32_t n, PetscReal **);
PetscErrorCode VpLevelSetTransfer(VpLevel fine); /* fills the view of the transfers to mesh->coarser */
/* flops of A x on own cells */
PetscLogDouble VpLevelApplyFlops(VpLevel);
PetscErrorCode VpLogFlops(VpLevel, PetscLogDouble); /* logs those of work on the level's backend */
/* of a transfer or conversion: one small matrix a cell and direction */
static inline PetscLogDouble VpTransferFlops(const VpView *view, int32_t cells)
{
  return 2. * cells * view->dim * pow(view->n, view->dim + 1);
}

/* The matrix and its parts. Requires: the level is on the host, in double precision and the orthonormal basis. */
PetscErrorCode VpSetPositiveDefinite(Mat);
PetscErrorCode VpAssemble(VpLevel, MatType, Mat *);
PetscErrorCode VpDiagonal(VpLevel, double d[]);                /* [nown][n^dim] */
PetscErrorCode VpAbsoluteSums(VpLevel, NormType, PetscReal *); /* matrix norms: NORM_1, NORM_FROBENIUS, NORM_INFINITY, over all ranks */
PetscErrorCode VpConstant(VpLevel, double one[]);              /* [nown][n^dim] coefficients of the function 1 */
PetscErrorCode VpSetConstantNullSpace(VpLevel, Mat);           /* gives the constants to a matrix of the level */

/* transfer.c. A move is NULL where the finer level's parents live where the coarse level does. b = R r; x = P xc (add: +=) on cells
   [0, count) of the finer level. */
typedef struct VpMove_ *VpMove;
PetscErrorCode          VpMoveCreate(VpMesh spread, VpLevel, VpMove *);
PetscErrorCode          VpMoveDestroy(VpMove *);
PetscErrorCode          VpRestrict(VpLevel fine, VpMove, VpVector r, VpVector b);
PetscErrorCode          VpProlong(VpLevel fine, VpMove, VpVector xc, int32_t count, PetscBool add, void *x);

/* linetables.c: VpLevelPlaceDrops makes VpPatchView.drop, VpLevelPlaceUnit `unit` and `coefficient`, and what belongs to them in the level;
   VpLevelPlaceBlocks fills all of the view but `cell`. */
PetscErrorCode VpLevelPlaceDrops(VpLevel, VpArrays *, const void **drop);
PetscErrorCode VpLevelPlaceUnit(VpLevel, VpArrays *, VpPatchView *);
PetscErrorCode VpLevelPlaceBlocks(VpLevel, VpArrays *, VpCellView *);
/* linetables.c: what the line of a cell depends on. relative: the cell's largest coefficient counts as 1; quotients are rounded to
   1/VP_RATIO_STEPS of an octave */
VpLineKey VpLevelLineKey(VpLevel, PetscBool relative, int32_t cell, int d);
/* linetables.c: the largest coefficient of a cell, of which those of its lines are multiples */
PetscReal VpLevelLargest(VpLevel, int32_t cell);
/* rounds a ratio of the coefficients of two directions up, to 1/VP_RATIO_STEPS of an octave */
double VpRoundRatio(double ratio);
VP_FACE_FORM(static inline void VpFaceTests, double)
/* hanging.c: the form of a side whose cell is on one level, while the cells beyond are on another, and the view of such sides */
void           VpHangingForm(VpLevel, VpLevel other, const VpHang *, double form[VP_HANG_FORM]);
PetscErrorCode VpPlaceHanging(VpLevel, VpLevel other, int32_t count, const VpHang sides[], VpArrays *, VpHangView *);

static inline size_t VpLevelValues(VpLevel level) /* of a cell */
{
  return level->block / level->real;
}

static inline double VpLevelReaction(VpLevel level)
{
  return level->scale * level->problem.reaction;
}

/* what undoes the exponent of the problem, times scale */
static inline double VpLevelUndo(VpLevel level, double scale)
{
  return ldexp(scale, level->problem.exponent);
}

/* the line of a cell along d, on the host in double precision */
static inline const double *VpLevelLine(VpLevel level, int32_t cell, int d)
{
  const VpView *v = &level->view;

  return (const double *)v->lines + (size_t)v->line[(size_t)cell * v->dim + d] * VpLineSize(v->n);
}
/* 2^exponent a along d */
static inline PetscReal VpLevelCoefficient(VpLevel level, int32_t cell, int d)
{
  return level->uniform[d] > 0 ? level->uniform[d] : level->scale * VpProblemCoefficient(&level->problem, cell, d);
}
/* coefficient.c: 2^exponent a of the cell beyond a side, also where the level ends; 0 where there is none, and the cell's own where what is
   there is not local. Requires: the cell is in [0, nsweep) */
PetscReal VpLevelCoefficientBeyond(VpLevel, int32_t cell, int side);
/* whether a is the same in all cells, and beyond the edge where the level ends */
static inline PetscBool VpLevelIsUniform(VpLevel level)
{
  return (PetscBool)(level->uniform[0] > 0);
}
