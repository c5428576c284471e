/* The lines of -vpatchdg_doctor about the program, the machine and its memory. */
#include "forecast.h"
#include <vpatchdg.h>

PetscErrorCode VpDoctorViewer(PetscObject object, PetscViewer *viewer)
{
  PetscBool doctor = PETSC_FALSE;

  PetscFunctionBegin;
  *viewer = NULL;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-vpatchdg_doctor", &doctor, NULL));
  if (doctor) PetscCall(PetscViewerASCIIGetStdout(PetscObjectComm(object), viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PrintVersions(PetscViewer viewer)
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

static PetscErrorCode PrintHosts(PetscViewer viewer)
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)viewer);
  MPI_Comm       host;
  PetscMPIInt    ranks, rank, first, hosts;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
  PetscCallMPI(MPI_Comm_rank(host, &rank));
  PetscCallMPI(MPI_Comm_free(&host));
  first = !rank;
  PetscCallMPI(MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  ranks: %d on %d host%s\n", ranks, hosts, hosts > 1 ? "s" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints the GPU, or the reason why none is used. */
static PetscErrorCode PrintDevice(PetscViewer viewer, const VpBackend *backend)
{
  const VpBackend *cuda = VpBackendFind("cuda");
  char             name[160] = "", free[VP_BYTES_TEXT], all[VP_BYTES_TEXT];
  double           available, total;
  int              count = 0;

  PetscFunctionBegin;
  if (cuda) PetscCall(cuda->choose(-1, &count));
  if (!cuda) PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: none, this library was built without CUDA (make CUDA=1)\n"));
  else if (!count) PetscCall(PetscViewerASCIIPrintf(viewer, "  GPU: none, CUDA finds no device\n"));
  else if (!VpIsDevice(backend))
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

PetscErrorCode VpReportMachine(PetscViewer viewer, const VpBackend *backend)
{
  PetscFunctionBegin;
  PetscCall(PrintVersions(viewer));
  PetscCall(PrintHosts(viewer));
  PetscCall(PrintDevice(viewer, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpReportNeed(PetscViewer viewer, const char what[], double bytes, double ranks)
{
  char one[VP_BYTES_TEXT], all[VP_BYTES_TEXT];

  return PetscViewerASCIIPrintf(viewer, "    %-28s %7s per rank, %7s in all\n", what, VpBytesText(bytes, one),
                                VpBytesText(bytes * ranks, all));
}

PetscErrorCode VpReportThere(PetscViewer viewer, const VpBackend *backend)
{
  VpBytes there;
  char    text[2][VP_BYTES_TEXT];

  PetscFunctionBegin;
  PetscCall(VpMemoryThere(PetscObjectComm((PetscObject)viewer), backend, 0, &there));
  if (there.work < 0) PetscCall(PetscViewerASCIIPrintf(viewer, "    of an unknown amount\n"));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "    of %s that are free for each rank%s%s\n", VpBytesText(there.work, text[0]),
                                     VpIsDevice(backend) ? " on its GPU; on the host " : "",
                                     VpIsDevice(backend) ? VpBytesText(there.host, text[1]) : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
