/* Sets up the preconditioner of a continuous operator: nodes, the scale of A, the constants, loose entries, and Jacobi steps. */
#include "pcbase.h"
#include "../forecast/forecast.h"
#include "../../base/memory.h"

#define ALIKE 4    /* Diagonals of A and of the mesh's form that differ by at most this factor, up to a common one, are of one form. */
#define SMALL 1e-9 /* of the largest entry: rounding errors */

static PetscErrorCode CheckMatrix(PC pc, PetscLayout *layout)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const Mat          A = pc->pmat;
  PetscMPIInt        same;
  PetscInt           rows, columns;

  PetscFunctionBegin;
  PetscCheck(A, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "-pc_type vpatchdg has no matrix yet: call KSPSetOperators() first");
  PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)A), PetscObjectComm((PetscObject)c->dm), &same));
  PetscCheck(same == MPI_IDENT || same == MPI_CONGRUENT, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NOTSAMECOMM,
             "The matrix and the DM of PCVPatchDGSetElementRestriction() must live on the same ranks");
  PetscCall(MatGetSize(A, &rows, &columns));
  PetscCheck(rows == columns, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "The matrix has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns: a continuous operator is square", rows, columns);
  PetscCall(MatGetLayouts(A, layout, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks if there is no memory for the nodes and vectors. */
static PetscErrorCode CountMemory(VpContinuous c, const VpBackend *backend, PetscLayout layout)
{
  const DM_VPatchDG *dg = DMVPatchDGData(c->dm);
  PetscInt           rows;
  VpBytes            need;
  VpSize             size;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetLocalSize(layout, &rows));
  PetscCall(VpSizeOfMesh(dg->mesh, (int)dg->degree, backend, &size));
  need = VpNodesMemory(&size, (double)rows, c->wide);
  PetscCall(VpCheckMemory(dg->mesh->comm, backend, need, VpMeshMemory(&size).work, "The element restriction of -pc_type vpatchdg",
                          "Use more ranks"));
  c->bytes = need.work;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the nodes and vectors for this layout, unless they exist. */
static PetscErrorCode MakeNodes(PC pc, PetscLayout layout)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  DM_VPatchDG       *dg = DMVPatchDGData(c->dm);
  const VpNodesGiven given = {.degree = (int)dg->degree, .wide = c->wide, .point = c->point, .node = c->node, .known = c->known};
  const VpBackend   *backend;
  PetscBool          same = PETSC_FALSE;
  PetscLayout        now;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGUseBackend(c->dm, &backend));
  if (c->nodes) {
    PetscCall(VecGetLayout(c->work[0], &now));
    PetscCall(PetscLayoutCompare(now, layout, &same));
    if (same && c->nodes->backend == backend) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VpContinuousReset(pc));
  }
  PetscCall(CountMemory(c, backend, layout));
  if (c->node) PetscCall(VpNodesCreate(dg->mesh, &given, backend, layout, &c->nodes));
  else {
    VpNodes nodes;

    PetscCall(DMVPatchDGGetNodes(c->dm, backend, &nodes));
    c->nodes = VpReference(nodes);
  }
  PetscCall(MatCreateVecs(pc->pmat, &c->work[0], NULL));
  for (int i = 1; i < 4; i++) PetscCall(VecDuplicate(c->work[0], &c->work[i]));
  PetscCall(VecDuplicate(c->work[0], &c->one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the weights of cells, `one`, and the number of loose entries, whose mask needs `one` before it is divided by its norm. */
static PetscErrorCode WeighCells(VpContinuous c, VpOperator op)
{
  PetscScalar sum;
  PetscInt    rows;
  VpValues    one;

  PetscFunctionBegin;
  if (c->op == op && !c->nloose) PetscFunctionReturn(PETSC_SUCCESS);
  op = VpReference(op);
  PetscCall(VpOperatorDestroy(&c->op));
  c->op = op;
  PetscCall(VpValuesGet(c->nodes->backend, c->one, VP_WRITE, &one));
  PetscCall(VpNodesWeigh(c->nodes, &op->problem, &c->means, one.at));
  PetscCall(VpValuesRestore(&one));
  PetscCall(VecGetSize(c->one, &rows));
  PetscCall(VecSum(c->one, &sum));
  c->nloose = rows - (PetscInt)(PetscRealPart(sum) + 0.5);
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { BINS = 256 };

static int BinOf(PetscReal x, PetscReal low, PetscReal high)
{
  return (int)PetscMin(BINS - 1, (x - low) / (high - low) * BINS);
}

/* *median of n numbers of all ranks, to 12 digits; range: the least and the largest of them. Counts the numbers from `low` to *median, both
   of which are among them, in bins, and goes on with the bin that has the median. */
static PetscErrorCode FindMedian(MPI_Comm comm, PetscInt n, const PetscReal x[], PetscReal range[2], PetscReal *median)
{
  PetscReal  all[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL};
  PetscInt64 total = n, below = 0; /* number of all, and of those below `low` */

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    all[0] = PetscMin(all[0], x[i]);
    all[1] = PetscMin(all[1], -x[i]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPIU_REAL, MPIU_MIN, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPIU_INT64, MPI_SUM, comm));
  range[0] = all[0];
  range[1] = *median = -all[1];
  if (!total || PetscIsInfOrNanReal(all[0] + all[1])) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscReal low = all[0]; *median - low > 1e-12 * PetscAbsReal(*median);) {
    PetscReal  ends[2] = {PETSC_MAX_REAL, PETSC_MAX_REAL}; /* the least number of the bin, and - the largest */
    PetscInt64 count[BINS] = {0};
    int        b = 0;

    for (PetscInt i = 0; i < n; i++) {
      if (x[i] >= low && x[i] <= *median) count[BinOf(x[i], low, *median)]++;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, BINS, MPIU_INT64, MPI_SUM, comm));
    while (b < BINS - 1 && 2 * (below + count[b]) < total) below += count[b++];
    for (PetscInt i = 0; i < n; i++) {
      if (x[i] < low || x[i] > *median || BinOf(x[i], low, *median) != b) continue;
      ends[0] = PetscMin(ends[0], x[i]);
      ends[1] = PetscMin(ends[1], -x[i]);
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPIU_REAL, MPIU_MIN, comm));
    low = ends[0];
    *median = -ends[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Warns of the entry whose quotient is farthest from the scale. */
static PetscErrorCode WarnOfForm(PC pc, const PetscReal quotient[], const PetscInt row[], PetscInt n)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const PetscReal    most = PetscMax(ALIKE, c->alike);
  struct {
    double value;
    int    rank;
  } worst = {0, 0};
  PetscInt first = 0, last = 0, at = 0;

  PetscFunctionBegin;
  if (c->spread[0] * most >= c->scale * (1 - SMALL) && c->spread[1] <= most * c->scale * (1 + SMALL)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetOwnershipRange(pc->pmat, &first, &last));
  for (PetscInt i = 0; i < n; i++) {
    const double off = quotient[i] > 0 ? PetscMax(quotient[i] / c->scale, c->scale / quotient[i]) : PETSC_MAX_REAL;

    if (off <= worst.value) continue;
    worst.value = off;
    at = first + row[i];
  }
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &worst.rank));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, PetscObjectComm((PetscObject)pc)));
  PetscCallMPI(MPI_Bcast(&at, 1, MPIU_INT, worst.rank, PetscObjectComm((PetscObject)pc)));
  PetscCall(VpWarn(pc, VP_WARN_FORM,
                   "the matrix is not the form of the DM: its diagonal is %.3g to %.3g times that of the DM's, %.3g in the median, and row "
                   "%" PetscInt_FMT " is the farthest off. Compare coefficient, boundary conditions, and rows of Dirichlet nodes, which "
                   "have -1 in the element restriction",
                   (double)c->spread[0], (double)c->spread[1], (double)c->scale, at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* quotient [*n] = those of the diagonals of A and of the mesh's form, for nodes at these places, where cells have the row; row [*n] */
static PetscErrorCode DivideDiagonals(VpContinuous c, Vec diagonal, const double point[], PetscReal quotient[], PetscInt row[], PetscInt *n)
{
  const VpBackend   *backend = c->nodes->backend;
  const size_t       bytes = (size_t)c->nodes->rows * sizeof(double);
  const PetscScalar *d;
  double            *form, *on;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(VpMallocLarge(c->nodes->rows + 1, &form));
  PetscCall(backend->borrow(bytes + 1, "diagonal of the form", (void **)&on));
  PetscCall(VpNodesDiagonal(c->nodes, &c->op->problem, point, on));
  PetscCall(backend->download(on, bytes, form));
  PetscCall(backend->give_back(on));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < c->nodes->rows; i++) {
    if (form[i] <= 0) continue;
    quotient[*n] = PetscRealPart(d[i]) / form[i];
    row[(*n)++] = i;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(PetscFree(form));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define VARIES 1e-3 /* Quotients that differ by less are one. */

/* Warns if the diagonal of A is that of nodes at equal distances. quotient [rows], row [rows]: scratch */
static PetscErrorCode WarnOfNodes(PC pc, Vec diagonal, PetscReal quotient[], PetscInt row[])
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  PetscReal          range[2], median;
  double             even[VP_MAX_N];
  PetscInt           n;

  PetscFunctionBegin;
  if (c->spread[1] <= (1 + VARIES) * c->spread[0]) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i <= c->nodes->degree; i++) even[i] = (double)i / c->nodes->degree;
  PetscCall(DivideDiagonals(c, diagonal, even, quotient, row, &n));
  PetscCall(FindMedian(c->nodes->mesh->comm, n, quotient, range, &median));
  if (range[0] > 0 && range[1] <= (1 + VARIES) * range[0])
    PetscCall(
      VpWarn(pc, VP_WARN_NODES,
             "the matrix is that of nodes at equal distances, and the element restriction is for nodes at the Gauss-Lobatto points: "
             "more iterations. A PetscFE on a DMPLEX may have both"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the diagonal of A with that of the mesh's form. Multiplies the diagonal by the factor of rows. */
static PetscErrorCode MeasureScale(PC pc, Vec diagonal)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const PetscInt     rows = c->nodes->rows;
  PetscReal         *quotient;
  PetscInt          *row, n;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rows, &quotient, rows, &row));
  if (c->factor) PetscCall(VecPointwiseMult(diagonal, diagonal, c->factor));
  PetscCall(DivideDiagonals(c, diagonal, c->nodes->point, quotient, row, &n));
  PetscCall(FindMedian(c->nodes->mesh->comm, n, quotient, c->spread, &c->scale));
  PetscCheck(c->scale > 0 && !PetscIsInfOrNanReal(c->spread[0] + c->spread[1]), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "The diagonal of the matrix is %g to %g times that of the DM's form: it has to be positive", (double)c->spread[0],
             (double)c->spread[1]);
  if (PetscAbsReal(c->scale - 1) < SMALL) c->scale = 1;
  PetscCall(WarnOfForm(pc, quotient, row, n));
  PetscCall(WarnOfNodes(pc, diagonal, quotient, row));
  PetscCall(PetscFree2(quotient, row));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds what constants are to A, and warns where the DM says another thing. */
static PetscErrorCode MeasureConstants(PC pc, Vec diagonal)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  VpProblem          diffusion = c->op->problem;
  const Vec          y = c->work[0], u = c->work[1];
  PetscReal          norm, most;
  PetscScalar        product;
  PetscBool          singular;

  PetscFunctionBegin;
  diffusion.reaction = 0;
  c->eigenvalue = 0;
  PetscCall(VecNorm(c->one, NORM_2, &norm));
  if (norm > 0) PetscCall(VecScale(c->one, 1 / norm));
  singular = VpProblemIsSingular(c->op->mesh, &diffusion);
  if (!singular && (!c->node || c->nloose)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMult(pc->pmat, c->one, y));
  PetscCall(VecDot(y, c->one, &product));
  if (singular && c->op->problem.reaction > 0) c->eigenvalue = PetscRealPart(product);
  PetscCall(VecNorm(y, NORM_2, &norm));
  if (diagonal) PetscCall(VecPointwiseMult(y, diagonal, c->one));
  else {
    PetscCall(VecSetRandom(u, NULL));
    PetscCall(VecNormalize(u, NULL));
    PetscCall(MatMult(pc->pmat, u, y));
  }
  PetscCall(VecNorm(y, NORM_2, &most));
  if (!singular && norm <= SMALL * most)
    PetscCall(VpWarn(pc, VP_WARN_SIDES,
                     "the matrix takes constants to 0, and the DM has Dirichlet or Robin sides: say that sides are Neumann "
                     "(-dm_vpatchdg_boundary)"));
  if (singular && !c->eigenvalue && norm > SMALL * most)
    PetscCall(VpWarn(pc, VP_WARN_SIDES,
                     "the DM has Neumann sides alone, and the matrix does not take constants to 0: say where the DM has Dirichlet or Robin "
                     "sides (-dm_vpatchdg_boundary)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes `loose`. diagonal: NULL: 1. scratch: a vector */
static PetscErrorCode FindLoose(VpContinuous c, Vec diagonal, Vec scratch)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->loose));
  if (!c->nloose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(c->one, &c->loose));
  PetscCall(VecSet(c->loose, 1));
  PetscCall(VecAXPY(c->loose, -1, c->one));
  if (!diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCopy(diagonal, scratch));
  PetscCall(VecReciprocal(scratch));
  PetscCall(VecPointwiseMult(c->loose, c->loose, scratch));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless the rows of loose entries are those of the identity, up to a factor. Tests with a random vector whether other
   rows have nonzero entries in their columns. mask: 0 at loose entries, else 1 */
static PetscErrorCode MeasureLoose(PC pc, Vec diagonal, Vec mask)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const Vec          u = c->work[0], y = c->work[1], scratch = c->work[3];
  PetscReal          off, most;

  PetscFunctionBegin;
  if (c->known) PetscFunctionReturn(PETSC_SUCCESS);
  c->coupled = PETSC_FALSE;
  if (!c->nloose) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSetRandom(u, NULL));
  PetscCall(VecShift(u, 1));
  PetscCall(MatMult(pc->pmat, u, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &most));
  if (diagonal) PetscCall(VecPointwiseMult(scratch, diagonal, u));
  PetscCall(VecAXPY(y, -1, diagonal ? scratch : u));
  PetscCall(VecPointwiseMult(scratch, y, mask));
  PetscCall(VecAXPY(y, -1, scratch));
  PetscCall(VecNorm(y, NORM_INFINITY, &off));
  PetscCheck(off <= SMALL * most, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "The matrix has %" PetscInt_FMT " rows of nodes that no cell of the element restriction has, and some couple with others: the "
             "restriction leaves out (-1) only nodes whose rows are those of the identity. Is it of this matrix, of degree %d?",
             c->nloose, c->nodes->degree);
  /* u = what a random vector of loose entries adds to other rows */
  PetscCall(VecPointwiseMult(y, u, c->loose));
  PetscCall(VecNorm(y, NORM_INFINITY, &most));
  PetscCall(MatMult(pc->pmat, y, u));
  PetscCall(VecPointwiseMult(u, u, mask));
  PetscCall(VecNorm(u, NORM_INFINITY, &off));
  c->coupled = (PetscBool)(off > 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *price: about how many products with A a cycle takes, by the bytes that both move */
static PetscErrorCode FindPrice(PC pc, PetscReal *price)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const int          dim = c->nodes->mesh->dim;
  const double       places = (double)c->nodes->mesh->ncell * c->nodes->view.ndof;
  const double       move = 2 * (sizeof(double) + sizeof(float)) + 2 * (2 * sizeof(double) + sizeof(int32_t)); /* enter, gather and back */
  const double       sweep = 3 * sizeof(float) * pow(2, dim) / (1 - pow(2, -dim));
  PetscBool          shell, counts;
  PetscInt           rows;
  MatInfo            info;
  double             product = places * (2 * sizeof(double) + 2 * (2 * sizeof(double) + sizeof(int32_t)));

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSHELL, &shell));
  PetscCall(MatGetSize(pc->pmat, &rows, NULL));
  PetscCall(MatHasOperation(pc->pmat, MATOP_GETINFO, &counts));
  if (!shell && counts) {
    PetscCall(MatGetInfo(pc->pmat, MAT_GLOBAL_SUM, &info));
    if (info.nz_used > 0) product = info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + 2. * (double)rows * sizeof(PetscScalar);
  }
  *price = places * (move + sweep) / product;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SOME 2           /* price of a cycle in products with A from which one Jacobi step pays, ... */
