/* Bases and transfers, all degrees.
   ranks: 1 */
#include "support/tables.h"

static void gauss_integrates_monomials(void)
{
  double x[NQ], w[NQ], worst = 0;

  for (int nq = 1; nq <= NQ; nq++) {
    VpGauss(nq, x, w);
    for (int m = 0; m < 2 * nq; m++) {
      double sum = -1. / (m + 1);
      for (int q = 0; q < nq; q++) sum += w[q] * pow(x[q], m);
      Worst(&worst, sum);
    }
  }
  TapOk((PetscBool)(worst < 1e-15), "gauss_integrates_monomials, up to degree 35 (%.1e)", worst);
}

/* (phi_i', x^m) = [phi_i x^m] - m (phi_i, x^(m-1)), and (phi_i) are polynomials of degree < n */
static void derivatives_are_those_of_the_functions(void)
{
  double x[NQ], w[NQ], phi[N], dphi[N], worst = 0;

  VpGauss(NQ, x, w);
  FOR_ALL_BASES(b)
  {
    for (int m = 0; m < b->n; m++) {
      double sum[N], end[N], start[N];

      VpBasisEvaluate(b, 1, end, NULL);
      VpBasisEvaluate(b, 0, start, NULL);
      for (int i = 0; i < b->n; i++) sum[i] = (m ? 0 : start[i]) - end[i];
      for (int q = 0; q < NQ; q++) {
        VpBasisEvaluate(b, x[q], phi, dphi);
        for (int i = 0; i < b->n; i++) sum[i] += w[q] * (dphi[i] * pow(x[q], m) + (m ? m * phi[i] * pow(x[q], m - 1) : 0));
      }
      for (int i = 0; i < b->n; i++) Worst(&worst, sum[i]);
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "derivatives_are_those_of_the_functions (%.1e)", worst);
}

static void basis_is_orthonormal(void)
{
  double M[N * N], K[N * N], worst = 0;

  for (int k = 1; k <= VP_MAX_DEGREE; k++) {
    const VpBasis *b = &basis[VP_BASIS_ORTHONORMAL][k];

    Quadrature(b, M, K);
    for (int i = 0; i < b->n * b->n; i++) {
      double one = i % (b->n + 1) ? 0 : 1;
      Worst(&worst, M[i] - one);
      Worst(&worst, b->imass[i] == one ? 0 : 1);
    }
  }
  TapOk((PetscBool)(worst < 1e-14), "basis_is_orthonormal (%.1e)", worst);
}

static void tables_match_quadrature(void)
{
  double M[N * N], K[N * N], phi[N], dphi[N], worst = 0;

  FOR_ALL_BASES(b)
  {
    int n = b->n;

    Quadrature(b, M, K);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double sum = i == j ? -1 : 0;

        for (int k = 0; k < n; k++) sum += b->imass[i * n + k] * M[k * n + j];
        Worst(&worst, sum);
        Worst(&worst, (K[i * n + j] - b->stiff[i * n + j]) / Norm(n * n, K));
      }
    for (int s = 0; s < 2; s++) {
      VpBasisEvaluate(b, s, phi, dphi);
      for (int i = 0; i < n; i++) {
        Worst(&worst, (phi[i] - b->value[s][i]) / Norm(n, phi));
        Worst(&worst, ((s ? 1 : -1) * dphi[i] - b->slope[s][i]) / Norm(n, dphi));
      }
    }
  }
  TapOk((PetscBool)(worst < 1e-14), "tables_match_quadrature: inverse of the mass, stiffness, values, slopes (%.1e)", worst);
}

static void traces_need_few_coefficients(void)
{
  PetscBool ok = PETSC_TRUE;

  FOR_ALL_BASES(b)
  {
    PetscBool thin = (PetscBool)(b->type == VP_BASIS_THIN && b->n >= VP_THIN_LEAST);

    if (b->nt != (thin ? 2 : PetscMin(b->n, 4))) ok = PETSC_FALSE;
    for (int s = 0; s < 2; s++) {
      if (b->first[s] != (thin && s ? b->n - 2 : 0)) ok = PETSC_FALSE;
      for (int i = 0; i < b->n; i++)
        if ((i < b->first[s] || i >= b->first[s] + b->nt) && (b->value[s][i] != 0 || b->slope[s][i] != 0)) ok = PETSC_FALSE;
    }
  }
  TapOk(ok, "traces_need_few_coefficients: exact zeros beyond them");
}

