/* Options that have done their work on a DM do it neither again nor otherwise on DMs that are made of it. */
/* ranks: 1 2 3 */
#include "support/plex.h"
#include "support/refused.h"
#include <petscdmda.h>
#include <vpatchdg.h>

static PetscErrorCode Set(const char options[])
{
  PetscBool dump;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-malloc_dump", &dump));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  if (dump) PetscCall(PetscOptionsSetValue(NULL, "-malloc_dump", NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the options twice, before and after set-up. */
static PetscErrorCode Finish(DM dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMSetFromOptions(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode has(DM dm, PetscInt cells, const char matrix[], const char name[])
{
  PetscInt  n;
  MatType   type;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(DMGetMatType(dm, &type));
  PetscCall(PetscStrcmp(type, matrix, &same));
  TapOk((PetscBool)(n == cells && same), "options_work_once, %s: %d cells, %s", name, (int)n, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* reads the options on a DM that was made of another one, and destroys it */
static PetscErrorCode derived_has(DM *dm, PetscInt cells, const char matrix[], const char name[])
{
  PetscFunctionBeginUser;
  PetscCall(Finish(*dm));
  PetscCall(has(*dm, cells, matrix, name));
  PetscCall(DMDestroy(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_plex(const char set[], const char prefix[], PetscBool options, PetscInt cells, const char matrix[],
                                const char name[])
{
  DM plex, dm;

  PetscFunctionBeginUser;
  PetscCall(Set(set));
  PetscCall(Plex(2, (PetscInt[]){4, 4}, &plex));
  if (options) PetscCall(DMSetFromOptions(plex));
  PetscCall(DMConvert(plex, DMVPATCHDG, &dm));
  PetscCall(DMDestroy(&plex));
  PetscCall(DMSetOptionsPrefix(dm, prefix));
  PetscCall(derived_has(&dm, cells, matrix, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode of_a_da(const char set[], const char chosen[], PetscInt cells, const char matrix[], const char name[])
{
  DM da, dm;

  PetscFunctionBeginUser;
  PetscCall(Set(set));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 9, 13, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                         NULL, NULL, &da));
  PetscCall(DMSetFromOptions(da));
  PetscCall(DMSetUp(da));
  PetscCall(DMSetMatType(da, chosen));
  PetscCall(DMConvert(da, DMVPATCHDG, &dm));
  PetscCall(DMDestroy(&da));
  PetscCall(derived_has(&dm, cells, matrix, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Adapt(DM dm, PetscBool label, DM *next)
{
  PetscInt     n;
  DMAdaptFlag *mark;
  DMLabel      flags;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n + 1, &mark));
  PetscCall(DMLabelCreate(PETSC_COMM_WORLD, "adapt", &flags));
  for (PetscInt c = 0; c < n; c++) {
    mark[c] = !tap.rank && !c ? DM_ADAPT_REFINE : DM_ADAPT_KEEP;
    PetscCall(DMLabelSetValue(flags, c, mark[c]));
  }
  if (label) PetscCall(DMAdaptLabel(dm, flags, next));
  else PetscCall(DMVPatchDGRefineCells(dm, mark, next));
  PetscCall(DMLabelDestroy(&flags));
  PetscCall(PetscFree(mark));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 16 x 16 cells, of which 4 at a corner are refined, and what is made of them */
static PetscErrorCode of_ours(void)
{
  DM dm, other;

  PetscFunctionBeginUser;
  PetscCall(Set("-dm_vpatchdg_dim 2 -dm_vpatchdg_degree 1 -dm_refine 3 -dm_vpatchdg_boxes 2,2 -dm_adaptor vpatchdg"));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMClone(dm, &other));
  PetscCall(derived_has(&other, 256, MATSHELL, "DMClone() before set-up"));
  PetscCall(Finish(dm));
  PetscCall(has(dm, 256, MATSHELL, "DMSetFromOptions() again"));
  PetscCall(DMClone(dm, &other));
  PetscCall(derived_has(&other, 256, MATSHELL, "DMClone()"));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  PetscCall(derived_has(&other, 1024, MATSHELL, "DMRefine()"));
  PetscCall(DMCoarsen(dm, PETSC_COMM_WORLD, &other));
  PetscCall(derived_has(&other, 64, MATSHELL, "DMCoarsen()"));
  PetscCall(Adapt(dm, PETSC_FALSE, &other));
  PetscCall(derived_has(&other, 259, MATSHELL, "DMVPatchDGRefineCells()"));
  PetscCall(Adapt(dm, PETSC_TRUE, &other));
  PetscCall(derived_has(&other, 259, MATSHELL, "DMAdaptLabel()"));
  PetscCall(DMDestroy(&dm));
  PetscCall(Set("-dm_vpatchdg_degree 1 -dm_refine 3 -dm_vpatchdg_refine_point 0,0"));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(Finish(dm));
  PetscCall(has(dm, 67, MATSHELL, "-dm_vpatchdg_refine_point"));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &other));
  PetscCall(derived_has(&other, 268, MATSHELL, "DMRefine() after -dm_vpatchdg_refine_point"));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options that come after set-up and that nobody has read are no longer lost. */
static PetscErrorCode late_options_are_refused(void)
{
  DM dm;

  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected());
  PetscCall(Set(""));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(Set("-dm_refine 3"));
  Refused(DMSetFromOptions(dm), "number of refinements (-dm_refine) cannot change after DMSetUp()", "-dm_refine after set-up");
  PetscCall(Set("-dm_vpatchdg_refine_point 0,0"));
  Refused(DMSetFromOptions(dm), "local refinement cannot change after DMSetUp()", "-dm_vpatchdg_refine_point after set-up");
  PetscCall(Set("-dm_refine 2"));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(has(dm, 16, MATSHELL, "the same after set-up"));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how often DMView() prints while a DM is set up and then viewed as -dm_view says */
static PetscErrorCode view_is_printed(const char set[], PetscBool change, int times, const char name[])
{
  const long start = ftell(PETSC_STDOUT);
  char       text[16384];
  int        count = 0;
  DM         dm;

  PetscFunctionBeginUser;
  PetscCall(Set(set));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 2, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));
  if (change) PetscCall(DMVPatchDGSetCoefficient(dm, NULL));
  PetscCall(DMViewFromOptions(dm, NULL, "-other_view"));
  PetscCall(DMViewFromOptions(dm, NULL, "-dm_view"));
  fseek(PETSC_STDOUT, start, SEEK_SET);
  text[fread(text, 1, sizeof(text) - 1, PETSC_STDOUT)] = 0;
  fseek(PETSC_STDOUT, 0, SEEK_END);
  for (const char *p = strstr(text, "DM Object"); p; p = strstr(p + 1, "DM Object")) count++;
  PetscCallMPI(MPI_Bcast(&count, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  TapOk((PetscBool)(count == times), "view_is_printed, %s: %d times", name, count);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PETSC_STDOUT = tmpfile(); /* PETSc's viewer keeps it until the end. */
  PetscCall(of_a_plex("-dm_refine 1", NULL, PETSC_TRUE, 64, MATSHELL, "DMPLEX that has read -dm_refine"));
  PetscCall(of_a_plex("-dm_refine 1", NULL, PETSC_FALSE, 64, MATSHELL, "DMPLEX that has read no options"));
  PetscCall(of_a_plex("-dm_refine 1 -b_dm_refine 2", "b_", PETSC_TRUE, 1024, MATSHELL, "DMPLEX, another prefix"));
  PetscCall(of_a_plex("-dm_refine 1 -dm_mat_type aij", NULL, PETSC_TRUE, 64, MATAIJ, "DMPLEX, -dm_mat_type aij"));
  PetscCall(of_a_da("-dm_refine 1", MATAIJ, 384, MATSHELL, "DMDA"));
  PetscCall(of_a_da("", MATBAIJ, 96, MATBAIJ, "DMDA with a type of matrix"));
  PetscCall(of_ours());
  PetscCall(view_is_printed("-dm_view", PETSC_FALSE, 1, "-dm_view"));
  PetscCall(view_is_printed("-dm_view", PETSC_TRUE, 2, "-dm_view of a DM that has changed"));
  PetscCall(view_is_printed("-dm_view ::ascii_info_detail -other_view", PETSC_FALSE, 2, "-dm_view and another view"));
  PetscCall(view_is_printed("-dm_view -other_view", PETSC_FALSE, 2, "two views alike"));
  PetscCall(view_is_printed("", PETSC_FALSE, 0, "no view"));
  PetscCall(late_options_are_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
