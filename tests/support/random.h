/* Random problems, and the answers of a direct solver. */
#pragma once
#include "problem.h"

static uint64_t state;

static inline void SeedDraws(PetscInt seed)
{
  state = 88172645463325252ull * (uint64_t)(2 * seed + 1);
}

static inline PetscInt Pick(PetscInt n)
{
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (PetscInt)((state >> 33) % (uint64_t)n);
}

/* known: x of a direct solver for this b; both are without a constant where A is singular */
static inline PetscErrorCode SolveDirectly(Problem *p, PetscBool singular, Vec known)
{
  MatNullSpace constants;
  KSP          direct;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(TestRandom(p->b, 5));
  if (singular) { /* b = A known */
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(VecCopy(p->b, known));
    PetscCall(MatNullSpaceRemove(constants, known));
    PetscCall(MatMult(p->A, known, p->b));
    PetscCall(MatNullSpaceDestroy(&constants));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &direct));
  PetscCall(KSPSetOptionsPrefix(direct, "direct_"));
  PetscCall(KSPSetOperators(direct, p->A, p->A));
  PetscCall(KSPSetType(direct, KSPPREONLY));
  PetscCall(KSPGetPC(direct, &pc));
  PetscCall(PCSetType(pc, PCREDUNDANT)); /* LU, on every rank */
  PetscCall(KSPSolve(direct, p->b, known));
  PetscCall(KSPDestroy(&direct));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* error of p->x, in the maximum norm, without the constant where A is singular */
static inline PetscErrorCode FindError(Problem *p, PetscBool singular, Vec known, PetscReal *error)
{
  MatNullSpace constants;
  PetscReal    most;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(known, NORM_INFINITY, &most));
  PetscCall(VecAXPY(p->x, -1, known));
  if (singular) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatNullSpaceRemove(constants, p->x));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(VecNorm(p->x, NORM_INFINITY, error));
  *error /= most;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs a test of random draws. -seed n -draws n: others, and another number of them */
static inline PetscErrorCode RunDraws(PetscInt draws, PetscErrorCode (*run)(PetscInt))
{
  PetscInt seed = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-draws", &draws, NULL));
  SeedDraws(seed);
  PetscCall(run(draws));
  PetscFunctionReturn(PETSC_SUCCESS);
}
