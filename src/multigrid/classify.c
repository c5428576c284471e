/* Numbers for many cells or patches of which most are alike: in threads, but for those of the samples. */
#include "classify.h"
#include "../base/threads.h"
#include "../compat.h"
#include <string.h>

typedef struct {
  const VpItems *items;
  int32_t       *number; /* [n][width]; before that, the samples of every piece, one after another from number[width first] on */
  int32_t       *count;  /* [piece] samples; then how many samples there are in the pieces before */
  int32_t       *sample; /* [samples][width] */
} Numbering;

/* the last sample in every zone of the box that was reached */
typedef struct {
  int32_t  box, item[64], index[64]; /* the item that is the sample, and its number among the samples */
  uint64_t known;                    /* the zones that have one */
  int32_t  n;                        /* samples so far */
} Samples;

/* Is the item a sample? Its zone has one in any case. */
static inline PetscBool Visit(const VpItems *items, int32_t i, Samples *s, int *zone)
{
  const int32_t cell = items->cell ? items->cell[(size_t)items->stride * i] : i;

  *zone = items->mesh->zone[cell];
  if (items->mesh->box[cell] != s->box) s->known = 0;
  s->box = items->mesh->box[cell];
  if ((s->known >> *zone & 1) && (!items->alike || items->alike(items->context, i, s->item[*zone]))) return PETSC_FALSE;
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
    if (Visit(items, i, &s, &zone)) *found++ = i;
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

    (void)Visit(items, i, &s, &zone);
    sample = numbering->sample + (size_t)width * s.index[zone];
    for (int k = 0; k < width; k++) number[k] = sample[k];
  }
}

PetscErrorCode VpNumberItems(const VpItems *items, int32_t number[], int32_t *nsample, int32_t **sample)
{
  const int32_t pieces = VpLoopPieces(items->n), width = items->width;
  Numbering     numbering = {.items = items, .number = number};

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces + 1, &numbering.count));
  numbering.count[pieces] = 0;
  VpLoop(items->n, FindSamples, &numbering);
  *nsample = VpLoopSum(pieces + 1, numbering.count);
  PetscCall(PetscMalloc1((size_t)*nsample * width + 1, sample));
  for (int32_t piece = 0; piece < pieces; piece++) {
    const int32_t *item = number + (size_t)width * VpLoopStart(items->n, piece);

    for (int32_t i = numbering.count[piece]; i < numbering.count[piece + 1]; i++)
      PetscCall(items->number(items->context, *item++, *sample + (size_t)width * i));
  }
  numbering.sample = *sample;
  VpLoop(items->n, GiveNumbers, &numbering);
  PetscCall(PetscFree(numbering.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
