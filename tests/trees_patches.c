/* Patches of trees: their cells in space, their colours on any partition, and their solves on squares and cubes that are turned.
   ranks: 1 2 4 */
#include "support/backend.h"
#include "support/trees.h"
#include "../src/smoother/smoother.h"

/* X = the point of a cell at its reference coordinates, of multilinear trees */
static void PointOf(const Trees *t, VpGeometry g, int32_t cell, const double xi[3], double X[3])
{
  const int32_t *corner = t->corner + ((size_t)g->box[cell] << t->dim);

  for (int i = 0; i < 3; i++) X[i] = 0;
  for (int k = 0; k < 1 << t->dim; k++) {
    double weight = 1;

    for (int d = 0; d < t->dim; d++) {
      const double at = ldexp(g->coord[3 * (size_t)cell + d] + xi[d], -VpHalvingsOf(g->lattice, 0)->bits[d]);

      weight *= k >> d & 1 ? at : 1 - at;
    }
    for (int i = 0; i < t->dim; i++) X[i] += weight * t->x[corner[k]][i];
  }
}

/* X = the point of the cell at a position of patch p, at coordinates from 0 to 1 along the patch's axes */
static void PatchPoint(const Trees *t, VpMesh mesh, const VpPatches *patches, int32_t p, int position, const double x[3], double X[3])
{
  const size_t at = ((size_t)p << t->dim) + (size_t)position;
  const int    frame = patches->frame ? patches->frame[at] : 0;
  double       xi[3] = {0, 0, 0};

  for (int d = 0; d < t->dim; d++) {
    const double along = x[VpFrameAxis(frame, d)];

    xi[d] = VpFrameFlips(frame, d) ? 1 - along : along;
  }
  PointOf(t, mesh->geometry, patches->cell[at], xi, X);
}

/* whether the cells of a patch meet as those of a box, at points of their common sides */
static PetscBool CellsMeet(const Trees *t, VpMesh mesh, const VpPatches *patches, int32_t p)
{
  PetscBool meet = PETSC_TRUE;

  for (int i = 0; i < t->dim << t->dim; i++) {
    const int d = i >> t->dim, lower = i & ((1 << t->dim) - 1);
    double    X[3], Y[3], x[3] = {0.3, 0.4, 0.2};

    if (lower >> d & 1) continue;
    x[d] = 1;
    PatchPoint(t, mesh, patches, p, lower, x, X);
    x[d] = 0;
    PatchPoint(t, mesh, patches, p, lower | 1 << d, x, Y);
    meet = (PetscBool)(meet && fabs(X[0] - Y[0]) + fabs(X[1] - Y[1]) + fabs(X[2] - Y[2]) < 1e-12);
  }
  return meet;
}

/* numbers of the patches of own lowest cells; and sums that depend on where patches of every colour are */
typedef struct {
  double count, place;
} Sum;

