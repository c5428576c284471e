/* Terms of A x between leaves K of the coarser level and the cells F beyond their sides, where the finer level ends (VpInterfaceView).
   Functions work on W sides at a time, one per lane. All W are the same side of their K. A lane without a side has the index -1. */
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

/* Whether the coefficient varies. Otherwise the inverse of A_FF is exact, so that new values replace F's instead of correcting them. */
INLINE int Varies(const Interfaces *e)
{
  return e->interfaces->weight != NULL;
}

/* here = the factors (Flux) on the i-th cell F beyond a side, with the coefficient a, for the traces t on K */
OUTLINE void ToFine(const Interfaces *e, const V form[], V a, int i, Traces t, Traces here)
{
  Traces there;

  ToFace(e->degree->n, e->degree->along, e->interfaces->sides.half, i, t, there);
  ClearLanes(TraceCount(e->degree->n), here);
  Flux(e->degree->n, form, 1, a, here, there);
}

/* sum += the factors (Flux) on K for the traces `there` on the i-th cell F beyond a side and, with the excess as the coefficient, for the
   traces `own` on K, unless own is NULL. `there` is lost. */
OUTLINE void AddFromFine(const Interfaces *e, const V form[], int i, V own[], Traces there, Traces sum)
{
  const int n = e->degree->n;
  Traces    here, part;

  ClearLanes(TraceCount(n), here);
  Flux(n, form, 0, form[VP_HANG_A + i], here, there);
  if (own) {
    ToFace(n, e->degree->along, e->interfaces->sides.half, i, own, part);
    ClearLanes(TraceCount(n), there);
    Flux(n, form, 0, form[VP_HANG_EXCESS + i], part, there);
    for (int l = 0; l < TraceCount(n); l++) here[l] += part[l];
  }
  AddFromFace(n, e->degree->along, e->interfaces->sides.half, i, here, sum);
}

/* b += sign A_FK u on all cells F beyond sides, where u has the traces t there */
OUTLINE void AddBeyond(const Interfaces *e, int side, const int32_t at[W], REAL sign, Traces t)
{
  V form[VP_HANG_FORM], v[VALUES];

  LoadForms(&e->interfaces->sides, at, form);
  for (int i = 0; i < FACES; i++) {
    int32_t cell[W];
    Traces  here;

    ToFine(e, form, form[VP_HANG_A + i], i, t, here);
    ClearLanes(Count(e), v);
    AddLift(&e->interfaces->sides, e->degree->n, side ^ 1, sign, here, v);
    Beyond(e, at, i, cell);
    AddTo(e, e->b, cell, v);
  }
}

/* r -= A_KF x of all cells F beyond sides and, unless own is NULL, the terms of K's traces `own` with the excess as the coefficient */
OUTLINE void SubtractBeyond(const Interfaces *e, int side, const int32_t at[W], V own[], V r[])
{
  V      form[VP_HANG_FORM];
  Traces sum, there;

  ClearLanes(TraceCount(e->degree->n), sum);
  LoadForms(&e->interfaces->sides, at, form);
  for (int i = 0; i < FACES; i++) {
    int32_t cell[W];

    Beyond(e, at, i, cell);
    CellTraces(e, e->fine, e->x, cell, side ^ 1, there);
    AddFromFine(e, form, i, own, there, sum);
  }
  AddLift(&e->interfaces->sides, e->degree->n, side, -1, sum, r);
}

/* r -= the terms of K's traces `own` with the excess as the coefficient, on the refined cells beyond sides. These are as large as K, so
   their traces in reference scaling count 1/sqrt(2) and 1/sqrt(8) times as much as those of F. */
OUTLINE void SubtractExcess(const Interfaces *e, int side, const int32_t at[W], Traces own, V r[])
{
  const int n = e->degree->n, lines = Power(n) / n;
  V         form[VP_HANG_FORM];
  Traces    here, sum;

  ClearLanes(TraceCount(n), sum);
  LoadForms(&e->interfaces->sides, at, form);
  for (int i = 0; i < FACES; i++) {
    ToFine(e, form, form[VP_HANG_EXCESS + i], i, own, here);
    AddFromFace(n, e->degree->along, e->interfaces->sides.half, i, here, sum);
  }
  for (int l = 0; l < 2 * lines; l++) sum[l] *= (REAL)(l < lines ? M_SQRT1_2 : M_SQRT1_2 / 2);
  AddLift(&e->interfaces->sides, n, side ^ 1, -1, sum, r);
}
