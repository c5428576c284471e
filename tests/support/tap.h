/* TAP output of tests on any number of ranks: TapBegin(comm), TapOk(condition, "name"), return TapEnd(), or return TapSkip("why"). */
#pragma once
#include "../../src/compat.h"
#include <stdarg.h>

static struct {
  MPI_Comm    comm;
  PetscMPIInt rank;
  int         count, failed;
} tap;

static inline void TapBegin(MPI_Comm comm)
{
  tap.comm = comm;
  tap.count = tap.failed = 0;
  PetscCallAbort(comm, MPI_Comm_rank(comm, &tap.rank));
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

/* Prints the plan of a program without tests here, and returns its exit code. */
static inline int TapSkip(const char why[])
{
  if (!tap.rank) printf("1..0 # SKIP %s\n", why);
  fflush(stdout);
  return 0;
}

/* Prints the plan, and returns the exit code of the program. */
static inline int TapEnd(void)
{
  if (!tap.rank) printf("1..%d\n", tap.count);
  fflush(stdout);
  return tap.failed ? 1 : 0;
}
