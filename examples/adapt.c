static char help[] = "Solves -div grad u = f again and again, each time on a mesh that is refined where the error seems large.\n\n\
  -problem corner|one         : u = r^(2/3) sin(2/3 phi) on the L-shape, whose gradient is infinite at the corner, or f = 1, u = 0 on\n\
                                the boundary (default corner)\n\
  -indicator residual|surplus : what says where the error is large (DMVPatchDGEstimate(), DMVPatchDGEstimateSurplus(), whose sum is\n\
                                larger than the error; default residual)\n\
  -marking doerfler|maximum   : how cells are chosen (DMVPatchDGMark(), default doerfler)\n\
  -refine part, -coarsen part : its numbers (default 0.5 and 0)\n\
  -uniform                    : refines all cells instead\n\
  -tolerance t                : until the estimate of the error of grad u is at most t (default 1e-3),\n\
  -most n                     : or there are n unknowns (default 100000)\n\
  -vtk NAME                   : writes NAME-0.vtu, NAME-1.vtu, ...\n\
Mesh: -dm_vpatchdg_*, -dm_refine; solver: -ksp_*, -pc_*.\n\n";

#include "known.h"

typedef struct {
  const char      *name;
  VPatchDGFunction source, solution, gradient; /* source NULL: 0; solution and gradient NULL: not known */
} Problem;

typedef struct {
  VPatchDGMarking marking;
  PetscReal       refine, coarsen, tolerance;
  PetscBool       uniform, vtk, surplus;
  PetscInt        most;
  char            name[PETSC_MAX_PATH_LEN - 16];
} Options;

/* angle from the side that points up; 3/2 pi on the other side */
static PetscReal Angle(const PetscReal x[])
{
  const PetscReal phi = PetscAtan2Real(x[1], x[0]) - PETSC_PI / 2;

  return phi < -1e-12 ? phi + 2 * PETSC_PI : phi;
}

static PetscErrorCode Corner(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscPowReal(x[0] * x[0] + x[1] * x[1], 1. / 3) * PetscSinReal(2 * Angle(x) / 3);
  return 0;
}

static PetscErrorCode CornerGradient(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  const PetscReal r2 = x[0] * x[0] + x[1] * x[1], phi = Angle(x), slope = r2 > 0 ? 2. / 3 * PetscPowReal(r2, -1. / 6) : 0;

  value[0] = -slope * PetscCosReal(phi / 3);
  value[1] = -slope * PetscSinReal(phi / 3);
  return 0;
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return 0;
}

static const Problem problems[] = {{"corner", NULL, Corner, CornerGradient}, {"one", One, NULL, NULL}};

static PetscErrorCode ReadOptions(Options *o, const Problem **problem)
{
  const char *names[] = {"corner", "one"}, *indicators[] = {"residual", "surplus"};
  PetscInt    which = 0, indicator = 0;

  PetscFunctionBeginUser;
  *o = (Options){.refine = 0.5, .tolerance = 1e-3, .most = 100000};
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Adaptation", NULL);
  PetscCall(PetscOptionsEList("-problem", "What is solved", NULL, names, 2, names[0], &which, NULL));
  PetscCall(PetscOptionsEList("-indicator", "What says where the error is large", NULL, indicators, 2, indicators[0], &indicator, NULL));
  PetscCall(
    PetscOptionsEnum("-marking", "How cells are chosen", NULL, VPatchDGMarkings, (PetscEnum)o->marking, (PetscEnum *)&o->marking, NULL));
  PetscCall(PetscOptionsReal("-refine", "How many are refined", NULL, o->refine, &o->refine, NULL));
  PetscCall(PetscOptionsReal("-coarsen", "How many are coarsened", NULL, o->coarsen, &o->coarsen, NULL));
  PetscCall(PetscOptionsBool("-uniform", "All are refined", NULL, o->uniform, &o->uniform, NULL));
  PetscCall(PetscOptionsReal("-tolerance", "The largest estimate", NULL, o->tolerance, &o->tolerance, NULL));
  PetscCall(PetscOptionsInt("-most", "The most unknowns", NULL, o->most, &o->most, NULL));
  PetscCall(PetscOptionsString("-vtk", "Files for ParaView", NULL, o->name, o->name, sizeof(o->name), &o->vtk));
  PetscOptionsEnd();
  o->surplus = (PetscBool)indicator;
  *problem = &problems[which];
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateMesh(const Problem *problem, DM *dm)
{
  const VPatchDGBoundary dirichlet[6] = {VPATCHDG_BOUNDARY_DIRICHLET};
  VPatchDGDomain         domain;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 3, 1, dm));
  PetscCall(DMVPatchDGSetDomain(*dm, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMVPatchDGGetDomain(*dm, &domain));
  if (problem->solution) {
    PetscCall(CheckEquation(*dm, dirichlet));
    PetscCheck(domain == VPATCHDG_DOMAIN_LSHAPE, PETSC_COMM_WORLD, PETSC_ERR_SUP,
               "-dm_vpatchdg_domain %s: -problem corner is about lshape. -problem one takes any", VPatchDGDomains[domain]);
  }
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(0);
}

