/* What an element restriction takes from the form of continuous functions: weights, the diagonal, the largest eigenvalue of a cell. */
#include "nodes.h"
#include "internal.h"

enum { PLACES = VP_MAX_N * VP_MAX_N * VP_MAX_N };

/* the matrices of one direction in the basis of the nodes, on [0,1] */
typedef struct {
  int    dim, n, ndof;
  double slope; /* of the last node's function at the upper end */
  double stiff[VP_MAX_N * VP_MAX_N], mass[VP_MAX_N * VP_MAX_N];
} Forms;

static PetscErrorCode TabulateForms(VpNodes nodes, VpQuadrature quadrature, Forms *f)
{
  VpBasis basis;

  PetscFunctionBegin;
  PetscCall(VpBasisCreateNodes(quadrature, nodes->degree, nodes->point, &basis));
  *f = (Forms){.dim = nodes->mesh->dim, .n = basis.n, .ndof = nodes->view.ndof, .slope = basis.slope[1][basis.n - 1]};
  for (int i = 0; i < f->n * f->n; i++) {
    f->stiff[i] = basis.stiff[i];
    for (int m = 0; m < f->n; m++) f->mass[i] += basis.legendre[i / f->n * f->n + m] * basis.legendre[i % f->n * f->n + m];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* g [dim] = a volume / h^2 of a cell along each direction */
static void FindStrengths(VpMesh mesh, const VpProblem *problem, int32_t cell, double g[])
{
  const PetscReal volume =
    VpGeometrySize(mesh->geometry, cell, 0) * VpGeometrySize(mesh->geometry, cell, 1) * VpGeometrySize(mesh->geometry, cell, 2);

  for (int d = 0; d < mesh->dim; d++) {
    const PetscReal h = VpGeometrySize(mesh->geometry, cell, d);

    g[d] = VpProblemCoefficient(problem, cell, d) * volume / (h * h);
  }
}

/* Adds up numbers of nodes, leaves [nnode], over all ranks, to rows [rows], and gives the sums back to the nodes. */
static PetscErrorCode AddUp(VpNodes nodes, double leaves[], double rows[])
{
  PetscFunctionBegin;
  if (!nodes->sf) {
    PetscCall(PetscArraycpy(rows, leaves, nodes->rows));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscArrayzero(rows, nodes->rows));
  PetscCall(PetscSFReduceBegin(nodes->sf, MPI_DOUBLE, leaves, rows, MPI_SUM));
  PetscCall(PetscSFReduceEnd(nodes->sf, MPI_DOUBLE, leaves, rows, MPI_SUM));
  PetscCall(PetscSFBcastBegin(nodes->sf, MPI_DOUBLE, rows, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(nodes->sf, MPI_DOUBLE, rows, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesWeigh(VpNodes nodes, const VpProblem *problem, PetscBool used[])
{
  const VpMesh mesh = nodes->mesh;
  double      *mean, *sum, *rows;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nown, &mean));
  PetscCall(PetscCalloc2(nodes->view.nnode, &sum, nodes->rows, &rows));
  for (int32_t c = 0; c < mesh->nown; c++) {
    double g[3], t = 0, volume = 1;

    FindStrengths(mesh, problem, c, g);
    for (int d = 0; d < mesh->dim; d++) {
      t += g[d];
      volume *= VpGeometrySize(mesh->geometry, c, d);
    }
    mean[c] = t / sqrt(volume);
    for (int i = 0; i < nodes->view.ndof; i++) {
      const int32_t k = nodes->node[(size_t)c * (size_t)nodes->view.ndof + (size_t)i];

      if (k >= 0) sum[k] += t;
    }
  }
  PetscCall(AddUp(nodes, sum, rows));
  for (int32_t k = 0; k < nodes->view.nnode; k++) sum[k] = sum[k] > 0 ? 1 / sum[k] : 0;
  for (PetscInt i = 0; i < nodes->rows && used; i++) used[i] = (PetscBool)(rows[i] > 0);
  PetscCall(VpArraysRelease(&nodes->weights));
  PetscCall(VpPlaceArray(&nodes->weights, mean, mesh->nown, "weights of cells", &nodes->of_cell));
  PetscCall(VpPlaceArray(&nodes->weights, sum, nodes->view.nnode, "weights of nodes", &nodes->of_node));
  PetscCall(PetscFree2(sum, rows));
  PetscCall(PetscFree(mean));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the places of a cell: entry i of the diagonal of sum_d g_d K_d x M x M, and of reaction times the mass */
static double FindEntry(const Forms *f, const double g[], double reaction, int i)
{
  const int at[3] = {i % f->n, i / f->n % f->n, i / (f->n * f->n)};
  double    sum = reaction, mass[3] = {1, 1, 1};

  for (int d = 0; d < f->dim; d++) mass[d] = f->mass[at[d] * (f->n + 1)];
  for (int d = 0; d < f->dim; d++) sum += g[d] * f->stiff[at[d] * (f->n + 1)] / mass[d];
  return sum * mass[0] * mass[1] * mass[2];
}

/* what the conditions of sides add to the diagonal of a cell */
static void AddSides(VpNodes nodes, const VpProblem *problem, const Forms *f, int32_t cell, const double g[], double sum[])
{
  const VpMesh mesh = nodes->mesh;
  const double gamma = VpDirichletGamma(problem->degree, problem->penalty);

  for (int side = 0; side < 2 * f->dim; side++) {
    const int          d = side / 2, end = side % 2 ? f->n - 1 : 0;
    const int32_t      beyond = VpMeshNeighbor(mesh, cell, side);
    const VpCondition *is = &VpConditions[VpDomainSide(mesh->geometry->domain, beyond)];
    const double       alpha = is->alpha * VpProblemAlpha(problem, mesh->geometry->domain, beyond);
    const double       all = g[d] * (is->penalty * gamma + VpGeometrySize(mesh->geometry, cell, d) * alpha - 2 * is->mean * f->slope);

    for (int i = 0; i < f->ndof && VpIsBoundary(beyond); i++) {
      const int     at[3] = {i % f->n, i / f->n % f->n, i / (f->n * f->n)};
      const int32_t k = nodes->node[(size_t)cell * (size_t)f->ndof + (size_t)i];
      double        add = all;

      for (int e = 0; e < f->dim; e++) add *= e == d ? 1 : f->mass[at[e] * (f->n + 1)];
      if (at[d] == end && k >= 0) sum[k] += add;
    }
  }
}

PetscErrorCode VpNodesDiagonal(VpNodes nodes, const VpProblem *problem, double diagonal[])
{
  const VpMesh mesh = nodes->mesh;
  double      *sum;
  Forms        f;

  PetscFunctionBegin;
  PetscCall(TabulateForms(nodes, problem->quadrature, &f));
  PetscCall(PetscCalloc1(nodes->view.nnode, &sum));
  for (int32_t c = 0; c < mesh->nown; c++) {
    double g[3], volume = 1;

    FindStrengths(mesh, problem, c, g);
    for (int d = 0; d < mesh->dim; d++) volume *= VpGeometrySize(mesh->geometry, c, d);
    for (int i = 0; i < f.ndof; i++) {
      const int32_t k = nodes->node[(size_t)c * (size_t)f.ndof + (size_t)i];

      if (k >= 0) sum[k] += FindEntry(&f, g, problem->reaction * volume, i);
    }
    AddSides(nodes, problem, &f, c, g, sum);
  }
  PetscCall(AddUp(nodes, sum, diagonal));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* diagonal [ndof] of E^T A E on a cell, where A is an operator at points, without terms on sides between cells */
static PetscErrorCode FindPointDiagonal(const VpRows *rows, int32_t cell, double diagonal[])
{
  const VpLevel level = rows->level;
  const int     dim = level->mesh->dim, n = level->basis.n, ndof = rows->rows;
  const double *W = level->nodal.leave, *root = level->view.metric.root;

  PetscFunctionBegin;
  for (int i = 0; i < ndof; i++) diagonal[i] = 0;
  if (root) root += (size_t)(cell % level->view.metric.period) * (size_t)ndof;
  for (int at = 0; at < ndof; at++) {
    double y[PLACES];

    PetscCall(VpMetricColumn(rows, cell, at, y));
    for (int i = 0; i < ndof && root; i++) y[i] /= root[i] * root[at];
    for (int d = 0, stride = 1; d < dim; d++, stride *= n) VpLinesApply(n, level->nodal.enter, stride, ndof / n, y);
    for (int i = 0; i < ndof; i++) {
      double w = 1;

      for (int d = 0, a = at, b = i; d < dim; d++, a /= n, b /= n)
        w *= W[a % n * n + b % n] * VpGeometrySize(level->mesh->geometry, cell, d);
      diagonal[i] += w * y[i];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesOperatorDiagonal(VpNodes nodes, VpLevel level, double diagonal[])
{
  const size_t ndof = (size_t)nodes->view.ndof;
  VpRows       rows = {.level = level, .rows = (int)ndof, .columns = (int)ndof};
  double      *sum, own[PLACES];

  PetscFunctionBegin;
  if (!level->problem.metric) {
    PetscCall(VpNodesDiagonal(nodes, &level->problem, diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscCalloc1(nodes->view.nnode, &sum));
  PetscCall(VpMetricRowsCreate(level, &rows));
  for (int32_t c = 0; c < nodes->mesh->nown; c++) {
    PetscCall(FindPointDiagonal(&rows, c, own));
    for (size_t i = 0; i < ndof; i++) {
      const int32_t k = nodes->node[(size_t)c * ndof + i];

      if (k >= 0) sum[k] += own[i];
    }
  }
  PetscCall(VpMetricRowsDestroy(&rows));
  PetscCall(AddUp(nodes, sum, diagonal));
  PetscCall(PetscFree(sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = sum_d g_d (K_d x M x M) x on a cell. z [ndof]: scratch */
static void ApplyForms(const Forms *f, const double g[], const double x[], double y[], double z[])
{
  for (int i = 0; i < f->ndof; i++) y[i] = 0;
  for (int d = 0; d < f->dim; d++) {
    for (int i = 0; i < f->ndof; i++) z[i] = g[d] * x[i];
    for (int e = 0, stride = 1; e < f->dim; e++, stride *= f->n) VpLinesApply(f->n, e == d ? f->stiff : f->mass, stride, f->ndof / f->n, z);
    for (int i = 0; i < f->ndof; i++) y[i] += z[i];
  }
}

enum { ITERATIONS = 100, MOST_KINDS = 64 };

/* the largest eigenvalue of D^-1 A of a cell, by the power method */
static double FindLargest(const Forms *f, const double g[])
{
  double x[PLACES], y[PLACES], z[PLACES], D[PLACES];
  double value = 0;

  for (int i = 0; i < f->ndof; i++) {
    D[i] = FindEntry(f, g, 0, i);
    x[i] = sin(1 + 7. * i * i) / D[i];
  }
  for (int it = 0; it < ITERATIONS; it++) {
    double up = 0, norm = 0;

    ApplyForms(f, g, x, y, z);
    for (int i = 0; i < f->ndof; i++) {
      up += x[i] * y[i];
      norm += D[i] * x[i] * x[i];
    }
    value = up / norm;
    for (int i = 0; i < f->ndof; i++) x[i] = y[i] / D[i] / sqrt(norm);
  }
  return value;
}

PetscErrorCode VpNodesLargest(VpNodes nodes, const VpProblem *problem, double *most)
{
  const VpMesh mesh = nodes->mesh;
  int          kind[MOST_KINDS][2], nkind = 0;
  Forms        f;

  PetscFunctionBegin;
  PetscCall(TabulateForms(nodes, problem->quadrature, &f));
  *most = 0;
  for (int32_t c = 0; c < mesh->nown && nkind < MOST_KINDS; c++) {
    double g[3];
    int    k = 0, own[2] = {0, 0};

    FindStrengths(mesh, problem, c, g);
    for (int d = 1; d < mesh->dim; d++) own[d - 1] = (int)lrint(log2(g[d] / g[0]));
    while (k < nkind && (kind[k][0] != own[0] || kind[k][1] != own[1])) k++;
    if (k < nkind) continue;
    kind[nkind][0] = own[0];
    kind[nkind++][1] = own[1];
    *most = PetscMax(*most, FindLargest(&f, g));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
