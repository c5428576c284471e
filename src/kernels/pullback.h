/* The making of a metric's numbers (VpMetricView): the data that the kernels see, and the formulas at a point, which host and device share.

   J [i][j] = dX_i / dxi_j is the derivative of a cell's map at a point, A = det J times its inverse, and K the coefficient there: a number,
   the diagonal of a matrix, or a symmetric matrix (`given` numbers, as VpMetricEntry() says). G = A K A^T / |det J|. */
#pragma once
#include "formulas.h"
#include <float.h>

/* A tensor grid of points in [0,1], x fastest: count[d] of them at x[d], 1 beyond dim; and the matrices [count][degree+1] from nodes of a
   map of this degree to the values and the derivatives there. The same grid serves many cells. */
typedef struct {
  int    count[3], size; /* size: of all points */
  double x[3][VP_MAX_NQ], value[3][VP_MAX_NQ * VP_MAX_N], slope[3][VP_MAX_NQ * VP_MAX_N];
} VpMapGrid;

/* where cells are: the nodes of their maps [cells][(degree+1)^dim][dim], x fastest; NULL: those that the formula makes of the nodes of
   their boxes, or without one cells are boxes */
typedef struct {
  int           degree;
  const double *node;
  const double *bounds; /* [cells][lower corner, size][3] of their boxes */
  VpFormula     formula;
  double        number[VP_FORMULA_NUMBERS], point[VP_MAX_N]; /* of the formula; [degree+1] the Gauss-Lobatto points */
} VpCellMaps;
VP_SIZE int VpAreMapped(const VpCellMaps *maps)
{
  return maps->node || maps->formula;
}
/* X = node i of a cell, where maps have a formula */
VP_POINT void VpFormulaNode(int dim, const VpCellMaps *maps, int32_t cell, int i, double X[])
{
  const int     n = maps->degree + 1, at[3] = {i % n, i / n % n, i / (n * n)};
  const double *lower = maps->bounds + 6 * (size_t)cell, *size = lower + 3;
  double        x[3] = {0};

  for (int d = 0; d < dim; d++) x[d] = lower[d] + size[d] * maps->point[at[d]];
  VpFormulaPoint(maps->formula, dim, maps->number, x, X);
}

/* what is known of a cell's points */
typedef struct {
  double mean[6];        /* sums of w G over the points, with their weights w: [components] */
  double least, most;    /* of the eigenvalues of D^-1/2 G D^-1/2, where D is the diagonal of these sums */
  double variation;      /* largest quotient of G_dd at two points */
  double change;         /* the same of the numbers on the diagonal of K */
  double mass, volume;   /* sums of w c |det J|, w |det J| */
  double share;          /* sum of w/sqrt(a), after scale() */
  double jump;           /* largest quotient of the weights of the two cells of a side, after weigh() */
  int    sign, definite; /* of det J at all points, those of the sides included, 0: not of one sign; whether K is positive definite there */
} VpMadeCell;

/* All arrays are on the backend. Cells are [0, ncell), and beyond their sides there are cells [0, nface). */
typedef struct {
  int              dim, n, given, components; /* components: of G */
  int              flat;                      /* K is the same in all of a cell. */
  int              nodal;                     /* as in VpProblem */
  VpPrecision      precision;                 /* in which H will be stored */
  int32_t          ncell;
  VpCellMaps       maps;
  const VpMapGrid *at;       /* [1 + 2 dim] points of cells, then of their sides */
  const double    *weight;   /* [n^dim] of a cell's points */
  const double    *cell;     /* K [ncell][n^dim][given], if flat [ncell][given] */
  const double    *side;     /* K [ncell][2 dim][n^(dim-1)][given] on sides, if flat NULL */
  const double    *reaction; /* c [ncell][n^dim], or NULL: `constant` */
  double           constant;
  const int32_t   *neighbor;  /* [ncell][2 dim] as in VpView */
  const uint8_t   *turn;      /* as in VpView */
  const double    *condition; /* [entries of the domain's boundary][2]: twice the mean, twice penalty - mean, of the side's condition */
  const double    *penalty;   /* [nface] as VpMetricView.penalty */
  double          *G, *H;     /* [ncell][components][n^dim]; [ncell][2 dim][VpMetricRows][n^(dim-1)] */
  double          *seen;      /* [nface][2 dim][G_dd, G_dd |det J|][n^(dim-1)] */
  double          *root;      /* [ncell][n^dim], or NULL: cells are boxes */
  double          *mass;      /* [ncell][n^dim] c |det J|, or NULL: there is no reaction */
  double          *beyond;    /* [ncell][2 dim][n^(dim-1)] */
  VpMadeCell      *made;      /* [ncell] */
} VpMaking;

