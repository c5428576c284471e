/* The different lines of a level while its tables are made. */
#pragma once
#include "internal.h"
#include "keys.h"

/* what a line depends on where the coefficient is the same everywhere */
typedef struct {
  int32_t box, beyond[2]; /* 0 stands for any cell */
  uint8_t depth, ends, d, known;
} Sight;

/* a line that was seen lately */
typedef struct {
  Sight   sight;
  int32_t entry;
} Seen;

typedef struct {
  VpLevel      level;
  PetscBool    relative;   /* Coefficients are multiples of the cell's, in steps. */
  VpDictionary dictionary; /* its items are VpLineKey */
  Seen        *seen;       /* [VP_LINES_SEEN] */
} VpLines;

enum { VP_LINES_SEEN = 1024 };

static inline const VpLineKey *VpLineKeyOf(const VpLines *lines, int32_t entry)
{
  return (const VpLineKey *)lines->dictionary.item + entry;
}

/* commonlines.c: sets the view's `outside` along d and the size of common cells, from a line inside */
void VpLevelSetOutside(VpLevel, int d, const VpLineKey *inside);
/* commonlines.c: sets the view's common lines, the commonest and those that differ from these by a boundary or a side that hangs only; then
   those of other sizes */
PetscErrorCode VpLevelFindCommonLines(VpLevel, const VpLines *, const int32_t line[]);
