/* Ranks that disagree, null pointers, objects of other types, views and files. */
#include "api.h"
#include <unistd.h>

/* the last rank adds this */
static PetscInt Odd(const Api *api)
{
  return api->rank == api->size - 1 ? 1 : 0;
}

/* every value is legal by itself, so that only the set-up can tell */
static PetscErrorCode DisagreeDM(Api *api, Slot *s, PetscInt odd)
{
  VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET};
  const PetscReal  corner[3] = {2 + (PetscReal)odd, 2, 2};
  const PetscInt   n[3] = {1 + odd, 1, 1};

  PetscFunctionBeginUser;
  boundary[2] = odd ? VPATCHDG_BOUNDARY_NEUMANN : VPATCHDG_BOUNDARY_DIRICHLET;
  switch (Draw(8)) {
  case 0:
    Either(DMVPatchDGSetDegree(s->dm, s->degree + odd));
    break;
  case 1:
    Either(DMVPatchDGSetPenalty(s->dm, 2 + (PetscReal)odd));
    break;
  case 2:
    Either(DMVPatchDGSetReaction(s->dm, (PetscReal)odd));
    break;
  case 3:
    Either(DMVPatchDGSetBoundary(s->dm, boundary));
    break;
  case 4:
    Either(DMVPatchDGSetBoxGrid(s->dm, n, NULL, NULL));
    break;
  case 5:
    Either(DMVPatchDGSetBoxGrid(s->dm, NULL, NULL, corner));
    break;
  case 6:
    Either(DMSetRefineLevel(s->dm, s->refine + odd));
    break;
  case 7:
    Either(DMSetDimension(s->dm, odd ? 5 - s->dim : s->dim));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ranks_disagree(Api *api, Slot *unused)
{
  Slot s = {.dm = NULL};

  PetscFunctionBeginUser;
  if (api->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NewDM(api, &s));
  if (!api->result) PetscCall(DisagreeDM(api, &s, Odd(api)));
  if (!api->result) Illegal(DMSetUp(s.dm));
  if (!api->result) Legal(DMDestroy(&s.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ranks_disagree_in_pc(Api *api, Slot *s)
{
  const PetscInt odd = Odd(api);
  KSP            ksp;
  PC             pc;

  PetscFunctionBeginUser;
  if (api->size == 1 || s->refine == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Legal(KSPCreate(PETSC_COMM_WORLD, &ksp));
  Legal(KSPSetOperators(ksp, s->A, s->A));
  Legal(KSPGetPC(ksp, &pc));
  Legal(PCSetType(pc, PCVPATCHDG));
  switch (Draw(9)) {
  case 0:
    Either(SetByOption(pc, "-pc_vpatchdg_exchange", odd ? "color" : "sweep"));
    break;
  case 1:
    Either(PCVPatchDGSetPrecision(pc, (VPatchDGPrecision)odd));
    break;
  case 2:
    Either(PCVPatchDGSetCycleType(pc, (VPatchDGCycleType)odd));
    break;
  case 3:
    Either(PCVPatchDGSetLevels(pc, odd));
    break;
  case 4:
    Either(SetByOption(pc, "-pc_vpatchdg_gather", odd ? "4096" : "0"));
    break;
  case 5:
    Either(PCVPatchDGSetSmooth(pc, odd, 1));
    break;
  case 6:
    Either(PCVPatchDGSetCoarse(pc, odd ? VPATCHDG_COARSE_KSP : VPATCHDG_COARSE_SWEEPS));
    break;
  case 7:
    Either(SetByOption(pc, "-pc_vpatchdg_residual", odd ? "global" : "exact"));
    break;
  case 8:
    Either(PCVPatchDGSetSpace(pc, odd ? VPATCHDG_SPACE_DIRICHLET : VPATCHDG_SPACE_FULL));
    break;
  }
  Illegal(PCSetUp(pc));
  Legal(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode null_pointers(Api *api, Slot *s)
{
  PetscReal corner[3];
  KSP       ksp;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(13)) {
  case 0:
    Illegal(DMVPatchDGGetCells(s->dm, NULL));
    break;
  case 1:
    Illegal(DMVPatchDGGetDegree(s->dm, NULL));
    break;
  case 2:
    Illegal(DMVPatchDGGetPenalty(s->dm, NULL));
    break;
  case 3:
    Illegal(DMVPatchDGGetBoundary(s->dm, NULL));
    break;
  case 4:
    Illegal(DMVPatchDGSetBoundary(s->dm, NULL));
    break;
  case 5:
    Illegal(DMVPatchDGSetBoxes(s->dm, 2, NULL, NULL));
    break;
  case 6:
    Illegal(DMVPatchDGGetCellBounds(s->dm, 0, NULL, corner));
    break;
  case 7:
    Illegal(DMVPatchDGComputeRHS(s->dm, NULL, NULL, NULL, NULL, NULL));
    break;
  case 8:
    Illegal(DMVPatchDGInterpolate(s->dm, NULL, NULL, s->x));
    break;
  case 9:
    Illegal(DMVPatchDGGetPoints(s->dm, NULL));
    break;
  case 10:
    Illegal(DMVPatchDGGetPointValues(s->dm, s->x, NULL));
    break;
  case 11:
    Illegal(DMVPatchDGSetDegree(NULL, 1));
    break;
  case 12:
    Legal(KSPCreate(PETSC_COMM_WORLD, &ksp));
    Legal(KSPGetPC(ksp, &pc));
    Legal(PCSetType(pc, PCVPATCHDG));
    Illegal(PCVPatchDGGetSpace(pc, NULL));
    Illegal(PCVPatchDGGetLevels(pc, NULL));
    Legal(KSPDestroy(&ksp));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_types(Api *api, Slot *s)
{
  VPatchDGSpace space;
  PetscInt      n;
  DM            dm;
  PC            pc;

  PetscFunctionBeginUser;
  Legal(DMCreate(PETSC_COMM_WORLD, &dm));
  switch (Draw(4)) {
  case 0:
    Illegal(DMVPatchDGSetDegree(dm, 2));
    break;
  case 1:
    Illegal(DMVPatchDGGetCells(dm, &n));
    break;
  case 2:
    Illegal(DMVPatchDGSetCoefficient(dm, NULL));
    break;
  case 3:
    Illegal(DMVPatchDGSetDegree((DM)s->x, 2));
    break;
  }
  Legal(DMDestroy(&dm));
  Legal(PCCreate(PETSC_COMM_WORLD, &pc));
  if (Draw(2)) Legal(PCSetType(pc, PCJACOBI));
  Legal(PCVPatchDGSetSpace(pc, VPATCHDG_SPACE_DIRICHLET));
  Illegal(PCVPatchDGGetSpace(pc, &space));
  Legal(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode views(Api *api, Slot *s)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Legal(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", &viewer));
  if (Draw(2)) Legal(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL));
  switch (Draw(4)) {
  case 0:
    Legal(DMView(s->dm, viewer));
    break;
  case 1:
    Legal(MatView(s->A, viewer));
    break;
  case 2:
    Legal(VecView(s->x, viewer));
    break;
  case 3:
    if (s->ksp) Legal(KSPView(s->ksp, viewer));
    break;
  }
  Legal(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the viewer writes when it is flushed */
static PetscErrorCode files(Api *api, Slot *s)
{
  static const char *const ends[] = {"-%d.vtu", "-%d.vtk", "-%d/there/is/no/folder.vtu"};
  const PetscInt           end = Draw(3);
  char                     form[64], name[128];
  int                      number = (int)getpid();
  PetscViewer              viewer;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  snprintf(form, sizeof(form), "/tmp/vpatchdg-fuzz%s", ends[end]);
  snprintf(name, sizeof(name), form, number);
  Legal(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  Expect(end == 1 ? ILLEGAL : LEGAL, VecView(s->x, viewer), "VecView(%s)", name);
  Expect(end == 2 ? ILLEGAL : LEGAL, PetscViewerFlush(viewer), "PetscViewerFlush(%s)", name);
  Legal(PetscViewerDestroy(&viewer));
  if (!api->rank) remove(name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation misuse_operations[] = {{"ranks_disagree", ranks_disagree},
                                       {"ranks_disagree_in_pc", ranks_disagree_in_pc},
                                       {"null_pointers", null_pointers},
                                       {"other_types", other_types},
                                       {"views", views},
                                       {"files", files},
                                       {NULL, NULL}};
