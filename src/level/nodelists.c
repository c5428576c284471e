/* Lists what an element restriction has: the nodes of cells, the places of nodes, and the SF; and checks what was given. Loops over ranges
   of nodes read all places, so that nothing is sorted and lists ascend on any number of threads. */
#include "nodes.h"
#include "internal.h"
#include "../base/threads.h"

#define APART 1e-6 /* Points of one node are nearer to each other than this part of a cell. */

typedef struct {
  VpNodes         nodes;
  const PetscInt *given;                 /* [places] entries */
  PetscInt        first, last;           /* own entries */
  PetscInt        N;                     /* entries of all ranks */
  int32_t        *own;                   /* [own entries] 1: an own cell has it; later the number of its node */
  int32_t        *count;                 /* [pieces of cells] numbers of such places, then of those in pieces before */
  PetscInt       *other;                 /* [nother] entries of other ranks that own cells have, ascending, ... */
  PetscInt        nother, nbelow, nused; /* ... of which nbelow are below `first`; number of own entries that own cells have */
  double         *at;                    /* [dim][nnode] points of nodes that all ranks agree on; NULL: those of the first place */
  int64_t         bad;                   /* the first place that is wrong, or INT64_MAX */
} Lists;

static size_t CountPlaces(VpNodes nodes)
{
  return (size_t)nodes->mesh->nown * (size_t)nodes->view.places;
}

/* the beginning of the range of n items on which thread i works */
static PetscInt RangeStart(PetscInt n, int32_t i)
{
  return (PetscInt)((int64_t)n * i / VpThreads);
}

static void KeepLeast(int64_t *least, int64_t value)
{
#ifdef _OPENMP
  #pragma omp critical
#endif
  *least = PetscMin(*least, value);
}

/* Ensures: an error on all ranks that names the wrong place of the first rank that has one. what: says what is wrong, with two numbers:
   entry, and the number `of` */
static PetscErrorCode ReportPlace(const Lists *w, const char what[], PetscInt of)
{
  const VpNodes   nodes = w->nodes;
  const MPI_Comm  comm = nodes->mesh->comm;
  const PetscBool here = (PetscBool)(w->bad < INT64_MAX);
  PetscInt64      found[3] = {here ? w->given[w->bad] : 0, here ? w->bad % nodes->view.places : 0, here ? w->bad / nodes->view.places : 0};
  PetscMPIInt     first;
  char            text[256];

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, here, &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(found, 3, MPIU_INT64, first, comm));
  PetscCall(PetscSNPrintf(text, sizeof(text), what, (PetscInt)found[0], of));
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
          "Element restriction: node %" PetscInt64_FMT " (x fastest) of cell %" PetscInt64_FMT " of rank %d has the number %s", found[1],
          found[2], first, text);
}

/* the number of a node: entries ascend */
static int32_t NumberOf(const Lists *w, PetscInt entry)
{
  PetscInt low = 0, high = w->nother;

  if (entry < 0) return -1;
  if (entry >= w->first && entry < w->last) return w->own[entry - w->first];
  VP_BISECT(low, high, middle, w->other[middle] <= entry);
  return (int32_t)(low < w->nbelow ? low : low + w->nused);
}

/* Counts the places of a piece of cells whose entries are other ranks', or, if there is `other`, copies these entries. */
static void TakeOthers(void *context, int32_t piece, int32_t from, int32_t to)
{
  Lists       *w = (Lists *)context;
  const size_t each = (size_t)w->nodes->view.places;
  int32_t      count = w->other ? w->count[piece] : 0;

  for (size_t i = (size_t)from * each; i < (size_t)to * each; i++) {
    if (w->given[i] < 0 || (w->given[i] >= w->first && w->given[i] < w->last)) continue;
    if (w->other) w->other[count] = w->given[i];
    count++;
  }
  if (!w->other) w->count[piece] = count;
}

