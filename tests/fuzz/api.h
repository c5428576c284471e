/* Sequences of API calls: their state, and what is expected of a call. */
#pragma once
#include "fuzz.h"

/* a DM and what was made of it; NULL where it was not made */
typedef struct {
  DM        dm;
  PetscBool up;
  PetscInt  dim, degree, refine;
  Mat       A;
  PetscReal scale, shift; /* of A against the DM's operator ... */
  PetscBool copy;         /* A came from MatDuplicate() */
  PetscBool known;        /* ... unless the coefficient changed below a scaled or copied A */
  PetscBool rough;        /* the coefficient may be: fgmres need not converge */
  Vec       x, y;
  KSP       ksp;
} Slot;

#define SLOTS 4
typedef struct {
  Slot        slot[SLOTS];
  PetscMPIInt rank, size;
  PetscInt    step;
  const char *result; /* NULL as long as all is as expected */
} Api;

typedef enum { LEGAL, ILLEGAL, EITHER } Expected;
void ApiSay(Api *, Expected, const char format[], ...) PETSC_ATTRIBUTE_FORMAT(3, 4);
void ApiOutcome(Api *, Expected, PetscErrorCode);

/* a call, with its description as for printf; returns from the operation where the outcome is not what is expected */
#define Expect(expected, call, ...) \
  do { \
    PetscErrorCode code_; \
    ApiSay(api, expected, __VA_ARGS__); \
    code_ = call; \
    ApiOutcome(api, expected, code_); \
    if (api->result) PetscFunctionReturn(PETSC_SUCCESS); \
  } while (0)
#define Legal(call)   Expect(LEGAL, call, "%s", #call)
#define Illegal(call) Expect(ILLEGAL, call, "%s", #call)
#define Either(call)  Expect(EITHER, call, "%s", #call)

typedef struct {
  const char *name;
  PetscErrorCode (*run)(Api *, Slot *);
} Operation;
extern const Operation dm_operations[], vector_operations[], matrix_operations[], solver_operations[], misuse_operations[];

/* api.c */
Slot          *AnySlot(Api *, PetscBool up); /* a slot in that state, or NULL */
PetscErrorCode NewDM(Api *, Slot *);         /* in a slot, which is emptied before; not set up */
PetscErrorCode SetUp(Api *, Slot *);
PetscErrorCode NeedSystem(Api *, Slot *); /* of a slot that is set up: A, x and y */
PetscErrorCode Empty(Api *, Slot *);      /* destroys in any order */
PetscErrorCode StillWorks(Api *, Slot *); /* the operator is what it was, and solves */
