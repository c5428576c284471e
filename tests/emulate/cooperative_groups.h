/* The grid of a cooperative launch. */
#pragma once
#include <cuda_runtime.h>

namespace cooperative_groups {
struct grid_group {
  void sync() const
  {
    emulated::SyncGrid();
  }
};
inline grid_group this_grid()
{
  return {};
}
} // namespace cooperative_groups
