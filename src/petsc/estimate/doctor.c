/* -vpatchdg_doctor: what a maintainer would ask first, printed before the memory is taken: at DMSetUp() about the program, the machine and
   the mesh, when the preconditioner is built about the cycle. */
#include "../pcimpl.h"

static PetscErrorCode Wanted(PetscObject object, PetscViewer *viewer)
{
  PetscBool doctor = PETSC_FALSE;

  PetscFunctionBegin;
  *viewer = NULL;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vpatchdg_doctor", &doctor, NULL));
  if (doctor) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm(object), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal VpAspectRatio(VpDomain domain)
{
  PetscReal ratio = 1;

  for (size_t b = 0; b < (size_t)domain->nbox; b++) {
    for (int d = 0; d < domain->dim * domain->dim; d++) {
      const size_t i = 3 * b + d / domain->dim, j = 3 * b + d % domain->dim;

      ratio = PetscMax(ratio, (domain->upper[i] - domain->lower[i]) / (domain->upper[j] - domain->lower[j]));
    }
  }
  return ratio;
}

/* Measured with FGMRES, 1e-8: 4, 8, 16, ... at degree 1, 6 a/k at higher degrees k for the aspect ratio a, unless cells are nearly cubes */
void VpExpectIterations(int degree, PetscReal aspect, int range[2])
{
  const double cubes = degree == 1 ? 5 : (degree <= 3 ? 4 : 3), stretched = (degree == 1 ? 4 : 6. / degree) * aspect;

  range[0] = (int)PetscMax(cubes - 1, 0.6 * stretched);
  range[1] = (int)ceil(1.25 * PetscMax(cubes, stretched)) + 1;
}

/* ---- the program and the machine */

static PetscErrorCode Versions(PetscViewer viewer)
{
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING], *end;
  int  length;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Get_library_version(mpi, &length));
  mpi[PetscMin(length, 60)] = 0;
  for (end = mpi; *end && *end != ',' && *end != '\n'; end++)
    ;
  *end = 0;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  vpatchdg %s, PETSc %d.%d.%d (%d-bit PetscInt, %s, %s), %s, p4est %s\n", VPATCHDG_VERSION,
                                   PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, (int)(8 * sizeof(PetscInt)),
                                   PetscDefined(USE_DEBUG) ? "with debugging: slow" : "optimised",
                                   PetscDefined(HAVE_CUDA) ? "CUDA" : "no CUDA", mpi, VpForestVersion()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Hosts(MPI_Comm comm, PetscMPIInt *ranks, PetscMPIInt *hosts)
{
  MPI_Comm    host;
  PetscMPIInt rank, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, ranks));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_rank(host, &rank));
  PetscCallMPI(MPI_Comm_free(&host));
  first = !rank;
  PetscCallMPI(MPI_Allreduce(&first, hosts, 1, MPI_INT, MPI_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the GPU, or why there is none */
static PetscErrorCode Device(PetscViewer viewer, const VpBackend *backend)
{
  const VpBackend *cuda = VpBackendFind("cuda");
  char             name[160] = "", free[VP_BYTES_TEXT], all[VP_BYTES_TEXT];
  double           available, total;
  int              count = 0;

  PetscFunctionBegin;
  if (cuda) PetscCall(cuda->choose(-1, &count));
  if (!cuda) PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: none, this library was built without CUDA (make CUDA=1)\n"));
  else if (!count)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: none, CUDA finds no device\n"));
  else if (!backend->describe)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: %d here, not used: %s puts the work there\n", count,
                                     PetscDefined(HAVE_CUDA) ? "-dm_vec_type cuda" : "-dm_vpatchdg_backend cuda"));
  else {
    PetscCall(backend->describe(name, sizeof(name)));
    PetscCall(backend->memory(&available, &total));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: %s, %s of %s free, %d on this host\n", name, VpBytesText(available, free),
                                     VpBytesText(total, all), count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- memory */

static PetscErrorCode Need(PetscViewer viewer, const char what[], double bytes, double ranks)
{
  char one[VP_BYTES_TEXT], all[VP_BYTES_TEXT];

  PetscFunctionBegin;
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "    %-28s %7s a rank, %7s in all\n", what, VpBytesText(bytes, one), VpBytesText(bytes * ranks, all)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode There(PetscViewer viewer, const VpBackend *backend)
{
  VpBytes there;
  char    text[2][VP_BYTES_TEXT];

  PetscFunctionBegin;
  PetscCall(VpMemoryThere(PetscObjectComm((PetscObject)viewer), backend, &there));
  if (there.work < 0) PetscCall(PetscViewerASCIIPrintf(viewer, "    of an unknown amount\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "    of %s that are free for each rank%s%s\n", VpBytesText(there.work, text[0]),
                                     backend->memory ? " on its GPU; on the host " : "",
                                     backend->memory ? VpBytesText(there.host, text[1]) : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeshMemory(PetscViewer viewer, const VpBackend *backend, const VpSize *size)
{
  const VpBytes  mesh = VpMeshMemory(size);
  VpCycleOptions o = {.post = 1, .precision = VP_SINGLE};

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  memory needed, about:\n"));
  PetscCall(Need(viewer, "mesh and operator", mesh.work, size->ranks));
  if (mesh.host > 0) PetscCall(Need(viewer, "the same on the host", mesh.host, size->ranks));
  PetscCall(Need(viewer, "a vector", VpVectorMemory(size), size->ranks));
  if (size->level) PetscCall(Need(viewer, "cycle in single precision", VpCycleMemory(size, &o).work, size->ranks));
  o.precision = VP_DOUBLE;
  if (size->level) PetscCall(Need(viewer, "cycle in double precision", VpCycleMemory(size, &o).work, size->ranks));
  PetscCall(There(viewer, backend));
  PetscCall(
    PetscViewerASCIIPrintf(viewer, "    vectors: x and b; 2 more by richardson, 4 by cg, 29 by fgmres for its first 10 iterations\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the mesh */

PetscErrorCode DMVPatchDGViewAspect(VpDomain domain, int degree, PetscViewer viewer)
{
  const PetscReal aspect = VpAspectRatio(domain);
  int             range[2];

  PetscFunctionBegin;
  VpExpectIterations(degree, aspect, range);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cells of aspect ratio %s%.3g", aspect > 1.001 ? "up to " : "", (double)aspect));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (aspect > 2)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, ": expect %d to %d iterations by fgmres, more by richardson; choose boxes that are nearly cubes", range[0], range[1]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGDoctor(DM dm, PetscInt level)
{
  DM_VPatchDG     *dg = (DM_VPatchDG *)dm->data;
  const VpBackend *backend;
  PetscMPIInt      ranks, hosts;
  PetscViewer      viewer;
  VpSize           size;

  PetscFunctionBegin;
  PetscCall(Wanted((PetscObject)dm, &viewer));
  if (!viewer) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGFindBackend(dm, &backend));
  PetscCall(VpSizeOf(PetscObjectComm((PetscObject)dm), (int)dm->dim, (int)dg->degree, (int)level,
                     ldexp(dg->boxes->nbox, (int)(dm->dim * level)), backend, &size));
  PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: mesh\n"));
  PetscCall(Versions(viewer));
  PetscCall(Hosts(PetscObjectComm((PetscObject)dm), &ranks, &hosts));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks: %d on %d host%s\n", ranks, hosts, hosts > 1 ? "s" : ""));
  PetscCall(Device(viewer, backend));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  mesh: %dD, degree %d, %d box%s refined %d times: %.0f cells, %.0f unknowns\n", size.dim,
                                   size.degree, (int)dg->boxes->nbox, dg->boxes->nbox > 1 ? "es" : "", size.level, size.cells,
                                   size.cells * pow(size.degree + 1, size.dim)));
  PetscCall(DMVPatchDGViewAspect(dg->boxes, size.degree, viewer));
  PetscCall(MeshMemory(viewer, backend, &size));
  if (!level) PetscCall(PetscViewerASCIIPrintf(viewer, "  change: -dm_refine 1 or more, multigrid needs levels\n"));
  if (size.cells / ranks < 64 && ranks > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  change: fewer ranks; %.0f cells each are mostly messages\n", size.cells / ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- the cycle */

/* of all ranks: the ratio of the largest coefficient to the smallest, everywhere and inside of the coarsest cells (of this rank's part of
 * them) */
static PetscErrorCode Contrast(VpMesh mesh, const VpProblem *problem, int finer, PetscReal *all, PetscReal *inside)
{
  const PetscReal *a = problem->coefficient;
  PetscReal        range[2], least = 0, most = 0;
  int64_t          last = -1;

  PetscFunctionBegin;
  PetscCall(VpCoefficientRange(mesh, a, range));
  *all = range[1] / range[0];
  *inside = 1;
  for (int32_t c = 0; a && c < mesh->nown; c++) {
    const int64_t ancestor = ((int64_t)mesh->first + c) >> finer * mesh->dim; /* along the curve, descendants are together */

    least = ancestor == last ? PetscMin(least, a[c]) : a[c];
    most = ancestor == last ? PetscMax(most, a[c]) : a[c];
    last = ancestor;
    *inside = PetscMax(*inside, most / least);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, inside, 1, MPIU_REAL, MPIU_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and what the rule does not know */
static PetscErrorCode Iterations(PetscViewer viewer, VpMesh mesh, const VpProblem *problem, const VpCycleOptions *o, PetscInt levels)
{
  const PetscReal aspect = VpAspectRatio(mesh->domain);
  PetscReal       contrast = 1, inside = 1;
  int             range[2];

  PetscFunctionBegin;
  PetscCall(Contrast(mesh, problem, (int)levels - 1, &contrast, &inside));
  VpExpectIterations(problem->degree, aspect, range);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  coefficient: contrast 1:%.3g, inside of the coarsest cells 1:%.3g\n", (double)contrast,
                                   (double)inside));
  if (o->space != VP_SPACE_FULL || o->residual == VP_RESIDUAL_LOCAL)
    PetscCall(PetscViewerASCIIPrintf(
      viewer, "  iterations for eight digits: not known for this patch space and residual, more than for full, exact\n"));
  else if (inside > 1.001)
    PetscCall(PetscViewerASCIIPrintf(
      viewer,
      "  iterations for eight digits: not known, at least %d by fgmres: smooth coefficients took about 11, 1:1000 from cell to "
      "cell 73\n  change: let the coefficient jump along the coarsest cells; richardson may fail, fgmres does not\n",
      range[0]));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "  iterations for eight digits: %d to %d by fgmres%s\n", range[0], range[1],
                                     aspect > 1.5 ? "; richardson takes more, or fails" : " and richardson"));
  if (aspect > 2) PetscCall(PetscViewerASCIIPrintf(viewer, "  change: boxes that are nearly cubes\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solver(PC pc, PetscViewer viewer, const VpCycleOptions *o)
{
  const KSP ksp = ((VpInverse *)pc->data)->ksp;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle: %s(%" PetscInt_FMT ",%" PetscInt_FMT "), %s, %s precision",
                                   o->type == VP_CYCLE_V ? "V" : "W", o->pre, o->post, o->symmetric ? "symmetric" : "not symmetric",
                                   o->precision == VP_DOUBLE ? "double" : "single"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (ksp) PetscCall(PetscViewerASCIIPrintf(viewer, "; KSP %s, relative tolerance %.1e", ((PetscObject)ksp)->type_name, (double)ksp->rtol));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Transport(PC pc, VpMesh mesh, PetscViewer viewer)
{
  const char *travel = ((DM_VPatchDG *)((VpInverse *)pc->data)->dm->data)->travel;

  PetscFunctionBegin;
  if (VpMeshRanks(mesh) > 1)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  ghosts travel by %s\n", travel[0] ? travel : "mpi, from host memory"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVPatchDGDoctor(PC pc, VpMesh mesh, const VpProblem *problem, const VpBackend *backend)
{
  const VpCycleOptions *o = &((PC_VPatchDG *)pc->data)->options;
  const PetscInt        levels = o->levels ? o->levels : mesh->level;
  PetscViewer           viewer;
  VpSize                size;

  PetscFunctionBegin;
  PetscCall(VpSizeOf(PetscObjectComm((PetscObject)pc), mesh->dim, problem->degree, mesh->level, (double)mesh->ncell, backend, &size));
  PetscCall(VpCountLines(mesh, problem, &size));
  PetscCall(Wanted((PetscObject)pc, &viewer));
  if (viewer) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "vpatchdg_doctor: preconditioner\n"));
    PetscCall(Solver(pc, viewer, o));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  levels: %" PetscInt_FMT ", the coarsest with %.0f cells\n", levels,
                                     ldexp(size.cells, -(int)(levels - 1) * mesh->dim)));
    PetscCall(Transport(pc, mesh, viewer));
    PetscCall(Iterations(viewer, mesh, problem, o, levels));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  memory needed, about:\n"));
    PetscCall(Need(viewer, "cycle", VpCycleMemory(&size, o).work, size.ranks));
    PetscCall(There(viewer, backend));
  }
  PetscCall(VpCheckMemory(PetscObjectComm((PetscObject)pc), backend, VpCycleMemory(&size, o), "The cycle of -pc_type vpatchdg",
                          o->precision == VP_DOUBLE ? "Use -pc_vpatchdg_precision single with fgmres or richardson" : "Refine less"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
