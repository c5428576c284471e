/* Continuous DMs of many kinds, on any number of ranks. */
#pragma once
#include "mapped_nu.h"

#define MAP(name, numbers) "-dm_vpatchdg_map " name " -dm_vpatchdg_map_parameters " numbers " "

/* meshes and equations */
static const struct {
  PetscInt    dim, degree;
  const char *options;
  Kind        kind;   /* of a coefficient at points; ONE: none */
  PetscBool   varies; /* The coefficient is a diagonal tensor of each cell. */
} cases[] = {
  {2, 1, "-dm_refine 3", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 2 -dm_vpatchdg_domain lshape -dm_vpatchdg_reaction 5", ONE, PETSC_TRUE},
  {2, 4, "-dm_refine 1 -dm_vpatchdg_boxes 3,2 -dm_vpatchdg_boundary robin,dirichlet,neumann,robin -dm_vpatchdg_robin 7", ONE, PETSC_TRUE},
  {2, 2, "-dm_refine 2 -dm_vpatchdg_boundary periodic -dm_vpatchdg_quadrature lobatto", ONE, PETSC_TRUE},
  {2, 2, "-dm_refine 0 -dm_vpatchdg_boundary periodic,periodic,dirichlet,neumann", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 0 -dm_vpatchdg_boxes 2,1 -dm_vpatchdg_boundary periodic", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 3 -dm_vpatchdg_quadrature lobatto -dm_vpatchdg_grid_x 0,.1,1 -dm_vpatchdg_boundary robin", ONE, PETSC_FALSE},
  {2, 3, "-dm_refine 3 -dm_vpatchdg_boundary dirichlet,robin,neumann,dirichlet " MAP("sine", ".1"), ONE, PETSC_FALSE},
  {2, 2, "-dm_refine 2 -dm_vpatchdg_reaction 3", SIN4, PETSC_FALSE},
  {2, 3, "-dm_refine 2", TURN, PETSC_FALSE},
  {3, 1, "-dm_refine 2 -dm_vpatchdg_boundary periodic,periodic,neumann,dirichlet,robin,robin", ONE, PETSC_TRUE},
  {3, 2, "-dm_refine 1 -dm_vpatchdg_domain fichera", ONE, PETSC_TRUE},
  {3, 3, "-dm_refine 1 -dm_vpatchdg_boundary neumann -dm_vpatchdg_reaction 2", ONE, PETSC_FALSE},
  {3, 2, "-dm_refine 1 -dm_vpatchdg_reaction 3 " MAP("annulus", "1,2,90"), ONE, PETSC_FALSE},
  {3, 2, "-dm_refine 1 -dm_vpatchdg_boundary dirichlet,robin,neumann,dirichlet,dirichlet,dirichlet " MAP("sine", ".1"), ONE, PETSC_FALSE},
  {3, 3, "-dm_refine 1 " MAP("shear", "30"), ONE, PETSC_FALSE},
};

static inline PetscErrorCode SetTensors(DM dm, PetscInt dim)
{
  PetscReal lower[3], upper[3], *a;
  PetscInt  n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n * dim + 1, &a));
  for (PetscInt i = 0; i < n * dim; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i / dim, lower, upper));
    a[i] = 1 + 10 * PetscAbsReal(PetscSinReal(5 * lower[0] + 3 * upper[1] + (PetscReal)(i % dim)));
  }
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CaseDM(MPI_Comm comm, size_t i, PetscBool continuous, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(comm, cases[i].dim, cases[i].degree, 0, dm));
  PetscCall(DMVPatchDGSetContinuous(*dm, continuous));
  PetscCall(TestDMOptions(*dm, cases[i].options));
  if (cases[i].kind != ONE)
    PetscCall(DMVPatchDGSetCoefficientFunction(*dm, cases[i].kind == TURN ? cases[i].dim * (cases[i].dim + 1) / 2 : 1, KindAtPoints,
                                               PETSC_MEMTYPE_HOST, (void *)&cases[i].kind));
  PetscCall(DMSetUp(*dm));
  if (cases[i].varies) PetscCall(SetTensors(*dm, cases[i].dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* v_i = sin(a i + b), the same for any number of ranks */
static inline PetscErrorCode FillWaves(Vec v, PetscReal a, PetscReal b)
{
  PetscInt     first, last;
  PetscScalar *values;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &first, &last));
  PetscCall(VecGetArrayWrite(v, &values));
  for (PetscInt i = first; i < last; i++) values[i - first] = PetscSinReal(a * (PetscReal)i + b);
  PetscCall(VecRestoreArrayWrite(v, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |a - b| over the sum of both */
static inline PetscReal Apart(PetscScalar a, PetscScalar b)
{
  return PetscAbsScalar(a - b) / (PetscAbsScalar(a) + PetscAbsScalar(b) + 1e-12);
}
