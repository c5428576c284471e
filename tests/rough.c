/* Coefficients that jump from cell to cell, in cases where patches or levels cannot follow: a reaction next to them, thin cells. */
/* ranks: 1 3 */
#include "support/nu.h"

#define OPTIONS "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 3"

/* layers of one cell across the last direction, of which there are n */
static PetscErrorCode SetLayers(DM dm, PetscInt dim, PetscInt n, PetscReal jump)
{
  PetscInt   cells;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(PetscMalloc1(cells + 1, &a)); /* not NULL on ranks without cells */
  for (PetscInt c = 0; c < cells; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    a[c] = (PetscInt)((lower[dim - 1] + upper[dim - 1]) / 2 * (PetscReal)n) % 2 ? jump : 1;
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* boxes: how many there are along the last direction of the unit square or cube, each refined `refine` times */
typedef struct {
  const char *name;
  PetscInt    dim, degree, boxes, refine;
  PetscReal   jump, reaction, most;
} Layers;

static const Layers cases[] = {{"reaction", 3, 2, 1, 3, 1e10, 1e-5, 10},
                               {"reaction", 3, 2, 1, 3, 1e10, 1, 10},
                               {"reaction", 3, 2, 1, 3, 1e10, 1e5, 11},
                               {"reaction", 3, 2, 1, 3, 1e10, 1e10, 11},
                               {"reaction", 3, 2, 1, 3, 1e10, 1e15, 4},
                               {"reaction, few cells", 3, 2, 5, 1, 1e10, 1e5, 8},
                               {"reaction, few cells", 2, 3, 5, 1, 1e6, 1e9, 8},
                               {"thin", 2, 2, 4, 3, 1e8, 0, 8},
                               {"thin", 2, 3, 4, 3, 1e6, 0, 8}};

static PetscErrorCode few_iterations_in_layers(const Layers *l)
{
  const PetscInt  n[3] = {1, l->dim == 2 ? l->boxes : 1, l->boxes};
  const PetscReal upper[3] = {1, 1, 1};
  PetscReal       nu;
  Vec             b;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, l->dim, l->degree, l->refine, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, NULL, upper));
  PetscCall(DMVPatchDGSetReaction(dm, l->reaction));
  PetscCall(DMSetUp(dm));
  PetscCall(SetLayers(dm, l->dim, l->boxes << l->refine, l->jump));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(Nu(dm, b, KSPFGMRES, OPTIONS, &nu));
  TapOk((PetscBool)(nu > 0 && nu < l->most), "few_iterations_in_layers, %s, %dD Q%d, 1:%g, c = %g: %.1f, at most %g", l->name, (int)l->dim,
        (int)l->degree, (double)l->jump, (double)l->reaction, (double)nu, (double)l->most);
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(few_iterations_in_layers(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
