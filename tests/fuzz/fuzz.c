static char help[] = "One case of the fuzzer, which fuzz.py draws: -fuzz_kind options|api, -fuzz_seed n.\n\n";

#include "fuzz.h"

static PetscErrorCode Run(PetscBool *broken)
{
  static const char *const kinds[] = {"options", "api"};
  PetscInt                 kind = 0, seed = 0;
  PetscBool                set;
  const char              *result = "failed";

  PetscFunctionBeginUser;
  PetscCall(VPatchDGInitializePackage());
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-fuzz_kind", kinds, 2, &kind, &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fuzz_seed", &seed, &set));
  DrawSeed(seed);
  PetscCall(TryBegin(PETSC_COMM_WORLD));
  if (kind) PetscCall(ApiCase(&result, broken));
  else
    PetscCall(OptionsCase(&result, broken));
  Say("result: %s", result);
  PetscCall(TryEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool broken = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (Run(&broken) || broken) MPI_Abort(MPI_COMM_WORLD, 1);
  PetscCall(PetscFinalize());
  return 0;
}
