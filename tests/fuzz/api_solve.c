/* Operations on KSPs and PCs. */
#include "api.h"
#include "../../src/petsc/support/names.h"

static PetscErrorCode NewSolver(Api *api, Slot *s)
{
  static const char *const types[] = {KSPFGMRES, KSPGCR, KSPRICHARDSON}, *const pcs[] = {PCVPATCHDG, PCVPATCHDG, PCVPATCH, PCJACOBI};
  const char *const type = DrawFrom(types), *const name = DrawFrom(pcs);
  PC pc;

  PetscFunctionBeginUser;
  Legal(KSPDestroy(&s->ksp));
  Legal(KSPCreate(PETSC_COMM_WORLD, &s->ksp));
  Legal(KSPSetOperators(s->ksp, s->A, s->A));
  Expect(LEGAL, KSPSetType(s->ksp, type), "KSPSetType(%s)", type);
  Expect(LEGAL, KSPSetTolerances(s->ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 20), "KSPSetTolerances()");
  Legal(KSPGetPC(s->ksp, &pc));
  Expect(LEGAL, PCSetType(pc, name), "PCSetType(%s)", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A and a KSP on it */
static PetscErrorCode NeedSolver(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (!api->result && !s->ksp) PetscCall(NewSolver(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KindOf(Slot *s, PetscBool *cycle, PetscBool *sweep, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(s->ksp, pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)*pc, PCVPATCHDG, cycle));
  PetscCall(PetscObjectTypeCompare((PetscObject)*pc, PCVPATCH, sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Api *api, Slot *s)
{
  MatNullSpace constants;
  Claim        claim = SOLVED;
  PetscBool    cycle, sweep;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(KindOf(s, &cycle, &sweep, &pc));
  Legal(DrawVec(s->y));
  Legal(MatGetNullSpace(s->A, &constants));
  if (constants) Legal(MatNullSpaceRemove(constants, s->y));
  Expect(s->refine > 0 || (!cycle && !sweep) ? LEGAL : ILLEGAL, KSPSolve(s->ksp, s->y, s->x), "KSPSolve()");
  if (s->refine == 0 && (cycle || sweep)) {
    Legal(VecDestroy(&s->y)); /* locks may be left on it */
    Legal(VecDuplicate(s->x, &s->y));
    Legal(KSPDestroy(&s->ksp));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Legal(CheckClaim(s->ksp, s->A, s->y, s->x, 0, &claim));
  if (claim == WRONG) api->result = ClaimNames[WRONG];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (!api->result && (!s->ksp || Draw(3) == 0)) PetscCall(NewSolver(api, s));
  if (!api->result) PetscCall(Solve(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether a number from least to most is a legal value; of a PC of another type a setting has no effect, and whether it looks is left open
 */
static Expected Legality(PetscInt value, PetscInt least, PetscInt most, PetscBool own)
{
  return value >= least && value <= most ? LEGAL : own ? ILLEGAL : EITHER;
}

#define SetEnum(Prefix, Name, list, own) \
  Expect(Legality(value, 0, CountEnum(list) - 1, own), Prefix##Set##Name(pc, value), "%s(%" PetscInt_FMT ")", #Prefix "Set" #Name, value)

/* by option only; a PC of another type does not ask for it */
#define SetOption(option, value, legal) \
  Expect((legal) ? LEGAL : ILLEGAL, SetByOption(pc, option, value), "PCSetFromOptions(%s %s)", option, value)

/* one setting, of a PCVPATCHDG or a PCVPATCH; legal ones go together with the defaults */
static PetscErrorCode SetNumber(Api *api, PC pc, PetscBool cycle, PetscBool sweep)
{
  static const PetscInt values[] = {0, 1, 2, -1, 3, 77, PETSC_MIN_INT};
  const int             value = (int)DrawFrom(values);

  PetscFunctionBeginUser;
  switch (Draw(10)) {
  case 0:
    SetEnum(PCVPatchDG, CycleType, VPatchDGCycleTypes, cycle);
    break;
  case 1:
    SetEnum(PCVPatchDG, Precision, VPatchDGPrecisions, cycle);
    break;
  case 2:
    SetOption("-pc_vpatchdg_exchange", value < 0 ? "never" : VpExchangeNames[value % 3], !cycle || value >= 0);
    break;
  case 3:
    SetEnum(PCVPatchDG, Coarse, VPatchDGCoarses, cycle);
    break;
  case 4:
    if (cycle) Legal(PCVPatchDGSetSymmetric(pc, PETSC_FALSE));
    Expect(Legality(value, -1, 77, cycle), PCVPatchDGSetSmooth(pc, value < 77 ? value : 4, 1), "PCVPatchDGSetSmooth(%d, 1)", value);
    break;
  case 5:
    SetOption("-pc_vpatchdg_gather", value < -1 ? "-7" : value < 0 ? "-1" : "77", !cycle || value >= -1);
    break;
  case 6:
    SetOption("-pc_vpatchdg_replay", value > 0 ? "1" : "0", PETSC_TRUE);
    break;
  case 7:
    Expect(Legality(value, -1, 77, cycle), PCVPatchDGSetLevels(pc, value < 2 ? value : 1), "PCVPatchDGSetLevels(%d)", value);
    break;
  case 8:
    SetOption("-pc_vpatch_space", value < 0 ? "empty" : "dirichlet", !sweep || value >= 0);
    SetOption("-pc_vpatch_space", "full", PETSC_TRUE);
    break;
  case 9:
    SetOption("-pc_vpatch_precision", value < 0 ? "auto" : VPatchDGPrecisions[value % 2], !sweep || value >= 0);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every getter answers on its own kind of PC only */
static PetscErrorCode solver_getters(Api *api, Slot *s)
{
  PetscBool         cycle, sweep, flag;
  PetscInt          n[2];
  VPatchDGSpace     space;
  VPatchDGPrecision precision;
  VPatchDGCycleType type;
  VPatchDGCoarse    coarse;
  PC                pc;
  Expected          own;

  PetscFunctionBeginUser;
  PetscCall(NeedSolver(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KindOf(s, &cycle, &sweep, &pc));
  own = cycle ? LEGAL : ILLEGAL;
  Expect(own, PCVPatchDGGetSmooth(pc, &n[0], Draw(2) ? &n[1] : NULL), "PCVPatchDGGetSmooth()");
  Expect(own, PCVPatchDGGetCycleType(pc, &type), "PCVPatchDGGetCycleType()");
  Expect(own, PCVPatchDGGetCoarse(pc, &coarse), "PCVPatchDGGetCoarse()");
  Expect(own, PCVPatchDGGetPrecision(pc, &precision), "PCVPatchDGGetPrecision()");
  Expect(own, PCVPatchDGGetSpace(pc, &space), "PCVPatchDGGetSpace()");
  Expect(own, PCVPatchDGGetSymmetric(pc, &flag), "PCVPatchDGGetSymmetric()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solver_settings(Api *api, Slot *s)
{
  PetscBool cycle, sweep;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NeedSolver(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KindOf(s, &cycle, &sweep, &pc));
  PetscCall(SetNumber(api, pc, cycle, sweep));
  if (!api->result && Draw(2)) PetscCall(Solve(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* settings that do not go together are refused when they are used, and the PC works again when they do. (KSPSetUp() refused would lose the
   vectors of KSPs.) */
static PetscErrorCode contradictions(Api *api, Slot *s)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NewSolver(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Legal(KSPGetPC(s->ksp, &pc));
  Legal(PCSetType(pc, PCVPATCHDG));
  switch (Draw(4)) {
  case 0:
    SetOption("-pc_vpatchdg_residual", "local", PETSC_TRUE);
    Illegal(PCSetUp(pc));
    SetOption("-pc_vpatchdg_residual", "exact", PETSC_TRUE);
    break;
  case 1:
    Legal(PCVPatchDGSetSmooth(pc, 0, 0));
    Illegal(PCSetUp(pc));
    Legal(PCVPatchDGSetSmooth(pc, 0, 1));
    break;
  case 2:
    Legal(PCVPatchDGSetSymmetric(pc, PETSC_TRUE));
    Legal(PCVPatchDGSetSmooth(pc, 0, 1));
    Illegal(PCSetUp(pc));
    Legal(PCVPatchDGSetSmooth(pc, 1, 1));
    break;
  case 3:
    Legal(PCVPatchDGSetLevels(pc, 9));
    Illegal(PCSetUp(pc));
    Legal(PCVPatchDGSetLevels(pc, 0));
    break;
  }
  PetscCall(Solve(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode preconditioner(Api *api, Slot *s)
{
  PetscBool cycle, sweep;
  PetscInt  failed = 0;
  KSP       coarse;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NeedSolver(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KindOf(s, &cycle, &sweep, &pc));
  if (s->refine == 0 && (cycle || sweep)) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(8)) {
  case 0:
    Legal(PCSetUp(pc));
    break;
  case 1:
    Legal(KSPReset(s->ksp));
    Legal(KSPSetOperators(s->ksp, s->A, s->A));
    break;
  case 2:
    Legal(PCReset(pc)); /* PCApply() after it without operators is one of PETSc's own defects */
    Legal(PCSetOperators(pc, s->A, s->A));
    break;
  case 3:
    Legal(PCApply(pc, s->y, s->x));
    break;
  case 4:
    Legal(PCApplyTranspose(pc, s->y, s->x));
    break;
  case 5:
    Expect(cycle ? LEGAL : ILLEGAL, PCVPatchDGGetCoarseKSP(pc, &coarse), "PCVPatchDGGetCoarseKSP()");
    break;
  case 6:
    Legal(CheckPreconditioner(pc, s->A, &failed));
    break;
  case 7:
    SetOption("-pc_vpatch_reverse", "1", PETSC_TRUE);
    Legal(PCVPatchDGSetSpace(pc, VPATCHDG_SPACE_DIRICHLET));
    break;
  }
  if (failed) api->result = "wrong mathematics";
  else if (Draw(2)) PetscCall(Solve(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode guesses(Api *api, Slot *s)
{
  PetscBool cycle, sweep;
  KSPGuess  guess;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (!api->result) PetscCall(NewSolver(api, s));
  if (api->result || s->refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KindOf(s, &cycle, &sweep, &pc));
  Legal(KSPGetGuess(s->ksp, &guess));
  Legal(KSPGuessSetType(guess, KSPGUESSVPATCHDG));
  if (cycle) {
    PetscCall(Solve(api, s));
  } else {
    Illegal(KSPSolve(s->ksp, s->y, s->x));
    Legal(KSPDestroy(&s->ksp));
    Legal(VecDestroy(&s->y));
    Legal(VecDuplicate(s->x, &s->y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* another matrix, another DM's matrix, none */
static PetscErrorCode strange_operators(Api *api, Slot *s)
{
  Slot    *to = &api->slot[Draw(SLOTS)];
  PetscInt n;
  KSP      ksp;
  PC       pc;
  Mat      B;
  Vec      b;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Legal(KSPCreate(PETSC_COMM_WORLD, &ksp));
  Legal(KSPGetPC(ksp, &pc));
  Expect(LEGAL, PCSetType(pc, Draw(2) ? PCVPATCHDG : PCVPATCH), "PCSetType()");
  switch (Draw(3)) {
  case 0:
    PetscCall(VecGetLocalSize(s->x, &n));
    Legal(MatCreateAIJ(PETSC_COMM_WORLD, n, n, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &B));
    Legal(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    Legal(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    Legal(KSPSetOperators(ksp, B, B));
    Illegal(KSPSetUp(ksp));
    Legal(MatDestroy(&B));
    break;
  case 1:
    Illegal(KSPSetUp(ksp));
    break;
  case 2:
    if (to == s || !to->A || to->refine == 0) break;
    Legal(KSPSetOperators(ksp, to->A, to->A));
    Legal(KSPSetUp(ksp));
    PetscCall(VecGetSize(s->x, &n));
    PetscCall(VecGetSize(to->x, &n));
    Legal(MatCreateVecs(to->A, &b, NULL));
    Legal(PCApply(pc, b, to->y));
    Legal(VecDestroy(&b));
    break;
  }
  Legal(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the DM gives operator and right-hand side */
static PetscErrorCode by_dm(Api *api, Slot *s)
{
  KSP ksp;
  PC  pc;
  DM  clone;

  PetscFunctionBeginUser;
  if (s->refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  Expect(LEGAL, DMSetMatType(s->dm, Draw(3) ? MATSHELL : MATAIJ), "DMSetMatType()");
  Legal(KSPCreate(PETSC_COMM_WORLD, &ksp));
  Legal(KSPSetDM(ksp, s->dm));
  Legal(KSPSetType(ksp, KSPFGMRES));
  Legal(KSPGetPC(ksp, &pc));
  Expect(LEGAL, PCSetType(pc, Draw(2) ? PCVPATCHDG : PCVPATCH), "PCSetType()");
  Legal(KSPSolve(ksp, NULL, NULL));
  if (Draw(2)) Legal(DMClone(s->dm, &clone));
  else clone = NULL;
  Legal(KSPDestroy(&ksp));
  Legal(DMDestroy(&clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation solver_operations[] = {{"solve", solve},
                                       {"solver_settings", solver_settings},
                                       {"solver_getters", solver_getters},
                                       {"contradictions", contradictions},
                                       {"preconditioner", preconditioner},
                                       {"guesses", guesses},
                                       {"strange_operators", strange_operators},
                                       {"by_dm", by_dm},
                                       {NULL, NULL}};
