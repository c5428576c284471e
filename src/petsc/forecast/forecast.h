/* What the work will take, known before it begins: memory and iterations; and the lines of -vpatchdg_doctor and -dm_view that say so. */
#pragma once
#include "../../cycle/cycle.h"
#include <petscksp.h>

/* memory.c: bytes that a rank needs where it works (the backend's memory), and beside that on the host of a device */
typedef struct {
  double work, host;
} VpBytes;
/* What they depend on: the boxes refined `level` times are `cells` on `ranks`, and on the levels of a cycle cells_of[levels]; the
   coefficient makes `lines` one-dimensional operators a cell; `patch` of VpBackend.patch_bytes; `dense` of VpLevelCount. */
typedef struct {
  int              dim, degree, level, levels;
  double           cells, ranks, lines, patch, cells_of[VP_MOST_LEVELS];
  PetscBool        device, dense;
  const VpPrefers *prefers; /* of the backend */
} VpSize;
#define VP_BYTES_TEXT 16
PetscErrorCode VpSizeOf(MPI_Comm, int dim, int degree, PetscInt nbox, int level, const VpBackend *,
                        VpSize *); /* lines 0; levels of cubes */
PetscErrorCode VpSizeOfMesh(VpMesh, int degree, const VpBackend *,
                            VpSize *); /* the same of a mesh that is there, also of an adaptive one */
PetscErrorCode VpCountLines(VpMesh, const VpProblem *, VpSize *);
double         VpUnknowns(const VpSize *);
VpBytes        VpMeshMemory(const VpSize *);   /* with the operator's tables */
double         VpVectorMemory(const VpSize *); /* one vector */
VpBytes        VpCycleMemory(const VpSize *, const VpCycleOptions *);
/* a rank's part of what is free; negative: unknown. taken: what the rank has, which what -vpatchdg_memory says contains */
PetscErrorCode VpMemoryThere(MPI_Comm, const VpBackend *, double taken, VpBytes *);
const char    *VpBytesText(double, char text[VP_BYTES_TEXT]);
/* Ensures: an error on all ranks where some rank needs more than there is; it says what needs it, and what to do instead. */
PetscErrorCode VpCheckMemory(MPI_Comm, const VpBackend *, VpBytes need, double taken, const char what[], const char instead[]);

/* krylov.c: how many vectors the KSP, which is set up, has after this number of iterations, in addition to x and b */
#define VP_GCR_VECTORS        11 /* with -ksp_gcr_restart 5 */
#define VP_RICHARDSON_VECTORS 2
PetscErrorCode VpKrylovVectors(KSP, PetscInt iterations, PetscInt *vectors);
/* VpCheckMemory of the vectors of the KSP's first iterations; the doctor prints them. vector: bytes of one, which is
   on the host of a device where PETSc knows no device */
PetscErrorCode VpCheckKSPMemory(KSP, PetscInt iterations, const VpBackend *, VpBytes vector, double taken);

/* Lines mention aspect ratios and contrasts that are larger than this. */
#define VP_RATIO_SHOWN 1.001

/* iterations.c: the largest ratio of a cell's sizes; the least and the most iterations of FGMRES for eight digits; a line that says both */
PetscReal      VpAspectRatio(VpDomain);
void           VpExpectIterations(int degree, PetscReal aspect, VpCoarsen, int range[2]);
PetscErrorCode VpViewAspect(VpDomain, int degree, PetscViewer);

/* report.c: the doctor's viewer, NULL without -vpatchdg_doctor; lines about the program and the machine, and about memory */
PetscErrorCode VpDoctorViewer(PetscObject, PetscViewer *);
PetscErrorCode VpReportMachine(PetscViewer, const VpBackend *);
PetscErrorCode VpReportNeed(PetscViewer, const char what[], double bytes, double ranks);
PetscErrorCode VpReportThere(PetscViewer, const VpBackend *);
