/* vpatchdg: interior-penalty DG on boxes, preconditioned by multigrid with coloured vertex-patch smoothers, for PETSc.

   A program that includes only petscksp.h and petscdm.h can load the library by -dll_append and set most of this by options. The manual
   page of every function is above its definition in src/petsc. */
#pragma once
#include <petscksp.h>
#include <petscdm.h>

#define VPATCHDG_VERSION "0.3.0"

#define DMVPATCHDG       "vpatchdg"    /* DMType: mesh, space and operator */
#define PCVPATCHDG       "vpatchdg"    /* PCType: the multigrid cycle */
#define PCVPATCH         "vpatch"      /* PCType: one level's smoother */
#define KSPVPATCHDGFCG   "vpatchdgfcg" /* KSPType: flexible conjugate gradients in few passes over memory */
#define KSPGUESSVPATCHDG "vpatchdg"    /* KSPGuessType: nested iteration */

typedef enum {
  VPATCHDG_DOMAIN_BOX,
  VPATCHDG_DOMAIN_LSHAPE,
  VPATCHDG_DOMAIN_FICHERA,
  VPATCHDG_DOMAIN_BOXES,
  VPATCHDG_DOMAIN_TREES,
  VPATCHDG_DOMAIN_STAR,
  VPATCHDG_DOMAIN_DISC,
  VPATCHDG_DOMAIN_CYLINDER,
  VPATCHDG_DOMAIN_BALL,
  VPATCHDG_DOMAIN_SHELL
} VPatchDGDomain;
typedef enum {
  VPATCHDG_BOUNDARY_DIRICHLET,
  VPATCHDG_BOUNDARY_NEUMANN,
  VPATCHDG_BOUNDARY_ROBIN,
  VPATCHDG_BOUNDARY_PERIODIC
} VPatchDGBoundary;
typedef enum { VPATCHDG_SPACE_FULL, VPATCHDG_SPACE_DIRICHLET, VPATCHDG_SPACE_CLAMPED } VPatchDGSpace;
typedef enum { VPATCHDG_PRECISION_SINGLE, VPATCHDG_PRECISION_DOUBLE, VPATCHDG_PRECISION_AUTO } VPatchDGPrecision;
typedef enum { VPATCHDG_CYCLE_V, VPATCHDG_CYCLE_W, VPATCHDG_CYCLE_F, VPATCHDG_CYCLE_AUTO } VPatchDGCycleType;
typedef enum {
  VPATCHDG_COARSE_AUTO,
  VPATCHDG_COARSE_SWEEPS,
  VPATCHDG_COARSE_KSP,
  VPATCHDG_COARSE_DENSE,
  VPATCHDG_COARSE_VOLUMES,
  VPATCHDG_COARSE_STEPS
} VPatchDGCoarse;
typedef enum { VPATCHDG_BACKEND_AUTO, VPATCHDG_BACKEND_HOST, VPATCHDG_BACKEND_CUDA } VPatchDGBackend;
typedef enum { VPATCHDG_BASIS_AUTO, VPATCHDG_BASIS_LEGENDRE, VPATCHDG_BASIS_GAUSS } VPatchDGBasis;
typedef enum { VPATCHDG_QUADRATURE_GAUSS, VPATCHDG_QUADRATURE_LOBATTO } VPatchDGQuadrature;
typedef enum { VPATCHDG_MARK_DOERFLER, VPATCHDG_MARK_MAXIMUM } VPatchDGMarking;
PETSC_EXTERN const char        VPatchDGVersion[]; /* VPATCHDG_VERSION of the library that is loaded */
PETSC_EXTERN const char *const VPatchDGDomains[];
PETSC_EXTERN const char *const VPatchDGBoundaries[];
PETSC_EXTERN const char *const VPatchDGSpaces[];
PETSC_EXTERN const char *const VPatchDGPrecisions[];
PETSC_EXTERN const char *const VPatchDGCycleTypes[];
PETSC_EXTERN const char *const VPatchDGBackends[];
PETSC_EXTERN const char *const VPatchDGBases[];
PETSC_EXTERN const char *const VPatchDGQuadratures[];
PETSC_EXTERN const char *const VPatchDGCoarses[];
PETSC_EXTERN const char *const VPatchDGMarkings[];

