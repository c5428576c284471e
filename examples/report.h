/* The output of poisson: a line of a table, and JSON. */
#pragma once
#include <vpatchdg.h>

typedef struct {
  PetscLogDouble setup, solve;         /* seconds */
  PetscLogDouble cpu_setup, cpu_solve; /* CPU seconds of all ranks */
  PetscLogDouble bytes;                /* over all ranks, without those at the start */
  PetscReal      nu, bnorm, residual, l2, h1;
  PetscScalar    functional;
} Figures;

/* JSON has no NaN and no infinity, so these become null. */
static inline PetscErrorCode PrintNumber(MPI_Comm comm, FILE *fp, const char name[], const char format[], double x)
{
  char text[64] = "null";

  PetscFunctionBeginUser;
  if (!PetscIsInfOrNanReal(x)) PetscCall(PetscSNPrintf(text, sizeof(text), format, x));
  PetscCall(PetscFPrintf(comm, fp, ",\n \"%s\": %s", name, text));
  PetscFunctionReturn(0);
}

/* Prints relative residuals by iteration, if the KSP computes the residuals of A x = b. */
static inline PetscErrorCode PrintHistory(MPI_Comm comm, FILE *fp, KSP ksp, PetscReal bnorm)
{
  KSPNormType      norm;
  const PetscReal *history;
  PetscInt         n;

  PetscFunctionBeginUser;
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(KSPGetResidualHistory(ksp, &history, &n));
  if (norm != KSP_NORM_UNPRECONDITIONED) n = 0;
  PetscCall(PetscFPrintf(comm, fp, ",\n \"history\": ["));
  for (PetscInt i = 0; i < n; i++) {
    const double r = (double)(bnorm > 0 ? history[i] / bnorm : history[i]);

    if (!PetscIsInfOrNanReal(r)) PetscCall(PetscFPrintf(comm, fp, "%s%.6e", i ? ", " : "", r));
  }
  PetscCall(PetscFPrintf(comm, fp, "]"));
  PetscFunctionReturn(0);
}

/* Opens the report before the computation. Ensures: an error on all ranks if rank 0 cannot open the file. */
static inline PetscErrorCode OpenReport(MPI_Comm comm, const char file[], FILE **fp)
{
  PetscMPIInt rank, open;

  PetscFunctionBeginUser;
  *fp = NULL;
  if (!file[0]) PetscFunctionReturn(0);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (!rank) *fp = fopen(file, "w");
  open = *fp != NULL;
  PetscCallMPI(MPI_Bcast(&open, 1, MPI_INT, 0, comm));
  PetscCheck(open, comm, PETSC_ERR_FILE_OPEN, "-report: %s cannot be opened for writing", file);
  PetscFunctionReturn(0);
}

/* Prints a line of the table, and JSON unless file is empty. */
static inline PetscErrorCode Report(DM dm, KSP ksp, PetscBool smooth, const Figures *figures, const char file[], FILE *fp)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)dm);
  PetscInt           dim, degree, levels, its, mine, cells, dofs;
  PetscMPIInt        ranks;
  KSPConvergedReason reason;
  Vec                x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetDegree(dm, &degree));
  PetscCall(DMGetRefineLevel(dm, &levels));
  PetscCall(DMVPatchDGGetCells(dm, &mine));
  PetscCallMPI(MPI_Allreduce(&mine, &cells, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecGetSize(x, &dofs));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PetscPrintf(
    comm, "dim degree     cells       dofs ranks its    nu residual         (f,u)  L2 error  H1 error  setup s  solve s  MDoF/s B/DoF\n"));
  PetscCall(PetscPrintf(comm, "%3d %6d %9lld %10lld %5d %3d %5.2f  %.1e %13.6e", (int)dim, (int)degree, (long long)cells, (long long)dofs,
                        ranks, (int)its, (double)figures->nu, (double)figures->residual, (double)PetscRealPart(figures->functional)));
  if (smooth) PetscCall(PetscPrintf(comm, "  %.2e  %.2e", (double)figures->l2, (double)figures->h1));
  else PetscCall(PetscPrintf(comm, " %9s %9s", "-", "-"));
  PetscCall(PetscPrintf(comm, " %8.3f %8.3f %7.3f %5.0f%s%s\n", figures->setup, figures->solve, dofs / figures->solve / 1e6,
                        figures->bytes / dofs, reason < 0 ? " " : "", reason < 0 ? KSPConvergedReasons[reason] : ""));
  if (!file[0]) PetscFunctionReturn(0);
  PetscCall(PetscFPrintf(comm, fp, "{\"cells\": %lld, \"dofs\": %lld, \"degree\": %d, \"dim\": %d, \"levels\": %d, \"ranks\": %d,\n",
                         (long long)cells, (long long)dofs, (int)degree, (int)dim, (int)levels, ranks));
  PetscCall(PetscFPrintf(comm, fp, " \"iterations\": %d, \"reason\": \"%s\"", (int)its, KSPConvergedReasons[reason]));
  PetscCall(PrintNumber(comm, fp, "nu", "%.4f", figures->nu));
  PetscCall(PrintNumber(comm, fp, "relative_residual", "%.6e", figures->residual));
  PetscCall(PrintNumber(comm, fp, "functional", "%.15e", PetscRealPart(figures->functional)));
  PetscCall(PrintNumber(comm, fp, "error_l2", "%.6e", smooth ? figures->l2 : NAN));
  PetscCall(PrintNumber(comm, fp, "error_h1", "%.6e", smooth ? figures->h1 : NAN));
  PetscCall(PrintNumber(comm, fp, "seconds_setup", "%.6f", figures->setup));
  PetscCall(PrintNumber(comm, fp, "seconds_solve", "%.6f", figures->solve));
  PetscCall(PrintNumber(comm, fp, "cpu_setup", "%.6f", figures->cpu_setup));
  PetscCall(PrintNumber(comm, fp, "cpu_solve", "%.6f", figures->cpu_solve));
  PetscCall(PrintNumber(comm, fp, "mdofs_per_second", "%.4f", dofs / figures->solve / 1e6));
  PetscCall(PrintNumber(comm, fp, "bytes_per_dof", "%.1f", figures->bytes / dofs));
  PetscCall(PrintHistory(comm, fp, ksp, figures->bnorm));
  PetscCall(PetscFPrintf(comm, fp, "}\n"));
  PetscCall(PetscFClose(comm, fp));
  PetscFunctionReturn(0);
}
