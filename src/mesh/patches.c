/* Vertex patches: found by their first cell (the vertex is its upper corner), sorted by colour and by what they touch. */
#include "lattice.h"

/* the order inside a colour: no ghosts, then ghosts; in each, all sides interior, then pure, then mixed */
enum { INTERIOR, PURE, MIXED, NSHAPE };
enum { NONE = 255, NCLASS = 8 * 2 * NSHAPE };

typedef struct {
  int32_t cell[8];
  uint8_t side[6], mixed, cls; /* VpSide; VP_SIDE_INTERIOR is 0 */
} Patch;

static inline int32_t Beyond(VpMesh mesh, int32_t cell, int side)
{
  return mesh->neighbor[(size_t)2 * mesh->dim * cell + side];
}

/* the 2^dim cells around the upper corner of `first`: each is reached from all cells below it, and is swept */
static PetscBool GatherCells(VpMesh mesh, int32_t first, int32_t cell[])
{
  cell[0] = first;
  for (int i = 1; i < 1 << mesh->dim; i++) {
    cell[i] = VP_UNKNOWN;
    for (int d = 0; d < mesh->dim; d++) {
      int32_t next;

      if (!(i >> d & 1)) continue;
      next = Beyond(mesh, cell[i ^ (1 << d)], 2 * d + 1);
      if (next < 0 || next >= mesh->nsweep || (cell[i] >= 0 && cell[i] != next)) return PETSC_FALSE;
      cell[i] = next;
    }
  }
  return PETSC_TRUE;
}

/* what lies beyond one side; *ghost is set if a ghost does */
static VpSide Classify(VpMesh mesh, const int32_t cell[], int side, uint8_t *mixed, PetscBool *ghost)
{
  const int d = side / 2, upper = side % 2, nface = 1 << (mesh->dim - 1);
  int       ncell = 0, ndirichlet = 0;
  PetscBool wrap = PETSC_FALSE;

  for (int i = 0; i < 2 * nface; i++) {
    int32_t next;

    if ((i >> d & 1) != upper) continue;
    next = Beyond(mesh, cell[i], side);
    ncell += next >= 0;
    ndirichlet += next == VP_DIRICHLET;
    if (next >= mesh->nown) *ghost = PETSC_TRUE;
    if (next == cell[i ^ (1 << d)]) wrap = PETSC_TRUE;
  }
  if (wrap || (ncell && ncell < nface) || (ndirichlet && ndirichlet < nface)) *mixed = 1;
  if (wrap) return VP_SIDE_WRAP;
  if (ncell) return ncell < nface ? VP_SIDE_MIXED : VP_SIDE_INTERIOR;
  return ndirichlet ? VP_SIDE_DIRICHLET : VP_SIDE_NEUMANN;
}

/* 1 for cells that are ghosts, or meet one, or the boundary, or the same cell on both sides: patches without such cells are plain */
static PetscErrorCode FindSpecial(VpMesh mesh, uint8_t **special)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nsweep, special));
  for (int32_t i = 0; i < mesh->nsweep; i++) {
    uint8_t is = i >= mesh->nown;

    for (int d = 0; d < mesh->dim; d++) {
      const int32_t below = Beyond(mesh, i, 2 * d), above = Beyond(mesh, i, 2 * d + 1);

      is |= (uint8_t)(below < 0 || below >= mesh->nown || above < 0 || above >= mesh->nown || below == above);
    }
    (*special)[i] = is;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* fills the patch at the upper corner of `first`; its class is NONE if it has none */
static void FindPatch(VpMesh mesh, const uint8_t special[], int32_t first, Patch *p)
{
  PetscBool ghost = PETSC_FALSE;
  int       color = 0, shape = INTERIOR;
  uint8_t   plain = 1;

  *p = (Patch){.cls = NONE};
  if (mesh->level == 0 || !GatherCells(mesh, first, p->cell)) return;
  for (int i = 0; i < 1 << mesh->dim; i++) {
    plain &= !special[p->cell[i]];
    if (p->cell[i] >= mesh->nown) ghost = PETSC_TRUE;
  }
  for (int side = 0; !plain && side < 2 * mesh->dim; side++) {
    p->side[side] = (uint8_t)Classify(mesh, p->cell, side, &p->mixed, &ghost);
    if (p->side[side] != VP_SIDE_INTERIOR) shape = PURE;
  }
  if (p->mixed) shape = MIXED;
  for (int d = 0; d < mesh->dim; d++) color |= !(mesh->coord[3 * (size_t)first + d] & 1) << d; /* boxes have even numbers of cells */
  p->cls = (uint8_t)((color * 2 + ghost) * NSHAPE + shape);
}

PetscErrorCode VpPatchesCreate(VpMesh mesh, VpPatches *patches)
{
  const size_t ncell = (size_t)1 << mesh->dim, nside = 2 * mesh->dim;
  int32_t      next[NCLASS + 1] = {0};
  uint8_t     *cls, *special;
  Patch        p;

  PetscFunctionBeginUser;
  *patches = (VpPatches){.dim = mesh->dim};
  PetscCall(FindSpecial(mesh, &special));
  PetscCall(PetscMalloc1(mesh->nsweep, &cls));
  for (int32_t i = 0; i < mesh->nsweep; i++) {
    FindPatch(mesh, special, i, &p);
    cls[i] = p.cls;
    if (p.cls != NONE) next[p.cls + 1]++;
  }
  for (int c = 0; c < NCLASS; c++) next[c + 1] += next[c];
  for (int c = 0; c <= 8; c++) patches->start[c] = next[c * 2 * NSHAPE];
  patches->n = next[NCLASS];
  PetscCall(PetscMalloc3(ncell * patches->n, &patches->cell, nside * patches->n, &patches->side, patches->n, &patches->mixed));
  PetscCall(PetscCalloc1(mesh->nlocal, &patches->cover));
  for (int32_t i = 0; i < mesh->nsweep; i++) {
    size_t at;

    if (cls[i] == NONE) continue;
    FindPatch(mesh, special, i, &p);
    at = next[p.cls]++;
    for (size_t k = 0; k < ncell; k++) {
      patches->cell[ncell * at + k] = p.cell[k];
      patches->cover[p.cell[k]] |= (uint8_t)(1 << p.cls / (2 * NSHAPE));
    }
    for (size_t side = 0; side < nside; side++) patches->side[nside * at + side] = p.side[side];
    patches->mixed[at] = p.mixed;
  }
  PetscCall(PetscFree(cls));
  PetscCall(PetscFree(special));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesDestroy(VpPatches *patches)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(patches->cell, patches->side, patches->mixed));
  PetscCall(PetscFree(patches->cover));
  *patches = (VpPatches){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