PETSC_EXTERN PetscErrorCode VPatchDGInitializePackage(void);

/*S
   VPatchDGFunction - A user function of one point: a field or its gradient

   Input Parameters:
+  dim - 2 or 3
.  x   - [dim] the point
-  ctx - the context that was passed to `DMVPatchDGComputeRHS()`, `DMVPatchDGEstimate()`, `DMVPatchDGInterpolate()` or
         `DMVPatchDGComputeErrors()`

   Output Parameter:
.  value - [1] the field, or [dim] the gradient

   Level: beginner

   Note:
   The function returns 0 on success. Any other value is an error code, which the caller of the function returns.

.seealso: `DMVPatchDGComputeRHS()`, `DMVPatchDGInterpolate()`, `DMVPatchDGComputeErrors()`, `VPatchDGFlux`
S*/
typedef PetscErrorCode (*VPatchDGFunction)(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx);
/*S
   VPatchDGFlux - A user function for Neumann or Robin data at one point of the boundary: du/dn, or du/dn + alpha u

   Input Parameters:
+  dim    - 2 or 3
.  x      - [dim] the point
.  normal - [dim] the outward unit normal there
-  ctx    - the context that was passed to `DMVPatchDGComputeRHS()` or `DMVPatchDGEstimate()`

   Output Parameter:
.  value - [1] du/dn on a Neumann side, du/dn + alpha u on a Robin side

   Level: beginner

   Note:
   The function returns 0 on success. Any other value is an error code, which the caller of the function returns.

.seealso: `DMVPatchDGComputeRHS()`, `DMVPatchDGSetBoundary()`, `VPatchDGFunction`
S*/
typedef PetscErrorCode (*VPatchDGFlux)(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx);

/*S
   VPatchDGBatch - A user function of many points: a field, its gradient, data on the boundary, a map, or a coefficient

   Input Parameters:
+  dim    - 2 or 3
.  n      - number of points
.  x      - [n][dim] the points
.  normal - [dim] the outward unit normal, the same for all points, in host memory; `NULL` for points inside the domain
-  ctx    - the context that was passed to `DMVPatchDGComputeRHSBatch()`, `DMVPatchDGInterpolateBatch()`,
            `DMVPatchDGComputeErrorsBatch()`, `DMVPatchDGSetMap()` or `DMVPatchDGSetCoefficientFunction()`

   Output Parameter:
.  value - [n] the field or the data on the boundary, or [n][dim] the gradient or the points to which x is mapped, or
           [n][components] a coefficient

   Level: intermediate

   Notes:
   Points are ordered cell by cell, and within a cell with x fastest. The function returns 0 on success. Any other value is an
   error code, which the caller of the function returns.

   All points of a call on the boundary have the same normal. On a curved side (`DMVPatchDGSetMap()`) this may be one point at a time. A
   `VPatchDGSideBatch` gets many there.

   With `PETSC_MEMTYPE_HOST` several threads call the function at the same time, each with its own points. The function must not write to
   anything but value. It must not call any part of PETSc that is not thread-safe, for instance PetscFunctionBegin(). A `VPatchDGFunction`,
   by contrast, is never called by two threads.

   With `PETSC_MEMTYPE_CUDA` x and value are in device memory. The function launches kernels on PETSc's current stream or on the default
   stream, and need not wait for them.

.seealso: `DMVPatchDGComputeRHSBatch()`, `DMVPatchDGInterpolateBatch()`, `DMVPatchDGComputeErrorsBatch()`, `DMVPatchDGSetMap()`,
          `VPatchDGFunction`
S*/
typedef PetscErrorCode (*VPatchDGBatch)(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[],
                                        void *ctx);

