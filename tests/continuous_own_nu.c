/* Iterations on the operator on continuous functions: those of an independent program, and the same on one rank and on several. */
/* ranks: 2 4 */
#include "support/mapped_nu.h"

#define NEUMANN " -dm_vpatchdg_boundary neumann"
#define LOBATTO " -dm_vpatchdg_quadrature lobatto"
#define SINE    " -dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .10"

/* nu: of B, of Jacobi steps before and after it, and of CG with a symmetric cycle; 0: not known. The program imposes Dirichlet values
   strongly; where `weak`, the numbers are the library's own, which imposes them weakly. */
static const struct {
  PetscInt    dim, degree;
  const char *options;
  Kind        kind;
  PetscBool   weak;
  double      nu[3];
} rows[] = {
  {2, 1, "-dm_refine 4" NEUMANN, ONE, PETSC_FALSE, {6.9, 5.2, 5.7}}, {2, 2, "-dm_refine 4" NEUMANN, ONE, PETSC_FALSE, {5.2, 3.9, 5.0}},
  {2, 3, "-dm_refine 4" NEUMANN, ONE, PETSC_FALSE, {5.4, 3.6, 5.3}}, {2, 6, "-dm_refine 4" NEUMANN, ONE, PETSC_FALSE, {5.4, 3.7, 5.4}},
  {3, 2, "-dm_refine 3" NEUMANN, ONE, PETSC_FALSE, {6.3, 4.2, 6.1}}, {2, 2, "-dm_refine 4", ONE, PETSC_FALSE, {5.7, 3.8, 5.5}},
  {2, 2, "-dm_refine 6", ONE, PETSC_FALSE, {5.7, 3.9, 0}},           {3, 2, "-dm_refine 3", ONE, PETSC_FALSE, {6.9, 0, 6.9}},
  {2, 2, "-dm_refine 4" LOBATTO, ONE, PETSC_FALSE, {4.8, 3.8, 4.5}}, {3, 2, "-dm_refine 3" LOBATTO, ONE, PETSC_FALSE, {4.5, 3.8, 4.4}},
  {2, 1, "-dm_refine 4", ONE, PETSC_TRUE, {6.6, 4.7, 6.0}},          {2, 4, "-dm_refine 4", ONE, PETSC_TRUE, {5.4, 3.7, 5.3}},
  {3, 1, "-dm_refine 3", ONE, PETSC_TRUE, {7.7, 5.0, 7.4}},          {2, 1, "-dm_refine 5" LOBATTO, ONE, PETSC_TRUE, {8.0, 6.4, 5.4}},
  {3, 1, "-dm_refine 3" LOBATTO, ONE, PETSC_TRUE, {7.0, 5.8, 5.1}},  {2, 2, "-dm_refine 4" SINE, ONE, PETSC_FALSE, {21, 15.6, 0}},
  {2, 4, "-dm_refine 4" SINE, ONE, PETSC_FALSE, {26, 20.5, 0}},      {2, 2, "-dm_refine 4", SIN4, PETSC_TRUE, {12.0, 5.9, 0}},
  {2, 3, "-dm_refine 5", SIN4, PETSC_FALSE, {9.8, 7.0, 0}},
};

/* numbers in [-1, 1) without a pattern, the same for any number of ranks */
static PetscErrorCode FillNoise(Vec v)
{
  PetscInt     first, last;
  PetscScalar *values;
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &values));
  for (PetscInt i = first; i < last; i++) {
    uint32_t bits = (uint32_t)i * 2654435761u;

    for (int k = 0; k < 3; k++) bits = (bits ^ bits >> 15) * 2246822519u;
    values[i - first] = (PetscReal)bits / 2147483648. - 1;
  }
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscCall(MatNullSpaceCreate(PetscObjectComm((PetscObject)v), PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatNullSpaceRemove(constants, v));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(MPI_Comm comm, size_t i, const char way[], double *nu)
{
  PetscReal residual;
  PetscInt  its;
  char      options[256];
  Problem   p;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(comm, rows[i].dim, rows[i].degree, 0, &dm));
  PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
  PetscCall(TestDMOptions(dm, rows[i].options));
  if (rows[i].kind != ONE) PetscCall(DMVPatchDGSetCoefficientFunction(dm, 1, KindAtPoints, PETSC_MEMTYPE_HOST, (void *)&rows[i].kind));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(FillNoise(p.b));
  PetscCall(PetscSNPrintf(
    options, sizeof(options),
    "-pc_type vpatchdg -ksp_rtol 1e-8 -ksp_max_it 100 -pc_vpatchdg_precision double -pc_vpatchdg_metric cell -vpatchdg_warnings 0 %s",
    way));
  PetscCall(SolveWith(&p, options, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_are_as_published(void)
{
  static const char *const ways[] = {"-ksp_type fgmres -ksp_gmres_restart 200 -pc_vpatchdg_jacobi none",
                                     "-ksp_type fgmres -ksp_gmres_restart 200 -pc_vpatchdg_jacobi both",
                                     "-ksp_type cg -ksp_norm_type unpreconditioned -pc_vpatchdg_symmetric -pc_vpatchdg_jacobi none"};
  const double             coarser = VpIsDevice(TestBackend()); /* fits of patches cost up to one more */

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    for (int way = 0; way < 3; way++) {
      double nu, alone;

      if (!(rows[i].nu[way] > 0)) continue;
      PetscCall(Measure(PETSC_COMM_WORLD, i, ways[way], &nu));
      PetscCall(Measure(PETSC_COMM_SELF, i, ways[way], &alone));
      TapOk((PetscBool)(fabs(nu - rows[i].nu[way]) <= coarser + 0.5 && fabs(nu - alone) <= 0.3),
            "iterations_are_as_published, %dD Q%d %s%s, %s: %.2f for %.1f, %.2f on one rank", (int)rows[i].dim, (int)rows[i].degree,
            rows[i].options, rows[i].kind == ONE ? "" : ", at points", strstr(ways[way], "-pc_vpatchdg"), nu, rows[i].nu[way], alone);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(iterations_are_as_published());
  PetscFunctionReturn(PETSC_SUCCESS);
}
