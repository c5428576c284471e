static char help[] = "Continuous elements on a DMPLEX, -div(grad u) = f with PetscFE, by a program that knows nothing of vpatchdg:\n\n\
  fem -dll_append build/lib/libvpatchdg.so -dm_plex_box_faces 32,32 -petscspace_degree 3 -ksp_type fgmres -pc_type vpatchdg -ksp_view\n\n\
Compare -pc_type gamg, or hypre. Options of DMPLEX make other meshes: -dm_plex_dim 3, -dm_refine 2, -dm_plex_box_upper 2,1. With -neumann\n\
the flux is given on the upper side in x, else u on all sides.\n\n";

#include <petscdmplex.h>
#include <petscds.h>
#include <petscfe.h>
#include <petscsnes.h>

/* u = sin(2 x) e^y (+ z^2) */
static PetscErrorCode Solution(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt n, PetscScalar *u, void *ctx)
{
  *u = PetscSinReal(2 * x[0]) * PetscExpReal(x[1]) + (dim == 3 ? x[2] * x[2] : 0);
  return 0;
}

/* the weak form: (f0, v) + (f1, grad v) = 0, its derivative g3, and the flux on Neumann sides */
#define POINT \
  PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uo[], const PetscInt ux[], const PetscScalar u[], const PetscScalar ut[], \
    const PetscScalar du[], const PetscInt ao[], const PetscInt ax[], const PetscScalar a[], const PetscScalar at[], \
    const PetscScalar da[]
#define CONSTANTS PetscInt nc, const PetscScalar c[]

static void F0(POINT, PetscReal t, const PetscReal x[], CONSTANTS, PetscScalar f[])
{
  f[0] = -3 * PetscSinReal(2 * x[0]) * PetscExpReal(x[1]) + (dim == 3 ? 2 : 0);
}
static void F1(POINT, PetscReal t, const PetscReal x[], CONSTANTS, PetscScalar f[])
{
  for (PetscInt d = 0; d < dim; d++) f[d] = du[d];
}
static void G3(POINT, PetscReal t, PetscReal shift, const PetscReal x[], CONSTANTS, PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; d++) g[d * dim + d] = 1;
}
static void Flux(POINT, PetscReal t, const PetscReal x[], const PetscReal normal[], CONSTANTS, PetscScalar f[])
{
  f[0] = -2 * PetscCosReal(2 * x[0]) * PetscExpReal(x[1]) * normal[0];
}

static PetscErrorCode SetBoundary(DM dm, PetscBool neumann)
{
  PetscInt      dim, side[6] = {1, 2, 3, 4, 5, 6}, last;
  DMLabel       sides;
  PetscDS       ds;
  PetscWeakForm form;
  PetscInt      flux;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetLabel(dm, "Face Sets", &sides));
  PetscCall(DMGetDS(dm, &ds));
  /* DMPLEX numbers sides: lower y, upper x, upper y, lower x; in 3D lower z, upper z, lower y, upper y, upper x, lower x */
  last = 2 * dim - 1;
  if (neumann) {
    const PetscInt upper = dim == 2 ? 2 : 5;

    side[upper - 1] = side[last];
    PetscCall(DMAddBoundary(dm, DM_BC_NATURAL, "flux", sides, 1, &upper, 0, 0, NULL, NULL, NULL, NULL, &flux));
    PetscCall(PetscDSGetBoundary(ds, flux, &form, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    PetscCall(PetscWeakFormSetIndexBdResidual(form, sides, upper, 0, 0, 0, Flux, 0, NULL));
  } else last++;
  PetscCall(DMAddBoundary(dm, DM_BC_ESSENTIAL, "data", sides, last, side, 0, 0, NULL, (void (*)(void))Solution, NULL, NULL, NULL));
  PetscFunctionReturn(0);
}

static PetscErrorCode Discretize(DM dm, PetscBool neumann)
{
  PetscInt dim;
  PetscDS  ds;
  PetscFE  fe;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, NULL, -1, &fe));
  PetscCall(DMSetField(dm, 0, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(dm));
  PetscCall(DMGetDS(dm, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, F0, F1));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, G3));
  PetscCall(PetscDSSetExactSolution(ds, 0, Solution, NULL));
  PetscCall(SetBoundary(dm, neumann));
#if PETSC_VERSION_LT(3, 21, 0)
  PetscCall(DMPlexSetSNESLocalFEM(dm, NULL, NULL, NULL));
#else
  PetscCall(DMPlexSetSNESLocalFEM(dm, PETSC_FALSE, NULL));
#endif
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  PetscBool          neumann = PETSC_FALSE, given;
  PetscReal          error;
  PetscInt           its;
  KSPConvergedReason reason;
  KSP                ksp;
  SNES               snes;
  DM                 dm;
  Vec                u;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-neumann", &neumann, NULL));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_simplex", &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_simplex", "0"));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-petscspace_degree", &given));
  if (!given) PetscCall(PetscOptionsSetValue(NULL, "-petscspace_degree", "2"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, DMPLEX));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMViewFromOptions(dm, NULL, "-dm_view"));
  PetscCall(Discretize(dm, neumann));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, dm));
  PetscCall(SNESSetType(snes, SNESKSPONLY));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecSet(u, 0));
  PetscCall(SNESSolve(snes, NULL, u));

  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(DMComputeL2Diff(dm, 0, (PetscErrorCode(*[])(PetscInt, PetscReal, const PetscReal[], PetscInt, PetscScalar *, void *)){Solution},
                            (void *[]){NULL}, u, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations, error of u %.2e\n", KSPConvergedReasons[reason], its,
                        (double)error));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
