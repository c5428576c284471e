/* The patch solvers of one direction against the form by quadrature, all sides, spaces and degrees.
   ranks: 1 */
#include "support/tables.h"

/* x = A^-1 b by elimination, A [n][n] with rows of length MAX is lost */
static void Solve(int n, double A[][MAX], const double b[], double x[])
{
  long double U[MAX][MAX + 1];

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) U[i][j] = A[i][j];
    U[i][n] = b[i];
  }
  for (int k = 0; k < n; k++) {
    int p = k;

    for (int i = k + 1; i < n; i++)
      if (fabsl(U[i][k]) > fabsl(U[p][k])) p = i;
    for (int j = 0; j <= n; j++) {
      long double swap = U[k][j];
      U[k][j] = U[p][j], U[p][j] = swap;
    }
    for (int i = k + 1; i < n; i++) {
      long double f = U[i][k] / U[k][k];
      for (int j = k; j <= n; j++) U[i][j] -= f * U[k][j];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) U[i][n] -= U[i][j] * U[j][n];
    U[i][n] /= U[i][i];
    x[i] = (double)U[i][n];
  }
}

#define EIGHTH (VP_STEPS / 8) /* of an octave */
static const VpFdmKey keys[] = {
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_DIRICHLET, VP_SIDE_DIRICHLET}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_NEUMANN, VP_SIDE_NEUMANN}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_WRAP, VP_SIDE_WRAP}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.2, 0.2}, {VP_SIDE_MIXED, VP_SIDE_MIXED}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.2}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {0}, 0, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 5 * EIGHTH, {0}, 0, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_DIRICHLET, VP_SIDE_INTERIOR}, -3 * EIGHTH, {0}, 0, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_INTERIOR, VP_SIDE_NEUMANN}, 0, {0}, 0, 0},
  {{0.1, 0.3}, {0.3, 0.1}, {VP_SIDE_WRAP, VP_SIDE_WRAP}, 2 * EIGHTH, {0}, 0, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_MIXED, VP_SIDE_INTERIOR}, EIGHTH, {0}, 0, 0},
  {{0.2, 0.2}, {0.2, 0.2}, {VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 2 * EIGHTH, {0}, 0, 0},
  {{0.3, 0.1}, {0.2, 0.15}, {VP_SIDE_INTERIOR, VP_SIDE_DIRICHLET}, 4 * EIGHTH, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {-5, -5}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {-7, 1}, 0, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_MIXED, VP_SIDE_INTERIOR}, -7 * EIGHTH, {1, -3}, 0, 0},
  {{0.1, 0.1}, {2, 2}, {VP_SIDE_ROBIN, VP_SIDE_ROBIN}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {0}, 5 * EIGHTH, 0},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_MIXED, VP_SIDE_DIRICHLET}, 3 * EIGHTH, {2, 0}, -9 * EIGHTH, 0},
  {{0.1, 0.3}, {0.3, 0.1}, {VP_SIDE_WRAP, VP_SIDE_WRAP}, -2 * EIGHTH, {0}, 4 * EIGHTH, 0},
  {{0.1, 0.1}, {2, 3}, {VP_SIDE_ROBIN, VP_SIDE_ROBIN}, 0, {0}, 0, 0},
  {{0.1, 0.3}, {0.2, 40}, {VP_SIDE_INTERIOR, VP_SIDE_ROBIN}, 3 * EIGHTH, {0}, 0, 0},
  {{0.1, 0.1}, {5, 0}, {VP_SIDE_ROBIN, VP_SIDE_NEUMANN}, 0, {0}, 0, 0},
  {{0.1, 0.1}, {0.1, 0.1}, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, 0, {0}, 0, 2.5},
  {{0.1, 0.3}, {0.2, 0.15}, {VP_SIDE_MIXED, VP_SIDE_DIRICHLET}, 3 * EIGHTH, {2, 0}, -9 * EIGHTH, -6},
};
#define KEYS (int)(sizeof(keys) / sizeof(keys[0]))