/* Finds the entries of other ranks. */
static PetscErrorCode ListOthers(Lists *w)
{
  const int32_t nown = w->nodes->mesh->nown, pieces = VpLoopPieces(nown);

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces, &w->count));
  VpLoop(nown, TakeOthers, w);
  w->nother = VpLoopSum(pieces, w->count);
  PetscCall(PetscMalloc1(w->nother + 1, &w->other));
  VpLoop(nown, TakeOthers, w);
  PetscCall(PetscFree(w->count));
  PetscCall(PetscSortRemoveDupsInt(&w->nother, w->other));
  while (w->nbelow < w->nother && w->other[w->nbelow] < w->first) w->nbelow++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the entries that own cells have, ascending, and makes the SF. If own cells have all own entries, the SF leaves these out: with
   many leaves its set-up takes long. */
static PetscErrorCode NumberNodes(Lists *w, PetscLayout layout)
{
  const VpNodes nodes = w->nodes;
  PetscInt     *entry, *leaf, node, n = 0;

  PetscFunctionBegin;
  PetscCall(ListOthers(w));
  PetscCall(PetscMalloc1(nodes->rows + 1, &w->own));
  VP_LOOP_HEAVY (thread, VpThreads) {
    const PetscInt begin = RangeStart(nodes->rows, thread), end = RangeStart(nodes->rows, thread + 1);

    for (PetscInt i = begin; i < end; i++) w->own[i] = 0;
    for (size_t i = 0; i < CountPlaces(nodes); i++) {
      const PetscInt at = w->given[i] - w->first;

      if (at >= begin && at < end) w->own[at] = 1;
    }
  }
  for (PetscInt i = 0; i < nodes->rows; i++) w->nused += w->own[i];
  nodes->kept = w->nused == nodes->rows ? w->nbelow : -1;
  nodes->view.nnode = (int32_t)(w->nother + w->nused);
  PetscCall(PetscMalloc2(nodes->view.nnode + 1, &entry, nodes->view.nnode + 1, &leaf));
  for (; n < w->nother; n++) {
    entry[n] = w->other[n];
    leaf[n] = n < w->nbelow ? n : n + w->nused;
  }
  node = w->nbelow;
  for (PetscInt i = 0; i < nodes->rows; i++) {
    if (!w->own[i]) continue;
    entry[n] = w->first + i;
    leaf[n] = node;
    n += nodes->kept < 0;
    w->own[i] = (int32_t)node++;
  }
  VP_LOOP (i, (int32_t)CountPlaces(nodes)) nodes->node[i] = NumberOf(w, w->given[i]);
  PetscCall(PetscFree(w->own));
  PetscCall(PetscFree(w->other));
  PetscCall(PetscSFCreate(nodes->mesh->comm, &nodes->sf));
  PetscCall(PetscSFSetGraphLayout(nodes->sf, layout, n, leaf, PETSC_COPY_VALUES, entry));
  PetscCall(PetscSFSetUp(nodes->sf));
  PetscCall(PetscFree2(entry, leaf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesListPlaces(VpNodes nodes)
{
  const size_t places = CountPlaces(nodes);
  PetscBool    fetched = (PetscBool)!nodes->node;

  PetscFunctionBegin;
  if (nodes->start) PetscFunctionReturn(PETSC_SUCCESS);
  if (fetched) {
    PetscCall(VpMallocLarge(places + 1, &nodes->node));
    PetscCall(nodes->backend->download(nodes->view.node, places * sizeof(*nodes->node), nodes->node));
  }
  PetscCall(VpMallocLarge((size_t)nodes->view.nnode + 2, &nodes->start));
  PetscCall(VpMallocLarge(places + 1, &nodes->place));
  nodes->start[0] = nodes->start[1] = 0;
  VP_LOOP_HEAVY (thread, VpThreads) { /* start[k + 2] = number of places of node k */
    const int32_t begin = (int32_t)RangeStart(nodes->view.nnode, thread), end = (int32_t)RangeStart(nodes->view.nnode, thread + 1);

    for (int32_t k = begin; k < end; k++) nodes->start[k + 2] = 0;
    for (size_t i = 0; i < places; i++)
      if (nodes->node[i] >= begin && nodes->node[i] < end) nodes->start[nodes->node[i] + 2]++;
  }
  for (int32_t k = 0; k < nodes->view.nnode; k++) nodes->start[k + 2] += nodes->start[k + 1];
  VP_LOOP_HEAVY (thread, VpThreads) { /* Places of node k are filled in from start[k + 1] on, which becomes their end. */
    const int32_t begin = (int32_t)RangeStart(nodes->view.nnode, thread), end = (int32_t)RangeStart(nodes->view.nnode, thread + 1);

    for (size_t i = 0; i < places; i++)
      if (nodes->node[i] >= begin && nodes->node[i] < end) nodes->place[nodes->start[nodes->node[i] + 1]++] = (int32_t)i;
  }
  if (fetched) PetscCall(PetscFree(nodes->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x [dim] = the point of a place, size [dim] that of its cell */
static void FindPoint(VpNodes nodes, int32_t place, PetscReal x[3], PetscReal size[3])
{
  const int n = nodes->wide ? 3 : nodes->degree + 1;
  int       i = place % nodes->view.places;

  VpGeometryBounds(nodes->mesh->geometry, place / nodes->view.places, x, size);
  for (int d = 0; d < nodes->mesh->dim; d++, i /= n) x[d] += size[d] * nodes->point[i % n];
}

/* Finds the first place whose point is not that of its node k. Directions that are periodic are not compared. */
static void ComparePoints(Lists *w, int32_t k)
{
  const VpNodes nodes = w->nodes;
  const int     dim = nodes->mesh->dim;
  PetscReal     at[3], x[3], size[3];

  if (nodes->start[k] == nodes->start[k + 1]) return;
  FindPoint(nodes, nodes->place[nodes->start[k]], at, size);
  for (int d = 0; d < dim && w->at; d++) at[d] = w->at[(size_t)d * (size_t)nodes->view.nnode + (size_t)k];
  for (int32_t i = nodes->start[k]; i < nodes->start[k + 1]; i++) {
    FindPoint(nodes, nodes->place[i], x, size);
    for (int d = 0; d < dim; d++)
      if (!nodes->mesh->geometry->domain->periodic[d] && PetscAbsReal(at[d] - x[d]) > APART * size[d]) KeepLeast(&w->bad, nodes->place[i]);
  }
}

/* Copies values from one of the nodes that have the same entry to the others. leaves [nnode] */
static PetscErrorCode AgreeOnNodes(VpNodes nodes, double leaves[])
{
  double *roots;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nodes->rows, &roots));
  PetscCall(VpNodesToEntries(nodes, PETSC_MEMTYPE_HOST, MPI_REPLACE, leaves, roots));
  PetscCall(VpNodesFromEntries(nodes, PETSC_MEMTYPE_HOST, roots, leaves));
  PetscCall(PetscFree(roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error if a node is at two points, as with another order of nodes or cells. */
static PetscErrorCode CheckPoints(Lists *w)
{
  const VpNodes nodes = w->nodes;

  PetscFunctionBegin;
  PetscCall(VpTogether(nodes->mesh->comm, VpNodesListPlaces(nodes)));
  if (nodes->sf) {
    PetscCall(PetscMalloc1((size_t)nodes->mesh->dim * (size_t)nodes->view.nnode + 1, &w->at));
    VP_LOOP (k, nodes->view.nnode) {
      PetscReal x[3], size[3];

      FindPoint(nodes, nodes->place[nodes->start[k]], x, size);
      for (int d = 0; d < nodes->mesh->dim; d++) w->at[(size_t)d * (size_t)nodes->view.nnode + (size_t)k] = x[d];
    }
    for (int d = 0; d < nodes->mesh->dim; d++) PetscCall(AgreeOnNodes(nodes, w->at + (size_t)d * (size_t)nodes->view.nnode));
  }
  VP_LOOP (k, nodes->view.nnode) ComparePoints(w, k);
  PetscCall(PetscFree(w->at));
  PetscCall(ReportPlace(w,
                        "%" PetscInt_FMT ", which is also that of a node at another point. Cells come in the order of "
                        "DMVPatchDGGetCellBounds(), nodes of a cell with x fastest, and degree %" PetscInt_FMT " has one node more a "
                        "direction",
                        nodes->degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills nodes->node from the numbers that are given. */
static PetscErrorCode ListGiven(Lists *w, const VpNodesGiven *given, PetscLayout layout)
{
  const VpNodes nodes = w->nodes;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(CountPlaces(nodes) + 1, &nodes->node));
  VP_LOOP (i, (int32_t)CountPlaces(nodes)) { /* The entries of cells are nodes on one rank. */
    nodes->node[i] = (int32_t)w->given[i];
    if (w->given[i] < -1 || w->given[i] >= w->N) KeepLeast(&w->bad, i);
  }
  PetscCall(ReportPlace(w, "%" PetscInt_FMT ", and the matrix has rows 0 to %" PetscInt_FMT "; -1 leaves a node out", w->N - 1));
  if (nodes->mesh->size > 1) PetscCall(NumberNodes(w, layout));
  if (!given->known && !given->entities) PetscCall(CheckPoints(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets nodes->view.node by the backend. own: arrays for as long as this takes */
static PetscErrorCode NumberByBackend(VpNodes nodes, const VpEntities *entities, VpArrays *own)
{
  const size_t n = (size_t)entities->ncell;
  VpEntities   e = *entities;
  int32_t     *node;

  PetscFunctionBegin;
  PetscCall(VpArraysReserve(&nodes->arrays, CountPlaces(nodes) * sizeof(*node), "element restriction", (void **)&node));
  PetscCall(VpPlaceArray(own, entities->neighbor, n * 2 * (size_t)e.dim, "neighbours of cells", &e.neighbor));
  PetscCall(VpPlaceArray(own, entities->first, n, "numbers of nodes", &e.first));
  PetscCall(VpPlaceArray(own, entities->owned, n, "entities of cells", &e.owned));
  PetscCall(nodes->backend->number_nodes(&e, node));
  nodes->view.node = node;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCheckPlaces(MPI_Comm comm, PetscInt ncell, int places)
{
  PetscMPIInt first;

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)((PetscInt64)ncell * places >= INT32_MAX), &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "Rank %d has 2^31 nodes of cells or more: use more ranks", first);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesList(VpNodes nodes, const VpNodesGiven *given, PetscLayout layout)
{
  const MPI_Comm comm = nodes->mesh->comm;
  PetscInt      *numbers = NULL;
  PetscErrorCode error;
  VpArrays       own = {.backend = nodes->backend};
  Lists          w = {.nodes = nodes, .given = given->node, .bad = INT64_MAX};

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetLocalSize(layout, &nodes->rows));
  PetscCall(PetscLayoutGetSize(layout, &w.N));
  PetscCall(PetscLayoutGetRange(layout, &w.first, &w.last));
  PetscCall(VpCheckPlaces(comm, nodes->mesh->nown, nodes->view.places));
  PetscCall(VpCheckPlaces(comm, nodes->rows, 1));
  nodes->view.nnode = (int32_t)nodes->rows;
  if (given->entities && nodes->mesh->size == 1 && nodes->backend->number_nodes) {
    error = NumberByBackend(nodes, given->entities, &own);
    PetscCall(VpArraysRelease(&own));
    PetscCall(error);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (given->entities) PetscCall(VpTogether(comm, VpNodesNumber(given->entities, &numbers)));
  if (numbers) w.given = numbers;
  error = ListGiven(&w, given, layout);
  PetscCall(PetscFree(numbers));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
