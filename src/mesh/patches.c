/* Vertex patches: found by their first cell (the vertex is its upper corner), sorted by colour and by what they touch. */
#include "lattice.h"
#include "../base/memory.h"
#include "../base/progress.h"

/* the order inside a colour: no ghosts, then ghosts; in each, all sides interior, then pure, then mixed */
enum { INTERIOR, PURE, MIXED, NSHAPE };
enum { NONE = 255, NCLASS = 8 * 2 * NSHAPE };

/* What a cell is near to: a ghost beyond a side (or it is one); such a cell in the patch it is the first cell of; an end of its box. Most
   cells are near to nothing: their patches are inner ones, of own cells, inside a box with all they meet. */
enum { MEETS_GHOST = 1, APART = 2, AT_END = 4 };

typedef struct {
  int32_t cell[8];
  uint8_t side[6], mixed, cls; /* VpSide; VP_SIDE_INTERIOR is 0 */
} Patch;

static inline int32_t Beyond(VpMesh mesh, int32_t cell, int side)
{
  return mesh->neighbor[(size_t)2 * mesh->dim * cell + side];
}

/* Are the cells of a patch of one box and own? Then steps in different directions add up along the curve. */
static inline PetscBool AreTogether(VpMesh mesh, const uint8_t near[], int32_t first)
{
  const uint8_t zone = mesh->zone[first];

  return (PetscBool) !((near[first] & APART) | (zone & zone >> 1 & 0x15));
}

