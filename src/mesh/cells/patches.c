/* Vertex patches: found by their first cell (the vertex is its upper corner), sorted by colour and by what they touch. Where trees meet, a
   patch is found by its lowest cell, and the vertex is any corner of that cell. */
#include "../internal.h"
#include "../../base/memory.h"
#include "../../base/progress.h"
#include "../../base/threads.h"
#include <string.h>

/* Patches are sorted by class: by colour, then by whether they touch a ghost, then by what lies beyond their sides: cells beyond all sides,
   one kind beyond every side, cells that are turned, or mixed sides. */
enum { INTERIOR, PURE, TURNED, MIXED, NBEYOND };
enum { NCLASS = VP_MOST_COLORS * 2 * NBEYOND, NONE = NCLASS };

/* What is near a cell, as bits. No bit is set for most cells; a patch whose first cell is such a cell is an inner one: its cells and what
   lies beyond its sides are of one box and own. */
enum {
  MEETS_GHOST = 1, /* the cell is a ghost, or one lies beyond a side */
  APART = 2,       /* the patch at the cell's upper corner has a cell that MEETS_GHOST */
  AT_END = 4       /* the cell is in another zone than 0, in some direction */
};

typedef struct {
  int32_t  cell[VP_PATCH_CELLS];
  uint8_t  frame[VP_PATCH_CELLS], side[6], mixed; /* side: VpSide; VP_SIDE_INTERIOR is 0 */
  uint16_t cls;
} Patch;

