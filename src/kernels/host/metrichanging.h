/* Sides that hang where the coefficient is given at points: traces of coarse cells at the points of fine sides, and their terms. */
#pragma once
#include "metric.h"

enum { PARTS = 1 << (DIM - 1) };

INLINE int IsFull(const VpMetricView *m)
{
  return m->components > DIM;
}

/* to = what coefficients along a coarse side are along a fine one, number `half` there */
INLINE void ToPart(const Tables *T, const int n, int half, const V from[], V to[])
{
  Contract(n, SideRows(n), 0, 0, 0, &T->half[half & 1], from, to);
  if (DIM == 3) Contract(n, SideRows(n), 1, 0, 0, &T->half[half >> 1 & 1], to, to);
}

/* to += the adjoint of ToPart */
INLINE void AddFromPart(const Tables *T, const int n, int half, const V from[], V to[])
{
  Side across;

  if (DIM == 3) Contract(n, SideRows(n), 1, 1, 0, &T->half[half >> 1 & 1], from, across);
  Contract(n, SideRows(n), 0, 1, 1, &T->half[half & 1], DIM == 3 ? across : from, to);
}

/* t = V and F on a fine side of a coarse cell that has V and slopes `end` on the coarse one */
INLINE void TakePart(const Tables *T, const int n, const int full, int half, const SideNumbers *s, Traces end, Traces t)
{
  for (int k = 0; k < 2; k++) ToPart(T, n, half, end[k], t[k]);
  TakeFlux(T, n, full, s, t);
}

/* sum += the numbers by V and slopes on the coarse side for those p, r by V and F on a fine side, which are overwritten */
INLINE void AddPart(const Tables *T, const int n, const int full, int half, const SideNumbers *s, V p[], V r[], Traces sum)
{
  TakeFluxAdjoint(T, n, full, s, p, r);
  AddFromPart(T, n, half, p, sum[0]);
  AddFromPart(T, n, half, r, sum[1]);
}

INLINE const REAL *CellAt(const VpView *view, const int n, int32_t cell, const REAL *x, const REAL *ghost)
{
  return cell < view->nown ? x + (size_t)cell * (size_t)Power(n) : ghost + (size_t)(cell - view->nown) * (size_t)Power(n);
}

/* V and F of a coarse cell at the points of fine sides, in the order of the coarse cell. face: number of the side that hangs */
INLINE void FindPartTraces(const VpView *view, const Tables *T, const int n, int32_t face, const REAL *x, const REAL *ghost)
{
  const VpMetricView *m = &view->metric;
  const VpFace       *f = &view->hang.face[face];
  const int           fine = f->kind == VP_FACE_FINE, side = fine ? VpTurnSide(f->side, f->turn) : f->side;
  const int32_t       cell = f->cell[fine];
  Cell                z;
  Traces              end, t;
  SideNumbers         s;

  LoadScaled(m, n, NumberOf(m, cell), CellAt(view, n, cell, x, ghost), z);
  TakeEnd(T, n, side, z, end);
  for (int i = 0; i < (fine ? 1 : PARTS); i++) {
    const int32_t part = m->first[face] + i;

    FindPartNumbers(m, n, part, &s);
    TakePart(T, n, IsFull(m), fine ? f->half : i, &s, end, t);
    StoreTraces(n, t, m->parted + (size_t)part * 2 * (size_t)FaceOf(n));
  }
}

/* V and F of fine cell i at a coarse one's side, in the order of the coarse cell; turned: memory for them where fine cells are turned */
INLINE const REAL *FineTraces(const VpMetricView *m, const int n, const VpFace *face, int i, REAL turned[2 * FACE])
{
  const REAL *there = m->traces + ((size_t)face->cell[1 + i] * SIDES + (size_t)VpTurnSide(face->side, face->turn)) * 2 * (size_t)FaceOf(n);

  if (!face->turn) return there;
  TurnTraces(n, face->turn, there, turned);
  return turned;
}

/* y += sign times the terms of the coarse cell on a side that hangs; y begins with cell `first` */
INLINE void AddCoarseSide(const VpView *view, const Tables *T, const int n, int32_t face, int32_t first, REAL sign, REAL *y)
{
  const VpMetricView *m = &view->metric;
  const VpFace       *f = &view->hang.face[face];
  REAL                turned[2 * FACE], *to = y + (size_t)(f->cell[0] - first) * (size_t)Power(n);
  Traces              sum = {{{0}}}, own, other;
  Side                p, r, sigma;
  Cell                z = {{0}}, old;
  SideNumbers         s;

  for (int i = 0; i < PARTS; i++) {
    LoadTraces(n, m->parted + (size_t)(m->first[face] + i) * 2 * (size_t)FaceOf(n), own);
    LoadTraces(n, FineTraces(m, n, f, i, turned), other);
    FindPartNumbers(m, n, m->first[face] + i, &s);
    FindSigma(n, &s, sigma);
    FaceForm(n, sigma, own, other, p, r);
    AddPart(T, n, IsFull(m), i, &s, p, r, sum);
  }
  AddEnd(T, n, f->side, sum[0], sum[1], z);
  Scale(m, n, NumberOf(m, f->cell[0]), z);
  LoadRows(n, CellRows(n), to, old);
  for (int i = 0; i < CellRows(n) * Vectors(n); i++) z[i] = old[i] + sign * z[i];
  StoreRows(n, CellRows(n), z, to);
}
