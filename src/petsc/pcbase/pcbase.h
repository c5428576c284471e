/* Common parts of PCVPATCHDG and PCVPATCH, which approximate the inverse of a DMVPATCHDG's operator and differ in a few functions. */
#pragma once
#include "../../cycle/cycle.h"
#include "../../level/nodes.h"
#include "../mat/mat.h"
#include "../support/setting.h"
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

/* Vectors are outer ones: [own cells][n^dim]. r: the vector that has entered, M: the approximate inverse */
typedef struct {
  const char *caller; /* option that selects the type, for messages */
  PetscErrorCode (*build)(PC, VpMesh, const VpProblem *, const VpBackend *);
  PetscErrorCode (*clear)(PC);
  PetscErrorCode (*begin)(PC, VpVector *r);                                                    /* *r: the vector that r will enter */
  PetscErrorCode (*solve)(PC, PetscBool transpose, PetscBool add, PetscReal scale, double *z); /* z = scale M r (add: z += scale M r) */
  VpCycle (*holds)(PC);        /* the cycle that can hold M r; NULL: none can */
  PetscErrorCode (*adopt)(PC); /* makes `continuous` for a Pmat of a DM of another type, if the type can; NULL: it never can */
  /* The following are NULL if the type does not depend on the KSP. `prepare` precedes `build`. Ensures: an error if the type cannot be
     built. *later: the first application builds it */
  PetscErrorCode (*prepare)(PC, VpMesh, const VpProblem *, PetscBool *later);
  /* A KSP is about to solve with the PC; NULL: the PC is applied without a KSP. *again: the PC must be rebuilt */
  PetscErrorCode (*meet)(PC, KSP, PetscBool *again);
  PetscErrorCode (*met)(PC, KSP);                 /* The KSP is about to solve, and the PC is built. */
  PetscErrorCode (*leave)(PC, KSP, Vec b, Vec x); /* The KSP has solved. */
  PetscErrorCode (*columns)(PC, PetscInt n, VpColumns *,
                            PetscInt *most); /* makes the cycle for `most` <= n vectors at once, NULL if there is none */
} VpPCBaseOps;

/* What a preconditioner of a continuous operator has in addition: vectors are nodal, and enter and leave the cycle by an element
   restriction (level/nodes.h). Entries that no cell has are `loose`: their rows are those of the identity, up to a factor. */
typedef enum { VP_JACOBI_AUTO, VP_JACOBI_NONE, VP_JACOBI_AFTER, VP_JACOBI_BOTH } VpJacobiSteps;
/* identifies the unknowns and the places of a DMPLEX from which cells were made; 0: none */
typedef struct {
  PetscObjectId    section, coordinates;
  PetscObjectState state; /* of the coordinates */
} VpElementsKey;
typedef struct VpContinuous_ *VpContinuous;
struct VpContinuous_ {
  DM            dm;
  PetscInt     *node;            /* [own cells][places] as given; NULL: the nodes are those of the DM, which is continuous */
  double        point[VP_MAX_N]; /* [n] places of nodes along a direction of a cell */
  PetscBool     wide;            /* Cells are wide, and Jacobi steps smooth what they do not represent. */
  PetscBool     known;           /* `node` needs no check, nor do loose entries, and `coupled` is set. */
  PetscReal     exact;           /* > 0: A is this times the form, up to rounding errors, without rows that have a factor */
  PetscBool     adopted;         /* All of these were made from the Pmat's own DM. */
  VpElementsKey elements;        /* then: of the DMPLEX from which they were made */
  char          origin[192];     /* then: what was found there, for -ksp_view */
  PetscReal     alike;           /* A larger factor than usual by which the diagonals of A and of the form may differ; 0: the usual one */
  PetscBool     centered;        /* Rows are of centres of cells, or coefficient or reaction vary: Jacobi steps gain most. */
  Vec           factor;          /* of rows: A becomes the form when they are multiplied by it. NULL: 1 */
  PetscScalar  *diagonal;        /* [rows] that of A times `factor`, if it is known before the set-up, which frees it; else NULL */
  VpNodes       nodes;           /* NULL until set up */
  VpOperator    op;              /* the operator whose weights these are */
  VpNodeMeans   means;
  PetscReal     scale;      /* median of the quotients of the diagonals of A and of the mesh's form ... */
  PetscReal     spread[2];  /* ... and the least and the largest of them; 0: A has no diagonal */
  PetscBool     symmetric;  /* The cycle is symmetric, and Jacobi steps must keep it so. */
  double        bytes;      /* of the nodes and vectors where the backend works */
  PetscInt      nloose;     /* number of loose entries on all ranks */
  PetscBool     coupled;    /* Other rows of A have nonzero entries in loose columns. */
  VpJacobiSteps jacobi;     /* the steps that are done, not auto */
  int           steps;      /* their number on either side of the cycle */
  PetscReal     damping;    /* of these */
  char          why[64];    /* the reason, for -ksp_view */
  PetscReal     eigenvalue; /* (e, A e) of the constant e of norm 1, if that is needed */
  Vec           one;        /* 1, but 0 at loose entries */
  Vec           loose;      /* 1/A_ii at loose entries, else 0; NULL: none are */
  Vec           step;       /* damping/A_ii, at loose entries 1/A_ii; NULL: A has no diagonal */
  Vec           work[4];
};

