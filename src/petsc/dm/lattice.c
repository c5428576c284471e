/* Cells of an unstructured mesh as places of a lattice: from the first cell on, across sides. */
#include "lattice.h"
#include "../../compat.h"
#include <stdlib.h>

typedef struct {
  PetscInt vertex[4], cell, side; /* vertices in ascending order */
} Side;

int VpPlaceIndex(const VpPlace *p, int dim, int n, int i)
{
  const int stride[3] = {1, n, n * n};
  int       index = 0;

  for (int d = 0; d < dim; d++, i /= n) index += stride[p->axis[d]] * (p->flip[d] ? n - 1 - i % n : i % n);
  return index;
}

static int BySide(const void *a, const void *b)
{
  const Side *x = a, *y = b;

  for (int i = 0; i < 4; i++) {
    if (x->vertex[i] != y->vertex[i]) return x->vertex[i] < y->vertex[i] ? -1 : 1;
  }
  return x->cell != y->cell ? (x->cell < y->cell ? -1 : 1) : (x->side > y->side) - (x->side < y->side);
}

static int ByNumber(const void *a, const void *b)
{
  const PetscInt x = *(const PetscInt *)a, y = *(const PetscInt *)b;

  return (x > y) - (x < y);
}

static PetscBool HaveSameVertices(const Side *a, const Side *b)
{
  PetscBool same = PETSC_TRUE;

  for (int i = 0; i < 4; i++) same = (PetscBool)(same && a->vertex[i] == b->vertex[i]);
  return same;
}

