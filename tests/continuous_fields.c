/* Functions of a continuous DM: data, values at points, errors, files, and what is refused. */
/* ranks: 1 2 4 */
#include "support/nodal.h"
#include "support/refused.h"
#include <unistd.h>

/* A linear function is interpolated, found again at points, and solved for, with its values on Dirichlet sides and its fluxes. */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = 1 + 2 * x[0] - 3 * x[1];
  return PETSC_SUCCESS;
}

static PetscErrorCode LinearFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar q[], void *ctx)
{
  PetscScalar u;

  (void)Linear(dim, x, &u, NULL);
  q[0] = 2 * normal[0] - 3 * normal[1] + (normal[0] > 0.5 ? 7 * u : 0); /* Robin on x+ */
  return PETSC_SUCCESS;
}

static PetscErrorCode linear_functions_are_found(void)
{
  static const char *const options[] = {"-dm_refine 3", "-dm_refine 2 " MAP("sine", ".05"), "-dm_refine 2 -dm_vpatchdg_boxes 2,3"};
  const VPatchDGBoundary   boundary[] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_ROBIN, VPATCHDG_BOUNDARY_NEUMANN,
                                         VPATCHDG_BOUNDARY_DIRICHLET};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    PetscReal   interpolated, solved, direct, point[2] = {0.37, 0.81};
    PetscScalar at = 0, expected;
    PetscInt    its;
    DM          dm;
    Problem     p;

    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 0, &dm));
    PetscCall(TestDMOptions(dm, options[i]));
    PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
    PetscCall(DMVPatchDGSetBoundary(dm, boundary));
    PetscCall(DMVPatchDGSetRobin(dm, (PetscReal[]){7, 7, 7, 7}));
    PetscCall(DMSetUp(dm));
    PetscCall(ProblemOf(dm, NULL, &p));
    PetscCall(DMVPatchDGInterpolate(dm, Linear, NULL, p.x));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Linear, NULL, NULL, &interpolated, NULL));
    PetscCall(DMVPatchDGEvaluate(dm, p.x, 1, point, &at));
    (void)Linear(2, point, &expected, NULL);
    PetscCall(DMVPatchDGComputeRHS(dm, NULL, Linear, LinearFlux, NULL, p.b));
    PetscCall(TrueResidual(p.A, p.b, p.x, &direct));
    PetscCall(VecSet(p.x, 0));
    PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-12 -pc_type vpatchdg", NULL, &its, NULL));
    PetscCall(DMVPatchDGComputeErrors(dm, p.x, Linear, NULL, NULL, &solved, NULL));
    TapOk(
      (PetscBool)(interpolated < 1e-13 && Apart(at, expected) < 1e-13 && (i == 1 || direct < 1e-11) && solved < (i == 1 ? 1e-4 : 1e-10)),
      "linear_functions_are_found, %s: %.1e interpolated, %.1e at a point, residual %.1e, %.1e solved in %d", options[i],
      (double)interpolated, (double)Apart(at, expected), (double)direct, (double)solved, (int)its);
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A point source is the transpose of an evaluation, and adds to what is there. */
static PetscErrorCode sources_are_the_transpose_of_values(void)
{
  const PetscReal   point[] = {0.2, 0.7, 0.55, 0.4};
  const PetscScalar q[] = {3, -2};
  PetscMPIInt       rank;
  PetscScalar       before, after, values[2];
  Vec               b, x;
  DM                dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_TRUE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(FillWaves(x, 1, 0));
  PetscCall(FillWaves(b, 2, 0));
  PetscCall(VecDot(x, b, &before));
  PetscCall(DMVPatchDGAddPointSources(dm, rank ? 0 : 2, point, q, b));
  PetscCall(VecDot(x, b, &after));
  PetscCall(DMVPatchDGEvaluate(dm, x, 2, point, values));
  TapOk((PetscBool)(Apart(after - before, q[0] * values[0] + q[1] * values[1]) < 1e-12), "sources_are_the_transpose_of_values: %.1e",
        (double)Apart(after - before, q[0] * values[0] + q[1] * values[1]));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The error of a smooth solution falls by 2^(k+1) if cells are halved. With lobatto it falls by 2^(k+1/2), since data on sides are
   integrated by Gauss's rule. */
static PetscErrorCode Smooth(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscCosReal(2 * x[0] + x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode SmoothSource(PetscInt dim, const PetscReal x[], PetscScalar f[], void *ctx)
{
  f[0] = 5 * PetscCosReal(2 * x[0] + x[1]);
  return PETSC_SUCCESS;
}

static PetscErrorCode errors_have_full_order(void)
{
  static const char *const options[] = {"", "-dm_vpatchdg_quadrature lobatto", MAP("sine", ".05")};

  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < 6; i++) {
    const PetscInt  k = 1 + i / 3 * 2;
    const PetscReal order = (PetscReal)k + (i % 3 == 1 ? 0.4 : 0.8);
    PetscReal       error[2];

    for (PetscInt fine = 0; fine < 2; fine++) {
      DM      dm;
      Problem p;

      PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, k, 3 + fine, &dm));
      PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
      PetscCall(TestDMOptions(dm, options[i % 3]));
      PetscCall(DMSetUp(dm));
      PetscCall(ProblemOf(dm, NULL, &p));
      PetscCall(DMVPatchDGComputeRHS(dm, SmoothSource, Smooth, NULL, NULL, p.b));
      PetscCall(SolveWith(&p, "-ksp_type fgmres -ksp_rtol 1e-11 -pc_type vpatchdg -vpatchdg_warnings 0", NULL, NULL, NULL));
      PetscCall(DMVPatchDGComputeErrors(dm, p.x, Smooth, NULL, NULL, &error[fine], NULL));
      PetscCall(ProblemDestroy(&p));
    }
    TapOk((PetscBool)(PetscLog2Real(error[0] / error[1]) > order), "errors_have_full_order, Q%d %s: %.1e %.1e", (int)k, options[i % 3],
          (double)error[0], (double)error[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A refined DM is continuous, too, and a function goes there and back. */
static PetscErrorCode refined_meshes_are_continuous(void)
{
  PetscReal off;
  PetscBool continuous;
  Vec       x[2], y;
  DM        dm, fine;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 2, PETSC_TRUE, &dm));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(DMVPatchDGGetContinuous(fine, &continuous));
  PetscCall(DMCreateGlobalVector(dm, &x[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(DMCreateGlobalVector(fine, &y));
  PetscCall(FillWaves(x[0], 1, 0));
  PetscCall(DMVPatchDGTransfer(dm, fine, x[0], y));
  PetscCall(DMVPatchDGTransfer(fine, dm, y, x[1]));
  PetscCall(Difference(x[0], x[1], &off));
  TapOk((PetscBool)(continuous && off < 1e-12), "refined_meshes_are_continuous: %.1e", (double)off);
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* length of a file that the communicator's first rank has written; it is deleted */
static PetscErrorCode TakeLength(const char name[], long *length)
{
  FILE *file = fopen(name, "rb");

  PetscFunctionBeginUser;
  *length = -1;
  if (file && !fseek(file, 0, SEEK_END)) *length = ftell(file);
  if (file) fclose(file);
  PetscCallMPI(MPI_Bcast(length, 1, MPI_LONG, 0, PETSC_COMM_WORLD));
  (void)remove(name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* name [128]: that of a temporary file, the same on all ranks */
static PetscErrorCode NameFile(const char end[], char name[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, 128, "/tmp/vpatchdg%ld%s", (long)getpid(), end));
  PetscCallMPI(MPI_Bcast(name, 128, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file has the DM and its vectors. */
static PetscErrorCode files_have_continuous_functions(void)
{
  char        name[128];
  long        length;
  PetscReal   off;
  PetscBool   continuous;
  PetscViewer viewer;
  Vec         x, y;
  DM          dm, loaded;

  PetscFunctionBeginUser;
  PetscCall(NameFile(".bin", name));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 1, PETSC_TRUE, &dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(FillWaves(x, 1, 0));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(DMView(dm, viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &loaded));
  PetscCall(DMSetType(loaded, DMVPATCHDG));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(DMLoad(loaded, viewer));
  PetscCall(DMVPatchDGGetContinuous(loaded, &continuous));
  PetscCall(DMCreateGlobalVector(loaded, &y));
  PetscCall(VecLoad(y, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Difference(x, y, &off));
  PetscCall(TakeLength(name, &length));
  TapOk((PetscBool)(continuous && off == 0), "files_have_continuous_functions: %.1e", (double)off);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&loaded));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files for ParaView are as large as those of discontinuous functions, also where there are as many nodes as cells. */
static PetscErrorCode vtk_files_have_values_at_points(void)
{
  char        name[128];
  long        length[2];
  PetscViewer viewer;
  Vec         x;
  DM          dm;

  PetscFunctionBeginUser;
  PetscCall(NameFile(".vtu", name));
  for (int k = 0; k < 2; k++) {
    PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 1, 3, &dm));
    PetscCall(TestDMOptions(dm, "-dm_vpatchdg_boundary periodic"));
    PetscCall(DMVPatchDGSetContinuous(dm, (PetscBool)(k == 0)));
    PetscCall(DMSetUp(dm));
    PetscCall(DMCreateGlobalVector(dm, &x));
    PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
    PetscCall(VecView(x, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(TakeLength(name, &length[k]));
    PetscCall(VecDestroy(&x));
    PetscCall(DMDestroy(&dm));
  }
  TapOk((PetscBool)(length[0] > 0 && length[0] == length[1]), "vtk_files_have_values_at_points: %ld and %ld bytes", length[0], length[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  const PetscInt *node;
  Problem         p;
  PetscBool       mine;
  DM              dm, other;
  PC              pc;
  Vec             v;
  Mat             P;
  PetscReal       eta[4096];

  PetscFunctionBeginUser;
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_TRUE, &dm));
  PetscCall(CaseDM(PETSC_COMM_WORLD, 0, PETSC_FALSE, &other));
  Refused(DMVPatchDGSetContinuous(dm, PETSC_FALSE), "cannot change after DMSetUp()", "discontinuous after the set-up");
  Refused(DMVPatchDGGetElementRestriction(other, NULL, &node), "use -dm_vpatchdg_continuous", "nodes of a discontinuous DM");
  PetscCall(DMCreateGlobalVector(other, &v));
  Refused(DMVPatchDGInterpolate(dm, Linear, NULL, v), "make it with DMCreateGlobalVector()", "a vector of the discontinuous DM");
  PetscCall(VecDestroy(&v));
  PetscCall(DMCreateGlobalVector(dm, &v));
  Refused(DMVPatchDGGetPointValues(dm, v, v), "DMVPatchDGCreatePointVector()", "values at points in a vector of nodes");
  Refused(DMVPatchDGEstimate(dm, v, NULL, NULL, NULL, NULL, eta), "leave -dm_vpatchdg_continuous out", "an estimate");
  PetscCall(VecDestroy(&v));
  Refused(DMCreateLocalVector(dm, &v), "leave -dm_vpatchdg_continuous out", "a local vector");
  PetscCall(DMDestroy(&other));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  Refused(DMCreateInterpolation(dm, other, &P, NULL), "leave -dm_vpatchdg_continuous out", "interpolation between DMs");
  PetscCall(DMDestroy(&other));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCH));
  Refused(PCSetUp(pc), "leave -dm_vpatchdg_continuous out", "one level's smoother");
  PetscCall(ProblemDestroy(&p));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 2, (PetscReal[]){0.3, 0.3}, NULL));
  Refused(DMSetUp(dm), "-dm_vpatchdg_continuous needs cells of one level", "cells of several levels");
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 0, NULL, NULL));
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_STAR));
  PetscCall(DMVPatchDGSetBackend(dm, VPATCHDG_BACKEND_HOST));
  Refused(DMSetUp(dm), "needs boxes, whose cells have the same directions", "cells of trees");
  PetscCall(DMVPatchDGGetContinuous(dm, &mine));
  TapOk(mine, "bad_input_is_refused and changes nothing");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(linear_functions_are_found());
  PetscCall(sources_are_the_transpose_of_values());
  PetscCall(errors_have_full_order());
  PetscCall(refined_meshes_are_continuous());
  PetscCall(files_have_continuous_functions());
  PetscCall(vtk_files_have_values_at_points());
  PetscCall(LossesAreExpected());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
