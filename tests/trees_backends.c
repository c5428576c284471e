/* Host and device agree where trees are turned against one another: operators, cycles of all kinds, solvers.
   ranks: 1 2 */
#include "support/agree.h"
#include "support/trees.h"
#include "../src/petsc/dm/internal.h"

/* trees, with their degree and how often they are refined */
typedef struct {
  Trees       trees;
  Case        c;
  const char *options; /* of the DM */
} TreesCase;

static PetscErrorCode CreateTrees(const TreesCase *t, Place place, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(CaseDM(&t->c, place, dm));
  PetscCall(TreesGive(&t->trees, *dm));
  PetscCall(TestDMOptions(*dm, t->options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient per tree, 1 or 16. The fits of patches, which are coarse on devices, are exact. */
static PetscErrorCode SetTwoValues(DM dm)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  PetscReal   *a;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nown + 1, &a));
  for (int32_t c = 0; c < mesh->nown; c++) a[c] = mesh->geometry->box[c] % 3 ? 1 : 16;
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on the host and on a device. exact: no fit of a patch is rounded, so that cycles are equal. Else their solves are alike. Steps have CG on
   either: devices would take a dense inverse. */
static PetscErrorCode Agree(const TreesCase *t, PetscBool exact, PetscBool two)
{
  static const char *const cycles[] = {
    "",
    "-pc_vpatchdg_residual global",
    "-pc_vpatchdg_space dirichlet -pc_vpatchdg_exchange color",
    "-pc_vpatchdg_cycle_type f -pc_vpatchdg_smooth_pre 1",
    "-pc_vpatchdg_cell_sweeps 1 -pc_vpatchdg_symmetric",
    "-pc_vpatchdg_levels 2 -pc_vpatchdg_coarse steps -vpatchdg_coarse_volumes_ksp_type cg -vpatchdg_coarse_volumes_pc_type jacobi "
    "-vpatchdg_coarse_volumes_ksp_rtol 1e-13",
  };
  Problem p[2];
  DM      dm;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(CreateTrees(t, i ? DEVICE : HOST, &dm));
    PetscCall(DMSetUp(dm));
    if (two) PetscCall(SetTwoValues(dm));
    PetscCall(CaseProblem(&t->c, dm, &p[i]));
  }
  PetscCall(CopyValues(p[0].b, p[1].b));
  PetscCall(operators_agree(&t->c, p));
  for (size_t i = 0; exact && i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
    for (int transposed = 0; transposed < 1 + (i == 0); transposed++)
      PetscCall(cycles_agree(&t->c, p, cycles[i], (PetscBool)transposed, (PetscBool)(strstr(cycles[i], "steps") != NULL)));
  }
  if (!exact) PetscCall(solver_agrees(&t->c, p, "-ksp_type fgmres", 1));
  for (int i = 0; i < 2; i++) PetscCall(ProblemDestroy(&p[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  TreesCase t;

  PetscFunctionBeginUser;
  if (!UsableBackend("cuda")) PetscFunctionReturn(TapSkip("no CUDA device"));
  for (PetscInt degree = 1; degree <= 4; degree++) {
    t = (TreesCase){.c = {"star", 2, degree, 2, UNIT}, .options = degree == 2 ? "-dm_vpatchdg_boundary robin" : ""};
    TreesStar(5, &t.trees);
    TreesTurn((unsigned int)degree, &t.trees);
    PetscCall(Agree(&t, PETSC_FALSE, PETSC_FALSE));
    t = (TreesCase){.c = {"square", 2, degree, 1 + degree % 2, UNIT}, .options = "-dm_vpatchdg_boundary neumann,dirichlet,neumann,neumann"};
    TreesGrid(2, 3, &t.trees);
    TreesTurn((unsigned int)degree, &t.trees);
    PetscCall(Agree(&t, PETSC_TRUE, (PetscBool)(degree % 2)));
    if (degree == 4) break;
    t = (TreesCase){.c = {"ball", 3, degree, 1, UNIT}, .options = degree == 1 ? "-dm_vpatchdg_reaction 2" : ""};
    TreesBall(3, &t.trees);
    TreesTurn((unsigned int)degree + 4, &t.trees);
    PetscCall(Agree(&t, PETSC_FALSE, PETSC_FALSE));
    t =
      (TreesCase){.c = {"cube", 3, degree, 1, UNIT}, .options = "-dm_vpatchdg_boundary dirichlet,neumann,neumann,neumann,neumann,neumann"};
    TreesGrid(3, 2, &t.trees);
    TreesTurn(3, &t.trees);
    PetscCall(Agree(&t, PETSC_TRUE, (PetscBool)(degree == 2)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
