/* Numbers many items, most of which are equivalent. All threads look for samples, one thread numbers these, and all threads copy their
   numbers to the other items. */
#include "classify.h"
#include "../base/threads.h"
#include "../compat.h"
#include <string.h>

static inline int32_t CellOf(const VpItems *items, int32_t i)
{
  return items->cell ? items->cell[(size_t)items->stride * i] : i;
}

typedef struct {
  const VpItems *items;
  int32_t       *number; /* [n][width]; at first the samples of every piece, from number[width first] on */
  int32_t       *count;  /* [pieces] number of samples in a piece; then in all pieces before it */
  int32_t       *sample; /* [samples][width] numbers of the samples */
} Numbering;

/* the last sample in each zone of the current box */
typedef struct {
  int32_t  box, item[64], index[64]; /* [zone] the sample; its number among the samples */
  uint64_t known;                    /* bits of the zones that have a sample */
  int32_t  n;                        /* samples so far */
} Samples;

/* Makes the item a sample unless it is equivalent to the last sample of its zone. Returns whether it is one. */
static inline PetscBool VisitItem(const VpItems *items, int32_t i, Samples *s, int *zone)
{
  const int32_t cell = CellOf(items, i);

  *zone = items->mesh->geometry->zone[cell];
  if (items->mesh->geometry->box[cell] != s->box) s->known = 0;
  s->box = items->mesh->geometry->box[cell];
  if ((s->known >> *zone & 1) && items->alike(items->context, i, s->item[*zone])) return PETSC_FALSE;
  s->known |= (uint64_t)1 << *zone;
  s->item[*zone] = i;
  s->index[*zone] = s->n++;
  return PETSC_TRUE;
}

static void FindSamples(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Numbering *numbering = context;
  const VpItems   *items = numbering->items;
  int32_t         *found = numbering->number + (size_t)items->width * first;
  Samples          s = {.box = -1};
  int              zone;

  for (int32_t i = first; i < last; i++) {
    if (VisitItem(items, i, &s, &zone)) *found++ = i;
  }
  numbering->count[piece] = s.n;
}

static void GiveNumbers(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Numbering *numbering = context;
  const VpItems   *items = numbering->items;
  const int        width = items->width;
  int32_t         *number = numbering->number + (size_t)width * first;
  Samples          s = {.box = -1, .n = numbering->count[piece]};
  int              zone;

  for (int32_t i = first; i < last; i++, number += width) {
    const int32_t *sample;

    (void)VisitItem(items, i, &s, &zone);
    sample = numbering->sample + (size_t)width * s.index[zone];
    for (int k = 0; k < width; k++) number[k] = sample[k];
  }
}

