/* Time, memory and the report of bench_gpu: every figure is a line of the table and an object in the JSON file. One rank. */
#pragma once
#include "../../src/petsc/pc/internal.h"
#include <petscdevice.h>
#include <petsctime.h>

typedef struct {
  const VpBackend *backend;
  void            *probe; /* a byte to wait for */
  int              dim;
  PetscBool        varying;    /* does the coefficient differ from cell to cell? */
  PetscBool        waves;      /* is it 1 + 0.9 sin 4 pi x sin 4 pi y .. at points? */
  PetscBool        host_waves; /* Does the host find its values? */
  PetscReal        jump;       /* is it 1 and this in turn? 0: no */
  PetscInt         levels;     /* as PCVPatchDGSetLevels() takes them */
  int              points;     /* numbers of the coefficient at a point; 0: it is not given there */
  double           enough;     /* seconds to repeat a figure for */
  double           copy;       /* bytes a second, read and written, of a copy of large arrays */
  FILE            *json;       /* or NULL */
  int              rows;
} Bench;

/* What a figure takes at least from memory: bytes a DoF, numbers of the cycle a DoF, and how often it does what */
typedef struct {
  double bytes, reals, sweeps, transfers, cycles;
} Traffic;

typedef struct {
  int         degree;
  PetscInt    dofs;
  VpPrecision precision;
  const char *name;
  double      seconds, least, flops;       /* least: bytes a DoF; flops: of one, as -log_view counts them */
  const char *rhs;                         /* of a solve, else NULL; with it: */
  PetscInt    its;                         /* iterations */
  double      nu, residual, memory, setup; /* nu: iterations for 8 digits; true relative residual; bytes a DoF; seconds */
} Row;

/* a solve to 1e-8 that ended there (rounded) by its true residual */
static inline PetscBool Reached(const Row *row)
{
  return (PetscBool)(row->residual < 1.01e-8);
}

