/* Functions of maps, coefficients, reactions and data that fail on one rank are errors on all ranks, which lose no memory. The DM takes
   another function then. */
/* ranks: 1 2 3 */
#include "support/problem.h"
#include "support/refused.h"
#include <math.h>

#define WHY "there are no data at this point"

/* A function with `components` numbers at a point: a map, or a diagonal matrix. On the last rank call number `failing` fails. */
typedef struct {
  PetscInt  components;
  PetscBool map, last;
  int       calls, failing;
} Function;

static PetscErrorCode Values(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  Function *f = ctx;

  if (__atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED) == f->failing && f->last) SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER, WHY);
  for (PetscInt i = 0; i < n * f->components; i++) {
    const PetscInt c = i % f->components;

    if (f->map) value[i] = x[i] + 0.05 * PetscSinReal(3 * x[i / dim * dim] + c);
    else value[i] = f->components <= dim || c == 0 || c == f->components - 1 || (dim == 3 && c == 3) ? 2 : 0.5;
  }
  return PETSC_SUCCESS;
}

static PetscMPIInt last; /* rank */

typedef PetscErrorCode (*Setter)(DM, Function *);

static PetscErrorCode SetMap(DM dm, Function *f)
{
  return DMVPatchDGSetMap(dm, Values, f);
}
static PetscErrorCode SetCoefficientFunction(DM dm, Function *f)
{
  return DMVPatchDGSetCoefficientFunction(dm, f->components, Values, PETSC_MEMTYPE_HOST, f);
}
static PetscErrorCode SetReaction(DM dm, Function *f)
{
  return DMVPatchDGSetReactionFunction(dm, Values, PETSC_MEMTYPE_HOST, f);
}
/* no function of the DM */
static PetscErrorCode SetNothing(DM dm, Function *f)
{
  return PETSC_SUCCESS;
}

static const struct {
  const char *name;
  Setter      set;
  PetscInt    components[2]; /* in 2D, in 3D */
} cases[] = {
  {"map", SetMap, {2, 3}},
  {"number at points", SetCoefficientFunction, {1, 1}},
  {"diagonal matrix at points", SetCoefficientFunction, {2, 3}},
  {"matrix at points", SetCoefficientFunction, {3, 6}},
  {"reaction", SetReaction, {1, 1}},
  {"right-hand side", SetNothing, {1, 1}},
};

/* All that calls the function: set-up, a matrix, a product, and data where the DM has no function */
static PetscErrorCode CallAll(DM dm, Setter set, Function *f)
{
  Mat A;
  Vec b, y;

  PetscFunctionBeginUser;
  PetscCall(DMSetUp(dm));
  if (set == SetNothing) {
    PetscErrorCode code;

    PetscCall(DMCreateGlobalVector(dm, &b));
    code = DMVPatchDGComputeRHSBatch(dm, Values, NULL, NULL, PETSC_MEMTYPE_HOST, f, b);
    PetscCall(VecDestroy(&b));
    PetscFunctionReturn(code);
  }
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &b, &y));
  PetscCall(VecSet(b, 1));
  PetscCall(MatMult(A, b, y));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Does all that calls the function, whose call number `failing` fails; then the same without a failure. */
static PetscErrorCode Check(PetscInt dim, int at, int failing, int *calls)
{
  Function f = {.components = cases[at].components[dim - 2],
                .map = (PetscBool)(cases[at].set == SetMap),
                .last = (PetscBool)(tap.rank == last),
                .failing = failing};
  DM       dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, 2, 2, &dm));
  PetscCall(DMVPatchDGSetBasis(dm, VPATCHDG_BASIS_GAUSS));
  PetscCall(cases[at].set(dm, &f));
  if (failing) {
    Refused(CallAll(dm, cases[at].set, &f), f.last ? WHY : "failed, its own message says why", cases[at].name);
    f.failing = 0;
    PetscCall(cases[at].set(dm, &f));
  }
  f.calls = 0;
  PetscCall(CallAll(dm, cases[at].set, &f));
  TapOk(PETSC_TRUE, "%s, dim %d: %s", cases[at].name, (int)dim, failing ? "is taken after one that failed" : "is taken");
  PetscCall(DMDestroy(&dm));
  *calls = f.calls;
  PetscCallMPI(MPI_Bcast(calls, 1, MPI_INT, last, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  int calls, again;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &last));
  last--;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    for (int at = 0; at < (int)PETSC_STATIC_ARRAY_LENGTH(cases); at++) {
      PetscCall(Check(dim, at, 0, &calls));
      PetscCall(Check(dim, at, 1, &again));
      if (calls > 1) PetscCall(Check(dim, at, calls, &again));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
