/* Domains for tests of meshes, and the same domains as brute-force lattices: grids of boxes, possibly with one box left out. */
#pragma once
#include "tap.h"
#include "../../src/mesh/mesh.h"

typedef struct {
  const char *name;
  int         dim, n[3], hole /* box left out, or -1 */, periodic /* bits */, levels;
} Case;

/* clang-format off */
static const Case cases[] = {
  {"square",          2, {1, 1, 1}, -1, 0, 4},
  {"rectangle",       2, {3, 2, 1}, -1, 0, 3},
  {"lshape",          2, {2, 2, 1}, 3,  0, 4},
  {"ring",            2, {3, 3, 1}, 4,  0, 3},
  {"torus",           2, {1, 1, 1}, -1, 3, 4},
  {"tube",            2, {1, 2, 1}, -1, 1, 3},
  {"tube_with_hole",  2, {3, 3, 1}, 4,  1, 3},
  {"cube",            3, {1, 1, 1}, -1, 0, 3},
  {"bar",             3, {3, 1, 2}, -1, 0, 3},
  {"fichera",         3, {2, 2, 2}, 7,  0, 3},
  {"torus_3d",        3, {1, 1, 1}, -1, 7, 3},
  {"channel",         3, {2, 1, 1}, -1, 5, 3},
};
/* clang-format on */

static PetscReal Knot(int d, int k)
{
  return (d - 1) + k * (1 + 0.2 * k + 0.1 * d);
}

/* Boxes are numbered backwards, z fastest, so that no order agrees by chance. */
static int BoxAt(const Case *c, const int at[3])
{
  const int all = c->n[0] * c->n[1] * c->n[2], forward = at[0] + c->n[0] * (at[1] + c->n[1] * at[2]);
  int       box = (c->n[0] - 1 - at[0]) * c->n[1] * c->n[2] + (c->n[1] - 1 - at[1]) * c->n[2] + (c->n[2] - 1 - at[2]);

  if (forward == c->hole) return -1;
  if (c->hole >= 0) { /* Boxes after the hole have the next larger number. */
    const int h[3] = {c->hole % c->n[0], c->hole / c->n[0] % c->n[1], c->hole / (c->n[0] * c->n[1])};

    if (box > (c->n[0] - 1 - h[0]) * c->n[1] * c->n[2] + (c->n[1] - 1 - h[1]) * c->n[2] + (c->n[2] - 1 - h[2])) box--;
  }
  return box < all ? box : -1;
}

