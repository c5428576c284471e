/* PCVPATCHDG as the coarse solver of a user's own multigrid of continuous elements: degree 4 on the fine level, 2 on the coarse one. */
/* ranks: 1 3 */
#include "support/problem.h"
#include "../src/tables/tables.h"

static PetscErrorCode CreateElements(PetscInt degree, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, degree, 4, dm));
  PetscCall(DMVPatchDGSetContinuous(*dm, PETSC_TRUE));
  PetscCall(DMSetMatType(*dm, MATAIJ));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P [fine nodes][coarse nodes] of a direction = the coarse nodes' functions at the fine nodes */
static void FillLine(int fine, int coarse, double P[])
{
  double x[VP_MAX_N], node[VP_MAX_N];

  VpGaussLobatto(fine, x);
  VpGaussLobatto(coarse, node);
  for (int i = 0; i <= fine; i++) {
    for (int j = 0; j <= coarse; j++) {
      double l = 1;

      for (int m = 0; m <= coarse; m++) l *= m == j ? 1 : (x[i] - node[m]) / (node[j] - node[m]);
      P[i * (coarse + 1) + j] = l;
    }
  }
}

static PetscErrorCode CreateProlongation(DM fine, DM coarse, Mat *P)
{
  const PetscInt *to, *from;
  double          line[VP_MAX_N * VP_MAX_N];
  PetscInt        ncell, rows, columns;
  PetscScalar     value[25 * 9];
  Vec             v;

  PetscFunctionBeginUser;
  FillLine(4, 2, line);
  PetscCall(DMVPatchDGGetElementRestriction(fine, &ncell, &to));
  PetscCall(DMVPatchDGGetElementRestriction(coarse, NULL, &from));
  PetscCall(DMGetGlobalVector(fine, &v));
  PetscCall(VecGetLocalSize(v, &rows));
  PetscCall(DMRestoreGlobalVector(fine, &v));
  PetscCall(DMGetGlobalVector(coarse, &v));
  PetscCall(VecGetLocalSize(v, &columns));
  PetscCall(DMRestoreGlobalVector(coarse, &v));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, 9, NULL, 9, NULL, P));
  PetscCall(MatSetOption(*P, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (int i = 0; i < 25; i++)
    for (int j = 0; j < 9; j++) value[i * 9 + j] = line[i % 5 * 3 + j % 3] * line[i / 5 * 3 + j / 3];
  for (PetscInt c = 0; c < ncell; c++) PetscCall(MatSetValues(*P, 25, to + 25 * c, 9, from + 9 * c, value, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *its: of CG with the multigrid whose coarse solver has this type; *off: of the solution from `known` */
static PetscErrorCode SolveBy(DM coarse, Mat P, Problem *p, Vec known, const char type[], PetscInt *its, PetscReal *off)
{
  const PetscInt *node;
  PetscInt        ncell;
  KSP             solver;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(NewKSP(p));
  PetscCall(KSPGetPC(p->ksp, &pc));
  PetscCall(PCSetType(pc, PCMG));
  PetscCall(PCMGSetLevels(pc, 2, NULL));
  PetscCall(PCMGSetInterpolation(pc, 1, P));
  PetscCall(PCMGSetGalerkin(pc, PC_MG_GALERKIN_BOTH));
  PetscCall(PCMGGetCoarseSolve(pc, &solver));
  PetscCall(KSPGetPC(solver, &pc));
  PetscCall(PCSetType(pc, type));
  if (!strcmp(type, PCVPATCHDG)) {
    PetscCall(DMVPatchDGGetElementRestriction(coarse, &ncell, &node));
    PetscCall(PCVPatchDGSetElementRestriction(pc, coarse, ncell, node));
    PetscCall(PCVPatchDGSetSymmetric(pc, PETSC_TRUE));
  }
  PetscCall(
    SolveWith(p,
              "-ksp_type cg -ksp_norm_type unpreconditioned -ksp_rtol 1e-10 -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi "
              "-mg_levels_ksp_max_it 3 -mg_coarse_ksp_type preonly -mg_coarse_pc_vpatchdg_jacobi none -vpatchdg_warnings 0",
              NULL, its, NULL));
  PetscCall(Difference(p->x, known, off));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on the coarse level is as good as an exact solve there, up to two iterations. */
static PetscErrorCode coarse_level_of_ones_own_multigrid(void)
{
  PetscReal off[2];
  PetscInt  its[2];
  DM        dm, coarse;
  Problem   p;
  Mat       P;
  Vec       known;

  PetscFunctionBeginUser;
  PetscCall(CreateElements(4, &dm));
  PetscCall(CreateElements(2, &coarse));
  PetscCall(CreateProlongation(dm, coarse, &P));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(VecDuplicate(p.x, &known));
  PetscCall(VecCopy(p.b, known));
  PetscCall(MatMult(p.A, known, p.b));
  PetscCall(SolveBy(coarse, P, &p, known, PCREDUNDANT, &its[0], &off[0]));
  PetscCall(SolveBy(coarse, P, &p, known, PCVPATCHDG, &its[1], &off[1]));
  TapOk((PetscBool)(off[0] < 1e-7 && off[1] < 1e-7 && its[1] <= its[0] + 2),
        "coarse_level_of_ones_own_multigrid: %d iterations, %d with an LU, %.1e", (int)its[1], (int)its[0], (double)off[1]);
  PetscCall(VecDestroy(&known));
  PetscCall(MatDestroy(&P));
  PetscCall(DMDestroy(&coarse));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(coarse_level_of_ones_own_multigrid());
  PetscFunctionReturn(PETSC_SUCCESS);
}
