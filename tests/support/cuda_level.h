/* Levels for the test of the CUDA kernels: a box of 2^L cells per side in Morton order, each side Dirichlet or Neumann. */
#pragma once
#include "reference.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

typedef std::vector<double> Reals;

#define Call(...) PetscCallAbort(PETSC_COMM_SELF, __VA_ARGS__)

static int power(int n, int d)
{
  return d ? n * power(n, d - 1) : 1;
}

static double Random()
{
  return rand() / (double)RAND_MAX - 0.5;
}

static Reals RandomReals(size_t n)
{
  Reals a(n);

  for (double &v : a) v = (double)(float)Random();
  return a;
}

/* a level with arrays on the host and reals in double precision */
struct Level {
  int                  dim, k, n, nc, per; /* nc: cells per side; per: values per cell */
  int32_t              ncell;
  bool                 thin;
  VpBasis              basis, outer;
  double               h[3];
  VpSide               boundary[6];
  VpSpace              space = VP_SPACE_FULL;
  std::vector<int32_t> neighbor, line, patch, type, parent, child;
  std::vector<uint8_t> cover, corner, mirrored, replaceable;
  std::vector<int32_t> start; /* first patch of each colour */
  Reals                lines, drop, traces, expand, fdm, factor, unit, coefficient, P, R, enter, leave;
  double               reaction = 0;
  VpCommon             common = VpCommon(); /* the most frequent lines */
  double               outside[3][2][4];
  bool                 same; /* Directions are equal and share entries. */
  int                  entry(int d) const
  {
    return same ? 0 : 3 * d;
  }
};

static uint32_t Spread(int dim, uint32_t c)
{
  uint32_t m = 0;

  for (int i = 0; i < 10; i++) m |= (c >> i & 1) << (dim * i);
  return m;
}

static void Place(int dim, int32_t cell, int x[3])
{
  x[0] = x[1] = x[2] = 0;
  for (int i = 0; i < dim * 10 && i < 31; i++) x[i % dim] |= (cell >> i & 1) << (i / dim);
}

/* thin: the basis of a cycle's levels; otherwise the basis of the outer operator */
static void MakeMesh(Level &v, int dim, int k, int L, bool thin, const double h[3], const VpSide boundary[6])
{
  v.dim = dim, v.k = k, v.n = k + 1, v.nc = 1 << L, v.thin = thin && v.n >= VP_THIN_FROM(dim);
  v.ncell = power(v.nc, dim);
  v.per = power(v.n, dim);
  memcpy(v.h, h, sizeof(v.h));
  memcpy(v.boundary, boundary, sizeof(v.boundary));
  v.same = true;
  for (int d = 0; d < 3; d++) v.same = v.same && h[d] == h[0] && boundary[2 * d] == boundary[0] && boundary[2 * d + 1] == boundary[1];
  Call(VpBasisCreate(v.thin ? VP_BASIS_THIN : VP_BASIS_ORTHONORMAL, k, &v.basis));
  Call(VpBasisCreate(VP_BASIS_ORTHONORMAL, k, &v.outer));
  v.neighbor.resize((size_t)v.ncell * 2 * dim);
  v.line.resize((size_t)v.ncell * dim);
  std::vector<uint32_t> spread(v.nc);
  for (int c = 0; c < v.nc; c++) spread[c] = Spread(dim, c);
  for (int32_t cell = 0; cell < v.ncell; cell++) {
    int x[3];
    Place(dim, cell, x);
    for (int d = 0; d < dim; d++) {
      const uint32_t rest = (uint32_t)cell - (spread[x[d]] << d);
      for (int s = 0; s < 2; s++) {
        const int to = x[d] + (s ? 1 : -1);
        v.neighbor[(size_t)cell * 2 * dim + 2 * d + s] = to < 0 || to >= v.nc ? -1 - (2 * d + s) : (int32_t)(rest | spread[to] << d);
      }
      v.line[(size_t)cell * dim + d] = v.entry(d) + (x[d] == 0 ? 0 : x[d] == v.nc - 1 ? 2 : 1);
    }
  }
  for (int e = 0; e < 2; e++) {
    for (int t = 0; t < v.basis.nt; t++) v.traces.push_back(v.basis.value[e][v.basis.first[e] + t]);
    for (int t = 0; t < v.basis.nt; t++) v.traces.push_back(v.basis.slope[e][v.basis.first[e] + t]);
    for (int k = 0; k < 2; k++)
      for (int t = 0; t < v.basis.nt; t++) v.expand.push_back(v.basis.expand[e][k][v.basis.first[e] + t]);
  }
}

