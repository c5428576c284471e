/* DMVPATCHDG: mesh, space and operator as a DM. */
#include "usergrid.h"
#include "../fields/fields.h"
#include "../fields/places.h"
#include "../mat/mat.h"

/* Takes over the mesh's reference and makes the operator. After an error the DM is not set up. */
static PetscErrorCode TakeMesh(DM dm, VpMesh mesh)
{
  DM_VPatchDG        *dg = dm->data;
  const VPatchDGBasis basis = dg->basis;
  PetscErrorCode      error;

  PetscFunctionBegin;
  dg->mesh = mesh;
  error = DMVPatchDGChooseBasis(dm);
  if (!error) error = DMVPatchDGNumberNodes(dm);
  if (!error) error = DMVPatchDGSetOperator(dm, 0, (VpApart){0}, NULL);
  if (error) {
    PetscCall(DMVPatchDGForgetNodes(dm));
    PetscCall(VpMeshDestroy(&dg->mesh));
    dg->basis = basis;
  }
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DMSetUp_VPatchDG(DM dm)
{
  DM_VPatchDG   *dg;
  MPI_Comm       comm = PetscObjectComm((PetscObject)dm);
  PetscInt       level;
  VpMesh         mesh;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (dg->mesh) PetscFunctionReturn(PETSC_SUCCESS);
  if (dm->dim < 0) PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMVPatchDGCheckAgreement(dm));
  PetscCall(DMVPatchDGCheckDimension(dm));
  PetscCall(DMGetRefineLevel(dm, &level));
  PetscCheck(level >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-dm_refine %" PetscInt_FMT ": the number of refinements is 0 or more", level);
  PetscCall(PetscLogEventBegin(VP_EVENT_SETUP, dm, 0, 0, 0));
  PetscCall(VpDomainDestroy(&dg->boxes)); /* A set-up that failed may have left a domain. */
  PetscCall(DMVPatchDGCreateDomain(dm, &dg->boxes));
  PetscCall(DMVPatchDGDoctor(dm, level));
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, level));
  PetscCall(DMVPatchDGCheckScale(dm, dg->boxes, level));
  if (dg->leaves) PetscCall(DMVPatchDGCreateLeaves(dm, &mesh));
  else PetscCall(VpMeshCreate(comm, dg->boxes, (int)level, &mesh));
  PetscCall(DMVPatchDGRefineLocally(dm, &mesh));
  error = DMVPatchDGMapMesh(dm, NULL, mesh);
  if (error) PetscCall(VpMeshDestroy(&mesh));
  PetscCall(error);
  PetscCall(TakeMesh(dm, mesh));
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
  PetscCall(DMVPatchDGForgetNodes(dm));
  PetscCall(VpFieldPlacesDestroy(&dg->places));
  PetscCall(VpOperatorDestroy(&dg->op));
  PetscCall(VpMeshDestroy(&dg->mesh));
  PetscCall(VpDomainDestroy(&dg->boxes));
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  PetscCall(PetscFree(dg->corner));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(dg->face[d]));
  PetscCall(DMVPatchDGDestroyLabels(dm));
  PetscCall(VecDestroy(&dg->map.nodes));
  PetscCall(VecDestroy(&dg->coefficient_at.values));
  PetscCall(VecDestroy(&dg->reaction_at.values));
  ((PetscObject)dm)->bops->view = (PetscErrorCode(*)(PetscObject, PetscViewer))DMView; /* The type of the DM may change. */
  PetscCall(PetscFree(dg));
  dm->data = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a DM with the settings of dm on the given mesh and takes over the mesh's reference. mesh NULL: the new DM is not set up.
   coefficient: [own cells of mesh], a tensor if the coefficient of dm is a tensor; or NULL */
