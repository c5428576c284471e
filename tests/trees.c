/* Trees that meet in any way: neighbours and turns, hands, classes and vertices, and what is refused.
   ranks: 1 2 */
#include "support/refused.h"
#include "support/trees.h"

/* whether the corners that a turn takes to each other are the same vertices, also one by one as coordinates beyond the side */
static PetscBool AreJoined(const Trees *t, VpDomain domain, int32_t tree, int side)
{
  const int32_t beyond = domain->beyond[tree * 2 * t->dim + side];
  const int     turn = VpDomainTurn(domain, tree, side), there = VpTurnSide(side, turn);
  PetscBool     joined = PETSC_TRUE;

  if (beyond < 0) return PETSC_TRUE;
  if (domain->beyond[beyond * 2 * t->dim + there] != tree || VpTurnSide(there, VpDomainTurn(domain, beyond, there)) != side)
    return PETSC_FALSE;
  for (int i = 0; i < 1 << t->dim; i++) {
    const int32_t at[3] = {i & 1, i >> 1 & 1, i >> 2};
    int32_t       to[3] = {0, 0, 0};

    if (at[side / 2] != side % 2) continue;
    VpTurnCross(t->dim, (int32_t[]){2, 2, 2}, side, turn, at, to);
    joined = (PetscBool)(joined && t->corner[(tree << t->dim) + i] == t->corner[(beyond << t->dim) + to[0] + 2 * to[1] + 4 * to[2]]);
  }
  return joined;
}

/* The sign of det J at a tree's first corner, of straight trees. */
static int SignOf(const Trees *t, int32_t tree)
{
  const int32_t *corner = t->corner + ((size_t)tree << t->dim);
  double         J[9];

  for (int i = 0; i < t->dim; i++) {
    for (int j = 0; j < t->dim; j++) J[i * t->dim + j] = t->x[corner[1 << j]][i] - t->x[corner[0]][i];
  }
  return VpDeterminant(t->dim, J) > 0 ? 1 : -1;
}

