/* The cells of a sweep of single ones, by colour, and the sweep. */
#include "cellsweep.h"
#include "internal.h"

struct VpCellSweep_ {
  VpLevel    level;
  VpArrays   arrays;
  VpCellView view;
  int        ncolor;
  int32_t    start[4]; /* colour c is the view's cells [start[c], start[c+1]) */
};

/* Neighbours differ in one direction's digit, hence in the sum. */
static int ColorOf(VpMesh mesh, int ncolor, int32_t cell)
{
  int sum = 0;

  for (int d = 0; d < mesh->dim; d++) sum += 2 - VpVertexDigit(mesh, cell, d);
  return sum % ncolor;
}

static PetscErrorCode Place(VpCellSweep sweep)
{
  const VpMesh mesh = sweep->level->mesh;
  int32_t     *list, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nown, &list));
  for (int color = 0; color < sweep->ncolor; color++) {
    for (int32_t cell = 0; cell < mesh->nown; cell++) {
      if (ColorOf(mesh, sweep->ncolor, cell) == color) list[n++] = cell;
    }
    sweep->start[color + 1] = n;
  }
  PetscCall(VpPlaceArray(&sweep->arrays, list, n, "cells by colour", &sweep->view.cell));
  PetscCall(PetscFree(list));
  PetscCall(VpLevelPlaceBlocks(sweep->level, &sweep->arrays, &sweep->view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellSweepCreate(VpLevel level, VpCellSweep *out)
{
  VpCellSweep sweep;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sweep));
  *out = sweep;
  sweep->level = VpReference(level);
  sweep->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  sweep->ncolor = VpMeshSeams(level->mesh) ? 3 : 2;
  PetscCall(VpTogether(level->mesh->comm, Place(sweep)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellSweepDestroy(VpCellSweep *out)
{
  VpCellSweep sweep = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!sweep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&sweep->arrays));
  PetscCall(VpLevelDestroy(&sweep->level));
  PetscCall(PetscFree(sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int VpCellSweepColors(VpCellSweep sweep)
{
  return sweep->ncolor;
}

PetscErrorCode VpCellSweepColor(VpCellSweep sweep, int color, VpVector b, VpVector x)
{
  const VpLevel level = sweep->level;
  const int32_t first = sweep->start[color], last = sweep->start[color + 1];
  const double  share = (double)(last - first) / PetscMax(1, level->mesh->nown);
  const void   *values;
  void         *to;

  PetscFunctionBegin;
  PetscCall(VpVectorChange(x, VP_GHOST_FACE, VP_GHOST_NONE, &to));
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &values));
  PetscCall(level->ops->solve_cells(&level->view, &sweep->view, first, last, VpVectorGhosts(x), values, to));
  PetscCall(VpLogFlops(level, share * VpLevelApplyFlops(level) + 2 * VpTransferFlops(&level->view, last - first)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