/*S
   VPatchDGSideBatch - A user function of many points on the boundary, with a normal for each

   Input Parameters:
+  dim    - 2 or 3
.  n      - number of points
.  x      - [n][dim] the points
.  normal - [n][dim] their outward unit normals, in the memory of the points
-  ctx    - the context that was passed to `DMVPatchDGComputeRHSSideBatch()`

   Output Parameter:
.  value - [n] the data on the boundary

   Level: intermediate

   Note:
   What `VPatchDGBatch` says of threads, memory and errors holds here, too.

.seealso: `DMVPatchDGComputeRHSSideBatch()`, `VPatchDGBatch`, `VPatchDGFlux`
S*/
typedef PetscErrorCode (*VPatchDGSideBatch)(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[],
                                            void *ctx);

/*S
   VPatchDGBoundaryFunction - A user function that chooses the boundary condition on a side of a box

   Input Parameters:
+  dim    - 2 or 3
.  box    - the number of the box, as in `DMVPatchDGGetBoxes()`
.  side   - 0 to 2 dim - 1: x-, x+, y-, y+, z-, z+
.  center - [dim] the midpoint of the side in the domain of boxes, also if `DMVPatchDGSetMap()` maps cells
-  ctx    - the context that was passed to `DMVPatchDGSetBoundaryFunction()`

   Input/Output Parameters:
+  boundary - on input, the condition that `DMVPatchDGSetBoundary()` or `DMVPatchDGSetLabelBoundary()` has set for this side; the function
              may change it to `VPATCHDG_BOUNDARY_DIRICHLET`, `VPATCHDG_BOUNDARY_NEUMANN` or `VPATCHDG_BOUNDARY_ROBIN`
-  alpha    - on input, the number that `DMVPatchDGSetRobin()` has set; the function may change it if the condition is Robin

   Level: intermediate

   Note:
   The function returns 0 on success. Any other value is an error code, which `DMSetUp()` returns.

.seealso: `DMVPatchDGSetBoundaryFunction()`, `DMVPatchDGSetBoundary()`
S*/
typedef PetscErrorCode (*VPatchDGBoundaryFunction)(PetscInt dim, PetscInt box, PetscInt side, const PetscReal center[],
                                                   VPatchDGBoundary *boundary, PetscReal *alpha, void *ctx);

