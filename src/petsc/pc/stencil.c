/* Reads the couplings of points from a matrix on a DMDA. */
#include "stencilrows.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscdmda.h>

static PetscErrorCode CheckDA(DM da, VpStencil *s)
{
  DMBoundaryType type[3];
  PetscMPIInt    first;
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
  PetscCall(VpFirstRank(PetscObjectComm((PetscObject)da), (PetscBool)(s->own >= INT32_MAX), &first));
  PetscCheck(first == INT_MAX, PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_type vpatchdg: rank %d has 2^31 points of the DMDA or more: use more ranks", first);
  for (int d = 0; d < s->dim; d++) {
    s->periodic[d] = (PetscBool)(type[d] == DM_BOUNDARY_PERIODIC);
    PetscCheck(s->n[d] >= 3, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
               "-pc_type vpatchdg: the DMDA has %" PetscInt_FMT " points in direction %c, and needs 3", s->n[d], (char)('x' + d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* values on local points */
typedef struct {
  Vec                local; /* NULL: own points are all local ones */
  const PetscScalar *at;
} Ghosts;

static PetscErrorCode FillGhosts(const VpStencil *s, const VpStencilRows *r, const PetscScalar own[], Ghosts *ghosts)
{
  PetscBool    all = PETSC_TRUE;
  Vec          global;
  PetscScalar *values;

  PetscFunctionBegin;
  *ghosts = (Ghosts){.at = own};
  for (int d = 0; d < 3; d++) all = (PetscBool)(all && r->width[d] == s->count[d]);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPIU_BOOL, MPI_LAND, PetscObjectComm((PetscObject)s->da)));
  if (all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetGlobalVector(s->da, &global));
  PetscCall(VecGetArrayWrite(global, &values));
  PetscCall(PetscArraycpy(values, own, s->own));
  PetscCall(VecRestoreArrayWrite(global, &values));
  PetscCall(DMCreateLocalVector(s->da, &ghosts->local));
  PetscCall(VecSet(ghosts->local, 0));
  PetscCall(DMGlobalToLocal(s->da, global, INSERT_VALUES, ghosts->local));
  PetscCall(DMRestoreGlobalVector(s->da, &global));
  PetscCall(VecGetArrayRead(ghosts->local, &ghosts->at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeGhosts(Ghosts *ghosts)
{
  PetscFunctionBegin;
  if (ghosts->local) PetscCall(VecRestoreArrayRead(ghosts->local, &ghosts->at));
  PetscCall(VecDestroy(&ghosts->local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what loops over own points know */
typedef struct {
  const VpStencil   *s;
  VpStencilRows     *r;
  const PetscScalar *identity, *down[3]; /* on local points */
} Points;

/* Compares what a point and the next ones say of their couplings. Rows of the identity get those of the next points. most [2]: positive:
   two points differ; a row has an entry in the column of a row of the identity */
static void CompareCouplings(const Points *w, PetscInt first, PetscInt last, double most[])
{
  const VpStencil     *s = w->s;
  const VpStencilRows *r = w->r;
  PetscInt             at[3];

  VpStencilPoint(s, first, at);
  for (PetscInt i = first; i < last; i++, VpStencilNext(s, at)) {
    const PetscInt  local = VpStencilLocalOf(r, at);
    const PetscBool fixed = (PetscBool)(s->identity[i] != 0);

    for (int d = 0; d < s->dim; d++) {
      const PetscInt there = VpStencilLocalBeside(s, r, local, at, d, 1);
      PetscScalar    down, up = s->up[d][i];

      if (there < 0) continue;
      down = w->down[d][there];
      if (w->identity[there] != 0) most[1] = !fixed && up != 0 ? 1 : most[1];
      else if (fixed) {
        most[1] = down != 0 ? 1 : most[1];
        s->up[d][i] = PetscMax(PetscRealPart(up), PetscRealPart(down));
      } else if (PetscAbsScalar(down - up) > VP_STENCIL_SMALL * PetscMax(PetscAbsScalar(down), PetscAbsScalar(up))) most[0] = 1;
    }
  }
}

/* *same: no two points differ in what they say of their coupling. */
static PetscErrorCode JoinCouplings(VpStencil *s, VpStencilRows *r, const PetscScalar identity[], PetscBool *same)
{
  double most[2] = {0, 0};
  Points w = {.s = s, .r = r, .identity = identity};
  Ghosts down[3];

  PetscFunctionBegin;
  for (int d = 0; d < s->dim; d++) {
    PetscCall(FillGhosts(s, r, r->down[d], &down[d]));
    w.down[d] = down[d].at;
  }
  VP_LOOP_HEAVY_MOST (piece, VP_STENCIL_PIECES, most[:2])
    CompareCouplings(&w, VpStencilPiece(s, piece), VpStencilPiece(s, piece + 1), most);
  for (int d = 0; d < s->dim; d++) PetscCall(FreeGhosts(&down[d]));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)s->da)));
  *same = (PetscBool)(most[0] == 0);
  s->coupled = (PetscBool)(most[1] > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests whether a point is inside of the DMDA, where couplings of all directions are whole. */
static PetscBool IsInner(const VpStencil *s, const VpStencilRows *r, PetscInt i, const PetscInt at[3])
{
  PetscBool is = PETSC_TRUE;

  for (int d = 0; d < s->dim; d++)
    is = (PetscBool)(is && PetscRealPart(s->up[d][i]) > 0 && (s->periodic[d] || (at[d] > 0 && at[d] < s->n[d] - 1)));
  return is;
}

/* sum of a row */
static double SumRow(const VpStencil *s, const VpStencilRows *r, PetscInt i)
{
  double sum = PetscRealPart(s->diagonal[i]);

  for (int d = 0; d < s->dim; d++) sum -= PetscRealPart(s->up[d][i]) + PetscRealPart(r->down[d][i]);
  return sum;
}

/* sum of the couplings of an own point, or 0 unless there are some to all sides */
static double SumCouplings(const VpStencil *s, const VpStencilRows *r, PetscInt i)
{
  double sum = 0;

  for (int d = 0; d < s->dim; d++) {
    const double up = PetscRealPart(s->up[d][i]), down = PetscRealPart(r->down[d][i]);

    if (up <= 0 || down <= 0) return 0;
    sum += up + down;
  }
  return sum;
}

#define REACTS 1e-8 /* of a row's couplings: smaller sums are rounding errors */

/* Makes `mass`, unless rows with couplings to all sides have the sum 0, or constants are said to be a null space. most [2]: as from
   VpStencilReadRows() */
static PetscErrorCode TakeSums(VpStencil *s, VpStencilRows *r, Mat A, const double most[])
{
  PetscBool    ones = PETSC_FALSE;
  MatNullSpace space;

  PetscFunctionBegin;
  s->negative = most[1];
  PetscCall(MatGetNullSpace(A, &space));
  if (space) PetscCall(MatNullSpaceGetVecs(space, &ones, &(PetscInt){0}, &(const Vec *){NULL}));
  if (most[0] <= REACTS || ones) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(s->own + 1, &s->mass));
  for (PetscInt i = 0; i < s->own; i++) s->mass[i] = SumCouplings(s, r, i) > 0 ? PetscMax(SumRow(s, r, i), 0) : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the sums and the numbers of logarithms of a piece's couplings: of all couplings, of those inside. */
static void AddLogs(const VpStencil *s, const VpStencilRows *r, int32_t piece, double logs[2][6])
{
  const PetscInt first = VpStencilPiece(s, piece), last = VpStencilPiece(s, piece + 1);
  double         before[3] = {0}, count[3][2] = {{0}}; /* numbers of points with the coupling before: all, those inside */
  PetscInt       at[3];

  VpStencilPoint(s, first, at);
  for (PetscInt i = first; i <= last; i++, VpStencilNext(s, at)) {
    const PetscBool inner = (PetscBool)(i < last && IsInner(s, r, i, at));

    for (int d = 0; d < s->dim; d++) {
      const double up = i < last ? PetscRealPart(s->up[d][i]) : 0;

      if (up != before[d]) {
        for (int k = 0; k < 2 && before[d] > 0; k++) {
          logs[k][d] += count[d][k] * log(before[d]);
          logs[k][3 + d] += count[d][k];
        }
        count[d][0] = count[d][1] = 0;
        before[d] = up;
      }
      count[d][0]++;
      count[d][1] += inner;
    }
  }
}

/* typical = the geometric mean of couplings along each direction, as rows say them: of those inside, if there are any */
static PetscErrorCode FindTypical(const VpStencil *s, const VpStencilRows *r, double typical[3])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s->da);
  double         logs[2][6] = {{0}}, of[VP_STENCIL_PIECES][2][6] = {{{0}}};

  PetscFunctionBegin;
  VP_LOOP_HEAVY (piece, VP_STENCIL_PIECES) AddLogs(s, r, piece, of[piece]);
  for (int piece = 0; piece < VP_STENCIL_PIECES; piece++)
    for (int k = 0; k < 12; k++) logs[k / 6][k % 6] += of[piece][k / 6][k % 6];
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
static PetscErrorCode DivideRows(VpStencil *s, VpStencilRows *r)
{
  double       typical[3];
  PetscScalar *factor;

  PetscFunctionBegin;
  PetscCall(FindTypical(s, r, typical));
  PetscCall(DMCreateGlobalVector(s->da, &s->factor));
  PetscCall(VecGetArrayWrite(s->factor, &factor));
  VP_LOOP (i, (int32_t)s->own) {
    double most = 0;

    for (int d = 0; d < s->dim; d++) most = PetscMax(most, PetscMax(PetscRealPart(s->up[d][i]), PetscRealPart(r->down[d][i])) / typical[d]);
    factor[i] = most > 0 && s->identity[i] == 0 ? 1 / most : 1;
    for (int d = 0; d < s->dim && s->identity[i] != 0; d++) s->up[d][i] = 0; /* what the next points say of it has changed */
    s->diagonal[i] *= factor[i];
    for (int d = 0; d < s->dim; d++) {
      s->up[d][i] *= factor[i];
      r->down[d][i] *= factor[i];
    }
  }
  PetscCall(VecRestoreArrayWrite(s->factor, &factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the couplings of both rows' points. Ensures: an error unless rows, or rows that are divided, are symmetric. */
static PetscErrorCode FindCouplings(VpStencil *s, VpStencilRows *r, const PetscScalar identity[])
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(JoinCouplings(s, r, identity, &is));
  if (!is) {
    PetscCall(DivideRows(s, r));
    PetscCall(JoinCouplings(s, r, identity, &is));
  }
  PetscCheck(is, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
             "-pc_type vpatchdg: the matrix of the DMDA is not symmetric, as with advection, and rows that are multiplied by a number each "
             "are known for a coefficient of 1 alone");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests whether a point on a side along d has all couplings along the side: it has none to a row of the identity whose column is 0. */
static PetscBool IsCoupledAlong(const VpStencil *s, const VpStencilRows *r, PetscInt i, int d)
{
  PetscBool is = PETSC_TRUE;

  for (int e = 0; e < s->dim; e++) is = (PetscBool)(is && (e == d || (PetscRealPart(s->up[e][i]) > 0 && PetscRealPart(r->down[e][i]) > 0)));
  return is;
}

/* Adds up what own points on sides say of these, without reactions, which are as large at the points inside. up, mass: on local points;
   mass may be NULL */
static void SumUp(VpStencil *s, const VpStencilRows *r, const PetscScalar *const up[3], const PetscScalar *mass,
                  const PetscScalar identity[])
{
  for (PetscInt i = 0; i < s->own; i++) {
    PetscInt at[3];
    int      onsides = 0;

    VpStencilPoint(s, i, at);
    for (int d = 0; d < s->dim; d++) onsides += !s->periodic[d] && (at[d] == 0 || at[d] == s->n[d] - 1);
    if (!onsides) { /* nor are the next points of this row, but for the last one */
      i += PetscMax(0, s->start[0] + s->count[0] - 2 - at[0]);
      continue;
    }
    for (int side = 0; side < 2 * s->dim && onsides == 1; side++) {
      const int      d = side / 2;
      const PetscInt here = VpStencilLocalOf(r, at), inside = VpStencilLocalBeside(s, r, here, at, d, side % 2 ? -1 : 1);
      double         along = 0, next = 0;

      if (s->periodic[d] || at[d] != (side % 2 ? s->n[d] - 1 : 0)) continue;
      s->sums[side].rows++;
      s->sums[side].fixed += PetscRealPart(s->identity[i]);
      if (s->identity[i] != 0 || !IsCoupledAlong(s, r, i, d)) continue;
      s->sums[side].sum += SumRow(s, r, i);
      s->sums[side].inner += PetscRealPart((side % 2 ? r->down : s->up)[d][i]);
      for (int e = 0; e < s->dim && identity[inside] == 0; e++) {
        if (e == d) continue;
        along += PetscRealPart(up[e][here]);
        next += PetscRealPart(up[e][inside]);
      }
      s->sums[side].along += along;
      s->sums[side].next += next;
      if (mass && PetscRealPart(mass[inside]) > 0 && next > 0) s->sums[side].sum -= PetscRealPart(mass[inside]) * along / next;
    }
  }
}

static PetscErrorCode MeasureSides(VpStencil *s, const VpStencilRows *r, const PetscScalar identity[])
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)s->da);
  const PetscScalar *up[3] = {NULL};
  Ghosts             ghosts[3], mass = {NULL, NULL};

  PetscFunctionBegin;
  for (int d = 0; d < s->dim; d++) {
    PetscCall(FillGhosts(s, r, s->up[d], &ghosts[d]));
    up[d] = ghosts[d].at;
  }
  if (s->mass) PetscCall(FillGhosts(s, r, s->mass, &mass));
  SumUp(s, r, up, mass.at, identity);
  for (int d = 0; d < s->dim; d++) PetscCall(FreeGhosts(&ghosts[d]));
  PetscCall(FreeGhosts(&mass));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, s->sums, 6 * sizeof(s->sums[0]) / sizeof(double), MPI_DOUBLE, MPI_SUM, comm));
  PetscCall(FindTypical(s, r, s->typical));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillStencil(VpStencil *s, VpStencilRows *r, Mat A)
{
  Ghosts identity;
  double most[2];

  PetscFunctionBegin;
  PetscCall(VpStencilReadRows(s, r, A, most));
  PetscCall(FillGhosts(s, r, s->identity, &identity));
  PetscCall(FindCouplings(s, r, identity.at));
  PetscCall(TakeSums(s, r, A, most));
  PetscCall(MeasureSides(s, r, identity.at));
  PetscCall(FreeGhosts(&identity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilCreate(Mat A, DM da, VpStencil *s)
{
  ISLocalToGlobalMapping mapping;
  PetscBool              reads;
  VpStencilRows          r = {.global = NULL};

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
  for (int d = 0; d < 3; d++) r.stride[d] = d ? r.stride[d - 1] * r.width[d - 1] : 1;
  for (int d = 0; d < s->dim; d++) {
    PetscCall(VpMallocLarge(s->own + 1, &s->up[d]));
    PetscCall(VpMallocLarge(s->own + 1, &r.down[d]));
  }
  PetscCall(VpMallocLarge(s->own + 1, &s->identity));
  PetscCall(VpMallocLarge(s->own + 1, &s->diagonal));
  PetscCall(FillStencil(s, &r, A));
  for (int d = 0; d < s->dim; d++) PetscCall(PetscFree(r.down[d]));
  PetscCall(ISLocalToGlobalMappingRestoreIndices(mapping, &r.global));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilDestroy(VpStencil *s)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(s->up[d]));
  PetscCall(PetscFree(s->identity));
  PetscCall(PetscFree(s->mass));
  PetscCall(VecDestroy(&s->factor));
  PetscCall(PetscFree(s->diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}
