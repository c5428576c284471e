/* The means of a metric that a cycle takes, and the iterations that these are foretold. */
#include "../internal.h"
#include "../../base/threads.h"

/* Sets range to the extremes of a cell with the diagonal D of its box. They change by the factors by which those of the cell's mean of G
   do. own: the diagonal of that mean */
static void SeeFromBox(int dim, int components, const VpMadeCell *made, const double own[], const double D[], double range[2])
{
  double extremes[2][2] = {{PETSC_MAX_REAL, 0}, {PETSC_MAX_REAL, 0}};

  VpPointExtremes(dim, components, made->mean, 1, own, extremes[0]);
  VpPointExtremes(dim, components, made->mean, 1, D, extremes[1]);
  range[0] = made->least * extremes[1][0] / extremes[0][0];
  range[1] = made->most * extremes[1][1] / extremes[0][1];
}

PetscErrorCode VpMetricCompareBoxes(VpMesh mesh, const VpMadeCell made[], VpMetric m)
{
  const VpProblem  cells = {.coefficient = m->mean, .tensor = mesh->dim};
  const VpGeometry g = mesh->geometry;
  const int        dim = mesh->dim;
  VpLattice        boxes;
  double           most[2] = {-PETSC_MAX_REAL, 0}; /* - the least and the largest eigenvalue */

  PetscFunctionBegin;
  PetscCall(VpProblemCreateLattice(mesh, &cells, &boxes));
  VP_LOOP_MOST (cell, mesh->nown, most[:2]) {
    double own[3], D[3], range[2];

    for (int d = 0; d < dim; d++) {
      own[d] = made[cell].mean[VpMetricEntry(dim, m->components, d, d)];
      D[d] = boxes->a[3 * (size_t)g->box[cell] + (size_t)d] * VpGeometryVolume(g, cell) / PetscSqr(VpGeometrySize(g, cell, d));
    }
    SeeFromBox(dim, m->components, &made[cell], own, D, range);
    most[0] = PetscMax(most[0], -range[0]);
    most[1] = PetscMax(most[1], range[1]);
  }
  PetscCall(VpLatticeDestroy(&boxes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, mesh->comm));
  m->boxes = most[1] / -most[0];
  m->trees = (PetscBool)(mesh->geometry->domain->trees != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With one mean in a box the typical cell is no better than the worst. */
double VpMetricIterations(const VpMetric m, VpMetricKind kind)
{
  const PetscBool boxes = (PetscBool)(kind == VP_METRIC_CONST);

  return 5 + 44 * (pow(boxes ? m->boxes : m->kappa, 0.11) * pow(boxes ? m->boxes : m->typical, 0.055) - 1);
}

VpMetricKind VpMetricChoose(const VpMetric m, VpMetricKind asked, double unlike)
{
  if (asked != VP_METRIC_AUTO) return asked;
  if (m->trees) return VP_METRIC_CELL; /* With means over trees it takes more than is foretold. */
  return VpMetricIterations(m, VP_METRIC_CONST) <= unlike * VpMetricIterations(m, VP_METRIC_CELL) ? VP_METRIC_CONST : VP_METRIC_CELL;
}
