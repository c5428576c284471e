/* DMGetCoordinates() and DMGetBoundingBox(). The corners of the cells are computed on request. */
#include "internal.h"
#include "../../base/threads.h"
#include <petscdmshell.h>

/* whether there are own cells beyond all sides of a cell, and none of them around a periodic direction */
static PetscBool IsInside(VpMesh mesh, int32_t cell)
{
  const VpGeometry g = mesh->geometry;

  for (int side = 0; side < 2 * mesh->dim; side++) {
    const int32_t beyond = VpMeshNeighbor(mesh, cell, side);

    if (beyond < 0 || beyond >= mesh->nown) return PETSC_FALSE;
    if (g->domain->periodic[side / 2] && VpGeometryIsAtEnd(g, g->box[cell], VpGeometryZone(g, cell, side / 2), side)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* the smallest box around this rank's cells, for mapped ones around nodes of the outer ones */
static PetscErrorCode FindLocalBounds(DM dm, PetscReal lower[], PetscReal upper[])
{
  double bounds[6]; /* [-lower, upper][3] */
  VpMesh mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMGetBoundingBox()"));
  mesh = DMVPatchDGData(dm)->mesh;
  for (int i = 0; i < 6; i++) bounds[i] = PETSC_MIN_REAL;
  VP_LOOP_MOST (c, mesh->nown, bounds[:6]) {
    PetscReal low[3], high[3];

    if (IsInside(mesh, c)) continue; /* A map that does not fold has no extremes inside. */
    VpGeometryExtent(mesh->geometry, c, low, high);
    for (int d = 0; d < mesh->dim; d++) {
      bounds[d] = PetscMax(bounds[d], -low[d]);
      bounds[3 + d] = PetscMax(bounds[3 + d], high[d]);
    }
  }
  for (int d = 0; d < mesh->dim; d++) {
    lower[d] = -bounds[d];
    upper[d] = bounds[3 + d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Recent versions of PETSc also ask for the first and last index of a DMDA. */
static PetscErrorCode FindLocalBoundsNoIndices(DM dm, PetscReal lower[], PetscReal upper[], PetscInt first[], PetscInt last[])
{
  return FindLocalBounds(dm, lower, upper);
}

/* coordinates: [own cells][2^dim][dim], x fastest among the corners of a cell, a standard vector of block size dim */
static PetscErrorCode CreateCorners(DM dm, Vec *coordinates)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  const int    dim = mesh->dim, corners = 1 << dim;
  const double end[] = {0, 1};
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(VpVecCreate(mesh->comm, VECSTANDARD, dim, (PetscInt)mesh->nown * corners * dim, PETSC_DETERMINE, coordinates));
  PetscCall(VecGetArrayWrite(*coordinates, &x));
  for (int32_t cell = 0; cell < mesh->nown; cell++)
    VpGeometryEvaluate(mesh->geometry, cell, (int[]){2, 2, dim == 3 ? 2 : 1}, (const double *const[]){end, end, end},
                       x + cell * corners * dim, NULL);
  PetscCall(VecRestoreArrayWrite(*coordinates, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyCorners(DM coordinates, Vec local, InsertMode mode, Vec global)
{
  Vec known;

  PetscFunctionBegin;
  PetscCall(DMShellGetGlobalVector(coordinates, &known));
  PetscCall(VecCopy(known, global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateCoordinateDM(DM dm, DM *coordinates)
{
  Vec corners;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMGetCoordinates()"));
  PetscCall(CreateCorners(dm, &corners));
  PetscCall(DMShellCreate(PetscObjectComm((PetscObject)dm), coordinates));
  PetscCall(DMShellSetGlobalVector(*coordinates, corners));
  PetscCall(DMShellSetLocalToGlobal(*coordinates, CopyCorners, DMVPatchDGTransferEnd));
  PetscCall(VecDestroy(&corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMGetCoordinates() makes the global vector from the local one with the coordinate DM. The local vector only holds the two corners
   [2][dim] of the smallest box around this rank's cells, if the rank has cells. PETSc 3.18 computes the DM's bounding box from these
   corners. */
PetscErrorCode DMVPatchDGSetLocalCoordinates(DM dm)
{
  const VpMesh mesh = DMVPatchDGData(dm)->mesh;
  PetscReal    corner[2][3];
  PetscScalar *x;
  Vec          local;

  PetscFunctionBegin;
  PetscCall(FindLocalBounds(dm, corner[0], corner[1]));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, mesh->nown ? 2 * mesh->dim : 0, &local));
  PetscCall(VecSetBlockSize(local, mesh->dim));
  PetscCall(VecGetArrayWrite(local, &x));
  for (int i = 0; i < 2 * mesh->dim && mesh->nown; i++) x[i] = corner[i / mesh->dim][i % mesh->dim];
  PetscCall(VecRestoreArrayWrite(local, &x));
  PetscCall(VecDestroy(&dm->coordinates[0].xl));
  dm->coordinates[0].xl = local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetCoordinateOps(DM dm)
{
  typedef PetscErrorCode (*NoIndices)(DM, PetscReal *, PetscReal *);

  PetscFunctionBegin;
  dm->ops->createcoordinatedm = CreateCoordinateDM;
  dm->ops->getlocalboundingbox = _Generic(dm->ops->getlocalboundingbox, NoIndices : FindLocalBounds, default : FindLocalBoundsNoIndices);
  PetscCall(VecCreate(PETSC_COMM_SELF, &dm->coordinates[0].xl)); /* makes DMGetCoordinates() before DMSetUp() an error */
  PetscFunctionReturn(PETSC_SUCCESS);
}