#define FOR_ALL_PATCHES(b, key, space) \
  FOR_ALL_BASES(b) \
  for (const VpFdmKey *key = keys; key < keys + KEYS; key++) \
    for (int space = 0; space < 3; space++)

static PetscBool Restricted(const VpFdmKey *key, int s, int space)
{
  return (PetscBool)(space != VP_SPACE_FULL && key->side[s] == VP_SIDE_INTERIOR);
}

static int Dimension(const VpBasis *b, const VpFdmKey *key, int space)
{
  return 2 * b->n - space * (Restricted(key, 0, space) + Restricted(key, 1, space));
}

/* L and M of the patch from a line of two cells; half a face is added on sides towards other cells, by its definition */
static void AssemblePatch(const VpBasis *b, const VpFdmKey *key, int space, double L[MAX][MAX], double M[MAX][MAX])
{
  Domain        d = {.cells = 2,
                     .penalty = 1.1,
                     .h = {key->h[0], key->h[1]},
                     .alpha = {key->h_beyond[0], key->h_beyond[1]},
                     .octaves = {0, key->larger},
                     .a = {pow(2, PetscMax(-key->step, 0) / (double)VP_STEPS), pow(2, PetscMax(key->step, 0) / (double)VP_STEPS)}};
  const int     mass = key->step + key->skew;
  Domain        weighted;
  double        v[MAX], dv[MAX];
  static double unused[MAX][MAX];

  for (int s = 0; s < 2; s++)
    d.end[s] = key->side[s] == VP_SIDE_DIRICHLET || key->side[s] == VP_SIDE_ROBIN ? (int)key->side[s]
               : key->side[s] == VP_SIDE_WRAP                                     ? VP_SIDE_INTERIOR
                                                                                  : VP_SIDE_NEUMANN;
  weighted = d;
  for (int c = 0; c < 2; c++) weighted.a[c] = pow(2, PetscMax(c ? mass : -mass, 0) / (double)VP_STEPS);
  Assemble(b, &weighted, PETSC_TRUE, unused, M);
  Assemble(b, &d, PETSC_TRUE, L, unused);
  for (int s = 0; s < 2; s++) {
    if (key->side[s] != VP_SIDE_MIXED && (key->side[s] != VP_SIDE_INTERIOR || space != VP_SPACE_FULL)) continue;
    EndValues(b, &d, s, s, v, dv);
    for (int i = 0; i < 2 * b->n; i++) dv[i] *= s ? 0.5 : -0.5;
    Add(2 * b->n, L, d.a[s] * pow(2, key->face[s]), d.penalty * b->degree * (b->degree + 1) * (1 / d.h[s] + 1 / key->h_beyond[s]), v, dv);
  }
}

static void Build(const VpBasis *b, const VpFdmKey *key, int space, double F[], double B[], double lambda[])
{
  const int m = 2 * b->n;
  double    table[8 * N * N + 2 * N];

  VpFdmBuild(b, key, (VpSpace)space, 1.1, table);
  memcpy(F, table, (size_t)(m * m) * sizeof(*F));
  memcpy(B, table + VpBackAt(m), (size_t)(m * m) * sizeof(*B));
  memcpy(lambda, table + VpLambdaAt(m), (size_t)m * sizeof(*lambda));
}

