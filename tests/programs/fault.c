/* A solve in the middle of which the last rank fails while the others wait for it (faults.t).
   Packing a message fails on the host; on a GPU a kernel reads what is not there, which makes every later CUDA call of that
   rank an error. With -fault_link the rank sends a message to a rank that does not exist. */
#include "../support/pretend.h"
#include "../support/problem.h"

static PetscBool failing = PETSC_FALSE;

static PetscErrorCode FailingMove(int32_t n, size_t block, const int32_t *list, const void *from, const int32_t *places, void *to)
{
  PetscFunctionBeginUser;
  PetscCheck(!failing || places, PETSC_COMM_SELF, PETSC_ERR_LIB, "A message could not be packed");
  PetscCall(VpBackendHost.move(n, block, list, from, places, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FailOnDevice(void)
{
  const VpBackend *backend = TestBackend();

  PetscFunctionBeginUser;
  failing = PETSC_TRUE;
  if (VpIsDevice(backend)) PetscCall(backend->move(1, 8, (const int32_t *)8, (const void *)8, NULL, (void *)8));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FailOnLink(DM dm)
{
  const PetscMPIInt  nobody = 99;
  const PetscInt     start[2] = {0, 1};
  const VpMessages   message = {.block = 8, .n = {1, 0}, .rank = {&nobody, NULL}, .start = {start, NULL}};
  const DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBeginUser;
  PetscCheck(dg->mesh->link, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "-fault_link needs links");
  PetscCall(dg->mesh->link->kind->begin(dg->mesh->link, &message, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Fail(KSP ksp, PetscInt iteration, PetscReal norm, void *context)
{
  PetscMPIInt rank, size;
  PetscBool   link = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fault_link", &link, NULL));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  if (iteration == 2 && rank == size - 1) {
    if (link) PetscCall(FailOnLink((DM)context));
    else PetscCall(FailOnDevice());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  VpBackend backend;
  Problem   p;
  DM        dm;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(VPatchDGInitializePackage());
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 3, 3, 3, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  backend = PretendedBackend(PETSC_TRUE);
  backend.move = FailingMove;
  if (!VpIsDevice(TestBackend())) PetscCall(Pretend(dm, &backend, VP_TRANSPORT_LINK));
  PetscCall(ProblemOf(dm, NULL, &p));
  PetscCall(KSPMonitorSet(p.ksp, Fail, dm, NULL));
  PetscCall(KSPSetTolerances(p.ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(p.ksp));
  PetscCall(KSPSolve(p.ksp, p.b, p.x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved\n"));
  PetscCall(ProblemDestroy(&p));
  PetscCall(PetscFinalize());
  return 0;
}
