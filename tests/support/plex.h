/* Meshes as DMPLEX: of boxes, and of turned cells. */
#pragma once
#include "../../src/compat.h"
#include <petscdmplex.h>

/* n [dim] cells in each direction of (0, 2) x (-1, 1) [x (0, 1)], on all ranks */
static inline PetscErrorCode Plex(PetscInt dim, const PetscInt n[], DM *plex)
{
  const PetscReal lower[3] = {0, -1, 0}, upper[3] = {2, 1, 1};
  DM              distributed = NULL;

  PetscFunctionBeginUser;
#if PETSC_VERSION_LT(3, 22, 0)
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, plex));
#else
  PetscCall(DMPlexCreateBoxMesh(PETSC_COMM_WORLD, dim, PETSC_FALSE, n, lower, upper, NULL, PETSC_TRUE, 0, PETSC_TRUE, plex));
#endif
  PetscCall(DMPlexDistribute(*plex, 1, NULL, &distributed));
  if (distributed) {
    PetscCall(DMDestroy(plex));
    *plex = distributed;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* where the lattice's point x, in [0,1]^dim, is */
typedef void (*Place)(PetscInt dim, const PetscReal x[], PetscReal X[]);

/* A mesh of n [dim] cells whose directions are turned and mirrored in another way for every cell. around: y is a circle */
PETSC_UNUSED static PetscErrorCode Turned(PetscInt dim, const PetscInt n[3], PetscBool around, Place place, DM *plex)
{
  static const int corner[4][8] = {{0}, {0}, {0, 1, 3, 2}, {0, 2, 3, 1, 4, 5, 7, 6}};
  const PetscInt   points[3] = {n[0] + 1, around ? n[1] : n[1] + 1, dim == 3 ? n[2] + 1 : 1};
  const PetscInt   all = n[0] * n[1] * (dim == 3 ? n[2] : 1), vertices = points[0] * points[1] * points[2];
  PetscInt        *cells;
  PetscReal       *x;
  PetscMPIInt      rank;
  DM               whole, distributed = NULL;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc2(all << dim, &cells, vertices * dim, &x));
  for (PetscInt i = 0; i < all << dim; i++) {
    const PetscInt c = i >> dim, first[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
    const int      turn = (int)(c % 4), own = corner[dim][i & ((1 << dim) - 1)];
    /* turn 0: as it is, 1: x and y turned by 90 degrees, 2: by 180, 3: by 270 */
    const int x0 = own & 1, y0 = own >> 1 & 1,
              X = turn == 0   ? x0
                  : turn == 1 ? 1 - y0
                  : turn == 2 ? 1 - x0
                              : y0,
              Y = turn == 0   ? y0
                  : turn == 1 ? x0
                  : turn == 2 ? 1 - y0
                              : 1 - x0;

    cells[i] = ((first[2] + (own >> 2)) * points[1] + (first[1] + Y) % points[1]) * points[0] + first[0] + X;
  }
  for (PetscInt v = 0; v < vertices; v++) {
    const PetscReal in[3] = {(PetscReal)(v % points[0]) / (PetscReal)n[0], (PetscReal)(v / points[0] % points[1]) / (PetscReal)n[1],
                             dim == 3 ? (PetscReal)(v / points[0] / points[1]) / (PetscReal)n[2] : 0};

    place(dim, in, x + v * dim);
  }
  PetscCall(
    DMPlexCreateFromCellListPetsc(PETSC_COMM_WORLD, dim, rank ? 0 : all, rank ? 0 : vertices, 1 << dim, PETSC_TRUE, cells, dim, x, &whole));
  PetscCall(DMPlexDistribute(whole, 0, NULL, &distributed));
  *plex = distributed ? distributed : whole;
  if (distributed) PetscCall(DMDestroy(&whole));
  PetscCall(PetscFree2(cells, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}
