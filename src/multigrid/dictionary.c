/* An open hash table of keys. */
#include "dictionary.h"
#include "../compat.h"

static int32_t *Slot(const VpDictionary *d, const uint64_t key[])
{
  const uint64_t mask = ((uint64_t)1 << d->bits) - 1;
  uint64_t       h = 0;

  for (int i = 0; i < d->words; i++) {
    h = (h ^ key[i]) * 0x9E3779B97F4A7C15u;
    h ^= h >> 29;
  }
  for (h &= mask; d->slot[h] >= 0; h = (h + 1) & mask) {
    if (!memcmp(d->key + (size_t)d->slot[h] * d->words, key, d->words * sizeof(*key))) break;
  }
  return &d->slot[h];
}

static PetscErrorCode Resize(VpDictionary *d, int32_t bits)
{
  const size_t size = (size_t)1 << bits;
  uint64_t    *key;

  PetscFunctionBegin;
  PetscCheck(bits < 32, PETSC_COMM_SELF, PETSC_ERR_SUP, "More than 2^30 different local problems on one rank: use more ranks");
  PetscCall(PetscMalloc1(size / 2 * d->words, &key));
  PetscCall(PetscArraycpy(key, d->key, (size_t)d->n * d->words));
  PetscCall(PetscFree(d->key));
  PetscCall(PetscFree(d->slot));
  PetscCall(PetscMalloc1(size, &d->slot));
  memset(d->slot, 0xff, size * sizeof(*d->slot));
  d->key = key;
  d->bits = bits;
  for (int32_t i = 0; i < d->n; i++) *Slot(d, key + (size_t)i * d->words) = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryCreate(int words, VpDictionary *d)
{
  PetscFunctionBegin;
  *d = (VpDictionary){.words = words};
  PetscCall(Resize(d, 6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryDestroy(VpDictionary *d)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(d->key));
  PetscCall(PetscFree(d->slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDictionaryAdd(VpDictionary *d, const uint64_t key[], int32_t *number)
{
  int32_t *slot = Slot(d, key);

  PetscFunctionBegin;
  if (*slot < 0) {
    if (d->n == (int64_t)1 << (d->bits - 1)) {
      PetscCall(Resize(d, d->bits + 1));
      slot = Slot(d, key);
    }
    PetscCall(PetscArraycpy(d->key + (size_t)d->n * d->words, key, d->words));
    *slot = d->n++;
  }
  *number = *slot;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int32_t VpDictionaryFind(const VpDictionary *d, const uint64_t key[])
{
  return *Slot(d, key);
}
