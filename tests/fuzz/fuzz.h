/* What the files of the fuzzer's program share. fuzz.py draws the cases, runs this program once for each, and reads what it prints. */
#pragma once
#include "../support/problem.h"

/* try.c: calls whose outcome is looked at on all ranks */
typedef enum { ALL_DONE, ALL_REFUSED, RANKS_DIFFER } Outcome;
PetscErrorCode TryBegin(MPI_Comm); /* from here on errors are remembered and printed, not traced */
PetscErrorCode TryEnd(void);
Outcome        TryOutcome(PetscErrorCode); /* of a call that this rank made; collective */
const char    *TryMessage(void);           /* of this rank's first error since TryForget() */
void           TryForget(void);
void           Say(const char format[], ...) PETSC_ATTRIBUTE_FORMAT(1, 2); /* a line "fuzz: ...", from rank 0, at once */

/* the same pseudo-random numbers on all ranks */
void      DrawSeed(PetscInt);
PetscInt  Draw(PetscInt n); /* 0 to n - 1 */
PetscReal DrawReal(void);   /* in (0,1) */
/* the value of an enum whose names end in those of the type and the prefix; *exists is false for one value in four, which is none */
int DrawEnum(const char *const names[], PetscBool *exists);
int CountEnum(const char *const names[]);
#define DrawFrom(list) (list)[Draw((PetscInt)PETSC_STATIC_ARRAY_LENGTH(list))]

/* random numbers, other ones on every rank, in a vector */
PetscErrorCode DrawVec(Vec);
/* one positive number a cell: kind 0: 1; 1: two values that jump along coarse cells; 2: noise; 3: layers of cells; 4: blocks of 3 cells;
   between 1 / range and range */
PetscErrorCode DrawCoefficient(DM, PetscInt kind, PetscReal range);

/* a symmetric positive definite matrix as a coefficient at points: 1, dim or dim (dim + 1)/2 numbers */
typedef struct {
  PetscInt  components;
  PetscReal K[6];
} Tensor;
void DrawTensor(PetscInt dim, PetscInt components, Tensor *);

/* mathematics.c: what holds for every operator, transfer and preconditioner; says what does not */
PetscErrorCode CheckOperator(DM, Mat, PetscInt *failed);
PetscErrorCode CheckTransfers(DM, PetscInt *failed);
PetscErrorCode CheckPolynomials(DM, Mat, const Tensor *, PetscInt *failed); /* of cells that an affine map makes */
PetscErrorCode CheckPreconditioner(PC, Mat, PetscInt *failed);

/* solve.c: what a solve claims and what is true */
typedef enum { SOLVED, SOLVED_IN_ITS_NORM, NOT_CONVERGED, NOTHING_CLAIMED, WRONG, WRONG_SOLUTION } Claim;
extern const char *const ClaimNames[];
PetscErrorCode           CheckClaim(KSP, Mat, Vec b, Vec x, PetscReal guess, Claim *);
PetscErrorCode           CheckSolution(KSP, Mat, Vec known, Vec x, Claim *); /* changes a claim that is true of the residual */

/* options.c, api.c. broken: nothing can be destroyed after it */
PetscErrorCode OptionsCase(const char **result, PetscBool *broken);
PetscErrorCode ApiCase(const char **result, PetscBool *broken);
