/* Maps of cells: polynomials through nodes, their derivatives.
   ranks: 1 2 */
#include "support/mesh_cases.h"
#include "../src/kernels/views.h"

/* a polynomial of this degree in every variable, and its derivative in direction d; d -1: the polynomial */
static double Polynomial(int degree, int dim, int i, const double x[], int d)
{
  double product = 1, sum = 1;

  for (int e = 0; e < dim; e++) {
    const double at = x[e] + 0.3 * (i + 1) - 0.1 * e;

    product *= e == d ? degree * pow(at, degree - 1) : pow(at, degree);
    sum += e == d ? 1 : x[e];
  }
  if (d < 0) return product + sum;
  return product + 1;
}

static void FillNodes(VpMap map)
{
  const int n = map->degree + 1, nodes = VpMapNodes(map->dim, map->degree);

  for (int32_t at = 0; at < map->ncell * nodes; at++) {
    const int    node = at % nodes;
    const double x[3] = {map->point[node % n] + at / nodes, map->point[node / n % n], map->point[node / (n * n)]};

    for (int i = 0; i < map->dim; i++) map->node[at * map->dim + i] = Polynomial(map->degree, map->dim, i, x, -1);
  }
}

/* the largest relative errors of X and of J on the last of two cells */
static PetscErrorCode MapErrors(int dim, int degree, double error[2])
{
  static const double x0[] = {0, 0.1, 0.55, 1}, x1[] = {0.3}, x2[] = {0.9, 0.2};
  const double *const x[] = {x0, x1, x2};
  const int           count[] = {4, 1, dim == 3 ? 2 : 1};
  double              X[24], J[72];
  VpMapGrid           grid;
  VpMap               map;

  PetscFunctionBeginUser;
  PetscCall(VpMapCreate(dim, degree, 2, &map));
  FillNodes(map);
  VpMapGridSet(map, count, x, &grid);
  VpMapEvaluate(map, 1, &grid, X, J);
  error[0] = error[1] = 0;
  for (int q = 0; q < count[0] * count[2]; q++) {
    const double at[] = {x0[q % 4] + 1, x1[0], x2[q / 4]};

    for (int i = 0; i < dim; i++) {
      const double value = Polynomial(degree, dim, i, at, -1);

      error[0] = PetscMax(error[0], fabs(X[q * dim + i] / value - 1));
      for (int j = 0; j < dim; j++)
        error[1] = PetscMax(error[1], fabs(J[(q * dim + i) * dim + j] - Polynomial(degree, dim, i, at, j)) / value);
    }
  }
  PetscCall(VpMapDestroy(&map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Polynomials(int dim)
{
  double worst[2] = {0, 0};

  PetscFunctionBeginUser;
  for (int degree = 1; degree <= VP_MAX_DEGREE; degree++) {
    double error[2];

    PetscCall(MapErrors(dim, degree, error));
    for (int i = 0; i < 2; i++) worst[i] = PetscMax(worst[i], error[i]);
  }
  TapOk((PetscBool)(worst[0] < 1e-13), "polynomials_are_reproduced: %dD, %.1e", dim, worst[0]);
  TapOk((PetscBool)(worst[1] < 1e-12), "derivatives_are_exact: %dD, %.1e", dim, worst[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the points and the Jacobians of boxes with their bounds. */
static PetscErrorCode Boxes(const Case *c)
{
  static const double x0[] = {0, 0.4, 1}, one[] = {0.25};
  const double *const x[] = {x0, one, one};
  double              X[9], J[27], error = 0;
  VpDomain            domain;
  VpMesh              mesh;

  PetscFunctionBeginUser;
  PetscCall(MakeDomain(PETSC_COMM_WORLD, c, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, 1, &mesh));
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    PetscReal lower[3], size[3];

    VpGeometryBounds(mesh->geometry, cell, lower, size);
    VpGeometryEvaluate(mesh->geometry, cell, (int[]){3, 1, 1}, x, X, NULL);
    VpGeometryEvaluate(mesh->geometry, cell, (int[]){3, 1, 1}, x, NULL, J);
    for (int q = 0; q < 3; q++) {
      for (int i = 0; i < c->dim; i++) {
        error = PetscMax(error, fabs(X[q * c->dim + i] - lower[i] - size[i] * (i ? one[0] : x0[q])));
        for (int j = 0; j < c->dim; j++) error = PetscMax(error, fabs(J[(q * c->dim + i) * c->dim + j] - (i == j) * size[i]));
      }
    }
  }
  TapOk((PetscBool)(error < 1e-14), "boxes_have_diagonal_jacobians: %s", c->name);
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares a map by a formula with the one through the nodes that the formula gives. */
static PetscErrorCode Formula(int dim, VpFormula formula, const double number[])
{
  static const double x0[] = {0, 0.4, 1}, one[] = {0.25}, boxes[] = {0, 0.5, 0.5, 0.5, 0.25, 0.5, 0.5, 0, 0.5, 0.5, 0.5, 0.25};
  const double *const x[] = {x0, one, one};
  double              X[2][9], J[2][27], lower[2][3], upper[2][3], error = 0;
  VpMapGrid           grid;
  VpMap               map[2];

  PetscFunctionBeginUser;
  PetscCall(VpMapCreateFormula(dim, 4, 2, formula, number, &map[0]));
  PetscCall(PetscArraycpy(map[0]->bounds, boxes, 12));
  PetscCall(VpMapCreate(dim, 4, 2, &map[1]));
  for (int at = 0; at < 2 * VpMapNodes(dim, 4); at++) {
    const int     i = at % VpMapNodes(dim, 4), place[3] = {i % 5, i / 5 % 5, i / 25};
    const double *box = boxes + 6 * (at / VpMapNodes(dim, 4));
    double        node[3];

    for (int d = 0; d < dim; d++) node[d] = box[d] + box[3 + d] * map[1]->point[place[d]];
    VpFormulaPoint(formula, dim, number, node, map[1]->node + at * dim);
  }
  VpMapGridSet(map[0], (int[]){3, 1, 1}, x, &grid);
  for (int m = 0; m < 2; m++) {
    VpMapEvaluate(map[m], 1, &grid, X[m], J[m]);
    VpMapBounds(map[m], 1, lower[m], upper[m]);
  }
  for (int i = 0; i < 3 * dim; i++) error = PetscMax(error, fabs(X[0][i] - X[1][i]));
  for (int i = 0; i < 3 * dim * dim; i++) error = PetscMax(error, fabs(J[0][i] - J[1][i]));
  for (int d = 0; d < dim; d++) error = PetscMax(error, PetscMax(fabs(lower[0][d] - lower[1][d]), fabs(upper[0][d] - upper[1][d])));
  TapOk((PetscBool)(error < 1e-14), "formula_gives_nodes: %dD, formula %d, %g", dim, (int)formula, error);
  for (int m = 0; m < 2; m++) PetscCall(VpMapDestroy(&map[m]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (int dim = 2; dim <= 3; dim++) PetscCall(Polynomials(dim));
  for (int i = VP_FORMULA_SHEAR; i <= VP_FORMULA_BUMP; i++) {
    const double number[VP_FORMULA_NUMBERS] = {i == VP_FORMULA_SINE || i == VP_FORMULA_KERSHAW ? 0.1 : 1, 2, 60};

    for (int dim = i == VP_FORMULA_TORUS ? 3 : 2; dim <= 3; dim++) PetscCall(Formula(dim, (VpFormula)i, number));
  }
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Boxes(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
