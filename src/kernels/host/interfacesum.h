/* The blocks K and F (VpInterfaceBlock) of W interface patches, one patch per lane, in the modes of their lines:

       values <--> modes --> divided by eigenvalues
                    |  ^
        traces, lifts  |        t [V, Q][modes along the side] <--> traces */
#pragma once
#include "interfaceside.h"

typedef struct {
  VpInterfaceBlock block;
  Lanes           *along[2]; /* lines of n values, and of block.width */
  const V         *table;    /* entries of the patches, with 1 / (sum + reaction) in place of sums of eigenvalues */
} Modes;

/* v = F v, or (back) B v, along all directions; or, if v has traces [V, Q][lines along the normal], along the directions of the side */
OUTLINE void Transform(const Modes *m, int back, int traces, V v[])
{
  const int size = VpBlockLines(&m->block) * (traces ? 2 : m->block.n);

  for (int d = 0, stride = 1; d < DIM; d++) {
    const int extent = VpBlockExtent(&m->block, d), is = d == m->block.normal;

    if (is && traces) continue;
    m->along[!is](m->table + m->block.line[d] + back * VpBackAt(extent), size / (extent * stride), stride, v);
    stride *= extent;
  }
}

/* v = factor A^-1 v, from values to modes */
OUTLINE void Solve(const Modes *m, V factor, V v[])
{
  const V *inverse = m->table + m->block.sums;

  Transform(m, 0, 0, v);
  for (int i = 0; i < m->block.n * VpBlockLines(&m->block); i++) v[i] *= factor * inverse[i];
}

/* t = V and Q at the side, of v in modes */
OUTLINE void TracesOf(const Modes *m, const V v[], V t[])
{
  const int n = m->block.n, stride = VpBlockStride(&m->block), lines = VpBlockLines(&m->block);
  const V  *trace = m->table + m->block.trace;

  for (int l = 0; l < lines; l++) {
    const V *p = v + VpLineStart(n, stride, l);
    V        sum[2] = {{0}, {0}};

    for (int i = 0; i < n; i++) {
      sum[0] += trace[i] * p[i * stride];
      sum[1] += trace[n + i] * p[i * stride];
    }
    for (int k = 0; k < 2; k++) t[k * lines + l] = sum[k];
  }
  Transform(m, 1, 1, t);
}

/* v += factor A^-1 lift t, in modes; t is lost */
OUTLINE void AddLifted(const Modes *m, V factor, V t[], V v[])
{
  const int n = m->block.n, stride = VpBlockStride(&m->block), lines = VpBlockLines(&m->block);
  const V  *lifted = m->table + m->block.lifted, *inverse = m->table + m->block.sums;

  Transform(m, 0, 1, t);
  for (int l = 0; l < lines; l++) {
    const int start = VpLineStart(n, stride, l);
    const V   value = factor * t[l], slope = factor * t[lines + l];

    for (int i = 0; i < n; i++) {
      const int at = start + i * stride;

      v[at] += inverse[at] * (lifted[i] * value + lifted[n + i] * slope);
    }
  }
}
