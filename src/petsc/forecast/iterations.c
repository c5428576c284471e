/* Forecasts the number of iterations from the shape of the cells. */
#include "forecast.h"

static void AspectRatios(VpDomain domain, PetscReal range[2])
{
  range[0] = PETSC_MAX_REAL;
  range[1] = 1;
  for (int32_t b = 0; b < domain->nbox; b++) {
    PetscReal least = PETSC_MAX_REAL, most = 0;

    for (int d = 0; d < domain->dim; d++) {
      least = PetscMin(least, VpDomainWidth(domain, b, d));
      most = PetscMax(most, VpDomainWidth(domain, b, d));
    }
    range[0] = PetscMin(range[0], most / least);
    range[1] = PetscMax(range[1], most / least);
  }
}

PetscReal VpAspectRatio(VpDomain domain)
{
  PetscReal range[2];

  AspectRatios(domain, range);
  return range[1];
}

/* FGMRES was measured with a tolerance of 1e-8. Local coarsening, which merges only thin cells, takes about one iteration more than cubes.
   Full coarsening takes 4 a iterations at degree 1 and 6 a/k at higher degrees k, where a is the aspect ratio, unless cells are nearly
   cubes. The range starts one below the number for cubes, or at 0.6 times the estimate with full coarsening, and ends one above 1.25 times
   the estimate. */
static void ExpectOfBoxes(int degree, PetscReal aspect, VpCoarsen how, int range[2])
{
  const double    cubes = degree == 1 ? 5 : (degree <= 3 ? 4 : 3);
  const PetscBool full = (PetscBool)(how == VP_COARSEN_FULL);
  const double    stretched = full ? (degree == 1 ? 4 : 6. / degree) * aspect : cubes + (aspect > 1.5);

  range[0] = (int)PetscMax(cubes - 1, full ? 0.6 * stretched : 0);
  range[1] = (int)ceil(1.25 * PetscMax(cubes, stretched)) + 1;
}

/* The forecast of a metric is right to a factor of 1.5 in most cases. A continuous operator takes 5 to 7 iterations where its cycle takes
   fewer, unless nodes are centers of cells. */
void VpExpectIterations(const VpProblem *problem, PetscReal aspect, VpCoarsen how, int range[2])
{
  const double nu = problem->metric ? VpMetricIterations(problem->metric, problem->kind) : 0;

  ExpectOfBoxes(problem->degree, aspect, how, range);
  range[0] = PetscMax(range[0], (int)(nu / 1.5));
  range[1] = PetscMax(range[1], (int)ceil(nu * 1.5));
  if (!problem->nodal) return;
  range[0] = PetscMax(range[0], 4);
  range[1] = PetscMax(range[1], 8);
}

PetscErrorCode VpViewAspect(VpDomain domain, int degree, PetscViewer viewer)
{
  PetscReal aspect[2];
  int       range[2];

  PetscFunctionBegin;
  AspectRatios(domain, aspect);
  ExpectOfBoxes(degree, aspect[1], VP_COARSEN_LOCAL, range);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cells of aspect ratio %.3g", (double)aspect[0]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (aspect[1] > VP_RATIO_SHOWN * aspect[0]) PetscCall(PetscViewerASCIIPrintf(viewer, " to %.3g", (double)aspect[1]));
  if (aspect[1] > 2)
    PetscCall(
      PetscViewerASCIIPrintf(viewer, ": expect %d to %d iterations by fgmres, up to half as many more by richardson", range[0], range[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
