/* How two cells lie on each other at a side. The directions of one may be turned against those of the other where trees meet. A turn is a
   number of bits, and 0 where the directions of both are the same:

     bits 3-5    side ^ 1 ^ the side of the cell beyond
     bit 2       The two directions along the side change places. They ascend in both cells.
     bits 0, 1   The first, the second direction along the side of the cell beyond runs the other way. */
#pragma once
#include "side.h"

enum { VP_TURN_SWAP = 4, VP_TURN_SIDE = 3 };
VP_SIZE int VpTurnSide(int side, int turn)
{
  return side ^ 1 ^ (turn >> VP_TURN_SIDE);
}
/* the number, on the side of the cell beyond, of point i of n^(dim-1) on a cell's side */
VP_SIZE int VpTurnPoint(int n, int turn, int i)
{
  const int s = turn & VP_TURN_SWAP ? i / n : i % n, t = turn & VP_TURN_SWAP ? i % n : i / n;

  return (turn & 1 ? n - 1 - s : s) + n * (turn & 2 ? n - 1 - t : t);
}
/* the direction of the cell beyond a side that lies along the cell's direction d, and whether it runs the other way */
VP_SIZE int VpTurnAxis(int side, int turn, int d)
{
  const int normal = VpTurnSide(side, turn) / 2, i = (d - (d > side / 2)) ^ (turn & VP_TURN_SWAP) / VP_TURN_SWAP;

  return d == side / 2 ? normal : i + (i >= normal);
}
VP_SIZE int VpTurnFlips(int side, int turn, int d)
{
  const int i = (d - (d > side / 2)) ^ (turn & VP_TURN_SWAP) / VP_TURN_SWAP;

  return d == side / 2 ? VpTurnSide(side, turn) % 2 == side % 2 : turn >> i & 1;
}
/* to [dim] = the coordinates of the cell beyond the side of a cell at the end of a tree. n [dim]: numbers of cells in the tree beyond */
VP_SIZE void VpTurnCross(int dim, const int32_t n[], int side, int turn, const int32_t at[], int32_t to[])
{
  for (int d = 0; d < dim; d++) {
    const int     axis = VpTurnAxis(side, turn, d);
    const int32_t along = VpTurnFlips(side, turn, d) ? n[axis] - 1 - at[d] : at[d];

    to[axis] = d == side / 2 ? (VpTurnSide(side, turn) % 2 ? n[axis] - 1 : 0) : along;
  }
}

/* How the directions of a cell lie along the axes of a patch, or along the directions of a cell beyond its side. A frame is a number of
   bits, and 0 where both are the same:

     bit 5       The cell's directions but the first lie along the axes that are left in descending order, not in ascending order.
     bits 3, 4   the axis along which the cell's first direction lies
     bits 0-2    The cell's direction runs against its axis. */
VP_SIZE int VpFrameAxis(int frame, int d)
{
  const int first = frame >> 3 & 3, low = first == 0, high = first == 2 ? 1 : 2;

  return d == 0 ? first : (d == 1) != (frame >> 5 & 1) ? low : high;
}
VP_SIZE int VpFrameFlips(int frame, int d)
{
  return frame >> d & 1;
}
/* axis [3]; in 2D the last one is 2 */
VP_SIZE int VpFrameOf(const int axis[3], int flips)
{
  return (axis[1] > axis[2]) << 5 | axis[0] << 3 | flips;
}
/* the direction of a cell along an axis, and the cell's side towards that end of the axis */
VP_SIZE int VpFrameDirection(int frame, int axis)
{
  int d = 0;

  while (VpFrameAxis(frame, d) != axis) d++;
  return d;
}
VP_SIZE int VpFrameSide(int frame, int side)
{
  const int d = VpFrameDirection(frame, side / 2);

  return 2 * d + ((side & 1) ^ VpFrameFlips(frame, d));
}
/* the frame, on the same axes, of the cell beyond a side of a cell with a frame */
VP_SIZE int VpFrameBeyond(int dim, int frame, int side, int turn)
{
  int axis[3] = {0, 1, 2}, flips = 0;

  for (int d = 0; d < dim; d++) {
    const int there = VpTurnAxis(side, turn, d);

    axis[there] = VpFrameAxis(frame, d);
    flips |= (VpFrameFlips(frame, d) ^ VpTurnFlips(side, turn, d)) << there;
  }
  return VpFrameOf(axis, flips);
}
