/* Maps of cells: where the cells of a mesh are in physical space. The boxes are then only the reference domain. In a cell the map is
   the polynomial, of one degree in each variable, through points at the Gauss-Lobatto points of that degree, the nodes of the cell. */
#pragma once
#include "../kernels/ops.h"

typedef struct VpMap_ *VpMap;
struct VpMap_ {
  int              refct;
  int              dim, degree;
  int32_t          ncell;
  double           point[VP_MAX_N]; /* [degree+1] the Gauss-Lobatto points */
  double          *node;            /* [ncell][(degree+1)^dim][dim] the nodes of own cells in physical space, x fastest; or NULL: */
  VpFormula        formula;         /* the formula of the nodes, its numbers, and the boxes of cells (VpCellMaps) */
  double           number[VP_FORMULA_NUMBERS], *bounds;
  const VpBackend *backend; /* has `placed`, a copy of the nodes or the boxes on a device; NULL: none */
  void            *placed;
};
/* Creates a map whose nodes are not set; or which has a formula in place of nodes, and whose boxes are not set. */
PetscErrorCode VpMapCreate(int dim, int degree, int32_t ncell, VpMap *);
PetscErrorCode VpMapCreateFormula(int dim, int degree, int32_t ncell, VpFormula, const double number[], VpMap *);
PetscErrorCode VpMapDestroy(VpMap *);
/* Sets what the maps of cells are on a backend, `bounds` only where they have a formula. Requires: nodes and boxes do not change later */
PetscErrorCode VpMapPlace(VpMap, const VpBackend *, VpCellMaps *);
/* number of nodes of a cell */
static inline int VpMapNodes(int dim, int degree)
{
  return (degree + 1) * (degree + 1) * (dim == 3 ? degree + 1 : 1);
}
/* value, slope [n] = Lagrange's polynomials of n nodes and their derivatives at x; at a node, exactly 0 and 1 */
void VpLagrange(int n, const double node[], double x, double value[], double slope[]);

/* Sets the grid, for a map NULL without the matrices. */
void VpMapGridSet(VpMap, const int count[3], const double *const x[3], VpMapGrid *);
/* the number of the grid's point q in a grid of n points in every direction, where the grid's first point is `first` */
static inline int VpMapGridPlace(const VpMapGrid *grid, const int first[3], int n, int q)
{
  const int at[3] = {q % grid->count[0], q / grid->count[0] % grid->count[1], q / (grid->count[0] * grid->count[1])};

  return ((first[2] + at[2]) * n + first[1] + at[1]) * n + first[0] + at[0];
}
/* X [points][dim] and J [points][i][j] = dX_i / dxi_j at the points of a cell. X, J: or NULL. Threads may call it at the same time. */
void VpMapEvaluate(VpMap, int32_t cell, const VpMapGrid *, double X[], double J[]);
/* xi = the reference coordinates of a point in physical space, by Newton's method. Returns how far outside of [0,1] they are at most, in a
   direction; at most 0 inside; or PETSC_MAX_REAL where the method does not converge, as it does near the cell. */
double VpMapInvert(VpMap, int32_t cell, const double X[], double xi[]);
/* the bounds of a cell's nodes: lower, upper [dim] */
void VpMapBounds(VpMap, int32_t cell, double lower[], double upper[]);

/* of J [i][j] = dX_i / dxi_j */
double VpDeterminant(int dim, const double J[]);
void   VpInvert(int dim, const double J[], double determinant, double inverse[]); /* Requires: the determinant is not 0. */
