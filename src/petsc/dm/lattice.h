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
/* cells that may form a lattice */
typedef struct {
  int             dim;
  PetscInt        n;
  const PetscInt *corner;      /* [n][2^dim] vertices of the cells, x fastest */
  VpPlace        *place;       /* [n] */
  PetscInt       *next;        /* [n][2 dim] cell and side beyond, 2 dim cell + side; -1: none */
  PetscBool      *placed;      /* [n] */
  PetscInt        size[3];     /* number of places in every direction, 1 beyond dim */
  PetscBool       periodic[3]; /* The last place is followed by the first one. */
  const char     *why;         /* NULL, or why the cells form no lattice */
} VpUserLattice;
/* Sets the last three members and the places. Requires: dim, n and corner are set, and axis and flip of the first cell. */
PetscErrorCode VpPlaceCells(VpUserLattice *);
