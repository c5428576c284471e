/* The operator along a line of cells against its form by quadrature.
   ranks: 1 */
#include "support/tables.h"

static Domain SomeDomain(int cells, int lower, int upper, double coefficient)
{
  Domain d = {.cells = cells,
              .end = {lower, upper},
              .penalty = 0.9,
              .reaction = 2.5,
              .h = {0.11, 0.2, 0.13, 0.4, 0.17},
              .a = {1, 1, 1, 1, 1},
              .alpha = {0.7, 30}};

  for (int c = 0; c < cells; c++) d.a[c] += coefficient * (1 + Random());
  for (int c = 0; c < cells && coefficient > 0; c++) d.octaves[c] = 3 * Random();
  return d;
}

static VpLineKey KeyOf(const Domain *d, int c)
{
  VpLineKey key = {.h = d->h[c], .a = d->a[c]};

  for (int s = 0; s < 2; s++) {
    int e = c + (s ? 1 : -1), beyond = (e + d->cells) % d->cells;

    key.side[s] = e == beyond ? VP_SIDE_INTERIOR : d->end[s];
    key.h_beyond[s] = key.side[s] == VP_SIDE_ROBIN ? d->alpha[s] : d->h[beyond];
    key.a_beyond[s] = d->a[beyond];
    key.larger[s] = key.side[s] == VP_SIDE_INTERIOR ? d->octaves[beyond] - d->octaves[c] : 0;
  }
  return key;
}

/* y = M^-1 A u by the tables */
static void ApplyLines(const VpBasis *b, const Domain *d, const double u[], double y[])
{
  int    n = b->n;
  double D[N * N], g[4 * N];

  for (int c = 0; c < d->cells; c++) {
    VpLineKey key = KeyOf(d, c);

    VpLineBuild(b, &key, d->penalty, d->reaction, D, g);
    for (int i = 0; i < n; i++) {
      y[c * n + i] = 0;
      for (int j = 0; j < n; j++) y[c * n + i] += D[i * n + j] * u[c * n + j];
    }
    for (int s = 0; s < 2; s++) {
      const double *beyond = u + (c + (s ? 1 : d->cells - 1)) % d->cells * n;
      double        V = 0, Q = 0;

      for (int j = b->first[1 - s]; j < b->first[1 - s] + b->nt; j++) {
        V += b->value[1 - s][j] * beyond[j];
        Q += b->slope[1 - s][j] * beyond[j];
      }
      for (int i = 0; i < n; i++) y[c * n + i] += g[(2 * s) * n + i] * V + g[(2 * s + 1) * n + i] * Q;
    }
  }
}

static const int ends[][2] = {{VP_SIDE_DIRICHLET, VP_SIDE_DIRICHLET}, {VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN},
                              {VP_SIDE_NEUMANN, VP_SIDE_NEUMANN},     {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR},
                              {VP_SIDE_NONE, VP_SIDE_DIRICHLET},      {VP_SIDE_ROBIN, VP_SIDE_DIRICHLET},
                              {VP_SIDE_ROBIN, VP_SIDE_ROBIN}};
enum { ENDS = sizeof(ends) / sizeof(ends[0]) };

