/* What PCVPATCHDG and PCVPATCH share: both approximate the inverse of a DMVPATCHDG's operator and differ in a few functions only. */
#pragma once
#include "impl.h"
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

/* Vectors are the outer ones: [own cells][n^dim] */
typedef struct {
  const char *caller; /* the option that chose it, for messages */
  PetscErrorCode (*build)(PC, VpMesh, const VpProblem *, const VpBackend *);
  PetscErrorCode (*clear)(PC);
  PetscErrorCode (*enter)(PC, PetscReal scale, const double *f); /* r = scale f */
  /* r = scale (f - A x) (x NULL: scale f); norm2: the sum of its squares over all ranks, NULL where nobody asks */
  PetscErrorCode (*enter_residual)(PC, VpLevel outer, PetscReal scale, const double *x, VpGhosts, const double *f, PetscReal *norm2);
  PetscErrorCode (*solve)(PC, PetscBool transpose, PetscBool add, PetscReal scale, double *z); /* z = scale M r (add: z += scale M r) */
  /* These are NULL for a type that does not care who applies it. prepare: before it is built, errors on what cannot be; later: whether to
     build waits for the first application. meet: ksp is about to solve with it (NULL: something else applies it); again: it has to be built
     anew. leave: ksp has solved */
  PetscErrorCode (*prepare)(PC, VpMesh, const VpProblem *, PetscBool *later);
  PetscErrorCode (*meet)(PC, KSP, PetscBool *again);
  PetscErrorCode (*leave)(PC, KSP, Vec b, Vec x);
} VpInverseOps;

/* the head of both types' data */
typedef struct {
  const VpInverseOps *ops;
  DM                  dm;           /* behind the Pmat; NULL until set up */
  VpOperator          op;           /* the A it is set up for */
  PetscReal           scale, shift; /* the Pmat is scale A + shift I */
  PetscBool           changed;      /* an option, since it was set up */
  PetscBool           built;
  PetscInt            build;        /* its number, among those of all PCs */
  PetscBool           wide;         /* vectors of all sizes may enter as they are */
  PetscReal           factor;       /* what has entered was multiplied by this power of two */
  KSP                 ksp;          /* the one that is solving now */
  unsigned            warned;       /* bit w: of VpWarning w */
} VpInverse;

/* pcinverse.c: the PC's operations, the same for both types */
PETSC_INTERN PetscErrorCode VpInverseCreate(PC, VpInverse *, const VpInverseOps *);
PETSC_INTERN PetscErrorCode VpInverseReset(PC);
PETSC_INTERN PetscErrorCode VpInverseChanged(PC); /* an option did */
/* f - A x (x NULL: f) goes in, multiplied by a power of two that suits its size; A is the operator's, NULL: the one the PC was built for.
   norm: of f - A x, NULL where nobody asks */
PETSC_INTERN PetscErrorCode VpInverseEnter(PC, VpOperator, Vec f, Vec x, PetscReal *norm);
/* z = M r (add: z += M r) for the r that went in */
PETSC_INTERN PetscErrorCode VpInverseSolve(PC, PetscBool transpose, PetscBool add, Vec z);
/* error where numbers of the problem are so far apart that single precision cannot hold them; sets its exponent. prefix: pc_vpatchdg */
PETSC_INTERN PetscErrorCode VpInverseScale(PC, const char prefix[], VpPrecision, VpMesh, VpProblem *);
/* builds what is not built, as ksp needs it; NULL: for something else that applies it */
PETSC_INTERN PetscErrorCode VpInverseMeet(PC, KSP);
/* richardson.c */
PETSC_INTERN PetscErrorCode VpInverseApplyRichardson(PC, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol,
                                                     PetscInt maxits, PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *);

/* which precision was asked for, and what auto makes of it */
typedef struct {
  VPatchDGPrecision asked;
  PetscBool         holds;     /* single precision, the operator's numbers */
  char              hint[32];  /* auto: the type of the KSP, where the options say it; else empty */
  PetscBool         chosen;    /* auto: has set the cycle's precision, */
  PetscObjectId     by;        /* for this KSP (0: for none that is known, -1: for none, whatever comes), */
  char              why[160];  /* because */
} VpChoice;

/* kinds of warnings (warn.c) */
typedef enum { VP_WARN_SINGLE, VP_WARN_SYMMETRY, VP_WARN_RESIDUAL, VP_WARN_COARSE, VP_WARN_FAILED } VpWarning;

