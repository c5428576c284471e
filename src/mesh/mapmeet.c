/* Makes mapped cells of an adaptive mesh meet where they hang.

   The map is a polynomial on every cell. On a coarse cell's side it is another one than on the fine cells beyond, through other nodes, and
   between both there would be a gap. So fine cells take the nodes there from the polynomial of the coarse cell, from the coarsest cells on:

       +-------+---+     o is a node of the fine cells that lies on the coarse cell's side, where it is moved to the polynomial through the
       |       |   |     nodes of the coarse cell.
       |       o---+
       |       |   |     In three dimensions a fine cell may touch a coarse one in an edge only. There it takes the nodes of the fine cells
       +-------+---+     beside it, which share sides with the coarse cell.

   Around periodic directions cells meet in physical space if the map is periodic. Else they keep their nodes. */
#include "internal.h"

typedef struct {
  VpMesh  mesh;
  VpMap   map; /* with the nodes of own cells and of ghosts */
  int     nodes;
  double *moved; /* [nface][nodes] 1: a node was moved to a coarse cell's polynomial; else 0 */
} Meeting;

/* index of a node on a side, [(degree+1)^(dim-1)], among the nodes of the cell */
static int NodeOf(const Meeting *m, int side, int i)
{
  const int n = m->map->degree + 1, stride = VpLineStride(side / 2, n, n * n);

  return VpLineStart(n, stride, i) + (side % 2 ? m->map->degree * stride : 0);
}

/* whether a node of a cell and one of another cell are the same point, to rounding */
static PetscBool IsSame(const Meeting *m, size_t one, size_t other, int32_t cell)
{
  const int     dim = m->map->dim;
  const double *X = m->map->node + one * (size_t)dim, *Y = m->map->node + other * (size_t)dim;
  double        lower[3], upper[3], gap = 0, size = 0;

  VpMapBounds(m->map, cell, lower, upper);
  for (int c = 0; c < dim; c++) {
    gap = PetscMax(gap, fabs(X[c] - Y[c]));
    size = PetscMax(size, upper[c] - lower[c]);
  }
  return (PetscBool)(gap <= 1e-9 * size);
}

/* Whether a cell and the one beyond its side, which is as large or coarser, meet in physical space. Around a periodic direction they do so
   if the map is periodic: then the corners that they share are the same. half: -1, or the number of a fine cell */
static PetscBool CellsMeet(const Meeting *m, int32_t cell, int side, int32_t beyond, int half)
{
  const int degree = m->map->degree, corners = 1 << (m->map->dim - 1), d = side / 2, s = side % 2;
  PetscReal lower[2][3], size[2][3];
  PetscBool meet = PETSC_TRUE;

  if (m->mesh->geometry->domain->trees) return PETSC_TRUE;
  VpGeometryBounds(m->mesh->geometry, cell, lower[0], size[0]);
  VpGeometryBounds(m->mesh->geometry, beyond, lower[1], size[1]);
  if (fabs(lower[0][d] + s * size[0][d] - lower[1][d] - (1 - s) * size[1][d]) < 0.25 * size[0][d]) return PETSC_TRUE;
  for (int i = 0; i < corners && meet; i++) {
    const int    corner = degree * (i & 1) + degree * (degree + 1) * (i >> 1);
    const size_t one = (size_t)cell * (size_t)m->nodes + (size_t)NodeOf(m, side, corner);
    const size_t other = (size_t)beyond * (size_t)m->nodes + (size_t)NodeOf(m, side ^ 1, corner);

    if (half < 0 ? m->moved[one] == m->moved[other] : i == half) meet = IsSame(m, one, other, cell);
  }
  return meet;
}

/* Moves the nodes of a fine cell on a side that hangs. */
static void MoveNodes(Meeting *m, const VpFace *face)
{
  const int dim = m->map->dim, n = m->map->degree + 1, side = VpTurnSide(face->side, face->turn), d = side / 2, count = VpFaceSize(n, dim);
  double    x[3][VP_MAX_N], X[3 * VP_MAX_N * VP_MAX_N];
  int       counts[3] = {1, 1, 1};
  VpMapGrid grid;

  for (int e = 0, bit = 0; e < dim; e++) {
    counts[e] = e == d ? 1 : n;
    for (int q = 0; q < n; q++) x[e][q] = e == d ? side % 2 : (m->map->point[q] + (face->half >> bit & 1)) / 2;
    bit += e != d;
  }
  VpMapGridSet(m->map, counts, (const double *const[]){x[0], x[1], x[2]}, &grid);
  VpMapEvaluate(m->map, face->cell[1], &grid, X, NULL);
  for (int i = 0; i < count; i++) {
    const size_t at = (size_t)face->cell[0] * (size_t)m->nodes + (size_t)NodeOf(m, face->side, i);

    m->moved[at] = 1;
    for (int c = 0; c < dim; c++) m->map->node[at * (size_t)dim + (size_t)c] = X[VpTurnPoint(n, face->turn, i) * dim + c];
  }
}

