/* Coarse levels of trees, with random b: classes of directions save iterations where a boundary layer is thin, and steps on the trees take
   as many as the exact inverse, where the mesh is used as it comes, too. -refine n, -degree k: of these; -mesh file -dim d: another mesh
   for the steps, whose inverse is not made if -exact 0; -coefficients file: of its trees.
   ranks: 1 3 */
#include "support/nu.h"
#include "../src/petsc/dm/internal.h"

enum { ORDER = 6, NODES = ORDER + 1 };

/* the point of a disc with a ring of width d: a square of half diagonal 0.4, four trees around it, and four in the ring */
static void RingPoint(int tree, double d, double x, double y, double X[2])
{
  const double half = 0.4 * sqrt(0.5), turn = (tree - 1) % 4 * PETSC_PI / 2, u = 2 * y - 1,
               arc[2] = {cos(PETSC_PI / 4 * u), sin(PETSC_PI / 4 * u)};
  double out[2];

  if (!tree) {
    X[0] = half * (2 * x - 1);
    X[1] = half * u;
    return;
  }
  for (int i = 0; i < 2; i++) out[i] = tree > 4 ? (1 - d + d * x) * arc[i] : (1 - x) * (i ? half * u : half) + x * (1 - d) * arc[i];
  X[0] = cos(turn) * out[0] - sin(turn) * out[1];
  X[1] = sin(turn) * out[0] + cos(turn) * out[1];
}

static PetscErrorCode CreateRing(PetscInt degree, PetscInt refine, double d, DM *dm)
{
  PetscReal node[9 * NODES * NODES * 2], point[NODES], weight[NODES];
  PetscInt  corner[9 * 4] = {2, 3, 1, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscDTGaussLobattoLegendreQuadrature(NODES, PETSCGAUSSLOBATTOLEGENDRE_VIA_LINEAR_ALGEBRA, point, weight));
  for (int i = 4; i < 36; i++) corner[i] = 4 * ((i / 4 - 1) / 4 + (i & 1)) + ((i / 4 - 1) % 4 + (i & 2 ? 0 : 3)) % 4;
  for (int i = 0; i < 9 * NODES * NODES; i++)
    RingPoint(i / (NODES * NODES), d, (1 + point[i % NODES]) / 2, (1 + point[i / NODES % NODES]) / 2, node + 2 * i);
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, degree, refine, dm));
  PetscCall(DMVPatchDGSetTrees(*dm, 12, NULL, 9, corner, ORDER, node));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *nu = iterations, where a is another one in the ring */
