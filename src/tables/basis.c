/* Builds the bases. Row i of C holds the Legendre coefficients of phihat_i. */
#include "legendre.h"
#include "../compat.h"
#include <string.h>
#include <float.h>

#define N VP_MAX_N

int VpBasisMirror(const VpBasis *b, int i, double *sign)
{
  *sign = 1;
  if (b->type == VP_BASIS_GAUSS || b->type == VP_BASIS_NODES) return b->n - 1 - i;
  *sign = VpMirrorSign(b->n, b->nt, i);
  return VpMirror(b->n, b->nt, i);
}

void VpTidy(const VpBasis *b, int rows, int columns, const Real A[], double out[])
{
  Real   top = 0;
  double si, sj;

  for (int i = 0; i < rows * columns; i++) top = fmaxl(top, fabsl(A[i]));
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < columns; j++) {
      Real a = A[i * columns + j];

      if (b) {
        int mi = VpBasisMirror(b, i, &si), mj = VpBasisMirror(b, j, &sj);
        a = (a + si * sj * A[mi * columns + mj]) / 2;
      }
      out[i * columns + j] = fabsl(a) > 64 * DBL_EPSILON * top ? (double)a : 0.;
    }
  }
}

void VpBasisMatrix(const VpBasis *from, const VpBasis *to, const Real T[], double A[])
{
  int  n = to->n;
  Real X[N * N] = {0}, Y[N * N] = {0}, Z[N * N] = {0};

  for (int m = 0; m < n; m++)
    for (int l = 0; l < n; l++)
      for (int j = 0; j < n; j++) X[m * n + j] += T[m * n + l] * from->legendre[j * n + l];
  for (int i = 0; i < n; i++)
    for (int m = 0; m < n; m++)
      for (int j = 0; j < n; j++) Y[i * n + j] += to->legendre[i * n + m] * X[m * n + j];
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) Z[i * n + j] += to->imass[i * n + k] * Y[k * n + j];
  VpTidy(NULL, n, n, Z, A);
}

static Real LiftTrace(const VpBasis *b, int end, int k, int i)
{
  const double *phi = (k ? b->slope : b->value)[1];
  double        sign;
  const int     mirror = VpBasisMirror(b, i, &sign), at = end ? i : mirror;
  Real          sum = 0;

  for (int j = 0; j < b->n; j++) sum += (Real)b->imass[at * b->n + j] * phi[j];
  return end ? sum : sign * sum;
}

/* Tabulates what lines have in common. */
static void TabulateLines(VpBasis *b)
{
  const int n = b->n;
  Real      T[N * N];

  for (int i = 0; i < n * n; i++) T[i] = RuleStiff(b, i / n, i % n);
  VpBasisMatrix(b, b, T, b->inner);
  for (int i = 0; i < n * n; i++) T[i] = b->inner[i];
  VpTidy(b, n, n, T, b->inner);
  for (int i = 0; i < 4 * n; i++) b->lift[i / n / 2][i / n % 2][i % n] = LiftTrace(b, i / n / 2, i / n % 2, i % n);
}

static Real InnerProduct(int n, const Real x[], const Real y[])
{
  Real sum = 0;

  for (int m = 0; m < n; m++) sum += x[m] * y[m];
  return sum;
}

static void NormalizeVector(int n, Real x[])
{
  Real norm = sqrtl(InnerProduct(n, x, x));

  for (int m = 0; m < n; m++) x[m] /= norm;
}

/* Builds C of the orthonormal basis by Gram-Schmidt. Functions 0 to 3 come from the Riesz representers of value and slope at 1, parity by
   parity. Function i >= 4 comes from the combination of p_{i-4}, p_{i-2} and p_i whose value and slope at 1 vanish. This order leaves
   functions 2 and 3, which have slopes, without values. */
