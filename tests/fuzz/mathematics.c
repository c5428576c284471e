/* What holds for every operator, transfer and preconditioner. */
#include "fuzz.h"
#include "../../src/petsc/pc/internal.h"

#define ALIKE 1e-9 /* cells and coefficients that are alike to ten digits share tables, so A is symmetric only so far */

/* an error, relative to what it is an error of, against its bound; NaN fails */
static void Hold(PetscReal error, PetscReal size, PetscReal bound, const char what[], PetscInt *failed)
{
  if (error <= bound * size) return;
  Say("mathematics: %s: off by %.1e of %.1e, at most %.0e", what, (double)error, (double)size, (double)bound);
  ++*failed;
}

static PetscErrorCode Compare(Vec x, Vec y, PetscReal size, PetscReal bound, const char what[], PetscInt *failed)
{
  Vec       d;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, y, x));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(VecDestroy(&d));
  Hold(norm, size, bound, what, failed);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Product(Vec x, Vec y, PetscReal *product)
{
  PetscScalar dot;

  PetscFunctionBeginUser;
  PetscCall(VecDot(x, y, &dot));
  *product = PetscRealPart(dot);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* unknowns times those that a row sees */
static PetscErrorCode Entries(DM dm, PetscReal *entries)
{
  PetscInt dim, degree, cells, all;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetDegree(dm, &degree));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCallMPI(MPI_Allreduce(&cells, &all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)dm)));
  *entries = (PetscReal)all * (PetscReal)(2 * dim + 1) * PetscPowReal((PetscReal)degree + 1, 2 * (PetscReal)dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same operator as a shell and assembled: products, diagonals and norms */
static PetscErrorCode CompareAssembled(DM dm, Mat A, Vec x, Vec Ax, PetscReal size, PetscInt *failed)
{
  static const NormType    norms[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  static const char *const names[] = {"shell and assembled matrix have one NORM_1", "NORM_FROBENIUS", "NORM_INFINITY"};
  MatType                  type;
  char                     before[64];
  PetscReal                entries = 0, norm[2];
  PetscBool                shell;
  Mat                      B;
  Vec                      y, d;

  PetscFunctionBeginUser;
  PetscCall(Entries(dm, &entries));
  if (entries > 2e6) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetMatType(dm, &type));
  PetscCall(PetscStrncpy(before, type, sizeof(before)));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSHELL, &shell));
  PetscCall(DMSetMatType(dm, shell ? MATAIJ : MATSHELL));
  PetscCall(DMCreateMatrix(dm, &B));
  PetscCall(DMSetMatType(dm, before));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &d));
  PetscCall(MatMult(B, x, y));
  PetscCall(Compare(y, Ax, size, 1e-12, "shell and assembled matrix have one product", failed));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetDiagonal(B, d));
  PetscCall(VecNorm(d, NORM_2, &norm[0]));
  PetscCall(Compare(y, d, norm[0], 1e-12, "shell and assembled matrix have one diagonal", failed));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(norms); i++) {
    PetscCall(MatNorm(A, norms[i], &norm[0]));
    PetscCall(MatNorm(B, norms[i], &norm[1]));
    Hold(PetscAbsReal(norm[0] - norm[1]), norm[0], ALIKE, names[i], failed);
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckOperator(DM dm, Mat A, PetscInt *failed)
{
  MatNullSpace constants;
  PetscReal    xy[2] = {0, 0}, norm[4], frobenius;
  Vec          x, y, Ax, Ay;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &Ax));
  PetscCall(VecDuplicate(x, &Ay));
  PetscCall(DrawVec(x));
  PetscCall(DrawVec(y));
  PetscCall(VecNorm(x, NORM_2, &norm[0]));
  PetscCall(VecNorm(y, NORM_2, &norm[1]));
  PetscCall(MatMult(A, x, Ax));
  PetscCall(MatMultTranspose(A, y, Ay));
  PetscCall(Product(Ax, y, &xy[0]));
  PetscCall(Product(x, Ay, &xy[1]));
  PetscCall(VecNorm(Ax, NORM_2, &norm[2]));
  PetscCall(VecNorm(Ay, NORM_2, &norm[3]));
  Hold(PetscAbsReal(xy[0] - xy[1]), norm[0] * norm[3] + norm[1] * norm[2], ALIKE, "<A x, y> = <x, A y>", failed);
  PetscCall(MatResidual(A, y, x, Ay));
  PetscCall(VecAXPY(Ay, 1, Ax));
  PetscCall(Compare(Ay, y, norm[1] + norm[2], 1e-13, "MatResidual() is b - A x", failed));
  PetscCall(CompareAssembled(dm, A, x, Ax, norm[2], failed));
  PetscCall(MatGetNullSpace(A, &constants));
  if (constants) {
    PetscCall(MatNullSpaceRemove(constants, x));
    PetscCall(VecAXPY(y, 1, x));
    PetscCall(VecCopy(y, Ay));
    PetscCall(MatNullSpaceRemove(constants, Ay));
    PetscCall(VecAXPY(y, -1, Ay)); /* what lies in the null space */
    PetscCall(MatMult(A, y, Ay));
    PetscCall(VecNorm(Ay, NORM_2, &norm[3]));
    PetscCall(MatNorm(A, NORM_FROBENIUS, &frobenius));
    PetscCall(VecNorm(y, NORM_2, &norm[1]));
    Hold(norm[3], frobenius * norm[1], 1e-12, "A times the null space is 0", failed);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Ax));
  PetscCall(VecDestroy(&Ay));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of degree 1, which every space has; the corner makes it small on domains far from the origin */
