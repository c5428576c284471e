/* A case of options: DM, operator, mathematics and solves as the options say. Its own ones:
   -fuzz_right_hand_side random|constant|zero|known (A times a random vector, with which x is compared), -fuzz_guess zero|random,
   -fuzz_scale s (of b), -fuzz_solves n, -fuzz_active (the DM gives the operator), -fuzz_coefficient 0|1|2|3|4 and -fuzz_range r
   (DrawCoefficient), -fuzz_change (the coefficient, between solves), -fuzz_tensor 1|dim|dim (dim+1)/2 (a constant matrix at points). */
#include "fuzz.h"

typedef struct {
  PetscInt  coefficient, solves, what, guess;
  Tensor    tensor;
  PetscReal range, scale, first; /* norm of the first x */
  PetscBool active, change;
  Vec       known; /* the solution, or NULL */
} Settings;

static PetscErrorCode ReadSettings(Settings *s)
{
  static const char *const sides[] = {"random", "constant", "zero", "known"}, *const guesses[] = {"zero", "random"};

  PetscFunctionBeginUser;
  *s = (Settings){.solves = 1, .range = 1, .scale = 1};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "The fuzzer's case", NULL);
  PetscCall(PetscOptionsEList("-fuzz_right_hand_side", "what b is", NULL, sides, 4, sides[0], &s->what, NULL));
  PetscCall(PetscOptionsEList("-fuzz_guess", "what x is", NULL, guesses, 2, guesses[0], &s->guess, NULL));
  PetscCall(PetscOptionsInt("-fuzz_coefficient", "one, jumps, noise, layers, blocks", NULL, s->coefficient, &s->coefficient, NULL));
  PetscCall(PetscOptionsInt("-fuzz_tensor", "numbers of a matrix", NULL, s->tensor.components, &s->tensor.components, NULL));
  PetscCall(PetscOptionsReal("-fuzz_range", "of the coefficient", NULL, s->range, &s->range, NULL));
  PetscCall(PetscOptionsReal("-fuzz_scale", "of b", NULL, s->scale, &s->scale, NULL));
  PetscCall(PetscOptionsInt("-fuzz_solves", "how many", NULL, s->solves, &s->solves, NULL));
  PetscCall(PetscOptionsBool("-fuzz_active", "the DM gives the operator", NULL, s->active, &s->active, NULL));
  PetscCall(PetscOptionsBool("-fuzz_change", "the coefficient between solves", NULL, s->change, &s->change, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode Same(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar K[], void *ctx)
{
  const Tensor *t = ctx;

  for (PetscInt i = 0; i < n * t->components; i++) K[i] = t->K[i % t->components];
  return PETSC_SUCCESS;
}

static PetscErrorCode MakeDM(Settings *s, Problem *p)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMCreate(PETSC_COMM_WORLD, &p->dm));
  PetscCall(DMSetType(p->dm, DMVPATCHDG));
  PetscCall(DMSetFromOptions(p->dm));
  PetscCall(DMGetDimension(p->dm, &dim));
  DrawTensor(dim, s->tensor.components, &s->tensor);
  if (s->tensor.components > 0)
    PetscCall(DMVPatchDGSetCoefficientFunction(p->dm, s->tensor.components, Same, PETSC_MEMTYPE_HOST, &s->tensor));
  PetscCall(DMSetUp(p->dm));
  PetscCall(DrawCoefficient(p->dm, s->coefficient, s->range));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeSystem(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(p->dm, &p->A));
  PetscCall(MatCreateVecs(p->A, &p->x, &p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Mathematics(const Settings *s, Problem *p, PetscInt *failed)
{
  static const Tensor one = {.components = 1, .K = {1}};
  PetscBool           adaptive;

  PetscFunctionBeginUser;
  PetscCall(CheckOperator(p->dm, p->A, failed));
  if (!s->coefficient) PetscCall(CheckPolynomials(p->dm, p->A, s->tensor.components > 0 ? &s->tensor : &one, failed));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_vpatchdg_refine_point", &adaptive));
  if (!adaptive) PetscCall(CheckTransfers(p->dm, failed)); /* which do not exist between cells of different levels */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeKSP(const Settings *s, Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &p->ksp));
  if (s->active) {
    PetscCall(KSPSetDM(p->ksp, p->dm));
  } else {
    PetscCall(GiveLevels(p));
    PetscCall(KSPSetOperators(p->ksp, p->A, p->A));
  }
  PetscCall(KSPSetFromOptions(p->ksp));
  PetscCall(KSPSetUp(p->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeVectors(Settings *s, Problem *p)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  if (s->what == 3) {
    if (!s->known) PetscCall(VecDuplicate(p->x, &s->known));
    PetscCall(DrawVec(s->known));
    PetscCall(VecScale(s->known, s->scale));
    PetscCall(MatMult(p->A, s->known, p->b));
  } else if (s->what == 0) PetscCall(DrawVec(p->b));
  else PetscCall(DMVPatchDGComputeRHS(p->dm, s->what == 1 ? One : NULL, NULL, NULL, NULL, p->b));
  PetscCall(MatGetNullSpace(p->A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, p->b));
  if (constants && s->what == 1) PetscCall(VecSet(p->b, 0)); /* Rounding errors are left of a constant. */
  if (s->what != 3) PetscCall(VecScale(p->b, s->scale));
  if (s->guess) PetscCall(DrawVec(p->x));
  PetscCall(VecNorm(p->x, NORM_2, &s->first));
  PetscCall(KSPSetInitialGuessNonzero(p->ksp, s->guess ? PETSC_TRUE : PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Settings *s, PetscInt n, Problem *p)
{
  PetscFunctionBeginUser;
  if (n && s->change) PetscCall(DrawCoefficient(p->dm, 2, 10));
  PetscCall(MakeVectors(s, p));
  PetscCall(KSPSolve(p->ksp, p->b, p->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPC(Problem *p, PetscInt *failed)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(CheckPreconditioner(pc, p->A, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a step that all ranks do, or none; sets *result where it is the last one */
static PetscBool Did(PetscErrorCode code, const char step[], const char **result)
{
  const Outcome outcome = TryOutcome(code);

  if (outcome == ALL_DONE) return PETSC_TRUE;
  Say("%s at %s: %s", outcome == ALL_REFUSED ? "refused" : "ranks differ", step, TryMessage());
  *result = outcome == ALL_REFUSED ? "refused" : "ranks differ";
  return PETSC_FALSE;
}

/* solving: PETSc's objects can not be destroyed after an error in the middle of a solve */
static void Steps(Problem *p, const char **result, PetscBool *solving)
{
  Settings s;
  PetscInt failed = 0;
  Claim    claim, worst = SOLVED;

  if (!Did(ReadSettings(&s), "settings", result)) return;
  if (!Did(MakeDM(&s, p), "DM", result)) return;
  if (!Did(MakeSystem(p), "operator", result)) return;
  if (!Did(Mathematics(&s, p, &failed), "mathematics", result)) return;
  if (!Did(MakeKSP(&s, p), "KSP", result)) return;
  *solving = PETSC_TRUE;
  for (PetscInt n = 0; n < s.solves; n++) {
    if (!Did(Solve(&s, n, p), "solve", result)) return;
    if (!Did(CheckClaim(p->ksp, p->A, p->b, p->x, s.first, &claim), "residual", result)) return;
    if (s.known && !Did(CheckSolution(p->ksp, p->A, s.known, p->x, &claim), "solution", result)) return;
    worst = PetscMax(worst, claim);
  }
  if (worst != NOT_CONVERGED && !Did(CheckPC(p, &failed), "preconditioner", result)) return;
  if (!Did(VecDestroy(&s.known), "end", result)) return;
  *result = worst >= WRONG ? ClaimNames[worst] : failed ? "wrong mathematics" : ClaimNames[worst];
  *solving = PETSC_FALSE;
}

PetscErrorCode OptionsCase(const char **result, PetscBool *broken)
{
  Problem p = {NULL, NULL, NULL, NULL, NULL};

  PetscFunctionBeginUser;
  Steps(&p, result, broken);
  if (!strcmp(*result, "ranks differ")) *broken = PETSC_TRUE;
  if (!*broken) PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
