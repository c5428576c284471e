/* What PCVPATCHDG and PCVPATCH share: both approximate the inverse of a DMVPATCHDG's operator, and differ in a few functions only. */
#pragma once
#include "../../cycle/cycle.h"
#include "../mat/mat.h"
#include "../support/setting.h"
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

/* Vectors are the outer ones: [own cells][n^dim]. r is what has entered, M the approximate inverse. */
typedef struct {
  const char *caller; /* the option that chose it, for messages */
  PetscErrorCode (*build)(PC, VpMesh, const VpProblem *, const VpBackend *);
  PetscErrorCode (*clear)(PC);
  PetscErrorCode (*begin)(PC, VpVector *r);                                                    /* r: the vector that r is about to enter */
  PetscErrorCode (*solve)(PC, PetscBool transpose, PetscBool add, PetscReal scale, double *z); /* z = scale M r (add: z += scale M r) */
  /* These are NULL for a type that does not care who applies it. `prepare` is called before `build`. Ensures: an error on what cannot be;
     *later says whether building waits for the first application. */
  PetscErrorCode (*prepare)(PC, VpMesh, const VpProblem *, PetscBool *later);
  /* ksp is about to solve with it (NULL: something else applies it). Ensures: *again says whether it has to be built anew. */
  PetscErrorCode (*meet)(PC, KSP, PetscBool *again);
  PetscErrorCode (*met)(PC, KSP);                                         /* ksp is about to solve with what is built */
  PetscErrorCode (*leave)(PC, KSP, Vec b, Vec x);                         /* ksp has solved */
  PetscErrorCode (*columns)(PC, PetscInt n, VpColumns *, PetscInt *most); /* what takes `most` of n vectors at once; NULL: nothing does */
} VpPCBaseOps;

/* the head of both types' data */
typedef struct {
  const VpPCBaseOps *ops;
  DM                 dm;           /* behind the Pmat; NULL until set up */
  VpOperator         op;           /* the A it is set up for */
  PetscReal          scale, shift; /* The Pmat is scale A + shift I. */
  PetscReal          range[2];     /* the range of the numbers of the problem that it is set up for (VpProblemRange) */
  PetscReal          hold;         /* VpProblemHold() of that problem; 1 where its range is too small for a less firm hold to matter */
  PetscBool          changed;      /* An option has changed since it was set up. */
  PetscBool          built;
  PetscInt           build;      /* its number, among those of all PCs */
  PetscBool          wide;       /* Vectors of all sizes may enter as they are. */
  PetscInt           entered;    /* how often something has */
  PetscReal          factor;     /* What has entered was multiplied by this power of two. */
  KSP                ksp;        /* the one that is solving now */
  Vec                one;        /* the constant of norm 1, an eigenvector of the Pmat that M needs help with; else NULL */
  Vec                rest;       /* room for a vector without it; NULL until used */
  PetscReal          eigenvalue; /* its eigenvalue; 0: It is the null space. */
  MatNullSpace       space[2];   /* that of the Pmat and of its transpose, while a KSP solves with an Amat that has none; else NULL */
  PetscScalar        guess;      /* its multiple in the initial guess of the KSP that is solving */
  PetscReal          right;      /* the largest |b| / |x| of a solve since the set-up that VpWarnMissing() found right */
  unsigned           warned;     /* bit w: of VpWarning w */
} VpPCBase;

static inline VpPCBase *VpPCBaseData(PC pc)
{
  return pc->data;
}
/* whether single precision reaches from the least to the largest number of the operator */
static inline PetscBool VpPCBaseSpreadIsSingle(const VpPCBase *inverse)
{
  return (PetscBool)(inverse->range[1] <= ldexp(inverse->range[0], VP_SPREAD_SINGLE));
}

/* pcbase.c: sets the PC's data and its operations, the same for both types */
PetscErrorCode VpPCBaseCreate(PC, VpPCBase *, const VpPCBaseOps *);
/* setup.c: whether constants would be the null space without the reaction, which is less than this share of a/h^2; it is range[0] then */
PetscBool VpPCBaseReactionIsBelow(const VpPCBase *, PetscReal share);
/* Prints a line where the Pmat is scaled or shifted. */
PetscErrorCode VpPCBaseView(PC, PetscViewer);

/* setup.c: frees what was built, and forgets the KSP that is solving */
PetscErrorCode VpPCBaseReset(PC);
PetscErrorCode VpPCBaseSetUp(PC);
/* asks for another set-up, since an option has changed */
PetscErrorCode VpPCBaseChanged(PC);
/* builds what is not built, as ksp needs it; NULL: for something else that applies it */
PetscErrorCode VpPCBaseMeet(PC, KSP);