static inline void StepTogether(VpMesh mesh, int32_t first, int32_t cell[])
{
  cell[0] = first;
  for (int d = 0; d < mesh->dim; d++) {
    const int32_t step = Beyond(mesh, first, 2 * d + 1) - first;

    for (int i = 0; i < 1 << d; i++) cell[i + (1 << d)] = cell[i] + step;
  }
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

/* what lies beyond one side */
static VpSide Classify(VpMesh mesh, const int32_t cell[], int side, uint8_t *mixed)
{
  const int d = side / 2, upper = side % 2, nface = 1 << (mesh->dim - 1);
  int       ncell = 0, ndirichlet = 0;

  if (mesh->level == 1 && mesh->domain->beyond[mesh->box[cell[0]] * 2 * mesh->dim + side] == mesh->box[cell[0]]) {
    *mixed = 1;
    return VP_SIDE_WRAP;
  }
  for (int i = 0; i < 2 * nface; i++) {
    int32_t box;

    if ((i >> d & 1) != upper) continue;
    box = VpMeshBoxBeyond(mesh, cell[i], side);
    ncell += box >= 0;
    ndirichlet += box == VP_DIRICHLET;
  }
  if ((ncell && ncell < nface) || (ndirichlet && ndirichlet < nface)) *mixed = 1;
  if (ncell) return ncell < nface ? VP_SIDE_MIXED : VP_SIDE_INTERIOR;
  return ndirichlet ? VP_SIDE_DIRICHLET : VP_SIDE_NEUMANN;
}

static inline uint8_t ClassOf(int color, PetscBool ghost, int shape)
{
  return (uint8_t)((color * 2 + ghost) * NSHAPE + shape);
}

/* fills the patch at the upper corner of `first`; its class is NONE if it has none */
static void FindPatch(VpMesh mesh, const uint8_t near[], int32_t first, Patch *p)
{
  PetscBool ghost = PETSC_FALSE;
  int       color = 0, shape = INTERIOR;

  *p = (Patch){.cls = NONE};
  if (mesh->level == 0) return;
  if (AreTogether(mesh, near, first)) StepTogether(mesh, first, p->cell);
  else if (!GatherCells(mesh, first, p->cell))
    return;
  for (int i = 0; i < 1 << mesh->dim; i++) {
    if (near[p->cell[i]] & MEETS_GHOST) ghost = PETSC_TRUE;
  }
  for (int side = 0; side < 2 * mesh->dim; side++) {
    if (!(mesh->zone[first] >> (side & ~1) & 3)) continue; /* there are cells of the same box */
    p->side[side] = (uint8_t)Classify(mesh, p->cell, side, &p->mixed);
    if (p->side[side] != VP_SIDE_INTERIOR) shape = PURE;
  }
  if (p->mixed) shape = MIXED;
  for (int d = 0; d < mesh->dim; d++) color |= !(mesh->coord[3 * (size_t)first + d] & 1) << d; /* boxes have even numbers of cells */
  p->cls = ClassOf(color, ghost, shape);
}

/* of an inner patch, from the position of its first cell, whose lowest bits are the parities */
static inline uint8_t InnerClass(VpMesh mesh, int32_t first)
{
  return ClassOf((int)~(mesh->first + first) & ((1 << mesh->dim) - 1), PETSC_FALSE, INTERIOR);
}

/* near[cell] for [0, nsweep); ghosts from the faces between them and own cells */
static PetscErrorCode FindNear(VpMesh mesh, uint8_t **near)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nsweep, near));
  for (int32_t i = 0; i < mesh->nsweep; i++) (*near)[i] = mesh->zone[i] ? AT_END : 0;
  for (int32_t ghost = mesh->nown; ghost < mesh->nsweep; ghost++) {
    (*near)[ghost] |= MEETS_GHOST | APART;
    for (int side = 0; ghost < mesh->nface && side < 2 * mesh->dim; side++) {
      int32_t below[8] = {Beyond(mesh, ghost, side)}; /* and the cells one lower in the directions that are bits of the index */

      if (below[0] < 0 || below[0] >= mesh->nown) continue;
      (*near)[below[0]] |= MEETS_GHOST | APART;
      for (int i = 1; i < 1 << mesh->dim; i++) {
        const int32_t from = below[i & (i - 1)];

        below[i] = from < 0 || from >= mesh->nsweep ? VP_UNKNOWN : Beyond(mesh, from, i & 1 ? 0 : (i & 2 ? 2 : 4));
        if (below[i] >= 0 && below[i] < mesh->nown) (*near)[below[i]] |= APART;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the patches that are not inner, in the order of their first cells, and how many there are of every class, inner ones included */
static PetscErrorCode FindPatches(VpMesh mesh, const uint8_t near[], Patch **others, int32_t *nother, int32_t count[])
{
  int32_t most = 0;

  PetscFunctionBeginUser;
  for (int32_t i = 0; i < mesh->nsweep; i++) most += near[i] != 0;
  PetscCall(VpMallocLarge(most, others));
  *nother = 0;
  for (int32_t i = 0; i < mesh->nsweep; i++) {
    if (!near[i]) count[InnerClass(mesh, i)]++;
    else {
      Patch *p = *others + *nother;

      FindPatch(mesh, near, i, p);
      if (p->cls == NONE) continue;
      count[p->cls]++;
      ++*nother;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Allocate(VpMesh mesh, VpPatches *patches)
{
  const size_t ncell = (size_t)1 << mesh->dim, nside = 2 * mesh->dim;

  PetscFunctionBeginUser;
  PetscCall(VpMallocLarge(ncell * patches->n, &patches->cell));
  PetscCall(VpMallocLarge(nside * patches->n, &patches->side));
  PetscCall(PetscArrayzero(patches->side, nside * patches->n));
  PetscCall(PetscCalloc1(patches->n, &patches->mixed));
  PetscCall(PetscCalloc1(mesh->nlocal, &patches->cover));
  for (int32_t i = 0; i < mesh->nown; i++) { /* where inner patches are, in the middle of boxes, cells are in a patch of every colour */
    if (!(mesh->zone[i] & 0x15)) patches->cover[i] = (uint8_t)((1 << ncell) - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Store(VpPatches *patches, const Patch *p, int32_t at)
{
  const int ncell = 1 << patches->dim, nside = 2 * patches->dim;

  PetscFunctionBeginUser;
  for (int k = 0; k < ncell; k++) patches->cover[p->cell[k]] |= (uint8_t)(1 << p->cls / (2 * NSHAPE));
  PetscCall(PetscArraycpy(patches->cell + (size_t)ncell * at, p->cell, ncell));
  PetscCall(PetscArraycpy(patches->side + (size_t)nside * at, p->side, nside));
  patches->mixed[at] = p->mixed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesCreate(VpMesh mesh, VpPatches *patches)
{
  int32_t  start[NCLASS + 1] = {0}, *next = start, nother = 0;
  uint8_t *near;
  Patch   *others, *p;

  PetscFunctionBeginUser;
  *patches = (VpPatches){.dim = mesh->dim};
  PetscCall(FindNear(mesh, &near));
  PetscCall(FindPatches(mesh, near, &others, &nother, start + 1));
  for (int c = 0; c < NCLASS; c++) start[c + 1] += start[c];
  for (int c = 0; c <= 8; c++) patches->start[c] = start[c * 2 * NSHAPE];
  for (int c = 0; c < 8; c++) patches->inner[c] = start[c * 2 * NSHAPE + NSHAPE];
  patches->n = start[NCLASS];
  PetscCall(Allocate(mesh, patches));
  p = others;
  for (int32_t i = 0; i < mesh->nsweep; i++) {
    if (!(i & 0xfff)) PetscCall(VpProgress("patches", i, mesh->nsweep));
    if (!near[i]) StepTogether(mesh, i, patches->cell + ((size_t)next[InnerClass(mesh, i)]++ << mesh->dim));
    else if (p < others + nother && p->cell[0] == i) {
      PetscCall(Store(patches, p, next[p->cls]++));
      p++;
    }
  }
  PetscCall(PetscFree(near));
  PetscCall(PetscFree(others));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesDestroy(VpPatches *patches)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(patches->cell));
  PetscCall(PetscFree(patches->side));
  PetscCall(PetscFree(patches->mixed));
  PetscCall(PetscFree(patches->cover));
  *patches = (VpPatches){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
