/* The options of a DMVPATCHDG. Each calls the setter of the same name. */
#include "internal.h"

#define MAX_ENTRIES 16 /* more than a list may have, so that too many are noticed */

static PetscErrorCode CheckEntries(DM dm, const char option[], PetscInt got, PetscInt need)
{
  PetscFunctionBegin;
  PetscCheck(got == need, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_SIZ,
             "%s has %" PetscInt_FMT " entries, in dimension %" PetscInt_FMT " it needs %" PetscInt_FMT ", separated by commas", option,
             got, dm->dim, need);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoundaryByName(DM dm, const char name[], VPatchDGBoundary *boundary)
{
  PetscEnum value = (PetscEnum)0;
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PetscEnumFind(VPatchDGBoundaries, name, &value, &found));
  PetscCheck(found && (int)value <= VPATCHDG_BOUNDARY_PERIODIC, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_boundary %s: dirichlet, neumann, robin and periodic exist", name);
  *boundary = (VPatchDGBoundary)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoundaryOption(DM dm, VpOptionItems PetscOptionsObject)
{
  char            *name[MAX_ENTRIES];
  PetscInt         n = MAX_ENTRIES;
  PetscBool        set;
  VPatchDGBoundary boundary[6];

  PetscFunctionBegin;
  PetscCall(PetscOptionsStringArray("-dm_vpatchdg_boundary",
                                    "dirichlet, neumann, robin or periodic, for all sides, or one for each in the order x-,x+,y-,y+,z-,z+",
                                    "DMVPatchDGSetBoundary", name, &n, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  if (n != 1) PetscCall(CheckEntries(dm, "-dm_vpatchdg_boundary (one for all sides, or one for each)", n, 2 * dm->dim));
  for (PetscInt side = 0; side < 2 * dm->dim; side++) PetscCall(BoundaryByName(dm, name[n == 1 ? 0 : side], &boundary[side]));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscFree(name[i]));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RobinOption(DM dm, VpOptionItems PetscOptionsObject)
{
  PetscReal alpha[MAX_ENTRIES] = {0};
  PetscInt  n = MAX_ENTRIES;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(alpha, DMVPatchDGData(dm)->alpha, 6));
  PetscCall(PetscOptionsRealArray("-dm_vpatchdg_robin", "alpha of robin sides, du/dn + alpha u is given: one for all, or one for each",
                                  "DMVPatchDGSetRobin", alpha, &n, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  if (n != 1) PetscCall(CheckEntries(dm, "-dm_vpatchdg_robin (one for all sides, or one for each)", n, 2 * dm->dim));
  for (PetscInt side = 1; n == 1 && side < 2 * dm->dim; side++) alpha[side] = alpha[0];
  PetscCall(DMVPatchDGSetRobin(dm, alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless the domain is a box and n entries are right. */
static PetscErrorCode CheckBoxOption(DM dm, const char option[], PetscInt n)
{
  const VPatchDGDomain domain = DMVPatchDGData(dm)->domain;

  PetscFunctionBegin;
  PetscCheck(domain == VPATCHDG_DOMAIN_BOX, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "%s belongs to -dm_vpatchdg_domain box, this is %s", option, VPatchDGDomains[domain]);
  PetscCall(CheckEntries(dm, option, n, dm->dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoxOptions(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscInt     grid[MAX_ENTRIES] = {0}, n[3] = {MAX_ENTRIES, MAX_ENTRIES, MAX_ENTRIES};
  PetscReal    lower[MAX_ENTRIES] = {0}, upper[MAX_ENTRIES] = {0};
  PetscBool    set[3];

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(grid, dg->grid, 3));
  PetscCall(PetscArraycpy(lower, dg->lower, 3));
  PetscCall(PetscArraycpy(upper, dg->upper, 3));
  PetscCall(PetscOptionsIntArray("-dm_vpatchdg_boxes", "Number of boxes in every direction (domain box)", "DMVPatchDGSetBoxGrid", grid,
                                 &n[0], &set[0]));
  PetscCall(
    PetscOptionsRealArray("-dm_vpatchdg_lower", "Lower corner of the domain (domain box)", "DMVPatchDGSetBoxGrid", lower, &n[1], &set[1]));
  PetscCall(
    PetscOptionsRealArray("-dm_vpatchdg_upper", "Upper corner of the domain (domain box)", "DMVPatchDGSetBoxGrid", upper, &n[2], &set[2]));
  if (set[0]) PetscCall(CheckBoxOption(dm, "-dm_vpatchdg_boxes", n[0]));
  if (set[1]) PetscCall(CheckBoxOption(dm, "-dm_vpatchdg_lower", n[1]));
  if (set[2]) PetscCall(CheckBoxOption(dm, "-dm_vpatchdg_upper", n[2]));
  PetscCall(DMVPatchDGSetBoxGrid(dm, set[0] ? grid : NULL, set[1] ? lower : NULL, set[2] ? upper : NULL));
  PetscCall(DMVPatchDGGridOptions(dm, (PetscBool)(set[0] || set[1] || set[2]), PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The domain may imply the dimension. */
static PetscErrorCode DomainOptions(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal    dim, domain;
  PetscBool    asked, set;

  PetscFunctionBegin;
  PetscCall(VpSettingAsk(&DMVPatchDGPetscSettings.row[VP_DM_DIM], PetscOptionsObject, (PetscReal)DMVPatchDGDim(dm), &dim, &asked));
  if (asked) {
    PetscCall(DMVPatchDGCheckChange(dm, (PetscReal)dm->dim != dim, "dimension"));
    PetscCall(DMSetDimension(dm, (PetscInt)dim));
  }
  PetscCall(VpSettingAsk(&DMVPatchDGSettings.row[VP_DM_DOMAIN], PetscOptionsObject, (PetscReal)dg->domain, &domain, &set));
  if (set && !asked && !dg->mesh && (domain == VPATCHDG_DOMAIN_LSHAPE || domain == VPATCHDG_DOMAIN_FICHERA))
    PetscCall(DMSetDimension(dm, domain == VPATCHDG_DOMAIN_LSHAPE ? 2 : 3)); /* It replaces the program's: options come last. */
  if (set) PetscCall(DMVPatchDGSetDomain(dm, (VPatchDGDomain)domain));
  if (dm->dim < 0) PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMVPatchDGCheckDimension(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMSetFromOptions_VPatchDG(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg;
  PetscReal    value;
  PetscBool    set;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscOptionsHeadBegin(PetscOptionsObject, "DMVPATCHDG Options");
  PetscCall(DomainOptions(dm, PetscOptionsObject));
  PetscCall(BoxOptions(dm, PetscOptionsObject));
  PetscCall(BoundaryOption(dm, PetscOptionsObject));
  PetscCall(RobinOption(dm, PetscOptionsObject));
  for (int i = VP_DM_DEGREE; i < VP_DM_SETTINGS; i++) {
    const VpSetting *s = &DMVPatchDGSettings.row[i];

    PetscCall(VpSettingAsk(s, PetscOptionsObject, VpSettingValue(s, dg), &value, &set));
    if (set) PetscCall(DMVPatchDGSet(dm, i, value));
  }
  PetscCall(VpSettingAsk(&DMVPatchDGPetscSettings.row[VP_DM_REFINE], PetscOptionsObject, (PetscReal)dm->levelup, &value, &set));
  if (set && !dg->mesh) PetscCall(DMSetRefineLevel(dm, (PetscInt)value));
  PetscCall(DMVPatchDGLocalOptions(dm, PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