static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  for (PetscInt d = 0; d < dim; d++) value[0] += ((PetscReal *)ctx)[d] * x[d];
  return PETSC_SUCCESS;
}

static PetscErrorCode CheckPoints(DM dm, PetscInt *failed)
{
  PetscReal        slope[3] = {0, 0, 0}, error[2], size, low[3] = {0, 0, 0}, high[3] = {0, 0, 0};
  PetscInt         dim, nbox;
  const PetscReal *lower, *upper;
  Vec              x, y, values;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, &lower, &upper));
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt b = 0; b < nbox; b++) {
      low[d] = PetscMin(low[d], lower[b * dim + d]);
      high[d] = PetscMax(high[d], upper[b * dim + d]);
    }
    slope[d] = DrawReal() / (high[d] - low[d]);
  }
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &values));
  PetscCall(DrawVec(x));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(DMVPatchDGGetPointValues(dm, x, values));
  PetscCall(DMVPatchDGSetPointValues(dm, values, y));
  PetscCall(Compare(x, y, size, 1e-12, "point values go and come", failed));
  PetscCall(DMVPatchDGComputeErrors(dm, x, NULL, NULL, NULL, &error[0], NULL));
  Hold(PetscAbsReal(error[0] - size), size, 1e-12, "|x| is the L2 norm", failed);
  PetscCall(DMVPatchDGInterpolate(dm, Linear, slope, x));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(DMVPatchDGComputeErrors(dm, x, Linear, NULL, slope, &error[0], &error[1]));
  Hold(error[0], size, 1e-12, "a linear function is interpolated exactly", failed);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* local to global, adding, is the transpose of global to local */
static PetscErrorCode CheckLocal(DM dm, PetscInt *failed)
{
  PetscReal   mine, local, global = 0, size[2];
  PetscScalar dot;
  Vec         x, y, xl, yl;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(DMCreateLocalVector(dm, &xl));
  PetscCall(VecDuplicate(xl, &yl));
  PetscCall(DrawVec(x));
  PetscCall(DrawVec(yl));
  PetscCall(DMGlobalToLocalBegin(dm, x, INSERT_VALUES, xl));
  PetscCall(DMGlobalToLocalEnd(dm, x, INSERT_VALUES, xl));
  PetscCall(VecZeroEntries(y));
  PetscCall(DMLocalToGlobalBegin(dm, yl, ADD_VALUES, y));
  PetscCall(DMLocalToGlobalEnd(dm, yl, ADD_VALUES, y));
  PetscCall(VecDot(xl, yl, &dot));
  mine = PetscRealPart(dot);
  PetscCallMPI(MPI_Allreduce(&mine, &local, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)dm)));
  PetscCall(Product(x, y, &global));
  PetscCall(VecNorm(x, NORM_2, &size[0]));
  PetscCall(VecNorm(y, NORM_2, &size[1]));
  Hold(PetscAbsReal(local - global), size[0] * size[1], 1e-13, "<G x, y> = <x, G^T y>", failed);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&xl));
  PetscCall(VecDestroy(&yl));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* prolongation embeds, so it keeps L2 norms; restriction is its transpose */
