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

/* The same for a line that may run the other way, or of a cell with a frame, whose values count along the frame's axes. nt: layers of
   traces, which tell how the basis is mirrored (VpMirror) */
template <int N>
struct FramedLine {
  int  start, step;
  bool negative, alternates; /* signs of all values, and of every second one */

  __device__ __forceinline__ FramedLine(int nt, bool flips, int stride) : start(0), negative(false)
  {
    Run(nt, flips, stride);
  }
  /* the line along an axis with the coordinates at [3] along the other axes */
  __device__ __forceinline__ FramedLine(int nt, int frame, int dim, int axis, const int (&at)[3]) : start(0), negative(false)
  {
    for (int d = 0, stride = 1; d < dim; d++, stride *= N) {
      const int  along = VpFrameAxis(frame, d), i = along == 0 ? at[0] : along == 1 ? at[1] : at[2];
      const bool flips = VpFrameFlips(frame, d);

      if (along == axis) Run(nt, flips, stride);
      else {
        start += (flips ? VpMirror(N, nt, i) : i) * stride;
        negative = negative != (flips && VpMirrorSign(N, nt, i) < 0);
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
    return negative != (alternates && i % 2) ? -v : v;
  }

private:
  __device__ __forceinline__ void Run(int nt, bool flips, int stride)
  {
    const int first = flips ? VpMirror(N, nt, 0) : 0, next = flips ? VpMirror(N, nt, 1) : 1;

    start += first * stride;
    step = (next - first) * stride;
    alternates = flips && VpMirrorSign(N, nt, 1) < 0;
  }
};
