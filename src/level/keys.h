/* Keys of lines and of patches' problems as words, by which VpDictionary tells them apart. */
#pragma once
#include "../base/dictionary.h"
#include "../tables/tables.h"

enum { VP_LINE_WORDS = 9, VP_FDM_WORDS = 10 };

_Static_assert(VP_SIDE_LEVEL_END < 1 << 8, "a word holds the kinds of two sides");
static inline uint64_t VpSidesWord(const VpSide side[2])
{
  return (uint64_t)side[0] << 8 | (uint64_t)side[1];
}

/* two numbers as floats, +-0 being one */
static inline uint64_t VpFloatsWord(double x, double y)
{
  const float both[2] = {(float)x + 0.f, (float)y + 0.f};
  uint64_t    word;

  memcpy(&word, both, sizeof(word));
  return word;
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
  word[8] = VpFloatsWord(key->larger[0], key->larger[1]);
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
  word[9] = VpWord(key->larger);
}