static void BuildOrthonormalBasis(const VpBasis *b, Real C[N][N])
{
  const int n = b->n;

  for (int i = 0; i < n && i < 4; i++)
    for (int m = i % 2; m < n; m += 2) C[i][m] = i < 2 ? RuleValue(b, m, 1) : RuleSlope(b, m, 1);
  for (int i = 4; i < n; i++) {
    for (int j = 0; j < 3; j++) {
      int m = i - 4 + 2 * j, next = i - 4 + 2 * ((j + 1) % 3), last = i - 4 + 2 * ((j + 2) % 3);
      C[i][m] = (Real)(last * (last + 1) - next * (next + 1)) / RuleValue(b, m, 1);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int pass = 0; pass < 2; pass++) {
      for (int j = 0; j < i; j++) {
        Real dot = InnerProduct(n, C[i], C[j]);
        for (int m = 0; m < n; m++) C[i][m] -= dot * C[j][m];
      }
    }
    NormalizeVector(n, C[i]);
  }
}

/* Builds C of the thin basis from the orthonormal basis O, whose functions have values V and slopes S at 1, with V[2] = V[3] = 0. Functions
   0 and 1 span the combinations of O's first four functions that have neither value nor slope at 1. Any other function of the first half is
   the sum of an even and an odd function of O. The second half mirrors the first. */
static void BuildThinBasis(const VpBasis *b, Real O[N][N], Real C[N][N])
{
  const int n = b->n;
  Real      V[4] = {0}, S[4] = {0}, a[2][4], t;

  for (int i = 0; i < 4; i++) {
    for (int m = 0; m < n; m++) S[i] += O[i][m] * RuleSlope(b, m, 1);
    for (int m = 0; m < n && i < 2; m++) V[i] += O[i][m] * RuleValue(b, m, 1);
  }
  t = (S[1] * V[0] - S[0] * V[1]) / (S[2] * S[2] + S[3] * S[3]);
  a[0][0] = V[1], a[0][1] = -V[0], a[0][2] = t * S[2], a[0][3] = t * S[3];
  a[1][0] = 0, a[1][1] = 0, a[1][2] = S[3], a[1][3] = -S[2];
  for (int i = 0; i < 2; i++) {
    NormalizeVector(4, a[i]);
    for (int j = 0; j < 4; j++)
      for (int m = 0; m < n; m++) C[i][m] += a[i][j] * O[j][m];
  }
  for (int i = 2; i < n / 2; i++)
    for (int m = 0; m < n; m++) C[i][m] = (O[2 * i][m] + O[2 * i + 1][m]) / sqrtl(2);
  for (int i = 0; i < n / 2; i++)
    for (int m = 0; m < n; m++) C[n - 1 - i][m] = LegendreSign(m) * C[i][m];
  if (n % 2) memcpy(C[n / 2], O[n - 1], sizeof(C[0]));
}

/* Builds C of the Gauss basis. Gauss's rule integrates l_i times a Legendre polynomial exactly: the integral is w_i p_m(x_i). */
static void BuildGaussBasis(int n, Real C[N][N])
{
  double x[N], w[N];
  Real   p[N];

  VpGauss(n, x, w);
  for (int i = 0; i < n; i++) {
    LegendreEvaluate(n, x[i], p, NULL);
    for (int m = 0; m < n; m++) C[i][m] = sqrtl(w[i]) * p[m];
  }
}

/* Inverts the symmetric positive definite A [n][n] in place. */
static void InvertMatrix(int n, Real A[])
{
  for (int k = 0; k < n; k++) {
    Real pivot = A[k * n + k];

    A[k * n + k] = 1;
    for (int j = 0; j < n; j++) A[k * n + j] /= pivot;
    for (int i = 0; i < n; i++) {
      Real factor = A[i * n + k];

      if (i == k) continue;
      A[i * n + k] = 0;
      for (int j = 0; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
    }
  }
}

/* Builds C of the basis of nodes x. With V[i][m] = p_m(x_i), C V^T = I, hence C = (V V^T)^-1 V. */
static void BuildNodesBasis(const VpBasis *b, const double x[], Real C[N][N])
{
  const int n = b->n;
  Real      V[N][N], gram[N * N];

  for (int i = 0; i < n; i++) LegendreEvaluate(n, x[i], V[i], NULL);
  for (int i = 0; i < n * n; i++) gram[i] = InnerProduct(n, V[i / n], V[i % n]);
  InvertMatrix(n, gram);
  for (int i = 0; i < n; i++) {
    for (int m = 0; m < n; m++) {
      for (int j = 0; j < n; j++) C[i][m] += gram[i * n + j] * V[j][m];
      C[i][m] /= LegendreFactor(b, m);
    }
  }
}

static void ComputeIntegrals(VpBasis *b, Real C[N][N])
{
  int  n = b->n;
  Real mass[N * N] = {0}, stiff[N * N] = {0};

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      mass[i * n + j] = InnerProduct(n, C[i], C[j]);
      for (int l = 0; l < n; l++)
        for (int m = 0; m < n; m++) stiff[i * n + j] += C[i][l] * RuleStiff(b, l, m) * C[j][m];
    }
  }
  VpTidy(b, n, n, stiff, b->stiff);
  InvertMatrix(n, mass);
  VpTidy(b, n, n, mass, b->imass);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      b->stiff[i * n + j] = b->stiff[j * n + i];
      b->imass[i * n + j] = b->imass[j * n + i];
    }
}

