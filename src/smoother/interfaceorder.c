/* The order of interface patches (VpInterfaceView). */
#include "interfacekey.h"

/* Patches of a colour touch no cell of one another. They lie on the same side of their K. The coordinates of these K have equal parities
   along the side, and an equal second bit along its normal. */
static int32_t ColorOf(VpMesh coarse, const VpFace *interface)
{
  const int32_t *coord = coarse->geometry->coord + 3 * (size_t)interface->cell[0];
  int32_t        color = interface->side;

  for (int d = 0; d < coarse->dim; d++) color = color << 1 | (coord[d] >> (d == interface->side / 2) & 1);
  return color;
}
_Static_assert(VP_INTERFACE_COLORS == 2 * 3 << 3, "a colour is a side and a bit per direction");

/* order = list, sorted by number[item] < most. Items order[start[k]], ..., order[start[k+1] - 1] have the number k, in the list's order. */
static void SortByNumber(int32_t n, const int32_t list[], int32_t most, const int32_t number[], int32_t start[], int32_t order[])
{
  for (int32_t k = 0; k <= most; k++) start[k] = 0;
  for (int32_t i = 0; i < n; i++) start[number[list[i]] + 1]++;
  for (int32_t k = 0; k < most; k++) start[k + 1] += start[k];
  for (int32_t i = 0; i < n; i++) order[start[number[list[i]]]++] = list[i];
  for (int32_t k = most; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

/* Gives patches their steps, colour by colour. A patch's step comes after those of all patches of earlier colours that write what it reads
   or writes, or read what it writes. */
typedef struct {
  VpMesh         fine;
  const int32_t *around;     /* as in VpInterfaceView */
  int32_t       *step;       /* [ninterface] */
  uint8_t       *x, *b, *xc; /* [cells] 1 + the last step that writes x or b of a cell, or x of a coarser cell; 0: none yet */
} Steps;

/* the largest number among a cell and the cells beyond its sides */
static uint8_t LastAround(VpMesh mesh, const uint8_t steps[], int32_t cell)
{
  uint8_t last = steps[cell];

  for (int side = 0; side < 2 * mesh->dim; side++) {
    const int32_t beyond = VpMeshNeighbor(mesh, cell, side);

    if (beyond >= 0) last = PetscMax(last, steps[beyond]);
  }
  return last;
}

static void FindStep(const Steps *s, int32_t at)
{
  const VpMesh  mesh = s->fine;
  const VpFace *interface = mesh->relation->ends.face;
  const int     faces = 1 << (mesh->dim - 1), sides = 2 * mesh->dim;
  const int32_t K = interface[at].cell[0], *F = interface[at].cell + 1, *around = s->around + (size_t)at * sides;
  uint8_t       steps = LastAround(VpMeshCoarser(mesh), s->xc, K);

  for (int i = 0; i < faces; i++) steps = PetscMax(steps, LastAround(mesh, s->x, F[i]));
  for (int i = 0; i < faces * sides; i++) {
    if (around[i / faces] >= 0) steps = PetscMax(steps, s->b[interface[around[i / faces]].cell[1 + i % faces]]);
  }
  s->step[at] = steps++;
  s->xc[K] = steps;
  for (int i = 0; i < faces; i++) s->x[F[i]] = steps;
  for (int i = 0; i < faces * sides; i++) {
    if (around[i / faces] >= 0) s->b[interface[around[i / faces]].cell[1 + i % faces]] = steps;
  }
}

/* number[i] = the step of patch i, for the n patches in `order`, which are sorted by colour. A patch reads the cells beyond those that it
   writes, so the steps of writers also keep readers apart. */
static PetscErrorCode NumberSteps(VpMesh fine, const int32_t around[], int32_t n, const int32_t order[], int32_t number[])
{
  Steps s = {.fine = fine, .around = around, .step = number};

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(fine->nlocal, &s.x, fine->nlocal, &s.b, VpMeshCoarser(fine)->nlocal, &s.xc));
  for (int32_t i = 0; i < n; i++) FindStep(&s, order[i]);
  PetscCall(PetscFree3(s.x, s.b, s.xc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets `around` (VpInterfaceView), and hanging[i], bits of the sides of interface i's K that have an interface. */
static void FindAround(const VpFaces *ends, int sides, int32_t around[], int32_t hanging[])
{
  const VpFace *interface = ends->face;

  for (int32_t i = 0; i < ends->n * sides; i++) around[i] = -1;
  for (int32_t i = 0; i < ends->n; i++) {
    for (int32_t j = i; j < ends->n && interface[j].cell[0] == interface[i].cell[0]; j++) {
      around[i * sides + interface[j].side] = j;
      around[j * sides + interface[i].side] = i;
    }
    hanging[i] = 0;
    for (int side = 0; side < sides; side++) hanging[i] |= (around[i * sides + side] >= 0) << side;
  }
}

/* Within a step, patches whose K have interfaces on the same sides follow one another: CPUs solve several patches at a time, and are
   fastest if these are equal in that. */
PetscErrorCode VpPlaceInterfaceOrder(VpMesh fine, PetscBool together, int32_t types, const int32_t type[], VpArrays *arrays,
                                     VpInterfaceView *view)
{
  const VpFaces *ends = &fine->relation->ends;
  const int      sides = 2 * fine->dim;
  const int32_t  most = 1 << sides;
  int32_t       *list, *order, *number, *hanging, *around, *start, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc6(ends->n, &list, ends->n, &order, ends->n, &number, ends->n, &hanging, ends->n * sides, &around,
                         PetscMax(types, most) + 1, &start));
  for (int32_t i = 0; i < ends->n; i++) {
    list[i] = i;
    number[i] = ends->face[i].side;
  }
  SortByNumber(ends->n, list, sides, number, view->kind, order);
  PetscCall(VpPlaceArray(arrays, order, ends->n, "interface patches", &view->by_kind));
  for (int32_t i = 0; i < ends->n; i++) {
    number[i] = ColorOf(VpMeshCoarser(fine), &ends->face[i]);
    if (VpMeshSweepsEnd(fine, &ends->face[i])) list[n++] = i;
  }
  FindAround(ends, sides, around, hanging);
  PetscCall(VpPlaceArray(arrays, around, ends->n * sides, "interface patches", &view->around));
  SortByNumber(n, list, types, type, start, order);
  SortByNumber(n, order, most, hanging, start, list);
  SortByNumber(n, list, VP_INTERFACE_COLORS, number, view->start, order);
  if (together) {
    PetscCall(NumberSteps(fine, around, n, order, number));
    SortByNumber(n, order, VP_INTERFACE_COLORS, number, view->start, list);
  }
  PetscCall(VpPlaceArray(arrays, together ? list : order, n, "interface patches", &view->order));
  PetscCall(PetscFree6(list, order, number, hanging, around, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
