/* One-dimensional mathematics. It is done on the host, once per set-up, in double or long double precision.

   Every vector of this library holds the coefficients of a function: the unknown u_h, or the right-hand side and residuals through their
   Riesz representers in L2 (b stands for the function with (b, v) = rhs(v)). So the operator is M^-1 A = sum_d D_d with D_d acting
   along direction d only, masses appear nowhere, and a change of basis is the same matrix for all vectors. In the orthonormal basis,
   that of the vectors users see, M = I and nothing is changed: A is symmetric, b_i = (f, phi_i).

   Basis functions on a cell of size h are phi_i(x) = phihat_i(x/h) / sqrt(h), phihat_i on [0,1]. n = degree + 1. Matrices row-major. */
#pragma once
#include <petscsys.h>
#include "side.h"

#define VP_MAX_DEGREE 8
#define VP_MAX_N      (VP_MAX_DEGREE + 1)
#define VP_THIN_LEAST 4 /* the smallest n with a thin basis */
/* From this n on a cycle takes the thin basis. At n = 4 its mass, of condition 13, doubles the rounding errors, which costs iterations in
   2D. */
#define VP_THIN_FROM(dim) ((dim) == 3 ? 4 : 5)

/* Orthonormal: functions are even and odd in turn, phihat_i(1-x) = (-1)^i phihat_i(x). Value and slope vanish at both ends from i = 4 on.

   Thin, from n = VP_THIN_LEAST on (below, the orthonormal one): functions 0 and 1 carry value and slope at 0, the last two those at 1,
   and all others have neither at either end. phihat_{n-1-i}(x) = phihat_i(1-x).

     function      0        1                  n-2      n-1
     at 0        V, Q       Q      -           -        -          V: has a value, Q: has a slope there
     at 1          -        -      -           Q        V, Q

   Functions 0 and 1 are orthonormal, and so are functions 2 to n - 3, which are orthogonal to these two and to the last two. */
typedef enum { VP_BASIS_ORTHONORMAL, VP_BASIS_THIN } VpBasisType;

typedef struct {
  VpBasisType type;
  int         degree, n;
  int         nt, first[2];                  /* the traces at end s are made of coefficients [first[s], first[s]+nt) */
  double      legendre[VP_MAX_N * VP_MAX_N]; /* [i][m] phihat_i in the orthonormal Legendre polynomials of [0,1] */
  double      mass[VP_MAX_N * VP_MAX_N], imass[VP_MAX_N * VP_MAX_N], stiff[VP_MAX_N * VP_MAX_N];
  double      value[2][VP_MAX_N], slope[2][VP_MAX_N]; /* phihat_i and its outward derivative at 0 and at 1 */
  double expand[2][2][VP_MAX_N]; /* [end][k] the coefficients of least norm with value 1 and slope 0 there (k = 0), or value 0 and slope 1
                                    (k = 1) */
} VpBasis;
PetscErrorCode VpBasisCreate(VpBasisType, int degree, VpBasis *);
void           VpBasisEvaluate(const VpBasis *, double x, double phi[], double dphi[]); /* phihat_i(x), phihat_i'(x); dphi may be NULL */
int            VpBasisMirror(const VpBasis *, int i, double *sign);                     /* j with phihat_j(1-x) = sign phihat_i(x) */
void           VpGauss(int nq, double x[], double w[]); /* Gauss points and weights on [0,1], nq <= 2 VP_MAX_N */
PetscErrorCode VpBasisChange(const VpBasis *from, const VpBasis *to,
                             double C[]); /* [n][n]: coefficients in `to` = C coefficients in `from` */

/* of the coefficient first[end] + i: what it has of the value (k = 0) or outward slope (k = 1) at an end; `expand` */
static inline double VpBasisTrace(const VpBasis *b, int end, int k, int i)
{
  return (k ? b->slope : b->value)[end][b->first[end] + i];
}
static inline double VpBasisExpand(const VpBasis *b, int end, int k, int i)
{
  return b->expand[end][k][b->first[end] + i];
}
/* of the function i: what M^-1 of the value (k = 0) or the outward slope (k = 1) at an end has of it; ends are mirror images to the last
   bit */
