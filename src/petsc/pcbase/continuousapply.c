/* Applies the preconditioner of a continuous operator: B, with Jacobi steps (J) around it.

       J:  x += step (r - A x)          B:  x_D = r_D / A_DD at loose entries D, then the cycle on r - A x_D */
#include "pcbase.h"

/* y = A x, or A^T x */
static PetscErrorCode MultiplyMatrix(PC pc, PetscBool transpose, Vec x, Vec y)
{
  return transpose ? MatMultTranspose(pc->pmat, x, y) : MatMult(pc->pmat, x, y);
}

/* z = M r by the cycle, with factors of rows. scratch: a vector, which may be r */
static PetscErrorCode ApplyCycle(PC pc, PetscBool transpose, Vec r, Vec scratch, Vec z)
{
  const Vec factor = VpPCBaseData(pc)->continuous->factor;

  PetscFunctionBegin;
  if (factor && !transpose) PetscCall(VecPointwiseMult(scratch, r, factor));
  PetscCall(VpPCBaseApplyCycle(pc, transpose, factor && !transpose ? scratch : r, z));
  if (factor && transpose) PetscCall(VecPointwiseMult(z, z, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = B r or z = B^T r. The cycle neither reads nor writes loose entries. */
static PetscErrorCode ApplyB(PC pc, PetscBool transpose, Vec r, Vec z)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const Vec          x = c->work[0], rest = c->work[1];

  PetscFunctionBegin;
  if (!c->nloose) {
    PetscCall(ApplyCycle(pc, transpose, r, rest, z));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (transpose) {
    PetscCall(ApplyCycle(pc, PETSC_TRUE, r, rest, z));
    if (c->coupled) {
      PetscCall(MatMultTranspose(pc->pmat, z, rest));
      PetscCall(VecAYPX(rest, -1, r));
    }
    PetscCall(VecPointwiseMult(x, c->coupled ? rest : r, c->loose));
  } else {
    PetscCall(VecPointwiseMult(x, r, c->loose));
    if (c->coupled) {
      PetscCall(MatMult(pc->pmat, x, rest));
      PetscCall(VecAYPX(rest, -1, r));
    }
    PetscCall(ApplyCycle(pc, PETSC_FALSE, c->coupled ? rest : r, rest, z));
  }
  PetscCall(VecAXPY(z, 1, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = step (r - y), or x += step (r - y), by one launch. step NULL: 1; y NULL: 0, or x, unless it is added to */
static PetscErrorCode RelaxNodes(VpContinuous c, PetscBool add, Vec step, Vec r, Vec y, Vec x)
{
  const VpBackend *backend = c->nodes->backend;
  VpValues         sv = {0}, rv, yv = {0}, xv;

  PetscFunctionBegin;
  if (step) PetscCall(VpValuesGet(backend, step, VP_READ, &sv));
  PetscCall(VpValuesGet(backend, r, VP_READ, &rv));
  if (y && y != x) PetscCall(VpValuesGet(backend, y, VP_READ, &yv));
  PetscCall(VpValuesGet(backend, x, add || y == x ? VP_READ_WRITE : VP_WRITE, &xv));
  PetscCall(backend->relax((size_t)c->nodes->rows, add, sv.at, rv.at, y == x ? xv.at : yv.at, xv.at));
  PetscCall(VpValuesRestore(&xv));
  if (y && y != x) PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&rv));
  if (step) PetscCall(VpValuesRestore(&sv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z += step (r - A z) */
static PetscErrorCode TakeStep(PC pc, PetscBool transpose, Vec r, Vec z)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;

  PetscFunctionBegin;
  PetscCall(MultiplyMatrix(pc, transpose, z, c->work[2]));
  PetscCall(RelaxNodes(c, PETSC_TRUE, c->step, r, c->work[2], z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpContinuousApply(PC pc, PetscBool transpose, Vec r, Vec z)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const PetscBool    before = (PetscBool)(c->jacobi == VP_JACOBI_BOTH || (c->jacobi == VP_JACOBI_AFTER && transpose));
  const PetscBool    after = (PetscBool)(c->jacobi == VP_JACOBI_BOTH || (c->jacobi == VP_JACOBI_AFTER && !transpose));
  const Vec          rest = c->work[2], more = c->work[3];

  PetscFunctionBegin;
  if (!before) PetscCall(ApplyB(pc, transpose, r, z));
  else {
    PetscCall(RelaxNodes(c, PETSC_FALSE, c->step, r, NULL, z));
    for (int i = 1; i < c->steps; i++) PetscCall(TakeStep(pc, transpose, r, z));
    PetscCall(MultiplyMatrix(pc, transpose, z, rest));
    PetscCall(RelaxNodes(c, PETSC_FALSE, NULL, r, rest, rest));
    /* z is exact at loose entries, which other rows do not add to. */
    if (!transpose || !c->coupled) PetscCall(ApplyCycle(pc, transpose, rest, c->work[1], more));
    else PetscCall(ApplyB(pc, transpose, rest, more));
    PetscCall(VecAXPY(z, 1, more));
  }
  for (int i = 0; i < c->steps && after; i++) PetscCall(TakeStep(pc, transpose, r, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpContinuousView(PC pc, PetscViewer viewer)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;

  PetscFunctionBegin;
  if (!c->nodes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  of a continuous operator of degree %d", c->nodes->degree));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (c->nloose)
    PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " rows are those of the identity%s", c->nloose,
                                     c->coupled ? ", whose columns are not" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (c->origin[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  points of the DMDA: %s\n", c->origin));
  if (c->spread[1] > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  scale %.6g: A's diagonal is %.3g to %.3g times that of the DM's form\n", (double)c->scale,
                                     (double)c->spread[0], (double)c->spread[1]));
  else if (!c->node) PetscCall(PetscViewerASCIIPrintf(viewer, "  scale %.6g: A is the DM's own operator\n", (double)c->scale));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  Jacobi steps: %s (%s)", VpJacobiNames[c->jacobi], c->why));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (c->jacobi != VP_JACOBI_NONE && c->steps > 1) PetscCall(PetscViewerASCIIPrintf(viewer, ", %d on either side", c->steps));
  if (c->jacobi != VP_JACOBI_NONE) PetscCall(PetscViewerASCIIPrintf(viewer, ", damped by %.3g", (double)c->damping));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
