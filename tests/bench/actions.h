/* What bench_gpu times, and how that becomes a row of its table: each action does it once, with what a Work has. */
#pragma once
#include "work.h"

static inline PetscErrorCode Multiply(void *work)
{
  return MatMult(((Work *)work)->A, ((Work *)work)->b, ((Work *)work)->x);
}

static inline PetscErrorCode Precondition(void *work)
{
  return PCApply(((Work *)work)->pc, ((Work *)work)->b, ((Work *)work)->x);
}

static inline PetscErrorCode SolveOnce(void *work)
{
  return KSPSolve(((Work *)work)->ksp, ((Work *)work)->b, ((Work *)work)->x);
}

static inline PetscErrorCode MultiplyLevel(void *work)
{
  VpCycle       cycle = ((Work *)work)->cycle;
  VpLevel       level = cycle->at[0].level;
  const VpView *view = &level->view;
  char         *x = cycle->at[0].x->buffer[0];

  PetscFunctionBeginUser;
  PetscCall(level->ops->apply(view, 0, view->nown, x, VpGhostsAt(x + view->nown * level->block), NULL, cycle->at[0].x->buffer[1]));
  PetscCall(VpLogFlops(level->backend, VpLevelApplyFlops(level)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Restrict(void *work)
{
  VpCycle       cycle = ((Work *)work)->cycle;
  const VpLevel level = cycle->at[0].level;

  PetscFunctionBeginUser;
  PetscCall(level->ops->restrict_(&level->transfer, cycle->at[0].b->buffer[0], cycle->at[1].b->buffer[0]));
  PetscCall(VpLogFlops(level->backend, VpTransferFlops(&level->view, level->view.nown)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Prolong(void *work)
{
  VpCycle       cycle = ((Work *)work)->cycle;
  const VpLevel level = cycle->at[0].level;
  const VpView *view = &level->view;

  PetscFunctionBeginUser;
  PetscCall(
    level->ops->prolong(&level->transfer, 0, level->mesh->nhalo, PETSC_FALSE, cycle->at[1].x->buffer[0], cycle->at[0].x->buffer[0]));
  PetscCall(VpLogFlops(level->backend, VpTransferFlops(view, view->nown)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Sweep(void *work)
{
  Work *w = (Work *)work;

  return VpSmootherSweep(w->smoother, PETSC_FALSE, w->cycle->at[0].b, w->cycle->at[0].x);
}

static inline PetscErrorCode EnterResidual(void *work)
{
  Work              *w = (Work *)work;
  const PetscScalar *b, *x;
  VpVector           r;
  PetscReal          norm2;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayReadAndMemType(w->b, &b, NULL));
  PetscCall(VecGetArrayReadAndMemType(w->x, &x, NULL));
  PetscCall(VpCycleBegin(w->cycle, 0, &r));
  PetscCall(VpVectorEnterResidual(
    r, &(VpOuterResidual){.outer = w->outer, .scale = 1, .x = x, .f = b, .ghosts = VpGhostsAt(x + w->dofs), NULL}, &norm2));
  PetscCall(VecRestoreArrayReadAndMemType(w->x, &x));
  PetscCall(VecRestoreArrayReadAndMemType(w->b, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode LeaveAdd(void *work)
{
  Work        *w = (Work *)work;
  PetscScalar *z;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayAndMemType(w->x, &z, NULL));
  PetscCall(VpVectorLeave(w->cycle->at[0].x, PETSC_TRUE, 1, z));
  PetscCall(VecRestoreArrayAndMemType(w->x, &z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data at points: w->x is at points where w->b has coefficients, and the reverse */
static inline PetscErrorCode FindPoints(void *work)
{
  Vec points;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetPoints(((Work *)work)->dm, &points));
  PetscCall(VecDestroy(&points));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PointValues(void *work)
{
  return DMVPatchDGGetPointValues(((Work *)work)->dm, ((Work *)work)->b, ((Work *)work)->x);
}

static inline PetscErrorCode PointGradients(void *work)
{
  return DMVPatchDGGetPointGradients(((Work *)work)->dm, ((Work *)work)->b, ((Work *)work)->gradients);
}

static inline PetscErrorCode Coefficients(void *work)
{
  return DMVPatchDGSetPointValues(((Work *)work)->dm, ((Work *)work)->b, ((Work *)work)->x);
}

static inline PetscErrorCode RHSFromPoints(void *work)
{
  return DMVPatchDGComputeRHSFromPoints(((Work *)work)->dm, ((Work *)work)->b, ((Work *)work)->boundary, NULL, ((Work *)work)->x);
}

static inline PetscErrorCode DifferenceL2(void *work)
{
  PetscReal l2;

  return DMVPatchDGComputeDifference(((Work *)work)->dm, ((Work *)work)->b, ((Work *)work)->x, NULL, &l2, NULL);
}

static inline PetscErrorCode DifferenceH1(void *work)
{
  PetscReal h1;

  return DMVPatchDGComputeDifference(((Work *)work)->dm, ((Work *)work)->b, NULL, ((Work *)work)->gradients, NULL, &h1);
}

/* A colour of a sweep reads b, writes x, and reads thin traces beyond dim sides of a cell, about 1.25 numbers a DoF in 3D; a
   transfer touches both levels; a cycle is a sweep and two transfers on every level. */
static inline double Bytes(const Work *w, Traffic least)
{
  const int    dim = w->bench->dim, children = 1 << dim;
  const double sweep_reals = children * (2 + 1.25 * dim / 3), transfer_reals = 1 + 1. / children;
  const double cycle_reals = (sweep_reals + 2 * transfer_reals) * children / (children - 1);

  return least.bytes + (least.reals + least.sweeps * sweep_reals + least.transfers * transfer_reals + least.cycles * cycle_reals) *
                         (w->precision == VP_SINGLE ? sizeof(float) : sizeof(double));
}

static inline Row NewRow(const Work *w, const char name[])
{
  return (Row){.degree = w->degree, .dofs = w->dofs, .precision = w->precision, .name = name};
}

static inline PetscErrorCode Measure(Work *w, const char name[], Action action, Traffic least)
{
  Row row = NewRow(w, name);

  PetscFunctionBeginUser;
  row.least = Bytes(w, least);
  PetscCall(CountFlops(action, w, &row.flops));
  PetscCall(Time(w->bench, action, w, &row.seconds));
  Report(w->bench, &row);
  PetscFunctionReturn(PETSC_SUCCESS);
}
