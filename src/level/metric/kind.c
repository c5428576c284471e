/* The means of a metric that a cycle takes, and the iterations that these are foretold. */
#include "../internal.h"
#include "definite.h"

/* Changes the extremes of a cell to those that VpMetricExtremes() finds with the diagonal D of its box. They change by the factors by which
   those of the cell's mean of G do. */
static void SeeFromBox(int dim, int components, const double mean[], const double D[], double extremes[2])
{
  static const double one = 1;
  VpMetricCell        c = {.dim = dim, .n = 1, .components = components, .G = mean, .point_weight = &one};
  double              own[2], seen[2];

  VpMetricExtremes(&c, own);
  c.diagonal = D;
  VpMetricExtremes(&c, seen);
  for (int i = 0; i < 2; i++) extremes[i] *= seen[i] / own[i];
}

PetscErrorCode VpMetricCompareBoxes(VpMesh mesh, const double extremes[], const double mean[], VpMetric m)
{
  const int       full = m->components;
  const VpProblem cells = {.coefficient = m->mean, .tensor = mesh->dim};
  double          most[2] = {-PETSC_MAX_REAL, 0};
  VpLattice       boxes;

  PetscFunctionBegin;
  PetscCall(VpProblemCreateLattice(mesh, &cells, &boxes));
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    double range[2] = {extremes[2 * (size_t)cell], extremes[2 * (size_t)cell + 1]};

    SeeFromBox(mesh->dim, full, mean + (size_t)cell * (size_t)full, boxes->a + 3 * (size_t)mesh->geometry->box[cell], range);
    most[0] = PetscMax(most[0], -range[0]);
    most[1] = PetscMax(most[1], range[1]);
  }
  PetscCall(VpLatticeDestroy(&boxes));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, mesh->comm));
  m->boxes = most[1] / -most[0];
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
  return VpMetricIterations(m, VP_METRIC_CONST) <= unlike * VpMetricIterations(m, VP_METRIC_CELL) ? VP_METRIC_CONST : VP_METRIC_CELL;
}
