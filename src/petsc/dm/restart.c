/* DMView() to a binary or HDF5 viewer, and DMLoad(): a DM as vectors, which both viewers can write and read. */
#include "file.h"
#include "internal.h"

/* The vector of settings starts with these numbers. Lists follow: the faces of the grid's boxes in each direction, the corners of boxes,
   the labels of sides, the conditions of labels, and the condition of each side. The vector of depths has the number of halvings of each
   cell of an adaptive mesh. The last vector is the coefficient. Both are in the order of the cells. */
enum {
  MAGIC,
  VERSION,
  DIM,
  DOMAIN,
  DEGREE,
  PENALTY,
  REACTION,
  REFINE,   /* smallest number of refinements of a box */
  ADAPTIVE, /* 1: a vector of depths follows */
  WIDTH,    /* number of coefficients per cell; 0: no vector of them follows */
  GRID,
  LOWER = GRID + 3,
  UPPER = LOWER + 3,
  BOUNDARY = UPPER + 3,
  ALPHA = BOUNDARY + 6,
  FACES = ALPHA + 6, /* number of faces in each direction, or 0 */
  BOXES = FACES + 3, /* number of boxes with corners, or 0 */
  LABELED,           /* number of boxes with labels, or 0 */
  ASKED,             /* number of boxes with a condition for each side, or 0 */
  CONDITIONS,        /* number of labels with a condition */
  HEAD
};
enum { LIST_FACES, LIST_LOWER = LIST_FACES + 3, LIST_UPPER, LIST_LABELS, LIST_CONDITIONS, LIST_ASKED, LISTS };
#define MAGIC_NUMBER   7690472071.
#define VERSION_NUMBER 1

static const char vector_name[][24] = {"vpatchdg_settings", "vpatchdg_depths", "vpatchdg_coefficient"};

/* count: lengths of the lists; double, because a file may contain any numbers */
static void CountLists(const PetscReal head[], double count[LISTS])
{
  const double dim = (double)head[DIM];

  for (int d = 0; d < 3; d++) count[LIST_FACES + d] = (double)head[FACES + d];
  count[LIST_LOWER] = count[LIST_UPPER] = dim * (double)head[BOXES];
  count[LIST_LABELS] = 2 * dim * (double)head[LABELED];
  count[LIST_CONDITIONS] = 3 * (double)head[CONDITIONS];
  count[LIST_ASKED] = 4 * dim * (double)head[ASKED];
}

/* list[i] = list i of the settings x. Requires: x is as long as its head says. */
static void FindLists(PetscReal x[], PetscReal *list[LISTS])
{
  double count[LISTS];

  CountLists(x, count);
  x += HEAD;
  for (int i = 0; i < LISTS; i++) {
    list[i] = x;
    x += (size_t)count[i];
  }
}

static void FillHead(DM dm, PetscReal head[])
{
  DM_VPatchDG *dg = dm->data;
  PetscInt     labeled = 0;

  for (int i = 0; i < HEAD; i++) head[i] = 0;
  head[MAGIC] = MAGIC_NUMBER;
  head[VERSION] = VERSION_NUMBER;
  head[DIM] = (PetscReal)dm->dim;
  head[DOMAIN] = (PetscReal)dg->domain;
  head[DEGREE] = (PetscReal)dg->degree;
  head[PENALTY] = dg->penalty;
  head[REACTION] = dg->reaction;
  head[REFINE] = dg->mesh->least;
  head[ADAPTIVE] = VpMeshIsAdaptive(dg->mesh);
  head[WIDTH] = dg->op->problem.coefficient ? VpProblemWidth(&dg->op->problem) : 0;
  for (int d = 0; d < 3; d++) {
    head[GRID + d] = (PetscReal)dg->grid[d];
    head[LOWER + d] = dg->lower[d];
    head[UPPER + d] = dg->upper[d];
    head[FACES + d] = dg->face[d] ? (PetscReal)dg->grid[d] + 1 : 0;
  }
  for (int side = 0; side < 6; side++) {
    head[BOUNDARY + side] = (PetscReal)dg->boundary[side];
    head[ALPHA + side] = dg->alpha[side];
  }
  head[BOXES] = dg->domain == VPATCHDG_DOMAIN_BOXES ? (PetscReal)dg->nbox : 0;
  (void)DMVPatchDGGetSideLabels(dm, &labeled, NULL);
  head[LABELED] = (PetscReal)labeled;
  head[CONDITIONS] = (PetscReal)DMVPatchDGLabelConditions(dm);
  head[ASKED] = dg->asked ? dg->mesh->geometry->domain->nbox : 0;
}

