/* Lines of cells that lie in other directions than those that read them (tables/turn.h). */
#pragma once
#include "device/kernel.cuh"

/* A line of n values, STEP from value to value. First: the place of the line in an array of values; Index: where value i is from there;
   Signed: the value as it counts on the line, or back */
template <int STEP>
struct PlainLine {
  int start;

  template <class T>
  __device__ __forceinline__ T *First(T *values) const
  {
    return values + start;
  }
  __device__ __forceinline__ int Index(int i) const
  {
    return i * STEP;
  }
  template <class T>
  __device__ __forceinline__ T Signed(int, T v) const
  {
    return v;
  }
};

/* Where the values of a cell with a frame are along the frame's axes: (i, j, k) at start + i step[0] + j step[1] + k step[2]. odd: a bit
   per axis along which every second value changes its sign */
struct alignas(8) FrameSteps {
  int16_t start;
  int8_t  step[3];
  uint8_t odd;
};
/* nt: layers of traces, which tell how the basis is mirrored (VpMirror) */
VP_SIZE FrameSteps FrameStepsOf(int n, int nt, int dim, int frame)
{
  FrameSteps its = {};

  for (int d = 0, stride = 1; d < dim; d++, stride *= n) {
    const int  axis = VpFrameAxis(frame, d);
    const bool flips = VpFrameFlips(frame, d);
    const int  first = flips ? VpMirror(n, nt, 0) : 0, next = flips ? VpMirror(n, nt, 1) : 1;

    its.start += first * stride;
    for (int a = 0; a < 3; a++) {
      if (a != axis) continue;
      its.step[a] = (next - first) * stride;
      its.odd |= (flips && VpMirrorSign(n, nt, 1) < 0) << a;
    }
  }
  return its;
}
/* the same for all frames */
enum { VP_FRAMES = 64 };
template <int DIM, int N, int NT>
struct FrameTable {
  FrameSteps of[VP_FRAMES];

  constexpr FrameTable() : of{}
  {
    for (int frame = 0; frame < VP_FRAMES; frame++) {
      if ((frame >> 3 & 3) < 3) of[frame] = FrameStepsOf(N, NT, DIM, frame);
    }
  }
};
template <int DIM, int N, int NT>
__device__ constexpr FrameTable<DIM, N, NT> frame_table;
template <int DIM, int N, int NT>
__device__ __forceinline__ FrameSteps LoadFrame(int frame)
{
  const int2 word = __ldg((const int2 *)&frame_table<DIM, N, NT>.of[frame]);
  FrameSteps its;

  memcpy(&its, &word, sizeof(its));
  return its;
}

/* The same as PlainLine for a line that may run the other way, or of a cell with a frame, whose values count along the frame's axes. SIGNS:
   whether values of mirrored functions change their signs in this basis */
template <int N, bool SIGNS = true>
struct FramedLine {
  int  start, step;
  bool negative, alternates; /* signs of all values, and of every second one */

  /* half a line, of a cell without a frame */
  __device__ __forceinline__ FramedLine(int nt, bool flips, int stride) : start(flips ? VpMirror(N, nt, 0) * stride : 0), negative(false)
  {
    step = flips ? (VpMirror(N, nt, 1) - VpMirror(N, nt, 0)) * stride : stride;
    alternates = flips && VpMirrorSign(N, nt, 1) < 0;
  }
  /* the line along an axis with the coordinates at [3] along the other axes */
  __device__ __forceinline__ FramedLine(const FrameSteps &its, int axis, const int (&at)[3]) : start(its.start), negative(false)
  {
    UNROLL (int a = 0; a < 3; a++) {
      const bool odd = its.odd >> a & 1;

      if (a == axis) {
        step = its.step[a];
        alternates = odd;
      } else {
        start += at[a] * its.step[a];
        negative = negative != (odd && at[a] % 2);
      }
    }
  }
  template <class T>
  __device__ __forceinline__ T *First(T *values) const
  {
    return values + start;
  }
  __device__ __forceinline__ int Index(int i) const
  {
    return i * step;
  }
  template <class T>
  __device__ __forceinline__ T Signed(int i, T v) const
  {
    return SIGNS && negative != (alternates && i % 2) ? -v : v;
  }
};
