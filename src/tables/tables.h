/* One-dimensional mathematics, done on the host at set-up in double or long double precision.

   Every vector of this library holds the coefficients of a function. Right-hand sides and residuals stand for their Riesz representers in
   L2: b is the function with (b, v) = rhs(v). So the operator is M^-1 A = sum_d D_d, where D_d acts along direction d only. Masses appear
   in inner products alone, and a change of basis is the same matrix for all vectors. Users' vectors are in the orthonormal basis. There M =
   I, so that A is symmetric and b_i = (f, phi_i).

   Basis functions on a cell of size h are phi_i(x) = phihat_i(x/h) / sqrt(h), with phihat_i on [0,1] and n = degree + 1. Matrices are
   row-major. */
#pragma once
#include <petscsys.h>
#include "turn.h"

#define VP_MAX_DEGREE 8
#define VP_MAX_N      (VP_MAX_DEGREE + 1)
#define VP_THIN_LEAST 4 /* the smallest n with a thin basis */
/* From this n on the cycle uses the thin basis. In 2D the rounding errors of n = 4 would cost iterations. */
#define VP_THIN_FROM(dim) ((dim) == 3 ? 4 : 5)

/* Orthonormal: functions are alternately even and odd, phihat_i(1-x) = (-1)^i phihat_i(x). From i = 4 on, value and slope vanish at both
   ends.

   Thin: functions 0 and 1 carry value and slope at 0, the last two functions carry those at 1, and all others have neither at either end.
   phihat_{n-1-i}(x) = phihat_i(1-x). Below n = VP_THIN_LEAST the orthonormal basis takes its place.

     function      0        1                  n-2      n-1
     at 0        V, Q       Q      -           -        -          V: has a value, Q: has a slope there
     at 1          -        -      -           Q        V, Q

   Functions 0 and 1 are orthonormal. Functions 2 to n - 3 are orthonormal, and orthogonal to functions 0, 1, n - 2 and n - 1.

   Gauss: phihat_i = l_i / sqrt(w_i), where l_i is 1 at the i-th of n Gauss points and 0 at the others, and w_i is that point's weight. This
   basis is orthonormal, too. phihat_{n-1-i}(x) = phihat_i(1-x). It is a basis of outer vectors alone.

   Nodes: phihat_i is 1 at the i-th of n nodes and 0 at the others, so coefficients are values there. Nodes are the Gauss-Lobatto points, or
   lie as symmetrically, the first one at 0. The basis is not orthogonal, and one of continuous functions alone.
   phihat_{n-1-i}(x) = phihat_i(1-x). */
typedef enum { VP_BASIS_ORTHONORMAL, VP_BASIS_THIN, VP_BASIS_GAUSS, VP_BASIS_NODES } VpBasisType;

/* The rule by which masses are found. Lobatto, with n points: all masses are exact but that of the Legendre polynomial of degree k = n - 1,
   which is 2 + 1/k. In its place stands the polynomial times VpBasis.top = (2 + 1/k)^(-1/2), whose mass is 1. So all formulas stay, if
   "orthonormal", M and Legendre coefficients are those of the rule. */
typedef enum { VP_QUADRATURE_GAUSS, VP_QUADRATURE_LOBATTO } VpQuadrature;

