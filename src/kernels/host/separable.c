/* Dense matrices: along the lines of a lattice of cells, for the inverse of what separates, and one times a whole vector. */
#include "rows.h"

/* so many cells of a line from the first of them on */
typedef struct {
  int32_t first, n;
} Cells;

/* one line: of cell p the values are from cell[p step] at `start`, `stride` apart; M [values of `in`][m] makes those of `out` */
INLINE void Line(const int n, int32_t m, Cells in, Cells out, const int32_t *cell, int32_t step, int start, int stride, const REAL *M,
                 const REAL *x, REAL *y)
{
  REAL sum[VP_LONGEST_LINE];

  for (int32_t q = 0; q < out.n * n; q++) sum[q] = 0;
  M += out.first * n;
  for (int32_t p = in.first; p < in.first + in.n; p++) {
    const REAL *from = x + (size_t)cell[p * step] * (size_t)Power(n) + start;

    for (int j = 0; j < n; j++, M += m) {
      for (int32_t q = 0; q < out.n * n; q++) sum[q] += M[q] * from[j * stride];
    }
  }
  for (int32_t p = 0; p < out.n; p++) {
    REAL *to = y + (size_t)cell[(out.first + p) * step] * (size_t)Power(n) + start;

    for (int j = 0; j < n; j++) to[j * stride] = sum[p * n + j];
  }
}

/* along d, where directions before d have been turned; back: from modes to values */
INLINE void Along(const int n, int d, PetscBool back, const VpSeparable *s, const VpPart *part, const REAL *x, REAL *y)
{
  const int32_t *extent = s->extent, m = extent[d] * n, step = VpLineStride(d, extent[0], extent[0] * extent[1]);
  const Cells    all = {0, extent[d]}, mine = {part->first[d], part->extent[d]};
  const REAL    *M = back ? (const REAL *)s->from[d] : (const REAL *)s->to[d] + part->first[d] * n * m;
  const int      stride = VpLineStride(d, n, n * n);
  int32_t        first[3], end[3];

  for (int e = 0; e < 3; e++) {
    const int whole = (e < d) != back;

    first[e] = e == d || whole ? 0 : part->first[e];
    end[e] = e == d ? 1 : whole ? extent[e] : part->first[e] + part->extent[e];
  }
  for (int32_t k = first[2]; k < end[2]; k++) {
    for (int32_t j = first[1]; j < end[1]; j++) {
      for (int32_t i = first[0]; i < end[0]; i++) {
        const int32_t *cell = s->cell + i + extent[0] * (j + extent[1] * k);

        for (int l = 0; l < Power(n) / n; l++)
          Line(n, m, back ? all : mine, back ? mine : all, cell, step, VpLineStart(n, stride, l), stride, M, x, y);
      }
    }
  }
}

/* y = (add: +=) x over the sums of eigenvalues */
INLINE void Divide(const int n, const VpSeparable *s, PetscBool add, const REAL *x, REAL *y)
{
  const int32_t cells = s->extent[0] * s->extent[1] * s->extent[2];

  for (int32_t i = 0; i < cells; i++) {
    for (int k = 0; k < Power(n); k++) {
      const size_t number = (size_t)s->cell[i] * (size_t)Power(n) + (size_t)k;
      REAL         sum = 0;
      int32_t      at = i;
      int          mode = k;

      for (int d = 0; d < DIM; at /= s->extent[d++], mode /= n) sum += ((const REAL *)s->eigenvalue[d])[at % s->extent[d] * n + mode % n];
      y[number] = (add ? y[number] : 0) + (sum == 0 ? 0 : x[number] / sum);
    }
  }
}

/* a vector's numbers */
INLINE size_t Count(const int n, const VpSeparable *s)
{
  return (size_t)s->extent[0] * s->extent[1] * s->extent[2] * (size_t)Power(n);
}

INLINE void ToModes(const int n, const VpSeparable *s, const VpPart *part, PetscBool add, int32_t vectors, const REAL *b,
                    void *const room[2], REAL *modes)
{
  for (size_t k = 0; k < (size_t)vectors * Count(n, s); k += Count(n, s)) {
    const REAL *from = b + k;

    for (int d = 0; d < DIM; d++) {
      REAL *to = (REAL *)room[d % 2] + k;

      Along(n, d, PETSC_FALSE, s, part, from, to);
      from = to;
    }
    Divide(n, s, add, from, modes + k);
  }
}

INLINE void FromModes(const int n, const VpSeparable *s, const VpPart *part, int32_t vectors, const REAL *modes, void *const room[2],
                      REAL *x)
{
  for (size_t k = 0; k < (size_t)vectors * Count(n, s); k += Count(n, s)) {
    const REAL *from = modes + k;

    for (int d = 0; d < DIM; d++) {
      REAL *to = d < DIM - 1 ? (REAL *)room[d] + k : x + k;

      Along(n, d, PETSC_TRUE, s, part, from, to);
      from = to;
    }
  }
}

/* a row of the matrix times a vector */
INLINE REAL Dot(int32_t columns, const REAL *M, const REAL *x)
{
  enum { AT_ONCE = 4 * W };
  V       sum[4] = {{0}};
  REAL    all = 0;
  int32_t j = 0;

  for (; j + AT_ONCE <= columns; j += AT_ONCE) {
    UNROLL (int k = 0; k < 4; k++) sum[k] += Load(M + j + k * W) * Load(x + j + k * W);
  }
  for (; j < columns; j++) all += M[j] * x[j];
  sum[0] += sum[1] + sum[2] + sum[3];
  for (int l = 0; l < W; l++) all += sum[0][l];
  return all;
}

INLINE void Product(int32_t rows, int32_t columns, const REAL *M, int32_t n, const REAL *x, REAL *y)
{
  for (int32_t i = 0; i < rows; i++, M += columns) {
    for (int32_t k = 0; k < n; k++) y[(size_t)k * (size_t)rows + (size_t)i] = Dot(columns, M, x + (size_t)k * (size_t)columns);
  }
}

#define VP_DEGREE(k) \
  VP_KERNEL(ToModes, k, \
            (const VpView *view, const VpSeparable *s, const VpPart *part, PetscBool add, int32_t n, const void *b, void *const room[2], \
             void *modes), \
            ToModes(k + 1, s, part, add, n, b, room, modes)) \
  VP_KERNEL(FromModes, k, \
            (const VpView *view, const VpSeparable *s, const VpPart *part, int32_t n, const void *modes, void *const room[2], void *x), \
            FromModes(k + 1, s, part, n, modes, room, x)) \
  VP_KERNEL(Product, k, (const VpView *view, int32_t rows, int32_t columns, const void *M, int32_t n, const void *x, void *y), \
            Product(rows, columns, M, n, x, y))
#include "../degrees.def"
