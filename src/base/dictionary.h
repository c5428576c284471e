/* Numbers the distinct keys among many, in the order they come. A key is `words` 64-bit words (VpWord rounds reals to
   32 bits of mantissa). */
#pragma once
#include <petscsys.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  int       words;
  size_t    bytes;   /* of an item */
  int32_t   n, bits; /* keys; the table has 2^bits slots, at most half of them used */
  uint64_t *key;     /* [n][words] */
  void     *item;    /* [n] what came with each key the first time */
  int32_t  *slot;    /* key number or -1 */
} VpDictionary;
PetscErrorCode VpDictionaryCreate(int words, size_t bytes, VpDictionary *);
PetscErrorCode VpDictionaryReserve(VpDictionary *, int32_t n); /* room for n keys */
PetscErrorCode VpDictionaryDestroy(VpDictionary *);
/* item: what to keep for a new key, of `bytes` bytes */
PetscErrorCode VpDictionaryAdd(VpDictionary *, const uint64_t key[], const void *item, int32_t *number);
int32_t        VpDictionaryFind(const VpDictionary *, const uint64_t key[]); /* its number, or -1 */
void           VpDictionaryIndex(VpDictionary *);                            /* rebuilds the slots after key[] has been reordered */

/* a real as a word: its sign, its exponent and 32 bits of its mantissa, rounded */
static inline uint64_t VpWord(double x)
{
  uint64_t bits;

  memcpy(&bits, &x, sizeof(bits));
  return (bits + ((uint64_t)1 << 19)) >> 20;
}
