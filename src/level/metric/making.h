/* What the making of a metric knows. */
#pragma once
#include "../internal.h"
#include "pullback.h"

/* what VpMadeCell says of all own cells */
typedef struct {
  double     least, most, variation, change, jump; /* the extremes */
  double     logs;                                 /* sum of the logarithms of most/least */
  double     mass, volume, boxes;                  /* sums; boxes: of the boxes' volumes */
  PetscInt64 hand;                                 /* sum of the signs of det J, times VpCellHand() */
  double     quotient;                             /* largest most/least, and the first cell that has it */
  int32_t    worst, indefinite;                    /* indefinite: the first cell where K is so, -1: none */
} VpMadeCells;

typedef struct {
  VpMesh               mesh;
  const VpProblem     *problem;
  const VpPointValues *values;
  const VpBackend     *backend;
  VpMetric             metric;
  VpBasis              basis;
  int                  n, dim, face, rows;
  double               weight[VP_MAX_N], point_weight[VP_MOST_POINTS]; /* along a direction, and of a cell's points */
  VpMapGrid            at[7];                                          /* points of cells, then of the sides */
  double               slope[VP_MAX_N * VP_MAX_N];                     /* [n][n] as VpMetricView.slope */
  VpMaking             to;                                             /* on the backend */
  VpArrays             scratch, large[2]; /* arrays of `to` that go when the metric is made; G and H, which may stay */
  VpArrays             early;             /* K and `seen`, which go before numbers are stored */
  VpMadeCell          *made;              /* [nown] on the host */
  VpMadeCells          all;               /* of them */
  double              *penalty;           /* [nface] factor of the penalty of cells, then VpMetricView.penalty, on the host */
  double              *parted; /* [parts][G_dd, G_dd det][n^(dim-1)] of coarse cells. The backend is the host where there are parts. */
  int                  bad;    /* whether K is not positive definite at a point of a part */
} VpMetricWork;

/* made.c: gets `made` from the backend, and sets `all` */
PetscErrorCode VpFetchMade(VpMetricWork *);
/* given.c: some blocks of an array on the backend */
typedef struct {
  int32_t        n;
  const int32_t *list; /* [n] the numbers of the blocks */
  size_t         each; /* the number of doubles of a block */
} VpBlocks;
/* VpMoveBlocks sets here [n][each] to blocks of the array `all`, or (put) these blocks to `here`, which is memory of the host.
   VpKeepOutflow keeps rows of G, before they are weighed, where values or fluxes are given. VpMakeFluxes finds by what fluxes are
   multiplied, when sigma is there; collective */
PetscErrorCode VpMoveBlocks(const VpMetricWork *, VpBlocks, PetscBool put, double *all, double *here);
PetscErrorCode VpKeepOutflow(VpMetricWork *);
PetscErrorCode VpMakeFluxes(VpMetricWork *);
/* parts.c: the parts of sides that hang, of a mesh that is adaptive. VpMakeParts finds G there, VpWeighParts weighs H of fine sides,
   VpFinishParts finds H and sigma, when the penalties of cells are known. VpStoreGhosts gives a metric that is stored the numbers of
   ghosts. */
PetscErrorCode VpAllocateParts(VpMetricWork *);
PetscErrorCode VpMakeParts(VpMetricWork *);
void           VpWeighParts(VpMetricWork *);
void           VpFinishParts(VpMetricWork *);
PetscErrorCode VpStoreGhosts(VpMetricWork *);
/* the own cell's part of the penalty on a side: 1, or of a fine cell where the side hangs 1/2 */
double VpPartOf(const VpMetricWork *, int32_t cell, int side);
