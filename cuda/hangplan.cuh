/* The sides of a range of cells that hang, by what can be worked on in one launch: faces, which are sides of coarse cells where all cells there
   are in the range, in kinds that no two faces with a common cell belong to; and other sides.

      +-------+---+--     The faces on sides x+ of K and of F have F in common. So faces on a side are of two kinds, by how many cells
      |       |   +--     follow one another on the way from the largest one, as K and F do.
      |       | F |
      |   K   +---+--
      |       |   | */
#pragma once
#include "kernel.cuh"
#include <vector>

struct HangPlan : VpPlan {
  static constexpr int kinds = 12;

  int32_t start[kinds + 1], nother; /* faces of a kind are [start[kind], start[kind+1]) of `list`, where the others follow them */
  VpArray list;

  PetscErrorCode Fill(const VpView *view, int32_t first, int32_t last);
};

/* finds them on the host */
struct HangFinder {
  int                  nface;
  int32_t              first, last, n;
  std::vector<int32_t> item, begin; /* [n][VP_HANG_CELL]; [cells + 1] the first item of a cell */
  std::vector<uint8_t> whole;       /* [cell] the sides where it has a face, as bits */

  const int32_t *Item(int32_t i) const
  {
    return &item[(size_t)i * VP_HANG_CELL];
  }
  bool In(int32_t cell) const
  {
    return cell >= first && cell < last;
  }
  PetscErrorCode Fetch(const VpView *view)
  {
    PetscFunctionBegin;
    nface = 1 << (view->dim - 1);
    n = view->hang.n;
    item.resize((size_t)n * VP_HANG_CELL);
    begin.assign((size_t)view->nown + 1, 0);
    whole.assign((size_t)view->nown, 0);
    PetscCall(VpCudaFetch(view->hang.cell, item.size() * sizeof(int32_t), item.data()));
    for (int32_t i = 0; i < n; i++) begin[Item(i)[0] + 1] = i + 1;
    for (int32_t cell = 0; cell < view->nown; cell++) begin[cell + 1] = PetscMax(begin[cell + 1], begin[cell]);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  bool IsFace(const int32_t *it) const
  {
    bool all = it[2] < 0 && In(it[0]);

    for (int k = 0; all && k < nface; k++) all = In(it[3 + k]);
    return all;
  }
  /* whether a side is one of a face */
  bool IsOfFace(const int32_t *it) const
  {
    const int32_t coarse = it[2] < 0 ? it[0] : it[3], side = it[2] < 0 ? it[1] : it[1] ^ 1;

    return In(coarse) && whole[coarse] >> side & 1;
  }
  /* the coarser cell beyond a side of a cell, or -1 */
  int32_t Coarser(int32_t cell, int side) const
  {
    for (int32_t i = begin[cell]; i < begin[cell + 1]; i++)
      if (Item(i)[1] == side && Item(i)[2] >= 0 && In(Item(i)[3])) return Item(i)[3];
    return -1;
  }
  int KindOf(const int32_t *it) const
  {
    int steps = 0;

    for (int32_t cell = Coarser(it[0], it[1] ^ 1); cell >= 0; cell = Coarser(cell, it[1] ^ 1)) steps++;
    return 2 * it[1] + steps % 2;
  }
};

inline PetscErrorCode HangPlan::Fill(const VpView *view, int32_t first_cell, int32_t last_cell)
{
  HangFinder           finder;
  std::vector<int32_t> by[kinds + 1], order;

  PetscFunctionBegin;
  finder.first = first_cell;
  finder.last = last_cell;
  PetscCall(finder.Fetch(view));
  for (int32_t i = 0; i < finder.n; i++) {
    const int32_t *it = finder.Item(i);

    if (!finder.IsFace(it)) continue;
    by[finder.KindOf(it)].push_back(i);
    finder.whole[it[0]] |= (uint8_t)(1 << it[1]);
  }
  for (int32_t i = 0; i < finder.n; i++) {
    const int32_t *it = finder.Item(i);
    if (finder.In(it[0]) && !finder.IsOfFace(it)) by[kinds].push_back(i);
  }
  for (int kind = 0; kind <= kinds; kind++) {
    start[kind] = (int32_t)order.size();
    order.insert(order.end(), by[kind].begin(), by[kind].end());
  }
  nother = (int32_t)by[kinds].size();
  PetscCall(VpCudaPlace(order.data(), order.size() * sizeof(int32_t), "sides that hang", &list));
  PetscFunctionReturn(PETSC_SUCCESS);
}
