static char help[] =
  "One case of the fuzzer, which fuzz.py draws: -fuzz_kind options|api, -fuzz_seed n; or with -fuzz_enums the library's enums.\n\n";

#include "fuzz.h"
#include "../../src/petsc/support/names.h"

/* prints a line for every enum: its type and the names of its values */
static PetscErrorCode PrintEnums(void)
{
  static const char *const *const enums[] = {VPatchDGDomains,    VPatchDGBoundaries, VPatchDGSpaces,   VpResidualNames,
                                             VPatchDGPrecisions, VPatchDGCycleTypes, VpCoarsenNames,   VPatchDGCoarses,
                                             VpExchangeNames,    VPatchDGBackends,   VpAskedTransports};

  PetscFunctionBeginUser;
  for (size_t e = 0; e < PETSC_STATIC_ARRAY_LENGTH(enums); e++) {
    const int n = CountEnum(enums[e]);

    printf("%s", enums[e][n]);
    for (int i = 0; i < n; i++) printf(" %s", enums[e][i]);
    printf("\n");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscBool   broken = PETSC_FALSE, enums;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-fuzz_enums", &enums));
  if (enums) {
    PetscCall(PrintEnums());
    PetscCall(PetscFinalize());
    return 0;
  }
  if (Run(&result, &broken) || broken) MPI_Abort(MPI_COMM_WORLD, 1);
  PetscCall(PetscFinalize());
  Say("result: %s", result); /* again: other ranks' lines may have cut the first one */
  return 0;
}
