/* DMVPATCHDG: the mesh, the space and the operator as a DM. */
#include "usergrid.h"
#include "../fields/fields.h"
#include "../fields/places.h"
#include "../mat/mat.h"

static PetscErrorCode DMSetUp_VPatchDG(DM dm)
{
  DM_VPatchDG *dg;
  MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  PetscInt     level;
  VpMesh       mesh;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (dg->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  if (dm->dim < 0) PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMVPatchDGCheckAgreement(dm));
  PetscCall(DMVPatchDGCheckDimension(dm));
  PetscCall(DMGetRefineLevel(dm, &level));
  PetscCheck(level >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-dm_refine %" PetscInt_FMT ": the number of refinements is 0 or more", level);
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscCall(VpDomainDestroy(&dg->boxes)); /* It is left of a set-up that failed. */
  PetscCall(DMVPatchDGCreateDomain(dm, &dg->boxes));
  PetscCall(DMVPatchDGDoctor(dm, level));
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, level));
  PetscCall(DMVPatchDGCheckScale(dm, dg->boxes, level));
  if (dg->leaves) PetscCall(DMVPatchDGCreateLeaves(dm, &mesh));
  else PetscCall(VpMeshCreate(comm, dg->boxes, (int)level, &mesh));
  PetscCall(DMVPatchDGRefineLocally(dm, &mesh));
  dg->mesh = mesh;
  PetscCall(DMVPatchDGSetOperator(dm, 0, NULL));
  if (dm->setfromoptionscalled) PetscCall(DMVPatchDGEndOptions(dm, dm));
  PetscCall(DMVPatchDGSetLocalCoordinates(dm));
  PetscCall(PetscLogEventEnd(VP_EVENT_SETUP, dm, 0, 0, 0));
  dg->shown = VP_SHOWN_NOW;
  PetscCall(DMViewFromOptions(dm, NULL, "-dm_view"));
  if (dg->shown == VP_SHOWN_NOW) dg->shown = VP_SHOWN_NOTHING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMDestroy_VPatchDG(DM dm)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  if (dg->ghost) PetscCall(dg->in_use->release(dg->ghost));
  PetscCall(VpGeometryDestroy(&dg->geometry));
  PetscCall(VpOperatorDestroy(&dg->op));
  PetscCall(VpMeshDestroy(&dg->mesh));
  PetscCall(VpDomainDestroy(&dg->boxes));
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(dg->face[d]));
  PetscCall(DMVPatchDGDestroyLabels(dm));
  ((PetscObject)dm)->bops->view = (PetscErrorCode(*)(PetscObject, PetscViewer))DMView; /* The DM may get another type. */
  PetscCall(PetscFree(dg));
  dm->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes a DM with the settings of dm on the given mesh, whose reference it takes over, or one that is not set up where that is NULL.
   coefficient: of mesh's own cells, or NULL; a tensor where that of dm is one */
