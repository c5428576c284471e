/* Declarations shared by the files of this folder. */
#pragma once
#include "pc.h"
#include "../pcbase/pcbase.h"

/* the requested precision and the choice of `auto` */
typedef struct {
  VPatchDGPrecision asked;
  PetscBool         fits;     /* Single precision can represent the operator. */
  char              hint[32]; /* auto: KSP type from the options, or empty */
  PetscBool         chosen;   /* auto has set the cycle's precision. */
  PetscObjectId     by;       /* KSP of this choice; 0: unknown; -1: none, and no later KSP changes the choice */
  char              why[160]; /* the reason, for -ksp_view */
} VpChoice;

/* what the points of a DMDA are */
typedef enum { VP_POINTS_AUTO, VP_POINTS_NODES, VP_POINTS_CENTERS } VpPoints;
/* how wide the cells of a DMDA are: from a point to the next one, or to the second next */
typedef enum { VP_WIDTH_AUTO, VP_WIDTH_NARROW, VP_WIDTH_WIDE } VpWidth;

typedef struct {
  VpPCBase       inverse;
  VpCycleOptions options;
  VpPoints       points;
  VpWidth        width;
  PetscInt       pre, post; /* numbers of sweeps requested; pre PETSC_DECIDE: depends on the symmetry of the cycle */
  VpCycle        cycle;
  VpColumns      columns; /* the cycle for `most` vectors at once; NULL until used */
  PetscInt       most;
  VpChoice       choice;
  double         taken;   /* memory of mesh, x, b and cycle [bytes] */
  PetscObjectId  counted; /* KSP whose vectors were checked against the free memory since the cycle was built; 0: none */
} PC_VPatchDG;

static inline PC_VPatchDG *PCVPatchDGData(PC pc)
{
  return pc->data;
}

/* rehearse.c: on a device, runs in advance the one-time work of a first solve */
PetscErrorCode PCVPatchDGRehearse(PC);

/* restriction.c: VpPCBaseOps.adopt */
PetscErrorCode PCVPatchDGAdopt(PC);

/* settings.c */
enum {
  VP_PC_SPACE,
  VP_PC_RESIDUAL,
  VP_PC_SMOOTH_PRE,
  VP_PC_SMOOTH_POST,
  VP_PC_CORNERS,
  VP_PC_SYMMETRIC,
  VP_PC_JACOBI,
  VP_PC_POINTS,
  VP_PC_WIDTH,
  VP_PC_CYCLE_TYPE,
  VP_PC_COLORS,
  VP_PC_CELL_SWEEPS,
  VP_PC_CELL_RATIO,
  VP_PC_LEVELS,
  VP_PC_COARSENING,
  VP_PC_METRIC,
  VP_PC_PRECISION,
  VP_PC_EXCHANGE,
  VP_PC_COARSE,
  VP_PC_HANDOVER,
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

/* options.c. Ensures: errors unless the options are compatible with each other and with the problem. */
PetscErrorCode PCSetFromOptions_VPatchDG(PC, VpOptionItems);
PetscErrorCode PCVPatchDGCheckOptions(PC, VpMesh, const VpProblem *);
void           PCVPatchDGChooseSweeps(PC); /* sets the cycle's number of pre- and post-smoothing sweeps */
PetscErrorCode VpCheckPatches(VpMesh, VpSpace, VpResidual, const char type[]);
PetscErrorCode VpCheckSpace(MPI_Comm, const char prefix[], VpSpace, VpResidual, int degree);

/* precision.c: reads the hint; VpPCBaseOps.prepare and meet; prints for -ksp_view */
PetscErrorCode PCVPatchDGReadHint(PC);
PetscErrorCode PCVPatchDGPreparePrecision(PC, const VpProblem *, PetscBool *later);
PetscErrorCode PCVPatchDGMeet(PC, KSP, PetscBool *again);
/* Fixes the precision because the user is about to get the coarse KSP, which would be lost if the cycle were built again. */
PetscErrorCode PCVPatchDGChoosePrecision(PC);
PetscErrorCode PCVPatchDGViewPrecision(PC, PetscViewer);

/* doctor.c: prints the kind of the metric's means, and why, for -ksp_view and the doctor */
PetscErrorCode PCVPatchDGViewMetric(PC, const VpProblem *, PetscViewer);
/* doctor.c: -vpatchdg_doctor before the cycle is built. Ensures: an error if memory is too small for the cycle. */
PetscErrorCode PCVPatchDGDoctor(PC, VpMesh, const VpProblem *, const VpBackend *);

/* VpPCBaseOps.met. Ensures: an error if memory is too small for the KSP's vectors. */
PetscErrorCode PCVPatchDGMet(PC, KSP);

/* warn.c: warns before a KSP with a convergence test solves, and after each solve */
PetscErrorCode PCVPatchDGWarnBefore(PC, KSPType);
PetscErrorCode PCVPatchDGWarnAfter(PC, KSP, Vec b, Vec x);
