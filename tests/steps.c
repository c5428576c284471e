/* The coarsest level by steps of finite volumes and a sweep: it takes the iterations of an exact inverse, on any number of ranks, also for
   outer KSPs that do not let the preconditioner change and where constants are the null space. */
/* ranks: 1 3 */
#include "support/nu.h"

typedef struct {
  const char *name;
  PetscInt    dim, degree, boxes; /* along each direction, one cell each */
  PetscBool   neumann;
  KSPType     ksp;
  PetscReal   jump, most; /* coefficients 1 .. jump, random; the most iterations for eight digits */
} Case;

static const Case cases[] = {{"constant", 2, 2, 12, PETSC_FALSE, KSPFGMRES, 1, 3.2},
                             {"constant", 3, 1, 5, PETSC_FALSE, KSPFGMRES, 1, 2.9},
                             {"not flexible", 2, 2, 12, PETSC_FALSE, KSPGMRES, 1, 1.2},
                             {"Neumann", 2, 2, 12, PETSC_TRUE, KSPFGMRES, 1, 3.5},
                             {"random", 2, 2, 12, PETSC_FALSE, KSPFGMRES, 1000, 6}};

static PetscErrorCode few_iterations_by_steps(const Case *c)
{
  const PetscInt         n[3] = {c->boxes, c->boxes, c->boxes};
  const VPatchDGBoundary sides[6] = {VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN,
                                     VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_NEUMANN};
  PetscReal              nu = 0, *a;
  PetscInt               cells;
  PetscRandom            random;
  Mat                    A;
  MatNullSpace           constants;
  Vec                    b;
  DM                     dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, c->dim, c->degree, 0, &dm));
  PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_HOST));
  PetscCall(DMVPatchDGSetBoxGrid(dm, n, NULL, NULL));
  if (c->neumann) PetscCall(DMVPatchDGSetBoundary(dm, sides));
  PetscCall(DMSetUp(dm));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRAND48));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(PetscMalloc1(cells + 1, &a));
  for (PetscInt i = 0; i < cells; i++) {
    PetscCall(PetscRandomGetValueReal(random, &a[i]));
    a[i] = PetscPowReal(c->jump, a[i]);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecSetRandom(b, random));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, b));
  PetscCall(MatDestroy(&A));
  PetscCall(Nu(dm, b, c->ksp, "-pc_vpatchdg_levels 1 -pc_vpatchdg_coarse steps", &nu));
  TapOk((PetscBool)(nu > 0 && nu < c->most), "few_iterations_by_steps, %s, %dD Q%d: %.1f, at most %g", c->name, (int)c->dim, (int)c->degree,
        (double)nu, (double)c->most);
  PetscCall(PetscFree(a));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(few_iterations_by_steps(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
