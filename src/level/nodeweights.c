/* What an element restriction takes from the form of continuous functions: weights, the diagonal, the largest eigenvalue of a cell. */
#include "nodes.h"
#include "internal.h"
#include "../base/memory.h"
#include "../base/threads.h"

enum { PLACES = VP_MAX_N * VP_MAX_N * VP_MAX_N };

/* the matrices of one direction in the basis of the nodes, on [0,1] */
typedef struct {
  int    dim, n, ndof;
  double slope; /* of the last node's function at the upper end */
  double stiff[VP_MAX_N * VP_MAX_N], mass[VP_MAX_N * VP_MAX_N];
} Forms;

static PetscErrorCode TabulateForms(VpNodes nodes, const double point[], VpQuadrature quadrature, Forms *f)
{
  VpBasis basis;

  PetscFunctionBegin;
  PetscCall(VpBasisCreateNodes(quadrature, nodes->degree, point, &basis));
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
  const PetscReal volume = VpGeometryVolume(mesh->geometry, cell);

  for (int d = 0; d < mesh->dim; d++) {
    const PetscReal h = VpGeometrySize(mesh->geometry, cell, d);

    g[d] = VpProblemCoefficient(problem, cell, d) * volume / (h * h);
  }
}

/* what loops over cells know */
typedef struct {
  VpNodes          nodes;
  const VpProblem *problem;
  Forms            forms;
} Sums;