/* T E = 1, E lies where T does, and u - E T u, which has no traces, is orthogonal to E: no coefficients are less */
static void traces_are_expanded_again(void)
{
  double    worst = 0, sign;
  PetscBool exact = PETSC_TRUE;

  FOR_ALL_BASES(b)
  {
    for (int s = 0; s < 2; s++) {
      const double *T[2] = {b->value[s], b->slope[s]};
      double        u[N], trace[2] = {0}, dot[2] = {0};

      for (int k = 0; k < 2; k++) {
        const double *E = b->expand[s][k];
        double        one[2] = {-(k == 0), -(k == 1)};

        for (int i = 0; i < b->n; i++) {
          for (int l = 0; l < 2; l++) one[l] += T[l][i] * E[i];
          if ((i < b->first[s] || i >= b->first[s] + b->nt) && E[i] != 0) exact = PETSC_FALSE;
          if (b->expand[1 - s][k][VpBasisMirror(b, i, &sign)] != sign * E[i]) exact = PETSC_FALSE;
        }
        for (int l = 0; l < 2; l++) Worst(&worst, one[l] / (Norm(b->n, T[l]) * Norm(b->n, E)));
      }
      for (int i = 0; i < b->n; i++) {
        u[i] = Random();
        for (int l = 0; l < 2; l++) trace[l] += T[l][i] * u[i];
      }
      for (int i = 0; i < b->n; i++) {
        u[i] -= b->expand[s][0][i] * trace[0] + b->expand[s][1][i] * trace[1];
        for (int k = 0; k < 2; k++) dot[k] += u[i] * b->expand[s][k][i] / Norm(b->n, b->expand[s][k]);
      }
      for (int k = 0; k < 2; k++) Worst(&worst, dot[k]);
    }
  }
  TapOk((PetscBool)(exact && worst < 1e-14), "traces_are_expanded_again, by least coefficients where traces are (%.1e)", worst);
}

static void thin_basis_traces_are_thin(void)
{
  double phi[N], dphi[N], M[N * N], K[N * N], worst = 0;

  for (int k = VP_THIN_LEAST - 1; k <= VP_MAX_DEGREE; k++) {
    const VpBasis *b = &basis[VP_BASIS_THIN][k];
    int            n = b->n;

    Quadrature(b, M, K);
    VpBasisEvaluate(b, 0, phi, dphi);
    Worst(&worst, phi[1]);
    Worst(&worst, b->value[0][1] == 0 && b->value[1][n - 2] == 0 ? 0 : 1);
    for (int i = 2; i < n; i++) Worst(&worst, phi[i]), Worst(&worst, dphi[i]);
    VpBasisEvaluate(b, 1, phi, dphi);
    for (int i = 0; i < n - 2; i++) Worst(&worst, phi[i]), Worst(&worst, dphi[i]);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        PetscBool ends = (PetscBool)((i < 2 && j >= n - 2) || (i >= n - 2 && j < 2));
        if (!ends) Worst(&worst, M[i * n + j] - (i == j ? 1 : 0));
      }
  }
  TapOk((PetscBool)(worst < 1e-12), "thin_basis_traces_are_thin: two functions an end, orthogonal to those between (%.1e)", worst);
}

/* condition by power iterations on the mass and on its inverse */
static void thin_mass_is_well_conditioned(void)
{
  double worst = 0;

  for (int k = 3; k <= VP_MAX_DEGREE; k++) {
    const VpBasis *b = &basis[VP_BASIS_THIN][k];
    double         cond = 1, M[N * N], K[N * N];

    Quadrature(b, M, K);
    for (int inverse = 0; inverse < 2; inverse++) {
      double        x[N], y[N], norm = 1;
      const double *A = inverse ? b->imass : M;

      for (int i = 0; i < b->n; i++) x[i] = Random();
      for (int it = 0; it < 2000; it++) {
        norm = 0;
        for (int i = 0; i < b->n; i++) {
          y[i] = 0;
          for (int j = 0; j < b->n; j++) y[i] += A[i * b->n + j] * x[j];
          norm += y[i] * y[i];
        }
        norm = sqrt(norm);
        for (int i = 0; i < b->n; i++) x[i] = y[i] / norm;
      }
      cond *= norm;
    }
    worst = fmax(worst, cond);
  }
  TapOk((PetscBool)(worst > 1 && worst < 13.2), "thin_mass_is_well_conditioned: condition at most %.2f (cubics)", worst);
}

static void basis_mirror_is_exact(void)
{
  double    phi[N], mirrored[N], worst = 0, si, sj;
  PetscBool exact = PETSC_TRUE;

  FOR_ALL_BASES(b)
  {
    int n = b->n;

    for (int p = 0; p < 7; p++) {
      VpBasisEvaluate(b, p / 16., phi, NULL);
      VpBasisEvaluate(b, 1 - p / 16., mirrored, NULL);
      for (int i = 0; i < n; i++) {
        int j = VpBasisMirror(b, i, &si);
        Worst(&worst, mirrored[i] - si * phi[j]);
      }
    }
    for (int i = 0; i < n; i++) {
      int mi = VpBasisMirror(b, i, &si);

      if (b->type == VP_BASIS_ORTHONORMAL && (mi != i || si != (i % 2 ? -1 : 1))) exact = PETSC_FALSE;
      if (b->value[1][mi] != si * b->value[0][i] || b->slope[1][mi] != si * b->slope[0][i]) exact = PETSC_FALSE;
      for (int j = 0; j < n; j++) {
        int mj = VpBasisMirror(b, j, &sj), at = mi * n + mj;

        if (b->imass[at] != si * sj * b->imass[i * n + j]) exact = PETSC_FALSE;
        if (b->stiff[at] != si * sj * b->stiff[i * n + j]) exact = PETSC_FALSE;
      }
    }
  }
  TapOk((PetscBool)(exact && worst < 1e-12), "basis_mirror_is_exact: functions (%.1e), tables bitwise", worst);
}

