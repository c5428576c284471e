/* A coefficient by its values at the points of cells. */
/* ranks: 1 2 3 */
#include "support/refused.h"
#include <petscksp.h>
#include <vpatchdg.h>

/* entry k of a positive definite matrix whose entries are polynomials of degree 2 */
static PetscScalar Entry(PetscInt dim, PetscInt components, PetscInt k, const PetscReal x[])
{
  const PetscReal z = dim == 3 ? x[2] : 0.3, a = 1 + x[0] * x[0] + 0.5 * x[1] + 0.2 * x[0] * z;
  const PetscBool diagonal = (PetscBool)(components <= dim || k == 0 || k == components - 1 || (dim == 3 && k == 3));

  return diagonal ? a + 0.1 * (double)k : 0.3 * x[0] * x[1] + 0.02 * (double)k;
}

static PetscErrorCode Coefficient(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[], void *ctx)
{
  const PetscInt components = *(const PetscInt *)ctx;

  for (PetscInt i = 0; i < n * components; i++) a[i] = Entry(dim, components, i % components, x + i / components * dim);
  return normal ? PETSC_ERR_USER : 0;
}

static PetscErrorCode New(PetscInt dim, PetscInt degree, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, degree, 2, dm));
  PetscCall(DMVPatchDGSetBasis(*dm, VPATCHDG_BASIS_GAUSS));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the coefficient at the DM's points */
static PetscErrorCode Values(DM dm, PetscInt components, Vec *values)
{
  Vec                points;
  PetscInt           n, dim;
  const PetscScalar *x;
  PetscScalar       *a;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetPoints(dm, &points));
  PetscCall(VecGetLocalSize(points, &n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, n / dim * components, PETSC_DETERMINE, values));
  PetscCall(VecGetArrayRead(points, &x));
  PetscCall(VecGetArrayWrite(*values, &a));
  PetscCall(Coefficient(dim, n / dim, x, NULL, a, &components));
  PetscCall(VecRestoreArrayWrite(*values, &a));
  PetscCall(VecRestoreArrayRead(points, &x));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares A x of two DMs. */
static PetscErrorCode AreLike(DM a, DM b, const char name[])
{
  Mat       A, B;
  Vec       x, y, z;
  PetscReal size, difference;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(a, &A));
  PetscCall(DMCreateMatrix(b, &B));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(B, x, z));
  PetscCall(VecNorm(y, NORM_2, &size));
  PetscCall(VecAXPY(z, -1, y));
  PetscCall(VecNorm(z, NORM_2, &difference));
  /* Points of a side are 1e-9 inside of the cell for a function, and on the side for values. */
  TapOk((PetscBool)(difference < 1e-8 * size), "%s: %.1e", name, (double)(difference / size));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Polynomials are the same as values and as functions, on the mesh, on finer, coarser and cloned ones. */