/* to [nbox][2 dim][2] = {VPatchDGBoundary, alpha} as DMVPatchDGAskBoundary() found them */
static void FillAsked(VpDomain domain, PetscReal to[])
{
  for (int64_t i = 0; i < (int64_t)domain->nbox * 2 * domain->dim; i++) {
    const VpSide side = VpDomainSide(domain, domain->beyond[i]);

    to[2 * i] = VpIsCondition(side) ? (PetscReal)(side - VpSideOf((VPatchDGBoundary)0)) : 0;
    to[2 * i + 1] = VpDomainAlpha(domain, domain->beyond[i]);
  }
}

static void FillLists(DM dm, const double count[], PetscReal *list[])
{
  DM_VPatchDG    *dg = dm->data;
  const PetscInt *label = NULL;

  for (int d = 0; d < 3; d++) {
    for (PetscInt i = 0; i < (PetscInt)count[LIST_FACES + d]; i++) list[LIST_FACES + d][i] = dg->face[d][i];
  }
  for (PetscInt i = 0; i < (PetscInt)count[LIST_LOWER]; i++) {
    list[LIST_LOWER][i] = dg->box_lower[i];
    list[LIST_UPPER][i] = dg->box_upper[i];
  }
  (void)DMVPatchDGGetSideLabels(dm, NULL, &label);
  for (PetscInt i = 0; i < (PetscInt)count[LIST_LABELS]; i++) list[LIST_LABELS][i] = (PetscReal)label[i];
  for (PetscInt i = 0; i < DMVPatchDGLabelConditions(dm); i++) DMVPatchDGListCondition(dm, i, list[LIST_CONDITIONS] + 3 * i);
  if (dg->asked) FillAsked(dg->mesh->geometry->domain, list[LIST_ASKED]);
}

static PetscErrorCode WriteSettings(DM dm, PetscViewer viewer)
{
  PetscReal   head[HEAD], *x, *list[LISTS];
  double      count[LISTS];
  PetscInt    n = HEAD;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  FillHead(dm, head);
  CountLists(head, count);
  for (int i = 0; i < LISTS; i++) n += (PetscInt)count[i];
  PetscCall(PetscMalloc1(n, &x));
  PetscCall(PetscArraycpy(x, head, HEAD));
  FindLists(x, list);
  FillLists(dm, count, list);
  PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[0], rank ? 0 : n, x));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSave(DM dm, PetscViewer viewer)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal   *depth;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMView() to a file"));
  PetscCheck(VpMeshesOverlap(dg->mesh, dg->mesh), PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "DMView() to a file: boxes of this mesh, which was coarsened, have not as many cells in all directions. Save the DM that "
             "DMCoarsen() was called with");
  PetscCall(WriteSettings(dm, viewer));
  if (VpMeshIsAdaptive(dg->mesh)) {
    PetscCall(PetscMalloc1(dg->mesh->nown, &depth));
    for (int32_t c = 0; c < dg->mesh->nown; c++) depth[c] = (uint8_t)VpGeometryHalvings(dg->mesh->geometry, c, 0);
    PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[1], dg->mesh->nown, depth));
    PetscCall(PetscFree(depth));
  }
  if (dg->op->problem.coefficient)
    PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[2], dg->mesh->nown * VpProblemWidth(&dg->op->problem),
                          dg->op->problem.coefficient));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *x: [*n] the settings, the same on all ranks, freed by the caller */
