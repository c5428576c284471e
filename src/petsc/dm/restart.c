/* DMView() to a binary or HDF5 viewer, and DMLoad(): a DM as vectors, which both viewers can write and read. */
#include "file.h"
#include "internal.h"

/* The vector of settings starts with these numbers. Lists follow: the faces of the grid's boxes in each direction, the corners of boxes,
   the labels of sides, the conditions of labels, the condition of each side, and the corners of trees. The vector of depths has the number
   of halvings of each cell of an adaptive mesh, the vector of nodes a map that has no name. The last vector is the coefficient. All are in
   the order of the cells. */
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
  BASIS,
  MAP, /* 0: none; 1: a vector of nodes follows; 2 + i: VpMapKinds[i], of NUMBERS */
  MAP_DEGREE,
  NUMBERS,
  QUADRATURE = NUMBERS + VP_MAP_NUMBERS,
  CONTINUOUS,
  TREES,    /* number of trees, or 0 */
  VERTICES, /* number of their vertices */
  GEOMETRY, /* its precision */
  HEAD
};
enum { LIST_FACES, LIST_LOWER = LIST_FACES + 3, LIST_UPPER, LIST_LABELS, LIST_CONDITIONS, LIST_ASKED, LIST_TREES, LISTS };
#define MAGIC_NUMBER   7690472071.
#define VERSION_NUMBER 4

static const char vector_name[][24] = {"vpatchdg_settings", "vpatchdg_depths", "vpatchdg_coefficient", "vpatchdg_nodes"};

/* number of numbers in a list; double, because a file may contain any numbers */
static double CountList(const PetscReal head[], int list)
{
  const double dim = (double)head[DIM];
  const double count[LISTS] = {[LIST_FACES] = (double)head[FACES],
                               [LIST_FACES + 1] = (double)head[FACES + 1],
                               [LIST_FACES + 2] = (double)head[FACES + 2],
                               [LIST_LOWER] = dim * (double)head[BOXES],
                               [LIST_UPPER] = dim * (double)head[BOXES],
                               [LIST_LABELS] = 2 * dim * (double)head[LABELED],
                               [LIST_CONDITIONS] = 3 * (double)head[CONDITIONS],
                               [LIST_ASKED] = 4 * dim * (double)head[ASKED],
                               [LIST_TREES] = ldexp((double)head[TREES], (int)dim)};

  return count[list];
}

/* position of a list in the settings; LISTS: number of settings */
static double FindList(const PetscReal head[], int list)
{
  double at = HEAD;

  for (int i = 0; i < list; i++) at += CountList(head, i);
  return at;
}

/* Requires: x is as long as its head says. */
static PetscReal *ListOf(PetscReal x[], int list)
{
  return x + (size_t)FindList(x, list);
}

/* settings of one number, and the places of these */
static const struct {
  int setting, at;
} single[] = {{VP_DM_DEGREE, DEGREE},         {VP_DM_PENALTY, PENALTY},       {VP_DM_REACTION, REACTION}, {VP_DM_BASIS, BASIS},
              {VP_DM_QUADRATURE, QUADRATURE}, {VP_DM_CONTINUOUS, CONTINUOUS}, {VP_DM_GEOMETRY, GEOMETRY}, {VP_DM_MAP_DEGREE, MAP_DEGREE}};
enum { SINGLE = sizeof(single) / sizeof(*single) };

