/* The data of a DMVPATCHDG: settings, mesh, operator, ghosts and the values of vectors on the backend. */
#pragma once
#include "../support/check.h"
#include "../support/names.h"
#include "../../level/nodes.h"
#include <petsc/private/dmimpl.h>

/* The operator A with one coefficient, shared by DMs, matrices and preconditioners. A never changes. Its levels are made on first use. */
typedef struct VpOperator_ *VpOperator;
struct VpOperator_ {
  int       refct;
  VpMesh    mesh;
  VpProblem problem; /* The coefficient is a copy for own cells, or NULL on all ranks: 1. */
  VpProblem given;   /* the same with the coefficient per cell that was given, where `problem` has means, instead of a metric */
  VpLevel   level;   /* in double precision and the orthonormal basis, on the backend */
  VpLevel   host;    /* the same on the host, if the backend is a device and a host level was needed */
  VpLevel   many;    /* level for `copies` vectors at once */
  int32_t   copies;  /* 0: `many` does not exist yet */
  void     *ghost;   /* ghosts of the `copies` vectors */
};

typedef struct {
  PetscInt         label;
  VPatchDGBoundary boundary;
  PetscReal        alpha;
} VpLabelCondition;

/* labels of boxes' sides and the conditions of labels (dm/labels.c) */
typedef struct {
  PetscInt          dim, nbox, *side; /* side: [nbox][2 dim] labels; NULL: none */
  PetscInt          n;
  VpLabelCondition *condition; /* [n] */
} VpLabels;

/* A quantity at points: none, by a function that is called there, or by values at the points of own cells. */
typedef struct {
  VPatchDGBatch batch;
  void         *ctx;
  PetscInt      components;
  Vec           values;    /* [own cells][n^dim][components], on the host */
  PetscBool     on_device; /* The function reads and writes device memory. */
} VpPointFunction;
static inline PetscBool VpPointFunctionExists(const VpPointFunction *f)
{
  return (PetscBool)(f->batch || f->values);
}
/* givenvalues.c: replaces a quantity; references the values */
PetscErrorCode VpPointFunctionReplace(VpPointFunction *, const VpPointFunction *by);
/* Makes the quantity on the same mesh, or on the next finer or coarser one, where values are those of the polynomials through the values.
   Collective */
PetscErrorCode VpPointFunctionMove(const VpPointFunction *, int n, VpMesh from, VpMesh mesh, VpPointFunction *to);
/* *cell [own cells][n^dim][components] = a copy of the values */
PetscErrorCode VpPointFunctionCopy(const VpPointFunction *, const double **cell);
/* *side [own cells][2 dim][n^(dim-1)][components], to [points of the grid][components] = the polynomials through the values of cells, or of
   one cell. Where these are not positive (definite), points have the value of the nearest point of the cell. */
PetscErrorCode VpPointFunctionExpand(VpMesh, int n, int components, const double cell[], const double **side);
void           VpInterpolateValues(int dim, int n, int components, const double value[], VpMapGrid *, double to[]);

/* A map with a name, of the unit square, of the unit cube, or of trees (dm/maps.c). */
enum { VP_MAP_NUMBERS = VP_FORMULA_NUMBERS };
typedef struct {
  const char *name, *words;             /* words: what the numbers are, with their defaults */
  int         numbers, dim;             /* dim: the only dimension, or 0 */
  double      preset[VP_MAP_NUMBERS];   /* defaults; 0: numbers must be given */
  double      range[VP_MAP_NUMBERS][2]; /* between which numbers lie; `whole` ones are integers, and may also be an end of the range */
  PetscBool   whole[VP_MAP_NUMBERS];
  PetscBool   rises; /* The second number is larger than the first. */
  int         trees; /* number of trees of a domain that has the name, times the whole number; 0: a map of the unit square or cube */
  VpFormula   formula;
} VpMapKind;

/* The map of cells (dm/map.c): none, so that cells are boxes; by a function; a VpMapKind; by nodes of the cells, or of the places 0, 1, ...
   of a lattice, which are cells or consist of cells. Trees are places of a lattice with one row. */