/* `count` numbers that are `stride` apart, in `from`, of each of n pieces; relative: divided by the first one */
typedef struct {
  const double *from;
  size_t        n, stride, count;
  int           relative;
} VpNumbers;

/* what may be so in all cells: G and the ratios of H are those of one matrix; G, H, `root` are the same at all points */
enum { VP_AFFINE = 1, VP_SAME_G = 2, VP_SAME_H = 4, VP_SAME_ROOT = 8, VP_ALL_SAME = 15 };

/* offset of a side's numbers in an array [cells][2 dim][each] */
VP_SIZE size_t VpSideAt(int dim, int32_t cell, int side, int each)
{
  return ((size_t)cell * 2 * (size_t)dim + (size_t)side) * (size_t)each;
}
VP_SIZE const double *VpMakingK(const VpMaking *m, int32_t cell, int side, int q)
{
  const int size = VpFaceSize(m->n, m->dim);

  if (m->flat) return m->cell + (size_t)cell * (size_t)m->given;
  return side < 0 ? m->cell + ((size_t)cell * (size_t)(size * m->n) + (size_t)q) * (size_t)m->given
                  : m->side + (VpSideAt(m->dim, cell, side, size) + (size_t)q) * (size_t)m->given;
}

/* number i of K is on its diagonal */
VP_SIZE int VpDiagonalOfK(int dim, int given, int d)
{
  return given > dim ? VpMetricEntry(dim, given, d, d) : given > 1 ? d : 0;
}
/* Sets A, and returns det J. */
VP_POINT double VpAdjugate(int dim, const double J[], double A[])
{
  double det = 0;

  for (int i = 0; i < dim; i++) {
    for (int j = 0; j < dim; j++) {
      const int a = (j + 1) % 3 * 3, b = (j + 2) % 3 * 3, c = (i + 1) % 3, d = (i + 2) % 3;

      A[i * dim + j] = dim == 3 ? J[(a + c) % 9] * J[(b + d) % 9] - J[(a + d) % 9] * J[(b + c) % 9] : i == j ? J[3 - 3 * i] : -J[i * 2 + j];
    }
  }
  for (int j = 0; j < dim; j++) det += J[j] * A[j * dim];
  return det;
}

/* the sign of det J; 0 where it is so small beside the columns of J that it may be an error of rounding, or is not finite */
VP_POINT int VpSignOf(int dim, const double J[], double det)
{
  double bound = 1e-13;

  for (int j = 0; j < dim; j++) {
    double square = 0;

    for (int i = 0; i < dim; i++) square += J[i * dim + j] * J[i * dim + j];
    bound *= sqrt(square);
  }
  return (det > bound && det <= DBL_MAX) - (-det > bound && -det <= DBL_MAX);
}

/* AK [k] = row d of A times K */
VP_POINT void VpRowTimesK(int dim, const double A[], int given, const double K[], int d, double AK[])
{
  for (int k = 0; k < dim; k++) {
    if (given <= dim) AK[k] = A[d * dim + k] * K[given > 1 ? k : 0];
    else {
      AK[k] = A[d * dim] * K[VpMetricEntry(dim, given, 0, k)];
      for (int l = 1; l < dim; l++) AK[k] += A[d * dim + l] * K[VpMetricEntry(dim, given, l, k)];
    }
  }
}
VP_POINT double VpEntryOfG(int dim, const double A[], const double AK[], int e, double det)
{
  double sum = AK[0] * A[e * dim] + AK[1] * A[e * dim + 1];

  if (dim == 3) sum += AK[2] * A[e * dim + 2];
  return sum / (fabs(det) > DBL_MIN ? fabs(det) : DBL_MIN);
}

/* whether K is finite and positive definite: its leading minors are positive */
VP_POINT int VpKIsDefinite(int dim, int given, const double K[])
{
  double two, three;

  if (given <= dim) {
    int good = 1;

    for (int d = 0; d < given; d++) good &= K[d] > 0 && K[d] <= DBL_MAX;
    return good;
  }
  if (dim == 2) {
    two = K[0] * K[2] - K[1] * K[1];
    return K[0] > 0 && two > 0 && K[0] + two <= DBL_MAX;
  }
  two = K[0] * K[3] - K[1] * K[1];
  three = K[0] * (K[3] * K[5] - K[4] * K[4]) - K[1] * (K[1] * K[5] - K[4] * K[2]) + K[2] * (K[1] * K[4] - K[3] * K[2]);
  return K[0] > 0 && two > 0 && three > 0 && K[0] + two <= DBL_MAX;
}

