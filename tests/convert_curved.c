/* DMConvert() of meshes whose cells form a lattice but lie anywhere: solutions that are known. */
/* ranks: 1 2 4 */
#include "support/backend.h"
#include "support/plex.h"
#include "support/refused.h"
#include <petscdmda.h>
#include <petscsf.h>

static void Quarter(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  const PetscReal r = 1 + x[0], angle = PETSC_PI / 2 * x[1];

  X[0] = r * PetscCosReal(angle);
  X[1] = r * PetscSinReal(angle);
  if (dim == 3) X[2] = x[2] + 0.2 * x[0];
}

static void Ring(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  const PetscReal y[3] = {x[0], 4 * x[1], dim == 3 ? x[2] : 0};

  Quarter(dim, y, X);
}

static void Oblique(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  X[0] = 1 + x[0] + 0.3 * PetscSinReal(2 * PETSC_PI * x[1]);
  X[1] = 2 * PETSC_PI * x[1];
  if (dim == 3) X[2] = x[2];
}

/* the first cell is folded */
static void Folded(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  for (PetscInt d = 0; d < dim; d++) X[d] = x[d];
  if (x[0] + x[1] < 1e-6) X[0] = X[1] = 0.9;
}

/* harmonic, and periodic in y */
static PetscErrorCode Waves(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscExpReal(x[0] - 2) * PetscSinReal(x[1]);
  return 0;
}

static PetscErrorCode Solution(PetscInt dim, const PetscReal x[], PetscScalar u[], void *ctx)
{
  u[0] = PetscLogReal(x[0] * x[0] + x[1] * x[1]) / 2 + (dim == 3 ? 0.5 * x[2] : 0);
  return 0;
}

static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar g[], void *ctx)
{
  g[0] = (x[0] * normal[0] + x[1] * normal[1]) / (x[0] * x[0] + x[1] * x[1]) + (dim == 3 ? 0.5 * normal[2] : 0);
  return 0;
}

enum { OUTER = 7 }; /* label of the outer side of a ring, where the flux is given */

/* moves the vertices of a mesh, which lie in `lower` to `upper` */
static PetscErrorCode MoveVertices(DM mesh, PetscInt dim, const PetscReal lower[], const PetscReal upper[], Place place)
{
  PetscScalar *x;
  PetscInt     n;
  Vec          old, coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinates(mesh, &old));
  PetscCall(VecDuplicate(old, &coordinates));
  PetscCall(VecCopy(old, coordinates));
  PetscCall(VecGetLocalSize(coordinates, &n));
  PetscCall(VecGetArray(coordinates, &x));
  for (PetscInt i = 0; i < n; i += dim) {
    PetscReal in[3], out[3];

    for (PetscInt d = 0; d < dim; d++) in[d] = (PetscRealPart(x[i + d]) - lower[d]) / (upper[d] - lower[d]);
    place(dim, in, out);
    for (PetscInt d = 0; d < dim; d++) x[i + d] = out[d];
  }
  PetscCall(VecRestoreArray(coordinates, &x));
  PetscCall(DMSetCoordinates(mesh, coordinates));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n [dim] cells in each direction. A periodic direction y has as many vertices. */
