/* Loops over many cells or patches, in threads on the cores that this rank may use. */
#pragma once
#include <petscsys.h>
#include <stdint.h>

/* how many threads loops use: 1 until VpFindThreads. With 1 none is started. */
extern int VpThreads;

/* Sets VpThreads: OMP_NUM_THREADS, or else this rank's share of the cores that the ranks of its host may run on. Collective on those. */
PetscErrorCode VpFindThreads(MPI_Comm host);

/* Works on the items [first, last), which are one of the pieces of [0, n). Requires: it calls nothing of PETSc or MPI, and writes nothing
   that another piece reads or writes. */
typedef void (*VpLoopBody)(void *context, int32_t piece, int32_t first, int32_t last);
void    VpLoop(int32_t n, VpLoopBody body, void *context);
void    VpLoopHeavy(int32_t n, VpLoopBody body, void *context); /* for items each of which takes as long as starting a thread */
int32_t VpLoopPieces(int32_t n);                                /* how many pieces VpLoop makes of [0, n): at least 1 */
int32_t VpLoopStart(int32_t n, int32_t piece);                  /* the first item of a piece */
/* count[piece] = sum of the counts of the pieces before; returns the sum of all */
int32_t VpLoopSum(int32_t pieces, int32_t count[]);
