/* Five-point and seven-point matrices on a DMDA, as continuous operators of degree 1. */
#pragma once
#include "internal.h"

/* what the points beside a side of the DMDA say of it */
typedef enum {
  VP_STENCIL_PERIODIC,
  VP_STENCIL_IDENTITY, /* rows of the identity: Dirichlet, at nodes */
  VP_STENCIL_NATURAL,  /* nodes with half weights: Neumann */
  VP_STENCIL_OUTSIDE,  /* the Dirichlet nodes are outside of the DMDA */
  VP_STENCIL_CENTERS,  /* centres of cells, Neumann */
  VP_STENCIL_HALF      /* centres of cells, Dirichlet at half a width */
} VpStencilSide;

/* A stencil along every direction, of own points. */
typedef struct {
  DM        da;
  int       dim;
  PetscInt  n[3], start[3], count[3], own; /* points of all ranks; own ones, and their number */
  PetscBool periodic[3];
  Vec       up[3];    /* what couples a point to the next one along each direction, as the row of either says; 0: nothing */
  Vec       identity; /* 1: the row is that of the identity */
  Vec       factor;   /* what makes rows symmetric, and `up` and `sum` contain; NULL: 1 */
  double    sum[6];   /* [side] sum over its rows of their sums, ... */
  double    inner[6]; /* ... of the couplings to points inside, ... */
  double    along[6]; /* ... of the couplings along the side, ... */
  double    next[6];  /* ... and of these one point farther inside */
  double    rows[6];  /* number of its rows; those of the identity */
  double    fixed[6];
  double    typical[3]; /* geometric mean of the couplings along each direction */
  double    rest;       /* the largest quotient of the sum of a row inside of the DMDA and the sum of its couplings */
} VpStencil;
/* Reads an assembled matrix on a DMDA. Ensures: errors on all ranks where it has other entries, positive ones off the diagonal, or is not
   symmetric and does not become so by a factor of every row. Collective */
PetscErrorCode VpStencilCreate(Mat, DM da, VpStencil *);
PetscErrorCode VpStencilDestroy(VpStencil *);
/* at [3] of an own point */
static inline void VpStencilPoint(const VpStencil *s, PetscInt i, PetscInt at[3])
{
  at[0] = s->start[0] + i % s->count[0];
  at[1] = s->start[1] + i / s->count[0] % s->count[1];
  at[2] = s->start[2] + i / s->count[0] / s->count[1];
}

/* stencilgrid.c: the DMVPATCHDG of a stencil, and its element restriction */
typedef struct {
  DM        dm;
  PetscInt *node;      /* [own cells of dm][2^dim], or [3^dim] if cells are wide */
  PetscBool wide;      /* Cells are wide. */
  PetscReal scale;     /* of the matrix, if it is this times the form for a coefficient of 1; else 0 */
  PetscBool centered;  /* Points are centres of cells, or the coefficient varies. */
  char      says[192]; /* what was found, for -ksp_view */
} VpStencilCells;
typedef struct {
  VpPoints    points;
  VpWidth     width;
  PetscBool   smooths; /* Jacobi steps on both sides of the cycle are allowed. */
  const char *prefix;  /* of options */
} VpStencilAsked;
/* Errors: what the points are is not clear; cells that shall be wide cannot be. The caller frees dm and node. */
PetscErrorCode VpStencilConvert(VpStencil *, const VpStencilAsked *, VpStencilCells *);
