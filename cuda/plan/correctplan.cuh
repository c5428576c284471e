/* Setting up the kernel of correctpatch.cuh: K, g and boundaries from the lines of cells whose coefficient is 1 or, where the coefficient
   is the same everywhere, from the common lines, which have the reaction. */
#pragma once
#include "patchplan.cuh"

namespace vpatchdg::patch {
template <class T, int N>
struct CorrectSetup {
  static constexpr int  half = CorrectTables<T, N>::half, even = CorrectTables<T, N>::even, nt = CorrectTables<T, N>::nt;
  static constexpr bool thin = CorrectTables<T, N>::thin;

  const SweepSetup<T, N> setup;
  const VpView *const    view = setup.view;
  T                      line[VpLineSize(N)], traces[2][2][nt]; /* [end][value, slope], of its coefficients */

  explicit CorrectSetup(const SweepSetup<T, N> &of) : setup(of)
  {
  }
  /* K = D without the terms of the line's faces. A face's term is that of the jump to a neighbour's trace 0. */
  void Cell(double K[N][N]) const
  {
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < N; j++) K[i][j] = line[i * N + j];
      for (int s = 0; s < 2; s++)
        for (int f = 0; f < 2; f++)
          for (int j = 0; j < nt; j++) K[i][view->first[s] + j] += (double)line[VpLineSide(N, s) + f * N + i] * (double)traces[s][f][j];
    }
  }
  /* Sets `to`, from which jumps j at side s of the domain are made. The traces beyond are B times the cell's own ones (VpLineBoundary), so
     T(beyond) j = (B - I) T(own). If pairs are values and slopes, T is 1. */
  void Outside(const double B[4], int s, T to[2][2]) const
  {
    const T one[2][2] = {{T(1), T(0)}, {T(0), T(1)}};
    const T(*own)[2] = one, (*beyond)[2] = one;

    if constexpr (thin) {
      own = traces[s];
      beyond = traces[1 - s];
    }
    const double det = (double)beyond[0][0] * beyond[1][1] - (double)beyond[0][1] * beyond[1][0];
    for (int g = 0; g < 2; g++) {
      const double value = (B[0] - 1) * own[0][g] + B[1] * own[1][g], slope = B[2] * own[0][g] + (B[3] - 1) * own[1][g];
      const int    pair = thin ? 1 - g : g; /* its place in CorrectPair */
      to[0][pair] = (T)((beyond[1][1] * value - beyond[0][1] * slope) / det);
      to[1][pair] = (T)((beyond[0][0] * slope - beyond[1][0] * value) / det);
    }
  }
  /* half of what K does to even functions (1) or to odd ones (-1), from function j to i of these */
  static T Half(const double K[N][N], int sign, int i, int j)
  {
    const int odd = sign < 0;

    if (!thin) return (T)K[2 * i + odd][2 * j + odd];
    return (T)(j < half ? (K[i][j] + sign * K[i][N - 1 - j]) / 2 : K[i][half]);
  }
  static T HalfOf(const T add[N], int sign, int i)
  {
    if (!thin) return add[2 * i + (sign < 0)];
    return i < half ? (add[i] + sign * add[N - 1 - i]) / 2 : add[half];
  }
  void Direction(int d, CorrectTables<T, N> *tables) const
  {
    double K[N][N];

    Cell(K);
    for (int i = 0; i < even * even; i++) tables->even_K[d][i] = Half(K, 1, i / even, i % even);
    for (int i = 0; i < half * half; i++) tables->odd_K[d][i] = Half(K, -1, i / half, i % half);
    for (int f = 0; f < 2; f++) {
      T add[N];
      for (int i = 0; i < N; i++) add[i] = SweepSetup<T, N>::TraceAdds(line + VpLineSide(N, 0), traces[1], f, i);
      for (int i = 0; i < even; i++) tables->even_add[d][f][i] = HalfOf(add, 1, i);
      for (int i = 0; i < half; i++) tables->odd_add[d][f][i] = HalfOf(add, -1, i);
    }
    for (int s = 0; s < 2; s++) Outside(view->outside[d][s], s, tables->outside[d][s]);
  }

  PetscErrorCode Fill(CorrectTables<T, N> *tables)
  {
    PetscFunctionBegin;
    if (!setup.HasInside()) PetscFunctionReturn(PETSC_SUCCESS);
    VpTabulate(VpBasisTrace, view->basis, traces);
    for (int d = 0; d < 3; d++) {
      PetscCall(setup.Inside(d, line));
      Direction(d, tables);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
} // namespace vpatchdg::patch
