/* The operator that a DMVPATCHDG stands for: the DM's data, A on the backend where it works, how ghosts get there, and the values of
   vectors there. */
#pragma once
#include "../support/check.h"
#include "../support/names.h"
#include "../../level/level.h"
#include <petsc/private/dmimpl.h>

/* A with one coefficient. DMs, matrices and preconditioners share it. It never changes; its levels are made when they are first used. */
typedef struct VpOperator_ *VpOperator;
struct VpOperator_ {
  int       refct;
  VpMesh    mesh;
  VpProblem problem; /* its coefficient is a copy for own cells, or NULL on all ranks: 1 */
  VpLevel   level;   /* in double precision and the orthonormal basis, on the backend */
  VpLevel   host;    /* the same on the host, where the backend is another and the host's is needed */
  VpLevel   many;    /* level for `copies` vectors at once */
  int32_t   copies;  /* 0: there is no `many` yet */
  void     *ghost;   /* the ghosts of these vectors */
};

typedef struct {
  /* what the user asked for */
  VPatchDGDomain           domain;
  PetscInt                 degree;
  PetscInt                 grid[3]; /* boxes per direction (domain box) */
  PetscReal                lower[3], upper[3];
  PetscReal               *face[3]; /* [grid[d] + 1] where they have faces (domain box); NULL: they are equal */
  PetscInt                 nbox;    /* boxes that were given or made of the domain, [nbox][dim] */
  PetscReal               *box_lower, *box_upper;
  VPatchDGBoundary         boundary[6];
  PetscReal                alpha[6];      /* of Robin sides */
  VPatchDGBoundaryFunction side_boundary; /* or NULL */
  void                    *side_ctx;
  struct VpLabels_        *labels; /* of sides of boxes, and what holds there (dm/labels.c); or NULL */
  PetscReal                penalty, reaction;
  VPatchDGBackend          backend;
  VpAskedTransport         transport;
  PetscInt                 local_levels;        /* how often DMSetUp() refines cells at a point or a sphere */
  PetscBool                at_point, at_sphere; /* which of the two is given */
  PetscReal                point[3], sphere[4]; /* [dim]; centre [dim], radius */
  /* where the settings come from */
  PetscBool dim_by_default;      /* The dimension is 3 because nobody has set it. */
  PetscBool robin_typed;         /* The option -dm_vpatchdg_robin was given. */
  PetscBool asked;               /* What holds on the boundary depends on the side of a box. */
  Vec       leaves;              /* while DMLoad() sets up an adaptive mesh: the depths of cells; else NULL */
  PetscBool types_to_choose;     /* DMConvert() made the DM, and its type of matrices is that of the source until the DM is first used */
  PetscInt  converted_level;     /* how often the boxes of a converted DM are refined before -dm_refine refines them more */
  PetscBool options_are_done;    /* options that refine have done so, on this DM or on the one that it is made of */
  char      options_prefix[128]; /* the prefix of these options */
  /* what set-up makes */
  VpDomain            boxes;
  VpMesh              mesh;           /* NULL until the DM is set up */
  const VpBackend    *in_use;         /* the backend; NULL until the first use */
  char                chosen_for[32]; /* the type of vectors that it was chosen for */
  char                travel[192];    /* how ghosts travel, and why */
  VpOperator          op;             /* with the present coefficient */
  PetscReal          *ghost;          /* cells beyond own ones on the backend: values of the operator's argument; NULL until used */
  struct VpGeometry_ *geometry;       /* of functions at points (fields/places.h); NULL until used */
  struct VpMatrix_   *mats;           /* the matrices made from this DM that are alive (mat/mat.h) */
  /* what -dm_view has printed: nothing that still holds, something just now, or what the DM is, in the format `shown_as` */
  enum { VP_SHOWN_NOTHING, VP_SHOWN_NOW, VP_SHOWN_ALL } shown;
  PetscViewerFormat shown_as;
} DM_VPatchDG;

/* Requires: the DM is a DMVPATCHDG. */
static inline DM_VPatchDG *DMVPatchDGData(DM dm)
{
  return dm->data;
}