static PetscErrorCode NuOfRing(PetscInt degree, double d, double ring, const char options[], PetscReal *nu)
{
  DM         dm;
  VpMesh     mesh;
  PetscReal *a;

  PetscFunctionBeginUser;
  PetscCall(CreateRing(degree, 3, d, &dm));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(PetscMalloc1(mesh->nown + 1, &a));
  for (int32_t c = 0; c < mesh->nown; c++) a[c] = mesh->geometry->box[c] > 4 ? ring : 1;
  if (ring != 1) PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(NuOfRandom(dm, options, nu));
  PetscCall(PetscFree(a));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* known: what two independent programs took; full: where all directions are halved. Sides that weigh by the coefficient alone, without the
   cells' volumes, take 30 in place of 13.1. */
static PetscErrorCode ring_takes_no_more_where_it_is_thin(PetscInt degree)
{
  static const double width[] = {0.25, 0.1, 0.03, 0.01};
  static const double known[2][4] = {{12.7, 12.8, 13.0, 13.1}, {14.3, 14.3, 14.4, 14.5}}, full[] = {14.1, 22.9, 36.2, 42.3};

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) {
    PetscReal nu, all, stiff, soft;

    PetscCall(NuOfRing(degree, width[i], 1, "-pc_vpatchdg_colors 0", &nu));
    PetscCall(NuOfRing(degree, width[i], 1, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarsening full", &all));
    PetscCall(NuOfRing(degree, width[i], 1000, "-pc_vpatchdg_colors 0", &stiff));
    PetscCall(NuOfRing(degree, width[i], 0.001, "-pc_vpatchdg_colors 0", &soft));
    TapOk((PetscBool)(fabs(nu - known[degree - 2][i]) < 0.5 && all > 0.95 * full[i]),
          "ring_takes_no_more_where_it_is_thin: Q%d, width %g, %.1f for %.1f, halved in full %.1f", (int)degree, width[i], nu,
          known[degree - 2][i], all);
    TapOk((PetscBool)(stiff < nu + 0.5 && soft < nu + 0.5), "ring_may_be_stiff_or_soft: Q%d, width %g, %.1f, %.1f", (int)degree, width[i],
          stiff, soft);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the two last of these coefficients, a line per tree in the order of the mesh's file. */
static PetscErrorCode ReadTrees(const char file[], PetscInt ntree, int how, PetscReal of[])
{
  FILE *lines;

  PetscFunctionBeginUser;
  PetscCheck((lines = fopen(file, "r")) != NULL, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file %s", file);
  for (PetscInt i = 0; i < ntree; i++) {
    double a[2];

    PetscCheck(fscanf(lines, "%lf %lf", &a[0], &a[1]) == 2, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s has no two numbers in line %d", file,
               (int)i + 1);
    of[i] = a[how - 1];
  }
  fclose(lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient per tree: 1; log-uniform from 1 to 1000; 1 or 1000. It depends on the number of the tree alone. -coefficients file: as in
   this file */
static PetscErrorCode SetTrees(DM dm, int how)
{
  const VpMesh   mesh = DMVPatchDGData(dm)->mesh;
  const PetscInt ntree = mesh->geometry->domain->nbox;
  PetscReal     *a, *of;
  char           file[PETSC_MAX_PATH_LEN];
  PetscBool      given;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(mesh->nown + 1, &a, ntree, &of));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-coefficients", file, sizeof(file), &given));
  if (given) PetscCall(ReadTrees(file, ntree, how, of));
  for (int32_t c = 0; c < mesh->nown; c++) {
    unsigned int seed = 2654435761u * (unsigned int)(mesh->geometry->box[c] + 1);

    seed ^= seed >> 15;
    seed *= 2246822519u;
    a[c] = PetscPowReal(1000, how == 1 ? (seed >> 8) / 16777216. : how == 2 ? (PetscReal)(seed >> 31) : 0);
    if (given) a[c] = of[mesh->geometry->box[c]];
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree2(a, of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *dm = the domain of these options */
static PetscErrorCode Create(PetscInt dim, PetscInt degree, PetscInt refine, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, dm));
  PetscCall(DMVPatchDGSetBackend(*dm, VPATCHDG_BACKEND_HOST));
  PetscCall(TestDMOptions(*dm, options));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finite volumes correct constants only. Trees without a regular vertex have no patch, and nothing else but sweeps of cells. */
static PetscErrorCode cells_without_a_patch_are_swept(PetscInt refine)
{
  PetscReal volumes, steps;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(Create(2, 2, refine, "-dm_vpatchdg_domain star", &dm));
  PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarsening full -pc_vpatchdg_coarse volumes", &volumes));
  PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarsening full", &steps));
  TapOk((PetscBool)(volumes < 1.3 * steps + 6), "cells_without_a_patch_are_swept: n=%d, %.1f, exact %.1f", (int)refine, volumes, steps);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode steps_are_as_good_as_an_inverse(PetscInt dim, PetscInt degree, PetscInt refine, const char mesh[], PetscBool compare)
{
  static const char *const names[] = {"1", "1 to 1000", "1 or 1000"};
  static const double      more[] = {0.8, 1.5, 4};

  PetscFunctionBeginUser;
  for (int how = 0; how < 3; how++) {
    char      option[256];
    PetscReal exact = 0, steps;
    DM        dm;

    PetscCall(PetscSNPrintf(option, sizeof(option), "-dm_vpatchdg_mesh %s", mesh));
    PetscCall(Create(dim, degree, refine, option, &dm));
    if (how) PetscCall(SetTrees(dm, how));
    if (compare) PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarse dense", &exact));
    PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarse steps", &steps));
    TapOk((PetscBool)(!compare || steps < exact + more[how]), "steps_are_as_good_as_an_inverse: Q%d, n=%d, a = %s: %.1f, exact %.1f",
          (int)degree, (int)refine, names[how], steps, exact);
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  char      mesh[200] = "share/vpatchdg/meshes/plate.msh";
  PetscInt  dim = 2, degree = 2, refine = -1;
  PetscBool exact = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", mesh, sizeof(mesh), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-degree", &degree, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &refine, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));
  if (degree == 2 || degree == 3) PetscCall(ring_takes_no_more_where_it_is_thin(degree));
  for (PetscInt n = 0; n < 3; n++) PetscCall(cells_without_a_patch_are_swept(n));
  for (PetscInt n = mesh[0] ? PetscMax(0, refine) : 9; n < (refine < 0 ? 2 : refine + 1); n++)
    PetscCall(steps_are_as_good_as_an_inverse(dim, degree, n, mesh, exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}