/* S^T M S = I and S^T L S = lambda on as many modes as the space has */
static void patch_modes_diagonalise(void)
{
  static double L[MAX][MAX], M[MAX][MAX];
  double        F[4 * N * N], B[4 * N * N], lambda[2 * N], worst = 0;
  PetscBool     count = PETSC_TRUE;

  FOR_ALL_PATCHES(b, key, space)
  {
    int    m = 2 * b->n, modes = 0;
    double top = 0;

    AssemblePatch(b, key, space, L, M);
    Build(b, key, space, F, B, lambda);
    for (int r = 0; r < m; r++)
      if (lambda[r] != INFINITY) top = fmax(top, lambda[r]), modes++;
    if (modes != Dimension(b, key, space)) count = PETSC_FALSE;
    for (int r = 0; r < m; r++) {
      for (int s = 0; s < m; s++) {
        double one = 0, value = 0;

        for (int i = 0; i < m; i++)
          for (int j = 0; j < m; j++) one += B[i * m + r] * M[i][j] * B[j * m + s], value += B[i * m + r] * L[i][j] * B[j * m + s];
        if (lambda[r] == INFINITY || lambda[s] == INFINITY) {
          Worst(&worst, one);
        } else {
          Worst(&worst, one - (r == s));
          Worst(&worst, (value - (r == s ? lambda[r] : 0)) / top);
        }
      }
      for (int i = 0; i < m && lambda[r] == INFINITY; i++)
        if (B[i * m + r] != 0 || F[r * m + i] != 0) count = PETSC_FALSE;
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "patch_modes_diagonalise: S^T M S = 1, S^T L S = lambda (%.1e)", worst);
  TapOk(count, "absent_modes_are_zero_and_infinite, and as many as the space lacks");
}

/* the exact solution of L u = (b, .) where the space is all functions, and nothing is singular */
static void patch_solve_inverts_patch_1d(void)
{
  static double L[MAX][MAX], M[MAX][MAX], one[MAX][MAX];
  double        F[4 * N * N], B[4 * N * N], lambda[2 * N], f[MAX], rhs[MAX], u[MAX], worst = 0;

  FOR_ALL_PATCHES(b, key, space)
  {
    int    m = 2 * b->n;
    Domain d = {.cells = 2, .end = {VP_SIDE_NEUMANN, VP_SIDE_NEUMANN}, .h = {1, 1}, .a = {1, 1}, .penalty = 1};

    Build(b, key, space, F, B, lambda);
    for (int r = 0; r < m; r++)
      if (lambda[r] == 0) m = 0;
    if (!m || Dimension(b, key, space) != m) continue;
    Assemble(b, &d, PETSC_FALSE, L, one);
    AssemblePatch(b, key, space, L, M);
    for (int i = 0; i < m; i++) f[i] = Random();
    for (int i = 0; i < m; i++) {
      rhs[i] = 0;
      for (int j = 0; j < m; j++) rhs[i] += one[i][j] * f[j];
    }
    Solve(m, L, rhs, u);
    for (int i = 0; i < m; i++) {
      double x = 0;

      for (int r = 0; r < m; r++) {
        double fr = 0;
        for (int j = 0; j < m; j++) fr += F[r * m + j] * f[j];
        x += B[i * m + r] / lambda[r] * fr;
      }
      Worst(&worst, (u[i] - x) / Norm(m, u));
    }
  }
  TapOk((PetscBool)(worst < 1e-12), "patch_solve_inverts_patch_1d, b standing for (b, v) also where coefficients jump (%.1e)", worst);
}

/* coefficients [n] of (x - s)^power times a random polynomial of the remaining degree */
static void VanishingAt(const VpBasis *b, int s, int power, double u[])
{
  double x[NQ], w[NQ], phi[N], c[N], f[N] = {0};

  VpGauss(NQ, x, w);
  for (int m = 0; m < b->n; m++) c[m] = Random();
  for (int q = 0; q < NQ; q++) {
    double value = 0;

    VpBasisEvaluate(b, x[q], phi, NULL);
    for (int m = power; m < b->n; m++) value += c[m] * pow(x[q] - s, m);
    for (int i = 0; i < b->n; i++) f[i] += w[q] * phi[i] * value;
  }
  for (int i = 0; i < b->n; i++) {
    u[i] = 0;
    for (int j = 0; j < b->n; j++) u[i] += b->imass[i * b->n + j] * f[j];
  }
}

/* B F projects onto the space, where F has the patch's mass: it changes nothing in functions that only vanish where they must */
static void spaces_keep_boundary_functions(void)
{
  double F[4 * N * N], B[4 * N * N], lambda[2 * N], u[2 * N], worst = 0;

  FOR_ALL_PATCHES(b, key, space)
  {
    int m = 2 * b->n;

    if (key->step || key->skew) continue;
    Build(b, key, space, F, B, lambda);
    for (int s = 0; s < 2; s++) VanishingAt(b, s, Restricted(key, s, space) ? space : 0, u + s * b->n);
    for (int i = 0; i < m; i++) {
      double error = u[i];

      for (int r = 0; r < m; r++)
        for (int j = 0; j < m; j++) error -= B[i * m + r] * F[r * m + j] * u[j];
      Worst(&worst, error);
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "spaces_keep_boundary_functions: all that vanishes where it must is in the space (%.1e)", worst);
}

static void clamped_modes_have_no_trace(void)
{
  double F[4 * N * N], B[4 * N * N], lambda[2 * N], worst = 0, boundary = 0;

  FOR_ALL_PATCHES(b, key, space)
  {
    int n = b->n, m = 2 * n;

    Build(b, key, space, F, B, lambda);
    for (int s = 0; s < 2; s++) {
      for (int r = 0; r < m; r++) {
        double v = 0, q = 0;

        for (int i = 0; i < n; i++) v += b->value[s][i] * B[(s * n + i) * m + r], q += b->slope[s][i] * B[(s * n + i) * m + r];
        if (Restricted(key, s, space)) {
          Worst(&worst, v / Norm(n, b->value[s]));
          if (space == VP_SPACE_CLAMPED) Worst(&worst, q / Norm(n, b->slope[s]));
        } else {
          boundary = fmax(boundary, fabs(v));
        }
      }
    }
  }
  TapOk((PetscBool)(worst < 1e-14 && boundary > 1), "clamped_modes_have_no_trace, dirichlet modes no value (%.1e)", worst);
}

static void neumann_patch_has_zero_mode(void)
{
  double    F[4 * N * N], B[4 * N * N], lambda[2 * N];
  PetscBool ok = PETSC_TRUE;

  FOR_ALL_PATCHES(b, key, space)
  {
    PetscBool singular = (PetscBool)((key->side[0] == VP_SIDE_NEUMANN && key->side[1] == VP_SIDE_NEUMANN) || key->side[0] == VP_SIDE_WRAP);
    int       zeros = 0;

    if (key->side[0] == VP_SIDE_INTERIOR && key->side[1] == VP_SIDE_NEUMANN && space != VP_SPACE_FULL) continue;
    Build(b, key, space, F, B, lambda);
    for (int r = 0; r < 2 * b->n; r++) {
      if (lambda[r] == 0) zeros++;
      if (!(lambda[r] >= 0)) ok = PETSC_FALSE;
    }
    if (zeros != (singular ? 1 : 0)) ok = PETSC_FALSE;
  }
  TapOk(ok, "neumann_patch_has_zero_mode: exactly one zero there and in wrapped patches, all others positive");
}

static void patch_mirror_is_exact(void)
{
  double    F[4 * N * N], B[4 * N * N], lambda[2 * N], sign;
  PetscBool exact = PETSC_TRUE;
  int       mirrored = 0;

  for (int k = 0; k < KEYS; k++) mirrored += VpFdmIsMirrored(&keys[k]);
  FOR_ALL_PATCHES(b, key, space)
  {
    int n = b->n, m = 2 * n;

    if (!VpFdmIsMirrored(key)) continue;
    Build(b, key, space, F, B, lambda);
    for (int r = 0; r < m; r++) {
      if (r >= 2 && !(lambda[r] >= lambda[r - 2])) exact = PETSC_FALSE;
      for (int i = 0; i < n; i++) {
        int    j = VpBasisMirror(b, i, &sign);
        double s = r % 2 ? -sign : sign;

        if (F[r * m + n + j] != s * F[r * m + i] || B[(n + j) * m + r] != s * B[i * m + r]) exact = PETSC_FALSE;
      }
    }
  }
  TapOk((PetscBool)(exact && mirrored == 7), "patch_mirror_is_exact: even and odd modes in turn, ascending, bitwise mirrored");
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(CreateBases());
  patch_modes_diagonalise();
  patch_solve_inverts_patch_1d();
  spaces_keep_boundary_functions();
  clamped_modes_have_no_trace();
  neumann_patch_has_zero_mode();
  patch_mirror_is_exact();
  PetscFunctionReturn(PETSC_SUCCESS);
}
