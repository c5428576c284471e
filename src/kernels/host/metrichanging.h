/* Sides that hang where the coefficient is given at points: traces of coarse cells at the points of fine sides, and their terms. */
#pragma once
#include "metric.h"

/* to = what coefficients along a coarse side are along a fine one, number `half` there */
INLINE void ToPart(const VpMetricView *m, const int n, int half, const V from[], V to[])
{
  Differentiate(n, m->half + (half & 1) * n * n, FaceOf(n), 1, from, to);
  if (DIM == 3) Differentiate(n, m->half + (half >> 1 & 1) * n * n, FaceOf(n), n, to, to);
}

/* to += the adjoint of ToPart */
INLINE void AddFromPart(const VpMetricView *m, const int n, int half, const V from[], V to[])
{
  V across[FACE];

  if (DIM == 3) {
    memset(across, 0, sizeof(across));
    AddAdjoint(n, m->half + (half >> 1 & 1) * n * n, FaceOf(n), n, from, across);
  }
  AddAdjoint(n, m->half + (half & 1) * n * n, FaceOf(n), 1, DIM == 3 ? across : from, to);
}

/* t = V and F on a fine side of a coarse cell that has V and slopes `end` on the coarse one */
INLINE void TakePart(const VpMetricView *m, const int n, int half, SideNumbers H, const V end[], V t[])
{
  const int size = FaceOf(n);

  for (int k = 0; k < 2; k++) ToPart(m, n, half, end + k * size, t + k * size);
  for (int l = 0; l < size; l++) t[size + l] *= H[0][l];
  AddAlong(m, n, H, t);
}

/* sum += the numbers by V and slopes on the coarse side for those p, r by V and F on a fine side, which are overwritten */
INLINE void AddPart(const VpMetricView *m, const int n, int half, SideNumbers H, V p[], V r[], V sum[])
{
  const int size = FaceOf(n);

  AddAlongAdjoint(m, n, H, r, p);
  for (int l = 0; l < size; l++) r[l] *= H[0][l];
  AddFromPart(m, n, half, p, sum);
  AddFromPart(m, n, half, r, sum + size);
}

INLINE void LoadPartNumbers(const VpMetricView *m, const int n, const int32_t part[W], SideNumbers H)
{
  const int   rows = VpMetricRows(DIM, m->components), size = FaceOf(n);
  const REAL *from[W];

  for (int r = 0; r <= rows; r++) {
    for (int l = 0; l < W; l++) from[l] = m->part + ((size_t)part[l] * (size_t)(rows + 1) + (size_t)r) * (size_t)size;
    LoadCells(size, 0, size, from, NULL, H[r == rows ? DIM : r]);
  }
}

/* Up to W sides that hang, one per lane: on the same side of the coarse cells and, if they are those of fine cells, on the same half */
typedef struct {
  int32_t lanes, at[W];
} Faces;
enum { PARTS = 1 << (DIM - 1), KEYS = SIDES * (1 + PARTS) };

/* the side of the coarse cell of a face */
INLINE int CoarseSide(const VpFace *face)
{
  return face->kind == VP_FACE_FINE ? VpTurnSide(face->side, face->turn) : face->side;
}

/* Finds the next faces of a key from *at on, of cells before `last`. Returns whether there are some. Lanes left over repeat the first. */
static PetscBool NextFaces(const VpHangView *hang, int key, int32_t last, int32_t *at, Faces *f)
{
  f->lanes = 0;
  for (; *at < hang->n && hang->face[*at].cell[0] < last && f->lanes < W; (*at)++) {
    const VpFace *face = &hang->face[*at];

    if (CoarseSide(face) * (1 + PARTS) + (face->kind == VP_FACE_FINE ? 1 + face->half : 0) == key) f->at[f->lanes++] = *at;
  }
  for (int l = f->lanes; l < W && f->lanes; l++) f->at[l] = f->at[0];
  return (PetscBool)(f->lanes > 0);
}

INLINE const REAL *CellAt(const VpView *view, const int n, int32_t cell, const REAL *x, const REAL *ghost)
{
  return cell < view->nown ? x + (size_t)cell * (size_t)Power(n) : ghost + (size_t)(cell - view->nown) * (size_t)Power(n);
}

