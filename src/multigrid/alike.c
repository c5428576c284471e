/* Numbers for many cells or patches of which most are alike: in threads, but for those of the samples. */
#include "alike.h"
#include "../base/threads.h"
#include "../compat.h"
#include <string.h>

typedef struct {
  const VpItems *items;
  int32_t       *number; /* [n][width]; before that, the samples of every piece, one after another from number[width first] on */
  int32_t       *count;  /* [piece] samples; then how many samples there are in the pieces before */
  int32_t       *sample; /* [samples][width] their numbers; NULL until they are known */
} Numbering;

/* Goes through the items and keeps, for every zone of the box, the last sample. Finds the samples, or gives their numbers to all items. */
static void NumberPiece(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Numbering *numbering = (Numbering *)context;
  const VpItems   *items = numbering->items;
  const VpMesh     mesh = items->mesh;
  int32_t          box = -1, item[64], place[64], n = numbering->sample ? numbering->count[piece] : 0;
  uint64_t         known = 0; /* zones that have a sample */

  for (int32_t i = first; i < last; i++) {
    const int32_t cell = items->cell ? items->cell[(size_t)items->stride * i] : i;
    const int     zone = mesh->zone[cell];

    if (mesh->box[cell] != box) known = 0;
    box = mesh->box[cell];
    if (!(known >> zone & 1) || (items->alike && !items->alike(items->context, i, item[zone]))) {
      known |= (uint64_t)1 << zone;
      item[zone] = i;
      place[zone] = n;
      if (!numbering->sample) numbering->number[(size_t)items->width * first + n] = i;
      n++;
    }
    if (!numbering->sample) continue;
    for (int k = 0; k < items->width; k++)
      numbering->number[(size_t)items->width * i + k] = numbering->sample[(size_t)items->width * place[zone] + k];
  }
  if (!numbering->sample) numbering->count[piece] = n;
}

PetscErrorCode VpNumberItems(const VpItems *items, int32_t number[], int32_t *nsample, int32_t **sample)
{
  const int32_t pieces = VpLoopPieces(items->n);
  Numbering     numbering = {.items = items, .number = number};
  int32_t       n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces, &numbering.count));
  VpLoop(items->n, NumberPiece, &numbering);
  *nsample = 0;
  for (int32_t piece = 0; piece < pieces; piece++) *nsample += numbering.count[piece];
  PetscCall(PetscMalloc1((size_t)*nsample * items->width + 1, sample));
  for (int32_t piece = 0; piece < pieces; piece++) {
    const int32_t *from = number + (size_t)items->width * VpLoopStart(items->n, piece), count = numbering.count[piece];

    numbering.count[piece] = n;
    for (int32_t i = 0; i < count; i++, n++) PetscCall(items->number(items->context, from[i], *sample + (size_t)items->width * n));
  }
  numbering.sample = *sample;
  VpLoop(items->n, NumberPiece, &numbering);
  PetscCall(PetscFree(numbering.count));
  PetscFunctionReturn(PETSC_SUCCESS);
}
