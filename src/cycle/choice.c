/* What a cycle does where options leave it open: its type, its sweeps of single cells, its colours of patches. */
#include "internal.h"

#define VP_ROUGH 0.2 /* Where it varies on more than this part of the second level's cells, sweeps of cells pay. */

/* the sweeps of single cells that follow those of patches, where levels end for the coefficient or should, or where patches have much too
   large a reaction */
#define CELL_RATIO     1.1
#define REACTION_RATIO 10
static PetscInt CellSweeps(int dim)
{
  return dim == 2 ? 2 : 4;
}

/* Whether what the cycle does not see are angles, and many iterations are foretold for them. Angles set these, and the cycle need not be
   good. */
#define MANY 10
static PetscBool AnglesRule(const VpProblem *problem)
{
  return (PetscBool)(problem->metric && problem->oblique && !problem->metric->entry &&
                     VpMetricIterations(problem->metric, VP_METRIC_CELL) > MANY);
}

/* Chooses the cycle: V if coarse levels resolve the coefficient, or end for it, or the cycle must be symmetric, otherwise F. Where the
   coefficient varies on more than VP_ROUGH of the cells, patches do not resolve it either: sweeps of cells help, and F cycles help no more
   than V cycles. Where angles rule, minor colours of patches are left out, and in 3D V is as good. */
PetscErrorCode VpCycleChoose(VpCycle cycle)
{
  const VpMesh          mesh = cycle->at[0].level->mesh;
  const VpCycleOptions *o = &cycle->options;
  const PetscBool ends = cycle->ends, all = (PetscBool)(cycle->leaves.handed || cycle->leaves.rough), follows = (PetscBool)(ends || all);
  const PetscBool reacts = (PetscBool)(cycle->at[0].level->problem.reaction > 0 && cycle->at[0].level->problem.coefficient);
  const PetscBool angles = AnglesRule(&cycle->at[0].level->problem);
  PetscBool       rough;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cycle->contrast, 1, MPIU_REAL, MPIU_MAX, mesh->comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cycle->rough, 1, MPI_DOUBLE, MPI_SUM, mesh->comm));
  rough = (PetscBool)(cycle->rough > VP_ROUGH);
  cycle->chosen.type = o->type;
  cycle->chosen.for_angles = (PetscBool)(o->type == VP_CYCLE_AUTO && angles && mesh->dim == 3);
  if (o->type == VP_CYCLE_AUTO)
    cycle->chosen.type =
      ends || o->symmetric || cycle->contrast <= VP_VARIES || rough || cycle->chosen.for_angles ? VP_CYCLE_V : VP_CYCLE_F;
  cycle->chosen.cell_sweeps = o->cell_sweeps >= 0 ? o->cell_sweeps : follows || reacts ? CellSweeps(mesh->dim) : (PetscInt)rough;
  cycle->chosen.cell_ratio = o->cell_ratio >= 0 ? o->cell_ratio : follows ? CELL_RATIO : reacts ? REACTION_RATIO : 0;
  for (PetscInt l = ends && !all ? cycle->npartial : 0; cycle->chosen.cell_sweeps && l < cycle->nlevel; l++) {
    if (cycle->at[l].smoother) PetscCall(VpSmootherAddCells(cycle->at[l].smoother, cycle->chosen.cell_sweeps, cycle->chosen.cell_ratio));
  }
  cycle->chosen.colors = o->colors >= 0 ? o->colors : angles ? -1 : 0;
  for (PetscInt l = 0; cycle->chosen.colors && l < cycle->nlevel; l++) {
    if (cycle->at[l].smoother) PetscCall(VpSmootherLimitColors(cycle->at[l].smoother, cycle->chosen.colors));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