static PetscErrorCode CheckInterpolation(DM dm, PetscInt *failed)
{
  PetscReal size[4], xy[2] = {0, 0};
  PetscInt  level;
  DM        coarse;
  Mat       P;
  Vec       x, y, Px, Py;

  PetscFunctionBeginUser;
  PetscCall(DMGetRefineLevel(dm, &level));
  if (level < 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCoarsen(dm, PetscObjectComm((PetscObject)dm), &coarse));
  PetscCall(DMCreateInterpolation(coarse, dm, &P, NULL));
  PetscCall(MatCreateVecs(P, &x, &y));
  PetscCall(VecDuplicate(y, &Px));
  PetscCall(VecDuplicate(x, &Py));
  PetscCall(DrawVec(x));
  PetscCall(DrawVec(y));
  PetscCall(MatMult(P, x, Px));
  PetscCall(MatMultTranspose(P, y, Py));
  PetscCall(VecNorm(x, NORM_2, &size[0]));
  PetscCall(VecNorm(Px, NORM_2, &size[1]));
  PetscCall(VecNorm(y, NORM_2, &size[2]));
  PetscCall(Product(Px, y, &xy[0]));
  PetscCall(Product(x, Py, &xy[1]));
  Hold(PetscAbsReal(size[0] - size[1]), size[0], 1e-12, "|P x| = |x|", failed);
  Hold(PetscAbsReal(xy[0] - xy[1]), size[1] * size[2], 1e-12, "<P x, y> = <x, P^T y>", failed);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Px));
  PetscCall(VecDestroy(&Py));
  PetscCall(MatDestroy(&P));
  PetscCall(DMDestroy(&coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckTransfers(DM dm, PetscInt *failed)
{
  PetscFunctionBeginUser;
  PetscCall(CheckPoints(dm, failed));
  PetscCall(CheckLocal(dm, failed));
  PetscCall(CheckInterpolation(dm, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* u = (1 + c.x)^degree, where c.x is small, and what belongs to it where the coefficient is K */
typedef struct {
  PetscInt  degree;
  PetscReal c[3], alpha, reaction;
  Tensor    tensor;
} Polynomial;

static PetscReal Entry(const Tensor *t, PetscInt dim, PetscInt d, PetscInt e)
{
  if (t->components <= dim) return d == e ? t->K[t->components > 1 ? d : 0] : 0;
  return t->K[VpMetricEntry((int)dim, (int)t->components, (int)d, (int)e)];
}

static PetscReal Base(const Polynomial *p, PetscInt dim, const PetscReal x[])
{
  PetscReal sum = 1;

  for (PetscInt d = 0; d < dim; d++) sum += p->c[d] * x[d];
  return sum;
}

static PetscErrorCode PolynomialValue(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const Polynomial *p = ctx;

  value[0] = PetscPowRealInt(Base(p, dim, x), (int)p->degree);
  return PETSC_SUCCESS;
}

/* - div K grad u + reaction u */
static PetscErrorCode PolynomialSource(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const Polynomial *p = ctx;
  const PetscReal   k = (PetscReal)p->degree;

  PetscCall(PolynomialValue(dim, x, value, ctx));
  value[0] *= p->reaction;
  for (PetscInt d = 0; d < dim && p->degree > 1; d++) {
    for (PetscInt e = 0; e < dim; e++)
      value[0] -= k * (k - 1) * PetscPowRealInt(Base(p, dim, x), (int)p->degree - 2) * Entry(&p->tensor, dim, d, e) * p->c[d] * p->c[e];
  }
  return PETSC_SUCCESS;
}

/* n.K grad u / n.K n, plus alpha u */
static PetscErrorCode PolynomialFlux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  const Polynomial *p = ctx;
  const PetscReal   slope = (PetscReal)p->degree * PetscPowRealInt(Base(p, dim, x), (int)p->degree - 1);
  PetscReal         flux = 0, weight = 0;

  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) {
      flux += normal[d] * Entry(&p->tensor, dim, d, e) * p->c[e] * slope;
      weight += normal[d] * Entry(&p->tensor, dim, d, e) * normal[e];
    }
  }
  PetscCall(PolynomialValue(dim, x, value, ctx));
  value[0] = flux / weight + (weight > 0 ? p->alpha : 0) * value[0];
  return PETSC_SUCCESS;
}

/* Can one function give the data of all sides? alpha: of Robin sides, else 0 */
static PetscErrorCode HasData(DM dm, PetscInt dim, PetscReal *alpha, PetscBool *has)
{
  VPatchDGBoundary boundary[6];
  PetscReal        robin[6];
  PetscBool        kinds[2] = {PETSC_FALSE, PETSC_FALSE}; /* Neumann, Robin */

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetBoundary(dm, boundary));
  PetscCall(DMVPatchDGGetRobin(dm, robin));
  *alpha = 0;
  *has = PETSC_TRUE;
  for (PetscInt side = 0; side < 2 * dim; side++) {
    if (boundary[side] == VPATCHDG_BOUNDARY_PERIODIC) *has = PETSC_FALSE;
    if (boundary[side] == VPATCHDG_BOUNDARY_NEUMANN) kinds[0] = PETSC_TRUE;
    if (boundary[side] != VPATCHDG_BOUNDARY_ROBIN) continue;
    if (kinds[1] && robin[side] != *alpha) *has = PETSC_FALSE;
    kinds[1] = PETSC_TRUE;
    *alpha = robin[side];
  }
  if (kinds[0] && kinds[1]) *has = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A of the coefficients of a polynomial is its right-hand side, data included */
PetscErrorCode CheckPolynomials(DM dm, Mat A, const Tensor *tensor, PetscInt *failed)
{
  Polynomial p = {.tensor = *tensor};
  PetscReal  low[3], high[3], frobenius, size;
  PetscInt   dim;
  PetscBool  has = PETSC_FALSE;
  Vec        x, b, Ax;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(HasData(dm, dim, &p.alpha, &has));
  if (!has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGGetReaction(dm, &p.reaction));
  PetscCall(DMVPatchDGGetDegree(dm, &p.degree));
  PetscCall(DMGetBoundingBox(dm, low, high));
  for (PetscInt d = 0; d < dim; d++) p.c[d] = DrawReal() / (3 * PetscMax(PetscAbsReal(low[d]), PetscAbsReal(high[d])));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &Ax));
  PetscCall(DMVPatchDGInterpolate(dm, PolynomialValue, &p, x));
  PetscCall(DMVPatchDGComputeRHS(dm, PolynomialSource, PolynomialValue, PolynomialFlux, &p, b));
  PetscCall(MatMult(A, x, Ax));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &frobenius));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(Compare(Ax, b, frobenius * size, 1e-13, "polynomials are reproduced", failed));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&Ax));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* is M linear to double precision, is its adjoint exact, is it its own adjoint? As the manual pages promise */