/* lines: [direction][lower, interior, upper]; drop: the same without the face on the lower side, then on the upper side */
static void MakeLines(Level &v, double reaction)
{
  const int n = v.n, w = VpLineSize(n);

  v.lines.assign((size_t)3 * v.dim * w, 0);
  v.drop.assign((size_t)6 * v.dim * w, 0);
  for (int d = 0; d < v.dim; d++) {
    for (int p = 0; p < 3; p++) {
      for (int without = 0; without < 3; without++) {
        VpLineKey key = {v.h[d],
                         1,
                         {p == 0 ? v.boundary[2 * d] : VP_SIDE_INTERIOR, p == 2 ? v.boundary[2 * d + 1] : VP_SIDE_INTERIOR},
                         {v.h[d], v.h[d]},
                         {1, 1},
                         0,
                         {}};
        const int e = v.entry(d) + p;
        double   *line = without ? &v.drop[(size_t)(2 * e + without - 1) * w] : &v.lines[(size_t)e * w];
        if (without && key.side[without - 1] == VP_SIDE_INTERIOR) key.side[without - 1] = VP_SIDE_NONE;
        VpLineBuild(&v.basis, &key, 1, reaction / v.dim, line, line + n * n);
      }
    }
    v.common.inside[d] = v.entry(d) + 1;
    for (int s = 0; s < 2; s++) {
      const VpLineKey key = {
        v.h[d], 1, {s ? VP_SIDE_INTERIOR : v.boundary[2 * d], s ? v.boundary[2 * d + 1] : VP_SIDE_INTERIOR}, {v.h[d], v.h[d]}, {1, 1},
        0,      {}};
      v.common.bounded[d][s] = v.entry(d) + 2 * s;
      VpLineBoundary(&key, v.k, s, 1, v.outside[d][s]);
    }
  }
  v.common.found = PETSC_TRUE;
}

/* the most frequent patches. Their entries are numbered like those of lines, and patches at both boundaries mirror each other. */
static VpCommon CommonPatches(const Level &v)
{
  VpCommon common = v.common;

  for (int d = 0; d < v.dim; d++) {
    if (v.boundary[2 * d] != v.boundary[2 * d + 1]) common.bounded[d][1] = -1;
  }
  return common;
}

/* Makes patches by colour in the order of their first cells. types: [direction][at the lower side, inside, at the upper side] */
static void MakePatches(Level &v, VpSpace space)
{
  const int nq = 1 << v.dim, w = VpFdmSize(v.n);

  v.space = space;
  v.cover.assign(v.ncell, 0);
  v.start.assign(nq + 1, 0);
  for (int color = nq - 1, slot = 0; color >= 0; color--, slot++) {
    for (int32_t cell = 0; cell < v.ncell; cell++) {
      int  x[3];
      bool mine = true;
      Place(v.dim, cell, x);
      for (int d = 0; d < v.dim; d++) mine = mine && x[d] + 1 < v.nc && (x[d] + 1) % 2 == (color >> d & 1);
      if (!mine) continue;
      for (int q = 0; q < nq; q++) {
        uint32_t c = 0;
        for (int d = 0; d < v.dim; d++) c |= Spread(v.dim, x[d] + (q >> d & 1)) << d;
        v.patch.push_back((int32_t)c);
        v.cover[c] |= 1 << color;
      }
      for (int d = 0; d < v.dim; d++) v.type.push_back(v.entry(d) + (x[d] == 0 ? 0 : x[d] + 2 == v.nc ? 2 : 1));
    }
    v.start[slot + 1] = (int32_t)(v.patch.size() / nq);
  }
  v.fdm.assign((size_t)3 * v.dim * w, 0);
  v.mirrored.assign(3 * v.dim, 0);
  for (int d = 0; d < v.dim; d++) {
    for (int p = 0; p < 3; p++) {
      const bool lo = p == 0, up = p == 2;
      VpFdmKey   key = {{v.h[d], v.h[d]},
                        {lo ? 0 : v.h[d], up ? 0 : v.h[d]},
                        {lo ? v.boundary[2 * d] : VP_SIDE_INTERIOR, up ? v.boundary[2 * d + 1] : VP_SIDE_INTERIOR},
                        0,
                        {0, 0},
                        0,
                        0};
      double    *F = &v.fdm[(size_t)(v.entry(d) + p) * w];
      VpFdmBuild(&v.basis, &key, space, 1, F);
      v.mirrored[v.entry(d) + p] = VpFdmIsMirrored(&key);
    }
  }
}

