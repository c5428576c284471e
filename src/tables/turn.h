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
/* the direction of the cell beyond that lies along direction d, and whether it runs the other way when coordinates go on beyond the side */
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
