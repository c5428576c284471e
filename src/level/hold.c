/* The hold of cells: how strongly they are coupled to what fixes u. A constant on a set of cells is no solution of -div(a grad u) = 0
   only because the set is coupled to other cells and, through these, to a side that holds constants (Dirichlet, Robin) or to the
   reaction. The width of a path there is the weakest coupling on it. The hold of a cell is the width of the widest path. If the hold is far
   below the cell's own a/h^2, as beyond an insulating layer, rounding errors hide it:

       a = 1       | 1e-16 | 1                    a of cells in a row; u is given on the left side, du/dn on the right one
       hold 1      | 1e-16 | 1e-16                the cells on the right side may have any constant */
#include "problem.h"

typedef struct {
  VpMesh     mesh;
  PetscReal *strength[3]; /* [dim][nface] a/h^2 of cells along a direction */
  PetscReal *hold;        /* [nface] */
  PetscReal  reaction;
} Holds;

/* the largest number of a cell: a/h^2 of all directions, or the reaction */
static PetscReal ComputeStiffness(const Holds *h, int32_t cell)
{
  PetscReal size = h->reaction;

  for (int d = 0; d < h->mesh->dim; d++) size = PetscMax(size, h->strength[d][cell]);
  return size;
}

/* width of the paths from a cell through the cell beyond a side */
static PetscReal HoldThrough(const Holds *h, int32_t cell, int32_t beyond, int side)
{
  const PetscReal *there = h->strength[VpMeshSideBeyond(h->mesh, cell, side) / 2];

  return PetscMin(PetscMin(h->strength[side / 2][cell], there[beyond]), h->hold[beyond]);
}

static PetscReal ThroughSide(const Holds *h, int32_t cell, int side)
{
  const VpDomain  domain = h->mesh->geometry->domain;
  const int32_t   beyond = VpMeshNeighbor(h->mesh, cell, side);
  const PetscReal size = VpGeometrySize(h->mesh->geometry, cell, side / 2);

  if (beyond >= 0) return HoldThrough(h, cell, beyond, side);
  return h->strength[side / 2][cell] *
         (PetscReal)PetscMin(1, VpConditionGamma(VpDomainSide(domain, beyond), 1, VpDomainAlpha(domain, beyond) * size));
}

static void WidenHold(const Holds *h, int32_t cell, PetscReal width, PetscBool *changed)
{
  if (width <= h->hold[cell]) return;
  h->hold[cell] = width;
  *changed = PETSC_TRUE;
}

/* Widens holds of own cells, in ascending and descending order, until nothing changes. Returns whether anything changed. */
static PetscBool SweepHolds(const Holds *h)
{
  const int32_t n = h->mesh->nown;
  PetscBool     changed, ever = PETSC_FALSE;

  do {
    changed = PETSC_FALSE;
    for (int32_t i = 0; i < 2 * n; i++) {
      const int32_t cell = i < n ? i : 2 * n - 1 - i;

      for (int side = 0; side < 2 * h->mesh->dim; side++) WidenHold(h, cell, ThroughSide(h, cell, side), &changed);
    }
    for (int32_t i = 0; i < h->mesh->faces.n; i++) {
      const VpFace *hang = &h->mesh->faces.face[i];
      const int     count = hang->kind == VP_FACE_COARSE ? 1 << (h->mesh->dim - 1) : 1;

      for (int k = 0; k < count; k++) WidenHold(h, hang->cell[0], HoldThrough(h, hang->cell[0], hang->cell[1 + k], hang->side), &changed);
    }
    ever = (PetscBool)(ever || changed);
  } while (changed);
  return ever;
}

/* Gives one of the stiffest cells an infinite hold. Requires: nothing holds the domain, so that u is sought up to a constant. */
static PetscErrorCode HoldOneCell(const Holds *h)
{
  struct {
    double size;
    int    rank;
  } most = {-1, 0};
  int32_t     cell = -1;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(h->mesh->comm, &rank));
  most.rank = rank;
  for (int32_t c = 0; c < h->mesh->nown; c++) {
    if (ComputeStiffness(h, c) <= most.size) continue;
    most.size = ComputeStiffness(h, c);
    cell = c;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, h->mesh->comm));
  if (most.rank == rank && cell >= 0) h->hold[cell] = PETSC_MAX_REAL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillHolds(const VpProblem *problem, Holds *h)
{
  VpMesh      mesh = h->mesh;
  PetscMPIInt changed = 1;

  PetscFunctionBegin;
  for (int d = 0; d < mesh->dim; d++) {
    for (int32_t c = 0; c < mesh->nown; c++)
      h->strength[d][c] = VpProblemCoefficient(problem, c, d) / VpGeometrySize(mesh->geometry, c, d) / VpGeometrySize(mesh->geometry, c, d);
    PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, 1, MPIU_REAL, h->strength[d], h->strength[d] + mesh->nown));
  }
  for (int32_t c = 0; c < mesh->nown; c++) h->hold[c] = problem->reaction;
  if (VpProblemIsSingular(mesh, problem)) PetscCall(HoldOneCell(h));
  while (changed) {
    PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, 1, MPIU_REAL, h->hold, h->hold + mesh->nown));
    changed = SweepHolds(h);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, mesh->comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProblemHold(VpMesh mesh, const VpProblem *problem, PetscReal *least)
{
  const size_t n = (size_t)mesh->nface + 1;
  Holds        h = {.mesh = mesh, .reaction = problem->reaction};

  PetscFunctionBegin;
  PetscCall(PetscCalloc4(n, &h.strength[0], n, &h.strength[1], n, &h.strength[2], n, &h.hold));
  PetscCall(FillHolds(problem, &h));
  *least = 1;
  for (int32_t c = 0; c < mesh->nown; c++) *least = PetscMin(*least, h.hold[c] / ComputeStiffness(&h, c));
  PetscCall(PetscFree4(h.strength[0], h.strength[1], h.strength[2], h.hold));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, least, 1, MPIU_REAL, MPIU_MIN, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
