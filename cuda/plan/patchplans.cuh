/* What is kept for a view of patches. */
#pragma once
#include "../patch/sweepall.cuh"
#include "../patch/likepatch.cuh"
#include "groups.cuh"
#include "turnedpatches.cuh"
#include "viewplans.cuh"

namespace vpatchdg::patch {
template <class T, int N>
struct CommonPatches {
  VpArray              table;
  PatchTables<T, N>    tables;
  BoundaryTables<T, N> boundary;
};
/* Patches of a range: common ones inside, common ones at boundaries, grouped ones, and the rest. Grouped patches have the tables `replace`
   to replace their values, and `own` to compute their own residuals. */
template <class T, int N>
struct SweepPlan {
  int                     nrest = 0;
  PatchList               inside, boundary;
  GroupedPatches          grouped;
  VpArray                 rest;
  VpOnce<GroupPlan<T, N>> replace, own;

  int Lists() const
  {
    return (inside.n > 0) + (boundary.n > 0) + (grouped.list.n > 0) + (nrest > 0);
  }
};

/* the patches of a range that a plan is for: all, replaceable ones, others; MIXED: all, for SweepSetup.mixes */
enum Selected { SELECT_ALL, SELECT_REPLACEABLE, SELECT_OTHERS, SELECT_MIXED, SELECTIONS };

/* A sweep in one launch. */
template <class T, int N>
struct SweepAllPlan {
  int                  blocks = 0; /* 0: too many patches or stages */
  CommonPatches<T, N> *common = NULL;
  PatchList            list;
  int32_t              others = 0;
  VpPatchView          view; /* view of the others, in the order of the stages */
  VpArray              covers, odd, modes, patch, frame, type, factor;
  SweepStages          stages = {};
  std::vector<int32_t> at_end; /* `odd`, in ascending order, on the host */
};

template <class T, int N>
struct PatchPlans : VpPlans {
  VpOnce<CommonPatches<T, N>>               common;
  VpOnce<CorrectTables<T, N>>               correct; /* with which patches compute their own residuals */
  VpByRange<SweepPlan<T, N>>                sweep[SELECTIONS];
  VpByRange<SplitPatches>                   split;                     /* where cells are turned against one another */
  std::map<int, VpOnce<SweepAllPlan<T, N>>> sweep_all[VP_MOST_COLORS]; /* [colour of the first step][how many steps] */
};
} // namespace vpatchdg::patch
