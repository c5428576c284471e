/* Loads that begin where they are written. The compiler moves other loads to where their values are used, even past barriers. */
#pragma once
#include "kernel.cuh"

template <class T, int n>
struct alignas(n * sizeof(T)) Pack {
  T a[n];
};
/* as many numbers as a thread reads at once */
template <class T>
struct Wide : Pack<T, VP_WIDE_BYTES / sizeof(T)> {
  static constexpr int n = VP_WIDE_BYTES / sizeof(T);
};

__device__ __forceinline__ float LoadNow(const float *p)
{
  float a;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(a) : "l"(p) : "memory");
  return a;
}
__device__ __forceinline__ double LoadNow(const double *p)
{
  double a;
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(a) : "l"(p) : "memory");
  return a;
}
template <class T>
__device__ __forceinline__ Pack<T, 1> LoadNow(const Pack<T, 1> *p)
{
  return {{LoadNow(p->a)}};
}
__device__ __forceinline__ Pack<float, 2> LoadNow(const Pack<float, 2> *p)
{
  Pack<float, 2> a;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(a.a[0]), "=f"(a.a[1]) : "l"(p) : "memory");
  return a;
}
__device__ __forceinline__ Pack<double, 2> LoadNow(const Pack<double, 2> *p)
{
  Pack<double, 2> a;
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(a.a[0]), "=d"(a.a[1]) : "l"(p) : "memory");
  return a;
}

/* ---- loads that the compiler may move. Requires: this launch does not write there */

/* what the machine reads at once */
template <class T, int n>
struct Words;
template <>
struct Words<float, 1> {
  typedef float type;
};
template <>
struct Words<float, 2> {
  typedef float2 type;
};
template <>
struct Words<float, 4> {
  typedef float4 type;
};
template <>
struct Words<double, 1> {
  typedef double type;
};
template <>
struct Words<double, 2> {
  typedef double2 type;
};
template <class T, int n>
__device__ __forceinline__ Pack<T, n> LoadOnce(const Pack<T, n> *p)
{
  const typename Words<T, n>::type a = __ldg((const typename Words<T, n>::type *)p);
  Pack<T, n>                       pack;

  memcpy(&pack, &a, sizeof(pack));
  return pack;
}

/* Calls f(i, row[i]) for i < N. The row begins at a multiple of N in an aligned array, so a load has as many numbers as divide N. */
template <int N, class T, class F>
__device__ __forceinline__ void ForRow(const T *row, F f)
{
  constexpr int W = N % 4 == 0 && sizeof(T) == sizeof(float) ? 4 : N % 2 == 0 ? 2 : 1;

  UNROLL (int i = 0; i < N; i += W) {
    const Pack<T, W> some = LoadOnce((const Pack<T, W> *)(row + i));
    UNROLL (int w = 0; w < W; w++) f(i + w, some.a[w]);
  }
}
