/* Sweeps over single cells, colour by colour, and which cells these are. */
#include "cellsweep.h"
#include "internal.h"
#include "../base/threads.h"

enum { MOST_COLORS = 2 * (2 * 3 + 1) }; /* trees have the most */

struct VpCellSweep_ {
  VpLevel    level;
  VpArrays   arrays;
  VpCellView view;
  int        ncolor;
  uint8_t   *tree;                   /* [boxes] colours of trees; NULL: boxes */
  PetscInt   cells;                  /* that are swept, of all ranks */
  int32_t    start[MOST_COLORS + 1]; /* colour c is the view's cells [start[c], start[c+1]) */
};

/* Neighbours differ in one direction's digit, hence in the sum, or they are cells of different trees. */
static int ColorOf(VpCellSweep sweep, int32_t cell)
{
  const VpMesh mesh = sweep->level->mesh;
  int          sum = 0;

  if (sweep->tree) {
    if (mesh->level == 0) return sweep->tree[mesh->geometry->box[cell]];
    for (int d = 0; d < mesh->dim; d++) sum += mesh->geometry->coord[3 * (size_t)cell + (size_t)d];
    return sweep->tree[mesh->geometry->box[cell]] * 2 + sum % 2;
  }
  for (int d = 0; d < mesh->dim; d++) sum += 2 - VpVertexDigit(mesh, cell, d);
  return sum % sweep->ncolor;
}

/* Sets the number of colours, and those of trees. */
static PetscErrorCode ColorTrees(VpCellSweep sweep)
{
  const VpMesh   mesh = sweep->level->mesh;
  const VpDomain domain = mesh->geometry->domain;

  PetscFunctionBegin;
  sweep->ncolor = VpMeshSeams(mesh) ? 3 : 2;
  if (!domain->trees) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(domain->nbox, &sweep->tree));
  sweep->ncolor = VpDomainColorTrees(domain, sweep->tree);
  if (mesh->level > 0) sweep->ncolor *= 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* About h^2 times the least eigenvalue along a direction of a patch of two cells: (pi / 2)^2. */
#define LEAST 2.5

/* The largest ratio, over the cells and directions of a patch, of the coefficient that the patch's tables have there to the cell's own.
   Both include the reaction. The mass of the tables varies as their coefficient does, and so does the reaction of the patch. */
static double StiffnessOf(VpLevel level, const int32_t cell[], const uint8_t frame[])
{
  const int          dim = level->mesh->dim;
  double             sigma[3], reaction, most = 1;
  VpPatchCoefficient coefficient;
  VpFit              fit;

  VpPatchCoefficientGet(level, cell, frame, &coefficient);
  VpCoefficientFit(&coefficient, 0, &fit, sigma);
  reaction = VpPatchReaction(level, cell, &fit);
  for (int c = 0; c < 1 << dim; c++) {
    const double own = level->scale * VpProblemReaction(&level->problem, cell[c]);

    for (int d = 0; d < dim; d++) {
      const double h = VpGeometrySize(level->mesh->geometry, cell[c], d), square = h * h / LEAST;
      const double patch = sigma[d] * VpFitProduct(dim, &fit, c, d) + reaction * square * VpFitMass(dim, &fit, c);

      most = PetscMax(most, patch / (coefficient.a[c][d] + own * square));
    }
  }
  return most;
}

/* swept[c] = whether own cell c is swept: in a stiff patch, whose coefficient is somewhere more than `ratio` times that of the cell, or in
   none, as whole trees may be */
static PetscErrorCode ChooseCells(VpLevel level, double ratio, uint8_t swept[])
{
  const VpMesh    mesh = level->mesh;
  const PetscBool trees = (PetscBool)(mesh->geometry->domain->trees != NULL);
  VpPatches       patches;
  uint8_t        *stiff; /* [patches.n] */

  PetscFunctionBegin;
  memset(swept, trees, (size_t)mesh->nown);
  if (VpLevelIsUniform(level) && !trees) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpPatchesCreate(mesh, level->thinnest, &patches));
  PetscCall(PetscCalloc1(patches.n, &stiff));
  if (!VpLevelIsUniform(level)) {
    VP_LOOP (p, patches.n) {
      const size_t at = (size_t)p << mesh->dim;

      stiff[p] = StiffnessOf(level, patches.cell + at, patches.frame ? patches.frame + at : NULL) > ratio;
    }
  }
  for (size_t i = 0; i < (size_t)patches.n << mesh->dim; i++) {
    if (patches.cell[i] < mesh->nown) swept[patches.cell[i]] = 0;
  }
  for (size_t i = 0; i < (size_t)patches.n << mesh->dim; i++) {
    if (stiff[i >> mesh->dim] && patches.cell[i] < mesh->nown) swept[patches.cell[i]] = 1;
  }
  PetscCall(PetscFree(stiff));
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceCells(VpCellSweep sweep, double ratio)
{
  const VpMesh mesh = sweep->level->mesh;
  int32_t     *list, n = 0;
  uint8_t     *swept;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(mesh->nown, &list, mesh->nown, &swept));
  if (ratio >= 1) PetscCall(ChooseCells(sweep->level, ratio, swept));
  else memset(swept, 1, (size_t)mesh->nown);
  for (int color = 0; color < sweep->ncolor; color++) {
    for (int32_t cell = 0; cell < mesh->nown; cell++) {
      if (swept[cell] && ColorOf(sweep, cell) == color) list[n++] = cell;
    }
    sweep->start[color + 1] = n;
  }
  PetscCall(VpPlaceArray(&sweep->arrays, list, n, "cells by colour", &sweep->view.cell));
  PetscCall(PetscFree2(list, swept));
  PetscCall(VpLevelPlaceBlocks(sweep->level, &sweep->arrays, &sweep->view));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellSweepCreate(VpLevel level, double ratio, VpCellSweep *out)
{
  VpCellSweep sweep;

  PetscFunctionBegin;
  PetscCall(PetscNew(&sweep));
  *out = sweep;
  sweep->level = VpReference(level);
  sweep->arrays = (VpArrays){.backend = level->backend, .precision = level->precision};
  PetscCall(ColorTrees(sweep));
  PetscCall(VpTogether(level->mesh->comm, PlaceCells(sweep, ratio)));
  sweep->cells = sweep->start[sweep->ncolor];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sweep->cells, 1, MPIU_INT, MPI_SUM, level->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCellSweepDestroy(VpCellSweep *out)
{
  VpCellSweep sweep = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!sweep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&sweep->arrays));
  PetscCall(PetscFree(sweep->tree));
  PetscCall(VpLevelDestroy(&sweep->level));
  PetscCall(PetscFree(sweep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt VpCellSweepCells(VpCellSweep sweep)
{
  return sweep->cells;
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
  PetscCall(VpLogFlops(level->backend, share * VpLevelApplyFlops(level) + 2 * VpTransferFlops(&level->view, last - first)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
