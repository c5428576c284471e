/* The blocks of W interface patches (VpInterfaceView), one patch per lane, in the modes of their lines:

       values <--> modes --> divided by eigenvalues
                    |  ^
        traces, lifts  |        t [V, Q][modes along the side] <--> traces

   A block is K, or all F beyond it as one array. It has n values along the side's normal d, and `width` values along other directions. */
#pragma once
#include "interfaceside.h"

typedef struct {
  int      n, d, width;
  Lanes   *along[2];                /* lines of n values, and of `width` */
  const V *line[DIM];               /* F, B, lambda of a direction */
  const V *trace, *lifted;          /* [V, Q][n] traces of the modes along d at the side; what these modes get of a lift there */
  V        inverse[FACES * VALUES]; /* [modes] 1 / the eigenvalue */
} Modes;

INLINE int Extent(const Modes *m, int e)
{
  return e == m->d ? m->n : m->width;
}
/* number of lines along d; number of values */
INLINE int SideSize(const Modes *m)
{
  return DIM == 3 ? m->width * m->width : m->width;
}
INLINE int Size(const Modes *m)
{
  return m->n * SideSize(m);
}
INLINE int NormalStride(const Modes *m)
{
  return VpLineStride(m->d, m->width, m->width * m->width);
}

/* v = F v, or (back) B v, along all directions */
OUTLINE void Transform(const Modes *m, int back, V v[])
{
  for (int e = 0, stride = 1; e < DIM; stride *= Extent(m, e), e++) {
    const int extent = Extent(m, e);

    m->along[e != m->d](m->line[e] + back * VpBackAt(extent), Size(m) / (extent * stride), stride, v);
  }
}

/* t = F t, or (back) B t, along the directions of the side; t has one value per line along d */
OUTLINE void TransformSide(const Modes *m, int back, V t[])
{
  for (int e = 0, stride = 1; e < DIM; e++) {
    if (e == m->d) continue;
    m->along[1](m->line[e] + back * VpBackAt(m->width), SideSize(m) / (m->width * stride), stride, t);
    stride *= m->width;
  }
}

/* Sets m->inverse. reaction: added to the eigenvalues of a lane */
OUTLINE void SetInverse(Modes *m, V reaction)
{
  const V *lambda[DIM];

  for (int e = 0; e < DIM; e++) lambda[e] = m->line[e] + VpLambdaAt(Extent(m, e));
  for (int i = 0; i < Size(m); i++) {
    V sum = reaction;

    for (int e = 0, mode = i; e < DIM; mode /= Extent(m, e), e++) sum += lambda[e][mode % Extent(m, e)];
    m->inverse[i] = 1 / sum;
  }
}

/* v = factor A^-1 v, from values to modes */
OUTLINE void Solve(const Modes *m, V factor, V v[])
{
  Transform(m, 0, v);
  for (int i = 0; i < Size(m); i++) v[i] *= factor * m->inverse[i];
}

/* t[k] = V, Q at the side, of v in modes */
OUTLINE void TracesOf(const Modes *m, const V v[], V *const t[2])
{
  const int stride = NormalStride(m);

  for (int l = 0; l < SideSize(m); l++) {
    const V *p = v + VpLineStart(m->n, stride, l);
    V        sum[2] = {{0}, {0}};

    for (int i = 0; i < m->n; i++) {
      sum[0] += m->trace[i] * p[i * stride];
      sum[1] += m->trace[m->n + i] * p[i * stride];
    }
    for (int k = 0; k < 2; k++) t[k][l] = sum[k];
  }
  for (int k = 0; k < 2; k++) TransformSide(m, 1, t[k]);
}

/* v += factor A^-1 lift t, in modes; t is lost */
OUTLINE void AddLifted(const Modes *m, V factor, V *const t[2], V v[])
{
  const int stride = NormalStride(m);

  for (int k = 0; k < 2; k++) TransformSide(m, 0, t[k]);
  for (int l = 0; l < SideSize(m); l++) {
    const int start = VpLineStart(m->n, stride, l);
    const V   value = factor * t[0][l], slope = factor * t[1][l];

    for (int i = 0; i < m->n; i++) {
      const int at = start + i * stride;

      v[at] += m->inverse[at] * (m->lifted[i] * value + m->lifted[m->n + i] * slope);
    }
  }
}
