/* Groups patches that have the same tables in all three directions, for the kernels with the tables of grouptables.cuh. */
#pragma once
#include "../patch/patchthread.cuh"
#include <algorithm>
#include <vector>
extern "C" {
#include "../../src/base/dictionary.h"
}

namespace vpatchdg::patch {
/* The key of a patch's entry along a direction. */
struct GroupKey {
  int32_t type, sides; /* entry of `fdm`, or -1: the cells beyond a side differ in kind, or one is the patch's own; bits of boundaries */
  int32_t line[2];     /* lines of the cells at the lower and upper sides; -1: the coefficient varies */
};

struct GroupKeys {
  GroupKey along[3];
};

/* n patches of one group, from `first` on in launch order */
struct PatchGroup {
  int32_t first, n, entry[3];
};

/* key[i] = keys of patch list[i]. line: NULL if the coefficient varies; then a boundary must have the domain's condition. mixes: only
   patches with a side where the level ends on a part have keys. Such a side counts as inside if its other cells have the common line. */
static __global__ void FindGroupKeys(const int32_t *patch, const int32_t *type, const int32_t *neighbor, const int32_t *line,
                                     const __grid_constant__ VpCommon common, bool mixes, const int32_t *list, int32_t count,
                                     GroupKeys *key)
{
  const int32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  bool          mixed = false;

  if (i >= count) return;
  for (int d = 0; d < 3; d++) {
    GroupKey k = {type[(size_t)list[i] * 3 + d], 0, {-1, -1}};
    bool     alike = true;
    int      ends[2] = {0, 0};

    for (int h = 0; mixes && h < VP_PATCH_CELLS; h++) {
      const int s = h >> d & 1;
      ends[s] += neighbor[(size_t)patch[(size_t)list[i] * VP_PATCH_CELLS + h] * 6 + 2 * d + s] == VP_LEVEL_END;
    }
    for (int s = 0; s < 2; s++) {
      if (ends[s] % 4) k.line[s] = common.inside[d];
      mixed = mixed || ends[s] % 4;
    }
    for (int h = 0; h < VP_PATCH_CELLS; h++) {
      const int     s = h >> d & 1;
      const int32_t cell = patch[(size_t)list[i] * VP_PATCH_CELLS + h];
      const int32_t next = neighbor[(size_t)cell * 6 + 2 * d + s];
      const bool    part = ends[s] % 4, end = part && next == VP_LEVEL_END;
      const bool    outside = next < 0 && !end, first = h == s << d;
      if (first) k.sides |= outside << s;
      alike = alike && outside == (k.sides >> s & 1) && next != patch[(size_t)list[i] * VP_PATCH_CELLS + (h ^ 1 << d)];
      alike = alike && (line || !outside || next == -1 - (2 * d + s));
      if (!line) continue;
      if (first && !part) k.line[s] = line[(size_t)cell * 3 + d];
      alike = alike && (end || k.line[s] == line[(size_t)cell * 3 + d]);
    }
    if (!alike) k.type = -1;
    key[i].along[d] = k;
  }
  if (mixes && !mixed) key[i].along[0].type = -1;
}

/* a launch: of blocks whose patches are their own mirror images, or of the other blocks */
struct GroupLaunch {
  int32_t blocks = 0;
  size_t  bytes = 0; /* of shared memory for the tables of a block */
  VpArray block;
};
template <class T, int N>
struct GroupPlan {
  GroupTables<T, N> tables;
  VpArray           table;
  GroupLaunch       launch[2]; /* [full] */
};

/* the patches that are grouped */
struct GroupedPatches {
  PatchList               list;
  std::vector<PatchGroup> groups; /* in the order of their first patches */
  std::vector<GroupKey>   entries;
};

/* Finds the group of three keys, and the entry of one. Looks in tables of recent keys first, then in dictionaries. */
struct GroupFinder {
  enum { SLOTS = 1 << 12, MOST = 1 << 15 }; /* recent keys; most groups */
  struct Recent {
    GroupKeys key;
    int32_t   group;
  };
  struct RecentEntry {
    GroupKey key;
    int32_t  entry;
  };

