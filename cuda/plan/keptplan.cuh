/* Setting up the kernel of keptpatch.cuh: K and L K from the tables of common cells and patches. */
#pragma once
#include "../patch/keptpatch.cuh"
#include "sortplan.cuh"

template <class T, int N, int TRACES>
struct KeptPlan : VpPlan {
  VpArray                  sides;
  KeptTables<T, N, TRACES> tables;
};

template <class T, int N, int TRACES>
struct KeptSetup {
  static constexpr int  m = 2 * N, nt = VpThinLayers(N, 3);
  static constexpr bool thin = nt < VpDenseLayers(N);

  const SweepSetup<T, N> setup;
  const int              lacks; /* functions that the space lacks at a side */
  T                      traces[2][2][nt], expand[2][2][nt];
  T                      root[2] = {1, 1}; /* as of VpPatchView; 1 between common cells */
  const T               *fdm, *line[2];    /* of a patch along a direction; of its lower and its upper cell */

  explicit KeptSetup(const SweepSetup<T, N> &s) : setup(s), lacks(s.patches->lacks)
  {
    VpTabulate(VpBasisTrace, s.view->basis, traces);
    VpTabulate(VpBasisExpand, s.view->basis, expand);
  }
  /* value (f = 0) or slope at end `end` of a function of one cell */
  double Trace(int end, int f, const double u[N]) const
  {
    double sum = 0;

    for (int i = 0; i < nt; i++) sum += (double)traces[end][f][i] * u[setup.view->first[end] + i];
    return sum;
  }
  /* what f = 0 (value) or 1 (slope) beyond the side of cell c adds */
  double Add(int c, int side, int f, int i) const
  {
    return line[c][VpLineSide(N, side) + f * N + i];
  }

  /* K = (I - B F) e for a function e of cell s that has trace f there and no other */
  void Keep(int s, int f, double K[N]) const
  {
    double e[N] = {};

    for (int i = 0; i < nt && !thin; i++) e[i] = expand[s][f][i];
    if (thin) e[s ? N - 1 - f : f] = 1;
    for (int i = 0; i < N; i++) K[i] = e[i];
    for (int mode = 0; mode < m; mode++) {
      double c = 0;
      for (int j = 0; j < N; j++) c += (double)fdm[mode * m + s * N + j] * e[j];
      for (int i = 0; i < N; i++) K[i] -= c * (double)fdm[VpBackAt(m) + (s * N + i) * m + mode];
    }
  }

  /* LK = L K, where L has the face between the cells, but not the one at side s, up to functions that S^T M takes to 0: so what a slope
     adds there does not count */
  void Operate(int s, const double K[N], double LK[m]) const
  {
    double *own = LK + s * N, *other = LK + (1 - s) * N;

    for (int i = 0; i < N; i++) {
      own[i] = other[i] = 0;
      for (int j = 0; j < N; j++) own[i] += (double)line[s][i * N + j] * K[j];
      for (int f = 0; f < 2; f++) {
        own[i] += root[s] * Add(s, s, f, i) * Trace(s, f, K);
        other[i] += Add(1 - s, s, f, i) * Trace(1 - s, f, K);
      }
    }
  }
  /* The face at side s sees the jump of values there: S^T M takes what slopes add to 0, so as much of that as helps goes away. */
  void AddJump(int s, const double K[N], double LK[m], double beyond[m]) const
  {
    const double own = root[s] * Trace(s, 0, K), other = thin ? (double)traces[1 - s][0][s ? 0 : nt - 1] : 1;
    double       along = 0, slopes = 0;

    for (int i = 0; i < N; i++) {
      along += Add(s, s, 0, i) * Add(s, s, 1, i);
      slopes += Add(s, s, 1, i) * Add(s, s, 1, i);
    }
    for (int i = 0; i < N; i++) {
      const double g = Add(s, s, 0, i) - along / slopes * Add(s, s, 1, i);
      LK[s * N + i] -= g * own;
      beyond[s * N + i] = g * other;
    }
  }

