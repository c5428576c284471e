/* A whole sweep in one launch, for small levels. There a launch takes longer than its work, and so do code and constants that are not in
   the caches yet. All blocks are on the device at once and wait for one another between two colours. */
#pragma once
#include "patchplan.cuh"
#include <cooperative_groups.h>

struct SweepOrder {
  int     n, color[8];
  int32_t start[9]; /* colour c is [start[c], start[c+1]) of the launch order */
};

template <class T, int N>
struct SweepAllPlan : VpPlan {
  int                  blocks = 0; /* 0: there are patches of other sorts, or too many */
  CommonPatches<T, N> *common;
  SweepOrder           order;
  PatchList            list;
};

template <class T, int N>
__global__ void __launch_bounds__(Patch<T, N>::block, Patch<T, N>::least)
  SweepAllColors(const __grid_constant__ PatchTables<T, N> t, const __grid_constant__ EdgeTables<T, N> edges,
                 const __grid_constant__ PatchWork<T> w, const __grid_constant__ SweepOrder order)
{
  constexpr int patches = Patch<T, N>::patches;
  unsigned      done = 0;

#pragma unroll 1
  for (int i = 0; i < order.n; i++) {
    const int     color = order.color[i];
    const int32_t first = order.start[color] + blockIdx.x * patches, last = order.start[color + 1];

    if (i) cooperative_groups::this_grid().sync();
    if (first < last) SolvePatches<true>(t, edges, w, done, first, last);
    done |= 1u << color;
  }
}

template <class T, int N>
struct SweepAllSetup {
  typedef Patch<T, N> S;

  /* how many blocks the device holds at once */
  static PetscErrorCode Resident(int *blocks)
  {
    int device, processors;

    PetscFunctionBegin;
    VpCudaCall(cudaFuncSetAttribute(SweepAllColors<T, N>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)S::bytes));
    VpCudaCall(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, SweepAllColors<T, N>, S::block, S::bytes));
    VpCudaCall(cudaGetDevice(&device));
    VpCudaCall(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    *blocks *= processors;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Is one launch faster than one for each colour? As measured: while the largest colour fills at most two thirds of the device. */
  static bool Pays(int blocks, int resident)
  {
    return 3 * blocks <= 2 * resident;
  }

  static PetscErrorCode Fill(const SweepSetup<T, N> &setup, int n, const int32_t start[], SweepAllPlan<T, N> *plan)
  {
    const int32_t count = start[n];
    int           resident, blocks = 1;
    uint8_t      *kind;
    int32_t      *patch;
    bool          all = true;

    PetscFunctionBegin;
    PetscCall(Resident(&resident));
    for (int c = 0; c < n; c++) blocks = PetscMax(blocks, VpBlocks(start[c + 1] - start[c], S::patches));
    if (!Pays(blocks, resident) || !setup.Can() || !setup.Uniform()) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc2(count, &kind, count, &patch));
    PetscCall(setup.Kinds(0, count, kind));
    for (int32_t i = 0; i < count; i++) all = all && kind[i];
    for (int32_t i = 0; i < count; i++) patch[i] = i;
    if (all) {
      plan->list.n = count;
      plan->order.n = n;
      PetscCall(PetscArraycpy(plan->order.start, start, n + 1));
      PetscCall(setup.List(patch, kind, &plan->list));
      PetscCall(setup.Common(&plan->common));
      plan->blocks = blocks;
    }
    PetscCall(PetscFree2(kind, patch));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

template <class T, int N>
static PetscErrorCode SweepAll(const VpView *view, const VpPatchView *patches, int n, const int order[], const int32_t start[],
                               VpGhosts ghosts, const void *b, void *const x[2], PetscBool *did)
{
  const SweepSetup<T, N> setup = {view, patches};
  SweepAllPlan<T, N>    *plan = NULL;

  PetscFunctionBegin;
  PetscCall(VpCudaPlan<SweepAllPlan<T, N>>(&patches->device, VP_PLAN_SWEEP_ALL, 0, start[n], &plan,
                                           [=](SweepAllPlan<T, N> *p) { return SweepAllSetup<T, N>::Fill(setup, n, start, p); }));
  *did = (PetscBool)(plan->blocks > 0);
  if (!*did) PetscFunctionReturn(PETSC_SUCCESS);
  PatchWork<T> work = WorkOn<T>(plan->list, plan->common->table, b, x);
  SweepOrder   sweep = plan->order;
  void        *parameters[] = {&plan->common->tables, &plan->common->edges, &work, &sweep};
  PetscCall(PetscArraycpy(sweep.color, order, n));
  PetscCall(VpArrive(ghosts));
  const cudaError_t error = cudaLaunchCooperativeKernel((const void *)SweepAllColors<T, N>, plan->blocks, Patch<T, N>::block, parameters,
                                                        Patch<T, N>::bytes, VpCudaStream);
  if (error == cudaErrorCooperativeLaunchTooLarge || error == cudaErrorNotSupported) { /* this process has not all of the device */
    (void)cudaGetLastError();
    plan->blocks = 0;
    *did = PETSC_FALSE;
  } else VpCudaCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
