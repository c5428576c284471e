/* Cells of an unstructured mesh as places of a lattice, by the vertices that they share. */
#pragma once
#include <petscsys.h>

/* A cell's place. The lattice's direction d is the cell's direction axis[d], from its upper to its lower side if flip[d]. */
typedef struct {
  PetscInt at[3];
  int8_t   axis[3], flip[3];
} VpPlace;
/* the cell's number of what has the number i, x fastest, among n^dim equal parts of the lattice's place: of corners for n = 2 */
int VpPlaceIndex(const VpPlace *, int dim, int n, int i);
/* the cell's side that is the place's side */
static inline int VpPlaceSide(const VpPlace *p, int side)
{
  return 2 * p->axis[side / 2] + (side % 2 ^ p->flip[side / 2]);
}
/* Compares structs that begin with a place at[3] by z, then y, then x, for qsort(). */
int VpComparePlaces(const void *, const void *);
/* Places n cells with the vertices corner[n][2^dim], x fastest. place[0] holds axis and flip of the first cell. size: number of places in
   every direction, 1 beyond dim; periodic: the last one is followed by the first one. *why: NULL, or why the cells form no lattice */
PetscErrorCode VpPlaceCells(int dim, PetscInt n, const PetscInt corner[], VpPlace place[], PetscInt size[3], PetscBool periodic[3],
                            const char **why);
