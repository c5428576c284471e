/* The sums at the sides of a notch against plain loops. */
#pragma once
#include "kernels.h"

/* Sums at sides that share cells, and what they add: cell 0 has two sides, and so has the missing cell 3. */
static PetscBool CheckNotch(Case *c)
{
  enum { SIDES = 3, BESIDE = 4, TABLES = 2 };
  const int     n = c->view.n, N = c->N, dim = c->view.dim, lines = N / n, last = 2 * dim - 1;
  const int32_t side[SIDES][VP_NOTCH_SIDE] = {{0, 3, 2 * dim * 1 + 0}, {0, 5, last}, {2, 3, 2 * dim * 1 + 2}};
  const size_t  half = (size_t)(SIDES * lines);
  int32_t       cell[BESIDE][VP_NOTCH_CELL] = {
          {0, 0, -1, -1, -1, -1, -1}, {3, -1, 0, -1, 2, -1, -1}, {5, -1, -1, -1, -1, -1, -1}, {2, -1, -1, 2, -1, -1, -1}};
  VpNotch       notch = {.n = SIDES, .ncell = BESIDE};
  const void   *vw;
  const double *take = Reals(c, TABLES * 4 * (size_t)n, 1, &notch.take), *add = Reals(c, TABLES * 4 * (size_t)n, 1, &notch.add);
  const double *w = Reals(c, 2 * half, 1, &vw);
  double       *t = calloc(CELLS * (size_t)N, sizeof *t), *b = malloc(CELLS * (size_t)N * sizeof *b);
  PetscBool     good;

  cell[0][1 + last] = cell[2][1 + (last ^ 1)] = 1;
  notch.side = Place(c, side, sizeof side);
  notch.cell = Place(c, cell, sizeof cell);
  memcpy(b, c->b, CELLS * (size_t)N * sizeof *b);
  for (int i = 0; i < SIDES * 2 * N; i++) { /* side, whose, value */
    const int    k = i / N / 2, whose = i / N % 2, value = i % N, stride = (int)pow(n, side[k][2] % (2 * dim) / 2);
    const size_t at = (size_t)(side[k][whose] * N + value);

    for (int f = 0; f < 2; f++) {
      const int    entry = ((side[k][2] / (2 * dim) * 2 + f) * 2 + whose) * n + value / stride % n;
      const size_t sum = (size_t)f * half + (size_t)(k * lines + value / (stride * n) * stride + value % stride);

      t[sum] += take[entry] * c->x[0][at];
      b[at] -= add[entry] * w[sum];
    }
  }
  PetscCallAbort(PETSC_COMM_SELF, c->backend->zero(c->vy, (size_t)(CELLS * N) * c->real));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->take_notch(&c->view, &notch, c->vx[0], c->vy));
  good = Close(c, c->vy, CELLS * (size_t)N, t);
  PetscCallAbort(PETSC_COMM_SELF, c->backend->copy(c->vb, (size_t)(CELLS * N) * c->real, c->vy));
  PetscCallAbort(PETSC_COMM_SELF, c->ops->add_notch(&c->view, &notch, vw, c->vy));
  good = (PetscBool)(good && Close(c, c->vy, CELLS * (size_t)N, b));
  free(t);
  free(b);
  return good;
}
