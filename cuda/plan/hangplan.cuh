/* The sides of a range of cells that hang: faces, which are sides of coarse cells where all cells there are in the range, and other sides.
   The factors of a face's sides (Flux) are found before A x on cells, which lifts them (HangingTraces); other sides are added after it.

      +-------+---+     A face has 1 + 2^(dim-1) sides: K's, then those of the cells F.
      |       | F |
      |   K   +---+
      |       | F | */
#pragma once
#include "../hanging.cuh"
#include <vector>

/* finds them on the host */
struct HangFinder {
  int                  nface;
  int32_t              first, last, n;
  std::vector<VpFace>  face;
  std::vector<uint8_t> whole; /* [cell] the sides where it has a face, as bits */

  bool In(int32_t cell) const
  {
    return cell >= first && cell < last;
  }
  bool IsFace(const VpFace &it) const
  {
    bool all = it.kind == VP_FACE_COARSE && In(it.cell[0]);

    for (int k = 0; all && k < nface; k++) all = In(it.cell[1 + k]);
    return all;
  }
  /* whether a side is one of a face */
  bool IsOfFace(const VpFace &it) const
  {
    const int32_t coarse = it.kind == VP_FACE_COARSE ? it.cell[0] : it.cell[1], side = it.kind == VP_FACE_COARSE ? it.side : it.side ^ 1;

    return In(coarse) && whole[coarse] >> side & 1;
  }
  PetscErrorCode Find(const VpView *view, std::vector<int32_t> *faces, std::vector<int32_t> *others)
  {
    PetscFunctionBegin;
    nface = 1 << (view->dim - 1);
    n = view->hang.n;
    face.resize((size_t)n);
    whole.assign((size_t)view->nown, 0);
    PetscCall(VpCudaFetch(view->hang.face, face.size() * sizeof(VpFace), face.data()));
    for (int32_t i = 0; i < n; i++) {
      if (!IsFace(face[i])) continue;
      faces->push_back(i);
      whole[face[i].cell[0]] |= (uint8_t)(1 << face[i].side);
    }
    for (int32_t i = 0; i < n; i++) {
      if (In(face[i].cell[0]) && !IsOfFace(face[i])) others->push_back(i);
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* writes the sides of faces list[0], list[1], ... to a list of neighbours */
static __global__ void NumberSides(const VpFace *face, const int32_t *list, int32_t count, int dim, int32_t *neighbor)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const int     nface = 1 << (dim - 1);

  if (i >= count) return;
  const VpFace &item = face[list[i]];
  const int32_t first = i * (1 + nface);
  neighbor[(size_t)item.cell[0] * 2 * dim + item.side] = HangingSide(first);
  for (int k = 0; k < nface; k++) neighbor[(size_t)item.cell[1 + k] * 2 * dim + (item.side ^ 1)] = HangingSide(first + 1 + k);
}

/* traces: the bytes of those of a side */
static PetscErrorCode FillHangPlan(const VpView *view, int32_t first, int32_t last, size_t traces, HangPlan *plan)
{
  const size_t         bytes = (size_t)view->nsweep * 2 * view->dim * sizeof(int32_t);
  HangFinder           finder;
  std::vector<int32_t> list, others;

  PetscFunctionBegin;
  finder.first = first;
  finder.last = last;
  PetscCall(finder.Find(view, &list, &others));
  plan->nface = (int32_t)list.size();
  plan->nother = (int32_t)others.size();
  list.insert(list.end(), others.begin(), others.end());
  PetscCall(VpCudaPlace(list.data(), list.size() * sizeof(int32_t), "sides that hang", &plan->list));
  PetscCall(VpCudaAlloc(bytes, "neighbors", &plan->neighbor.p));
  VpCudaCall(cudaMemcpyAsync(plan->neighbor.p, view->neighbor, bytes, cudaMemcpyDeviceToDevice, VpCudaStream));
  PetscCall(VpCudaLaunch("numbers of sides", NumberSides, {VpBlocks(plan->nface, VP_THREADS), VP_THREADS}, view->hang.face,
                         (const int32_t *)plan->list.p, plan->nface, view->dim, (int32_t *)plan->neighbor.p));
  PetscCall(VpCudaAlloc((size_t)PetscMax(plan->nface, 1) * (1 + finder.nface) * traces, "traces of sides that hang", &plan->traces.p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
