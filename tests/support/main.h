/* The main function of a test. */
#pragma once
#include "tap.h"

/* Starts PETSc, runs the tests on `size` ranks, prints their plan unless there were none (TapSkip), and ends. */
static int TapMain(int argc, char **argv, PetscErrorCode (*run)(PetscMPIInt size))
{
  PetscMPIInt size;
  int         failed;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(run(size));
  failed = tap.count ? TapEnd() : 0;
  PetscCall(PetscFinalize());
  return failed;
}
#define TAP_MAIN(run) \
  int main(int argc, char **argv) \
  { \
    return TapMain(argc, argv, run); \
  }
