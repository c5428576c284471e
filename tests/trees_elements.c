/* The solution on trees beside that of PETSc's continuous elements of the same degree on the same DMPLEX, made by hand or of a file of
   Gmsh: they differ by what the order says. */
/* ranks: 1 */
#include "support/trees_dm.h"
#include <petscdmplex.h>
#include <petscds.h>
#include <petscfe.h>
#include <petscsnes.h>

static void Gradients(PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uoff[], const PetscInt uoff_x[], const PetscScalar u[],
                      const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aoff[], const PetscInt aoff_x[],
                      const PetscScalar a[], const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, PetscReal shift,
                      const PetscReal x[], PetscInt n, const PetscScalar constants[], PetscScalar g[])
{
  for (PetscInt d = 0; d < dim; d++) g[d * dim + d] = 1;
}

static void Slope(PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uoff[], const PetscInt uoff_x[], const PetscScalar u[],
                  const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aoff[], const PetscInt aoff_x[], const PetscScalar a[],
                  const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[], PetscInt n,
                  const PetscScalar constants[], PetscScalar f[])
{
  for (PetscInt d = 0; d < dim; d++) f[d] = u_x[d];
}

static void Load(PetscInt dim, PetscInt nf, PetscInt na, const PetscInt uoff[], const PetscInt uoff_x[], const PetscScalar u[],
                 const PetscScalar u_t[], const PetscScalar u_x[], const PetscInt aoff[], const PetscInt aoff_x[], const PetscScalar a[],
                 const PetscScalar a_t[], const PetscScalar a_x[], PetscReal t, const PetscReal x[], PetscInt n,
                 const PetscScalar constants[], PetscScalar f[])
{
  (void)Wave(dim, x, f, NULL);
  f[0] *= -13;
}

static PetscErrorCode WaveAt(PetscInt dim, PetscReal t, const PetscReal x[], PetscInt n, PetscScalar *u, void *ctx)
{
  return Wave(dim, x, u, ctx);
}

/* values [n] of PETSc's own solution at points */
static PetscErrorCode SolveByElements(DM plex, PetscInt degree, PetscInt n, PetscReal points[], PetscScalar values[])
{
  const PetscInt      one = 1;
  char                options[64];
  PetscOptions        own;
  PetscFE             fe;
  PetscDS             ds;
  DMLabel             label;
  SNES                snes;
  KSP                 ksp;
  PC                  pc;
  Vec                 u, local, v;
  DMInterpolationInfo at;
  const PetscScalar  *found;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-petscspace_degree %d", (int)degree));
  PetscCall(TestOptionsPush(options, &own));
  PetscCall(PetscFECreateDefault(PETSC_COMM_SELF, 2, 1, PETSC_FALSE, NULL, -1, &fe));
  PetscCall(TestOptionsPop(&own));
  PetscCall(DMAddField(plex, NULL, (PetscObject)fe));
  PetscCall(PetscFEDestroy(&fe));
  PetscCall(DMCreateDS(plex));
  PetscCall(DMGetDS(plex, &ds));
  PetscCall(PetscDSSetResidual(ds, 0, Load, Slope));
  PetscCall(PetscDSSetJacobian(ds, 0, 0, NULL, NULL, NULL, Gradients));
  PetscCall(DMCreateLabel(plex, "edge"));
  PetscCall(DMGetLabel(plex, "edge", &label));
  PetscCall(DMPlexMarkBoundaryFaces(plex, 1, label));
  PetscCall(DMPlexLabelComplete(plex, label));
  PetscCall(DMAddBoundary(plex, DM_BC_ESSENTIAL, "edge", label, 1, &one, 0, 0, NULL, (void (*)(void))WaveAt, NULL, NULL, NULL));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, plex));
#if PETSC_VERSION_LT(3, 21, 0)
  PetscCall(DMPlexSetSNESLocalFEM(plex, NULL, NULL, NULL));
#else
  PetscCall(DMPlexSetSNESLocalFEM(plex, PETSC_FALSE, NULL));
