/* Iterations of multigrid on meshes of cells of different levels, against an independent computation. */
/* ranks: 1 */
#include "support/leaves.h"

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return PETSC_SUCCESS;
}

/* nu = -8 / log10((|r_n|/|r_0|)^(1/n)) of FGMRES and of refinement, from the independent computation: f = 1, true residuals */
typedef struct {
  const char    *name;
  VPatchDGDomain domain;
  PetscInt       dim, refine, levels;
  PetscReal      radius; /* of the sphere whose cells are refined; 0: those at the corner */
  PetscInt       degree, corners;
  PetscReal      nu[2];
} Measured;

#define LSHAPE  VPATCHDG_DOMAIN_LSHAPE, 2, 2
#define FICHERA VPATCHDG_DOMAIN_FICHERA, 3, 1
static const Measured cases[] = {{"L+3", LSHAPE, 3, 0, 1, 0, {5.3, 6.6}},
                                 {"L+3", LSHAPE, 3, 0, 3, 0, {4.0, 4.2}},
                                 {"L+3", LSHAPE, 3, 0, 7, 0, {4.0, 4.3}},
                                 {"L+8", LSHAPE, 8, 0, 2, 0, {4.3, 4.4}},
                                 {"L+8", LSHAPE, 8, 0, 4, 0, {4.1, 4.5}},
                                 {"L+5", LSHAPE, 5, 0, 3, 2, {3.9, 4.2}},
                                 {"L+5", LSHAPE, 5, 0, 7, 2, {3.6, 4.1}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 1, 0, {5.0, 5.6}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 2, 0, {3.8, 3.8}},
                                 {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 3, 0, {3.3, 3.5}},
                                 {"Fichera+2", FICHERA, 2, 0, 2, 0, {4.0, 4.3}},
                                 {"Fichera+2", FICHERA, 2, 0, 3, 0, {3.9, 4.0}},
                                 {"Fichera+8", FICHERA, 8, 0, 2, 0, {4.2, 4.9}},
                                 {"ball", VPATCHDG_DOMAIN_BOX, 3, 2, 1, 0.7, 2, 0, {4.1, 4.6}}};

