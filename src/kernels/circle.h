/* What formulas of maps begin with. */
#pragma once
#include "views.h"
#include <math.h>

/* Declares a function that host and device code may call. */
#ifdef __CUDACC__
  #define VP_POINT static __host__ __device__ __forceinline__
#else
  #define VP_POINT static inline __attribute__((always_inline))
#endif
/* a loop whose counter selects registers on a device */
#ifdef __CUDA_ARCH__
  #define VP_UNROLL(...) _Pragma("unroll") for (__VA_ARGS__)
#else
  #define VP_UNROLL(...) for (__VA_ARGS__)
#endif

/* VP_FORMULA_NONE: cells are boxes, or their maps have nodes */
typedef enum {
  VP_FORMULA_NONE,
  VP_FORMULA_SHEAR,
  VP_FORMULA_SINE,
  VP_FORMULA_ANNULUS,
  VP_FORMULA_KERSHAW,
  VP_FORMULA_TORUS,
  VP_FORMULA_BUMP,
  VP_FORMULA_STAR, /* the domains of trees, treeformulas.h */
  VP_FORMULA_DISC,
  VP_FORMULA_CYLINDER,
  VP_FORMULA_BALL,
  VP_FORMULA_SHELL
} VpFormula;
enum { VP_FORMULA_NUMBERS = 3 };
#define VP_PI 3.14159265358979323846

/* Sets on = cosine and sine of an angle. The host keeps the last ones: neighbouring points share coordinates. place: 0 to 2, of the one
   that is kept */
VP_POINT void VpOnCircle(int place, double angle, double on[2])
{
#ifdef __CUDACC__
  on[0] = cos(angle);
  on[1] = sin(angle);
#else
  static _Thread_local struct {
    double angle, on[2];
  } last[3] = {{0, {1, 0}}, {0, {1, 0}}, {0, {1, 0}}};

  if (angle != last[place].angle) {
    last[place].angle = angle;
    last[place].on[0] = cos(angle);
    last[place].on[1] = sin(angle);
  }
  on[0] = last[place].on[0];
  on[1] = last[place].on[1];
#endif
}
