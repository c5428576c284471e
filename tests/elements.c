/* Continuous elements of a DMPLEX with a PetscFE, whose matrices PETSc assembles: all is read off the DMPLEX. */
/* ranks: 1 2 4 */
#include "support/plex.h"
#include "support/problem.h"
#include "support/refused.h"
#include "../src/petsc/pc/internal.h"
#include <petscds.h>
#include <petscfe.h>
#include <petscsnes.h>

/* whether the face with this centre has Dirichlet data */
typedef PetscBool (*Which)(PetscInt dim, const PetscReal x[]);

static PetscBool None(PetscInt dim, const PetscReal x[])
{
  return PETSC_FALSE;
}
static PetscBool UnitSides(PetscInt dim, const PetscReal x[])
{
  for (PetscInt d = 0; d < dim; d++)
    if (x[d] < 1e-6 || x[d] > 1 - 1e-6) return PETSC_TRUE;
  return PETSC_FALSE;
}
#define FLAT 0.02 /* height of the domain */
static PetscBool FlatSides(PetscInt dim, const PetscReal x[])
{
  const PetscReal unit[3] = {x[0], x[1] / FLAT, 0.5};

  return UnitSides(dim, unit);
}
/* the lower side along x, and half of the upper one along y */
static PetscBool SomeSides(PetscInt dim, const PetscReal x[])
{
  return (PetscBool)(x[0] < 1e-6 || (x[1] > 1 - 1e-6 && x[0] > 0.5));
}
/* the inner circle, and half of the outer one */
static PetscBool SomeCircles(PetscInt dim, const PetscReal x[])
{
  const PetscReal r = PetscSqrtReal(x[0] * x[0] + x[1] * x[1]);

  return (PetscBool)(r < 1.01 || (r > 1.95 && x[0] > 0));
}

static void Gradients(PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uoff[], const PetscInt uoff_x[], const PetscScalar u[],
                      const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aoff[], const PetscInt aoff_x[],
                      const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
                      const PetscReal x[], PetscInt n, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; d++) g[d * dim + d] = 1;
}

static PetscErrorCode Zero(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt n, PetscScalar *u, void *ctx)
{
  *u = 0;
  return 0;
}

/* Gives the DMPLEX a label of the faces that `which` names, and of what is around them. */
static PetscErrorCode LabelFaces(DM plex, Which which, DMLabel *label)
{
  PetscInt first, last, dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMGetCoordinatesLocalSetUp(plex));
  PetscCall(DMCreateLabel(plex, "dirichlet"));
  PetscCall(DMGetLabel(plex, "dirichlet", label));
  PetscCall(DMPlexGetHeightStratum(plex, 1, &first, &last));
  for (PetscInt f = first; f < last; f++) {
    PetscReal center[3];

    PetscCall(DMPlexComputeCellGeometryFVM(plex, f, NULL, center, NULL));
    if (which(dim, center)) PetscCall(DMLabelSetValue(*label, f, 1));
  }
  PetscCall(DMPlexLabelComplete(plex, *label));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds a field of a PetscFE with these options and Dirichlet data where `which` says, and takes over the DMPLEX. */