/* head of both types' data */
typedef struct {
  const VpPCBaseOps *ops;
  DM                 dm;           /* DM of the Pmat; NULL until set up */
  VpOperator         op;           /* A at the set-up */
  PetscReal          scale, shift; /* The Pmat is scale A + shift I. */
  PetscReal          range[2];     /* range of the operator's numbers at the set-up (VpProblemRange()) */
  VpMetricKind       metric;       /* the means that M is asked to have */
  PetscReal          hold;         /* VpProblemHold() at the set-up; 1 if the range is too small for a weak coupling */
  PetscBool          changed;      /* An option has changed since the set-up. */
  PetscBool          built;
  PetscInt           build;   /* number of the build, unique among all PCs */
  PetscBool          wide;    /* Vectors enter without scaling, whatever their norm. */
  PetscInt           entered; /* number of vectors that have entered */
  PetscReal          factor;  /* power of two that scaled the vector */
  KSP                ksp;     /* the KSP that is solving */
  Vec                one;  /* constant function of norm 1 if it is an eigenvector of the Pmat for which M is inaccurate; otherwise NULL */
  Vec                rest; /* scratch vector for r without its constant part; NULL until used */
  PetscReal          eigenvalue; /* eigenvalue of `one`; 0: `one` spans the null space */
  MatNullSpace  space[2];   /* null spaces of the Pmat and its transpose, while a KSP solves with an Amat that has none; otherwise NULL */
  PetscScalar   guess;      /* multiple of `one` in the initial guess of the KSP that is solving */
  PetscReal     right;      /* largest |b| / |x| since the set-up of a solve that VpWarnMissing() has accepted */
  unsigned      warned;     /* bit w: VpWarning w was given */
  VpContinuous  continuous; /* NULL: vectors are those of the DM */
  VpJacobiSteps jacobi;     /* as the user wishes */
} VpPCBase;

static inline VpPCBase *VpPCBaseData(PC pc)
{
  return pc->data;
}
/* Tests whether the exponents of single precision cover the range of the operator's numbers. */
static inline PetscBool VpPCBaseSpreadIsSingle(const VpPCBase *inverse)
{
  return (PetscBool)(inverse->range[1] <= ldexp(inverse->range[0], VP_SPREAD_SINGLE));
}

/* pcbase.c: sets the PC's data and operations */
void VpPCBaseCreate(PC, VpPCBase *, const VpPCBaseOps *);
#define VP_SMALL 1e-4 /* Sweeps in single precision lose reactions below this fraction of a/h^2. */
/* setup.c: tests whether constants are the null space of the operator without its reaction, and whether the reaction, which is range[0]
   then, is below this fraction of a/h^2 */
