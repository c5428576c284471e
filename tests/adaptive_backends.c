/* Host and device agree on meshes of cells of different levels: slot by slot, cycles, solvers.
   ranks: 1 2 */
#include "support/agree.h"
#undef D
#undef N
#undef P
#include "support/refined.h"

/* numbers that a seed decides, on the backend, in the levels' precision */
static PetscErrorCode Random(const Refined *r, VpPrecision precision, size_t n, int seed, void **p)
{
  const size_t size = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  char        *values;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n * size, &values));
  for (size_t i = 0; i < n; i++) {
    const double value = Lot((PetscReal[]){(PetscReal)i, 0, 0}, seed) - 0.5;

    if (precision == VP_DOUBLE) ((double *)values)[i] = value;
    else ((float *)values)[i] = (float)value;
  }
  PetscCall(r->backend->alloc(n * size, "a test", p));
  PetscCall(r->backend->upload(values, n * size, *p));
  PetscCall(PetscFree(values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |theirs - ours| / |ours| of arrays of both */
static PetscErrorCode Relative(const Refined r[2], VpPrecision precision, size_t n, void *const p[2], double *distance)
{
  const size_t size = precision == VP_DOUBLE ? sizeof(double) : sizeof(float);
  char        *values[2];
  double       sum[2] = {0, 0};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n * size, &values[0], n * size, &values[1]));
  for (int i = 0; i < 2; i++) PetscCall(r[i].backend->download(p[i], n * size, values[i]));
  for (size_t i = 0; i < n; i++) {
    const double ours = precision == VP_DOUBLE ? ((double *)values[0])[i] : (double)((float *)values[0])[i];
    const double theirs = precision == VP_DOUBLE ? ((double *)values[1])[i] : (double)((float *)values[1])[i];

    sum[0] += PetscSqr(theirs - ours);
    sum[1] += PetscSqr(ours);
  }
  *distance = sqrt(sum[0] / PetscMax(sum[1], 1e-300));
  PetscCall(PetscFree2(values[0], values[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* is that so on all ranks? */
static PetscBool AreNear(double distance, double bound)
{
  PetscBool near = (PetscBool)(distance <= bound);

  (void)MPI_Allreduce(MPI_IN_PLACE, &near, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  return near;
}

static PetscErrorCode operators_agree_on_leaves(const Setting *s, const Refined r[2])
{
  const size_t own = (size_t)r->leaves->nown * r->ndof, all = (size_t)r->leaves->nlocal * r->ndof;
  const double size = r->precision == VP_DOUBLE ? 1e-13 : 3e-6;
  double       norm2[2], apart[4];
  void        *x[2], *b[2], *y[2][2], *entered[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const VpLevel outer = r[i].outer;
    VpLevel       leaves;
    VpGhosts      ghosts;

    PetscCall(Random(&r[i], VP_DOUBLE, all, 1, &x[i]));
    ghosts = VpGhostsAt((char *)x[i] + own * sizeof(double));
    PetscCall(VpLevelCreate(r[i].leaves, &r[i].problem, VP_BASIS_THIN, r->precision, r[i].backend, &leaves));
    PetscCall(Random(&r[i], VP_DOUBLE, own, 2, &b[i]));
    for (int k = 0; k < 2; k++) PetscCall(Random(&r[i], VP_DOUBLE, own, 3, &y[k][i]));
    PetscCall(Random(&r[i], r->precision, own, 3, &entered[i]));
    PetscCall(outer->ops->apply(&outer->view, 0, outer->view.nown, x[i], ghosts, NULL, y[0][i]));
    PetscCall(outer->ops->apply(&outer->view, 0, outer->view.nown, x[i], ghosts, b[i], y[1][i]));
    PetscCall(leaves->ops->enter(&leaves->view, &outer->view, 0.5, x[i], ghosts, b[i], entered[i], &norm2[i]));
    PetscCall(VpLevelDestroy(&leaves));
  }
  for (int k = 0; k < 2; k++) PetscCall(Relative(r, VP_DOUBLE, own, y[k], &apart[k]));
  PetscCall(Relative(r, r->precision, own, entered, &apart[2]));
  apart[3] = fabs(norm2[1] - norm2[0]) / norm2[0];
  TapOk(AreNear(PetscMax(PetscMax(apart[0], apart[1]), PetscMax(apart[2] * 1e-13 / size, apart[3])), 1e-13),
        "operators_agree_on_leaves, %s: %.1e %.1e %.1e %.1e", s->name, apart[0], apart[1], apart[2], apart[3]);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) PetscCall(r[i].backend->release(y[k][i]));
    PetscCall(r[i].backend->release(x[i]));
    PetscCall(r[i].backend->release(b[i]));
    PetscCall(r[i].backend->release(entered[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum { FINE, RIGHT, COARSE, COARSE_RIGHT, VECTORS };

/* the slots of edges, one after the other, from the same values */
static PetscErrorCode edges_agree(const Setting *s, const Refined r[2], int l)
{
  const size_t    n[VECTORS] = {(size_t)r->mesh[l]->nlocal * r->ndof, (size_t)r->mesh[l]->nlocal * r->ndof,
                                (size_t)r->mesh[l + 1]->nlocal * r->ndof, (size_t)r->mesh[l + 1]->nlocal * r->ndof};
  const double    bound = r->precision == VP_DOUBLE ? 1e-12 : 1e-5;
  VpArrays        arrays[2];
  VpInterfaceView edges[2];
  double          apart[VECTORS], worst = 0;
  void           *v[VECTORS][2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    const VpLevel fine = r[i].level[l], coarse = r[i].level[l + 1];

    arrays[i] = (VpArrays){.backend = r[i].backend, .precision = r->precision};
    PetscCall(PetscArrayzero(&edges[i], 1));
    PetscCall(VpPlaceInterfaces(fine, coarse, PETSC_TRUE, &arrays[i], &edges[i]));
    for (int k = 0; k < VECTORS; k++) PetscCall(Random(&r[i], r->precision, n[k], k, &v[k][i]));
    PetscCall(fine->ops->add_coarse(&fine->view, &edges[i], -1, v[COARSE][i], v[RIGHT][i]));
    PetscCall(fine->ops->subtract_fine(&fine->view, &coarse->view, &edges[i], v[FINE][i], v[COARSE][i], v[COARSE_RIGHT][i]));
    for (int c = 0; c < VP_INTERFACE_COLORS; c++)
      PetscCall(fine->ops->solve_interfaces(&fine->view, &coarse->view, &edges[i], edges[i].start[c], edges[i].start[c + 1], v[RIGHT][i],
                                            v[FINE][i], v[COARSE_RIGHT][i], v[COARSE][i]));
  }
  for (int k = 0; k < VECTORS; k++) {
    PetscCall(Relative(r, r->precision, n[k], v[k], &apart[k]));
    worst = PetscMax(worst, apart[k]);
  }
  TapOk(AreNear(worst, bound), "edges_agree, %s, level %d, %s: %.1e %.1e %.1e %.1e, %d patches", s->name, r->n - l,
        r->precision == VP_DOUBLE ? "double" : "single", apart[0], apart[1], apart[2], apart[3], (int)edges[0].start[VP_INTERFACE_COLORS]);
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < VECTORS; k++) PetscCall(r[i].backend->release(v[k][i]));
    PetscCall(VpArraysRelease(&arrays[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSlots(const Setting *s, VpPrecision precision)
{
  Refined r[2];

  PetscFunctionBeginUser;
  PetscCall(RefinedCreate(s, &VpBackendHost, precision, &r[0]));
  PetscCall(RefinedCreate(s, UsableBackend("cuda"), precision, &r[1]));
  PetscCall(operators_agree_on_leaves(s, r));
  for (int l = 0; l + 1 < r->n && VpMeshIsPart(r->mesh[l]); l++) PetscCall(edges_agree(s, r, l));
  for (int i = 0; i < 2; i++) PetscCall(RefinedDestroy(&r[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a jump that patches fit without rounding: on devices they take small steps for none */
static PetscReal Jump(const PetscReal lower[], const PetscReal upper[], PetscReal parameter)
{
  return lower[0] + upper[0] > 0 ? 8 : 1;
}

/* Cells near a sphere are refined. Where there is a coefficient, it jumps. */
static const Case cases[] = {
  {"square", 2, 3, 2, VPATCHDG_DOMAIN_BOX, 1, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, 1, PETSC_FALSE},
  {"L-shape with a coefficient", 2, 2, 2, VPATCHDG_DOMAIN_LSHAPE, 0, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, 0,
   PETSC_TRUE},
  {"Fichera's corner", 3, 2, 1, VPATCHDG_DOMAIN_FICHERA, 0, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, 0, PETSC_FALSE},
  {"cube", 3, 4, 1, VPATCHDG_DOMAIN_BOX, 1, VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_DIRICHLET, 0, PETSC_FALSE}};

static PetscErrorCode CheckSolves(const Case *c)
{
  const PetscReal sphere[4] = {0, 0, 0, 0.6};
  Case            plain = *c;
  Problem         p[2];
  DM              dm;

  PetscFunctionBeginUser;
  plain.coefficient = PETSC_FALSE; /* which would be a smooth one */
  for (int i = 0; i < 2; i++) {
    PetscCall(CaseDM(c, i ? DEVICE : HOST, &dm));
    PetscCall(DMVPatchDGSetLocalRefinement(dm, c->dim == 2 ? 3 : 2, NULL, sphere));
    PetscCall(DMSetUp(dm));
    if (c->coefficient) PetscCall(SetCoefficient(dm, Jump, 0));
    PetscCall(CaseProblem(&plain, dm, &p[i]));
  }
  PetscCall(CopyValues(p[0].b, p[1].b));
  PetscCall(operators_agree(c, p));
  PetscCall(cycles_agree(c, p, "", PETSC_FALSE, PETSC_TRUE));
  PetscCall(cycles_agree(c, p, "-pc_vpatchdg_symmetric -pc_vpatchdg_exchange color", PETSC_FALSE, PETSC_TRUE));
  PetscCall(solver_agrees(c, p, "-ksp_type fgmres", 1));
  PetscCall(solver_agrees(c, p, "-ksp_type richardson -pc_vpatchdg_precision double", 0));
  for (int i = 0; i < 2; i++) PetscCall(ProblemDestroy(&p[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (!UsableBackend("cuda")) PetscFunctionReturn(TapSkip("no CUDA device"));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(refined); i++) {
    if (refined[i].dim == 2 || i % 2 == 0) PetscCall(CheckSlots(&refined[i], VP_DOUBLE));
    if (refined[i].dim == 2 || i % 2 == 1) PetscCall(CheckSlots(&refined[i], VP_SINGLE));
  }
  for (size_t i = 0; tap.size == 1 && i < PETSC_STATIC_ARRAY_LENGTH(across); i++) PetscCall(CheckSlots(&across[i], VP_DOUBLE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(CheckSolves(&cases[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