long double VpBasisLift(const VpBasis *, int end, int k, int i);

/* The operator of a cell along one direction depends on the cell and on what lies beyond its two sides. */
typedef struct {
  double h, a; /* the cell's size and coefficient */
  VpSide side[2];
  double h_beyond[2],
    a_beyond
      [2]; /* of the cells beyond, where the side is VP_SIDE_INTERIOR or VP_SIDE_EDGE; h_beyond is alpha of a condition that has one */
} VpLineKey;
/* The operator is D u + sum_s (g[s][0] V_s + g[s][1] Q_s). D [n][n] is the cell's own part of M^-1 L, L being the form of one direction,
   plus reaction times I; `reaction` is divided by dim already. V_s and Q_s are the traces of the cell beyond side s in reference scaling,
   V = sum_i value[1-s][i] u_i and Q = sum_i slope[1-s][i] u_i, outward from that cell. g is [2 sides][2][n], zero where the side is not
   VP_SIDE_INTERIOR. Interior penalty: H (gamma [u][v] - {u'}[v] - [u]{v'}), gamma = penalty k(k+1)(1/h- + 1/h+), H = 2 a- a+/(a- + a+);
   Conditions: conditions.def. Edge: the own part of the interior form, with the
   penalty of the cell's parent, gamma = penalty k(k+1)(1/(2h) + 1/h+). */
void VpLineBuild(const VpBasis *, const VpLineKey *, double penalty, double reaction, double D[], double g[]);
/* The boundary on side s of a cell in a line of equal ones, key->side[s], acts like a cell beyond whose traces are B times the cell's own
   traces (V, Q) on that side, B [2][2]. So D of the cell's line is D of a line inside plus g[s] B [value, slope]. */
void VpLineBoundary(const VpLineKey *, int degree, int s, double penalty, double B[]);
/* In a line of equal cells, M^-1 of V times a side's value and Q times its slope acts like a cell beyond whose traces are lift[0] Q and
   lift[1] V + lift[2] Q. */
void VpLineLift(const VpLineKey *, int degree, double penalty, double lift[3]);

/* Defines a function on numbers of some kind: the coefficient of a face between two cells. It avoids a b, which may overflow or
   underflow. */
#define VP_HARMONIC_MEAN(function, Number) \
  function(Number a, Number b) \
  { \
    return 2 * a / (a + b) * b; \
  }
VP_HARMONIC_MEAN(static inline double VpHarmonicMean, double)

/* gamma h of a Dirichlet side */
double VpDirichletGamma(int degree, double penalty);

/* The cell's own part diagonalised, without the reaction: D = B diag(lambda) F, F B = 1, all [n][n]; lambda [n]. */
void VpBlockBuild(const VpBasis *, const VpLineKey *, double penalty, double F[], double B[], double lambda[]);

/* Sizes and signs that kernels need. */
/* how many coefficients of a line make its traces: in the orthonormal basis, and in the basis of a cycle's level, which is thin from
   n = VP_THIN_FROM(dim) on */
VP_SIZE int VpDenseLayers(int n)
{
  return n < 4 ? n : 4;
}
VP_SIZE int VpThinLayers(int n, int dim)
{
  return n < VP_THIN_FROM(dim) ? VpDenseLayers(n) : 2;
}
/* What VpBasisMirror says of a basis whose traces have nt layers: phi_i(1-x) = (sign) phi_(mirror)(x). */
VP_SIZE int VpMirror(int n, int nt, int i)
{
  return nt < VpDenseLayers(n) ? n - 1 - i : i;
}
VP_SIZE int VpMirrorSign(int n, int nt, int i)
{
  return nt < VpDenseLayers(n) || i % 2 == 0 ? 1 : -1;
}
/* where g of a side begins in a line, D being before; numbers of a line */
VP_SIZE int VpLineSide(int n, int side)
{
  return n * n + 2 * side * n;
}
VP_SIZE int VpLineSize(int n)
{
  return VpLineSide(n, 2);
}
/* where B [m][m] and lambda [m] begin, F [m][m] being before; numbers of a cell's own block along one direction, and of a patch's
   problem */
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

