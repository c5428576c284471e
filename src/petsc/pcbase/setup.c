/* The set-up of PCVPATCHDG and PCVPATCH, and when they are rebuilt. */
#include "pcbase.h"
#include "../support/session.h"

/* Keeps the KSP that is solving, because PETSc may repeat the set-up during its solve. */
static PetscErrorCode ClearInverse(PC pc)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
  PetscCall(VecDestroy(&inverse->one));
  PetscCall(VecDestroy(&inverse->rest));
  for (int i = 0; i < 2; i++) PetscCall(MatNullSpaceDestroy(&inverse->space[i]));
  PetscCall(VpOperatorDestroy(&inverse->op));
  inverse->built = PETSC_FALSE;
  PetscCall(DMDestroy(&inverse->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseReset(PC pc)
{
  PetscFunctionBegin;
  PetscCall(VpContinuousReset(pc));
  PetscCall(ClearInverse(pc));
  VpPCBaseData(pc)->ksp = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (scale A + shift I)^-1 = (A + shift/scale I)^-1 / scale. A negative quotient, which could make the operator singular, is left to the
   KSP. */
static PetscReal ExtraReaction(PetscReal scale, PetscReal shift)
{
  return PetscMax(shift / scale, 0);
}

static VpProblem GetProblem(const VpPCBase *inverse)
{
  VpProblem problem = inverse->op->problem;

  problem.reaction += ExtraReaction(inverse->scale, inverse->shift) * VpProblemDilation(&problem);
  return problem;
}

static PetscErrorCode BuildInverse(PC pc)
{
  static PetscInt  builds = 0;
  VpPCBase        *inverse = pc->data;
  VpProblem        problem, asked = inverse->op->problem;
  const VpBackend *backend;
  PetscReal       *numbers = NULL;
  PetscErrorCode   failed;

  PetscFunctionBegin;
  PetscCall(inverse->ops->clear(pc));
  inverse->built = PETSC_FALSE;
  problem = GetProblem(inverse);
  asked.kind = inverse->metric;
  PetscCall(VpCite());
  PetscCall(DMVPatchDGUseBackend(inverse->dm, &backend));
  if (!VpPCBaseReactionIsBelow(inverse, VP_SMALL))
    PetscCall(VpProblemForCycle(inverse->op->mesh, &asked, backend->prefers->unlike, ExtraReaction(inverse->scale, inverse->shift),
                                &problem, &numbers));
  failed = inverse->ops->build(pc, inverse->op->mesh, &problem, backend);
  PetscCall(PetscFree(numbers));
  PetscCall(failed);
  inverse->built = PETSC_TRUE;
  inverse->build = ++builds;
  inverse->right = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpPCBaseReactionIsBelow(const VpPCBase *inverse, PetscReal share)
{
  VpProblem       problem = GetProblem(inverse);
  const PetscReal c = problem.reaction;

  problem.reaction = 0;
  return (PetscBool)(c > 0 && c < share * inverse->range[1] && VpProblemIsSingular(inverse->op->mesh, &problem));
}

#define APART 1e9 /* If no two numbers of the operator are farther apart, every cell is coupled strongly enough. */
#define NOISE 8   /* Rounding errors of A x are this many times PETSC_MACHINE_EPSILON penalty k(k+1) a/h^2. */

/* Ensures: an error if a reaction, or the coupling of some cells, is smaller than the rounding errors of the other entries. */
static PetscErrorCode CheckHold(PC pc, const VpProblem *problem)
{
  VpPCBase       *inverse = pc->data;
  const double    k = problem->degree;
  const PetscReal hidden = NOISE * PETSC_MACHINE_EPSILON * PetscMax(1, problem->penalty) * k * (k + 1);
  const MPI_Comm  comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(!VpPCBaseReactionIsBelow(inverse, hidden), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Without Dirichlet and Robin sides the reaction decides on constants, but %g is hidden by rounding errors of a/h^2, which is "
             "up to %g. With reaction 0 (-dm_vpatchdg_reaction 0) it is solved up to a constant",
             (double)inverse->range[0], (double)inverse->range[1]);
  inverse->hold = 1;
  if (inverse->range[1] > APART * inverse->range[0]) PetscCall(VpProblemHold(inverse->op->mesh, problem, &inverse->hold));
  PetscCheck(
    inverse->hold >= hidden, comm, PETSC_ERR_ARG_OUTOFRANGE,
    "Some cells are held to the others and to the boundary by %.1e of their a/h^2, which rounding errors hide: u may be any constant "
    "there. From %.1e on it can be solved: make the coefficient vary by less, or leave out what is not coupled",
    (double)inverse->hold, (double)hidden);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Clears the PC of an older operator or older options, and builds it if that can be done before a KSP is known. */
static PetscErrorCode RenewInverse(PC pc, const VpPmat *p)
{
  VpPCBase  *inverse = pc->data;
  PetscBool  later = PETSC_FALSE;
  VpOperator op = VpReference(p->op);
  VpProblem  problem;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)p->dm));
  PetscCall(ClearInverse(pc));
  inverse->dm = p->dm;
  inverse->op = op;
  inverse->changed = PETSC_TRUE; /* stays true if one of the following calls fails */
  problem = GetProblem(inverse);
  PetscCall(VpProblemRange(op->mesh, &problem, inverse->range));
  PetscCall(CheckHold(pc, &problem));
  if (inverse->ops->prepare) PetscCall(inverse->ops->prepare(pc, op->mesh, &problem, &later));
  if (!later) PetscCall(BuildInverse(pc));
  inverse->changed = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this when the state of the Pmat has changed, for instance with the coefficient. */
PetscErrorCode VpPCBaseSetUp(PC pc)
{
  VpPCBase *inverse = pc->data;
  VpPmat    p;
  PetscBool renew;

  PetscFunctionBegin;
  if (inverse->ops->adopt && pc->pmat) PetscCall(inverse->ops->adopt(pc));
  if (inverse->continuous) PetscCall(VpContinuousSetUp(pc, &p));
  else PetscCall(MatGetVPatchDG(pc->pmat, inverse->ops->caller, &p));
  PetscCheck(p.scale != 0 && !PetscIsInfOrNanScalar(p.scale) && !PetscIsInfOrNanScalar(p.shift), PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_WRONG,
             "%s: the Pmat is %g A + %g I, whose inverse the one of A does not approximate: see MatScale(), MatShift(), MatDuplicate()",
             inverse->ops->caller, (double)PetscRealPart(p.scale), (double)PetscRealPart(p.shift));
  renew = inverse->op != p.op || inverse->changed || ExtraReaction(p.scale, p.shift) != ExtraReaction(inverse->scale, inverse->shift);
  inverse->scale = p.scale;
  inverse->shift = p.shift;
  if (renew) PetscCall(RenewInverse(pc, &p));
  PetscCall(VpConstantsSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseMeet(PC pc, KSP ksp)
{
  VpPCBase *inverse = pc->data;
  PetscBool again = PETSC_FALSE;

  PetscFunctionBegin;
  if (inverse->ops->meet) PetscCall(inverse->ops->meet(pc, ksp, &again));
  if (again || !inverse->built) PetscCall(BuildInverse(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void VpPCBaseChanged(PC pc)
{
  VpPCBaseData(pc)->changed = PETSC_TRUE;
  pc->setupcalled = PETSC_FALSE;
}