static PetscErrorCode values_are_polynomials(PetscInt dim, PetscInt degree, PetscInt components)
{
  static const PetscInt one = 1;
  DM                    of[2], next[2];
  Vec                   values;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(New(dim, degree, dim == 2 ? "-dm_vpatchdg_boxes 2,3" : "-dm_vpatchdg_boxes 2,1,1", &of[i]));
  PetscCall(DMVPatchDGSetCoefficientFunction(of[0], components, Coefficient, PETSC_MEMTYPE_HOST, &components));
  PetscCall(Values(of[1], components, &values));
  PetscCall(DMVPatchDGSetCoefficientValues(of[1], components, values));
  PetscCall(VecDestroy(&values));
  PetscCall(AreLike(of[0], of[1], "values_are_polynomials"));
  PetscCall(DMVPatchDGSetReactionFunction(of[0], Coefficient, PETSC_MEMTYPE_HOST, (void *)&one));
  PetscCall(Values(of[1], 1, &values));
  PetscCall(DMVPatchDGSetReactionValues(of[1], values));
  PetscCall(VecDestroy(&values));
  PetscCall(AreLike(of[0], of[1], "values_of_a_reaction_are_polynomials"));
  for (int i = 0; i < 2; i++) PetscCall(DMRefine(of[i], PETSC_COMM_WORLD, &next[i]));
  PetscCall(AreLike(next[0], next[1], "refined_values_are_polynomials"));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&next[i]));
  for (int i = 0; i < 2; i++) PetscCall(DMCoarsen(of[i], PETSC_COMM_WORLD, &next[i]));
  PetscCall(AreLike(next[0], next[1], "coarsened_values_are_polynomials"));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&next[i]));
  for (int i = 0; i < 2; i++) PetscCall(DMClone(of[i], &next[i]));
  PetscCall(AreLike(next[0], next[1], "clones_have_values"));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&next[i]));
  for (int i = 0; i < 2; i++) PetscCall(DMVPatchDGSetCoefficient(of[i], NULL));
  PetscCall(AreLike(of[0], of[1], "numbers_replace_values"));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&of[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values on adaptive meshes are those of the function at the points of sides that hang, too. Values of a reaction may be 0. */
static PetscErrorCode adaptive_meshes_have_values(PetscInt dim, PetscInt components, const char options[])
{
  static const PetscInt one = 1;
  DM                    of[2], next;
  Vec                   values, reaction;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) PetscCall(New(dim, 2, options, &of[i]));
  PetscCall(DMVPatchDGSetCoefficientFunction(of[0], components, Coefficient, PETSC_MEMTYPE_HOST, &components));
  PetscCall(DMVPatchDGSetReactionFunction(of[0], Coefficient, PETSC_MEMTYPE_HOST, (void *)&one));
  PetscCall(Values(of[1], components, &values));
  PetscCall(Values(of[1], 1, &reaction));
  PetscCall(DMVPatchDGSetCoefficientValues(of[1], components, values));
  PetscCall(DMVPatchDGSetReactionValues(of[1], reaction));
  PetscCall(AreLike(of[0], of[1], "adaptive_meshes_have_values"));
  PetscCall(DMClone(of[1], &next));
  PetscCall(AreLike(of[0], next, "clones_have_values_of_a_reaction"));
  PetscCall(DMDestroy(&next));
  for (int i = 0; i < 2; i++) PetscCall(DMVPatchDGSetReactionFunction(of[i], NULL, PETSC_MEMTYPE_HOST, NULL));
  PetscCall(VecSet(reaction, 0));
  PetscCall(DMVPatchDGSetReactionValues(of[1], reaction));
  PetscCall(AreLike(of[0], of[1], "values_of_a_reaction_may_be_0"));
  PetscCall(VecDestroy(&values));
  PetscCall(VecDestroy(&reaction));
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&of[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = e^x sin y is harmonic: -div(a grad u) = -grad a . grad u */
static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0]) * PetscSinReal(x[1]);
  return 0;
}

static PetscErrorCode Source(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = -PetscExpReal(x[0]) * ((2 * x[0] + 0.06) * PetscSinReal(x[1]) + 0.5 * PetscCosReal(x[1]));
  return 0;
}

/* PCMG makes coarser DMs, to which new values come. */
static PetscErrorCode solves(const char options[], PetscReal most)
{
  KSP                ksp;
  DM                 dm;
  Mat                A;
  Vec                values, x, b;
  PetscReal          error[2];
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(New(2, 3, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90", &dm));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetDM(ksp, dm));
#if PETSC_VERSION_LT(3, 25, 0)
  PetscCall(KSPSetDMActive(ksp, PETSC_FALSE));
#else
  PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
#endif
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetFromOptions(ksp));
  for (int i = 0; i < 2; i++) {
    PetscCall(Values(dm, 1, &values));
    if (!i) PetscCall(VecSet(values, 3));
    PetscCall(DMVPatchDGSetCoefficientValues(dm, 1, values));
    PetscCall(DMVPatchDGComputeRHS(dm, i ? Source : NULL, Solution, NULL, NULL, b));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(DMVPatchDGComputeErrors(dm, x, Solution, NULL, NULL, &error[i], NULL));
    PetscCall(VecDestroy(&values));
  }
  TapOk((PetscBool)(reason > 0 && error[0] < most && error[1] < most), "solves: %s: errors %.1e %.1e", options, (double)error[0],
        (double)error[1]);
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values whose polynomials are negative on sides */
static PetscErrorCode steep_values_stay_definite(PetscInt components)
{
  DM           dm;
  Mat          A;
  Vec          values, x, y;
  PetscScalar *a, product;
  PetscInt     n;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, "", &dm));
  PetscCall(Values(dm, components, &values));
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecGetArray(values, &a));
  for (PetscInt i = 0; i < n; i++) a[i] *= i / components % 2 ? 15 : 1;
  PetscCall(VecRestoreArray(values, &a));
  PetscCall(DMVPatchDGSetCoefficientValues(dm, components, values));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecDot(x, y, &product));
  TapOk((PetscBool)(product > 0), "steep_values_stay_definite: %g", (double)product);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&values));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets a number of one rank to another one. */