/* Checks trees as they are given and turned at random. classes, regular, inside: their numbers; inside: of `valence` cells */
static PetscErrorCode Check(Trees *t, int classes, int regular, int valence, int inside, const char name[])
{
  PetscFunctionBeginUser;
  for (int turned = 0; turned < 4; turned++) {
    PetscBool      joined = PETSC_TRUE, hands = PETSC_TRUE;
    VpTreeVertices count;
    VpDomain       domain;
    int32_t        class_of[3 * MOST_TREES], n;

    if (turned) TreesTurn((unsigned int)turned, t);
    PetscCall(TreesDomain(PETSC_COMM_WORLD, t, &domain));
    for (int32_t i = 0; i < t->ntree * 2 * t->dim; i++)
      joined = (PetscBool)(joined && AreJoined(t, domain, i / (2 * t->dim), i % (2 * t->dim)));
    for (int32_t i = 0; i < t->ntree; i++) hands = (PetscBool)(hands && domain->trees->hand[i] == SignOf(t, i) * SignOf(t, 0));
    n = VpDomainGetClasses(domain, class_of);
    PetscCall(VpDomainCountVertices(domain, &count));
    TapOk(joined, "sides_have_the_same_vertices: %s, turned %d", name, turned);
    TapOk(hands, "hands_are_signs_of_det_J: %s, turned %d", name, turned);
    TapOk((PetscBool)(n == classes), "classes_are_counted: %s, turned %d, %d", name, turned, (int)n);
    TapOk((PetscBool)(count.n == t->nvertex && count.regular == regular && count.inside[valence] == inside &&
                      count.boundary == t->nvertex - regular - inside),
          "vertices_are_counted: %s, turned %d, %d regular, %d irregular on the boundary", name, turned, (int)count.regular,
          (int)count.boundary);
    PetscCall(VpDomainDestroy(&domain));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of trees in the plane with these corners, or of layers of two vertices of each */
static PetscErrorCode Made(int dim, int32_t ntree, const int32_t corner[])
{
  const VpBoundary boundary[6] = {{VP_SIDE_NEUMANN, 0}};
  int32_t          all[32];
  VpDomain         domain = NULL;

  PetscFunctionBeginUser;
  for (int i = 0; i < ntree << dim; i++) all[i] = dim == 2 ? corner[i] : 2 * corner[i / 8 * 4 + i % 4] + i / 4 % 2;
  PetscCall(VpDomainCreateTrees(PETSC_COMM_WORLD, &(VpTreeCorners){dim, dim == 2 ? 10 : 20, ntree, all, boundary}, &domain));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Refusals(int dim)
{
  const int32_t none[] = {0, 1, 2, 10}, collapsed[] = {0, 1, 2, 2}, own[] = {0, 1, 0, 1};
  const int32_t three[] = {0, 1, 2, 3, 1, 4, 3, 5, 1, 6, 3, 7}, two[] = {0, 1, 2, 3, 1, 0, 4, 2}, apart[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const int32_t band[] = {0, 1, 2, 3, 1, 4, 3, 5, 4, 2, 5, 0}; /* Three squares form a band, whose end is mirrored. */
  const char   *name = dim == 2 ? "quadrilaterals" : "hexahedra";

  PetscFunctionBeginUser;
  Refused(Made(dim, 1, none), dim == 2 ? "its corner 3 is vertex 10, and there are the vertices 0 to 9" : "vertices 0 to 19", name);
  Refused(Made(dim, 1, collapsed), "Tree 0: its corners 2 and 3 are both vertex", name);
  Refused(Made(dim, 1, own), "nor their own neighbours", name);
  Refused(Made(dim, 3, three), "Trees 1, 0 and 2 share one face", name);
  Refused(Made(dim, 2, two), "Trees 0 and 1 share two faces", name);
  Refused(Made(dim, 2, apart), "1 of 2 can be reached", name);
  Refused(Made(dim, 3, band), "form a band that is twisted", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two hexahedra have the same vertices on a face, but not around it in the same order. */
static PetscErrorCode RefusedOrder(void)
{
  Trees    t;
  VpDomain domain;

  PetscFunctionBeginUser;
  TreesGrid(3, 2, &t);
  {
    int32_t *corner = t.corner + 8, swap = corner[2]; /* of tree 1, on the side towards tree 0: 0, 2, 4, 6 */

    corner[2] = corner[4];
    corner[4] = corner[6];
    corner[6] = swap;
  }
  Refused(TreesDomain(PETSC_COMM_WORLD, &t, &domain), "Trees 0 and 1 do not conform", "vertices_in_another_order");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels of trees whose direction `thin` lies in cells that are thinner by `ratio`, against those that follow from the rule in words:
   the numbers of cells along the first directions of the classes. */
static PetscErrorCode Levels(const Trees *t, int refine, double ratio, const int32_t thin[2], const char expected[], const char name[])
{
  char      text[256] = "";
  PetscReal a[MOST_TREES * 3];
  int32_t   class_of[3 * MOST_TREES];
  int       levels;
  VpDomain  domain;
  VpMesh    mesh;
  VpLattice fine, lattice[VP_MOST_LEVELS];
  PetscBool conform = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TreesDomain(PETSC_COMM_SELF, t, &domain));
  (void)VpDomainGetClasses(domain, class_of);
  for (int32_t i = 0; i < 3 * t->ntree; i++) a[i] = 1;
  for (int32_t i = 0; i < t->ntree * t->dim; i++) {
    if (class_of[i] == class_of[thin[0] * t->dim + thin[1]]) a[i / t->dim * 3 + i % t->dim] = ratio * ratio;
  }
  PetscCall(VpMeshCreate(PETSC_COMM_SELF, domain, refine, &mesh));
  PetscCall(VpLatticeWith(mesh->geometry->lattice, a, &fine));
  PetscCall(VpListLattices(fine, VP_COARSEN_LOCAL, &levels, lattice));
  for (int l = 0; l < levels; l++) {
    if (l) strcat(text, " ");
    for (int32_t i = 0; i < t->ntree * t->dim; i++) {
      const int *bits = VpHalvingsOf(lattice[l], i / t->dim)->bits, first = class_of[i];

      if (class_of[i] == i) sprintf(text + strlen(text), "%s%d", i ? "x" : "", 1 << bits[i % t->dim]);
      conform = (PetscBool)(conform && bits[i % t->dim] == VpHalvingsOf(lattice[l], first / t->dim)->bits[first % t->dim]);
    }
  }
  TapOk(conform, "classes_are_halved_together: %s", name);
  TapOk((PetscBool)!strcmp(text, expected), "levels_of_trees_follow_the_rule: %s, %s", name, text);
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpLatticeDestroy(&fine));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a lattice's `mild`, cells of a disc that are thin by less are halved in all directions, and thinner ones are not. */
static PetscErrorCode MildRatios(void)
{
  static const double ratio[3] = {2, 2, 4}, mild[3] = {0, 2.5, 2.5};
  static const int    known[3] = {5, 4, 5};
  PetscReal           a[MOST_TREES * 3];
  VpDomain            domain;
  VpMesh              mesh;
  Trees               t;

  PetscFunctionBeginUser;
  TreesBall(2, &t);
  PetscCall(TreesDomain(PETSC_COMM_SELF, &t, &domain));
  PetscCall(VpMeshCreate(PETSC_COMM_SELF, domain, 3, &mesh));
  for (int k = 0; k < 3; k++) {
    VpLattice fine, lattice[VP_MOST_LEVELS];
    int32_t   class_of[3 * MOST_TREES];
    int       levels;

    (void)VpDomainGetClasses(domain, class_of);
    for (int32_t i = 0; i < 3 * t.ntree; i++) a[i] = 1;
    for (int32_t i = 0; i < 2 * t.ntree; i++) {
      if (class_of[i] == class_of[0]) a[i / 2 * 3 + i % 2] = ratio[k] * ratio[k];
    }
    PetscCall(VpLatticeWith(mesh->geometry->lattice, a, &fine));
    fine->mild = mild[k];
    PetscCall(VpListLattices(fine, VP_COARSEN_LOCAL, &levels, lattice));
    TapOk((PetscBool)(levels == known[k]), "mild_ratios_are_halved_alike: ratio %g, mild %g, %d levels", ratio[k], mild[k], levels);
    PetscCall(VpLatticeDestroy(&fine));
  }
  PetscCall(VpMeshDestroy(&mesh));
  PetscCall(VpDomainDestroy(&domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllLevels(void)
{
  const int32_t first[2] = {0, 0};
  Trees         t;

  PetscFunctionBeginUser;
  TreesBall(2, &t);
  PetscCall(Levels(&t, 2, 1, first, "4x4x4 2x2x2 1x1x1", "disc"));
  PetscCall(Levels(&t, 3, 15, (int32_t[]){1, 1}, "8x8x8 8x8x4 8x8x2 8x8x1 4x4x1 2x2x1 1x1x1", "disc, thin along radii"));
  PetscCall(Levels(&t, 2, 16, first, "4x4x4 2x4x4 1x4x4 1x2x2 1x1x1", "disc, thin along x"));
  TreesTurn(3, &t);
  PetscCall(Levels(&t, 2, 1, first, "4x4x4 2x2x2 1x1x1", "turned disc"));
  TreesBall(3, &t);
  PetscCall(Levels(&t, 2, 1, first, "4x4x4x4 2x2x2x2 1x1x1x1", "ball"));
  PetscCall(Levels(&t, 2, 16, (int32_t[]){1, 2}, "4x4x4x4 4x4x4x2 4x4x4x1 2x2x2x1 1x1x1x1", "ball, thin along radii"));
  TreesGrid(3, 2, &t); /* The edges along z are regular in the middle: x and y may have one cell per tree before z does. */
  PetscCall(Levels(&t, 1, 1, first, "2x2x2x2x2x2 1x1x1x1x1x1", "cube"));
  TreesStar(5, &t);
  PetscCall(Levels(&t, 2, 8, first, "4x4x4x4x4 2x4x2x2x4 1x4x2x2x4 1x2x2x2x2 1x2x2x1x2 1x1x1x1x1", "star, thin along a class"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  Trees t;

  PetscFunctionBeginUser;
  TreesGrid(2, 3, &t);
  PetscCall(Check(&t, 6, 16, 3, 0, "square"));
  TreesGrid(3, 2, &t);
  PetscCall(Check(&t, 6, 27, 4, 0, "cube"));
  TreesStar(5, &t);
  PetscCall(Check(&t, 5, 10, 5, 1, "star"));
  TreesBall(2, &t);
  PetscCall(Check(&t, 3, 4, 3, 4, "disc"));
  TreesBall(3, &t);
  PetscCall(Check(&t, 4, 0, 4, 8, "ball"));
  PetscCall(AllLevels());
  PetscCall(MildRatios());
  PetscCall(LossesAreExpected());
  PetscCall(Refusals(2));
  PetscCall(Refusals(3));
  PetscCall(RefusedOrder());
  PetscFunctionReturn(PETSC_SUCCESS);
}
