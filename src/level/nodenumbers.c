/* Numbers the nodes of a mesh by the entities of its cells (kernels/entities.h). */
#include "nodes.h"
#include "internal.h"
#include "../base/memory.h"
#include "../base/threads.h"

static void FillStars(VpEntities *e)
{
  for (int i = 0; i < e->entities; i++) {
    int dim = 0;

    for (int d = 0; d < e->dim; d++) dim += VpEntityDigit(i, d) == 1;
    e->of[dim] |= 1 << i;
    for (int m = 0; m < 1 << e->dim; m++) {
      int cell = 0, as = 0, is = 1;

      for (int d = 0, place = 1; d < e->dim; d++, place *= 3) {
        const int digit = VpEntityDigit(i, d), over = m >> d & 1;

        is = is && !(over && digit == 1);
        cell += place * (over ? digit : 1);
        as += place * (over ? 2 - digit : digit);
      }
      if (!is) continue;
      if (m) e->star[i] |= 1 << cell;
      e->cell[i][e->around[i]] = (uint8_t)cell;
      e->as[i][e->around[i]++] = (uint8_t)as;
    }
  }
}

static void FillPlaces(VpEntities *e)
{
  const int n = e->degree + 1;

  for (int i = 0; i < PetscPowInt(n, e->dim); i++) {
    int entity = 0, inside = 0, stride = 1;

    for (int d = 0, rest = i, place = 1; d < e->dim; d++, rest /= n, place *= 3) {
      const int at = rest % n;

      if (at > 0 && at < n - 1) {
        inside += stride * (at - 1);
        stride *= n - 2;
      }
      entity += place * (at == 0 ? 0 : at < n - 1 ? 1 : 2);
    }
    e->entity[i] = (uint8_t)entity;
    e->place[i] = (uint16_t)inside;
  }
}

/* bits of the entities that a cell owns */
static int32_t FindOwnedBy(const VpEntities *e, int32_t cell)
{
  const PetscInt position = VpCellPosition(e, cell);
  int32_t        block[VP_ENTITIES], owned = 0, before = 0, other = 0; /* bits of cells around it: earlier ones, ones that need care */

  VpCellsAround(e, cell, block);
  for (int i = 0; i < e->entities; i++) {
    if (block[i] < 0 || (block[i] == cell && i != e->entities / 2)) other |= 1 << i;
    else if (VpCellPosition(e, block[i]) < position) before |= 1 << i;
  }
  for (int i = 0; i < e->entities; i++) {
    int as = i;

    if (e->star[i] & other ? VpEntityOwner(e, block, i, &as) == cell && as == i : !(e->star[i] & before)) owned |= 1 << i;
  }
  return owned;
}

/* Sets `start` and `owned`, which become those of e, of own cells and of those around them. *rows: number of nodes that own cells own */
static PetscErrorCode FindOwned(VpMesh mesh, const VpEntities *e, PetscInt start[], int32_t owned[], PetscInt *rows)
{
  PetscInt first = 0;

  PetscFunctionBegin;
  *rows = 0;
  VP_LOOP (c, mesh->nown) {
    owned[c] = FindOwnedBy(e, c);
    start[c] = VpCountNodes(e, owned[c]);
  }
  for (int32_t c = 0; c < mesh->nown; c++) {
    const PetscInt count = start[c];

    start[c] = *rows;
    *rows += count;
  }
  if (mesh->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Exscan(rows, &first, 1, MPIU_INT, MPI_SUM, mesh->comm));
  for (int32_t c = 0; c < mesh->nown; c++) start[c] += first;
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 1, MPIU_INT, start, start + mesh->nown));
  PetscCall(VpMeshExchange(mesh, VP_GHOST_SWEEP, 1, MPI_INT32_T, owned, owned + mesh->nown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpEntitiesCreate(VpMesh mesh, int degree, PetscInt *rows, VpEntities **out)
{
  VpEntities *e;
  PetscInt   *position, *start;
  int32_t    *owned;

  PetscFunctionBegin;
  PetscCall(PetscNew(&e));
  *out = e;
  e->dim = mesh->dim;
  e->degree = degree;
  e->entities = (int)PetscPowInt(3, mesh->dim);
  e->ncell = mesh->nown;
  e->neighbor = mesh->neighbor;
  e->inside[0] = 1;
  for (int d = 0; d < mesh->dim; d++) e->inside[d + 1] = e->inside[d] * (degree - 1);
  FillStars(e);
  FillPlaces(e);
  if (mesh->size > 1) {
    PetscCall(VpMallocLarge((size_t)mesh->nlocal + 1, &position));
    e->position = position;
    PetscCall(VpMeshPositions(mesh, position));
  }
  PetscCall(VpMallocLarge((size_t)mesh->nsweep + 1, &start));
  e->first = start;
  PetscCall(VpMallocLarge((size_t)mesh->nsweep + 1, &owned));
  e->owned = owned;
  PetscCall(FindOwned(mesh, e, start, owned, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpEntitiesDestroy(VpEntities **out)
{
  PetscFunctionBegin;
  if (!*out) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree((*out)->position));
  PetscCall(PetscFree((*out)->first));
  PetscCall(PetscFree((*out)->owned));
  PetscCall(PetscFree(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNodesNumber(const VpEntities *e, PetscInt **node)
{
  const int ndof = (int)PetscPowInt(e->degree + 1, e->dim);
  PetscInt *all;

  PetscFunctionBegin;
  PetscCall(VpMallocLarge((size_t)e->ncell * (size_t)ndof + 1, &all));
  VP_LOOP (c, e->ncell) {
    PetscInt of[VP_ENTITIES];

    VpFirstNodes(e, c, of);
    for (int i = 0; i < ndof; i++) all[(size_t)c * (size_t)ndof + (size_t)i] = of[e->entity[i]] + e->place[i];
  }
  *node = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}
