/* Reads the rows of a matrix on a DMDA, in threads if it is of type AIJ. */
#include "stencilrows.h"
#include "../../base/threads.h"

/* the columns of own points, or those of others, in own rows: a MATSEQAIJ */
typedef struct {
  Mat                mat;
  PetscInt           rows, first;    /* Column i is first + i in the whole matrix, ... */
  const PetscInt    *global;         /* ... or, unless this is NULL, global[i]. */
  const PetscInt    *start, *column; /* [rows + 1], [start[rows]] */
  const PetscScalar *value;
} Columns;

/* what loops over own rows know */
typedef struct {
  const VpStencil *s;
  VpStencilRows   *r;
  PetscInt         n; /* number of `columns` */
  Columns          columns[2];
} Reading;

/* the numbers of VpStencilReadRows(), and what is wrong with a row: 1 an entry of another point, 2 a positive one off the diagonal */
enum { WRONG = 2, FOUND };

/* a row with n entries, and at which side that of number k of the row before lies, if it has so many */
enum { MOST_ENTRIES = 128, KNOWN = 8 };
typedef struct {
  PetscInt           n;
  const PetscInt    *column;
  const PetscScalar *value;
  int                side[KNOWN];
} Row;

/* the side on which the point of entry k lies, of the points beside it; the number of sides: on none */
static inline int FindSide(Row *row, PetscInt k, const PetscInt beside[6], int sides)
{
  const int known = k < KNOWN ? row->side[k] : 0;
  int       side = 0;

  if (beside[known] == row->column[k]) return known;
  while (side < sides && beside[side] != row->column[k]) side++;
  if (side < sides && k < KNOWN) row->side[k] = side;
  return side;
}

/* Reads the row of own point i, which is at `at`. Widens found [FOUND]. */
static inline void ReadRow(const Reading *w, PetscInt i, const PetscInt at[3], Row *row, double found[])
{
  const VpStencil *s = w->s;
  VpStencilRows   *r = w->r;
  const PetscInt   local = VpStencilLocalOf(r, at), own = r->global[local];
  const int        sides = 2 * s->dim;
  PetscReal        most = 0, off = 0;
  PetscInt         beside[6] = {-1, -1, -1, -1, -1, -1}; /* rows of the last and of the next point along each direction; -1: none */
  PetscScalar      coupling[6] = {0}, diagonal = 0;
  double           all = 0, least = PETSC_MAX_REAL;

  for (int side = 0; side < sides; side++) {
    const PetscInt there = VpStencilLocalBeside(s, r, local, at, side / 2, side % 2 ? 1 : -1);

    if (there >= 0) beside[side] = r->global[there];
  }
  for (PetscInt k = 0; k < row->n; k++) most = PetscMax(most, PetscAbsScalar(row->value[k]));
  for (PetscInt k = 0; k < row->n; k++) {
    const PetscScalar value = row->value[k];
    int               side;

    if (row->column[k] == own) {
      diagonal += value;
      continue;
    }
    off = PetscMax(off, PetscAbsScalar(value));
    side = FindSide(row, k, beside, sides);
    if (side < sides) coupling[side] = -value;
    if (side < sides && PetscRealPart(value) > VP_STENCIL_SMALL * most) found[WRONG] = 2;
    if (side == sides && PetscAbsScalar(value) > VP_STENCIL_SMALL * most) found[WRONG] = PetscMax(found[WRONG], 1);
  }
  for (int side = 0; side < sides; side++) {
    (side % 2 ? s->up : r->down)[side / 2][i] = coupling[side];
    all += PetscRealPart(coupling[side]);
    least = PetscMin(least, PetscRealPart(coupling[side]));
  }
  s->diagonal[i] = diagonal;
  s->identity[i] = off <= VP_STENCIL_SMALL * most;
  if (least <= 0) return;
  found[0] = PetscMax(found[0], (PetscRealPart(diagonal) - all) / all);
  found[1] = PetscMax(found[1], (all - PetscRealPart(diagonal)) / all);
}

