/* What the faces share: the DM's data and the few functions that cross files in this folder. */
#pragma once
#include "../together.h"
#include <petsc/private/dmimpl.h>
#include <vpatchdg.h>
#include "../multigrid/multigrid.h"

/* operator.c: A with one coefficient, shared by the DM, matrices and preconditioners; it never changes, but levels are made when used */
typedef struct VpOperator_ *VpOperator;
struct VpOperator_ {
  int       refct;
  VpMesh    mesh;
  VpProblem problem; /* coefficient: own copy for own cells, or NULL on all ranks: 1 */
  VpLevel   level;   /* double precision, orthonormal basis, on the backend */
  VpLevel   host;    /* the same on the host, where the backend is another and it is needed */
};
PETSC_INTERN PetscErrorCode VpOperatorCreate(VpMesh, const VpProblem *, VpOperator *); /* copies the coefficient */
PETSC_INTERN VpOperator     VpOperatorReference(VpOperator);
PETSC_INTERN PetscErrorCode VpOperatorClear(VpOperator); /* destroys the levels */
PETSC_INTERN PetscErrorCode VpOperatorDestroy(VpOperator *);
PETSC_INTERN PetscErrorCode VpOperatorGetLevel(VpOperator, DM, VpLevel *);     /* on the backend of the DM */
PETSC_INTERN PetscErrorCode VpOperatorGetHostLevel(VpOperator, DM, VpLevel *); /* for what is computed from its tables on the host */

typedef struct {
  /* what the user asked for */
  VPatchDGDomain   domain;
  PetscInt         degree;
  PetscInt         grid[3];              /* boxes per direction (domain box) */
  PetscReal        lower[3], upper[3];
  PetscInt         nbox;                 /* own boxes (domain boxes), [nbox][dim] */
  PetscReal       *box_lower, *box_upper;
  VPatchDGBoundary boundary[6];
  PetscReal        penalty, reaction;
  VPatchDGBackend  backend;
  VPatchDGTransport transport;
  /* what set-up makes */
  VpDomain         boxes;
  VpMesh           mesh;
  const VpBackend *kernels;              /* NULL until the first use */
  char             chosen_for[32];       /* the type of vectors */
  char             travel[96];           /* how ghosts do, and why */
  VpOperator       op;                   /* with the present coefficient */
  PetscReal       *ghost;                /* [mesh->nside] cells on the backend: ghost values of the operator's argument; NULL until used */
  struct VpMatrix_ *mats;                /* the matrices made from this DM that are alive (mat.c) */
} DM_VPatchDG;

/* plugin.c: this rank among those of its host, their number; tells -citations, call it where the method is used */
PETSC_INTERN PetscMPIInt    VPatchDGHostRank, VPatchDGHostSize;
PETSC_INTERN PetscErrorCode VPatchDGCite(void);
/* dm.c */
PETSC_INTERN PetscErrorCode DMCreate_VPatchDG(DM);
static inline PetscInt DMVPatchDGCellSize(DM dm) /* unknowns of a cell of a DM that is set up */
{
  const DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  return PetscPowInt(dg->degree + 1, dg->mesh->dim);
}
/* operator.c: the DM's present operator; another one with a coefficient, or NULL: 1 */
PETSC_INTERN PetscErrorCode DMVPatchDGSetOperator(DM, const PetscReal coefficient[]);
PETSC_INTERN PetscErrorCode DMVPatchDGGetProblem(DM, VpProblem *);
PETSC_INTERN PetscErrorCode DMVPatchDGGetLevel(DM, VpLevel *);
PETSC_INTERN PetscErrorCode DMVPatchDGGetHostLevel(DM, VpLevel *);
/* begins the exchange of what A x reads of x (own values, on the backend) beyond own cells into the DM's ghost buffer */
PETSC_INTERN PetscErrorCode DMVPatchDGGhosts(DM, VpLevel, const PetscScalar x[], VpGhosts *);
/* error when there would be more unknowns than PetscInt counts, or more on a rank than its part of a vector holds; collective (and DMVPatchDGCheckMemory) */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckSize(DM, PetscInt nbox, PetscInt level);
/* dmscale.c: error unless double precision holds what the operator and its vectors are made of. Of cells of these boxes, refined `level`
   times, and the settings; collective, of a coefficient of own cells or NULL */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckScale(DM, VpDomain, PetscInt level);