#endif
  PetscCall(SNESSetType(snes, SNESKSPONLY));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCREDUNDANT)); /* LU, also where PETSc has none for several ranks */
  PetscCall(DMCreateGlobalVector(plex, &u));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(DMGetLocalVector(plex, &local));
  PetscCall(DMPlexInsertBoundaryValues(plex, PETSC_TRUE, local, 0, NULL, NULL, NULL));
  PetscCall(DMGlobalToLocal(plex, u, INSERT_VALUES, local));
  PetscCall(DMInterpolationCreate(PETSC_COMM_WORLD, &at));
  PetscCall(DMInterpolationSetDim(at, 2));
  PetscCall(DMInterpolationSetDof(at, 1));
  PetscCall(DMInterpolationAddPoints(at, n, points));
  PetscCall(DMInterpolationSetUp(at, plex, PETSC_FALSE, PETSC_FALSE));
  PetscCall(DMInterpolationGetVector(at, &v));
  PetscCall(DMInterpolationEvaluate(at, plex, local, v));
  PetscCall(VecGetArrayRead(v, &found));
  for (PetscInt i = 0; i < n; i++) values[i] = found[i];
  PetscCall(VecRestoreArrayRead(v, &found));
  PetscCall(DMInterpolationRestoreVector(at, &v));
  PetscCall(DMInterpolationDestroy(&at));
  PetscCall(DMRestoreLocalVector(plex, &local));
  PetscCall(VecDestroy(&u));
  PetscCall(SNESDestroy(&snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *plex = the kites of a regular pentagon, turned at random */
static PetscErrorCode Pentagon(DM *plex)
{
  static const int plex_corner[4] = {0, 1, 3, 2};
  PetscInt         cell[MOST_TREES * 4];
  PetscReal        x[MOST_TREES * 2];
  Trees            t;

  PetscFunctionBeginUser;
  TreesStar(5, &t);
  TreesTurn(3, &t);
  for (int i = 0; i < t.ntree; i++) { /* PETSc's elements take right-handed cells only. */
    int32_t      *c = t.corner + 4 * i, swap = c[1];
    const double *o = t.x[c[0]], *u = t.x[c[1]], *v = t.x[c[2]];

    if ((u[0] - o[0]) * (v[1] - o[1]) > (u[1] - o[1]) * (v[0] - o[0])) continue;
    c[1] = c[2];
    c[2] = swap;
  }
  for (int i = 0; i < 4 * t.ntree; i++) cell[i] = t.corner[i / 4 * 4 + plex_corner[i % 4]];
  for (int i = 0; i < 2 * t.nvertex; i++) x[i] = t.x[i / 2][i % 2];
  PetscCall(DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, 2, t.ntree, t.nvertex, 4, PETSC_TRUE, cell, 2, x, plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *plex = the cells of Gmsh's plate with a hole, with straight sides */
static PetscErrorCode Plate(DM *plex)
{
  PetscOptions own;

  PetscFunctionBeginUser;
  PetscCall(TestOptionsPush("-dm_plex_gmsh_highorder 0", &own));
  PetscCall(DMPlexCreateFromFile(PETSC_COMM_WORLD, "share/vpatchdg/meshes/plate.msh", "plate", PETSC_TRUE, plex));
  PetscCall(TestOptionsPop(&own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a mesh, and the radii between which solutions are compared */
typedef struct {
  PetscErrorCode (*make)(DM *plex);
  const char *name;
  double      radius[2];
  int         refine; /* of the coarser mesh */
} Mesh;

enum { POINTS = 40 };

/* values [POINTS] of the solution on the same DMPLEX */
static PetscErrorCode SolveOnTrees(DM plex, PetscInt degree, const PetscReal points[], PetscScalar values[])
{
  PetscInt its;
  DM       dm;
  Problem  p;

  PetscFunctionBeginUser;
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMVPatchDGSetDegree(dm, degree));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(DMVPatchDGComputeRHS(dm, WaveSource, Wave, NULL, NULL, p.b));
  PetscCall(SolveWith(&p, "-ksp_type cg -ksp_rtol 1e-12 -ksp_max_it 5000 -pc_type jacobi", NULL, &its, NULL));
  PetscCall(DMVPatchDGEvaluate(dm, p.x, POINTS, points, values));
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the norm of what both solutions, then ours and the exact one, differ by at points */
static PetscErrorCode Compare(const Mesh *mesh, PetscInt degree, int refine, PetscReal apart[2])
{
  PetscReal   points[2 * POINTS];
  PetscScalar ours[POINTS], theirs[POINTS], exact;
  DM          plex, next;

  PetscFunctionBeginUser;
  for (int i = 0; i < POINTS; i++) {
    const PetscReal r = mesh->radius[0] + (mesh->radius[1] - mesh->radius[0]) * PetscSqrtReal((i + 0.5) / POINTS), angle = 2.39996 * i;

    points[2 * i] = r * PetscCosReal(angle);
    points[2 * i + 1] = r * PetscSinReal(angle);
  }
  PetscCall(mesh->make(&plex));
  for (int i = 0; i < refine; i++) {
    PetscCall(DMPlexSetRefinementUniform(plex, PETSC_TRUE));
    PetscCall(DMRefine(plex, PETSC_COMM_WORLD, &next));
    PetscCall(DMDestroy(&plex));
    plex = next;
  }
  PetscCall(SolveOnTrees(plex, degree, points, ours));
  PetscCall(SolveByElements(plex, degree, POINTS, points, theirs));
  apart[0] = apart[1] = 0;
  for (int i = 0; i < POINTS; i++) {
    PetscCall(Wave(2, points + 2 * i, &exact, NULL));
    apart[0] = hypot(apart[0], PetscAbsScalar(ours[i] - theirs[i]));
    apart[1] = hypot(apart[1], PetscAbsScalar(ours[i] - exact));
  }
  PetscCall(DMDestroy(&plex));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Mesh meshes[2] = {{Pentagon, "pentagon", {0, 0.7}, 2}, {Plate, "plate of Gmsh", {0.3, 0.48}, 0}};

  PetscFunctionBeginUser;
  for (int i = 0; i < 6; i++) {
    const Mesh    *mesh = &meshes[i / 3];
    const PetscInt degree = i % 3 + 1;
    PetscReal      coarse[2], fine[2];

    PetscCall(Compare(mesh, degree, mesh->refine, coarse));
    PetscCall(Compare(mesh, degree, mesh->refine + 1, fine));
    TapOk((PetscBool)(PetscLog2Real(coarse[0] / fine[0]) > (PetscReal)degree + 0.5),
          "differs_from_continuous_elements_by_the_order: %s, Q%d, %.1e, order %.2f; exact solution %.1e, order %.2f", mesh->name,
          (int)degree, (double)fine[0], (double)PetscLog2Real(coarse[0] / fine[0]), (double)fine[1],
          (double)PetscLog2Real(coarse[1] / fine[1]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
