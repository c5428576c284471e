/* The cells around points. */
#include "../internal.h"

#define SLACK 1e-10 /* of a box: as far outside of it a point may lie by rounding */

/* the side of a box beyond which the point lies, the first one from `from` on; 2 dim: none */
static int SideTowards(VpDomain domain, int32_t box, const PetscReal x[], PetscReal slack, int from)
{
  const PetscReal *lower = domain->lower + 3 * (size_t)box, *upper = domain->upper + 3 * (size_t)box;
  int              side = from;

  for (; side < 2 * domain->dim; side++) {
    const int       d = side / 2;
    const PetscReal more = slack * (upper[d] - lower[d]);

    if (side % 2 ? !(x[d] <= upper[d] + more) : !(x[d] >= lower[d] - more)) break;
  }
  return side;
}

/* the box around a point, or -1; near: where to begin. Goes from box to box towards the point; where the domain is in the way, looks at
   all. */
static int32_t FindBox(VpDomain domain, const PetscReal x[], int32_t near)
{
  const int nside = 2 * domain->dim;

  if (domain->trees) { /* Their unit boxes are at 0, 2, 4, ... along x. */
    const PetscReal box = PetscFloorReal((x[0] + 0.5) / 2);

    return box >= 0 && box < domain->nbox && SideTowards(domain, (int32_t)box, x, SLACK, 0) == nside ? (int32_t)box : -1;
  }
  for (int32_t box = near, step = 0; step < domain->nbox; step++) {
    int     side = SideTowards(domain, box, x, 0, 0);
    int32_t next = -1;

    if (side == nside) return box;
    for (; side < nside && next < 0; side = SideTowards(domain, box, x, 0, side + 1)) next = domain->beyond[(size_t)box * nside + side];
    if (next < 0) break;
    box = next;
  }
  for (int32_t box = 0; box < domain->nbox; box++) {
    if (SideTowards(domain, box, x, SLACK, 0) == nside) return box;
  }
  return -1;
}

/* coordinates of the cell around a point among 2^bits[d] in direction d of a box */
static void CellAround(VpDomain domain, int32_t box, const int bits[], const PetscReal x[], int32_t coord[3])
{
  for (int d = 0; d < 3; d++) {
    const PetscReal cells = (PetscReal)((int64_t)1 << bits[d]);
    const PetscReal at = d < domain->dim ? (x[d] - domain->lower[3 * (size_t)box + d]) / VpDomainWidth(domain, box, d) : 0;

    coord[d] = (int32_t)PetscMax(0, PetscMin(cells - 1, PetscFloorReal(at * cells)));
  }
}

/* where the cell of a lattice is, which its owner is known of */
static PetscSFNode NodeOf(VpMesh mesh, int64_t cell)
{
  const PetscMPIInt rank = VpOwnerOf(mesh->starts, mesh->size, cell);

  return (PetscSFNode){.rank = rank, .index = (PetscInt)cell - mesh->starts[rank]};
}

PetscErrorCode VpMeshLocate(VpMesh mesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside)
{
  const VpLattice  L = mesh->geometry->lattice;
  const int        deepest = VpForestOpsOf(mesh->dim)->deepest, smallest[3] = {deepest, deepest, deepest};
  int32_t          box = 0, coord[3];
  VpCurvePosition *position;
  VpCurve          curve;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &position));
  for (*outside = 0; *outside < n; ++*outside) {
    const PetscReal *point = x + *outside * mesh->dim;
    const int32_t    found = FindBox(L->domain, point, box);

    if (found < 0) break;
    box = found;
    CellAround(L->domain, box, VpMeshIsAdaptive(mesh) ? smallest : VpHalvingsOf(L, box)->bits, point, coord);
    if (VpMeshIsAdaptive(mesh)) position[*outside] = VpCurvePositionOf(mesh->dim, box, coord, deepest);
    else at[*outside] = NodeOf(mesh, VpLatticeEncode(L, box, coord));
  }
  if (VpMeshIsAdaptive(mesh)) {
    PetscCall(VpCurveCreate(mesh, &curve));
    PetscCall(VpCurveFind(&curve, *outside, position, at));
    PetscCall(VpCurveDestroy(&curve));
  }
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}