  VpDictionary             entries, groups;
  std::vector<Recent>      recent;
  std::vector<RecentEntry> recent_entry;
  std::vector<GroupKey>    found; /* entries */
  std::vector<PatchGroup> *to;

  GroupFinder(std::vector<PatchGroup> *found_groups) : recent(SLOTS, {{}, -1}), recent_entry(SLOTS, {{-1, 0, {}}, -1}), to(found_groups)
  {
    for (Recent &r : recent) r.key.along[0].type = -1;
  }
  PetscErrorCode FindEntry(const GroupKey &key, int32_t *entry)
  {
    RecentEntry &r = recent_entry[(uint32_t)key.type % SLOTS];

    PetscFunctionBegin;
    if (memcmp(&r.key, &key, sizeof(key))) {
      const uint64_t pair[2] = {(uint64_t)key.type << 2 | (uint64_t)key.sides,
                                (uint64_t)(uint32_t)key.line[0] << 32 | (uint32_t)key.line[1]};
      PetscCall(VpDictionaryAdd(&entries, pair, NULL, &r.entry));
      if ((size_t)r.entry == found.size()) found.push_back(key);
      r.key = key;
    }
    *entry = r.entry;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Add(const GroupKeys &key, int32_t *of)
  {
    const GroupKey *k = key.along;
    PatchGroup      group = {0, 0, {}};
    uint64_t        word[3];

    PetscFunctionBegin;
    *of = -1;
    if (k[0].type < 0 || k[1].type < 0 || k[2].type < 0 || to->size() >= MOST) PetscFunctionReturn(PETSC_SUCCESS);
    for (int d = 0; d < 3; d++) {
      PetscCall(FindEntry(k[d], &group.entry[d]));
      word[d] = (uint64_t)group.entry[d];
    }
    PetscCall(VpDictionaryAdd(&groups, word, NULL, of));
    if ((size_t)*of == to->size()) to->push_back(group);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode Find(const GroupKeys &key, int32_t *of)
  {
    Recent &r = recent[(uint32_t)(key.along[0].type + 31 * key.along[1].type + 961 * key.along[2].type) % SLOTS];

    PetscFunctionBegin;
    if (memcmp(&r.key, &key, sizeof(key))) {
      PetscCall(Add(key, &r.group));
      r.key = key;
    }
    *of = r.group;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/* Sorts patch[] into launch order by these keys. Patches of groups with fewer than `least` patches come last, and `to` does not list
   them. */
static PetscErrorCode GroupPatches(const GroupKeys key[], int32_t count, int32_t least, int32_t patch[], GroupedPatches *to)
{
  int32_t              grouped = 0;
  std::vector<int32_t> of(count), order(patch, patch + count), next, number;
  GroupFinder          finder(&to->groups);

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(2, 0, &finder.entries));
  PetscCall(VpDictionaryCreate(3, 0, &finder.groups));
  for (int32_t i = 0; i < count; i++) {
    PetscCall(finder.Find(key[i], &of[i]));
    if (of[i] >= 0) to->groups[of[i]].n++;
  }
  PetscCall(VpDictionaryDestroy(&finder.entries));
  PetscCall(VpDictionaryDestroy(&finder.groups));
  for (PatchGroup &group : to->groups) {
    if (group.n < least) group.n = 0;
    group.first = grouped;
    number.resize(finder.found.size(), -1);
    for (int d = 0; group.n && d < 3; d++) {
      if (number[group.entry[d]] < 0) {
        number[group.entry[d]] = (int32_t)to->entries.size();
        to->entries.push_back(finder.found[group.entry[d]]);
      }
      group.entry[d] = number[group.entry[d]];
    }
    grouped += group.n;
    next.push_back(group.first);
  }
  for (int32_t i = 0, last = grouped; i < count; i++) patch[of[i] >= 0 && to->groups[of[i]].n ? next[of[i]]++ : last++] = order[i];
  to->list.n = grouped;
  to->groups.erase(std::remove_if(to->groups.begin(), to->groups.end(), [](const PatchGroup &group) { return !group.n; }),
                   to->groups.end());
  PetscFunctionReturn(PETSC_SUCCESS);
}
} // namespace vpatchdg::patch
