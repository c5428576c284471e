/* The host as a backend: memory, and the kernels in a table by precision, dimension and degree. */
#include "host.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE_BYTES = 64, HUGE_BYTES = 1 << 21 };

double VpHostMemory(void)
{
  FILE  *file = fopen("/proc/meminfo", "r"); /* Linux */
  char   line[128];
  double kilobytes = -1;

  while (file && kilobytes < 0 && fgets(line, sizeof(line), file)) {
    if (sscanf(line, "MemAvailable: %lf", &kilobytes) != 1) kilobytes = -1;
  }
  if (file) fclose(file);
  if (kilobytes >= 0) return 1024 * kilobytes;
#ifdef _SC_AVPHYS_PAGES
  return (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
#else
  return -1;
#endif
}

/* Allocates memory, in huge pages if it is large: kernels touch cells in scattered places, and would often miss in the table of small
   pages. */
static PetscErrorCode BorrowMemory(size_t bytes, const char *what, void **p)
{
  size_t align = bytes >= 2 * HUGE_BYTES ? HUGE_BYTES : LINE_BYTES;

  PetscFunctionBegin;
  *p = NULL;
  if (posix_memalign(p, align, bytes ? bytes : 1)) *p = NULL;
  PetscCheck(*p, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory for %s: %.0f bytes asked for, about %.0f free", what, (double)bytes,
             VpHostMemory());
#ifdef MADV_HUGEPAGE
  if (align == HUGE_BYTES) (void)madvise(*p, bytes, MADV_HUGEPAGE); /* advice: a refusal does no harm */
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode AllocMemory(size_t bytes, const char *what, void **p)
{
  PetscFunctionBegin;
  PetscCall(BorrowMemory(bytes, what, p));
  memset(*p, 0, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReleaseMemory(void *p)
{
  PetscFunctionBegin;
  free(p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyMemory(const void *from, size_t bytes, void *to)
{
  PetscFunctionBegin;
  if (bytes) memcpy(to, from, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ZeroMemory(void *p, size_t bytes)
{
  PetscFunctionBegin;
  if (bytes) memset(p, 0, bytes);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MoveCells(int32_t n, size_t block, const int32_t *list, const void *from, const int32_t *places, void *to)
{
  PetscFunctionBegin;
  for (int32_t i = 0; i < n; i++) {
    const size_t there = (size_t)(list ? list[i] : i), here = (size_t)(places ? places[i] : i);

    memcpy((char *)to + here * block, (const char *)from + there * block, block);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SLOT(slot, name, real, dim, k) .slot = VP_NAME(name, real, dim, k),
#define SINGLE(dim, k)                 [VP_SINGLE][dim - 2][k - 1] = {VP_SLOTS(SLOT, float, dim, k)},
#define DOUBLE(dim, k)                 [VP_DOUBLE][dim - 2][k - 1] = {VP_SLOTS(SLOT, double, dim, k) VP_POINT_SLOTS(SLOT, double, dim, k)},

/* number of lines in degrees.def */
enum {
  DEGREES = 0
#define VP_DEGREE(k) +1
#include "../degrees.def"
#undef VP_DEGREE
};
_Static_assert(DEGREES == VP_MAX_DEGREE, "degrees.def and VP_MAX_DEGREE differ");

/* the table of kernels, or NULL if there is none */
static const VpOps *GetOps(VpPrecision precision, int dim, int degree)
{
  static const VpOps table[][2][VP_MAX_DEGREE] = {
#define VP_DEGREE(k) SINGLE(2, k) SINGLE(3, k) DOUBLE(2, k) DOUBLE(3, k)
#include "../degrees.def"
#undef VP_DEGREE
  };

  if (dim < 2 || dim > 3 || degree < 1 || degree > VP_MAX_DEGREE) return NULL;
  return &table[precision][dim - 2][degree - 1];
}

/* A core sweeps 500 unknowns in the time of some messages, and columns of 65536 unknowns fit caches. */
static const VpPrefers prefers = {
  .matrix = "aij", .handover = 3, .gather_unknowns = 500, .most_columns = 1 << 16, .unlike = 1.4, .most_dense = 512};

const VpBackend VpBackendHost = {.name = "host",
                                 .prefers = &prefers,
                                 .alloc = AllocMemory,
                                 .release = ReleaseMemory,
                                 .borrow = BorrowMemory,
                                 .give_back = ReleaseMemory,
                                 .upload = CopyMemory,
                                 .download = CopyMemory,
                                 .zero = ZeroMemory,
                                 .copy = CopyMemory,
                                 .ops = GetOps,
                                 .make = &VpHostMakers,
                                 .move = MoveCells,
                                 .invert_dense = VpHostInvertDense,
                                 .scatter = VpHostScatter,
                                 .form_diagonal = VpHostFormDiagonal,
                                 .reciprocals = VpHostReciprocals,
                                 .relax = VpHostRelax,
                                 .descend = VpHostDescend};
