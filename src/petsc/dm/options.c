/* The options of a DMVPATCHDG. Each option calls a setter. */
#include "internal.h"

#define MAX_ENTRIES 16 /* more than any list may have, so that longer lists are noticed */

/* options with factor * dim + more entries; alone: or with one entry, which stands for all */
enum { LOWER, UPPER, COORDINATES, BOXES, ROBIN, POINT, SPHERE, BOUNDARY };
static const struct {
  const char *option, *text, *setter;
  int         factor, more;
  PetscBool   alone;
} list[] = {
  [LOWER] = {"-dm_vpatchdg_lower", "Lower corner of the domain", "DMVPatchDGSetBoxGrid", 1, 0, PETSC_FALSE},
  [UPPER] = {"-dm_vpatchdg_upper", "Upper corner of the domain", "DMVPatchDGSetBoxGrid", 1, 0, PETSC_FALSE},
  [COORDINATES] = {"-dm_vpatchdg_coordinates", "Both corners of the domain: xmin,xmax,ymin,ymax,zmin,zmax", "DMVPatchDGSetBoxGrid", 2, 0,
                   PETSC_FALSE},
  [BOXES] = {"-dm_vpatchdg_boxes", "Number of boxes in every direction (domain box)", "DMVPatchDGSetBoxGrid", 1, 0, PETSC_FALSE},
  [ROBIN] = {"-dm_vpatchdg_robin", "alpha of robin sides, du/dn + alpha u is given: one for all, or one for each", "DMVPatchDGSetRobin", 2,
             0, PETSC_TRUE},
  [POINT] = {"-dm_vpatchdg_refine_point", "A point whose cells are refined", "DMVPatchDGSetLocalRefinement", 1, 0, PETSC_FALSE},
  [SPHERE] = {"-dm_vpatchdg_refine_sphere", "Centre and radius of a sphere whose cells are refined", "DMVPatchDGSetLocalRefinement", 1, 1,
              PETSC_FALSE},
  [BOUNDARY] = {"-dm_vpatchdg_boundary", NULL, "DMVPatchDGSetBoundary", 2, 0, PETSC_TRUE},
};

