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
  int32_t *cell[VP_GIVEN_KINDS][6];         /* [given][side] the own cells with such a side, on the host */
  VpPlaces cells, sides[VP_GIVEN_KINDS][6]; /* the arrays are on the device; NULL if the backend is the host */
};
PetscErrorCode VpFieldPlacesDestroy(struct VpFieldPlaces_ **);

/* The DM's backend, its kernels and their arguments for functions of points. */
typedef struct {
  DM                     dm;
  VpMesh                 mesh;
  VpLevel                level; /* on "the backend" of what follows */
  const VpBasis         *basis; /* orthonormal */
  VpNodes                nodes; /* of a continuous DM, on the backend; else NULL */
  struct VpFieldPlaces_ *places;
} VpField;
PetscErrorCode VpFieldGet(DM, VpField *);
int32_t        VpFieldCount(const VpField *, VpSet);
/* number of places that are worked on at a time where the backend is: all of a set on a device, a batch for a thread on the host */
int32_t VpFieldBatch(const VpField *, const VpGrid *, VpSet);
int32_t VpHostBatch(const VpGrid *);

/* Works on the places [places->first, places->first + places->n) of a set. scratch: memory where the work is done. Work in threads must not
   call PETSc. */
typedef PetscErrorCode (*VpWorkOnPlaces)(void *context, const VpPlaces *places, double scratch[]);
/* what a work needs of mapped cells at the points of a grid (VpPlaces) */
enum { VP_NEEDS_POINTS = 1, VP_NEEDS_NORMALS = 2, VP_NEEDS_MEASURE = 4, VP_NEEDS_GRADIENT = 8, VP_NEEDS_OUTFLOW = 16 };
/* work on the places [first, last) of a set */
typedef struct {
  VpSet          set;
  const VpGrid  *grid;  /* the points, or NULL where nothing is needed */
  int            needs; /* bits. VP_NEEDS_GRADIENT: `chain` makes gradients of derivatives in cells, and outward derivatives on sides.
                           VP_NEEDS_OUTFLOW: where there is a metric, what flows out through a side, per area of the reference cell's */
  int32_t        first, last;
  int32_t        batch;    /* number of places at a time */
  size_t         scratch;  /* numbers of scratch memory for a batch */
  PetscBool      threads;  /* The host may work in threads. */
  PetscBool      weighted; /* The weight of a side is the coefficient along its normal. */
  VpWorkOnPlaces work;
  void          *context;
} VpPlacesLoop;
/* Does the work on the host, or where the backend is: on a device the work launches kernels. */
PetscErrorCode VpOnHost(const VpField *, const VpPlacesLoop *);
PetscErrorCode VpOnBackend(const VpField *, const VpPlacesLoop *);

/* mapplaces.c: whether the loop needs anything of maps, or of the metric; scratch memory for a batch; the grid's points as those of the
   map. VpMapPlaces sets what the loop needs of the places. Threads may call it on the host. */
typedef struct {
  const VpMakers  *make;
  VpCellMaps       maps;
  const VpMapGrid *grid; /* on the backend */
} VpMapping;
PetscBool      VpHasNeeds(const VpField *, const VpPlacesLoop *);
size_t         VpMapScratch(const VpField *, const VpPlacesLoop *, int32_t batch);
void           VpMapGridOf(const VpField *, const VpGrid *, VpMapGrid *);
PetscErrorCode VpMapPlaces(const VpField *, const VpPlacesLoop *, const VpMapping *, VpPlaces *, double scratch[]);