/* Cells of several sizes along y, with lines and patches of their own at each place. Requires: MakePatches() */
static void MakeGraded(Level &v, double reaction)
{
  static const double sizes[8] = {1, 2, 2, 2, 2, 1, 1, 3};
  const int           n = v.n, w = VpLineSize(n), f = VpFdmSize(n), nc = v.nc;

  v.lines.assign((size_t)v.dim * nc * w, 0), v.drop.assign((size_t)2 * v.dim * nc * w, 0);
  v.fdm.assign((size_t)v.dim * nc * f, 0), v.mirrored.assign(v.dim * nc, 0);
  for (int e = 0; e < v.dim * nc; e++) {
    const int  d = e / nc, x = e % nc;
    const auto h = [&](int at) { return at < 0 || at >= nc ? 0 : v.h[d] * (d == 1 ? sizes[at % 8] : 1); };
    const auto side = [&](int s, int at) { return at < 0 || at >= nc ? v.boundary[2 * d + s] : VP_SIDE_INTERIOR; };
    VpLineKey  key = {h(x), 1, {side(0, x - 1), side(1, x + 1)}, {h(x - 1), h(x + 1)}, {1, 1}, 0, {}};
    for (int without = 0; without < 3; without++) {
      VpLineKey part = key;
      double   *line = without ? &v.drop[(size_t)(2 * e + without - 1) * w] : &v.lines[(size_t)e * w];
      if (without && part.side[without - 1] == VP_SIDE_INTERIOR) part.side[without - 1] = VP_SIDE_NONE;
      VpLineBuild(&v.basis, &part, 1, reaction / v.dim, line, line + n * n);
    }
    if (x + 1 == nc) continue;
    const VpFdmKey patch = {{h(x), h(x + 1)}, {h(x - 1), h(x + 2)}, {side(0, x - 1), side(1, x + 2)}, 0, {0, 0}, 0, 0};
    double        *F = &v.fdm[(size_t)e * f];
    VpFdmBuild(&v.basis, &patch, v.space, 1, F);
    v.mirrored[e] = VpFdmIsMirrored(&patch);
  }
  for (size_t i = 0; i < v.line.size() + v.type.size(); i++) {
    const size_t j = i < v.line.size() ? i : i - v.line.size();
    int          x[3];
    Place(v.dim, i < v.line.size() ? (int32_t)(j / v.dim) : v.patch[j / v.dim << v.dim], x);
    const int d = j % v.dim, last = nc - (i < v.line.size() ? 1 : 2); /* Along x and z all interior places are equal. */
    (i < v.line.size() ? v.line : v.type)[j] = (int32_t)(d * nc + (d == 1 || x[d] == 0 || x[d] == last ? x[d] : 1));
  }
  v.reaction = reaction;
  v.common.found = PETSC_FALSE;
}

/* Numbers colours in the order of their launches. */
static void ColorsAsLaunched(Level &v)
{
  const int nc = 1 << v.dim;

  for (uint8_t &cover : v.cover) {
    uint8_t turned = 0;
    for (int c = 0; c < nc; c++) turned |= (cover >> c & 1) << (nc - 1 - c);
    cover = turned;
  }
}

/* a level with every third patch */
static Level SomePatches(const Level &v)
{
  const int nq = 1 << v.dim;
  Level     some = v;

  some.patch.clear(), some.type.clear(), some.factor.clear();
  some.cover.assign(v.ncell, 0);
  for (int color = 0; color < nq; color++) {
    for (int32_t i = v.start[color]; i < v.start[color + 1]; i++) {
      if (i % 3) continue;
      some.patch.insert(some.patch.end(), &v.patch[(size_t)i * nq], &v.patch[(size_t)i * nq] + nq);
      some.type.insert(some.type.end(), &v.type[(size_t)i * v.dim], &v.type[(size_t)i * v.dim] + v.dim);
      for (int q = 0; q < nq; q++) some.cover[v.patch[(size_t)i * nq + q]] |= 1 << color;
    }
    some.start[color + 1] = (int32_t)(some.patch.size() / nq);
  }
  return some;
}

