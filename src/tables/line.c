/* The operator along one direction, cell by cell. A face of a cell has the form H (gamma [u][v] - {u'}[v] - [u]{v'}). Here [u] = u -
   u_beyond, {u'} = (q - q_beyond)/2, [v] = v and {v'} = q_v/2. Each q is the derivative outward from its own cell. */
#include "legendre.h"

VP_HARMONIC_MEAN(static Real HarmonicMean, Real)

const VpCondition VpConditions[] = {
#define VP_CONDITION(NAME, ...) [VP_SIDE_##NAME] = {__VA_ARGS__},
#include "conditions.def"
#undef VP_CONDITION
  [VP_SIDE_LEVEL_END] = {0}};

VpFaceTerms VpFaceForm(VpSide side, Real h, Real a, Real h_beyond, Real a_beyond, Real penalty)
{
  if (side == VP_SIDE_INTERIOR) return (VpFaceTerms){HarmonicMean(a, a_beyond), penalty * (1 / h + 1 / h_beyond), 0.5L};
  if (side == VP_SIDE_LEVEL_END) /* the diagonal part of the form between the cell's parent and what lies beyond */
    return (VpFaceTerms){HarmonicMean(a, a_beyond), penalty * (1 / (2 * h) + 1 / h_beyond), 0.5L};
  return (VpFaceTerms){a, VpConditionGamma(side, penalty * 2 / h, h_beyond), VpConditions[side].mean};
}

double VpDirichletGamma(int degree, double penalty)
{
  return (double)VpFaceForm(VP_SIDE_DIRICHLET, 1, 1, 0, 0, (Real)penalty * degree * (degree + 1)).gamma;
}

/* what the traces beyond side s add: g [value, slope][n] */
static void BuildSide(const VpBasis *b, const VpLineKey *key, int s, const VpFaceTerms *face, Real larger, double g[])
{
  const Real      h = key->h, hb = key->h_beyond[s], root = sqrtl(h * hb), slope = 2 * hb * larger * root;
  const PetscBool cell = (PetscBool)(key->side[s] == VP_SIDE_INTERIOR);

  for (int i = 0; i < b->n; i++) {
    const Real lv = VpBasisLift(b, s, 0, i), lq = VpBasisLift(b, s, 1, i);

    g[i] = cell ? (double)(face->c * (lq / (2 * h) - face->gamma * lv) / root) : 0.;
    g[b->n + i] = cell ? (double)(face->c * lv / slope) : 0.;
  }
}

void VpLineBuild(const VpBasis *b, const VpLineKey *key, double penalty, double reaction, double D[], double g[])
{
  const int  n = b->n;
  const Real h = key->h, inner = key->a / (h * h);
  Real       c[2], gamma[2], mean[2];

  for (int s = 0; s < 2; s++) {
    const Real        larger = key->larger[s] != 0 ? exp2l(key->larger[s]) : 1;
    const VpFaceTerms face =
      VpFaceForm(key->side[s], h, key->a, key->h_beyond[s] * larger, key->a_beyond[s] * larger, penalty * b->degree * (b->degree + 1));

    c[s] = face.c / h;
    gamma[s] = face.gamma;
    mean[s] = face.mean / h;
    BuildSide(b, key, s, &face, larger, g + 2 * s * n);
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      Real f[2];

      for (int s = 0; s < 2; s++) {
        const Real lv = VpBasisLift(b, s, 0, i), lq = VpBasisLift(b, s, 1, i), v = b->value[s][j], q = b->slope[s][j];

        f[s] = c[s] * (gamma[s] * lv * v - mean[s] * (lv * q + lq * v));
      }
      D[i * n + j] = (double)(inner * b->inner[i * n + j] + (f[0] + f[1]) + (i == j ? reaction : 0));
    }
  }
}

/* Compares the terms of both forms that test slopes, then the terms that test values. */
void VpLineBoundary(const VpLineKey *key, int degree, int s, double penalty, double B[])
{
  const Real        h = key->h, a = key->a, scale = (Real)penalty * degree * (degree + 1);
  const VpFaceTerms inside = VpFaceForm(VP_SIDE_INTERIOR, h, a, h, a, scale),
                    face = VpFaceForm(key->side[s], h, a, key->h_beyond[s], key->a_beyond[s], scale);

  B[0] = B[3] = (double)(1 - 2 * face.mean * face.c / a);
  B[1] = 0;
  B[2] = (double)(2 * h * face.c / a * (face.gamma - 2 * face.mean * inside.gamma));
}

void VpLineLift(const VpLineKey *key, int degree, double penalty, double lift[3])
{
  lift[0] = lift[1] = 2 * key->h * key->h / key->a;
  lift[2] = 2 * lift[0] * VpDirichletGamma(degree, penalty); /* A face between equal cells has the same gamma h. */
}