/* The generalised eigenproblem of one direction of a patch: two cells, E^T L E s = lambda E^T M E s on the functions the space keeps.
   At a side towards another cell it lacks 0, 1 or 2 of them. */
typedef enum { VP_SPACE_FULL, VP_SPACE_DIRICHLET, VP_SPACE_CLAMPED } VpSpace;
#define VP_STEPS       32 /* of an octave, in VpFdmKey */
#define VP_RATIO_STEPS 8  /* an octave has so many ratios of coefficients, where many different tables cost much */
typedef struct {
  double h[2], h_beyond[2]; /* h_beyond as in a line's key */
  VpSide side[2];           /* MIXED keeps all functions and takes the interior form; WRAP couples the two ends */
  double step;              /* The second cell's coefficient is 2^(step/VP_STEPS) times the first one's; the smaller of the two is 1. */
  double face[2];           /* The form of an interior side, and of one at an edge, has 2^face times the coefficient of the cell there. */
  double skew;              /* The mass has the coefficient of the other directions, with step + skew; 0 unless a is a tensor. */
} VpFdmKey;
/* The tables of a problem: F [2n][2n] takes a line of b to modes, B [2n][2n] takes modes to a line of x, lambda [2n] are the eigenvalues.
   With S scaled to S^T E^T M E S = I, where M and L carry the coefficients, F = S^T E^T M1, M1 the mass without coefficients, and B = E S.
   A mode that the space lacks has a zero row in F, a zero column in B and lambda = infinity. Where both ends are Neumann or wrap, constants
   have the eigenvalue 0 exactly.

   Of a key that is mirrored, modes 2j are even about the middle of the patch and modes 2j+1 are odd, both ascending. Its tables are
   mirrored to the last bit: F[mode][n+i'] = +-sign F[mode][i], - for odd modes, with i' and sign of VpBasisMirror; B likewise. */
PetscBool VpFdmIsMirrored(const VpFdmKey *);
void      VpFdmBuild(const VpBasis *, const VpFdmKey *, VpSpace, double penalty, double F[], double B[], double lambda[]);

/* Sets the least of the n eigenvalues of a semi-definite problem, that of the constants, to exactly 0, which rounding would hide. */
void VpZeroLeast(int n, double lambda[]);

/* Diagonalises the symmetric A [r][stride] in place. The rows of Q [r][stride], N numbers each, take part in all rotations: where they were
   an orthonormal basis in which A is given, they become the eigenvectors. */
void VpJacobi(int r, int N, int stride, long double A[], long double Q[]);

/* The same for a large symmetric A [n][n], which is overwritten, in double precision. The rows of Q [n][n] become its eigenvectors. room is
   [3 n]. */
void VpDiagonalize(int n, double A[], double Q[], double lambda[], double room[]);

/* Between a cell and its two children, c = 0, 1, along one direction: P[c] [n][n] takes the cell's coefficients to the child's, R[c] [n][n]
   is the part of child c in the adjoint in L2, M_H^-1 P^T M_h. The first child is `part` of the cell. Of halves, P[1] and R[1] are the
   mirror images of P[0] and R[0] to the last bit. */
void               VpTransferBuild(const VpBasis *, double part, double P[], double R[]);
static inline void VpTransferHalves(const VpBasis *basis, double P[], double R[])
{
  VpTransferBuild(basis, 0.5, P, R);
}
/* u = (M_z x M_y x M_x) u, with M[0] or M[1] along direction d as bit d of `child` says, M being P or R. In one direction fewer it does the
   same on a side. */
void VpTransferApply(int dim, int n, const double M[], int child, double u[]);
