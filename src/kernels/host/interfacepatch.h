/* Interface patches of a level of an adaptive mesh, W at a time: a leaf K of the coarser level and the cells F beyond one of its sides
   (VpInterfaceView). The blocks of K and F are solved one by one, and a dense matrix of the side couples them:

       r_K, r_F --> y = A_FF^-1 r_F --> r_K -= A_KF y --> u = S^-1 r_K --> y -= A_FF^-1 A_FK u --> K += u, F += y, b -= A_FK u

   If the coefficient is the same everywhere, the inverse of A_FF is exact. Then r_F is without A_FF x, r_K without A_KF x, and F = y. */
#pragma once
#include "interfacesum.h"

/* The patches at work, all on the same side of their K. */
typedef struct {
  Interfaces  interfaces;
  const REAL *bc;                   /* the coarser level's right-hand side */
  REAL       *new_x, *new_xc;       /* values of both levels, which are written */
  int         side;                 /* number of this side */
  unsigned    hang;                 /* bits of the sides that hang for some K */
  int32_t     K[W], at[2 * DIM][W]; /* K; indices of its sides in the view, -1 if they do not hang */
  int         place[FACES][VALUES]; /* indices of values of a cell F among the values of all F */
  Modes       coarser, finer;       /* of K, of all F */
  const REAL *entry[W];             /* the entries from which the following is made: */
  V           weight, table[(DIM + 1) * (2 * VP_MAX_N + 1) * VP_MAX_N + (DIM - 1) * (2 * M + 1) * M + (1 + FACES) * VALUES + 8 * VP_MAX_N];
} Patches;

/* r -= what the cells' own values `own` add to A x */
OUTLINE void SubtractLines(const Interfaces *e, const VpView *view, const int32_t cell[W], const V own[], V r[])
{
  const int n = e->degree->n, N = Count(e);
  V         D[VP_MAX_N * VP_MAX_N], v[VALUES];

  for (int d = 0, stride = 1; d < DIM; d++, stride *= n) {
    const REAL *line[W];

    for (int l = 0; l < W; l++) line[l] = Line(view->lines, n, view->line[(size_t)cell[l] * DIM + (size_t)d]);
    LoadLanes(n * n, line, 0, D);
    memcpy(v, own, (size_t)N * sizeof(V));
    e->degree->lanes[0](D, N / (n * stride), stride, v);
    for (int i = 0; i < N; i++) r[i] -= v[i];
  }
}

/* r -= what the cells beyond a side add to A x, in lanes where skip is negative; x: the level's values */
OUTLINE void SubtractSide(const Interfaces *e, const VpView *view, const int32_t cell[W], int side, const int32_t skip[W], const REAL *x,
                          V r[])
{
  Halo    halo = HaloOf(view, e->degree->n, side, cell);
  int32_t beyond[W], any = -1;
  V       u[VALUES];

  for (int l = 0; l < W; l++) {
    beyond[l] = skip[l] < 0 ? view->neighbor[(size_t)cell[l] * 2 * DIM + (size_t)side] : -1;
    any = PetscMax(any, beyond[l]);
  }
  Pointers(e, x, beyond, halo.beyond);
  if (any >= 0) e->degree->halo(view, &halo, u, r);
}

/* r = the residual of K, with traces of the finer level on sides that hang. If F's values are replaced, r lacks the terms of F, which
   SolvePatches subtracts. */
OUTLINE void CoarseResidual(const Patches *p, V r[])
{
  const Interfaces *e = &p->interfaces;
  const REAL       *from[W];
  V                 own[VALUES];
  Traces            t;

  Pointers(e, p->bc, p->K, from);
  LoadCells(Count(e), 0, Count(e), from, NULL, r);
  Pointers(e, e->xc, p->K, from);
  LoadCells(Count(e), 0, Count(e), from, NULL, own);
  SubtractLines(e, e->coarse, p->K, own, r);
  for (int side = 0; side < 2 * DIM; side++) {
    SubtractSide(e, e->coarse, p->K, side, p->at[side], e->xc, r);
    if (!(p->hang >> side & 1)) continue;
    if (Varies(e)) SideTraces(e->coarse, e->degree->n, side, own, t);
    if (side != p->side || Varies(e)) SubtractBeyond(e, side, p->at[side], Varies(e) ? t : NULL, r);
  }
}

