/* Keys of lines and of patches' problems as words, by which VpDictionary tells them apart. */
#pragma once
#include "../base/dictionary.h"
#include "../tables/tables.h"

enum { VP_LINE_WORDS = 8, VP_FDM_WORDS = 9 };

_Static_assert(VP_SIDE_LEVEL_END < 1 << 8, "a word holds the kinds of two sides");
static inline uint64_t VpSidesWord(const VpSide side[2])
{
  return (uint64_t)side[0] << 8 | (uint64_t)side[1];
}

static inline void VpLineWords(const VpLineKey *key, uint64_t word[VP_LINE_WORDS])
{
  word[0] = VpWord(key->h);
  word[1] = VpWord(key->a);
  for (int s = 0; s < 2; s++) {
    word[2 + s] = VpWord(key->h_beyond[s]);
    word[4 + s] = VpWord(key->a_beyond[s]);
  }
  word[6] = VpSidesWord(key->side);
  word[7] = VpWord(key->reaction);
}

static inline void VpFdmWords(const VpFdmKey *key, uint64_t word[VP_FDM_WORDS])
{
  for (int s = 0; s < 2; s++) {
    word[s] = VpWord(key->h[s]);
    word[2 + s] = VpWord(key->h_beyond[s]);
    word[4 + s] = VpWord(key->face[s]);
  }
  word[6] = VpWord(key->step);
  word[7] = VpWord(key->skew);
  word[8] = VpSidesWord(key->side);
}