/* Gathers the entries of a row that are in two matrices, or have other columns than those of the whole matrix. */
static void GatherRow(const Reading *w, PetscInt i, PetscInt column[], PetscScalar value[], Row *row)
{
  row->n = 0;
  row->column = column;
  row->value = value;
  for (const Columns *c = w->columns; c < w->columns + w->n; c++) {
    for (PetscInt k = c->start[i]; k < c->start[i + 1] && row->n < MOST_ENTRIES; k++) {
      column[row->n] = c->global ? c->global[c->column[k]] : c->first + c->column[k];
      value[row->n++] = c->value[k];
    }
  }
}

static void ReadRange(const Reading *w, PetscInt first, PetscInt last, double found[])
{
  const Columns *c = w->columns;
  PetscInt       at[3], column[MOST_ENTRIES];
  PetscScalar    value[MOST_ENTRIES];
  Row            row = {.n = 0};

  VpStencilPoint(w->s, first, at);
  for (PetscInt i = first; i < last; i++, VpStencilNext(w->s, at)) {
    if (w->n > 1 || c->first) GatherRow(w, i, column, value, &row);
    else {
      row.n = c->start[i + 1] - c->start[i];
      row.column = c->column + c->start[i];
      row.value = c->value + c->start[i];
    }
    if (row.n >= MOST_ENTRIES) found[WRONG] = PetscMax(found[WRONG], 1);
    else ReadRow(w, i, at, &row, found);
  }
}

/* *done: the matrix is of type AIJ and was read in threads. */
static PetscErrorCode ReadArrays(Reading *w, Mat A, double found[], PetscBool *done)
{
  PetscBool parallel, sequential;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &sequential));
  *done = (PetscBool)(parallel || sequential);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  w->n = parallel ? 2 : 1;
  w->columns[0] = (Columns){.mat = A};
  if (parallel) PetscCall(MatMPIAIJGetSeqAIJ(A, &w->columns[0].mat, &w->columns[1].mat, &w->columns[1].global));
  PetscCall(MatGetOwnershipRangeColumn(A, &w->columns[0].first, NULL));
  for (Columns *c = w->columns; c < w->columns + w->n; c++) {
    PetscBool has;

    PetscCall(MatGetRowIJ(c->mat, 0, PETSC_FALSE, PETSC_FALSE, &c->rows, &c->start, &c->column, &has));
    *done = (PetscBool)(*done && has);
    PetscCall(MatSeqAIJGetArrayRead(c->mat, &c->value));
  }
  if (*done) {
    VP_LOOP_HEAVY_MOST (piece, VP_STENCIL_PIECES, found[:FOUND])
      ReadRange(w, VpStencilPiece(w->s, piece), VpStencilPiece(w->s, piece + 1), found);
  }
  for (Columns *c = w->columns; c < w->columns + w->n; c++) {
    PetscCall(MatSeqAIJRestoreArrayRead(c->mat, &c->value));
    PetscCall(MatRestoreRowIJ(c->mat, 0, PETSC_FALSE, PETSC_FALSE, &c->rows, &c->start, &c->column, &(PetscBool){PETSC_FALSE}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilReadRows(const VpStencil *s, VpStencilRows *r, Mat A, double most[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  Reading        w = {.s = s, .r = r};
  PetscBool      done = PETSC_FALSE;
  double         found[FOUND] = {0};

  PetscFunctionBegin;
  PetscCall(ReadArrays(&w, A, found, &done));
  for (PetscInt i = 0; i < s->own && !done; i++) {
    PetscInt first, at[3];
    Row      row = {.n = 0};

    VpStencilPoint(s, i, at);
    PetscCall(MatGetOwnershipRange(A, &first, NULL));
    PetscCall(MatGetRow(A, first + i, &row.n, &row.column, &row.value));
    ReadRow(&w, i, at, &row, found);
    PetscCall(MatRestoreRow(A, first + i, &row.n, &row.column, &row.value));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, FOUND, MPI_DOUBLE, MPI_MAX, comm));
  for (int k = 0; k < 2; k++) most[k] = found[k];
  PetscCheck(found[WRONG] < 2, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA has positive entries off the diagonal, which -div(a grad u) has not");
  PetscCheck(found[WRONG] < 1, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA couples more than neighbours along the directions, and five-point and seven-point "
             "stencils are known. For others see PCVPatchDGSetElementRestriction()");
  PetscFunctionReturn(PETSC_SUCCESS);
}
