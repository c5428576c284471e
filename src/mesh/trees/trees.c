/* Domains of trees: which tree lies beyond which side, and how it is turned, by the numbers of vertices; classes of directions, and
   colours of trees. */
#include "../internal.h"

/* the tree's corner that is corner i of its side, by one bit for each direction along the side */
static int CornerOf(int side, int i)
{
  const int d = side / 2, below = i & ((1 << d) - 1);

  return (i - below) << 1 | (side % 2) << d | below;
}

static int32_t VertexOf(const VpTreeCorners *t, int32_t tree, int side, int i)
{
  return t->corner[((size_t)tree << t->dim) + (size_t)CornerOf(side, i)];
}

/* key [dim - 1] = the vertices of a side in ascending order, two in a word */
static void SetKey(const VpTreeCorners *t, int32_t tree, int side, uint64_t key[2])
{
  const int n = 1 << (t->dim - 1);
  int32_t   vertex[4];

  for (int i = 0; i < n; i++) {
    int at = i;

    for (vertex[i] = VertexOf(t, tree, side, i); at > 0 && vertex[at - 1] > vertex[at]; at--) {
      const int32_t lower = vertex[at];

      vertex[at] = vertex[at - 1];
      vertex[at - 1] = lower;
    }
  }
  for (int i = 0; i < n; i += 2) key[i / 2] = (uint64_t)(uint32_t)vertex[i] << 32 | (uint32_t)vertex[i + 1];
}

/* the turn of a side's tree beyond, or -1 where no turn takes the corners of one side to those of the other */
static int FindTurn(const VpTreeCorners *t, int32_t tree, int side, int32_t beyond, int there)
{
  const int n = 1 << (t->dim - 1), turns = t->dim == 2 ? 2 : 8;

  for (int turn = (side ^ 1 ^ there) << VP_TURN_SIDE, end = turn + turns; turn < end; turn++) {
    int same = 0;

    for (int i = 0; i < n; i++) same += VertexOf(t, tree, side, i) == VertexOf(t, beyond, there, VpTurnPoint(2, turn, i));
    if (same == n) return turn;
  }
  return -1;
}