typedef struct {
  VpInverse      inverse;
  VpCycleOptions options;
  VpCycle        cycle;
  VpChoice       choice;
} PC_VPatchDG;
/* doctor.c: -vpatchdg_doctor, before the cycle is built; error if there is no memory for it */
PETSC_INTERN PetscErrorCode PCVPatchDGDoctor(PC, VpMesh, const VpProblem *, const VpBackend *);
/* pcsettings.c: a PCVPATCHDG and its options; of another type NULL, or an error where it must be one */
PETSC_INTERN PetscErrorCode PCVPatchDGGetData(PC, PetscBool must, PC_VPatchDG **);
PETSC_INTERN PetscErrorCode PCVPatchDGGetOptions(PC, PetscBool must, VpCycleOptions **);
/* pcprecision.c: what is known of a type of KSP; reads the hint; VpInverseOps' meet; what -ksp_view says */
typedef struct {
  const char *type;
  PetscBool   keeps;     /* its r stays b - A x also where the preconditioner is not quite linear (of those that need a symmetric one: where it is) */
  PetscBool   symmetric; /* it needs a symmetric preconditioner */
} VpKSPKind;
PETSC_INTERN PetscErrorCode VpKSPKindOf(const char type[], VpKSPKind *);
PETSC_INTERN PetscErrorCode PCVPatchDGReadHint(PC);
PETSC_INTERN PetscErrorCode PCVPatchDGPreparePrecision(PC, VpMesh, const VpProblem *, PetscBool *later);
PETSC_INTERN PetscErrorCode PCVPatchDGMeet(PC, KSP, PetscBool *again);
/* chooses for good: the coarse KSP is about to be given out, and would be lost if the cycle were built again */
PETSC_INTERN PetscErrorCode PCVPatchDGSettlePrecision(PC);
PETSC_INTERN PetscErrorCode PCVPatchDGViewPrecision(PC, PetscViewer);
/* warn.c: of single precision with a KSP that does not stand it, remedy: the option without prefix; after a solve whose KSP says more than is
   true; before a KSP solves that tests its convergence, and after every one */
PETSC_INTERN PetscErrorCode VpWarnSingle(PC, const VpKSPKind *, const char remedy[]);
PETSC_INTERN PetscErrorCode VpWarnResidual(PC, KSP, Vec b, Vec x);
PETSC_INTERN PetscErrorCode PCVPatchDGWarnBefore(PC, KSP, const VpKSPKind *);
PETSC_INTERN PetscErrorCode PCVPatchDGWarnAfter(PC, KSP, Vec b, Vec x);
/* pcoptions.c */
PETSC_INTERN PetscErrorCode PCSetFromOptions_VPatchDG(PC, VpOptionItems);
/* errors unless the options go together and with the problem */
PETSC_INTERN PetscErrorCode PCVPatchDGCheckOptions(PC, VpMesh, const VpProblem *);
PETSC_INTERN PetscErrorCode VpCheckSpace(MPI_Comm, const char prefix[], VpSpace, VpResidual, int degree);

/* a pair of functions for a member of a PC's data that corresponds to an enum of vpatchdg.h, value for value. Lookup(pc, must, &data): NULL, or
   an error where it must, for a PC of another type */
#define VP_ENUM_SETTING(Prefix, Data, Lookup, Name, Public, Internal, member, number) \
  PetscErrorCode Prefix##Set##Name(PC pc, Public value) \
  { \
    Data *data = NULL; \
 \
    PetscFunctionBegin; \
    PetscCall(Lookup(pc, PETSC_FALSE, &data)); \
    PetscValidLogicalCollectiveEnum(pc, value, 2); \
    PetscCheck((int)value >= 0 && (int)value < (number), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, \
               #Prefix "Set" #Name "(): value %d does not exist, 0 to %d do (" #Public ")", (int)value, (number)-1); \
    if (!data || data->member == (Internal)value) PetscFunctionReturn(PETSC_SUCCESS); \
    data->member = (Internal)value; \
    PetscCall(VpInverseChanged(pc)); \
    PetscFunctionReturn(PETSC_SUCCESS); \
  } \
 \
  PetscErrorCode Prefix##Get##Name(PC pc, Public *value) \
  { \
    Data *data = NULL; \
 \
    PetscFunctionBegin; \
    PetscCall(Lookup(pc, PETSC_TRUE, &data)); \
    VpAssertPointer(value, 2); \
    *value = (Public)data->member; \
    PetscFunctionReturn(PETSC_SUCCESS); \
  }
