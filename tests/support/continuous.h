/* Continuous operators on grids of the unit square or cube, assembled from element matrices without the library's tables: nodes are
   numbered by their place in the grid of all nodes, x fastest. */
#pragma once
#include "problem.h"
#include "../../src/tables/tables.h"

typedef enum { LEFT_OUT, IDENTITY_ROWS, NATURAL } Sides; /* what the nodes on the boundary are; natural: Neumann sides */

typedef struct {
  int              dim, degree;
  PetscInt         cells;   /* along each direction */
  PetscBool        lobatto; /* masses and stiffnesses by the rule of the nodes */
  Sides            sides;
  PetscBool        other;                                   /* The DM has another quadrature than the matrix. */
  PetscInt         boxes;                                   /* along each direction; 0: 1 */
  const PetscReal *face;                                    /* [boxes + 1] of every direction; NULL: equidistant */
  double (*coefficient)(const PetscReal center[], int dim); /* NULL: 1 */
} NodeGrid;

/* K, M [n][n] of the Lagrange functions of the nodes on [0,1] */
static inline void ElementForms(int degree, PetscBool lobatto, double K[], double M[])
{
  const int n = degree + 1, nq = lobatto ? n : n + 1;
  double    node[VP_MAX_N], x[2 * VP_MAX_N], w[2 * VP_MAX_N];

  VpGaussLobatto(degree, node);
  if (lobatto) { /* w_i = integral of l_i, by Gauss's rule */
    double g[2 * VP_MAX_N], v[2 * VP_MAX_N];

    VpGauss(n, g, v);
    for (int i = 0; i < n; i++) {
      x[i] = node[i];
      w[i] = 0;
      for (int q = 0; q < n; q++) {
        double l = 1;

        for (int m = 0; m < n; m++) l *= m == i ? 1 : (g[q] - node[m]) / (node[i] - node[m]);
        w[i] += v[q] * l;
      }
    }
  } else VpGauss(nq, x, w);
  for (int i = 0; i < n * n; i++) K[i] = M[i] = 0;
  for (int q = 0; q < nq; q++) {
    double l[VP_MAX_N], dl[VP_MAX_N];

    for (int i = 0; i < n; i++) {
      l[i] = 1;
      dl[i] = 0;
      for (int m = 0; m < n; m++) {
        double product = 1 / (node[i] - node[m]);

        if (m == i) continue;
        l[i] *= (x[q] - node[m]) / (node[i] - node[m]);
        for (int j = 0; j < n; j++) product *= j == i || j == m ? 1 : (x[q] - node[j]) / (node[i] - node[j]);
        dl[i] += product;
      }
    }
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) {
        K[i * n + j] += w[q] * dl[i] * dl[j];
        M[i * n + j] += w[q] * l[i] * l[j];
      }
    }
  }
}

/* the i-th face between cells along each direction */
static inline PetscReal FaceAt(const NodeGrid *g, PetscInt i)
{
  const PetscInt each = g->cells / PetscMax(g->boxes, 1), box = i / each;
  const double   rest = (double)(i % each) / (double)each;

  if (!g->face) return (PetscReal)i / (PetscReal)g->cells;
  return rest > 0 ? (1 - rest) * g->face[box] + rest * g->face[box + 1] : g->face[box];
}

/* number of rows of A */
static inline PetscInt CountRows(const NodeGrid *g)
{
  return PetscPowInt(g->cells * g->degree + (g->sides == LEFT_OUT ? -1 : 1), g->dim);
}

/* *row of the node at these places in the grid of nodes; -1: left out. *side: it is on the boundary */
static inline PetscInt RowOf(const NodeGrid *g, const PetscInt at[], PetscBool *side)
{
  const PetscInt n = g->cells * g->degree, out = g->sides == LEFT_OUT ? 1 : 0;
  PetscInt       row = 0;

  *side = PETSC_FALSE;
  for (int d = 0; d < g->dim; d++) *side = (PetscBool)(*side || at[d] == 0 || at[d] == n);
  if (*side && out) return -1;
  for (int d = g->dim - 1; d >= 0; d--) row = row * (n + 1 - 2 * out) + at[d] - out;
  return row;
}

