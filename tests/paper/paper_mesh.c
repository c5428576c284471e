static char help[] =
  "What the drawings of the paper's page show, from the library's own arrays, as JSON: cells and their ranks, points, patches and\n\
colours, the ghosts of every rank, what a patch's solve depends on (one rank), banks of shared memory,\nlists of patches in 3D.\n\n\
  -report FILE      : the JSON\n\
  -dm_*             : another mesh than 8 x 8 cells of degree 4\n\n";

#include "../../src/smoother/smoother.h"
#include "../../src/petsc/dmdata/dmdata.h"
#include "banks.h"

typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank;
  FILE       *json;
  VpMesh      mesh;
  PetscInt   *position; /* [nlocal] global ones of local cells */
} Drawing;

/* ---- lists, rank after rank */

static PetscErrorCode Begin(const Drawing *d, const char name[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(d->comm, d->json, ",\n \"%s\": [", name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(const Drawing *d)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSynchronizedFlush(d->comm, d->json));
  PetscCall(PetscFPrintf(d->comm, d->json, "]"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [a, b, ...] of cells' global positions */
static PetscErrorCode WritePositions(const Drawing *d, PetscInt n, const int32_t cell[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "["));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "%s%d", i ? ", " : "", (int)d->position[cell ? cell[i] : i]));
  }
  PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "]"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [x, y, size, rank] of the cells, in their global order */
static PetscErrorCode WriteCells(const Drawing *d)
{
  PetscReal lower[3], size[3];

  PetscFunctionBeginUser;
  PetscCall(Begin(d, "cells"));
  for (int32_t i = 0; i < d->mesh->nown; i++) {
    VpGeometryBounds(d->mesh->geometry, i, lower, size);
    PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "%s[%.10g, %.10g, %.10g, %d]", d->position[i] ? ", " : "", (double)lower[0],
                                       (double)lower[1], (double)size[0], d->rank));
  }
  PetscCall(End(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* [x, y] of the points, in the order of a vector of point values */
static PetscErrorCode WritePoints(const Drawing *d, DM dm)
{
  Vec                points;
  const PetscScalar *x;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetPoints(dm, &points));
  PetscCall(VecGetLocalSize(points, &n));
  PetscCall(VecGetArrayRead(points, &x));
  PetscCall(Begin(d, "points"));
  for (PetscInt i = 0; i < n; i += 2) {
    PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "%s[%.6g, %.6g]", d->rank || i ? ", " : "", (double)PetscRealPart(x[i]),
                                       (double)PetscRealPart(x[i + 1])));
  }
  PetscCall(End(d));
  PetscCall(VecRestoreArrayRead(points, &x));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the patches of every rank, those of two ranks with both */
