/* Vertex patches, against the brute-force lattice.
   ranks: 1 2 3 5 */
#include "support/mesh_cases.h"

/* what is checked, on all meshes of a case together */
enum {
  COLORS_SHARE_NO_CELL,
  COVER_MATCHES_PATCHES,
  PATCHES_COUNT_INTERIOR_VERTICES,
  PATCHES_SURROUND_THEIR_VERTEX,
  SIDES_MATCH_NEIGHBORS,
  PATCHES_ARE_SORTED,
  PATCHES_AT_CORNERS_ARE_FOUND,
  NCHECK
};
static const char *names[NCHECK] = {"colors_share_no_cell",          "cover_matches_patches", "patches_count_interior_vertices",
                                    "patches_surround_their_vertex", "sides_match_neighbors", "patches_are_sorted",
                                    "patches_at_corners_are_found"};
static int         bad[NCHECK];

/* the vertices all of whose cells exist; those whose cells are all among the given ones */
static int CountVertices(const Case *c, VpMesh mesh, const char swept[])
{
  const int level = mesh->level;
  int       p[3], n = 0;

  for (p[2] = 0; p[2] < (c->dim > 2 ? c->n[2] << level : 1); p[2]++) {
    for (p[1] = 0; p[1] < c->n[1] << level; p[1]++) {
      for (p[0] = 0; p[0] < c->n[0] << level; p[0]++) {
        PetscBool all = mesh->geometry->lattice->alternates;

        for (int i = 0; i < 1 << c->dim; i++) {
          const int     q[3] = {p[0] + (i & 1), p[1] + (i >> 1 & 1), p[2] + (i >> 2)};
          const int64_t cell = CellAt(c, level, q);

          if (cell < 0 || (swept && !swept[cell])) all = PETSC_FALSE;
        }
        n += all;
      }
    }
  }
  return n;
}

static void CheckPatch(const Case *c, VpMesh mesh, const VpPatches *patches, int32_t j, int color, const int lattice[], PetscBool *ghost)
{
  const int      ncell = 1 << c->dim, nface = ncell / 2;
  const int32_t *cell = patches->cell + ncell * j;
  const int     *p = lattice + 3 * Position(mesh, cell[0]);
  int            mixed = 0;

  for (int i = 0; i < ncell; i++) {
    const int q[3] = {p[0] + (i & 1), p[1] + (i >> 1 & 1), p[2] + (i >> 2)};

    bad[PATCHES_SURROUND_THEIR_VERTEX] += cell[i] < 0 || cell[i] >= mesh->nsweep || Position(mesh, cell[i]) != CellAt(c, mesh->level, q);
    if (cell[i] >= mesh->nown) *ghost = PETSC_TRUE;
  }
  for (int d = 0; d < c->dim; d++) {
    const int seams = VpMeshSeams(mesh) >> d & 1, odd = (p[d] + 1) & 1;
    const int digit = seams && p[d] + 1 == c->n[d] << mesh->level ? 0 : odd + seams;

    bad[PATCHES_SURROUND_THEIR_VERTEX] += color / patches->place[d] % patches->digits[d] != digit;
  }
  for (int side = 0; side < 2 * c->dim; side++) {
    int count[VP_SIDE_NONE] = {0}, expected;

    for (int i = 0; i < ncell; i++) {
      const int32_t n = mesh->neighbor[2 * c->dim * cell[i] + side];

      if ((i >> side / 2 & 1) != side % 2) continue;
      count[VpDomainSide(mesh->geometry->domain, n)]++;
      if (n >= mesh->nown) *ghost = PETSC_TRUE;
    }
    expected = count[VP_SIDE_INTERIOR] == nface ? VP_SIDE_INTERIOR
                                                : (count[VP_SIDE_INTERIOR] ? VP_SIDE_MIXED
                                                                           : (count[VP_SIDE_DIRICHLET] ? VP_SIDE_DIRICHLET
                                                                              : count[VP_SIDE_ROBIN]   ? VP_SIDE_ROBIN
                                                                                                       : VP_SIDE_NEUMANN));
    if ((c->periodic >> side / 2 & 1) && c->n[side / 2] << mesh->level == 2) expected = VP_SIDE_WRAP;
    if (expected == VP_SIDE_MIXED || expected == VP_SIDE_WRAP) mixed = 1;
    bad[SIDES_MATCH_NEIGHBORS] += patches->side[2 * c->dim * j + side] != expected;
  }
  bad[SIDES_MATCH_NEIGHBORS] += patches->mixed[j] != mixed;
}

