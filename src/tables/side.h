/* What lies beyond a side of a cell or of a patch. */
#pragma once
#include "../base/bisect.h"
#include <stdint.h>

typedef enum {
  VP_SIDE_INTERIOR, /* cells, on the whole side */
/* the domain's boundary on the whole side, with one condition: VP_SIDE_DIRICHLET, ... */
#define VP_CONDITION(NAME, ...) VP_SIDE_##NAME,
#include "conditions.def"
#undef VP_CONDITION
  VP_SIDE_MIXED,    /* of a patch: a boundary on one part of the side, cells or another boundary on the rest */
  VP_SIDE_WRAP,     /* of a patch: the patch itself, whose two cells are the only ones in a periodic direction */
  VP_SIDE_NONE,     /* of a cell: the face terms are left out, whatever lies beyond */
  VP_SIDE_LEVEL_END /* of a cell or a patch at the level's end: a cell twice as large on the whole side */
} VpSide;
/* most cells of a patch; most colours of patches; number of colours that the bits of a `cover` tell apart */
enum { VP_PATCH_CELLS = 8, VP_MOST_COLORS = 32, VP_COVER_COLORS = 8, VP_MOST_COVERS = VP_MOST_COLORS / VP_COVER_COLORS };

/* what the user gives: the source in cells, or u or du/dn + alpha u on a side of the domain */
typedef enum { VP_GIVEN_SOURCE, VP_GIVEN_VALUE, VP_GIVEN_FLUX, VP_GIVEN_KINDS } VpGivenKind;
/* a row of conditions.def; 0 where a side has no condition */
typedef struct {
  VpGivenKind given;
  double      penalty, alpha, mean;
} VpCondition;
extern const VpCondition VpConditions[]; /* by VpSide */

static inline int VpIsCondition(VpSide side)
{
  return side > VP_SIDE_INTERIOR && side < VP_SIDE_MIXED;
}
/* gamma of a condition's form, from what it is for a condition that gives u, and the side's own number. 0 where a side has no condition */
static inline long double VpConditionGamma(VpSide side, long double given, long double alpha)
{
  return VpConditions[side].penalty * given + VpConditions[side].alpha * alpha;
}
/* whether the side's own number is in its form */
static inline int VpReadsAlpha(VpSide side)
{
  return VpConditions[side].alpha != 0;
}
/* whether the side's form vanishes for constants */
static inline int VpKeepsConstants(VpSide side)
{
  return VpIsCondition(side) && VpConditionGamma(side, 1, 1) == 0;
}
/* whether constants have the eigenvalue 0 on a line or a patch with these two ends */
static inline int VpEndsLeaveConstants(VpSide lower, VpSide upper)
{
  return lower == VP_SIDE_WRAP || (VpKeepsConstants(lower) && VpKeepsConstants(upper));
}

/* Declares a function that host and device code may call. With constant arguments it is a compile-time constant. */
#ifdef __CUDACC__
  #define VP_SIZE __host__ __device__ constexpr
#else
  #define VP_SIZE static inline
#endif

/* One number says what lies beyond a side: the index of a cell or a box, one of these codes, or -1 - i for a boundary whose condition is
   entry i of the domain's table. */
enum {
  VP_UNKNOWN = INT32_MIN, /* a cell beyond the ghosts, which this rank does not know */
  VP_HANGING,             /* the side hangs: its terms are those of faces of a list (VpFace) */
  VP_LEVEL_END            /* the level ends: beyond the side is a leaf of the next coarser level */
};
VP_SIZE int VpIsBoundary(int64_t beyond)
{
  return beyond < 0 && beyond > VP_LEVEL_END;
}
/* A side of a cell and what lies beyond it, where that is not one cell like it: a face of a list. Fine cells are numbered by a bit for each
   direction of the coarse one along the side, the lower direction lowest:

       +-------+---+     side x+ of the coarse cell c: {{c, f0, f1}, .side = 1, .kind = VP_FACE_COARSE}
       |       |f1 |     and its counterparts:         {{f0, c}, .side = 0, .half = 0, .kind = VP_FACE_FINE}
       |   c   +---+                                   {{f1, c}, .side = 0, .half = 1, .kind = VP_FACE_FINE}
       |       |f0 |
       +-------+---+  */
enum { VP_FACE_COARSE, VP_FACE_FINE };
typedef struct {
  int32_t cell[5]; /* the cell, then those beyond: the 2^(dim-1) fine ones, or the coarse one */
  uint8_t side;    /* of the cell */
  uint8_t turn;    /* how the cell beyond, or those, are turned (turn.h) */
  uint8_t half;    /* of a fine cell: its number among those at the coarse one's side */
  uint8_t kind;    /* whether the cell is the coarse or a fine one */
} VpFace;
/* index of the first of n faces whose cell is not less than `cell`. Requires: the faces' cells ascend */
static inline int32_t VpFirstFace(int32_t n, const VpFace face[], int32_t cell)
{
  int32_t below = -1, high = n;

  VP_BISECT(below, high, middle, face[middle].cell[0] < cell);
  return below + 1;
}
/* the index of a cell's side among the faces, which are in the order of cells and sides. Requires: it is one of them */
static inline int32_t VpFaceAt(int32_t n, const VpFace face[], int32_t cell, int side)
{
  int32_t at = VpFirstFace(n, face, cell);

  while (face[at].side != side) at++;
  return at;
}
/* the entry of a boundary's code, and the code of an entry */
VP_SIZE int32_t VpBoundaryEntry(int32_t beyond)
{
  return -1 - beyond;
}
VP_SIZE int32_t VpBoundaryAt(int32_t entry)
{
  return -1 - entry;
}