/* skip[l] = 1 where the cell beyond a side is one of the patch's F, else -1 */
INLINE void SkipFine(const Patches *p, const int32_t cell[W], int side, int32_t skip[W])
{
  for (int l = 0; l < W; l++) {
    const int32_t *F = Side(&p->interfaces, p->at[p->side][l])->cell + 1;

    skip[l] = -1;
    for (int i = 0; i < FACES; i++) {
      if (p->interfaces.fine->neighbor[(size_t)cell[l] * 2 * DIM + (size_t)side] == F[i]) skip[l] = 1;
    }
  }
}

/* y on all F = the residual where the coefficient varies. Elsewhere F's values are replaced, and y = b less what other cells add to A x. */
OUTLINE void FineRight(const Patches *p, V y[])
{
  const Interfaces *e = &p->interfaces;
  const int         N = Count(e);

  for (int i = 0; i < FACES; i++) {
    const REAL *from[W];
    int32_t     cell[W], skip[W];
    V           r[VALUES], own[VALUES];

    Beyond(e, p->at[p->side], i, cell);
    Pointers(e, e->b, cell, from);
    LoadCells(N, 0, N, from, NULL, r);
    if (Varies(e)) {
      Pointers(e, e->x, cell, from);
      LoadCells(N, 0, N, from, NULL, own);
      SubtractLines(e, e->fine, cell, own, r);
    }
    memset(skip, -1, sizeof skip);
    for (int side = 0; side < 2 * DIM; side++) {
      if (!Varies(e)) SkipFine(p, cell, side, skip);
      SubtractSide(e, e->fine, cell, side, skip, e->x, r);
    }
    for (int k = 0; k < N; k++) y[p->place[i][k]] = r[k];
  }
}

/* t = Z t */
OUTLINE void Couple(const Patches *p, Traces t)
{
  const Interfaces *e = &p->interfaces;
  const int         n = e->degree->n, m = Power(n) / n, from = VpInterfaceZ(n, DIM);

  for (int l = 0; l < W; l++) {
    const REAL *Z = p->entry[l] + from;
    REAL        sum[2 * LINES] = {0};

    for (int column = 0; column < 2 * m; column++) {
      for (int row = 0; row < 2 * m; row++) sum[row] += Z[column * 2 * m + row] * t[column][l];
    }
    for (int row = 0; row < 2 * m; row++) t[row][l] = sum[row];
  }
}

/* Solves for y and u in modes, from r_F in y and r_K in u. */
OUTLINE void SolvePatches(const Patches *p, V y[], V u[])
{
  const Interfaces *e = &p->interfaces;
  const VpHangView *sides = &e->interfaces->sides;
  const int32_t    *at = p->at[p->side];
  const int         n = e->degree->n, lines = Power(n) / n;
  V                 form[VP_HANG_FORM], wide[2 * FACES * LINES];
  Traces            t, sum;

  LoadForms(sides, at, form);
  Solve(&p->finer, p->weight, y);
  TracesOf(&p->finer, y, wide);
  ClearLanes(2 * lines, sum);
  for (int i = 0; i < FACES; i++) {
    for (int l = 0; l < 2 * lines; l++) t[l] = wide[l / lines * FACES * lines + VpInterfaceTrace(n, i, l % lines)];
    AddFromFine(e, form, i, NULL, t, sum);
  }
  AddLift(sides, n, p->side, -1, sum, u);
  Solve(&p->coarser, p->weight, u);
  TracesOf(&p->coarser, u, t);
  Couple(p, t);
  AddLifted(&p->coarser, (V){0} + 1, t, u);
  TracesOf(&p->coarser, u, t);
  for (int i = 0; i < FACES; i++) {
    ToFine(e, form, form[VP_HANG_A + i], i, t, sum);
    for (int l = 0; l < 2 * lines; l++) wide[l / lines * FACES * lines + VpInterfaceTrace(n, i, l % lines)] = sum[l];
  }
  AddLifted(&p->finer, -p->weight, wide, y);
}