/* DM: setters, which must be called before DMSetUp(), and getters */
PETSC_EXTERN PetscErrorCode DMVPatchDGCreate(MPI_Comm, PetscInt dim, PetscInt degree, PetscInt refine, DM *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetDegree(DM, PetscInt);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetDegree(DM, PetscInt *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetDomain(DM, VPatchDGDomain);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetDomain(DM, VPatchDGDomain *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBoxGrid(DM, const PetscInt n[], const PetscReal lower[], const PetscReal upper[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBoxGrid(DM, PetscInt n[], PetscReal lower[], PetscReal upper[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetGrid(DM, PetscInt direction, PetscInt n, const PetscReal face[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetGrid(DM, PetscInt direction, PetscInt *n, PetscReal face[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBoxes(DM, PetscInt nbox, const PetscReal lower[], const PetscReal upper[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetTrees(DM, PetscInt nvertex, const PetscReal x[], PetscInt ntree, const PetscInt corner[],
                                               PetscInt degree, const PetscReal node[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBoxes(DM, PetscInt *nbox, const PetscReal *lower[], const PetscReal *upper[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBoundary(DM, const VPatchDGBoundary[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBoundary(DM, VPatchDGBoundary[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetRobin(DM, const PetscReal alpha[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetRobin(DM, PetscReal alpha[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetSideLabels(DM, PetscInt nbox, const PetscInt label[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetSideLabels(DM, PetscInt *nbox, const PetscInt *label[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetLabelBoundary(DM, PetscInt label, VPatchDGBoundary, PetscReal alpha);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBoundaryFunction(DM, VPatchDGBoundaryFunction, void *ctx);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetMap(DM, VPatchDGBatch map, void *ctx);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetMapCoordinates(DM, Vec nodes);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetMapDegree(DM, PetscInt);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetMapDegree(DM, PetscInt *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetPenalty(DM, PetscReal);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetPenalty(DM, PetscReal *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetReaction(DM, PetscReal);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetReaction(DM, PetscReal *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBasis(DM, VPatchDGBasis);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBasis(DM, VPatchDGBasis *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetQuadrature(DM, VPatchDGQuadrature);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetQuadrature(DM, VPatchDGQuadrature *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetContinuous(DM, PetscBool);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetContinuous(DM, PetscBool *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetCoefficientFunction(DM, PetscInt components, VPatchDGBatch a, PetscMemType where, void *ctx);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetCoefficientValues(DM, PetscInt components, Vec values);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetReactionValues(DM, Vec values);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetReactionFunction(DM, VPatchDGBatch c, PetscMemType where, void *ctx);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetSerialFunctions(DM, PetscBool);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetBackend(DM, VPatchDGBackend);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBackend(DM, VPatchDGBackend *);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetLocalRefinement(DM, PetscInt levels, const PetscReal point[], const PetscReal sphere[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetLocalRefinement(DM, PetscInt *levels, const PetscReal *point[], const PetscReal *sphere[]);

/* DM: functions that need DMSetUp() */
PETSC_EXTERN PetscErrorCode DMVPatchDGRefineCells(DM, const DMAdaptFlag mark[], DM *refined);
PETSC_EXTERN PetscErrorCode DMVPatchDGTransfer(DM from, DM to, Vec x, Vec y);
PETSC_EXTERN PetscErrorCode DMVPatchDGEstimate(DM, Vec x, VPatchDGFunction f, VPatchDGFunction dirichlet, VPatchDGFlux flux, void *ctx,
                                               PetscReal eta[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGEstimateWithCoefficient(DM, Vec x, VPatchDGFunction a, VPatchDGFunction f, VPatchDGFunction dirichlet,
                                                              VPatchDGFlux flux, void *ctx, PetscReal eta[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGEstimateSurplus(DM, Vec x, PetscReal eta[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGMark(DM, VPatchDGMarking, PetscReal refine, PetscReal coarsen, const PetscReal eta[],
                                           DMAdaptFlag mark[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGViewCells(DM, const char name[], const PetscReal values[], PetscViewer);
PETSC_EXTERN PetscErrorCode DMVPatchDGCreateCellMap(DM, DM mesh, PetscSF *map);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetCells(DM, PetscInt *ncell);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetElementRestriction(DM, PetscInt *ncell, const PetscInt *node[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetCellBounds(DM, PetscInt cell, PetscReal lower[], PetscReal upper[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetPatchColors(DM, PetscInt color[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetMapCoordinates(DM, Vec *nodes);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetCoefficient(DM, const PetscReal a[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetCoefficient(DM, const PetscReal *a[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetTensorCoefficient(DM, const PetscReal a[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetTensorCoefficient(DM, const PetscReal *a[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetRegionCoefficient(DM, DM mesh, PetscInt n, const PetscInt region[], const PetscReal a[]);

/* Problem data and results. Points are the (k+1)^dim Gauss points of every cell, in the order of the cells, x fastest. */
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeRHS(DM, VPatchDGFunction f, VPatchDGFunction dirichlet, VPatchDGFlux neumann, void *ctx,
                                                 Vec b);
PETSC_EXTERN PetscErrorCode DMVPatchDGInterpolate(DM, VPatchDGFunction u, void *ctx, Vec x);
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeErrors(DM, Vec x, VPatchDGFunction u, VPatchDGFunction gradient, void *ctx, PetscReal *l2,
                                                    PetscReal *h1);
/* the same with functions of many points at a time */
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeRHSBatch(DM, VPatchDGBatch f, VPatchDGBatch dirichlet, VPatchDGBatch neumann,
                                                      PetscMemType where, void *ctx, Vec b);
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeRHSSideBatch(DM, VPatchDGBatch f, VPatchDGSideBatch dirichlet, VPatchDGSideBatch neumann,
                                                          PetscMemType where, void *ctx, Vec b);
PETSC_EXTERN PetscErrorCode DMVPatchDGInterpolateBatch(DM, VPatchDGBatch u, PetscMemType where, void *ctx, Vec x);
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeErrorsBatch(DM, Vec x, VPatchDGBatch u, VPatchDGBatch gradient, PetscMemType where, void *ctx,
                                                         PetscReal *l2, PetscReal *h1);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetPoints(DM, Vec *coordinates);
PETSC_EXTERN PetscErrorCode DMVPatchDGCreatePointVector(DM, Vec *v);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetPointValues(DM, Vec x, Vec values);
PETSC_EXTERN PetscErrorCode DMVPatchDGSetPointValues(DM, Vec values, Vec x);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetPointGradients(DM, Vec x, Vec gradients);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBoundaryPoints(DM, VPatchDGBoundary, Vec *coordinates, Vec *normals);
PETSC_EXTERN PetscErrorCode DMVPatchDGCreateBoundaryVector(DM, VPatchDGBoundary, Vec *v);
PETSC_EXTERN PetscErrorCode DMVPatchDGGetBoundaryValues(DM, VPatchDGBoundary, Vec x, Vec values, Vec derivatives);
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeRHSFromPoints(DM, Vec f, Vec dirichlet, Vec neumann, Vec b);
PETSC_EXTERN PetscErrorCode DMVPatchDGComputeDifference(DM, Vec x, Vec values, Vec gradients, PetscReal *l2, PetscReal *h1);
PETSC_EXTERN PetscErrorCode DMVPatchDGEvaluate(DM, Vec x, PetscInt n, const PetscReal points[], PetscScalar values[]);
PETSC_EXTERN PetscErrorCode DMVPatchDGAddPointSources(DM, PetscInt n, const PetscReal points[], const PetscScalar q[], Vec b);
PETSC_EXTERN PetscErrorCode DMVPatchDGIntegrate(DM, Vec x, PetscScalar *integral);
PETSC_EXTERN PetscErrorCode DMVPatchDGIntegrateFlux(DM, Vec u, PetscInt label, PetscScalar *flux);

/* KSP: a convergence test */
PETSC_EXTERN PetscErrorCode VPatchDGConvergedEnergy(KSP, PetscInt it, PetscReal rnorm, KSPConvergedReason *, void *ctx);

/* PCVPATCHDG */
PETSC_EXTERN PetscErrorCode PCVPatchDGSetSpace(PC, VPatchDGSpace);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetSpace(PC, VPatchDGSpace *);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetSmooth(PC, PetscInt pre, PetscInt post);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetSmooth(PC, PetscInt *pre, PetscInt *post);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetSymmetric(PC, PetscBool);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetSymmetric(PC, PetscBool *);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetCycleType(PC, VPatchDGCycleType);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetCycleType(PC, VPatchDGCycleType *);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetLevels(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetLevels(PC, PetscInt *);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetPrecision(PC, VPatchDGPrecision);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetPrecision(PC, VPatchDGPrecision *);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetCoarse(PC, VPatchDGCoarse);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetCoarse(PC, VPatchDGCoarse *);
PETSC_EXTERN PetscErrorCode PCVPatchDGGetCoarseKSP(PC, KSP *);
PETSC_EXTERN PetscErrorCode PCVPatchDGCheckMemory(PC, KSP);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetElementRestriction(PC, DM, PetscInt ncell, const PetscInt node[]);
PETSC_EXTERN PetscErrorCode PCVPatchDGSetElementRestrictionIS(PC, DM, IS nodes);
