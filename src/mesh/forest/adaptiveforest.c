/* Leaves of different levels, by p4est. Compiled for two dimensions here and for three in adaptiveforest3d.c. */
#include "forest.h"

/* what a leaf knows while a forest is adapted */
typedef struct {
  int32_t mark, work;
  double  coefficient[3];
} Leaf;

static inline Leaf *LeafOf(p4est_quadrant_t *q)
{
  return (Leaf *)q->p.user_data;
}

/* runs over the own leaves of a forest, in their order */
#define FOR_EACH_LEAF(forest, tree, q) \
  for (p4est_topidx_t tree = (forest)->first_local_tree; tree <= (forest)->last_local_tree; tree++) \
    for (p4est_quadrant_t *q = (p4est_quadrant_t *)p4est_tree_array_index((forest)->trees, tree)->quadrants.array, \
                          *end = q + p4est_tree_array_index((forest)->trees, tree)->quadrants.elem_count; \
         q < end; q++)

static int IsToRefine(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q)
{
  return LeafOf(q)->mark == VP_MARK_REFINE;
}

static int AreToCoarsen(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q[])
{
  int all = 1;

  for (int i = 0; i < P4EST_CHILDREN; i++) all = all && LeafOf(q[i])->mark == VP_MARK_COARSEN;
  return all;
}

static void InheritCoefficient(p4est_t *forest, p4est_topidx_t tree, int nold, p4est_quadrant_t *old[], int nnew, p4est_quadrant_t *new[])
{
  Leaf mean = {.mark = VP_MARK_KEEP};

  for (int d = 0; d < 3; d++) {
    for (int i = 0; i < nold; i++) mean.coefficient[d] += LeafOf(old[i])->coefficient[d];
    mean.coefficient[d] /= nold;
  }
  for (int i = 0; i < nnew; i++) *LeafOf(new[i]) = mean;
}

static VpForest CreateForest(VpMesh mesh)
{
  p4est_connectivity_t *conn = VP_FOREST(VpConnectivity)(mesh->geometry->domain);
  p4est_t              *forest = p4est_new_ext(mesh->comm, conn, 0, mesh->level, 1, 0, NULL, NULL);
  p4est_locidx_t       *count = P4EST_ALLOC(p4est_locidx_t, forest->mpisize);

  p4est_comm_parallel_env_duplicate(forest); /* p4est's messages have fixed tags */
  for (int r = 0; r < forest->mpisize; r++) count[r] = (p4est_locidx_t)(mesh->starts[r + 1] - mesh->starts[r]);
  (void)p4est_partition_given(forest, count);
  P4EST_FREE(count);
  return (VpForest)forest;
}

/* adds what a face that hangs costs its own leaves; across it may be another rank's */
static void AddFaceWork(p4est_iter_face_info_t *info, void *context)
{
  for (size_t i = 0; i < info->sides.elem_count; i++) {
    p4est_iter_face_side_t *side = p4est_iter_fside_array_index(&info->sides, i), *other = p4est_iter_fside_array_index(&info->sides, !i);

    if (info->sides.elem_count < 2 || side->is_hanging == other->is_hanging) continue;
    if (!side->is_hanging && !side->is.full.is_ghost) LeafOf(side->is.full.quad)->work += VP_WORK_COARSE;
    for (int c = 0; side->is_hanging && c < P4EST_HALF; c++) {
      if (!side->is.hanging.is_ghost[c]) LeafOf(side->is.hanging.quad[c])->work += VP_WORK_FINE;
    }
  }
}

static int WorkOf(p4est_t *forest, p4est_topidx_t tree, p4est_quadrant_t *q)
{
  return LeafOf(q)->work;
}

/* Cuts a forest into pieces of equal work. Refined cells are not counted: everywhere there is about the same number of
   them to a leaf. */
static void CutByWork(p4est_t *forest)
{
  if (forest->mpisize == 1) return;
  FOR_EACH_LEAF(forest, tree, q) LeafOf(q)->work = VP_WORK_CELL;
  p4est_iterate(forest, NULL, NULL, NULL, AddFaceWork,
#ifdef P4_TO_P8
                NULL,
#endif
                NULL);
  (void)p4est_partition_ext(forest, 1, WorkOf);
}