PetscBool VpPCBaseReactionIsBelow(const VpPCBase *, PetscReal share);
/* Prints scale and shift of the Pmat unless they are 1 and 0. */
PetscErrorCode VpPCBaseView(PC, PetscViewer);

/* setup.c: frees what was built, and forgets the KSP that is solving */
PetscErrorCode VpPCBaseReset(PC);
PetscErrorCode VpPCBaseSetUp(PC);
/* Requests a new set-up after an option has changed. */
void VpPCBaseChanged(PC);
/* Builds the PC for a KSP unless it is built. NULL: for an application without a KSP */
PetscErrorCode VpPCBaseMeet(PC, KSP);

/* scaling.c: f - A x (x NULL: f) enters, scaled by a power of two. op: operator A, NULL: the one that the PC was built for. norm: of f - A
   x, or NULL */
PetscErrorCode VpPCBaseEnter(PC, VpOperator, Vec f, Vec x, PetscReal *norm);
/* The same into a given vector r. */
PetscErrorCode VpPCBaseEnterInto(PC, VpVector r, VpOperator, Vec f, Vec x, PetscReal *norm);
/* Says the norm of a vector, which enters without computing it as long as it does not change. */
PetscErrorCode VpNormRegister(void);
PetscErrorCode VpNormSet(Vec, PetscReal norm);
/* z = M r (add: z += M r) for the vector that has entered */
PetscErrorCode VpPCBaseSolve(PC, PetscBool transpose, PetscBool add, Vec z);
/* Sets the problem's exponent. Ensures: an error if single precision cannot represent the problem's numbers. prefix: "pc_vpatchdg" */
PetscErrorCode VpPCBaseSetExponent(PC, const char prefix[], VpPrecision, VpProblem *);

/* constants.c. Finds `one` and its eigenvalue after a set-up. */
PetscErrorCode VpConstantsSetUp(PC);
/* Between Meet and Leave a KSP solves. The eigenvalue is that of its Amat, and the Pmat has a null space only if the Amat has one. */
PetscErrorCode VpConstantsMeet(PC);
PetscErrorCode VpConstantsLeave(PC);
/* The following do nothing unless `one` exists. They find, or set, the multiple of `one` in z. */
PetscErrorCode VpConstantsWarn(PC, Vec b); /* warns if b is a constant and the operator is singular */
PetscErrorCode VpConstantsFind(PC, Vec z, PetscScalar *multiple);
PetscErrorCode VpConstantsSet(PC, PetscScalar wanted, Vec z);
/* *rest: r without its multiple of `one`, in a vector of the PC; or r itself if M is accurate */
PetscErrorCode VpConstantsWithout(PC, Vec r, Vec *rest);
/* Given z = M r, sets the multiple of `one` in z to that in A^-1 r. With a singular Pmat this happens once at the end of a KSP's solve. */
PetscErrorCode VpConstantsInvert(PC, Vec r, Vec z);

/* pcbase.c: PCApply() of both types */
PetscErrorCode VpPCBaseApply(PC, Vec r, Vec z);
/* pcbase.c: z = M r without Jacobi steps and loose entries */
PetscErrorCode VpPCBaseApplyCycle(PC, PetscBool transpose, Vec r, Vec z);

/* held.c. M r may stay in the PC, so that a KSP passes over fewer vectors. Requires: VpPCBaseHolds(), which asks whether the PC is one of
   ours, is built, and needs nothing but the cycle */
PetscBool VpPCBaseHolds(PC);
/* Holds M r. products[n]: of M r and vectors y[n]; n is 1 or 2 */
PetscErrorCode VpPCBaseHold(PC, Vec r, PetscInt n, const Vec y[], PetscScalar products[]);
/* z += scale M r; or z = scale M r, if not add */
PetscErrorCode VpPCBaseLeaveHeld(PC, PetscBool add, PetscScalar scale, Vec z);

