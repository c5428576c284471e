/* Vectors from one mesh to another mesh of the same boxes: exact where cells were refined, the L2 projection where cells were coarsened. */
#include "fields.h"
#include "functions.h"

/* transfers between a cell and its halves */
typedef struct {
  int    dim, n;
  double P[2 * VP_MAX_N * VP_MAX_N], R[2 * VP_MAX_N * VP_MAX_N];
} Halves;

/* number of a cell's ancestor, `above` levels up, among its siblings */
static int ChildAt(int dim, const int32_t coord[], int above)
{
  int child = 0;

  for (int d = 0; d < dim; d++) child |= (coord[d] >> above & 1) << d;
  return child;
}

/* y on an own cell = values of the cells that cover it, prolongated or projected */
static void CoverCell(const Halves *h, VpMesh mesh, const VpOverlap *o, int32_t cell, const double values[], double y[])
{
  const size_t ndof = (size_t)PetscPowInt(h->n, h->dim);
  const int    depth = VpGeometryHalvings(mesh->geometry, cell, 0);
  double       u[VP_MAX_N * VP_MAX_N * VP_MAX_N];

  for (size_t i = 0; i < ndof; i++) y[i] = 0;
  for (int32_t c = o->first[cell]; c < o->first[cell] + o->count[cell]; c++) {
    for (size_t i = 0; i < ndof; i++) u[i] = values[c * ndof + i];
    for (int above = depth - o->cell[c].depth - 1; above >= 0; above--)
      VpTransferApply(h->dim, h->n, h->P, ChildAt(h->dim, mesh->geometry->coord + 3 * (size_t)cell, above), u);
    for (int above = 0; above < o->cell[c].depth - depth; above++)
      VpTransferApply(h->dim, h->n, h->R, ChildAt(h->dim, o->cell[c].coord, above), u);
    for (size_t i = 0; i < ndof; i++) y[i] += u[i];
  }
}

/* y = x times the roots of a DM whose cells are mapped, which leads to the basis of boxes; divide: x divided by them, which leads back.
   Without a map y = x. */
static PetscErrorCode ScaleByRoots(DM dm, PetscBool divide, const double x[], double y[])
{
  const size_t  n = (size_t)DMVPatchDGData(dm)->mesh->nown * (size_t)DMVPatchDGCellSize(dm);
  const double *root = NULL;
  VpLevel       level;

  PetscFunctionBegin;
  if (DMVPatchDGData(dm)->mesh->geometry->map) {
    PetscCall(DMVPatchDGGetHostLevel(dm, &level));
    root = level->view.metric.root;
  }
  for (size_t i = 0; i < n; i++) y[i] = !root ? x[i] : divide ? x[i] / root[i] : x[i] * root[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckMeshes(VpMesh from, VpMesh to)
{
  int compared;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_compare(from->comm, to->comm, &compared));
  PetscCheck(compared != MPI_UNEQUAL, to->comm, PETSC_ERR_ARG_NOTSAMECOMM, "DMVPatchDGTransfer() needs two DMs on the same ranks");
  PetscCheck(VpMeshesOverlap(from, to), to->comm, PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGTransfer() needs two meshes of the same boxes or trees, one made of the other by DMRefine(), "
             "DMVPatchDGRefineCells() and the "
             "like");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGTransfer - Transfers a vector between two meshes, one of which was made from the other by refining and coarsening cells

   Collective

   Input Parameters:
+  from - the DM of x
.  to   - the DM of y
-  x    - coefficients, a vector of `from`

   Output Parameter:
.  y - coefficients of the transferred function, a vector of `to`

   Level: intermediate

   Note:
   On cells that were not coarsened, y equals x exactly. On coarsened cells y is the L2 projection of x, which keeps the integral over each
   cell. Both DMs must have the same degree. They may be several refinements apart. If cells are mapped, all this holds for functions of the
   boxes' points.

.seealso: `DMVPATCHDG`, `DMVPatchDGRefineCells()`, `DMVPatchDGEstimate()`
@*/
PetscErrorCode DMVPatchDGTransfer(DM from, DM to, Vec x, Vec y)
{
  static const char  caller[] = "DMVPatchDGTransfer()";
  const PetscScalar *xx;
  PetscScalar       *yy;
  double            *values, *scaled;
  const DM_VPatchDG *source, *target;
  size_t             ndof;
  VpField            field[2];
  Vec                cells[2];
  VpOverlap          o;
  VpBasis            basis;
  Halves             h;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(from, x, caller));
  PetscCall(DMVPatchDGCheckVector(to, y, caller));
  source = DMVPatchDGData(from);
  target = DMVPatchDGData(to);
  PetscCheck(source->degree == target->degree, target->mesh->comm, PETSC_ERR_ARG_INCOMP,
             "%s: the DMs have the degrees %" PetscInt_FMT " and %" PetscInt_FMT ", which have to be the same", caller, source->degree,
             target->degree);
  PetscCall(CheckMeshes(source->mesh, target->mesh));
  PetscCheck(source->basis == target->basis, target->mesh->comm, PETSC_ERR_ARG_INCOMP,
             "%s: the DMs have the bases %s and %s, which have to be the same", caller, VPatchDGBases[source->basis],
             VPatchDGBases[target->basis]);
  PetscCheck(source->quadrature == target->quadrature, target->mesh->comm, PETSC_ERR_ARG_INCOMP,
             "%s: the DMs have the quadratures %s and %s, which have to be the same", caller, VPatchDGQuadratures[source->quadrature],
             VPatchDGQuadratures[target->quadrature]);
  PetscCall(VpBasisCreateFor(target->op->problem.quadrature, target->op->problem.outer, (int)target->degree, &basis));
  h.dim = target->mesh->dim;
  h.n = basis.n;
  VpTransferHalves(&basis, h.P, h.R);
  ndof = (size_t)DMVPatchDGCellSize(to);
  PetscCall(VpOverlapCreate(source->mesh, target->mesh, &o));
  PetscCall(PetscMalloc2((size_t)o.n * ndof, &values, (size_t)source->mesh->nown * ndof, &scaled));
  PetscCall(VpFieldGet(from, &field[0]));
  PetscCall(VpFieldGet(to, &field[1]));
  PetscCall(VpCellsOf(&field[0], x, &cells[0]));
  PetscCall(VpCellsCreate(&field[1], y, &cells[1]));
  PetscCall(VecGetArrayRead(cells[0], &xx));
  PetscCall(ScaleByRoots(from, PETSC_FALSE, xx, scaled));
  PetscCall(VpBroadcast(o.sf, ndof, MPI_DOUBLE, scaled, values));
  PetscCall(VecRestoreArrayRead(cells[0], &xx));
  PetscCall(VecGetArrayWrite(cells[1], &yy));
  for (int32_t c = 0; c < target->mesh->nown; c++) CoverCell(&h, target->mesh, &o, c, values, yy + (size_t)c * ndof);
  PetscCall(ScaleByRoots(to, PETSC_TRUE, yy, yy));
  PetscCall(VecRestoreArrayWrite(cells[1], &yy));
  PetscCall(VecDestroy(&cells[0]));
  PetscCall(VpCellsToFunction(&field[1], &cells[1], y));
  PetscCall(PetscFree2(values, scaled));
  PetscCall(VpOverlapDestroy(&o));
  PetscFunctionReturn(PETSC_SUCCESS);
}
