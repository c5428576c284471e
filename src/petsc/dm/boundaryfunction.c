/* Boundary conditions that differ between boxes, from labels or from the user's function. */
#include "internal.h"

/*@C
   DMVPatchDGSetBoundaryFunction - Sets a function that chooses the boundary condition of every side of every box

   Logically Collective

   Input Parameters:
+  dm  - the DM
.  f   - the function, or `NULL` for the conditions of `DMVPatchDGSetBoundary()` and `DMVPatchDGSetLabelBoundary()` everywhere
-  ctx - passed to f

   Level: intermediate

   Notes:
   `DMSetUp()` calls f on every rank for every side of a box that is on the boundary. f must give the same answers on all ranks. Sides at
   the end of a periodic direction are not on the boundary. Conditions change only between boxes: where one condition ends, the domain needs
   a face between boxes (`DMVPatchDGSetBoxGrid()`, `DMVPatchDGSetBoxes()`).

   Coarser levels of `PCVPATCHDG` do not merge boxes whose boundary sides have different conditions. A patch with two conditions on one side
   is solved with a condition between the two. On GPUs, the most frequent condition of each normal has the fastest kernels.

.seealso: `DMVPATCHDG`, `VPatchDGBoundaryFunction`, `DMVPatchDGSetBoundary()`, `DMVPatchDGSetLabelBoundary()`, `DMVPatchDGGetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetBoundaryFunction(DM dm, VPatchDGBoundaryFunction f, void *ctx)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)(f != dg->side_boundary || ctx != dg->side_ctx), "boundary"));
  dg->side_boundary = f;
  dg->side_ctx = ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* answer = {VPatchDGBoundary, alpha} of one side */
static PetscErrorCode AskSide(DM dm, VpDomain domain, int32_t box, int side, PetscReal answer[2])
{
  DM_VPatchDG     *dg = dm->data;
  const PetscReal *lower = domain->lower + 3 * (size_t)box, *upper = domain->upper + 3 * (size_t)box;
  PetscReal        center[3], alpha = dg->alpha[side];
  VPatchDGBoundary boundary = dg->boundary[side];

  PetscFunctionBegin;
  for (int d = 0; d < domain->dim; d++) center[d] = lower[d] / 2 + upper[d] / 2;
  center[side / 2] = side % 2 ? upper[side / 2] : lower[side / 2];
  if (boundary == VPATCHDG_BOUNDARY_PERIODIC) boundary = VPATCHDG_BOUNDARY_DIRICHLET;
  DMVPatchDGAskLabels(dm, box, side, &boundary, &alpha);
  if (dg->side_boundary) PetscCall(dg->side_boundary(domain->dim, box, side, center, &boundary, &alpha, dg->side_ctx));
  PetscCheck(VpIsOfOneSide(boundary), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetBoundaryFunction(): the function says %d for side %d of box %d, which is no condition of one side",
             (int)boundary, side, (int)box);
  PetscCheck(VpIsAlpha(boundary, alpha), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetBoundaryFunction(): the function says alpha = %g for side %d of box %d, which is positive", (double)alpha, side,
             (int)box);
  answer[0] = (PetscReal)boundary;
  answer[1] = VpBoundaryOf(boundary, alpha).alpha;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* answer [nbox][2 dim][2] = {VPatchDGBoundary, alpha}, or 0 on sides inside the domain */
static PetscErrorCode AskAll(DM dm, VpDomain domain, PetscReal answer[])
{
  const int nside = 2 * domain->dim;

  PetscFunctionBegin;
  for (int64_t i = 0; i < (int64_t)domain->nbox * nside; i++) {
    answer[2 * i] = answer[2 * i + 1] = 0;
    if (domain->beyond[i] < 0) PetscCall(AskSide(dm, domain, (int32_t)(i / nside), (int)(i % nside), answer + 2 * i));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGAskBoundary(DM dm, VpDomain domain)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  const PetscInt n = (PetscInt)domain->nbox * 2 * domain->dim;
  PetscReal     *answer;
  VpBoundary    *condition;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckLabels(dm));
  DMVPatchDGData(dm)->asked = (PetscBool)(DMVPatchDGData(dm)->side_boundary || DMVPatchDGData(dm)->labels.n);
  if (!DMVPatchDGData(dm)->asked) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc2(2 * n, &answer, n, &condition));
  error = VpTogether(comm, AskAll(dm, domain, answer));
  if (!error)
    error =
      VpCheckSameReals(comm, 2 * n, answer, "the boundary conditions (DMVPatchDGSetBoundaryFunction(), DMVPatchDGSetLabelBoundary())");
  for (PetscInt i = 0; i < n && !error; i++) condition[i] = VpBoundaryOf((VPatchDGBoundary)answer[2 * i], answer[2 * i + 1]);
  if (!error) error = VpDomainSetBoundary(domain, condition);
  PetscCall(PetscFree2(answer, condition));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