typedef struct {
  enum { VP_MAP_NONE, VP_MAP_FUNCTION, VP_MAP_NAMED, VP_MAP_NODES, VP_MAP_LATTICE } by;
  VPatchDGBatch    function;
  void            *ctx;
  const VpMapKind *kind;
  double           number[VP_MAP_NUMBERS]; /* of the kind; the others are 0 */
  PetscInt         lattice[3];             /* number of places in each direction */
  int              order;                  /* degree of the lattice's nodes */
  Vec              nodes;                  /* NULL in a DM that was refined or coarsened: the other mesh gives them */
} VpMapSettings;

typedef struct {
  /* settings */
  VPatchDGDomain   domain;
  PetscInt         degree;
  PetscInt         grid[3]; /* number of boxes in each direction (domain box) */
  PetscReal        lower[3], upper[3];
  PetscReal       *face[3]; /* [grid[d] + 1] coordinates of the faces (domain box); NULL: equidistant */
  PetscInt         nbox;    /* number of boxes that the user gave or the domain implies, [nbox][dim] */
  PetscReal       *box_lower, *box_upper;
  int32_t          nvertex, *corner; /* of a domain of trees: number of vertices, and those of every tree [nbox][2^dim]; else NULL */
  VPatchDGBoundary boundary[6];
  PetscReal        alpha[6];              /* coefficient of Robin sides */
  VPatchDGBoundaryFunction side_boundary; /* or NULL */
  void                    *side_ctx;
  VpLabels                 labels;
  VpMapSettings            map;
  PetscInt                 map_degree; /* 0: the degree */
  PetscReal                penalty, reaction;
  VPatchDGQuadrature       quadrature;
  PetscBool                continuous;                  /* Vectors are those of continuous functions, with an entry per node. */
  VPatchDGBasis            basis;                       /* never `auto` once the DM is set up */
  VpPointFunction          coefficient_at, reaction_at; /* a and c at points */
  PetscBool                serial;                      /* one thread at a time calls functions of points, and the map */
  PetscReal                jump;     /* Cells where a number of coefficient_at changes by more than this factor have its mean. 0: none */
  VpPrecision              geometry; /* of the numbers of a metric */
  VPatchDGBackend          backend;
  VpAskedTransport         transport;
  PetscInt                 local_levels;        /* number of refinements by DMSetUp() at a point or a sphere */
  PetscBool                at_point, at_sphere; /* The point or the sphere was given. */
  PetscReal                point[3], sphere[4]; /* [dim]; centre [dim], radius */
  /* origin of the settings */
  PetscBool dim_by_default;      /* Nobody has set the dimension, so it is 3. */
  PetscBool robin_typed;         /* The option -dm_vpatchdg_robin was given. */
  PetscBool asked;               /* Labels or a function decide the condition on a box's side. */
  Vec       leaves;              /* depths of the cells while DMLoad() sets up an adaptive mesh; otherwise NULL */
  PetscBool types_to_choose;     /* DMConvert() made the DM with the matrix type of the source. The first use chooses the type. */
  PetscInt  converted_level;     /* number of refinements of a converted DM's boxes, to which -dm_refine adds */
  PetscBool options_are_done;    /* The refining options were applied to this DM or to the DM that it was made from. */
  char      options_prefix[128]; /* prefix of the refining options */
  /* results of the set-up */
  VpDomain               boxes;
  VpMesh                 mesh;           /* NULL until the DM is set up */
  const VpBackend       *in_use;         /* the backend; NULL until the first use */
  char                   chosen_for[32]; /* type of vectors for which the backend was chosen */
  char                   travel[192];    /* transport of ghosts, and the reason for it */
  VpOperator             op;             /* the operator with the present coefficient */
  PetscReal             *ghost;          /* values of x on cells that A x reads from other ranks, on the backend; NULL until used */
  PetscLayout            layout;         /* of vectors with an entry per node, else NULL */
  VpEntities            *entities;       /* then: what numbers the nodes of cells, ... */
  PetscInt              *node;           /* ... [own cells][n^dim] their entries in vectors; NULL until a user asks for them, ... */
  VpNodes                nodes[2];       /* ... and these nodes on the backend in use, on the host; NULL until used */
  struct VpFieldPlaces_ *places;         /* cells and sides for functions of points (fields/places.h); NULL until used */
  struct VpMatrix_      *mats;           /* existing matrices that were made from this DM (mat/mat.h) */
  /* state of -dm_view: nothing printed that still holds; DMSetUp() is printing; the present state is printed in format `shown_as` */
  enum { VP_SHOWN_NOTHING, VP_SHOWN_NOW, VP_SHOWN_ALL } shown;
  PetscViewerFormat shown_as;
} DM_VPatchDG;

