/* Memory that one rank does not get in set-up is an error on all ranks, which then go on without it. */
/* ranks: 2 3 */
#include "support/pretend.h"
#include "support/problem.h"
#include "support/refused.h"

static struct {
  int       calls, failing; /* the call that fails, on the last rank */
  PetscBool last;
} memory;

static PetscErrorCode Scarce(size_t bytes, const char *what, void **p)
{
  PetscFunctionBeginUser;
  PetscCheck(++memory.calls != memory.failing || !memory.last, PETSC_COMM_SELF, PETSC_ERR_MEM, "There is no memory for %s", what);
  PetscCall(VpBackendHost.alloc(bytes, what, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* set-up of the operator and of the PC, and a product; *calls: those for memory */
static PetscErrorCode SetUp(const VpBackend *backend, PetscBool products, PC *pc, int *calls)
{
  DM  dm;
  Mat A;
  Vec x, y;

  PetscFunctionBeginUser;
  memory.calls = 0;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 3, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(Pretend(dm, backend, VP_TRANSPORT_HOST));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc));
  PetscCall(PCSetType(*pc, PCVPATCHDG));
  PetscCall(SetByOption(*pc, "-pc_vpatchdg_residual", "global"));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(MatDestroy(&A));
  PetscCall(PCGetOperators(*pc, &A, NULL));
  PetscCall(DMDestroy(&dm));
  if (products) {
    PetscCall(MatCreateVecs(A, &x, &y));
    PetscCall(VecZeroEntries(x));
    if (memory.failing) Refused(MatMult(A, x, y), memory.last ? "no memory" : "Rank", "memory for a product on one rank");
    else PetscCall(MatMult(A, x, y));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  *calls = memory.calls;
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  VpBackend backend;
  int       calls, all;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected()); /* of what a failed set-up was about to make */
  memory.last = (PetscBool)(tap.rank == tap.size - 1);
  backend = PretendedBackend(PETSC_FALSE);
  backend.alloc = Scarce;
  PetscCall(SetUp(&backend, PETSC_TRUE, &pc, &calls));
  PetscCall(PCDestroy(&pc));
  for (memory.failing = 1; memory.failing <= calls; memory.failing++) {
    PetscCall(SetUp(&backend, PETSC_TRUE, &pc, &all));
    PetscCall(PCDestroy(&pc));
  }
  memory.failing = 0;
  PetscCall(SetUp(&backend, PETSC_FALSE, &pc, &calls));
  PetscCall(PCSetUp(pc));
  all = memory.calls;
  PetscCall(PCDestroy(&pc));
  for (int failing = 1; failing <= all; failing++) {
    memory.failing = 0;
    PetscCall(SetUp(&backend, PETSC_FALSE, &pc, &calls));
    memory.failing = failing;
    Refused(PCSetUp(pc), memory.last ? "no memory" : "Rank", "memory for a preconditioner on one rank");
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