enum { VP_LOW_DEGREES = 3 };
typedef struct {
  VpBasisType  type;
  VpQuadrature quadrature;
  int          degree, n;
  double       top;                           /* factor of the Legendre polynomial of degree n - 1; 1 with Gauss's rule */
  int          nt, first[2];                  /* the traces at end s are made of coefficients [first[s], first[s]+nt) */
  double       legendre[VP_MAX_N * VP_MAX_N]; /* [i][m] Legendre coefficients of phihat_i */
  double       imass[VP_MAX_N * VP_MAX_N], stiff[VP_MAX_N * VP_MAX_N]; /* M^-1, and the integrals of phihat_i' phihat_j' */
  double       value[2][VP_MAX_N], slope[2][VP_MAX_N];                 /* phihat_i and its outward derivative at 0 and at 1 */
  double expand[2][2][VP_MAX_N]; /* [end][k] the coefficients of least norm whose value and slope at the end are 1 and 0 (k = 0), or 0 and 1
                                    (k = 1) */
  double low[2][VP_LOW_DEGREES]
            [VP_MAX_N];                   /* [0][m][i] what coefficient i of a residual adds to that of the Legendre polynomial of degree m,
                                              [1][m][i] what this polynomial adds to coefficient i of a function; 0 where m >= n */
  double      inner[VP_MAX_N * VP_MAX_N]; /* D of a line with h = a = 1 whose sides have no terms (VpLineBuild) */
  long double lift[2][2][VP_MAX_N];       /* [end][k][i], see VpBasisLift */
} VpBasis;
PetscErrorCode VpBasisCreate(VpBasisType, int degree, VpBasis *); /* with Gauss's rule */
PetscErrorCode VpBasisCreateFor(VpQuadrature, VpBasisType, int degree, VpBasis *);
PetscErrorCode VpBasisCreateNodes(VpQuadrature, int degree, const double x[], VpBasis *); /* nodes x [n], or NULL */
void           VpBasisEvaluate(const VpBasis *, double x, double phi[], double dphi[]);   /* phihat_i(x), phihat_i'(x); dphi may be NULL */
int            VpBasisMirror(const VpBasis *, int i, double *sign);                       /* j with phihat_j(1-x) = sign phihat_i(x) */
void           VpGauss(int nq, double x[], double w[]); /* Gauss points and weights on [0,1], nq <= 2 VP_MAX_N */
void           VpGaussLobatto(int degree, double x[]);  /* x [degree + 1]: Gauss-Lobatto points on [0,1], 1 <= degree <= VP_MAX_DEGREE */
/* the weight of point i among the n^dim points of a cell, x fastest, for weights w [n] of the points along a direction */
static inline double VpPointWeight(int dim, int n, const double w[], int i)
{
  return w[i % n] * w[i / n % n] * (dim == 3 ? w[i / n / n] : 1);
}
/* C [n][n] takes coefficients in `from` to coefficients in `to`. */
PetscErrorCode VpBasisChange(const VpBasis *from, const VpBasis *to, double C[]);

/* what coefficient first[end] + i adds to the value (k = 0) or the outward slope (k = 1) at an end; its number in `expand` */
static inline double VpBasisTrace(const VpBasis *b, int end, int k, int i)
{
  return (k ? b->slope : b->value)[end][b->first[end] + i];
}
static inline double VpBasisExpand(const VpBasis *b, int end, int k, int i)
{
  return b->expand[end][k][b->first[end] + i];
}
/* component i of M^-1 times the functional that takes the value (k = 0) or the outward slope (k = 1) at an end. The numbers of both ends
   mirror each other exactly. */
static inline long double VpBasisLift(const VpBasis *b, int end, int k, int i)
{
  return b->lift[end][k][i];
}

/* The key of a line: a cell along one direction, and what lies beyond its two sides. */
typedef struct {
  double h, a; /* size and coefficient of the cell */
  VpSide side[2];
  double h_beyond[2]; /* size of the cell beyond (VP_SIDE_INTERIOR, VP_SIDE_LEVEL_END), or alpha of a condition that has one */
  double a_beyond[2]; /* coefficient of the cell beyond */
  double reaction;    /* the part of the reaction that a level's line has, by which lines differ. Functions here do not read it. */
  double larger[2];   /* octaves by which the volume of the cell beyond, relative to its size, is larger than the cell's: 0 on boxes */
} VpLineKey;
/* Builds the operator D u + sum_s (g[s][0] V_s + g[s][1] Q_s) of a line.
   D [n][n] is the cell's diagonal block of M^-1 L, where L is the form of one direction, plus `reaction` times I. The caller has divided
   the reaction by dim. V_s and Q_s are the traces of the cell beyond side s in reference scaling, V = sum_i value[1-s][i] u_i and Q = sum_i
   slope[1-s][i] u_i, outward from that cell. g is [2 sides][2][n], and zero unless the side is VP_SIDE_INTERIOR. Forms, with k = degree, -
   the cell and + the cell beyond:

     interior     H (gamma [u][v] - {u'}[v] - [u]{v'})     H = 2 a- a+/(a- + a+), gamma = penalty k(k+1)(1/h- + 1/h+)
                  If a volume is r times as large, r a+ takes the place of a+, and r h+ that of h+ in gamma and u+'.
     condition    a (gamma u v - mean (u'v + u v'))         conditions.def
     level end    diagonal part of the interior form       gamma = penalty k(k+1)(1/(2h-) + 1/h+), as of the cell's parent */
