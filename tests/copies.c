/* Matrices made from a DM follow its coefficient, copies keep theirs, and a preconditioner takes what its matrix holds: matrix-free and
   assembled ones alike. */
/* ranks: 1 3 */
#include "support/problem.h"

static PetscReal Jump(const PetscReal lower[], const PetscReal upper[], PetscReal a)
{
  return lower[0] < 0.5 ? 1 : a;
}

typedef struct {
  const char *type;
  Problem     p;
  Vec         x, y; /* x random */
} World;

static PetscErrorCode WorldCreate(const char type[], World *w)
{
  DM dm;

  PetscFunctionBeginUser;
  w->type = type;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 3, &dm));
  PetscCall(DMSetMatType(dm, type));
  PetscCall(DMSetUp(dm));
  PetscCall(SetCoefficient(dm, Jump, 10));
  PetscCall(ProblemOf(dm, NULL, &w->p));
  PetscCall(VecDuplicate(w->p.b, &w->x));
  PetscCall(VecDuplicate(w->p.b, &w->y));
  PetscCall(VecSetRandom(w->x, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WorldDestroy(World *w)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&w->x));
  PetscCall(VecDestroy(&w->y));
  PetscCall(ProblemDestroy(&w->p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |B x - (scale y + shift x)| / |B x| */
static PetscErrorCode Apart(World *w, Mat B, PetscScalar scale, Vec y, PetscScalar shift, PetscReal *apart)
{
  Vec z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecCopy(y, z));
  PetscCall(VecScale(z, scale));
  PetscCall(VecAXPY(z, shift, w->x));
  PetscCall(MatMult(B, w->x, w->y));
  PetscCall(Difference(z, w->y, apart));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(World *w, Mat A, PetscInt *its, PetscReal *residual)
{
  Mat keep = w->p.A;

  PetscFunctionBeginUser;
  PetscCall(NewKSP(&w->p));
  w->p.A = A;
  PetscCall(KSPSetOperators(w->p.ksp, A, A));
  PetscCall(SolveWith(&w->p, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg", residual, its, NULL));
  w->p.A = keep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a copy of 3 A + 2 I with values; then another coefficient */
static PetscErrorCode copies_keep_their_values(const char type[])
{
  World     w;
  Mat       B, C;
  Vec       old;
  PetscReal apart[4], residual[3];
  PetscInt  its[3];

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(type, &w));
  PetscCall(VecDuplicate(w.x, &old));
  PetscCall(MatMult(w.p.A, w.x, old));
  PetscCall(MatScale(w.p.A, 3));
  PetscCall(MatShift(w.p.A, 2));
  PetscCall(MatDuplicate(w.p.A, MAT_COPY_VALUES, &B));
  PetscCall(MatDuplicate(w.p.A, MAT_DO_NOT_COPY_VALUES, &C));
  PetscCall(MatCopy(B, C, SAME_NONZERO_PATTERN));
  PetscCall(Solve(&w, w.p.A, &its[0], &residual[0]));
  PetscCall(SetCoefficient(w.p.dm, Jump, 1e6));
  PetscCall(Apart(&w, B, 3, old, 2, &apart[0]));
  PetscCall(Apart(&w, C, 3, old, 2, &apart[1]));
  TapOk((PetscBool)(apart[0] < 1e-13 && apart[1] < 1e-13), "copies_keep_their_values, %s: %.0e %.0e", type, (double)apart[0],
        (double)apart[1]);
  PetscCall(Solve(&w, B, &its[1], &residual[1]));
  PetscCall(Solve(&w, C, &its[2], &residual[2]));
  TapOk((PetscBool)(residual[1] < 1e-7 && residual[2] < 1e-7 && its[1] == its[0] && its[2] == its[0]),
        "preconditioners_take_what_their_matrix_holds, %s: %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT " iterations", type, its[0],
        its[1], its[2]);
  /* the original stands for A with the new coefficient */
  PetscCall(SetCoefficient(w.p.dm, Jump, 10));
  PetscCall(Apart(&w, w.p.A, 1, old, 0, &apart[2]));
  PetscCall(MatScale(B, 2));
  PetscCall(Apart(&w, B, 6, old, 4, &apart[3]));
  TapOk((PetscBool)(apart[2] < 1e-13 && apart[3] < 1e-13), "a_coefficient_makes_the_matrix_anew, %s: %.0e, its copy is scaled alone: %.0e",
        type, (double)apart[2], (double)apart[3]);
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(VecDestroy(&old));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a copy works when the matrix and the user's reference to the DM are gone */
static PetscErrorCode copies_outlive_their_original(const char type[])
{
  World     w;
  Mat       B;
  PetscReal residual;
  PetscInt  its;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(type, &w));
  PetscCall(MatDuplicate(w.p.A, MAT_COPY_VALUES, &B));
  PetscCall(MatDestroy(&w.p.A));
  PetscCall(SetCoefficient(w.p.dm, Jump, 1000));
  w.p.A = B;
  PetscCall(Solve(&w, B, &its, &residual));
  TapOk((PetscBool)(residual < 1e-7 && its <= 6), "copies_outlive_their_original, %s: %" PetscInt_FMT " iterations", type, its);
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatScale() and MatShift() of an assembled matrix reach the cycle: it takes as many iterations as matrix-free, and fewer than with A as
   Pmat */
static PetscErrorCode scale_and_shift_reach_the_cycle(void)
{
  const char *const types[] = {MATSHELL, MATAIJ, MATAIJ};
  World             w;
  Mat               P;
  PetscInt          its[3];
  PetscReal         residual;

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(WorldCreate(types[i], &w));
    PetscCall(MatDuplicate(w.p.A, MAT_COPY_VALUES, &P));
    PetscCall(MatScale(w.p.A, 1e4));
    PetscCall(MatShift(w.p.A, 1e9));
    PetscCall(KSPSetOperators(w.p.ksp, w.p.A, i == 2 ? P : w.p.A));
    PetscCall(SolveWith(&w.p, "-ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg", &residual, &its[i], NULL));
    PetscCall(MatDestroy(&P));
    PetscCall(WorldDestroy(&w));
  }
  TapOk((PetscBool)(its[0] == its[1] && its[2] > 2 * its[1]),
        "scale_and_shift_reach_the_cycle: %" PetscInt_FMT " and %" PetscInt_FMT " iterations, with A as Pmat %" PetscInt_FMT, its[0],
        its[1], its[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const char *const types[] = {MATSHELL, MATAIJ, MATBAIJ};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(copies_keep_their_values(types[i]));
    PetscCall(copies_outlive_their_original(types[i]));
  }
  PetscCall(scale_and_shift_reach_the_cycle());
  PetscFunctionReturn(PETSC_SUCCESS);
}
