/* Cells of a DMPLEX that do not fill the grid of their faces, around a hole for instance: joins the cells to boxes. */
#include "usergrid.h"
#include <stdlib.h>

/* compares the places of the parents, then the cells' own places */
static int ByFamily(const void *a, const void *b)
{
  VpUserCell x = *(const VpUserCell *)a, y = *(const VpUserCell *)b;
  int        order;

  for (int d = 0; d < 3; d++) x.at[d] /= 2, y.at[d] /= 2;
  order = VpComparePlaces(&x, &y);
  return order ? order : VpComparePlaces(a, b);
}

/* Removes the labels of sides between cells. Requires: every cell takes one place. */
static void ForgetLabelsInside(VpUserGrid *grid)
{
  const size_t n = (size_t)grid->ncell;

  qsort(grid->cell, n, sizeof(VpUserCell), VpComparePlaces);
  for (size_t i = 0; i < n; i++) {
    for (int side = 0; side < 2 * grid->dim; side++) {
      VpUserCell beyond = grid->cell[i];

      beyond.at[side / 2] += side % 2 ? 1 : -1;
      if (bsearch(&beyond, grid->cell, n, sizeof(VpUserCell), VpComparePlaces)) grid->cell[i].label[side] = -1;
    }
  }
}

/* Joins 2^dim children, x fastest, to their parent. Returns false if a child is missing, or if widths or the labels of a side differ. step:
   number of faces from one child to the next */
static PetscBool JoinFamily(const VpUserGrid *grid, const VpUserCell child[], PetscInt step, VpUserCell *parent)
{
  *parent = child[0];
  for (int d = 0; d < grid->dim; d++) parent->at[d] /= 2;
  for (int c = 0; c < 1 << grid->dim; c++) {
    for (int d = 0; d < grid->dim; d++) {
      const int side = 2 * d + (c >> d & 1);

      if (child[c].at[d] != 2 * parent->at[d] + (c >> d & 1)) return PETSC_FALSE;
      if (c == (c & 1 << d)) parent->label[side] = child[c].label[side];
      else if (parent->label[side] != child[c].label[side]) return PETSC_FALSE;
    }
  }
  for (int d = 0; d < grid->dim; d++) {
    if (!VpAreEqual(grid->face[d], parent->at[d] * 2 * step, 2 * step)) return PETSC_FALSE; /* The face of an existing child exists. */
  }
  return PETSC_TRUE;
}

/* Joins families while every cell has one. Ensures: cells are 2^*level faces apart. */
static PetscErrorCode JoinFamilies(VpUserGrid *grid, PetscInt *level)
{
  const PetscInt children = (PetscInt)1 << grid->dim;
  VpUserCell    *parent;
  PetscBool      joined = PETSC_TRUE;

  PetscFunctionBegin;
  *level = 0;
  for (PetscInt i = 0; i < grid->ncell; i++) {
    for (int d = 0; d < grid->dim; d++) joined = (PetscBool)(joined && grid->cell[i].n[d] == 1);
  }
  if (!joined) PetscFunctionReturn(PETSC_SUCCESS);
  ForgetLabelsInside(grid);
  PetscCall(PetscMalloc1(grid->ncell / children, &parent));
  while (joined) {
    const PetscInt n = grid->ncell / children;

    qsort(grid->cell, (size_t)grid->ncell, sizeof(VpUserCell), ByFamily);
    joined = (PetscBool)(n * children == grid->ncell);
    for (PetscInt i = 0; i < n && joined; i++) joined = JoinFamily(grid, grid->cell + i * children, (PetscInt)1 << *level, parent + i);
    if (!joined) break;
    PetscCall(PetscArraycpy(grid->cell, parent, n));
    grid->ncell = n;
    ++*level;
  }
  PetscCall(PetscFree(parent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the boxes and their labels. all: the cells of all ranks, whose places count 2^level faces */
static PetscErrorCode SetUserBoxes(DM dm, const VpUserGrid *all, PetscInt level)
{
  const int  dim = all->dim;
  PetscReal *lower, *upper;
  PetscInt  *label;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(all->ncell * dim, &lower, all->ncell * dim, &upper, all->ncell * 2 * dim, &label));
  for (PetscInt i = 0; i < all->ncell * dim; i++) {
    const VpUserCell *cell = all->cell + i / dim;
    const PetscInt    d = i % dim;

    lower[i] = all->face[d][cell->at[d] << level];
    upper[i] = all->face[d][(cell->at[d] + cell->n[d]) << level];
    for (int end = 0; end < 2; end++) label[2 * i + end] = cell->label[2 * d + end];
  }
  PetscCall(DMVPatchDGSetBoxes(dm, all->ncell, lower, upper));
  if (all->labeled) PetscCall(DMVPatchDGSetSideLabels(dm, all->ncell, label));
  PetscCall(PetscFree3(lower, upper, label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSetUserCells(DM dm, const VpUserGrid *grid)
{
  VpUserGrid all = *grid;
  PetscInt   level;

  PetscFunctionBegin;
  PetscCall(VpGatherAll(grid->comm, grid->ncell, sizeof(VpUserCell), grid->cell, &all.ncell, &all.cell));
  PetscCall(JoinFamilies(&all, &level));
  PetscCall(DMSetRefineLevel(dm, level));
  PetscCall(SetUserBoxes(dm, &all, level));
  PetscCall(PetscFree(all.cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}
