/* Coarse levels of trees, with random b: classes of directions save iterations where a boundary layer is thin, and steps on the trees take
   as many as the exact inverse, where the mesh is used as it comes, too. -refine n, -degree k: of these; -mesh file -dim d: another mesh
   for the steps, whose inverse is not made if -exact 0.
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

static PetscErrorCode classes_save_iterations(PetscInt degree, PetscInt refine)
{
  const double width[] = {0.25, 0.1, 0.03, 0.01};
  PetscReal    nu[4], full[4];

  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) {
    DM dm;

    PetscCall(CreateRing(degree, refine, width[i], &dm));
    PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0", &nu[i]));
    PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarsening full", &full[i]));
    PetscCall(DMDestroy(&dm));
  }
  TapOk((PetscBool)(nu[0] < 14 && nu[0] < full[0] && nu[1] < 0.9 * full[1] && nu[2] < 0.7 * full[2] && nu[3] < 0.7 * full[3]),
        "classes_save_iterations: Q%d, n=%d, 1:6 to 1:150: %.1f %.1f %.1f %.1f, coarsened in full %.1f %.1f %.1f %.1f", (int)degree,
        (int)refine, nu[0], nu[1], nu[2], nu[3], full[0], full[1], full[2], full[3]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A coefficient per tree: 1; log-uniform from 1 to 1000; 1 or 1000. It depends on the number of the tree alone. */
static PetscErrorCode SetTrees(DM dm, int how)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  PetscReal   *a;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nown + 1, &a));
  for (int32_t c = 0; c < mesh->nown; c++) {
    unsigned int seed = 2654435761u * (unsigned int)(mesh->geometry->box[c] + 1);

    seed ^= seed >> 15;
    seed *= 2246822519u;
    a[c] = PetscPowReal(1000, how == 1 ? (seed >> 8) / 16777216. : how == 2 ? (PetscReal)(seed >> 31) : 0);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode steps_are_as_good_as_an_inverse(PetscInt dim, PetscInt degree, PetscInt refine, const char mesh[], PetscBool compare)
{
  static const char *const names[] = {"1", "1 to 1000", "1 or 1000"};
  static const double      more[] = {0.8, 1.5, 4};

  PetscFunctionBeginUser;
  for (int how = 0; how < 3; how++) {
    char         option[256];
    PetscReal    exact = 0, steps;
    PetscOptions own;
    DM           dm;

    PetscCall(PetscSNPrintf(option, sizeof(option), "-dm_vpatchdg_mesh %s", mesh));
    PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, refine, &dm));
    PetscCall(TestOptionsPush(option, &own));
    PetscCall(DMSetFromOptions(dm));
    PetscCall(TestOptionsPop(&own));
    PetscCall(DMSetUp(dm));
    if (how) PetscCall(SetTrees(dm, how));
    if (compare) PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarse dense", &exact));
    PetscCall(NuOfRandom(dm, "-pc_vpatchdg_colors 0 -pc_vpatchdg_coarse steps", &steps));
    TapOk((PetscBool)(!compare || steps < exact + more[how]), "steps_are_as_good_as_an_inverse: Q%d, n=%d, a = %s: %.1f, exact %.1f",
          (int)degree, (int)refine, names[how], steps, exact);
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      mesh[200] = "share/vpatchdg/meshes/plate.msh";
  PetscInt  dim = 2, degree = 2, refine = -1;
  PetscBool exact = PETSC_TRUE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mesh", mesh, sizeof(mesh), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-dim", &dim, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-degree", &degree, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-refine", &refine, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));
  TapBegin(PETSC_COMM_WORLD);
  if (dim == 2) PetscCall(classes_save_iterations(degree, refine < 0 ? 2 : refine));
  for (PetscInt n = PetscMax(0, refine); n < (refine < 0 ? 2 : refine + 1); n++)
    PetscCall(steps_are_as_good_as_an_inverse(dim, degree, n, mesh, exact));
  PetscCall(PetscFinalize());
  return TapEnd();
}