enum { VP_ROTATIONS = 3 }; /* sweeps of rotations of a matrix of three directions, which converge quadratically */
/* Rotates two directions p and q so that entry (p, q) of a matrix becomes 0. *pr, *qr: its entries towards a third direction */
VP_POINT void VpRotate(double *pp, double *qq, double *pq, double *pr, double *qr)
{
  const double off = *pq, half = (*qq - *pp) / 2 + DBL_MIN;
  const double t = off / (half + copysign(sqrt(half * half + off * off), half)), c = 1 / sqrt(1 + t * t), s = t * c, a = *pr, b = *qr;

  *pp -= t * off;
  *qq += t * off;
  *pq = 0;
  *pr = c * a - s * b;
  *qr = s * a + c * b;
}

/* Widens extremes to the least and the largest eigenvalue of D^-1/2 G D^-1/2, where numbers of G are `stride` apart. */
VP_POINT void VpPointExtremes(int dim, int components, const double G[], int stride, const double D[], double extremes[2])
{
  double S[6], none[2] = {0, 0};

  VP_UNROLL (int d = 0; d < dim; d++) {
    VP_UNROLL (int e = d; e < dim; e++)
      S[VpMetricEntry(dim, 6, d, e)] =
        e == d || components > dim ? G[VpMetricEntry(dim, components, d, e) * stride] * (1 / sqrt(D[d] * D[e])) : 0.;
  }
  for (int i = 0; components > dim && i < (dim == 3 ? VP_ROTATIONS : 1); i++) {
    VP_UNROLL (int p = 0; p < dim - 1; p++) {
      VP_UNROLL (int q = p + 1; q < dim; q++) {
        const int r = dim == 3 ? dim - p - q : 0;

        VpRotate(&S[VpMetricEntry(dim, 6, p, p)], &S[VpMetricEntry(dim, 6, q, q)], &S[VpMetricEntry(dim, 6, p, q)],
                 dim == 3 ? &S[VpMetricEntry(dim, 6, p, r)] : none, dim == 3 ? &S[VpMetricEntry(dim, 6, q, r)] : none + 1);
      }
    }
  }
  VP_UNROLL (int d = 0; d < dim; d++) {
    const double lambda = S[VpMetricEntry(dim, 6, d, d)];

    extremes[0] = lambda < extremes[0] ? lambda : extremes[0];
    extremes[1] = lambda > extremes[1] ? lambda : extremes[1];
  }
}

/* 2 w of the own cell and of the cell beyond at a point of a side, from P = G_dd |det J| of both. Both cells compute the same sum. The
   operator on continuous functions has 0. */
VP_POINT double VpOwnWeight(const VpMaking *m, double P, double there)
{
  return m->nodal ? 0. : 2 * there / (P + there);
}
/* the larger quotient of the weights of both; 1 where they are 0 */
VP_POINT double VpJumpOf(const VpMaking *m, double own, double other)
{
  return m->nodal ? 1. : fmax(own / other, other / own);
}

/* a number of H as it is stored */
VP_POINT double VpAsStored(VpPrecision precision, double H)
{
  return precision == VP_SINGLE ? (double)(float)H : H;
}

/* number of the direction of row r > 0 of H at a side with the normal d */
VP_SIZE int VpAlongSide(int d, int r)
{
  return r - 1 < d ? r - 1 : r;
}
/* H_r / H_dd of G = S on an upper side, where numbers of S are `stride` apart */
VP_POINT double VpRatioOfH(int dim, int components, const double S[], int stride, int d, int r)
{
  return S[stride * VpMetricEntry(dim, components, d, VpAlongSide(d, r))] / S[stride * VpMetricEntry(dim, components, d, d)];
}

/* ---- how few numbers store G and H: parallelepipeds, and a number as the coefficient on boxes, need one matrix a cell */
VP_POINT int VpDiffer(double rounding, double a, double b, double size)
{
  return !(fabs(a - b) <= rounding * size);
}
/* what is so of an entry of G at a point. first: the entry at the cell's first point; dd, ee: the diagonal at the point; ratio: of G_xx at
   the point to that at the first one */
