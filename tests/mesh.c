/* Cells, neighbours, ghosts and the links between levels, against the brute-force lattice.
   ranks: 1 2 3 5 8 */
#include "support/mesh_cases.h"

/* what is checked, on all meshes of a case together */
enum {
  BOUNDS_MATCH_BOXES,
  NEIGHBORS_ARE_MUTUAL,
  GHOSTS_ARE_THE_LAYERS,
  GHOSTS_HOLD_OWNER_POSITIONS,
  CHILDREN_AND_PARENTS_AGREE,
  FIRST_CHILD_LIVES_WITH_PARENT,
  CHILDREN_COME_FROM_THEIR_OWNERS,
  SIDES_ARE_THOSE_BEYOND,
  NCHECK
};
static const char *names[NCHECK] = {
  "bounds_match_boxes",         "neighbors_are_mutual",          "ghosts_are_the_layers",           "ghosts_hold_owner_positions",
  "children_and_parents_agree", "first_child_lives_with_parent", "children_come_from_their_owners", "sides_are_those_beyond"};
static int bad[NCHECK];

static void CheckCells(const Case *c, VpMesh mesh, const int64_t next[], const int lattice[])
{
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    const int64_t cell = Position(mesh, i);
    PetscReal     lower[3], size[3];

    VpGeometryBounds(mesh->geometry, i, lower, size);
    for (int d = 0; d < 3; d++) {
      const int       box = lattice[3 * cell + d] >> mesh->level;
      const PetscReal h = d < c->dim ? (Knot(d, box + 1) - Knot(d, box)) / (1 << mesh->level) : 1,
                      x = d < c->dim ? Knot(d, box) + mesh->geometry->coord[3 * i + d] * h : 0;

      bad[BOUNDS_MATCH_BOXES] += PetscAbsReal(lower[d] - x) > 1e-12 || PetscAbsReal(size[d] - h) > 1e-12;
    }
    if (i < mesh->nown) bad[NEIGHBORS_ARE_MUTUAL] += cell != mesh->first + i;
    for (int side = 0; i < mesh->nsweep && side < 2 * c->dim; side++) {
      const int32_t n = mesh->neighbor[2 * c->dim * i + side];
      const int64_t expected = next[2 * c->dim * cell + side];

      bad[NEIGHBORS_ARE_MUTUAL] += VpGeometryBoxBeyond(mesh->geometry, i, side) != (n < 0 ? n : mesh->geometry->box[n]);
      if (expected < 0) bad[NEIGHBORS_ARE_MUTUAL] += n != -1 - side;
      else
        bad[NEIGHBORS_ARE_MUTUAL] += n < 0 || n >= mesh->nhalo || Position(mesh, n) != expected ||
                                     (n < mesh->nsweep && mesh->neighbor[2 * c->dim * n + (side ^ 1)] != i);
    }
  }
}

/* gives `layer` to the cells reached from `cell` by moves in different directions, where they have none */
static void Spread(const Case *c, const int64_t next[], int64_t cell, int used, int layer, int layers[])
{
  for (int side = 0; side < 2 * c->dim; side++) {
    const int64_t n = next[2 * c->dim * cell + side];

    if (n < 0 || (used >> side / 2 & 1)) continue;
    layers[n] = PetscMin(layers[n], layer);
    Spread(c, next, n, used | 1 << side / 2, layer, layers);
  }
}