static PetscErrorCode WritePatches(const Drawing *d, const VpPatches *patches)
{
  const int children = 1 << patches->dim;

  PetscFunctionBeginUser;
  PetscCall(Begin(d, "patches"));
  for (int c = 0; c < children; c++) {
    for (int32_t p = patches->start[c]; p < patches->start[c + 1]; p++) {
      PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "%s{\"rank\": %d, \"color\": %d, \"cells\": ", d->rank || p ? ",\n  " : "\n  ",
                                         d->rank, c));
      PetscCall(WritePositions(d, children, patches->cell + (size_t)p * children));
      PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "}"));
    }
  }
  PetscCall(End(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the local cells of every rank, and where the zones end: own, face neighbours, two layers, three layers */
static PetscErrorCode WriteZones(const Drawing *d)
{
  const VpMesh mesh = d->mesh;

  PetscFunctionBeginUser;
  PetscCall(Begin(d, "zones"));
  PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "%s{\"rank\": %d, \"ends\": [%d, %d, %d, %d], \"cells\": ",
                                     d->rank ? ",\n  " : "\n  ", d->rank, mesh->nown, mesh->nface, mesh->nsweep, mesh->nhalo));
  PetscCall(WritePositions(d, mesh->nhalo, NULL));
  PetscCall(PetscSynchronizedFPrintf(d->comm, d->json, "}"));
  PetscCall(End(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- domains of dependence */

static const struct {
  const char    *name;
  VpSpace        space;
  VpResidual     residual;
  VpResidualMode mode;
} kernels[] = {
  {"full, exact", VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_MODE_REPLACE},
  {"dirichlet, exact", VP_SPACE_DIRICHLET, VP_RESIDUAL_EXACT, VP_MODE_CORRECT},
  {"dirichlet, local", VP_SPACE_DIRICHLET, VP_RESIDUAL_LOCAL, VP_MODE_LOCAL},
  {"clamped, local", VP_SPACE_CLAMPED, VP_RESIDUAL_LOCAL, VP_MODE_LOCAL},
};

/* the patch around the middle of the unit square */
static int32_t FindMiddle(const Drawing *d, const VpPatches *patches)
{
  PetscReal lower[3], size[3];

  for (int32_t p = 0; p < patches->n; p++) {
    VpGeometryBounds(d->mesh->geometry, patches->cell[4 * (size_t)p], lower, size);
    if (PetscAbsReal(lower[0] + size[0] - 0.5) < 1e-10 && PetscAbsReal(lower[1] + size[1] - 0.5) < 1e-10) return p;
  }
  return 0;
}

typedef struct {
  VpLevel        level;
  VpSmoother     smoother;
  VpResidualMode mode;
  int32_t        patch;
  VpVector       b, x;
} Solve;

/* Is the patch's solve other than 0 when unknown i of v, which is b or x, alone is not 0? It is linear in both. */
static PetscErrorCode Reads(const Solve *s, VpVector v, size_t i, PetscBool *reads)
{
  const size_t       ndof = s->level->block / s->level->real;
  const VpPatchView *patches = VpSmootherPatches(s->smoother);
  const int32_t     *cell = patches->patch + 4 * (size_t)s->patch;
  double            *from = (double *)v->buffer[0], *solved = (double *)s->x->buffer[1];

  PetscFunctionBeginUser;
  from[i] = 1;
  PetscCall(s->level->ops->sweep(&s->level->view, patches, s->mode, s->patch, s->patch + 1, 0, s->b->buffer[0], s->x->buffer));
  from[i] = 0;
  *reads = PETSC_FALSE;
  for (size_t k = 0; k < 4 * ndof; k++) *reads = (PetscBool)(*reads || PetscAbsReal(solved[cell[k / ndof] * ndof + k % ndof]) > 1e-10);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* every unknown in turn, in the cycle's basis: 1 where the solve reads it in b, 2 in x, 3 in both */
static PetscErrorCode WriteDependence(const Drawing *d, const VpProblem *problem, const VpPatches *patches, int kernel)
{
  Solve     s = {.mode = kernels[kernel].mode, .patch = FindMiddle(d, patches)};
  PetscBool b, x;

  PetscFunctionBeginUser;
  PetscCall(VpLevelCreate(d->mesh, problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &s.level));
  PetscCall(VpSmootherCreate(s.level, kernels[kernel].space, kernels[kernel].residual, VP_EXCHANGE_SWEEP, 0, &s.smoother));
  PetscCall(VpVectorCreate(s.level, 1, "b", &s.b));
  PetscCall(VpVectorCreate(s.level, 2, "x", &s.x));
  PetscCall(PetscFPrintf(d->comm, d->json, "%s{\"kernel\": \"%s\", \"patch\": %d, \"reads\": [", kernel ? ",\n  " : "\n  ",
                         kernels[kernel].name, (int)s.patch));
  for (size_t i = 0; i < d->mesh->nown * (s.level->block / s.level->real); i++) {
    PetscCall(Reads(&s, s.b, i, &b));
    PetscCall(Reads(&s, s.x, i, &x));
    PetscCall(PetscFPrintf(d->comm, d->json, "%s%d", i ? "," : "", b + 2 * x));
  }
  PetscCall(PetscFPrintf(d->comm, d->json, "]}"));
  PetscCall(VpVectorDestroy(&s.b));
  PetscCall(VpVectorDestroy(&s.x));
  PetscCall(VpSmootherDestroy(&s.smoother));
  PetscCall(VpLevelDestroy(&s.level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- banks of shared memory */

/* the banks of the numbers that the rows of threads read first and second of a matrix [P][P] */
static PetscErrorCode WriteBanks(const Drawing *d)
{
  const int banks = 128 / (int)sizeof(double);

  PetscFunctionBeginUser;
  PetscCall(Begin(d, "banks"));
  for (int degree = 3; degree <= 7; degree++) {
    const int P = 2 * (degree + 1);

    for (int rotated = 0; rotated < 2; rotated++) {
      PetscCall(PetscFPrintf(d->comm, d->json, "%s{\"degree\": %d, \"rotated\": %d, \"banks\": %d, \"reads\": [",
                             degree > 3 || rotated ? ",\n  " : "\n  ", degree, rotated, banks));
      for (int row = 0; row < P; row++) {
        const int start = rotated ? RotatedStart(banks, P, row) % P : 0;

        PetscCall(
          PetscFPrintf(d->comm, d->json, "%s[%d, %d]", row ? ", " : "", (row * P + start) % banks, (row * P + (start + 1) % P) % banks));
      }
      PetscCall(PetscFPrintf(d->comm, d->json, "]}"));
    }
  }
  PetscCall(End(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how many patches a cube of 16^3 cells has, and the bytes of their lists */
static PetscErrorCode WriteLists(const Drawing *d)
{
  DM        dm;
  VpLevel   level;
  VpPatches patches;
  PetscInt  counts[2];

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(d->comm, 3, 1, 4, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VpPatchesCreate(level->mesh, level->mesh->geometry->lattice->thinnest, &patches));
  counts[0] = level->mesh->nown;
  counts[1] = patches.n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPIU_INT, MPI_SUM, d->comm));
  PetscCall(PetscFPrintf(d->comm, d->json, ",\n \"lists\": {\"cells\": %d, \"patches\": %d, \"bytes\": %d}", (int)counts[0], (int)counts[1],
                         (int)(8 * sizeof(*patches.cell) * counts[1])));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteAll(DM dm, Drawing *d)
{
  VpLevel     outer;
  VpProblem   problem;
  VpPatches   patches;
  PetscInt    degree;
  PetscMPIInt ranks;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetLevel(dm, &outer));
  problem = ((DM_VPatchDG *)dm->data)->op->problem;
  PetscCall(DMVPatchDGGetDegree(dm, &degree));
  PetscCallMPI(MPI_Comm_size(d->comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(d->comm, &d->rank));
  d->mesh = outer->mesh;
  PetscCall(PetscMalloc1(d->mesh->nlocal, &d->position));
  PetscCall(VpMeshPositions(d->mesh, d->position));
  PetscCall(VpPatchesCreate(d->mesh, d->mesh->geometry->lattice->thinnest, &patches));
  PetscCall(PetscFPrintf(d->comm, d->json, "{\"degree\": %d, \"ranks\": %d", (int)degree, ranks));
  PetscCall(WriteCells(d));
  PetscCall(WritePoints(d, dm));
  PetscCall(WritePatches(d, &patches));
  PetscCall(WriteZones(d));
  PetscCall(WriteBanks(d));
  PetscCall(WriteLists(d));
  PetscCall(Begin(d, "dependence"));
  for (int k = 0; ranks == 1 && k < (int)PETSC_STATIC_ARRAY_LENGTH(kernels); k++) PetscCall(WriteDependence(d, &problem, &patches, k));
  PetscCall(End(d));
  PetscCall(PetscFPrintf(d->comm, d->json, "}\n"));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(PetscFree(d->position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char    file[PETSC_MAX_PATH_LEN] = "/dev/stdout";
  Drawing d = {0};
  DM      dm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  d.comm = PETSC_COMM_WORLD;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-report", file, sizeof(file), NULL));
  PetscCall(DMVPatchDGCreate(d.comm, 2, 4, 3, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(PetscFOpen(d.comm, file, "w", &d.json));
  PetscCall(WriteAll(dm, &d));
  PetscCall(PetscFClose(d.comm, d.json));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
