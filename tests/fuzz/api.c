/* A case of API calls. -fuzz_steps n: how many operations; -fuzz_without a,b: operations that are left out. */
#include "api.h"

void ApiSay(Api *api, Expected expected, const char format[], ...)
{
  static const char *const names[] = {"", ", illegal", ", perhaps"};
  char                     text[512];
  va_list                  arguments;

  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  Say("step %" PetscInt_FMT "%s: %s", api->step, names[expected], text);
  TryForget();
}

/* PETSc leaves vectors locked where it stops in the middle of a call; before 3.20 only one that is built for debugging has locks */
static PetscErrorCode Unlock(Vec v)
{
  PetscFunctionBeginUser;
#if PETSC_VERSION_GE(3, 20, 0)
  PetscInt locks = 0;

  if (v) PetscCall(VecLockGet(v, &locks));
  for (; locks > 0; locks--) PetscCall(VecLockReadPop(v));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

void ApiOutcome(Api *api, Expected expected, PetscErrorCode code)
{
  const Outcome outcome = TryOutcome(code);

  for (int i = 0; outcome == ALL_REFUSED && i < SLOTS; i++) {
    (void)Unlock(api->slot[i].x);
    (void)Unlock(api->slot[i].y);
  }
  if (outcome == RANKS_DIFFER) api->result = "ranks differ";
  else if (outcome == ALL_DONE && expected == ILLEGAL) api->result = "not refused";
  else if (outcome == ALL_REFUSED && expected == LEGAL) api->result = "refused wrongly";
  if (api->result) Say("unexpected: %s: %s", api->result, TryMessage());
}

Slot *AnySlot(Api *api, PetscBool up)
{
  const PetscInt first = Draw(SLOTS);

  for (PetscInt i = 0; i < SLOTS; i++) {
    Slot *s = &api->slot[(first + i) % SLOTS];
    if (s->dm && s->up == up) return s;
  }
  return NULL;
}

PetscErrorCode Empty(Api *api, Slot *s)
{
  const PetscInt first = Draw(5);

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 5; i++) {
    switch ((first + i) % 5) {
    case 0:
      Legal(DMDestroy(&s->dm));
      break;
    case 1:
      Legal(MatDestroy(&s->A));
      break;
    case 2:
      Legal(VecDestroy(&s->x));
      break;
    case 3:
      Legal(KSPDestroy(&s->ksp));
      break;
    case 4:
      Legal(VecDestroy(&s->y));
      break;
    }
  }
  *s = (Slot){.dm = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NewDM(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(Empty(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  s->dim = 2 + Draw(2);
  s->degree = 1 + Draw(s->dim == 2 ? 4 : 2);
  s->refine = 1 + (s->dim == 2 ? Draw(2) : 0);
  Expect(LEGAL, DMVPatchDGCreate(PETSC_COMM_WORLD, s->dim, s->degree, s->refine, &s->dm),
         "DMVPatchDGCreate(%" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT ")", s->dim, s->degree, s->refine);
  Legal(DMSetFromOptions(s->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SetUp(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  Legal(DMSetUp(s->dm));
  s->up = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode NeedSystem(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  if (s->A) PetscFunctionReturn(PETSC_SUCCESS);
  Expect(LEGAL, DMSetMatType(s->dm, Draw(3) ? MATSHELL : MATAIJ), "DMSetMatType()");
  Legal(DMCreateMatrix(s->dm, &s->A));
  Legal(DMCreateGlobalVector(s->dm, &s->x));
  Legal(VecDuplicate(s->x, &s->y));
  s->scale = 1;
  s->shift = 0;
  s->copy = PETSC_FALSE;
  s->known = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A against scale B + shift I, B the DM's operator, assembled */
static PetscErrorCode CompareFresh(Api *api, Slot *s)
{
  PetscReal size, error;
  Mat       B;
  Vec       Ax, Bx;

  PetscFunctionBeginUser;
  Expect(LEGAL, DMSetMatType(s->dm, MATAIJ), "a fresh assembled operator");
  Legal(DMCreateMatrix(s->dm, &B));
  Legal(VecDuplicate(s->x, &Ax));
  Legal(VecDuplicate(s->x, &Bx));
  Legal(DrawVec(s->x));
  Legal(MatMult(s->A, s->x, Ax));
  Legal(MatMult(B, s->x, Bx));
  Legal(VecAXPBY(Bx, s->shift, s->scale, s->x));
  Legal(VecNorm(Ax, NORM_2, &size));
  Legal(VecAXPY(Bx, -1, Ax));
  Legal(VecNorm(Bx, NORM_2, &error));
  Legal(VecDestroy(&Ax));
  Legal(VecDestroy(&Bx));
  Legal(MatDestroy(&B));
  if (!(error <= 1e-11 * size)) {
    Say("the product is off by %.1e of %.1e", (double)error, (double)size);
    api->result = "wrong mathematics";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveFresh(Api *api, Slot *s)
{
  MatNullSpace constants;
  Claim        claim = SOLVED;
  PC           pc;
  KSP          ksp;

  PetscFunctionBeginUser;
  Legal(KSPCreate(PETSC_COMM_WORLD, &ksp));
  Legal(KSPSetOperators(ksp, s->A, s->A));
  Legal(KSPSetType(ksp, KSPFGMRES));
  Legal(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  Legal(KSPGetPC(ksp, &pc));
  Legal(PCSetType(pc, PCVPATCHDG));
  Legal(DrawVec(s->y));
  Legal(MatGetNullSpace(s->A, &constants));
  if (constants) Legal(MatNullSpaceRemove(constants, s->y));
  Legal(KSPSolve(ksp, s->y, s->x));
  Legal(CheckClaim(ksp, s->A, s->y, s->x, 0, &claim));
  Legal(KSPDestroy(&ksp));
  if (claim == WRONG || (claim != SOLVED && s->shift == 0 && !s->rough)) {
    Say("a plain solve ends with: %s", ClaimNames[claim]);
    api->result = "wrong residual";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode StillWorks(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (!api->result && s->known) PetscCall(CompareFresh(api, s));
  if (!api->result && s->refine > 0 && s->known) PetscCall(SolveFresh(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const Operation *DrawOperation(const char without[])
{
  static const Operation *const tables[] = {dm_operations,     dm_operations,     vector_operations, matrix_operations,
                                            solver_operations, solver_operations, misuse_operations};

  for (;;) {
    const Operation *table = DrawFrom(tables);
    PetscInt         n = 0;
    PetscBool        out = PETSC_FALSE;

    while (table[n].name) n++;
    table += Draw(n);
    if (PetscStrInList(table->name, without, ',', &out) || !out) return table;
  }
}

static PetscErrorCode RunSteps(Api *api, PetscInt steps, const char without[])
{
  PetscFunctionBeginUser;
  for (api->step = 0; api->step < steps && !api->result; api->step++) {
    const Operation *operation = DrawOperation(without);
    Slot            *s = AnySlot(api, PETSC_TRUE);

    Say("operation %s", operation->name);
    if (!s) {
      s = &api->slot[Draw(SLOTS)];
      PetscCall(NewDM(api, s));
      if (!api->result) PetscCall(SetUp(api, s));
    }
    if (!api->result) PetscCall(operation->run(api, s));
  }
  for (PetscInt i = 0; i < SLOTS && !api->result; i++) {
    if (api->slot[i].dm && api->slot[i].up) PetscCall(StillWorks(api, &api->slot[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ApiCase(const char **result, PetscBool *broken)
{
  PetscInt    steps = 12;
  char        without[512] = "";
  const char *unexpected;
  Api         api = {.result = NULL};

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &api.rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &api.size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fuzz_steps", &steps, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_without", without, sizeof(without), NULL));
  PetscCall(RunSteps(&api, steps, without));
  unexpected = api.result;
  *broken = (PetscBool)(unexpected != NULL);
  for (PetscInt i = 0; i < SLOTS && !unexpected; i++) {
    PetscCall(Empty(&api, &api.slot[i]));
    unexpected = api.result;
  }
  *result = unexpected ? unexpected : "calls as expected";
  PetscFunctionReturn(PETSC_SUCCESS);
}
