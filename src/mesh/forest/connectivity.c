/* p4est's connectivity of a domain. Compiled for two dimensions here and for three in connectivity3d.c. */
#include "forest.h"

/* The corners, or the edges, that several boxes have in common. Item i is corner or edge i % each of box i / each. */
typedef struct {
  int32_t         each, n, nitem; /* n: the number of sets of more than one item */
  int32_t        *same;           /* [nitem] an item of the same ones, the least */
  p4est_topidx_t *of;             /* [nitem] the number of its set, or -1 */
  p4est_topidx_t *start, *tree;   /* set i consists of the items [start[i], start[i+1]) of tree and item */
  int8_t         *item;
} Meeting;

/* lists the members of the sets of more than one item */
static void ListMeetings(Meeting *m)
{
  int32_t *count = P4EST_ALLOC_ZERO(int32_t, m->nitem), total = 0;

  for (int32_t i = 0; i < m->nitem; i++) count[m->same[i] = VpRoot(m->same, i)]++;
  m->of = P4EST_ALLOC(p4est_topidx_t, m->nitem);
  m->start = P4EST_ALLOC(p4est_topidx_t, m->nitem + 1);
  m->tree = P4EST_ALLOC(p4est_topidx_t, m->nitem);
  m->item = P4EST_ALLOC(int8_t, m->nitem);
  for (int32_t i = 0; i < m->nitem; i++) { /* A set comes by its least item first, and count becomes where its next item goes. */
    const int32_t members = count[m->same[i]];

    m->of[i] = -1;
    if (m->same[i] == i && members > 1) {
      m->of[i] = m->n;
      m->start[m->n++] = total;
      count[i] = total;
      total += members;
    } else if (m->same[i] != i) m->of[i] = m->of[m->same[i]];
    if (m->of[i] < 0) continue;
    m->tree[count[m->same[i]]] = i / m->each;
    m->item[count[m->same[i]]++] = (int8_t)(i % m->each);
  }
  m->start[m->n] = total;
  P4EST_FREE(count);
  P4EST_FREE(m->same);
}

static void MeetingEnd(const Meeting *m)
{
  P4EST_FREE(m->of);
  P4EST_FREE(m->start);
  P4EST_FREE(m->tree);
  P4EST_FREE(m->item);
}

/* The bit in which a box's item differs from the same one of the box beyond a side with this normal; 0: an edge along the normal. Corner c
   has bit d where it is upper in direction d. Edge 4 d + i is along direction d, and i has a bit for each of the two others, the lower one
   lowest. */
static int BitAcross(int each, int item, int normal)
{
  const int along = item / 4;

  if (each == P4EST_CHILDREN) return 1 << normal;
  return along == normal ? 0 : 1 << (normal - (along < normal));
}

static Meeting FindMeetings(VpDomain domain, int each)
{
  Meeting m = {.each = each, .nitem = domain->nbox * each};

  m.same = P4EST_ALLOC(int32_t, m.nitem);
  for (int32_t i = 0; i < m.nitem; i++) m.same[i] = i;
  for (int32_t i = 0; i < domain->nbox * P4EST_FACES; i++) {
    const int side = i % P4EST_FACES;

    for (int k = 0; k < each && domain->beyond[i] >= 0; k++) {
      const int bit = BitAcross(each, k, side / 2);

      if (bit && ((k & bit) != 0) == side % 2) VpUnite(m.same, i / P4EST_FACES * each + k, domain->beyond[i] * each + (k ^ bit));
    }
  }
  ListMeetings(&m);
  return m;
}

static p4est_connectivity_t *ConnectBoxes(VpDomain domain)
{
  const size_t          nside = (size_t)domain->nbox * P4EST_FACES;
  p4est_connectivity_t *conn;
  p4est_topidx_t       *tree = P4EST_ALLOC(p4est_topidx_t, nside);
  int8_t               *face = P4EST_ALLOC(int8_t, nside);
  const Meeting         corner = FindMeetings(domain, P4EST_CHILDREN);

  for (size_t i = 0; i < nside; i++) {
    const int side = (int)(i % P4EST_FACES);

    tree[i] = domain->beyond[i] < 0 ? (p4est_topidx_t)(i / P4EST_FACES) : domain->beyond[i];
    face[i] = (int8_t)(domain->beyond[i] < 0 ? side : side ^ 1);
  }
#ifndef P4_TO_P8
  conn = p4est_connectivity_new_copy(0, domain->nbox, corner.n, NULL, NULL, tree, face, corner.of, corner.start, corner.tree, corner.item);
#else
  const Meeting edge = FindMeetings(domain, P8EST_EDGES);

  conn = p8est_connectivity_new_copy(0, domain->nbox, edge.n, corner.n, NULL, NULL, tree, face, edge.of, edge.start, edge.tree, edge.item,
                                     corner.of, corner.start, corner.tree, corner.item);
  MeetingEnd(&edge);
#endif
  MeetingEnd(&corner);
  P4EST_FREE(tree);
  P4EST_FREE(face);
  return conn;
}

/* p4est finds by the numbers of vertices where trees meet. */
static p4est_connectivity_t *ConnectTrees(VpDomain domain)
{
  const size_t          ncorner = (size_t)domain->nbox * P4EST_CHILDREN;
  int32_t               nvertex = 0;
  p4est_connectivity_t *conn;

  for (size_t i = 0; i < ncorner; i++) nvertex = PetscMax(nvertex, domain->trees->corner[i] + 1);
#ifndef P4_TO_P8
  conn = p4est_connectivity_new(nvertex, domain->nbox, 0, 0);
#else
  conn = p8est_connectivity_new(nvertex, domain->nbox, 0, 0, 0, 0);
#endif
  memset(conn->vertices, 0, 3 * (size_t)nvertex * sizeof(double));
  for (size_t i = 0; i < ncorner; i++) conn->tree_to_vertex[i] = domain->trees->corner[i];
  for (int32_t i = 0; i < domain->nbox * P4EST_FACES; i++) {
    conn->tree_to_tree[i] = i / P4EST_FACES;
    conn->tree_to_face[i] = (int8_t)(i % P4EST_FACES);
  }
  p4est_connectivity_complete(conn);
  return conn;
}

p4est_connectivity_t *VP_FOREST(VpConnectivity)(VpDomain domain)
{
  return domain->trees ? ConnectTrees(domain) : ConnectBoxes(domain);
}
