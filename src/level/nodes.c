/* Creates an element restriction, and moves values between nodes and cells. */
#include "nodes.h"
#include "internal.h"

#define APART 1e-6 /* Points of one node are nearer to each other than this part of a cell. */

static size_t CountPlaces(VpNodes nodes)
{
  return (size_t)nodes->mesh->nown * (size_t)nodes->view.ndof;
}

/* Ensures: an error on all ranks that names the place of the first rank where place >= 0. what: says what is wrong, with three %d: entry,
   node and cell, and the number `of` */
static PetscErrorCode ReportPlace(VpNodes nodes, PetscInt64 place, PetscInt64 entry, const char what[], PetscInt of)
{
  const MPI_Comm comm = nodes->mesh->comm;
  PetscInt64     found[3] = {entry, place >= 0 ? place % nodes->view.ndof : 0, place >= 0 ? place / nodes->view.ndof : 0};
  PetscMPIInt    first;
  char           text[256];

  PetscFunctionBegin;
  PetscCall(VpFirstRank(comm, (PetscBool)(place >= 0), &first));
  if (first == INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(found, 3, MPIU_INT64, first, comm));
  PetscCall(PetscSNPrintf(text, sizeof(text), what, (PetscInt)found[0], of));
  SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
          "Element restriction: node %" PetscInt64_FMT " (x fastest) of cell %" PetscInt64_FMT " of rank %d has the number %s", found[1],
          found[2], first, text);
}

