/* What the files of this folder share. */
#pragma once
#include "pc.h"
#include "../pcbase/pcbase.h"

/* which precision was asked for, and what `auto` makes of it */
typedef struct {
  VPatchDGPrecision asked;
  PetscBool         holds;    /* Single precision holds the operator's numbers. */
  char              hint[32]; /* auto: the type of the KSP, where the options say it; else empty */
  PetscBool         chosen;   /* auto has set the cycle's precision. */
  PetscObjectId     by;       /* the KSP that it was set for; 0: none that is known; -1: none, whatever comes */
  char              why[160]; /* the reason, for -ksp_view */
} VpChoice;

typedef struct {
  VpPCBase       inverse;
  VpCycleOptions options;
  PetscInt       pre, post; /* sweeps that were asked for; pre PETSC_DECIDE: what suits a symmetric cycle or not */
  VpCycle        cycle;
  VpColumns      columns; /* the cycle for `most` vectors at once; NULL until used */
  PetscInt       most;
  VpChoice       choice;
  double         taken;   /* by mesh, x, b and cycle, bytes */
  PetscObjectId  counted; /* the KSP whose vectors were counted since the cycle was built; 0: none */
} PC_VPatchDG;

static inline PC_VPatchDG *PCVPatchDGData(PC pc)
{
  return pc->data;
}

/* rehearse.c: on a device, goes through what first applications wait for */
PetscErrorCode PCVPatchDGRehearse(PC);

/* settings.c */
enum {
  VP_PC_SPACE,
  VP_PC_RESIDUAL,
  VP_PC_SMOOTH_PRE,
  VP_PC_SMOOTH_POST,
  VP_PC_CORNERS,
  VP_PC_SYMMETRIC,
  VP_PC_CYCLE_TYPE,
  VP_PC_CELL_SWEEPS,
  VP_PC_LEVELS,
  VP_PC_COARSENING,
  VP_PC_PRECISION,
  VP_PC_EXCHANGE,
  VP_PC_COARSE,
  VP_PC_GATHER,
  VP_PC_REPLAY,
  VP_PC_SETTINGS
};
extern const VpSettings PCVPatchDGSettings;

static inline const char *VpCycleName(VpCycleType type)
{
  static const char *const name[] = {[VP_CYCLE_V] = "V", [VP_CYCLE_W] = "W", [VP_CYCLE_F] = "F", [VP_CYCLE_AUTO] = "auto"};

  return name[type];
}

/* options.c. Ensures: errors unless the options go together, and with the problem. */
PetscErrorCode PCSetFromOptions_VPatchDG(PC, VpOptionItems);
PetscErrorCode PCVPatchDGCheckOptions(PC, VpMesh, const VpProblem *);
void           PCVPatchDGSettleSweeps(PC); /* sets the cycle's numbers of sweeps */
PetscErrorCode VpCheckPatches(VpMesh, const char type[]);
PetscErrorCode VpCheckSpace(MPI_Comm, const char prefix[], VpSpace, VpResidual, int degree);

/* precision.c: reads the hint; VpPCBaseOps' prepare and meet; what -ksp_view says */
PetscErrorCode PCVPatchDGReadHint(PC);
PetscErrorCode PCVPatchDGPreparePrecision(PC, const VpProblem *, PetscBool *later);
PetscErrorCode PCVPatchDGMeet(PC, KSP, PetscBool *again);
/* Fixes the precision for good: the user is about to get the coarse KSP, which would be lost if the cycle were built again. */
PetscErrorCode PCVPatchDGSettlePrecision(PC);
PetscErrorCode PCVPatchDGViewPrecision(PC, PetscViewer);

/* doctor.c: -vpatchdg_doctor, before the cycle is built. Ensures: an error if there is no memory for it. */
PetscErrorCode PCVPatchDGDoctor(PC, VpMesh, const VpProblem *, const VpBackend *);

/* VpPCBaseOps' met. Ensures: an error if there is no memory for the vectors of the KSP. */
PetscErrorCode PCVPatchDGMet(PC, KSP);

/* warn.c: warns before a KSP solves that tests its convergence, and after every one */
PetscErrorCode PCVPatchDGWarnBefore(PC, KSPType);
PetscErrorCode PCVPatchDGWarnAfter(PC, KSP, Vec b, Vec x);
