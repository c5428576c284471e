/* DMConvert() from a DMPLEX whose cells do not fill a grid, and the coefficient by its regions. */
/* ranks: 1 2 3 */
#include "support/convert.h"
#include "support/backend.h"

enum { MOST = 16 };

/* cells of a grid: n along each direction, from face[d][i] to face[d][i + 1] */
typedef struct {
  PetscInt  dim, n[3];
  PetscReal face[3][MOST + 1];
} Grid;

static Grid Equal(PetscInt dim, PetscInt n, PetscReal lower, PetscReal upper)
{
  Grid g = {.dim = dim, .n = {n, n, dim == 3 ? n : 1}};

  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt i = 0; i <= n; i++) g.face[d][i] = lower + (upper - lower) * (PetscReal)i / (PetscReal)n;
  }
  return g;
}

/* whether a cell belongs to a shape, by its centre */
typedef PetscBool Shape(PetscInt dim, const PetscReal x[]);

static PetscBool Everywhere(PetscInt dim, const PetscReal x[])
{
  return PETSC_TRUE;
}

static PetscBool Corner(PetscInt dim, const PetscReal x[])
{
  PetscBool beyond = PETSC_TRUE;

  for (PetscInt d = 0; d < dim; d++) beyond = (PetscBool)(beyond && x[d] > 0);
  return (PetscBool)!beyond;
}

static PetscBool Hole(PetscInt dim, const PetscReal x[])
{
  PetscBool inside = PETSC_TRUE;

  for (PetscInt d = 0; d < dim; d++) inside = (PetscBool)(inside && x[d] > 1 && x[d] < 2);
  return (PetscBool)!inside;
}

static PetscBool Left(PetscInt dim, const PetscReal x[])
{
  return (PetscBool)(x[1] < 2 || x[0] < 2);
}

static PetscBool Right(PetscInt dim, const PetscReal x[])
{
  return (PetscBool)(x[1] > 2 && x[0] > 4);
}

/* appends vertices and cells of those that belong to a shape. x[nv][dim], cell[nc][2^dim] */
static void Append(const Grid *g, Shape *shape, PetscInt *nv, PetscReal x[], PetscInt *nc, PetscInt cell[])
{
  static const int around[8] = {0, 1, 3, 2, 4, 6, 7, 5}; /* corners of a DMPLEX's cell */
  const PetscInt   ncorner = (PetscInt)1 << g->dim;

  for (PetscInt i = 0; i < g->n[0] * g->n[1] * g->n[2]; i++) {
    const PetscInt at[3] = {i % g->n[0], i / g->n[0] % g->n[1], i / g->n[0] / g->n[1]};
    PetscReal      center[3];

    for (PetscInt d = 0; d < g->dim; d++) center[d] = (g->face[d][at[d]] + g->face[d][at[d] + 1]) / 2;
    if (!shape(g->dim, center)) continue;
    for (PetscInt c = 0; c < ncorner; c++) {
      PetscReal v[3];
      PetscInt  k = 0;

      for (PetscInt d = 0; d < g->dim; d++) v[d] = g->face[d][at[d] + (around[c] >> d & 1)];
      for (; k < *nv; k++) {
        PetscReal apart = 0;

        for (PetscInt d = 0; d < g->dim; d++) apart = PetscMax(apart, PetscAbsReal(x[k * g->dim + d] - v[d]));
        if (apart < 1e-9) break;
      }
      for (PetscInt d = 0; d < g->dim && k == *nv; d++) x[k * g->dim + d] = v[d];
      *nv = PetscMax(*nv, k + 1);
      cell[*nc * ncorner + c] = k;
    }
    ++*nc;
  }
}

static PetscReal below = -1; /* boundary faces with a lower centre in y have the label 4 */

