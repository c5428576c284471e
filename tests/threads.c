/* Set-up in several threads gives the same arrays as in one.
   ranks: 1 2 */
#include "support/multigrid.h"
#include "../src/base/threads.h"
#include "../src/smoother/patchproblems.h"

/* clang-format off */
static const Setting large[] = {
  {"cube",       3, 1, 5, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE,          0},
  {"layers",     3, 2, 4, {3, 2, 1}, PETSC_TRUE,  VP_SIDE_NEUMANN,   COEFFICIENT_LAYERS,       1},
  {"torus",      3, 1, 4, {2, 1, 2}, PETSC_FALSE, 0,            COEFFICIENT_CHECKERBOARD, 1},
  {"lshape",     2, 3, 7, {2, 2, 1}, PETSC_TRUE,  VP_SIDE_DIRICHLET, COEFFICIENT_ONE,          0},
  {"many_boxes", 2, 1, 4, {8, 8, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_SEPARABLE,    0},
};
/* clang-format on */

enum {
  BOXES,
  COORDINATES,
  ZONES,
  NEIGHBORS,
  SIDES,
  PARENTS,
  CHILDREN,
  PATCHES,
  PATCH_SIDES,
  MIXED,
  COVER,
  LINES,
  CORNERS,
  FLOPS,
  PROBLEMS,
  WEIGHTS,
  MEANS,
  CONTRASTS,
  NARRAY
};
static const char *names[NARRAY] = {"boxes", "coordinates", "zones", "neighbors", "sides", "parents",  "children", "patches", "patch_sides",
                                    "mixed", "cover",       "lines", "corners",   "flops", "problems", "weights",  "means",   "contrasts"};

/* a number that nearly always differs where an array does */
static uint64_t Digest(const void *array, size_t bytes)
{
  uint64_t h = bytes;

  for (size_t i = 0; i < bytes; i++) h = (h ^ ((const uint8_t *)array)[i]) * 0x100000001B3u;
  return h;
}
#define DIGEST(array, n) Digest(array, (n) * sizeof(*(array)))

static PetscErrorCode DigestMesh(VpMesh mesh, uint64_t digest[])
{
  PetscFunctionBeginUser;
  PetscCall(VpMeshSetSides(mesh));
  digest[BOXES] = DIGEST(mesh->geometry->box, mesh->nlocal);
  digest[COORDINATES] = DIGEST(mesh->geometry->coord, 3 * mesh->nlocal);
  digest[ZONES] = DIGEST(mesh->geometry->zone, mesh->nlocal);
  digest[NEIGHBORS] = DIGEST(mesh->neighbor, 2 * mesh->dim * mesh->nsweep);
  digest[SIDES] = DIGEST(mesh->shared->beyond, mesh->shared->beyond ? 2 * mesh->dim * mesh->nown : 0);
  digest[PARENTS] = DIGEST(mesh->relation->parent, mesh->nhalo);
  digest[CHILDREN] = DIGEST(mesh->relation->child, VpMeshCoarser(mesh)->nown << mesh->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a coefficient that differs from cell to cell */
static PetscErrorCode DigestMeans(VpMesh mesh, uint64_t digest[])
{
  const int32_t ncoarse = VpMeshCoarser(mesh)->nown;
  PetscReal    *a, *mean, *contrast;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(mesh->nown, &a, ncoarse, &mean, ncoarse, &contrast));
  for (int32_t c = 0; c < mesh->nown; c++) a[c] = 1 + c % 7;
  PetscCall(VpCoarsenCoefficient(mesh, &(VpMeans){.from = 1, .to = 1}, a, mean, contrast));
  digest[MEANS] = DIGEST(mean, ncoarse);
  digest[CONTRASTS] = DIGEST(contrast, ncoarse);
  PetscCall(PetscFree3(a, mean, contrast));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DigestPatches(VpLevel level, uint64_t digest[])
{
  const VpMesh    mesh = level->mesh;
  VpPatches       patches;
  VpPatchProblems problems;
  VpArrays        arrays = {.backend = &VpBackendHost, .precision = VP_DOUBLE};
  VpPatchView     view;

  PetscFunctionBeginUser;
  PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
  digest[PATCHES] = DIGEST(patches.cell, patches.n << mesh->dim);
  digest[PATCH_SIDES] = DIGEST(patches.side, 2 * mesh->dim * patches.n);
  digest[MIXED] = DIGEST(patches.mixed, patches.n);
  digest[COVER] = DIGEST(patches.cover, mesh->nlocal);
  PetscCall(VpPatchProblemsCreate(level, &patches, VP_SPACE_FULL, &problems));
  PetscCall(VpPlacePatches(&problems, &arrays, &view));
  digest[PROBLEMS] = DIGEST(view.type, mesh->dim * patches.n);
  digest[WEIGHTS] = DIGEST((const double *)view.factor, view.factor ? patches.n * (mesh->dim + 1) : 0);
  PetscCall(VpArraysRelease(&arrays));
  PetscCall(VpPatchProblemsDestroy(&problems));
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Make(const Setting *s, int threads, int32_t *pieces, uint64_t digest[])
{
  VpMesh         mesh, coarse;
  VpProblem      problem;
  VpLevel        level;
  PetscLogDouble flops;

  PetscFunctionBeginUser;
  VpThreads = threads;
  PetscCall(MakeMesh(PETSC_COMM_WORLD, s, &mesh));
  PetscCall(MakeProblem(s, mesh, &problem));
  PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_FULL, &coarse));
  PetscCall(VpLevelCreate(mesh, &problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &level));
  PetscCall(VpLevelSetTransfer(level));
  *pieces = VpLoopPieces(mesh->nown);
  PetscCall(DigestMesh(mesh, digest));
  PetscCall(DigestMeans(mesh, digest));
  PetscCall(DigestPatches(level, digest));
  digest[LINES] = DIGEST(level->view.line, mesh->dim * level->view.nsweep);
  digest[CORNERS] = DIGEST(level->transfer.corner, mesh->nhalo);
  flops = VpLevelApplyFlops(level);
  digest[FLOPS] = DIGEST(&flops, 1);
  PetscCall(VpLevelDestroy(&level));
  PetscCall(VpMeshDestroy(&coarse));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(FreeProblem(&problem));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(large); i++) {
    uint64_t one[NARRAY], three[NARRAY];
    int32_t  pieces;

    PetscCall(Make(&large[i], 1, &pieces, one));
    TapOk((PetscBool)(pieces == 1), "%s/one_thread_has_one_piece", large[i].name);
    PetscCall(Make(&large[i], 3, &pieces, three));
    TapOk((PetscBool)(pieces > 1), "%s/threads_have_pieces", large[i].name);
    for (int k = 0; k < NARRAY; k++) TapOk((PetscBool)(one[k] == three[k]), "%s/%s_are_the_same", large[i].name, names[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