/* the coarse cells of these faces, and z, their values (NULL: not wanted) */
INLINE void FindCoarse(const VpView *view, const int n, const Faces *f, const REAL *x, const REAL *ghost, Group *g, V z[])
{
  const VpMetricView *m = &view->metric;
  const REAL         *from[W];
  V                   scale = {0};

  g->lanes = f->lanes;
  for (int l = 0; l < W; l++) {
    const VpFace *face = &view->hang.face[f->at[l]];

    g->cell[l] = face->cell[face->kind == VP_FACE_FINE];
    g->at[l] = g->cell[l] % m->period;
    scale[l] = m->scale[g->at[l]];
    from[l] = z ? CellAt(view, n, g->cell[l], x, ghost) : NULL;
  }
  g->scale = scale;
  if (!z) return;
  LoadCells(Power(n), 0, Power(n), from, NULL, z);
  Scale(m, n, g, z);
}

/* V and F of the coarse cells at the points of the fine sides, in the order of the coarse cells */
INLINE void FindPartTraces(const VpView *view, const int n, const Faces *f, const REAL *x, const REAL *ghost)
{
  const VpMetricView *m = &view->metric;
  const VpFace       *face = &view->hang.face[f->at[0]];
  const int           fine = face->kind == VP_FACE_FINE, size = FaceOf(n);
  Group               g;
  V                   z[VALUES], end[2 * FACE], t[2 * FACE];
  SideNumbers         H;

  FindCoarse(view, n, f, x, ghost, &g, z);
  TakeEnds(m, n, CoarseSide(face), NULL, z, end);
  for (int i = 0; i < (fine ? 1 : PARTS); i++) {
    const int half = fine ? face->half : i;
    int32_t   part[W];
    REAL     *to[W];

    for (int l = 0; l < W; l++) {
      part[l] = m->first[f->at[l]] + i;
      to[l] = l < f->lanes ? m->parted + (size_t)part[l] * 2 * (size_t)size : g.spare;
    }
    LoadPartNumbers(m, n, part, H);
    TakePart(m, n, half, H, end, t);
    StoreCells(2 * size, t, NULL, NULL, to);
  }
}

/* V and F of fine cell i at a coarse one's side, in the order of the coarse cell; turned: memory for them where fine cells are turned */
INLINE const REAL *FineTraces(const VpMetricView *m, const int n, const VpFace *face, int i, REAL turned[2 * FACE])
{
  const int   size = FaceOf(n);
  const REAL *there = m->traces + ((size_t)face->cell[1 + i] * SIDES + (size_t)VpTurnSide(face->side, face->turn)) * 2 * (size_t)size;

  if (!face->turn) return there;
  TurnTraces(n, face->turn, there, turned);
  return turned;
}

/* y += sign times the terms of the coarse cells on these sides; y begins with cell `first` */
INLINE void AddCoarseSides(const VpView *view, const int n, const Faces *f, int32_t first, REAL sign, REAL *y)
{
  const VpMetricView *m = &view->metric;
  const int           size = FaceOf(n), side = view->hang.face[f->at[0]].side;
  REAL                turned[W][2 * FACE];
  V                   sum[2 * FACE], own[2 * FACE], other[2 * FACE], p[FACE], r[FACE], z[VALUES], old[VALUES];
  SideNumbers         H;
  Group               g;
  REAL               *to[W];

  FindCoarse(view, n, f, NULL, NULL, &g, NULL);
  memset(sum, 0, sizeof(sum));
  memset(z, 0, sizeof(z));
  for (int i = 0; i < PARTS; i++) {
    const REAL *from[W], *beyond[W];
    int32_t     part[W];

    for (int l = 0; l < W; l++) {
      part[l] = m->first[f->at[l]] + i;
      from[l] = m->parted + (size_t)part[l] * 2 * (size_t)size;
      beyond[l] = FineTraces(m, n, &view->hang.face[f->at[l]], i, turned[l]);
    }
    LoadCells(2 * size, 0, 2 * size, from, NULL, own);
    LoadCells(2 * size, 0, 2 * size, beyond, NULL, other);
    LoadPartNumbers(m, n, part, H);
    FaceForm(n, H[DIM], own, other, p, r);
    AddPart(m, n, i, H, p, r, sum);
  }
  AddEnds(m, n, side, NULL, sum, sum + size, z);
  Scale(m, n, &g, z);
  for (int l = 0; l < W; l++) to[l] = l < f->lanes ? y + (size_t)(g.cell[l] - first) * (size_t)Power(n) : g.spare;
  LoadCells(Power(n), 0, Power(n), (const REAL *const *)to, NULL, old);
  for (int i = 0; i < Power(n); i++) z[i] = old[i] + sign * z[i];
  StoreCells(Power(n), z, NULL, NULL, to);
}
