/* Meshes of quadrilaterals and hexahedra that form no lattice: a DMPLEX on any ranks, with labels and regions, and files of Gmsh.
   ranks: 1 3 */
#include "support/trees_dm.h"
#include "../src/petsc/dm/internal.h"
#include <petscdmplex.h>

#define FILE_NAME "build/t/trees_convert.msh"

/* [2^dim] the corner, x fastest, that is PETSc's vertex i of a cell, and Gmsh's */
static const int plex_corner[4][8] = {{0}, {0}, {0, 1, 3, 2}, {0, 2, 3, 1, 4, 5, 7, 6}};
static const int gmsh_corner[4][8] = {{0}, {0}, {0, 1, 3, 2}, {0, 1, 3, 2, 4, 5, 7, 6}};

/* the trees as a DMPLEX, distributed over the ranks */
static PetscErrorCode PlexOf(const Trees *t, DM *plex)
{
  const int   corners = 1 << t->dim;
  PetscInt    cell[MOST_TREES * 8];
  PetscReal   x[MOST_TREES * 8 * 3];
  PetscMPIInt rank;
  DM          distributed = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  for (int i = 0; i < t->ntree * corners; i++) cell[i] = t->corner[i / corners * corners + plex_corner[t->dim][i % corners]];
  for (int i = 0; i < t->nvertex * t->dim; i++) x[i] = t->x[i / t->dim][i % t->dim];
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, t->dim, rank ? 0 : t->ntree, rank ? 0 : t->nvertex, corners, PETSC_TRUE, cell,
                                          t->dim, x, plex));
  PetscCall(DMPlexDistribute(*plex, 0, NULL, &distributed));
  if (!distributed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDestroy(plex));
  *plex = distributed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the points of a DMPLEX at a height a label: of the two values the first where they lie at x > least, else the second. */
