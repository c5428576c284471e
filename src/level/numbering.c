/* Numbers many items, most of which are equivalent. All threads look for samples, one thread numbers these, and all threads copy their
   numbers to the other items. */
#include "numbering.h"
#include "../base/threads.h"
#include <string.h>

static inline int32_t CellOf(const VpNumbering *numbering, int32_t i)
{
  return numbering->cell ? numbering->cell[(size_t)numbering->stride * i] : i;
}

/* the last sample in each zone of the current box */
typedef struct {
  int32_t  box, item[64], index[64]; /* [zone] the sample; its number among the samples */
  uint64_t known;                    /* bits of the zones that have a sample */
  int32_t  n;                        /* samples so far */
} Samples;

/* Makes the item a sample unless it is equivalent to the last sample of its zone. Returns whether it is one. */
static inline PetscBool VisitItem(const VpNumbering *numbering, int32_t i, Samples *s, int *zone)
{
  const int32_t cell = CellOf(numbering, i);

  *zone = numbering->mesh->geometry->zone[cell];
  if (numbering->mesh->geometry->box[cell] != s->box) s->known = 0;
  s->box = numbering->mesh->geometry->box[cell];
  if ((s->known >> *zone & 1) && numbering->equal(numbering->context, i, s->item[*zone])) return PETSC_FALSE;
  s->known |= (uint64_t)1 << *zone;
  s->item[*zone] = i;
  s->index[*zone] = s->n++;
  return PETSC_TRUE;
}

enum { SOME = 32768, LATELY = 256 }; /* samples whose keys are made at a time; the last keys that a thread compares with */

/* keys of some samples */
typedef struct {
  const VpNumbering *numbering;
  const int32_t     *item;   /* [samples] */
  size_t             words;  /* of a key and its item of the dictionary */
  uint64_t          *made;   /* [samples][width][words] */
  int32_t           *same;   /* [samples][width] an earlier number that has the same key, or -1 */
  int32_t           *number; /* [samples][width] where this is -1: the number of the key in the dictionary, or -1 */
} Keys;

static void MakeKeys(void *context, int32_t piece, int32_t first, int32_t last)
{
  const Keys        *keys = (const Keys *)context;
  const VpNumbering *numbering = keys->numbering;
  const size_t       bytes = (size_t)numbering->dictionary->words * sizeof(*keys->made);
  int32_t            lately[LATELY];

  memset(lately, 0xff, sizeof(lately));
  for (int32_t i = first * numbering->width; i < last * numbering->width; i++) {
    uint64_t *word = keys->made + keys->words * (size_t)i, mixed = 0;
    int32_t  *near;

    numbering->key(numbering->context, keys->item[i / numbering->width], i % numbering->width, word, word + numbering->dictionary->words);
    for (int w = 0; w < numbering->dictionary->words; w++) mixed = (mixed ^ word[w]) * 0x9E3779B97F4A7C15u;
    near = &lately[mixed >> 56];
    keys->same[i] = *near >= 0 && !memcmp(keys->made + keys->words * (size_t)*near, word, bytes) ? *near : -1;
    if (keys->same[i] >= 0) continue;
    *near = i;
    keys->number[i] = VpDictionaryFind(numbering->dictionary, word);
  }
}

