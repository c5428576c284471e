/* Numbers the nodes of a mesh, which cells that meet there share.

   A node is inside an entity of its cell: a corner, an edge, a side, or the cell itself. An entity of a cell has a digit to the base 3 for
   every direction, x lowest: 0 at the lower end, 1 between the ends, 2 at the upper one. Its owner is the first cell around it, in global
   order, and of this cell the entity with the least number. A cell numbers the nodes of the entities that it owns one after the other. */
#include "nodes.h"
#include "internal.h"
#include "../base/threads.h"

enum { ENTITIES = 27, AROUND = 8, PLACES = VP_MAX_N * VP_MAX_N * VP_MAX_N };

/* the cells around an entity, of the 3^dim around a cell, whose numbers have the entities' digits */
typedef struct {
  int n;
  int cell[AROUND], as[AROUND]; /* number of each, and the entity as that cell sees it; the first is the cell itself */
} Star;

typedef struct {
  VpMesh    mesh;
  int       degree, entities, ndof;
  Star      star[ENTITIES];
  int       entity[PLACES], inside[PLACES]; /* of the node at a place: the entity that it is in, and its number there */
  PetscInt *position;                       /* [nlocal] global positions of cells */
  PetscInt *own;  /* [nsweep][2] number of the first node that the cell owns, and bits of the entities that it owns */
  PetscInt *node; /* [nown][n^dim] the result */
} Numbering;

static int DigitOf(int entity, int d)
{
  return entity / (d == 0 ? 1 : d == 1 ? 3 : 9) % 3;
}

/* number of nodes inside an entity */
static PetscInt CountInside(const Numbering *w, int entity)
{
  PetscInt count = 1;

  for (int d = 0; d < w->mesh->dim; d++) count *= DigitOf(entity, d) == 1 ? w->degree - 1 : 1;
  return count;
}

static void FillStars(Numbering *w)
{
  const int dim = w->mesh->dim;

  for (int e = 0; e < w->entities; e++) {
    Star *star = &w->star[e];

    star->n = 0;
    for (int m = 0; m < 1 << dim; m++) {
      int cell = 0, as = 0, is = 1;

      for (int d = 0, place = 1; d < dim; d++, place *= 3) {
        const int digit = DigitOf(e, d), over = m >> d & 1;

        is = is && !(over && digit == 1);
        cell += place * (over ? digit : 1);
        as += place * (over ? 2 - digit : digit);
      }
      if (!is) continue;
      star->cell[star->n] = cell;
      star->as[star->n++] = as;
    }
  }
}

/* block [3^dim] = the cells around a cell, reached from side to side; -1: not so reached */
static void FindBlock(const Numbering *w, int32_t cell, int32_t block[ENTITIES])
{
  const int dim = w->mesh->dim, middle = w->entities / 2;

  for (int e = 0; e < w->entities; e++) block[e] = -1;
  block[middle] = cell;
  for (int d = 0, place = 1; d < dim; d++, place *= 3) {
    for (int e = middle / place * place; e < middle / place * place + place; e++) {
      for (int up = 0; up < 2 && block[e] >= 0; up++) {
        const int32_t next = VpMeshNeighbor(w->mesh, block[e], 2 * d + up);

        if (next >= 0) block[up ? e + place : e - place] = next;
      }
    }
  }
}

/* around[m] = the cell that lies beyond the entity along the directions of the bits m, reached from side to side. Returns bits of the m
   that exist, by whatever path. */
static unsigned FindAround(const Numbering *w, int32_t cell, int entity, int32_t around[AROUND])
{
  const int dim = w->mesh->dim;
  unsigned  found = 1, before = 0;

  around[0] = cell;
  while (found != before) {
    before = found;
    for (int i = 0; i < dim << dim; i++) {
      const int m = i / dim, d = i % dim, to = m ^ 1 << d, digit = DigitOf(entity, d);
      int32_t   next;

      if (!(found >> m & 1) || found >> to & 1 || digit == 1) continue;
      next = VpMeshNeighbor(w->mesh, around[m], 2 * d + ((digit == 2) != (m >> d & 1)));
      if (next < 0) continue;
      around[to] = next;
      found |= 1u << to;
    }
  }
  return found;
}

/* the owner of an entity of a cell near the boundary; *as: the entity as the owner sees it */
static int32_t FindOwnerThere(const Numbering *w, int32_t cell, int entity, int *as)
{
  int32_t        around[AROUND], owner = cell;
  const unsigned found = FindAround(w, cell, entity, around);

  *as = entity;
  for (int m = 1; m < AROUND; m++) {
    int there = 0;

    if (!(found >> m & 1)) continue;
    for (int d = 0, place = 1; d < w->mesh->dim; d++, place *= 3)
      there += place * (m >> d & 1 ? 2 - DigitOf(entity, d) : DigitOf(entity, d));
    if (w->position[around[m]] > w->position[owner] || (w->position[around[m]] == w->position[owner] && there >= *as)) continue;
    owner = around[m];
    *as = there;
  }
  return owner;
}

