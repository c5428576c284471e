/* The same problem on the host and on another place: compares operator, cycle and solve. */
#pragma once
#include "grid.h"
#include "problem.h"

typedef struct {
  const char      *name;
  PetscInt         dim, degree, refine;
  VPatchDGDomain   domain; /* boxes: an L-shape or Fichera's corner of boxes with widths 1 and 1/16 */
  PetscInt         boxes;  /* number of boxes along x if the domain is a box */
  VPatchDGBoundary x, y;   /* on both sides; z has that of y */
  PetscReal        reaction;
  PetscBool        coefficient;
} Case;

#define BOX  VPATCHDG_DOMAIN_BOX, 1
#define D    VPATCHDG_BOUNDARY_DIRICHLET
#define N    VPATCHDG_BOUNDARY_NEUMANN
#define P    VPATCHDG_BOUNDARY_PERIODIC
#define UNIT VPATCHDG_DOMAIN_BOX, 1, D, D, 0, PETSC_FALSE

typedef enum {
  HOST,
  COPIED,
  DEVICE
} Place; /* place of kernels and vectors: both on the host; only kernels on the device; both on the device */

static inline PetscReal Smooth(const PetscReal lower[], const PetscReal upper[], PetscReal parameter)
{
  return PetscExpReal(2 * lower[0] - upper[1]);
}

