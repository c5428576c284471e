/* Calls that must fail, and their messages. */
#pragma once
#include "tap.h"

static char message[2048]; /* text of the first error */

PETSC_UNUSED static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code,
                                            PetscErrorType type, const char *text, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL) snprintf(message, sizeof(message), "%s", text);
  return code;
}

/* from the leak sanitizer, if it is linked */
extern void __lsan_disable(void) __attribute__((weak));

/* Does not count memory that failed calls lose as leaks. */
PETSC_UNUSED static PetscErrorCode LossesAreExpected(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-malloc_dump"));
  if (__lsan_disable) __lsan_disable();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that the call fails on every rank with a message that contains the text. */
#define Refused(call, text, name) \
  do { \
    PetscErrorCode code_; \
    message[0] = 0; \
    PetscCall(PetscPushErrorHandler(Remember, NULL)); \
    code_ = call; \
    PetscCall(PetscPopErrorHandler()); \
    TapOk((PetscBool)(code_ != 0 && strstr(message, text) != NULL), "bad_input_is_refused, %s: %s", name, message); \
  } while (0)
