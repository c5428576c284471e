/* The settings that describe the domain of a DMVPATCHDG: a name, a grid of boxes or a list of boxes, and the boundary conditions. */
#include "internal.h"

PetscErrorCode DMVPatchDGStoreBoxes(DM dm, PetscInt nbox, const PetscReal lower[], const PetscReal upper[])
{
  DM_VPatchDG   *dg = dm->data;
  const PetscInt n = nbox * dm->dim;
  PetscReal     *copy[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(n, &copy[0], n, &copy[1]));
  if (lower) PetscCall(PetscArraycpy(copy[0], lower, n));
  if (upper) PetscCall(PetscArraycpy(copy[1], upper, n));
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  dg->box_lower = copy[0];
  dg->box_upper = copy[1];
  dg->nbox = nbox;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckBoxes(DM dm, PetscInt nbox, const char what[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, what));
  PetscCheck(dm->dim == 2 || dm->dim == 3, comm, PETSC_ERR_ARG_WRONGSTATE,
             "Call DMSetDimension() with 2 or 3 before you give the DM its %s", what);
  PetscCheck(nbox > 0 && nbox <= VP_MAX_BOXES, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The %s has %" PetscInt_FMT " boxes: there must be at least one box, and at most %d", what, nbox, VP_MAX_BOXES);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Resets the corners to their defaults if only one of both domains has a re-entrant corner. */
static PetscErrorCode ResetCorners(DM_VPatchDG *dg, VPatchDGDomain before)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3 && VpIsReentrant(before) != VpIsReentrant(dg->domain); d++) {
    dg->lower[d] = VpIsReentrant(dg->domain) ? -1 : 0;
    dg->upper[d] = 1;
    PetscCall(PetscFree(dg->face[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetDomain - Chooses the kind of domain

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  domain - `VPATCHDG_DOMAIN_BOX` (a box, see `DMVPatchDGSetBoxGrid()`), `VPATCHDG_DOMAIN_LSHAPE` ([-1,1]^2 without [0,1]^2, unless
            `DMVPatchDGSetBoxGrid()` sets other corners), `VPATCHDG_DOMAIN_FICHERA` ([-1,1]^3 without [0,1]^3, likewise),
            `VPATCHDG_DOMAIN_BOXES` (the boxes of `DMVPatchDGSetBoxes()`), `VPATCHDG_DOMAIN_TREES` (the trees of `DMVPatchDGSetTrees()`), or
            one of the domains of trees below: `VPATCHDG_DOMAIN_STAR`, `VPATCHDG_DOMAIN_DISC`, `VPATCHDG_DOMAIN_CYLINDER`,
            `VPATCHDG_DOMAIN_BALL`, `VPATCHDG_DOMAIN_SHELL`

   Options Database Keys:
+  -dm_vpatchdg_domain name               - the domain
-  -dm_vpatchdg_domain_parameters a,b,... - the numbers of a domain of trees

   Level: beginner

   Notes:
   A domain of one dimension sets it if it is not set yet. Choosing another domain resets the corners to its defaults.

   Domains of trees, quadrilaterals or hexahedra that meet in any way, have these names and numbers
.vb
   star m                     m kites around the centre of a regular polygon of radius 1 (5)
   disc half                  a square in the circle of radius 1, of this half diagonal (.4), and four trees around it
   cylinder half,n            n layers of discs on one another (.4 and 2), of height 1 together
   ball half                  a cube in the ball of radius 1, of this half diagonal (.5), and six trees around it
   shell inner,outer          six trees between the spheres of these radii (1 and 2)
.ve
   In the outer trees of the last four, x goes outwards, so that x+ is the side on the circle or the sphere, and x- of shell the inner
   sphere. The sides z- and z+ of cylinder are its bottom and its top. The nodes of cells lie on the circle or the sphere, whatever the
   refinement.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetDomain()`, `DMVPatchDGSetBoxGrid()`, `DMVPatchDGSetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetDomain(DM dm, VPatchDGDomain domain)
{
  DM_VPatchDG   *dg;
  VPatchDGDomain before;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  before = dg->domain;
  PetscCall(DMVPatchDGSet(dm, VP_DM_DOMAIN, domain));
  if (before == domain) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  dg->nbox = 0;
  PetscCall(ResetCorners(dg, before));
  if (dg->corner) PetscCall(DMVPatchDGSetMapOf(dm, NULL, 0, NULL));
  PetscCall(PetscFree(dg->corner));
  if (dm->dim < 0 && VpDomainDimension(domain)) PetscCall(DMSetDimension(dm, VpDomainDimension(domain)));
  PetscCall(DMVPatchDGSetTreeNumbers(dm, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetDomain - Gets the kind of domain

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  domain - the kind of domain

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDomain()`
@*/
PetscErrorCode DMVPatchDGGetDomain(DM dm, VPatchDGDomain *domain)
{
  return DMVPatchDGGet(dm, VP_DM_DOMAIN, domain, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetBoxGrid - Sets the corners of the domain and the number of equal boxes in every direction

   Logically Collective

   Input Parameters:
+  dm    - the DM
.  n     - [dim] number of boxes in every direction, 1 by default
.  lower - [dim] lower corner of the domain, 0 by default and -1 for lshape and fichera
-  upper - [dim] upper corner of the domain, 1 by default

   Options Database Keys:
+  -dm_vpatchdg_boxes nx,ny,nz                            - number of boxes
.  -dm_vpatchdg_lower x,y,z                               - lower corner
.  -dm_vpatchdg_upper x,y,z                               - upper corner
-  -dm_vpatchdg_coordinates xmin,xmax,ymin,ymax,zmin,zmax - both corners

   Level: beginner

   Notes:
   `NULL` keeps the present value of an argument. `DMVPatchDGSetGrid()` makes boxes of different widths, and this function makes them equal
   again.

   -dm_vpatchdg_coordinates takes its numbers in the order of `DMDASetUniformCoordinates()`. `DMVPatchDGSetGrid()` sets stretched
   coordinates.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoxGrid()`, `DMVPatchDGSetDomain()`, `DMVPatchDGSetGrid()`, `DMVPatchDGSetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetBoxGrid(DM dm, const PetscInt n[], const PetscReal lower[], const PetscReal upper[])
{
  DM_VPatchDG *dg;
  PetscBool    changes = PETSC_FALSE;
  PetscInt     dim;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  dim = DMVPatchDGDim(dm);
  for (PetscInt d = 0; d < dim; d++) {
    PetscCheck(!n || n[d] > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
               "-dm_vpatchdg_boxes: %" PetscInt_FMT " boxes in direction %" PetscInt_FMT ", there must be at least one", n[d], d);
    if ((n && n[d] != dg->grid[d]) || (lower && lower[d] != dg->lower[d]) || (upper && upper[d] != dg->upper[d])) changes = PETSC_TRUE;
    if (dg->face[d] && (n || lower || upper)) changes = PETSC_TRUE;
  }
  PetscCall(DMVPatchDGCheckChange(dm, changes, "grid of boxes"));
  for (PetscInt d = 0; d < dim && changes; d++) PetscCall(PetscFree(dg->face[d]));
  if (n) PetscCall(PetscArraycpy(dg->grid, n, dim));
  if (lower) PetscCall(PetscArraycpy(dg->lower, lower, dim));
  if (upper) PetscCall(PetscArraycpy(dg->upper, upper, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoxGrid - Gets the corners of the domain and the number of boxes in every direction

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameters:
+  n     - [dim] number of boxes in every direction
.  lower - [dim] lower corner
-  upper - [dim] upper corner

   Level: beginner

   Note:
   Any output may be `NULL`.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoxGrid()`, `DMVPatchDGGetDomain()`
@*/
PetscErrorCode DMVPatchDGGetBoxGrid(DM dm, PetscInt n[], PetscReal lower[], PetscReal upper[])
{
  DM_VPatchDG *dg;
  PetscInt     dim;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  dim = DMVPatchDGDim(dm);
  if (n) PetscCall(PetscArraycpy(n, dg->grid, dim));
  if (lower) PetscCall(PetscArraycpy(lower, dg->lower, dim));
  if (upper) PetscCall(PetscArraycpy(upper, dg->upper, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetBoxes - Makes the domain a union of axis-aligned boxes

   Logically Collective

   Input Parameters:
+  dm    - the DM, whose dimension is set
.  nbox  - number of boxes
.  lower - [nbox][dim] lower corners
-  upper - [nbox][dim] upper corners

   Level: intermediate

   Notes:
   All ranks must give the same boxes. Boxes that touch must share a whole face, edge or corner; otherwise `DMSetUp()` names the boxes that
   do not. The arrays are copied.

   The outward normal of a side chooses its boundary condition (`DMVPatchDGSetBoundary()`), unless a label
   (`DMVPatchDGSetLabelBoundary()`) or a function (`DMVPatchDGSetBoundaryFunction()`) does.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoxes()`, `DMVPatchDGSetBoundary()`
@*/
PetscErrorCode DMVPatchDGSetBoxes(DM dm, PetscInt nbox, const PetscReal lower[], const PetscReal upper[])
{
  DM_VPatchDG   *dg;
  VPatchDGDomain before;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, nbox, 2);
  PetscCall(DMVPatchDGCheckBoxes(dm, nbox, "list of boxes"));
  VpAssertPointer(lower, 3);
  VpAssertPointer(upper, 4);
  PetscCall(DMVPatchDGStoreBoxes(dm, nbox, lower, upper));
  if (dg->corner) PetscCall(DMVPatchDGSetMapOf(dm, NULL, 0, NULL));
  PetscCall(PetscFree(dg->corner));
  before = dg->domain;
  dg->domain = VPATCHDG_DOMAIN_BOXES;
  PetscCall(ResetCorners(dg, before));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetBoxes - Gets the boxes that make up the domain

   Not Collective

   Input Parameter:
.  dm - the DM, whose domain is set; it need not be set up

   Output Parameters:
+  nbox  - number of boxes
.  lower - [nbox][dim] lower corners
-  upper - [nbox][dim] upper corners

   Level: intermediate

   Note:
   Any output may be `NULL`. The arrays belong to the DM. Arrays that were obtained before `DMSetUp()` are valid only until that call.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoxes()`, `DMVPatchDGSetDomain()`
@*/
PetscErrorCode DMVPatchDGGetBoxes(DM dm, PetscInt *nbox, const PetscReal *lower[], const PetscReal *upper[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (!dg->mesh) {
    PetscCheck(dm->dim == 2 || dm->dim == 3, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
               "DMVPatchDGGetBoxes() needs a DM that is set up, or one with its dimension (DMSetDimension())");
    PetscCall(DMVPatchDGMakeBoxes(dm));
  }
  if (nbox) *nbox = dg->nbox;
  if (lower) *lower = dg->box_lower;
  if (upper) *upper = dg->box_upper;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetBoundary - Sets the boundary condition for every outward normal

   Logically Collective

   Input Parameters:
+  dm       - the DM
-  boundary - [2 dim] the condition for every outward normal, in the order x-,x+,y-,y+,z-,z+: `VPATCHDG_BOUNDARY_DIRICHLET` (u is given; the
              default), `VPATCHDG_BOUNDARY_NEUMANN` (du/dn is given), `VPATCHDG_BOUNDARY_ROBIN` (du/dn + alpha u is given, see
              `DMVPatchDGSetRobin()`) or `VPATCHDG_BOUNDARY_PERIODIC`

   Options Database Key:
.  -dm_vpatchdg_boundary dirichlet|neumann|robin|periodic - one condition for all sides, or 2 dim conditions separated by commas

   Level: beginner

   Note:
   If one side of a direction is periodic, the other side must be periodic, too. Without Dirichlet and Robin sides and without reaction, the
   constants are the null space of the operator. `DMCreateMatrix()` attaches this null space.

   `DMVPatchDGSetLabelBoundary()` and `DMVPatchDGSetBoundaryFunction()` set other conditions on the sides of single boxes.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoundary()`, `DMVPatchDGSetRobin()`, `DMVPatchDGSetBoundaryFunction()`, `DMVPatchDGComputeRHS()`
@*/
PetscErrorCode DMVPatchDGSetBoundary(DM dm, const VPatchDGBoundary boundary[])
{
  DM_VPatchDG *dg;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  VpAssertPointer(boundary, 2);
  for (int side = 0; side < 2 * DMVPatchDGDim(dm); side++)
    PetscCheck(boundary[side] >= VPATCHDG_BOUNDARY_DIRICHLET && boundary[side] <= VPATCHDG_BOUNDARY_PERIODIC,
               PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "Side %d has boundary condition %d, which does not exist", side,
               (int)boundary[side]);
  PetscCall(PetscArraycmp(dg->boundary, boundary, 2 * DMVPatchDGDim(dm), &same));
  PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)!same, "boundary"));
  PetscCall(PetscArraycpy(dg->boundary, boundary, 2 * DMVPatchDGDim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoundary - Gets the boundary condition for every outward normal

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  boundary - [2 dim] in the order x-,x+,y-,y+,z-,z+

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoundary()`
@*/
PetscErrorCode DMVPatchDGGetBoundary(DM dm, VPatchDGBoundary boundary[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(boundary, 2);
  PetscCall(PetscArraycpy(boundary, dg->boundary, 2 * DMVPatchDGDim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetRobin - Sets alpha of the Robin condition du/dn + alpha u = h

   Logically Collective

   Input Parameters:
+  dm    - the DM
-  alpha - [2 dim] positive, in the order x-,x+,y-,y+,z-,z+; 1 by default

   Options Database Key:
.  -dm_vpatchdg_robin alpha - one number for all sides, or 2 dim numbers separated by commas; 1 by default

   Level: beginner

   Note:
   Sides with other conditions do not use their number. For alpha = 0 set a Neumann condition instead.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetRobin()`, `DMVPatchDGSetBoundary()`, `DMVPatchDGComputeRHS()`
@*/
PetscErrorCode DMVPatchDGSetRobin(DM dm, const PetscReal alpha[])
{
  DM_VPatchDG *dg;
  PetscBool    same;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  VpAssertPointer(alpha, 2);
  for (int side = 0; side < 2 * DMVPatchDGDim(dm); side++)
    PetscCheck(VpIsAlpha(VPATCHDG_BOUNDARY_ROBIN, alpha[side]), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
               "-dm_vpatchdg_robin %g of side %d: alpha is positive (0 would be neumann)", (double)alpha[side], side);
  PetscCall(PetscArraycmp(dg->alpha, alpha, 2 * DMVPatchDGDim(dm), &same));
  PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)!same, "number alpha of the Robin condition"));
  PetscCall(PetscArraycpy(dg->alpha, alpha, 2 * DMVPatchDGDim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetRobin - Gets alpha of the Robin condition for every outward normal

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  alpha - [2 dim] in the order x-,x+,y-,y+,z-,z+

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetRobin()`, `DMVPatchDGGetBoundary()`
@*/
PetscErrorCode DMVPatchDGGetRobin(DM dm, PetscReal alpha[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(alpha, 2);
  PetscCall(PetscArraycpy(alpha, dg->alpha, 2 * DMVPatchDGDim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
