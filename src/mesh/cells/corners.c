/* Where solutions are not smooth, whatever the data: at re-entrant edges of the domain, and at edges where a Dirichlet side meets a
   Neumann or Robin side at 180 degrees or more. In 2D these are corners. Sweeps are repeated over the patches there.

   An edge of a box lies between two of its sides, a and b. Around it, boxes follow one another until the boundary ends them. Seen along the
   edge x:

       +---+---+        +---+         one box, or two whose ends both are Dirichlet, or both not: smooth
       | 2 | 3 |        | 1 |         two with one Dirichlet end: not smooth
       +---x---+        +---x         three: re-entrant, not smooth
       | 1 | 0 | a  a^1 | 0 | a       four: the edge lies inside
       +---+---+        +---+
             b            b                                                                                                           */
#include "../mesh.h"
#include "../../base/memory.h"
#include "../../base/threads.h"

/* Returns how many boxes follow the box around its edge, across the sides a, b, a^1, b^1 in turn; 4 if the last one is the box itself.
   *end = what lies beyond the last one. */
static int BoxesAround(VpDomain domain, int32_t box, int a, int b, int32_t *end)
{
  const int side[] = {a, b, a ^ 1, b ^ 1};

  for (int i = 0; i < 4; i++) {
    const int32_t next = domain->beyond[(int64_t)box * 2 * domain->dim + side[i]];

    *end = next;
    if (next < 0) return i;
    box = next;
  }
  return 4;
}

static VpGivenKind GivenAt(VpDomain domain, int32_t end)
{
  return VpConditions[VpDomainSide(domain, end)].given;
}

static PetscBool IsSingularEdge(VpDomain domain, int32_t box, int a, int b)
{
  int32_t   end[2];
  const int ahead = BoxesAround(domain, box, a, b, &end[0]), back = BoxesAround(domain, box, b, a, &end[1]), boxes = 1 + ahead + back;

  if (ahead == 4 || boxes == 1) return PETSC_FALSE;
  return (PetscBool)(boxes > 2 || GivenAt(domain, end[0]) != GivenAt(domain, end[1]));
}

/* whether a box has such an edge between two of a set of its sides, which are bits */
static PetscBool HasSingularEdge(VpDomain domain, int32_t box, int sides)
{
  for (int a = 2; a < 2 * domain->dim; a++) {
    for (int b = 0; b < (a & ~1); b++) {
      if (sides >> a & 1 && sides >> b & 1 && IsSingularEdge(domain, box, a, b)) return PETSC_TRUE;
    }
  }
  return PETSC_FALSE;
}

PetscBool VpDomainHasCorners(VpDomain domain)
{
  if (domain->corners == VP_CORNERS_UNKNOWN) {
    domain->corners = VP_CORNERS_NONE;
    for (int32_t box = 0; box < domain->nbox && domain->corners == VP_CORNERS_NONE; box++) {
      if (HasSingularEdge(domain, box, ~0)) domain->corners = VP_CORNERS_SOME;
    }
  }
  return (PetscBool)(domain->corners == VP_CORNERS_SOME);
}

static PetscBool IsAtSingularEdge(VpMesh mesh, int32_t cell)
{
  const VpGeometry g = mesh->geometry;
  int              sides = 0; /* those of its box that the cell touches */

  for (int side = 0; side < 2 * mesh->dim; side++)
    sides |= VpGeometryIsAtEnd(g, g->box[cell], VpGeometryZone(g, cell, side / 2), side) << side;
  return (PetscBool)(sides && HasSingularEdge(g->domain, g->box[cell], sides));
}

static PetscBool IsAtLevelsEnd(VpMesh mesh, int32_t cell)
{
  for (int side = 0; side < 2 * mesh->dim; side++) {
    if (VpMeshNeighbor(mesh, cell, side) == VP_LEVEL_END) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

static PetscBool IsNear(const VpPatches *patches, const uint8_t at[], int32_t p)
{
  for (int i = 0; i < 1 << patches->dim; i++) {
    if (at[patches->cell[((size_t)p << patches->dim) + i]]) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* numbers the patches near the `count` cells, in the order that they have */
static PetscErrorCode SelectPatches(const VpPatches *all, const uint8_t at[], int32_t count, VpPatches *near)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)count << all->dim, &near->whole));
  for (int color = 0; color < all->ncolor; color++) {
    near->start[color] = near->n;
    for (int32_t p = all->start[color]; p < all->start[color + 1]; p++) {
      if (IsNear(all, at, p)) near->whole[near->n++] = p;
      if (p < all->inner[color]) near->inner[color] = near->n;
    }
    near->inner[color] = PetscMax(near->inner[color], near->start[color]);
  }
  for (int color = all->ncolor; color <= VP_MOST_COLORS; color++) near->start[color] = near->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopySelected(const VpPatches *all, int32_t nlocal, VpPatches *near)
{
  const int ncell = 1 << near->dim;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)near->n * ncell, &near->cell));
  PetscCall(PetscMalloc1(near->n, &near->mixed));
  PetscCall(PetscCalloc1(VpPatchesCovers(near) * nlocal, &near->cover));
  for (int color = 0; color < near->ncolor; color++) {
    uint8_t *cover = near->cover + (size_t)(color / VP_COVER_COLORS) * nlocal;

    for (int32_t i = near->start[color]; i < near->start[color + 1]; i++) {
      const size_t p = near->whole[i];

      PetscCall(PetscArraycpy(near->cell + (size_t)i * ncell, all->cell + p * ncell, ncell));
      near->mixed[i] = all->mixed[p];
      for (int k = 0; k < ncell; k++) cover[near->cell[(size_t)i * ncell + k]] |= (uint8_t)(1 << color % VP_COVER_COLORS);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchesSelect(VpMesh mesh, VpNear what, const VpPatches *all, VpPatches *near)
{
  PetscBool (*is)(VpMesh, int32_t cell) = what == VP_NEAR_CORNERS ? IsAtSingularEdge : IsAtLevelsEnd;
  uint8_t *at; /* [nsweep] whether the cell is one of those */
  int32_t  count = 0;

  PetscFunctionBegin;
  *near = (VpPatches){.dim = mesh->dim, .ncolor = all->ncolor};
  if (what == VP_NEAR_CORNERS && !VpDomainHasCorners(mesh->geometry->domain)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(mesh->nsweep, &at));
  VP_LOOP (c, mesh->nsweep) at[c] = is(mesh, c);
  for (int32_t c = 0; c < mesh->nsweep; c++) count += at[c];
  if (count) {
    PetscCall(SelectPatches(all, at, count, near));
    PetscCall(CopySelected(all, mesh->nlocal, near));
  }
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}
