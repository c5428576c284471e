/* The number of vectors that a KSP needs in addition to x and b. */
#include "forecast.h"
#include <petsc/private/kspimpl.h>

/* A KSP that keeps directions has `fixed` vectors, and `per` vectors per direction. Its set-up allocates `first` directions, for KSPs like
   KSPGMRES in addition to VpGMRESPrepared(). Iteration k allocates `chunk` more if there are fewer than k + `ahead`, up to the restart
   length + `over`. chunk 0: the set-up allocates all. The vectors that KSPDGMRES adds at its first restart are not counted. */
typedef struct {
  const char *type;
  PetscErrorCode (*restart)(KSP, PetscInt *);
  PetscInt fixed, per, first, chunk, ahead, over;
} Keeper;

static PetscErrorCode RestartOption(KSP ksp, const char option[], PetscInt *restart)
{
  *restart = 30;
  return PetscOptionsGetInt(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, option, restart, NULL);
}

static PetscErrorCode LCDGetRestart(KSP ksp, PetscInt *restart)
{
  return RestartOption(ksp, "-ksp_lcd_restart", restart);
}

/* KSPDGMRES has no function that returns the restart length. */
static PetscErrorCode GMRESGetRestart(KSP ksp, PetscInt *restart)
{
  PetscErrorCode (*get)(KSP, PetscInt *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)ksp, "KSPGMRESGetRestart_C", &get));
  if (get) PetscCall(get(ksp, restart));
  else PetscCall(RestartOption(ksp, "-ksp_gmres_restart", restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Keeper keepers[] = {
  {KSPGMRES, GMRESGetRestart, 2, 1, 2, 10, 1, 2},    {KSPFGMRES, GMRESGetRestart, 2, 2, 2, 10, 1, 2},
  {KSPLGMRES, GMRESGetRestart, 7, 1, 2, 10, 1, 2},   {KSPPGMRES, GMRESGetRestart, 4, 1, 0, 10, 1, 1},
  {KSPDGMRES, GMRESGetRestart, 2, 1, 2, 10, 1, 2},   {KSPPIPEFGMRES, GMRESGetRestart, 6, 3, 2, 10, 3, 3},
  {KSPGCR, KSPGCRGetRestart, 1, 2, 0, 0, 0, 0},      {KSPFCG, KSPFCGGetMmax, 2, 2, 10, 5, 0, 1},
  {KSPPIPEFCG, KSPPIPEFCGGetMmax, 5, 4, 5, 5, 0, 1}, {KSPPIPEGCR, KSPPIPEGCRGetMmax, 5, 4, 5, 5, 1, 1},
  {KSPLCD, LCDGetRestart, 2, 2, 0, 0, 0, 1},
};

static const Keeper *FindKeeper(KSPType type)
{
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(keepers); i++) {
    if (!strcmp(keepers[i].type, type)) return &keepers[i];
  }
  return NULL;
}

/* *first: number of directions that the set-up allocates */
static PetscErrorCode FirstDirections(KSP ksp, const Keeper *k, PetscInt restart, PetscInt *first)
{
  const char *preallocate = "-ksp_gmres_preallocate";
  PetscBool   all = PETSC_FALSE;

  PetscFunctionBegin;
  *first = k->chunk ? k->first : restart + k->over;
  if (k->restart != GMRESGetRestart) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetBool(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, preallocate, &all, NULL));
  *first = k->first + VpGMRESPrepared(ksp, restart, all);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other KSPs have all their vectors after the set-up. ksp->nwork counts them, except the three vectors of Chebyshev's KSP for
   eigenvalues. A host allocates a vector when it is created, a device when it is first used. */
PetscErrorCode VpKrylovVectors(KSP ksp, PetscInt iterations, PetscInt *created, PetscInt *used)
{
  const char   *type = ((PetscObject)ksp)->type_name;
  const Keeper *k = FindKeeper(type);
  PetscInt      restart, first, more;

  PetscFunctionBegin;
  *created = *used = ksp->nwork + (strcmp(type, KSPCHEBYSHEV) ? 0 : 3);
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(k->restart(ksp, &restart));
  PetscCall(FirstDirections(ksp, k, restart, &first));
  more = PetscMax(0, PetscMin(iterations, restart + k->over) + k->ahead - first);
  if (k->chunk) more = k->chunk * ((more + k->chunk - 1) / k->chunk);
  *created = k->fixed + k->per * PetscMin(first + more, restart + k->over);
  *used = PetscMin(*created, k->fixed + k->per * (PetscMin(iterations, restart) + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the memory of the first iterations and of all iterations. */
static PetscErrorCode ReportMemory(KSP ksp, const VpBackend *backend, PetscInt first, PetscInt iterations, double vector)
{
  char        text[64];
  PetscViewer viewer;
  PetscMPIInt ranks;
  PetscInt    all, used;

  PetscFunctionBegin;
  PetscCall(VpDoctorViewer((PetscObject)ksp, &viewer));
  if (!viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)ksp), &ranks));
  PetscCall(VpKrylovVectors(ksp, ksp->max_it, &all, &used));
  PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: KSP %s\n  memory needed, about:\n", ((PetscObject)ksp)->type_name));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT " vectors, %" PetscInt_FMT " iterations", first, iterations));
  if (all == first) PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT " vectors", first));
  PetscCall(VpReportNeed(viewer, text, (double)first * vector, ranks));
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT " vectors, all iterations", all));
  if (all > first) PetscCall(VpReportNeed(viewer, text, (double)all * vector, ranks));
  PetscCall(VpReportThere(viewer, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* iterations: a lower bound of the number of iterations. On a host, a KSP that keeps directions allocates vectors for ten. */
PetscErrorCode VpCheckKSPMemory(KSP ksp, PetscInt iterations, const VpBackend *backend, VpBytes vector, double taken)
{
  const char *type = ((PetscObject)ksp)->type_name, *prefix = ((PetscObject)ksp)->prefix ? ((PetscObject)ksp)->prefix : "";
  PetscBool   device = (PetscBool)(VpIsDevice(backend) && vector.work > 0);
  PetscInt    counted = PetscMin(device ? iterations : 10, ksp->max_it), first, used;
  char        what[96], instead[192];

  PetscFunctionBegin;
  PetscCall(VpKrylovVectors(ksp, counted, &first, &used));
  if (device) first = used;
  if (!first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReportMemory(ksp, backend, first, counted, vector.work + vector.host));
  PetscCall(PetscSNPrintf(what, sizeof(what), "KSP %s, %" PetscInt_FMT " vectors for its first %" PetscInt_FMT " iterations", type, first,
                          counted));
  if (first > VP_GCR_VECTORS)
    PetscCall(PetscSNPrintf(instead, sizeof(instead),
                            "Use -%sksp_type gcr -%sksp_gcr_restart 5 (%d vectors) or -%sksp_type richardson (%d)", prefix, prefix,
                            VP_GCR_VECTORS, prefix, VP_RICHARDSON_VECTORS));
  else PetscCall(PetscStrncpy(instead, "Refine less (-dm_refine)", sizeof(instead)));
  PetscCall(VpCheckMemory(PetscObjectComm((PetscObject)ksp), backend, (VpBytes){(double)first * vector.work, (double)first * vector.host},
                          taken, what, instead));
  PetscFunctionReturn(PETSC_SUCCESS);
}
