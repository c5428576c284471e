/* The vectors of a DMVPATCHDG. A global vector has the values of own cells, a local one also those of face ghosts. */
#include "internal.h"
#include "../fields/fields.h"
#include <petsc/private/vecimpl.h>

#define PETSC_NORM "DMVPatchDGPetscNorm_C"

static PetscErrorCode ComputeNorm(Vec x, NormType type, PetscReal *norm)
{
  PetscErrorCode (*own)(Vec, NormType, PetscReal *);
  PetscScalar square = 0;

  PetscFunctionBegin;
  if (type == NORM_2 || type == NORM_FROBENIUS) PetscCall(VpVecProducts(x, 1, &x, &square));
  *norm = PetscSqrtReal(PetscRealPart(square));
  if (*norm > VP_LEAST_NORM && !PetscIsInfOrNanReal(*norm)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)x, PETSC_NORM, &own));
  PetscCall(own(x, type, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PETSC_DUPLICATE "DMVPatchDGPetscDuplicate_C"
enum { SMALL = 1 << 22 }; /* Number of values per rank up to which an allocation takes about as long as a solve. */

/* PETSc allocates memory on a GPU when a vector is first used, so the first solve of a KSP would wait. Small vectors are allocated at once.
   All ranks take the same decision: VecSet() caches the norm, and VecNorm() is collective without the cache. */
static PetscErrorCode AllocateSmall(Vec v)
{
  PetscMPIInt ranks;
  PetscInt    rows;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)v), &ranks));
  PetscCall(VecGetSize(v, &rows));
  if ((double)rows <= (double)ranks * SMALL) PetscCall(VecSet(v, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DuplicateVector(Vec v, Vec *copy)
{
  PetscErrorCode (*own)(Vec, Vec *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)v, PETSC_DUPLICATE, &own));
  PetscCall(own(v, copy));
  PetscCall(AllocateSmall(*copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the vector operations of KSPs by the backend's on GPUs. */
static PetscErrorCode SetDeviceOps(Vec v)
{
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(VpVecBackend(v, &backend));
  if (!VpIsDevice(backend)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectComposeFunction((PetscObject)v, PETSC_NORM, v->ops->norm));
  PetscCall(PetscObjectComposeFunction((PetscObject)v, PETSC_DUPLICATE, v->ops->duplicate));
  v->ops->norm = ComputeNorm;
  v->ops->mdot = v->ops->mtdot = VpVecProducts;
  v->ops->maxpy = VpVecAddMultiples;
  v->ops->duplicate = DuplicateVector;
  PetscCall(AllocateSmall(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(DM dm, MPI_Comm comm, PetscInt rows, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VpVecCreate(comm, dm->vectype, 1, rows, PETSC_DETERMINE, v));
  PetscCall(VecSetDM(*v, dm));
  PetscCall(SetDeviceOps(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCreateGlobalVector_VPatchDG(DM dm, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCreateGlobalVector()"));
  PetscCall(CreateVector(dm, PetscObjectComm((PetscObject)dm), DMVPatchDGRows(dm), v));
  PetscCall(VecSetOperation(*v, VECOP_VIEW, (VpFunction *)VecView_VPatchDG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCreateLocalVector_VPatchDG(DM dm, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCreateLocalVector()"));
  PetscCall(DMVPatchDGCheckOfCells(dm, "DMCreateLocalVector()"));
  PetscCall(CreateVector(dm, PETSC_COMM_SELF, DMVPatchDGData(dm)->mesh->nface * DMVPatchDGCellSize(dm), v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks if the vector is wrong on one of them. */
static PetscErrorCode CheckLocal(DM dm, Vec v, InsertMode mode)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "A local vector"));
  PetscCall(DMVPatchDGCheckOfCells(dm, "A local vector"));
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "Between global and local vectors of a DMVPATCHDG there are INSERT_VALUES and ADD_VALUES, not mode %d", (int)mode);
  PetscCheck(v && ((PetscObject)v)->classid == VEC_CLASSID, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "There is no local vector");
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), n == DMVPatchDGData(dm)->mesh->nface * DMVPatchDGCellSize(dm),
                              "the local vector has the wrong size: make it with DMCreateLocalVector()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills `local` with the own values, which are the first values of `from`, and the face ghosts. ADD_VALUES adds them. */
static PetscErrorCode FillLocal(DM dm, Vec from, InsertMode mode, Vec local)
{
  const PetscInt     nown = DMVPatchDGData(dm)->mesh->nown * DMVPatchDGCellSize(dm);
  const PetscSF      sf = DMVPatchDGData(dm)->mesh->sf[VP_GHOST_FACE];
  const MPI_Op       op = mode == INSERT_VALUES ? MPI_REPLACE : MPIU_SUM;
  const PetscScalar *own;
  PetscScalar       *to;
  VpLevel            level;

  PetscFunctionBegin;
  PetscCall(CheckLocal(dm, local, mode));
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VecGetArrayRead(from, &own));
  PetscCall(VecGetArray(local, &to));
  PetscCall(PetscSFBcastBegin(sf, level->unit, own, to + nown, op));
  PetscCall(PetscSFBcastEnd(sf, level->unit, own, to + nown, op));
  for (PetscInt i = 0; i < nown; i++) to[i] = own[i] + (mode == INSERT_VALUES ? 0 : to[i]);
  PetscCall(VecRestoreArray(local, &to));
  PetscCall(VecRestoreArrayRead(from, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMGlobalToLocalBegin_VPatchDG(DM dm, Vec global, InsertMode mode, Vec local)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, global, "DMGlobalToLocal()"));
  PetscCall(FillLocal(dm, global, mode, local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMLocalToLocalBegin_VPatchDG(DM dm, Vec from, InsertMode mode, Vec to)
{
  PetscFunctionBegin;
  PetscCall(CheckLocal(dm, from, mode));
  PetscCall(FillLocal(dm, from, mode, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* INSERT_VALUES takes only own values. ADD_VALUES also adds the ghosts' values to their owners'. */
static PetscErrorCode DMLocalToGlobalBegin_VPatchDG(DM dm, Vec local, InsertMode mode, Vec global)
{
  DM_VPatchDG       *dg = dm->data;
  const PetscInt     nown = dg->mesh->nown * DMVPatchDGCellSize(dm);
  const PetscScalar *l;
  PetscScalar       *g;
  VpLevel            level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, global, "DMLocalToGlobal()"));
  PetscCall(CheckLocal(dm, local, mode));
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VecGetArrayRead(local, &l));
  PetscCall(VecGetArray(global, &g));
  if (mode == INSERT_VALUES) {
    PetscCall(PetscArraycpy(g, l, nown));
  } else {
    for (PetscInt i = 0; i < nown; i++) g[i] += l[i];
    PetscCall(PetscSFReduceBegin(dg->mesh->sf[VP_GHOST_FACE], level->unit, l + nown, g, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(dg->mesh->sf[VP_GHOST_FACE], level->unit, l + nown, g, MPIU_SUM));
  }
  PetscCall(VecRestoreArray(global, &g));
  PetscCall(VecRestoreArrayRead(local, &l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGTransferEnd(DM dm, Vec from, InsertMode mode, Vec to)
{
  return PETSC_SUCCESS;
}

void DMVPatchDGSetVectorOps(DM dm)
{
  dm->ops->createglobalvector = DMCreateGlobalVector_VPatchDG;
  dm->ops->createlocalvector = DMCreateLocalVector_VPatchDG;
  dm->ops->globaltolocalbegin = DMGlobalToLocalBegin_VPatchDG;
  dm->ops->globaltolocalend = DMVPatchDGTransferEnd;
  dm->ops->localtolocalbegin = DMLocalToLocalBegin_VPatchDG;
  dm->ops->localtolocalend = DMVPatchDGTransferEnd;
  dm->ops->localtoglobalbegin = DMLocalToGlobalBegin_VPatchDG;
  dm->ops->localtoglobalend = DMVPatchDGTransferEnd;
}
