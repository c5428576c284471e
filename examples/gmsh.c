static char help[] =
  "Heat flows around a hole in a plate. Cells and sides come from a file of Gmsh, share/vpatchdg/meshes/plate.msh, whose cells are curved along\n\
the hole. Prints the errors on finer and finer meshes.\n\n\
  -mesh file : the file\n\
  -meshes n  : number of meshes\n\n";

#include "table.h"
#include <petscdmplex.h>

#define RADIUS 0.25

/* u = x (1 + RADIUS^2 / r^2), which is harmonic: no heat enters the hole */
static PetscErrorCode Temperature(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = x[0] * (1 + RADIUS * RADIUS / (x[0] * x[0] + x[1] * x[1]));
  return 0;
}

static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar g[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1], dipole = RADIUS * RADIUS / (r2 * r2);

  g[0] = 1 + dipole * (x[1] * x[1] - x[0] * x[0]);
  g[1] = -2 * dipole * x[0] * x[1];
  return 0;
}

/* The sides along the hole are parabolas, through which a little heat flows. */
static PetscErrorCode Heat(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar h[], void *ctx)
{
  PetscScalar g[2];

  Gradient(dim, x, g, ctx);
  h[0] = g[0] * normal[0] + g[1] * normal[1];
  return 0;
}

enum { OUTSIDE = 1, HOLE }; /* the physical curves of the file */

/* ctx: the DMPLEX of the file */
static PetscErrorCode CreatePlate(PetscInt i, void *ctx, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMConvert((DM)ctx, DMVPATCHDG, dm));
  PetscCall(DMVPatchDGSetDegree(*dm, 3));
  PetscCall(DMVPatchDGSetLabelBoundary(*dm, OUTSIDE, VPATCHDG_BOUNDARY_DIRICHLET, 0));
  PetscCall(DMVPatchDGSetLabelBoundary(*dm, HOLE, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMSetRefineLevel(*dm, i));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Known known = {.u = Temperature, .gradient = Gradient, .flux = Heat};
  char        file[PETSC_MAX_PATH_LEN] = "share/vpatchdg/meshes/plate.msh";
  DM          plex;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", file, sizeof(file), NULL));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_WORLD, file, "plate", PETSC_TRUE, &plex));
  PetscCall(PrintTable(CreatePlate, plex, &known));
  PetscCall(DMDestroy(&plex));
  PetscCall(PetscFinalize());
  return 0;
}
