/* The tables of paper.cu's kernels: one-dimensional matrices in the nodal basis at Gauss-Lobatto points, on the host, row-major. */
#pragma once
#include "kernels.cuh"
#include <petscsf.h>
extern "C" {
#include "../../src/tables/tables.h"
}
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

typedef std::vector<double> Reals;

#define Require(...) \
  do { \
    if (!(__VA_ARGS__)) { \
      printf("Bail out! %s\n", #__VA_ARGS__); \
      exit(1); \
    } \
  } while (0)

/* out [rows][cols] = A [rows][inner] B [inner][cols]; transposed: A is given as [inner][rows] */
static Reals Product(int rows, int inner, int cols, bool transposed, const Reals &A, const Reals &B)
{
  Reals out((size_t)rows * cols, 0.);

  for (int i = 0; i < rows; i++)
    for (int k = 0; k < inner; k++)
      for (int j = 0; j < cols; j++) out[i * cols + j] += (transposed ? A[k * rows + i] : A[i * inner + k]) * B[k * cols + j];
  return out;
}

static Reals Inverse(int n, Reals A)
{
  Reals B((size_t)n * n, 0.);

  for (int i = 0; i < n; i++) B[i * n + i] = 1;
  for (int p = 0; p < n; p++) {
    int top = p;
    for (int i = p; i < n; i++)
      if (fabs(A[i * n + p]) > fabs(A[top * n + p])) top = i;
    for (int j = 0; j < n; j++) std::swap(A[p * n + j], A[top * n + j]), std::swap(B[p * n + j], B[top * n + j]);
    for (int i = 0; i < n; i++) {
      const double f = i == p ? 1 - 1 / A[p * n + p] : A[i * n + p] / A[p * n + p];
      for (int j = 0; j < n; j++) A[i * n + j] -= f * A[p * n + j], B[i * n + j] -= f * B[p * n + j];
    }
  }
  return B;
}

/* matrices in the nodal basis on cells of size h. values [n][n]: of the orthonormal functions (columns) at the nodes, and its inverse */
struct Nodal {
  int     n;
  double  h;
  VpBasis basis;
  Reals   node, values, coefficients;

  Nodal(int k, int nc) : n(k + 1), h(1. / nc), node(k + 1), values((k + 1) * (k + 1))
  {
    Require(VpBasisCreate(VP_BASIS_ORTHONORMAL, k, &basis) == 0);
    for (int i = 0; i < n; i++) {
      double x = -cos(M_PI * i / k), phi[VP_MAX_N];
      for (int newton = 0; newton < 50; newton++) {
        double p = 1, q = x; /* Legendre polynomials of degree l - 1 and l; the nodes are the zeros of (1 - x^2) P_k' */
        for (int l = 2; l <= k; l++) {
          const double next = ((2 * l - 1) * x * q - (l - 1) * p) / l;
          p = q, q = next;
        }
        x -= (x * q - p) / (n * q);
      }
      node[i] = (x + 1) / 2;
      VpBasisEvaluate(&basis, node[i], phi, NULL);
      for (int j = 0; j < n; j++) values[i * n + j] = phi[j] / sqrt(h);
    }
    coefficients = Inverse(n, values);
  }
  /* L on a row of cells with the given faces at its two ends; what a cell beyond an end adds is left out */
  Reals Chain(int cells, VpSide lower, VpSide upper) const
  {
    const int size = cells * n;
    Reals     L((size_t)size * size, 0.), block(n * n), D(n * n), g(4 * n);

    for (int c = 0; c < cells; c++) {
      const VpLineKey key = {h, 1, {c == 0 ? lower : VP_SIDE_INTERIOR, c == cells - 1 ? upper : VP_SIDE_INTERIOR}, {h, h}, {1, 1}, 0, {}};
      VpLineBuild(&basis, &key, 1, 0, D.data(), g.data());
      for (int s = -1; s < 2; s++) { /* columns of the cell below, this one, the one above */
        const int end = s > 0;
        if (c + s < 0 || c + s >= cells) continue;
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            block[i * n + j] =
              s ? g[2 * end * n + i] * basis.value[1 - end][j] + g[(2 * end + 1) * n + i] * basis.slope[1 - end][j] : D[i * n + j];
        const Reals nodal = Product(n, n, n, true, coefficients, Product(n, n, n, false, block, coefficients));
        for (int i = 0; i < n * n; i++) L[(c * n + i / n) * size + (c + s) * n + i % n] = nodal[i];
      }
    }
    return L;
  }
  Reals Mass(int cells) const
  {
    const Reals one = Product(n, n, n, true, coefficients, coefficients);
    const int   size = cells * n;
    Reals       M((size_t)size * size, 0.);

    for (int c = 0; c < cells; c++)
      for (int i = 0; i < n * n; i++) M[(c * n + i / n) * size + c * n + i % n] = one[i];
    return M;
  }
};

/* the entry `kind` of the kernels' tables (kernels.cuh) */
static Reals Table(const Nodal &line, int kind, VpSpace space)
{
  const int    n = line.n, m = 2 * n, cut = kind == REDUCED ? 1 : 0, P = m - 2 * cut;
  const bool   at[2] = {kind == LOWER || kind == BOTH, kind == UPPER || kind == BOTH}, full = space == VP_SPACE_FULL;
  const VpSide end = full ? VP_SIDE_INTERIOR : VP_SIDE_NONE;
  const double h = line.h;
  VpFdmKey     key = {{h, h},
                      {at[0] ? 0 : h, at[1] ? 0 : h},
                      {at[0] ? VP_SIDE_DIRICHLET : VP_SIDE_INTERIOR, at[1] ? VP_SIDE_DIRICHLET : VP_SIDE_INTERIOR},
                      0,
                      {0, 0},
                      0,
                      0};
  Reals        table = line.Chain(2, at[0] ? VP_SIDE_DIRICHLET : end, at[1] ? VP_SIDE_DIRICHLET : end),
        four = line.Chain(4, VP_SIDE_DIRICHLET, VP_SIDE_DIRICHLET);
  Reals fdm(VpFdmSize(n)), S, kept;

  VpFdmBuild(&line.basis, &key, space, 1, fdm.data());
  const Reals B(fdm.begin() + VpBackAt(m), fdm.begin() + VpLambdaAt(m)), lambda(fdm.begin() + VpLambdaAt(m), fdm.end());
  for (int c = 0; c < 2; c++) {
    const Reals half = Product(n, n, m, false, line.values, Reals(B.begin() + c * n * m, B.begin() + (c + 1) * n * m));
    S.insert(S.end(), half.begin(), half.end());
  }
  for (int i = cut; i < m - cut; i++)
    for (int j = 0; j < m; j++)
      if (!cut || std::isfinite(lambda[j])) table.push_back(S[i * m + j]);
  for (double l : lambda)
    if (!cut || std::isfinite(l)) kept.push_back(l);
  Require((int)kept.size() == P && (int)table.size() == m * m + P * P);
  table.insert(table.end(), kept.begin(), kept.end());
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) table.push_back(four[(n + i) * 2 * m + (j < n ? j : m + j)]);
  table.resize(Stride(m));
  return table;
}

/* y = A x on the lattice of q functions a side: dense matrices, direction by direction */
static Reals Along(int q, int d, const Reals &A, const Reals &x)
{
  const size_t stride = d == 0 ? 1 : d == 1 ? q : (size_t)q * q;
  Reals        y(x.size(), 0.);

  for (size_t at = 0; at < x.size(); at++) {
    const size_t i = at / stride % q;
    for (int j = 0; j < q; j++) y[at] += A[i * q + j] * x[at + (j - i) * stride];
  }
  return y;
}
static Reals Apply(const Nodal &line, int nc, const Reals &x)
{
  const int   q = nc * line.n;
  const Reals M = line.Mass(nc), L = line.Chain(nc, VP_SIDE_DIRICHLET, VP_SIDE_DIRICHLET);
  Reals       y(x.size(), 0.);

  for (int d = 0; d < 3; d++) {
    Reals part = x;
    for (int e = 0; e < 3; e++) part = Along(q, e, e == d ? L : M, part);
    for (size_t i = 0; i < y.size(); i++) y[i] += part[i];
  }
  return y;
}