static PetscErrorCode ElementProblem(DM plex, PetscInt degree, const char options[], Which which, Problem *p)
{
  const PetscInt one = 1;
  PetscInt       dim;
  char           all[256];
  PetscOptions   own;
  DMLabel        label;
  PetscFE        fe;
  PetscDS        ds;
  Vec            u;

  PetscFunctionBeginUser;
  p->dm = plex;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-petscspace_degree %" PetscInt_FMT " %s", degree, options));
  PetscCall(TestOptionsPush(all, &own));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, 1, PETSC_FALSE, NULL, -1, &fe));
  PetscCall(TestOptionsPop(&own));
  PetscCall(DMAddField(plex, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(plex));
  PetscCall(DMGetDS(plex, &ds));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, Gradients));
  PetscCall(LabelFaces(plex, which, &label));
  PetscCall(DMAddBoundary(plex, DM_BC_ESSENTIAL, "dirichlet", label, 1, &one, 0, 0, NULL, (void (*)(void))Zero, NULL, NULL, NULL));
  PetscCall(DMCreateMatrix(plex, &p->A));
  PetscCall(DMGetLocalVector(plex, &u));
  PetscCall(VecSet(u, 0));
  PetscCall(DMPlexSNESComputeJacobianFEM(plex, u, p->A, p->A, NULL));
  PetscCall(DMRestoreLocalVector(plex, &u));
  PetscCall(CompleteProblem(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PLAIN "-ksp_type fgmres -ksp_rtol 1e-8 -ksp_max_it 100 -pc_type vpatchdg -pc_vpatchdg_precision double -pc_vpatchdg_jacobi none"

/* nu for a random right-hand side, and the error of a known solution; destroys the problem */
static PetscErrorCode Measure(Problem *p, PetscBool singular, double *nu, PetscReal *error)
{
  MatNullSpace constants;
  PetscReal    residual;
  PetscInt     its;
  Vec          known;

  PetscFunctionBeginUser;
  if (singular) {
    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
    PetscCall(MatSetNullSpace(p->A, constants));
    PetscCall(MatNullSpaceDestroy(&constants));
  }
  PetscCall(TestRandom(p->b, 0));
  PetscCall(TestWithoutMean(p->b));
  PetscCall(SolveWith(p, PLAIN, &residual, &its, NULL));
  *nu = 8 * its / -log10((double)residual);
  PetscCall(VecDuplicate(p->b, &known));
  PetscCall(TestRandom(known, 0));
  PetscCall(TestWithoutMean(known));
  PetscCall(MatMult(p->A, known, p->b));
  PetscCall(SolveWith(p, PLAIN " -ksp_rtol 1e-11", NULL, NULL, NULL));
  PetscCall(Difference(p->x, known, error));
  PetscCall(VecDestroy(&known));
  PetscCall(ProblemDestroy(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CELLS(k) \
  { \
    k, k, k \
  }

/* nu: of an independent program */
static const struct {
  PetscInt dim, degree, n;
  Which    which;
  double   nu;
} rows[] = {{2, 1, 16, UnitSides, 6.3}, {2, 2, 16, UnitSides, 5.7}, {2, 3, 16, UnitSides, 6.0},
            {2, 4, 16, UnitSides, 6.1}, {2, 8, 8, UnitSides, 6.3},  {3, 1, 8, UnitSides, 7.0},
            {2, 1, 16, None, 6.9},      {2, 3, 16, None, 5.4},      {2, 6, 16, None, 5.4}};

static void Unit(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  for (PetscInt d = 0; d < dim; d++) X[d] = x[d];
}

/* Cells that are turned by 0, 90, 180, or 270 degrees take the same iterations. */
static PetscErrorCode iterations_are_as_published(void)
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(rows); i++) {
    const PetscInt n[3] = CELLS(rows[i].n);

    double    nu = 0;
    PetscReal error;
    Problem   p;
    DM        plex;

    PetscCall(Turned(rows[i].dim, n, PETSC_FALSE, Unit, &plex));
    PetscCall(ElementProblem(plex, rows[i].degree, "", rows[i].which, &p));
    PetscCall(Measure(&p, (PetscBool)(rows[i].which == None), &nu, &error));
    TapOk((PetscBool)(fabs(nu - rows[i].nu) <= 0.5 && error < 1e-8),
          "iterations_are_as_published, %dD Q%d %d cells%s: %.2f for %.1f, error %.1e", (int)rows[i].dim, (int)rows[i].degree,
          (int)rows[i].n, rows[i].which == None ? ", Neumann" : "", nu, rows[i].nu, (double)error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Ring(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  X[0] = (1 + x[0]) * PetscCosReal(2 * PETSC_PI * x[1]);
  X[1] = (1 + x[0]) * PetscSinReal(2 * PETSC_PI * x[1]);
  if (dim == 3) X[2] = x[2];
}

#define EQUISPACED "-petscdualspace_lagrange_node_type equispaced"

/* Other sides, shapes and nodes. Conditions that were not read off would cost several iterations. */
static PetscErrorCode all_is_read_off(void)
{
  static const struct {
    const char *name, *options;
    PetscInt    dim, degree, n[3];
    PetscBool   around;
    Place       place;
    Which       which;
    double      most;
  } cases[] = {{"part of a side is Dirichlet", "", 2, 2, {8, 8, 1}, PETSC_FALSE, Unit, SomeSides, 7.5},
               {"part of a side is Dirichlet, vertices alone", "", 2, 1, {16, 16, 1}, PETSC_FALSE, Unit, SomeSides, 8},
               {"cells in 3D", "", 3, 3, {3, 4, 2}, PETSC_FALSE, Unit, SomeSides, 8},
               {"turned cells in 3D", "", 3, 3, {4, 4, 4}, PETSC_FALSE, Unit, UnitSides, 8},
               {"a ring", "", 2, 3, {4, 16, 1}, PETSC_TRUE, Ring, SomeCircles, 9},
               {"a ring in 3D", "", 3, 2, {2, 8, 2}, PETSC_TRUE, Ring, None, 12},
               {"equispaced nodes", EQUISPACED, 2, 3, {8, 8, 1}, PETSC_FALSE, Unit, SomeSides, 8},
               {"equispaced nodes", EQUISPACED, 2, 7, {4, 4, 1}, PETSC_FALSE, Unit, UnitSides, 10.5},
               {"equispaced nodes in 3D", EQUISPACED, 3, 4, {2, 2, 2}, PETSC_FALSE, Unit, UnitSides, 11}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    double    nu = 0;
    PetscReal error;
    Problem   p;
    DM        plex;

    PetscCall(Turned(cases[i].dim, cases[i].n, cases[i].around, cases[i].place, &plex));
    PetscCall(ElementProblem(plex, cases[i].degree, cases[i].options, cases[i].which, &p));
    PetscCall(Measure(&p, (PetscBool)(cases[i].which == None), &nu, &error));
    TapOk((PetscBool)(nu < cases[i].most && error < 1e-7), "all_is_read_off, %s, degree %d: %.2f for %.1f iterations, error %.1e",
          cases[i].name, (int)cases[i].degree, nu, cases[i].most, (double)error);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Flat(PetscInt dim, const PetscReal x[], PetscReal X[])
{
  X[0] = x[0];
  X[1] = FLAT * x[1];
}

/* Coordinates that move, with the same unknowns: the next set-up has the cells where they are. The new matrix is that of another DMPLEX,
   because a DMPLEX assembles where cells were; on several ranks its rows may have another order. */
static PetscErrorCode cells_may_move(void)
{
  const PetscInt n[3] = {16, 16, 1};
  PetscReal      residual;
  PetscInt       its[2], count;
  PetscScalar   *x;
  Problem        p, flat;
  DM             plex[2];
  Vec            coordinates;
  PetscMPIInt    size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(Turned(2, n, PETSC_FALSE, i ? Flat : Unit, &plex[i]));
  PetscCall(ElementProblem(plex[0], 2, "", UnitSides, &p));
  PetscCall(ElementProblem(plex[1], 2, "", FlatSides, &flat));
  PetscCall(TestRandom(p.b, 0));
  PetscCall(TestWithoutMean(p.b));
  PetscCall(SolveWith(&p, PLAIN, &residual, &its[0], NULL));
  for (int local = 0; local < 2; local++) {
    PetscCall(local ? DMGetCoordinatesLocal(plex[0], &coordinates) : DMGetCoordinates(plex[0], &coordinates));
    PetscCall(VecGetLocalSize(coordinates, &count));
    PetscCall(VecGetArray(coordinates, &x));
    for (PetscInt i = 1; i < count; i += 2) x[i] *= FLAT;
    PetscCall(VecRestoreArray(coordinates, &x));
  }
  PetscCall(MatCopy(flat.A, p.A, SAME_NONZERO_PATTERN));
  PetscCall(SolveWith(&p, PLAIN, &residual, &its[1], NULL));
  TapOk((PetscBool)(its[1] <= its[0] + 2 && residual < 1e-8), "cells_may_move: %d iterations, then %d", (int)its[0], (int)its[1]);
  PetscCall(ProblemDestroy(&flat));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same element restriction without the DMPLEX, which says that nodes are Gauss-Lobatto points. */
static PetscErrorCode other_nodes_are_warned_of(void)
{
  const PetscInt n[3] = {4, 4, 1};

  PetscFunctionBeginUser;
  for (int equispaced = 0; equispaced < 2; equispaced++) {
    VpContinuous c;
    PetscBool    warned;
    PetscInt     ncell;
    Problem      p;
    DM           plex;
    PC           adopting, pc;

    PetscCall(Turned(2, n, PETSC_FALSE, Unit, &plex));
    PetscCall(ElementProblem(plex, 3, equispaced ? EQUISPACED " -petscdualspace_lagrange_node_endpoints" : "", UnitSides, &p));
    PetscCall(ReadOptions(&p, PLAIN, PETSC_FALSE));
    PetscCall(KSPSetUp(p.ksp));
    PetscCall(KSPGetPC(p.ksp, &adopting));
    c = VpPCBaseData(adopting)->continuous;
    PetscCall(DMVPatchDGGetCells(c->dm, &ncell));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCVPATCHDG));
    PetscCall(PCVPatchDGSetElementRestriction(pc, c->dm, ncell, c->node));
    PetscCall(PCSetOperators(pc, p.A, p.A));
    PetscCall(PCSetUp(pc));
    warned = (PetscBool)(VpPCBaseData(pc)->warned >> VP_WARN_NODES & 1);
    TapOk((PetscBool)((int)warned == equispaced && !(VpPCBaseData(adopting)->warned >> VP_WARN_NODES & 1)), "other_nodes_are_warned_of, %s",
          equispaced ? "equispaced" : "Gauss-Lobatto");
    PetscCall(PCDestroy(&pc));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusedProblem(Mat A, DM plex, const char text[], const char name[])
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCSetDM(pc, plex));
  PetscCall(PCSetOperators(pc, A, A));
  Refused(PCSetUp(pc), text, name);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up for fields of a PetscFE each, and destroys the DMPLEX. */
static PetscErrorCode RefusedFields(DM plex, PetscInt fields, PetscInt components, const char options[], const char text[])
{
  PetscInt       dim, first, last;
  DMPolytopeType type = DM_POLYTOPE_QUADRILATERAL;
  PetscOptions   own;
  PetscFE        fe;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(plex, &dim));
  PetscCall(DMPlexGetHeightStratum(plex, 0, &first, &last));
  if (last > first) PetscCall(DMPlexGetCellType(plex, first, &type));
  PetscCall(TestOptionsPush(options, &own));
  for (PetscInt f = 0; f < fields; f++) {
    PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, dim, components, (PetscBool)(type == DM_POLYTOPE_TRIANGLE), NULL, -1, &fe));
    PetscCall(DMAddField(plex, NULL, (PetscObject)fe));
    PetscCall(PetscFEDestroy(&fe));
  }
  PetscCall(TestOptionsPop(&own));
  PetscCall(DMCreateDS(plex));
  PetscCall(DMCreateMatrix(plex, &A));
  PetscCall(RefusedProblem(A, plex, text, text));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cells with `corners` vertices around vertex 0 */
static PetscErrorCode Star(PetscInt corners, DM *plex)
{
  const PetscInt  quads[12] = {0, 1, 2, 3, 0, 3, 4, 5, 0, 5, 6, 1}, triangles[6] = {0, 1, 2, 0, 2, 3};
  const PetscReal x[14] = {0, 0, 1, 0, .5, .9, -.5, .9, -1, 0, -.5, -.9, .5, -.9};
  const PetscInt  cells = corners == 4 ? 3 : 2, vertices = corners == 4 ? 7 : 4;
  PetscMPIInt     rank, size;
  DM              distributed = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, rank ? 0 : cells, rank ? 0 : vertices, corners, PETSC_TRUE,
                                          corners == 4 ? quads : triangles, 2, x, plex));
  if (size <= 2) PetscCall(DMPlexDistribute(*plex, 0, NULL, &distributed));
  if (distributed) PetscCall(DMDestroy(plex));
  if (distributed) *plex = distributed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  static const struct {
    PetscInt    fields, components;
    const char *options, *text;
  } cases[] = {{2, 1, "-petscspace_degree 2", "the DMPLEX has 2 fields, and one is preconditioned"},
               {1, 2, "-petscspace_degree 2", "the PetscFE has 2 components"},
               {1, 1, "-petscspace_degree 9", "has degree 9, and degrees 1 to 8 are preconditioned"},
               {1, 1, "-petscspace_degree 0", "has degree 0, and degrees 1 to 8 are preconditioned"},
               {1, 1, "-petscspace_degree 2 -petscdualspace_lagrange_continuity 0", "are not those of a grid of nodes"}};
  const PetscInt n[3] = {4, 4, 1};
  Problem        p;
  DM             plex;
  Mat            A;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(Turned(2, n, PETSC_FALSE, Unit, &plex));
    PetscCall(RefusedFields(plex, cases[i].fields, cases[i].components, cases[i].options, cases[i].text));
  }
  PetscCall(Star(4, &plex));
  PetscCall(RefusedFields(plex, 1, 1, "-petscspace_degree 2", "do not form a lattice"));
  PetscCall(Star(3, &plex));
  PetscCall(RefusedFields(plex, 1, 1, "-petscspace_degree 2", "tensor elements are preconditioned"));
  PetscCall(Turned(2, n, PETSC_FALSE, Unit, &plex));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 7, 7, 1, &A));
  PetscCall(RefusedProblem(A, plex, "the DMPLEX has no PetscFE", "no field"));
  PetscCall(DMDestroy(&plex));
  PetscCall(Turned(2, n, PETSC_FALSE, Unit, &plex));
  PetscCall(ElementProblem(plex, 2, "", UnitSides, &p));
  PetscCall(RefusedProblem(A, plex, "the matrix has not the rows of the DMPLEX's vectors", "a matrix of another size"));
  PetscCall(MatDestroy(&A));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(iterations_are_as_published());
  PetscCall(all_is_read_off());
  PetscCall(cells_may_move());
  PetscCall(other_nodes_are_warned_of());
  PetscCall(LossesAreExpected());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
