/* Refinement, x += M (b - A x), as one operation: what KSPRICHARDSON runs when nothing monitors it and its scale is 1. Residual and
   conversion are one pass over memory, correction and conversion another; there are no vectors but x and b.

   It stops by the norm of b - A x, whatever norm the KSP is set to, with the meaning KSPConvergedDefault() gives the tolerances. */
#include "pcimpl.h"

/* A itself, without entries, is the operator: NULL where it is not. A preconditioner may be older than that */
static PetscErrorCode FusedOperator(PC pc, VpOperator *op)
{
  VpMatrix  matrix;
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(pc->mat, &matrix));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->mat, MATSHELL, &shell));
  *op = matrix && shell && pc->mat == pc->pmat && matrix->scale == 1 && matrix->shift == 0 ? VpMatrixOperator(matrix) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlainResidual(PC pc, Vec b, Vec x, Vec w, PetscReal *norm)
{
  PetscFunctionBegin;
  if (x) PetscCall(MatResidual(pc->mat, b, x, w));
  else
    PetscCall(VecCopy(b, w));
  PetscCall(VpInverseEnter(pc, NULL, w, NULL, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the KSP's choices that PCApplyRichardson() is not told */
typedef struct {
  PetscBool measure;        /* norms are wanted */
  PetscBool test;           /* and end the iteration */
  PetscBool enough;         /* maxits corrections count as convergence */
  PetscBool initial, least; /* rtol refers to the first residual, to the lesser of it and b */
} Choices;

static Choices ChoicesOf(KSP ksp)
{
  Choices choices = {.measure = PETSC_TRUE, .test = PETSC_TRUE, .enough = PETSC_TRUE};

  if (!ksp) return choices;
  choices.measure = (PetscBool)(ksp->normtype != KSP_NORM_NONE);
  choices.test = (PetscBool)(choices.measure && ksp->converged != KSPConvergedSkip);
  choices.enough = (PetscBool)!choices.test;
  if (ksp->converged == KSPConvergedDefault && ksp->cnvP) {
    const KSPConvergedDefaultCtx *ctx = (KSPConvergedDefaultCtx *)ksp->cnvP;

    choices.enough = (PetscBool)(choices.enough || ctx->convmaxits);
    choices.initial = ctx->initialrtol;
    choices.least = ctx->mininitialrtol;
  }
  return choices;
}

/* the norm that rtol and dtol multiply, from that of the first residual */
static PetscErrorCode Reference(const Choices *choices, Vec b, PetscBool guesszero, PetscReal first, PetscReal *start)
{
  PetscFunctionBegin;
  *start = first;
  if (guesszero || choices->initial) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(b, NORM_2, start));
  if (choices->least) *start = PetscMin(*start, first);
  if (*start == 0) *start = first;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PCRichardsonConvergedReason Test(PetscReal norm, PetscReal start, PetscReal rtol, PetscReal abstol, PetscReal dtol)
{
  if (PetscIsInfOrNanReal(norm)) return (PCRichardsonConvergedReason)KSP_DIVERGED_NANORINF;
  if (norm < abstol) return PCRICHARDSON_CONVERGED_ATOL;
  if (norm <= rtol * start) return PCRICHARDSON_CONVERGED_RTOL;
  return norm >= dtol * start ? PCRICHARDSON_DIVERGED_DTOL : (PCRichardsonConvergedReason)0;
}

/* PCRichardsonConvergedReason is KSPConvergedReason under other names. */
PetscErrorCode VpInverseApplyRichardson(PC pc, Vec b, Vec x, Vec w, PetscReal rtol, PetscReal abstol, PetscReal dtol, PetscInt maxits,
                                        PetscBool guesszero, PetscInt *its, PCRichardsonConvergedReason *reason)
{
  const KSP       ksp = ((VpInverse *)pc->data)->ksp;
  const Choices   choices = ChoicesOf(ksp);
  VpOperator      op = NULL;
  PetscReal       norm, start = 0;
  PetscInt        it;

  PetscFunctionBegin;
  PetscCall(FusedOperator(pc, &op));
  *reason = (PCRichardsonConvergedReason)0;
  ((VpInverse *)pc->data)->factor = 0; /* of other residuals */
  for (it = 0; choices.measure || it < maxits; it++) {
    const Vec now = guesszero && it == 0 ? NULL : x;

    if (op) PetscCall(VpInverseEnter(pc, op, b, now, choices.measure ? &norm : NULL));
    else
      PetscCall(PlainResidual(pc, b, now, w, choices.measure ? &norm : NULL));
    if (choices.measure && it == 0) PetscCall(Reference(&choices, b, guesszero, norm, &start));
    if (choices.measure && ksp) {
      ksp->rnorm = norm;
      PetscCall(KSPLogResidualHistory(ksp, norm));
    }
    if (choices.test) *reason = Test(norm, start, rtol, abstol, dtol);
    if (*reason || it >= maxits) break;
    PetscCall(VpInverseSolve(pc, PETSC_FALSE, (PetscBool)(now != NULL), x));
  }
  if (guesszero && it == 0) PetscCall(VecSet(x, 0));
  *its = it;
  if (!*reason) *reason = choices.enough ? PCRICHARDSON_CONVERGED_ITS : (PCRichardsonConvergedReason)KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}
