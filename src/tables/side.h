/* What lies beyond a side of a cell or of a patch. */
#pragma once
#include <stdint.h>

typedef enum {
  VP_SIDE_INTERIOR,  /* cells, on the whole side */
  VP_SIDE_DIRICHLET, /* the domain's boundary on the whole side: from here to VP_SIDE_LAST_BOUNDARY */
  VP_SIDE_NEUMANN,
  VP_SIDE_ROBIN, /* du/dn + alpha u is given */
  VP_SIDE_LAST_BOUNDARY = VP_SIDE_ROBIN,
  VP_SIDE_MIXED, /* of a patch: boundary on a part of the side, cells or another boundary on the rest */
  VP_SIDE_WRAP,  /* of a patch: its own cells, which are the only two in a periodic direction */
  VP_SIDE_NONE,  /* of a cell: anything, and the face terms are left out */
  VP_SIDE_EDGE   /* of a cell or a patch on a level of an adaptive mesh: a cell twice as large on the whole side */
} VpSide;
/* the most cells of a patch, and the most colours of patches */
enum { VP_PATCH_CELLS = 8, VP_MOST_COLORS = 8 };

/* whether constants have the eigenvalue 0 on a line or a patch with these two ends, as where nothing holds them */
static inline int VpEndsLeaveConstants(VpSide lower, VpSide upper)
{
  return lower == VP_SIDE_WRAP || (lower == VP_SIDE_NEUMANN && upper == VP_SIDE_NEUMANN);
}

/* Functions that kernels need, also on devices; with constant arguments they are compile-time constants. */
#ifdef __CUDACC__
  #define VP_SIZE __host__ __device__ constexpr
#else
  #define VP_SIZE static inline
#endif

/* What is known of what lies beyond a side is a number: that of a cell or a box, one of these, or -1 - i at a boundary, whose condition is
   entry i of the domain's table. */
enum {
  VP_UNKNOWN = INT32_MIN, /* a cell that this rank does not know: it lies beyond the ghosts */
  VP_HANGING,             /* the side hangs: its face terms are not those of one cell */
  VP_EDGE                 /* a level of an adaptive mesh ends there: beyond it is a leaf of the next coarser level */
};
VP_SIZE int VpIsBoundary(int64_t beyond)
{
  return beyond < 0 && beyond > VP_EDGE;
}
/* the entry of a boundary, and back */
VP_SIZE int32_t VpBoundaryEntry(int32_t beyond)
{
  return -1 - beyond;
}
VP_SIZE int32_t VpBoundaryAt(int32_t entry)
{
  return -1 - entry;
}
