/* The sides of a range of cells that hang: faces, which are sides of coarse cells where all cells there are in the range, and other sides.
   The factors of a face's sides (Flux) are found before A x on cells, which lifts them (HangingTraces). Other sides are added after it.

      +-------+---+     A face has 1 + 2^(dim-1) sides: K's, then those of the cells F.
      |       | F |
      |   K   +---+
      |       | F | */
#pragma once
#include "../hanging.cuh"
#include <algorithm>
#include <vector>

/* traces: the bytes of those of a side */
static PetscErrorCode FillHangPlan(const VpView *view, int32_t first, int32_t last, size_t traces, HangPlan *plan)
{
  const int            nface = 1 << (view->dim - 1);
  std::vector<VpFace>  face((size_t)view->hang.n);
  std::vector<int32_t> neighbor((size_t)view->nsweep * 2 * view->dim), list, others;
  const auto           in = [=](int32_t cell) { return cell >= first && cell < last; };
  const auto           slot = [=](int32_t cell, int side) { return ((size_t)cell * view->dim) * 2 + side; };

  PetscFunctionBegin;
  PetscCall(VpCudaFetch(view->hang.face, face.size() * sizeof(VpFace), face.data()));
  PetscCall(VpCudaFetch(view->neighbor, neighbor.size() * sizeof(int32_t), neighbor.data()));
  for (int32_t i = 0; i < view->hang.n; i++) {
    const VpFace &it = face[i];
    const int32_t number = (int32_t)list.size() * (1 + nface);

    if (it.kind != VP_FACE_COARSE || !std::all_of(it.cell, it.cell + 1 + nface, in)) continue;
    for (int k = 0; k <= nface; k++) neighbor[slot(it.cell[k], k ? it.side ^ 1 : it.side)] = HangingSide(number + k);
    list.push_back(i);
  }
  for (int32_t i = 0; i < view->hang.n; i++) {
    if (in(face[i].cell[0]) && neighbor[slot(face[i].cell[0], face[i].side)] == VP_HANGING) others.push_back(i);
  }
  plan->nface = (int32_t)list.size();
  plan->nother = (int32_t)others.size();
  list.insert(list.end(), others.begin(), others.end());
  PetscCall(VpCudaPlace(list.data(), list.size() * sizeof(int32_t), "sides that hang", &plan->list));
  PetscCall(VpCudaPlace(neighbor.data(), neighbor.size() * sizeof(int32_t), "neighbors", &plan->neighbor));
  PetscCall(VpCudaAlloc((size_t)PetscMax(plan->nface, 1) * (1 + nface) * traces, "traces of sides that hang", &plan->traces.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
