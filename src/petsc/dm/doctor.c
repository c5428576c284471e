/* -vpatchdg_doctor at DMSetUp(): prints the memory that the mesh will need before the mesh is made. The lines about an adaptive mesh follow
   when its cells are known. */
#include "internal.h"

static PetscErrorCode PrintMemory(PetscViewer viewer, const VpBackend *backend, const VpSize *size)
{
  const VpBytes  mesh = VpMeshMemory(size);
  VpCycleOptions o = {.post = 1, .precision = VP_SINGLE};

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  memory needed, about:\n"));
  PetscCall(VpReportNeed(viewer, "mesh and operator", mesh.work, size->ranks));
  if (mesh.host > 0) PetscCall(VpReportNeed(viewer, "the same on the host", mesh.host, size->ranks));
  PetscCall(VpReportNeed(viewer, "a vector", VpVectorMemory(size), size->ranks));
  if (size->level) PetscCall(VpReportNeed(viewer, "cycle in single precision", VpCycleMemory(size, &o).work, size->ranks));
  o.precision = VP_DOUBLE;
  if (size->level) PetscCall(VpReportNeed(viewer, "cycle in double precision", VpCycleMemory(size, &o).work, size->ranks));
  PetscCall(VpReportThere(viewer, backend));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "    vectors: x and b; %d more by richardson, 3 by cg, %d by gcr with -ksp_gcr_restart 5, 28 by fgmres "
                                   "for its first 10 iterations\n",
                                   VP_RICHARDSON_VECTORS, VP_GCR_VECTORS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintCells(PetscViewer viewer, VpDomain domain, const VpSize *size)
{
  const char *what = domain->trees ? "tree" : "box", *more = domain->nbox == 1 ? "" : domain->trees ? "s" : "es";

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mesh: %dD, degree %d, %d %s%s refined %d times: %.0f cells, %.0f unknowns\n", size->dim,
                                   size->degree, (int)domain->nbox, what, more, size->level, size->cells, VpUnknowns(size)));
  if (domain->trees) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  trees: "));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    PetscCall(VpViewVertices(domain, viewer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  } else PetscCall(VpViewAspect(domain, size->degree, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGDoctor(DM dm, PetscInt level)
{
  DM_VPatchDG     *dg = dm->data;
  const VpBackend *backend;
  PetscViewer      viewer;
  VpSize           size;

  PetscFunctionBegin;
  PetscCall(VpDoctorViewer((PetscObject)dm, &viewer));
  if (!viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGSizeOf(dm, dg->boxes->nbox, level, &backend, &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: mesh\n"));
  PetscCall(VpReportMachine(viewer, backend));
  PetscCall(PrintCells(viewer, dg->boxes, &size));
  PetscCall(PrintMemory(viewer, backend, &size));
  if (!level && !dg->boxes->trees) PetscCall(PetscViewerASCIIPrintf(viewer, "  change: -dm_refine 1 or more, multigrid needs levels\n"));
  if (size.cells / size.ranks < 64 && size.ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  change: fewer ranks; %.0f cells each are mostly messages\n", size.cells / size.ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGDoctorAdaptive(DM dm, VpMesh mesh)
{
  const DM_VPatchDG *dg = dm->data;
  const VpBackend   *backend;
  PetscViewer        viewer;
  VpSize             size;

  PetscFunctionBegin;
  PetscCall(VpDoctorViewer((PetscObject)dm, &viewer));
  if (!viewer || !VpMeshIsAdaptive(mesh)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGFindBackend(dm, &backend));
  PetscCall(VpSizeOfMesh(mesh, (int)dg->degree, backend, &size));
  DMVPatchDGCountPoints(dm, &size);
  PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: mesh of cells of different levels\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mesh: %s refined %d to %d times: %.0f cells, %.0f unknowns\n",
                                   mesh->geometry->domain->trees ? "trees" : "boxes", mesh->least, mesh->level, size.cells,
                                   VpUnknowns(&size)));
  PetscCall(VpReportNeed(viewer, "mesh and operator", VpMeshMemory(&size).work, size.ranks));
  PetscCall(VpReportNeed(viewer, "a vector", VpVectorMemory(&size), size.ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