/* the number of unknowns of a cell. Requires: the DM is set up. */
static inline PetscInt DMVPatchDGCellSize(DM dm)
{
  const DM_VPatchDG *dg = dm->data;

  return PetscPowInt(dg->degree + 1, dg->mesh->dim);
}

/* checkdm.c. Ensures: an error unless the DM is a DMVPATCHDG and, for DMVPatchDGCheck, set up; `what` names what needs that. A DM that is
   set up gets the dimension and the level of its mesh again. */
PetscErrorCode DMVPatchDGGetData(DM, DM_VPatchDG **);
PetscErrorCode DMVPatchDGCheck(DM, const char what[]);
/* The same; and an error on all ranks unless it is distributed as the DM's global vectors and matrices are. */
PetscErrorCode DMVPatchDGCheckVector(DM, Vec, const char caller[]);
PetscErrorCode DMVPatchDGCheckMatrix(DM, Mat, const char caller[]);

/* Ensures: an error that names `what` if the mesh is adaptive. */
PetscErrorCode VpCheckNotAdaptive(VpMesh, const char what[]);

/* operator.c. The levels work on the DM's backend, and on the host for what is computed from their tables. */
PetscErrorCode VpOperatorDestroy(VpOperator *);
PetscErrorCode VpOperatorGetLevel(VpOperator, DM, VpLevel *);
PetscErrorCode VpOperatorGetHostLevel(VpOperator, DM, VpLevel *);
/* Ensures: op->many is there, on the DM's backend, for at least so many vectors. */
PetscErrorCode VpOperatorRepeat(VpOperator op, DM, int32_t copies);
/* gives the DM another operator; coefficient: of own cells, copied, or NULL: 1; tensor: as in VpProblem */
PetscErrorCode DMVPatchDGSetOperator(DM, int tensor, const PetscReal coefficient[]);
PetscBool      DMVPatchDGIsSingular(DM); /* whether the constants are its null space */
PetscErrorCode DMVPatchDGGetLevel(DM, VpLevel *);
PetscErrorCode DMVPatchDGGetHostLevel(DM, VpLevel *);
/* writes the coefficients of the function 1, which are not all 1 */
PetscErrorCode DMVPatchDGFillConstant(DM, Vec);
/* Begins to bring what A x reads beyond own cells into the DM's ghost buffer. x: own values, on the level's backend. */
PetscErrorCode DMVPatchDGGhosts(DM, VpLevel, const PetscScalar x[], VpGhosts *);

/* backend.c: the backend that the settings ask for, its device open; the one in use, chosen at the first call */
PetscErrorCode DMVPatchDGFindBackend(DM, const VpBackend **);
PetscErrorCode DMVPatchDGUseBackend(DM, const VpBackend **);
PetscErrorCode VpUseCurrentStream(const VpBackend *);
/* prints a line: the backend, and whether the matrix's vectors are copied to it */
PetscErrorCode VpViewBackend(Mat, const VpBackend *, PetscViewer);
/* transport.c: sets the mesh's transport, and dg->travel */
PetscErrorCode DMVPatchDGChooseTransport(DM, const VpBackend *);

/* vecarray.c: a rank's own values on a backend between Get and Restore: those of a vector, [own cells][n^dim], or of some
   columns of a dense matrix, each of which is a vector */
typedef enum { VP_READ, VP_WRITE, VP_READ_WRITE } VpAccess;
typedef struct {
  const VpBackend *backend;
  Vec              v;     /* the vector; NULL: columns of `dense` */
  Mat              dense; /* the matrix; NULL: `v` */
  PetscInt         lda;   /* how many numbers apart columns of `dense` begin */
  VpAccess         access;
  PetscScalar     *array;    /* as PETSc gives it */
  PetscScalar     *own, *at; /* the values in it, and where the backend's kernels find them: there, or in a copy */
  size_t           bytes;    /* of the values */
} VpValues;
PetscErrorCode VpValuesGet(const VpBackend *, Vec, VpAccess, VpValues *);
/* columns [first, first + n). Requires: the access is not VP_WRITE, since there may be something else between columns. */
PetscErrorCode VpValuesGetColumns(const VpBackend *, Mat dense, PetscInt first, PetscInt n, VpAccess, VpValues *);
PetscErrorCode VpValuesRestore(VpValues *);
