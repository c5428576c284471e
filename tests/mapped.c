/* Mapped cells: the maps that options name, functions and nodes, and what is refused.
   ranks: 1 3 */
#include "support/backend.h"
#include "support/refused.h"
#include "../src/petsc/dm/internal.h"

/* Makes a DM with these options, of degree 4. */
static PetscErrorCode New(PetscInt dim, PetscInt refine, const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 4, refine, dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMSetFromOptions(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the volume of all cells in physical space, by 6 Gauss points in each direction */
static PetscErrorCode FindVolume(DM dm, double *volume)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const int    dim = mesh->dim, count[3] = {6, 6, dim == 3 ? 6 : 1};
  double       x[6], w[6], J[9 * 216];

  PetscFunctionBeginUser;
  VpGauss(6, x, w);
  *volume = 0;
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    VpGeometryEvaluate(mesh->geometry, cell, count, (const double *const[]){x, x, x}, NULL, J);
    for (int q = 0; q < count[0] * count[1] * count[2]; q++)
      *volume += w[q % 6] * w[q / 6 % 6] * (dim == 3 ? w[q / 36] : 1) * VpDeterminant(dim, J + q * dim * dim);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, volume, 1, MPI_DOUBLE, MPI_SUM, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the volume of the image of the unit square or cube, and the images of two points. Cells are such that these points are nodes. */
static PetscErrorCode NamedMap(PetscInt dim, const char options[], double volume, const double at[2][3], const double X[2][3])
{
  double found, error = 0;
  DM     dm;
  VpMesh mesh;

  PetscFunctionBeginUser;
  PetscCall(New(dim, 3, options, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(FindVolume(dm, &found));
  mesh = DMVPatchDGData(dm)->mesh;
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    PetscReal lower[3], size[3];

    VpGeometryBounds(mesh->geometry, cell, lower, size);
    for (int p = 0; p < 2; p++) {
      double    xi[3], Y[3];
      PetscBool inside = PETSC_TRUE;

      for (int d = 0; d < dim; d++) {
        xi[d] = (at[p][d] - lower[d]) / size[d];
        inside = (PetscBool)(inside && xi[d] >= 0 && xi[d] <= 1);
      }
      if (!inside) continue;
      VpGeometryEvaluate(mesh->geometry, cell, (int[]){1, 1, 1}, (const double *const[]){xi, xi + 1, xi + 2}, Y, NULL);
      for (int d = 0; d < dim; d++) error = PetscMax(error, fabs(Y[d] - X[p][d]));
    }
  }
  TapOk((PetscBool)(fabs(found / volume - 1) < 1e-5), "volume_is_that_of_the_image: %s, %g", options, found / volume - 1);
  TapOk((PetscBool)(error < 1e-13), "points_are_where_the_formula_says: %s, %.1e", options, error);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode NamedMaps(void)
{
  const double half = sqrt(0.5), wall = tanh(2.);

  PetscFunctionBeginUser;
  PetscCall(NamedMap(2, "-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 30", 0.5, (double[2][3]){{1, 0}, {0, 1}},
                     (double[2][3]){{1, 0}, {cos(PETSC_PI / 6), 0.5}}));
  PetscCall(NamedMap(3, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05", 1, (double[2][3]){{0.25, 0.25, 0.25}, {0.5, 0, 1}},
                     (double[2][3]){{0.3, 0.3, 0.3}, {0.5, 0, 1}}));
  PetscCall(NamedMap(2, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90", 0.75 * PETSC_PI, (double[2][3]){{0, 0.5}, {1, 1}},
                     (double[2][3]){{half, half}, {0, 2}}));
  PetscCall(NamedMap(3, "-dm_vpatchdg_map kershaw -dm_vpatchdg_map_parameters .3 -dm_vpatchdg_boxes 3,1,1", 1,
                     (double[2][3]){{0, 0.5, 0.25}, {1, 0.25, 0.5}}, (double[2][3]){{0, 0.15, 0.075}, {1, 0.425, 0.85}}));
  PetscCall(NamedMap(3, "-dm_vpatchdg_map torus -dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic,dirichlet,dirichlet",
                     0.75 * PETSC_PI * PETSC_PI, (double[2][3]){{1, 0, 0.5}, {0, 0.25, 0}},
                     (double[2][3]){{3 * half, -3 * half, 0}, {2, 0, 0.5}}));
  PetscCall(NamedMap(2, "-dm_vpatchdg_map bump", 3.8, (double[2][3]){{0.5, 0}, {0.25, 0.75}},
                     (double[2][3]){{2, 0.1}, {1, 0.05 + 0.95 * (1 + tanh(1.) / wall) / 2}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a map to a plane bent around the origin; ctx: factors of x and y */
static PetscErrorCode Bend(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  const double *factor = ctx;

  for (PetscInt i = 0; i < n; i++) {
    X[2 * i] = factor[0] * x[2 * i] + 0.2 * x[2 * i + 1] * x[2 * i + 1];
    X[2 * i + 1] = factor[1] * x[2 * i + 1] - 0.1 * x[2 * i] * x[2 * i + 1];
  }
  return normal ? PETSC_ERR_USER : 0;
}

static PetscErrorCode Fold(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    X[2 * i] = x[2 * i] > 0.9 ? 1.8 - x[2 * i] : x[2 * i];
    X[2 * i + 1] = x[2 * i + 1];
  }
  return 0;
}

/* a disc, whose centre is a side of the boxes; or an error on the first rank, if ctx is negative */
static PetscErrorCode Disc(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) {
    X[2 * i] = x[2 * i] * PetscCosReal(x[2 * i + 1]);
    X[2 * i + 1] = x[2 * i] * PetscSinReal(x[2 * i + 1]);
  }
  return *(double *)ctx < 0 && tap.rank == 0 ? PETSC_ERR_USER : 0;
}

/* the value at all points is ctx, or the error if that is negative */
static PetscErrorCode Constant(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  const double *value = ctx;

  for (PetscInt i = 0; i < n * dim; i++) X[i] = *value;
  return *value < 0 ? PETSC_ERR_USER : 0;
}

/* whether the cells of both sides of faces have the same points there, to the last bit */
static PetscBool IsContinuous(DM dm)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const VpMap  map = mesh->geometry->map;
  const int    n = map->degree + 1;

  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    for (int d = 0; d < 2; d++) {
      const int32_t beyond = VpMeshNeighbor(mesh, cell, 2 * d + 1);

      for (int i = 0; i < n && beyond >= 0 && beyond < mesh->nown; i++) {
        const int last = d ? (n - 1) * n + i : n - 1 + n * i, first = d ? i : n * i;

        if (memcmp(map->node + 2 * (cell * n * n + last), map->node + 2 * (beyond * n * n + first), 2 * sizeof(double))) return PETSC_FALSE;
      }
    }
  }
  return PETSC_TRUE;
}

/* the area of the image of [0,1]^2 under Bend() */
static double BentArea(const double factor[2])
{
  return factor[0] * factor[1] - 0.05 * factor[0] + 0.04 / 3;
}

static PetscErrorCode CheckArea(DM dm, const double factor[2], const char name[])
{
  double area;

  PetscFunctionBeginUser;
  PetscCall(FindVolume(dm, &area));
  TapOk((PetscBool)(DMVPatchDGData(dm)->mesh->geometry->map && fabs(area / BentArea(factor) - 1) < 1e-13), "%s: %g", name,
        area / BentArea(factor) - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Functions(void)
{
  double   right[2] = {1, 2}, left[2] = {-1, 2};
  PetscInt degree;
  DM       dm, other;

  PetscFunctionBeginUser;
  PetscCall(New(2, 2, "-dm_vpatchdg_boxes 3,2", &dm));
  PetscCall(DMVPatchDGSetMap(dm, Bend, right));
  PetscCall(DMVPatchDGSetMapDegree(dm, 2));
  PetscCall(DMVPatchDGGetMapDegree(dm, &degree));
  PetscCall(DMSetUp(dm));
  PetscCall(CheckArea(dm, right, "function_maps_cells"));
  TapOk((PetscBool)(degree == 2 && DMVPatchDGData(dm)->mesh->geometry->map->degree == 2), "map_has_its_degree");
  TapOk(IsContinuous(dm), "cells_share_the_nodes_of_faces");
  PetscCall(DMClone(dm, &other));
  PetscCall(CheckArea(other, right, "clone_keeps_the_map"));
  PetscCall(DMDestroy(&other));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  PetscCall(CheckArea(other, right, "refinement_keeps_the_map"));
  PetscCall(DMDestroy(&other));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &other));
  PetscCall(CheckArea(other, right, "coarsening_keeps_the_map"));
  PetscCall(DMDestroy(&other));
  Refused(DMVPatchDGSetMap(dm, Bend, left), "The map cannot change after DMSetUp()", "another map after set-up");
  Refused(DMVPatchDGSetMapDegree(dm, 1), "The degree of the map cannot change after DMSetUp()", "another degree of the map after set-up");
  PetscCall(DMDestroy(&dm));
  PetscCall(New(2, 2, "", &dm));
  PetscCall(DMVPatchDGSetMap(dm, Bend, left));
  PetscCall(DMSetUp(dm));
  PetscCall(CheckArea(dm, left, "left_handed_maps_are_taken"));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers per cell stay what they were given as, also on other meshes. */
static PetscErrorCode Coefficients(void)
{
  double           factor[2] = {1, 2};
  PetscReal        a[256], bad = 0;
  const PetscReal *b;
  PetscInt         n;
  DM               dm, other;

  PetscFunctionBeginUser;
  PetscCall(New(2, 2, "", &dm));
  PetscCall(DMVPatchDGSetMap(dm, Bend, factor));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  for (PetscInt i = 0; i < n; i++) a[i] = 2 + i;
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(DMVPatchDGGetCoefficient(dm, &b));
  for (PetscInt i = 0; i < n; i++) bad += PetscAbsReal(a[i] - b[i]);
  TapOk((PetscBool)(bad == 0), "coefficient_is_the_one_that_was_given");
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  PetscCall(DMVPatchDGGetCoefficient(other, &b));
  for (PetscInt i = 0; i < 4 * n; i++) bad += PetscAbsReal(a[i / 4] - b[i]);
  TapOk((PetscBool)(bad == 0), "refined_cells_have_the_coefficient_of_their_parents");
  PetscCall(DMDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes of one DM make the same map in another one, wherever ranks have them. */
static PetscErrorCode Nodes(void)
{
  double      factor[2] = {1, 2};
  PetscInt    n;
  DM          dm, other, next, adaptive;
  DMAdaptFlag mark[96];
  Vec         nodes, moved, again;
  VecScatter  scatter;
  IS          numbers;
  PetscReal   difference;

  PetscFunctionBeginUser;
  PetscCall(New(2, 2, "-dm_vpatchdg_boxes 2,3 -dm_vpatchdg_map_degree 2", &dm));
  PetscCall(DMVPatchDGSetMap(dm, Bend, factor));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetMapCoordinates(dm, &nodes));
  PetscCall(VecGetSize(nodes, &n));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, tap.rank ? 0 : n, n, &moved));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, tap.rank ? 0 : n, 0, 1, &numbers));
  PetscCall(VecScatterCreate(nodes, numbers, moved, NULL, &scatter));
  PetscCall(ISDestroy(&numbers));
  PetscCall(VecScatterBegin(scatter, nodes, moved, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, nodes, moved, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(New(2, 2, "-dm_vpatchdg_boxes 2,3 -dm_vpatchdg_map_degree 2", &other));
  PetscCall(DMVPatchDGSetMapCoordinates(other, moved));
  PetscCall(VecDestroy(&moved));
  PetscCall(DMSetUp(other));
  PetscCall(DMVPatchDGGetMapCoordinates(other, &again));
  PetscCall(VecAXPY(again, -1, nodes));
  PetscCall(VecNorm(again, NORM_INFINITY, &difference));
  TapOk((PetscBool)(difference == 0), "nodes_make_the_same_map");
  PetscCall(DMRefine(other, PETSC_COMM_WORLD, &next));
  PetscCall(CheckArea(next, factor, "nodes_are_refined"));
  PetscCall(DMDestroy(&next));
  PetscCall(DMCoarsen(other, PETSC_COMM_WORLD, &next));
  PetscCall(CheckArea(next, factor, "nodes_are_coarsened"));
  PetscCall(DMDestroy(&next));
  PetscCall(DMClone(other, &next));
  PetscCall(CheckArea(next, factor, "nodes_are_cloned"));
  for (int i = 0; i < 96; i++) mark[i] = i % 3 ? DM_ADAPT_KEEP : DM_ADAPT_REFINE;
  PetscCall(DMVPatchDGRefineCells(next, mark, &adaptive));
  PetscCall(CheckArea(adaptive, factor, "nodes_are_refined_in_some_cells"));
  PetscCall(DMDestroy(&next));
  PetscCall(DMCoarsen(adaptive, PETSC_COMM_WORLD, &next));
  PetscCall(CheckArea(next, factor, "nodes_are_coarsened_where_cells_have_several_levels"));
  PetscCall(DMDestroy(&adaptive));
  PetscCall(DMDestroy(&next));
  Refused(DMVPatchDGSetMapCoordinates(other, nodes), "The map cannot change after DMSetUp()", "nodes after set-up");
  PetscCall(DMDestroy(&other));
  PetscCall(New(2, 1, "", &other));
  PetscCall(DMVPatchDGSetMapCoordinates(other, nodes));
  Refused(DMSetUp(other), "4 cells with a map of degree 4 need 200", "a wrong number of nodes");
  PetscCall(DMDestroy(&other));
  PetscCall(New(2, 2, "-dm_vpatchdg_boxes 2,3 -dm_vpatchdg_map_degree 2", &other));
  if (!tap.rank) PetscCall(VecSetValue(nodes, 12, 0.2, ADD_VALUES));
  PetscCall(VecAssemblyBegin(nodes));
  PetscCall(VecAssemblyEnd(nodes));
  PetscCall(DMVPatchDGSetMapCoordinates(other, nodes));
  Refused(DMSetUp(other), "cells do not meet", "nodes that differ on both sides of a face");
  PetscCall(DMDestroy(&other));
  PetscCall(VecDestroy(&again));
  PetscCall(VecDestroy(&nodes));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The DM is not set up then, and takes another map. */
static PetscErrorCode RefusedMap(VPatchDGBatch map, double value, const char text[], const char name[])
{
  double factor[2] = {1, 2};
  DM     dm;

  PetscFunctionBeginUser;
  PetscCall(New(2, 2, "", &dm));
  PetscCall(DMVPatchDGSetMap(dm, map, &value));
  Refused(DMSetUp(dm), text, name);
  PetscCall(DMVPatchDGSetMap(dm, Bend, factor));
  PetscCall(DMSetUp(dm));
  PetscCall(CheckArea(dm, factor, name));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The map stretches the side y+ (*ctx in x, and 1/ *ctx in z) against y-, so that areas may agree and lengths do not. */
static PetscErrorCode Stretch(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar X[], void *ctx)
{
  const double factor = *(const double *)ctx;

  for (PetscInt i = 0; i < n; i++) {
    const PetscReal *at = x + i * dim, by = 1 + (factor - 1) * at[1];

    X[i * dim] = at[0] * by;
    X[i * dim + 1] = at[1];
    if (dim == 3) X[i * dim + 2] = at[2] / by;
  }
  return normal ? PETSC_ERR_USER : 0;
}

/* Sides of periodic directions may be moved and turned. */
static PetscErrorCode Periods(void)
{
  static const struct {
    PetscInt    dim;
    const char *options;
  } fits[] = {
    {2, "-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 50 -dm_vpatchdg_boundary periodic"},
    {2, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90 -dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic"},
    {2, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,360 -dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic"},
    {3, "-dm_vpatchdg_map torus -dm_vpatchdg_map_parameters 360 -dm_vpatchdg_boundary "
        "dirichlet,dirichlet,periodic,periodic,periodic,periodic"},
    {3, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05 -dm_vpatchdg_boundary periodic"},
  };
  double factor = 1.001;
  DM     dm;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(fits); i++) {
    PetscCall(New(fits[i].dim, 1, fits[i].options, &dm));
    PetscCall(DMSetUp(dm));
    TapOk(PETSC_TRUE, "sides_may_be_moved_and_turned: %s", fits[i].options);
    PetscCall(DMDestroy(&dm));
  }
  for (PetscInt dim = 2; dim <= 3; dim++) {
    PetscCall(New(dim, 1,
                  dim == 3 ? "-dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic,dirichlet,dirichlet"
                           : "-dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic",
                  &dm));
    PetscCall(DMVPatchDGSetMap(dm, Stretch, &factor));
    Refused(DMSetUp(dm), "does not match across the periodic sides y- and y+", "a side that is stretched");
    PetscCall(DMDestroy(&dm));
  }
  PetscCall(New(2, 2, "-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90 -dm_vpatchdg_boundary periodic", &dm));
  Refused(DMSetUp(dm), "does not match across the periodic sides x- and x+", "the radius of a ring as a periodic direction");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refusals(void)
{
  const PetscMPIInt rank = tap.rank;
  double            factor[2] = {1, 2};
  PetscMPIInt       size;
  DM                dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(RefusedMap(Fold, 0, "det J must have the same sign", "a map that folds"));
  PetscCall(RefusedMap(Constant, 0.5, "in cell 0, at the point (0.0117275, 0.0117275) of the boxes", "a map to one point"));
  PetscCall(RefusedMap(Constant, NAN, "has det J = ", "a map to NaN"));
  PetscCall(RefusedMap(Constant, -1, "", "a map that fails"));
  PetscCall(RefusedMap(Disc, -1, "", "a map that fails on one rank"));
  PetscCall(RefusedMap(Disc, 0, "A side that shrinks to a point", "a disc with a side at its centre"));
  PetscCall(New(2, 2, "", &dm));
  PetscCall(DMVPatchDGSetMap(dm, !rank ? Bend : NULL, factor));
  if (size > 1) Refused(DMSetUp(dm), "Ranks disagree about the map", "a map on some ranks");
  PetscCall(DMVPatchDGSetMap(dm, Bend, factor));
  PetscCall(DMSetUp(dm));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what -dm_view says of the map */
static PetscErrorCode View(const char options[], const char line[])
{
  char        text[4096] = "";
  FILE       *file = tmpfile();
  DM          dm;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(New(2, 1, options, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  (void)!fread(text, 1, sizeof(text) - 1, file);
  TapOk((PetscBool)(tap.rank || strstr(text, line)), "view_says_the_map: %s", line);
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(NamedMaps());
  PetscCall(Functions());
  PetscCall(Coefficients());
  PetscCall(View("-dm_vpatchdg_map annulus -dm_vpatchdg_map_parameters 1,2,90", "map of cells annulus 1.,2.,90., degree 4"));
  PetscCall(View("-dm_vpatchdg_map bump -dm_vpatchdg_map_degree 1", "map of cells bump 2., degree 1"));
  PetscCall(LossesAreExpected());
  PetscCall(Nodes());
  PetscCall(Periods());
  PetscCall(Refusals());
  PetscFunctionReturn(PETSC_SUCCESS);
}
