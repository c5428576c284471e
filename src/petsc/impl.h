/* What the faces share: the DM's data and the few functions that cross files in this folder. */
#pragma once
#include "../compat.h"
#include <petsc/private/dmimpl.h>
#include <vpatchdg.h>
#include "../multigrid/multigrid.h"

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
  PetscReal       *coefficient;          /* [own cells], or NULL on all ranks: 1 */
  VPatchDGBackend  backend;
  VPatchDGTransport transport;
  PetscObjectState coefficient_state;    /* counts changes: operators and preconditioners rebuild when it moved */
  /* what set-up makes */
  VpDomain         boxes;
  VpMesh           mesh;
  const VpBackend *kernels;              /* NULL until the first use */
  char             chosen_for[32];       /* the type of vectors */
  char             travel[96];           /* how ghosts do, and why */
  VpLevel          level;                /* the outer operator: double precision, orthonormal basis */
  VpLevel          host;                 /* the same on the host, where the backend is another and it is needed */
  PetscReal       *ghost;                /* [mesh->nside] cells on the backend: ghost values of the operator's argument; NULL until used */
  struct MatLink_ *mats;                 /* the operators made from this DM that are alive (mat.c) */
} DM_VPatchDG;

/* plugin.c: this rank among those of its host; tells -citations, call it where the method is used */
PETSC_INTERN PetscMPIInt    VPatchDGHostRank;
PETSC_INTERN PetscErrorCode VPatchDGCite(void);
/* dm.c */
PETSC_INTERN PetscErrorCode DMCreate_VPatchDG(DM);
PETSC_INTERN PetscErrorCode DMVPatchDGCheck(DM, const char what[]);      /* error unless dm is a DMVPATCHDG that is set up; its refine level is the mesh's again */
PETSC_INTERN PetscErrorCode DMVPatchDGGetProblem(DM, VpProblem *);
PETSC_INTERN PetscErrorCode DMVPatchDGGetLevel(DM, VpLevel *);           /* the outer operator, rebuilt when the coefficient changed */
PETSC_INTERN PetscErrorCode DMVPatchDGGetHostLevel(DM, VpLevel *);       /* for what is computed from its tables on the host */
PETSC_INTERN PetscErrorCode DMVPatchDGClearLevels(DM);                   /* the coefficient changed */
/* begins the exchange of what A x reads of x (own values, on the backend) beyond own cells into the DM's ghost buffer */
PETSC_INTERN PetscErrorCode DMVPatchDGGhosts(DM, const PetscScalar x[], VpGhosts *);
/* error when there would be more unknowns than PetscInt counts, or more on a rank than its part of a vector holds; collective */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckSize(DM, PetscInt nbox, PetscInt level);
/* backend.c */
PETSC_INTERN PetscErrorCode DMVPatchDGGetKernels(DM, const VpBackend **);
PETSC_INTERN PetscErrorCode VpUseCurrentStream(const VpBackend *);
PETSC_INTERN PetscErrorCode VpViewKernels(Mat, const VpBackend *, PetscViewer); /* one line: the backend, and whether its vectors are copied */
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
/* dmsettings.c */
PETSC_INTERN PetscErrorCode DMVPatchDGGetData(DM, DM_VPatchDG **);       /* error unless it is a DMVPATCHDG */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckChange(DM, PetscBool changes, const char what[]); /* error if it is set up and something changes */
PETSC_INTERN PetscErrorCode DMVPatchDGCheckDimension(DM);
/* dmoptions.c */
PETSC_INTERN PetscErrorCode DMSetFromOptions_VPatchDG(DM, VpOptionItems);
/* dmboxes.c: the boxes the settings describe */
PETSC_INTERN PetscErrorCode DMVPatchDGCreateDomain(DM, VpDomain *);
/* mat.c: DMCreateMatrix; the operator as MATSHELL or assembled. Y = A X, or B - A X */
PETSC_INTERN PetscErrorCode DMCreateMatrix_VPatchDG(DM, Mat *);
PETSC_INTERN PetscErrorCode DMVPatchDGAttachNullSpace(DM, Mat);
PETSC_INTERN PetscErrorCode DMVPatchDGUpdateMatrices(DM);                /* the coefficient changed: every living operator follows */
/* what MatScale and MatShift made of a MATSHELL operator: scale A + shift I; 1 and 0 for an assembled one */
PETSC_INTERN PetscErrorCode MatVPatchDGGetScaling(Mat, PetscScalar *scale, PetscScalar *shift);
/* transfer.c: DMCreateInterpolation */
PETSC_INTERN PetscErrorCode DMCreateInterpolation_VPatchDG(DM coarse, DM fine, Mat *, Vec *scale);
/* view.c */
PETSC_INTERN PetscErrorCode DMView_VPatchDG(DM, PetscViewer);
PETSC_INTERN PetscErrorCode VecView_VPatchDG(Vec, PetscViewer);
PETSC_INTERN PetscErrorCode DMVPatchDGCoefficientRange(DM, PetscReal range[2]); /* smallest and largest, of all ranks */
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
/* mat.c: the DMVPATCHDG behind a PC's Pmat; else an error that says what to pass. caller: "-pc_type vpatchdg" */
PETSC_INTERN PetscErrorCode MatGetVPatchDG(Mat, const char caller[], DM *);