PETSC_INTERN PetscErrorCode DMVPatchDGCheckCoefficient(DM, const PetscReal a[]);
/* backend.c: the backend that the settings ask for, its device open; and the one in use, from the first use on */
PETSC_INTERN PetscErrorCode DMVPatchDGFindBackend(DM, const VpBackend **);
PETSC_INTERN PetscErrorCode DMVPatchDGGetKernels(DM, const VpBackend **);
PETSC_INTERN PetscErrorCode VpUseCurrentStream(const VpBackend *);
PETSC_INTERN PetscErrorCode VpViewKernels(Mat, const VpBackend *, PetscViewer); /* one line: the backend, and whether its vectors are copied */
/* memory.c: bytes that a rank needs where it works (the backend's), and beside that on the host of a device */
typedef struct {
  double work, host;
} VpBytes;
/* what they depend on: boxes refined `level` times are `cells` on `ranks`; lines: one-dimensional operators a cell that its coefficient makes */
typedef struct {
  int       dim, degree, level;
  double    cells, ranks, lines;
  PetscBool device;
} VpSize;
#define VP_BYTES_TEXT 16
PETSC_INTERN PetscErrorCode VpSizeOf(MPI_Comm, int dim, int degree, int level, double cells, const VpBackend *, VpSize *); /* lines 0 */
PETSC_INTERN PetscErrorCode VpCountLines(VpMesh, const VpProblem *, VpSize *);
PETSC_INTERN VpBytes        VpMeshMemory(const VpSize *);   /* with the operator's tables */
PETSC_INTERN double         VpVectorMemory(const VpSize *); /* one vector */
PETSC_INTERN VpBytes        VpCycleMemory(const VpSize *, const VpCycleOptions *);
PETSC_INTERN PetscErrorCode VpMemoryThere(MPI_Comm, const VpBackend *, VpBytes *); /* a rank's part of what is free; negative: unknown */
PETSC_INTERN const char    *VpBytesText(double, char text[VP_BYTES_TEXT]);
/* error where some rank needs more than there is, collective; what needs it, and what to do instead */
PETSC_INTERN PetscErrorCode VpCheckMemory(MPI_Comm, const VpBackend *, VpBytes need, const char what[], const char instead[]);
PETSC_INTERN PetscErrorCode DMVPatchDGCheckMemory(DM, PetscInt nbox, PetscInt level);
/* doctor.c: -vpatchdg_doctor, at DMSetUp(), before there is a mesh of that level; the largest ratio of a cell's sizes, in a line that also says
   what it does to the iterations; these for eight digits by FGMRES, at least and at most */
PETSC_INTERN PetscErrorCode DMVPatchDGDoctor(DM, PetscInt level);
PETSC_INTERN PetscErrorCode DMVPatchDGViewAspect(VpDomain, int degree, PetscViewer);
PETSC_INTERN PetscReal      VpAspectRatio(VpDomain);
PETSC_INTERN void           VpExpectIterations(int degree, PetscReal aspect, int range[2]);
/* transport.c */
PETSC_INTERN PetscErrorCode DMVPatchDGChooseTransport(DM, const VpBackend *);
/* values.c: a vector's own values on a backend, [own cells][n^dim], between Get and Restore */
typedef enum { VP_READ, VP_WRITE, VP_READ_WRITE } VpAccess;
typedef struct {
  const VpBackend *backend;
  Vec              v;
  VpAccess         access;
  PetscScalar     *own;    /* the vector's memory */
  PetscBool        copied; /* that is not the backend's: */
  void            *copy;
  size_t           bytes;
} VpValues;
PETSC_INTERN PetscErrorCode VpValuesGet(const VpBackend *, Vec, VpAccess, VpValues *, PetscScalar **);
PETSC_INTERN PetscErrorCode VpValuesRestore(VpValues *);
/* check.c */
#define VpAssertPointer(p, arg) PetscCheck(p, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "Null pointer: argument %d of %s()", arg, PETSC_FUNCTION_NAME)
#define VpAssertObject(h, id, arg) \
  PetscCheck((h) && ((PetscObject)(h))->classid == (id), PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, \
             "Argument %d of %s() is no object of the right class, or was destroyed", arg, PETSC_FUNCTION_NAME)
