/* Calls that may fail, on all ranks or on none; random numbers. */
#include "fuzz.h"

static struct {
  MPI_Comm    comm;
  PetscMPIInt rank;
  char        message[1024];
  uint64_t    state;
} try;

static PetscErrorCode Remember(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                               const char *text, void *ctx)
{
  if (type == PETSC_ERROR_INITIAL) {
    if (!try.message[0]) snprintf(try.message, sizeof(try.message), "%s", text ? text : "no message");
    fprintf(stderr, "[%d] error %d in %s() at %s:%d: %s\n", try.rank, (int)code, function, file, line, text ? text : "no message");
    fflush(stderr);
  }
  return code;
}

PetscErrorCode TryBegin(MPI_Comm comm)
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_dup(comm, &try.comm));
  PetscCallMPI(MPI_Comm_rank(comm, &try.rank));
  PetscCall(PetscPushErrorHandler(Remember, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TryEnd(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscPopErrorHandler());
  PetscCallMPI(MPI_Comm_free(&try.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on a communicator of its own: whoever waits in another call goes on waiting, and the time limit tells */
Outcome TryOutcome(PetscErrorCode code)
{
  int failed[2] = {code != 0, code == 0};

  MPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_MAX, try.comm);
  return failed[0] && failed[1] ? RANKS_DIFFER : failed[0] ? ALL_REFUSED : ALL_DONE;
}

const char *TryMessage(void)
{
  return try.message;
}

void TryForget(void)
{
  try.message[0] = 0;
}

void Say(const char format[], ...)
{
  va_list arguments;

  if (try.rank) return;
  printf("fuzz: ");
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
}

/* xorshift64* */
static uint64_t Next(void)
{
  try.state ^= try.state >> 12;
  try.state ^= try.state << 25;
  try.state ^= try.state >> 27;
  return try.state * 2685821657736338717u >> 16;
}

void DrawSeed(PetscInt seed)
{
  try.state = 88172645463325252u + 1000003u * (uint64_t)seed;
  for (int i = 0; i < 8; i++) Next();
}

PetscInt Draw(PetscInt n)
{
  return (PetscInt)(Next() % (uint64_t)n);
}

int CountEnum(const char *const names[])
{
  int n = 0;

  while (names[n]) n++;
  return n - 2;
}

int DrawEnum(const char *const names[], PetscBool *exists)
{
  const int n = CountEnum(names), none[] = {-1, n, 99, INT_MAX};

  *exists = (PetscBool)(Draw(4) > 0);
  return *exists ? (int)Draw(n) : DrawFrom(none);
}

PetscReal DrawReal(void)
{
  return ((PetscReal)(Next() % 1000000u) + 0.5) / 1000000;
}

PetscErrorCode DrawVec(Vec v)
{
  const PetscInt seed = Draw(1000000);
  PetscRandom    random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)v), &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)(seed + try.rank)));
  PetscCall(PetscRandomSeed(random));
  PetscCall(VecSetRandom(v, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the same number for the same place, on every number of ranks */
static PetscReal Noise(PetscInt dim, const PetscReal x[])
{
  PetscReal sum = 0;

  for (PetscInt d = 0; d < dim; d++) sum += (12.9898 + 65.2 * (PetscReal)d) * x[d];
  sum = PetscSinReal(sum) * 43758.5453;
  return sum - PetscFloorReal(sum);
}

/* where a is large or small: along coarse cells, or layers of cells, or blocks of 3 cells that stand apart */
static PetscBool IsLarge(PetscInt kind, PetscInt dim, const PetscReal lower[], const PetscReal upper[])
{
  PetscReal block[3], at = 0;
  PetscInt  odd = 0;

  for (PetscInt d = 0; d < dim; d++) {
    at = PetscFloorReal((lower[d] + upper[d]) / 2 / (upper[d] - lower[d]));
    block[d] = PetscFloorReal(at / 3);
    odd += lower[d] + upper[d] > 1;
  }
  if (kind == 3) return (PetscBool)(PetscFloorReal(at / 2) * 2 == at);
  return (PetscBool)(kind == 1 ? odd % 2 : Noise(dim, block) < 0.28);
}

PetscErrorCode DrawCoefficient(DM dm, PetscInt kind, PetscReal range)
{
  PetscInt   n, dim;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  if (kind == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &a));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    if (kind == 2) a[c] = PetscPowReal(range, 2 * Noise(dim, lower) - 1);
    else a[c] = IsLarge(kind, dim, lower, upper) ? range : 1 / range;
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* K = I + R R^T, and its numbers */
void DrawTensor(PetscInt dim, PetscInt components, Tensor *t)
{
  PetscReal R[3][3];

  t->components = components;
  for (PetscInt d = 0; d < dim && components > 0; d++) {
    for (PetscInt e = 0; e < dim; e++) R[d][e] = 4 * DrawReal() - 2;
  }
  for (PetscInt i = 0, d = 0; d < dim && i < components; d++) {
    for (PetscInt e = d; e < (components > dim ? dim : d + 1) && i < components; e++, i++) {
      t->K[i] = d == e;
      for (PetscInt k = 0; k < dim; k++) t->K[i] += R[d][k] * R[e][k];
    }
  }
}