static VpForest AdaptForest(VpForest from, VpDomain domain, const int8_t mark[], int width, const PetscReal a[])
{
  p4est_t *forest = p4est_copy((p4est_t *)from, 0);
  int32_t  i = 0;

  p4est_comm_parallel_env_duplicate(forest);
  forest->connectivity = VP_FOREST(VpConnectivity)(domain);
  p4est_reset_data(forest, sizeof(Leaf), NULL, NULL);
  FOR_EACH_LEAF(forest, tree, q)
  {
    *LeafOf(q) = (Leaf){.mark = mark[i]};
    for (int d = 0; d < width; d++) LeafOf(q)->coefficient[d] = a ? a[(size_t)i * width + d] : 1;
    i++;
  }
  (void)p4est_partition_ext(forest, 1, NULL); /* Families have to be on one rank to be coarsened. */
  p4est_refine_ext(forest, 0, P4EST_QMAXLEVEL, IsToRefine, NULL, InheritCoefficient);
  p4est_coarsen_ext(forest, 0, 0, AreToCoarsen, NULL, InheritCoefficient);
  p4est_balance_ext(forest, P4EST_CONNECT_FULL, NULL, InheritCoefficient);
  CutByWork(forest);
  return (VpForest)forest;
}

/* Writes the corners and depths of leaves, [n][dim + 1], and counts them in cumulated[box + 1]. */
static void ListLeaves(int32_t n, const uint8_t depth[], VpCurvePosition p, p4est_qcoord_t *to, p4est_gloidx_t cumulated[])
{
  for (int32_t i = 0; i < n; i++) {
    const int64_t    length = VpCurveLength(P4EST_DIM, depth[i]);
    p4est_quadrant_t q;

    p4est_quadrant_set_morton(&q, depth[i], (uint64_t)(p.before / length));
    *to++ = q.x;
    *to++ = q.y;
#ifdef P4_TO_P8
    *to++ = q.z;
#endif
    *to++ = q.level;
    cumulated[p.box + 1]++;
    p = VpCurveAdvance(P4EST_DIM, p, length);
  }
}

static VpForest GrowForest(MPI_Comm comm, VpDomain domain, int32_t n, const uint8_t depth[], VpCurvePosition first)
{
  p4est_connectivity_t *conn = VP_FOREST(VpConnectivity)(domain);
  p4est_gloidx_t       *cumulated = P4EST_ALLOC_ZERO(p4est_gloidx_t, domain->nbox + 1), *starts, mine = n;
  sc_array_t           *leaves = sc_array_new_count(sizeof(p4est_qcoord_t), (size_t)n * (P4EST_DIM + 1));
  p4est_t              *forest;
  int                   size;

  (void)MPI_Comm_size(comm, &size);
  starts = P4EST_ALLOC_ZERO(p4est_gloidx_t, size + 1);
  (void)MPI_Allgather(&mine, 1, P4EST_MPI_GLOIDX, starts + 1, 1, P4EST_MPI_GLOIDX, comm);
  for (int r = 0; r < size; r++) starts[r + 1] += starts[r];
  ListLeaves(n, depth, first, (p4est_qcoord_t *)leaves->array, cumulated);
  (void)MPI_Allreduce(MPI_IN_PLACE, cumulated, domain->nbox + 1, P4EST_MPI_GLOIDX, MPI_SUM, comm);
  for (int32_t b = 0; b < domain->nbox; b++) cumulated[b + 1] += cumulated[b];
  forest = p4est_inflate(comm, conn, starts, cumulated, leaves, NULL, NULL);
  p4est_comm_parallel_env_duplicate(forest);
  sc_array_destroy(leaves);
  P4EST_FREE(starts);
  P4EST_FREE(cumulated);
  p4est_reset_data(forest, sizeof(Leaf), NULL, NULL);
  p4est_balance_ext(forest, P4EST_CONNECT_FULL, NULL, NULL);
  CutByWork(forest);
  return (VpForest)forest;
}

