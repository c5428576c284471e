/* Work at the points of a DM's cells, or of their sides on the boundary: one batch after the other, on the DM's backend or on the host. */
#pragma once
#include "pointgrid.h"
#include "../dmdata/dmdata.h"

/* the places where one kind of data is given, in the order of the cells: the own cells, or their sides of one number (x-, x+, ...) */
typedef struct {
  VpGivenKind given;
  int         side;
} VpSet;
static inline VpSet VpOwnCells(void)
{
  return (VpSet){VP_GIVEN_SOURCE, -1};
}

/* The cells with sides on the boundary, and the bounds of cells on a device that is in use. Made at the first use, as long as the DM. */
struct VpGeometry_ {
  VpArrays arrays;
  int32_t  n[VP_GIVEN_KINDS][6];            /* [given][side] how many own cells have such a side */
  int32_t *cell[VP_GIVEN_KINDS][6];         /* which; on the host */
  VpPlaces cells, sides[VP_GIVEN_KINDS][6]; /* on the device; empty where the backend is the host */
};
PetscErrorCode VpGeometryDestroy(struct VpGeometry_ **);

/* What functions of a DM at points need: its backend's kernels and what these take. */
typedef struct {
  DM                  dm;
  VpMesh              mesh;
  VpLevel             level; /* on the backend */
  const VpBasis      *basis; /* orthonormal */
  struct VpGeometry_ *geometry;
} VpField;
PetscErrorCode VpFieldGet(DM, VpField *);
int32_t        VpFieldCount(const VpField *, VpSet);
/* how many places make a batch that a thread works on */
int32_t VpBatchOf(const VpGrid *);

/* Work on the places [at, at + places->n) of a set; room: the memory that was asked for. It calls nothing of PETSc where threads do it. */
typedef PetscErrorCode (*VpWorkOnPlaces)(void *context, const VpPlaces *places, int32_t at, double room[]);
/* Does the work on the host, `batch` places at a time, by threads or in order, with room for so many numbers. weighted: places, which are
   sides, have the coefficient along their normal as their weight. */
PetscErrorCode VpOnHost(const VpField *, VpSet, int32_t first, int32_t last, int32_t batch, size_t room, PetscBool threads,
                        PetscBool weighted, VpWorkOnPlaces, void *context);
/* The same on the device, without room: the work launches kernels. */
PetscErrorCode VpOnDevice(const VpField *, VpSet, int32_t first, int32_t last, int32_t batch, PetscBool weighted, VpWorkOnPlaces,
                          void *context);
/* Does the work where the backend is: on a device all places at once, on the host in batches by threads. */
PetscErrorCode VpOnBackend(const VpField *, const VpGrid *, VpSet, PetscBool weighted, VpWorkOnPlaces, void *context);