static PetscErrorCode CreateLike(DM dm, VpMesh mesh, const PetscReal coefficient[], DM *out)
{
  DM_VPatchDG *from = dm->data, *to;

  PetscFunctionBegin;
  if (!*out) PetscCall(DMCreate(PetscObjectComm((PetscObject)dm), out));
  PetscCall(DMSetType(*out, DMVPATCHDG));
  PetscCall(DMSetDimension(*out, dm->dim));
  PetscCall(DMSetVecType(*out, dm->vectype));
  PetscCall(DMSetMatType(*out, dm->mattype));
  to = (*out)->data;
  *to = *from;
  to->box_lower = to->box_upper = to->ghost = NULL;
  to->mesh = mesh;
  to->op = NULL;
  to->in_use = NULL;
  to->travel[0] = 0;
  to->geometry = NULL;
  to->mats = NULL;
  to->shown = VP_SHOWN_NOTHING;
  if (from->box_lower) PetscCall(DMVPatchDGStoreBoxes(*out, from->nbox, from->box_lower, from->box_upper));
  for (int d = 0; d < 3; d++) {
    if (!from->face[d]) continue;
    PetscCall(PetscMalloc1(from->grid[d] + 1, &to->face[d]));
    PetscCall(PetscArraycpy(to->face[d], from->face[d], from->grid[d] + 1));
  }
  PetscCall(DMVPatchDGCopyLabels(dm, *out));
  if (to->boxes) (void)VpReference(to->boxes);
  if (!mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGSetOperator(*out, coefficient ? from->op->problem.tensor : 0, coefficient));
  PetscCall(DMVPatchDGSetLocalCoordinates(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMClone_VPatchDG(DM dm, DM *clone)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  if (dg->mesh) {
    PetscCall(DMVPatchDGCheck(dm, "DMClone()"));
    (void)VpReference(dg->mesh);
  }
  PetscCall(CreateLike(dm, dg->mesh, dg->op ? dg->op->problem.coefficient : NULL, clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sets the level of a refined DM itself, and leaves that of a coarsened one to CoarsenHook(). */
PetscErrorCode DMVPatchDGCreateOn(DM dm, VpMesh mesh, const PetscReal a[], DM *out)
{
  PetscFunctionBegin;
  *out = NULL;
  PetscCall(CreateLike(dm, mesh, a, out));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)*out, ((PetscObject)dm)->prefix));
  (*out)->setupcalled = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateNext(DM dm, VpMesh next, DM *out)
{
  PetscReal *a;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGMoveCoefficient(dm, next, &a));
  PetscCall(DMVPatchDGCreateOn(dm, next, a, out));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMRefine_VPatchDG(DM dm, MPI_Comm comm, DM *refined)
{
  DM_VPatchDG *dg = dm->data;
  VpMesh       fine;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMRefine()"));
  if (dg->mesh->depth) {
    PetscCall(DMVPatchDGAdaptAll(dm, VP_MARK_REFINE, refined));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, dg->mesh->level + 1));
  PetscCall(VpMeshRefine(dg->mesh, &fine));
  PetscCall(CreateNext(dm, fine, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As -pc_type vpatchdg does, as far as boxes stay whole, and at last down to whole boxes. A coarser mesh that is there is taken as it is.
   */
static PetscErrorCode WayToCoarsen(VpMesh mesh, VpLattice lattice, VpCoarsen *how, PetscBool *merges)
{
  const VpCoarsen     ways[] = {VP_COARSEN_WHOLE, VP_COARSEN_LOCAL, VP_COARSEN_FULL};
  const VpCoarsening *step = mesh->coarsening;

  PetscFunctionBegin;
  *how = VP_COARSEN_WHOLE;
  *merges = (PetscBool)(step && step->box);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(ways) && !(step && step->coarse); i++) {
    *how = ways[i];
    PetscCall(VpLatticeCoarsen(lattice, ways[i], &step));
    *merges = (PetscBool)(step->box != NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMCoarsen_VPatchDG(DM dm, MPI_Comm comm, DM *coarsened)
{
  DM_VPatchDG *dg = dm->data;
  VpMesh       coarse;
  VpLattice    lattice;
  PetscBool    merges;
  VpCoarsen    how;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMCoarsen()"));
  if (dg->mesh->depth) {
    PetscCall(DMVPatchDGAdaptAll(dm, VP_MARK_COARSEN, coarsened));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(dg->mesh->level > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "The boxes are whole, there is no coarser mesh: refine more (-dm_refine n) or use fewer levels (-pc_mg_levels at most n + 1)");
  PetscCall(VpProblemGetLattice(dg->mesh, &dg->op->problem, &lattice));
  PetscCall(WayToCoarsen(dg->mesh, lattice, &how, &merges));
  if (merges) PetscCall(VpLatticeDestroy(&lattice));
  PetscCheck(!merges, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "Boxes would merge on the next coarser mesh, which those of a DM do not: use %" PetscInt_FMT
             " levels (-pc_mg_levels), or -pc_type vpatchdg",
             dm->leveldown + 1);
  PetscCall(VpMeshCoarsen(dg->mesh, lattice, how, &coarse));
  PetscCall(VpLatticeDestroy(&lattice));
  PetscCall(CreateNext(dm, coarse, coarsened));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* It runs after PETSc has copied types and levels. Whole boxes get an assembled matrix, which the LU that PCMG puts there needs. */
static PetscErrorCode CoarsenHook(DM fine, DM coarse, void *ctx)
{
  const int level = DMVPatchDGData(coarse)->mesh->level;
  PetscBool shell;

  PetscFunctionBegin;
  PetscCall(DMSetRefineLevel(coarse, level));
  PetscCall(PetscStrcmp(coarse->mattype, MATSHELL, &shell));
  if (shell && level == 0) PetscCall(DMSetMatType(coarse, MATAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The neighbours are the ranks with cells beyond this one's faces. */
static PetscErrorCode DMGetNeighbors_VPatchDG(DM dm, PetscInt *n, const PetscMPIInt **ranks)
{
  VpRankCount count;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMGetNeighbors()"));
  PetscCall(PetscSFGetRootRanks(DMVPatchDGData(dm)->mesh->sf[VP_GHOST_FACE], &count, ranks, NULL, NULL, NULL));
  if (n) *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMCreateMatrix() makes the operators, and they follow the DM by themselves. On one rank PCBJACOBI would take a matrix-free one for its
   block, and PCNONE for its solver. */
static PetscErrorCode ComputeOperators(KSP ksp, Mat A, Mat P, void *ctx)
{
  PetscBool blocks, shell;
  PC        pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCBJACOBI, &blocks));
  PetscCall(PetscObjectTypeCompare((PetscObject)P, MATSHELL, &shell));
  if (blocks && shell) PetscCall(VpRefuse(P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefusePlex(DM dm, DMType type, DM *plex)
{
  PetscFunctionBegin;
  SETERRQ(
    PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
    "A DMVPATCHDG does not become a DMPLEX, which -pc_type patch works on. Use -pc_type vpatchdg, or in PCMG -mg_levels_pc_type vpatch, "
    "whose patches are the cells at every vertex");
}

/*MC
   DMVPATCHDG = "vpatchdg" - The interior-penalty discontinuous Galerkin method for -div(a grad u) + c u on a domain of axis-aligned boxes

   Options Database Keys:
+  -dm_vpatchdg_boxes nx,ny,nz                      - The numbers of boxes in the domain box, `DMVPatchDGSetBoxGrid()`
.  -dm_vpatchdg_lower x,y,z                         - Its lower corner
.  -dm_vpatchdg_upper x,y,z                         - Its upper corner
.  -dm_vpatchdg_grid_x a:b:n[:ratio]|tanh:a:b:n:s|x0,x1,... - Where its boxes have their faces, likewise _y and _z, `DMVPatchDGSetGrid()`
.  -dm_vpatchdg_refine_levels n                     - After that the cells at a point or a sphere are refined n times
.  -dm_vpatchdg_refine_point x,y,z                  - The point, `DMVPatchDGSetLocalRefinement()`
.  -dm_vpatchdg_refine_sphere x,y,z,r               - The centre and the radius of the sphere, in 2D of the circle x,y,r
.  -dm_vpatchdg_boundary dirichlet|neumann|robin|periodic - One for all sides, or one for each, `DMVPatchDGSetBoundary()`
.  -dm_vpatchdg_robin alpha                         - For all robin sides, or one for each side, `DMVPatchDGSetRobin()`
.  -dm_mat_type shell|aij|...                       - The operator without a matrix (default), or assembled
.  -dm_vec_type standard|cuda|...                   - The type of the vectors; cuda puts everything on the GPU
.  -vpatchdg_doctor                                 - Prints versions, machine, mesh, cycle, expected iterations, memory, and what to change
.  -vpatchdg_memory bytes                           - How much memory a rank may take for mesh, vectors, cycle and KSP (default: its part of
what is free)
-  -vpatchdg_progress                               - Long work says how far it is, on the first rank's standard error

   Level: beginner

   Notes:
   On every cell functions are polynomials of degree k in each variable.

   A global vector holds the cells of every rank along a space-filling curve, (k+1)^dim numbers for each. They are coefficients in a basis
   that is orthonormal in L2, so the Euclidean norm of a vector x is the L2 norm of the function u_h, and the right-hand side is
   b_i = (f, phi_i). `DMVPatchDGGetPointValues()` turns coefficients into values at points, `DMVPatchDGSetPointValues()` the reverse.

   A local vector holds the rank's own cells, then those beyond their faces.

   Operators and the right-hand side f = 1 are provided: after `KSPSetDM()`, `KSPSolve`(ksp, NULL, NULL) solves -div(a grad u) + c u = 1. A
   right-hand side that the caller gives is left alone.

   `DMConvert()` makes a DM of the cells of a `DMDA`, or of a `DMPLEX` whose cells are boxes along the axes, not set up yet:
   boxes, refined as often as equal widths of cells allow, periodic directions and the type of vectors. Entries of a `DMDA_Q0` are cells,
   coordinates their centres, and (k+1)^dim numbers an entry say the degree; entries of a `DMDA_Q1` are vertices, which
   may be stretched. `DMVPatchDGCreateCellMap()` says which cell is which.

   Cells of a `DMPLEX` may form any domain that `DMVPatchDGSetBoxes()` takes, with holes for instance. Its labels of faces become those
   of sides of boxes (`DMVPatchDGSetLabelBoundary()`), its labels of cells say the coefficient (`DMVPatchDGSetRegionCoefficient()`).

   `DMSetFromOptions()` on the DM that `DMConvert()` has made refines the cells -dm_refine times more, unless the source
   is a `DMPLEX` that has read the option with the same prefix. A type of matrices that was set for the source goes
   along. `MATAIJ`, PETSc's default, does not: call `DMSetMatType()` after `DMSetFromOptions()` or `DMSetUp()` to have it.

   Volumes and squared sizes of cells, and a/h^2, lie between 1e-95 and 1e95; others are refused. Units may be chosen freely within that,
but the default absolute tolerance of a KSP, 1e-50 (`KSPSetTolerances()`), may need to be smaller in small ones.

   `DMView()` with a `PETSCVIEWERBINARY` or a `PETSCVIEWERHDF5` saves the mesh and the operator of a DM that is set up:
   domain, boundary conditions, labels, alpha, penalty, reaction, degree, cells, also adaptive ones, and the coefficient.
   Of a function for the boundary it saves what the function answered. `DMLoad()` on any number of ranks makes a DM of it
   that is set up; before it the DM has its type at most, and options for vectors, matrices and the backend, which the
   file does not have. Global vectors are saved by `VecView()` and read by `VecLoad()`, on any number of ranks as well.
   In an HDF5 file each mesh needs a group of its own (`PetscViewerHDF5PushGroup()`). A mesh that `DMCoarsen()` made of
   stretched cells is refused. The example restart.c does all this.

   The number of refinements is that of `DMSetUp()`: a `DMSetRefineLevel()` that comes later has no effect.

.seealso: `DMVPatchDGCreate()`, `DMVPatchDGSetDegree()`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGRefineCells()`,
          `DMVPatchDGComputeRHS()`, `PCVPATCHDG`
M*/
PetscErrorCode DMCreate_VPatchDG(DM dm)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(PetscNew(&dg));
  dm->data = dg;
  VpSettingsPreset(&DMVPatchDGSettings, dg);
  for (int d = 0; d < 3; d++) {
    dg->grid[d] = 1;
    dg->upper[d] = 1;
    dg->alpha[2 * d] = dg->alpha[2 * d + 1] = 1;
  }
  dm->ops->setfromoptions = DMSetFromOptions_VPatchDG;
  dm->ops->setup = DMSetUp_VPatchDG;
  dm->ops->destroy = DMDestroy_VPatchDG;
  dm->ops->view = DMView_VPatchDG;
  dm->ops->load = DMLoad_VPatchDG;
  ((PetscObject)dm)->bops->view = DMVPatchDGViewObject;
  dm->ops->clone = DMClone_VPatchDG;
  dm->ops->refine = DMRefine_VPatchDG;
  dm->ops->coarsen = DMCoarsen_VPatchDG;
  dm->ops->getneighbors = DMGetNeighbors_VPatchDG;
  dm->ops->creatematrix = DMCreateMatrix_VPatchDG;
  dm->ops->createinterpolation = DMCreateInterpolation_VPatchDG;
  DMVPatchDGSetVectorOps(dm);
  PetscCall(DMVPatchDGSetCoordinateOps(dm));
  PetscCall(DMSetMatType(dm, MATSHELL));
  PetscCall(PetscObjectComposeFunction((PetscObject)dm, "DMConvert_da_vpatchdg_C", DMConvert_VPatchDG));
  PetscCall(PetscObjectComposeFunction((PetscObject)dm, "DMConvert_plex_vpatchdg_C", DMConvert_VPatchDG));
  PetscCall(PetscObjectComposeFunction((PetscObject)dm, "DMConvert_vpatchdg_plex_C", RefusePlex));
  PetscCall(DMCoarsenHookAdd(dm, CoarsenHook, NULL, NULL));
  PetscCall(DMKSPSetComputeOperators(dm, ComputeOperators, NULL));
  PetscCall(DMKSPSetComputeRHS(dm, DMVPatchDGComputeOnes_Private, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
