/* The domain of a DMVPATCHDG: what boxes it is made of. Its cells are in coefficient.c. */
#include "../impl.h"

/*@
   DMVPatchDGSetBoxGrid - Makes the domain a box, cut into equal boxes

   Logically Collective

   Input Parameters:
+  dm    - the DM
.  n     - [dim] number of boxes in every direction, 1 by default
.  lower - [dim] lower corner, 0 by default
-  upper - [dim] upper corner, 1 by default

   Options Database Keys:
+  -dm_vpatchdg_boxes nx,ny,nz - number of boxes
.  -dm_vpatchdg_lower x,y,z    - lower corner
-  -dm_vpatchdg_upper x,y,z    - upper corner

   Level: beginner

   Note:
   `NULL` leaves an argument as it is. Multigrid works best on cells that are nearly cubes.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoxGrid()`, `DMVPatchDGSetDomain()`, `DMVPatchDGSetBoxes()`
@*/
PetscErrorCode DMVPatchDGSetBoxGrid(DM dm, const PetscInt n[], const PetscReal lower[], const PetscReal upper[])
{
  DM_VPatchDG *dg;
  PetscBool    changes = PETSC_FALSE;
  PetscInt     dim;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(DMVPatchDGCheckDimension(dm));
  dim = dm->dim > 0 ? dm->dim : 3;
  for (PetscInt d = 0; d < dim; d++) {
    PetscCheck(!n || n[d] > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
               "-dm_vpatchdg_boxes: %" PetscInt_FMT " boxes in direction %" PetscInt_FMT ", there must be at least one", n[d], d);
    if ((n && n[d] != dg->grid[d]) || (lower && lower[d] != dg->lower[d]) || (upper && upper[d] != dg->upper[d])) changes = PETSC_TRUE;
  }
  PetscCall(DMVPatchDGCheckChange(dm, changes, "grid of boxes"));
  if (n) PetscCall(PetscArraycpy(dg->grid, n, dim));
  if (lower) PetscCall(PetscArraycpy(dg->lower, lower, dim));
  if (upper) PetscCall(PetscArraycpy(dg->upper, upper, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetBoxGrid - Gets what `DMVPatchDGSetBoxGrid()` set, which is the domain if that is `VPATCHDG_DOMAIN_BOX`

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
  dim = dm->dim > 0 ? dm->dim : 3;
  if (n) PetscCall(PetscArraycpy(n, dg->grid, dim));
  if (lower) PetscCall(PetscArraycpy(lower, dg->lower, dim));
  if (upper) PetscCall(PetscArraycpy(upper, dg->upper, dim));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode StoreBoxes(DM dm, PetscInt nbox)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(dg->box_lower, dg->box_upper));
  PetscCall(PetscMalloc2(nbox * dm->dim, &dg->box_lower, nbox * dm->dim, &dg->box_upper));
  dg->nbox = nbox;
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
   All ranks give the same boxes. Boxes that touch share a whole face, edge or corner; `DMSetUp()` says which do not. They are copied.

   Which boundary condition holds on a face is decided by its outward normal.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBoxes()`, `DMVPatchDGSetBoundary()`
@*/
PetscErrorCode DMVPatchDGSetBoxes(DM dm, PetscInt nbox, const PetscReal lower[], const PetscReal upper[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, nbox, 2);
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "list of boxes"));
  PetscCheck(dm->dim == 2 || dm->dim == 3, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "Call DMSetDimension() with 2 or 3 before DMVPatchDGSetBoxes()");
  PetscCheck(nbox > 0 && nbox <= VP_MAX_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "A domain of %" PetscInt_FMT " boxes: there must be at least one, and at most %d", nbox, VP_MAX_BOXES);
  VpAssertPointer(lower, 3);
  VpAssertPointer(upper, 4);
  PetscCall(StoreBoxes(dm, nbox));
  PetscCall(PetscArraycpy(dg->box_lower, lower, nbox * dm->dim));
  PetscCall(PetscArraycpy(dg->box_upper, upper, nbox * dm->dim));
  dg->domain = VPATCHDG_DOMAIN_BOXES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGGetBoxes - Gets the boxes the domain is made of

   Not Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameters:
+  nbox  - number of boxes
.  lower - [nbox][dim] lower corners
-  upper - [nbox][dim] upper corners

   Level: intermediate

   Note:
   Any output may be `NULL`. The arrays belong to the DM.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBoxes()`, `DMVPatchDGSetDomain()`
@*/
PetscErrorCode DMVPatchDGGetBoxes(DM dm, PetscInt *nbox, const PetscReal *lower[], const PetscReal *upper[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (dg->domain != VPATCHDG_DOMAIN_BOXES) PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetBoxes()"));
  if (nbox) *nbox = dg->nbox;
  if (lower) *lower = dg->box_lower;
  if (upper) *upper = dg->box_upper;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The places of a grid in a cube, in the order of Morton's curve: ranks get compact pieces. place: the next free one */
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

/* domain box: grid[0] grid[1] grid[2] equal boxes */
static PetscErrorCode MakeGrid(DM dm)
{
  DM_VPatchDG   *dg = (DM_VPatchDG *)dm->data;
  const PetscInt dim = dm->dim, g[3] = {dg->grid[0], dg->grid[1], dim == 3 ? dg->grid[2] : 1};
  const double   nbox = (double)g[0] * (double)g[1] * (double)g[2];
  PetscInt       size = 1, (*place)[3], (*next)[3];

  PetscFunctionBegin;
  for (PetscInt d = 0; d < dim; d++) {
    PetscCheck(dg->upper[d] > dg->lower[d] && !PetscIsInfOrNanReal(dg->upper[d] - dg->lower[d]), PetscObjectComm((PetscObject)dm),
               PETSC_ERR_ARG_OUTOFRANGE,
               "The domain reaches from %g to %g in direction %" PetscInt_FMT ": -dm_vpatchdg_upper must be above -dm_vpatchdg_lower",
               (double)dg->lower[d], (double)dg->upper[d], d);
  }
  PetscCheck(nbox <= VP_MAX_BOXES, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_boxes means %.0f boxes, more than the %d that are possible: take fewer and refine them (-dm_refine)", nbox,
             VP_MAX_BOXES);
  PetscCall(DMVPatchDGCheckSize(dm, (PetscInt)nbox, 0)); /* before there are as many boxes */
  PetscCall(StoreBoxes(dm, (PetscInt)nbox));
  PetscCall(PetscMalloc1(dg->nbox, &place));
  while (size < PetscMax(g[0], PetscMax(g[1], g[2]))) size *= 2;
  next = place;
  VisitGrid(g, 0, 0, 0, size, &next);
  for (PetscInt b = 0; b < dg->nbox; b++) {
    for (PetscInt d = 0; d < dim; d++) {
      dg->box_lower[b * dim + d] = dg->lower[d] + (dg->upper[d] - dg->lower[d]) * (PetscReal)place[b][d] / (PetscReal)g[d];
      dg->box_upper[b * dim + d] = dg->lower[d] + (dg->upper[d] - dg->lower[d]) * (PetscReal)(place[b][d] + 1) / (PetscReal)g[d];
    }
  }
  PetscCall(PetscFree(place));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the 2^dim unit boxes around the origin without the last */
static PetscErrorCode MakeReentrant(DM dm)
{
  DM_VPatchDG   *dg = (DM_VPatchDG *)dm->data;
  const PetscInt dim = dm->dim, need = dg->domain == VPATCHDG_DOMAIN_LSHAPE ? 2 : 3;

  PetscFunctionBegin;
  PetscCheck(dim == need, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_domain %s has dimension %" PetscInt_FMT ", not %" PetscInt_FMT " (-dm_vpatchdg_dim)",
             VPatchDGDomains[dg->domain], need, dim);
  PetscCall(StoreBoxes(dm, (1 << dim) - 1));
  for (PetscInt b = 0; b < dg->nbox; b++) {
    for (PetscInt d = 0; d < dim; d++) {
      dg->box_lower[b * dim + d] = (PetscReal)((b >> d & 1) - 1);
      dg->box_upper[b * dim + d] = (PetscReal)(b >> d & 1);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* before anything is made of the settings, which could fail on some ranks only */
PetscErrorCode DMVPatchDGCheckAgreement(DM dm)
{
  DM_VPatchDG    *dg = (DM_VPatchDG *)dm->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)dm);
  const PetscInt  n = dg->domain == VPATCHDG_DOMAIN_BOXES ? dg->nbox * dm->dim : 0;
  const VpSetting settings[] = {{"dimension (-dm_vpatchdg_dim)", (PetscReal)dm->dim, NULL},
                                {"number of refinements (-dm_refine)", (PetscReal)dm->levelup, NULL},
                                {"degree (-dm_vpatchdg_degree)", (PetscReal)dg->degree, NULL},
                                {"domain (-dm_vpatchdg_domain)", (PetscReal)dg->domain, VPatchDGDomains},
                                {"number of boxes that DMVPatchDGSetBoxes() is given", (PetscReal)dg->nbox, NULL},
                                {"penalty (-dm_vpatchdg_penalty)", dg->penalty, NULL},
                                {"reaction (-dm_vpatchdg_reaction)", dg->reaction, NULL},
                                {"backend (-dm_vpatchdg_backend)", (PetscReal)dg->backend, VPatchDGBackends},
                                {"transport (-dm_vpatchdg_transport)", (PetscReal)dg->transport, VPatchDGTransports}};
  PetscReal       sides[6], grid[9];

  PetscFunctionBegin;
  for (int side = 0; side < 6; side++) sides[side] = (PetscReal)dg->boundary[side];
  for (int d = 0; d < 3; d++) {
    grid[d] = (PetscReal)dg->grid[d];
    grid[3 + d] = dg->lower[d];
    grid[6 + d] = dg->upper[d];
  }
  PetscCall(VpCheckSame(comm, (int)PETSC_STATIC_ARRAY_LENGTH(settings), settings));
  PetscCall(VpCheckSameReals(comm, 6, sides, "the boundary conditions (-dm_vpatchdg_boundary)"));
  if (dg->domain == VPATCHDG_DOMAIN_BOX)
    PetscCall(VpCheckSameReals(comm, 9, grid, "the boxes and corners (-dm_vpatchdg_boxes, _lower, _upper)"));
  PetscCall(VpCheckSameReals(comm, n, dg->box_lower, "the lower corners of the boxes that DMVPatchDGSetBoxes() is given"));
  PetscCall(VpCheckSameReals(comm, n, dg->box_upper, "the upper corners of the boxes that DMVPatchDGSetBoxes() is given"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of a rank. PETSc's vectors leave their arithmetic to BLAS, which may count in int, and on GPUs to cuBLAS, which does */
static PetscErrorCode MostUnknowns(DM dm, double *most)
{
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(PetscStrInList(dm->vectype, "standard|seq|mpi", '|', &host));
  *most = host && sizeof(PetscBLASInt) > sizeof(int) ? (double)PETSC_MAX_INT : (double)INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckSize(DM dm, PetscInt nbox, PetscInt level)
{
  const double block = (double)PetscPowInt(((DM_VPatchDG *)dm->data)->degree + 1, (int)dm->dim);
  const double cells = nbox * PetscPowReal(2., (PetscReal)(dm->dim * level)), unknowns = cells * block;
  double       share, most;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCheck(unknowns <= (double)PETSC_MAX_INT, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_refine %" PetscInt_FMT " means %.0f cells and %.0f unknowns, more than the %" PetscInt_FMT
             " that PetscInt counts: take fewer, or a PETSc configured --with-64-bit-indices",
             level, cells, unknowns, PETSC_MAX_INT);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)dm), &size));
  PetscCall(MostUnknowns(dm, &most));
  share = ceil(cells / size) * block;
  PetscCheck(share <= most, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_refine %" PetscInt_FMT " means %.0f cells and %.0f unknowns, %.0f on a rank, where PETSc's vectors of type %s hold %.0f "
             "at most: BLAS counts them in 32 bits. Use more ranks, or take fewer",
             level, cells, unknowns, share, dm->vectype, most);
  PetscCall(DMVPatchDGCheckMemory(dm, nbox, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCreateDomain(DM dm, VpDomain *domain)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  MPI_Comm     comm = PetscObjectComm((PetscObject)dm);
  PetscBool    periodic[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  int          boundary[6];

  PetscFunctionBegin;
  switch (dg->domain) {
  case VPATCHDG_DOMAIN_BOX:
    PetscCall(MakeGrid(dm));
    break;
  case VPATCHDG_DOMAIN_LSHAPE:
  case VPATCHDG_DOMAIN_FICHERA:
    PetscCall(MakeReentrant(dm));
    break;
  case VPATCHDG_DOMAIN_BOXES:
    PetscCheck(dg->nbox, comm, PETSC_ERR_ARG_WRONGSTATE,
               "-dm_vpatchdg_domain boxes: the boxes are given by DMVPatchDGSetBoxes(); box, lshape and fichera need none");
  }
  for (int side = 0; side < 6; side++) boundary[side] = dg->boundary[side] == VPATCHDG_BOUNDARY_NEUMANN ? VP_NEUMANN : VP_DIRICHLET;
  for (PetscInt d = 0; d < dm->dim; d++) {
    const PetscBool lower = dg->boundary[2 * d] == VPATCHDG_BOUNDARY_PERIODIC ? PETSC_TRUE : PETSC_FALSE;
    const PetscBool upper = dg->boundary[2 * d + 1] == VPATCHDG_BOUNDARY_PERIODIC ? PETSC_TRUE : PETSC_FALSE;

    PetscCheck(lower == upper, comm, PETSC_ERR_ARG_INCOMP,
               "Only one side of direction %c is periodic: -dm_vpatchdg_boundary must name both", (char)('x' + d));
    PetscCheck(!lower || (dg->domain != VPATCHDG_DOMAIN_LSHAPE && dg->domain != VPATCHDG_DOMAIN_FICHERA), comm, PETSC_ERR_ARG_INCOMP,
               "-dm_vpatchdg_boundary periodic does not fit -dm_vpatchdg_domain %s: opposite sides differ", VPatchDGDomains[dg->domain]);
    periodic[d] = lower;
  }
  PetscCall(VpDomainCreate(comm, (int)dm->dim, (int32_t)dg->nbox, dg->box_lower, dg->box_upper, boundary, periodic, domain));
  PetscFunctionReturn(PETSC_SUCCESS);
}