static PetscErrorCode GetGhosts(const Meeting *m)
{
  const size_t each = (size_t)m->nodes * (size_t)m->map->dim, nown = (size_t)m->mesh->nown;

  PetscFunctionBegin;
  PetscCall(VpMeshExchange(m->mesh, VP_GHOST_FACE, each, MPI_DOUBLE, m->map->node, m->map->node + nown * each));
  PetscCall(VpMeshExchange(m->mesh, VP_GHOST_FACE, (size_t)m->nodes, MPI_DOUBLE, m->moved, m->moved + nown * (size_t)m->nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the nodes that were moved in the cell beyond a side, which is as large, and not in this one. moved: what is noted of them here.
   Returns whether there are any. */
static int TakeNodes(Meeting *m, int32_t cell, int side, int32_t beyond, double moved)
{
  const int dim = m->map->dim, n = m->map->degree + 1, count = VpFaceSize(n, dim), turn = VpMeshTurn(m->mesh, cell, side);
  int       any = 0;

  for (int i = 0; i < count; i++) {
    const size_t to = (size_t)cell * (size_t)m->nodes + (size_t)NodeOf(m, side, i);
    const size_t from = (size_t)beyond * (size_t)m->nodes + (size_t)NodeOf(m, VpTurnSide(side, turn), VpTurnPoint(n, turn, i));

    if (m->moved[to] > 0 || m->moved[from] == 0) continue;
    for (int c = 0; c < dim; c++) m->map->node[to * (size_t)dim + (size_t)c] = m->map->node[from * (size_t)dim + (size_t)c];
    m->moved[to] = moved;
    any = 1;
  }
  return any;
}

/* Cells of a depth that touch a coarse cell in an edge only take nodes there. In a grid these come from cells that share sides with the
   coarse one. Around edges of trees they come from cell to cell. */
static PetscErrorCode TakeOnEdges(Meeting *m, int depth)
{
  const VpMesh    mesh = m->mesh;
  const PetscBool trees = (PetscBool)(mesh->geometry->domain->trees != NULL);
  int             again;

  PetscFunctionBegin;
  do {
    again = 0;
    PetscCall(GetGhosts(m));
    for (int32_t i = 0; i < mesh->nown * 2 * mesh->dim; i++) {
      const int32_t cell = i / (2 * mesh->dim), beyond = mesh->neighbor[i];
      const int     side = i % (2 * mesh->dim);

      if (beyond >= 0 && mesh->geometry->depth[cell] == depth && CellsMeet(m, cell, side, beyond, -1))
        again |= TakeNodes(m, cell, side, beyond, trees);
    }
    if (trees) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &again, 1, MPI_INT, MPI_LOR, mesh->comm));
  } while (trees && again);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finishes the cells of a depth. Requires: larger cells are finished */
static PetscErrorCode MeetAt(Meeting *m, int depth)
{
  const VpMesh     mesh = m->mesh;
  const VpGeometry g = mesh->geometry;

  PetscFunctionBegin;
  PetscCall(GetGhosts(m));
  for (int32_t i = 0; i < mesh->faces.n; i++) {
    const VpFace *face = &mesh->faces.face[i];

    if (face->kind == VP_FACE_FINE && g->depth[face->cell[0]] == depth &&
        CellsMeet(m, face->cell[0], face->side, face->cell[1], face->half))
      MoveNodes(m, face);
  }
  if (mesh->dim == 3) PetscCall(TakeOnEdges(m, depth));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMapMeet(VpMesh mesh, VpMap map)
{
  const size_t each = (size_t)VpMapNodes(map->dim, map->degree) * (size_t)map->dim;
  Meeting      m = {.mesh = mesh, .nodes = VpMapNodes(map->dim, map->degree)};

  PetscFunctionBegin;
  PetscCall(VpMapCreate(map->dim, map->degree, mesh->nface, &m.map));
  PetscCall(PetscCalloc1((size_t)mesh->nface * (size_t)m.nodes + 1, &m.moved));
  PetscCall(PetscArraycpy(m.map->node, map->node, (size_t)mesh->nown * each));
  for (int depth = mesh->least + 1; depth <= mesh->level; depth++) PetscCall(MeetAt(&m, depth));
  PetscCall(PetscArraycpy(map->node, m.map->node, (size_t)mesh->nown * each));
  PetscCall(VpMapDestroy(&m.map));
  PetscCall(PetscFree(m.moved));
  PetscFunctionReturn(PETSC_SUCCESS);
}
