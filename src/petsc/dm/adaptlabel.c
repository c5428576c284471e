/* DMAdaptLabel() with -dm_adaptor vpatchdg. PETSc finds adaptors by name and takes DMPLEX's adaptor by default. */
#include "internal.h"

/* mark [n]: labels of the own cells, DM_ADAPT_KEEP without one. *right: the label marks no other points */
static PetscErrorCode TakeMarks(DMLabel label, PetscInt n, DMAdaptFlag mark[], PetscBool *right)
{
  PetscInt first, end, value;

  PetscFunctionBegin;
  PetscCall(DMLabelGetBounds(label, &first, &end));
  PetscCall(DMLabelDestroyIndex(label));                          /* DMLabelGetBounds() makes an index, which refuses further points. */
  *right = (PetscBool)(end <= n && (first >= 0 || end <= first)); /* Both are -1 if the label is empty. */
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMLabelGetValue(label, c, &value));
    mark[c] = value == DM_ADAPT_DETERMINE ? DM_ADAPT_KEEP : (DMAdaptFlag)value;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGAdaptLabel(DM dm, Vec metric, DMLabel label, DMLabel regions, DM *adapted)
{
  static const char who[] = "-dm_adaptor vpatchdg";
  const MPI_Comm    comm = PetscObjectComm((PetscObject)dm);
  PetscBool         right = PETSC_FALSE;
  PetscInt          n;
  DMAdaptFlag      *mark;
  PetscErrorCode    error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, who));
  PetscCheck(!metric && label, comm, PETSC_ERR_SUP, "%s adapts by a label of cells, as DMAdaptLabel() gives it, not by a metric", who);
  n = DMVPatchDGData(dm)->mesh->nown;
  PetscCall(PetscMalloc1(n + 1, &mark)); /* not NULL on ranks without cells */
  PetscCall(TakeMarks(label, n, mark, &right));
  error = VpCheckEverywhere(comm, right,
                            "-dm_adaptor vpatchdg: the label has points that are no cells of this rank, which DMVPatchDGGetCells() counts");
  if (!error) error = DMVPatchDGRefineCells(dm, mark, adapted);
  PetscCall(PetscFree(mark));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