static PetscErrorCode MakeDomain(MPI_Comm comm, const Case *c, VpDomain *domain)
{
  static const VpBoundary boundary[6] = {{VP_SIDE_DIRICHLET, 0}, {VP_SIDE_NEUMANN, 0}, {VP_SIDE_ROBIN, 2},
                                         {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_ROBIN, 0.5}, {VP_SIDE_NEUMANN, 0}};
  PetscReal               lower[3 * 32], upper[3 * 32];
  PetscBool               periodic[3];
  int                     nbox = 0, at[3];

  PetscFunctionBeginUser;
  for (int d = 0; d < 3; d++) periodic[d] = (PetscBool)(c->periodic >> d & 1);
  for (at[2] = 0; at[2] < c->n[2]; at[2]++) {
    for (at[1] = 0; at[1] < c->n[1]; at[1]++) {
      for (at[0] = 0; at[0] < c->n[0]; at[0]++) {
        const int box = BoxAt(c, at);

        if (box < 0) continue;
        nbox++;
        for (int d = 0; d < c->dim; d++) {
          lower[box * c->dim + d] = Knot(d, at[d]);
          upper[box * c->dim + d] = Knot(d, at[d] + 1) * (1 + 1e-15);
        }
      }
    }
  }
  PetscCall(VpDomainCreate(comm, &(VpBoxes){c->dim, nbox, lower, upper, boundary, periodic}, domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* global position of the cell at a point of the lattice, wrapped in periodic directions; -1 if there is none */
static int64_t CellAt(const Case *c, int level, const int lattice[3])
{
  int     at[3] = {0, 0, 0}, x[3] = {0, 0, 0}, box;
  int64_t cell;

  for (int d = 0; d < c->dim; d++) {
    const int width = c->n[d] << level;
    int       i = lattice[d];

    if (c->periodic >> d & 1) i = (i + width) % width;
    if (i < 0 || i >= width) return -1;
    at[d] = i >> level;
    x[d] = i - (at[d] << level);
  }
  box = BoxAt(c, at);
  if (box < 0) return -1;
  cell = (int64_t)box << (c->dim * level);
  for (int bit = 0; bit < level; bit++) {
    for (int d = 0; d < c->dim; d++) cell |= (int64_t)(x[d] >> bit & 1) << (c->dim * bit + d);
  }
  return cell;
}

/* lattice: [ncell][3] lattice points of all cells; next: [ncell][2 dim] their face neighbours */
static PetscErrorCode MakeLattice(const Case *c, VpMesh mesh, int **lattice, int64_t **next)
{
  int p[3], width[3] = {1, 1, 1};

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(3 * mesh->ncell, lattice, 2 * c->dim * mesh->ncell, next));
  for (int d = 0; d < c->dim; d++) width[d] = c->n[d] << mesh->level;
  for (p[2] = 0; p[2] < width[2]; p[2]++) {
    for (p[1] = 0; p[1] < width[1]; p[1]++) {
      for (p[0] = 0; p[0] < width[0]; p[0]++) {
        const int64_t cell = CellAt(c, mesh->level, p);

        if (cell < 0) continue;
        for (int side = 0; side < 2 * c->dim; side++) {
          int q[3] = {p[0], p[1], p[2]};

          q[side / 2] += side % 2 ? 1 : -1;
          (*next)[cell * 2 * c->dim + side] = CellAt(c, mesh->level, q);
        }
        PetscCall(PetscArraycpy(*lattice + 3 * cell, p, 3));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PETSC_UNUSED static int64_t Position(VpMesh mesh, int32_t cell)
{
  int64_t position = mesh->geometry->box[cell];

  for (int bit = mesh->level - 1; bit >= 0; bit--) {
    for (int d = mesh->dim - 1; d >= 0; d--) position = 2 * position + (mesh->geometry->coord[3 * cell + d] >> bit & 1);
  }
  return position;
}

/* Calls check on the meshes of a hierarchy made from the finest down, and on one made from the coarsest up. */
PETSC_UNUSED static PetscErrorCode ForAllLevels(MPI_Comm comm, const Case *c,
                                                PetscErrorCode (*check)(const Case *, VpMesh, const int lattice[], const int64_t next[]))
{
  VpDomain domain;
  VpMesh   mesh[2][8];
  int     *lattice;
  int64_t *next;

  PetscFunctionBeginUser;
  PetscCall(MakeDomain(comm, c, &domain));
  PetscCall(VpMeshCreate(comm, domain, c->levels - 1, &mesh[0][c->levels - 1]));
  PetscCall(VpMeshCreate(comm, domain, 0, &mesh[1][0]));
  PetscCall(VpDomainDestroy(&domain));
  for (int level = c->levels - 1; level > 0; level--)
    PetscCall(VpMeshCoarsen(mesh[0][level], mesh[0][level]->geometry->lattice, VP_COARSEN_FULL, &mesh[0][level - 1]));
  for (int level = 1; level < c->levels; level++) PetscCall(VpMeshRefine(mesh[1][level - 1], &mesh[1][level]));
  for (int up = 0; up < 2; up++) {
    for (int level = 0; level < c->levels; level++) {
      PetscCall(MakeLattice(c, mesh[up][level], &lattice, &next));
      PetscCall(check(c, mesh[up][level], lattice, next));
      PetscCall(PetscFree2(lattice, next));
      PetscCall(VpMeshDestroy(&mesh[up][level]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls check, which counts what is bad, on all cases. bad, names [n]: of what is checked */
PETSC_UNUSED static PetscErrorCode CheckCases(PetscErrorCode (*check)(const Case *, VpMesh, const int lattice[], const int64_t next[]),
                                              int n, const char *const names[], int bad[])
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(PetscArrayzero(bad, n));
    PetscCall(ForAllLevels(PETSC_COMM_WORLD, &cases[i], check));
    for (int k = 0; k < n; k++) TapOk((PetscBool)(bad[k] == 0), "%s: %s", cases[i].name, names[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
