/* Records the output of calls on PETSc's stderr. */
#pragma once
#include "tap.h"

static char said[8192];

static FILE *stderr_before;

static inline void ListenBegin(void)
{
  stderr_before = PETSC_STDERR;
  PETSC_STDERR = tmpfile();
}

/* `said` becomes the output of the communicator's first rank, on all ranks. */
static inline PetscErrorCode ListenEnd(MPI_Comm comm)
{
  size_t n;

  PetscFunctionBeginUser;
  rewind(PETSC_STDERR);
  n = fread(said, 1, sizeof(said) - 1, PETSC_STDERR);
  said[n] = 0;
  fclose(PETSC_STDERR);
  PETSC_STDERR = stderr_before;
  PetscCallMPI(MPI_Bcast(said, sizeof(said), MPI_CHAR, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline const char *FirstLine(void)
{
  static char line[512];

  snprintf(line, sizeof(line), "%.*s", (int)strcspn(said, "\n"), said);
  return line[0] ? line : "nothing";
}

/* number of occurrences of the text */
static inline int Said(const char text[])
{
  int n = 0;

  for (const char *p = strstr(said, text); p; p = strstr(p + 1, text)) n++;
  return n;
}