/* Sets number [samples][width] by their keys: threads make them and look for them in the dictionary, and one adds those that it lacks. */
static PetscErrorCode NumberByKeys(const VpNumbering *numbering, int32_t samples, const int32_t item[], int32_t number[])
{
  const int32_t width = numbering->width, most = PetscMin(samples, SOME) * width;
  Keys          keys = {.numbering = numbering};

  PetscFunctionBegin;
  keys.words = (size_t)numbering->dictionary->words + (numbering->dictionary->bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  PetscCall(PetscMalloc2(keys.words * (size_t)most, &keys.made, most, &keys.same));
  for (int32_t at = 0; at < samples; at += SOME, number += SOME * width) {
    const int32_t some = PetscMin(SOME, samples - at);

    keys.item = item + at;
    keys.number = number;
    VpLoopHeavy(some, MakeKeys, &keys);
    for (int32_t i = 0; i < some * width; i++) {
      const uint64_t *word = keys.made + keys.words * (size_t)i;

      if (keys.same[i] >= 0) number[i] = number[keys.same[i]];
      else if (number[i] < 0) PetscCall(VpDictionaryAdd(numbering->dictionary, word, word + numbering->dictionary->words, &number[i]));
    }
  }
  PetscCall(PetscFree2(keys.made, keys.same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets number [samples][width]. */
static PetscErrorCode NumberSamples(const VpNumbering *numbering, int32_t samples, const int32_t item[], int32_t number[])
{
  PetscFunctionBegin;
  if (numbering->key) PetscCall(NumberByKeys(numbering, samples, item, number));
  for (int32_t i = 0; i < samples && !numbering->key; i++) {
    for (int k = 0; k < numbering->width; k++) PetscCall(numbering->number(numbering->context, item[i], k, number++));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNumberBySample(const VpNumbering *numbering, int32_t number[])
{
  const int32_t pieces = VpLoopPieces(numbering->n), width = numbering->width;
  int32_t      *count;  /* [pieces] number of samples in a piece; then in all pieces before it */
  int32_t      *sample; /* [samples][width] numbers of the samples */
  int32_t       nsample, *item;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(pieces + 1, &count));
  count[pieces] = 0;
  VP_LOOP_HEAVY (piece, pieces) {
    const int32_t first = VpLoopStart(numbering->n, piece), last = VpLoopStart(numbering->n, piece + 1);
    Samples       s = {.box = -1};
    int           zone;

    for (int32_t i = first; i < last; i++)
      if (VisitItem(numbering, i, &s, &zone)) number[(size_t)width * first + s.n - 1] = i;
    count[piece] = s.n;
  }
  nsample = VpLoopSum(pieces + 1, count);
  PetscCall(PetscMalloc2((size_t)nsample * width, &sample, nsample, &item));
  for (int32_t piece = 0; piece < pieces; piece++)
    PetscCall(
      PetscArraycpy(item + count[piece], number + (size_t)width * VpLoopStart(numbering->n, piece), count[piece + 1] - count[piece]));
  PetscCall(NumberSamples(numbering, nsample, item, sample));
  VP_LOOP_HEAVY (piece, pieces) {
    const int32_t last = VpLoopStart(numbering->n, piece + 1);
    Samples       s = {.box = -1, .n = count[piece]};
    int           zone;

    for (int32_t i = VpLoopStart(numbering->n, piece); i < last; i++) {
      (void)VisitItem(numbering, i, &s, &zone);
      for (int k = 0; k < width; k++) number[(size_t)width * i + k] = sample[(size_t)width * s.index[zone] + k];
    }
  }
  PetscCall(PetscFree2(sample, item));
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- by box */

enum { NZONE = 4 };

typedef struct {
  const VpNumbering *numbering;
  int32_t           *number;
  int32_t (*zone)[3][NZONE]; /* [nbox][direction] an item in the zone, or -1; then the number of items there */
} ByBox;

static inline PetscBool IsApart(const VpNumbering *numbering, int32_t i)
{
  return (PetscBool)(numbering->apart && numbering->apart(numbering->context, i));
}

static inline int32_t *ZoneOf(const ByBox *by, int32_t cell, int d)
{
  const VpGeometry geometry = by->numbering->mesh->geometry;

  return &by->zone[geometry->box[cell]][d][VpGeometryZone(geometry, cell, d)];
}

/* Whether two boxes of a slab have the same numbers along d: the same slab, or boundary, is below both, and so are the two next ones above.
   */
static PetscBool HaveSameBeyond(VpDomain domain, const int32_t slab[], int d, int32_t box, int32_t other)
{
  for (int s = 0; s < 2; s++) {
    int32_t a = box, b = other;

    for (int step = 0; step <= s && a >= 0; step++) {
      a = domain->beyond[((size_t)a * domain->dim + d) * 2 + s];
      b = domain->beyond[((size_t)b * domain->dim + d) * 2 + s];
      if (a != b && (a < 0 || b < 0 || slab[a] != slab[b])) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* Replaces the items in by->zone by their numbers along d. last [nbox]: scratch for the last box of each slab */
static PetscErrorCode NumberZones(ByBox *by, int d, int32_t last[])
{
  const VpNumbering *numbering = by->numbering;
  const VpDomain     domain = numbering->mesh->geometry->domain;
  const int32_t     *slab;

  PetscFunctionBegin;
  PetscCall(VpDomainGetSlabs(domain, d, &slab));
  for (int32_t box = 0; box < domain->nbox; box++) last[box] = -1;
  for (int32_t box = 0; box < domain->nbox; box++) {
    const int32_t   before = last[slab[box]];
    const PetscBool same = (PetscBool)(before >= 0 && HaveSameBeyond(domain, slab, d, box, before));

    for (int32_t *zone = by->zone[box][d], i = 0; i < NZONE; i++) {
      if (zone[i] >= 0 && same && by->zone[before][d][i] >= 0) zone[i] = by->zone[before][d][i];
      else if (zone[i] >= 0) PetscCall(numbering->number(numbering->context, zone[i], d, &zone[i]));
    }
    last[slab[box]] = box;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpNumberByBox(const VpNumbering *numbering, int32_t number[])
{
  const size_t nbox = numbering->mesh->geometry->domain->nbox;
  const int    dim = numbering->mesh->dim;
  ByBox        by = {.numbering = numbering, .number = number};
  int32_t     *last;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(nbox, &by.zone, nbox, &last));
  memset(by.zone, 0xff, nbox * sizeof(*by.zone));
  VP_LOOP (i, numbering->n) { /* Several threads may share a zone: any of its items will do. */
    for (int d = 0; d < dim && !IsApart(numbering, i); d++) {
      int32_t *zone = ZoneOf(&by, CellOf(numbering, i), d);

      if (__atomic_load_n(zone, __ATOMIC_RELAXED) < 0) __atomic_store_n(zone, i, __ATOMIC_RELAXED);
    }
  }
  for (int d = 0; d < dim; d++) PetscCall(NumberZones(&by, d, last));
  VP_LOOP (i, numbering->n) {
    for (int d = 0; d < dim; d++) number[(size_t)i * dim + d] = *ZoneOf(&by, CellOf(numbering, i), d);
  }
  for (int32_t i = 0; i < numbering->n; i++) {
    for (int d = 0; d < dim && IsApart(numbering, i); d++)
      PetscCall(numbering->number(numbering->context, i, d, &number[(size_t)i * dim + d]));
  }
  PetscCall(PetscFree2(by.zone, last));
  PetscFunctionReturn(PETSC_SUCCESS);
}