/* Whether all cells of the patch are own and of one box. Then a step along d adds the same to the local numbers of all of them. */
static inline PetscBool AreTogether(VpMesh mesh, const uint8_t near[], int32_t first)
{
  if (near[first] & APART) return PETSC_FALSE;
  for (int d = 0; d < mesh->dim; d++) {
    if (VpGeometryIsAtEnd(mesh->geometry, mesh->geometry->box[first], VpGeometryZone(mesh->geometry, first, d), 2 * d + 1))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Inlined with a number for dim its loops become a few instructions. */
static inline __attribute__((always_inline)) void StepTogether(VpMesh mesh, int dim, int32_t first, int32_t cell[])
{
  const int32_t *beyond = mesh->neighbor + (size_t)2 * dim * first;

  cell[0] = first;
  for (int d = 0; d < dim; d++) {
    const int32_t step = beyond[2 * d + 1] - first;

    for (int i = 0; i < 1 << d; i++) cell[i + (1 << d)] = cell[i] + step;
  }
}

/* Finds the 2^dim cells around the upper corner of `first`. False unless all paths to a cell lead to the same one, and all are in
   [0, nsweep). */
static PetscBool FindCells(VpMesh mesh, int32_t first, int32_t cell[])
{
  cell[0] = first;
  for (int i = 1; i < 1 << mesh->dim; i++) {
    cell[i] = VP_UNKNOWN;
    for (int d = 0; d < mesh->dim; d++) {
      int32_t next;

      if (!(i >> d & 1)) continue;
      next = VpMeshNeighbor(mesh, cell[i ^ (1 << d)], 2 * d + 1);
      if (next < 0 || next >= mesh->nsweep || (cell[i] >= 0 && cell[i] != next)) return PETSC_FALSE;
      cell[i] = next;
    }
  }
  return PETSC_TRUE;
}

/* whether two boundaries are one; those of trees that are turned have the numbers of other sides */
static PetscBool AreSame(VpDomain domain, int32_t boundary, int32_t other)
{
  if (boundary == other || !VpIsBoundary(boundary) || !VpIsBoundary(other)) return (PetscBool)(boundary == other);
  return (PetscBool)(domain->trees && VpBoundaryIs(domain->boundary[VpBoundaryEntry(boundary)], domain->boundary[VpBoundaryEntry(other)]));
}

/* What lies beyond one side. Boundaries with several conditions are mixed, and where a level ends on a part of the side. */
static VpSide ClassifySide(VpMesh mesh, const Patch *p, int side, uint8_t *mixed)
{
  const int32_t *cell = p->cell;
  const int      d = side / 2, upper = side % 2, nface = 1 << (mesh->dim - 1);
  int32_t        boundary = 0; /* what stands for the last one */
  int            ncell = 0;
  PetscBool      differ = PETSC_FALSE;

  if (!mesh->geometry->domain->trees && VpMeshNeighbor(mesh, cell[1 << d], 2 * d + 1) == cell[0] &&
      VpMeshNeighbor(mesh, cell[0], 2 * d) == cell[1 << d]) {
    *mixed = 1;
    return VP_SIDE_WRAP;
  }
  for (int i = 0; i < 2 * nface; i++) {
    int32_t next;

    if ((i >> d & 1) != upper) continue;
    next = VpMeshNeighbor(mesh, cell[i], VpFrameSide(p->frame[i], side));
    if (next >= 0) ncell++;
    else {
      differ = (PetscBool)(differ || (boundary && !AreSame(mesh->geometry->domain, boundary, next)));
      boundary = next;
    }
  }
  if (ncell == nface) return VP_SIDE_INTERIOR;
  if (!ncell && !differ) return VpDomainSide(mesh->geometry->domain, boundary);
  *mixed = 1;
  return VP_SIDE_MIXED;
}

static inline uint16_t ClassOf(int color, PetscBool ghost, int beyond)
{
  return (uint16_t)((color * 2 + ghost) * NBEYOND + beyond);
}

typedef struct {
  VpMesh   mesh;
  uint8_t *near;                  /* [nsweep] */
  uint8_t  every[VP_MOST_COVERS]; /* cover of cells whose vertices all lie inside a box */
  int32_t (*count)[NCLASS]; /* [piece] patches of every class whose first cells are in the piece; then where the next one of them goes */
  VpPatches     *patches;
  VpTreeColoring colors; /* of trees */
} Search;

/* of the vertex at a corner of a cell of a tree */
static int TreeColorOf(const Search *search, int32_t cell, int corner)
{
  const VpGeometry g = search->mesh->geometry;
  int32_t          vertex[3];

  for (int d = 0; d < search->mesh->dim; d++) vertex[d] = g->coord[3 * (size_t)cell + d] + (corner >> d & 1);
  return VpTreeColorAt(g->lattice, &search->colors, g->box[cell], vertex);
}

/* of the vertex at the upper corner of `first` */
static inline int ColorOf(const Search *search, int32_t first)
{
  const VpPatches *patches = search->patches;
  int              color = 0;

  if (search->colors.color) return TreeColorOf(search, first, (1 << patches->dim) - 1);
  for (int d = 0; d < patches->dim; d++) color += patches->place[d] * (VpVertexDigit(search->mesh, first, d) + patches->digits[d] - 3);
  return color;
}

/* Sets the class of a patch whose cells and sides are known. turned: its cells have different directions */
static void SetClass(const Search *search, int color, PetscBool turned, Patch *p)
{
  PetscBool ghost = PETSC_FALSE;
  int       beyond = turned ? TURNED : INTERIOR;

  for (int i = 0; i < 1 << search->mesh->dim; i++) {
    if (search->near[p->cell[i]] & MEETS_GHOST) ghost = PETSC_TRUE;
  }
  for (int side = 0; side < 2 * search->mesh->dim; side++) {
    if (p->side[side] != VP_SIDE_INTERIOR) beyond = PetscMax(beyond, PURE);
  }
  if (p->mixed) beyond = MIXED;
  p->cls = ClassOf(color, ghost, beyond);
}

/* fills the patch at the upper corner of `first`; its class is NONE if there is none */
static void FindPatch(const Search *search, int32_t first, Patch *p)
{
  const VpMesh    mesh = search->mesh;
  const PetscBool part = VpMeshIsPart(mesh);

  *p = (Patch){.cls = NONE};
  if (!mesh->geometry->lattice->alternates) return;
  if (AreTogether(mesh, search->near, first)) StepTogether(mesh, mesh->dim, first, p->cell);
  else if (!FindCells(mesh, first, p->cell)) return;
  for (int side = 0; side < 2 * mesh->dim; side++) {
    if (!part && !VpGeometryZone(mesh->geometry, first, side / 2)) continue; /* zone 0: the cells beyond are of the same box */
    p->side[side] = (uint8_t)ClassifySide(mesh, p, side, &p->mixed);
  }
  SetClass(search, ColorOf(search, first), PETSC_FALSE, p);
}

static int64_t PositionOf(VpMesh mesh, int32_t cell)
{
  return VpLatticeEncode(mesh->geometry->lattice, mesh->geometry->box[cell], mesh->geometry->coord + 3 * (size_t)cell);
}

/* Whether a cell beyond every side at a corner is there, and none of them is lower than the cell. Most cells around a vertex fail here,
   before the search for all of them. */
static PetscBool MayBeLowest(VpMesh mesh, int32_t cell, int corner, int64_t position)
{
  for (int d = 0; d < mesh->dim; d++) {
    const int32_t next = VpMeshNeighbor(mesh, cell, 2 * d + (corner >> d & 1));

    if (next < 0 || next >= mesh->nsweep || PositionOf(mesh, next) < position) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* the same for the patch at a corner of `lowest` where trees meet; there is none if another cell is lower */
static void FindTreePatch(const Search *search, int32_t lowest, int corner, Patch *p)
{
  const VpMesh  mesh = search->mesh;
  const int64_t position = PositionOf(mesh, lowest);
  const VpSides sides = VpMeshSides(mesh);
  PetscBool     turned = PETSC_FALSE;
  VpStar        star;

  *p = (Patch){.cls = NONE};
  if (!MayBeLowest(mesh, lowest, corner, position) || !VpFindStar(&sides, lowest, corner, &star)) return;
  for (int i = 0; i < 1 << mesh->dim; i++) {
    p->cell[i] = (int32_t)star.cell[i];
    p->frame[i] = star.frame[i];
    turned = (PetscBool)(turned || star.frame[i]);
    if (PositionOf(mesh, p->cell[i]) < position) return;
  }
  for (int side = 0; side < 2 * mesh->dim; side++) p->side[side] = (uint8_t)ClassifySide(mesh, p, side, &p->mixed);
  SetClass(search, TreeColorOf(search, lowest, corner), turned, p);
}

/* whether a corner of a cell is on the border of its box */
static PetscBool IsAtBorder(VpGeometry g, int32_t cell, int corner)
{
  PetscBool is = PETSC_FALSE;

  for (int d = 0; d < g->domain->dim; d++)
    is = (PetscBool)(is || VpGeometryIsAtEnd(g, g->box[cell], VpGeometryZone(g, cell, d), 2 * d + (corner >> d & 1)));
  return is;
}

/* fills the patches that are found by a cell, and returns how many these are */
static int FindPatches(const Search *search, int32_t cell, Patch p[VP_PATCH_CELLS])
{
  const VpMesh mesh = search->mesh;
  const int    all = (1 << mesh->dim) - 1;
  int          n = 0;

  for (int corner = search->colors.color ? 0 : all; corner <= all; corner++) {
    if (search->colors.color && IsAtBorder(mesh->geometry, cell, corner)) FindTreePatch(search, cell, corner, &p[n]);
    else if (corner == all) FindPatch(search, cell, &p[n]);
    else continue;
    n += p[n].cls != NONE;
  }
  return n;
}

/* of an inner patch */
static inline uint16_t InnerClass(const Search *search, int32_t first)
{
  return ClassOf(ColorOf(search, first), PETSC_FALSE, INTERIOR);
}

/* Sets near of ghosts and of the own cells next to them, which the faces between them lead to. */
static void MarkGhosts(VpMesh mesh, uint8_t near[])
{
  for (int32_t ghost = mesh->nown; ghost < mesh->nsweep; ghost++) {
    near[ghost] |= MEETS_GHOST | APART;
    for (int side = 0; ghost < mesh->nface && side < 2 * mesh->dim; side++) {
      int32_t below[8] = {
        VpMeshNeighbor(mesh, ghost, side)}; /* below[i]: this own cell, moved one lower in the directions of the bits of i */

      if (below[0] < 0 || below[0] >= mesh->nown) continue;
      near[below[0]] |= MEETS_GHOST | APART;
      for (int i = 1; i < 1 << mesh->dim; i++) {
        const int32_t from = below[i & (i - 1)];

        below[i] = from < 0 || from >= mesh->nsweep ? VP_UNKNOWN : VpMeshNeighbor(mesh, from, i & 1 ? 0 : (i & 2 ? 2 : 4));
        if (below[i] >= 0 && below[i] < mesh->nown) near[below[i]] |= APART;
      }
    }
  }
}

static void CountPatches(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Search *search = (Search *)context;
  int32_t       count[NCLASS] = {0};
  Patch         p[VP_PATCH_CELLS + 1];

  for (int32_t i = first; i < last; i++) {
    const int n = search->near[i] ? FindPatches(search, i, p) : 0;

    if (!search->near[i]) count[InnerClass(search, i)]++;
    for (int k = 0; k < n; k++) count[p[k].cls]++;
  }
  memcpy(search->count[piece], count, sizeof(search->count[piece]));
}

/* Classes come one after another; in a class, patches are in the order of their first cells. */
static void SetStarts(Search *search, int32_t pieces)
{
  VpPatches *patches = search->patches;

  patches->n = 0;
  for (int cls = 0; cls < NCLASS; cls++) {
    const int color = cls / (2 * NBEYOND);

    if (cls % (2 * NBEYOND) == 0) patches->start[color] = patches->n;
    if (cls % (2 * NBEYOND) == NBEYOND) patches->inner[color] = patches->n;
    for (int32_t piece = 0; piece < pieces; piece++) {
      const int32_t count = search->count[piece][cls];

      search->count[piece][cls] = patches->n;
      patches->n += count;
    }
  }
  patches->start[VP_MOST_COLORS] = patches->n;
}

/* Pieces share cells. */
static void CoverCells(VpPatches *patches, int32_t nlocal, int color, const int32_t cell[])
{
  uint8_t      *cover = patches->cover + (size_t)(color / VP_COVER_COLORS) * nlocal;
  const uint8_t bit = (uint8_t)(1 << color % VP_COVER_COLORS);

  for (int k = 0; k < 1 << patches->dim; k++) __atomic_fetch_or(&cover[cell[k]], bit, __ATOMIC_RELAXED);
}

static void StorePatch(VpPatches *patches, int32_t nlocal, const Patch *p, int32_t at)
{
  const int ncell = 1 << patches->dim, nside = 2 * patches->dim;

  CoverCells(patches, nlocal, p->cls / (2 * NBEYOND), p->cell);
  memcpy(patches->cell + (size_t)ncell * at, p->cell, ncell * sizeof(*p->cell));
  memcpy(patches->side + (size_t)nside * at, p->side, nside);
  if (patches->frame) memcpy(patches->frame + (size_t)ncell * at, p->frame, ncell);
  patches->mixed[at] = p->mixed;
}

static inline __attribute__((always_inline)) void StoreInner(const Search *search, int dim, int32_t first, int32_t at)
{
  VpPatches *patches = search->patches;
  int32_t   *cell = patches->cell + ((size_t)at << dim);

  StepTogether(search->mesh, dim, first, cell);
  memset(patches->side + (size_t)2 * dim * at, VP_SIDE_INTERIOR, 2 * dim);
  patches->mixed[at] = 0;
  if (search->colors.color) CoverCells(patches, search->mesh->nlocal, ColorOf(search, first), cell);
  if (patches->frame) memset(patches->frame + ((size_t)at << dim), 0, 1 << dim);
}

static void StorePatches(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Search *search = (Search *)context;
  const VpMesh  mesh = search->mesh;
  int32_t      *next = search->count[piece];
  Patch         p[VP_PATCH_CELLS + 1];

  for (int32_t i = first; i < last; i++) {
    if (!search->near[i]) {
      const uint16_t cls = InnerClass(search, i);

      if (mesh->dim == 3) StoreInner(search, 3, i, next[cls]++);
      else StoreInner(search, 2, i, next[cls]++);
    } else {
      const int n = FindPatches(search, i, p);

      for (int k = 0; k < n; k++) StorePatch(search->patches, mesh->nlocal, &p[k], next[p[k].cls]++);
    }
  }
}

int32_t VpPatchesFirstMixed(const VpPatches *patches, int32_t first, int32_t last)
{
  int32_t before = first - 1;

  VP_BISECT(before, last, middle, !patches->mixed[middle]);
  return before + 1;
}

int VpMeshSeams(VpMesh mesh)
{
  int seams = 0;

  for (int32_t b = 0; mesh->geometry->lattice->seam && b < mesh->geometry->domain->nbox; b++) seams |= mesh->geometry->lattice->seam[b];
  return seams;
}

/* whether direction d comes before e: the thinner one, of equal ones the periodic one, then the lower one */
static PetscBool ComesBefore(VpMesh mesh, const PetscReal h[3], int d, int e)
{
  const PetscBool *periodic = mesh->geometry->domain->periodic;

  if (PetscAbsReal(h[d] - h[e]) > VP_SIZE_SLACK * PetscMax(h[d], h[e])) return (PetscBool)(h[d] < h[e]);
  return (PetscBool)(periodic[d] != periodic[e] ? periodic[d] : d < e);
}

/* Sets how colours are made of digits: the first direction's is lowest. */
static void SetDigits(VpMesh mesh, const PetscReal thinnest[3], VpPatches *patches)
{
  const int seams = VpMeshSeams(mesh);

  patches->ncolor = 1;
  for (int d = 0; d < mesh->dim; d++) {
    patches->digits[d] = 2 + (seams >> d & 1);
    patches->ncolor *= patches->digits[d];
  }
  for (int d = 0; d < mesh->dim; d++) {
    patches->place[d] = 1;
    for (int e = 0; e < mesh->dim; e++) patches->place[d] *= ComesBefore(mesh, thinnest, e, d) ? patches->digits[e] : 1;
  }
}

/* Sets the colours of patches, and how many there are. */
static PetscErrorCode SetColors(Search *search, const PetscReal thinnest[3])
{
  const VpMesh mesh = search->mesh;
  VpPatches   *patches = search->patches;

  PetscFunctionBegin;
  if (mesh->geometry->domain->trees) {
    PetscCall(VpTreeColoringCreate(mesh->geometry->lattice, &search->colors));
    patches->ncolor = search->colors.ncolor;
    patches->minor = search->colors.minor;
    PetscCheck(
      patches->ncolor <= VP_MOST_COLORS, PETSC_COMM_SELF, PETSC_ERR_SUP,
      "Patches of these trees need more than %d colours, so many trees meet at a vertex: refine once more, or make a mesh where fewer "
      "meet",
      VP_MOST_COLORS);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  patches->minor = 1;
  SetDigits(mesh, thinnest, patches);
  for (int odd = 0; odd < 1 << mesh->dim; odd++) {
    int color = 0; /* of vertices that are odd in these directions, and at no seam */

    for (int d = 0; d < mesh->dim; d++) color += patches->place[d] * (patches->digits[d] - 2 + (odd >> d & 1));
    search->every[color / VP_COVER_COLORS] |= (uint8_t)(1 << color % VP_COVER_COLORS);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesCreate(VpMesh mesh, const PetscReal thinnest[3], VpPatches *patches)
{
  const int32_t   pieces = VpLoopPieces(mesh->nsweep);
  const PetscBool part = VpMeshIsPart(mesh);
  Search          search = {.mesh = mesh, .patches = patches};
  size_t          covers;

  PetscFunctionBegin;
  *patches = (VpPatches){.dim = mesh->dim};
  PetscCall(SetColors(&search, thinnest));
  PetscCall(VpProgress("patches", 0, mesh->nsweep));
  PetscCall(VpMallocLarge(mesh->nsweep, &search.near));
  covers = VpPatchesCovers(patches);
  PetscCall(VpMallocLarge(covers * mesh->nlocal, &patches->cover));
  PetscCall(PetscMalloc1(pieces, &search.count));
  /* near and cover as if there were no ghosts. On a part of a lattice's cells no step to a neighbour is known beforehand. Inner patches do
     not enter their cells into cover, so it is set here: own cells that touch no side of their box have a patch of every colour that is not
     of a seam. In trees these are other colours, and inner patches enter their cells, too. */
  VP_LOOP (i, mesh->nlocal) {
    const PetscBool inside = (PetscBool)(i < mesh->nown && !(mesh->geometry->zone[i] & VP_LOWER_BITS) && !part && !search.colors.color);

    if (i < mesh->nsweep) search.near[i] = part ? APART | AT_END : (mesh->geometry->zone[i] ? AT_END : 0);
    for (size_t k = 0; k < covers; k++) patches->cover[k * mesh->nlocal + i] = inside ? search.every[k] : 0;
  }
  MarkGhosts(mesh, search.near);
  VpLoop(mesh->nsweep, CountPatches, &search);
  SetStarts(&search, pieces);
  PetscCall(VpMallocLarge((size_t)patches->n << mesh->dim, &patches->cell));
  PetscCall(VpMallocLarge((size_t)patches->n * 2 * mesh->dim, &patches->side));
  PetscCall(VpMallocLarge(patches->n, &patches->mixed));
  if (mesh->turn) PetscCall(VpMallocLarge((size_t)patches->n << mesh->dim, &patches->frame));
  VpLoop(mesh->nsweep, StorePatches, &search);
  PetscCall(PetscFree(search.near));
  PetscCall(PetscFree(search.count));
  PetscCall(VpTreeColoringDestroy(&search.colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesDestroy(VpPatches *patches)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(patches->cell));
  PetscCall(PetscFree(patches->side));
  PetscCall(PetscFree(patches->mixed));
  PetscCall(PetscFree(patches->frame));
  PetscCall(PetscFree(patches->cover));
  PetscCall(PetscFree(patches->whole));
  *patches = (VpPatches){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
