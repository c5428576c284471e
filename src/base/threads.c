/* Loops in OpenMP threads, or in one thread without OpenMP. */
#ifndef _GNU_SOURCE
  #define _GNU_SOURCE
#endif
#include "threads.h"
#include "../compat.h"
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

/* Fewer than LEAST_ITEMS items are not worth the start of a thread. Several pieces per thread balance the load, also where other
   programs take a core for a while. More than MOST_THREADS threads would wait for memory. A user may ask for MOST_GIVEN threads. */
enum { LEAST_ITEMS = 4096, PIECES_PER_THREAD = 16, MOST_THREADS = 32, MOST_GIVEN = 256 };

int VpThreads = 1;

#if defined(_OPENMP) && defined(CPU_COUNT)
/* number of cores whose time a container's control group grants; INT_MAX without a limit */
static int ReadQuota(void)
{
  FILE  *file = fopen("/sys/fs/cgroup/cpu.max", "r");
  double time = 0, period = 0;
  int    found = 0;

  if (file) found = fscanf(file, "%lf %lf", &time, &period); /* the file may say "max ..." */
  if (file) fclose(file);
  return found == 2 && period > 0 && time < INT_MAX ? (int)(time / period) : INT_MAX;
}

/* *cores = this rank's share of its host's cores */
static PetscErrorCode CountCores(MPI_Comm host, int *cores)
{
  const int   quota = ReadQuota();
  cpu_set_t   mine, all;
  PetscMPIInt size;

  PetscFunctionBegin;
  CPU_ZERO(&mine);
  (void)sched_getaffinity(0, sizeof(mine), &mine); /* If it fails the set is empty, and loops use one thread. */
  PetscCallMPI(MPI_Allreduce(&mine, &all, (PetscMPIInt)sizeof(mine), MPI_BYTE, MPI_BOR, host));
  PetscCallMPI(MPI_Comm_size(host, &size));
  *cores = PetscMin(CPU_COUNT(&mine), PetscMin(CPU_COUNT(&all), quota) / size);
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
static PetscErrorCode CountCores(MPI_Comm host, int *cores)
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
  PetscCall(CountCores(host, &cores));
  VpThreads = given && atoi(given) > 0 ? PetscMin(atoi(given), MOST_GIVEN) : PetscMax(1, PetscMin(cores, MOST_THREADS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int32_t CountPieces(int32_t n, int32_t least)
{
  return VpThreads == 1 ? 1 : PetscMax(1, PetscMin(n / least, PIECES_PER_THREAD * VpThreads));
}

static int32_t FindStart(int32_t n, int32_t pieces, int32_t piece)
{
  return (int32_t)((int64_t)n * piece / pieces);
}

int32_t VpLoopPieces(int32_t n)
{
  return CountPieces(n, LEAST_ITEMS);
}

int32_t VpLoopHeavyPieces(int32_t n)
{
  return CountPieces(n, 1);
}

int32_t VpLoopStart(int32_t n, int32_t piece)
{
  return FindStart(n, VpLoopPieces(n), piece);
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

/* A loop of few pieces has all threads, too: OpenMP ends the threads that a loop leaves out, and the next one would start them again. */
static void RunLoop(int32_t n, int32_t pieces, VpLoopBody body, void *context)
{
#ifdef _OPENMP
  #pragma omp parallel for schedule(dynamic, 1) num_threads(VpThreads) if (pieces > 1)
#endif
  for (int32_t i = 0; i < pieces; i++) body(context, i, FindStart(n, pieces, i), FindStart(n, pieces, i + 1));
}

void VpLoop(int32_t n, VpLoopBody body, void *context)
{
  RunLoop(n, VpLoopPieces(n), body, context);
}

void VpLoopHeavy(int32_t n, VpLoopBody body, void *context)
{
  RunLoop(n, VpLoopHeavyPieces(n), body, context);
}

enum { PAGE = 4096, LEAST_PAGES = 64 }; /* bytes of a page; fewer pages are not worth the start of a thread */

void VpLoopCopy(void *to, const void *from, size_t bytes)
{
  const int32_t pages = (int32_t)((bytes + PAGE - 1) / PAGE);

  VP_LOOP_PIECES(page, pages, CountPieces(pages, LEAST_PAGES), )
  {
    const size_t at = (size_t)page * PAGE;

    memcpy((char *)to + at, (const char *)from + at, PetscMin((size_t)PAGE, bytes - at));
  }
}

void VpLoopTake(double *to, size_t width, const double *from, size_t stride, int32_t n)
{
  VP_LOOP (i, n) {
    for (size_t k = 0; k < width; k++) to[(size_t)i * width + k] = from[(size_t)i * stride + k];
  }
}
