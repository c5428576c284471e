static char help[] =
  "Solves -div grad u = 1 on an L-shape and adapts the mesh, step by step. A file takes mesh and solution to the next run.\n\n\
  -steps n    : how often (default 3)\n\
  -load FILE  : begins with what another run saved, on any number of ranks\n\
  -save FILE  : saves what the next step begins with\n\
Mesh: -dm_vpatchdg_*, -dm_refine; solver: -ksp_*, -pc_*.\n\n";

#include <vpatchdg.h>

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return 0;
}

static PetscErrorCode Begin(DM *dm, Vec *u)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 3, 1, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMCreateGlobalVector(*dm, u));
  PetscFunctionReturn(0);
}

/* The file determines the mesh, options determine backend and solver. */
static PetscErrorCode Load(const char file[], DM *dm, Vec *u)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMCreate(PETSC_COMM_WORLD, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  PetscCall(DMLoad(*dm, viewer));
  PetscCall(DMCreateGlobalVector(*dm, u));
  PetscCall(VecLoad(*u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(const char file[], DM dm, Vec u)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

static PetscErrorCode Solve(DM dm, Vec u)
{
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, u));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Adapts the mesh and transfers the solution, which is the guess on the next mesh. */
static PetscErrorCode Adapt(DM *dm, Vec *u)
{
  PetscInt     n, cells;
  PetscReal   *eta, estimate = 0;
  DMAdaptFlag *mark;
  DM           next;
  Vec          v;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc2(n, &eta, n, &mark));
  PetscCall(DMVPatchDGEstimate(*dm, *u, One, NULL, NULL, NULL, eta));
  for (PetscInt c = 0; c < n; c++) estimate += eta[c] * eta[c];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &estimate, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&n, &cells, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d cells, estimate %.4e\n", (int)cells, (double)PetscSqrtReal(estimate)));
  PetscCall(DMVPatchDGMark(*dm, VPATCHDG_MARK_DOERFLER, 0.5, 0, eta, mark));
  PetscCall(DMVPatchDGRefineCells(*dm, mark, &next));
  PetscCall(DMCreateGlobalVector(next, &v));
  PetscCall(DMVPatchDGTransfer(*dm, next, *u, v));
  PetscCall(PetscFree2(eta, mark));
  PetscCall(VecDestroy(u));
  PetscCall(DMDestroy(dm));
  *dm = next;
  *u = v;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      from[PETSC_MAX_PATH_LEN] = "", to[PETSC_MAX_PATH_LEN] = "";
  PetscBool load, save;
  PetscInt  steps = 3;
  DM        dm;
  Vec       u;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-load", from, sizeof(from), &load));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-save", to, sizeof(to), &save));
  if (load) PetscCall(Load(from, &dm, &u));
  else PetscCall(Begin(&dm, &u));
  for (PetscInt i = 0; i < steps; i++) {
    PetscCall(Solve(dm, u));
    PetscCall(Adapt(&dm, &u));
  }
  if (save) PetscCall(Save(to, dm, u));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
