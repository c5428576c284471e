/* TAP output of tests on any number of ranks: TapOk(condition, "name") in a function that TAP_MAIN() begins, which may end with TapSkip("why"). */
#pragma once
#include "../../include/vpatchdg.h"
#include "../../src/compat.h"
#include <stdarg.h>

static struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  int         count, failed;
  PetscBool   skipped;
} tap;

static inline void TapBegin(MPI_Comm comm)
{
  tap.comm = comm;
  tap.count = tap.failed = 0;
  PetscCallAbort(comm, MPI_Comm_rank(comm, &tap.rank));
  PetscCallAbort(comm, MPI_Comm_size(comm, &tap.size));
}

/* Collective. The condition must hold on every rank. */
PETSC_ATTRIBUTE_FORMAT(2, 3) static inline void TapOk(PetscBool condition, const char *format, ...)
{
  int     local = condition ? 1 : 0, all;
  va_list arguments;

  PetscCallAbort(tap.comm, MPI_Allreduce(&local, &all, 1, MPI_INT, MPI_MIN, tap.comm));
  tap.count++;
  tap.failed += !all;
  if (tap.rank) return;
  printf("%sok %d - ", all ? "" : "not ", tap.count);
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
}

/* Prints the plan of a program without tests here. */
static inline PetscErrorCode TapSkip(const char why[])
{
  if (!tap.rank) printf("1..0 # SKIP %s\n", why);
  tap.skipped = PETSC_TRUE;
  return PETSC_SUCCESS;
}

/* Runs all tests of a program, prints their plan, and returns the exit code. */
static inline int TapMain(int argc, char **argv, PetscErrorCode (*run)(void))
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(VPatchDGInitializePackage());
  TapBegin(PETSC_COMM_WORLD);
  PetscCall(run());
  if (!tap.rank && !tap.skipped) printf("1..%d\n", tap.count);
  fflush(stdout);
  PetscCall(PetscFinalize());
  return tap.failed ? 1 : 0;
}

/* Begins the function that runs all tests of a program. */
#define TAP_MAIN() \
  static PetscErrorCode RunTests(void); \
  int                   main(int argc, char **argv) \
  { \
    return TapMain(argc, argv, RunTests); \
  } \
  static PetscErrorCode RunTests(void)