static PetscErrorCode ReadSettings(DM dm, PetscViewer viewer, PetscInt *n, PetscReal **x)
{
  Vec                v, all;
  VecScatter         scatter;
  const PetscScalar *from;

  PetscFunctionBegin;
  PetscCall(VpFileRead(PetscObjectComm((PetscObject)dm), viewer, vector_name[0], PETSC_DECIDE, &v));
  PetscCall(VecScatterCreateToAll(v, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, v, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&v));
  PetscCall(VecGetLocalSize(all, n));
  PetscCall(PetscMalloc1(*n, x));
  PetscCall(VecGetArrayRead(all, &from));
  PetscCall(PetscArraycpy(*x, from, *n));
  PetscCall(VecRestoreArrayRead(all, &from));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x as an integer; -PETSC_MAX_INT, which setters refuse, if x is not an integer */
static PetscInt Whole(PetscReal x)
{
  return x == PetscFloorReal(x) && PetscAbsReal(x) < (PetscReal)PETSC_MAX_INT ? (PetscInt)x : -PETSC_MAX_INT;
}

static PetscErrorCode CheckSettings(DM dm, PetscInt n, const PetscReal x[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  DM_VPatchDG   *dg = dm->data;
  double         count[LISTS], sum = HEAD;
  PetscBool      right = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCheck(n > VERSION && x[MAGIC] == MAGIC_NUMBER, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): what comes next in the file was not written by DMView() of a DMVPATCHDG");
  PetscCheck(x[VERSION] == VERSION_NUMBER, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the file has version %" PetscInt_FMT
             " of meshes, and vpatchdg %s reads version %d: take the vpatchdg that wrote it",
             Whole(x[VERSION]), VPATCHDG_VERSION, VERSION_NUMBER);
  if (n >= HEAD) CountLists(x, count);
  for (int i = 0; i < LISTS && n >= HEAD; i++) {
    right = (PetscBool)(right && count[i] >= 0 && count[i] == PetscFloorReal(count[i]));
    sum += count[i];
  }
  for (int d = 0; d < 3 && right; d++) right = (PetscBool)(x[FACES + d] == 0 || x[FACES + d] == x[GRID + d] + 1);
  PetscCheck(n >= HEAD && right && sum == (double)n, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, their %" PetscInt_FMT " numbers do not fit together", n);
  PetscCheck(dm->dim < 0 || dg->dim_by_default || (PetscReal)dm->dim == x[DIM], comm, PETSC_ERR_ARG_INCOMP,
             "DMLoad(): the file has a mesh in %" PetscInt_FMT " dimensions, the DM has %" PetscInt_FMT
             " (-dm_vpatchdg_dim, DMSetDimension()): leave the dimension to the file",
             Whole(x[DIM]), dm->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeDomain(DM dm, const PetscReal x[], PetscReal *const list[])
{
  PetscInt         grid[3];
  VPatchDGBoundary boundary[6];

  PetscFunctionBegin;
  PetscCall(DMSetDimension(dm, Whole(x[DIM])));
  PetscCall(DMVPatchDGCheckDimension(dm));
  for (int d = 0; d < 3; d++) grid[d] = Whole(x[GRID + d]);
  for (int side = 0; side < 6; side++) boundary[side] = (VPatchDGBoundary)Whole(x[BOUNDARY + side]);
  PetscCall(DMVPatchDGSetDomain(dm, (VPatchDGDomain)Whole(x[DOMAIN])));
  PetscCall(DMVPatchDGSetBoxGrid(dm, grid, x + LOWER, x + UPPER));
  for (PetscInt d = 0; d < dm->dim; d++) {
    if (x[FACES + d] > 0) PetscCall(DMVPatchDGSetGrid(dm, d, grid[d], list[LIST_FACES + d]));
  }
  if (x[BOXES] > 0) PetscCall(DMVPatchDGSetBoxes(dm, Whole(x[BOXES]), list[LIST_LOWER], list[LIST_UPPER]));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetRobin(dm, x + ALPHA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeLabels(DM dm, const PetscReal x[], PetscReal *const list[])
{
  const PetscInt n = Whole(x[LABELED]) * 2 * dm->dim;
  PetscInt      *label;
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGDestroyLabels(dm));
  PetscCall(PetscMalloc1(n, &label));
  for (PetscInt i = 0; i < n; i++) label[i] = Whole(list[LIST_LABELS][i]);
  if (n) error = DMVPatchDGSetSideLabels(dm, n / (2 * dm->dim), label);
  PetscCall(PetscFree(label));
  PetscCall(error);
  for (PetscInt i = 0; i < Whole(x[CONDITIONS]); i++) {
    const PetscReal *c = list[LIST_CONDITIONS] + 3 * i;

    PetscCall(DMVPatchDGSetLabelBoundary(dm, Whole(c[0]), (VPatchDGBoundary)Whole(c[1]), c[2]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A VPatchDGBoundaryFunction that returns the conditions in the file. */
static PetscErrorCode AnswerFromFile(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[], VPatchDGBoundary *boundary,
                                     PetscReal *alpha, void *ctx)
{
  const PetscReal *asked = ctx;
  const PetscInt   i = 2 * (box * 2 * dim + side);

  PetscFunctionBegin;
  *boundary = (VPatchDGBoundary)Whole(asked[i]);
  *alpha = asked[i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets up the DM, and reads the leaves from the file if the mesh is adaptive. asked: LIST_ASKED, or NULL */
static PetscErrorCode SetUpFromFile(DM dm, PetscViewer viewer, PetscBool adaptive, PetscReal *asked)
{
  DM_VPatchDG   *dg = dm->data;
  PetscErrorCode error;

  PetscFunctionBegin;
  if (adaptive) PetscCall(VpFileRead(PetscObjectComm((PetscObject)dm), viewer, vector_name[1], PETSC_DECIDE, &dg->leaves));
  dg->side_boundary = asked ? AnswerFromFile : NULL;
  dg->side_ctx = asked;
  error = DMSetUp(dm);
  dg->side_boundary = NULL;
  dg->side_ctx = NULL;
  PetscCall(VecDestroy(&dg->leaves));
  PetscCall(error);
  PetscCall(DMVPatchDGEndOptions(dm, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeSettings(DM dm, PetscViewer viewer, PetscReal x[])
{
  PetscReal *list[LISTS];
  PetscInt   nbox;

  PetscFunctionBegin;
  FindLists(x, list);
  PetscCall(TakeDomain(dm, x, list));
  PetscCall(TakeLabels(dm, x, list));
  PetscCall(DMVPatchDGSet(dm, VP_DM_DEGREE, x[DEGREE]));
  PetscCall(DMVPatchDGSet(dm, VP_DM_PENALTY, x[PENALTY]));
  PetscCall(DMVPatchDGSet(dm, VP_DM_REACTION, x[REACTION]));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 0, NULL, NULL));
  PetscCall(DMSetRefineLevel(dm, Whole(x[REFINE])));
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, NULL, NULL));
  PetscCheck(x[ASKED] == 0 || x[ASKED] == (PetscReal)nbox, PetscObjectComm((PetscObject)dm), PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, conditions on the boundary are those of %" PetscInt_FMT
             " boxes and not of %" PetscInt_FMT,
             Whole(x[ASKED]), nbox);
  PetscCall(SetUpFromFile(dm, viewer, (PetscBool)(x[ADAPTIVE] != 0), x[ASKED] > 0 ? list[LIST_ASKED] : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeCoefficient(DM dm, PetscViewer viewer, PetscInt width)
{
  Vec                v;
  const PetscScalar *a;
  PetscErrorCode     error;

  PetscFunctionBegin;
  if (!width) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(width == 1 || width == dm->dim, PetscObjectComm((PetscObject)dm), PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, the coefficient has %" PetscInt_FMT " numbers per cell", width);
  PetscCall(VpFileRead(PetscObjectComm((PetscObject)dm), viewer, vector_name[2], DMVPatchDGData(dm)->mesh->nown * width, &v));
  PetscCall(VecGetArrayRead(v, &a));
  error = width == 1 ? DMVPatchDGSetCoefficient(dm, a) : DMVPatchDGSetTensorCoefficient(dm, a);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecDestroy(&v));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMLoad_VPatchDG(DM dm, PetscViewer viewer)
{
  DM_VPatchDG   *dg;
  PetscReal     *x;
  PetscInt       n, width;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCheck(!dg->mesh, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "DMLoad(): the DM is set up already: load into a new one (DMCreate(), DMSetType())");
  PetscCall(ReadSettings(dm, viewer, &n, &x));
  error = CheckSettings(dm, n, x);
  if (!error) error = TakeSettings(dm, viewer, x);
  width = n > WIDTH ? Whole(x[WIDTH]) : 0;
  PetscCall(PetscFree(x));
  PetscCall(error);
  PetscCall(TakeCoefficient(dm, viewer, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}