static PetscErrorCode Promises(PC pc, PetscBool *linear, PetscBool *adjoint, PetscBool *symmetric)
{
  PetscMPIInt           size;
  const VpCycleOptions *options;
  VPatchDGSpace         space;
  VPatchDGPrecision     precision;
  PetscBool             cycle, twice;
  KSP                   coarse;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  *linear = *adjoint = *symmetric = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCVPATCHDG, &cycle));
  if (!cycle) PetscFunctionReturn(PETSC_SUCCESS);
  options = &((const PC_VPatchDG *)pc->data)->options;
  PetscCall(PCVPatchDGGetSpace(pc, &space));
  PetscCall(PCVPatchDGGetPrecision(pc, &precision));
  PetscCall(PCVPatchDGGetSymmetric(pc, &twice));
  PetscCall(PCVPatchDGGetCoarseKSP(pc, &coarse));
  *linear = (PetscBool)(precision == VPATCHDG_PRECISION_DOUBLE && !coarse);
  *adjoint = (PetscBool)(*linear && (size == 1 || options->exchange == VP_EXCHANGE_COLOR) && options->residual != VP_RESIDUAL_LOCAL);
  *symmetric = (PetscBool)(*adjoint && twice);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CheckPreconditioner(PC pc, Mat A, PetscInt *failed)
{
  PetscBool linear = PETSC_FALSE, adjoint = PETSC_FALSE, symmetric = PETSC_FALSE;
  PetscReal xy[3] = {0, 0, 0}, size[4];
  PetscReal bound;
  DM        dm;
  Vec       x, y, Mx, My;

  PetscFunctionBeginUser;
  PetscCall(MatGetDM(A, &dm));
  PetscCall(DMVPatchDGGetPenalty(dm, &bound));
  bound = 1e-10 * PetscMax(bound, 1); /* rounding errors grow like the condition number */
  PetscCall(Promises(pc, &linear, &adjoint, &symmetric));
  if (!linear) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &Mx));
  PetscCall(VecDuplicate(x, &My));
  PetscCall(DrawVec(x));
  PetscCall(DrawVec(y));
  PetscCall(PCApply(pc, x, Mx));
  PetscCall(VecNorm(x, NORM_2, &size[0]));
  PetscCall(VecNorm(y, NORM_2, &size[1]));
  PetscCall(VecNorm(Mx, NORM_2, &size[2]));
  PetscCall(Product(Mx, y, &xy[0]));
  if (adjoint) {
    PetscCall(PCApplyTranspose(pc, y, My));
    PetscCall(VecNorm(My, NORM_2, &size[3]));
    PetscCall(Product(x, My, &xy[1]));
    Hold(PetscAbsReal(xy[0] - xy[1]), size[0] * size[3] + size[1] * size[2], bound, "<M x, y> = <x, M^T y>", failed);
  }
  PetscCall(PCApply(pc, y, My));
  PetscCall(VecNorm(My, NORM_2, &size[3]));
  PetscCall(Product(x, My, &xy[2]));
  if (symmetric) Hold(PetscAbsReal(xy[0] - xy[2]), size[0] * size[3] + size[1] * size[2], bound, "<M x, y> = <x, M y>", failed);
  PetscCall(VecAXPY(x, 2, y));
  PetscCall(VecAXPY(Mx, 2, My));
  PetscCall(PCApply(pc, x, My));
  PetscCall(Compare(My, Mx, size[2] + 2 * size[3], bound, "M (x + 2 y) = M x + 2 M y", failed));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&Mx));
  PetscCall(VecDestroy(&My));
  PetscFunctionReturn(PETSC_SUCCESS);
}
