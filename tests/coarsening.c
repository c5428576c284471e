/* The levels that the rule of coarsening gives: against sequences that were computed by another program, from the rule in words.
   ranks: 1 */
#include "support/tap.h"
#include "support/grid.h"
#include "../src/mesh/mesh.h"
#include <inttypes.h>

/* The boxes' widths along every direction, and how often all are refined; bits of periodic directions. */
typedef struct {
  int         dim, refine, periodic;
  const char *width[3];
  const char *levels;
} Case;

static const Case cases[] = {
  {2, 5, 0, {"1", "1"}, "32x32 16x16 8x8 4x4 2x2"},
  {2, 5, 0, {"16", "1"}, "32x32 32x16 32x8 32x4 32x2 16x2 8x2 4x2 2x2"},
  {2, 4, 0, {"64", "16*1"}, "16x256 16x128 16x64 16x32 16x16 16x8 16x4 8x2 4x2 2x2"},
  {2, 4, 0, {"1,.0625", "1,.0625"}, "32x32 24x24 20x20 18x18 17x17 9x9 5x5 3x3 2x2"},
  {2, 4, 2, {"1,.0625", "1,.0625"}, "32x32 24x24 20x20 18x18 17x17 9x9 5x5 3x3 2x2"},
  {2, 4, 0, {"1,1", "1,.0625"}, "32x32 32x16 32x12 32x10 32x9 16x9 8x5 4x3 2x2"},
  {2, 3, 0, {"16,16", "1,2,4,8,16,16,8,4,2,1"}, "16x80 16x40 16x24 16x18 8x16 4x8 2x4 2x2"},
  {2, 2, 0, {"4*64", "24^1.3"}, "16x96 16x48 16x24 16x12 16x8 16x6 8x6 4x3 2x2"},
  {2, 1, 0, {"8*32", "100*1"}, "16x200 16x100 16x50 16x25 16x13 16x7 8x4 4x2 2x2"},
  {3, 3, 0, {"16", "16", "1"}, "8x8x8 8x8x4 8x8x2 4x4x2 2x2x2"},
  {3, 2, 0, {"16", "1,4,16", "1,4,16"}, "4x12x12 4x10x10 4x9x9 4x7x7 4x6x6 2x3x3 2x2x2"},
  {3, 2, 0, {"2*8", "2*8", "1,4,16,4,1"}, "8x8x20 8x8x12 8x8x8 4x4x8 2x2x4 2x2x3 2x2x2"},
  {3, 2, 0, {"1,.0625", "1,.0625", "1,.0625"}, "8x8x8 6x6x6 5x5x5 3x3x3 2x2x2"},
  {3, 1, 0, {"4*30", "4*30", "16^1.3"}, "8x8x32 8x8x16 8x8x8 8x8x4 4x4x2 2x2x2"},
};

/* where VpLattice.mild lets cells merge that are thin */
static const struct {
  PetscReal mild;
  Case      is;
} thin[] = {
  {20, {2, 5, 0, {"16", "1"}, "32x32 16x16 8x8 4x4 2x2"}},
  {10, {2, 5, 0, {"16", "1"}, "32x32 32x16 16x8 8x4 4x2 2x2"}},
  {20, {2, 4, 0, {"1,.0625", "1,.0625"}, "32x32 16x16 8x8 4x4 2x2"}},
};

static PetscErrorCode MakeDomain(const Case *c, VpDomain *domain)
{
  const PetscBool periodic[3] = {(PetscBool)(c->periodic & 1), (PetscBool)(c->periodic >> 1 & 1), (PetscBool)(c->periodic >> 2)};
  PetscReal      *lower = NULL, *upper = NULL;
  PetscInt        nbox = 0;

  PetscFunctionBeginUser;
  PetscCall(GridBoxes(c->dim, c->width, PETSC_FALSE, &nbox, &lower, &upper));
  PetscCall(VpDomainCreate(PETSC_COMM_SELF, &(VpBoxes){c->dim, (int32_t)nbox, lower, upper, NULL, periodic}, domain));
  PetscCall(PetscFree2(lower, upper));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddLevel(VpLattice L, char text[], size_t size)
{
  int64_t extent[3];
  size_t  used;

  PetscFunctionBeginUser;
  PetscCall(VpLatticeExtent(L, extent));
  for (int d = 0; d < L->domain->dim; d++) {
    PetscCall(PetscStrlen(text, &used));
    PetscCall(PetscSNPrintf(text + used, size - used, "%s%" PRId64, d ? "x" : (used ? " " : ""), extent[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Case *c, PetscReal mild)
{
  char     text[512] = "";
  VpDomain domain;
  VpMesh   mesh, coarse;
  int      levels;

  PetscFunctionBeginUser;
  PetscCall(MakeDomain(c, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_SELF, domain, c->refine, &mesh));
  PetscCall(VpDomainDestroy(&domain));
  mesh->geometry->lattice->mild = mild;
  PetscCall(VpCountLevels(mesh->geometry->lattice, VP_COARSEN_LOCAL, &levels, NULL));
  for (; levels > 0; levels--, mesh = coarse) {
    PetscCall(AddLevel(mesh->geometry->lattice, text, sizeof(text)));
    coarse = NULL;
    if (levels > 1) PetscCall(VpMeshCoarsen(mesh, mesh->geometry->lattice, VP_COARSEN_LOCAL, &coarse));
    PetscCall(VpMeshDestroy(&mesh));
  }
  TapOk((PetscBool)!strcmp(text, c->levels), "levels_are_those_of_the_rule: %s", c->levels);
  if (strcmp(text, c->levels)) printf("# %s\n", text);
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(Check(&cases[i], 0));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(thin); i++) PetscCall(Check(&thin[i].is, thin[i].mild));
  PetscFunctionReturn(PETSC_SUCCESS);
}
