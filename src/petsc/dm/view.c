/* DMView(): prints the settings and the mesh that results from them. */
#include "internal.h"

/* Prints the trees, their vertices, and how many colours patches have. */
static PetscErrorCode ViewTrees(VpMesh mesh, PetscViewer viewer)
{
  const VpDomain domain = mesh->geometry->domain;
  int            colors;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, " %d tree%s, ", (int)domain->nbox, domain->nbox == 1 ? "" : "s"));
  PetscCall(VpViewVertices(domain, viewer));
  if (VpMeshIsAdaptive(mesh)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpCountColors(mesh, &colors));
  PetscCall(PetscViewerASCIIPrintf(viewer, ", patches of %d colours", colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewBoxes(DM dm, PetscViewer viewer)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal    low[3], high[3];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dm->dim; d++) {
    low[d] = PETSC_MAX_REAL;
    high[d] = PETSC_MIN_REAL;
    for (PetscInt b = 0; b < dg->nbox; b++) {
      low[d] = PetscMin(low[d], dg->box_lower[b * dm->dim + d]);
      high[d] = PetscMax(high[d], dg->box_upper[b * dm->dim + d]);
    }
  }
  if (dg->domain == VPATCHDG_DOMAIN_BOX) {
    for (PetscInt d = 0; d < dm->dim; d++) PetscCall(PetscViewerASCIIPrintf(viewer, "%s%" PetscInt_FMT, d ? " x " : " ", dg->grid[d]));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, " %" PetscInt_FMT, dg->nbox));
  PetscCall(PetscViewerASCIIPrintf(viewer, " box%s in", dg->nbox == 1 ? "" : "es"));
  for (PetscInt d = 0; d < dm->dim; d++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s[%g,%g]", d ? " x " : " ", (double)low[d], (double)high[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewDomain(DM dm, PetscViewer viewer)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  domain %s:", VPatchDGDomains[dg->domain]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  PetscCall(dg->corner ? ViewTrees(dg->mesh, viewer) : ViewBoxes(dm, viewer));
  if (VpMeshIsAdaptive(dg->mesh)) PetscCall(PetscViewerASCIIPrintf(viewer, ", refined %d to %d times\n", dg->mesh->least, dg->mesh->level));
  else PetscCall(PetscViewerASCIIPrintf(viewer, ", each refined %d time%s\n", dg->mesh->level, dg->mesh->level == 1 ? "" : "s"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints how many sides of boxes have each condition. */
static PetscErrorCode ViewSides(VpDomain domain, const char by[], PetscViewer viewer)
{
  const int64_t n = (int64_t)domain->nbox * 2 * domain->dim;
  PetscInt64    sides[VP_SIDE_MIXED] = {0};

  PetscFunctionBegin;
  for (int64_t i = 0; i < n; i++) sides[VpDomainSide(domain, domain->beyond[i])]++;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  boundary by %s:", by));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (int i = 0; VpIsOfOneSide((VPatchDGBoundary)i); i++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%" PetscInt64_FMT "%s%s", i ? ", " : " ", sides[VpSideOf((VPatchDGBoundary)i)],
                                     i ? " " : " sides of boxes ", VPatchDGBoundaries[i]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewBoundary(DM dm, PetscViewer viewer)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  boundary (x-,x+,...):"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (PetscInt side = 0; side < 2 * dm->dim; side++) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s%s", side ? "," : " ", VPatchDGBoundaries[dg->boundary[side]]));
    if (VpHasAlpha(dg->boundary[side])) PetscCall(PetscViewerASCIIPrintf(viewer, " (alpha %g)", (double)dg->alpha[side]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (dg->side_boundary) PetscCall(ViewSides(dg->boxes, "a function", viewer));
  else if (dg->asked) PetscCall(ViewSides(dg->boxes, DMVPatchDGData(dm)->labels.n ? "labels" : "a file", viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMap(DM dm, PetscViewer viewer)
{
  static const char *const words[] = {
    [VP_MAP_FUNCTION] = "by a function", [VP_MAP_NODES] = "by coordinates of nodes", [VP_MAP_LATTICE] = "by coordinates of a mesh"};
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;

  PetscFunctionBegin;
  if (map->by == VP_MAP_NONE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  map of cells %s", map->kind ? map->kind->name : words[map->by]));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (int i = 0; map->kind && i < map->kind->numbers; i++)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%c%g", i ? ',' : ' ', map->number[i]));
  PetscCall(PetscViewerASCIIPrintf(viewer, ", degree %" PetscInt_FMT "\n", DMVPatchDGMapDegree(dm)));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewMemory(VpMesh mesh, const VpProblem *problem, const VpBackend *backend, PetscViewer viewer)
{
  char    text[2][VP_BYTES_TEXT];
  VpSize  size;
  VpBytes need;

  PetscFunctionBegin;
  PetscCall(VpSizeOfMesh(mesh, problem->degree, backend, &size));
  VpCountMetric(mesh, problem, &size);
  size.nodal = problem->nodal;
  PetscCall(VpCountLines(mesh, problem, &size));
  need = VpMeshMemory(&size);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  memory per rank, about: mesh and operator %s, a vector %s\n",
                                   VpBytesText(need.work + need.host, text[0]), VpBytesText(VpVectorMemory(&size), text[1])));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMView_VPatchDG(DM dm, PetscViewer viewer)
{
  DM_VPatchDG     *dg;
  PetscBool        ascii, file;
  PetscReal        a[2];
  PetscInt         least, most;
  PetscMPIInt      size;
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)viewer, &file, PETSCVIEWERBINARY, PETSCVIEWERHDF5, ""));
  if (file) PetscCall(DMVPatchDGSave(dm, viewer));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (!dg->mesh) {
    PetscCall(
      PetscViewerASCIIPrintf(viewer, "  not set up: domain %s, degree %" PetscInt_FMT "\n", VPatchDGDomains[dg->domain], dg->degree));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)dm), &size));
  PetscCall(DMVPatchDGUseBackend(dm, &backend));
  PetscCall(VpCoefficientRange(dg->mesh, VpOperatorGiven(dg->op), a));
  least = most = dg->mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)dm)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)dm)));
  PetscCall(ViewDomain(dm, viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  dimension %" PetscInt_FMT ", degree %" PetscInt_FMT "\n", dm->dim, dg->degree));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cells %" PetscInt_FMT ", unknowns %" PetscInt_FMT "\n", dg->mesh->ncell,
                                   dg->layout ? dg->layout->N : dg->mesh->ncell * PetscPowInt(dg->degree + 1, (int)dm->dim)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks %d, with %" PetscInt_FMT " to %" PetscInt_FMT " cells\n", size, least, most));
  PetscCall(ViewMap(dm, viewer));
  if (dg->corner) PetscCall(VpViewShapes(dg->op->problem.metric, viewer));
  else PetscCall(VpViewAspect(dg->mesh->geometry->domain, (int)dg->degree, viewer));
  PetscCall(ViewMemory(dg->mesh, &dg->op->problem, backend, viewer));
  PetscCall(ViewBoundary(dm, viewer));
  if (a[0] == a[1]) PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficient %g\n", (double)a[0]));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficient from %g to %g, one per cell%s\n", (double)a[0], (double)a[1],
                                     VpOperatorGiven(dg->op)->tensor ? " and direction" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  matrices %s, vectors %s, backend %s\n", dm->mattype, dm->vectype, backend->name));
  if (dg->travel[0]) PetscCall(PetscViewerASCIIPrintf(viewer, "  ghosts travel by %s\n", dg->travel));
  PetscCall(VpSettingsView(&DMVPatchDGSettings, (PetscObject)dm, dg, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* DMViewFromOptions() calls this. If DMSetUp() has printed the same for -dm_view, the program's first request prints nothing. */
PetscErrorCode DMVPatchDGViewObject(PetscObject object, PetscViewer viewer)
{
  DM_VPatchDG      *dg = DMVPatchDGData((DM)object);
  PetscViewer       screen;
  PetscViewerFormat format;
  PetscBool         again;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIGetStdout(object->comm, &screen));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  again = (PetscBool)(viewer == screen && dg->shown == VP_SHOWN_ALL && format == dg->shown_as);
  if (again) dg->shown = VP_SHOWN_NOTHING;
  if (viewer == screen && dg->shown == VP_SHOWN_NOW) {
    dg->shown = VP_SHOWN_ALL;
    dg->shown_as = format;
  }
  if (!again) PetscCall(DMView((DM)object, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
