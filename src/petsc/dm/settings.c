/* What can be said about a DMVPATCHDG before it is set up: setters and getters. Boxes are in boxes.c, options in options.c. */
#include "../impl.h"

static PetscInt Dim(DM dm)
{
  return dm->dim > 0 ? dm->dim : 3;
}

PetscErrorCode DMVPatchDGCheckChange(DM dm, PetscBool changes, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(!changes || !((DM_VPatchDG *)dm->data)->mesh, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The %s cannot change after DMSetUp(): set it before, or make another DM", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckDimension(DM dm)
{
  PetscFunctionBegin;
  PetscCheck(Dim(dm) == 2 || Dim(dm) == 3, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_dim %" PetscInt_FMT ": dimensions 2 and 3 exist", dm->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGCreate - Creates a `DMVPATCHDG` that is not set up yet: by default the unit square or cube as one box, Dirichlet boundary

   Collective

   Input Parameters:
+  comm   - MPI communicator
.  dim    - dimension, 2 or 3
.  degree - of the polynomials, 1 to 8
-  refine - how often every box is refined

   Output Parameter:
.  dm - the DM

   Level: beginner

   Note:
   Call `DMSetFromOptions()` if options may change the settings, then `DMSetUp()`.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDomain()`, `DMVPatchDGSetBoxes()`, `DMVPatchDGSetBoundary()`, `DMVPatchDGSetCoefficient()`
@*/
PetscErrorCode DMVPatchDGCreate(MPI_Comm comm, PetscInt dim, PetscInt degree, PetscInt refine, DM *dm)
{
  PetscFunctionBegin;
  VpAssertPointer(dm, 5);
  PetscCall(VPatchDGInitializePackage());
  PetscCall(DMCreate(comm, dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetDimension(*dm, dim));
  PetscCall(DMVPatchDGCheckDimension(*dm));
  PetscCall(DMVPatchDGSetDegree(*dm, degree));
  PetscCall(DMSetRefineLevel(*dm, refine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetDegree - Sets the degree of the polynomials

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  degree - 1 to 8; 3 by default

   Options Database Key:
.  -dm_vpatchdg_degree k - the degree

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetDegree()`
@*/
PetscErrorCode DMVPatchDGSetDegree(DM dm, PetscInt degree)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, degree, 2);
  PetscCheck(degree >= 1 && degree <= VP_MAX_DEGREE, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_degree %" PetscInt_FMT ": degrees 1 to %d exist", degree, VP_MAX_DEGREE);
  PetscCall(DMVPatchDGCheckChange(dm, dg->degree != degree ? PETSC_TRUE : PETSC_FALSE, "degree"));
  dg->degree = degree;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetDegree - Gets the degree of the polynomials

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  degree - the degree

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDegree()`
@*/
PetscErrorCode DMVPatchDGGetDegree(DM dm, PetscInt *degree)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(degree, 2);
  *degree = dg->degree;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetDomain - Chooses one of the domains that are known by name

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  domain - `VPATCHDG_DOMAIN_BOX` (see `DMVPatchDGSetBoxGrid()`), `VPATCHDG_DOMAIN_LSHAPE` ([-1,1]^2 without [0,1]^2),
`VPATCHDG_DOMAIN_FICHERA` ([-1,1]^3 without [0,1]^3), or `VPATCHDG_DOMAIN_BOXES`, which `DMVPatchDGSetBoxes()` sets

   Options Database Key:
.  -dm_vpatchdg_domain box|lshape|fichera - the domain

   Level: beginner

   Note:
   lshape and fichera set the dimension unless it is set already.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetDomain()`, `DMVPatchDGSetBoxGrid()`, `DMVPatchDGSetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetDomain(DM dm, VPatchDGDomain domain)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveEnum(dm, domain, 2);
  PetscCheck((int)domain >= 0 && domain <= VPATCHDG_DOMAIN_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetDomain(): domain %d does not exist, box, lshape, fichera and boxes do", (int)domain);
  if (dg->domain == domain) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "domain"));
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  dg->nbox = 0;
  dg->domain = domain;
  if (dm->dim < 0 && domain == VPATCHDG_DOMAIN_LSHAPE) PetscCall(DMSetDimension(dm, 2));
  if (dm->dim < 0 && domain == VPATCHDG_DOMAIN_FICHERA) PetscCall(DMSetDimension(dm, 3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetDomain - Gets the kind of domain

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  domain - the domain

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDomain()`
@*/
PetscErrorCode DMVPatchDGGetDomain(DM dm, VPatchDGDomain *domain)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(domain, 2);
  *domain = dg->domain;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetBoundary - Says what holds on every side of the domain

   Logically Collective

   Input Parameters:
+  dm       - the DM
-  boundary - [2 dim] in the order x-,x+,y-,y+,z-,z+, by outward normal: `VPATCHDG_BOUNDARY_DIRICHLET` (default, u is given),
`VPATCHDG_BOUNDARY_NEUMANN` (du/dn is given) or `VPATCHDG_BOUNDARY_PERIODIC`

   Options Database Key:
.  -dm_vpatchdg_boundary dirichlet|neumann|periodic - one for all sides, or 2 dim of them separated by commas

   Level: beginner

   Note:
   Both sides of a direction are periodic, or none. Without a Dirichlet side and without reaction the operator has the constants as null
   space, which `DMCreateMatrix()` attaches.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoundary()`, `DMVPatchDGComputeRHS()`
@*/
PetscErrorCode DMVPatchDGSetBoundary(DM dm, const VPatchDGBoundary boundary[])
{
  DM_VPatchDG *dg;
  PetscBool    changes = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  VpAssertPointer(boundary, 2);
  for (int side = 0; side < 2 * Dim(dm); side++) {
    PetscCheck(boundary[side] >= VPATCHDG_BOUNDARY_DIRICHLET && boundary[side] <= VPATCHDG_BOUNDARY_PERIODIC,
               PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "Side %d has boundary condition %d, which does not exist", side,
               (int)boundary[side]);
    if (dg->boundary[side] != boundary[side]) changes = PETSC_TRUE;
  }
  PetscCall(DMVPatchDGCheckChange(dm, changes, "boundary"));
  PetscCall(PetscArraycpy(dg->boundary, boundary, 2 * Dim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoundary - Gets what holds on every side of the domain

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
  PetscCall(PetscArraycpy(boundary, dg->boundary, 2 * Dim(dm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetPenalty - Sets the factor of the interior penalty

   Logically Collective

   Input Parameters:
+  dm      - the DM
-  penalty - positive, 1 by default. The penalty itself is this factor times k(k+1)(1/h- + 1/h+) on interior faces and 2k(k+1)/h on
Dirichlet faces, where k is the degree and h the size of the cells on either side, across the face

   Options Database Key:
.  -dm_vpatchdg_penalty s - the factor

   Level: intermediate

   Note:
   `PCVPATCHDG` and `PCVPATCH` refuse a factor with which patches are not positive definite, and one so large that s k(k+1) times their
   rounding errors is not small: 8e6 for s k(k+1) in single precision, 4e10 in double.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPenalty()`
@*/
PetscErrorCode DMVPatchDGSetPenalty(DM dm, PetscReal penalty)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCheck(penalty > 0 && !PetscIsInfOrNanReal(penalty), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_penalty %g: the factor of the interior penalty is positive", (double)penalty);
  PetscValidLogicalCollectiveReal(dm, penalty, 2);
  PetscCall(DMVPatchDGCheckChange(dm, dg->penalty != penalty ? PETSC_TRUE : PETSC_FALSE, "penalty"));
  dg->penalty = penalty;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetPenalty - Gets the factor of the interior penalty

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  penalty - the factor

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetPenalty()`
@*/
PetscErrorCode DMVPatchDGGetPenalty(DM dm, PetscReal *penalty)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(penalty, 2);
  *penalty = dg->penalty;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetReaction - Adds c u to the operator

   Logically Collective

   Input Parameters:
+  dm       - the DM
-  reaction - c, not negative; 0 by default

   Options Database Key:
.  -dm_vpatchdg_reaction c - the reaction coefficient

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetReaction()`
@*/
PetscErrorCode DMVPatchDGSetReaction(DM dm, PetscReal reaction)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCheck(reaction >= 0 && !PetscIsInfOrNanReal(reaction), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_reaction %g: the reaction coefficient is not negative", (double)reaction);
  PetscValidLogicalCollectiveReal(dm, reaction, 2);
  PetscCall(DMVPatchDGCheckChange(dm, dg->reaction != reaction ? PETSC_TRUE : PETSC_FALSE, "reaction"));
  dg->reaction = reaction;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetReaction - Gets the reaction coefficient

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  reaction - c

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetReaction()`
@*/
PetscErrorCode DMVPatchDGGetReaction(DM dm, PetscReal *reaction)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  VpAssertPointer(reaction, 2);
  *reaction = dg->reaction;
  PetscFunctionReturn(PETSC_SUCCESS);
}