static PetscErrorCode Refuse(DM dm, PetscInt components, PetscScalar bad, const char text[], const char name[])
{
  PetscMPIInt rank, size;
  PetscInt    n;
  Vec         values;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(Values(dm, components, &values));
  PetscCall(VecGetOwnershipRange(values, NULL, &n));
  if (rank == size - 1) PetscCall(VecSetValue(values, n - 1, bad, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(values));
  PetscCall(VecAssemblyEnd(values));
  Refused(DMVPatchDGSetCoefficientValues(dm, components, values), text, name);
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode what_is_no_coefficient_is_refused(void)
{
  DM  dm, other;
  Vec values;

  PetscFunctionBeginUser;
  PetscCall(New(2, 2, "", &dm));
  PetscCall(Refuse(dm, 1, 0, "must be finite and positive", "a value of 0"));
  PetscCall(Refuse(dm, 2, NAN, "must be finite and positive", "a value that is NaN"));
  PetscCall(Refuse(dm, 3, 0.01, "cell 15 has a point", "a matrix that is not definite"));
  PetscCall(Refuse(dm, 4, 1, "a symmetric matrix 3", "four components"));
  PetscCall(Values(dm, 1, &values));
  Refused(DMVPatchDGSetCoefficientValues(dm, 2, values), "needs `components` numbers for every point", "too few values");
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 2, &other));
  Refused(DMVPatchDGSetCoefficientValues(other, 1, values), "DMSetUp()", "a DM that is not set up");
  PetscCall(DMSetUp(other));
  Refused(DMVPatchDGSetCoefficientValues(other, 1, values), "-dm_vpatchdg_basis gauss", "a DM in the Legendre basis");
  PetscCall(VecSet(values, -1));
  Refused(DMVPatchDGSetReactionValues(dm, values), "must be finite and not negative", "a negative reaction");
  PetscCall(VecDestroy(&values));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(values_are_polynomials(2, 3, 1));
  PetscCall(values_are_polynomials(2, 2, 3));
  PetscCall(values_are_polynomials(3, 2, 3));
  PetscCall(values_are_polynomials(3, 2, 6));
  PetscCall(adaptive_meshes_have_values(2, 3, "-dm_vpatchdg_refine_point 0.3,0.4"));
  PetscCall(adaptive_meshes_have_values(3, 6, "-dm_vpatchdg_refine_point 0.3,0.4,0.6"));
  PetscCall(adaptive_meshes_have_values(2, 1, "-dm_vpatchdg_refine_point 0.3,0.4 -dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 70"));
  PetscCall(solves("-ksp_type fcg -pc_type vpatchdg", 2e-3));
  PetscCall(solves(
    "-ksp_type fgmres -pc_type mg -pc_mg_levels 2 -mg_levels_ksp_type richardson -mg_levels_pc_type vpatch -mg_coarse_pc_type vpatchdg",
    2e-3));
  PetscCall(steep_values_stay_definite(1));
  PetscCall(steep_values_stay_definite(3));
  PetscCall(what_is_no_coefficient_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
