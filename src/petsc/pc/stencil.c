/* Reads the couplings of points from a matrix on a DMDA. */
#include "stencil.h"
#include "../../base/threads.h"
#include <petscdmda.h>

#define SMALL 1e-8 /* of the largest entry of a row: rounding errors */

/* entries of the rows of own points */
typedef struct {
  PetscInt        ghost[3], width[3];               /* the first local point, and the number of local points along each direction */
  const PetscInt *global;                           /* [local points] their rows; negative: none */
  PetscScalar    *up[3], *down[3], *identity, *sum; /* [own] coupling to the next and to the last point; identity; sum of the row */
} Rows;

static PetscErrorCode CheckDA(DM da, VpStencil *s)
{
  DMBoundaryType type[3];
  PetscInt       dim, dof, width;

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, &dim, &s->n[0], &s->n[1], &s->n[2], NULL, NULL, NULL, &dof, &width, &type[0], &type[1], &type[2], NULL));
  s->da = da;
  s->dim = (int)dim;
  PetscCheck(dim >= 2, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP, "-pc_type vpatchdg: DMDAs of two or three dimensions, not of one");
  PetscCheck(dof == 1, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
             "-pc_type vpatchdg: the DMDA has %" PetscInt_FMT " unknowns a point; with one, its matrices are preconditioned", dof);
  PetscCheck(width >= 1, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP, "-pc_type vpatchdg: the DMDA needs a stencil width of 1");
  PetscCall(DMDAGetCorners(da, &s->start[0], &s->start[1], &s->start[2], &s->count[0], &s->count[1], &s->count[2]));
  s->own = s->count[0] * s->count[1] * s->count[2];
  for (int d = 0; d < s->dim; d++) {
    s->periodic[d] = (PetscBool)(type[d] == DM_BOUNDARY_PERIODIC);
    PetscCheck(s->n[d] >= 3, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
               "-pc_type vpatchdg: the DMDA has %" PetscInt_FMT " points in direction %c, and needs 3", s->n[d], (char)('x' + d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* number of a local point; `step` points farther along d; -1: there is none */
static PetscInt LocalOf(const VpStencil *s, const Rows *r, const PetscInt at[3], int d, PetscInt step)
{
  PetscInt local = 0;

  if (!s->periodic[d] && (at[d] + step < 0 || at[d] + step >= s->n[d])) return -1;
  for (int e = 2; e >= 0; e--) local = local * r->width[e] + at[e] + (e == d ? step : 0) - r->ghost[e];
  return local;
}

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
  Rows            *r;
  PetscInt         n; /* number of `columns` */
  Columns          columns[2];
  int              wrong; /* 1 an entry of another point, 2 a positive one off the diagonal */
} Reading;

enum { MOST_ENTRIES = 128 };

/* Reads row i, of n entries. Returns what is wrong. */
static int ReadRow(const VpStencil *s, Rows *r, PetscInt i, PetscInt n, const PetscInt column[], const PetscScalar value[])
{
  PetscReal   most = 0, off = 0;
  PetscInt    at[3], row;
  PetscScalar sum = 0;
  int         wrong = 0;

  VpStencilPoint(s, i, at);
  row = r->global[LocalOf(s, r, at, 0, 0)];
  for (PetscInt k = 0; k < n; k++) most = PetscMax(most, PetscAbsScalar(value[k]));
  for (PetscInt k = 0; k < n; k++) {
    PetscBool known = (PetscBool)(column[k] == row);

    sum += value[k];
    if (column[k] != row) off = PetscMax(off, PetscAbsScalar(value[k]));
    for (int d = 0; d < s->dim && !known; d++) {
      for (int up = 0; up < 2 && !known; up++) {
        const PetscInt there = LocalOf(s, r, at, d, up ? 1 : -1);

        if (there < 0 || r->global[there] != column[k]) continue;
        known = PETSC_TRUE;
        (up ? r->up : r->down)[d][i] = -value[k];
        if (PetscRealPart(value[k]) > SMALL * most) wrong = 2;
      }
    }
    if (!known && PetscAbsScalar(value[k]) > SMALL * most) wrong = PetscMax(wrong, 1);
  }
  r->sum[i] = sum;
  r->identity[i] = off <= SMALL * most;
  return wrong;
}

static void ReadPiece(void *context, int32_t piece, int32_t first, int32_t last)
{
  Reading *w = (Reading *)context;
  int      wrong = 0;

  for (PetscInt i = first; i < last; i++) {
    PetscInt    n = 0, column[MOST_ENTRIES];
    PetscScalar value[MOST_ENTRIES];
    int         found;

    for (const Columns *c = w->columns; c < w->columns + w->n; c++) {
      for (PetscInt k = c->start[i]; k < c->start[i + 1] && n < MOST_ENTRIES; k++) {
        column[n] = c->global ? c->global[c->column[k]] : c->first + c->column[k];
        value[n++] = c->value[k];
      }
    }
    found = n == MOST_ENTRIES ? 1 : ReadRow(w->s, w->r, i, n, column, value);
    wrong = PetscMax(wrong, found);
  }
#ifdef _OPENMP
  #pragma omp critical
#endif
  w->wrong = PetscMax(w->wrong, wrong);
}

/* *done: the matrix is of type AIJ and was read in threads. */
static PetscErrorCode ReadArrays(Reading *w, Mat A, PetscBool *done)
{
  PetscBool parallel, sequential;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, &parallel));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &sequential));
  *done = (PetscBool)((parallel || sequential) && w->s->own <= INT32_MAX);
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
  if (*done) VpLoop((int32_t)w->s->own, ReadPiece, w);
  for (Columns *c = w->columns; c < w->columns + w->n; c++) {
    PetscCall(MatSeqAIJRestoreArrayRead(c->mat, &c->value));
    PetscCall(MatRestoreRowIJ(c->mat, 0, PETSC_FALSE, PETSC_FALSE, &c->rows, &c->start, &c->column, &(PetscBool){PETSC_FALSE}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadRows(const VpStencil *s, Rows *r, Mat A)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)A);
  Reading        w = {.s = s, .r = r};
  PetscBool      done = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(ReadArrays(&w, A, &done));
  for (PetscInt i = 0; i < s->own && !done; i++) {
    const PetscScalar *value;
    const PetscInt    *column;
    PetscInt           n, first, wrong;

    PetscCall(MatGetOwnershipRange(A, &first, NULL));
    PetscCall(MatGetRow(A, first + i, &n, &column, &value));
    wrong = ReadRow(s, r, i, n, column, value);
    w.wrong = PetscMax(w.wrong, (int)wrong);
    PetscCall(MatRestoreRow(A, first + i, &n, &column, &value));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &w.wrong, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(w.wrong != 2, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA has positive entries off the diagonal, which -div(a grad u) has not");
  PetscCheck(w.wrong != 1, comm, PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA couples more than neighbours along the directions, and five-point and seven-point "
             "stencils are known. For others see PCVPatchDGSetElementRestriction()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values on local points of a vector with these own values, in a local vector of the DMDA */
static PetscErrorCode FillGhosts(const VpStencil *s, const PetscScalar own[], Vec *local)
{
  Vec          global;
  PetscScalar *values;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(s->da, &global));
  PetscCall(VecGetArrayWrite(global, &values));
  PetscCall(PetscArraycpy(values, own, s->own));
  PetscCall(VecRestoreArrayWrite(global, &values));
  PetscCall(DMCreateLocalVector(s->da, local));
  PetscCall(VecSet(*local, 0));
  PetscCall(DMGlobalToLocal(s->da, global, INSERT_VALUES, *local));
  PetscCall(DMRestoreGlobalVector(s->da, &global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares what a point and the next one along d say of their coupling. *apart: two of them differ. take: the larger one is taken */
static PetscErrorCode JoinCouplings(VpStencil *s, Rows *r, int d, const PetscScalar identity[], PetscBool take, PetscBool *apart)
{
  const PetscScalar *down;
  Vec                local;

  PetscFunctionBegin;
  PetscCall(FillGhosts(s, r->down[d], &local));
  PetscCall(VecGetArrayRead(local, &down));
  for (PetscInt i = 0; i < s->own; i++) {
    PetscInt at[3], there;

    VpStencilPoint(s, i, at);
    there = LocalOf(s, r, at, d, 1);
    if (there < 0) continue;
    if (r->identity[i] == 0 && identity[there] == 0 &&
        PetscAbsScalar(down[there] - r->up[d][i]) > SMALL * PetscMax(PetscAbsScalar(down[there]), PetscAbsScalar(r->up[d][i])))
      *apart = PETSC_TRUE;
    if (take && PetscRealPart(down[there]) > PetscRealPart(r->up[d][i])) r->up[d][i] = down[there];
  }
  PetscCall(VecRestoreArrayRead(local, &down));
  PetscCall(VecDestroy(&local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsSymmetric(VpStencil *s, Rows *r, const PetscScalar identity[], PetscBool *is)
{
  PetscBool   apart = PETSC_FALSE;
  PetscMPIInt first;

  PetscFunctionBegin;
  for (int d = 0; d < s->dim; d++) PetscCall(JoinCouplings(s, r, d, identity, PETSC_FALSE, &apart));
  PetscCall(VpFirstRank(PetscObjectComm((PetscObject)s->da), apart, &first));
  *is = (PetscBool)(first == INT_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests whether a point is inside of the DMDA, where couplings of all directions are whole. */
static PetscBool IsInner(const VpStencil *s, const Rows *r, PetscInt i)
{
  PetscBool is = PETSC_TRUE;
  PetscInt  at[3];

  VpStencilPoint(s, i, at);
  for (int d = 0; d < s->dim; d++)
    is = (PetscBool)(is && PetscRealPart(r->up[d][i]) > 0 && (s->periodic[d] || (at[d] > 0 && at[d] < s->n[d] - 1)));
  return is;
}

/* typical = the geometric mean of couplings along each direction, as rows say them: of those inside, if there are any */
static PetscErrorCode FindTypical(const VpStencil *s, const Rows *r, double typical[3])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s->da);
  double         logs[2][6] = {{0}}; /* sums and numbers: of all couplings, of those inside */

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->own; i++) {
    const PetscBool inner = IsInner(s, r, i);

    for (int d = 0; d < s->dim; d++) {
      for (int k = 0; k < (inner ? 2 : 1) && PetscRealPart(r->up[d][i]) > 0; k++) {
        logs[k][d] += log(PetscRealPart(r->up[d][i]));
        logs[k][3 + d]++;
      }
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, logs, 12, MPI_DOUBLE, MPI_SUM, comm));
  for (int d = 0; d < s->dim; d++) {
    const double *sum = logs[logs[1][3] > 0];

    PetscCheck(sum[3 + d] > 0, comm, PETSC_ERR_SUP, "-pc_type vpatchdg: the matrix of the DMDA couples no points in direction %c",
               (char)('x' + d));
    typical[d] = exp(sum[d] / sum[3 + d]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Divides every row by a number of its own: the largest quotient of its couplings and typical ones. */
static PetscErrorCode DivideRows(VpStencil *s, Rows *r)
{
  double       typical[3];
  PetscScalar *factor;

  PetscFunctionBegin;
  PetscCall(FindTypical(s, r, typical));
  PetscCall(VecDuplicate(s->identity, &s->factor));
  PetscCall(VecGetArrayWrite(s->factor, &factor));
  for (PetscInt i = 0; i < s->own; i++) {
    double most = 0;

    for (int d = 0; d < s->dim; d++) most = PetscMax(most, PetscMax(PetscRealPart(r->up[d][i]), PetscRealPart(r->down[d][i])) / typical[d]);
    factor[i] = most > 0 && r->identity[i] == 0 ? 1 / most : 1;
    r->sum[i] *= factor[i];
    for (int d = 0; d < s->dim; d++) {
      r->up[d][i] *= factor[i];
      r->down[d][i] *= factor[i];
    }
  }
  PetscCall(VecRestoreArrayWrite(s->factor, &factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the couplings of both rows' points. Ensures: an error unless rows, or rows that are divided, are symmetric. */
static PetscErrorCode FindCouplings(VpStencil *s, Rows *r, const PetscScalar identity[])
{
  PetscBool is, apart = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(IsSymmetric(s, r, identity, &is));
  if (!is) {
    PetscCall(DivideRows(s, r));
    PetscCall(IsSymmetric(s, r, identity, &is));
  }
  PetscCheck(is, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA is not symmetric, as with advection, and rows that are multiplied by a number each "
             "are known for a coefficient of 1 alone");
  for (int d = 0; d < s->dim; d++) PetscCall(JoinCouplings(s, r, d, identity, PETSC_TRUE, &apart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds up what own points on sides say of these. up: on local points */
static void SumUp(VpStencil *s, const Rows *r, const PetscScalar *const up[3], const PetscScalar identity[])
{
  for (PetscInt i = 0; i < s->own; i++) {
    PetscInt at[3];
    int      onsides = 0;

    VpStencilPoint(s, i, at);
    for (int d = 0; d < s->dim; d++) onsides += !s->periodic[d] && (at[d] == 0 || at[d] == s->n[d] - 1);
    for (int side = 0; side < 2 * s->dim && onsides == 1; side++) {
      const int      d = side / 2;
      const PetscInt inside = LocalOf(s, r, at, d, side % 2 ? -1 : 1), here = LocalOf(s, r, at, d, 0);

      if (s->periodic[d] || at[d] != (side % 2 ? s->n[d] - 1 : 0)) continue;
      s->rows[side]++;
      s->fixed[side] += PetscRealPart(r->identity[i]);
      if (r->identity[i] != 0) continue;
      s->sum[side] += PetscRealPart(r->sum[i]);
      s->inner[side] += PetscRealPart((side % 2 ? r->down : r->up)[d][i]);
      for (int e = 0; e < s->dim && identity[inside] == 0; e++) {
        if (e == d) continue;
        s->along[side] += PetscRealPart(up[e][here]);
        s->next[side] += PetscRealPart(up[e][inside]);
      }
    }
  }
}

static PetscErrorCode MeasureSides(VpStencil *s, const Rows *r, const PetscScalar identity[])
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)s->da);
  const PetscScalar *up[3];
  Vec                local[3];

  PetscFunctionBegin;
  for (int d = 0; d < s->dim; d++) {
    PetscCall(FillGhosts(s, r->up[d], &local[d]));
    PetscCall(VecGetArrayRead(local[d], &up[d]));
  }
  SumUp(s, r, up, identity);
  for (int d = 0; d < s->dim; d++) {
    PetscCall(VecRestoreArrayRead(local[d], &up[d]));
    PetscCall(VecDestroy(&local[d]));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->sum, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->inner, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->along, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->next, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->rows, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->fixed, 6, MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(FindTypical(s, r, s->typical));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillStencil(VpStencil *s, Rows *r, Mat A)
{
  const PetscScalar *identity;
  Vec                local;

  PetscFunctionBegin;
  PetscCall(ReadRows(s, r, A));
  PetscCall(FillGhosts(s, r->identity, &local));
  PetscCall(VecGetArrayRead(local, &identity));
  PetscCall(FindCouplings(s, r, identity));
  PetscCall(MeasureSides(s, r, identity));
  PetscCall(VecRestoreArrayRead(local, &identity));
  PetscCall(VecDestroy(&local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilCreate(Mat A, DM da, VpStencil *s)
{
  ISLocalToGlobalMapping mapping;
  PetscBool              reads;
  Rows                   r = {.global = NULL};

  PetscFunctionBegin;
  *s = (VpStencil){.dim = 0};
  PetscCall(CheckDA(da, s));
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &reads));
  PetscCheck(
    reads, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
    "-pc_type vpatchdg reads what it needs from the entries of a DMDA's matrix, and this one, of type %s, has none. For a shell see "
    "PCVPatchDGSetElementRestriction()",
    VpTypeName((PetscObject)A));
  PetscCall(DMDAGetGhostCorners(da, &r.ghost[0], &r.ghost[1], &r.ghost[2], &r.width[0], &r.width[1], &r.width[2]));
  PetscCall(DMGetLocalToGlobalMapping(da, &mapping));
  PetscCall(ISLocalToGlobalMappingGetIndices(mapping, &r.global));
  for (int d = 0; d < s->dim; d++) {
    PetscCall(DMCreateGlobalVector(da, &s->up[d]));
    PetscCall(VecSet(s->up[d], 0));
    PetscCall(VecGetArray(s->up[d], &r.up[d]));
    PetscCall(PetscCalloc1(s->own, &r.down[d]));
  }
  PetscCall(DMCreateGlobalVector(da, &s->identity));
  PetscCall(VecGetArrayWrite(s->identity, &r.identity));
  PetscCall(PetscCalloc1(s->own, &r.sum));
  PetscCall(FillStencil(s, &r, A));
  PetscCall(PetscFree(r.sum));
  PetscCall(VecRestoreArrayWrite(s->identity, &r.identity));
  for (int d = 0; d < s->dim; d++) {
    PetscCall(PetscFree(r.down[d]));
    PetscCall(VecRestoreArray(s->up[d], &r.up[d]));
  }
  PetscCall(ISLocalToGlobalMappingRestoreIndices(mapping, &r.global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilDestroy(VpStencil *s)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(VecDestroy(&s->up[d]));
  PetscCall(VecDestroy(&s->identity));
  PetscCall(VecDestroy(&s->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
