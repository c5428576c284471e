/* The leaves' vectors, what moves between them and the levels, and the edge patches between levels. */
#include "composite.h"
#include "internal.h"

/* a level, and what it shares with leaves and with the next coarser one */
typedef struct {
  VpLevel        level;
  int32_t        n;           /* leaves that are its cells: */
  const int32_t *leaf, *cell; /* [n] their numbers among all leaves and on the level, on the backend */
  VpArrays       arrays;
  VpEdgeView     edges;
  uint64_t       steps;     /* of edge patches, as bits, that some rank has */
  PetscBool      exchanges; /* Ghosts travel after every one of them. */
} Sublevel;

struct VpComposite_ {
  VpLevel   leaves;
  VpVector  in, out;
  PetscInt  n; /* levels with leaves */
  Sublevel *sub;
};

static PetscErrorCode PlaceLeaves(Sublevel *sub)
{
  const VpMesh mesh = sub->level->mesh;
  int32_t     *leaf, *cell;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(mesh->nown, &leaf, mesh->nown, &cell));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (mesh->leaf[c] < 0) continue;
    leaf[sub->n] = mesh->leaf[c];
    cell[sub->n++] = c;
  }
  PetscCall(VpPlaceArray(&sub->arrays, leaf, sub->n, "leaves", &sub->leaf));
  PetscCall(VpPlaceArray(&sub->arrays, cell, sub->n, "leaves", &sub->cell));
  PetscCall(PetscFree2(leaf, cell));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The edges between a level and the next one. Ghosts travel after every colour, of which 3D has VP_EDGE_COLORS, or once before all. */