/* the same of any cell, with its block */
static int32_t FindOwner(const Numbering *w, const int32_t block[], int entity, int *as)
{
  const Star *star = &w->star[entity];
  int32_t     owner = block[w->entities / 2];

  *as = entity;
  for (int i = 1; i < star->n; i++) {
    const int32_t cell = block[star->cell[i]];

    if (cell < 0) return FindOwnerThere(w, block[w->entities / 2], entity, as);
    if (w->position[cell] > w->position[owner] || (w->position[cell] == w->position[owner] && star->as[i] >= *as)) continue;
    owner = cell;
    *as = star->as[i];
  }
  return owner;
}

/* Sets the bits of `own`, and how many nodes a cell owns in place of the first one's number. */
static void FindEntities(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Numbering *w = (Numbering *)context;

  for (int32_t c = first; c < last; c++) {
    PetscInt *own = w->own + 2 * (size_t)c;
    int32_t   block[ENTITIES];

    FindBlock(w, c, block);
    own[0] = own[1] = 0;
    for (int e = 0; e < w->entities; e++) {
      int as;

      if (FindOwner(w, block, e, &as) != c || as != e) continue;
      own[1] |= (PetscInt)1 << e;
      own[0] += CountInside(w, e);
    }
  }
}

/* Sets `own` of own cells and of those around them. *rows: number of nodes that own cells own */
static PetscErrorCode FindOwned(Numbering *w, PetscInt *rows)
{
  const VpMesh mesh = w->mesh;
  PetscInt     first = 0;

  PetscFunctionBegin;
  *rows = 0;
  VpLoop(mesh->nown, FindEntities, w);
  for (int32_t c = 0; c < mesh->nown; c++) {
    const PetscInt count = w->own[2 * (size_t)c];

    w->own[2 * (size_t)c] = *rows;
    *rows += count;
  }
  PetscCallMPI(MPI_Exscan(rows, &first, 1, MPIU_INT, MPI_SUM, mesh->comm));
  for (int32_t c = 0; c < mesh->nown; c++) w->own[2 * (size_t)c] += first;
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 2, MPIU_INT, w->own, w->own + 2 * (size_t)mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number of the first node inside each entity of a cell */
static void FindFirst(const Numbering *w, int32_t cell, PetscInt first[ENTITIES])
{
  int32_t block[ENTITIES];

  FindBlock(w, cell, block);
  for (int e = 0; e < w->entities; e++) {
    int             as;
    const int32_t   owner = FindOwner(w, block, e, &as);
    const PetscInt *own = w->own + 2 * (size_t)owner;

    first[e] = own[0];
    for (int other = 0; other < as; other++) first[e] += own[1] >> other & 1 ? CountInside(w, other) : 0;
  }
}

static void FillPlaces(Numbering *w)
{
  const int n = w->degree + 1;

  for (int i = 0; i < w->ndof; i++) {
    int entity = 0, inside = 0, stride = 1;

    for (int d = 0, rest = i, place = 1; d < w->mesh->dim; d++, rest /= n, place *= 3) {
      const int at = rest % n;

      if (at > 0 && at < n - 1) {
        inside += stride * (at - 1);
        stride *= n - 2;
      }
      entity += place * (at == 0 ? 0 : at < n - 1 ? 1 : 2);
    }
    w->entity[i] = entity;
    w->inside[i] = inside;
  }
}

static void NumberCells(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Numbering *w = (Numbering *)context;

  for (int32_t c = first; c < last; c++) {
    PetscInt *node = w->node + (size_t)c * (size_t)w->ndof, of[ENTITIES];

    FindFirst(w, c, of);
    for (int i = 0; i < w->ndof; i++) node[i] = of[w->entity[i]] + w->inside[i];
  }
}

PetscErrorCode VpNodesNumber(VpMesh mesh, int degree, PetscInt *rows, PetscInt node[])
{
  Numbering w = {.mesh = mesh, .degree = degree, .entities = (int)PetscPowInt(3, mesh->dim), .node = node};

  PetscFunctionBegin;
  w.ndof = (int)PetscPowInt(degree + 1, mesh->dim);
  FillStars(&w);
  FillPlaces(&w);
  PetscCall(VpMallocLarge((size_t)mesh->nlocal + 1, &w.position));
  PetscCall(VpMallocLarge(2 * (size_t)mesh->nsweep + 1, &w.own));
  PetscCall(VpMeshPositions(mesh, w.position));
  PetscCall(FindOwned(&w, rows));
  VpLoop(mesh->nown, NumberCells, &w);
  PetscCall(PetscFree(w.position));
  PetscCall(PetscFree(w.own));
  PetscFunctionReturn(PETSC_SUCCESS);
}