/* until the backend and PETSc have done all their work */
static inline PetscErrorCode Wait(const Bench *bench)
{
  char byte;

  PetscFunctionBeginUser;
  PetscCall(bench->backend->download(bench->probe, 1, &byte));
#if defined(PETSC_HAVE_CUDA)
  if (bench->backend != &VpBackendHost) PetscCall(PetscDeviceContextSynchronize(NULL));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of the device's memory; NaN on the host, whose processes do not return what they free */
static inline PetscErrorCode UsedBytes(const Bench *bench, double *bytes)
{
  double available = 0, total = NAN;

  PetscFunctionBeginUser;
  PetscCall(Wait(bench)); /* what is freed in order with the work counts until then */
  if (bench->backend->memory) PetscCall(bench->backend->memory(&available, &total));
  *bytes = total - available;
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode (*Action)(void *);

static inline PetscErrorCode TimeTimes(const Bench *bench, Action action, void *object, int times, double *seconds)
{
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&start));
  for (int i = 0; i < times; i++) PetscCall(action(object));
  PetscCall(Wait(bench));
  PetscCall(PetscTime(&end));
  *seconds = (end - start) / times;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* seconds of one: after a first that does not count, the mean of as many as take long enough */
static inline PetscErrorCode Time(const Bench *bench, Action action, void *object, double *seconds)
{
  PetscFunctionBeginUser;
  PetscCall(action(object));
  PetscCall(TimeTimes(bench, action, object, 1, seconds));
  if (*seconds < bench->enough) PetscCall(TimeTimes(bench, action, object, 1 + (int)PetscMin(100, bench->enough / *seconds), seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of one, as -log_view counts them: matrices are dense */
static inline PetscErrorCode CountFlops(Action action, void *object, double *flops)
{
  PetscLogDouble before, after;

  PetscFunctionBeginUser;
  PetscCall(PetscGetFlops(&before));
  PetscCall(action(object));
  PetscCall(PetscGetFlops(&after));
  *flops = after - before;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a vector of these numbers again and again, copied where it lives */
static inline PetscErrorCode Repeat(const VpBackend *backend, Vec v, PetscInt count, const PetscScalar numbers[])
{
  PetscInt n;
  VpValues values;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VpValuesGet(backend, v, VP_WRITE, &values));
  PetscCall(backend->upload(numbers, count * sizeof(*numbers), values.at));
  for (; count < n; count *= 2) PetscCall(backend->copy(values.at, PetscMin(count, n - count) * sizeof(*values.at), values.at + count));
  PetscCall(VpValuesRestore(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  const VpBackend *backend;
  size_t           bytes;
  char            *from, *to;
} Copied;

static inline PetscErrorCode Copy(void *copied)
{
  const Copied *c = (const Copied *)copied;

  return c->backend->copy(c->from, c->bytes, c->to);
}

/* of an array of numbers that look random */
static inline PetscErrorCode MeasureCopy(Bench *bench, size_t bytes)
{
  const size_t seed = 1 << 12;
  Copied       c = {.backend = bench->backend, .bytes = bytes};
  double       numbers[512], seconds;

  PetscFunctionBeginUser;
  for (int i = 0; i < 512; i++) numbers[i] = sin(i * i + 1.);
  PetscCall(c.backend->alloc(bytes, "a copy", (void **)&c.from));
  PetscCall(c.backend->alloc(bytes, "a copy", (void **)&c.to));
  PetscCall(c.backend->upload(numbers, seed, c.from));
  for (size_t full = seed; full < bytes; full *= 2) PetscCall(c.backend->copy(c.from, PetscMin(full, bytes - full), c.from + full));
  PetscCall(Time(bench, Copy, &c, &seconds));
  bench->copy = 2. * bytes / seconds;
  PetscCall(c.backend->release(c.from));
  PetscCall(c.backend->release(c.to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* JSON has no NaN and no infinity */
static inline const char *Number(double x, char text[32])
{
  snprintf(text, 32, "%.6g", x);
  return PetscIsInfOrNanReal(x) ? "null" : text;
}

/* what the GPU is called, as far as its driver's tool says */
static inline void DeviceName(const Bench *bench, char name[64])
{
  FILE *pipe = bench->backend == &VpBackendHost ? NULL : popen("nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null", "r");

  strcpy(name, bench->backend == &VpBackendHost ? "host" : "unknown device");
  if (pipe && !fgets(name, 64, pipe)) strcpy(name, "unknown device");
  if (pipe) pclose(pipe);
  name[strcspn(name, "\"\\\n")] = 0;
}

static inline PetscErrorCode ReportBegin(Bench *bench, const char file[])
{
  char device[64], petsc[32];

  PetscFunctionBeginUser;
  DeviceName(bench, device);
  snprintf(petsc, sizeof(petsc), "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
  printf("%s, PETSc %s: a copy reads and writes %.3f TB/s. %dD%s\n", device, petsc, bench->copy / 1e12, bench->dim,
         bench->varying ? ", varying coefficient" : "");
  printf("roof: what that speed makes of a figure's least traffic, B/DoF. setup: in solves. residual: |b - A x| / |b|\n\n");
  printf(" k   MDoF precision %-38s %9s %8s %8s %7s %6s | %3s %5s %8s %6s %7s %6s\n", "", "ms", "GDoF/s", "roof", "of roof", "B/DoF", "its",
         "nu", "residual", "memory", "setup s", "setup");
  if (!file[0]) PetscFunctionReturn(PETSC_SUCCESS);
  bench->json = fopen(file, "w");
  PetscCheck(bench->json, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "-report %s: the file cannot be written", file);
  fprintf(bench->json,
          "{\"backend\": \"%s\", \"device\": \"%s\", \"petsc\": \"%s\", \"copy_bytes_per_second\": %.6g, \"dim\": %d, \"varying\": %s,\n "
          "\"rows\": [",
          bench->backend->name, device, petsc, bench->copy, bench->dim, bench->varying ? "true" : "false");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode ReportEnd(Bench *bench)
{
  PetscFunctionBeginUser;
  if (!bench->json) PetscFunctionReturn(PETSC_SUCCESS);
  fprintf(bench->json, "\n ]}\n");
  PetscCheck(fclose(bench->json) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "The report could not be written");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void WriteRow(const Bench *bench, const Row *row, double rate, double roof)
{
  char nu[32], residual[32], memory[32];

  fprintf(bench->json,
          "%s\n  {\"degree\": %d, \"dofs\": %lld, \"precision\": \"%s\", \"figure\": \"%s\", \"seconds\": %.6g, \"gdofs\": %.6g, "
          "\"roof_gdofs\": %.6g, \"least_bytes_per_dof\": %.6g, \"flops\": %.6g",
          bench->rows ? "," : "", row->degree, (long long)row->dofs, VPatchDGPrecisions[row->precision], row->name, row->seconds, rate,
          roof, row->least, row->flops);
  if (row->rhs) {
    fprintf(bench->json,
            ",\n   \"rhs\": \"%s\", \"iterations\": %d, \"nu\": %s, \"relative_residual\": %s, \"reached\": %s, "
            "\"memory_bytes_per_dof\": %s, \"seconds_setup\": %.6g, \"setup_over_solve\": %.6g",
            row->rhs, (int)row->its, Number(row->nu, nu), Number(row->residual, residual), Reached(row) ? "true" : "false",
            Number(row->memory, memory), row->setup, row->setup / row->seconds);
  }
  fprintf(bench->json, "}");
  fflush(bench->json);
}

static inline void Report(Bench *bench, const Row *row)
{
  const double rate = 1e-9 * row->dofs / row->seconds, roof = 1e-9 * bench->copy / row->least;
  char         name[64];

  snprintf(name, sizeof(name), "%s%s%s", row->name, row->rhs ? ", " : "", row->rhs ? row->rhs : "");
  printf("%2d %6.1f %-9s %-38s %9.3f %8.4g %8.4g %6.0f%% %6.1f", row->degree, 1e-6 * row->dofs, VPatchDGPrecisions[row->precision], name,
         1e3 * row->seconds, rate, roof, 100 * rate / roof, row->least);
  if (row->rhs) {
    printf(" | %3d %5.2f %8.1e %6.1f %7.3f %6.1f%s", (int)row->its, row->nu, row->residual, row->memory, row->setup,
           row->setup / row->seconds, Reached(row) ? "" : "  1e-8 not reached");
  }
  printf("\n");
  fflush(stdout);
  if (bench->json) WriteRow(bench, row, rate, roof);
  bench->rows++;
}
