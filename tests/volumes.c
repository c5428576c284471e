/* The finite volumes of a level: fluxes, and functions of numbers on cells, against functions whose fluxes are known; the low modes against
   Legendre polynomials; cycles that hand a level over.
   ranks: 1 2 3 */
#include "support/multigrid.h"

static const Setting cases[] = {
  {"2D Q1", 2, 1, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_LAYERS, 0},
  {"2D Q2, Robin, reaction", 2, 2, 2, {3, 2, 1}, PETSC_FALSE, VP_SIDE_ROBIN, COEFFICIENT_LAYERS, 3},
  {"2D Q4, Neumann", 2, 4, 2, {2, 1, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_OCTAVES, 0},
  {"3D Q2", 3, 2, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_LAYERS, 0},
  {"3D Q3, Robin", 3, 3, 1, {2, 1, 3}, PETSC_FALSE, VP_SIDE_ROBIN, COEFFICIENT_OCTAVES, 0},
  {"3D torus", 3, 1, 1, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 2},
};

typedef struct {
  World   w;
  VpLevel level; /* on the tested backend, with the cycle's basis */
  Mat     T, P;
  Vec     u, f, modes;
} Test;

static PetscErrorCode Create(const Setting *s, Test *t)
{
  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &t->w));
  PetscCall(VpLevelCreate(t->w.mesh, &t->w.problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &t->level));
  PetscCall(VpAssembleVolumes(t->level, MATAIJ, &t->T, &t->P));
  PetscCall(MatCreateVecs(t->T, &t->u, &t->f));
  PetscCall(MatCreateVecs(t->P, NULL, &t->modes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Test *t)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&t->T));
  PetscCall(MatDestroy(&t->P));
  PetscCall(VecDestroy(&t->u));
  PetscCall(VecDestroy(&t->f));
  PetscCall(VecDestroy(&t->modes));
  PetscCall(VpLevelDestroy(&t->level));
  PetscCall(WorldDestroy(&t->w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the function of x with a u' = 1 and u(1/2) = 0, where a is constant on either side of 1/2 */
static double Potential(const Setting *s, double x)
{
  const PetscReal lower[3] = {x < 0.5 ? 0.25 : 0.75, 0.1, 0.1}, size[3] = {0};

  return (x - 0.5) / CoefficientAt(s->coefficient, s->dim, lower, size);
}

/* t->u = its values in the middle of own cells */
static PetscErrorCode FillPotential(const Setting *s, Test *t)
{
  PetscScalar *u;
  PetscReal    lower[3], size[3];

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(t->u, &u));
  for (int32_t c = 0; c < t->w.mesh->nown; c++) {
    VpGeometryBounds(t->w.mesh->geometry, c, lower, size);
    u[c] = Potential(s, lower[0] + size[0] / 2);
  }
  PetscCall(VecRestoreArrayWrite(t->u, &u));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what leaves a cell with this potential: nothing through sides inside, the flux 1, and at the ends of x what the condition takes */
static double Outflow(const Setting *s, VpMesh mesh, int32_t c)
{
  const VpGeometry   g = mesh->geometry;
  const VpCondition *is = &VpConditions[s->boundary];
  PetscReal          lower[3], size[3];
  double             a, x, sum;

  VpGeometryBounds(g, c, lower, size);
  a = CoefficientAt(s->coefficient, s->dim, lower, size);
  x = lower[0] + size[0] / 2;
  sum = s->reaction * VpGeometryVolume(g, c) * Potential(s, x);
  for (int side = 0; side < 2 * s->dim; side++) {
    const double area = VpGeometryArea(g, c, side), h = size[side / 2];

    if (VpMeshNeighbor(mesh, c, side) >= 0) sum += side < 2 ? (side ? -area : area) : 0;
    else if (is->penalty > 0) sum += 2 * a * area / h * Potential(s, x);
    else if (is->alpha > 0) sum += a * area / (h / 2 + 1. / 3) * Potential(s, x);
  }
  return sum;
}

static PetscErrorCode fluxes_of_a_known_potential(const Setting *s)
{
  Test         t;
  PetscScalar *f;
  PetscReal    worst = 0, scale;
  PetscBool    symmetric;

  PetscFunctionBeginUser;
  PetscCall(Create(s, &t));
  PetscCall(FillPotential(s, &t));
  PetscCall(MatMult(t.T, t.u, t.f));
  PetscCall(VecNorm(t.f, NORM_INFINITY, &scale));
  PetscCall(VecGetArray(t.f, &f));
  for (int32_t c = 0; c < t.w.mesh->nown; c++) worst = PetscMax(worst, PetscAbsScalar(f[c] - Outflow(s, t.w.mesh, c)));
  PetscCall(VecRestoreArray(t.f, &f));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCall(MatIsSymmetric(t.T, 1e-12, &symmetric));
  TapOk((PetscBool)(worst < 1e-7 * scale && symmetric), "fluxes_of_a_known_potential: %s: %g of %g", s->name, (double)worst, (double)scale);
  PetscCall(Destroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside, P takes the numbers to the potential itself, which is linear in every cell: its modes are those of that function. */
static PetscErrorCode functions_of_a_known_potential(const Setting *s)
{
  const int          low = VpLowModes(s->dim);
  Test               t;
  const PetscScalar *m;
  PetscReal          worst = 0, lower[3], size[3];

  PetscFunctionBeginUser;
  PetscCall(Create(s, &t));
  PetscCall(FillPotential(s, &t));
  PetscCall(MatMult(t.P, t.u, t.modes));
  PetscCall(VecGetArrayRead(t.modes, &m));
  for (int32_t c = 0; c < t.w.mesh->nown; c++) {
    const double root = sqrt(VpGeometryVolume(t.w.mesh->geometry, c));
    PetscBool    inside = PETSC_TRUE;

    for (int side = 0; side < 2 * s->dim; side++) inside = (PetscBool)(inside && VpMeshNeighbor(t.w.mesh, c, side) >= 0);
    VpGeometryBounds(t.w.mesh->geometry, c, lower, size);
    worst = PetscMax(worst, PetscAbsScalar(m[c * low] - root * Potential(s, lower[0] + size[0] / 2)));
    for (int k = 1; k < low && inside; k++) {
      const double rise = Potential(s, lower[0] + size[0]) - Potential(s, lower[0]);

      worst = PetscMax(worst, PetscAbsScalar(m[c * low + k] - (k == 1 ? root * rise / (2 * sqrt(3)) : 0)));
    }
  }
  PetscCall(VecRestoreArrayRead(t.modes, &m));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(worst < 1e-13), "functions_of_a_known_potential: %s: %g", s->name, (double)worst);
  PetscCall(Destroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* orthonormal Legendre polynomials on [0,1] */
static double Legendre(int m, double x)
{
  return m == 0 ? 1 : m == 1 ? sqrt(3) * (2 * x - 1) : sqrt(5) * (6 * x * x - 6 * x + 1);
}

/* value in a cell of outer coefficients at a point of the unit cube */
static double ValueAt(const VpBasis *basis, int dim, const double c[], const double x[])
{
  double phi[3][VP_MAX_N], sum = 0;

  for (int d = 0; d < dim; d++) VpBasisEvaluate(basis, x[d], phi[d], NULL);
  for (int i = 0; i < PetscPowInt(basis->n, dim); i++) {
    double product = c[i];

    for (int d = 0, at = i; d < dim; d++, at /= basis->n) product *= phi[d][at % basis->n];
    sum += product;
  }
  return sum;
}

static PetscErrorCode modes_are_those_of_polynomials(const Setting *s)
{
  const int    low = VpLowModes(s->dim);
  const double point[3] = {0.3, 0.85, 0.6};
  Test         t;
  size_t       count, bytes;
  double      *modes, *back, *at, *out, *outer, worst = 0, left, right;
  VpVector     v, b;
  const void  *values;
  void        *to;
  PetscBool    add;

  PetscFunctionBeginUser;
  PetscCall(Create(s, &t));
  count = (size_t)t.w.mesh->nown * (size_t)low;
  bytes = count * sizeof(double);
  PetscCall(PetscMalloc2(count, &modes, count, &back));
  for (size_t i = 0; i < count; i++) modes[i] = s->degree == 1 && i % (size_t)low && i % (size_t)low % 2 == 0 ? 0 : sin(3. * (double)i + 1);
  PetscCall(VpTogether(PETSC_COMM_WORLD, t.level->backend->alloc(bytes, "test", (void **)&at)));
  PetscCall(t.level->backend->upload(modes, bytes, at));
  PetscCall(VpVectorCreate(t.level, 2, "test", &v));
  PetscCall(VpVectorCreate(t.level, 1, "test", &b));
  PetscCall(VectorCreate(t.w.outer, &out));
  Fill(t.w.outer, 1, out);
  PetscCall(VpVectorEnter(b, 1, out));
  for (int twice = 0; twice < 2; twice++) {
    PetscCall(VpVectorAdd(v, VP_GHOST_NONE, &add, &to));
    PetscCall(t.level->ops->prolong_modes(&t.level->view, add, at, to));
  }
  left = 0;
  PetscCall(VpVectorRead(b, VP_GHOST_NONE, &values));
  PetscCall(t.level->ops->restrict_modes(&t.level->view, values, at));
  PetscCall(t.level->backend->download(at, bytes, back));
  for (size_t i = 0; i < count; i++) left += 2 * modes[i] * back[i];
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(VectorCreate(t.w.outer, &outer));
  PetscCall(VpVectorLeave(v, PETSC_FALSE, 1, outer));
  right = Dot(t.w.outer, out, outer);
  TapOk((PetscBool)(fabs(left - right) < 1e-11 * sqrt(Dot(t.w.outer, outer, outer) * Dot(t.w.outer, out, out))),
        "restriction_is_the_adjoint: %s: %.12e, %.12e", s->name, left, right);
  {
    double *host = Get(t.w.outer, outer);

    for (int32_t c = 0; c < t.w.mesh->nown; c++) {
      double sum = modes[c * low];

      for (int k = 1; k < low; k++) sum += modes[c * low + k] * Legendre(1 + (k - 1) % 2, point[(k - 1) / 2]);
      worst = PetscMax(worst, fabs(ValueAt(&t.w.host->basis, s->dim, host + (size_t)c * (size_t)t.w.ndof, point) - 2 * sum));
    }
    PetscCall(PetscFree(host));
  }
  TapOk((PetscBool)(worst < 1e-11), "modes_are_those_of_polynomials: %s: %g", s->name, worst);
  PetscCall(VectorDestroy(t.w.outer, &out));
  PetscCall(VectorDestroy(t.w.outer, &outer));
  PetscCall(VpVectorDestroy(&v));
  PetscCall(VpVectorDestroy(&b));
  PetscCall(t.level->backend->release(at));
  PetscCall(PetscFree2(modes, back));
  PetscCall(Destroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Across sides that hang, too, what leaves a cell enters the others, and constants have no flux and no slope. */
static PetscErrorCode constants_have_no_flux_where_sides_hang(int dim)
{
  const Setting      s = {"leaves", dim, 2, 2, {1, 1, 1}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 0};
  const int          low = VpLowModes(dim);
  VpMesh             mesh, leaves;
  VpProblem          problem = {.degree = 2, .penalty = 1};
  VpLevel            level;
  Mat                T, P;
  Vec                one, f, modes;
  PetscReal          flux, size, worst = 0, *b;
  PetscBool          symmetric;
  int8_t            *mark;
  const PetscScalar *m;

  PetscFunctionBeginUser;
  PetscCall(MakeMesh(PETSC_COMM_WORLD, &s, &mesh));
  PetscCall(PetscMalloc1(mesh->nown + 1, &mark));
  for (int32_t c = 0; c < mesh->nown; c++) mark[c] = (mesh->first + c) % 3 ? VP_MARK_KEEP : VP_MARK_REFINE;
  PetscCall(VpMeshAdapt(mesh, mark, 0, NULL, &leaves, &b));
  PetscCall(VpLevelCreate(leaves, &problem, VP_BASIS_THIN, VP_DOUBLE, TestBackend(), &level));
  PetscCall(VpAssembleVolumes(level, MATAIJ, &T, &P));
  PetscCall(MatCreateVecs(T, &one, &f));
  PetscCall(MatCreateVecs(P, NULL, &modes));
  PetscCall(VecSet(one, 1));
  PetscCall(MatMult(T, one, f));
  PetscCall(VecNorm(f, NORM_INFINITY, &flux));
  PetscCall(MatNorm(T, NORM_INFINITY, &size));
  PetscCall(MatIsSymmetric(T, 1e-14 * size, &symmetric));
  PetscCall(MatMult(P, one, modes));
  PetscCall(VecGetArrayRead(modes, &m));
  for (int32_t c = 0; c < leaves->nown; c++) {
    worst = PetscMax(worst, PetscAbsScalar(m[c * low] - PetscSqrtReal(VpGeometryVolume(leaves->geometry, c))));
    for (int k = 1; k < low; k++) worst = PetscMax(worst, PetscAbsScalar(m[c * low + k]));
  }
  PetscCall(VecRestoreArrayRead(modes, &m));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(VpMeshIsAdaptive(leaves) && symmetric && flux < 2e-8 * size && worst < 1e-14),
        "constants_have_no_flux_where_sides_hang: %dD, %" PetscInt_FMT " cells: flux %g of %g, slope %g", dim, leaves->ncell, (double)flux,
        (double)size, (double)worst);
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&modes));
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&P));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(VpMeshDestroy(&leaves));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(PetscFree(mark));
  PetscCall(PetscFree(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option of the coarsest level's KSP does not change what a program has chosen. */
static PetscErrorCode options_of_the_ksp_leave_the_choice(void)
{
  VPatchDGCoarse coarse;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(PCVPatchDGSetCoarse(pc, VPATCHDG_COARSE_VOLUMES));
  PetscCall(SetByOption(pc, "-vpatchdg_coarse_ksp_rtol", "0.01"));
  PetscCall(PCVPatchDGGetCoarse(pc, &coarse));
  TapOk((PetscBool)(coarse == VPATCHDG_COARSE_VOLUMES), "options_of_the_ksp_leave_the_choice: %s", VPatchDGCoarses[coarse]);
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (const Setting *s = cases; s < cases + PETSC_STATIC_ARRAY_LENGTH(cases); s++) {
    if (s->boundary) PetscCall(fluxes_of_a_known_potential(s));
    if (s->boundary) PetscCall(functions_of_a_known_potential(s));
    PetscCall(modes_are_those_of_polynomials(s));
  }
  for (int dim = 2; dim <= 3; dim++) PetscCall(constants_have_no_flux_where_sides_hang(dim));
  PetscCall(options_of_the_ksp_leave_the_choice());
  PetscFunctionReturn(PETSC_SUCCESS);
}