  /* K and L K of side s */
  void Solve(int s, bool beyond, double K[TRACES][N], double LK[TRACES][m]) const
  {
    for (int f = 0; f < lacks; f++) {
      Keep(s, f, K[f]);
      Operate(s, K[f], LK[f]);
    }
    if (beyond) AddJump(s, K[0], LK[0], LK[TRACES - 1]);
  }
  /* the tables of side s in direction d; sides: KeptTables.sides on the host */
  void FillSide(int d, int s, bool beyond, KeptTables<T, N, TRACES> *tables, T *sides) const
  {
    double K[TRACES][N] = {}, LK[TRACES][m] = {};

    Solve(s, beyond, K, LK);
    for (int f = 0; f < TRACES; f++) {
      for (int i = 0; i < m; i++) {
        if (d == 2) tables->add[s][f][i] = (T)LK[f][i];
        else sides[((2 * d + s) * m + i) * TRACES + f] = (T)LK[f][i];
      }
      for (int i = 0; i < N; i++) tables->keep[s][f][i] = sides[(4 * m + s * N + i) * TRACES + f] = (T)K[f][i];
    }
  }
  /* where neighbours' values count, they are the second trace, unless the space also lacks slopes */
  bool Beyond() const
  {
    return lacks < TRACES;
  }

  PetscErrorCode Fill(KeptPlan<T, N, TRACES> *plan)
  {
    const VpView *view = setup.view;
    const bool    found = setup.patches->common.found;
    T             sides[5 * m * TRACES] = {}, F[VpFdmSize(N)], D[VpLineSize(N)];

    PetscFunctionBegin;
    plan->tables = KeptTables<T, N, TRACES>();
    fdm = F;
    line[0] = line[1] = D;
    for (int d = 0; found && d < 3; d++) {
      PetscCall(VpCudaFetchEntry(setup.patches->fdm, setup.patches->common.inside[d], F));
      PetscCall(VpCudaFetchEntry(view->lines, view->common.inside[d], D));
      for (int s = 0; s < 2; s++) FillSide(d, s, Beyond(), &plan->tables, sides);
    }
    for (int s = 0; s < 2; s++) {
      for (int f = 0; f < TRACES; f++) {
        const bool beyond = Beyond() && f;
        for (int i = 0; i < nt; i++) plan->tables.trace[s][f][i] = beyond ? traces[1 - s][0][i] : traces[s][f][i];
      }
    }
    PetscCall(VpCudaPlace(sides, sizeof(sides), "tables of common patches", &plan->sides));
    plan->tables.beyond = Beyond();
    plan->tables.sides = (const T *)plan->sides.p;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* the tails of sorted patches */
template <class T, int N, int TRACES>
struct KeptTail {
  typedef SortTail<N, TRACES> Tail;
  static constexpr int        m = 2 * N, size = Tail::LK;

  KeptSetup<T, N, TRACES> kept;

  /* to[size - m] before the eigenvalues; at the domain's boundary there is nothing */
  void Fill(const SortEntry<T, N> &e, int sides, T to[])
  {
    T *LKs = to, *Ks = to + Tail::LK - Tail::K;

    kept.fdm = e.fdm;
    for (int s = 0; s < 2; s++) {
      kept.line[s] = e.line[s];
      kept.root[s] = e.root[s];
    }
    for (int s = 0; s < 2; s++) {
      double K[TRACES][N] = {}, LK[TRACES][m] = {};
      if (!(sides >> s & 1)) kept.Solve(s, kept.Beyond(), K, LK);
      for (int f = 0; f < TRACES; f++) {
        for (int i = 0; i < m; i++) LKs[(s * m + i) * TRACES + f] = (T)LK[f][i];
        for (int i = 0; i < N; i++) Ks[(s * N + i) * TRACES + f] = (T)K[f][i];
      }
    }
  }
};