static inline const char *VpTypeName(PetscObject object)
{
  return object->type_name ? object->type_name : "not set";
}
/* Error unless it is a DMVPATCHDG, and one that is set up, which `what` needs. The dimension and level of one that is set up are its mesh's again. */
PETSC_INTERN PetscErrorCode DMVPatchDGGetData(DM, DM_VPatchDG **);
PETSC_INTERN PetscErrorCode DMVPatchDGCheck(DM, const char what[]);
/* error on all ranks unless it is distributed as the DM's global vectors and matrices are */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckVector(DM, Vec, const char caller[]);
PETSC_INTERN PetscErrorCode DMVPatchDGCheckMatrix(DM, Mat, const char caller[]);
PETSC_INTERN PetscErrorCode VpCheckEverywhere(MPI_Comm, PetscBool here, const char what[]); /* error on all ranks where it is false on one */
/* errors on all ranks unless all have the same */
typedef struct {
  const char        *what;
  PetscReal          value;
  const char *const *names; /* of an enum's values, or NULL */
} VpSetting;
PETSC_INTERN PetscErrorCode VpCheckSame(MPI_Comm, int n, const VpSetting[]);
PETSC_INTERN PetscErrorCode VpCheckSameReals(MPI_Comm, PetscInt n, const PetscReal[], const char what[]);
/* dmsettings.c */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckChange(DM, PetscBool changes, const char what[]); /* error if it is set up and something changes */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckDimension(DM);
/* dmoptions.c */
PETSC_INTERN PetscErrorCode DMSetFromOptions_VPatchDG(DM, VpOptionItems);
/* dmboxes.c: the boxes the settings describe */
PETSC_INTERN PetscErrorCode DMVPatchDGCreateDomain(DM, VpDomain *);
PETSC_INTERN PetscErrorCode DMVPatchDGCheckAgreement(DM); /* error on all ranks unless they have the same settings */
/* mat.c: DMCreateMatrix. What is known of a matrix made from a DM, with or without entries: it is scale A + shift I */
typedef struct VpMatrix_ *VpMatrix;
struct VpMatrix_ {
  DM          dm;
  Mat         mat;       /* not referenced: this dies with it */
  VpOperator  kept;      /* A of a copy; NULL: the present operator of the DM */
  PetscScalar scale, shift;
  VpFunction *native[4]; /* what an assembled matrix's type does in MatDuplicate(), MatCopy(), MatScale(), MatShift() */
  VpMatrix    next;      /* of the same DM */
};
PETSC_INTERN PetscErrorCode DMCreateMatrix_VPatchDG(DM, Mat *);
PETSC_INTERN PetscErrorCode DMVPatchDGAttachNullSpace(DM, Mat);
PETSC_INTERN PetscErrorCode DMVPatchDGUpdateMatrices(DM); /* the coefficient changed: every living matrix but copies follows */
PETSC_INTERN PetscErrorCode VpMatrixFind(Mat, VpMatrix *); /* NULL where there is none */
PETSC_INTERN PetscErrorCode VpMatrixAttach(DM, Mat, VpMatrix *);
PETSC_INTERN VpOperator     VpMatrixOperator(VpMatrix);
PETSC_INTERN PetscErrorCode MatScale_VPatchDG(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatShift_VPatchDG(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatDuplicate_VPatchDG(Mat, MatDuplicateOption, Mat *);
PETSC_INTERN PetscErrorCode MatCopy_VPatchDG(Mat, Mat, MatStructure);
/* what is behind a PC's Pmat: scale A + shift I of a DMVPATCHDG; else an error that says what to pass. caller: "-pc_type vpatchdg" */
typedef struct {
  DM          dm;
  VpOperator  op;
  PetscScalar scale, shift;
} VpPmat;
PETSC_INTERN PetscErrorCode MatGetVPatchDG(Mat, const char caller[], VpPmat *);
/* shell.c: without entries */
PETSC_INTERN PetscErrorCode DMVPatchDGCreateShell(DM, Mat *);
/* transfer.c: DMCreateInterpolation */
PETSC_INTERN PetscErrorCode DMCreateInterpolation_VPatchDG(DM coarse, DM fine, Mat *, Vec *scale);
/* view.c */
PETSC_INTERN PetscErrorCode DMView_VPatchDG(DM, PetscViewer);
PETSC_INTERN PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
/* quadrature.c: tables of the basis at nq points a direction, and their tensor products */
#define VP_MAX_NQ (2 * VP_MAX_N)
typedef struct {
  int    dim, n, nq, npoint;                                               /* npoint = nq^dim */
  double x[VP_MAX_NQ], w[VP_MAX_NQ];                                       /* points and weights on [0,1] */
  double value[VP_MAX_NQ * VP_MAX_N], slope[VP_MAX_NQ * VP_MAX_N];         /* [nq][n] phihat_i(x_q), phihat_i'(x_q) */
  double transpose[VP_MAX_NQ * VP_MAX_N];                                  /* [n][nq] of value */
} VpQuadrature;
PETSC_INTERN PetscErrorCode VpQuadratureCreate(const VpBasis *, int dim, int nq, const double x[], VpQuadrature *); /* x NULL: Gauss points */
/* out[r2][r1][r0] = sum A[0][r0][c0] A[1][r1][c1] A[2][r2][c2] in[c2][c1][c0]; work: 2 VP_MAX_NQ^3. Unused directions: sizes 1, A NULL */
PETSC_INTERN void VpTensor(const int rows[3], const int cols[3], const double *const A[3], const double in[], double out[], double work[]);
/* problem.c: f = 1 for KSPSetDM */
PETSC_INTERN PetscErrorCode DMVPatchDGComputeOnes_Private(KSP, Vec, void *);
PETSC_INTERN PetscErrorCode DMVPatchDGComputeOperators_Private(KSP, Mat, Mat, void *);
/* pc.c, pcpatch.c, guess.c */
PETSC_INTERN PetscErrorCode PCCreate_VPatchDG(PC);
PETSC_INTERN PetscErrorCode PCCreate_VPatch(PC);
PETSC_INTERN PetscErrorCode KSPGuessCreate_VPatchDG(KSPGuess);
