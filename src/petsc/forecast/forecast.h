/* Forecasts of memory and iterations, and the lines of -vpatchdg_doctor and -dm_view about them. */
#pragma once
#include "../../cycle/cycle.h"
#include <petscksp.h>

/* memory.c: bytes per rank where the backend works, and in addition to that on the host of a device */
typedef struct {
  double work, host;
} VpBytes;
/* What memory depends on. The boxes refined `level` times have `cells` cells on `ranks` ranks, and the levels of a cycle have
   cells_of[levels]. leaves: cells of an adaptive mesh, else 0; lines: 1D operators per cell that a varying coefficient needs; patch:
   VpBackend.patch_bytes; dense: of VpLevelCount */
typedef struct {
  int              dim, degree, level, levels;
  double           boxes, cells, leaves, ranks, lines, patch, cells_of[VP_MOST_LEVELS];
  double           parts;     /* of an adaptive mesh: parts of sides that hang (VpMetricView) per cell of this rank */
  double           at_points; /* numbers per unknown of a coefficient at points and of a map; 0: none */
  PetscBool        device, dense;
  PetscBool        trees;   /* The boxes are trees. */
  PetscBool        nodal;   /* The DM is continuous. */
  const VpPrefers *prefers; /* of the backend */
} VpSize;
#define VP_BYTES_TEXT 16
/* Fills the other members from dim, degree, boxes and level: lines 0, and levels as for cubes. */
PetscErrorCode VpSizeFill(MPI_Comm, const VpBackend *, VpSize *);
PetscErrorCode VpSizeOfMesh(VpMesh, int degree, const VpBackend *, VpSize *); /* the same for an existing mesh, which may be adaptive */
/* numbers per unknown of a map of this degree: its root, and its nodes unless it is a formula */
double VpMapNumbers(const VpSize *, PetscInt degree, PetscBool formula);
/* sets at_points. components: of VpMetricView; map: VpMapNumbers, 0 without one; made: the metric, or NULL while there is none */
void           VpCountPoints(int components, double map, VpMetric made, VpSize *);
void           VpCountMetric(VpMesh, const VpProblem *, VpSize *); /* the same of an existing mesh; nothing without a metric */
PetscErrorCode VpCountLines(VpMesh, const VpProblem *, VpSize *);
double         VpUnknowns(const VpSize *);
VpBytes        VpMeshMemory(const VpSize *);   /* mesh and the operator's tables */
double         VpVectorMemory(const VpSize *); /* one vector */
VpBytes        VpCycleMemory(const VpSize *, const VpCycleOptions *);
VpBytes        VpNodesMemory(const VpSize *, double rows, PetscBool wide); /* an element restriction, of wide cells or not, and its vectors,
                                                                              which have these own rows */
/* a rank's share of the free memory; negative: unknown. taken: bytes that the rank already has, which -vpatchdg_memory includes */
PetscErrorCode VpMemoryThere(MPI_Comm, const VpBackend *, double taken, VpBytes *);
const char    *VpBytesText(double, char text[VP_BYTES_TEXT]);
/* Ensures: an error on all ranks if a rank needs more than is free. The message says what needs the memory and what to do instead. */
PetscErrorCode VpCheckMemory(MPI_Comm, const VpBackend *, VpBytes need, double taken, const char what[], const char instead[]);

/* krylov.c: numbers of vectors, in addition to x and b, that a KSP has created and has used after this number of iterations. Requires: the
   KSP is set up. */
#define VP_GCR_VECTORS        11 /* with -ksp_gcr_restart 5 */
#define VP_RICHARDSON_VECTORS 2
PetscErrorCode VpKrylovVectors(KSP, PetscInt iterations, PetscInt *created, PetscInt *used);
/* VpCheckMemory() for the vectors of the KSP's first iterations, which the doctor prints. vector: bytes of one vector, on the host of a
   device if PETSc does not support the device */
PetscErrorCode VpCheckKSPMemory(KSP, PetscInt iterations, const VpBackend *, VpBytes vector, double taken);

/* Lines mention aspect ratios and contrasts above this ratio. */
#define VP_RATIO_SHOWN 1.001

/* iterations.c: the largest aspect ratio of a cell; the range of FGMRES iterations for eight digits; prints both */
PetscReal      VpAspectRatio(VpDomain);
void           VpExpectIterations(const VpProblem *, PetscReal aspect, VpCoarsen, int range[2]);
PetscErrorCode VpViewAspect(VpDomain, int degree, PetscViewer);
/* trees.c: prints a phrase; prints a line unless there is no metric; *n = the number of colours of patches. Requires: trees */
PetscErrorCode VpViewVertices(VpDomain, PetscViewer);
PetscErrorCode VpViewShapes(const VpMetric, PetscViewer);
PetscErrorCode VpCountColors(VpMesh, int *n);

/* report.c: the doctor's viewer, NULL without -vpatchdg_doctor; prints the program and the machine; prints memory */
PetscErrorCode VpDoctorViewer(PetscObject, PetscViewer *);
PetscErrorCode VpReportMachine(PetscViewer, const VpBackend *);
PetscErrorCode VpReportNeed(PetscViewer, const char what[], double bytes, double ranks);
PetscErrorCode VpReportThere(PetscViewer, const VpBackend *);