static void MakeTransfers(Level &v)
{
  const int n = v.n, nq = 1 << v.dim;

  v.P.assign(2 * n * n, 0), v.R.assign(2 * n * n, 0), v.enter.assign(n * n, 0), v.leave.assign(n * n, 0);
  VpTransferBuild(&v.basis, 0.5, v.P.data(), v.R.data());
  Call(VpBasisChange(&v.outer, &v.basis, v.enter.data()));
  Call(VpBasisChange(&v.basis, &v.outer, v.leave.data()));
  v.parent.resize(v.ncell), v.corner.resize(v.ncell), v.child.resize(v.ncell);
  for (int32_t c = 0; c < v.ncell; c++) {
    v.parent[c] = c / nq;
    v.corner[c] = (c & 1) | (c >> 1 & 1) << 2 | (v.dim == 3 ? (c >> 2 & 1) << 4 : 0);
    v.child[c] = c;
  }
}

/* Fills a level with random tables, which satisfy no symmetry. */
static void Scramble(Level &v)
{
  const int m = 2 * v.n;

  v.lines = RandomReals(v.lines.size());
  v.drop = RandomReals(v.drop.size());
  for (int32_t &e : v.line) e = rand() % (3 * v.dim);
  for (double &f : v.fdm) f = Random();
  for (size_t e = 0; e < v.fdm.size() / VpFdmSize(v.n); e++)
    for (int i = 0; i < m; i++) v.fdm[e * VpFdmSize(v.n) + 2 * m * m + i] = 1 + i;
  for (int32_t &t : v.type) t = rand() % (3 * v.dim);
  v.common.found = PETSC_FALSE;
  std::fill(v.mirrored.begin(), v.mirrored.end(), 0);
  v.factor = RandomReals((v.patch.size() >> v.dim) * (v.dim + 1));
  for (double &a : v.factor) a += 2;
  v.reaction = 0.7;
}

/* a level as seen by kernels */
struct Views {
  VpView         cells = VpView();
  VpPatchView    patches = VpPatchView();
  VpTransferView transfer = VpTransferView();
};

/* place.Array(integers) and place.Real(numbers) return the place of an array. */
template <class Place>
static Views ViewsOf(const Level &v, int32_t nown, Place &place)
{
  Views w;

  w.cells.basis = &v.basis, w.cells.dim = v.dim, w.cells.n = v.n, w.cells.nt = v.basis.nt;
  w.cells.first[0] = v.basis.first[0], w.cells.first[1] = v.basis.first[1];
  w.cells.nown = nown, w.cells.nsweep = w.cells.nlocal = v.ncell;
  w.cells.neighbor = place.Array(v.neighbor), w.cells.line = place.Array(v.line);
  w.cells.lines = place.Real(v.lines), w.cells.traces = place.Real(v.traces), w.cells.expand = place.Real(v.expand);
  w.cells.enter = place.Real(v.enter), w.cells.leave = place.Real(v.leave);
  w.cells.common = v.common, w.patches.common = CommonPatches(v);
  memcpy(w.cells.outside, v.outside, sizeof(v.outside));
  w.patches.patch = place.Array(v.patch), w.patches.type = place.Array(v.type), w.patches.cover = place.Array(v.cover);
  w.patches.fdm = place.Real(v.fdm), w.patches.mirrored = place.Array(v.mirrored), w.patches.factor = place.Real(v.factor);
  w.cells.unit = place.Real(v.unit), w.cells.coefficient = place.Real(v.coefficient),
  w.cells.reaction = v.coefficient.empty() ? 0 : v.reaction;
  w.cells.directions = v.coefficient.size() > (size_t)v.ncell ? v.dim : 1, w.patches.replaceable = place.Array(v.replaceable);
  w.patches.lacks = v.space, w.patches.reaction = v.reaction, w.patches.cutoff = -1, w.patches.drop = place.Real(v.drop);
  w.transfer.P = place.Real(v.P), w.transfer.R = place.Real(v.R), w.transfer.reverse = (PetscBool)v.thin;
  w.transfer.parent = place.Array(v.parent), w.transfer.corner = place.Array(v.corner), w.transfer.child = place.Array(v.child);
  w.transfer.ncoarse = v.ncell >> v.dim, w.transfer.merged = (1 << v.dim) - 1;
  return w;
}

/* arrays in their own memory */
struct InPlace {
  template <class A>
  const A *Array(const std::vector<A> &a)
  {
    return a.empty() ? NULL : a.data();
  }
  const void *Real(const Reals &a)
  {
    return Array(a);
  }
};