/* upper [n] = row, numbers at the upper end; lower [n] = their mirror image */
static void StoreBothEnds(const VpBasis *b, const Real row[], double lower[], double upper[])
{
  double sign;

  VpTidy(NULL, 1, b->n, row, upper);
  for (int i = 0; i < b->n; i++) {
    int j = VpBasisMirror(b, i, &sign);

    lower[j] = 0. + sign * upper[i]; /* avoids negative zeros */
  }
}

/* Tabulates value and slope, the rows of T [2][n], and `expand`, the columns of T^t (T T^t)^-1. */
static void TabulateTraces(VpBasis *b, Real C[N][N])
{
  int  n = b->n;
  Real T[2][N] = {{0}}, E[2][N] = {{0}}, vv, vq, qq, det;

  for (int i = 0; i < n; i++)
    for (int m = 0; m < n; m++) {
      T[0][i] += C[i][m] * RuleValue(b, m, 1);
      T[1][i] += C[i][m] * RuleSlope(b, m, 1);
    }
  vv = InnerProduct(n, T[0], T[0]), vq = InnerProduct(n, T[0], T[1]), qq = InnerProduct(n, T[1], T[1]);
  det = vv * qq - vq * vq;
  for (int i = 0; i < n; i++) {
    E[0][i] = (qq * T[0][i] - vq * T[1][i]) / det;
    E[1][i] = (vv * T[1][i] - vq * T[0][i]) / det;
  }
  StoreBothEnds(b, T[0], b->value[0], b->value[1]);
  StoreBothEnds(b, T[1], b->slope[0], b->slope[1]);
  for (int k = 0; k < 2; k++) StoreBothEnds(b, E[k], b->expand[0][k], b->expand[1][k]);
}

static void TabulateLowDegrees(VpBasis *b)
{
  const int n = b->n;

  for (int m = 0; m < PetscMin(VP_LOW_DEGREES, n); m++) {
    for (int i = 0; i < n; i++) {
      const Real factor = LegendreFactor(b, m);

      b->low[0][m][i] = (double)(b->legendre[i * n + m] / factor);
      for (int j = 0; j < n; j++) b->low[1][m][i] += (double)(b->imass[i * n + j] * b->legendre[j * n + m] / factor);
    }
  }
}