/* continuous.c. Makes the continuous operator's data for the Pmat, and finds the DM's operator and the scale. */
PetscErrorCode VpContinuousSetUp(PC, VpPmat *);
PetscErrorCode VpContinuousReset(PC);   /* frees what VpContinuousSetUp() made */
PetscErrorCode VpContinuousDestroy(PC); /* also what was given */
/* continuousapply.c: z = M r */
PetscErrorCode VpContinuousApply(PC, PetscBool transpose, Vec r, Vec z);
/* Prints the element restriction, the scale and the Jacobi steps. */
PetscErrorCode VpContinuousView(PC, PetscViewer);

/* columns.c: Y = M X for dense matrices */
PetscErrorCode VpPCBaseMatApply(PC, Mat X, Mat Y);

/* richardson.c */
PetscErrorCode VpPCBaseApplyRichardson(PC, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt maxits,
                                       PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *);

/* settings.c: setters, getters and setfromoptions with the table of a type. Setters ignore PCs of other types, getters raise an error.
   caller: the getter */
PetscErrorCode VpPCBaseSet(PC, const VpSettings *, int setting, PetscReal value);
PetscErrorCode VpPCBaseGet(PC, const VpSettings *, int setting, void *value, const char caller[]);
PetscErrorCode VpPCBaseSetFromOptions(PC, const VpSettings *, VpOptionItems);
/* Ensures: an error unless the PC is of this type. */
PetscErrorCode VpPCBaseCheckType(PC, const char type[]);

/* kspkinds.c: tests whether such a KSP keeps r = b - A x if its preconditioner is linear only up to rounding errors (and symmetric if
   required) */
PetscBool VpKSPKeepsResidual(KSPType);
/* Tests whether the preconditioner may change from step to step. */
PetscBool VpKSPIsFlexible(KSPType);
/* Tests whether the KSP needs a symmetric preconditioner. */
PetscBool VpKSPNeedsSymmetry(KSPType);

/* warn.c: prints a line on the first rank's stderr, once per PC and kind, unless -vpatchdg_warnings 0 */
typedef enum {
  VP_WARN_SINGLE,
  VP_WARN_SYMMETRY,
  VP_WARN_RESIDUAL,
  VP_WARN_COARSE,
  VP_WARN_FAILED,
  VP_WARN_MISSING,
  VP_WARN_CONSTANT,
  VP_WARN_SLOW,
  VP_WARN_OBLIQUE,
  VP_WARN_PENALTY,
  VP_WARN_VARIES,
  VP_WARN_UNEVEN,
  VP_WARN_FORM,
  VP_WARN_SIDES,
  VP_WARN_NODES,
  VP_WARN_REACTION,
  VP_WARN_SHAPES,
  VP_WARN_IRREGULAR
} VpWarning;
PetscErrorCode VpWarnWanted(PC, VpWarning,
                            PetscBool *wanted); /* tests whether a warning of this kind is wanted and new, as VpWarn() does itself */
PetscErrorCode VpWarn(PC, VpWarning, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
/* Tests whether the KSP measures its residual and is not part of another solver, which may stop it early. */
PetscBool VpIsWatched(KSP);
/* Warns of single precision with a KSP that does not tolerate it. remedy: the option to set, without the PC's prefix */
PetscErrorCode VpWarnSingle(PC, KSPType, const char remedy[]);
/* Warns after a solve if the KSP reports a smaller residual than the true one. */
PetscErrorCode VpWarnResidual(PC, KSP, Vec b, Vec x);

/* energy.c: sets the KSP's convergence test from its options */
PetscErrorCode VpReadConverged(KSP);
/* Warns after a solve if the residual is small and the estimated error of x is not. */
PetscErrorCode VpWarnMissing(PC, KSP, Vec b, Vec x);