/* Adds u [values] to the coarser level's vector, adds y to the finer level's vector or stores y there, and subtracts A_FK u from b. */
OUTLINE void StorePatches(const Patches *p, const V y[], V u[])
{
  const Interfaces *e = &p->interfaces;
  const int         N = Count(e);
  REAL             *to[W], spare[VALUES] = {0};

  for (int i = 0; i < FACES; i++) {
    int32_t cell[W];
    V       v[VALUES];

    Beyond(e, p->at[p->side], i, cell);
    for (int k = 0; k < N; k++) v[k] = y[p->place[i][k]];
    Targets(e, p->new_x, cell, spare, to);
    if (Varies(e)) AddCells(N, v, to);
    else StoreCells(N, v, NULL, NULL, to);
  }
  for (int side = 0; side < 2 * DIM; side++) {
    Traces t;

    if (!(p->hang >> side & 1)) continue;
    SideTraces(e->coarse, e->degree->n, side, u, t);
    AddBeyond(e, side, p->at[side], -1, t);
  }
  AddTo(e, p->new_xc, p->K, u);
}

/* Sets what depends on the side: modes and indices. */
INLINE void SetSide(Patches *p, int side)
{
  const Degree *degree = p->interfaces.degree;
  const int     n = degree->n;

  p->side = side;
  p->coarser = (Modes){VpInterfaceBlockOf(n, DIM, side / 2, 0), {degree->lanes[0], degree->lanes[0]}, p->table};
  p->finer = (Modes){VpInterfaceBlockOf(n, DIM, side / 2, 1), {degree->lanes[0], degree->lanes[1]}, p->table};
  const int stride = VpBlockStride(&p->coarser.block), wide = VpBlockStride(&p->finer.block);
  for (int i = 0; i < FACES; i++) {
    for (int l = 0; l < Power(n) / n; l++) {
      const int from = VpLineStart(n, stride, l), to = VpLineStart(n, wide, VpInterfaceTrace(n, i, l));

      for (int k = 0; k < n; k++) p->place[i][from + k * stride] = to + k * wide;
    }
  }
}

/* Sets the tables of the patches at work, unless they are set already. */
INLINE void SetTables(Patches *p)
{
  const VpInterfaceView *interfaces = p->interfaces.interfaces;
  const int              n = p->interfaces.degree->n;
  REAL                   weight[W];
  int                    known = 1;

  for (int l = 0; l < W; l++) {
    const int32_t at = p->at[p->side][l];
    const REAL   *entry = (const REAL *)interfaces->table + (size_t)interfaces->type[at] * (size_t)VpInterfaceSize(n, DIM);

    weight[l] = interfaces->weight ? ((const REAL *)interfaces->weight)[at] : 1;
    known &= entry == p->entry[l] && weight[l] == p->weight[l];
    p->entry[l] = entry;
  }
  if (known) return;
  p->weight = Load(weight);
  LoadLanes(VpInterfaceZ(n, DIM), p->entry, 0, p->table);
  for (int i = VpInterfaceSums(n, DIM, 0); i < VpInterfaceEnds(n, DIM, 0, 0); i++)
    p->table[i] = 1 / (p->table[i] + (REAL)interfaces->reaction * p->weight);
}

/* Takes the next patches, at most W, that are on the same side. */
INLINE void SetPatches(Patches *p, int32_t next, int32_t last)
{
  Interfaces    *e = &p->interfaces;
  const int32_t *order = e->interfaces->order + next;
  const int      side = Side(e, order[0])->side;

  for (e->count = 1; e->count < W && next + e->count < last && Side(e, order[e->count])->side == side;) e->count++;
  p->hang = 0;
  for (int l = 0; l < W; l++) {
    const int32_t at = order[l < e->count ? l : 0];

    p->K[l] = Side(e, at)->cell[0];
    for (int i = 0; i < 2 * DIM; i++) {
      p->at[i][l] = e->interfaces->around[(size_t)at * 2 * DIM + (size_t)i];
      p->hang |= (unsigned)(p->at[i][l] >= 0) << i;
    }
  }
  if (p->side != side) SetSide(p, side);
  SetTables(p);
}