static PetscErrorCode CreateLike(DM dm, VpMesh mesh, const PetscReal coefficient[], DM *out)
{
  DM_VPatchDG *from = dm->data, *to;
  VpProblem    given = {.tensor = 0};

  PetscFunctionBegin;
  if (!*out) PetscCall(DMCreate(PetscObjectComm((PetscObject)dm), out));
  PetscCall(DMSetType(*out, DMVPATCHDG));
  PetscCall(DMSetDimension(*out, dm->dim));
  PetscCall(DMSetVecType(*out, dm->vectype));
  PetscCall(DMSetMatType(*out, dm->mattype));
  to = (*out)->data;
  *to = *from;
  to->box_lower = to->box_upper = to->ghost = NULL;
  to->corner = NULL;
  to->mesh = mesh;
  to->op = NULL;
  if (mesh) to->map.nodes = NULL;
  else PetscCall(PetscObjectReference((PetscObject)to->map.nodes));
  to->coefficient_at = to->reaction_at = (VpPointFunction){0};
  to->in_use = NULL;
  to->travel[0] = 0;
  to->layout = NULL;
  to->node = NULL;
  to->nodes[0] = to->nodes[1] = NULL;
  to->places = NULL;
  to->mats = NULL;
  to->shown = VP_SHOWN_NOTHING;
  if (from->box_lower) PetscCall(DMVPatchDGStoreBoxes(*out, from->nbox, from->box_lower, from->box_upper));
  if (from->corner) {
    PetscCall(PetscMalloc1(from->nbox << dm->dim, &to->corner));
    PetscCall(PetscArraycpy(to->corner, from->corner, from->nbox << dm->dim));
  }
  for (int d = 0; d < 3; d++) {
    if (!from->face[d]) continue;
    PetscCall(PetscMalloc1(from->grid[d] + 1, &to->face[d]));
    PetscCall(PetscArraycpy(to->face[d], from->face[d], from->grid[d] + 1));
  }
  PetscCall(DMVPatchDGCopyLabels(dm, *out));
  if (to->boxes) (void)VpReference(to->boxes);
  PetscCall(VpPointFunctionMove(&from->coefficient_at, (int)from->degree + 1, from->mesh, mesh, &to->coefficient_at));
  PetscCall(VpPointFunctionMove(&from->reaction_at, (int)from->degree + 1, from->mesh, mesh, &to->reaction_at));
  if (!mesh) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGNumberNodes(*out));
  PetscCall(DMVPatchDGMapMesh(*out, from->mesh, mesh));
  if (to->coefficient_at.batch) coefficient = NULL; /* The numbers are means, and the new cells have others. */
  if (coefficient) given = *VpOperatorGiven(from->op);
  PetscCall(DMVPatchDGSetOperator(*out, given.tensor, given.apart, coefficient));
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
  PetscCall(CreateLike(dm, dg->mesh, dg->op ? VpOperatorGiven(dg->op)->coefficient : NULL, clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sets the level of a refined DM, and CoarsenHook() sets the level of a coarsened one. */
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
  if (VpMeshIsAdaptive(dg->mesh)) {
    PetscCall(DMVPatchDGAdaptAll(dm, VP_MARK_REFINE, refined));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(DMVPatchDGCheckSize(dm, dg->boxes->nbox, dg->mesh->level + 1));
  PetscCall(VpMeshRefine(dg->mesh, &fine));
  PetscCall(CreateNext(dm, fine, refined));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Chooses the first rule that gives a coarser mesh, beginning with the rule that keeps boxes whole. An existing coarser mesh is taken.
   Trees are coarsened as they are refined, all together. *merges: boxes merge */
static PetscErrorCode ChooseCoarsening(VpMesh mesh, VpLattice lattice, VpCoarsen *how, PetscBool *merges)
{
  const VpCoarsen     rules[] = {VP_COARSEN_WHOLE, VP_COARSEN_LOCAL, VP_COARSEN_FULL};
  const VpCoarsening *step = mesh->relation ? mesh->relation->step : NULL;

  PetscFunctionBegin;
  *how = mesh->geometry->domain->trees ? VP_COARSEN_FULL : VP_COARSEN_WHOLE;
  *merges = (PetscBool)(step && step->box);
  for (size_t i = *how == VP_COARSEN_FULL ? 2 : 0; i < PETSC_STATIC_ARRAY_LENGTH(rules) && !(step && step->coarse); i++) {
    *how = rules[i];
    PetscCall(VpLatticeCoarsen(lattice, rules[i], &step));
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
  if (VpMeshIsAdaptive(dg->mesh)) {
    PetscCall(DMVPatchDGAdaptAll(dm, VP_MARK_COARSEN, coarsened));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(dg->mesh->level > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "The %s are whole, there is no coarser mesh: refine more (-dm_refine n) or use fewer levels (-pc_mg_levels at most n + 1)",
             VpDomainBoxes(dg->boxes));
  PetscCall(VpProblemGetLattice(dg->mesh, &dg->op->problem, &lattice));
  PetscCall(ChooseCoarsening(dg->mesh, lattice, &how, &merges));
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

/* PETSc calls this after it has copied types and levels. A mesh of whole boxes gets an assembled matrix because PCMG's coarse LU needs
   entries. */
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

/* The neighbours are the ranks that own face neighbours of this rank's cells. */
static PetscErrorCode DMGetNeighbors_VPatchDG(DM dm, PetscInt *n, const PetscMPIInt **ranks)
{
  VpRankCount count;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMGetNeighbors()"));
  PetscCall(PetscSFGetRootRanks(DMVPatchDGData(dm)->mesh->sf[VP_GHOST_FACE], &count, ranks, NULL, NULL, NULL));
  if (n) *n = count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMCreateMatrix() makes the operators, and these follow the DM. On one rank PCBJACOBI would take a matrix-free operator as its block and
   PCNONE as the block's solver. */
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
+  -dm_vpatchdg_boxes nx,ny,nz                      - Numbers of boxes in the domain, `DMVPatchDGSetBoxGrid()`
.  -dm_vpatchdg_mesh file                           - A file with quadrilaterals or hexahedra that `DMPlexCreateFromFile()` reads
.  -dm_vpatchdg_domain_parameters a,b,...           - Numbers of a domain of trees, `DMVPatchDGSetDomain()`
.  -dm_vpatchdg_lower x,y,z                         - Lower corner of the domain
.  -dm_vpatchdg_upper x,y,z                         - Upper corner of the domain
.  -dm_vpatchdg_grid_x a:b:n[:ratio]|tanh:a:b:n:s|x0,x1,... - Coordinates of the faces of boxes, likewise _y and _z, `DMVPatchDGSetGrid()`
.  -dm_vpatchdg_refine_levels n                     - Number of additional refinements of the cells at a point or a sphere
.  -dm_vpatchdg_refine_point x,y,z                  - The point, `DMVPatchDGSetLocalRefinement()`
.  -dm_vpatchdg_refine_sphere x,y,z,r               - Centre and radius of the sphere, in 2D of the circle x,y,r
.  -dm_vpatchdg_boundary dirichlet|neumann|robin|periodic - One condition for all sides, or one per side, `DMVPatchDGSetBoundary()`
.  -dm_vpatchdg_robin alpha                         - One number for all Robin sides, or one per side, `DMVPatchDGSetRobin()`
.  -dm_mat_type shell|aij|...                       - The operator without a matrix (default), or assembled
.  -dm_vec_type standard|cuda|...                   - The type of the vectors; with cuda all work is done on the GPU
.  -vpatchdg_doctor                                 - Prints versions, machine, mesh, cycle, expected iterations, memory, and advice
.  -vpatchdg_memory bytes                           - Memory that a rank may use for mesh, vectors, cycle and KSP (default: its share of the
                                                      free memory)
-  -vpatchdg_progress                               - Long tasks report their progress on the first rank's standard error

   Level: beginner

   Notes:
   On every cell, functions are polynomials of degree k in each variable.

   A global vector holds the cells of every rank along a space-filling curve, with (k+1)^dim coefficients per cell. The basis is orthonormal
   in L2. The Euclidean norm of a vector x is therefore the L2 norm of the function u_h, and the right-hand side is b_i = (f, phi_i).
   `DMVPatchDGGetPointValues()` converts coefficients to values at points, and `DMVPatchDGSetPointValues()` converts values to coefficients.

   A local vector holds the rank's own cells, followed by the cells across their faces.

   The DM provides operators and the right-hand side f = 1. After `KSPSetDM()`, `KSPSolve`(ksp, NULL, NULL) solves -div(a grad u) + c u = 1.
   A right-hand side that the caller passes is used unchanged.

   `DMConvert()` makes a DM from the cells of a `DMDA`, or of a `DMPLEX` of quadrilaterals or hexahedra. The new DM is not set up yet.
   It gets boxes, refined as often as equal widths of cells allow, the periodic directions and the type of vectors. In a `DMDA_Q0` the
   entries are cells, the coordinates are their centres, and (k+1)^dim numbers per entry set the degree. In a `DMDA_Q1` the entries are
   vertices. `DMVPatchDGCreateCellMap()` maps the cells of both meshes.

   Where cells are not boxes along the axes, each one becomes the unit box at its place in the lattice, 0, 1, ..., and gets the map that
   takes it to where the mesh has it (`DMVPatchDGSetMap()`): of degree 1 by its vertices, or of the degree of a `DMPLEX`'s coordinates. The
   lattice's directions are those of the `DMDA`, or those of the first cell of a `DMPLEX`, in the order and sense in which they are nearest
   to the axes. Sides, labels and periodic directions are the lattice's. Beyond a periodic side of a `DMDA` its first vertices come again,
   moved by the period (`DMSetPeriodicity()`) if that brings them nearer to the last ones. For a while each rank has the numbers of all
   cells' vertices.

   Where the cells of a `DMPLEX` form no lattice, because other than 2^dim of them meet at a vertex inside for instance, each one becomes a
   tree (`DMVPatchDGSetTrees()`). -dm_vpatchdg_mesh gives a DM without code the cells of a file, whatever they form.

   The cells of a `DMPLEX` may form any domain that `DMVPatchDGSetBoxes()` accepts, for instance one with holes. Labels of its faces become
   labels of sides of boxes (`DMVPatchDGSetLabelBoundary()`). Labels of its cells can set the coefficient
   (`DMVPatchDGSetRegionCoefficient()`).

   `DMSetFromOptions()` on a DM that `DMConvert()` has made refines all cells -dm_refine times more, unless the source is a `DMPLEX` that
   has read this option with the same prefix. A matrix type that was set for the source is kept, except `MATAIJ`, PETSc's default. To use
   `MATAIJ`, call `DMSetMatType()` after `DMSetFromOptions()` or `DMSetUp()`.

   Volumes and squared widths of cells, and a/h^2, must lie between 1e-95 and 1e95. Any units within this range may be used. In small units
   the default absolute tolerance of a KSP, 1e-50, may be too large (`KSPSetTolerances()`).

   `DMView()` with a `PETSCVIEWERBINARY` or a `PETSCVIEWERHDF5` saves the mesh and the operator of a DM that is set up: domain, boundary
   conditions, labels, alpha, penalty, reaction, degree, basis, precision of the geometry, cells (also adaptive ones), the map of cells and
   the coefficient. If a function chooses boundary conditions, the conditions that it chose are saved, and if a function maps cells, its
   values at their nodes. A coefficient that is a function of points cannot be saved.

   `DMLoad()` makes a DM from such a file on any number of ranks. The result is set up. Before `DMLoad()`, set only the type of the DM and
   options for vectors, matrices and the backend, which the file does not contain. `VecView()` saves global vectors, and `VecLoad()` reads
   them on any number of ranks. In an HDF5 file each mesh needs a group of its own (`PetscViewerHDF5PushGroup()`). A mesh that `DMCoarsen()`
   made of stretched cells cannot be saved. The example restart.c shows all this.

   `DMSetUp()` fixes the number of refinements: a later `DMSetRefineLevel()` has no effect.

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
