/* The entries of the rows of own points on a DMDA. */
#pragma once
#include "stencil.h"

#define VP_STENCIL_SMALL 1e-8 /* of the largest entry of a row: rounding errors */

/* entries of the rows of own points */
typedef struct {
  PetscInt        ghost[3], width[3], stride[3]; /* the first local point; number of local points, and what a step adds to one's number */
  const PetscInt *global;                        /* [local points] their rows; negative: none */
  PetscScalar    *down[3];                       /* [own] coupling to the last point */
} VpStencilRows;

/* number of a local point */
static inline PetscInt VpStencilLocalOf(const VpStencilRows *r, const PetscInt at[3])
{
  PetscInt local = 0;

  for (int e = 0; e < 3; e++) local += (at[e] - r->ghost[e]) * r->stride[e];
  return local;
}

/* number of the point that lies `step` points farther along d than the local point `local`, which is at `at`; -1: there is none */
static inline PetscInt VpStencilLocalBeside(const VpStencil *s, const VpStencilRows *r, PetscInt local, const PetscInt at[3], int d,
                                            PetscInt step)
{
  return s->periodic[d] || (at[d] + step >= 0 && at[d] + step < s->n[d]) ? local + step * r->stride[d] : -1;
}

/* Fills the arrays. most [2]: the largest quotients of the sum of a row that has couplings to all sides, or minus this, and the sum of
   these couplings, on all ranks. Ensures: an error on all ranks where the matrix has other entries, or positive ones off the diagonal */
PetscErrorCode VpStencilReadRows(const VpStencil *, VpStencilRows *, Mat, double most[]);
