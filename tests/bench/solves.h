/* Whole solves by bench_gpu: with solvers from a list, and with one that PETSc's options describe. */
#pragma once
#include "actions.h"

static const Traffic first = {.bytes = 16, .reals = 1},
                     step = {.bytes = 32, .reals = 2, .cycles = 1}; /* of a refinement: its last residual; a step */

typedef struct {
  const char *name;
  KSPType     type;
  PetscBool   guess; /* nested iteration */
} Solver;
static const Solver solvers[] = {
  {"refinement", KSPRICHARDSON, PETSC_FALSE},
  {"nested iteration, refinement", KSPRICHARDSON, PETSC_TRUE},
  {"FGMRES", KSPFGMRES, PETSC_FALSE},
  {"GMRES", KSPGMRES, PETSC_FALSE},
};

static const char *const sides[] = {"f = 1", "random b"};

static inline PetscErrorCode SolverCreate(Work *w, const Solver *solver)
{
  KSPGuess guess;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, &w->ksp));
  PetscCall(KSPSetPC(w->ksp, w->pc));
  PetscCall(KSPSetOperators(w->ksp, w->A, w->A));
  PetscCall(KSPSetType(w->ksp, solver->type));
  PetscCall(KSPSetTolerances(w->ksp, 1e-8, 1e-300, PETSC_DEFAULT, 50));
  PetscCall(KSPSetNormType(w->ksp, KSP_NORM_UNPRECONDITIONED));
  if (strcmp(solver->type, KSPRICHARDSON)) PetscCall(KSPSetPCSide(w->ksp, PC_RIGHT));
  PetscCall(KSPSetResidualHistory(w->ksp, NULL, 100, PETSC_TRUE));
  if (solver->guess) {
    PetscCall(KSPGetGuess(w->ksp, &guess));
    PetscCall(KSPGuessSetType(guess, KSPGUESSVPATCHDG));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of w->ksp. nu goes by the norm that the KSP goes by */
static inline PetscErrorCode MeasureSolve(Work *w, const char name[], const char rhs[])
{
  Row              row = NewRow(w, name);
  double           memory = 0;
  PetscReal        bnorm, rnorm;
  PetscInt         count;
  KSPNormType      norm;
  const PetscReal *history;

  PetscFunctionBeginUser;
  PetscCall(Time(w->bench, SolveOnce, w, &row.seconds));
  PetscCall(UsedBytes(w->bench, &memory));
  PetscCall(Norms(w, &bnorm, &rnorm));
  PetscCall(KSPGetNormType(w->ksp, &norm));
  PetscCall(KSPGetIterationNumber(w->ksp, &row.its));
  PetscCall(KSPGetResidualHistory(w->ksp, &history, &count));
  row.rhs = rhs;
  row.nu = -8 * row.its / log10((norm == KSP_NORM_PRECONDITIONED ? history[count - 1] : rnorm) / (count ? history[0] : bnorm));
  row.residual = rnorm / bnorm;
  row.memory = (memory - w->memory) / w->dofs;
  row.setup = w->setup[0] + w->setup[1];
  row.least = row.its * Bytes(w, step) + Bytes(w, first);
  Report(w->bench, &row);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode MeasureSolves(Work *w, int count)
{
  PetscFunctionBeginUser;
  for (int side = IsOneBox(w) ? 0 : 1; side < 2; side++) {
    PetscCall(SetRightHandSide(w, side));
    for (int i = 0; i < count; i++) {
      PetscCall(SolverCreate(w, &solvers[i]));
      PetscCall(MeasureSolve(w, solvers[i].name, sides[side]));
      PetscCall(KSPDestroy(&w->ksp));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a solver of its own, which PETSc's options describe, for f = 1 if that is known, and for random b */
static inline PetscErrorCode MeasureOptions(Work *w)
{
  PetscLogDouble start, end;
  PetscBool      typed, cycles;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&start));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_type", &typed));
  if (!typed) PetscCall(PetscOptionsSetValue(NULL, "-ksp_type", KSPFGMRES)); /* as an option the preconditioner knows it at its set-up */
  PetscCall(KSPCreate(PETSC_COMM_SELF, &w->ksp));
  PetscCall(KSPSetOperators(w->ksp, w->A, w->A));
  PetscCall(KSPSetTolerances(w->ksp, 1e-8, 1e-300, PETSC_DEFAULT, 200));
  PetscCall(KSPSetResidualHistory(w->ksp, NULL, 1000, PETSC_TRUE));
  PetscCall(KSPGetPC(w->ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(w->ksp));
  PetscCall(KSPSetUp(w->ksp));
  PetscCall(Wait(w->bench));
  PetscCall(PetscTime(&end));
  w->setup[1] = end - start;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &cycles));
  w->precision = cycles ? ((PC_VPatchDG *)pc->data)->cycle->options.precision : VP_DOUBLE;
  for (int side = IsOneBox(w) && !w->outer->problem.metric ? 0 : 1; side < 2; side++) {
    PetscCall(SetRightHandSide(w, side));
    PetscCall(MeasureSolve(w, "options", sides[side]));
  }
  PetscCall(KSPDestroy(&w->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