static PetscErrorCode Mark(DM plex, PetscInt height, const char label[], double least, const PetscInt value[2])
{
  PetscInt first, last;

  PetscFunctionBeginUser;
  PetscCall(DMCreateLabel(plex, label));
  PetscCall(DMPlexGetHeightStratum(plex, height, &first, &last));
  for (PetscInt point = first; point < last; point++) {
    PetscReal volume, center[3], normal[3];

    PetscCall(DMPlexComputeCellGeometryFVM(plex, point, &volume, center, normal));
    PetscCall(DMSetLabelValue(plex, label, point, value[center[0] > least ? 0 : 1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the conditions of these labels, by a function of the sides' midpoints on the same trees */
static PetscErrorCode ByPlace(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                              PetscReal *alpha, void *ctx)
{
  const Trees *t = ctx;
  double       x = 0;

  for (int i = 0; i < 1 << dim; i++) {
    if ((i >> side / 2 & 1) == side % 2) x += t->x[t->corner[(box << dim) + i]][0];
  }
  *boundary = x > 0 ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_ROBIN;
  *alpha = 2;
  return 0;
}

/* The coefficient is 100 in cells of a DMPLEX that lie at x < 0.1. */
static PetscErrorCode Regions(DM dm, DM plex, PetscReal energy, const char name[])
{
  const PetscInt  region[2] = {3, 4};
  const PetscReal a[2] = {1, 100};
  PetscReal       found[3];

  PetscFunctionBeginUser;
  PetscCall(Mark(plex, 0, "Cell Sets", 0.1, region));
  PetscCall(DMVPatchDGSetRegionCoefficient(dm, plex, 2, region, a));
  PetscCall(Numbers(dm, found));
  TapOk((PetscBool)(found[0] > 2 * energy && found[0] < 100 * energy), "regions_set_the_coefficient: %s, energy %g instead of %g", name,
        (double)found[0], (double)energy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* X [dim] = the mean of the corners of a DMPLEX's cell */
static PetscErrorCode MeanOf(DM plex, int dim, PetscInt cell, PetscReal X[])
{
  const PetscScalar *array;
  PetscScalar       *corner;
  PetscBool          discontinuous;
  PetscInt           size;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetCellCoordinates(plex, cell, &discontinuous, &size, &array, &corner));
  for (int d = 0; d < dim; d++) {
    X[d] = 0;
    for (PetscInt i = d; i < size; i += dim) X[d] += PetscRealPart(corner[i]) / (1 << dim);
  }
  PetscCall(DMPlexRestoreCellCoordinates(plex, cell, &discontinuous, &size, &array, &corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells are the trees, and the map of cells takes the middle of each to the DMPLEX. */
static PetscErrorCode CellMap(DM plex, int dim, const char name[])
{
  const double half[1] = {0.5};
  PetscInt     first, last;
  PetscReal    error = 0, *own, *copy;
  PetscSF      map;
  VpMesh       mesh;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMSetUp(dm));
  mesh = DMVPatchDGData(dm)->mesh;
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(PetscMalloc2(mesh->nown * dim + 1, &own, (last - first) * dim + 1, &copy));
  for (int32_t c = 0; c < mesh->nown; c++)
    VpGeometryEvaluate(mesh->geometry, c, (int[]){1, 1, 1}, (const double *const[]){half, half, half}, own + c * dim, NULL);
  PetscCall(DMVPatchDGCreateCellMap(dm, plex, &map));
  PetscCall(VpBroadcast(map, (size_t)dim, MPI_DOUBLE, own, copy));
  for (PetscInt c = first; c < last; c++) {
    PetscReal X[3];

    PetscCall(MeanOf(plex, dim, c, X));
    for (int d = 0; d < dim; d++) error = PetscMax(error, PetscAbsReal(X[d] - copy[(c - first) * dim + d]));
  }
  TapOk((PetscBool)(error < 1e-12), "cell_map_takes_cells_to_each_other: %s, %.1e", name, (double)error);
  PetscCall(PetscFree2(own, copy));
  PetscCall(PetscSFDestroy(&map));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares a DM that is made of a DMPLEX, with conditions by labels, with one of the same trees and conditions. */
static PetscErrorCode OfAPlex(Trees *t, const char name[])
{
  PetscReal expected[3], found[3];
  DM        plex, dm;

  PetscFunctionBeginUser;
  PetscCall(New(t, 2, 1, "", &dm));
  PetscCall(DMVPatchDGSetBoundaryFunction(dm, ByPlace, t));
  PetscCall(Numbers(dm, expected));
  PetscCall(DMDestroy(&dm));
  PetscCall(PlexOf(t, &plex));
  PetscCall(Mark(plex, 1, "Face Sets", 0, (PetscInt[]){5, 6}));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 5, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 6, VPATCHDG_BOUNDARY_ROBIN, 2));
  PetscCall(DMVPatchDGSetDegree(dm, 2));
  PetscCall(DMSetRefineLevel(dm, 1));
  PetscCall(Numbers(dm, found));
  TapOk(AreSame(expected, found), "plex_is_as_its_trees: %s, %.1e %.1e %.1e", name, (double)(found[0] / expected[0] - 1),
        (double)(found[1] / expected[1] - 1), (double)(found[2] / expected[2] - 1));
  PetscCall(Regions(dm, plex, expected[0], name));
  PetscCall(DMDestroy(&dm));
  PetscCall(CellMap(plex, t->dim, name));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first rank writes a file of Gmsh. */
static PetscErrorCode WriteFile(const char nodes[], const char elements[])
{
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    FILE *f = fopen(FILE_NAME, "w");

    PetscCheck(f, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s", FILE_NAME);
    fprintf(f, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%s$EndNodes\n$Elements\n%s$EndElements\n", nodes, elements);
    fclose(f);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes trees to a file of Gmsh. */
static PetscErrorCode WriteTrees(const Trees *t)
{
  const int corners = 1 << t->dim;
  char      nodes[MOST_TREES * 8 * 80], elements[MOST_TREES * 120], *to = nodes;

  PetscFunctionBeginUser;
  to += sprintf(to, "%d\n", (int)t->nvertex);
  for (int v = 0; v < t->nvertex; v++) to += sprintf(to, "%d %.17g %.17g %.17g\n", v + 1, t->x[v][0], t->x[v][1], t->x[v][2]);
  to = elements;
  to += sprintf(to, "%d\n", (int)t->ntree);
  for (int i = 0; i < t->ntree; i++) {
    to += sprintf(to, "%d %d 2 7 1", i + 1, t->dim == 2 ? 3 : 5);
    for (int k = 0; k < corners; k++) to += sprintf(to, " %d", (int)t->corner[i * corners + gmsh_corner[t->dim][k]] + 1);
    to += sprintf(to, "\n");
  }
  PetscCall(WriteFile(nodes, elements));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares a file of Gmsh, which every rank reads as one, with its trees. */
static PetscErrorCode OfAFile(const Trees *t, const char name[])
{
  PetscReal expected[3], found[3];
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(WriteTrees(t));
  PetscCall(New(t, 3, 1, "", &dm));
  PetscCall(Numbers(dm, expected));
  PetscCall(DMDestroy(&dm));
  PetscCall(NewByOptions(t->dim, 3, 1, "-dm_vpatchdg_mesh " FILE_NAME, &dm));
  PetscCall(Numbers(dm, found));
  TapOk(AreSame(expected, found), "file_is_as_its_trees: %s, %.1e %.1e %.1e", name, (double)(found[0] / expected[0] - 1),
        (double)(found[1] / expected[1] - 1), (double)(found[2] / expected[2] - 1));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a quadrilateral that is not in the plane */
static PetscErrorCode Surface(void)
{
  const PetscInt  corner[4] = {0, 1, 2, 3};
  const PetscReal x[12] = {0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1};
  PetscMPIInt     rank;
  DM              plex, dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, rank ? 0 : 1, rank ? 0 : 4, 4, PETSC_TRUE, corner, 3, x, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { ALONG = 64, SQUARES = ALONG * ALONG + 4 };

/* Writes ALONG^2 squares, the first of which is divided into five, in the order 0, step, 2 step, ... */
static PetscErrorCode WriteSquares(int step)
{
  const int m = ALONG + 1, inner = m * m;
  char     *nodes, *elements, *to;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2((inner + 4) * 60, &nodes, SQUARES * 60, &elements));
  to = nodes + sprintf(nodes, "%d\n", inner + 4);
  for (int v = 0; v < inner + 4; v++) {
    const double x = v < inner ? v % m : (1 + (v - inner) % 2) / 3., y = v < inner ? v / m : (1 + (v - inner) / 2) / 3.;

    to += sprintf(to, "%d %.17g %.17g 0\n", v + 1, x / ALONG, y / ALONG);
  }
  to = elements + sprintf(elements, "%d\n", SQUARES);
  for (int i = 0; i < SQUARES; i++) {
    const int  q = (int)((long)i * step % SQUARES), low = q / ALONG * m + q % ALONG;
    const int  outer[4] = {0, 1, m + 1, m}, around[4] = {inner, inner + 1, inner + 3, inner + 2}, k = q - ALONG * ALONG;
    const int  of[3][4] = {{low, low + 1, low + m + 1, low + m},
                           {around[0], around[1], around[2], around[3]},
                           {outer[k & 3], outer[(k + 1) & 3], around[(k + 1) & 3], around[k & 3]}};
    const int *v = of[q == 0 ? 1 : k < 0 ? 0 : 2];

    to += sprintf(to, "%d 3 2 7 1 %d %d %d %d\n", i + 1, v[0] + 1, v[1] + 1, v[2] + 1, v[3] + 1);
  }
  PetscCall(WriteFile(nodes, elements));
  PetscCall(PetscFree2(nodes, elements));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the part of the sides of own cells whose neighbours are far away in memory, or on other ranks */
static double FarOf(VpMesh mesh)
{
  double far[2] = {0, 0};

  for (int32_t i = 0; i < mesh->nown * 4; i++) {
    const int32_t beyond = VpMeshNeighbor(mesh, i / 4, i % 4);

    far[0] += beyond >= mesh->nown || (beyond >= 0 && abs(beyond - i / 4) > SQUARES / 8);
    far[1] += beyond >= 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, far, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return far[0] / far[1];
}

/* Many trees get near numbers where they are near, in whatever order a file has them. */
static PetscErrorCode ManyTrees(void)
{
  PetscReal found[2][3];

  PetscFunctionBeginUser;
  for (int shuffled = 0; shuffled < 2; shuffled++) {
    DM     dm;
    double far;

    PetscCall(WriteSquares(shuffled ? 607 : 1));
    PetscCall(NewByOptions(2, 2, 0, "-dm_vpatchdg_mesh " FILE_NAME, &dm));
    PetscCall(Numbers(dm, found[shuffled]));
    far = FarOf(DMVPatchDGData(dm)->mesh);
    TapOk((PetscBool)(far < 0.15), "near_trees_have_near_numbers: shuffled %d, %.2f of the sides do not", shuffled, far);
    PetscCall(DMDestroy(&dm));
  }
  TapOk(AreSame(found[0], found[1]), "order_of_a_file_does_not_matter: %.1e %.1e %.1e", (double)(found[1][0] / found[0][0] - 1),
        (double)(found[1][1] / found[0][1] - 1), (double)(found[1][2] / found[0][2] - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Files whose cells are not all quadrilaterals or hexahedra: a triangle beside a square, a prism beside a cube. */
static PetscErrorCode OtherCells(void)
{
  static const char *const elements[] = {"2\n1 3 2 7 1 1 2 4 3\n2 2 2 7 1 2 5 4\n",
                                         "2\n1 5 2 7 1 1 2 4 3 6 7 9 8\n2 6 2 7 1 2 5 4 7 10 9\n"};

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(WriteFile("10\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n5 2 0 0\n6 0 0 1\n7 1 0 1\n8 0 1 1\n9 1 1 1\n10 2 0 1\n", elements[i]));
    Refused(SetUpWith(2 + i, "-dm_vpatchdg_mesh " FILE_NAME),
            i ? "near (1.33333, 0.333333, 0.5), has 6 corners" : "near (1.33333, 0.333333), has 3 corners", i ? "prism" : "triangle");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees t;

  PetscFunctionBeginUser;
  TreesStar(5, &t);
  PetscCall(OfAPlex(&t, "star"));
  PetscCall(OfAFile(&t, "star"));
  Refused(SetUpWith(2, "-dm_vpatchdg_mesh " FILE_NAME " -dm_vpatchdg_domain disc"), "-dm_vpatchdg_mesh reads the domain", "domain");
  Refused(SetUpWith(2, "-dm_vpatchdg_mesh build/t/nothing.msh"), "", "file_that_does_not_exist");
  PetscCall(LossesAreExpected());
  PetscCall(OtherCells());
  Refused(Surface(), "have 2 dimensions and lie in space of 3", "surface_in_space");
  TreesBall(3, &t);
  PetscCall(OfAPlex(&t, "ball"));
  PetscCall(OfAFile(&t, "ball"));
  PetscCall(ManyTrees());
  PetscFunctionReturn(PETSC_SUCCESS);
}