static void TakeCoefficient(VpForest from, int width, PetscReal a[])
{
  p4est_t *forest = (p4est_t *)from;
  int32_t  i = 0;

  FOR_EACH_LEAF(forest, tree, q)
  {
    for (int d = 0; a && d < width; d++) a[i++] = LeafOf(q)->coefficient[d];
  }
  p4est_reset_data(forest, 0, NULL, NULL);
}

static double CountLeaves(VpForest forest)
{
  return (double)((p4est_t *)forest)->global_num_quadrants;
}

static void DestroyForest(VpForest from)
{
  p4est_t              *forest = (p4est_t *)from;
  p4est_connectivity_t *conn = forest->connectivity;

  p4est_destroy(forest);
  p4est_connectivity_destroy(conn);
}

/* zones: of the two ends alone, see VpMesh */
static void SetCell(VpMesh mesh, int32_t cell, p4est_topidx_t tree, const p4est_quadrant_t *q)
{
  const int32_t at[3] = {q->x, q->y, VP_QUADRANT_Z(q)};

  mesh->geometry->box[cell] = tree;
  mesh->geometry->depth[cell] = (uint8_t)q->level;
  mesh->geometry->zone[cell] = 0;
  for (int d = 0; d < 3; d++) {
    const int32_t coord = at[d] >> (P4EST_MAXLEVEL - q->level), last = ((int32_t)1 << q->level) - 1;

    mesh->geometry->coord[3 * (size_t)cell + d] = coord;
    if (d < P4EST_DIM && (coord == 0 || coord == last)) mesh->geometry->zone[cell] |= (uint8_t)((coord == 0 ? 1 : 3) << 2 * d);
  }
}

enum { CODES = P4EST_HALF * P4EST_FACES }; /* of p4est for the sides of cells of one size */

/* how what lies beyond a side is turned, which only sides at ends of trees are */
static int TurnAt(VpMesh mesh, int32_t cell, int side)
{
  const int zone = mesh->geometry->zone[cell] >> 2 * (side / 2) & 3;
  const int at_end = side % 2 ? zone == 3 || mesh->geometry->depth[cell] == 0 : zone == 1;

  return at_end ? VpDomainTurn(mesh->geometry->domain, mesh->geometry->box[cell], side) : 0;
}

/* the number of a fine cell among those at a coarse one's side, by its own directions along the side */
static int PlaceAt(VpMesh mesh, int32_t cell, int side)
{
  int place = 0, bit = 0;

  for (int d = 0; d < P4EST_DIM; d++) {
    if (d != side / 2) place |= (mesh->geometry->coord[3 * (size_t)cell + d] & 1) << bit++;
  }
  return place;
}

/* Puts the cells at a coarse side in the order of the coarse cell's directions. p4est does not where trees are turned. */
static void ListFine(VpMesh mesh, const p4est_locidx_t cell[], VpFace *face)
{
  const int side = VpTurnSide(face->side, face->turn);

  for (int half = 0; half < P4EST_HALF; half++) {
    const int place = VpTurnPoint(2, face->turn, half);

    for (int i = 0; i < P4EST_HALF; i++) {
      if (PlaceAt(mesh, cell[i], side) == place) face->cell[1 + half] = cell[i];
    }
  }
}

/* What lies beyond a side, and its face if it hangs. p4est says it by a cell and a code: the side there (boundary: the same cell's and
   side's) and how it is turned, which domains know. The code is larger by CODES or more where the cell is coarser, and negative where the
   cell is a place in the list of fine ones. */
static int32_t FindNeighbor(VpMesh mesh, p4est_mesh_t *p4, int32_t cell, int side, VpFace *face)
{
  const size_t  i = (size_t)cell * P4EST_FACES + (size_t)side;
  const int32_t next = p4->quad_to_quad[i];
  const int     code = p4->quad_to_face[i];

  if (next == cell && code == side) return VpBoxBeyond(mesh->geometry->domain, mesh->geometry->box[cell], side);
  if (code >= 0 && code < CODES) return next;
  *face = (VpFace){.cell = {cell, next}, .side = (uint8_t)side, .turn = (uint8_t)TurnAt(mesh, cell, side)};
  face->kind = code < 0 ? VP_FACE_COARSE : VP_FACE_FINE;
  if (code < 0) ListFine(mesh, (const p4est_locidx_t *)sc_array_index(p4->quad_to_half, (size_t)next), face);
  else face->half = (uint8_t)VpTurnPoint(2, face->turn, PlaceAt(mesh, cell, side));
  return VP_HANGING;
}