/* does the cell at p touch an edge around which one of four cells is missing? */
static PetscBool IsReentrant(const Case *c, int level, const int p[])
{
  for (int ends = 0; ends < 1 << c->dim; ends++) {
    for (int d = 1; d < c->dim; d++) {
      for (int e = 0; e < d; e++) {
        int cells = 0;

        for (int i = 0; i < 4; i++) {
          int q[3] = {p[0], p[1], p[2]};

          if (i & 1) q[d] += ends >> d & 1 ? 1 : -1;
          if (i & 2) q[e] += ends >> e & 1 ? 1 : -1;
          cells += CellAt(c, level, q) >= 0;
        }
        if (cells == 3) return PETSC_TRUE;
      }
    }
  }
  return PETSC_FALSE;
}

static void Cover(uint32_t cover[], const int32_t cell[], int ncell, int color)
{
  for (int i = 0; i < ncell; i++) {
    bad[COLORS_SHARE_NO_CELL] += cover[cell[i]] >> color & 1;
    cover[cell[i]] |= 1u << color;
  }
}

/* how many cells the patches' covers say otherwise of */
static int CountUnlike(VpMesh mesh, const VpPatches *patches, const uint32_t cover[])
{
  int n = 0;

  for (int32_t i = 0; i < mesh->nlocal; i++) {
    uint32_t all = 0;

    for (int k = 0; k * VP_COVER_COLORS < patches->ncolor; k++)
      all |= (uint32_t)patches->cover[k * mesh->nlocal + i] << VP_COVER_COLORS * k;
    n += all != cover[i];
  }
  return n;
}