/* nodes [n]: of VP_BASIS_NODES; NULL: the Gauss-Lobatto points */
static PetscErrorCode CreateBasis(VpQuadrature quadrature, VpBasisType type, int degree, const double nodes[], VpBasis *b)
{
  int  n = degree + 1;
  Real O[N][N] = {{0}}, T[N][N] = {{0}};
  Real(*C)[N] = O;
  double lobatto[N];

  PetscFunctionBegin;
  PetscCheck(degree >= 1 && degree <= VP_MAX_DEGREE, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Polynomial degree %d: degrees 1 to %d exist", degree, VP_MAX_DEGREE);
  *b = (VpBasis){.type = type, .quadrature = quadrature, .degree = degree, .n = n, .top = 1, .nt = VpDenseLayers(n)};
  if (quadrature == VP_QUADRATURE_LOBATTO) b->top = sqrt(degree / (2. * degree + 1));
  VpGaussLobatto(degree, lobatto);
  if (type == VP_BASIS_GAUSS || type == VP_BASIS_NODES) {
    b->nt = n;
    if (type == VP_BASIS_GAUSS) BuildGaussBasis(n, O);
    else BuildNodesBasis(b, nodes ? nodes : lobatto, O);
  } else BuildOrthonormalBasis(b, O);
  if (type == VP_BASIS_THIN && n >= VP_THIN_LEAST) {
    BuildThinBasis(b, O, T);
    C = T;
    b->nt = 2;
    b->first[1] = n - 2;
  }
  for (int i = 0; i < n; i++)
    for (int m = 0; m < n; m++) b->legendre[i * n + m] = (double)C[i][m];
  ComputeIntegrals(b, C);
  TabulateTraces(b, C);
  TabulateLowDegrees(b);
  TabulateLines(b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpBasisCreate(VpBasisType type, int degree, VpBasis *b)
{
  return VpBasisCreateFor(VP_QUADRATURE_GAUSS, type, degree, b);
}

PetscErrorCode VpBasisCreateFor(VpQuadrature quadrature, VpBasisType type, int degree, VpBasis *b)
{
  return CreateBasis(quadrature, type, degree, NULL, b);
}

PetscErrorCode VpBasisCreateNodes(VpQuadrature quadrature, int degree, const double x[], VpBasis *b)
{
  return CreateBasis(quadrature, VP_BASIS_NODES, degree, x, b);
}

void VpBasisEvaluate(const VpBasis *b, double x, double phi[], double dphi[])
{
  int  n = b->n;
  Real p[N], dp[N];

  LegendreEvaluate(n, x, p, dp);
  for (int i = 0; i < n; i++) {
    Real f = 0, df = 0;

    for (int m = 0; m < n; m++) {
      f += LegendreFactor(b, m) * b->legendre[i * n + m] * p[m];
      df += LegendreFactor(b, m) * b->legendre[i * n + m] * dp[m];
    }
    phi[i] = (double)f;
    if (dphi) dphi[i] = (double)df;
  }
}

/* Runs Newton's iteration from Chebyshev-like points. The weights are w = (sum_{m<nq} p_m^2)^-1. */
void VpGauss(int nq, double x[], double w[])
{
  Real p[2 * N + 1], dp[2 * N + 1];

  for (int i = 0; i <= (nq - 1) / 2; i++) {
    Real y = (1 - cosl(acosl(-1) * (i + 0.75L) / (nq + 0.5L))) / 2, sum = 0;

    for (int it = 0; it < 20; it++) {
      LegendreEvaluate(nq + 1, y, p, dp);
      y -= p[nq] / dp[nq];
    }
    LegendreEvaluate(nq, y, p, NULL);
    for (int m = 0; m < nq; m++) sum += p[m] * p[m];
    x[nq - 1 - i] = (double)(1 - y);
    x[i] = 2 * i + 1 == nq ? 0.5 : (double)y;
    w[i] = w[nq - 1 - i] = (double)(1 / sum);
  }
}

/* The inner points are the roots of p', by Newton's iteration from Chebyshev's points. Legendre's equation gives p''. */
void VpGaussLobatto(int degree, double x[])
{
  Real p[2 * N + 1], dp[2 * N + 1];

  for (int i = 0; 2 * i <= degree; i++) {
    Real y = (1 - cosl(acosl(-1) * i / degree)) / 2;

    for (int it = 0; it < 20 && i; it++) {
      LegendreEvaluate(degree + 1, y, p, dp);
      y += dp[degree] * y * (1 - y) / ((1 - 2 * y) * dp[degree] + degree * (degree + 1) * p[degree]);
    }
    x[degree - i] = (double)(1 - y);
    x[i] = 2 * i == degree ? 0.5 : (double)y;
  }
}

PetscErrorCode VpBasisChange(const VpBasis *from, const VpBasis *to, double C[])
{
  int  n = to->n;
  Real one[N * N] = {0};

  PetscFunctionBegin;
  PetscCheck(from->n == n, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "Bases of degree %d and %d span different spaces", from->degree,
             to->degree);
  for (int m = 0; m < n; m++) one[m * n + m] = 1;
  VpBasisMatrix(from, to, one, C);
  PetscFunctionReturn(PETSC_SUCCESS);
}
