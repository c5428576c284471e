/* Coefficients at points: the numbers of a VpMetricView, made from values of the coefficient and the cells' geometry.

   Points of a cell are its n^dim Gauss points, those of a side its n^(dim-1) ones, x fastest. J is the derivative of a cell's map from
   [0,1]^dim, and K the coefficient, a number or a symmetric matrix. Then G = |det J| J^-1 K J^-T, and on a side with the normal d
   H = 2 w (row d of G), where w = P'/(P + P') weighs by P = G_dd |det J| of both cells, and sigma = penalty k(k+1) (H_d + H_d').

   On a side that hangs, J of the coarse cell is that of its part at the fine side: derivatives along the side are halved. The penalty is
   that of coarse cells, so that the fine cell's H_d counts half in sigma. */
#pragma once
#include "../arrays.h"
#include "../../mesh/mesh.h"

typedef struct VpProblem_ VpProblem;

/* The coefficient at points of own cells. components: 1, dim for a diagonal matrix, or dim (dim + 1)/2 for a symmetric one, as xx, xy, xz,
   yy, yz, zz. */
typedef struct {
  int           components;
  PetscBool     flat;      /* It is the same in all of a cell. */
  PetscBool     placed;    /* `cell` and `side` are on the backend of the metric, which makes none if values jump by more than `jump` in */
  double        jump;      /* a cell: the quotient of a number on the diagonal at two points. 0: any may jump */
  const double *cell;      /* [nown][n^dim][components], if flat [nown][components] */
  const double *side;      /* [nown][2 dim][n^(dim-1)][components], from inside of the own cell; NULL if flat */
  const double *reaction;  /* [nown][n^dim] c, or NULL: the problem's number */
  VpPrecision   precision; /* in which G, H and the map's root are stored */
  const double *part;      /* [coarse sides that hang, ascending][2^(dim-1) fine ones][n^(dim-1)][components] at the points of the fine
                              sides, from inside of the coarse cell */
} VpPointValues;

/* what a cycle knows of a metric: the means over cells, or over boxes of the domain; auto: what takes less time */
typedef enum { VP_METRIC_AUTO, VP_METRIC_CELL, VP_METRIC_CONST } VpMetricKind;

typedef struct VpMetric_ *VpMetric;
struct VpMetric_ {
  int         refct;
  int         components;     /* of G */
  int32_t     ncell, ntraced; /* own cells; those with side, affine, scale, factor and root, as VpMetricView.traced */
  int         spread;
  VpPrecision precision;
  VpArrays    arrays;                                      /* on the backend that has made them: what follows, and `entry` */
  void       *cell, *side, *factor;                        /* as in VpMetricView */
  double     *affine, *beyond, *eta, *mass, *scale, *root; /* the same, where eta is `penalty` */
  double  *entry; /* [nown][n^dim] root a^(1/4), which vectors of the cycle have in place of root where that pays; NULL: they have root */
  int32_t *first; /* as in VpMetricView, with the number of parts at the end; this and what follows is on the host */
  double  *part;
  int32_t  nflux[6];                   /* [side] number of cells with a flux as condition there */
  double  *flux[6];                    /* [side] [these cells, ascending][n^(dim-1)] by what a flux is multiplied at points, less the
                      root of the point's weight */
  double  *outflows;                   /* all of `outflow` */
  double  *outflow[VP_GIVEN_KINDS][6]; /* [given][side] [cells with such a side, ascending][rows][n^(dim-1)] row d of G, as in H */
  double   reaction;                   /* mean of c |det J| over the boxes */
  double   dilation;                   /* volume of the domain in space, divided by that of the boxes */
  double
    robin[6];    /* [side] by what alpha of the sides with this number is multiplied on the boxes, where cells are of another size; 0: 1 */
  double  *mean; /* [nown][dim] means of the diagonal of the coefficient that the boxes see, G_dd h_d^2 / volume */
  double  *masses, *volumes; /* [nown] means of c |det J| / volume, and of 1/root^2 or 1/entry^2 */
  double  *shares;           /* [nown] factors of a where the cycle works with a multiple of u: means of (root/entry)^2 */
  double   kappa, typical; /* Of the eigenvalues of D^-1/2 G D^-1/2 at points, where D is the diagonal of a cell's mean of G: the largest of
                              all divided by the least, and the geometric mean of the cells' own quotients */
  double   worst;          /* the largest of these quotients, and the cell that has it: its global position, and its box */
  PetscInt worst_cell, worst_box;
  PetscBool trees;     /* The boxes are trees. */
  double    boxes;     /* kappa where D is the mean over the cell's box, estimated from means over cells */
  double    variation; /* largest quotient of G_dd at two points of a cell */
  double    uneven;    /* largest quotient of the aspect ratios, as the cycle sees them, of two cells of a box; 0 for trees */
  double    penalty;   /* largest penalty that a cell needs for a definite A; 0: not computed */
  PetscInt  raised;    /* number of cells of all ranks that have a larger penalty than the problem's, for this reason */
};
/* store.c. Collective. Gives a metric G and H, which its backend has made, in the least memory that stores them. large: G, H */
PetscErrorCode VpMetricStore(VpMesh, const VpMaking *, VpArrays large[2], VpMetric);
/* numbers per unknown, as if in double precision, of `cell`, `side` and `factor` */
double VpMetricNumbers(VpMetric, int dim, int n);
/* kind.c: iterations of FGMRES for eight digits, to a factor of 1.5 in most cases, where the cycle has this kind of means (auto: cell); the
   kind that is asked for, or for auto that which is foretold less time. unlike: of VpPrefers */
double       VpMetricIterations(const VpMetric, VpMetricKind);
VpMetricKind VpMetricChoose(const VpMetric, VpMetricKind asked, double unlike);
/* kind.c: finds `boxes` from `mean` and what is known of own cells. Collective */
PetscErrorCode VpMetricCompareBoxes(VpMesh, const VpMadeCell made[], VpMetric);
/* Collective. NULL where values that are placed jump. Ensures: an error on all ranks, with the cell and its point, where K is not positive
   definite or det J is 0. */
PetscErrorCode VpMetricCreate(VpMesh, const VpProblem *, const VpPointValues *, const VpBackend *, VpMetric *);
PetscErrorCode VpMetricDestroy(VpMetric *);
/* view.c: tables of the Gauss basis as in VpMetricView */
typedef struct {
  double slope[VP_MAX_N * VP_MAX_N], end[4 * VP_MAX_N], weight[VP_MAX_N], half[2 * VP_MAX_N * VP_MAX_N];
} VpMetricBasis;
void VpMetricBasisFill(const VpBasis *gauss, VpMetricBasis *);
