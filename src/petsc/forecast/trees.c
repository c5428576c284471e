/* What trees are like: their vertices and classes, the colours of patches, and the shapes of cells. */
#include "forecast.h"

PetscErrorCode VpViewVertices(VpDomain domain, PetscViewer viewer)
{
  VpTreeVertices count;
  int32_t       *class_of, classes;

  PetscFunctionBegin;
  PetscCall(VpDomainCountVertices(domain, &count));
  PetscCall(PetscMalloc1((size_t)domain->nbox * (size_t)domain->dim, &class_of));
  classes = VpDomainGetClasses(domain, class_of);
  PetscCall(PetscFree(class_of));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%d classes of directions, %d vertices of which %d are irregular (inside:", (int)classes,
                                   (int)count.n, (int)(count.n - count.regular)));
  for (int cells = 1, n = 0; cells <= VP_MOST_VALENCE; cells++) {
    if (count.inside[cells])
      PetscCall(PetscViewerASCIIPrintf(viewer, "%s %d of %d cells", n++ ? "," : "", (int)count.inside[cells], cells));
    if (cells == VP_MOST_VALENCE && !n) PetscCall(PetscViewerASCIIPrintf(viewer, " 0"));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "; on the boundary: %d)", (int)count.boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCountColors(VpMesh mesh, int *n)
{
  VpTreeColoring colors;

  PetscFunctionBegin;
  PetscCall(VpTreeColoringCreate(mesh->geometry->lattice, &colors));
  *n = colors.ncolor;
  PetscCall(VpTreeColoringDestroy(&colors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpViewShapes(const VpMetric m, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "  shapes of cells: kappa %.3g, the most is %.3g in cell %" PetscInt_FMT " of tree %" PetscInt_FMT
                                   "; %.0f iterations are foretold\n",
                                   m->kappa, m->worst, m->worst_cell, m->worst_box, VpMetricIterations(m, VP_METRIC_CELL)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
