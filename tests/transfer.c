/* Vectors that go from mesh to mesh, where cells are refined and coarsened. */
/* ranks: 1 2 3 5 */
#include "support/leaves.h"
#include "support/refused.h"

/* prod_d (x_d^k + x_d/2 - 1) */
static PetscErrorCode Polynomial(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  for (PetscInt d = 0; d < dim; d++) value[0] *= PetscPowRealInt(x[d], *(int *)ctx) + x[d] / 2 - 1;
  return PETSC_SUCCESS;
}

/* with all cells marked at random for refinement, nothing, or coarsening */
static PetscErrorCode AdaptSome(DM dm, int seed, DM *adapted)
{
  PetscInt     n, dim;
  PetscReal    lower[3], upper[3];
  DMAdaptFlag *mark;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &mark));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    mark[c] = Lot(lower, upper, (int)dim, seed) < 0.2 ? DM_ADAPT_REFINE : DM_ADAPT_COARSEN;
  }
  PetscCall(DMVPatchDGRefineCells(dm, mark, adapted));
  PetscCall(PetscFree(mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode polynomials_and_integrals_are_kept(const Case *c)
{
  PetscReal   worst = 0, difference;
  PetscScalar before, after;
  int         k = (int)c->degree;
  DM          dm, next;
  Vec         x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CaseCreate(c, &dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecSetRandom(x, NULL));
  for (int step = 0; step < 3; step++) {
    PetscCall(AdaptSome(dm, step, &next));
    PetscCall(DMCreateGlobalVector(next, &y));
    PetscCall(DMVPatchDGTransfer(dm, next, x, y));
    PetscCall(DMVPatchDGIntegrate(dm, x, &before));
    PetscCall(DMVPatchDGIntegrate(next, y, &after));
    worst = PetscMax(worst, PetscAbsScalar(before - after) / PetscAbsScalar(before));
    PetscCall(DMVPatchDGInterpolate(dm, Polynomial, &k, x));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(DMVPatchDGTransfer(dm, next, x, z));
    PetscCall(DMVPatchDGInterpolate(next, Polynomial, &k, y));
    PetscCall(Difference(z, y, &difference));
    worst = PetscMax(worst, difference);
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&dm));
    dm = next;
    x = y;
  }
  TapOk((PetscBool)(worst < 1e-11), "polynomials_and_integrals_are_kept, %s: %g", c->name, (double)worst);
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Down from a mesh refined several times and up again, a function of the coarse mesh is the same; up and down, any is. */
static PetscErrorCode refinement_is_undone_by_coarsening(const Case *c)
{
  PetscReal difference[2];
  DM        coarse, fine[4];
  Vec       x, y, z;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, c->dim, c->degree, 1, &coarse));
  PetscCall(DMVPatchDGSetDomain(coarse, c->domain));
  PetscCall(DMSetUp(coarse));
  fine[0] = coarse;
  for (int i = 0; i < 3; i++) {
    PetscCall(PetscObjectReference((PetscObject)fine[i]));
    fine[i + 1] = fine[i];
    PetscCall(RefineSome(&fine[i + 1], 0.3, i));
  }
  PetscCall(DMCreateGlobalVector(coarse, &x));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(DMCreateGlobalVector(fine[3], &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(DMVPatchDGTransfer(coarse, fine[3], x, y));
  PetscCall(VecNorm(y, NORM_2, &difference[0]));
  PetscCall(VecNorm(x, NORM_2, &difference[1]));
  difference[0] = PetscAbsReal(difference[0] - difference[1]) / difference[1];
  PetscCall(DMVPatchDGTransfer(fine[3], coarse, y, z));
  PetscCall(Difference(z, x, &difference[1]));
  TapOk((PetscBool)(difference[0] < 1e-13 && difference[1] < 1e-13), "refinement_is_undone_by_coarsening, %s: %g", c->name,
        (double)difference[1]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  for (int i = 0; i < 4; i++) PetscCall(DMDestroy(&fine[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_meshes_are_refused(void)
{
  DM  dm[3];
  Vec x[3];

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, i == 1 ? 3 : 2, 1, &dm[i]));
    if (i == 2) PetscCall(DMVPatchDGSetDomain(dm[i], VPATCHDG_DOMAIN_LSHAPE));
    PetscCall(DMSetUp(dm[i]));
    PetscCall(DMCreateGlobalVector(dm[i], &x[i]));
  }
  Refused(DMVPatchDGTransfer(dm[0], dm[1], x[0], x[1]), "which have to be the same", "another degree");
  Refused(DMVPatchDGTransfer(dm[0], dm[2], x[0], x[2]), "two meshes of the same boxes", "other boxes");
  Refused(DMVPatchDGTransfer(dm[0], dm[0], x[1], x[0]), "that of the DM is", "another vector");
  for (int i = 0; i < 3; i++) {
    PetscCall(VecDestroy(&x[i]));
    PetscCall(DMDestroy(&dm[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const Case cases[] = {{"2D Q1", 2, 1, 2, VPATCHDG_DOMAIN_BOX, {D, D, D, D}, 0, 1, PETSC_FALSE},
                        {"2D L-shape, Q8", 2, 8, 1, VPATCHDG_DOMAIN_LSHAPE, {D, D, D, D}, 0, 1, PETSC_FALSE},
                        {"3D Fichera, Q2", 3, 2, 1, VPATCHDG_DOMAIN_FICHERA, {D, D, D, D, D, D}, 0, 1, PETSC_TRUE}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(polynomials_and_integrals_are_kept(&cases[i]));
    PetscCall(refinement_is_undone_by_coarsening(&cases[i]));
  }
  PetscCall(other_meshes_are_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