static PetscErrorCode Da(PetscInt dim, const PetscInt n[], PetscBool periodic, Place place, DM *da)
{
  const PetscReal lower[3] = {0, 0, 0}, upper[3] = {1, 1, 1};

  PetscFunctionBeginUser;
  PetscCall(DMDACreate(PETSC_COMM_WORLD, da));
  PetscCall(DMSetDimension(*da, dim));
  PetscCall(DMDASetSizes(*da, n[0] + 1, periodic ? n[1] : n[1] + 1, dim == 3 ? n[2] + 1 : 1));
  PetscCall(DMDASetBoundaryType(*da, DM_BOUNDARY_NONE, periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_NONE, DM_BOUNDARY_NONE));
  PetscCall(DMDASetDof(*da, 1));
  PetscCall(DMDASetStencilType(*da, DMDA_STENCIL_STAR));
  PetscCall(DMDASetStencilWidth(*da, periodic));
  PetscCall(DMSetUp(*da));
  PetscCall(DMDASetUniformCoordinates(*da, 0, 1, 0, 1, 0, 1));
  PetscCall(MoveVertices(*da, dim, lower, upper, place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the largest distance of cells' centres from those of the mesh's cells that the map joins with them. center [n][dim]: of the mesh */
static PetscErrorCode FindDistance(DM dm, DM mesh, PetscInt n, const PetscReal center[], PetscReal *worst)
{
  const PetscScalar *x;
  PetscReal         *mine, *there;
  PetscInt           dim, cells, points;
  PetscSF            map;
  Vec                all;
  MPI_Datatype       point;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCall(DMVPatchDGGetPoints(dm, &all));
  PetscCall(VecGetLocalSize(all, &points));
  PetscCall(DMVPatchDGCreateCellMap(dm, mesh, &map));
  PetscCall(PetscMalloc2(cells * dim, &mine, n * dim, &there));
  points = cells ? points / dim / cells : 0;
  PetscCall(VecGetArrayRead(all, &x));
  for (PetscInt i = 0; i < cells * dim; i++) mine[i] = PetscRealPart(x[(i / dim * points + points / 2) * dim + i % dim]);
  PetscCall(VecRestoreArrayRead(all, &x));
  PetscCallMPI(MPI_Type_contiguous((PetscMPIInt)dim, MPIU_REAL, &point));
  PetscCallMPI(MPI_Type_commit(&point));
  PetscCall(PetscSFBcastBegin(map, point, mine, there, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(map, point, mine, there, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&point));
  *worst = 0;
  for (PetscInt i = 0; i < n * dim; i++) *worst = PetscMax(*worst, PetscAbsReal(there[i] - center[i]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscFree2(mine, there));
  PetscCall(PetscSFDestroy(&map));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for a known solution u on the mesh, refined `finer` times more. center: of the mesh's own cells, NULL: not known */
static PetscErrorCode solves(DM mesh, VPatchDGFunction u, PetscInt degree, PetscInt finer, PetscInt cells, PetscReal most, PetscInt n,
                             const PetscReal center[], const char name[])
{
  KSPConvergedReason reason;
  PetscReal          error, distance = 0;
  PetscInt           its, level, total;
  KSP                ksp;
  PetscBool          plex;
  Mat                A;
  Vec                x, b;
  DM                 dm;

  PetscFunctionBeginUser;
  PetscCall(DMConvert(mesh, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGSetDegree(dm, degree));
  PetscCall(DMGetRefineLevel(dm, &level));
  PetscCall(DMSetRefineLevel(dm, level + finer));
  PetscCall(PetscObjectTypeCompare((PetscObject)mesh, DMPLEX, &plex));
  if (plex) PetscCall(DMVPatchDGSetLabelBoundary(dm, OUTER, VPATCHDG_BOUNDARY_NEUMANN, 0));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &total));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(DMVPatchDGComputeRHS(dm, NULL, u, plex ? Flux : NULL, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(TestSolver(ksp, 1e-10, 100));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(DMVPatchDGComputeErrors(dm, x, u, NULL, NULL, &error, NULL));
  if (center) PetscCall(FindDistance(dm, mesh, n, center, &distance));
  TapOk((PetscBool)(reason > 0 && error < most && total == cells && distance < 1e-12),
        "solves: %s: %d cells, error %.2e, %d iterations, cells %.1e from those of the mesh", name, (int)total, (double)error, (int)its,
        (double)distance);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_da(PetscInt dim, const PetscInt n[], PetscBool periodic, Place place, PetscReal period, PetscReal most,
                              const char name[])
{
  DM da;

  PetscFunctionBeginUser;
  PetscCall(Da(dim, n, periodic, place, &da));
  if (period > 0) {
    const PetscReal L[3] = {-1, period, -1};

#if PETSC_VERSION_LT(3, 18, 0)
    PetscCall(DMSetPeriodicity(da, L, L));
#else
    const PetscReal start[3] = {0, 0, 0};

    PetscCall(DMSetPeriodicity(da, L, start, L));
#endif
  }
  PetscCall(solves(da, place == Oblique ? Waves : Solution, 3, 0, n[0] * n[1] * (dim == 3 ? n[2] : 1), most, 0, NULL, name));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* center [n][dim] of the own cells of a DMPLEX: the means of their vertices */
static PetscErrorCode Centers(DM plex, PetscInt *n, PetscReal **center)
{
  PetscInt        dim, first, last, ghosts;
  const PetscInt *ghost;
  PetscSF         sf;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCall(DMGetPointSF(plex, &sf));
  PetscCall(PetscSFGetGraph(sf, NULL, &ghosts, &ghost, NULL));
  PetscCall(PetscCalloc1((last - first) * dim + 1, center));
  *n = 0;
  for (PetscInt c = first; c < last; c++) {
    const PetscScalar *array;
    PetscScalar       *x;
    PetscBool          discontinuous;
    PetscInt           count, where = -1;

    if (ghosts > 0) PetscCall(PetscFindInt(c, ghosts, ghost, &where));
    if (where >= 0) continue;
    PetscCall(DMPlexGetCellCoordinates(plex, c, &discontinuous, &count, &array, &x));
    for (PetscInt i = 0; i < count; i++) (*center)[*n * dim + i % dim] += PetscRealPart(x[i]) / (PetscReal)(count / dim);
    PetscCall(DMPlexRestoreCellCoordinates(plex, c, &discontinuous, &count, &array, &x));
    ++*n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Labels the faces on the outer side of a ring, or before it becomes one. */
static PetscErrorCode LabelOuter(DM plex, PetscBool ring)
{
  PetscInt  first, last;
  PetscBool has;

  PetscFunctionBeginUser;
  PetscCall(DMHasLabel(plex, "Face Sets", &has));
  if (has) PetscCall(DMRemoveLabel(plex, "Face Sets", NULL));
  PetscCall(DMCreateLabel(plex, "Face Sets"));
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCall(DMPlexGetHeightStratum(plex, 1, &first, &last));
  for (PetscInt f = first; f < last; f++) {
    PetscReal center[3];

    PetscCall(DMPlexComputeCellGeometryFVM(plex, f, NULL, center, NULL));
    if (center[0] * center[0] + (ring ? center[1] * center[1] : 0) > 1.96 * 1.96) PetscCall(DMSetLabelValue(plex, "Face Sets", f, OUTER));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_plex(PetscInt dim, const PetscInt n[3], PetscBool turned, PetscBool around, Place place, PetscReal most,
                                const char name[])
{
  const PetscReal lower[3] = {0, -1, 0}, upper[3] = {2, 1, 1};
  const PetscInt  all = n[0] * n[1] * (dim == 3 ? n[2] : 1);
  PetscReal      *center;
  PetscInt        count = 0;
  DM              plex;

  PetscFunctionBeginUser;
  if (turned) PetscCall(Turned(dim, n, around, place, &plex));
  else {
    PetscCall(Plex(dim, n, &plex));
    PetscCall(MoveVertices(plex, dim, lower, upper, place));
  }
  PetscCall(LabelOuter(plex, PETSC_TRUE));
  PetscCall(Centers(plex, &count, &center));
  PetscCall(solves(plex, Solution, 2, 0, all, most, count, center, name));
  PetscCall(solves(plex, Solution, 2, 1, all << dim, most / 5, 0, NULL, "the same, refined"));
  PetscCall(PetscFree(center));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void PlaceQuarter(PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uoff[], const PetscInt uoff_x[], const PetscScalar u[],
                         const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aoff[], const PetscInt aoff_x[],
                         const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[],
                         PetscInt numConstants, const PetscScalar constants[], PetscScalar X[])
{
  const PetscReal in[3] = {PetscRealPart(u[0]) / 2, (PetscRealPart(u[1]) + 1) / 2, dim == 3 ? PetscRealPart(u[2]) : 0};
  PetscReal       out[3];

  Quarter(dim, in, out);
  for (PetscInt d = 0; d < dim; d++) X[d] = out[d];
}

/* coordinates of degree 2: the area of the ring shows that cells are curved */
static PetscErrorCode of_curved_cells(PetscInt dim, const PetscInt n[3])
{
  PetscReal area;
  Vec       one, ones;
  DM        plex, dm;

  PetscFunctionBeginUser;
  PetscCall(Plex(dim, n, &plex));
  PetscCall(LabelOuter(plex, PETSC_FALSE));
#if PETSC_VERSION_LT(3, 19, 0)
  PetscCall(DMPlexCreateCoordinateSpace(plex, 2, NULL));
#elif PETSC_VERSION_LT(3, 22, 0)
  PetscCall(DMPlexCreateCoordinateSpace(plex, 2, PETSC_TRUE, NULL));
#else
  PetscCall(DMPlexCreateCoordinateSpace(plex, 2, PETSC_FALSE, PETSC_TRUE));
#endif
  PetscCall(DMPlexRemapGeometry(plex, 0, PlaceQuarter));
  PetscCall(solves(plex, Solution, 2, 0, n[0] * n[1] * (dim == 3 ? n[2] : 1), 2e-4, 0, NULL, "coordinates of degree 2"));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGSetDegree(dm, 2));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &ones));
  PetscCall(VecDuplicate(ones, &one));
  PetscCall(VecSet(ones, 1));
  PetscCall(DMVPatchDGSetPointValues(dm, ones, one));
  PetscCall(VecNorm(one, NORM_2, &area));
  area *= area;
  TapOk((PetscBool)(PetscAbsReal(area / (0.75 * PETSC_PI) - 1) < 1e-4), "cells_are_curved: area %.8f", (double)area);
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&ones));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a mesh of quadrilaterals on the first rank */
static PetscErrorCode RefusedCells(PetscInt n, const PetscInt cells[], PetscInt vertices, const PetscReal x[], const char text[],
                                   const char name[])
{
  PetscMPIInt rank;
  DM          plex, dm = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, rank ? 0 : n, rank ? 0 : vertices, 4, PETSC_TRUE, cells, 2, x, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  Refused(DMSetUp(dm), text, name);
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode what_is_no_mesh_is_refused(void)
{
  const PetscInt  two[8] = {0, 1, 2, 3, 4, 5, 6, 7}, n[3] = {4, 4, 1};
  const PetscReal apart[16] = {0, 0, 1, .1, 1, 1, 0, 1, 2, 2, 3, 2, 3, 3, 2, 3};
  PetscMPIInt     rank;
  PetscInt        first;
  DM              dm, da, plex;
  Vec             x;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(RefusedCells(2, two, 8, apart, "trees do not hang together", "cells that are apart"));
  PetscCall(Da(2, n, PETSC_FALSE, Folded, &da));
  PetscCall(DMConvert(da, DMVPATCHDG, &dm));
  Refused(DMSetUp(dm), "det J must have the same sign", "a folded cell of a DMDA");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMGetCoordinates(da, &x));
  if (!rank) PetscCall(VecSetValue(x, 2, NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  Refused(DMConvert(da, DMVPATCHDG, &dm), "is no finite number", "a coordinate of a DMDA that is NaN");
  PetscCall(DMDestroy(&da));
  PetscCall(Turned(2, n, PETSC_FALSE, Folded, &plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  Refused(DMSetUp(dm), "det J must have the same sign", "a folded cell of a DMPLEX");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&plex));
  PetscCall(Da(2, n, PETSC_FALSE, Quarter, &da));
  PetscCall(DMConvert(da, DMVPATCHDG, &dm));
  PetscCall(DMGetRefineLevel(dm, &first));
  PetscCall(DMSetRefineLevel(dm, first - 1));
  Refused(DMSetUp(dm), "halved at least as often", "fewer refinements than the mesh has");
  PetscCall(DMDestroy(&dm));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(of_a_da(2, (PetscInt[]){8, 12, 1}, PETSC_FALSE, Quarter, 0, 1e-5, "a quarter of a ring, DMDA"));
  PetscCall(of_a_da(2, (PetscInt[]){4, 32, 1}, PETSC_TRUE, Ring, 0, 1e-4, "a ring, DMDA"));
  PetscCall(of_a_da(2, (PetscInt[]){4, 32, 1}, PETSC_TRUE, Ring, 1, 1e-4, "a ring that had a period, DMDA"));
  PetscCall(of_a_da(2, (PetscInt[]){4, 24, 1}, PETSC_TRUE, Oblique, 2 * PETSC_PI, 1e-4, "a wavy channel, periodic, DMDA"));
  PetscCall(of_a_da(3, (PetscInt[]){4, 6, 4}, PETSC_FALSE, Quarter, 0, 2e-4, "a quarter of a ring, DMDA in 3D"));
  PetscCall(of_a_plex(2, (PetscInt[]){8, 12, 1}, PETSC_FALSE, PETSC_FALSE, Quarter, 1e-3, "a quarter of a ring, DMPLEX"));
  PetscCall(of_a_plex(2, (PetscInt[]){8, 12, 1}, PETSC_TRUE, PETSC_FALSE, Quarter, 1e-3, "a quarter of a ring, DMPLEX, turned cells"));
  PetscCall(of_a_plex(2, (PetscInt[]){4, 24, 1}, PETSC_TRUE, PETSC_TRUE, Ring, 2e-3, "a ring, DMPLEX, turned cells"));
  PetscCall(of_a_plex(3, (PetscInt[]){4, 6, 3}, PETSC_TRUE, PETSC_FALSE, Quarter, 2e-3, "a quarter of a ring, DMPLEX in 3D, turned cells"));
  PetscCall(of_curved_cells(2, (PetscInt[]){8, 8, 1}));
  PetscCall(of_curved_cells(3, (PetscInt[]){4, 6, 2}));
  PetscCall(what_is_no_mesh_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