static PetscErrorCode SumUp(const Trees *t, VpMesh mesh, const VpPatches *patches, Sum *sum)
{
  PetscFunctionBeginUser;
  *sum = (Sum){0, 0};
  for (int c = 0; c < patches->ncolor; c++) {
    for (int32_t p = patches->start[c]; p < patches->start[c + 1]; p++) {
      const int32_t *cell = patches->cell + ((size_t)p << t->dim);
      double         X[3], own = 0;

      for (int i = 0; i < 1 << t->dim; i++) own += ldexp(cell[i] < mesh->nown, -t->dim); /* cells are own of one rank */
      PatchPoint(t, mesh, patches, p, 0, (double[]){1, 1, 1}, X);
      sum->count += own;
      sum->place += own * (c + 1) * (sin(X[0]) + cos(3 * X[1]) + sin(2 * X[2] + 1));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *apart = PETSC_FALSE if a cell is in two patches of a colour */
static PetscErrorCode CompareCells(VpMesh mesh, const VpPatches *patches, PetscBool *apart)
{
  int32_t *last;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(mesh->nsweep, &last));
  for (int c = 0; c < patches->ncolor; c++) {
    for (int64_t i = (int64_t)patches->start[c] << mesh->dim; i < (int64_t)patches->start[c + 1] << mesh->dim; i++) {
      const int covered = patches->cover[(size_t)(c / VP_COVER_COLORS) * (size_t)mesh->nlocal + (size_t)patches->cell[i]];

      *apart = (PetscBool)(*apart && last[patches->cell[i]] <= c && covered >> c % VP_COVER_COLORS & 1);
      last[patches->cell[i]] = c + 1;
    }
  }
  PetscCall(PetscFree(last));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the part of all sides between two cells that are inside patches of colours which are not minor */
static PetscErrorCode CoveredSides(VpMesh mesh, const VpPatches *patches, double *part)
{
  const int sides = 2 * mesh->dim;
  int32_t   all = 0, covered = 0;
  uint8_t  *inside;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(mesh->nown * sides, &inside));
  for (int32_t p = patches->start[patches->minor]; p < patches->n; p++) {
    const int32_t *cell = patches->cell + ((size_t)p << mesh->dim);

    for (int i = 0; i < sides << mesh->dim; i++) {
      const int32_t own = cell[i / sides], side = own * sides + i % sides;

      for (int k = 0; k < 1 << mesh->dim && own < mesh->nown; k++) inside[side] |= mesh->neighbor[side] == cell[k];
    }
  }
  for (int32_t i = 0; i < mesh->nown * sides; i++) {
    all += mesh->neighbor[i] >= 0;
    covered += inside[i];
  }
  PetscCall(PetscFree(inside));
  *part = (double)covered / all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Trees, how many inner sides and regular vertices they have, and how many colours */
typedef struct {
  const char *name;
  int         sides, edges, vertices, colors, minor;
} Known;

static PetscErrorCode Check(const Trees *t, const Known *known, int level)
{
  const double n = (1 << level) - 1, plane = t->dim == 3 ? n * n : n;
  VpDomain     domain;
  double       part = 0;
  Sum          sum[2];
  PetscBool    meet = PETSC_TRUE, apart = PETSC_TRUE;
  VpPatches    patches;
  VpMesh       mesh;

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const MPI_Comm comm = i ? PETSC_COMM_SELF : PETSC_COMM_WORLD;

    PetscCall(TreesDomain(comm, t, &domain));
    PetscCall(VpMeshCreate(comm, domain, level, &mesh));
    PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
    for (int32_t p = 0; p < patches.n; p++) meet = (PetscBool)(meet && CellsMeet(t, mesh, &patches, p));
    PetscCall(CompareCells(mesh, &patches, &apart));
    PetscCall(SumUp(t, mesh, &patches, &sum[i]));
    if (i) {
      TapOk(meet, "cells_of_patches_meet: %s, level %d", known->name, level);
      TapOk(apart, "colors_share_no_cell: %s, level %d", known->name, level);
      TapOk((PetscBool)(patches.ncolor == known->colors), "colors_are_few: %s, level %d, %d", known->name, level, patches.ncolor);
      PetscCall(CoveredSides(mesh, &patches, &part));
      TapOk((PetscBool)(part == 1 && patches.minor == known->minor), "minor_colors_are_not_needed: %s, level %d, %d, %g", known->name,
            level, patches.minor, part);
      TapOk((PetscBool)(fabs(sum[0].place - sum[1].place) < 1e-9), "colors_are_those_of_one_rank: %s, level %d", known->name, level);
      TapOk((PetscBool)(fabs(sum[0].count - t->ntree * plane * n - (t->dim == 3 ? known->sides * plane : known->sides * n) -
                             known->edges * n - known->vertices) < 1e-9),
            "regular_vertices_have_patches: %s, level %d, %g", known->name, level, sum[0].count);
    }
    PetscCall(VpPatchesDestroy(&patches));
    PetscCall(VpMeshDestroy(&mesh));
    PetscCall(VpDomainDestroy(&domain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* as given, then turned at random */
static PetscErrorCode CheckTrees(Trees *t, const Known *known, int turned, int minor)
{
  Known other = *known;

  PetscFunctionBeginUser;
  for (int level = 1; level < 4 - (t->dim == 3); level++) PetscCall(Check(t, known, level));
  TreesTurn(5, t);
  other.colors = turned;
  other.minor = minor;
  for (int level = 1; level < 4 - (t->dim == 3); level++) PetscCall(Check(t, &other, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *left = the largest residual on the cells of a patch, after it alone was solved from random values */
static PetscErrorCode SolvePatch(VpLevel level, VpSmoother smoother, const VpPatches *patches, int32_t p, VpResidualMode mode, double *left)
{
  const VpBackend *backend = level->backend;
  const size_t     ndof = VpLevelValues(level), n = (size_t)level->mesh->nlocal * ndof, bytes = n * sizeof(double);
  const int        cells = 1 << level->mesh->dim;
  const int32_t   *cell = patches->cell + (size_t)p * (size_t)cells;
  double          *values[2], *b, *x[2], *r;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &values[0], n, &values[1]));
  PetscCall(backend->alloc(bytes, "a test", (void **)&b));
  PetscCall(backend->alloc(bytes, "a test", (void **)&r));
  for (int i = 0; i < 2; i++) PetscCall(backend->alloc(bytes, "a test", (void **)&x[i]));
  for (size_t i = 0; i < n; i++) {
    values[0][i] = sin(3. * (double)i);
    values[1][i] = cos(7. * (double)i);
  }
  PetscCall(backend->upload(values[0], bytes, b));
  PetscCall(backend->upload(values[1], bytes, x[0]));
  PetscCall(level->ops->sweep(&level->view, VpSmootherPatches(smoother), mode, p, p + 1, 0, b, (void *const *)x));
  PetscCall(backend->download(x[1], bytes, values[0]));
  for (int i = 0; i < cells; i++) PetscCall(PetscArraycpy(values[1] + (size_t)cell[i] * ndof, values[0] + (size_t)cell[i] * ndof, ndof));
  PetscCall(backend->upload(values[1], bytes, x[0]));
  PetscCall(level->ops->apply(&level->view, 0, level->mesh->nown, x[0], VpGhostsAt(x[0] + (size_t)level->mesh->nown * ndof), b, r));
  PetscCall(backend->download(r, bytes, values[0]));
  for (size_t i = 0; i < (size_t)cells * ndof; i++) *left = PetscMax(*left, fabs(values[0][(size_t)cell[i / ndof] * ndof + i % ndof]));
  PetscCall(backend->release(b));
  PetscCall(backend->release(r));
  for (int i = 0; i < 2; i++) PetscCall(backend->release(x[i]));
  PetscCall(PetscFree2(values[0], values[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On squares and cubes that are turned, patches invert A, whose matrix is that of the same trees as they were. */
static PetscErrorCode Solves(Trees *t, int degree)
{
  VpDomain   domain;
  VpMesh     mesh;
  VpLevel    level;
  VpSmoother smoother;
  VpPatches  patches;
  VpProblem  problem = {.degree = degree, .penalty = 1};
  double     left[3] = {0, 0, 0};

  PetscFunctionBeginUser;
  PetscCall(TreesDomain(PETSC_COMM_SELF, t, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_SELF, domain, 1, &mesh));
  PetscCall(VpLevelCreate(mesh, &problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level));
  PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother));
  PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
  for (int32_t p = 0; p < patches.n; p++) {
    PetscCall(SolvePatch(level, smoother, &patches, p, VP_MODE_CORRECT, &left[0]));
    PetscCall(SolvePatch(level, smoother, &patches, p, VP_MODE_REPLACE, &left[1]));
  }
  for (int32_t i = 0; i < patches.n << t->dim; i++) left[2] += patches.frame && patches.frame[i];
  TapOk((PetscBool)(left[0] < 1e-9 && left[2] > 0), "turned_patches_are_inverted: %dD, degree %d, %.1e", t->dim, degree, left[0]);
  TapOk((PetscBool)(left[1] < 1e-9), "turned_patches_are_replaced: %dD, degree %d, %.1e", t->dim, degree, left[1]);
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(VpSmootherDestroy(&smoother));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees t;

  PetscFunctionBeginUser;
  TreesGrid(2, 3, &t);
  PetscCall(CheckTrees(&t, &(Known){"square", 12, 0, 4, 4, 1}, 4, 1));
  for (int degree = 1; degree < 5; degree++) PetscCall(Solves(&t, degree));
  TreesGrid(3, 2, &t);
  PetscCall(CheckTrees(&t, &(Known){"cube", 12, 6, 1, 8, 4}, 8, 4));
  for (int degree = 1; degree < 4; degree++) PetscCall(Solves(&t, degree));
  TreesStar(5, &t);
  PetscCall(CheckTrees(&t, &(Known){"star", 5, 0, 0, 5, 1}, 5, 1));
  TreesBall(2, &t);
  PetscCall(CheckTrees(&t, &(Known){"disc", 8, 0, 0, 5, 1}, 5, 1));
  TreesBall(3, &t);
  PetscCall(CheckTrees(&t, &(Known){"ball", 18, 0, 0, 9, 3}, 9, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}
