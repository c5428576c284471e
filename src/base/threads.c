/* Loops in threads of OpenMP; without OpenMP there is one. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include "threads.h"
#include "../compat.h"
#include <sched.h>
#include <stdlib.h>

/* A thread is not worth its start for fewer items. Several pieces a thread even out what some of them take longer. */
enum { LEAST_ITEMS = 4096, PIECES_A_THREAD = 4 };

int VpThreads = 1;

static PetscErrorCode CoresOf(MPI_Comm host, int *cores)
{
  PetscFunctionBegin;
  *cores = 1;
#if defined(_OPENMP) && defined(CPU_COUNT)
  {
    cpu_set_t   mine, all;
    PetscMPIInt size;

    CPU_ZERO(&mine);
    (void)sched_getaffinity(0, sizeof(mine), &mine); /* where it fails there are none, and one thread is left */
    PetscCallMPI(MPI_Allreduce(&mine, &all, (PetscMPIInt)sizeof(mine), MPI_BYTE, MPI_BOR, host));
    PetscCallMPI(MPI_Comm_size(host, &size));
    *cores = PetscMin(CPU_COUNT(&mine), CPU_COUNT(&all) / size);
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpFindThreads(MPI_Comm host)
{
  const char *given = getenv("OMP_NUM_THREADS");
  int         cores;

  PetscFunctionBegin;
  PetscCall(CoresOf(host, &cores));
  VpThreads = PetscMax(1, given && atoi(given) > 0 ? atoi(given) : cores);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int32_t VpLoopPieces(int32_t n)
{
  return VpThreads == 1 ? 1 : PetscMax(1, PetscMin(n / LEAST_ITEMS, PIECES_A_THREAD * VpThreads));
}

int32_t VpLoopStart(int32_t n, int32_t piece)
{
  return (int32_t)((int64_t)n * piece / VpLoopPieces(n));
}

int32_t VpLoopSum(int32_t pieces, int32_t count[])
{
  int32_t sum = 0;

  for (int32_t piece = 0; piece < pieces; piece++) {
    const int32_t here = count[piece];

    count[piece] = sum;
    sum += here;
  }
  return sum;
}

void VpLoop(int32_t n, VpLoopBody body, void *context)
{
  const int32_t pieces = VpLoopPieces(n);

#ifdef _OPENMP
  #pragma omp parallel for schedule(dynamic, 1) num_threads(PetscMin(pieces, VpThreads)) if (pieces > 1)
#endif
  for (int32_t i = 0; i < pieces; i++) body(context, i, VpLoopStart(n, i), VpLoopStart(n, i + 1));
}