VP_POINT int VpCompareG(double rounding, double entry, double first, double dd, double ee, double ratio)
{
  const double size = sqrt(dd * ee);

  return VP_ALL_SAME & ~(VpDiffer(rounding, entry, ratio * first, size) ? VP_AFFINE : 0) &
         ~(VpDiffer(rounding, entry, first, size) ? VP_SAME_G : 0);
}
/* what is so of H [rows][n^(dim-1)] at a point of a side. G: of the cell */
VP_POINT int VpCompareH(const VpMaking *m, double rounding, int side, int q, const double G[], const double H[])
{
  const int face = VpFaceSize(m->n, m->dim), size = face * m->n, d = side / 2;
  int       so = VP_ALL_SAME & ~(VpDiffer(rounding, H[q], H[0], H[0]) ? VP_SAME_H : 0);

  for (int r = 1; r < VpMetricRows(m->dim, m->components); r++) {
    const int    e = VpAlongSide(d, r);
    const double scale = sqrt(G[VpMetricEntry(m->dim, m->components, e, e) * size] / G[VpMetricEntry(m->dim, m->components, d, d) * size]);
    const double ratio = VpRatioOfH(m->dim, m->components, G, size, d, r);

    so &= ~(VpDiffer(rounding, H[r * face + q], (side % 2 ? H[q] : -H[q]) * ratio, H[q] * scale) ? VP_AFFINE : 0);
  }
  return so;
}
/* number i of VpMetricView.affine of a cell with these G */
VP_POINT double VpAffineNumber(const VpMaking *m, const double G[], int i)
{
  const int size = VpFaceSize(m->n, m->dim) * m->n, tangents = VpMetricRows(m->dim, m->components) - 1, j = i - m->components;

  return j < 0 ? G[i * size] : VpRatioOfH(m->dim, m->components, G, size, j / tangents, 1 + j % tangents);
}

/* ---- what functions of points need of the map at a point. Each is NULL where it is not wanted. */
typedef struct {
  double *point, *normal, *measure, *chain; /* as in VpPlaces */
} VpPlaceNumbers;
/* the inverse of J in place of A */
VP_POINT double VpInverseOf(int dim, const double J[], double inverse[])
{
  const double det = VpAdjugate(dim, J, inverse);

  for (int i = 0; i < dim * dim; i++) inverse[i] /= det;
  return det;
}
/* In a cell the derivative along the box's direction j is that of xi_j by h_j. */
VP_POINT void VpMapInCell(int dim, const double size[], const double J[], const VpPlaceNumbers *to)
{
  double       inverse[9], volume = 1;
  const double det = VpInverseOf(dim, J, inverse);

  for (int j = 0; j < dim; j++) {
    volume *= size[j];
    for (int r = 0; r < dim && to->chain; r++) to->chain[r * dim + j] = inverse[j * dim + r] * size[j];
  }
  if (to->measure) *to->measure = fabs(det) / volume;
}
/* On a side J^-T e_d points along the normal, and its length times |det J| is the area element. The derivative along d is the outward
   one. */
VP_POINT void VpMapOnSide(int dim, int side, const double size[], const double J[], const VpPlaceNumbers *to)
{
  const int    d = side / 2, sign = side % 2 ? 1 : -1;
  double       inverse[9], normal[3], length = 0, area = 1;
  const double det = VpInverseOf(dim, J, inverse);

  for (int r = 0; r < dim; r++) length += inverse[d * dim + r] * inverse[d * dim + r];
  length = sqrt(length);
  for (int r = 0; r < dim; r++) normal[r] = sign * inverse[d * dim + r] / length;
  for (int j = 0; j < dim; j++) {
    double sum = 0;

    area *= j == d ? 1 : size[j];
    for (int r = 0; r < dim; r++) sum += inverse[j * dim + r] * normal[r] * size[j] * (j == d ? sign : 1);
    if (to->chain) to->chain[j] = sum;
    if (to->normal) to->normal[j] = normal[j];
  }
  if (to->measure) *to->measure = fabs(det) * length / area;
}
/* the numbers of a point, the places' number i; rows: of `chain` */
VP_POINT VpPlaceNumbers VpNumbersAt(const VpPlaceNumbers *to, int dim, int rows, size_t i)
{
  VpPlaceNumbers at = {to->point ? to->point + i * (size_t)dim : NULL, to->normal ? to->normal + i * (size_t)dim : NULL,
                       to->measure ? to->measure + i : NULL, to->chain ? to->chain + i * (size_t)(rows * dim) : NULL};

  return at;
}
