/* Numbers the distinct keys among many, in the order in which they are added first. A key is `words` 64-bit words (VpWord rounds reals to
   32 bits of mantissa). */
#pragma once
#include <petscsys.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  int       words;
  size_t    bytes;   /* size of an item */
  int32_t   n, bits; /* number of keys; the table has 2^bits buckets, at most half of them used */
  uint64_t *key;     /* [n][words] */
  void     *item;    /* [n] the item that came with each key first */
  int32_t  *bucket;  /* [2^bits] number of a key, or -1 */
} VpDictionary;
PetscErrorCode VpDictionaryCreate(int words, size_t bytes, VpDictionary *);
PetscErrorCode VpDictionaryReserve(VpDictionary *, int32_t n); /* memory for n keys */
PetscErrorCode VpDictionaryDestroy(VpDictionary *);
/* Finds or adds a key. item: `bytes` bytes to keep with a new key */
PetscErrorCode VpDictionaryAdd(VpDictionary *, const uint64_t key[], const void *item, int32_t *number);
int32_t        VpDictionaryFind(const VpDictionary *, const uint64_t key[]); /* the key's number, or -1 */
void           VpDictionaryIndex(VpDictionary *);                            /* rebuilds the buckets after key[] has been reordered */

/* a real as a word: its sign, its exponent and 32 bits of its mantissa, rounded */
static inline uint64_t VpWord(double x)
{
  uint64_t bits;

  memcpy(&bits, &x, sizeof(bits));
  return (bits + ((uint64_t)1 << 19)) >> 20;
}