static PetscErrorCode CheckRange(VpNodes nodes, PetscInt N, const PetscInt node[])
{
  const PetscInt64 n = (PetscInt64)CountPlaces(nodes);
  PetscInt64       bad = -1;

  PetscFunctionBegin;
  for (PetscInt64 i = 0; i < n && bad < 0; i++) bad = node[i] < -1 || node[i] >= N ? i : -1;
  PetscCall(ReportPlace(nodes, bad, bad < 0 ? 0 : node[bad],
                        "%" PetscInt_FMT ", and the matrix has rows 0 to %" PetscInt_FMT "; -1 leaves a node out", N - 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the place of a point of a cell along direction d */
static PetscReal FindPoint(VpNodes nodes, size_t place, int d)
{
  const int32_t cell = (int32_t)(place / (size_t)nodes->view.ndof);
  PetscReal     lower[3], size[3];
  int           i = (int)(place % (size_t)nodes->view.ndof);

  VpGeometryBounds(nodes->mesh->geometry, cell, lower, size);
  for (int e = 0; e < d; e++) i /= nodes->degree + 1;
  return lower[d] + size[d] * nodes->point[i % (nodes->degree + 1)];
}

/* Copies values from one of the nodes that have the same entry to the others. leaves [nnode] */
static PetscErrorCode AgreeOnNodes(VpNodes nodes, double leaves[])
{
  double *roots;

  PetscFunctionBegin;
  if (!nodes->sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(nodes->rows, &roots));
  PetscCall(PetscSFReduceBegin(nodes->sf, MPI_DOUBLE, leaves, roots, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(nodes->sf, MPI_DOUBLE, leaves, roots, MPI_REPLACE));
  PetscCall(PetscSFBcastBegin(nodes->sf, MPI_DOUBLE, roots, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(nodes->sf, MPI_DOUBLE, roots, leaves, MPI_REPLACE));
  PetscCall(PetscFree(roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error if a node is at two points, as with another order of nodes or cells. Directions that are periodic are not compared. */
static PetscErrorCode CheckPoints(VpNodes nodes, const PetscInt node[])
{
  const VpMesh mesh = nodes->mesh;
  const size_t n = CountPlaces(nodes);
  PetscInt64   bad = -1;
  double      *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nodes->view.nnode, &at));
  for (int d = 0; d < mesh->dim; d++) {
    if (mesh->geometry->domain->periodic[d]) continue;
    for (size_t i = 0; i < n; i++)
      if (nodes->node[i] >= 0) at[nodes->node[i]] = FindPoint(nodes, i, d);
    PetscCall(AgreeOnNodes(nodes, at));
    for (size_t i = 0; i < n && bad < 0; i++) {
      const PetscReal h = VpGeometrySize(mesh->geometry, (int32_t)(i / (size_t)nodes->view.ndof), d);

      if (nodes->node[i] >= 0 && PetscAbsReal(at[nodes->node[i]] - FindPoint(nodes, i, d)) > APART * h) bad = (PetscInt64)i;
    }
  }
  PetscCall(PetscFree(at));
  PetscCall(ReportPlace(nodes, bad, bad < 0 ? 0 : node[bad],
                        "%" PetscInt_FMT ", which is also that of a node at another point. Cells come in the order of "
                        "DMVPatchDGGetCellBounds(), nodes of a cell with x fastest, and degree %" PetscInt_FMT " has one node more a "
                        "direction",
                        nodes->degree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers the entries that own cells have, ascending, and makes the SF. On one rank an entry is a node. */
static PetscErrorCode NumberNodes(VpNodes nodes, PetscLayout layout, const PetscInt node[])
{
  const size_t n = CountPlaces(nodes);
  PetscInt    *entry, count = 0;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(nodes->mesh->comm, &size));
  PetscCall(VpMallocLarge(n + 1, &nodes->node));
  if (size == 1) {
    for (size_t i = 0; i < n; i++) nodes->node[i] = (int32_t)node[i];
    nodes->view.nnode = (int32_t)nodes->rows;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VpMallocLarge(n + 1, &entry));
  for (size_t i = 0; i < n; i++)
    if (node[i] >= 0) entry[count++] = node[i];
  PetscCall(PetscSortRemoveDupsInt(&count, entry));
  for (size_t i = 0; i < n; i++) {
    PetscInt at = -1;

    if (node[i] >= 0) PetscCall(PetscFindInt(node[i], count, entry, &at));
    nodes->node[i] = (int32_t)at;
  }
  nodes->view.nnode = (int32_t)count;
  PetscCall(PetscSFCreate(nodes->mesh->comm, &nodes->sf));
  PetscCall(PetscSFSetGraphLayout(nodes->sf, layout, count, NULL, PETSC_OWN_POINTER, entry));
  PetscCall(PetscSFSetUp(nodes->sf));
  PetscCall(PetscFree(entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceRoots(VpNodes nodes)
{
  const int32_t nown = nodes->mesh->nown;
  double       *root;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nown, &root));
  for (int32_t c = 0; c < nown; c++) {
    root[c] = 1;
    for (int d = 0; d < nodes->mesh->dim; d++) root[c] *= VpGeometrySize(nodes->mesh->geometry, c, d);
    root[c] = sqrt(root[c]);
  }
  PetscCall(VpPlaceArray(&nodes->arrays, root, nown, "volumes of cells", &nodes->root));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places the lists of the view on the backend. */
static PetscErrorCode PlaceView(VpNodes nodes)
{
  VpNodeView  *v = &nodes->view;
  const size_t n = CountPlaces(nodes);
  int32_t     *start, *place;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)v->nnode + 2, &start));
  PetscCall(VpMallocLarge(n + 1, &place));
  for (size_t i = 0; i < n; i++)
    if (nodes->node[i] >= 0) start[nodes->node[i] + 2]++;
  for (int32_t k = 0; k < v->nnode; k++) start[k + 2] += start[k + 1];
  for (size_t i = 0; i < n; i++)
    if (nodes->node[i] >= 0) place[start[nodes->node[i] + 1]++] = (int32_t)i;
  PetscCall(VpPlaceArray(&nodes->arrays, nodes->node, n, "element restriction", &v->node));
  PetscCall(VpPlaceArray(&nodes->arrays, start, (size_t)v->nnode + 1, "element restriction", &v->start));
  PetscCall(VpPlaceArray(&nodes->arrays, place, (size_t)start[v->nnode], "element restriction", &v->place));
  PetscCall(PetscFree(start));
  PetscCall(PetscFree(place));
  PetscCall(PlaceRoots(nodes));
  PetscCall(VpArraysReserve(&nodes->arrays, n * sizeof(double), "values at nodes of cells", (void **)&nodes->cells));
  if (nodes->sf) PetscCall(VpArraysReserve(&nodes->arrays, (size_t)v->nnode * sizeof(double), "values at nodes", (void **)&nodes->nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillNodes(VpNodes nodes, PetscLayout layout, const PetscInt node[])
{
  const MPI_Comm comm = nodes->mesh->comm;
  PetscMPIInt    first;
  PetscInt       N;

  PetscFunctionBegin;
  PetscCall(PetscLayoutGetLocalSize(layout, &nodes->rows));
  PetscCall(PetscLayoutGetSize(layout, &N));
  PetscCall(VpFirstRank(comm, (PetscBool)(CountPlaces(nodes) >= INT32_MAX || nodes->rows >= INT32_MAX), &first));
  PetscCheck(first == INT_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE, "Rank %d has 2^31 nodes of cells or more: use more ranks", first);
  PetscCall(CheckRange(nodes, N, node));
  PetscCall(NumberNodes(nodes, layout, node));
  PetscCall(CheckPoints(nodes, node));
  PetscCall(VpTogether(comm, PlaceView(nodes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesCreate(VpMesh mesh, const VpNodesGiven *given, const VpBackend *backend, PetscLayout layout, VpNodes *out)
{
  PetscErrorCode error;
  VpNodes        nodes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&nodes));
  nodes->mesh = VpReference(mesh);
  nodes->degree = given->degree;
  if (given->point) PetscCall(PetscArraycpy(nodes->point, given->point, given->degree + 1));
  else VpGaussLobatto(given->degree, nodes->point);
  nodes->backend = backend;
  nodes->arrays = nodes->weights = (VpArrays){.backend = backend, .precision = VP_DOUBLE};
  nodes->view = (VpNodeView){.ncell = mesh->nown, .ndof = (int)PetscPowInt(given->degree + 1, mesh->dim)};
  error = FillNodes(nodes, layout, given->node);
  if (error) PetscCall(VpNodesDestroy(&nodes));
  PetscCall(error);
  *out = nodes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesDestroy(VpNodes *out)
{
  VpNodes nodes = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!nodes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&nodes->weights));
  PetscCall(VpArraysRelease(&nodes->arrays));
  PetscCall(PetscFree(nodes->node));
  PetscCall(PetscSFDestroy(&nodes->sf));
  PetscCall(VpMeshDestroy(&nodes->mesh));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on this backend, from entries to the nodes of own cells, and the sums over these of what ranks have at nodes */
static PetscErrorCode FetchEntries(VpNodes nodes, const double *rows)
{
  const PetscMemType type = VpIsDevice(nodes->backend) ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(PetscSFBcastWithMemTypeBegin(nodes->sf, MPIU_REAL, type, rows, type, nodes->nodes, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(nodes->sf, MPIU_REAL, rows, nodes->nodes, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AddToEntries(VpNodes nodes, double *rows)
{
  const PetscMemType type = VpIsDevice(nodes->backend) ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;

  PetscFunctionBegin;
  PetscCall(nodes->backend->zero(rows, (size_t)nodes->rows * sizeof(*rows)));
  PetscCall(PetscSFReduceWithMemTypeBegin(nodes->sf, MPIU_REAL, type, nodes->nodes, type, rows, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(nodes->sf, MPIU_REAL, nodes->nodes, rows, MPIU_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cells = the values of the cells' nodes times `of_cell` and, unless it is NULL, `of_node` */
static PetscErrorCode Gather(VpNodes nodes, const double *of_cell, const double *of_node, const double *rows)
{
  PetscFunctionBegin;
  if (nodes->sf) PetscCall(FetchEntries(nodes, rows));
  PetscCall(nodes->backend->gather(&nodes->view, of_cell, of_node, nodes->sf ? nodes->nodes : rows, nodes->cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the adjoint of Gather() */
static PetscErrorCode Scatter(VpNodes nodes, const double *of_cell, const double *of_node, const double *cells, double *rows)
{
  PetscFunctionBegin;
  PetscCall(nodes->backend->scatter(&nodes->view, of_cell, of_node, cells, nodes->sf ? nodes->nodes : rows));
  if (nodes->sf) PetscCall(AddToEntries(nodes, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesSpread(VpNodes nodes, const double *r)
{
  return Gather(nodes, nodes->of_cell, nodes->of_node, r);
}

PetscErrorCode VpNodesAverage(VpNodes nodes, double *z)
{
  return Scatter(nodes, nodes->of_cell, nodes->of_node, nodes->cells, z);
}

PetscErrorCode VpNodesAddUp(VpNodes nodes, const double *cells, double *r)
{
  return Scatter(nodes, nodes->root, NULL, cells, r);
}

PetscErrorCode VpNodesInject(VpNodes nodes, VpLevel level, const double *u, double *x)
{
  PetscFunctionBegin;
  PetscCall(Gather(nodes, nodes->root, NULL, u));
  PetscCall(level->ops->leave(&level->nodal, PETSC_FALSE, 1, nodes->cells, x));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesCollect(VpNodes nodes, VpLevel level, const double *b, double *r)
{
  PetscFunctionBegin;
  PetscCall(level->ops->enter(&level->nodal, &level->view, 1, NULL, VpGhostsAt(NULL), b, nodes->cells, NULL));
  PetscCall(VpLogFlops(level, VpTransferFlops(&level->view, level->view.nown)));
  PetscCall(VpNodesAddUp(nodes, nodes->cells, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