/* Solves from the guess in x. *functional: (f,u) */
static PetscErrorCode Solve(DM dm, const Problem *problem, Vec x, PetscInt *its, PetscReal *functional)
{
  KSP         ksp;
  PC          pc;
  Mat         A;
  Vec         b;
  PetscScalar product;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(DMVPatchDGComputeRHS(dm, problem->source, problem->solution, NULL, NULL, b));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(VecDot(b, x, &product));
  *functional = PetscRealPart(product);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Write(const Options *o, PetscInt step, Vec x)
{
  char        name[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s-%" PetscInt_FMT ".vtu", o->name, step));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(x, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* Adapts the mesh and transfers the solution, which is the guess on the next mesh. *ends: the tolerance or the number of unknowns is
   reached */
static PetscErrorCode Adapt(const Options *o, const Problem *problem, DM *dm, Vec *x, PetscReal *estimate, PetscBool *ends)
{
  PetscInt     n, unknowns;
  PetscReal   *eta, sum = 0;
  DMAdaptFlag *mark;
  DM           next;
  Vec          y;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc2(n, &eta, n, &mark));
  if (o->surplus) PetscCall(DMVPatchDGEstimateSurplus(*dm, *x, eta));
  else PetscCall(DMVPatchDGEstimate(*dm, *x, problem->source, problem->solution, NULL, NULL, eta));
  for (PetscInt c = 0; c < n; c++) sum += eta[c] * eta[c];
  PetscCallMPI(MPI_Allreduce(&sum, estimate, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  *estimate = PetscSqrtReal(*estimate);
  PetscCall(VecGetSize(*x, &unknowns));
  *ends = (PetscBool)(*estimate <= o->tolerance || unknowns >= o->most);
  if (!*ends) {
    PetscCall(DMVPatchDGMark(*dm, o->marking, o->refine, o->coarsen, eta, mark));
    for (PetscInt c = 0; c < n && o->uniform; c++) mark[c] = DM_ADAPT_REFINE;
    PetscCall(DMVPatchDGRefineCells(*dm, mark, &next));
    PetscCall(DMCreateGlobalVector(next, &y));
    PetscCall(DMVPatchDGTransfer(*dm, next, *x, y));
    PetscCall(VecDestroy(x));
    PetscCall(DMDestroy(dm));
    *dm = next;
    *x = y;
  }
  PetscCall(PetscFree2(eta, mark));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const Problem *problem = NULL;
  PetscBool      ends = PETSC_FALSE;
  Options        o;
  DM             dm;
  Vec            x;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(ReadOptions(&o, &problem));
  PetscCall(CreateMesh(problem, &dm));
  PetscCall(DMCreateGlobalVector(dm, &x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step    cells unknowns its  estimate     error           (f,u)\n"));
  for (PetscInt step = 0; !ends; step++) {
    PetscReal estimate = 0, functional = 0, error = 0;
    PetscInt  unknowns, its = 0, dim, degree;

    PetscCall(Solve(dm, problem, x, &its, &functional));
    if (problem->gradient) PetscCall(DMVPatchDGComputeErrors(dm, x, problem->solution, problem->gradient, NULL, NULL, &error));
    if (o.vtk) PetscCall(Write(&o, step, x));
    PetscCall(VecGetSize(x, &unknowns));
    PetscCall(DMGetDimension(dm, &dim));
    PetscCall(DMVPatchDGGetDegree(dm, &degree));
    PetscCall(Adapt(&o, problem, &dm, &x, &estimate, &ends));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4d %8d %8d %3d %9.2e ", (int)step, (int)(unknowns / PetscPowInt(degree + 1, dim)),
                          (int)unknowns, (int)its, (double)estimate));
    if (problem->gradient) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%9.2e               -\n", (double)error));
    else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "        - %.13f\n", (double)functional));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
