/* A level of a hierarchy, and the work on it that is neither smoothing nor coarse solve: A x, transfers, conversion, the matrix. All
   arithmetic on vectors goes through the table of kernels. No file here, in smoother/, coarse/ or cycle/ loops over values of vectors. */
#pragma once
#include "arrays.h"
#include "problem.h"
#include "vector.h"
#include <petscmat.h>

/* events of -log_view, which src/petsc/plugin.c registers */
extern PetscClassId  VP_CLASSID;
extern PetscLogEvent VP_EVENT_SETUP, VP_EVENT_APPLY, VP_EVENT_SWEEP, VP_EVENT_TRANSFER, VP_EVENT_COARSE, VP_EVENT_AMG, VP_EVENT_CONVERT;

/* A level has the mesh, tables and kernels of one precision and basis. It is a level of the cycle or the outer operator. The outer operator
   has double precision, the orthonormal basis and, unless the mesh is adaptive, ghosts by sides. */
struct VpLevel_ {
  int              refct;
  VpMesh           mesh;
  VpProblem        problem;     /* coefficient: own copy for cells [0, nlocal), or NULL; coarser: NULL */
  PetscReal       *beyond;      /* [nsweep][2 dim] the coefficient beyond sides where the level ends, or NULL */
  PetscReal        scale;       /* 2^exponent of the problem */
  PetscReal        uniform[3];  /* 2^exponent a along each direction where a is the same in all cells of all ranks, else 0 */
  PetscReal        typical;     /* scale of the patches' eigenvalues: the largest of `uniform` or, if a varies, the largest power of two up
                                   to the largest 2^exponent a */
  PetscReal        thinnest[3]; /* smallest size of a cell in each direction; this size is h/sqrt(a) if a is a tensor */
  PetscReal        aspect;      /* smallest ratio of two such sizes of one cell */
  VpPrecision      precision;
  VpBasis          basis;
  double           enter[VP_MAX_N * VP_MAX_N], leave[VP_MAX_N * VP_MAX_N]; /* [n][n] from the orthonormal basis to the level's, and back;
                                                                              view.enter and view.leave are from and to the outer basis */
  const VpBackend *backend;
  const VpOps     *ops;
  VpView           view;
  VpView           nodal;     /* of a nodal problem, else empty: the view with the matrices by which nodal vectors enter and leave */
  PetscReal        common[3]; /* size of the cells with the view's common lines; of all cells if the view has `unit` */
  VpTransferView   transfer;  /* empty until VpLevelSetTransfer */
  size_t           real;      /* bytes of a number */
  size_t           block;     /* bytes of a cell: real n^dim */
  MPI_Datatype     unit;      /* a cell */
  VpGhostKind      reads;     /* ghosts that A x reads: VP_GHOST_SIDE for an outer level whose mesh is not adaptive, else VP_GHOST_FACE */
  PetscBool        outer;     /* The level is an outer operator. */
  PetscBool        alone;     /* Lines have no terms on sides between cells, which vanish for the functions that enter. */
  VpArrays         arrays;    /* arrays of the views */
  VpGhostExchange  exchange;  /* exchange of the level's vectors */
};
PetscErrorCode VpLevelCreate(VpMesh, const VpProblem *, VpBasisType, VpPrecision, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelCreateOuter(VpMesh, const VpProblem *, const VpBackend *, VpLevel *);
PetscErrorCode VpLevelDestroy(VpLevel *);
/* copies.c: an outer level for n vectors at once. Requires: its mesh is not adaptive */
PetscErrorCode VpLevelRepeatOuter(VpLevel, int32_t n, VpLevel *);
/* copies.c: the coefficient of n copies of a level's own cells, for the caller to free; NULL if the level has none */
PetscErrorCode VpRepeatCoefficient(VpLevel, int32_t n, PetscReal **);
PetscErrorCode VpLevelSetTransfer(VpLevel fine); /* fills the view of the transfers to VpMeshCoarser(mesh) */
/* flops of A x on own cells */
PetscLogDouble VpLevelApplyFlops(VpLevel);
PetscErrorCode VpLogFlops(const VpBackend *, PetscLogDouble); /* logs flops of a backend */
/* flops of a transfer or conversion: one matrix [n][n] per cell and direction */
static inline PetscLogDouble VpTransferFlops(const VpView *view, int32_t cells)
{
  return 2. * cells * view->dim * pow(view->n, view->dim + 1);
}

/* The matrix and parts of it. Requires: the level is on the host, in double precision and the orthonormal basis. */
PetscErrorCode VpSetPositiveDefinite(Mat);
PetscErrorCode VpAssemble(VpLevel, MatType, Mat *);
PetscErrorCode VpDiagonal(VpLevel, double d[]);                /* [nown][n^dim] */
PetscErrorCode VpAbsoluteSums(VpLevel, NormType, PetscReal *); /* matrix norms: NORM_1, NORM_FROBENIUS, NORM_INFINITY, over all ranks */
void           VpConstant(VpLevel, double one[]);              /* [nown][n^dim] coefficients of the function 1 */
PetscErrorCode VpSetConstantNullSpace(VpLevel, Mat);           /* gives the constants to a matrix of the level */

/* volumes.c: T, the matrix of the fluxes between the level's cells, one unknown each, and P, which makes the low modes of a cell
   (VpOps.restrict_modes) from these unknowns. Rows and columns are numbered as cells are. Type: aij, or one that derives from it. Requires:
   the level covers the domain */
PetscErrorCode VpAssembleVolumes(VpLevel, MatType, Mat *T, Mat *P);

/* transfer.c: b = R r; x = P xc (add: +=) on cells [0, count) of the finer level. A move is NULL if the coarse level lives where the
   parents of the finer level's cells live. */
typedef struct VpMove_ *VpMove;
PetscErrorCode          VpMoveCreate(VpMesh spread, VpLevel, VpMove *);
PetscErrorCode          VpMoveDestroy(VpMove *);
PetscErrorCode          VpRestrict(VpLevel fine, VpMove, VpVector r, VpVector b);
PetscErrorCode          VpProlong(VpLevel fine, VpMove, VpVector xc, int32_t count, PetscBool add, void *x);

/* linetables.c: VpLevelPlaceDrops makes VpPatchView.drop. VpLevelPlaceBlocks fills a VpCellView but for `cell`. */
PetscErrorCode VpLevelPlaceDrops(VpLevel, VpArrays *, const void **drop);
PetscErrorCode VpLevelPlaceBlocks(VpLevel, VpArrays *, VpCellView *);
/* linetables.c: key of a cell's line along d. relative: coefficients are divided by the cell's largest one, and their ratios rounded to
   1/VP_RATIO_STEPS of an octave */
VpLineKey VpLevelLineKey(VpLevel, PetscBool relative, int32_t cell, int d);
/* linetables.c: largest coefficient of a cell over the directions */
PetscReal VpLevelLargest(VpLevel, int32_t cell);
/* rounds up a ratio of the coefficients of two directions to 1/VP_RATIO_STEPS of an octave */
double VpRoundRatio(double ratio);
VP_FACE_FORM(static inline void VpFaceTests, double)
/* hanging.c: the form of a side whose cell is on one level, while the cells beyond are on another, and the view of such sides */
void           VpHangingForm(VpLevel, VpLevel other, const VpFace *, double form[VP_HANG_FORM]);
PetscErrorCode VpPlaceHanging(VpLevel, VpLevel other, const VpFaces *, VpArrays *, VpHangView *);

static inline size_t VpLevelValues(VpLevel level) /* numbers per cell */
{
  return level->block / level->real;
}

static inline double VpLevelReaction(VpLevel level)
{
  return level->scale * level->problem.reaction;
}
/* the part of the reaction that tables of patches and cells do not have: all, unless cells have their own */
static inline double VpLevelRest(VpLevel level)
{
  return level->problem.apart.reaction ? 0 : VpLevelReaction(level);
}

/* scale times 2^exponent, which undoes the exponent of the problem in a solution */
static inline double VpLevelUndo(VpLevel level, double scale)
{
  return ldexp(scale, level->problem.exponent);
}

/* table of a cell's line along d. Requires: the level is on the host, in double precision */
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
/* 2^exponent a of the cell beyond a side, also at the level's end; 0 at a boundary or a side that hangs. At the level's end it is the
   cell's own number if this rank does not know the coarser cell's. Requires: the cell is in [0, nsweep) */
static inline PetscReal VpLevelCoefficientBeyond(VpLevel level, int32_t cell, int side)
{
  const size_t  at = (size_t)cell * 2 * (size_t)level->mesh->dim + (size_t)side;
  const int32_t next = VpMeshNeighbor(level->mesh, cell, side);

  if (next >= 0) return VpLevelCoefficient(level, next, VpMeshSideBeyond(level->mesh, cell, side) / 2);
  if (next != VP_LEVEL_END) return 0;
  if (!level->beyond || level->beyond[at] <= 0) return VpLevelCoefficient(level, cell, side / 2);
  return level->scale * level->beyond[at];
}
/* coefficient.c: *most = the largest ratio of cells that touch in a point or along an edge alone and of the cells between them. Of trees
   with turned sides it is 0. Collective. Requires: the mesh is not adaptive */
PetscErrorCode VpLevelCrossing(VpLevel, PetscReal *most);
/* octaves by which the volume of the cell beyond a side is larger than that of the cell (VpLineKey). Only sides between trees weigh by
   volumes: inside of a tree neighbours have about one volume. */
static inline PetscReal VpLevelLargerBeyond(VpLevel level, int32_t cell, int side)
{
  const int32_t  next = level->problem.apart.volume ? VpMeshNeighbor(level->mesh, cell, side) : -1;
  const int32_t *box = level->mesh->geometry->box;

  if (next < 0 || box[next] == box[cell]) return 0;
  return PetscLog2Real(VpProblemVolume(&level->problem, next) / VpProblemVolume(&level->problem, cell));
}
/* alpha of a cell's side beyond which is a boundary, as relative to a of the cell; 0 at other sides */
static inline PetscReal VpLevelAlpha(VpLevel level, int32_t cell, int side, int32_t beyond)
{
  const VpProblem *p = &level->problem;

  if (!p->apart.sides || !VpIsBoundary(beyond)) return VpProblemAlpha(p, level->mesh->geometry->domain, beyond);
  return VpProblemRobin(p, cell, side) / VpProblemCoefficient(p, cell, side / 2);
}
/* whether a is the same in all cells of all ranks, and beyond the level's ends, and no numbers of cells are apart */
static inline PetscBool VpLevelIsUniform(VpLevel level)
{
  return (PetscBool)(level->uniform[0] > 0);
}
