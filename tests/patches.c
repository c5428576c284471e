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
  NCHECK
};
static const char *names[NCHECK] = {"colors_share_no_cell",          "cover_matches_patches", "patches_count_interior_vertices",
                                    "patches_surround_their_vertex", "sides_match_neighbors", "patches_are_sorted"};
static int         bad[NCHECK];

/* the vertices all of whose cells exist; those whose cells are all among the given ones */
static int CountVertices(const Case *c, int level, const char swept[])
{
  int p[3], n = 0;

  for (p[2] = 0; p[2] < (c->dim > 2 ? c->n[2] << level : 1); p[2]++) {
    for (p[1] = 0; p[1] < c->n[1] << level; p[1]++) {
      for (p[0] = 0; p[0] < c->n[0] << level; p[0]++) {
        PetscBool all = (PetscBool)(level > 0);

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
  for (int d = 0; d < c->dim; d++) bad[PATCHES_SURROUND_THEIR_VERTEX] += ((p[d] + 1) & 1) != (color >> d & 1);
  for (int side = 0; side < 2 * c->dim; side++) {
    int count[VP_SIDE_NONE] = {0}, expected;

    for (int i = 0; i < ncell; i++) {
      const int32_t n = mesh->neighbor[2 * c->dim * cell[i] + side];

      if ((i >> side / 2 & 1) != side % 2) continue;
      count[VpDomainSide(mesh->domain, n)]++;
      if (n >= mesh->nown) *ghost = PETSC_TRUE;
    }
    expected = count[VP_SIDE_INTERIOR] == nface
                 ? VP_SIDE_INTERIOR
                 : (count[VP_SIDE_INTERIOR] ? VP_SIDE_MIXED : (count[VP_SIDE_DIRICHLET] ? VP_SIDE_DIRICHLET : VP_SIDE_NEUMANN));
    if ((c->periodic >> side / 2 & 1) && c->n[side / 2] << mesh->level == 2) expected = VP_SIDE_WRAP;
    if (expected == VP_SIDE_MIXED || expected == VP_SIDE_WRAP) mixed = 1;
    bad[SIDES_MATCH_NEIGHBORS] += patches->side[2 * c->dim * j + side] != expected;
  }
  bad[SIDES_MATCH_NEIGHBORS] += patches->mixed[j] != mixed;
}

static PetscErrorCode Check(const Case *c, VpMesh mesh, const int lattice[], const int64_t next[])
{
  const int ncell = 1 << c->dim, ncolor = ncell;
  VpPatches patches;
  char     *swept;
  uint8_t  *cover;
  int       first = 0, total;

  PetscFunctionBeginUser;
  PetscCall(VpPatchesCreate(mesh, &patches));
  PetscCall(PetscCalloc2(mesh->ncell, &swept, mesh->nlocal, &cover));
  bad[PATCHES_ARE_SORTED] += patches.start[0] != 0 || patches.start[ncolor] != patches.n;
  for (int color = 0; color < ncolor; color++) {
    int previous = 0, order;

    for (int32_t j = patches.start[color]; j < patches.start[color + 1]; j++) {
      PetscBool ghost = PETSC_FALSE;

      first += patches.cell[ncell * j] < mesh->nown;
      for (int i = 0; i < ncell; i++) {
        uint8_t *seen = &cover[patches.cell[ncell * j + i]];

        bad[COLORS_SHARE_NO_CELL] += *seen >> color & 1;
        *seen |= (uint8_t)(1 << color);
      }
      CheckPatch(c, mesh, &patches, j, color, lattice, &ghost);
      order = (ghost ? 2 : 0) + patches.mixed[j];
      bad[PATCHES_ARE_SORTED] += previous > order;
      previous = order;
    }
  }
  for (int32_t i = 0; i < mesh->nlocal; i++) bad[COVER_MATCHES_PATCHES] += cover[i] != patches.cover[i];
  for (int32_t i = 0; i < mesh->nsweep; i++) swept[Position(mesh, i)] = 1;
  PetscCallMPI(MPI_Allreduce(&first, &total, 1, MPI_INT, MPI_SUM, mesh->comm));
  bad[PATCHES_COUNT_INTERIOR_VERTICES] += total != CountVertices(c, mesh->level, NULL) || patches.n != CountVertices(c, mesh->level, swept);
  PetscCall(PetscFree2(swept, cover));
  PetscCall(VpPatchesDestroy(&patches));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  int status;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  TapBegin(PETSC_COMM_WORLD);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    PetscCall(PetscArrayzero(bad, NCHECK));
    PetscCall(ForAllLevels(PETSC_COMM_WORLD, &cases[i], Check));
    for (int k = 0; k < NCHECK; k++) TapOk((PetscBool)(bad[k] == 0), "%s: %s", cases[i].name, names[k]);
  }
  status = TapEnd();
  PetscCall(PetscFinalize());
  return status;
}
