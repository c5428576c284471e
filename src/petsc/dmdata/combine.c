/* Vectors combined in one pass over memory: products, sums of multiples, and a step of conjugate gradients. PETSc's VecMDot(), VecNorm()
   and VecMAXPY() take two to four times as long on a GPU, and KSPs that orthogonalise wait for them. */
#include "dmdata.h"
#include <petscdevice.h>

PetscErrorCode VpVecBackend(Vec v, const VpBackend **backend)
{
  const VpBackend *cuda = VpBackendFind("cuda");
  PetscBool        device = PETSC_FALSE;

  PetscFunctionBegin;
  if (cuda) PetscCall(PetscObjectTypeCompareAny((PetscObject)v, &device, VECSEQCUDA, VECMPICUDA, ""));
  if (device) PetscCall(cuda->available(&device));
  *backend = device ? cuda : &VpBackendHost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums[n] over all ranks */
static PetscErrorCode SumOverRanks(Vec v, PetscInt n, PetscScalar sums[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)v);
  PetscMPIInt    ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  if (ranks > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sums, (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Computes the inner products of x with n vectors y, or adds their multiples by a[n] if products is NULL. */
static PetscErrorCode CombineVectors(const VpBackend *backend, Vec x, PetscInt n, const Vec y[], const PetscScalar a[],
                                     PetscScalar products[])
{
  VpValues            to, *from;
  const PetscScalar **at;
  PetscInt            rows;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(PetscMalloc2(n, &from, n, &at));
  PetscCall(VpValuesGet(backend, x, products ? VP_READ : VP_READ_WRITE, &to));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(VpValuesGet(backend, y[i], VP_READ, &from[i]));
    at[i] = from[i].at;
  }
  if (products) PetscCall(backend->mdot((size_t)rows, to.at, (int)n, at, products));
  else PetscCall(backend->maxpy((size_t)rows, to.at, (int)n, a, at));
  for (PetscInt i = 0; i < n; i++) PetscCall(VpValuesRestore(&from[i]));
  PetscCall(VpValuesRestore(&to));
  PetscCall(PetscFree2(from, at));
  PetscCall(VpLogFlops(backend, 2. * (double)n * (double)rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVecProducts(Vec x, PetscInt n, const Vec y[], PetscScalar products[])
{
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(VpVecBackend(x, &backend));
  if (!backend->mdot) {
    PetscCall(VecMDot(x, n, y, products));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CombineVectors(backend, x, n, y, NULL, products));
  PetscCall(SumOverRanks(x, n, products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVecAddMultiples(Vec x, PetscInt n, const PetscScalar a[], Vec y[])
{
  const VpBackend *backend;

  PetscFunctionBegin;
  PetscCall(VpVecBackend(x, &backend));
  if (backend->maxpy) PetscCall(CombineVectors(backend, x, n, y, a, NULL));
  else PetscCall(VecMAXPY(x, n, a, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVecDescend(PetscScalar alpha, Vec p, Vec c, Vec x, Vec r, PetscReal *norm)
{
  const VpBackend *backend;
  VpValues         pv, cv, xv, rv;
  PetscInt         rows;
  PetscScalar      square;

  PetscFunctionBegin;
  PetscCall(VpVecBackend(x, &backend));
  PetscCall(VecGetLocalSize(x, &rows));
  PetscCall(VpValuesGet(backend, p, VP_READ, &pv));
  PetscCall(VpValuesGet(backend, c, VP_READ, &cv));
  PetscCall(VpValuesGet(backend, x, VP_READ_WRITE, &xv));
  PetscCall(VpValuesGet(backend, r, VP_READ_WRITE, &rv));
  PetscCall(backend->descend((size_t)rows, alpha, pv.at, cv.at, xv.at, rv.at, &square));
  PetscCall(VpValuesRestore(&rv));
  PetscCall(VpValuesRestore(&xv));
  PetscCall(VpValuesRestore(&cv));
  PetscCall(VpValuesRestore(&pv));
  PetscCall(SumOverRanks(x, 1, &square));
  PetscCall(VpLogFlops(backend, 6. * (double)rows));
  *norm = PetscSqrtReal(square);
  PetscFunctionReturn(PETSC_SUCCESS);
}
