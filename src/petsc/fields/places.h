/* Work at the points of a DM's cells, or of their boundary sides, in batches on the DM's backend or on the host. */
#pragma once
#include "pointgrid.h"
#include "../dmdata/dmdata.h"

/* The places of one kind of data, in the order of the cells: the own cells, or their sides of one number (x-, x+, ...). */
typedef struct {
  VpGivenKind given;
  int         side;
} VpSet;
static inline VpSet VpOwnCells(void)
{
  return (VpSet){VP_GIVEN_SOURCE, -1};
}

/* Lists of cells with boundary sides, and the bounds of cells on the device. Made on first use and destroyed with the DM. */
struct VpFieldPlaces_ {
  VpArrays arrays;
  int32_t  n[VP_GIVEN_KINDS][6];            /* [given][side] number of own cells with such a side */
  int32_t *cell[VP_GIVEN_KINDS][6];         /* the cells, on the host */
  VpPlaces cells, sides[VP_GIVEN_KINDS][6]; /* on the device; empty if the backend is the host */
};
PetscErrorCode VpFieldPlacesDestroy(struct VpFieldPlaces_ **);

/* The DM's backend, its kernels and their arguments for functions of points. */
typedef struct {
  DM                     dm;
  VpMesh                 mesh;
  VpLevel                level; /* on the backend */
  const VpBasis         *basis; /* orthonormal */
  struct VpFieldPlaces_ *places;
} VpField;
PetscErrorCode VpFieldGet(DM, VpField *);
int32_t        VpFieldCount(const VpField *, VpSet);
/* number of places in the batch of a thread */
int32_t VpBatchOf(const VpGrid *);

/* Work on the places [at, at + places->n) of a set. room: scratch memory. Work in threads must not call PETSc. */
typedef PetscErrorCode (*VpWorkOnPlaces)(void *context, const VpPlaces *places, int32_t at, double room[]);
/* Does the work on the host with `batch` places at a time, in threads or in order. room: numbers of scratch memory. weighted: the weight of
   a side is the coefficient along its normal */
PetscErrorCode VpOnHost(const VpField *, VpSet, int32_t first, int32_t last, int32_t batch, size_t room, PetscBool threads,
                        PetscBool weighted, VpWorkOnPlaces, void *context);
/* The same on the device, without scratch memory: the work launches kernels. */
PetscErrorCode VpOnDevice(const VpField *, VpSet, int32_t first, int32_t last, int32_t batch, PetscBool weighted, VpWorkOnPlaces,
                          void *context);
/* Does the work on the backend: on a device all places at once, on the host batches in threads. */
PetscErrorCode VpOnBackend(const VpField *, const VpGrid *, VpSet, PetscBool weighted, VpWorkOnPlaces, void *context);