void VpLineBuild(const VpBasis *, const VpLineKey *, double penalty, double reaction, double D[], double g[]);
/* B [2][2]: the boundary key->side[s] of a cell acts like an equal cell beyond whose traces are B times the cell's own traces (V, Q) on
   side s. So D of the cell's line is D of a line inside plus g[s] B [value, slope]. */
void VpLineBoundary(const VpLineKey *, int degree, int s, double penalty, double B[]);
/* Lifts as traces: M^-1 (V times a side's value + Q times its slope), as functionals, equals what an equal cell beyond adds whose traces
   are lift[0] Q and lift[1] V + lift[2] Q. */
void VpLineLift(const VpLineKey *, int degree, double penalty, double lift[3]);

/* Defines the harmonic mean, the coefficient of a face between two cells, for a type of numbers. It avoids the product a b, which may
   overflow or underflow. */
#define VP_HARMONIC_MEAN(function, Number) \
  function(Number a, Number b) \
  { \
    return 2 * a / (a + b) * b; \
  }
VP_HARMONIC_MEAN(static inline double VpHarmonicMean, double)

/* gamma h of a Dirichlet side */
double VpDirichletGamma(int degree, double penalty);

/* Diagonalises the cell's diagonal block without the reaction: D = B diag(lambda) F, F B = 1, all [n][n]; lambda [n]. table [VpBlockSize]:
   F, B, lambda */
void VpBlockBuild(const VpBasis *, const VpLineKey *, double penalty, double table[]);

/* number of a line's coefficients that make its traces, in the orthonormal basis and in the basis of the cycle's levels */
VP_SIZE int VpDenseLayers(int n)
{
  return n < 4 ? n : 4;
}
VP_SIZE int VpThinLayers(int n, int dim)
{
  return n < VP_THIN_FROM(dim) ? VpDenseLayers(n) : 2;
}
/* mirror and sign of VpBasisMirror for a basis whose traces have nt layers: phi_i(1-x) = sign phi_mirror(x) */
VP_SIZE int VpMirror(int n, int nt, int i)
{
  return nt < VpDenseLayers(n) ? n - 1 - i : i;
}
VP_SIZE int VpMirrorSign(int n, int nt, int i)
{
  return nt < VpDenseLayers(n) || i % 2 == 0 ? 1 : -1;
}
/* the number, among the values of a cell with a frame, of value i of n^dim along the frame's axes, and its sign there */
VP_SIZE int VpFrameValue(int dim, int n, int nt, int frame, int i, int *sign)
{
  int value = 0, stride = 1;

  *sign = 1;
  for (int d = 0; d < dim; d++, stride *= n) {
    const int axis = VpFrameAxis(frame, d), at = (axis == 0 ? i : axis == 1 ? i / n : i / (n * n)) % n;

    if (VpFrameFlips(frame, d)) *sign *= VpMirrorSign(n, nt, at);
    value += (VpFrameFlips(frame, d) ? VpMirror(n, nt, at) : at) * stride;
  }
  return value;
}
/* offset of a side's g in a line's table, which begins with D; size of the table [numbers] */
VP_SIZE int VpLineSide(int n, int side)
{
  return n * n + 2 * side * n;
}
VP_SIZE int VpLineSize(int n)
{
  return VpLineSide(n, 2);
}
/* offsets of B [m][m] and lambda [m] in a table that begins with F [m][m]; sizes of the tables [numbers] of a cell's diagonal block and of
   a patch's problem along one direction */
VP_SIZE int VpBackAt(int m)
{
  return m * m;
}
VP_SIZE int VpLambdaAt(int m)
{
  return 2 * m * m;
}
VP_SIZE int VpBlockSize(int n)
{
  return VpLambdaAt(n) + n;
}
VP_SIZE int VpFdmSize(int n)
{
  return VpBlockSize(2 * n);
}