/* Ensures: an error unless every tree has 2^dim vertices of nvertex. */
static PetscErrorCode CheckCorners(MPI_Comm comm, const VpTreeCorners *t)
{
  const int corners = 1 << t->dim;

  PetscFunctionBegin;
  for (int32_t tree = 0; tree < t->ntree; tree++) {
    for (int i = 0; i < corners; i++) {
      const int32_t *corner = t->corner + (size_t)tree * (size_t)corners;

      PetscCheck(corner[i] >= 0 && corner[i] < t->nvertex, comm, PETSC_ERR_ARG_OUTOFRANGE,
                 "Tree %d: its corner %d is vertex %d, and there are the vertices 0 to %d", (int)tree, i, (int)corner[i],
                 (int)t->nvertex - 1);
      for (int j = 0; j < i; j++)
        PetscCheck(corner[i] != corner[j], comm, PETSC_ERR_ARG_INCOMP,
                   "Tree %d: its corners %d and %d are both vertex %d. A tree has %d different vertices: cells must not be collapsed, nor "
                   "their own neighbours (refine the mesh once, or divide the tree)",
                   (int)tree, j, i, (int)corner[i], corners);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two sides have the same vertices. */
static PetscErrorCode JoinTrees(MPI_Comm comm, const VpTreeCorners *t, VpDomain domain, const int32_t side[2])
{
  const int     nside = 2 * t->dim;
  const int32_t tree[2] = {side[0] / nside, side[1] / nside};

  PetscFunctionBegin;
  for (int i = 0; i < 2; i++) {
    const int turn = FindTurn(t, tree[i], side[i] % nside, tree[1 - i], side[1 - i] % nside);

    PetscCheck(domain->beyond[side[i]] == VP_UNKNOWN, comm, PETSC_ERR_ARG_INCOMP,
               "Trees %d, %d and %d share one face: a face belongs to two trees at most", (int)domain->beyond[side[i]], (int)tree[0],
               (int)tree[1]);
    PetscCheck(
      turn >= 0, comm, PETSC_ERR_ARG_INCOMP,
      "Trees %d and %d do not conform: they have the same vertices on a face, side %d of the one and %d of the other, but not around "
      "it in the same order",
      (int)tree[0], (int)tree[1], (int)(side[0] % nside), (int)(side[1] % nside));
    domain->beyond[side[i]] = tree[1 - i];
    domain->trees->turn[side[i]] = (uint8_t)turn;
  }
  for (int s = 0; s < nside; s++) {
    const int32_t other = tree[0] * nside + s;

    PetscCheck(other == side[0] || domain->beyond[other] != tree[1], comm, PETSC_ERR_ARG_INCOMP,
               "Trees %d and %d share two faces: divide one of them, or refine the mesh once", (int)tree[0], (int)tree[1]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeetTrees(MPI_Comm comm, const VpTreeCorners *t, VpDomain domain)
{
  VpDictionary   faces; /* the first side with its vertices */
  PetscErrorCode error = PETSC_SUCCESS;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(t->dim - 1, sizeof(int32_t), &faces));
  for (int32_t side = 0; side < t->ntree * 2 * t->dim && !error; side++) {
    const int32_t n = faces.n;
    uint64_t      key[2];
    int32_t       i;

    SetKey(t, side / (2 * t->dim), side % (2 * t->dim), key);
    PetscCall(VpDictionaryAdd(&faces, key, &side, &i));
    if (i < n) error = JoinTrees(comm, t, domain, (int32_t[]){((int32_t *)faces.item)[i], side});
  }
  PetscCall(VpDictionaryDestroy(&faces));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpDomainIsTurned(VpDomain domain)
{
  for (int64_t i = 0; domain->trees && i < (int64_t)domain->nbox * 2 * domain->dim; i++) {
    if (domain->trees->turn[i]) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* 1 if coordinates that go on beyond a side become those of the tree there by a rotation, -1 if they are mirrored, too */
static int HandBeyond(int dim, int side, int turn)
{
  int hand = 1;

  for (int d = 0; d < dim; d++) {
    if (VpTurnFlips(side, turn, d)) hand = -hand;
    for (int e = 0; e < d; e++) {
      if (VpTurnAxis(side, turn, e) > VpTurnAxis(side, turn, d)) hand = -hand;
    }
  }
  return hand;
}

/* Goes from the first tree to all others, and gives each of them its hand. */
static PetscErrorCode SetHands(MPI_Comm comm, VpDomain domain)
{
  const int nside = 2 * domain->dim;
  int8_t   *hand = domain->trees->hand;
  int32_t  *queue, n = 1, twisted = -1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(domain->nbox, &queue));
  PetscCall(PetscArrayzero(hand, domain->nbox));
  queue[0] = 0;
  hand[0] = 1;
  for (int32_t i = 0; i < n; i++) {
    for (int side = 0; side < nside; side++) {
      const int32_t beyond = VpBoxBeyond(domain, queue[i], side);
      const int     there = hand[queue[i]] * HandBeyond(domain->dim, side, VpDomainTurn(domain, queue[i], side));

      if (beyond < 0) continue;
      if (!hand[beyond]) queue[n++] = beyond;
      else if (hand[beyond] != there) twisted = beyond;
      hand[beyond] = (int8_t)there;
    }
  }
  PetscCall(PetscFree(queue));
  PetscCheck(twisted < 0, comm, PETSC_ERR_ARG_INCOMP,
             "Trees around tree %d form a band that is twisted: they cannot lie in space, so that their corners must be wrong",
             (int)twisted);
  PetscCheck(n == domain->nbox, comm, PETSC_ERR_ARG_INCOMP,
             "The trees do not hang together: %d of %d can be reached from tree 0 through faces. Parts of a mesh that touch need the same "
             "vertices there (Gmsh: Coherence)",
             (int)n, (int)domain->nbox);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ConnectTrees(MPI_Comm comm, const VpTreeCorners *t, VpDomain domain)
{
  PetscFunctionBegin;
  PetscCall(CheckCorners(comm, t));
  PetscCall(MeetTrees(comm, t, domain));
  for (int32_t i = 0; i < t->ntree * 2 * t->dim; i++) {
    if (domain->beyond[i] == VP_UNKNOWN) domain->beyond[i] = VpBoundaryAt(i % (2 * t->dim));
  }
  PetscCall(SetHands(comm, domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainCreateTrees(MPI_Comm comm, const VpTreeCorners *t, VpDomain *newdomain)
{
  const size_t   ntree = (size_t)t->ntree, nside = ntree * 2 * (size_t)t->dim, ncorner = ntree << t->dim;
  VpDomain       domain;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCheck(t->ntree >= 1 && t->ntree <= VP_MAX_BOXES, comm, PETSC_ERR_ARG_OUTOFRANGE, "A domain of %d trees: there are 1 to %d",
             (int)t->ntree, VP_MAX_BOXES);
  PetscCall(PetscNew(&domain));
  domain->refct = 1;
  domain->dim = t->dim;
  domain->nbox = t->ntree;
  domain->nboundary = 2 * t->dim;
  PetscCall(PetscMalloc1(domain->nboundary, &domain->boundary));
  for (int side = 0; side < 2 * t->dim; side++) domain->boundary[side] = t->boundary[side];
  PetscCall(PetscMalloc3(3 * ntree, &domain->lower, 3 * ntree, &domain->upper, nside, &domain->beyond));
  for (size_t i = 0; i < 3 * ntree; i++) {
    domain->lower[i] = i % 3 ? 0 : 2 * (PetscReal)(i / 3);
    domain->upper[i] = domain->lower[i] + 1;
  }
  PetscCall(PetscNew(&domain->trees));
  PetscCall(PetscMalloc3(ncorner, &domain->trees->corner, nside, &domain->trees->turn, ntree, &domain->trees->hand));
  PetscCall(PetscArraycpy(domain->trees->corner, t->corner, ncorner));
  PetscCall(PetscArrayzero(domain->trees->turn, nside));
  for (size_t i = 0; i < nside; i++) domain->beyond[i] = VP_UNKNOWN;
  error = ConnectTrees(comm, t, domain);
  if (error) PetscCall(VpDomainDestroy(&domain));
  PetscCall(error);
  *newdomain = domain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int32_t VpDomainGetClasses(VpDomain domain, int32_t class_of[])
{
  const int dim = domain->dim;
  int32_t   n = 0;

  for (int32_t i = 0; i < domain->nbox * dim; i++) class_of[i] = i;
  for (int32_t box = 0; box < domain->nbox; box++) {
    for (int side = 0; side < 2 * dim; side++) {
      const int32_t beyond = VpBoxBeyond(domain, box, side);

      for (int d = 0; d < dim && beyond >= 0; d++) {
        if (d != side / 2) VpUnite(class_of, box * dim + d, beyond * dim + VpTurnAxis(side, VpDomainTurn(domain, box, side), d));
      }
    }
  }
  for (int32_t i = 0; i < domain->nbox * dim; i++) { /* The least item of a class comes first and gets its number. */
    if (VpRoot(class_of, i) == i) n++;
  }
  for (int32_t i = domain->nbox * dim - 1; i >= 0; i--) class_of[i] = VpRoot(class_of, i);
  return n;
}

int VpDomainColorTrees(VpDomain domain, uint8_t color[])
{
  int n = 0;

  for (int32_t tree = 0; tree < domain->nbox; tree++) {
    unsigned taken = 0;

    for (int side = 0; side < 2 * domain->dim; side++) {
      const int32_t beyond = VpBoxBeyond(domain, tree, side);

      if (beyond >= 0 && beyond < tree) taken |= 1u << color[beyond];
    }
    for (color[tree] = 0; taken >> color[tree] & 1;) color[tree]++;
    n = PetscMax(n, color[tree] + 1);
  }
  return n;
}
