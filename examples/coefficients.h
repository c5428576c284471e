/* Coefficients of poisson that vary inside of cells: matrices K(x), and what -div (K grad u) needs of them. */
#pragma once
#include <vpatchdg.h>

typedef enum { ONE, WAVES, EXP, ROTATING } Material;
static const char *const materials[] = {"one", "waves", "exp", "rotating"};

static inline PetscReal WaveNumber(Material m)
{
  return m == WAVES ? 4 * PETSC_PI : 2 * PETSC_PI;
}

/* 1 + 0.9 product of sin(4 pi x_d), or exp(3 product of sin(2 pi x_d)), from the sines */
static inline PetscReal NumberOf(Material m, PetscInt dim, const PetscReal sine[])
{
  const PetscReal product = sine[0] * sine[1] * (dim == 3 ? sine[2] : 1);

  return m == WAVES ? 1 + 0.9 * product : PetscExpReal(3 * product);
}

/* *a = that number, and its gradient */
static inline void NumberAt(Material m, PetscInt dim, const PetscReal x[], PetscReal *a, PetscReal slope[])
{
  const PetscReal w = WaveNumber(m);
  PetscReal       sine[3] = {0, 0, 0};

  for (PetscInt d = 0; d < dim; d++) sine[d] = PetscSinReal(w * x[d]);
  *a = NumberOf(m, dim, sine);
  for (PetscInt d = 0; d < dim; d++) {
    slope[d] = (m == WAVES ? 0.9 : 3 * *a) * w * PetscCosReal(w * x[d]);
    for (PetscInt e = 0; e < dim; e++) slope[d] *= e == d ? 1 : sine[e];
  }
}

/* The number at n points. Those of a cell come in lines, x fastest, and a sine is computed only where a coordinate is another one. */
static inline void NumbersAt(Material m, PetscInt dim, PetscInt n, const PetscReal x[], PetscScalar a[])
{
  const PetscReal w = WaveNumber(m);
  PetscReal       last[3] = {0, 0, 0}, sine[3] = {0, 0, 0};

  for (PetscInt i = 0; i < n; i++, x += dim) {
    for (PetscInt d = 0; d < dim; d++) {
      if (x[d] != last[d]) sine[d] = PetscSinReal(w * x[d]);
      last[d] = x[d];
    }
    a[i] = NumberOf(m, dim, sine);
  }
}

/* K and the divergences of its rows. rotating: I + 9 v v^T, v = (cos t, sin t, 0), t = 2 pi (x + y/2) */
static inline void MaterialAt(Material m, PetscInt dim, const PetscReal x[], PetscReal K[3][3], PetscReal divergence[3])
{
  const PetscReal t = 2 * PETSC_PI * (x[0] + x[1] / 2), s = PetscSinReal(2 * t), c = PetscCosReal(2 * t);
  PetscReal       a = 1;

  for (PetscInt d = 0; d < dim; d++) divergence[d] = 0;
  if (m == WAVES || m == EXP) NumberAt(m, dim, x, &a, divergence);
  for (PetscInt d = 0; d < dim; d++) {
    for (PetscInt e = 0; e < dim; e++) K[d][e] = d == e ? a : 0;
  }
  if (m != ROTATING) return;
  K[0][0] += 4.5 * (1 + c);
  K[1][1] += 4.5 * (1 - c);
  K[0][1] = K[1][0] = 4.5 * s;
  divergence[0] = 9 * PETSC_PI * (c - 2 * s);
  divergence[1] = 9 * PETSC_PI * (2 * c + s);
}

/* the coefficient as DMVPatchDGSetCoefficientFunction() takes it; ctx: the Material */
static inline PetscErrorCode MaterialAtPoints(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar a[],
                                              void *ctx)
{
  const Material m = *(const Material *)ctx;

  if (m != ROTATING) NumbersAt(m, dim, n, x, a);
  for (PetscInt i = 0; i < n && m == ROTATING; i++) {
    PetscReal K[3][3], divergence[3];

    MaterialAt(m, dim, x + i * dim, K, divergence);
    for (PetscInt d = 0; d < dim; d++) {
      for (PetscInt e = d; e < dim; e++) *a++ = K[d][e];
    }
  }
  return 0;
}

static inline PetscErrorCode SetMaterial(DM dm, Material *m)
{
  PetscInt dim;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  if (*m != ONE)
    PetscCall(DMVPatchDGSetCoefficientFunction(dm, *m == ROTATING ? dim * (dim + 1) / 2 : 1, MaterialAtPoints, PETSC_MEMTYPE_HOST, m));
  PetscFunctionReturn(0);
}
