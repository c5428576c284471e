/* Numbers of nodes. Cells that meet at a node have the same number for it. Host and device share these data and functions.

   A node is inside an entity of its cell: a corner, an edge, a side, or the cell itself. An entity of a cell has a digit to the base 3 for
   every direction, x lowest: 0 at the lower end, 1 between the ends, 2 at the upper one. The 3^dim cells around a cell have such digits,
   too. The owner of an entity is the first cell around it, in global order, and of this cell the entity with the least number. A cell
   numbers the nodes of the entities that it owns one after the other. */
#pragma once
#include "formulas.h"

enum { VP_ENTITIES = 27, VP_AROUND = 8 };

typedef struct {
  int     dim, degree, entities;
  int     around[VP_ENTITIES];                                      /* number of the cells around an entity */
  uint8_t cell[VP_ENTITIES][VP_AROUND], as[VP_ENTITIES][VP_AROUND]; /* these cells, the cell itself first, and the entity as each sees it */
  int32_t star[VP_ENTITIES];                                        /* bits of these cells but the cell itself */
  int     inside[4];                                                /* number of nodes inside an entity of this dimension, ... */
  int32_t of[4];                                                    /* ... and bits of the entities of this dimension */
  uint8_t entity[VP_MAX_N * VP_MAX_N * VP_MAX_N];                   /* of the node at a place of a cell: the entity that it is in, ... */
  uint16_t        place[VP_MAX_N * VP_MAX_N * VP_MAX_N];            /* ... and its number there */
  int32_t         ncell;
  const int32_t  *neighbor; /* as in VpView */
  const PetscInt *position; /* global positions of cells; NULL: their numbers */
  const PetscInt *first;    /* number of the first node that a cell owns */
  const int32_t  *owned;    /* bits of the entities that it owns */
} VpEntities;

VP_SIZE int VpEntityDigit(int entity, int d)
{
  return entity / (d == 0 ? 1 : d == 1 ? 3 : 9) % 3;
}
VP_SIZE PetscInt VpCellPosition(const VpEntities *e, int32_t cell)
{
  return e->position ? e->position[cell] : cell;
}
/* block [3^dim] = the cells around a cell that steps across sides lead to, first along x, then y, then z; -1: they do not */
VP_POINT void VpCellsAround(const VpEntities *e, int32_t cell, int32_t block[VP_ENTITIES])
{
  const int middle = e->entities / 2;

  for (int i = 0; i < e->entities; i++) block[i] = -1;
  block[middle] = cell;
  for (int d = 0, place = 1; d < e->dim; d++, place *= 3) {
    for (int i = middle / place * place; i < middle / place * place + place; i++) {
      for (int up = 0; up < 2 && block[i] >= 0; up++) {
        const int32_t next = e->neighbor[(size_t)block[i] * 2 * (size_t)e->dim + (size_t)(2 * d + up)];

        if (next >= 0) block[up ? i + place : i - place] = next;
      }
    }
  }
}
/* around[m] = the cell beyond the entity along the directions that are the bits of m. Returns a bit for every m that some order of steps
   across sides leads to. */
VP_POINT unsigned VpFindAround(const VpEntities *e, int32_t cell, int entity, int32_t around[VP_AROUND])
{
  unsigned found = 1, before = 0;

  around[0] = cell;
  while (found != before) {
    before = found;
    for (int i = 0; i < e->dim << e->dim; i++) {
      const int m = i / e->dim, d = i % e->dim, to = m ^ 1 << d, digit = VpEntityDigit(entity, d);
      int32_t   next;

      if (!(found >> m & 1) || found >> to & 1 || digit == 1) continue;
      next = e->neighbor[(size_t)around[m] * 2 * (size_t)e->dim + (size_t)(2 * d + ((digit == 2) != (m >> d & 1)))];
      if (next < 0) continue;
      around[to] = next;
      found |= 1u << to;
    }
  }
  return found;
}
/* the owner of an entity of a cell near the boundary; *as: the entity as the owner sees it */
VP_POINT int32_t VpOwnerThere(const VpEntities *e, int32_t cell, int entity, int *as)
{
  int32_t        around[VP_AROUND], owner = cell;
  const unsigned found = VpFindAround(e, cell, entity, around);

  *as = entity;
  for (int m = 1; m < VP_AROUND; m++) {
    int      there = 0;
    PetscInt least, position;

    if (!(found >> m & 1)) continue;
    for (int d = 0, place = 1; d < e->dim; d++, place *= 3)
      there += place * (m >> d & 1 ? 2 - VpEntityDigit(entity, d) : VpEntityDigit(entity, d));
    least = VpCellPosition(e, owner);
    position = VpCellPosition(e, around[m]);
    if (position > least || (position == least && there >= *as)) continue;
    owner = around[m];
    *as = there;
  }
  return owner;
}
/* the same of any cell. block: as VpCellsAround() sets it */
VP_POINT int32_t VpEntityOwner(const VpEntities *e, const int32_t block[], int entity, int *as)
{
  int32_t owner = block[e->entities / 2];

  *as = entity;
  for (int i = 1; i < e->around[entity]; i++) {
    const int32_t cell = block[e->cell[entity][i]];
    PetscInt      least, position;

    if (cell < 0) return VpOwnerThere(e, block[e->entities / 2], entity, as);
    least = VpCellPosition(e, owner);
    position = VpCellPosition(e, cell);
    if (position > least || (position == least && e->as[entity][i] >= *as)) continue;
    owner = cell;
    *as = e->as[entity][i];
  }
  return owner;
}
VP_POINT int VpCountBits(uint32_t bits)
{
#ifdef __CUDA_ARCH__
  return __popc(bits);
#else
  return __builtin_popcount(bits);
#endif
}
/* number of nodes of a cell's entities with these bits */
VP_POINT PetscInt VpCountNodes(const VpEntities *e, int32_t entities)
{
  PetscInt count = 0;

  for (int d = 0; d <= e->dim; d++) count += VpCountBits((uint32_t)(entities & e->of[d])) * e->inside[d];
  return count;
}
/* first [3^dim] = number of the first node inside each entity of a cell */
VP_POINT void VpFirstNodes(const VpEntities *e, int32_t cell, PetscInt first[VP_ENTITIES])
{
  int32_t block[VP_ENTITIES];

  VpCellsAround(e, cell, block);
  for (int i = 0; i < e->entities; i++) {
    int           as;
    const int32_t owner = VpEntityOwner(e, block, i, &as);

    first[i] = e->first[owner] + VpCountNodes(e, e->owned[owner] & ((1 << as) - 1));
  }
}