/* the patches near corners are those with such a cell, in their order */
static PetscErrorCode CheckCorners(const Case *c, VpMesh mesh, const VpPatches *patches, const int lattice[])
{
  const int ncell = 1 << c->dim;
  VpPatches corners;
  int32_t   at = 0;
  uint32_t *cover;

  PetscFunctionBeginUser;
  PetscCall(VpPatchesSelect(mesh, VP_NEAR_CORNERS, patches, &corners));
  PetscCall(PetscCalloc1(mesh->nlocal, &cover));
  for (int color = 0; color < patches->ncolor; color++) {
    bad[PATCHES_AT_CORNERS_ARE_FOUND] += corners.n && corners.start[color] != at;
    for (int32_t j = patches->start[color]; j < patches->start[color + 1]; j++) {
      PetscBool near = PETSC_FALSE;

      bad[PATCHES_AT_CORNERS_ARE_FOUND] += corners.n && j == patches->inner[color] && corners.inner[color] != at;
      for (int i = 0; i < ncell; i++)
        near = (PetscBool)(near || IsReentrant(c, mesh->level, lattice + 3 * Position(mesh, patches->cell[ncell * j + i])));
      if (!near) continue;
      bad[PATCHES_AT_CORNERS_ARE_FOUND] += at >= corners.n || corners.whole[at] != j;
      for (int i = 0; i < ncell; i++)
        bad[PATCHES_AT_CORNERS_ARE_FOUND] += at >= corners.n || corners.cell[ncell * at + i] != patches->cell[ncell * j + i];
      Cover(cover, patches->cell + ncell * j, ncell, color);
      at++;
    }
  }
  bad[PATCHES_AT_CORNERS_ARE_FOUND] += at != corners.n;
  if (corners.n) bad[PATCHES_AT_CORNERS_ARE_FOUND] += CountUnlike(mesh, &corners, cover);
  PetscCall(PetscFree(cover));
  PetscCall(VpPatchesDestroy(&corners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two squares side by side, Dirichlet all around but below the second one: where the conditions meet there, at 180 degrees, there are three
   patches at 8 x 4 cells; at the right angle in its lower right corner there is nothing. */
static PetscErrorCode ConditionsMeet(void)
{
  const VpBoundary boundary[4] = {{VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_DIRICHLET, 0}, {VP_SIDE_NEUMANN, 0}};
  VpDomain         domain;
  VpMesh           mesh;
  VpPatches        patches, corners;
  int              count[2] = {0, 0};
  const int32_t    dirichlet = -1, neumann = -1 - 3;

  PetscFunctionBeginUser;
  PetscCall(
    VpDomainCreate(PETSC_COMM_WORLD, &(VpBoxes){2, 2, (PetscReal[]){0, 0, 1, 0}, (PetscReal[]){1, 1, 2, 1}, boundary, NULL}, &domain));
  domain->beyond[3] = domain->beyond[7] = dirichlet;
  domain->beyond[6] = neumann;
  PetscCall(VpMeshCreate(PETSC_COMM_WORLD, domain, 2, &mesh));
  PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
  PetscCall(VpPatchesSelect(mesh, VP_NEAR_CORNERS, &patches, &corners));
  for (int32_t p = 0; p < corners.n; p++) {
    const int32_t *cell = corners.cell + 4 * p;
    PetscBool      at = PETSC_FALSE;

    for (int i = 0; i < 4; i++)
      at = (PetscBool)(at || (mesh->geometry->coord[3 * cell[i] + 1] == 0 &&
                              mesh->geometry->coord[3 * cell[i]] == 3 * !mesh->geometry->box[cell[i]]));
    count[!at] += cell[0] < mesh->nown;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 2, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(count[0] == 3 && count[1] == 0), "patches_where_conditions_meet_are_found: %d, and %d elsewhere", count[0], count[1]);
  PetscCall(VpPatchesDestroy(&corners));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *first: how many of all patches have an own first cell */
static PetscErrorCode CheckPatches(const Case *c, VpMesh mesh, const int lattice[], int *first, int *n)
{
  const int ncell = 1 << c->dim;
  VpPatches patches;
  uint32_t *cover;

  PetscFunctionBeginUser;
  PetscCall(VpPatchesCreate(mesh, mesh->geometry->lattice->thinnest, &patches));
  PetscCall(PetscCalloc1(mesh->nlocal, &cover));
  bad[PATCHES_ARE_SORTED] += patches.start[0] != 0 || patches.start[patches.ncolor] != patches.n;
  *n = patches.n;
  for (int color = 0; color < patches.ncolor; color++) {
    int previous = 0, order;

    for (int32_t j = patches.start[color]; j < patches.start[color + 1]; j++) {
      PetscBool ghost = PETSC_FALSE;

      *first += patches.cell[ncell * j] < mesh->nown;
      Cover(cover, patches.cell + ncell * j, ncell, color);
      CheckPatch(c, mesh, &patches, j, color, lattice, &ghost);
      order = (ghost ? 2 : 0) + patches.mixed[j];
      bad[PATCHES_ARE_SORTED] += previous > order;
      previous = order;
    }
  }
  bad[COVER_MATCHES_PATCHES] += CountUnlike(mesh, &patches, cover);
  PetscCall(CheckCorners(c, mesh, &patches, lattice));
  PetscCall(PetscFree(cover));
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Case *c, VpMesh mesh, const int lattice[], const int64_t next[])
{
  char *swept;
  int   first = 0, n = 0, total;

  PetscFunctionBeginUser;
  PetscCall(CheckPatches(c, mesh, lattice, &first, &n));
  PetscCall(PetscCalloc1(mesh->ncell, &swept));
  for (int32_t i = 0; i < mesh->nsweep; i++) swept[Position(mesh, i)] = 1;
  PetscCallMPI(MPI_Allreduce(&first, &total, 1, MPI_INT, MPI_SUM, mesh->comm));
  bad[PATCHES_COUNT_INTERIOR_VERTICES] += total != CountVertices(c, mesh, NULL) || n != CountVertices(c, mesh, swept);
  PetscCall(PetscFree(swept));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(CheckCases(Check, NCHECK, names, bad));
  PetscCall(ConditionsMeet());
  PetscFunctionReturn(PETSC_SUCCESS);
}
