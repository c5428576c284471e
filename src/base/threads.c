/* Loops in threads of OpenMP; without OpenMP there is one. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include "threads.h"
#include "../compat.h"
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* A thread is not worth its start for fewer items. Several pieces a thread even out what some of them take longer. More threads than
   MOST_THREADS would wait for memory. */
enum { LEAST_ITEMS = 4096, PIECES_A_THREAD = 4, MOST_THREADS = 32, MOST_GIVEN = 256 };

int VpThreads = 1;

#if defined(_OPENMP) && defined(CPU_COUNT)
/* as many cores' time as a container's control group grants; INT_MAX where it sets no limit */
static int Quota(void)
{
  FILE  *file = fopen("/sys/fs/cgroup/cpu.max", "r");
  double time = 0, period = 0;
  int    said = 0;

  if (file) said = fscanf(file, "%lf %lf", &time, &period); /* or "max ..." */
  if (file) fclose(file);
  return said == 2 && period > 0 && time < INT_MAX ? (int)(time / period) : INT_MAX;
}

/* this rank's share of the cores */
static PetscErrorCode Cores(MPI_Comm host, int *cores)
{
  const int   quota = Quota();
  cpu_set_t   mine, all;
  PetscMPIInt size;

  PetscFunctionBegin;
  CPU_ZERO(&mine);
  (void)sched_getaffinity(0, sizeof(mine), &mine); /* where it fails there are none, and one thread is left */
  PetscCallMPI(MPI_Allreduce(&mine, &all, (PetscMPIInt)sizeof(mine), MPI_BYTE, MPI_BOR, host));
  PetscCallMPI(MPI_Comm_size(host, &size));
  *cores = PetscMin(CPU_COUNT(&mine), PetscMin(CPU_COUNT(&all), quota) / size);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode Cores(MPI_Comm host, int *cores)
{
  PetscFunctionBegin;
  *cores = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode VpFindThreads(MPI_Comm host)
{
  const char *given = getenv("OMP_NUM_THREADS");
  int         cores;

  PetscFunctionBegin;
  PetscCall(Cores(host, &cores));
  VpThreads = given && atoi(given) > 0 ? PetscMin(atoi(given), MOST_GIVEN) : PetscMax(1, PetscMin(cores, MOST_THREADS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int32_t Pieces(int32_t n, int32_t least)
{
  return VpThreads == 1 ? 1 : PetscMax(1, PetscMin(n / least, PIECES_A_THREAD * VpThreads));
}

static int32_t Start(int32_t n, int32_t pieces, int32_t piece)
{
  return (int32_t)((int64_t)n * piece / pieces);
}

int32_t VpLoopPieces(int32_t n)
{
  return Pieces(n, LEAST_ITEMS);
}

int32_t VpLoopStart(int32_t n, int32_t piece)
{
  return Start(n, VpLoopPieces(n), piece);
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

static void Loop(int32_t n, int32_t pieces, VpLoopBody body, void *context)
{
#ifdef _OPENMP
  #pragma omp parallel for schedule(dynamic, 1) num_threads(PetscMin(pieces, VpThreads)) if (pieces > 1)
#endif
  for (int32_t i = 0; i < pieces; i++) body(context, i, Start(n, pieces, i), Start(n, pieces, i + 1));
}

void VpLoop(int32_t n, VpLoopBody body, void *context)
{
  Loop(n, VpLoopPieces(n), body, context);
}

void VpLoopHeavy(int32_t n, VpLoopBody body, void *context)
{
  Loop(n, Pieces(n, 1), body, context);
}