static void FillHead(DM dm, PetscReal head[])
{
  DM_VPatchDG *dg = dm->data;

  for (int i = 0; i < HEAD; i++) head[i] = 0;
  for (int i = 0; i < SINGLE; i++) head[single[i].at] = VpSettingValue(&DMVPatchDGSettings.row[single[i].setting], dg);
  head[MAGIC] = MAGIC_NUMBER;
  head[VERSION] = VERSION_NUMBER;
  head[DIM] = (PetscReal)dm->dim;
  head[DOMAIN] = (PetscReal)dg->domain;
  head[REFINE] = dg->mesh->least;
  head[ADAPTIVE] = VpMeshIsAdaptive(dg->mesh);
  head[WIDTH] = dg->op->given.coefficient ? VpProblemWidth(&dg->op->given) : 0;
  head[MAP] = dg->map.kind ? (PetscReal)(2 + dg->map.kind - VpMapKinds) : dg->map.by != VP_MAP_NONE;
  head[MAP_DEGREE] = (PetscReal)(dg->map.by == VP_MAP_LATTICE ? DMVPatchDGMapDegree(dm) : dg->map_degree); /* of the file's nodes */
  for (int i = 0; i < VP_MAP_NUMBERS; i++) head[NUMBERS + i] = dg->map.number[i];
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
  head[LABELED] = dg->labels.dim == dm->dim ? (PetscReal)dg->labels.nbox : 0;
  head[CONDITIONS] = (PetscReal)dg->labels.n;
  head[TREES] = dg->corner ? (PetscReal)dg->nbox : 0;
  head[VERTICES] = dg->nvertex;
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

static PetscErrorCode FillLists(DM dm, PetscReal x[])
{
  DM_VPatchDG *dg = dm->data;
  PetscReal   *label = ListOf(x, LIST_LABELS);

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(PetscArraycpy(ListOf(x, LIST_FACES + d), dg->face[d], (PetscInt)x[FACES + d]));
  PetscCall(PetscArraycpy(ListOf(x, LIST_LOWER), dg->box_lower, (PetscInt)x[BOXES] * dm->dim));
  PetscCall(PetscArraycpy(ListOf(x, LIST_UPPER), dg->box_upper, (PetscInt)x[BOXES] * dm->dim));
  for (PetscInt i = 0; i < (PetscInt)x[LABELED] * 2 * dm->dim; i++) label[i] = (PetscReal)dg->labels.side[i];
  VpListConditions(&dg->labels, ListOf(x, LIST_CONDITIONS));
  for (PetscInt i = 0; dg->corner && i < dg->nbox << dm->dim; i++) ListOf(x, LIST_TREES)[i] = dg->corner[i];
  if (dg->asked) FillAsked(dg->mesh->geometry->domain, ListOf(x, LIST_ASKED));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteSettings(DM dm, PetscViewer viewer)
{
  PetscReal   head[HEAD], *x;
  PetscInt    n;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
  FillHead(dm, head);
  n = (PetscInt)FindList(head, LISTS);
  PetscCall(PetscMalloc1(n, &x));
  PetscCall(PetscArraycpy(x, head, HEAD));
  PetscCall(FillLists(dm, x));
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
  PetscCheck(
    VpMeshesOverlap(dg->mesh, dg->mesh), PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
    "DMView() to a file: boxes or trees of this mesh, which was coarsened, have not as many cells in all directions. Save the DM that "
    "DMCoarsen() was called with");
  PetscCheck(!VpPointFunctionExists(&dg->coefficient_at) && !VpPointFunctionExists(&dg->reaction_at), PetscObjectComm((PetscObject)dm),
             PETSC_ERR_SUP,
             "DMView() to a file: files hold no coefficient or reaction at points, which this DM has. Save the vectors, and make the DM "
             "again as it was made");
  PetscCall(WriteSettings(dm, viewer));
  if (dg->map.by != VP_MAP_NONE && !dg->map.kind)
    PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[3],
                          dg->mesh->nown * VpMapNodes(dg->mesh->dim, (int)DMVPatchDGMapDegree(dm)) * dg->mesh->dim,
                          dg->mesh->geometry->map->node));
  if (VpMeshIsAdaptive(dg->mesh)) {
    PetscCall(PetscMalloc1(dg->mesh->nown, &depth));
    for (int32_t c = 0; c < dg->mesh->nown; c++) depth[c] = (uint8_t)VpGeometryHalvings(dg->mesh->geometry, c, 0);
    PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[1], dg->mesh->nown, depth));
    PetscCall(PetscFree(depth));
  }
  if (dg->op->given.coefficient)
    PetscCall(VpFileWrite(PetscObjectComm((PetscObject)dm), viewer, vector_name[2], dg->mesh->nown * VpProblemWidth(&dg->op->given),
                          dg->op->given.coefficient));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *x: [*n] the settings, the same on all ranks, freed by the caller */