static PetscErrorCode CheckEntries(DM dm, int l, PetscInt got)
{
  const PetscInt need = list[l].factor * dm->dim + list[l].more;

  PetscFunctionBegin;
  PetscCheck(got == need || (list[l].alone && got == 1), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_SIZ,
             "%s%s has %" PetscInt_FMT " entries, in dimension %" PetscInt_FMT " it needs %" PetscInt_FMT ", separated by commas",
             list[l].option, list[l].alone ? " (one for all sides, or one for each)" : "", got, dm->dim, need);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *set: the option was given */
static PetscErrorCode NumbersOption(DM dm, int l, PetscReal x[MAX_ENTRIES], PetscBool *set, VpOptionItems PetscOptionsObject)
{
  PetscInt n = MAX_ENTRIES;

  PetscFunctionBegin;
  PetscCall(PetscOptionsRealArray(list[l].option, list[l].text, list[l].setter, x, &n, set));
  if (!*set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckEntries(dm, l, n));
  for (PetscInt i = 1; n == 1 && list[l].alone && i < MAX_ENTRIES; i++) x[i] = x[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the conditions that exist, as words */
static PetscErrorCode BoundaryWords(char words[], size_t length)
{
  PetscFunctionBegin;
  words[0] = 0;
  for (int i = 0; i <= VPATCHDG_BOUNDARY_PERIODIC; i++) {
    PetscCall(PetscStrlcat(words, i ? ", " : "", length));
    PetscCall(PetscStrlcat(words, VPatchDGBoundaries[i], length));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoundaryByName(DM dm, const char name[], const char words[], VPatchDGBoundary *boundary)
{
  PetscEnum value = (PetscEnum)0;
  PetscBool found;

  PetscFunctionBegin;
  PetscCall(PetscEnumFind(VPatchDGBoundaries, name, &value, &found));
  PetscCheck(found && (int)value <= VPATCHDG_BOUNDARY_PERIODIC, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_boundary %s: %s exist", name, words);
  *boundary = (VPatchDGBoundary)value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoundaryOption(DM dm, VpOptionItems PetscOptionsObject)
{
  char            *name[MAX_ENTRIES], words[128], help[256];
  PetscInt         n = MAX_ENTRIES;
  PetscBool        set;
  VPatchDGBoundary boundary[6];

  PetscFunctionBegin;
  PetscCall(BoundaryWords(words, sizeof(words)));
  PetscCall(PetscSNPrintf(help, sizeof(help), "For all sides, or one for each in the order x-,x+,y-,y+,z-,z+: %s", words));
  PetscCall(PetscOptionsStringArray(list[BOUNDARY].option, help, list[BOUNDARY].setter, name, &n, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckEntries(dm, BOUNDARY, n));
  for (PetscInt side = 0; side < 2 * dm->dim; side++) PetscCall(BoundaryByName(dm, name[n == 1 ? 0 : side], words, &boundary[side]));
  for (PetscInt i = 0; i < n; i++) PetscCall(PetscFree(name[i]));
  PetscCall(DMVPatchDGSetBoundary(dm, boundary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RobinOption(DM dm, VpOptionItems PetscOptionsObject)
{
  PetscReal alpha[MAX_ENTRIES] = {0};
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(alpha, DMVPatchDGData(dm)->alpha, 6));
  PetscCall(NumbersOption(dm, ROBIN, alpha, &set, PetscOptionsObject));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGSetRobin(dm, alpha));
  DMVPatchDGData(dm)->robin_typed = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckDomain(DM dm, int l, PetscBool fits, const char domains[])
{
  PetscFunctionBegin;
  PetscCheck(fits, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP, "%s belongs to -dm_vpatchdg_domain %s, this is %s",
             list[l].option, domains, VPatchDGDomains[DMVPatchDGData(dm)->domain]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Asks for the corners in DMDA's order, x-,x+,y-,..., or as lower and upper corner. *set: one of the options was given */
static PetscErrorCode CornerOptions(DM dm, PetscBool *set, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal    x[COORDINATES + 1][MAX_ENTRIES] = {{0}};
  PetscBool    given[COORDINATES + 1];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    x[COORDINATES][2 * d] = x[LOWER][d] = dg->lower[d];
    x[COORDINATES][2 * d + 1] = x[UPPER][d] = dg->upper[d];
  }
  for (int l = LOWER; l <= COORDINATES; l++) {
    PetscCall(NumbersOption(dm, l, x[l], &given[l], PetscOptionsObject));
    if (given[l]) PetscCall(CheckDomain(dm, l, (PetscBool)(dg->domain < VPATCHDG_DOMAIN_BOXES), "box, lshape and fichera"));
  }
  *set = (PetscBool)(given[LOWER] || given[UPPER]);
  PetscCheck(!given[COORDINATES] || !*set, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_coordinates says where the domain is, and so do -dm_vpatchdg_lower and _upper: give the one or the others");
  for (int d = 0; d < 3 && given[COORDINATES]; d++) {
    x[LOWER][d] = x[COORDINATES][2 * d];
    x[UPPER][d] = x[COORDINATES][2 * d + 1];
  }
  *set = (PetscBool)(*set || given[COORDINATES]);
  if (*set) PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, x[LOWER], x[UPPER]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BoxOptions(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscInt     grid[MAX_ENTRIES] = {0}, n = MAX_ENTRIES;
  PetscBool    boxes, corners;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(grid, dg->grid, 3));
  PetscCall(PetscOptionsIntArray(list[BOXES].option, list[BOXES].text, list[BOXES].setter, grid, &n, &boxes));
  if (boxes) {
    PetscCall(CheckDomain(dm, BOXES, (PetscBool)(dg->domain == VPATCHDG_DOMAIN_BOX), "box"));
    PetscCall(CheckEntries(dm, BOXES, n));
    PetscCall(DMVPatchDGSetBoxGrid(dm, grid, NULL, NULL));
  }
  PetscCall(CornerOptions(dm, &corners, PetscOptionsObject));
  PetscCall(DMVPatchDGGridOptions(dm, (PetscBool)(boxes || corners), PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *set: a mesh was read */
static PetscErrorCode MeshOption(DM dm, PetscBool *set, VpOptionItems PetscOptionsObject)
{
  char file[PETSC_MAX_PATH_LEN] = "";

  PetscFunctionBegin;
  PetscCall(PetscOptionsString("-dm_vpatchdg_mesh", "File with a mesh that DMPlexCreateFromFile() reads", "DMConvert", file, file,
                               sizeof(file), set));
  if (*set && !DMVPatchDGData(dm)->mesh) PetscCall(DMVPatchDGReadMesh(dm, file));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The domain may imply the dimension. */
static PetscErrorCode DomainOptions(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal    dim, domain, number[MAX_ENTRIES] = {0};
  PetscInt     n = MAX_ENTRIES;
  PetscBool    asked, set, read;

  PetscFunctionBegin;
  PetscCall(MeshOption(dm, &read, PetscOptionsObject));
  PetscCall(VpSettingAsk(&DMVPatchDGPetscSettings.row[VP_DM_DIM], PetscOptionsObject, (PetscReal)DMVPatchDGDim(dm), &dim, &asked));
  if (asked) {
    PetscCall(DMVPatchDGCheckChange(dm, (PetscReal)dm->dim != dim, "dimension"));
    PetscCall(DMSetDimension(dm, (PetscInt)dim));
  }
  PetscCall(VpSettingAsk(&DMVPatchDGSettings.row[VP_DM_DOMAIN], PetscOptionsObject, (PetscReal)dg->domain, &domain, &set));
  PetscCheck(
    !read || (!set && (!asked || dim == (PetscReal)dm->dim)), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
    "-dm_vpatchdg_mesh reads the domain and its dimension: leave out -dm_vpatchdg_domain, and -dm_vpatchdg_dim if it is not %" PetscInt_FMT,
    dm->dim);
  if (set && !asked && !dg->mesh && VpDomainDimension((VPatchDGDomain)domain))
    PetscCall(DMSetDimension(dm, VpDomainDimension((VPatchDGDomain)domain))); /* Options override the program. */
  if (set) PetscCall(DMVPatchDGSetDomain(dm, (VPatchDGDomain)domain));
  PetscCall(
    PetscOptionsRealArray("-dm_vpatchdg_domain_parameters", "Numbers of a domain of trees", "DMVPatchDGSetDomain", number, &n, &set));
  if (set) PetscCall(DMVPatchDGSetTreeNumbers(dm, n, number));
  dg->dim_by_default = (PetscBool)(dm->dim < 0 || (dg->dim_by_default && !asked));
  if (dm->dim < 0) PetscCall(DMSetDimension(dm, 3));
  PetscCall(DMVPatchDGCheckDimension(dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* done: the options already refined the DM that this one was made from, so they do not refine again */
static PetscErrorCode RefineOption(DM dm, PetscBool done, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG   *dg = dm->data;
  const PetscInt before = dg->mesh ? 0 : dg->converted_level;
  PetscReal      value;
  PetscBool      set;

  PetscFunctionBegin;
  PetscCall(VpSettingAsk(&DMVPatchDGPetscSettings.row[VP_DM_REFINE], PetscOptionsObject, (PetscReal)(dm->levelup - before), &value, &set));
  if (!set || done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)(value != (PetscReal)dm->levelup), "number of refinements (-dm_refine)"));
  PetscCall(DMSetRefineLevel(dm, (PetscInt)value + (value < 0 ? 0 : before)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LocalOptions(DM dm, PetscBool done, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg = dm->data;
  PetscReal    point[MAX_ENTRIES] = {0}, sphere[MAX_ENTRIES] = {0};
  PetscInt     levels;
  PetscBool    set, asked, at_point, at_sphere;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(point, dg->point, 3));
  PetscCall(PetscArraycpy(sphere, dg->sphere, 4));
  PetscCall(NumbersOption(dm, POINT, point, &at_point, PetscOptionsObject));
  PetscCall(NumbersOption(dm, SPHERE, sphere, &at_sphere, PetscOptionsObject));
  asked = (PetscBool)(at_point || at_sphere);
  at_point = (PetscBool)(at_point || dg->at_point);
  at_sphere = (PetscBool)(at_sphere || dg->at_sphere);
  levels = dg->local_levels ? dg->local_levels : (at_point || at_sphere);
  PetscCall(PetscOptionsInt("-dm_vpatchdg_refine_levels", "How often cells at the point or the sphere are refined", list[POINT].setter,
                            levels, &levels, &set));
  if (dg->mesh) PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)(!done && (asked || set)), "local refinement"));
  else PetscCall(DMVPatchDGSetLocalRefinement(dm, levels, at_point ? point : NULL, at_sphere ? sphere : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGEndOptions(DM of, DM dm)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  dg->options_are_done = PETSC_TRUE;
  PetscCall(PetscStrncpy(dg->options_prefix, VpPrefix((PetscObject)of), sizeof(dg->options_prefix)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMSetFromOptions_VPatchDG(DM dm, VpOptionItems PetscOptionsObject)
{
  DM_VPatchDG *dg;
  PetscReal    value;
  PetscBool    set, done;

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
  PetscCall(DMVPatchDGMapOptions(dm, PetscOptionsObject));
  PetscCall(PetscStrcmp(VpPrefix((PetscObject)dm), dg->options_prefix, &done));
  done = (PetscBool)(done && dg->options_are_done);
  PetscCall(RefineOption(dm, done, PetscOptionsObject));
  PetscCall(LocalOptions(dm, (PetscBool)(done && dg->mesh), PetscOptionsObject));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}