/* The generalised eigenproblem of a patch along one direction, in which the patch has two cells: E^T L E s = lambda E^T M E s. The columns
   of E span the functions that the space keeps. At a side towards another cell the space lacks 0, 1 or 2 functions. */
typedef enum { VP_SPACE_FULL, VP_SPACE_DIRICHLET, VP_SPACE_CLAMPED } VpSpace;
#define VP_STEPS       32 /* steps per octave of coefficients, in VpFdmKey */
#define VP_RATIO_STEPS 8  /* ratios of coefficients per octave, where rounding limits the number of tables */
typedef struct {
  double h[2], h_beyond[2]; /* h_beyond: as in VpLineKey */
  VpSide side[2];           /* VP_SIDE_MIXED keeps all functions and takes the interior form; VP_SIDE_WRAP couples the two ends */
  double step;              /* The second cell's coefficient is 2^(step/VP_STEPS) times the first one's; the smaller of the two is 1. */
  double face[2];           /* The form of an interior side, or of one at the level's end, has 2^face times the coefficient of the patch's
                               cell there. */
  double skew;              /* The mass has the coefficients of the other directions, whose step is step + skew; 0 unless a is a tensor. */
  double larger;            /* As in VpLineKey, of the second cell. h_beyond of cells are multiplied by 2^larger already. */
} VpFdmKey;
/* Builds the table of a problem, [VpFdmSize]: F [2n][2n] takes a line of b to modes, B [2n][2n] takes modes to a line of x, and lambda
   [2n] are the eigenvalues. F = S^T E^T M1 and B = E S, where S^T E^T M E S = I, M and L contain the coefficients, and M1 is the mass
   without them. A mode that the space lacks has a zero row in F, a zero column in B, and lambda = infinity. If both ends are Neumann or
   wrap, constants have the eigenvalue 0 exactly.

   If the key is mirrored, modes 2j are even about the middle of the patch and modes 2j+1 are odd, both ascending. Then the tables are
   mirrored exactly: F[mode][n+i'] = +-sign F[mode][i], - for odd modes, with i' and sign of VpBasisMirror; B likewise. */
PetscBool VpFdmIsMirrored(const VpFdmKey *);
void      VpFdmBuild(const VpBasis *, const VpFdmKey *, VpSpace, double penalty, double table[]);

/* Sets the smallest of n eigenvalues, that of the constants in a semi-definite problem, to exactly 0. Rounding errors would hide it. */
void VpZeroLeast(int n, double lambda[]);

/* Diagonalises the symmetric A [r][stride] in place. The rows of Q [r][stride], N numbers each, take part in all rotations. If these rows
   are an orthonormal basis in which A is given, they become the eigenvectors. */
void VpJacobi(int r, int N, int stride, long double A[], long double Q[]);

/* Diagonalises a large symmetric A [n][n] in double precision. Its rows become the eigenvectors, with ascending eigenvalues. */
PetscErrorCode VpDiagonalize(int n, double A[], double lambda[]);

/* Builds the transfers along one direction between a cell and its two children c = 0, 1. P[c] [n][n] takes the cell's coefficients to the
   child's. R[c] [n][n] is the contribution of child c to the adjoint in L2, M_H^-1 P^T M_h. fraction: the first child's share of the cell's
   width. If children are halves, P[1] and R[1] mirror P[0] and R[0] exactly. */
void               VpTransferBuild(const VpBasis *, double fraction, double P[], double R[]);
static inline void VpTransferHalves(const VpBasis *basis, double P[], double R[])
{
  VpTransferBuild(basis, 0.5, P, R);
}
/* u = A u on lines of m <= 2 VP_MAX_N values, which are `stride` apart. u: [lines][m] numbers */
void VpLinesApply(int m, const double A[], int stride, int lines, double u[]);
/* u = (M_z x M_y x M_x) u, where M is P or R, and bit d of `child` selects M[0] or M[1] along direction d. With dim - 1 in place of dim it
   does the same on a side. */
void VpTransferApply(int dim, int n, const double M[], int child, double u[]);