/* Requires: the DM is a DMVPATCHDG. */
static inline DM_VPatchDG *DMVPatchDGData(DM dm)
{
  return dm->data;
}

/* number of own entries of global vectors. Requires: the DM is set up. */
static inline PetscInt DMVPatchDGRows(DM dm)
{
  const DM_VPatchDG *dg = dm->data;

  return dg->layout ? dg->layout->n : dg->mesh->nown * PetscPowInt(dg->degree + 1, dg->mesh->dim);
}

/* number of unknowns per cell. Requires: the DM is set up. */
static inline PetscInt DMVPatchDGCellSize(DM dm)
{
  const DM_VPatchDG *dg = dm->data;

  return PetscPowInt(dg->degree + 1, dg->mesh->dim);
}

/* checkdm.c. Ensures: an error that names `what` unless the DM is a DMVPATCHDG, and for DMVPatchDGCheck() set up. Restores the dimension
   and the level of a DM that is set up. */
PetscErrorCode DMVPatchDGGetData(DM, DM_VPatchDG **);
PetscErrorCode DMVPatchDGCheck(DM, const char what[]);
/* Ensures in addition: an error on all ranks unless the layout is that of the DM's global vectors and matrices, or of values at points. */
PetscErrorCode DMVPatchDGCheckVector(DM, Vec, const char caller[]);
PetscErrorCode DMVPatchDGCheckPoints(DM, Vec, const char caller[]);
PetscErrorCode DMVPatchDGCheckMatrix(DM, Mat, const char caller[]);

/* Ensures: an error that names `what` if the mesh is adaptive. */
PetscErrorCode VpCheckNotAdaptive(VpMesh, const char what[]);
/* Ensures: an error if the backend has no kernels for a metric on this mesh. */
PetscErrorCode VpCheckMetricBackend(VpMesh, const VpBackend *);

/* the problem with the coefficient per cell as users know it: the one that was given, or means of a function on boxes */
static inline const VpProblem *VpOperatorGiven(VpOperator op)
{
  return op->given.coefficient || op->mesh->geometry->map ? &op->given : &op->problem;
}

/* operator.c. The levels are on the DM's backend, and on the host for computations with their tables. */
PetscErrorCode VpOperatorDestroy(VpOperator *);
PetscErrorCode VpOperatorGetLevel(VpOperator, DM, VpLevel *);
PetscErrorCode VpOperatorGetHostLevel(VpOperator, DM, VpLevel *);
/* Ensures: op->many exists on the DM's backend for at least `copies` vectors. */
PetscErrorCode VpOperatorRepeat(VpOperator op, DM, int32_t copies);
/* the factor by which the penalty is larger on mapped cells and for full matrices */
static inline double VpObliquePenalty(int degree)
{
  return degree == 1 ? 1.5 : 1.25;
}
/* pointvalues.c: makes the metric of the problem, and sets its coefficient, reaction and tensor to the means over cells, from the DM's
   functions or, without a function, from the problem's own numbers */
PetscErrorCode DMVPatchDGMakeMetric(DM, VpProblem *);
/* Gives the DM a new operator. coefficient, tensor, apart: as in VpProblem; the coefficient, for own cells, is copied. Where the DM has a
   function for the coefficient, that one counts. */
PetscErrorCode DMVPatchDGSetOperator(DM, int tensor, VpApart apart, const PetscReal coefficient[]);
PetscBool      DMVPatchDGIsSingular(DM); /* Tests whether the null space consists of the constants. */
PetscErrorCode DMVPatchDGGetLevel(DM, VpLevel *);
PetscErrorCode DMVPatchDGGetHostLevel(DM, VpLevel *);
/* Writes the coefficients in cells of the function 1, which are not all 1. */
PetscErrorCode DMVPatchDGFillConstant(DM, Vec);
/* Starts the exchange of the values that A x reads from other ranks, if it does, into the DM's ghost buffer. x: own values, on the level's
   backend */
