/* Levels of cuda_level.h with a varying coefficient. */
#pragma once
#include "cuda_level.h"

/* the coefficient of a cell along d */
static double CoefficientOf(const Level &v, int32_t cell, int d)
{
  const size_t directions = v.coefficient.size() / v.ncell;

  return v.coefficient[cell * directions + (directions > 1 ? d : 0)];
}

/* one line per cell and direction, with the cell's coefficient */
static void MakeLinesOf(Level &v)
{
  const int n = v.n, w = VpLineSize(n);

  v.lines.assign((size_t)v.ncell * v.dim * w, 0);
  v.drop.assign((size_t)2 * v.ncell * v.dim * w, 0);
  v.unit.assign((size_t)v.dim * w, 0);
  for (int d = 0; d < v.dim; d++) {
    const VpLineKey one = {v.h[d], 1, {VP_SIDE_INTERIOR, VP_SIDE_INTERIOR}, {v.h[d], v.h[d]}, {1, 1}, 0, {}};
    VpLineBuild(&v.basis, &one, 1, 0, &v.unit[(size_t)d * w], &v.unit[(size_t)d * w + n * n]);
  }
  for (int32_t e = 0; e < v.ncell * v.dim; e++) {
    const int d = e % v.dim;
    VpLineKey key = {v.h[d], CoefficientOf(v, e / v.dim, d), {}, {v.h[d], v.h[d]}, {}, 0, {}};
    for (int s = 0; s < 2; s++) {
      const int32_t beyond = v.neighbor[(size_t)2 * e + s];
      key.side[s] = beyond < 0 ? v.boundary[2 * d + s] : VP_SIDE_INTERIOR;
      key.a_beyond[s] = beyond < 0 ? 0 : CoefficientOf(v, beyond, d);
    }
    for (int without = 0; without < 3; without++) {
      VpLineKey part = key;
      double   *line = without ? &v.drop[(size_t)(2 * e + without - 1) * w] : &v.lines[(size_t)e * w];
      if (without && part.side[without - 1] == VP_SIDE_INTERIOR) part.side[without - 1] = VP_SIDE_NONE;
      VpLineBuild(&v.basis, &part, 1, v.reaction / v.dim, line, line + n * n);
    }
    v.line[e] = e;
  }
}

/* random coefficients of size `about` in each cell, and random factors of patches. Requires: MakePatches() */
static void MakeVarying(Level &v, double about, int directions)
{
  for (int32_t i = 0; i < v.ncell * directions; i++) v.coefficient.push_back((double)(float)(about * (2 + Random())));
  MakeLinesOf(v);
  v.factor = RandomReals((v.patch.size() >> v.dim) * (v.dim + 1));
  for (double &a : v.factor) a = about / (a + 2);
}

/* a coefficient that varies along x, with the patches' tables. All patches are replaceable, but every fifth does not say so. Requires:
   MakePatches() */
static void MakeLayers(Level &v)
{
  const int     w = VpFdmSize(v.n);
  const int32_t types = (int32_t)v.mirrored.size();
  const auto    a = [&](int x) { return x < 5 ? 1. : x % 4 == 3 ? 0.75 : 2.5; };
  const auto    face = [&](int x, int to) { return to < 0 || to >= v.nc ? 0. : log2(2 * a(to) / (a(x) + a(to))); };

  for (int32_t cell = 0; cell < v.ncell; cell++) {
    int x[3];
    Place(v.dim, cell, x);
    v.coefficient.push_back(a(x[0]));
  }
  MakeLinesOf(v);
  for (int x = 0; x + 1 < v.nc; x++) {
    const bool     lo = x == 0, up = x + 2 == v.nc;
    const VpFdmKey key = {{v.h[0], v.h[0]},
                          {lo ? 0 : v.h[0], up ? 0 : v.h[0]},
                          {lo ? v.boundary[0] : VP_SIDE_INTERIOR, up ? v.boundary[1] : VP_SIDE_INTERIOR},
                          VP_STEPS * log2(a(x + 1) / a(x)),
                          {face(x, x - 1), face(x + 1, x + 2)},
                          0,
                          0};
    v.fdm.resize(v.fdm.size() + w);
    double *F = &v.fdm[v.fdm.size() - w];
    VpFdmBuild(&v.basis, &key, v.space, 1, F);
    v.mirrored.push_back(VpFdmIsMirrored(&key));
  }
  for (size_t i = 0; i < v.patch.size() >> v.dim; i++) {
    int x[3];
    Place(v.dim, v.patch[i << v.dim], x);
    if (x[0] > 2) v.type[i * v.dim] = types + x[0];
    v.factor.insert(v.factor.end(), v.dim, std::min(a(x[0]), a(x[0] + 1)));
    v.factor.push_back(v.reaction);
    v.replaceable.push_back(i % 5 != 2);
  }
}
