/* Numbers that double or single precision does not hold are refused on every rank; what they do hold is solved.
   ranks: 1 2 3 */
#include "support/problem.h"
#include "support/refused.h"

static PetscErrorCode Make(PetscInt dim, PetscReal size, PetscReal penalty, PetscReal reaction, DM *dm)
{
  const PetscReal upper[3] = {size, size, size};

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, 3, dm));
  PetscCall(DMVPatchDGSetBoxGrid(*dm, NULL, NULL, upper));
  PetscCall(DMVPatchDGSetPenalty(*dm, penalty));
  PetscCall(DMVPatchDGSetReaction(*dm, reaction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Corner(const PetscReal lower[], const PetscReal upper[], PetscReal value) /* in one cell, which one rank has */
{
  return lower[0] == 0 && lower[1] == 0 ? value : 1;
}

static PetscErrorCode RefusedAtSetUp(void)
{
  static const struct {
    PetscInt    dim;
    PetscReal   size, penalty, reaction;
    const char *says;
  } bad[] = {
    {3, 1e-110, 1, 0, "Choose other units of length"},
    {3, 1e110, 1, 0, "Choose other units of length"},
    {2, 1e-160, 1, 0, "Choose other units of length"},
    {2, 1e160, 1, 0, "Choose other units of length"},
    {3, 1, 1e300, 0, "penalty 1e+300"},
    {2, 1, 1, 1e250, "reaction 1e+250"},
  };
  const PetscReal huge[] = {1e300, 1e-300};
  PetscReal      *a;
  PetscMPIInt     rank;
  PetscInt        n;
  DM              dm;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(bad); i++) {
    PetscCall(Make(bad[i].dim, bad[i].size, bad[i].penalty, bad[i].reaction, &dm));
    Refused(DMSetUp(dm), bad[i].says, "numbers that double precision does not hold");
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(Make(2, 1, 1, 0, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int i = 0; i < 2; i++) {
    PetscCall(PetscMalloc1(n + 1, &a));
    for (PetscInt c = 0; c < n; c++) a[c] = !rank && !c ? huge[i] : 1;
    Refused(DMVPatchDGSetCoefficient(dm, a), "of the coefficient", "a coefficient that is too far from 1 in one cell");
    PetscCall(PetscFree(a));
  }
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a problem with this penalty and the coefficient `value` in one cell; its KSP has read the options */
static PetscErrorCode Stiff(PetscReal penalty, PetscReal value, const char options[], Problem *p)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(Make(2, 1, penalty, 0, &dm));
  PetscCall(DMSetUp(dm));
  if (value != 1) PetscCall(SetCoefficient(dm, Corner, value));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(ReadOptions(p, options, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusedByThePC(void)
{
  static const struct {
    PetscReal   penalty, value;
    const char *options, *says;
  } bad[] = {
    {1e8, 1, "-pc_type vpatchdg -pc_vpatchdg_precision single", "their condition number is 9.5e+09 with -dm_vpatchdg_penalty 1e+08"},
    {1e8, 1, "-pc_type vpatchdg -pc_vpatchdg_precision single", "-pc_vpatchdg_precision double"},
    {1e8, 1, "-pc_type vpatch -pc_vpatch_precision single", "-pc_vpatch_precision double"},
    {1e12, 1, "-pc_type vpatchdg -pc_vpatchdg_precision double", "in double precision: their condition number is 9.5e+13"},
    {0.1, 1, "-pc_type vpatchdg -pc_vpatchdg_precision double", "-dm_vpatchdg_penalty 0.1 is too small, 1 is enough"},
    {1, 1e40, "-pc_type vpatchdg -pc_vpatchdg_precision single", "use -pc_vpatchdg_precision double"},
    {1, 1e-40, "-pc_type vpatch -pc_vpatch_precision single", "use -pc_vpatch_precision double"},
  };

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(bad); i++) {
    Problem p;

    PetscCall(Stiff(bad[i].penalty, bad[i].value, bad[i].options, &p));
    Refused(KSPSetUp(p.ksp), bad[i].says, "numbers that the preconditioner does not hold");
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode stiff_problems_are_solved(PetscReal penalty, PetscReal value, const char options[], PetscReal most)
{
  Problem            p;
  PetscReal          residual;
  PetscInt           its;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(Stiff(penalty, value, options, &p));
  PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-8", &residual, &its, &reason));
  TapOk((PetscBool)(reason > 0 && residual <= most),
        "stiff_problems_are_solved: penalty %g, coefficient %g, %s: %" PetscInt_FMT " iterations, residual %.1e", (double)penalty,
        (double)value, options, its, (double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* auto takes double with a KSP that stands single */
static PetscErrorCode auto_takes_what_holds_the_numbers(void)
{
  const PetscReal bad[2][2] = {{1e8, 1}, {1, 1e40}};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    Problem   p;
    PC        pc;
    PetscBool says;

    PetscCall(Stiff(bad[i][0], bad[i][1], "-ksp_type fgmres -pc_type vpatchdg", &p));
    PetscCall(SolveWith(&p, "-ksp_max_it 1", NULL, NULL, NULL));
    PetscCall(KSPGetPC(p.ksp, &pc));
    PetscCall(ViewSays((PetscObject)pc, "double precision (auto: single does not hold the numbers of the operator)", &says));
    TapOk(says, "auto_takes_what_holds_the_numbers: penalty %g, coefficient %g", (double)bad[i][0], (double)bad[i][1]);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(RefusedAtSetUp());
  PetscCall(RefusedByThePC());
  PetscCall(auto_takes_what_holds_the_numbers());
  PetscCall(stiff_problems_are_solved(1e3, 1, "-pc_type vpatchdg", 1e-7));
  PetscCall(stiff_problems_are_solved(1e5, 1, "-pc_type vpatchdg", 1e-6));
  PetscCall(stiff_problems_are_solved(1e9, 1, "-pc_type vpatchdg -pc_vpatchdg_precision double", 1e-2));
  PetscCall(stiff_problems_are_solved(1, 1e22, "-pc_type vpatchdg", 1e-3));
  PetscCall(stiff_problems_are_solved(1, 1e-22, "-pc_type vpatchdg", 1e-3));
  PetscFunctionReturn(PETSC_SUCCESS);
}