PetscErrorCode VpNumberItems(const VpItems *items, int32_t number[])
{
  const int32_t pieces = VpLoopPieces(items->n), width = items->width;
  Numbering     numbering = {.items = items, .number = number};
  int32_t       nsample;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces + 1, &numbering.count));
  numbering.count[pieces] = 0;
  VpLoop(items->n, FindSamples, &numbering);
  nsample = VpLoopSum(pieces + 1, numbering.count);
  PetscCall(PetscMalloc1((size_t)nsample * width + 1, &numbering.sample));
  for (int32_t piece = 0; piece < pieces; piece++) {
    const int32_t *item = number + (size_t)width * VpLoopStart(items->n, piece);

    for (int32_t i = numbering.count[piece]; i < numbering.count[piece + 1]; i++)
      PetscCall(items->number(items->context, *item++, numbering.sample + (size_t)width * i));
  }
  VpLoop(items->n, GiveNumbers, &numbering);
  PetscCall(PetscFree(numbering.sample));
  PetscCall(PetscFree(numbering.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- by box */

enum { NZONE = 4 };

/* what the numbers along a direction were found for last, among the boxes of a slab */
typedef struct {
  int32_t below, above, second; /* classes of the boxes there, or codes of boundaries */
  int32_t row;                  /* -1: no row yet */
} Found;

typedef struct {
  const VpItems *items;
  int32_t       *number;
  uint8_t       *used; /* [nbox] whether the box has an item */
  int32_t       *row;  /* [nbox][3] row of `entry` */
  int32_t (*entry)[NZONE];
  int32_t nrow, capacity;
} ByBox;

static void MarkBoxes(void *context, int32_t piece, int32_t first, int32_t last)
{
  const ByBox *by = context;
  int32_t      before = -1;

  for (int32_t i = first; i < last; i++) {
    const int32_t box = by->items->mesh->geometry->box[CellOf(by->items, i)];

    if (box != before) __atomic_store_n(&by->used[box], 1, __ATOMIC_RELAXED); /* Several pieces may share a box. */
    before = box;
  }
}

/* Adds a row of entries, one for each zone that a box has along d. */
static PetscErrorCode AddRow(ByBox *by, int32_t box, int d, int32_t *row)
{
  const VpItems *items = by->items;
  const int      bits = VpShapeOf(items->mesh->geometry->lattice, box)->bits[d];

  PetscFunctionBegin;
  if (by->nrow == by->capacity) {
    by->capacity = 2 * by->capacity + 64;
    PetscCall(PetscRealloc((size_t)by->capacity * sizeof(*by->entry), &by->entry));
  }
  *row = by->nrow++;
  for (int zone = 0; zone < NZONE; zone++) {
    const PetscBool exists = (PetscBool)(zone == 1 || (zone == 3 ? bits > 0 : bits > 1));

    by->entry[*row][zone] = -1;
    if (exists) PetscCall(items->number_at(items->context, box, zone, d, &by->entry[*row][zone]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets by->row of a box along d. A box takes the last row of its slab if the same lies beyond both boxes. */
static PetscErrorCode FindRow(ByBox *by, int32_t box, int d, const int32_t slab[], Found *found)
{
  const VpDomain domain = by->items->mesh->geometry->domain;
  const int32_t *beyond = domain->beyond + ((size_t)box * domain->dim + d) * 2;
  const int32_t  second = beyond[1] < 0 ? beyond[1] : domain->beyond[((size_t)beyond[1] * domain->dim + d) * 2 + 1];
  const Found    now = {.below = beyond[0] < 0 ? beyond[0] : slab[beyond[0]],
                        .above = beyond[1] < 0 ? beyond[1] : slab[beyond[1]],
                        .second = second < 0 ? second : slab[second],
                        .row = found->row};

  PetscFunctionBegin;
  if (found->row < 0 || memcmp(&now, found, sizeof(now))) {
    *found = now;
    PetscCall(AddRow(by, box, d, &found->row));
  }
  by->row[3 * (size_t)box + d] = found->row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FindRows(ByBox *by)
{
  const VpDomain domain = by->items->mesh->geometry->domain;
  const int32_t *slab[3];
  Found         *found[3]; /* [slab] */

  PetscFunctionBegin;
  for (int d = 0; d < domain->dim; d++) {
    PetscCall(VpDomainGetSlabs(domain, d, &slab[d]));
    PetscCall(PetscMalloc1(domain->nbox, &found[d]));
    for (int32_t b = 0; b < domain->nbox; b++) found[d][b].row = -1;
  }
  for (int32_t b = 0; b < domain->nbox; b++) {
    for (int d = 0; by->used[b] && d < domain->dim; d++) PetscCall(FindRow(by, b, d, slab[d], &found[d][slab[d][b]]));
  }
  for (int d = 0; d < domain->dim; d++) PetscCall(PetscFree(found[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void GiveEntries(void *context, int32_t piece, int32_t first, int32_t last)
{
  const ByBox *by = context;
  const VpMesh mesh = by->items->mesh;
  int32_t     *number = by->number + (size_t)mesh->dim * first;

  for (int32_t i = first; i < last; i++) {
    const int32_t  cell = CellOf(by->items, i);
    const int32_t *row = by->row + 3 * (size_t)mesh->geometry->box[cell];

    for (int d = 0; d < mesh->dim; d++) *number++ = by->entry[row[d]][VpGeometryZone(mesh->geometry, cell, d)];
  }
}

PetscErrorCode VpNumberByBox(const VpItems *items, int32_t number[])
{
  const int32_t nbox = items->mesh->geometry->domain->nbox;
  ByBox         by = {.items = items, .number = number};

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(nbox, &by.used));
  PetscCall(PetscMalloc1(3 * (size_t)nbox, &by.row));
  VpLoop(items->n, MarkBoxes, &by);
  PetscCall(FindRows(&by));
  VpLoop(items->n, GiveEntries, &by);
  PetscCall(PetscFree(by.used));
  PetscCall(PetscFree(by.row));
  PetscCall(PetscFree(by.entry));
  PetscFunctionReturn(PETSC_SUCCESS);
}