static inline PetscErrorCode SetThinBoxes(DM dm, PetscInt dim)
{
  static const char *const width[] = {"1,.0625", "1,.0625", "1,.0625"};
  PetscReal               *lower = NULL, *upper = NULL;
  PetscInt                 n = 0;

  PetscFunctionBeginUser;
  PetscCall(GridBoxes((int)dim, width, PETSC_TRUE, &n, &lower, &upper));
  PetscCall(DMVPatchDGSetBoxes(dm, n, lower, upper));
  PetscCall(PetscFree2(lower, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the case's DM, not set up. */
static inline PetscErrorCode CaseDM(const Case *c, Place place, DM *dm)
{
  const VPatchDGBoundary boundary[6] = {c->x, c->x, c->y, c->y, c->y, c->y};

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, c->dim, c->degree, c->refine, dm));
  if (c->domain == VPATCHDG_DOMAIN_BOXES) PetscCall(SetThinBoxes(*dm, c->dim));
  else PetscCall(DMVPatchDGSetDomain(*dm, c->domain));
  if (c->boxes) PetscCall(DMVPatchDGSetBoxGrid(*dm, (PetscInt[]){c->boxes, 1, 1}, NULL, NULL));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMVPatchDGSetReaction(*dm, c->reaction));
#if defined(PETSC_HAVE_CUDA)
  if (place == DEVICE) PetscCall(DMSetVecType(*dm, VECCUDA));
  else
#endif
    PetscCall(DMVPatchDGSetBackend(*dm, place == HOST ? VPATCHDG_BACKEND_HOST : VPATCHDG_BACKEND_CUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the problem of the case's DM, which it takes over. */
static inline PetscErrorCode CaseProblem(const Case *c, DM dm, Problem *p)
{
  MatNullSpace constants;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(dm));
  if (c->coefficient) PetscCall(SetCoefficient(dm, Smooth, 0));
  PetscCall(ProblemOf(dm, NULL, p));
  PetscCall(MatGetNullSpace(p->A, &constants));
  if (constants) PetscCall(MatNullSpaceRemove(constants, p->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = from, on any places */
static inline PetscErrorCode CopyValues(Vec from, Vec to)
{
  const PetscScalar *f;
  PetscScalar       *t;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(from, &n));
  PetscCall(VecGetArrayRead(from, &f));
  PetscCall(VecGetArrayWrite(to, &t));
  PetscCall(PetscArraycpy(t, f, n));
  PetscCall(VecRestoreArrayWrite(to, &t));
  PetscCall(VecRestoreArrayRead(from, &f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |device - host| / |host| */
static inline PetscErrorCode Apart(Vec host, Vec device, PetscReal *relative)
{
  Vec copy;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(host, &copy));
  PetscCall(CopyValues(device, copy));
  PetscCall(Difference(copy, host, relative));
  PetscCall(VecDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares y = A x and r = b - A x for x = b. The residual is computed twice, because tables are made on first use. */
static inline PetscErrorCode operators_agree(const Case *c, Problem p[2])
{
  Vec       r[2];
  PetscReal apart[2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 2; i++) {
    PetscCall(VecDuplicate(p[i].b, &r[i]));
    PetscCall(MatMult(p[i].A, p[i].b, p[i].x));
    for (int twice = 0; twice < 2; twice++) PetscCall(MatResidual(p[i].A, p[i].b, p[i].x, r[i]));
  }
  PetscCall(Apart(p[0].x, p[1].x, &apart[0]));
  PetscCall(Apart(r[0], r[1], &apart[1]));
  TapOk((PetscBool)(apart[0] <= 1e-12 && apart[1] <= 1e-12), "operators_agree: %s, degree %d: %.1e, %.1e", c->name, (int)c->degree,
        (double)apart[0], (double)apart[1]);
  for (int i = 0; i < 2; i++) PetscCall(VecDestroy(&r[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares x = M b or M^T b. They are computed three times: a device runs the first cycle, records the second and replays the third.
   amplifies: the cycle amplifies rounding errors, so the bound in single precision is twice the distance of the host's cycles in single and
   double precision, and at least 5e-5 */
static inline PetscErrorCode cycles_agree(const Case *c, Problem p[2], const char options[], PetscBool transpose, PetscBool amplifies)
{
  /* The thin basis of the smallest n also amplifies rounding errors. */
  const PetscReal least = amplifies || (c->dim == 3 && c->degree + 1 == VP_THIN_LEAST) ? 5e-5 : 1e-5;
  PetscReal       rounding = 0;
  Vec             exact;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p[0].x, &exact));
  for (int single = 0; single < 2; single++) {
    const char  *precision = single ? "single" : "double";
    char         all[512];
    PetscReal    apart, bound;
    PetscOptions own;
    PC           pc;

    PetscCall(PetscSNPrintf(all, sizeof(all),
                            "-pc_type vpatchdg -pc_vpatchdg_gather 0 -pc_vpatchdg_coarse ksp -pc_vpatchdg_exchange sweep "
                            "-pc_vpatchdg_precision %s -pc_vpatch_precision %s %s",
                            precision, precision, options));
    for (int i = 0; i < 2; i++) {
      PetscCall(NewKSP(&p[i]));
      PetscCall(TestOptionsPush(all, &own)); /* the coarse KSP reads its options in the first cycle */
      PetscCall(KSPSetFromOptions(p[i].ksp));
      PetscCall(KSPGetPC(p[i].ksp, &pc));
      for (int k = 0; k < 3; k++) PetscCall(transpose ? PCApplyTranspose(pc, p[i].b, p[i].x) : PCApply(pc, p[i].b, p[i].x));
      PetscCall(TestOptionsPop(&own));
    }
    if (single) PetscCall(Apart(p[0].x, exact, &rounding));
    else PetscCall(VecCopy(p[0].x, exact));
    bound = !single ? 1e-12 : amplifies ? PetscClipInterval(2 * rounding, least, 2e-4) : least;
    PetscCall(Apart(p[0].x, p[1].x, &apart));
    TapOk((PetscBool)(apart <= bound), "cycles_agree: %s, degree %d, %s, %s%s: %.1e of %.1e", c->name, (int)c->degree, precision, options,
          transpose ? ", transposed" : "", (double)apart, (double)bound);
  }
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the numbers of iterations, which may differ by `most`, and the solutions. */
static inline PetscErrorCode solver_agrees(const Case *c, Problem p[2], const char options[], PetscInt most)
{
  PetscReal residual[2], apart;
  PetscInt  its[2];
  char      all[512];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all),
                          "-pc_type vpatchdg -pc_vpatchdg_gather 0 -pc_vpatchdg_coarse ksp -pc_vpatchdg_exchange sweep -ksp_rtol 1e-9 "
                          "-ksp_norm_type unpreconditioned %s",
                          options));
  for (int i = 0; i < 2; i++) {
    PetscCall(NewKSP(&p[i]));
    PetscCall(SolveWith(&p[i], all, &residual[i], &its[i], NULL));
  }
  PetscCall(Apart(p[0].x, p[1].x, &apart));
  TapOk((PetscBool)(PetscAbsInt(its[0] - its[1]) <= most && PetscMax(residual[0], residual[1]) <= 1e-8 && apart <= 1e-6),
        "solvers_agree: %s, degree %d, %s: %d and %d iterations, residuals %.1e and %.1e, solutions %.1e apart", c->name, (int)c->degree,
        options, (int)its[0], (int)its[1], (double)residual[0], (double)residual[1], (double)apart);
  PetscFunctionReturn(PETSC_SUCCESS);
}
