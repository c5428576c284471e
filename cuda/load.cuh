/* Loads that begin where they are written. The compiler moves other loads to where their values are used, even behind barriers. */
#pragma once
#include "kernel.cuh"

template <class T, int n>
struct alignas(n * sizeof(T)) Pack {
  T a[n];
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

/* a load that the compiler may move. Requires: nobody writes there in this launch */
__device__ __forceinline__ Pack<double, 2> LoadOnce(const Pack<double, 2> *p)
{
  const double2 a = __ldg((const double2 *)p);
  return {a.x, a.y};
}
