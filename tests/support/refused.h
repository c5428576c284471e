/* Calls that must fail, and what they say. */
#pragma once
#include "tap.h"

static char message[2048]; /* of the error that came first */

PETSC_UNUSED static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                            PetscErrorType type, const char *text, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL) snprintf(message, sizeof(message), "%s", text);
  return code;
}

/* the leak sanitizer's, where there is one */
extern void __lsan_disable(void) __attribute__((weak));

/* What failed calls lose is not counted as a leak. */
PETSC_UNUSED static PetscErrorCode LossesAreExpected(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  if (__lsan_disable) __lsan_disable();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the call fails on every rank, and its message has this text */
#define Refused(call, text, name) \
  do { \
    PetscErrorCode code_; \
    message[0] = 0; \
    PetscCall(PetscPushErrorHandler(Remember, NULL)); \
    code_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    TapOk((PetscBool)(code_ != 0 && strstr(message, text) != NULL), "bad_input_is_refused, %s: %s", name, message); \
  } while (0)
