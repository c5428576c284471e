/* Creates an element restriction, and moves values between nodes and cells. */
#include "nodes.h"
#include "internal.h"
#include "../base/threads.h"

static PetscErrorCode PlaceRoots(VpNodes nodes)
{
  const int32_t nown = nodes->mesh->nown;
  double       *root; /* [nown] */

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nown, &root));
  VP_LOOP (c, nown) root[c] = sqrt(VpGeometryVolume(nodes->mesh->geometry, c));
  PetscCall(VpPlaceArray(&nodes->arrays, root, nown, "volumes of cells", &nodes->root));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the places of nodes by the backend. */
static PetscErrorCode ListOnDevice(VpNodes nodes)
{
  VpNodeView  *v = &nodes->view;
  const size_t places = (size_t)v->ncell * (size_t)v->places;
  int32_t     *start, *place;

  PetscFunctionBegin;
  PetscCall(VpArraysReserve(&nodes->arrays, ((size_t)v->nnode + 1) * sizeof(*start), "element restriction", (void **)&start));
  PetscCall(VpArraysReserve(&nodes->arrays, places * sizeof(*place), "element restriction", (void **)&place));
  PetscCall(nodes->backend->list_places(v, start, place));
  v->start = start;
  v->place = place;
  PetscCall(PetscFree(nodes->node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places the lists of the view on the backend. Those of the host are its own. */
static PetscErrorCode PlaceView(VpNodes nodes)
{
  VpNodeView  *v = &nodes->view;
  const size_t n = (size_t)v->ncell * (size_t)v->ndof, places = (size_t)v->ncell * (size_t)v->places;

  PetscFunctionBegin;
  if (nodes->node) PetscCall(VpShowArray(&nodes->arrays, nodes->node, places, "element restriction", &v->node));
  if (nodes->backend->list_places) PetscCall(ListOnDevice(nodes));
  else {
    PetscCall(VpNodesListPlaces(nodes));
    v->start = nodes->start;
    v->place = nodes->place;
  }
  PetscCall(PlaceRoots(nodes));
  PetscCall(VpArraysReserve(&nodes->arrays, n * sizeof(double), "values at nodes of cells", (void **)&nodes->cells));
  if (nodes->sf) PetscCall(VpArraysReserve(&nodes->arrays, (size_t)v->nnode * sizeof(double), "values at nodes", (void **)&nodes->nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillNodes(VpNodes nodes, const VpNodesGiven *given, PetscLayout layout)
{
  PetscFunctionBegin;
  PetscCall(VpNodesList(nodes, given, layout));
  PetscCall(VpTogether(nodes->mesh->comm, PlaceView(nodes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesCreate(VpMesh mesh, const VpNodesGiven *given, const VpBackend *backend, PetscLayout layout, VpNodes *out)
{
  PetscErrorCode error;
  VpNodes        nodes;

  PetscFunctionBegin;
  PetscCall(PetscNew(&nodes));
  nodes->refct = 1;
  nodes->mesh = VpReference(mesh);
  nodes->degree = given->degree;
  nodes->wide = given->wide;
  if (given->wide) VpGaussLobatto(2, nodes->point);
  else if (given->point) PetscCall(PetscArraycpy(nodes->point, given->point, given->degree + 1));
  else VpGaussLobatto(given->degree, nodes->point);
  nodes->backend = backend;
  nodes->arrays = (VpArrays){.backend = backend, .precision = VP_DOUBLE};
  nodes->view = (VpNodeView){.ncell = mesh->nown, .dim = mesh->dim, .ndof = (int)PetscPowInt(given->degree + 1, mesh->dim)};
  nodes->view.wide = given->wide;
  nodes->view.places = given->wide ? (int)PetscPowInt(3, mesh->dim) : nodes->view.ndof;
  error = FillNodes(nodes, given, layout);
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
  if (!nodes || --nodes->refct > 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpArraysRelease(&nodes->arrays));
  PetscCall(PetscFree(nodes->node));
  PetscCall(PetscFree(nodes->start));
  PetscCall(PetscFree(nodes->place));
  PetscCall(PetscSFDestroy(&nodes->sf));
  PetscCall(VpMeshDestroy(&nodes->mesh));
  PetscCall(PetscFree(nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether PETSc's SF takes memory of the backend */
static PetscBool SFTakesDevice(VpNodes nodes, PetscMemType *type)
{
  *type = PETSC_MEMTYPE_HOST;
#if defined(PETSC_HAVE_CUDA)
  if (VpIsDevice(nodes->backend)) *type = PETSC_MEMTYPE_CUDA;
  return PETSC_TRUE;
#else
  return (PetscBool)!VpIsDevice(nodes->backend);
#endif
}

/* copies n values in memory of one type; from NULL: zeros */
static PetscErrorCode CopyValues(VpNodes nodes, PetscMemType type, size_t n, const double *from, double *to)
{
  if (PetscMemTypeHost(type)) return from ? PetscArraycpy(to, from, n) : PetscArrayzero(to, n);
  return from ? nodes->backend->copy(from, n * sizeof(double), to) : nodes->backend->zero(to, n * sizeof(double));
}

PetscErrorCode VpNodesFromEntries(VpNodes nodes, PetscMemType type, const double *rows, double *values)
{
  PetscFunctionBegin;
  if (nodes->kept >= 0) PetscCall(CopyValues(nodes, type, (size_t)nodes->rows, rows, values + nodes->kept));
  PetscCall(PetscSFBcastWithMemTypeBegin(nodes->sf, MPIU_REAL, type, rows, type, values, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(nodes->sf, MPIU_REAL, rows, values, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesToEntries(VpNodes nodes, PetscMemType type, MPI_Op op, const double *values, double *rows)
{
  PetscFunctionBegin;
  PetscCall(CopyValues(nodes, type, (size_t)nodes->rows, nodes->kept < 0 ? NULL : values + nodes->kept, rows));
  PetscCall(PetscSFReduceWithMemTypeBegin(nodes->sf, MPIU_REAL, type, values, type, rows, op));
  PetscCall(PetscSFReduceEnd(nodes->sf, MPIU_REAL, values, rows, op));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* copies of entries and of nodes' values on the host, where a PETSc without CUDA works on them */
typedef struct {
  double *rows, *nodes;
} Staged;

/* from entries to the nodes of own cells, `to` */
static PetscErrorCode FetchEntries(VpNodes nodes, const double *rows, double *to)
{
  PetscMemType type;
  Staged       host;

  PetscFunctionBegin;
  if (SFTakesDevice(nodes, &type)) PetscFunctionReturn(VpNodesFromEntries(nodes, type, rows, to));
  PetscCall(PetscMalloc2(nodes->rows, &host.rows, nodes->view.nnode, &host.nodes));
  PetscCall(nodes->backend->download(rows, (size_t)nodes->rows * sizeof(double), host.rows));
  PetscCall(VpNodesFromEntries(nodes, type, host.rows, host.nodes));
  PetscCall(nodes->backend->upload(host.nodes, (size_t)nodes->view.nnode * sizeof(double), to));
  PetscCall(PetscFree2(host.rows, host.nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows = the sums of what ranks have at nodes, nodes->nodes */
static PetscErrorCode AddToEntries(VpNodes nodes, double *rows)
{
  PetscMemType type;
  Staged       host;

  PetscFunctionBegin;
  if (SFTakesDevice(nodes, &type)) PetscFunctionReturn(VpNodesToEntries(nodes, type, MPIU_SUM, nodes->nodes, rows));
  PetscCall(PetscMalloc2(nodes->rows, &host.rows, nodes->view.nnode, &host.nodes));
  PetscCall(nodes->backend->download(nodes->nodes, (size_t)nodes->view.nnode * sizeof(double), host.nodes));
  PetscCall(VpNodesToEntries(nodes, type, MPIU_SUM, host.nodes, host.rows));
  PetscCall(nodes->backend->upload(host.rows, (size_t)nodes->rows * sizeof(double), rows));
  PetscCall(PetscFree2(host.rows, host.nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *values = what a VpGather of these nodes reads the values of entries from */
static PetscErrorCode FetchValues(VpNodes nodes, const double *rows, const double **values)
{
  PetscFunctionBegin;
  if (nodes->sf) PetscCall(FetchEntries(nodes, rows, nodes->nodes));
  *values = nodes->sf ? nodes->nodes : rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the adjoint of a VpGather */
static PetscErrorCode ScatterCells(VpNodes nodes, const double *of_cell, const double *of_node, const double *cells, double *rows)
{
  PetscFunctionBegin;
  PetscCall(nodes->backend->scatter(&nodes->view, of_cell, of_node, cells, nodes->sf ? nodes->nodes : rows));
  if (nodes->sf) PetscCall(AddToEntries(nodes, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesSumWeights(VpNodes nodes, const double *t, double *of_node, double *one)
{
  double *rows = of_node;

  PetscFunctionBegin;
  if (nodes->sf) PetscCall(nodes->backend->borrow((size_t)nodes->rows * sizeof(*rows) + 1, "weights of nodes", (void **)&rows));
  PetscCall(ScatterCells(nodes, t, NULL, NULL, rows));
  PetscCall(nodes->backend->reciprocals((size_t)nodes->rows, rows, one));
  if (nodes->sf) {
    PetscCall(FetchEntries(nodes, rows, of_node));
    PetscCall(nodes->backend->give_back(rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesSumForm(VpNodes nodes, const VpNodeForm *form, double *diagonal)
{
  PetscFunctionBegin;
  PetscCall(nodes->backend->form_diagonal(&nodes->view, form, nodes->sf ? nodes->nodes : diagonal));
  if (nodes->sf) PetscCall(AddToEntries(nodes, diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesSpread(VpNodes nodes, const VpNodeMeans *means, const double *r, VpGather *gather, const double **values)
{
  *gather = (VpGather){nodes->view, means->of_cell, means->of_node};
  return FetchValues(nodes, r, values);
}

PetscErrorCode VpNodesAverage(VpNodes nodes, const VpNodeMeans *means, double *z)
{
  return ScatterCells(nodes, means->of_cell, means->of_node, nodes->cells, z);
}

PetscErrorCode VpNodesAddUp(VpNodes nodes, const double *cells, double *r)
{
  return ScatterCells(nodes, nodes->root, NULL, cells, r);
}

PetscErrorCode VpNodesInject(VpNodes nodes, VpLevel level, const double *u, double *x)
{
  const VpGather gather = {nodes->view, nodes->root, NULL};
  const double  *values = NULL;
  VpView         view = level->nodal;

  PetscFunctionBegin;
  view.gather = &gather;
  PetscCall(FetchValues(nodes, u, &values));
  PetscCall(level->ops->leave(&view, PETSC_FALSE, 1, values, x));
  PetscCall(VpLogFlops(level->backend, VpTransferFlops(&level->view, level->view.nown)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesCollect(VpNodes nodes, VpLevel level, const double *b, double *r)
{
  PetscFunctionBegin;
  PetscCall(level->ops->enter(&level->nodal, &level->view, 1, NULL, VpGhostsAt(NULL), b, nodes->cells, NULL));
  PetscCall(VpLogFlops(level->backend, VpTransferFlops(&level->view, level->view.nown)));
  PetscCall(VpNodesAddUp(nodes, nodes->cells, r));
  PetscFunctionReturn(PETSC_SUCCESS);
}
