/* The levels of an adaptive mesh: the cells of every depth, among its leaves and the ancestors of finer ones. */
#include "adaptivelevels.h"

/* the position on the lattice of a depth */
static int64_t PositionAt(int dim, VpCurvePosition p, int depth)
{
  return (p.box << dim * depth) + p.before / VpCurveLength(dim, depth);
}

/* the own cells of a depth */
static PetscErrorCode CellsCreate(const VpCurve *curve, int depth, VpLevelCells *cells)
{
  const VpMesh     leaves = curve->mesh;
  const VpGeometry g = leaves->geometry;
  const int        dim = leaves->dim;
  int64_t          last = -1;

  PetscFunctionBegin;
  *cells = (VpLevelCells){.size = leaves->size};
  PetscCallMPI(MPI_Comm_rank(leaves->comm, &cells->rank));
  PetscCall(VpLatticeCreateUniform(g->domain, depth, &cells->lattice));
  PetscCall(PetscMalloc2(leaves->size + 1, &cells->start, leaves->nown, &cells->leaf));
  for (int r = 0; r <= leaves->size; r++) /* the first cell that begins at this rank's first leaf or later */
    cells->start[r] = PositionAt(dim, VpCurveAdvance(dim, curve->begin[r], VpCurveLength(dim, depth) - 1), depth);
  PetscCall(VpCellSetCreate(&cells->all));
  PetscCall(VpCellSetCreate(&cells->sweep));
  PetscCall(VpCellSetCreate(&cells->extra));
  for (int32_t i = 0; i < leaves->nown; i++) {
    const int64_t cell = PositionAt(dim, curve->cell[i], depth);

    if (g->depth[i] < depth || cell == last || cell < cells->start[cells->rank]) continue;
    cells->leaf[cells->all.n] = g->depth[i] == depth ? i : -1;
    PetscCall(VpCellSetAdd(&cells->all, cell));
    last = cell;
  }
  cells->nown = cells->all.n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CellsDestroy(VpLevelCells *cells)
{
  PetscFunctionBegin;
  PetscCall(VpLatticeDestroy(&cells->lattice));
  PetscCall(PetscFree2(cells->start, cells->leaf));
  PetscCall(VpDictionaryDestroy(&cells->all));
  PetscCall(VpDictionaryDestroy(&cells->sweep));
  PetscCall(VpDictionaryDestroy(&cells->extra));
  PetscCall(PetscFree(cells->owner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of own cells; of ghosts what their owners have */
static PetscErrorCode SetLeaves(VpMesh mesh, const VpLevelCells *cells)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mesh->nsweep + 1, &mesh->leaf)); /* not NULL where there are none */
  PetscCall(PetscArraycpy(mesh->leaf, cells->leaf, mesh->nown));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 1, MPI_INT32_T, mesh->leaf, mesh->leaf + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a level with a part of its lattice's cells */
static PetscErrorCode CreatePart(VpMesh leaves, const VpLevelCells *cells, int depth, VpMesh *out)
{
  VpMesh mesh;

  PetscFunctionBegin;
  PetscCall(VpMeshBegin(leaves->comm, VpReference(cells->lattice), &mesh));
  *out = mesh;
  mesh->level = mesh->least = depth;
  mesh->nown = cells->nown;
  mesh->nface = cells->end[0];
  mesh->nsweep = cells->end[1];
  mesh->nhalo = cells->end[2];
  mesh->nlocal = cells->end[3];
  PetscCall(PetscCalloc1(mesh->size + 1, &mesh->starts));
  mesh->starts[cells->rank + 1] = mesh->nown;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mesh->starts, mesh->size + 1, MPIU_INT, MPI_SUM, mesh->comm));
  for (int r = 0; r < mesh->size; r++) mesh->starts[r + 1] += mesh->starts[r];
  mesh->ncell = mesh->starts[mesh->size];
  mesh->first = mesh->starts[cells->rank];
  PetscCall(VpMeshSetExchange(mesh, cells->owner));
  PetscCall(SetLeaves(mesh, cells));
  PetscCall(VpMeshSetCells(mesh, &(VpPositions){.other = cells->all}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the ordinary mesh of all cells of the least depth */
static PetscErrorCode CreateBase(VpMesh leaves, const VpLevelCells *cells, VpMesh *mesh)
{
  PetscInt *starts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(cells->size + 1, &starts));
  for (int r = 0; r <= cells->size; r++) starts[r] = (PetscInt)cells->start[r];
  PetscCall(VpMeshBuild(leaves->comm, cells->lattice, starts, &cells->sweep, &cells->extra, mesh));
  PetscCall(PetscFree(starts));
  PetscCall(SetLeaves(*mesh, cells));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the face at a side of a leaf of the coarser level, with the children of the cell beyond that touch it. False where there are none,
   or not all are local. */
static PetscBool FindEnd(VpMesh fine, int32_t leaf, int side, VpFace *end)
{
  const int32_t next = VpMeshNeighbor(fine->relation->coarse, leaf, side);
  int           n = 0;

  *end = (VpFace){.cell = {leaf}, .side = (uint8_t)side, .kind = VP_FACE_COARSE};
  for (int q = 0; q < 1 << fine->dim && next >= 0; q++) {
    const int32_t child = fine->relation->child[((size_t)next << fine->dim) + q];

    if ((q >> side / 2 & 1) != side % 2 && child >= 0) end->cell[++n] = child;
  }
  return (PetscBool)(n == 1 << (fine->dim - 1));
}

static PetscErrorCode FindEnds(VpMesh fine)
{
  const VpMesh coarse = fine->relation->coarse;
  VpFaces     *ends = &fine->relation->ends;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)2 * fine->dim * coarse->nsweep, &ends->face)); /* at the most */
  for (int32_t leaf = 0; leaf < coarse->nsweep; leaf++) {
    for (int side = 0; side < 2 * fine->dim && coarse->leaf[leaf] >= 0; side++) ends->n += FindEnd(fine, leaf, side, &ends->face[ends->n]);
  }
  PetscCall(PetscRealloc(ends->n * sizeof(*ends->face), &ends->face));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates the level of a depth, whose own cells are known, and all coarser ones. */
static PetscErrorCode CreateLevel(const VpCurve *curve, VpLevelCells *cells, int depth, VpMesh *mesh)
{
  VpLevelCells        coarser;
  VpMesh              coarse;
  const VpCoarsening *step;

  PetscFunctionBegin;
  if (depth == curve->mesh->least) PetscCall(CreateBase(curve->mesh, cells, mesh));
  else {
    PetscCall(CellsCreate(curve, depth - 1, &coarser));
    PetscCall(VpLevelCellsSetGhosts(cells, &coarser, curve->mesh->comm));
    PetscCall(CreatePart(curve->mesh, cells, depth, mesh));
    PetscCall(CreateLevel(curve, &coarser, depth - 1, &coarse));
    PetscCall(CellsDestroy(&coarser));
    PetscCall(VpLatticeCoarsen(cells->lattice, VP_COARSEN_FULL, &step));
    PetscCall(VpMeshRelate(*mesh, &(VpPositions){.other = cells->all}, coarse, cells->lattice, step));
    PetscCall(FindEnds(*mesh));
    PetscCall(VpMeshDestroy(&coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshCreateLevels(VpMesh leaves, VpMesh *finest)
{
  const int    bits = leaves->dim * leaves->level;
  VpCurve      curve;
  VpLevelCells cells;

  PetscFunctionBegin;
  PetscCheck(bits < 62 && leaves->geometry->domain->nbox < (int64_t)1 << (62 - bits), leaves->comm, PETSC_ERR_SUP,
             "Multigrid counts the cells that %d %s refined %d times would have, which are more than 2^62: refine fewer times",
             (int)leaves->geometry->domain->nbox, VpDomainBoxes(leaves->geometry->domain), leaves->level);
  *finest = NULL;
  PetscCall(VpCurveCreate(leaves, &curve));
  PetscCall(CellsCreate(&curve, leaves->level, &cells));
  PetscCall(CreateLevel(&curve, &cells, leaves->level, finest));
  PetscCall(CellsDestroy(&cells));
  PetscCall(VpCurveDestroy(&curve));
  VpMeshSetTransport(*finest, leaves->transport, leaves->link);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMeshBaseLattice(VpMesh mesh, VpLattice *lattice)
{
  PetscFunctionBegin;
  if (VpMeshIsAdaptive(mesh)) PetscCall(VpLatticeCreateUniform(mesh->geometry->domain, mesh->least, lattice));
  else *lattice = VpReference(mesh->geometry->lattice);
  PetscFunctionReturn(PETSC_SUCCESS);
}