PetscErrorCode DMVPatchDGGhosts(DM, VpLevel, const PetscScalar x[], VpGhosts *);

/* backend.c: finds the backend that the settings request and opens its device; returns the backend in use, which the first call chooses */
PetscErrorCode DMVPatchDGFindBackend(DM, const VpBackend **);
PetscErrorCode DMVPatchDGUseBackend(DM, const VpBackend **);
PetscErrorCode VpUseCurrentStream(const VpBackend *);
/* Prints the backend, and whether the matrix's vectors are copied to it. */
PetscErrorCode VpViewBackend(Mat, const VpBackend *, PetscViewer);
/* transport.c: sets the mesh's transport and dg->travel */
PetscErrorCode DMVPatchDGChooseTransport(DM, const VpBackend *);

/* nodal.c: numbers the nodes of a continuous DM with a mesh; does nothing for others. Ensures: an error if the mesh is adaptive, or of
   trees */
PetscErrorCode DMVPatchDGNumberNodes(DM);
PetscErrorCode DMVPatchDGForgetNodes(DM);
PetscErrorCode DMVPatchDGGetNumbers(DM, const PetscInt **node); /* DM_VPatchDG.node, made at the first call. Not collective */
/* *nodes: those of a continuous DM on a level's backend, with no reference of its own; NULL of another DM */
PetscErrorCode DMVPatchDGGetNodes(DM, const VpBackend *, VpNodes *);
/* Ensures: an error that names `what` if the DM is continuous. */
PetscErrorCode DMVPatchDGCheckOfCells(DM, const char what[]);

/* vecarray.c: creates a vector by the numbers of its entries on this rank and on all ranks (PETSC_DECIDE: by the other one) */
PetscErrorCode VpVecCreate(MPI_Comm, VecType, PetscInt block, PetscInt local, PetscInt all, Vec *);
/* vecarray.c: a rank's own values on a backend between Get and Restore. They are those of a vector, [own cells][n^dim], or of columns of a
   dense matrix with this layout. */
typedef enum { VP_READ, VP_WRITE, VP_READ_WRITE } VpAccess;
typedef struct {
  const VpBackend *backend;
  Vec              v;     /* the vector; NULL: columns of `dense` */
  Mat              dense; /* the matrix; NULL: `v` */
  PetscInt         lda;   /* distance between columns of `dense` [numbers] */
  VpAccess         access;
  PetscScalar     *array;    /* array from PETSc */
  PetscScalar     *own, *at; /* own: the values in array; at: the same or a copy, in memory of the backend */
  size_t           bytes;    /* size of the values */
} VpValues;
PetscErrorCode VpValuesGet(const VpBackend *, Vec, VpAccess, VpValues *);
/* columns [first, first + n). Requires: the access is not VP_WRITE, because other values may lie between columns. */
PetscErrorCode VpValuesGetColumns(const VpBackend *, Mat dense, PetscInt first, PetscInt n, VpAccess, VpValues *);
PetscErrorCode VpValuesRestore(VpValues *);
/* combine.c: the backend where a vector has its values. The following work there, in one pass over memory. */
PetscErrorCode VpVecBackend(Vec, const VpBackend **);
PetscErrorCode VpVecProducts(Vec x, PetscInt n, const Vec y[], PetscScalar products[]); /* as VecMDot() */
PetscErrorCode VpVecAddMultiples(Vec x, PetscInt n, const PetscScalar a[], Vec y[]);    /* as VecMAXPY() */
#define VP_LEAST_NORM 1e-140 /* Squares of smaller values may underflow, and those of large values overflow: PETSc's norm is taken then. */
PetscErrorCode VpVecDescend(PetscScalar alpha, Vec p, Vec c, Vec x, Vec r, PetscReal *norm); /* x += alpha p, r -= alpha c; norm of r */
