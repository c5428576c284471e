/* The order of interface patches (VpInterfaceView). */
#include "interfacekey.h"
#include "../base/threads.h"

/* Patches of a colour touch no cell of one another: they are on sides of one kind, K's coordinates along the side have the same parities,
   and along its normal the same second bit. */
static int32_t ColorOf(VpMesh coarse, const VpFace *interface)
{
  const int32_t *coord = coarse->geometry->coord + 3 * (size_t)interface->cell[0];
  int32_t        color = interface->side;

  for (int d = 0; d < coarse->dim; d++) color = color << 1 | (coord[d] >> (d == interface->side / 2) & 1);
  return color;
}
_Static_assert(VP_INTERFACE_COLORS == 2 * 3 << 3, "a colour is a side and a bit a direction");

/* order = list, sorted by number[item], which is less than `most`: [start[k], start[k+1]) of it have the number k, in the order of the
   list. */
static void Sort(int32_t n, const int32_t list[], int32_t most, const int32_t number[], int32_t start[], int32_t order[])
{
  for (int32_t k = 0; k <= most; k++) start[k] = 0;
  for (int32_t i = 0; i < n; i++) start[number[list[i]] + 1]++;
  for (int32_t k = 0; k < most; k++) start[k + 1] += start[k];
  for (int32_t i = 0; i < n; i++) order[start[number[list[i]]]++] = list[i];
  for (int32_t k = most; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

/* The steps of patches, colour by colour. A patch's step follows those of all patches of earlier colours that write what it reads or
   writes, or read what it writes. */
typedef struct {
  VpMesh         fine;
  const int32_t *order;      /* the patches of a colour */
  int32_t       *step;       /* [ninterface] */
  uint8_t       *x, *b, *xc; /* [cells] 1 + the last step that writes x or b of a cell, or x of a coarser one; 0: none yet */
} Steps;

/* the most of these numbers of a cell and of those beyond its sides */
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
  const int32_t K = interface[at].cell[0];
  const int     faces = 1 << (mesh->dim - 1);
  int32_t       first = at, past = at + 1;
  uint8_t       steps = LastAround(VpMeshCoarser(mesh), s->xc, K);

  while (first > 0 && interface[first - 1].cell[0] == K) first--;
  while (past < mesh->relation->ends.n && interface[past].cell[0] == K) past++;
  for (int i = 0; i < faces; i++) steps = PetscMax(steps, LastAround(mesh, s->x, interface[at].cell[1 + i]));
  for (int32_t side = first; side < past; side++) {
    for (int i = 0; i < faces; i++) steps = PetscMax(steps, s->b[interface[side].cell[1 + i]]);
  }
  s->step[at] = steps++;
  s->xc[K] = steps;
  for (int i = 0; i < faces; i++) s->x[interface[at].cell[1 + i]] = steps;
  for (int32_t side = first; side < past; side++) {
    for (int i = 0; i < faces; i++) s->b[interface[side].cell[1 + i]] = steps;
  }
}

static void FindSteps(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Steps *steps = context;

  for (int32_t i = first; i < last; i++) FindStep(steps, steps->order[i]);
}

/* number[item] = the patch's step, for those in the order of colours. Cells beyond a patch's sides are read by what writes them, so there
   is no need to note who reads. */
static PetscErrorCode NumberSteps(VpMesh fine, const int32_t order[], const int32_t start[], int32_t number[])
{
  Steps s = {.fine = fine, .step = number};

  PetscFunctionBegin;
  PetscCall(PetscCalloc3(fine->nlocal, &s.x, fine->nlocal, &s.b, VpMeshCoarser(fine)->nlocal, &s.xc));
  for (int color = 0; color < VP_INTERFACE_COLORS; color++) {
    s.order = order + start[color];
    VpLoop(start[color + 1] - start[color], FindSteps, &s);
  }
  PetscCall(PetscFree3(s.x, s.b, s.xc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* hanging[i] = the sides of interface i's K that hang, as bits. CPUs work on several patches at a time, best on those of like K. */
static void FindHanging(const VpFaces *ends, int32_t hanging[])
{
  const VpFace *interface = ends->face;

  for (int32_t first = 0, last; first < ends->n; first = last) {
    int32_t sides = 0;

    for (last = first; last < ends->n && interface[last].cell[0] == interface[first].cell[0]; last++) sides |= 1 << interface[last].side;
    for (int32_t i = first; i < last; i++) hanging[i] = sides;
  }
}

PetscErrorCode VpPlaceInterfaceOrder(VpMesh fine, PetscBool together, int32_t types, const int32_t type[], VpArrays *arrays,
                                     VpInterfaceView *view)
{
  const VpFaces *ends = &fine->relation->ends;
  const int32_t  most = 1 << 2 * fine->dim;
  int32_t       *list, *order, *number, *hanging, *start, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(ends->n, &list, ends->n, &order, ends->n, &number, ends->n, &hanging, PetscMax(types, most) + 1, &start));
  for (int32_t i = 0; i < ends->n; i++) {
    list[i] = i;
    number[i] = ends->face[i].side;
  }
  Sort(ends->n, list, 2 * fine->dim, number, view->kind, order);
  PetscCall(VpPlaceArray(arrays, order, ends->n, "interface patches", &view->by_kind));
  for (int32_t i = 0; i < ends->n; i++) {
    number[i] = ColorOf(VpMeshCoarser(fine), &ends->face[i]);
    if (VpMeshSweepsEnd(fine, &ends->face[i])) list[n++] = i;
  }
  FindHanging(ends, hanging);
  Sort(n, list, types, type, start, order);
  Sort(n, order, most, hanging, start, list);
  Sort(n, list, VP_INTERFACE_COLORS, number, view->start, order);
  if (together) {
    PetscCall(NumberSteps(fine, order, view->start, number));
    Sort(n, order, VP_INTERFACE_COLORS, number, view->start, list);
  }
  PetscCall(VpPlaceArray(arrays, together ? list : order, n, "interface patches", &view->order));
  PetscCall(PetscFree5(list, order, number, hanging, start));
  PetscFunctionReturn(PETSC_SUCCESS);
}