static PetscErrorCode CheckGhosts(const Case *c, VpMesh mesh, const int64_t next[])
{
  const int32_t end[VP_GHOST_KINDS] = {mesh->nface, mesh->nsweep, mesh->nlocal};
  int32_t       count[4] = {0, 0, 0, 0};
  int          *layers;
  char         *face, *seen;
  PetscInt     *own, *ghost;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->ncell, &layers));
  PetscCall(PetscCalloc2(mesh->ncell, &face, mesh->ncell, &seen));
  for (PetscInt i = 0; i < mesh->ncell; i++) layers[i] = i >= mesh->first && i < mesh->first + mesh->nown ? 0 : 9;
  for (PetscInt i = mesh->first; i < mesh->first + mesh->nown; i++) {
    for (int side = 0; side < 2 * c->dim; side++) {
      if (next[2 * c->dim * i + side] >= 0) face[next[2 * c->dim * i + side]] = 1;
    }
  }
  for (int layer = 1; layer <= 3; layer++) {
    for (PetscInt i = 0; i < mesh->ncell; i++) {
      if (layers[i] == layer - 1) Spread(c, next, i, 0, layer, layers);
    }
  }
  for (PetscInt i = 0; i < mesh->ncell; i++) {
    if (layers[i]) count[layers[i] > 3 ? 3 : (layers[i] == 3 ? 2 : !face[i])]++;
  }
  bad[GHOSTS_ARE_THE_LAYERS] +=
    mesh->nface - mesh->nown != count[0] || mesh->nsweep - mesh->nface != count[1] || mesh->nhalo - mesh->nsweep != count[2];
  for (int32_t i = 0; i < mesh->nlocal; i++) {
    const int64_t cell = Position(mesh, i);
    const int     expected = i < mesh->nown ? 0 : (i < mesh->nsweep ? 2 : (i < mesh->nhalo ? 3 : 9));

    bad[GHOSTS_ARE_THE_LAYERS] += seen[cell] || layers[cell] > expected || (i >= mesh->nsweep && layers[cell] < expected) ||
                                  (i >= mesh->nown && i < mesh->nface && !face[cell]);
    seen[cell] = 1;
  }
  PetscCall(PetscFree(layers));
  PetscCall(PetscFree2(face, seen));

  PetscCall(PetscMalloc2(mesh->nown, &own, mesh->nlocal, &ghost));
  for (int kind = 0; kind < VP_GHOST_CHILD; kind++) {
    for (int32_t i = 0; i < mesh->nown; i++) own[i] = mesh->first + i;
    for (int32_t i = 0; i < mesh->nlocal; i++) ghost[i] = -1;
    PetscCall(VpMeshExchange(mesh, (VpGhostKind)kind, 1, MPIU_INT, own, ghost));
    for (int32_t i = 0; i < mesh->nlocal - mesh->nown; i++)
      bad[GHOSTS_HOLD_OWNER_POSITIONS] += ghost[i] != (i < end[kind] - mesh->nown ? Position(mesh, mesh->nown + i) : -1);
  }
  PetscCall(PetscFree2(own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every side that an own cell shares with a ghost gets its owner's, and no other one does */
static PetscErrorCode CheckSides(const Case *c, VpMesh mesh, const int64_t next[])
{
  const int nside = 2 * c->dim;
  int32_t   n = 0;
  PetscInt *own, *ghost;

  PetscFunctionBeginUser;
  for (int twice = 0; twice < 2; twice++) PetscCall(VpMeshSetSides(mesh));
  PetscCall(PetscMalloc2(mesh->nown * nside, &own, mesh->shared->n * nside, &ghost));
  for (int32_t i = 0; i < mesh->nown * nside; i++) own[i] = mesh->first * nside + i;
  for (int32_t i = 0; i < mesh->shared->n * nside; i++) ghost[i] = -1;
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SIDE, 1, MPIU_INT, own, ghost));
  for (int32_t i = 0; i < mesh->nown * nside; i++) {
    const int64_t beyond = next[mesh->first * nside + i];
    const int32_t local = mesh->shared->n ? mesh->shared->beyond[i] : mesh->neighbor[i];

    if (beyond < 0 || (beyond >= mesh->first && beyond < mesh->first + mesh->nown)) {
      bad[SIDES_ARE_THOSE_BEYOND] += local != mesh->neighbor[i];
      continue;
    }
    bad[SIDES_ARE_THOSE_BEYOND] += local != mesh->nown + n;
    for (int side = 0; side < nside && n < mesh->shared->n; side++)
      bad[SIDES_ARE_THOSE_BEYOND] += ghost[n * nside + side] != (side == (i % nside ^ 1) ? beyond * nside + side : -1);
    n++;
  }
  bad[SIDES_ARE_THOSE_BEYOND] += n != mesh->shared->n;
  PetscCall(PetscFree2(own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* own parents' children get values from their owners, no other cell does */
static PetscErrorCode CheckChildren(VpMesh fine)
{
  const int32_t nchild = VpMeshCoarser(fine)->nown << fine->dim;
  PetscInt     *value;
  int32_t       came = 0, expected = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(fine->nlocal, &value));
  for (int32_t i = 0; i < fine->nlocal; i++) value[i] = i < fine->nown ? fine->first + i : -1;
  PetscCall(VpMeshExchange(fine, VP_GHOST_CHILD, 1, MPIU_INT, value, value + fine->nown));
  for (int32_t i = fine->nown; i < fine->nlocal; i++) came += value[i] != -1;
  for (int32_t i = 0; i < nchild; i++) {
    expected += fine->relation->child[i] >= fine->nown;
    bad[CHILDREN_COME_FROM_THEIR_OWNERS] += value[fine->relation->child[i]] != Position(fine, fine->relation->child[i]);
  }
  bad[CHILDREN_COME_FROM_THEIR_OWNERS] += came != expected;
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckLink(VpMesh fine)
{
  const VpMesh coarse = VpMeshCoarser(fine);
  const int    nchild = 1 << fine->dim;

  PetscFunctionBeginUser;
  for (int32_t i = 0; i < fine->nhalo; i++) {
    const int32_t p = fine->relation->parent[i];

    bad[CHILDREN_AND_PARENTS_AGREE] += p < 0 || p >= coarse->nlocal || coarse->geometry->box[p] != fine->geometry->box[i];
    for (int d = 0; d < 3; d++)
      bad[CHILDREN_AND_PARENTS_AGREE] += coarse->geometry->coord[3 * p + d] != fine->geometry->coord[3 * i + d] >> 1;
  }
  for (int32_t i = 0; i < fine->nown; i++)
    bad[CHILDREN_AND_PARENTS_AGREE] += fine->relation->parent[i] >= coarse->nown && i >= fine->relation->orphans;
  for (int32_t p = 0; p < coarse->nown; p++) {
    bad[FIRST_CHILD_LIVES_WITH_PARENT] += fine->relation->child[nchild * p] >= fine->nown;
    for (int k = 0; k < nchild; k++) {
      const int32_t i = fine->relation->child[nchild * p + k];

      bad[CHILDREN_AND_PARENTS_AGREE] += i < 0 || i >= fine->nsweep || fine->relation->parent[i] != p;
      for (int d = 0; d < fine->dim; d++) bad[CHILDREN_AND_PARENTS_AGREE] += (fine->geometry->coord[3 * i + d] & 1) != (k >> d & 1);
    }
  }
  PetscCall(CheckChildren(fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Case *c, VpMesh mesh, const int lattice[], const int64_t next[])
{
  PetscFunctionBeginUser;
  CheckCells(c, mesh, next, lattice);
  PetscCall(CheckGhosts(c, mesh, next));
  PetscCall(CheckSides(c, mesh, next));
  if (VpMeshCoarser(mesh)) PetscCall(CheckLink(mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(CheckCases(Check, NCHECK, names, bad));
  PetscFunctionReturn(PETSC_SUCCESS);
}
