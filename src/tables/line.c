/* The operator along one direction, cell by cell. On a cell of size h, with outward derivatives q at a side and those of the cell beyond
   opposite to them, a face is H (gamma [u][v] - {u'}[v] - [u]{v'}) with [u] = u - u_beyond,
   {u'} = (q - q_beyond)/2, [v] = v, {v'} = q_v/2. */
#include "legendre.h"

/* one side's form: c (gamma u v - mean (q_u v + u q_v)), c = 0 where there is none */
typedef struct {
  Real c, gamma, mean;
} Face;

static Face FaceForm(const VpLineKey *key, int s, Real penalty)
{
  Real h = key->h, a = key->a, hb = key->h_beyond[s], ab = key->a_beyond[s];

  switch (key->face[s]) {
  case VP_FACE_CELL: return (Face){2 * a * ab / (a + ab), penalty * (1 / h + 1 / hb), 0.5L};
  case VP_DIRICHLET: return (Face){a, penalty * 2 / h, 1};
  default: return (Face){0, 0, 0};
  }
}

/* M^-1 value and M^-1 slope of both ends */
static void Lift(const VpBasis *b, Real value[2][VP_MAX_N], Real slope[2][VP_MAX_N])
{
  int    n = b->n;
  double sign;

  for (int i = 0; i < n; i++) {
    int j = VpBasisMirror(b, i, &sign);

    value[1][i] = slope[1][i] = 0;
    for (int k = 0; k < n; k++) {
      value[1][i] += (Real)b->imass[i * n + k] * b->value[1][k];
      slope[1][i] += (Real)b->imass[i * n + k] * b->slope[1][k];
    }
    value[0][j] = sign * value[1][i];
    slope[0][j] = sign * slope[1][i];
  }
}

void VpLineBuild(const VpBasis *b, const VpLineKey *key, double penalty, double reaction, double D[], double g[])
{
  int  n = b->n;
  Real h = key->h, K[VP_MAX_N * VP_MAX_N] = {0}, E[VP_MAX_N * VP_MAX_N], lv[2][VP_MAX_N], lq[2][VP_MAX_N];
  Face face[2];

  for (int l = 0; l < n; l++)
    for (int m = 0; m < n; m++) K[l * n + m] = LegendreStiff(l, m);
  VpBasisMatrix(b, b, K, D);
  for (int i = 0; i < n * n; i++) E[i] = D[i];
  VpTidy(b, n, n, E, D);
  Lift(b, lv, lq);
  for (int s = 0; s < 2; s++) {
    Real hb = key->h_beyond[s];

    face[s] = FaceForm(key, s, penalty * b->degree * (b->degree + 1));
    for (int i = 0; i < n; i++) {
      PetscBool cell = (PetscBool)(key->face[s] == VP_FACE_CELL);

      g[(2 * s + 0) * n + i] = cell ? (double)(face[s].c * (lq[s][i] / (2 * h) - face[s].gamma * lv[s][i]) / sqrtl(h * hb)) : 0.;
      g[(2 * s + 1) * n + i] = cell ? (double)(face[s].c * lv[s][i] / (2 * hb * sqrtl(h * hb))) : 0.;
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      Real f[2];

      for (int s = 0; s < 2; s++) {
        Real v = b->value[s][j], q = b->slope[s][j];
        f[s] = face[s].c / h * (face[s].gamma * lv[s][i] * v - face[s].mean / h * (lv[s][i] * q + lq[s][i] * v));
      }
      D[i * n + j] = (double)(key->a / (h * h) * D[i * n + j] + (f[0] + f[1]) + (i == j ? reaction : 0));
    }
  }
}
