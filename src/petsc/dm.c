/* DMVPATCHDG: the mesh, the space and the operator as a DM. */
#include "impl.h"

/* unknowns of a cell */
static PetscInt CellSize(DM dm)
{
  return PetscPowInt(((DM_VPatchDG *)dm->data)->degree + 1, (int)dm->dim);
}

PetscErrorCode DMVPatchDGCheck(DM dm, const char what[])
{
  PetscBool match;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(dm, DM_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMVPATCHDG, &match));
  PetscCheck(match, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG, "%s needs a DM of type vpatchdg, this one is of type %s", what,
             ((PetscObject)dm)->type_name ? ((PetscObject)dm)->type_name : "not set");
  PetscCheck(((DM_VPatchDG *)dm->data)->mesh, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "%s needs a DM that is set up: call DMSetUp() first", what);
  PetscCall(DMSetRefineLevel(dm, ((DM_VPatchDG *)dm->data)->mesh->level)); /* the mesh's, if somebody set another after DMSetUp() */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetProblem(DM dm, VpProblem *problem)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  *problem = (VpProblem){.degree = (int)dg->degree, .penalty = dg->penalty, .reaction = dg->reaction, .coefficient = dg->coefficient};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateLevel(DM dm, const VpBackend *backend, VpLevel *level)
{
  VpProblem problem;

  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscCall(DMVPatchDGGetProblem(dm, &problem));
  PetscCall(VpLevelCreateOuter(((DM_VPatchDG *)dm->data)->mesh, &problem, backend, level));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetLevel(DM dm, VpLevel *level)
{
  DM_VPatchDG     *dg = (DM_VPatchDG *)dm->data;
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetKernels(dm, &backend));
  if (!dg->level) PetscCall(CreateLevel(dm, backend, &dg->level));
  *level = dg->level;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGetHostLevel(DM dm, VpLevel *level)
{
  DM_VPatchDG     *dg = (DM_VPatchDG *)dm->data;
  const VpBackend *backend;
  VpLevel         *host;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetKernels(dm, &backend));
  host = backend == &VpBackendHost ? &dg->level : &dg->host;
  if (!*host) PetscCall(CreateLevel(dm, &VpBackendHost, host));
  *level = *host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGClearLevels(DM dm)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  PetscCall(VpLevelDestroy(&dg->level));
  PetscCall(VpLevelDestroy(&dg->host));
  if (dg->ghost) PetscCall(dg->kernels->release(dg->ghost));
  dg->ghost = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGhosts(DM dm, const PetscScalar x[], VpGhosts *ghosts)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  VpLevel      level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  if (!dg->ghost) PetscCall(level->backend->alloc(dg->mesh->nside * level->block, "ghost values", (void **)&dg->ghost));
  PetscCall(VpLevelExchangeBegin(level, level->reads, x, dg->ghost, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMSetUp_VPatchDG(DM dm)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  PetscInt     level;
  VpMesh       mesh;

  PetscFunctionBegin;
  if (dg->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetRefineLevel(dm, &level));
  PetscCheck(level >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-dm_refine %" PetscInt_FMT ": the number of refinements is 0 or more", level);
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscCall(VpDomainDestroy(&dg->boxes)); /* of a set-up that failed */
  PetscCall(DMVPatchDGCreateDomain(dm, &dg->boxes));
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, level));
  PetscCall(DMVPatchDGCheckScale(dm, dg->boxes, level));
  PetscCall(VpMeshCreate(comm, dg->boxes, (int)level, &mesh));
  dg->mesh = mesh;
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscCall(DMViewFromOptions(dm, NULL, "-dm_view"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMDestroy_VPatchDG(DM dm)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGClearLevels(dm));
  PetscCall(VpMeshDestroy(&dg->mesh));
  PetscCall(VpDomainDestroy(&dg->boxes));
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  PetscCall(PetscFree(dg->coefficient));
  PetscCall(PetscFree(dg));
  dm->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a DM with the settings of dm on the given mesh, whose reference it takes over; coefficient: of mesh's own cells, or NULL */
static PetscErrorCode CreateLike(DM dm, VpMesh mesh, PetscReal *coefficient, DM *out)
{
  DM_VPatchDG *from = (DM_VPatchDG *)dm->data, *to;

  PetscFunctionBegin;
  if (!*out) PetscCall(DMCreate(PetscObjectComm((PetscObject)dm), out));
  PetscCall(DMSetType(*out, DMVPATCHDG));
  PetscCall(DMSetDimension(*out, dm->dim));
  PetscCall(DMSetVecType(*out, dm->vectype));
  PetscCall(DMSetMatType(*out, dm->mattype));
  to = (DM_VPatchDG *)(*out)->data;
  *to = *from;
  to->box_lower = to->box_upper = to->ghost = NULL;
  to->coefficient = coefficient;
  to->mesh = mesh;
  to->kernels = NULL;
  to->travel[0] = 0;
  to->level = to->host = NULL;
  to->mats = NULL;
  if (from->box_lower) {
    PetscCall(PetscMalloc2(from->nbox * dm->dim, &to->box_lower, from->nbox * dm->dim, &to->box_upper));
    PetscCall(PetscArraycpy(to->box_lower, from->box_lower, from->nbox * dm->dim));
    PetscCall(PetscArraycpy(to->box_upper, from->box_upper, from->nbox * dm->dim));
  }
  if (to->boxes) PetscCall(VpDomainReference(to->boxes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMClone_VPatchDG(DM dm, DM *clone)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  PetscReal   *a = NULL;

  PetscFunctionBegin;
  if (dg->coefficient) {
    PetscCall(PetscMalloc1(dg->mesh->nown + 1, &a));
    PetscCall(PetscArraycpy(a, dg->coefficient, dg->mesh->nown));
  }
  if (dg->mesh) PetscCall(VpMeshReference(dg->mesh));
  PetscCall(CreateLike(dm, dg->mesh, a, clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sets the levels itself after refining; after coarsening it is left to us (CoarsenHook) */
static PetscErrorCode CreateNext(DM dm, VpMesh mesh, PetscReal *coefficient, DM *out)
{
  PetscFunctionBegin;
  *out = NULL;
  PetscCall(CreateLike(dm, mesh, coefficient, out));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)*out, ((PetscObject)dm)->prefix));
  (*out)->setupcalled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMRefine_VPatchDG(DM dm, MPI_Comm comm, DM *refined)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  PetscReal   *a = NULL;
  VpMesh       fine;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMRefine()"));
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, dg->mesh->level + 1));
  PetscCall(VpMeshRefine(dg->mesh, &fine));
  if (dg->coefficient) {
    PetscCall(PetscMalloc1(fine->nown + 1, &a));
    for (int32_t c = 0; c < fine->nown; c++) a[c] = dg->coefficient[fine->parent[c]];
  }
  PetscCall(CreateNext(dm, fine, a, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCoarsen_VPatchDG(DM dm, MPI_Comm comm, DM *coarsened)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  PetscReal   *a = NULL;
  VpMesh       coarse;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCoarsen()"));
  PetscCheck(dg->mesh->level > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "The boxes are whole, there is no coarser mesh: refine more (-dm_refine n) or use fewer levels (-pc_mg_levels at most n + 1)");
  PetscCall(VpMeshCoarsen(dg->mesh, &coarse));
  if (dg->coefficient) {
    PetscCall(PetscMalloc1(coarse->nown + 1, &a));
    PetscCall(VpCoarsenCoefficient(dg->mesh, dg->coefficient, a));
  }
  PetscCall(CreateNext(dm, coarse, a, coarsened));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Runs after PETSc has copied types and levels. Whole boxes get an assembled matrix: the LU that PCMG puts there needs one. */
static PetscErrorCode CoarsenHook(DM fine, DM coarse, void *ctx)
{
  const int level = ((DM_VPatchDG *)coarse->data)->mesh->level;
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(DMSetRefineLevel(coarse, level));
  PetscCall(PetscStrcmp(coarse->mattype, MATSHELL, &shell));
  if (shell && level == 0) PetscCall(DMSetMatType(coarse, MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateVector(DM dm, MPI_Comm comm, PetscInt cells, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(VecCreate(comm, v));
  PetscCall(VecSetSizes(*v, cells * CellSize(dm), PETSC_DETERMINE));
  PetscCall(VecSetType(*v, dm->vectype));
  PetscCall(VecSetDM(*v, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCreateGlobalVector_VPatchDG(DM dm, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCreateGlobalVector()"));
  PetscCall(CreateVector(dm, PetscObjectComm((PetscObject)dm), ((DM_VPatchDG *)dm->data)->mesh->nown, v));
  PetscCall(VecSetOperation(*v, VECOP_VIEW, (VpFunction *)VecView_VPatchDG));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCreateLocalVector_VPatchDG(DM dm, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCreateLocalVector()"));
  PetscCall(CreateVector(dm, PETSC_COMM_SELF, ((DM_VPatchDG *)dm->data)->mesh->nface, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* local = own cells, then the face ghosts */
static PetscErrorCode DMGlobalToLocalBegin_VPatchDG(DM dm, Vec global, InsertMode mode, Vec local)
{
  DM_VPatchDG       *dg = (DM_VPatchDG *)dm->data;
  const PetscInt     nown = dg->mesh->nown * CellSize(dm), nface = dg->mesh->nface * CellSize(dm);
  const PetscScalar *g;
  PetscScalar       *l, *ghost;
  VpLevel            level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VecGetArrayRead(global, &g));
  PetscCall(VecGetArray(local, &l));
  PetscCall(PetscMalloc1(nface - nown, &ghost));
  PetscCall(VpMeshExchangeBegin(dg->mesh, VP_GHOST_FACE, level->unit, g, ghost));
  PetscCall(VpMeshExchangeEnd(dg->mesh, VP_GHOST_FACE, level->unit, g, ghost));
  for (PetscInt i = 0; i < nface; i++) l[i] = (mode == INSERT_VALUES ? 0 : l[i]) + (i < nown ? g[i] : ghost[i - nown]);
  PetscCall(PetscFree(ghost));
  PetscCall(VecRestoreArray(local, &l));
  PetscCall(VecRestoreArrayRead(global, &g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* INSERT_VALUES: own values; ADD_VALUES: the ghosts' values are added to their owners' */
static PetscErrorCode DMLocalToGlobalBegin_VPatchDG(DM dm, Vec local, InsertMode mode, Vec global)
{
  DM_VPatchDG       *dg = (DM_VPatchDG *)dm->data;
  const PetscInt     nown = dg->mesh->nown * CellSize(dm);
  const PetscScalar *l;
  PetscScalar       *g;
  VpLevel            level;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetLevel(dm, &level));
  PetscCall(VecGetArrayRead(local, &l));
  PetscCall(VecGetArray(global, &g));
  if (mode == INSERT_VALUES) {
    PetscCall(PetscArraycpy(g, l, nown));
  } else {
    for (PetscInt i = 0; i < nown; i++) g[i] += l[i];
    PetscCall(PetscSFReduceBegin(dg->mesh->sf[VP_GHOST_FACE], level->unit, l + nown, g, MPIU_SUM));
    PetscCall(PetscSFReduceEnd(dg->mesh->sf[VP_GHOST_FACE], level->unit, l + nown, g, MPIU_SUM));
  }
  PetscCall(VecRestoreArray(global, &g));
  PetscCall(VecRestoreArrayRead(local, &l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransferEnd(DM dm, Vec from, InsertMode mode, Vec to)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   DMVPATCHDG = "vpatchdg" - The interior-penalty discontinuous Galerkin method for -div(a grad u) + c u on a domain of axis-aligned boxes,
   each refined n times (`DMSetRefineLevel()`, -dm_refine), with tensor polynomials of degree k on every cell.

   Options Database Keys:
+  -dm_refine n                      - every box is refined n times (0 leaves the boxes whole)
.  -dm_mat_type shell|aij|...        - the operator without a matrix (default), or assembled
.  -dm_vec_type standard|cuda|...    - the type of the vectors; cuda puts everything on the GPU
.  -dm_vpatchdg_backend auto|host|cuda - where the work is done, `DMVPatchDGSetBackend()`
-  -dm_vpatchdg_transport auto|nccl|mpi|host - how ghosts travel between GPUs, `DMVPatchDGSetTransport()`
   and those of `DMSetFromOptions_VPatchDG`: -dm_vpatchdg_dim, _degree, _domain, _boxes, _lower, _upper, _boundary, _penalty, _reaction

   Level: beginner

   Notes:
   A global vector holds the cells of every rank along a space-filling curve, (k+1)^dim numbers for each. They are coefficients in a basis
   that is orthonormal in L2, so the Euclidean norm of a vector x is the L2 norm of the function u_h, and the right-hand side is
   b_i = (f, phi_i). `DMVPatchDGGetPointValues()` turns coefficients into values at points, `DMVPatchDGSetPointValues()` the reverse.

   A local vector holds the rank's own cells, then those beyond their faces.

   Operators and the right-hand side f = 1 are provided: after `KSPSetDM()`, `KSPSolve`(ksp, NULL, NULL) solves -div(a grad u) + c u = 1. A
   right-hand side that the caller gives is left alone.

   Volumes and squared sizes of cells, and a/h^2, lie between 1e-95 and 1e95; others are refused. Units may be chosen freely within that, but
   the default absolute tolerance of a KSP, 1e-50 (`KSPSetTolerances()`), may need to be smaller in small ones.

   The number of refinements is that of `DMSetUp()`: a `DMSetRefineLevel()` that comes later has no effect.

.seealso: `DMVPatchDGCreate()`, `DMVPatchDGSetDegree()`, `DMVPatchDGComputeRHS()`, `PCVPATCHDG`
M*/
PetscErrorCode DMCreate_VPatchDG(DM dm)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dg));
  dm->data = dg;
  dg->degree = 3;
  dg->penalty = 1;
  for (int d = 0; d < 3; d++) {
    dg->grid[d] = 1;
    dg->upper[d] = 1;
  }
  dm->ops->setfromoptions = DMSetFromOptions_VPatchDG;
  dm->ops->setup = DMSetUp_VPatchDG;
  dm->ops->destroy = DMDestroy_VPatchDG;
  dm->ops->view = DMView_VPatchDG;
  dm->ops->clone = DMClone_VPatchDG;
  dm->ops->refine = DMRefine_VPatchDG;
  dm->ops->coarsen = DMCoarsen_VPatchDG;
  dm->ops->createglobalvector = DMCreateGlobalVector_VPatchDG;
  dm->ops->createlocalvector = DMCreateLocalVector_VPatchDG;
  dm->ops->globaltolocalbegin = DMGlobalToLocalBegin_VPatchDG;
  dm->ops->globaltolocalend = TransferEnd;
  dm->ops->localtoglobalbegin = DMLocalToGlobalBegin_VPatchDG;
  dm->ops->localtoglobalend = TransferEnd;
  dm->ops->creatematrix = DMCreateMatrix_VPatchDG;
  dm->ops->createinterpolation = DMCreateInterpolation_VPatchDG;
  PetscCall(DMSetMatType(dm, MATSHELL));
  PetscCall(DMCoarsenHookAdd(dm, CoarsenHook, NULL, NULL));
  PetscCall(DMKSPSetComputeOperators(dm, DMVPatchDGComputeOperators_Private, NULL));
  PetscCall(DMKSPSetComputeRHS(dm, DMVPatchDGComputeOnes_Private, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