/* Finds the cells beyond sides. */
static PetscErrorCode JoinSides(VpUserLattice *l)
{
  const int sides = 2 * l->dim;
  Side     *all;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(l->n * sides, &all));
  for (PetscInt i = 0; i < l->n * sides; i++) {
    int count = 0;

    all[i].cell = i / sides;
    all[i].side = i % sides;
    l->next[i] = -1;
    for (int c = 0; c < 1 << l->dim; c++) {
      if ((c >> (i % sides) / 2 & 1) == i % 2) all[i].vertex[count++] = l->corner[(i / sides << l->dim) + c];
    }
    qsort(all[i].vertex, (size_t)count, sizeof(PetscInt), ByNumber);
  }
  if (l->n) qsort(all, (size_t)(l->n * sides), sizeof(Side), BySide);
  for (PetscInt i = 1; i < l->n * sides; i++) {
    if (!HaveSameVertices(&all[i - 1], &all[i])) continue;
    if (i > 1 && HaveSameVertices(&all[i - 2], &all[i])) l->why = "more than two of them share a side";
    l->next[all[i].cell * sides + all[i].side] = all[i - 1].cell * sides + all[i - 1].side;
    l->next[all[i - 1].cell * sides + all[i - 1].side] = all[i].cell * sides + all[i].side;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the corner of a cell with this vertex, or -1 */
static int FindCorner(const VpUserLattice *l, PetscInt cell, PetscInt vertex)
{
  int corner = (1 << l->dim) - 1;

  while (corner >= 0 && l->corner[(cell << l->dim) + corner] != vertex) corner--;
  return corner;
}

/* *to = the place that the cell beyond a side of a placed cell has, and the number of that cell. Returns -1 if there is none, or no place
   for it. side: of the place */
static PetscInt PlaceBeyond(VpUserLattice *l, PetscInt cell, int side, VpPlace *to)
{
  const VpPlace  *own = &l->place[cell];
  const int       d = side / 2, upper = side % 2;
  const PetscInt  beyond = l->next[cell * 2 * l->dim + VpPlaceSide(own, side)], next = beyond / (2 * l->dim), *corner;
  const PetscInt *vertex = l->corner + (cell << l->dim);
  int             first;

  if (beyond < 0) return -1;
  corner = l->corner + (next << l->dim);
  *to = *own;
  to->at[d] += upper ? 1 : -1;
  to->axis[d] = (int8_t)(beyond % (2 * l->dim) / 2);
  to->flip[d] = (int8_t)(beyond % 2 ^ !upper);
  first = FindCorner(l, next, vertex[VpPlaceIndex(own, l->dim, 2, upper << d)]);
  for (int e = 0; e < l->dim; e++) {
    int last, axis = 0;

    if (e == d) continue;
    last = FindCorner(l, next, vertex[VpPlaceIndex(own, l->dim, 2, upper << d | 1 << e)]);
    while (axis < l->dim && (first ^ last) != 1 << axis) axis++;
    if (first < 0 || last < 0 || axis == l->dim || corner[first] == corner[last]) {
      l->why = "sides of neighbours are twisted";
      return -1;
    }
    to->axis[e] = (int8_t)axis;
    to->flip[e] = (int8_t)(first >> axis & 1);
  }
  return next;
}

/* Places all cells that are connected with the first one. */
static PetscErrorCode PlaceConnected(VpUserLattice *l)
{
  PetscInt *queue, count = 1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(l->n + 1, &queue));
  queue[0] = 0;
  l->placed[0] = PETSC_TRUE;
  for (PetscInt i = 0; i < count; i++) {
    for (int side = 0; side < 2 * l->dim; side++) {
      VpPlace        to;
      const PetscInt next = PlaceBeyond(l, queue[i], side, &to);

      if (next < 0 || l->placed[next]) continue;
      l->place[next] = to;
      l->placed[next] = PETSC_TRUE;
      queue[count++] = next;
    }
  }
  PetscCall(PetscFree(queue));
  if (count < l->n) l->why = "they are not connected by sides";
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls what() for every pair of neighbours with by how much the lattice places the second one elsewhere than the first one expects. */
static void ForEachGap(VpUserLattice *l, void (*what)(VpUserLattice *, const PetscInt gap[3]))
{
  for (PetscInt i = 0; i < l->n * 2 * l->dim && !l->why; i++) {
    VpPlace        to;
    const PetscInt next = PlaceBeyond(l, i / (2 * l->dim), (int)(i % (2 * l->dim)), &to);
    PetscInt       gap[3] = {0, 0, 0};

    for (int d = 0; d < l->dim && next >= 0; d++) {
      gap[d] = PetscAbsInt(to.at[d] - l->place[next].at[d]);
      if (to.axis[d] != l->place[next].axis[d] || to.flip[d] != l->place[next].flip[d])
        l->why = "around some vertices there are more or fewer of them than in a lattice";
    }
    what(l, gap);
  }
}

/* the least gap that goes along one direction alone */
static void FindPeriod(VpUserLattice *l, const PetscInt gap[3])
{
  for (int d = 0; d < 3; d++) {
    if (gap[d] && gap[0] + gap[1] + gap[2] == gap[d] && (!l->size[d] || gap[d] < l->size[d])) l->size[d] = gap[d];
  }
}

static void CheckPeriod(VpUserLattice *l, const PetscInt gap[3])
{
  for (int d = 0; d < 3; d++) {
    if (gap[d] && (!l->size[d] || gap[d] % l->size[d])) l->why = "around some vertices there are more or fewer of them than in a lattice";
  }
}

int VpComparePlaces(const void *a, const void *b)
{
  const PetscInt *x = (const PetscInt *)a, *y = (const PetscInt *)b;

  for (int d = 2; d >= 0; d--) {
    if (x[d] != y[d]) return x[d] < y[d] ? -1 : 1;
  }
  return 0;
}

/* Counts places from 0 on. Requires: the size is the period, or 0 */
static PetscErrorCode CountPlaces(VpUserLattice *l)
{
  PetscInt *size = l->size;
  VpPlace  *copy;

  PetscFunctionBegin;
  for (int d = 0; d < l->dim; d++) {
    PetscInt least = PETSC_MAX_INT, most = PETSC_MIN_INT;

    for (PetscInt i = 0; i < l->n; i++) least = PetscMin(least, l->place[i].at[d]);
    for (PetscInt i = 0; i < l->n; i++) {
      l->place[i].at[d] -= least;
      if (size[d]) l->place[i].at[d] %= size[d];
      most = PetscMax(most, l->place[i].at[d]);
    }
    if (!size[d]) size[d] = most + 1;
  }
  for (int d = l->dim; d < 3; d++) size[d] = 1;
  PetscCall(PetscMalloc1(l->n + 1, &copy));
  PetscCall(PetscArraycpy(copy, l->place, l->n));
  if (l->n) qsort(copy, (size_t)l->n, sizeof(VpPlace), VpComparePlaces);
  for (PetscInt i = 1; i < l->n; i++) {
    if (!VpComparePlaces(&copy[i - 1], &copy[i])) l->why = "several of them would have the same place";
  }
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPlaceCells(VpUserLattice *l)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(l->n * 2 * l->dim + 1, &l->next));
  PetscCall(PetscCalloc1(l->n + 1, &l->placed));
  PetscCall(JoinSides(l));
  if (!l->why) PetscCall(PlaceConnected(l));
  ForEachGap(l, FindPeriod);
  ForEachGap(l, CheckPeriod);
  for (int d = 0; d < 3; d++) l->periodic[d] = (PetscBool)(l->size[d] > 0);
  if (!l->why) PetscCall(CountPlaces(l));
  PetscCall(PetscFree(l->next));
  PetscCall(PetscFree(l->placed));
  PetscFunctionReturn(PETSC_SUCCESS);
}