/* scaling.c: f - A x (x NULL: f) goes in, multiplied by a power of two that suits its size. A is the operator's, NULL: the one that the
   PC was built for. norm: of f - A x, NULL where nobody asks */
PetscErrorCode VpPCBaseEnter(PC, VpOperator, Vec f, Vec x, PetscReal *norm);
/* The same with r, where it goes in, known. */
PetscErrorCode VpPCBaseEnterInto(PC, VpVector r, VpOperator, Vec f, Vec x, PetscReal *norm);
/* z = M r (add: z += M r) for the r that went in */
PetscErrorCode VpPCBaseSolve(PC, PetscBool transpose, PetscBool add, Vec z);
/* sets the problem's exponent. Ensures: an error where its numbers are so far apart that single precision cannot hold them. prefix:
   "pc_vpatchdg" */
PetscErrorCode VpPCBaseSetExponent(PC, const char prefix[], VpPrecision, VpProblem *);

/* constants.c: the constant, where M needs help with it. After a set-up: finds `one` and its eigenvalue. */
PetscErrorCode VpConstantsSetUp(PC);
/* While a KSP solves, between the two, the eigenvalue is that of its Amat, and the Pmat has no null space that the Amat has not. */
PetscErrorCode VpConstantsMeet(PC);
PetscErrorCode VpConstantsLeave(PC);
/* the multiple of `one` in z, and z with another one; without `one` they do nothing */
PetscErrorCode VpConstantsWarn(PC, Vec b); /* warns of a b that a singular operator reaches no part of */
PetscErrorCode VpConstantsFind(PC, Vec z, PetscScalar *multiple);
PetscErrorCode VpConstantsSet(PC, PetscScalar wanted, Vec z);
/* r without its multiple of `one`, for M: in a vector of the PC, or r itself where M needs no such help */
PetscErrorCode VpConstantsWithout(PC, Vec r, Vec *rest);
/* Given z = M r, gives z the multiple of `one` that A^-1 r has. A KSP that is solving with a singular Pmat sees to that at its end. */
PetscErrorCode VpConstantsInvert(PC, Vec r, Vec z);

/* columns.c: Y = M X for dense matrices */
PetscErrorCode VpPCBaseMatApply(PC, Mat X, Mat Y);

/* richardson.c */
PetscErrorCode VpPCBaseApplyRichardson(PC, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt maxits,
                                       PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *);

/* settings.c: what setters, getters and setfromoptions do with a type's table. PCs of other types are left alone by setters; getters refuse
   them. caller: the getter */
PetscErrorCode VpPCBaseSet(PC, const VpSettings *, int setting, PetscReal value);
PetscErrorCode VpPCBaseGet(PC, const VpSettings *, int setting, void *value, const char caller[]);
PetscErrorCode VpPCBaseSetFromOptions(PC, const VpSettings *, VpOptionItems);
/* Ensures: an error unless the PC is of this type. */
PetscErrorCode VpPCBaseCheckType(PC, const char type[]);

/* kspkinds.c: whether the r of such a KSP stays b - A x where its preconditioner is not quite linear (but symmetric, if it has to be) */
PetscBool VpKSPKeepsResidual(KSPType);
/* whether it needs a symmetric preconditioner */
PetscBool VpKSPNeedsSymmetry(KSPType);

/* warn.c: one line on the first rank's stderr, each kind once a PC, unless -vpatchdg_warnings 0 */
typedef enum {
  VP_WARN_SINGLE,
  VP_WARN_SYMMETRY,
  VP_WARN_RESIDUAL,
  VP_WARN_COARSE,
  VP_WARN_FAILED,
  VP_WARN_MISSING,
  VP_WARN_CONSTANT,
  VP_WARN_SLOW
} VpWarning;
PetscErrorCode VpWarnWanted(PC, VpWarning, PetscBool *wanted); /* Whether this kind is wanted, and new. VpWarn() asks that itself. */
PetscErrorCode VpWarn(PC, VpWarning, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
/* whether the KSP measures its residual, outside of other solvers, which may mean it to stop early */
PetscBool VpIsWatched(KSP);
/* warns of single precision with a KSP that does not tolerate it; remedy: the option that helps, without the PC's prefix */
PetscErrorCode VpWarnSingle(PC, KSPType, const char remedy[]);
/* warns after a solve whose KSP reports a smaller residual than the true one */
PetscErrorCode VpWarnResidual(PC, KSP, Vec b, Vec x);

/* energy.c: gives the KSP the convergence test that its options name */
PetscErrorCode VpReadConverged(KSP);
/* warns after a solve whose residual hides that much of x is missing */
PetscErrorCode VpWarnMissing(PC, KSP, Vec b, Vec x);