static double ValueAt(const VpBasis *b, double x, const double u[])
{
  double phi[N], value = 0;

  VpBasisEvaluate(b, x, phi, NULL);
  for (int i = 0; i < b->n; i++) value += phi[i] * u[i];
  return value;
}

static void change_of_basis_round_trips(void)
{
  double C[N * N], back[N * N], u[N], v[N], w[N], worst = 0;

  FOR_ALL_BASES(b)
  {
    const VpBasis *to = &basis[1 - b->type][b->degree];

    PetscCallAbort(PETSC_COMM_SELF, VpBasisChange(b, to, C));
    PetscCallAbort(PETSC_COMM_SELF, VpBasisChange(to, b, back));
    for (int i = 0; i < b->n; i++) u[i] = Random();
    Multiply(b->n, C, u, v);
    Multiply(b->n, back, v, w);
    for (int p = 0; p <= 8; p++) Worst(&worst, ValueAt(b, p / 8., u) - ValueAt(to, p / 8., v));
    for (int i = 0; i < b->n; i++) Worst(&worst, u[i] - w[i]);
  }
  TapOk((PetscBool)(worst < 1e-13), "change_of_basis_round_trips and keeps the function (%.1e)", worst);
}

enum { NPART = 3 };
static const double parts[NPART] = {0.5, 0.3, 1 / 17.}; /* that first children have of their parents */

static void prolongation_is_exact_on_polynomials(void)
{
  double P[2 * N * N], R[2 * N * N], u[N], v[N], h = 0.3, worst = 0;

  FOR_ALL_BASES(b)
  {
    for (int k = 0; k < NPART; k++) {
      VpTransferBuild(b, parts[k], P, R);
      for (int i = 0; i < b->n; i++) u[i] = Random();
      for (int c = 0; c < 2; c++) {
        const double from = c ? parts[k] : 0, part = c ? 1 - parts[k] : parts[k];

        Multiply(b->n, P + c * b->n * b->n, u, v);
        for (int p = 0; p <= 8; p++) Worst(&worst, ValueAt(b, from + part * p / 8, u) / sqrt(h) - ValueAt(b, p / 8., v) / sqrt(part * h));
      }
    }
  }
  TapOk((PetscBool)(worst < 1e-13), "prolongation_is_exact_on_polynomials (%.1e)", worst);
}

/* adds to *worst the errors of M R = P^T M, R P = 1 */
static void CompareTransfers(const VpBasis *b, const double M[], const double P[], const double R[], double *worst)
{
  const int n = b->n;

  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double one = 0;

      for (int c = 0; c < 2; c++) {
        double error = 0;

        for (int k = 0; k < n; k++) {
          error += M[i * n + k] * R[(c * n + k) * n + j] - P[(c * n + k) * n + i] * M[k * n + j];
          one += R[(c * n + i) * n + k] * P[(c * n + k) * n + j];
        }
        Worst(worst, error);
      }
      Worst(worst, one - (i == j));
    }
  }
}

/* M R = P^T M, R P = 1, and the second half's matrices mirror the first's bitwise */
static void restriction_is_prolongation_transpose(void)
{
  double    M[N * N], K[N * N], P[2 * N * N], R[2 * N * N], worst = 0, si, sj;
  PetscBool exact = PETSC_TRUE;

  FOR_ALL_BASES(b)
  {
    const int n = b->n;

    Quadrature(b, M, K);
    for (int k = NPART - 1; k >= 0; k--) {
      VpTransferBuild(b, parts[k], P, R);
      CompareTransfers(b, M, P, R, &worst);
    }
    for (int i = 0; i < n; i++) {
      const int mi = VpBasisMirror(b, i, &si);

      for (int j = 0; j < n; j++) {
        const int mj = VpBasisMirror(b, j, &sj);

        if (P[(n + mi) * n + mj] != si * sj * P[i * n + j] || R[(n + mi) * n + mj] != si * sj * R[i * n + j]) exact = PETSC_FALSE;
      }
    }
  }
  TapOk((PetscBool)(exact && worst < 1e-13), "restriction_is_prolongation_transpose in L2, and its left inverse (%.1e)", worst);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(CreateBases());
  gauss_integrates_monomials();
  derivatives_are_those_of_the_functions();
  basis_is_orthonormal();
  tables_match_quadrature();
  traces_need_few_coefficients();
  traces_are_expanded_again();
  thin_basis_traces_are_thin();
  thin_mass_is_well_conditioned();
  basis_mirror_is_exact();
  change_of_basis_round_trips();
  prolongation_is_exact_on_polynomials();
  restriction_is_prolongation_transpose();
  PetscFunctionReturn(PETSC_SUCCESS);
}
