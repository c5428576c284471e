/* A cycle for several vectors at once: a cycle for a mesh of n copies of all cells. All kernels and messages serve all columns together, so
   that small levels take little more time than for one column. The coarsest level is solved as in the base cycle, for all columns at once
   or one by one. */
#include "internal.h"

enum { MOST_COLUMNS = 16 };

struct VpColumns_ {
  int32_t   n;
  VpCycle   cycle;
  VpVector *right, *left; /* [n] windows of the finest level's b and x */
};

/* Limits the columns by unknowns: only small levels, which wait for messages or launches, gain from several columns. */
PetscInt VpColumnsAtOnce(VpLevel finest, PetscInt n)
{
  const double ranks = (double)VpMeshRanks(finest->mesh);
  const double unknowns = (double)finest->mesh->ncell / ranks * (double)VpLevelValues(finest);

  return (PetscInt)PetscMin((double)PetscMin(n, MOST_COLUMNS), finest->backend->prefers->most_columns / unknowns);
}

/* Moves and the leaves of an adaptive mesh work on one copy only. Finite volumes take columns one by one, from x = 0. */
PetscBool VpColumnsCan(VpCycle cycle)
{
  for (PetscInt l = 1; l < cycle->nlevel; l++) {
    if (cycle->at[l].move) return PETSC_FALSE;
  }
  return (PetscBool)(!cycle->npartial && !(cycle->handed && cycle->options.pre));
}

PetscErrorCode VpColumnsCreate(VpCycle base, int32_t n, VpColumns *out)
{
  const int32_t nown = base->at[0].level->mesh->nown;
  VpColumns     columns;

  PetscFunctionBegin;
  PetscCall(PetscNew(&columns));
  *out = columns;
  columns->n = n;
  PetscCall(VpCycleRepeat(base, n, &columns->cycle));
  PetscCall(PetscCalloc2(n, &columns->right, n, &columns->left));
  for (int32_t k = 0; k < n; k++) {
    PetscCall(VpVectorCreateWindow(columns->cycle->at[0].b, base->at[0].level, k * nown, &columns->right[k]));
    PetscCall(VpVectorCreateWindow(columns->cycle->at[0].x, base->at[0].level, k * nown, &columns->left[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpColumnsDestroy(VpColumns *out)
{
  VpColumns columns = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!columns) PetscFunctionReturn(PETSC_SUCCESS);
  for (int32_t k = 0; columns->right && k < columns->n; k++) {
    PetscCall(VpVectorDestroy(&columns->right[k]));
    PetscCall(VpVectorDestroy(&columns->left[k]));
  }
  PetscCall(PetscFree2(columns->right, columns->left));
  PetscCall(VpCycleDestroy(&columns->cycle));
  PetscCall(PetscFree(columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpColumnsBegin(VpColumns columns)
{
  VpVector b;

  PetscFunctionBegin;
  PetscCall(VpCycleBegin(columns->cycle, 0, &b));
  PetscCall(VpVectorWrite(b, VP_GHOST_NONE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

VpVector VpColumnsRight(VpColumns columns, int32_t column)
{
  return columns->right[column];
}

PetscErrorCode VpColumnsSolve(VpColumns columns)
{
  PetscFunctionBegin;
  PetscCall(VpCycleRun(columns->cycle, 0, PETSC_FALSE));
  PetscCall(VpVectorRead(columns->cycle->at[0].x, VP_GHOST_NONE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpColumnsLeave(VpColumns columns, int32_t column, double scale, double *z)
{
  PetscFunctionBegin;
  PetscCall(VpVectorLeave(columns->left[column], PETSC_FALSE, VpLevelUndo(columns->cycle->at[0].level, scale), z));
  PetscFunctionReturn(PETSC_SUCCESS);
}