static PetscErrorCode ReadSettings(DM dm, PetscViewer viewer, PetscInt *n, PetscReal **x)
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  Vec                v;
  PetscInt           own;
  const PetscScalar *from;

  PetscFunctionBegin;
  PetscCall(VpFileRead(comm, viewer, vector_name[0], PETSC_DECIDE, &v));
  PetscCall(VecGetLocalSize(v, &own));
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VpGatherAll(comm, own, sizeof(**x), from, n, x));
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x as an integer; -PETSC_MAX_INT, which setters refuse, if x is not an integer */
static PetscInt WholeOf(PetscReal x)
{
  return x == PetscFloorReal(x) && PetscAbsReal(x) < (PetscReal)PETSC_MAX_INT ? (PetscInt)x : -PETSC_MAX_INT;
}

static PetscErrorCode CheckSettings(DM dm, PetscInt n, const PetscReal x[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  DM_VPatchDG   *dg = dm->data;
  PetscBool      right = (PetscBool)(n >= HEAD && FindList(x, LISTS) == (double)n);

  PetscFunctionBegin;
  PetscCheck(n > VERSION && x[MAGIC] == MAGIC_NUMBER, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): what comes next in the file was not written by DMView() of a DMVPATCHDG");
  PetscCheck(x[VERSION] == VERSION_NUMBER, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the file has version %" PetscInt_FMT
             " of meshes, and vpatchdg %s reads version %d: take the vpatchdg that wrote it",
             WholeOf(x[VERSION]), VPATCHDG_VERSION, VERSION_NUMBER);
  for (int i = 0; i < LISTS && right; i++) right = (PetscBool)(CountList(x, i) >= 0 && CountList(x, i) == floor(CountList(x, i)));
  for (int d = 0; d < 3 && right; d++) right = (PetscBool)(x[FACES + d] == 0 || x[FACES + d] == x[GRID + d] + 1);
  PetscCheck(right, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, their %" PetscInt_FMT " numbers do not fit together", n);
  PetscCheck(dm->dim < 0 || dg->dim_by_default || (PetscReal)dm->dim == x[DIM], comm, PETSC_ERR_ARG_INCOMP,
             "DMLoad(): the file has a mesh in %" PetscInt_FMT " dimensions, the DM has %" PetscInt_FMT
             " (-dm_vpatchdg_dim, DMSetDimension()): leave the dimension to the file",
             WholeOf(x[DIM]), dm->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeTrees(DM dm, PetscReal x[])
{
  const PetscInt ntree = WholeOf(x[TREES]);
  PetscInt      *corner;

  PetscFunctionBegin;
  if (!ntree) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(ntree << dm->dim, &corner));
  for (PetscInt i = 0; i < ntree << dm->dim; i++) corner[i] = WholeOf(ListOf(x, LIST_TREES)[i]);
  PetscCall(DMVPatchDGStoreTrees(dm, WholeOf(x[VERTICES]), ntree, corner));
  PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeDomain(DM dm, PetscReal x[])
{
  PetscInt         grid[3];
  VPatchDGBoundary boundary[6];

  PetscFunctionBegin;
  PetscCall(DMSetDimension(dm, WholeOf(x[DIM])));
  PetscCall(DMVPatchDGCheckDimension(dm));
  for (int d = 0; d < 3; d++) grid[d] = WholeOf(x[GRID + d]);
  for (int side = 0; side < 6; side++) boundary[side] = (VPatchDGBoundary)WholeOf(x[BOUNDARY + side]);
  PetscCall(DMVPatchDGSetDomain(dm, (VPatchDGDomain)WholeOf(x[DOMAIN])));
  PetscCall(DMVPatchDGSetBoxGrid(dm, grid, x + LOWER, x + UPPER));
  for (PetscInt d = 0; d < dm->dim; d++) {
    if (x[FACES + d] > 0) PetscCall(DMVPatchDGSetGrid(dm, d, grid[d], ListOf(x, LIST_FACES + d)));
  }
  if (x[BOXES] > 0) PetscCall(DMVPatchDGSetBoxes(dm, WholeOf(x[BOXES]), ListOf(x, LIST_LOWER), ListOf(x, LIST_UPPER)));
  PetscCall(TakeTrees(dm, x));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscCall(DMVPatchDGSetRobin(dm, x + ALPHA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeLabels(DM dm, PetscReal x[])
{
  const PetscInt   n = WholeOf(x[LABELED]) * 2 * dm->dim;
  const PetscReal *from = ListOf(x, LIST_LABELS);
  PetscInt        *label;
  PetscErrorCode   error = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGDestroyLabels(dm));
  PetscCall(PetscMalloc1(n, &label));
  for (PetscInt i = 0; i < n; i++) label[i] = WholeOf(from[i]);
  if (n) error = DMVPatchDGSetSideLabels(dm, n / (2 * dm->dim), label);
  PetscCall(PetscFree(label));
  PetscCall(error);
  for (PetscInt i = 0; i < WholeOf(x[CONDITIONS]); i++) {
    const PetscReal *c = ListOf(x, LIST_CONDITIONS) + 3 * i;

    PetscCall(DMVPatchDGSetLabelBoundary(dm, WholeOf(c[0]), (VPatchDGBoundary)WholeOf(c[1]), c[2]));
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
  *boundary = (VPatchDGBoundary)WholeOf(asked[i]);
  *alpha = asked[i + 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nodes follow the settings. */
static PetscErrorCode TakeMap(DM dm, PetscViewer viewer, const PetscReal x[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  const PetscInt map = WholeOf(x[MAP]);
  PetscInt       kinds = 0;
  Vec            nodes;

  PetscFunctionBegin;
  while (VpMapKinds[kinds].name) kinds++;
  PetscCheck(map >= 0 && map < 2 + kinds, comm, PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, there is no map with the number %" PetscInt_FMT, map);
  PetscCall(DMVPatchDGSetMapOf(dm, map > 1 ? &VpMapKinds[map - 2] : NULL, map > 1 ? VpMapKinds[map - 2].numbers : 0, x + NUMBERS));
  if (map != 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpFileRead(comm, viewer, vector_name[3], PETSC_DECIDE, &nodes));
  PetscCall(DMVPatchDGSetMapCoordinates(dm, nodes));
  PetscCall(VecDestroy(&nodes));
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
  PetscInt nbox;

  PetscFunctionBegin;
  PetscCall(TakeDomain(dm, x));
  PetscCall(TakeLabels(dm, x));
  for (int i = 0; i < SINGLE; i++) PetscCall(DMVPatchDGSet(dm, single[i].setting, x[single[i].at]));
  PetscCall(TakeMap(dm, viewer, x));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 0, NULL, NULL));
  PetscCall(DMSetRefineLevel(dm, WholeOf(x[REFINE])));
  PetscCall(DMVPatchDGGetBoxes(dm, &nbox, NULL, NULL));
  PetscCheck(x[ASKED] == 0 || x[ASKED] == (PetscReal)nbox, PetscObjectComm((PetscObject)dm), PETSC_ERR_FILE_UNEXPECTED,
             "DMLoad(): the settings in the file are damaged, conditions on the boundary are those of %" PetscInt_FMT
             " boxes and not of %" PetscInt_FMT,
             WholeOf(x[ASKED]), nbox);
  PetscCall(SetUpFromFile(dm, viewer, (PetscBool)(x[ADAPTIVE] != 0), x[ASKED] > 0 ? ListOf(x, LIST_ASKED) : NULL));
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
  width = n > WIDTH ? WholeOf(x[WIDTH]) : 0;
  PetscCall(PetscFree(x));
  PetscCall(error);
  PetscCall(TakeCoefficient(dm, viewer, width));
  PetscFunctionReturn(PETSC_SUCCESS);
}