#define MANY 4           /* ... from which two do, ... */
#define MOST 8           /* ... and from which one does with the masses of the Gauss-Lobatto rule */
enum { WIDE_STEPS = 2 }; /* where cells are wide */

static PetscErrorCode ChooseSteps(PC pc, PetscBool diagonal)
{
  const VpPCBase    *inverse = pc->data;
  const VpContinuous c = inverse->continuous;
  PetscReal          price = 0;
  const PetscBool    lumped = (PetscBool)(c->op->problem.quadrature == VP_QUADRATURE_LOBATTO);

  PetscFunctionBegin;
  c->jacobi = inverse->jacobi;
  PetscCall(PetscStrncpy(c->why, "asked for", sizeof(c->why)));
  PetscCheck(diagonal || inverse->jacobi == VP_JACOBI_AUTO || inverse->jacobi == VP_JACOBI_NONE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_SUP, "-pc_vpatchdg_jacobi %s needs the diagonal of the matrix, and its type %s gives none: set MATOP_GET_DIAGONAL",
             VpJacobiNames[inverse->jacobi], VpTypeName((PetscObject)pc->pmat));
  c->steps = c->wide ? WIDE_STEPS : 1;
  if (c->jacobi != VP_JACOBI_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  if (c->wide || (diagonal && c->centered)) {
    c->jacobi = VP_JACOBI_BOTH;
    PetscCall(PetscStrncpy(c->why, c->wide ? "auto: cells are wide" : "auto: centers of cells, or numbers that vary", sizeof(c->why)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(FindPrice(pc, &price));
  c->jacobi = !diagonal || price < (lumped ? MOST : SOME) ? VP_JACOBI_NONE : price < MANY || lumped ? VP_JACOBI_AFTER : VP_JACOBI_BOTH;
  if (c->symmetric && c->jacobi == VP_JACOBI_AFTER) c->jacobi = VP_JACOBI_NONE;
  if (diagonal) PetscCall(PetscSNPrintf(c->why, sizeof(c->why), "auto: a cycle costs about %.1f products with A", (double)price));
  else PetscCall(PetscStrncpy(c->why, "auto: the matrix gives no diagonal", sizeof(c->why)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define DAMPING 0.8 /* the most, ... */
#define LUMPED  0.7 /* ... with the masses of the Gauss-Lobatto rule, ... */
#define OF_CELL 1.4 /* ... and this divided by the largest eigenvalue of a cell */

/* step = damping / A_ii, at loose entries 1 / A_ii */
static PetscErrorCode MakeSteps(PC pc, Vec diagonal)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  double             most;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&c->step));
  if (c->jacobi == VP_JACOBI_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpNodesLargest(c->nodes, &c->op->problem, &most));
  c->damping = c->op->problem.quadrature == VP_QUADRATURE_LOBATTO ? LUMPED : DAMPING;
  c->damping = PetscMin(c->damping, OF_CELL / most);
  if (c->wide) c->damping = 2 / (2 + 1. / c->nodes->mesh->dim); /* D^-1 A of what changes from point to point: from 1/dim to 2 */
  PetscCall(VecDuplicate(c->one, &c->step));
  PetscCall(VecCopy(diagonal, c->step));
  PetscCall(VecReciprocal(c->step));
  PetscCall(VecScale(c->step, c->damping));
  if (c->loose) PetscCall(VecAXPY(c->step, 1 - c->damping, c->loose));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *own: the scale of A is known, because it is the DM's operator. Its diagonal then is found only for Jacobi steps. */
static PetscErrorCode FindOperator(PC pc, PetscBool *own)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  VpMatrix           matrix = NULL;

  PetscFunctionBegin;
  if (!c->node) PetscCall(VpMatrixFind(pc->pmat, &matrix));
  PetscCall(WeighCells(c, matrix ? VpMatrixOperator(matrix) : DMVPatchDGData(c->dm)->op));
  *own = (PetscBool)(matrix && matrix->shell && matrix->shift == 0 && PetscRealPart(matrix->scale) > 0);
  c->scale = *own ? PetscRealPart(matrix->scale) : c->exact > 0 ? c->exact : 1;
  c->spread[0] = c->spread[1] = c->exact > 0 ? c->scale : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *diagonal: a vector with that of A */
static PetscErrorCode GetDiagonal(PC pc, Vec *diagonal)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  const VpBackend   *backend = c->nodes->backend;
  VpValues           on;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(pc->pmat, diagonal, NULL));
  if (!c->diagonal) {
    PetscCall(MatGetDiagonal(pc->pmat, *diagonal));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpValuesGet(backend, *diagonal, VP_WRITE, &on));
  PetscCall(backend->upload(c->diagonal, (size_t)c->nodes->rows * sizeof(*c->diagonal), on.at));
  PetscCall(VpValuesRestore(&on));
  PetscCall(PetscFree(c->diagonal));
  if (c->factor) PetscCall(VecPointwiseDivide(*diagonal, *diagonal, c->factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpContinuousSetUp(PC pc, VpPmat *p)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;
  Vec                diagonal = NULL;
  PetscLayout        layout;
  PetscBool          has, own = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(c->dm, "PCVPatchDGSetElementRestriction()"));
  PetscCall(CheckMatrix(pc, &layout));
  PetscCall(MakeNodes(pc, layout));
  PetscCall(FindOperator(pc, &own));
  PetscCall(MatHasOperation(pc->pmat, MATOP_GET_DIAGONAL, &has));
  PetscCall(ChooseSteps(pc, has));
  if (has && !(own && c->jacobi == VP_JACOBI_NONE)) PetscCall(GetDiagonal(pc, &diagonal));
  PetscCall(FindLoose(c, diagonal, c->work[0]));
  PetscCall(MeasureLoose(pc, diagonal, c->one));
  PetscCall(MeasureConstants(pc, diagonal));
  PetscCall(MakeSteps(pc, diagonal));
  if (has && !own && c->exact <= 0) PetscCall(MeasureScale(pc, diagonal));
  PetscCall(VecDestroy(&diagonal));
  *p = (VpPmat){.dm = c->dm, .op = c->op, .scale = c->scale};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpContinuousReset(PC pc)
{
  const VpContinuous c = VpPCBaseData(pc)->continuous;

  PetscFunctionBegin;
  if (!c) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpNodeMeansDestroy(&c->means));
  PetscCall(VpNodesDestroy(&c->nodes));
  PetscCall(VpOperatorDestroy(&c->op));
  PetscCall(VecDestroy(&c->one));
  PetscCall(VecDestroy(&c->loose));
  PetscCall(VecDestroy(&c->step));
  for (int i = 0; i < 4; i++) PetscCall(VecDestroy(&c->work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpContinuousDestroy(PC pc)
{
  VpPCBase *inverse = pc->data;

  PetscFunctionBegin;
  if (!inverse->continuous) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpContinuousReset(pc));
  PetscCall(DMDestroy(&inverse->continuous->dm));
  PetscCall(VecDestroy(&inverse->continuous->factor));
  PetscCall(PetscFree(inverse->continuous->diagonal));
  PetscCall(PetscFree(inverse->continuous->node));
  PetscCall(PetscFree(inverse->continuous));
  PetscFunctionReturn(PETSC_SUCCESS);
}