PetscErrorCode VpNodesWeigh(VpNodes nodes, const VpProblem *problem, VpNodeMeans *means, double *one)
{
  const VpMesh  mesh = nodes->mesh;
  VpArrays      own = {.backend = nodes->backend, .precision = VP_DOUBLE};
  const double *t;
  double       *weight, *of_cell, *of_node;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(mesh->nown, &weight, mesh->nown, &of_cell));
  VP_LOOP (c, mesh->nown) {
    double g[3];

    FindStrengths(mesh, problem, c, g);
    weight[c] = 0;
    for (int d = 0; d < mesh->dim; d++) weight[c] += g[d];
    of_cell[c] = weight[c] / sqrt(VpGeometryVolume(mesh->geometry, c));
  }
  PetscCall(VpNodeMeansDestroy(means));
  means->arrays = (VpArrays){.backend = nodes->backend, .precision = VP_DOUBLE};
  PetscCall(VpPlaceArray(&means->arrays, of_cell, mesh->nown, "weights of cells", &means->of_cell));
  PetscCall(VpArraysReserve(&means->arrays, ((size_t)nodes->view.nnode + 1) * sizeof(*of_node), "weights of nodes", (void **)&of_node));
  PetscCall(VpPlaceArray(&own, weight, mesh->nown, "weights of cells", &t));
  PetscCall(PetscFree2(weight, of_cell));
  PetscCall(VpNodesSumWeights(nodes, t, of_node, one));
  PetscCall(VpArraysRelease(&own));
  means->of_node = of_node;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodeMeansDestroy(VpNodeMeans *means)
{
  PetscFunctionBegin;
  PetscCall(VpArraysRelease(&means->arrays));
  means->of_cell = means->of_node = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets form->end and ends from the cells' sides at the boundary. */
static PetscErrorCode PlaceEnds(const Sums *w, VpArrays *own, VpNodeForm *form)
{
  const VpMesh   mesh = w->nodes->mesh;
  const VpDomain domain = mesh->geometry->domain;
  const int      sides = 2 * mesh->dim;
  const int32_t *end;
  int32_t       *number, n, count = 0;
  double        *ends;

  PetscFunctionBegin;
  PetscCall(VpMeshGetEnds(mesh, &n, &end));
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(mesh->nown, &number));
  PetscCall(PetscCalloc1((size_t)n * (size_t)sides, &ends));
  for (int32_t c = 0; c < mesh->nown; c++) number[c] = -1;
  for (int32_t i = 0; i < n; i++) {
    const int32_t cell = end[i] / sides, beyond = mesh->neighbor[end[i]];
    const int     side = end[i] % sides;
    const VpSide  is = VpDomainSide(domain, beyond);
    const double  h = VpGeometrySize(mesh->geometry, cell, side / 2) / (w->nodes->wide ? 2 : 1);

    if (number[cell] < 0) number[cell] = count++;
    ends[(size_t)number[cell] * (size_t)sides + (size_t)side] =
      (double)VpConditionGamma(is, VpDirichletGamma(w->problem->degree, w->problem->penalty),
                               h * VpProblemAlpha(w->problem, domain, beyond)) -
      2 * VpConditions[is].mean * w->forms.slope;
  }
  PetscCall(VpPlaceArray(own, number, mesh->nown, "cells at the boundary", &form->end));
  PetscCall(VpPlaceArray(own, ends, (size_t)count * (size_t)sides, "conditions on sides", &form->ends));
  PetscCall(PetscFree(number));
  PetscCall(PetscFree(ends));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static VpNodeForm DiagonalsOf(const Forms *f)
{
  VpNodeForm form = {.n = f->n};

  for (int i = 0; i < f->n; i++) {
    form.stiff[i] = f->stiff[i * (f->n + 1)];
    form.mass[i] = f->mass[i * (f->n + 1)];
  }
  return form;
}

PetscErrorCode VpNodesDiagonal(VpNodes nodes, const VpProblem *problem, const double point[], double *diagonal)
{
  const VpMesh mesh = nodes->mesh;
  VpArrays     own = {.backend = nodes->backend, .precision = VP_DOUBLE};
  Sums         w = {.nodes = nodes, .problem = problem};
  double      *strength; /* [nown][4] along each direction, and reaction times volume */
  VpNodeForm   form;

  PetscFunctionBegin;
  PetscCall(TabulateForms(nodes, nodes->wide ? NULL : point, problem->quadrature, &w.forms));
  form = DiagonalsOf(&w.forms);
  PetscCall(VpMallocLarge(4 * (size_t)mesh->nown, &strength));
  VP_LOOP (c, mesh->nown) {
    double *g = strength + 4 * (size_t)c;

    FindStrengths(mesh, problem, c, g);
    g[3] = VpProblemReaction(problem, c);
    for (int d = 0; d < mesh->dim; d++) g[3] *= VpGeometrySize(mesh->geometry, c, d);
    for (int d = 0; d < 4 && nodes->wide; d++) g[d] *= (d < 3 ? 4. : 1.) / (1 << mesh->dim);
  }
  PetscCall(VpPlaceArray(&own, strength, 4 * (size_t)mesh->nown, "strengths of cells", &form.strength));
  PetscCall(PetscFree(strength));
  PetscCall(PlaceEnds(&w, &own, &form));
  PetscCall(VpNodesSumForm(nodes, &form, diagonal));
  PetscCall(VpArraysRelease(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the products of values and slopes of nodal functions at points and at the ends, from those of the basis of the level. */
static PetscErrorCode SquareTables(VpLevel level, VpPointForm *form)
{
  const int     n = form->n;
  double        change[VP_MAX_N * VP_MAX_N];
  VpMetricBasis of;

  PetscFunctionBegin;
  VpMetricBasisFill(&level->basis, &of);
  PetscCall(VpLevelNodalChange(level, change));
  for (int q = 0; q < n; q++) {
    for (int i = 0; i < n; i++) {
      double slope = 0;

      for (int j = 0; j < n; j++) slope += of.slope[q * n + j] * change[j * n + i];
      form->square[0][q * n + i] = change[q * n + i] * change[q * n + i];
      form->square[1][q * n + i] = change[q * n + i] * slope;
      form->square[2][q * n + i] = slope * slope;
    }
  }
  for (int end = 0; end < 2; end++) {
    for (int i = 0; i < n; i++) {
      double is[2] = {0, 0};

      for (int j = 0; j < 2 * n; j++) is[j / n] += of.end[2 * n * end + j] * change[j % n * n + i];
      for (int k = 0; k < 2; k++) form->end[end][k][i] = is[0] * is[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesOperatorDiagonal(VpNodes nodes, VpLevel level, double diagonal[])
{
  VpPointForm      points = {.metric = level->view.metric, .dim = nodes->mesh->dim, .n = level->basis.n, .neighbor = level->view.neighbor};
  const VpNodeForm form = {.points = &points, .cells = nodes->cells};

  PetscFunctionBegin;
  PetscCall(SquareTables(level, &points));
  PetscCall(VpNodesSumForm(nodes, &form, diagonal));
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
#define ALIKE 1e-6 /* Cells whose strengths differ by less, as logarithms, are of one kind. */

/* the largest eigenvalue of D^-1 A of a cell, by the power method */
static double FindLargest(const Forms *f, const double g[])
{
  const double     strength[4] = {g[0], g[1], f->dim == 3 ? g[2] : 0, 0};
  const VpNodeView view = {.dim = f->dim};
  VpNodeForm       form = DiagonalsOf(f);
  double           x[PLACES], y[PLACES], z[PLACES], D[PLACES];
  double           value = 0;

  form.strength = strength;
  for (int i = 0; i < f->ndof; i++) {
    D[i] = VpNodeFormEntry(&view, &form, 0, i);
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
  double       before[3] = {0}, ratio[4] = {-1e9, -1e9, -1e9, -1e9}; /* {-least, largest} log of strengths along y and z by that along x */
  int32_t      ncell = mesh->nown;
  Forms        f;

  PetscFunctionBegin;
  PetscCall(TabulateForms(nodes, nodes->wide ? NULL : nodes->point, problem->quadrature, &f));
  *most = 0;
  VP_LOOP_MOST (c, mesh->nown, ratio[:4]) {
    double g[3];

    FindStrengths(mesh, problem, c, g);
    for (int d = 1; d < mesh->dim; d++) {
      ratio[2 * d - 2] = PetscMax(ratio[2 * d - 2], -log2(g[d] / g[0]));
      ratio[2 * d - 1] = PetscMax(ratio[2 * d - 1], log2(g[d] / g[0]));
    }
  }
  if (ratio[0] + ratio[1] < ALIKE && (mesh->dim == 2 || ratio[2] + ratio[3] < ALIKE)) ncell = PetscMin(ncell, 1);
  for (int32_t c = 0; c < ncell && nkind < MOST_KINDS; c++) {
    double g[3];
    int    k = 0, own[2] = {0, 0};

    FindStrengths(mesh, problem, c, g);
    if (g[0] == before[0] && g[1] == before[1] && (mesh->dim == 2 || g[2] == before[2])) continue;
    for (int d = 0; d < mesh->dim; d++) before[d] = g[d];
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
