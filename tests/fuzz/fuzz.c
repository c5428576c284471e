static char help[] = "One case of the fuzzer, which fuzz.py draws: -fuzz_kind options|api, -fuzz_seed n.\n\n";

#include "fuzz.h"

static PetscErrorCode Run(const char **result, PetscBool *broken)
{
  static const char *const kinds[] = {"options", "api"};
  PetscInt                 kind = 0, seed = 0;
  PetscBool                set;

  PetscFunctionBeginUser;
  PetscCall(VPatchDGInitializePackage());
  PetscCall(PetscOptionsGetEList(NULL, NULL, "-fuzz_kind", kinds, 2, &kind, &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-fuzz_seed", &seed, &set));
  DrawSeed(seed);
  PetscCall(TryBegin(PETSC_COMM_WORLD));
  if (kind) PetscCall(ApiCase(result, broken));
  else PetscCall(OptionsCase(result, broken));
  Say("result: %s", *result);
  PetscCall(TryEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *result = "failed";
  PetscBool   broken = PETSC_FALSE;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  if (Run(&result, &broken) || broken) MPI_Abort(MPI_COMM_WORLD, 1);
  PetscCall(PetscFinalize());
  Say("result: %s", result); /* again: other ranks' lines may have cut the first one */
  return 0;
}
