/* Powers of two that scale vectors and operators into the range where single precision has all its digits. They change exponents only, so
   results stay bitwise equal unless they would have over- or underflowed. */
#include "pcbase.h"

#define NEAR  64   /* Norms between 2^-64 and 2^64 are not scaled, which includes the residuals of a converged solve. */
#define FAR   600  /* After scaling by 2^600 or 2^-600, the square of any number is representable. */
#define LIMIT 1000 /* Factors up to 2^1000 and their inverses are normal numbers. */

/* The factor to try after `factor`, which led to this norm: the same factor if the norm is near 1. A norm of 0 or inf may be caused by its
   squares. Then 1 is tried first, and no factor is tried twice. */
static PetscReal NextFactor(PetscReal factor, PetscReal norm)
{
  int now = ilogb(factor), e;

  if (norm == 0) return now < 0 ? 1 : now < FAR ? ldexp(1, FAR) : factor;
  if (PetscIsInfOrNanReal(norm)) return now > 0 ? 1 : now > -FAR ? ldexp(1, -FAR) : factor;
  e = ilogb(norm);
  return abs(e) <= NEAR ? factor : ldexp(1, PetscMax(-LIMIT, PetscMin(LIMIT, now - e)));
}

static PetscInt norm_key;

PetscErrorCode VpNormRegister(void)
{
  return PetscObjectComposedDataRegister(&norm_key);
}

PetscErrorCode VpNormSet(Vec v, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposedDataSetReal((PetscObject)v, norm_key, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own caches of norms cannot be written. */
static PetscErrorCode FindNorm(Vec v, PetscBool *known, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(VecNormAvailable(v, NORM_2, known, norm));
  if (!*known) PetscCall(PetscObjectComposedDataGetReal((PetscObject)v, norm_key, *norm, *known));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *factor: for f - A x, if it is known without computing the norm; otherwise 0 */
static PetscErrorCode KnownFactor(const VpPCBase *inverse, Vec f, Vec x, PetscReal *factor)
{
  PetscBool known;
  PetscReal norm;

  PetscFunctionBegin;
  *factor = x ? inverse->factor : 0;
  if (inverse->wide && *factor == 0) *factor = 1;
  if (x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FindNorm(f, &known, &norm));
  if (known && norm > 0 && !PetscIsInfOrNanReal(norm)) *factor = NextFactor(1, norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseEnterInto(PC pc, VpVector r, VpOperator op, Vec f, Vec x, PetscReal *norm)
{
  VpPCBase       *inverse = pc->data;
  PetscReal       factor, scaled;
  PetscBool       look;
  VpContinuous    c = inverse->continuous;
  VpOuterResidual of = {.outer = r->level, .ghosts = VpGhostsAt(NULL)}; /* the level stands for an outer one where no x enters */
  VpValues        fv, xv = {0};
  VpGather        gather;

  PetscFunctionBegin;
  if (!c) PetscCall(VpOperatorGetLevel(op ? op : inverse->op, inverse->dm, &of.outer));
  PetscCall(KnownFactor(inverse, f, x, &factor));
  look = norm || factor == 0;
  if (factor == 0) factor = 1;
  PetscCall(VpValuesGet(of.outer->backend, f, VP_READ, &fv));
  of.f = fv.at;
  if (c) PetscCall(VpNodesSpread(c->nodes, &c->means, fv.at, &gather, &of.f));
  if (c) of.gather = &gather;
  if (x) PetscCall(VpValuesGet(of.outer->backend, x, VP_READ, &xv));
  if (x) PetscCall(DMVPatchDGGhosts(inverse->dm, of.outer, xv.at, &of.ghosts));
  of.x = xv.at;
  do {
    inverse->factor = of.scale = factor;
    PetscCall(VpVectorEnterResidual(r, &of, look ? &scaled : NULL));
    scaled = look ? PetscSqrtReal(scaled) : 0;
    if (look) factor = NextFactor(factor, scaled);
  } while (factor != inverse->factor);
  if (x) PetscCall(VpValuesRestore(&xv));
  PetscCall(VpValuesRestore(&fv));
  if (norm) *norm = scaled / factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseEnter(PC pc, VpOperator op, Vec f, Vec x, PetscReal *norm)
{
  VpVector r;

  PetscFunctionBegin;
  PetscCall(VpPCBaseMeet(pc, NULL));
  VpPCBaseData(pc)->entered++;
  PetscCall(VpPCBaseData(pc)->ops->begin(pc, &r));
  PetscCall(VpPCBaseEnterInto(pc, r, op, f, x, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseSolve(PC pc, PetscBool transpose, PetscBool add, Vec z)
{
  VpPCBase        *inverse = pc->data;
  VpNodes          nodes = inverse->continuous ? inverse->continuous->nodes : NULL;
  const VpBackend *backend;
  VpValues         zv;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGUseBackend(inverse->dm, &backend));
  PetscCall(VpValuesGet(backend, z, add ? VP_READ_WRITE : VP_WRITE, &zv));
  PetscCall(inverse->ops->solve(pc, transpose, add, 1 / inverse->factor / inverse->scale, nodes ? nodes->cells : zv.at));
  if (nodes) PetscCall(VpNodesAverage(nodes, &inverse->continuous->means, zv.at));
  PetscCall(VpValuesRestore(&zv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPCBaseSetExponent(PC pc, const char prefix[], VpPrecision precision, VpProblem *problem)
{
  const PetscReal *range = VpPCBaseData(pc)->range;

  PetscFunctionBegin;
  PetscCheck(precision == VP_DOUBLE || VpPCBaseSpreadIsSingle(pc->data), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "-%s_precision single: a/h^2 (or the reaction c) reaches from %g to %g, farther than single precision does: use -%s_precision "
             "double",
             prefix, (double)range[0], (double)range[1], prefix);
  problem->exponent = -ilogb(range[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
