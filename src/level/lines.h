/* The different lines of a level while its tables are made. */
#pragma once
#include "internal.h"
#include "keys.h"

/* place of a line: all that its key depends on if the coefficient is the same everywhere */
typedef struct {
  int32_t box, beyond[2]; /* 0 stands for any cell */
  uint8_t depth, ends, d, known;
} LinePlace;

/* a line whose entry was looked up lately */
typedef struct {
  LinePlace place;
  int32_t   entry;
} Seen;

typedef struct {
  VpLevel      level;
  PetscBool    relative;   /* whether keys are relative (VpLevelLineKey) */
  VpDictionary dictionary; /* items are VpLineKey */
  Seen        *seen;       /* [VP_LINES_SEEN] */
} VpLines;

enum { VP_LINES_SEEN = 1024 };

static inline const VpLineKey *VpLineKeyOf(const VpLines *lines, int32_t entry)
{
  return (const VpLineKey *)lines->dictionary.item + entry;
}

/* commonlines.c: sets view.outside along d and level->common[d] from a line inside */
void VpLevelSetOutside(VpLevel, int d, const VpLineKey *inside);
/* commonlines.c: sets the view's common lines: the most frequent lines inside, those that differ from them by a boundary or a side that
   hangs only, and those of other cell sizes */
PetscErrorCode VpLevelFindCommonLines(VpLevel, const VpLines *, const int32_t line[]);
