/* Loops over many cells or patches, in threads on the cores that this rank may use. */
#pragma once
#include <petscsys.h>
#include <stdint.h>

/* number of threads of loops: 1 until VpFindThreads. If it is 1, no thread is started. */
extern int VpThreads;

/* Sets VpThreads to OMP_NUM_THREADS or, without it, to this rank's share of the cores on which the ranks of its host may run. Collective on
   `host`. */
PetscErrorCode VpFindThreads(MPI_Comm host);

/* Works on the items [first, last), one of the pieces of [0, n). Requires: the function calls neither PETSc nor MPI, and writes nothing
   that another piece reads or writes. */
typedef void (*VpLoopBody)(void *context, int32_t piece, int32_t first, int32_t last);
void VpLoop(int32_t n, VpLoopBody body, void *context);
void VpLoopHeavy(int32_t n, VpLoopBody body, void *context); /* for heavy items: one takes as long as the start of a thread */
/* VP_LOOP (i, n) statement works on every i of [0, n) in the threads of VpLoop(), VP_LOOP_HEAVY (i, n) in those of VpLoopHeavy(). Requires:
   as of a VpLoopBody; the statement is not left by a jump */
#define VP_LOOP(i, n)       VP_LOOP_PIECES(i, n, VpLoopPieces(n), )
#define VP_LOOP_HEAVY(i, n) VP_LOOP_PIECES(i, n, VpLoopHeavyPieces(n), )
/* the same where statements enlarge `most`, a number or an array[:count] */
#define VP_LOOP_MOST(i, n, most)       VP_LOOP_PIECES(i, n, VpLoopPieces(n), reduction(max : most))
#define VP_LOOP_HEAVY_MOST(i, n, most) VP_LOOP_PIECES(i, n, VpLoopHeavyPieces(n), reduction(max : most))
#define VP_PRAGMA(...)                 _Pragma(#__VA_ARGS__)
#ifdef _OPENMP
  #define VP_LOOP_PIECES(i, n, pieces, clause) \
    VP_PRAGMA(omp parallel for schedule(dynamic, VpLoopChunk(n, pieces)) num_threads(VpThreads) if ((pieces) > 1) clause) \
    for (int32_t i = 0; i < (n); i++)
#else
  #define VP_LOOP_PIECES(i, n, pieces, clause) for (int32_t i = 0; i < (n); i++)
#endif
/* number of items of the largest piece, at least 1 */
static inline int32_t VpLoopChunk(int32_t n, int32_t pieces)
{
  return PetscMax(1, (int32_t)(((int64_t)n + pieces - 1) / pieces));
}
int32_t VpLoopPieces(int32_t n);               /* number of pieces, at least 1, that VpLoop makes of [0, n) */
int32_t VpLoopHeavyPieces(int32_t n);          /* the same of VpLoopHeavy */
int32_t VpLoopStart(int32_t n, int32_t piece); /* the first item of a piece */
/* Copies bytes in threads. */
void VpLoopCopy(void *to, const void *from, size_t bytes);
/* to [n][width] = the first numbers of the rows of `from` [n][stride], in threads. stride 0: all rows are the first one */
void VpLoopTake(double *to, size_t width, const double *from, size_t stride, int32_t n);
/* count[piece] = sum of the counts of the pieces before it; returns the sum of all counts */
int32_t VpLoopSum(int32_t pieces, int32_t count[]);