static PetscErrorCode SetNeighbors(VpMesh mesh, p4est_mesh_t *p4)
{
  const int32_t nside = mesh->nown * P4EST_FACES;
  VpFaces      *faces = &mesh->faces;
  int32_t       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nside, &mesh->neighbor));
  if (VpDomainIsTurned(mesh->geometry->domain)) PetscCall(PetscMalloc1(nside + 1, &mesh->turn));
  for (int32_t i = 0; i < nside && mesh->turn; i++) mesh->turn[i] = (uint8_t)TurnAt(mesh, i / P4EST_FACES, i % P4EST_FACES);
  for (int32_t i = 0; i < nside; i++) n += p4->quad_to_face[i] < 0 || p4->quad_to_face[i] >= CODES;
  PetscCall(PetscMalloc1(n, &faces->face));
  for (int32_t i = 0; i < nside; i++) {
    mesh->neighbor[i] = FindNeighbor(mesh, p4, i / P4EST_FACES, i % P4EST_FACES, faces->face + faces->n);
    faces->n += mesh->neighbor[i] == VP_HANGING;
    mesh->ninner += mesh->neighbor[i] >= 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetGhosts(VpMesh mesh, p4est_ghost_t *ghosts, p4est_mesh_t *p4, PetscSFNode **owner)
{
  const int32_t n = mesh->nlocal - mesh->nown;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, owner));
  for (int32_t i = 0; i < n; i++) {
    p4est_quadrant_t *q = p4est_quadrant_array_index(&ghosts->ghosts, (size_t)i);

    SetCell(mesh, mesh->nown + i, q->p.piggy3.which_tree, q);
    (*owner)[i].rank = p4->ghost_to_proc[i];
    (*owner)[i].index = q->p.piggy3.local_num;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillMesh(VpForest from, VpMesh mesh, PetscSFNode **owner)
{
  p4est_t       *forest = (p4est_t *)from;
  p4est_ghost_t *ghosts = p4est_ghost_new(forest, P4EST_CONNECT_FACE);
  p4est_mesh_t  *p4 = p4est_mesh_new(forest, ghosts, P4EST_CONNECT_FACE);
  int32_t        cell = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(forest->mpisize + 1, &mesh->starts));
  for (int r = 0; r <= forest->mpisize; r++) mesh->starts[r] = (PetscInt)forest->global_first_quadrant[r];
  mesh->ncell = (PetscInt)forest->global_num_quadrants;
  mesh->first = mesh->starts[forest->mpirank];
  mesh->nown = forest->local_num_quadrants;
  mesh->nlocal = mesh->nown + p4->ghost_num_quadrants;
  mesh->nface = mesh->nsweep = mesh->nhalo = mesh->nlocal;
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->geometry->box));
  PetscCall(PetscMalloc1(3 * (size_t)mesh->nlocal, &mesh->geometry->coord));
  PetscCall(PetscMalloc1(mesh->nlocal, &mesh->geometry->zone));
  PetscCall(PetscMalloc1(mesh->nlocal + 1, &mesh->geometry->depth)); /* not NULL on ranks without cells */
  FOR_EACH_LEAF(forest, tree, q) SetCell(mesh, cell++, tree, q);
  PetscCall(SetGhosts(mesh, ghosts, p4, owner));
  PetscCall(SetNeighbors(mesh, p4));
  p4est_mesh_destroy(p4);
  p4est_ghost_destroy(ghosts);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const VpForestOps VP_FOREST(VpForestOps) = {.deepest = P4EST_QMAXLEVEL,
                                            .create = CreateForest,
                                            .adapt = AdaptForest,
                                            .grow = GrowForest,
                                            .fill = FillMesh,
                                            .take_coefficient = TakeCoefficient,
                                            .size = CountLeaves,
                                            .destroy = DestroyForest};
