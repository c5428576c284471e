/* Positions on p4est's curve at the greatest depth, which all meshes of the same boxes share if their cells are halved boxes. */
#include "internal.h"

VpCurvePosition VpCurvePositionOf(int dim, int32_t box, const int32_t coord[], int depth)
{
  VpCurvePosition p = {.box = box};

  for (int bit = 0; bit < depth; bit++) {
    for (int d = 0; d < dim; d++) p.before |= (int64_t)(coord[d] >> bit & 1) << (dim * bit + d);
  }
  p.before *= VpCurveLength(dim, depth);
  return p;
}

VpCurvePosition VpCurveAdvance(int dim, VpCurvePosition p, int64_t length)
{
  const int bits = dim * VpForestOpsOf(dim)->deepest;

  p.before += length;
  p.box += p.before >> bits;
  p.before &= ((int64_t)1 << bits) - 1;
  return p;
}

PetscErrorCode VpCurveCreate(VpMesh mesh, VpCurve *curve)
{
  const VpGeometry      g = mesh->geometry;
  const VpCurvePosition end = {.box = g->domain->nbox};

  PetscFunctionBegin;
  curve->mesh = mesh;
  PetscCall(PetscMalloc2(mesh->nown + 1, &curve->cell, mesh->size + 1, &curve->begin));
  for (int32_t c = 0; c < mesh->nown; c++)
    curve->cell[c] = VpCurvePositionOf(mesh->dim, g->box[c], g->coord + 3 * (size_t)c, VpGeometryHalvings(g, c, 0));
  if (!mesh->nown) curve->cell[0] = end;
  PetscCallMPI(MPI_Allgather(curve->cell, 2, MPI_INT64_T, curve->begin, 2, MPI_INT64_T, mesh->comm));
  curve->begin[mesh->size] = end;
  for (int r = mesh->size - 1; r >= 0; r--) {
    if (curve->begin[r].box == end.box) curve->begin[r] = curve->begin[r + 1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCurveDestroy(VpCurve *curve)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(curve->cell, curve->begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the last of n that is not after a position, or the first one */
static int32_t LastUpTo(const VpCurvePosition start[], int32_t n, VpCurvePosition p)
{
  int32_t low = 0, high = n;

  VP_BISECT(low, high, middle, !VpCurveIsBefore(p, start[middle]));
  return low;
}

static PetscInt NumberAt(const void *context, const void *position)
{
  const VpCurve *curve = context;

  return LastUpTo(curve->cell, curve->mesh->nown, *(const VpCurvePosition *)position);
}

PetscErrorCode VpCurveFind(const VpCurve *curve, PetscInt n, const VpCurvePosition position[], PetscSFNode at[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) at[i].rank = LastUpTo(curve->begin, curve->mesh->size, position[i]);
  PetscCall(VpAskRanks(curve->mesh->comm, &(VpQuestions){n, sizeof(*position), position, at}, NumberAt, curve));
  PetscFunctionReturn(PETSC_SUCCESS);
}
