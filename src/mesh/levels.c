/* The levels of an adaptive mesh: the cells of every depth, among its leaves and the ancestors of finer ones. */
#include "internal.h"

/* Leaves of a depth at most, and the cells of that depth that were refined, along p4est's curve. */
typedef struct {
  int32_t  n;
  int32_t *cell;   /* a leaf at the cell's lower corner: coordinates and box come from there */
  int32_t *number; /* among the cells of its depth */
  uint8_t *depth;
} Front;

static PetscErrorCode FrontCreate(VpMesh leaves, Front *front)
{
  int32_t count[64] = {0};

  PetscFunctionBeginUser;
  front->n = leaves->nown;
  PetscCall(PetscMalloc3(front->n, &front->cell, front->n, &front->number, front->n, &front->depth));
  for (int32_t i = 0; i < front->n; i++) {
    front->cell[i] = i;
    front->depth[i] = leaves->depth[i];
    front->number[i] = count[front->depth[i]]++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fills leaf, box, coord and zone of the level's cells, which number order them */
static PetscErrorCode SetCells(VpMesh leaves, const Front *front, int depth, VpMesh mesh)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nown + 1, &mesh->leaf)); /* not NULL where there are none */
  if (!mesh->box) {
    PetscCall(PetscMalloc1(mesh->nown, &mesh->box));
    PetscCall(PetscMalloc1(3 * (size_t)mesh->nown, &mesh->coord));
    PetscCall(PetscMalloc1(mesh->nown, &mesh->zone));
  }
  for (int32_t i = 0; i < front->n; i++) {
    const int32_t from = front->cell[i], to = front->number[i];

    if (front->depth[i] != depth) continue;
    mesh->leaf[to] = leaves->depth[from] == depth ? from : -1;
    mesh->box[to] = leaves->box[from];
    mesh->zone[to] = 0;
    for (int d = 0; d < 3; d++) {
      const int32_t coord = leaves->coord[3 * (size_t)from + d] >> (leaves->depth[from] - depth);

      mesh->coord[3 * (size_t)to + d] = coord;
      if (d < mesh->dim) mesh->zone[to] |= (uint8_t)(VpZoneOf(depth, coord) << 2 * d);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int32_t CountAt(const Front *front, int depth)
{
  int32_t n = 0;

  for (int32_t i = 0; i < front->n; i++) n += front->depth[i] == depth;
  return n;
}

/* the part of a uniform lattice's cells that is on the front; on one rank */
static PetscErrorCode CreatePart(VpMesh leaves, const Front *front, int depth, VpMesh *out)
{
  const int32_t n = CountAt(front, depth);
  VpMesh        mesh;
  VpLattice     lattice;

  PetscFunctionBeginUser;
  PetscCall(VpLatticeCreateUniform(leaves->domain, depth, &lattice));
  PetscCall(VpMeshBegin(leaves->comm, lattice, &mesh));
  *out = mesh;
  mesh->level = depth;
  mesh->ncell = n;
  mesh->nown = mesh->nface = mesh->nsweep = mesh->nhalo = mesh->nlocal = n;
  PetscCall(PetscCalloc1(2, &mesh->starts));
  mesh->starts[1] = n;
  PetscCall(SetCells(leaves, front, depth, mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ordinary mesh of all cells of the least depth */
static PetscErrorCode CreateBase(VpMesh leaves, const Front *front, VpMesh *mesh)
{
  VpLattice lattice;

  PetscFunctionBeginUser;
  PetscCall(VpLatticeCreateUniform(leaves->domain, leaves->least, &lattice));
  PetscCall(VpMeshBuild(leaves->comm, lattice, &(PetscInt){front->n}, NULL, mesh, NULL));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(SetCells(leaves, front, leaves->least, *mesh));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The families of the greatest depth on the front become their parents. Sets what fine has of parents; child[] of these, -1 of leaves. */
static PetscErrorCode StepDown(VpMesh fine, Front *front, int32_t **child)
{
  const int family = 1 << fine->dim, depth = fine->level - 1;
  int32_t   n = 0, parents = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(fine->nown, &fine->parent));
  PetscCall(PetscMalloc1((size_t)family * (CountAt(front, depth) + fine->nown / family) + 1, child));
  for (int32_t i = 0; i < front->n; n++) {
    const PetscBool refined = (PetscBool)(front->depth[i] > depth);
    int32_t        *to = *child + (size_t)family * parents;

    front->cell[n] = front->cell[i];
    for (int q = 0; q < family && front->depth[i] >= depth; q++) {
      to[q] = refined ? front->number[i + q] : -1;
      if (refined) fine->parent[to[q]] = parents;
    }
    front->number[n] = front->depth[i] >= depth ? parents++ : front->number[i];
    front->depth[n] = PetscMin(front->depth[i], (uint8_t)depth);
    i += refined ? family : 1;
  }
  front->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A neighbour is a sibling, or the child of the parent's neighbour on the side where they meet. */
static PetscErrorCode SetNeighbors(VpMesh fine)
{
  const VpMesh coarse = fine->coarser;
  const int    nside = 2 * fine->dim, family = 1 << fine->dim;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1((size_t)nside * fine->nown, &fine->neighbor));
  for (int32_t parent = 0; parent < coarse->nown; parent++) {
    const int32_t *child = fine->child + (size_t)family * parent;

    for (int i = 0; i < nside * family && child[0] >= 0; i++) {
      const int      q = i / nside, side = i % nside, mirror = q ^ 1 << side / 2;
      const int32_t  next = (q >> side / 2 & 1) == side % 2 ? coarse->neighbor[(size_t)nside * parent + side] : parent;
      const int32_t *family_there = fine->child + (size_t)family * PetscMax(next, 0);
      int32_t        to = next;

      if (next >= 0) to = family_there[mirror] < 0 ? VP_EDGE : family_there[mirror];
      fine->neighbor[(size_t)nside * child[q] + side] = to;
      fine->ninner += to >= 0;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cells beyond a side, among the children of the cell there */
static VpHang EdgeOf(VpMesh fine, int32_t leaf, int side, const int32_t child[])
{
  VpHang edge = {.cell = leaf, .side = side, .part = VP_HANG_COARSE};
  int    n = 0;

  for (int q = 0; q < 1 << fine->dim; q++) {
    if ((q >> side / 2 & 1) != side % 2) edge.beyond[n++] = child[q];
  }
  return edge;
}

static PetscErrorCode SetEdges(VpMesh fine)
{
  const VpMesh coarse = fine->coarser;
  const int    nside = 2 * fine->dim;

  PetscFunctionBeginUser;
  for (int fill = 0; fill < 2; fill++) {
    if (fill) PetscCall(PetscMalloc1(fine->nedge, &fine->edge));
    fine->nedge = 0;
    for (int32_t leaf = 0; leaf < coarse->nown; leaf++) {
      for (int side = 0; side < nside && coarse->leaf[leaf] >= 0; side++) {
        const int32_t  next = coarse->neighbor[(size_t)nside * leaf + side];
        const int32_t *child = fine->child + ((size_t)PetscMax(next, 0) << fine->dim);

        if (next < 0 || child[0] < 0) continue;
        if (fill) fine->edge[fine->nedge] = EdgeOf(fine, leaf, side, child);
        fine->nedge++;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* neighbours and edges of a level, after those of all coarser ones */
static PetscErrorCode Relate(VpMesh fine)
{
  PetscFunctionBeginUser;
  if (!fine->parent) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Relate(fine->coarser));
  PetscCall(SetNeighbors(fine));
  PetscCall(SetEdges(fine));
  PetscCall(VpLatticeCoarsen(fine->lattice, VP_COARSEN_FULL, &fine->coarsening));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateLevels(VpMesh leaves, VpMesh *finest)
{
  const int bits = leaves->dim * leaves->level;
  Front     front;
  VpMesh   *mesh = finest;

  PetscFunctionBeginUser;
  PetscCheck(bits < 62 && leaves->domain->nbox < (int64_t)1 << (62 - bits), leaves->comm, PETSC_ERR_SUP,
             "Multigrid counts the cells that %d boxes refined %d times would have, which are more than 2^62: refine fewer times",
             (int)leaves->domain->nbox, leaves->level);
  *finest = NULL;
  PetscCall(FrontCreate(leaves, &front));
  for (int depth = leaves->level; depth > leaves->least; depth--) {
    PetscCall(CreatePart(leaves, &front, depth, mesh));
    PetscCall(StepDown(*mesh, &front, &(*mesh)->child));
    mesh = &(*mesh)->coarser;
  }
  PetscCall(CreateBase(leaves, &front, mesh));
  PetscCall(PetscFree3(front.cell, front.number, front.depth));
  PetscCall(Relate(*finest));
  PetscCall(VpMeshSetTransport(*finest, leaves->transport, leaves->link));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBaseLattice(VpMesh mesh, VpLattice *lattice)
{
  PetscFunctionBeginUser;
  if (mesh->depth) PetscCall(VpLatticeCreateUniform(mesh->domain, mesh->least, lattice));
  else *lattice = VpReference(mesh->lattice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
