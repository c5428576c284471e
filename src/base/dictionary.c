/* A hash table of keys with open addressing. */
#include "dictionary.h"
#include "../compat.h"

enum { NEAR = 3 }; /* low bits of keys of one word that do not enter the hash */

/* Hashes a key. Keys of one word often come in ascending order, and runs of 2^NEAR successive ones lie together in the table. */
static uint64_t HashKey(const VpDictionary *d, const uint64_t key[])
{
  const int near = d->words == 1 ? NEAR : 0;
  uint64_t  h = 0;

  for (int i = 0; i < d->words; i++) {
    h = (h ^ key[i] >> near) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  return near ? h << near | (key[0] & ((1 << near) - 1)) : h;
}

static inline PetscBool IsKey(const VpDictionary *d, int32_t number, const uint64_t key[])
{
  const uint64_t *stored = d->key + (size_t)number * d->words;

  return (PetscBool)(stored[0] == key[0] && (d->words == 1 || !memcmp(stored, key, d->words * sizeof(*key))));
}

static int32_t *FindBucket(const VpDictionary *d, const uint64_t key[])
{
  const uint64_t mask = ((uint64_t)1 << d->bits) - 1;
  uint64_t       h = HashKey(d, key);

  for (h &= mask; d->bucket[h] >= 0; h = (h + 1) & mask) {
    if (IsKey(d, d->bucket[h], key)) break;
  }
  return &d->bucket[h];
}

void VpDictionaryIndex(VpDictionary *d)
{
  memset(d->bucket, 0xff, ((size_t)1 << d->bits) * sizeof(*d->bucket));
  for (int32_t i = 0; i < d->n; i++) *FindBucket(d, d->key + (size_t)i * d->words) = i;
}

static PetscErrorCode ResizeTable(VpDictionary *d, int32_t bits)
{
  const size_t size = (size_t)1 << bits;

  PetscFunctionBegin;
  PetscCheck(bits < 32, PETSC_COMM_SELF, PETSC_ERR_SUP, "More than 2^30 different local problems or ghosts on one rank: use more ranks");
  PetscCall(PetscRealloc(size / 2 * d->words * sizeof(*d->key), &d->key));
  PetscCall(PetscRealloc(size / 2 * d->bytes, &d->item));
  PetscCall(PetscRealloc(size * sizeof(*d->bucket), &d->bucket));
  d->bits = bits;
  VpDictionaryIndex(d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryCreate(int words, size_t bytes, VpDictionary *d)
{
  PetscFunctionBegin;
  *d = (VpDictionary){.words = words, .bytes = bytes};
  PetscCall(ResizeTable(d, 6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryReserve(VpDictionary *d, int32_t n)
{
  int32_t bits = d->bits;

  PetscFunctionBegin;
  while (n > (int64_t)1 << (bits - 1)) bits++;
  if (bits > d->bits) PetscCall(ResizeTable(d, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryDestroy(VpDictionary *d)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(d->key));
  PetscCall(PetscFree(d->item));
  PetscCall(PetscFree(d->bucket));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryAdd(VpDictionary *d, const uint64_t key[], const void *item, int32_t *number)
{
  int32_t *bucket = FindBucket(d, key);

  PetscFunctionBegin;
  if (*bucket < 0) {
    if (d->n == (int64_t)1 << (d->bits - 1)) {
      PetscCall(ResizeTable(d, d->bits + 1));
      bucket = FindBucket(d, key);
    }
    PetscCall(PetscArraycpy(d->key + (size_t)d->n * d->words, key, d->words));
    PetscCall(PetscMemcpy((char *)d->item + d->n * d->bytes, item, d->bytes));
    *bucket = d->n++;
  }
  *number = *bucket;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int32_t VpDictionaryFind(const VpDictionary *d, const uint64_t key[])
{
  return *FindBucket(d, key);
}