static void line_matches_quadrature(void)
{
  static double A[MAX][MAX], M[MAX][MAX];
  double        u[MAX], y[MAX], worst = 0;

  FOR_ALL_BASES(b)
  {
    for (int e = 0; e < ENDS; e++) {
      Domain d = SomeDomain(CELLS, ends[e][0], ends[e][1], e % 2 ? 10 : 0);
      int    size = d.cells * b->n;
      double sum[MAX];

      Assemble(b, &d, PETSC_FALSE, A, M);
      for (int i = 0; i < size; i++) u[i] = Random();
      ApplyLines(b, &d, u, y);
      for (int i = 0; i < size; i++) {
        sum[i] = 0;
        for (int j = 0; j < size; j++) sum[i] += A[i][j] * u[j];
      }
      for (int i = 0; i < size; i++) {
        double error = sum[i];

        for (int j = 0; j < size; j++) error -= M[i][j] * y[j];
        Worst(&worst, error / Norm(size, sum));
      }
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "line_matches_quadrature: M D u + M g traces = A u, varied sizes, coefficients, volumes, ends (%.1e)",
        worst);
}

/* (y(u), M w) = (u, M y(w)) */
static void operator_line_is_symmetric(void)
{
  static double A[MAX][MAX], M[MAX][MAX];
  double        u[MAX], w[MAX], yu[MAX], yw[MAX], worst = 0;

  FOR_ALL_BASES(b)
  {
    for (int e = 0; e < ENDS; e++) {
      Domain d = SomeDomain(4, ends[e][0], ends[e][1], 3);
      double left = 0, right = 0, size = 0;

      Assemble(b, &d, PETSC_FALSE, A, M);
      for (int i = 0; i < 4 * b->n; i++) u[i] = Random(), w[i] = Random();
      ApplyLines(b, &d, u, yu);
      ApplyLines(b, &d, w, yw);
      for (int i = 0; i < 4 * b->n; i++)
        for (int j = 0; j < 4 * b->n; j++) {
          left += yu[i] * M[i][j] * w[j];
          right += u[i] * M[i][j] * yw[j];
          size += fabs(yu[i] * M[i][j] * w[j]);
        }
      Worst(&worst, (left - right) / size);
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "operator_line_is_symmetric in L2 (%.1e)", worst);
}

static void line_mirror_is_exact(void)
{
  double    D[2][N * N], g[2][4 * N], si, sj;
  PetscBool exact = PETSC_TRUE;

  FOR_ALL_BASES(b)
  {
    VpLineKey key = {.h = 0.1, .a = 3, .side = {VP_SIDE_INTERIOR, VP_SIDE_DIRICHLET}, .h_beyond = {0.3, 0.1}, .a_beyond = {0.7, 1}};
    VpLineKey other = {.h = 0.1, .a = 3, .side = {VP_SIDE_DIRICHLET, VP_SIDE_INTERIOR}, .h_beyond = {0.1, 0.3}, .a_beyond = {1, 0.7}};

    VpLineBuild(b, &key, 1, 0.1, D[0], g[0]);
    VpLineBuild(b, &other, 1, 0.1, D[1], g[1]);
    for (int i = 0; i < b->n; i++) {
      int mi = VpBasisMirror(b, i, &si);

      for (int f = 0; f < 4; f++)
        if (g[1][(3 - f + 2 * (f % 2) - 1) * b->n + mi] != si * g[0][f * b->n + i]) exact = PETSC_FALSE;
      for (int j = 0; j < b->n; j++) {
        int mj = VpBasisMirror(b, j, &sj);
        if (D[1][mi * b->n + mj] != si * sj * D[0][i * b->n + j]) exact = PETSC_FALSE;
      }
    }
  }
  TapOk(exact, "line_mirror_is_exact: the mirrored cell has bitwise the mirrored tables");
}

/* D at a boundary against D inside with a cell beyond */
static void boundary_is_a_cell_beyond(void)
{
  static const VpSide boundary[] = {VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN, VP_SIDE_ROBIN};
  double              D[2][N * N], g[2][4 * N], B[4], worst = 0;

  FOR_ALL_BASES(b)
  {
    for (int i = 0; i < 6; i++) {
      const int s = i % 2, n = b->n;
      VpLineKey key = {.h = 0.1, .a = 3, .h_beyond = {0.1, 0.1}, .a_beyond = {3, 3}};
      double    size = 0, error = 0;

      VpLineBuild(b, &key, 0.7, 0.1, D[0], g[0]);
      key.side[s] = boundary[i / 2];
      key.h_beyond[s] = 3; /* alpha */
      VpLineBuild(b, &key, 0.7, 0.1, D[1], g[1]);
      VpLineBoundary(&key, b->degree, s, 0.7, B);
      for (int k = 0; k < n; k++) {
        for (int j = 0; j < n; j++) {
          const double V = B[0] * b->value[s][j] + B[1] * b->slope[s][j], Q = B[2] * b->value[s][j] + B[3] * b->slope[s][j];

          size = PetscMax(size, fabs(D[0][k * n + j]));
          error = PetscMax(error, fabs(D[0][k * n + j] + g[0][2 * s * n + k] * V + g[0][(2 * s + 1) * n + k] * Q - D[1][k * n + j]));
        }
      }
      Worst(&worst, error / size);
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "boundary_is_a_cell_beyond with a matrix times the cell's own traces (%.1e)", worst);
}

/* traces beyond of VpLineLift against the lift of a value and a slope, at both sides */
static void lift_is_a_cell_beyond(void)
{
  const VpLineKey key = {.h = 0.1, .a = 3, .h_beyond = {0.1, 0.1}, .a_beyond = {3, 3}};
  double          D[N * N], g[4 * N], lift[3], worst = 0;

  FOR_ALL_BASES(b)
  {
    const int n = b->n;

    VpLineBuild(b, &key, 0.7, 0.1, D, g);
    VpLineLift(&key, b->degree, 0.7, lift);
    for (int i = 0; i < 2 * n; i++) {
      const int    s = i / n, k = i % n;
      const double V = Random(), Q = Random();
      double       lifted = 0;

      for (int j = 0; j < n; j++) lifted += b->imass[k * n + j] * (V * b->value[s][j] + Q * b->slope[s][j]);
      Worst(&worst, lifted - g[2 * s * n + k] * lift[0] * Q - g[(2 * s + 1) * n + k] * (lift[1] * V + lift[2] * Q));
    }
  }
  TapOk((PetscBool)(worst < 1e-11), "lift_is_a_cell_beyond with traces that depend on its value and slope (%.1e)", worst);
}

/* Of four cells' operator, the part between the two in the middle is what a full patch around them inverts: the coefficient jumps in
   the middle only, where the patch sees it. Volumes jump everywhere. */
static void patch_inverts_the_line(void)
{
  double F[8 * N * N + 2 * N], u[MAX], y[MAX], worst = 0;

  FOR_ALL_BASES(b)
  {
    for (int step = -VP_STEPS / 2; step <= VP_STEPS / 2; step += VP_STEPS / 4) {
      Domain   d = SomeDomain(4, VP_SIDE_DIRICHLET, VP_SIDE_NEUMANN, 0);
      VpFdmKey key = {.h = {d.h[1], d.h[2]},
                      .h_beyond = {d.h[0], d.h[3]},
                      .side = {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR},
                      .step = step,
                      .larger = step / 20.};
      int      n = b->n, m = 2 * n;
      double  *B = F + VpBackAt(m), *lambda = F + VpLambdaAt(m);

      for (int s = 0; s < 2; s++) {
        const double larger = exp2(s ? -0.7 : step / 10.);

        key.h_beyond[s] *= larger;
        key.face[s] = log2(2 * larger / (1 + larger));
      }
      d.octaves[0] = step / 10.;
      d.octaves[2] = key.larger;
      d.octaves[3] = key.larger - 0.7;

      d.reaction = 0;
      d.a[0] = d.a[1] = pow(2, PetscMax(-step, 0) / (double)VP_STEPS);
      d.a[2] = d.a[3] = pow(2, PetscMax(step, 0) / (double)VP_STEPS);
      for (int i = 0; i < 4 * n; i++) u[i] = i < n || i >= 3 * n ? 0 : Random();
      ApplyLines(b, &d, u, y);
      VpFdmBuild(b, &key, VP_SPACE_FULL, d.penalty, F);
      for (int i = 0; i < m; i++) {
        double x = 0;

        for (int r = 0; r < m; r++)
          for (int j = 0; j < m; j++) x += B[i * m + r] / lambda[r] * F[r * m + j] * y[n + j];
        Worst(&worst, x - u[n + i]);
      }
    }
  }
  TapOk((PetscBool)(worst < 1e-12), "patch_inverts_the_line: full patches and the operator agree (%.1e)", worst);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(CreateBases());
  line_matches_quadrature();
  operator_line_is_symmetric();
  line_mirror_is_exact();
  boundary_is_a_cell_beyond();
  lift_is_a_cell_beyond();
  patch_inverts_the_line();
  PetscFunctionReturn(PETSC_SUCCESS);
}
