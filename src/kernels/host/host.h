/* The kernels by name. operator.c, sweep.c, transfer.c, along.c, convert.c and traces.c are compiled for every -DVP_REAL=float|double and -DVP_DIM=2|3,
   points.c for double alone. They define one function per degree k and slot, VpHost<slot>_<real>_<dim>_<k>; backend.c gathers them. */
#pragma once
#include "../ops.h"
#include "../../compat.h"

#define VP_NAME_(slot, real, dim, k) VpHost##slot##_##real##_##dim##_##k
#define VP_NAME(slot, real, dim, k)  VP_NAME_(slot, real, dim, k)

#define VP_DECLARE(real, dim, k) \
  PetscErrorCode VP_NAME(Apply, real, dim, k)(const VpView *, int32_t, int32_t, const void *, VpGhosts, const void *, void *); \
  PetscErrorCode VP_NAME(Sweep, real, dim, k)(const VpView *, const VpPatchView *, VpForm, int32_t, int32_t, unsigned, const void *, \
                                              void *const[2]); \
  PetscErrorCode VP_NAME(Settle, real, dim, k)(const VpPatchView *, int32_t, unsigned, void *const[2]); \
  PetscErrorCode VP_NAME(Current, real, dim, k)(const VpPatchView *, int32_t, const int32_t *, unsigned, void *const[2], void *); \
  PetscErrorCode VP_NAME(Prolong, real, dim, k)(const VpTransferView *, int32_t, int32_t, PetscBool, const void *, void *); \
  PetscErrorCode VP_NAME(Restrict, real, dim, k)(const VpTransferView *, const void *, void *); \
  PetscErrorCode VP_NAME(PackTraces, real, dim, k)(const VpView *, int32_t, const int32_t *, const void *, void *); \
  PetscErrorCode VP_NAME(UnpackTraces, real, dim, k)(const VpView *, int32_t, const int32_t *, const void *, void *); \
  PetscErrorCode VP_NAME(Along, real, dim, k)(const VpView *, int, const int32_t[3], const int32_t *, const void *, const void *, \
                                              const void *, void *); \
  PetscErrorCode VP_NAME(Enter, real, dim, k)(const VpView *, double, const double *, void *); \
  PetscErrorCode VP_NAME(EnterResidual, real, dim, k)(const VpView *, const VpView *, double, const double *, VpGhosts, const double *, \
                                                      void *, double *); \
  PetscErrorCode VP_NAME(Leave, real, dim, k)(const VpView *, PetscBool, double, const void *, double *); \
  /* y[0 .. last - first) = (A x or b - A x) on cells [first, last); b as in VpOps, y starts with cell first */ \
  void VP_NAME(Residual, real, dim, k)(const VpView *, int32_t, int32_t, const void *, const void *, const void *, void *);

#define VP_DECLARE_POINTS(real, dim, k) \
  PetscErrorCode VP_NAME(Coordinates, real, dim, k)(const VpView *, const VpPlaces *, const VpGrid *, double *); \
  PetscErrorCode VP_NAME(Evaluate, real, dim, k)(const VpView *, const VpPlaces *, const VpGrid *, int, const double *, double *); \
  PetscErrorCode VP_NAME(Integrate, real, dim, k)(const VpView *, const VpPlaces *, const VpGrid *, PetscBool, const double *, double *); \
  PetscErrorCode VP_NAME(Distance, real, dim, k)(const VpView *, const VpPlaces *, const VpGrid *, int, const double *, const double *, \
                                                 double *);

#define VP_DEGREE(k) VP_DECLARE_POINTS(double, 2, k) VP_DECLARE_POINTS(double, 3, k)
#include "degrees.def"
#undef VP_DEGREE
#define VP_DEGREE(k) VP_DECLARE(float, 2, k) VP_DECLARE(float, 3, k) VP_DECLARE(double, 2, k) VP_DECLARE(double, 3, k)
#include "degrees.def"
#undef VP_DEGREE
