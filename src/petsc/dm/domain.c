/* Makes the domain of a DMVPATCHDG from the settings. */
#include "internal.h"

/* The comparison comes first because the construction of the domain could fail on some ranks only. */
PetscErrorCode DMVPatchDGCheckAgreement(DM dm)
{
  DM_VPatchDG   *dg = dm->data;
  MPI_Comm       comm = PetscObjectComm((PetscObject)dm);
  const PetscInt n = dg->domain == VPATCHDG_DOMAIN_BOXES ? dg->nbox * dm->dim : 0;
  PetscReal      sides[6], grid[12];
  PetscReal      local[10] = {(PetscReal)dg->local_levels, dg->at_point, dg->at_sphere};

  PetscFunctionBegin;
  for (int side = 0; side < 6; side++) sides[side] = (PetscReal)dg->boundary[side];
  for (int d = 0; d < 3; d++) {
    grid[d] = (PetscReal)dg->grid[d];
    grid[3 + d] = dg->lower[d];
    grid[6 + d] = dg->upper[d];
    grid[9 + d] = dg->face[d] != NULL;
  }
  PetscCall(VpSettingsCheckSame(&DMVPatchDGPetscSettings, comm, dm));
  PetscCall(VpSettingsCheckSame(&DMVPatchDGSettings, comm, dg));
  for (int i = 0; i < 3; i++) local[3 + i] = dg->at_point ? dg->point[i] : 0;
  for (int i = 0; i < 4; i++) local[6 + i] = dg->at_sphere ? dg->sphere[i] : 0;
  PetscCall(VpCheckSameReals(comm, 10, local, "where cells are refined (-dm_vpatchdg_refine_levels, _point, _sphere)"));
  PetscCall(DMVPatchDGCheckMapAgrees(dm));
  PetscCall(VpCheckSameReals(comm, 6, sides, "the boundary conditions (-dm_vpatchdg_boundary)"));
  PetscCall(VpCheckSameReals(comm, 6, dg->alpha, "alpha of the Robin condition (-dm_vpatchdg_robin)"));
  if (dg->domain != VPATCHDG_DOMAIN_BOXES) {
    PetscCall(VpCheckSameReals(comm, 12, grid, "the boxes and corners (-dm_vpatchdg_boxes, _lower, _upper, _coordinates, _grid_x)"));
    for (int d = 0; d < 3; d++)
      PetscCall(VpCheckSameReals(comm, dg->face[d] ? dg->grid[d] + 1 : 0, dg->face[d], "the faces of boxes (DMVPatchDGSetGrid())"));
  }
  PetscCall(DMVPatchDGCheckSameTrees(dm));
  PetscCall(VpCheckSameReals(comm, n, dg->box_lower, "the lower corners of the boxes that DMVPatchDGSetBoxes() is given"));
  PetscCall(VpCheckSameReals(comm, n, dg->box_upper, "the upper corners of the boxes that DMVPatchDGSetBoxes() is given"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lists the grid positions inside this cube of size^3 positions along Morton's curve, so that each rank gets a compact piece. *place is the
   next free entry. */
static void VisitGrid(const PetscInt g[3], PetscInt x, PetscInt y, PetscInt z, PetscInt size, PetscInt (**place)[3])
{
  const PetscInt half = size / 2;

  if (x >= g[0] || y >= g[1] || z >= g[2]) return;
  if (size == 1) {
    PetscInt *to = *(*place)++;
    to[0] = x, to[1] = y, to[2] = z;
  } else {
    for (int i = 0; i < 8; i++) VisitGrid(g, x + (i & 1) * half, y + (i >> 1 & 1) * half, z + (i >> 2) * half, half, place);
  }
}

/* number of boxes of the domain's grid in direction d; lshape and fichera have this grid without its last box */
static PetscInt GridCount(DM dm, PetscInt d)
{
  const DM_VPatchDG *dg = dm->data;

  return d >= dm->dim ? 1 : (VpIsReentrant(dg->domain) ? 2 : dg->grid[d]);
}

/* coordinate of face i of the domain's grid */
static PetscReal GridFace(DM dm, PetscInt d, PetscInt i)
{
  const DM_VPatchDG *dg = dm->data;

  if (!VpIsReentrant(dg->domain)) return DMVPatchDGFace(dm, d, i);
  return i == 1 ? (dg->lower[d] + dg->upper[d]) / 2 : (i ? dg->upper[d] : dg->lower[d]);
}

static PetscErrorCode CheckGrid(DM dm, double nbox)
{
  const DM_VPatchDG *dg = dm->data;
  const MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  const PetscInt     need = dg->domain == VPATCHDG_DOMAIN_LSHAPE ? 2 : 3;

  PetscFunctionBegin;
  PetscCheck(dm->dim == need || !VpIsReentrant(dg->domain), comm, PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_domain %s has dimension %" PetscInt_FMT ", not %" PetscInt_FMT " (-dm_vpatchdg_dim)",
             VPatchDGDomains[dg->domain], need, dm->dim);
  for (PetscInt d = 0; d < dm->dim; d++) {
    PetscCheck(dg->upper[d] > dg->lower[d] && !PetscIsInfOrNanReal(dg->upper[d] - dg->lower[d]), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "The domain reaches from %g to %g in direction %" PetscInt_FMT ": -dm_vpatchdg_upper must be above -dm_vpatchdg_lower",
               (double)dg->lower[d], (double)dg->upper[d], d);
  }
  PetscCheck(nbox <= VP_MAX_BOXES, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_boxes means %.0f boxes, more than the %d that are possible: take fewer and refine them (-dm_refine)", nbox,
             VP_MAX_BOXES);
  PetscCall(DMVPatchDGCheckSize(dm, (PetscInt)nbox, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMakeBoxes(DM dm)
{
  DM_VPatchDG   *dg = dm->data;
  const PetscInt dim = dm->dim, g[3] = {GridCount(dm, 0), GridCount(dm, 1), GridCount(dm, 2)};
  const double   nbox = (double)g[0] * (double)g[1] * (double)g[2];
  PetscInt       size = 1, (*place)[3], (*next)[3];

  PetscFunctionBegin;
  PetscCheck(dg->nbox || dg->domain != VPATCHDG_DOMAIN_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "-dm_vpatchdg_domain boxes: the boxes are given by DMVPatchDGSetBoxes(); box, lshape and fichera need none");
  PetscCheck(dg->corner || dg->domain != VPATCHDG_DOMAIN_TREES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "-dm_vpatchdg_domain trees: the trees are given by DMVPatchDGSetTrees(); star, disc, cylinder, ball and shell need none");
  if (dg->domain == VPATCHDG_DOMAIN_BOXES || dg->corner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CheckGrid(dm, nbox)); /* before the boxes are allocated */
  PetscCall(DMVPatchDGStoreBoxes(dm, (PetscInt)nbox - VpIsReentrant(dg->domain), NULL, NULL));
  PetscCall(PetscMalloc1((PetscInt)nbox, &place));
  while (size < PetscMax(g[0], PetscMax(g[1], g[2]))) size *= 2;
  next = place;
  VisitGrid(g, 0, 0, 0, size, &next);
  for (PetscInt b = 0; b < dg->nbox; b++) {
    for (PetscInt d = 0; d < dim; d++) {
      dg->box_lower[b * dim + d] = GridFace(dm, d, place[b][d]);
      dg->box_upper[b * dim + d] = GridFace(dm, d, place[b][d] + 1);
    }
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error if the option -dm_vpatchdg_robin was given and no side is Robin. */
static PetscErrorCode CheckRobin(DM dm, VpDomain domain)
{
  PetscBool robin = (PetscBool)!DMVPatchDGData(dm)->robin_typed;

  PetscFunctionBegin;
  for (int64_t i = 0; i < (int64_t)domain->nbox * 2 * domain->dim && !robin; i++)
    robin = (PetscBool)(VpDomainAlpha(domain, domain->beyond[i]) > 0);
  PetscCheck(robin, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_robin was given, and no side is Robin: -dm_vpatchdg_boundary robin, or one name per side");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCreateDomain(DM dm, VpDomain *domain)
{
  DM_VPatchDG *dg = dm->data;
  MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  PetscBool    periodic[3] = {PETSC_FALSE};
  VpBoundary   boundary[6];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGMakeBoxes(dm));
  for (int side = 0; side < 6; side++) boundary[side] = VpBoundaryOf(dg->boundary[side], dg->alpha[side]);
  for (PetscInt d = 0; d < dm->dim; d++) {
    const PetscBool lower = dg->boundary[2 * d] == VPATCHDG_BOUNDARY_PERIODIC;
    const PetscBool upper = dg->boundary[2 * d + 1] == VPATCHDG_BOUNDARY_PERIODIC;

    PetscCheck(lower == upper, comm, PETSC_ERR_ARG_INCOMP,
               "Only one side of direction %c is periodic: -dm_vpatchdg_boundary must name both", (char)('x' + d));
    PetscCheck(!lower || !dg->corner, comm, PETSC_ERR_ARG_INCOMP,
               "-dm_vpatchdg_boundary periodic does not fit -dm_vpatchdg_domain %s: give sides that are the same the same vertices "
               "(DMVPatchDGSetTrees())",
               VPatchDGDomains[dg->domain]);
    PetscCheck(!lower || !VpIsReentrant(dg->domain), comm, PETSC_ERR_ARG_INCOMP,
               "-dm_vpatchdg_boundary periodic does not fit -dm_vpatchdg_domain %s: opposite sides differ", VPatchDGDomains[dg->domain]);
    periodic[d] = lower;
  }
  if (dg->corner)
    PetscCall(VpDomainCreateTrees(comm, &(VpTreeCorners){(int)dm->dim, dg->nvertex, (int32_t)dg->nbox, dg->corner, boundary}, domain));
  else
    PetscCall(VpDomainCreate(comm, &(VpBoxes){(int)dm->dim, (int32_t)dg->nbox, dg->box_lower, dg->box_upper, boundary, periodic}, domain));
  PetscCall(DMVPatchDGAskBoundary(dm, *domain));
  PetscCall(CheckRobin(dm, *domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}