/* "Face Sets": 2 inside of (0.5,2.5)^dim, else 1, and 5 on some faces between cells; "Cell Sets": 7 where x < 0.7, 9 elsewhere */
static PetscErrorCode Label(DM plex)
{
  PetscInt  first, last, dim;
  PetscReal center[3];
  DMLabel   boundary;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMCreateLabel(plex, "boundary"));
  PetscCall(DMGetLabel(plex, "boundary", &boundary));
  PetscCall(DMPlexMarkBoundaryFaces(plex, 1, boundary));
  PetscCall(DMCreateLabel(plex, "Face Sets"));
  PetscCall(DMCreateLabel(plex, "Cell Sets"));
  PetscCall(DMPlexGetHeightStratum(plex, 1, &first, &last));
  for (PetscInt f = first; f < last; f++) {
    PetscBool inside = PETSC_TRUE;
    PetscInt  at;

    PetscCall(DMLabelGetValue(boundary, f, &at));
    if (at != 1 && f % 3 == 0) PetscCall(DMSetLabelValue(plex, "Face Sets", f, 5));
    if (at != 1) continue;
    PetscCall(DMPlexComputeCellGeometryFVM(plex, f, NULL, center, NULL));
    for (PetscInt d = 0; d < dim; d++) inside = (PetscBool)(inside && center[d] > 0.5 && center[d] < 2.5);
    PetscCall(DMSetLabelValue(plex, "Face Sets", f, center[1] < below ? 4 : inside ? 2 : 1));
  }
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  for (PetscInt c = first; c < last; c++) {
    PetscCall(DMPlexComputeCellGeometryFVM(plex, c, NULL, center, NULL));
    PetscCall(DMSetLabelValue(plex, "Cell Sets", c, center[0] < 0.7 ? 7 : 9));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the cells of a grid that belong to a shape, and of others to another, if there are such */
static PetscErrorCode PlexOf(const Grid *grid, Shape *shape, const Grid *other, Shape *another, DM *plex)
{
  PetscInt    nv = 0, nc = 0, *cell;
  PetscReal  *x;
  PetscMPIInt rank;
  DM          distributed = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc2(8 * 4096, &cell, 8 * 4096, &x));
  if (!rank) Append(grid, shape, &nv, x, &nc, cell);
  if (!rank && other) Append(other, another, &nv, x, &nc, cell);
  PetscCall(
    DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, grid->dim, nc, nv, (PetscInt)1 << grid->dim, PETSC_TRUE, cell, grid->dim, x, plex));
  PetscCall(PetscFree2(cell, x));
  PetscCall(Label(*plex));
  PetscCall(DMPlexDistribute(*plex, 0, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(plex));
    *plex = distributed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* (1, u) for -div grad u = 1 with zero data */
static PetscErrorCode Functional(DM dm, PetscReal *f)
{
  PetscScalar dot;
  KSP         ksp;
  Vec         b, x;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(TestSolver(ksp, 1e-12, 50));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecDot(b, x, &dot));
  *f = PetscRealPart(dot);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* as many boxes as cells of a grid form if they can; solved with the cells that the mesh has */
static PetscErrorCode shape_converts(const Grid *grid, Shape *shape, PetscInt level, PetscInt nbox, const char name[])
{
  PetscReal *center;
  PetscInt   n = 0, boxes;
  DM         plex, dm;

  PetscFunctionBeginUser;
  PetscCall(PlexOf(grid, shape, NULL, NULL, &plex));
  PetscCall(CentersOfPlex(plex, &n, &center));
  PetscCall(converts(plex, 3, level, PETSC_FALSE, n, center, name));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGGetBoxes(dm, &boxes, NULL, NULL));
  TapOk((PetscBool)(boxes == nbox), "shape_converts: %s: %d boxes", name, (int)boxes);
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* arms whose cells have faces at other places: no grid has all */
static PetscErrorCode arms_of_other_cells_convert(void)
{
  const Grid left = {.dim = 2, .n = {6, 4, 1}, .face = {{0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 3, 4}}};
  const Grid right = {.dim = 2, .n = {6, 4, 1}, .face = {{0, 1, 2, 3, 4, 5, 6}, {1, 2, 2.7, 3.4, 4.1}}};
  PetscReal *center;
  PetscInt   n = 0;
  DM         plex;

  PetscFunctionBeginUser;
  PetscCall(PlexOf(&left, Left, &right, Right, &plex));
  PetscCall(CentersOfPlex(plex, &n, &center));
  PetscCall(converts(plex, 3, 0, PETSC_FALSE, n, center, "arms of other cells"));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* an L of cells has the solution of the domain lshape */
static PetscErrorCode shape_is_the_domain(void)
{
  const Grid grid = Equal(2, 8, -1, 1);
  DM         plex, dm, same;
  PetscReal  f[2];

  PetscFunctionBeginUser;
  PetscCall(PlexOf(&grid, Corner, NULL, NULL, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(UseTestBackend(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 3, 2, &same));
  PetscCall(DMVPatchDGSetDomain(same, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMSetUp(same));
  PetscCall(Functional(dm, &f[0]));
  PetscCall(Functional(same, &f[1]));
  TapOk((PetscBool)(PetscAbsReal(f[0] / f[1] - 1) < 1e-11), "shape_is_the_domain: %.12f %.12f", (double)f[0], (double)f[1]);
  PetscCall(DMDestroy(&same));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Around a hole whose sides have the label 2 there are as many points of Neumann sides as this needs, for any size of boxes. */
static PetscErrorCode labels_of_a_hole_go_along(PetscInt cells)
{
  const Grid grid = Equal(2, cells, 0, 3);
  DM         plex, dm;
  Vec        points;
  PetscInt   n[2];

  PetscFunctionBeginUser;
  PetscCall(PlexOf(&grid, Hole, NULL, NULL, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGSetLabelBoundary(dm, 2, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMSetUp(dm));
  for (int i = 0; i < 2; i++) {
    PetscCall(DMVPatchDGGetBoundaryPoints(dm, i ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_DIRICHLET, &points, NULL));
    PetscCall(VecGetSize(points, &n[i]));
    PetscCall(VecDestroy(&points));
  }
  TapOk((PetscBool)(n[0] == 2 * 4 * 4 * cells && n[1] == 2 * 4 * 4 * cells / 3), "labels_of_a_hole_go_along, %d cells along it: %d and %d",
        (int)cells / 3, (int)n[0], (int)n[1]);
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every cell has the coefficient of the region that the mesh's cell around it has: 7, with its centre at x < 0.7, or 9. */
static PetscErrorCode coefficient_is_by_region(const Grid *grid, Shape *shape, PetscInt more, PetscInt local, const char name[])
{
  const PetscInt  region[] = {9, 1000, 7};
  const PetscReal a[] = {5, 1, 3}, *of, h = grid->face[0][1] - grid->face[0][0];
  PetscReal       lower[3], upper[3];
  PetscInt        n, level, wrong = 0, count[2] = {0};
  DM              plex, dm;

  PetscFunctionBeginUser;
  PetscCall(PlexOf(grid, shape, NULL, NULL, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMGetRefineLevel(dm, &level));
  PetscCall(DMSetRefineLevel(dm, level + more));
  if (local) PetscCall(DMVPatchDGSetLocalRefinement(dm, local, (PetscReal[]){0.1, 0.1, 0.1}, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGSetRegionCoefficient(dm, plex, 3, region, a));
  PetscCall(DMVPatchDGGetCoefficient(dm, &of));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  for (PetscInt c = 0; c < n; c++) {
    PetscBool left;

    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    left = (PetscBool)((PetscFloorReal((lower[0] + upper[0]) / 2 / h) + 0.5) * h < 0.7);
    wrong += of[c] != (left ? 3 : 5);
    count[left]++;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(wrong == 0 && count[0] > 0 && count[1] > 0), "coefficient_is_by_region, %s: %d and %d cells", name, (int)count[1],
        (int)count[0]);
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DM that was coarsened in one place and refined in another has more cells than the mesh. */
static PetscErrorCode coarser_places_are_refused(void)
{
  const PetscInt  region[] = {7, 9};
  const PetscReal a[] = {1, 2};
  const Grid      grid = Equal(2, 8, 0, 2);
  PetscReal       lower[3], upper[3];
  PetscInt        n;
  DMAdaptFlag    *mark;
  DM              plex, dm, adapted;

  PetscFunctionBeginUser;
  PetscCall(PlexOf(&grid, Everywhere, NULL, NULL, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &mark));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    mark[c] = lower[0] < 0.9 ? DM_ADAPT_COARSEN : DM_ADAPT_REFINE;
  }
  PetscCall(DMVPatchDGRefineCells(dm, mark, &adapted));
  PetscCall(PetscFree(mark));
  Refused(DMVPatchDGSetRegionCoefficient(adapted, plex, 2, region, a), "reach into several cells", "a DM that is coarser in places");
  PetscCall(DMDestroy(&adapted));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_regions_are_refused(void)
{
  const PetscInt  region[] = {7, 9};
  const PetscReal a[] = {1, 2};
  Grid            grid = Equal(2, 6, 0, 3);
  DM              plex, other, dm, none;

  PetscFunctionBeginUser;
  PetscCall(PlexOf(&grid, Hole, NULL, NULL, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetRegionCoefficient(dm, plex, 1, region, a), "no coefficient for the regions 9,", "a region without a value");
  Refused(DMVPatchDGSetRegionCoefficient(dm, plex, 1, (PetscInt[]){8}, a), "no coefficient for the regions 7, 9,", "two of them");
  Refused(DMVPatchDGSetRegionCoefficient(dm, plex, 2, region, (PetscReal[]){1, 0}), "must be positive", "a coefficient 0");
  Refused(DMVPatchDGSetRegionCoefficient(dm, plex, 0, NULL, NULL), "no regions", "no regions");
  Refused(DMVPatchDGSetRegionCoefficient(dm, dm, 2, region, a), "regions are those of a DMPLEX", "a mesh of another type");
  grid = Equal(2, 12, 0, 3);
  PetscCall(PlexOf(&grid, Hole, NULL, NULL, &other));
  Refused(DMVPatchDGSetRegionCoefficient(dm, other, 2, region, a), "reach into several cells", "a finer mesh");
  PetscCall(DMDestroy(&other));
  grid = Equal(2, 4, 0, 3);
  PetscCall(PlexOf(&grid, Everywhere, NULL, NULL, &other));
  Refused(DMVPatchDGSetRegionCoefficient(dm, other, 2, region, a), "reach into several cells", "a mesh of fewer other cells");
  PetscCall(DMDestroy(&other));
  PetscCall(coarser_places_are_refused());
  grid = Equal(2, 2, 0, 1);
  PetscCall(PlexOf(&grid, Hole, NULL, NULL, &other));
  Refused(DMVPatchDGSetRegionCoefficient(dm, other, 2, region, a), "cells where the mesh has none", "a smaller mesh");
  PetscCall(DMRemoveLabel(other, "Cell Sets", NULL));
  PetscCall(DMConvert(other, DMVPATCHDG, &none));
  PetscCall(DMSetUp(none));
  Refused(DMVPatchDGSetRegionCoefficient(none, other, 2, region, a), "no label \"Cell Sets\"", "a mesh without regions");
  PetscCall(DMDestroy(&none));
  PetscCall(DMDestroy(&other));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Grid grid;

  PetscFunctionBeginUser;
  grid = Equal(2, 8, -1, 1);
  PetscCall(shape_converts(&grid, Corner, 2, 3, "an L"));
  grid.face[0][1] -= 0.01;
  PetscCall(shape_converts(&grid, Corner, 0, 48, "an L of different cells"));
  grid = Equal(2, 9, 0, 3);
  PetscCall(shape_converts(&grid, Hole, 0, 72, "a hole of odd numbers of cells"));
  grid = Equal(2, 12, 0, 3);
  PetscCall(shape_converts(&grid, Hole, 2, 8, "a hole"));
  below = 0.3;
  PetscCall(shape_converts(&grid, Hole, 0, 128, "a hole, labels that end inside of boxes"));
  below = 0.6;
  PetscCall(shape_converts(&grid, Hole, 1, 32, "a hole, labels that end inside of larger boxes"));
  below = -1;
  grid = Equal(3, 4, -1, 1);
  PetscCall(shape_converts(&grid, Corner, 1, 7, "Fichera's corner"));
  grid = Equal(3, 6, 0, 3);
  PetscCall(shape_converts(&grid, Hole, 1, 26, "a hole in 3D"));
  PetscCall(arms_of_other_cells_convert());
  PetscCall(shape_is_the_domain());
  PetscCall(labels_of_a_hole_go_along(9));
  PetscCall(labels_of_a_hole_go_along(12));
  grid = Equal(2, 12, 0, 3);
  PetscCall(coefficient_is_by_region(&grid, Hole, 0, 0, "around a hole"));
  PetscCall(coefficient_is_by_region(&grid, Hole, 1, 0, "refined"));
  PetscCall(coefficient_is_by_region(&grid, Hole, 0, 2, "refined at a point"));
  grid = Equal(3, 4, 0, 2);
  PetscCall(coefficient_is_by_region(&grid, Everywhere, 1, 0, "a cube, refined"));
  PetscCall(LossesAreExpected());
  PetscCall(bad_regions_are_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
