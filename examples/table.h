/* A table of errors on finer and finer meshes, for the examples on curved cells whose solution is known. */
#pragma once
#include "known.h"

typedef struct {
  VPatchDGFunction f, u, gradient; /* f: NULL, it is 0 */
  VPatchDGFlux     flux;           /* where there are Neumann conditions, or NULL */
} Known;

static inline PetscErrorCode SolveKnown(DM dm, const Known *known, PetscInt *its, Vec *u)
{
  Mat A;
  Vec b;
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, u, &b));
  PetscCall(DMVPatchDGComputeRHS(dm, known->f, known->u, known->flux, NULL, b));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)dm), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPVPATCHDGFCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *u));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

/* Solves on the i-th mesh, and prints a row of the table. before: the errors on the mesh before, which become those on this one */
static inline PetscErrorCode PrintRow(DM dm, const Known *known, PetscInt i, PetscReal before[2])
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)dm);
  PetscReal error[2];
  PetscInt  its, n;
  Vec       u;

  PetscFunctionBeginUser;
  PetscCall(SolveKnown(dm, known, &its, &u));
  PetscCall(VecGetSize(u, &n));
  PetscCall(DMVPatchDGComputeErrors(dm, u, known->u, known->gradient, NULL, &error[0], &error[1]));
  if (!i) PetscCall(PetscPrintf(comm, "unknowns  iterations  L2 error  gradient's  factors\n"));
  PetscCall(PetscPrintf(comm, "%8d  %10d  %8.1e  %10.1e", (int)n, (int)its, (double)error[0], (double)error[1]));
  if (i) PetscCall(PetscPrintf(comm, "  %.1f %.1f", (double)(before[0] / error[0]), (double)(before[1] / error[1])));
  PetscCall(PetscPrintf(comm, "\n"));
  PetscCall(VecViewFromOptions(u, NULL, "-solution_view"));
  before[0] = error[0];
  before[1] = error[1];
  PetscCall(VecDestroy(&u));
  PetscFunctionReturn(0);
}

/* Makes the i-th mesh, set up. */
typedef PetscErrorCode (*MakeMesh)(PetscInt i, void *ctx, DM *dm);

/* Prints the table of as many meshes as -meshes says. */
static inline PetscErrorCode PrintTable(MakeMesh make, void *ctx, const Known *known)
{
  PetscInt  meshes = 3;
  PetscReal before[2] = {1, 1};

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-meshes", &meshes, NULL));
  for (PetscInt i = 0; i < meshes; i++) {
    DM dm;

    PetscCall(make(i, ctx, &dm));
    PetscCall(PrintRow(dm, known, i, before));
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(0);
}
