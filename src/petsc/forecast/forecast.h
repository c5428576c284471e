/* What the work will take, known before it begins: memory and iterations; and the lines of -vpatchdg_doctor and -dm_view that say so. */
#pragma once
#include "../../multigrid/multigrid.h"

/* memory.c: bytes that a rank needs where it works (the backend's memory), and beside that on the host of a device */
typedef struct {
  double work, host;
} VpBytes;
/* What they depend on: the boxes refined `level` times are `cells` on `ranks`; the coefficient makes `lines` one-dimensional operators a
   cell. */
typedef struct {
  int       dim, degree, level;
  double    cells, ranks, lines;
  PetscBool device;
} VpSize;
#define VP_BYTES_TEXT 16
PETSC_INTERN PetscErrorCode VpSizeOf(MPI_Comm, int dim, int degree, PetscInt nbox, int level, const VpBackend *, VpSize *); /* lines 0 */
PETSC_INTERN PetscErrorCode VpCountLines(VpMesh, const VpProblem *, VpSize *);
PETSC_INTERN double         VpUnknowns(const VpSize *);
PETSC_INTERN VpBytes        VpMeshMemory(const VpSize *);   /* with the operator's tables */
PETSC_INTERN double         VpVectorMemory(const VpSize *); /* one vector */
PETSC_INTERN VpBytes        VpCycleMemory(const VpSize *, const VpCycleOptions *);
PETSC_INTERN PetscErrorCode VpMemoryThere(MPI_Comm, const VpBackend *, VpBytes *); /* a rank's part of what is free; negative: unknown */
PETSC_INTERN const char    *VpBytesText(double, char text[VP_BYTES_TEXT]);
/* Ensures: an error on all ranks where some rank needs more than there is; it says what needs it, and what to do instead. */
PETSC_INTERN PetscErrorCode VpCheckMemory(MPI_Comm, const VpBackend *, VpBytes need, const char what[], const char instead[]);

/* iterations.c: the largest ratio of a cell's sizes; the least and the most iterations of FGMRES for eight digits; a line that says both */
PETSC_INTERN PetscReal      VpAspectRatio(VpDomain);
PETSC_INTERN void           VpExpectIterations(int degree, PetscReal aspect, int range[2]);
PETSC_INTERN PetscErrorCode VpViewAspect(VpDomain, int degree, PetscViewer);

/* report.c: the doctor's viewer, NULL without -vpatchdg_doctor; lines about the program and the machine, and about memory */
PETSC_INTERN PetscErrorCode VpDoctorViewer(PetscObject, PetscViewer *);
PETSC_INTERN PetscErrorCode VpReportMachine(PetscViewer, const VpBackend *);
PETSC_INTERN PetscErrorCode VpReportNeed(PetscViewer, const char what[], double bytes, double ranks);
PETSC_INTERN PetscErrorCode VpReportThere(PetscViewer, const VpBackend *);