/* rows [ndof] of a cell of the DM, -1 where left out; side [ndof]; h, center [dim] of the cell */
static inline PetscErrorCode CellRows(const NodeGrid *g, DM dm, PetscInt cell, PetscInt rows[], PetscBool side[], PetscReal h[],
                                      PetscReal center[])
{
  const int n = g->degree + 1, ndof = (int)PetscPowInt(n, g->dim);
  PetscReal lower[3], upper[3];
  PetscInt  first[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCellBounds(dm, cell, lower, upper));
  for (int d = 0; d < g->dim; d++) {
    h[d] = upper[d] - lower[d];
    center[d] = (upper[d] + lower[d]) / 2;
    while (FaceAt(g, first[d] + 1) < center[d]) first[d]++;
  }
  for (int i = 0; i < ndof; i++) {
    PetscInt at[3];

    for (int d = 0, rest = i; d < g->dim; d++, rest /= n) at[d] = first[d] * g->degree + rest % n;
    rows[i] = RowOf(g, at, &side[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* node [ncell][ndof] of the element restriction, for the caller to free */
static inline PetscErrorCode GridRestriction(const NodeGrid *g, DM dm, PetscInt *ncell, PetscInt **node)
{
  const PetscInt ndof = PetscPowInt(g->degree + 1, g->dim);
  PetscReal      h[3], center[3];
  PetscBool     *side;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, ncell));
  PetscCall(PetscMalloc1(*ncell * ndof + 1, node));
  PetscCall(PetscMalloc1(ndof, &side));
  for (PetscInt c = 0; c < *ncell; c++) {
    PetscCall(CellRows(g, dm, c, *node + c * ndof, side, h, center));
    for (PetscInt i = 0; i < ndof && g->sides == IDENTITY_ROWS; i++)
      if (side[i]) (*node)[c * ndof + i] = -1;
  }
  PetscCall(PetscFree(side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode AddElements(const NodeGrid *g, DM dm, Mat A)
{
  const int    n = g->degree + 1, ndof = (int)PetscPowInt(n, g->dim);
  double       K[VP_MAX_N * VP_MAX_N], M[VP_MAX_N * VP_MAX_N];
  PetscReal    h[3], center[3];
  PetscScalar *value;
  PetscInt    *rows, ncell;
  PetscBool   *side;

  PetscFunctionBeginUser;
  ElementForms(g->degree, g->lobatto, K, M);
  PetscCall(PetscMalloc3(ndof, &rows, ndof * ndof, &value, ndof, &side));
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  for (PetscInt c = 0; c < ncell; c++) {
    PetscCall(CellRows(g, dm, c, rows, side, h, center));
    for (int i = 0; i < ndof; i++) {
      for (int j = 0; j < ndof; j++) {
        value[i * ndof + j] = 0;
        for (int d = 0; d < g->dim; d++) {
          double product = g->coefficient ? g->coefficient(center, g->dim) : 1;

          for (int e = 0, a = i, b = j; e < g->dim; e++, a /= n, b /= n)
            product *= e == d ? K[a % n * n + b % n] / h[e] : M[a % n * n + b % n] * h[e];
          value[i * ndof + j] += product;
        }
      }
    }
    PetscCall(MatSetValues(A, ndof, rows, ndof, rows, value, ADD_VALUES));
  }
  PetscCall(PetscFree3(rows, value, side));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the rows of nodes on the boundary to those of the identity, and leaves their columns. */
static inline PetscErrorCode ZeroSideRows(const NodeGrid *g, Mat A)
{
  const PetscInt n = g->cells * g->degree + 1;
  PetscInt       first, last, count = 0, *rows;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &first, &last));
  PetscCall(PetscMalloc1(last - first + 1, &rows));
  for (PetscInt row = first; row < last; row++) {
    const PetscInt at[3] = {row % n, row / n % n, row / n / n};
    PetscBool      side;

    (void)RowOf(g, at, &side);
    if (side) rows[count++] = row;
  }
  PetscCall(MatZeroRows(A, count, rows, 1, NULL, NULL));
  PetscCall(PetscFree(rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode AssembleGrid(const NodeGrid *g, DM dm, Mat *A)
{
  const PetscInt N = CountRows(g), width = PetscPowInt(2 * g->degree + 1, g->dim);

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)dm), PETSC_DECIDE, PETSC_DECIDE, N, N, PetscMin(N, width), NULL, PetscMin(N, width),
                         NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(AddElements(g, dm, *A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (g->sides == IDENTITY_ROWS) PetscCall(ZeroSideRows(g, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The DM of the grid, set up. The number of cells is a power of two times that of boxes. */
static inline PetscErrorCode GridDM(const NodeGrid *g, const char options[], DM *dm)
{
  const PetscInt   boxes = PetscMax(g->boxes, 1);
  const PetscReal  lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};
  const PetscInt   n[3] = {boxes, boxes, boxes};
  VPatchDGBoundary boundary[6];
  PetscInt         refine = 0;

  PetscFunctionBeginUser;
  while (boxes << refine < g->cells) refine++;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, g->dim, g->degree, refine, dm));
  PetscCall(DMVPatchDGSetBoxGrid(*dm, n, lower, upper));
  for (int d = 0; d < g->dim && g->face; d++) PetscCall(DMVPatchDGSetGrid(*dm, d, n[d], g->face));
  for (int i = 0; i < 6; i++) boundary[i] = g->sides == NATURAL ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_DIRICHLET;
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(TestDMOptions(*dm, options));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A problem with the grid's matrix and random b, orthogonal to constants where these are the null space. The KSP's PC has the
   element restriction. */
static inline PetscErrorCode GridProblem(const NodeGrid *g, const char options[], Problem *p)
{
  MatNullSpace constants;
  PetscInt    *node, ncell;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(GridDM(g, options, &p->dm));
  PetscCall(AssembleGrid(g, p->dm, &p->A));
  PetscCall(CompleteProblem(p));
  PetscCall(TestRandom(p->b, 0));
  if (g->sides == NATURAL) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatNullSpaceRemove(constants, p->b));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(TestPC(p->ksp, &pc));
  PetscCall(GridRestriction(g, p->dm, &ncell, &node));
  PetscCall(PCVPatchDGSetElementRestriction(pc, p->dm, ncell, node));
  PetscCall(PetscFree(node));
  PetscFunctionReturn(PETSC_SUCCESS);
}
