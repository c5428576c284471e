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
  Vec       factor;  /* what makes rows symmetric, and `up`, `diagonal`, `sum` and `mass` contain; NULL: 1 */
  PetscBool coupled; /* Rows have entries in the columns of rows of the identity. */
  /* [own] */
  PetscScalar *up[3];    /* what couples a point to the next one along each direction, as the row of either says; 0: nothing */
  PetscScalar *identity; /* 1: the row is that of the identity */
  PetscScalar *diagonal;
  PetscScalar *mass; /* sums of rows that have couplings to all sides: c times the volume of their points; -1: other rows; NULL: c is 0 */

  struct {
    double sum;         /* sum over a side's rows of their sums, ... */
    double inner;       /* ... of the couplings to points inside, ... */
    double along;       /* ... of the couplings along the side, ... */
    double next;        /* ... and of these one point farther inside */
    double rows, fixed; /* number of its rows; those of the identity */
  } sums[6];
  double typical[3]; /* geometric mean of the couplings along each direction */
  double negative;   /* the largest quotient of minus the sum of a row that has couplings to all sides, and the sum of these */
} VpStencil;
/* Reads an assembled matrix on a DMDA. Ensures: errors on all ranks where it has other entries, positive ones off the diagonal, or is not
   symmetric and does not become so by a factor of every row. Collective */
PetscErrorCode VpStencilCreate(Mat, DM da, VpStencil *);
PetscErrorCode VpStencilDestroy(VpStencil *);
enum { VP_STENCIL_PIECES = 64 }; /* of own points, on which threads work: sums do not depend on the number of threads */
/* the first point of a piece */
static inline PetscInt VpStencilPiece(const VpStencil *s, int32_t piece)
{
  return (PetscInt)((PetscInt64)s->own * piece / VP_STENCIL_PIECES);
}
/* at [3] of an own point */
static inline void VpStencilPoint(const VpStencil *s, PetscInt i, PetscInt at[3])
{
  at[0] = s->start[0] + i % s->count[0];
  at[1] = s->start[1] + i / s->count[0] % s->count[1];
  at[2] = s->start[2] + i / s->count[0] / s->count[1];
}
/* Goes to the next own point. */
static inline void VpStencilNext(const VpStencil *s, PetscInt at[3])
{
  for (int d = 0; d < 3; d++) {
    if (++at[d] < s->start[d] + s->count[d] || d == 2) return;
    at[d] = s->start[d];
  }
}

/* stencilgrid.c: the cells around the points */
typedef struct {
  VpStencilSide side[6];
  PetscInt      ncell[3], shift[3]; /* cells along each direction; those below the first point */
  PetscReal    *face[3];            /* [ncell + 1] */
  PetscReal    *width[3];           /* [points] of what each point stands for along a direction */
  PetscReal     a;                  /* the largest coefficient */
  PetscReal     reaction, spread;   /* the largest reaction; the difference to the smallest one, divided by it */
  PetscBool     varies;             /* The coefficient is not one number. */
  PetscBool     wide;               /* Two of these cells along every direction are one of the DM. */
} VpStencilGrid;
#define VP_STENCIL_VARIES 1e-6 /* Coefficients that differ by less, relatively, are one number. */
#define VP_STENCIL_ALIKE  0.01 /* So are reactions. */
/* volume that the point at [3] stands for */
static inline double VpStencilVolume(const VpStencil *s, const VpStencilGrid *c, const PetscInt at[3])
{
  double volume = 1;

  for (int d = 0; d < s->dim; d++) volume *= c->width[d][at[d]];
  return volume;
}

typedef struct {
  VpPoints    points;
  VpWidth     width;
  PetscBool   smooths; /* Jacobi steps on both sides of the cycle are allowed. */
  const char *prefix;  /* of options */
} VpStencilAsked;
/* Makes the DMVPATCHDG of a stencil and its element restriction, for one that is zero so far, and moves `factor` and `diagonal` to it.
   Errors: what the points are is not clear; cells that shall be wide cannot be. */
PetscErrorCode VpStencilConvert(VpStencil *, const VpStencilAsked *, VpContinuous);
/* stencilcells.c: fills *node, and gives the coefficients and reactions of its cells to the DM. *varies: the coefficient does. */
PetscErrorCode VpStencilFillCells(const VpStencil *, const VpStencilGrid *, DM, PetscInt **node, PetscBool *varies);