static PetscErrorCode CaseDM(const Measured *c, DM *dm)
{
  const PetscReal origin[3] = {0, 0, 0}, sphere[4] = {0, 0, c->dim == 2 ? c->radius : 0, c->radius};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  PetscCall(DMVPatchDGSetLocalRefinement(*dm, c->levels, c->radius > 0 ? NULL : origin, c->radius > 0 ? sphere : NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode iterations_are_the_independent_ones(const Measured *c, VPatchDGPrecision precision)
{
  PetscReal history[102], nu[2], residual[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscInt n;
    Problem  p;
    PC       pc;
    DM       dm;

    PetscCall(CaseDM(c, &dm));
    PetscCall(ProblemOf(dm, "nu_", &p));
    PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
    PetscCall(KSPSetType(p.ksp, i ? KSPRICHARDSON : KSPFGMRES));
    PetscCall(KSPGetPC(p.ksp, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    PetscCall(PCVPatchDGSetPrecision(pc, precision));
    PetscCall(PCVPatchDGSetCorners(pc, c->corners));
    PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
    PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
    PetscCall(KSPSolve(p.ksp, p.b, p.x));
    PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
    nu[i] = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
    PetscCall(TrueResidual(p.A, p.b, p.x, &residual[i]));
    PetscCall(ProblemDestroy(&p));
  }
  TapOk((PetscBool)(PetscAbsReal(nu[0] - c->nu[0]) < 0.31 && PetscAbsReal(nu[1] - c->nu[1]) < 0.31 && residual[0] < 1.1e-8 &&
                    residual[1] < 1.1e-8),
        "iterations_are_the_independent_ones, %s, Q%d, %s: %.2f/%.2f, %.1f/%.1f", c->name, (int)c->degree, VPatchDGPrecisions[precision],
        (double)nu[0], (double)nu[1], (double)c->nu[0], (double)c->nu[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same of CG with the symmetric cycle */
static const Measured symmetric[] = {{"L+5", LSHAPE, 5, 0, 2, 0, {3.7}},        {"L+5", LSHAPE, 5, 0, 3, 0, {3.5}},
                                     {"L+8", LSHAPE, 8, 0, 2, 0, {3.9}},        {"front+3", VPATCHDG_DOMAIN_BOX, 2, 2, 3, 0.6, 3, 0, {3.6}},
                                     {"Fichera+2", FICHERA, 2, 0, 2, 0, {3.5}}, {"Fichera+2", FICHERA, 2, 0, 3, 0, {3.7}}};

static PetscErrorCode SymmetricPC(KSP ksp, VPatchDGPrecision precision, PetscInt corners, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, pc));
  PetscCall(PCSetType(*pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetSymmetric(*pc, PETSC_TRUE));
  PetscCall(PCVPatchDGSetSmooth(*pc, 1, 1));
  PetscCall(PCVPatchDGSetPrecision(*pc, precision));
  PetscCall(PCVPatchDGSetCorners(*pc, corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode cg_takes_the_independent_iterations(const Measured *c, VPatchDGPrecision precision)
{
  PetscReal history[102], nu, residual;
  PetscInt  n;
  Problem   p;
  PC        pc;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(c, &dm));
  PetscCall(ProblemOf(dm, "cg_", &p));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
  PetscCall(KSPSetType(p.ksp, KSPCG));
  PetscCall(KSPSetNormType(p.ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(SymmetricPC(p.ksp, precision, c->corners, &pc));
  PetscCall(KSPSetTolerances(p.ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 100));
  PetscCall(KSPSetResidualHistory(p.ksp, history, 102, PETSC_TRUE));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(KSPGetResidualHistory(p.ksp, NULL, &n));
  nu = -8 * (n - 1) / PetscLog10Real(history[n - 1] / history[0]);
  PetscCall(TrueResidual(p.A, p.b, p.x, &residual));
  TapOk((PetscBool)(PetscAbsReal(nu - c->nu[0]) < 0.31 && residual < 1.1e-8),
        "cg_takes_the_independent_iterations, %s, Q%d, %s: %.2f, %.1f", c->name, (int)c->degree, VPatchDGPrecisions[precision], (double)nu,
        (double)c->nu[0]);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (M x, y) = (x, M y), and so does the transpose that PETSc asks for */
static PetscErrorCode symmetric_cycle_is_symmetric(PetscInt dim, PetscInt degree, PetscInt corners)
{
  PetscScalar product[3];
  PetscReal   difference;
  Problem     p;
  PC          pc;
  DM          dm;
  Vec         y, z;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, degree, 1, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, dim == 2 ? VPATCHDG_DOMAIN_LSHAPE : VPATCHDG_DOMAIN_FICHERA));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 3; i++) PetscCall(RefineSome(&dm, dim == 2 ? 0.3 : 0.1, i));
  PetscCall(ProblemOf(dm, "symmetric_", &p));
  PetscCall(SymmetricPC(p.ksp, VPATCHDG_PRECISION_DOUBLE, corners, &pc));
  PetscCall(KSPSetUp(p.ksp));
  PetscCall(VecDuplicate(p.x, &y));
  PetscCall(VecDuplicate(p.x, &z));
  PetscCall(VecSetRandom(p.x, NULL));
  PetscCall(PCApply(pc, p.x, y));
  PetscCall(VecDot(y, p.b, &product[0]));
  PetscCall(PCApply(pc, p.b, z));
  PetscCall(VecDot(z, p.x, &product[1]));
  PetscCall(VecDot(y, p.x, &product[2]));
  PetscCall(PCApplyTranspose(pc, p.x, z));
  PetscCall(Difference(z, y, &difference));
  TapOk((PetscBool)(PetscAbsScalar(product[0] - product[1]) < 1e-12 * PetscAbsScalar(product[2]) && difference < 1e-14),
        "symmetric_cycle_is_symmetric, %dD Q%d: %g", (int)dim, (int)degree,
        (double)(PetscAbsScalar(product[0] - product[1]) / PetscAbsScalar(product[2])));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++)
    PetscCall(iterations_are_the_independent_ones(&cases[i], i % 3 ? VPATCHDG_PRECISION_SINGLE : VPATCHDG_PRECISION_DOUBLE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(symmetric); i++)
    PetscCall(cg_takes_the_independent_iterations(&symmetric[i], i % 2 ? VPATCHDG_PRECISION_SINGLE : VPATCHDG_PRECISION_DOUBLE));
  PetscCall(symmetric_cycle_is_symmetric(2, 3, 0));
  PetscCall(symmetric_cycle_is_symmetric(2, 5, 2));
  PetscCall(symmetric_cycle_is_symmetric(3, 2, 1));
  PetscCall(PetscFinalize());
  return TapEnd();
}