static PetscErrorCode SetEdges(Sublevel *sub, VpLevel coarse, VpExchange exchange)
{
  PetscFunctionBegin;
  sub->exchanges = (PetscBool)(exchange == VP_EXCHANGE_COLOR);
  PetscCall(VpPlaceEdges(sub->level, coarse, (PetscBool)!sub->exchanges, &sub->arrays, &sub->edges));
  for (int c = 0; c < VP_EDGE_COLORS; c++) sub->steps |= (uint64_t)(sub->edges.start[c] < sub->edges.start[c + 1]) << c;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &sub->steps, 1, MPI_UINT64_T, MPI_BOR, coarse->mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeCreate(VpMesh leaves, const VpProblem *problem, VpExchange exchange, PetscInt parts, const VpLevel levels[],
                                 VpComposite *out)
{
  const VpLevel finest = levels[0];
  VpComposite   c;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  *out = c;
  PetscCall(VpLevelCreate(leaves, problem, VP_BASIS_THIN, finest->precision, finest->backend, &c->leaves));
  PetscCall(VpVectorCreate(c->leaves, 1, "right-hand side", &c->in));
  PetscCall(VpVectorCreate(c->leaves, 1, "correction", &c->out));
  PetscCall(PetscCalloc1(parts + 1, &c->sub));
  for (c->n = 0; c->n <= parts;) {
    Sublevel *sub = &c->sub[c->n++];

    sub->level = VpReference(levels[c->n - 1]);
    sub->arrays = (VpArrays){.backend = finest->backend, .precision = finest->precision};
    PetscCall(PlaceLeaves(sub));
    if (c->n <= parts) PetscCall(SetEdges(sub, levels[c->n], exchange));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeDestroy(VpComposite *out)
{
  VpComposite c = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!c) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt l = 0; l < c->n; l++) {
    PetscCall(VpArraysRelease(&c->sub[l].arrays));
    PetscCall(VpLevelDestroy(&c->sub[l].level));
  }
  PetscCall(PetscFree(c->sub));
  PetscCall(VpVectorDestroy(&c->in));
  PetscCall(VpVectorDestroy(&c->out));
  PetscCall(VpLevelDestroy(&c->leaves));
  PetscCall(PetscFree(c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

VpVector VpCompositeIn(VpComposite c)
{
  return c->in;
}

VpVector VpCompositeOut(VpComposite c)
{
  return c->out;
}

/* to[places[i]] = from[others[i]] */
static PetscErrorCode Move(VpComposite c, int32_t n, const int32_t *others, VpVector from, const int32_t *places, VpVector to)
{
  const void *values;
  void       *changed;

  PetscFunctionBegin;
  PetscCall(VpVectorRead(from, VP_GHOST_NONE, &values));
  PetscCall(VpVectorChange(to, VP_GHOST_NONE, VP_GHOST_NONE, &changed));
  PetscCall(c->leaves->backend->move(n, c->leaves->block, others, values, places, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeEnter(VpComposite c, PetscInt l, VpVector b)
{
  PetscFunctionBegin;
  if (l < c->n) PetscCall(Move(c, c->sub[l].n, c->sub[l].leaf, c->in, c->sub[l].cell, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeLeave(VpComposite c, PetscInt l, VpVector x)
{
  PetscFunctionBegin;
  if (l < c->n) PetscCall(Move(c, c->sub[l].n, c->sub[l].cell, x, c->sub[l].leaf, c->out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether a level ends somewhere */
static PetscBool Ends(VpComposite c, PetscInt l)
{
  return (PetscBool)(l + 1 < c->n);
}

PetscErrorCode VpCompositeAddCoarse(VpComposite c, PetscInt l, int sign, VpVector xc, VpVector b)
{
  const Sublevel *sub = &c->sub[l];
  const void     *values;
  void           *changed;

  PetscFunctionBegin;
  if (!Ends(c, l)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpVectorRead(xc, VP_GHOST_SWEEP, &values));
  PetscCall(VpVectorChange(b, VP_GHOST_SWEEP, VP_GHOST_SWEEP, &changed));
  PetscCall(sub->level->ops->add_coarse(&sub->level->view, &sub->edges, sign, values, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeSubtractFine(VpComposite c, PetscInt l, VpVector x, VpVector xc, VpVector bc)
{
  const Sublevel *sub = &c->sub[l];
  const void     *values, *coarse;
  void           *changed;

  PetscFunctionBegin;
  if (!Ends(c, l)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpVectorRead(x, VP_GHOST_SWEEP, &values));
  PetscCall(VpVectorRead(xc, VP_GHOST_SWEEP, &coarse));
  PetscCall(VpVectorChange(bc, VP_GHOST_NONE, VP_GHOST_NONE, &changed));
  PetscCall(sub->level->ops->subtract_fine(&sub->level->view, &sub[1].level->view, &sub->edges, values, coarse, changed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* one step of edge patches */
static PetscErrorCode SolveStep(const Sublevel *sub, int step, VpVector b, VpVector x, VpVector bc, VpVector xc)
{
  const VpEdgeView *edges = &sub->edges;
  const VpGhostKind after[] = {sub->exchanges ? VP_GHOST_NONE : VP_GHOST_SWEEP, sub->exchanges ? VP_GHOST_NONE : VP_GHOST_HALO};
  const void       *coarse;
  void             *changed[3];

  PetscFunctionBegin;
  PetscCall(VpVectorRead(bc, VP_GHOST_SWEEP, &coarse));
  PetscCall(VpVectorChange(b, VP_GHOST_SWEEP, after[0], &changed[0]));
  PetscCall(VpVectorChange(x, VP_GHOST_HALO, after[1], &changed[1]));
  PetscCall(VpVectorChange(xc, VP_GHOST_HALO, after[1], &changed[2]));
  PetscCall(sub->level->ops->solve_edges(&sub->level->view, &sub[1].level->view, edges, edges->start[step], edges->start[step + 1],
                                         changed[0], changed[1], coarse, changed[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCompositeSolveEdges(VpComposite c, PetscInt l, PetscBool reverse, VpVector b, VpVector x, VpVector bc, VpVector xc)
{
  PetscFunctionBegin;
  if (!Ends(c, l)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(VP_EVENT_SWEEP, 0, 0, 0, 0));
  for (int i = 0; i < VP_EDGE_COLORS; i++) {
    const int step = reverse ? VP_EDGE_COLORS - 1 - i : i;

    if (c->sub[l].steps >> step & 1) PetscCall(SolveStep(&c->sub[l], step, b, x, bc, xc));
  }
  PetscCall(PetscLogEventEnd(VP_EVENT_SWEEP, 0, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
