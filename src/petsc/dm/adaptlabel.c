/* DMAdaptLabel() with -dm_adaptor vpatchdg. PETSc finds adaptors by name and takes DMPLEX's adaptor by default. */
#include "internal.h"
#include "dm.h"

/* Marks the cells whose label has this value, a DMAdaptFlag. *right becomes false if the label marks a point that is not an own cell. */
static PetscErrorCode MarkStratum(DMLabel label, PetscInt value, PetscInt n, DMAdaptFlag mark[], PetscBool *right)
{
  const PetscInt *point;
  PetscInt        count;
  IS              points;

  PetscFunctionBegin;
  PetscCall(DMLabelGetStratumIS(label, value, &points));
  if (!points || value == DM_ADAPT_DETERMINE) PetscFunctionReturn(ISDestroy(&points));
  PetscCall(ISGetLocalSize(points, &count));
  PetscCall(ISGetIndices(points, &point));
  for (PetscInt i = 0; i < count; i++) {
    if (point[i] >= 0 && point[i] < n) mark[point[i]] = (DMAdaptFlag)value;
    else *right = PETSC_FALSE;
  }
  PetscCall(ISRestoreIndices(points, &point));
  PetscCall(ISDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MarkByLabel(DMLabel label, PetscInt n, DMAdaptFlag mark[], PetscBool *right)
{
  const PetscInt *value;
  PetscInt        count;
  IS              values;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; c++) mark[c] = DM_ADAPT_KEEP;
  *right = PETSC_TRUE;
  PetscCall(DMLabelGetValueIS(label, &values));
  PetscCall(ISGetLocalSize(values, &count));
  PetscCall(ISGetIndices(values, &value));
  for (PetscInt i = 0; i < count; i++) PetscCall(MarkStratum(label, value[i], n, mark, right));
  PetscCall(ISRestoreIndices(values, &value));
  PetscCall(ISDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGAdaptLabel(DM dm, Vec metric, DMLabel label, DMLabel regions, DM *adapted)
{
  static const char who[] = "-dm_adaptor vpatchdg";
  const MPI_Comm    comm = PetscObjectComm((PetscObject)dm);
  PetscBool         right;
  PetscInt          n;
  DMAdaptFlag      *mark;
  PetscErrorCode    error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, who));
  PetscCheck(!metric && label, comm, PETSC_ERR_SUP, "%s adapts by a label of cells, as DMAdaptLabel() gives it, not by a metric", who);
  n = DMVPatchDGData(dm)->mesh->nown;
  PetscCall(PetscMalloc1(n + 1, &mark)); /* not NULL on ranks without cells */
  PetscCall(MarkByLabel(label, n, mark, &right));
  error = VpCheckEverywhere(comm, right,
                            "-dm_adaptor vpatchdg: the label has points that are no cells of this rank, which DMVPatchDGGetCells() counts");
  if (!error) error = DMVPatchDGRefineCells(dm, mark, adapted);
  PetscCall(PetscFree(mark));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
