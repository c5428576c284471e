/* Terms of A x between leaves K of the coarser level and the cells F beyond their sides, where the finer level ends (VpInterfaceView).
   Functions work on W sides at a time, one per lane. All are the same side of their K. A lane without a side has the index -1. */
#pragma once
#include "hanging.h"

/* v [slow][m][fast] = A v, with one matrix per lane. A degree has one function for m = n and one for m = 2n. */
typedef void Lanes(const V A[], int slow, int fast, V v[]);
#define VP_LANES(name, k, m) \
  static void name##k(const V A[], int slow, int fast, V v[]) \
  { \
    for (int l = 0; l < slow * fast; l++) LineLanes(m, A, fast, v + VpLineStart(m, fast, l)); \
  }

/* functions of one degree */
typedef struct {
  int    n;
  Along *along;                                             /* lines of n values, with one matrix for all lanes */
  Lanes *lanes[2];                                          /* lines of n and of 2n values, with one matrix per lane */
  void (*halo)(const VpView *, const Halo *, V u[], V v[]); /* SubtractHalo */
} Degree;

typedef struct {
  const Degree          *degree;
  const VpView          *fine, *coarse;
  const VpInterfaceView *interfaces;
  const REAL            *x, *xc; /* values of both levels */
  REAL                  *b;      /* the right-hand side that changes */
  int                    count;  /* number of lanes at work; the others repeat one of these */
} Interfaces;

INLINE int Count(const Interfaces *e)
{
  return Power(e->degree->n);
}

INLINE const VpFace *Side(const Interfaces *e, int32_t at)
{
  return &e->interfaces->sides.face[at];
}

/* cell [W] = the i-th cells F beyond sides, or -1 */
INLINE void Beyond(const Interfaces *e, const int32_t at[W], int i, int32_t cell[W])
{
  for (int l = 0; l < W; l++) cell[l] = at[l] < 0 ? -1 : Side(e, at[l])->cell[1 + i];
}

/* p [W] = values of cells; zeros for the cell -1 */
INLINE void Pointers(const Interfaces *e, const REAL *values, const int32_t cell[W], const REAL *p[W])
{
  for (int l = 0; l < W; l++) p[l] = cell[l] < 0 ? zero_cell : values + (size_t)cell[l] * (size_t)Count(e);
}

/* The same for cells that are written. Lanes left over, and the cell -1, write to `spare`. */
INLINE void Targets(const Interfaces *e, REAL *values, const int32_t cell[W], REAL *spare, REAL *p[W])
{
  for (int l = 0; l < W; l++) p[l] = l < e->count && cell[l] >= 0 ? values + (size_t)cell[l] * (size_t)Count(e) : spare;
}

OUTLINE void AddTo(const Interfaces *e, REAL *values, const int32_t cell[W], V v[])
{
  REAL  spare[VALUES] = {0};
  REAL *p[W];

  Targets(e, values, cell, spare, p);
  AddCells(Count(e), v, p);
}

/* t = V and Q of cells on a side */
OUTLINE void CellTraces(const Interfaces *e, const VpView *view, const REAL *values, const int32_t cell[W], int side, Traces t)
{
  const REAL *p[W];

  Pointers(e, values, cell, p);
  LoadTraces(view, e->degree->n, side, p, t);
}

/* here = the factors (Flux) of A_FK u on the i-th cell F beyond a side, where u on K has the traces t */
OUTLINE void ToFine(const Interfaces *e, const V form[], int i, Traces t, Traces here)
{
  const V turned[VP_HANG_A] = VP_TURNED_FORM(form);
  Traces  there;

  ToPart(e->degree->n, e->degree->along, e->interfaces->sides.half, i, t, there);
  ClearTraces(e->degree->n, here);
  Flux(e->degree->n, turned, form[VP_HANG_A + i], here, there);
}

/* sum += the factors (Flux) of A_KF u on K, for the traces of u on the i-th cell F beyond a side */
OUTLINE void AddFromFine(const Interfaces *e, const V form[], int i, Traces there, Traces sum)
{
  Traces here;

  ClearTraces(e->degree->n, here);
  Flux(e->degree->n, form, form[VP_HANG_A + i], here, there);
  AddFromPart(e->degree->n, e->degree->along, e->interfaces->sides.half, i, here, sum);
}

/* b += sign A_FK u on all cells F beyond sides, where u has the traces t there */
OUTLINE void AddBeyond(const Interfaces *e, int side, const int32_t at[W], REAL sign, Traces t)
{
  V form[VP_HANG_FORM], v[VALUES];

  LoadForms(&e->interfaces->sides, at, form);
  for (int i = 0; i < FACES; i++) {
    int32_t cell[W];
    Traces  here;

    ToFine(e, form, i, t, here);
    Clear(Count(e), v);
    AddLift(&e->interfaces->sides, e->degree->n, side ^ 1, sign, here, v);
    Beyond(e, at, i, cell);
    AddTo(e, e->b, cell, v);
  }
}

/* r -= A_KF x of all cells F beyond sides */
OUTLINE void SubtractBeyond(const Interfaces *e, int side, const int32_t at[W], V r[])
{
  V      form[VP_HANG_FORM];
  Traces sum, there;

  ClearTraces(e->degree->n, sum);
  LoadForms(&e->interfaces->sides, at, form);
  for (int i = 0; i < FACES; i++) {
    int32_t cell[W];

    Beyond(e, at, i, cell);
    CellTraces(e, e->fine, e->x, cell, side ^ 1, there);
    AddFromFine(e, form, i, there, sum);
  }
  AddLift(&e->interfaces->sides, e->degree->n, side, -1, sum, r);
}

/* K's line has one coefficient for all of a side, and `excess` is by how much the fine faces' coefficients exceed it. r -= the terms of K's
   traces `own` with the coefficient `excess`: on K, or (beyond) on the refined cell beyond the side, which is as large as K. */
OUTLINE void SubtractExcess(const Interfaces *e, int side, const int32_t at[W], int beyond, Traces own, V r[])
{
  const REAL root = (REAL)M_SQRT1_2, *p[W];
  const int  n = e->degree->n;
  V          form[VP_HANG_FORM], excess[FACES];
  Traces     part, sum;

  for (int l = 0; l < W; l++) p[l] = at[l] < 0 ? zero_cell : (const REAL *)e->interfaces->excess + (size_t)at[l] * FACES;
  LoadLanes(FACES, p, 0, excess);
  LoadForms(&e->interfaces->sides, at, form);
  const V large[VP_HANG_A] = VP_LARGE_FORM(form, root);
  ClearTraces(e->degree->n, sum);
  for (int i = 0; i < FACES; i++) {
    Traces none;

    ClearTraces(n, none);
    ToPart(n, e->degree->along, e->interfaces->sides.half, i, own, part);
    if (beyond) Flux(n, large, excess[i], none, part);
    else Flux(n, form, excess[i], part, none);
    AddFromPart(n, e->degree->along, e->interfaces->sides.half, i, beyond ? none : part, sum);
  }
  AddLift(&e->interfaces->sides, n, beyond ? side ^ 1 : side, -1, sum, r);
}
