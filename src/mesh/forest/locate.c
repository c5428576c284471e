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

/* a place in a box, 0 <= x[d] <= 1 */
typedef struct {
  int32_t   box;
  PetscReal x[3];
} Place;

/* the place in its box of a point; both ends are 0 and 1 */
static Place PlaceIn(VpDomain domain, int32_t box, const PetscReal point[])
{
  Place place = {.box = box};

  for (int d = 0; d < domain->dim; d++) {
    const PetscReal lower = domain->lower[3 * (size_t)box + d];

    place.x[d] = (point[d] - lower) / (domain->upper[3 * (size_t)box + d] - lower);
  }
  return place;
}

/* the cell of a lattice around a place, which its owner is known of */
static PetscSFNode CellAt(VpMesh mesh, const Place *place)
{
  int32_t     coord[3] = {0, 0, 0};
  int64_t     cell;
  PetscSFNode node;

  for (int d = 0; d < mesh->dim; d++) {
    const PetscReal cells = (PetscReal)((int64_t)1 << VpShapeOf(mesh->geometry->lattice, place->box)->bits[d]);

    coord[d] = (int32_t)PetscMax(0, PetscMin(cells - 1, PetscFloorReal(place->x[d] * cells)));
  }
  cell = VpLatticeEncode(mesh->geometry->lattice, place->box, coord);
  node.rank = VpOwnerOf(mesh->starts, mesh->size, cell);
  node.index = (PetscInt)cell - mesh->starts[node.rank];
  return node;
}

static PetscInt LeafAt(const void *mesh, const void *question)
{
  const Place *place = question;

  return VpForestOpsOf(((VpMesh)mesh)->dim)->leaf(((VpMesh)mesh)->forest, place->box, place->x);
}

/* the leaves around places, which may be other ranks' */
static PetscErrorCode AskOwners(VpMesh mesh, PetscInt n, const Place place[], PetscSFNode at[])
{
  PetscMPIInt *rank;
  PetscInt    *number;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &rank, n, &number));
  for (PetscInt i = 0; i < n; i++) rank[i] = VpForestOpsOf(mesh->dim)->owner(mesh->forest, place[i].box, place[i].x);
  PetscCall(VpAskRanks(mesh->comm, &(VpQuestions){n, rank, sizeof(*place), place}, LeafAt, mesh, number));
  for (PetscInt i = 0; i < n; i++) at[i] = (PetscSFNode){.rank = rank[i], .index = number[i]};
  PetscCall(PetscFree2(rank, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshLocate(VpMesh mesh, PetscInt n, const PetscReal x[], PetscSFNode at[], PetscInt *outside)
{
  int32_t box = 0;
  Place  *place;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &place));
  for (*outside = 0; *outside < n; ++*outside) {
    const PetscReal *point = x + *outside * mesh->dim;
    const int32_t    found = FindBox(mesh->geometry->domain, point, box);

    if (found < 0) break;
    box = found;
    place[*outside] = PlaceIn(mesh->geometry->domain, box, point);
  }
  if (VpMeshIsAdaptive(mesh)) PetscCall(AskOwners(mesh, *outside, place, at));
  else {
    for (PetscInt i = 0; i < *outside; i++) at[i] = CellAt(mesh, &place[i]);
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}
