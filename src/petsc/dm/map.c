/* The map of cells as a setting: a function, one of the maps with a name, or nodes. */
#include "internal.h"

/* Replaces the map of a DM that is not set up. */
static PetscErrorCode StoreMap(DM dm, const VpMapSettings *map)
{
  DM_VPatchDG *dg = dm->data;

  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)map->nodes));
  PetscCall(VecDestroy(&dg->map.nodes));
  dg->map = *map;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGSetMap - Maps the cells to physical space, so that they may be curved

   Logically Collective

   Input Parameters:
+  dm  - the DM
.  map - a function of many points: x[n][dim] are points of the domain of boxes, normal is `NULL`, and value[n][dim] are the points in
         physical space; or `NULL` for cells that are boxes
-  ctx - context that is passed to map

   Options Database Keys:
+  -dm_vpatchdg_map name               - a map without code, of the unit square or the unit cube
-  -dm_vpatchdg_map_parameters a,b,... - its numbers

   Level: intermediate

   Notes:
   The boxes become the reference domain, where grids, refinement, conditions and periodic directions are given. All else is in physical
   space: the coefficient, the equation, points, data, gradients, integrals and files.

   `DMSetUp()` calls map on every rank, in several threads at the same time (`VPatchDGBatch`, host memory), at the Gauss-Lobatto points of
   every cell. In a cell the map is then the polynomial through these points, of the degree of `DMVPatchDGSetMapDegree()`. So map must be
   continuous, and smooth inside of boxes.

   Around a periodic direction the cells at both ends are neighbours, wherever the map puts them: at the same place, as in a closed ring, or
   moved by a constant, or turned, as in a sector of a ring that repeats itself. Distances along both sides must agree, so that what leaves
   a piece of one side enters an equal piece of the other one. Derivatives across the sides may differ. A map that stretches one side
   against the other is an error.

   The determinant of the derivative of the map must have the same sign at all quadrature points. It may be negative. Otherwise `DMSetUp()`
   returns an error with a cell and a point.

   `DMRefine()`, `DMCoarsen()`, `DMVPatchDGRefineCells()` and `DMClone()` keep the map, and call it again for the points of the new mesh.
   Where cells of an adaptive mesh have other sizes than their neighbours, the nodes of the finer ones are moved to the polynomial of the
   coarser one, so that cells meet.

   The option names one of these maps. For domains other than the unit square or cube there is -dm_vpatchdg_upper, for instance
.vb
   shear angle                 (x + y cos(angle), y sin(angle)), an angle in degrees
   sine a                      a sin(2 pi x) sin(2 pi y) is added to every coordinate, in 3D times sin(2 pi z)
   annulus inner,outer,angle   a ring in polar coordinates: the radius grows with x, the angle with y, up to angle degrees
   kershaw eps                 layers of x between which y is squeezed by eps to either side, a hard test
   torus angle                 a tube of radii 1/2 to 1, bent to a ring of radius 2, of angle degrees (90)
   bump walls                  a channel 4 x 1 over a smooth bump, with cells that are thin at one wall or at two (2)
.ve

.seealso: `DMVPATCHDG`, `DMVPatchDGSetMapDegree()`, `DMVPatchDGSetMapCoordinates()`, `VPatchDGBatch`
@*/
PetscErrorCode DMVPatchDGSetMap(DM dm, VPatchDGBatch map, void *ctx)
{
  const VpMapSettings new = {.by = map ? VP_MAP_FUNCTION : VP_MAP_NONE, .function = map, .ctx = map ? ctx : NULL};
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCheck(!dg->corner, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGSetMap() maps boxes. Trees have nodes (DMVPatchDGSetTrees()), and cells may have them "
             "(DMVPatchDGSetMapCoordinates())");
  PetscCall(
    DMVPatchDGCheckChange(dm, (PetscBool)(new.by != dg->map.by || new.function != dg->map.function || new.ctx != dg->map.ctx), "map"));
  PetscCall(StoreMap(dm, &new));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetMapCoordinates - Maps the cells to physical space by the coordinates of the nodes of their maps

   Logically Collective

   Input Parameters:
+  dm    - the DM, not set up
-  nodes - [cells of all ranks][(p+1)^dim][dim] the nodes of every cell, x fastest, where p is the degree of the map
           (`DMVPatchDGSetMapDegree()`); or `NULL` for cells that are boxes

   Level: intermediate

   Notes:
   The nodes of a cell are the images of its Gauss-Lobatto points. Cells are in the order of the DM's vectors, whatever the number of ranks:
   `DMVPatchDGGetMapCoordinates()` of a DM with the same boxes and refinement, with or without a map, gives a vector whose numbers a program
   may change. Ranks may have any parts of the vector. Cells have to meet: both cells of a face need the same nodes there, except around
   periodic directions.

   The vector is kept, and read by `DMSetUp()`. On meshes that `DMRefine()`, `DMCoarsen()` and `DMVPatchDGRefineCells()` make, nodes are
   points of the polynomials of the mesh before.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetMapCoordinates()`, `DMVPatchDGSetMap()`, `DMVPatchDGSetMapDegree()`
@*/
PetscErrorCode DMVPatchDGSetMapCoordinates(DM dm, Vec nodes)
{
  const VpMapSettings new = {.by = nodes ? VP_MAP_NODES : VP_MAP_NONE, .nodes = nodes};
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  if (nodes) VpAssertObject(nodes, VEC_CLASSID, 2);
  PetscCall(DMVPatchDGCheckChange(dm, PETSC_TRUE, "map"));
  PetscCheck(nodes || !dg->corner, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "DMVPatchDGSetMapCoordinates(): the cells of trees need a map");
  if (dg->corner) dg->domain = VPATCHDG_DOMAIN_TREES; /* no longer the one with a name */
  PetscCall(StoreMap(dm, &new));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetMapLattice(DM dm, const PetscInt lattice[3], int order, PetscInt n, const PetscInt place[],
                                       const PetscReal node[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  const PetscInt each = VpMapNodes((int)dm->dim, order) * dm->dim;
  const double   all = (double)lattice[0] * (double)lattice[1] * (double)lattice[2] * (double)each;
  VpMapSettings new = {.by = VP_MAP_LATTICE, .lattice = {lattice[0], lattice[1], lattice[2]}, .order = order};

  PetscFunctionBegin;
  PetscCheck(all <= (double)PETSC_MAX_INT, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "The maps of the mesh's cells have %g coordinates, more than PetscInt counts (--with-64-bit-indices)", all);
  PetscCall(VpVecCreate(comm, VECSTANDARD, each, PETSC_DECIDE, (PetscInt)all, &new.nodes));
  PetscCall(VecSetValuesBlocked(new.nodes, n, place, node, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(new.nodes));
  PetscCall(VecAssemblyEnd(new.nodes));
  PetscCall(StoreMap(dm, &new));
  PetscCall(VecDestroy(&new.nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGGetMapCoordinates - Gets the coordinates of the nodes of the maps of cells

   Collective

   Input Parameter:
.  dm - the DM, set up

   Output Parameter:
.  nodes - [cells][(p+1)^dim][dim] the nodes of every cell in physical space, x fastest, where p is the degree of the map
           (`DMVPatchDGSetMapDegree()`); a vector of block size dim, which the caller destroys

   Level: intermediate

   Note:
   Cells that are boxes have nodes, too: those of the map that does not change anything.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetMapCoordinates()`, `DMVPatchDGSetMap()`, `DMVPatchDGGetPoints()`
@*/
PetscErrorCode DMVPatchDGGetMapCoordinates(DM dm, Vec *nodes)
{
  double     x[VP_MAX_N];
  PetscReal *to;
  VpMesh     mesh;
  int        degree, each, n[3];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetMapCoordinates()"));
  VpAssertPointer(nodes, 2);
  mesh = DMVPatchDGData(dm)->mesh;
  degree = (int)DMVPatchDGNodeDegree(dm);
  each = VpMapNodes(mesh->dim, degree) * mesh->dim;
  for (int d = 0; d < 3; d++) n[d] = d < mesh->dim ? degree + 1 : 1;
  VpGaussLobatto(degree, x);
  PetscCall(VpVecCreate(PetscObjectComm((PetscObject)dm), VECSTANDARD, mesh->dim, (PetscInt)mesh->nown * each, PETSC_DETERMINE, nodes));
  PetscCall(VecGetArrayWrite(*nodes, &to));
  for (int32_t c = 0; c < mesh->nown; c++)
    VpGeometryEvaluate(mesh->geometry, c, n, (const double *const[]){x, x, x}, to + (size_t)c * (size_t)each, NULL);
  PetscCall(VecRestoreArrayWrite(*nodes, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetMapDegree - Sets the degree of the polynomials that map cells to physical space

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  degree - the degree, 1 to 8; 0 (the default): the degree of the functions

   Level: intermediate

   Notes:
   The coordinates that `DMConvert()` and `DMVPatchDGSetTrees()` give are polynomials on every cell. If their degree is lower, the map has
   their degree: with a higher one it would be the same map, with more nodes.

   Curved boundaries need the degree of the functions for errors of full order: with degree 1 they are of second order. Where only inner
   cells are curved, degree 1 is as good or better.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetMap()`, `DMVPatchDGGetMapDegree()`
@*/
PetscErrorCode DMVPatchDGSetMapDegree(DM dm, PetscInt degree)
{
  return DMVPatchDGSet(dm, VP_DM_MAP_DEGREE, degree);
}

/*@
   DMVPatchDGGetMapDegree - Gets the degree of the polynomials that map cells to physical space

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  degree - the degree that was set; 0: the degree of the functions

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetMapDegree()`, `DMVPatchDGSetMap()`
@*/
PetscErrorCode DMVPatchDGGetMapDegree(DM dm, PetscInt *degree)
{
  return DMVPatchDGGet(dm, VP_DM_MAP_DEGREE, degree, PETSC_FUNCTION_NAME);
}

/* *kind: the map with this name, NULL for none. names: all names, for messages */
static PetscErrorCode FindKind(DM dm, const char name[], const VpMapKind **kind)
{
  char      names[128] = "none";
  PetscBool same;

  PetscFunctionBegin;
  *kind = NULL;
  PetscCall(PetscStrcmp(name, "none", &same));
  for (const VpMapKind *k = VpMapKinds; k->name && !same; k++) {
    if (k->trees) continue; /* a domain */
    PetscCall(PetscStrlcat(names, ", ", sizeof(names)));
    PetscCall(PetscStrlcat(names, k->name, sizeof(names)));
    PetscCall(PetscStrcmp(name, k->name, &same));
    if (same) *kind = k;
  }
  PetscCheck(same, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "-dm_vpatchdg_map %s: %s exist", name, names);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool AreAllowed(const VpMapKind *kind, const PetscReal number[])
{
  PetscBool all = (PetscBool)(!kind->rises || number[1] > number[0]);

  for (int i = 0; i < kind->numbers; i++) {
    const double x = number[i], *range = kind->range[i];

    all = (PetscBool)(all && (kind->whole[i] ? x >= range[0] && x <= range[1] && x == floor(x) : x > range[0] && x < range[1]));
  }
  return all;
}

/* Ensures: an error unless the n numbers are allowed. */
static PetscErrorCode CheckNumbers(DM dm, const VpMapKind *kind, PetscInt n, const PetscReal number[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  const char    *what = kind->trees ? "domain" : "map";

  PetscFunctionBegin;
  PetscCheck(!kind->dim || kind->dim == DMVPatchDGDim(dm), comm, PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_%s %s is a %s in dimension %d, not %" PetscInt_FMT " (-dm_vpatchdg_dim)", what, kind->name, what, kind->dim,
             DMVPatchDGDim(dm));
  PetscCheck(n <= kind->numbers && n >= (kind->preset[0] > 0 ? 0 : kind->numbers), comm, PETSC_ERR_ARG_SIZ,
             "-dm_vpatchdg_%s %s needs %d number%s (-dm_vpatchdg_%s_parameters a,b,...), %s; there are %" PetscInt_FMT, what, kind->name,
             kind->numbers, kind->numbers == 1 ? "" : "s", what, kind->words, n);
  PetscCheck(AreAllowed(kind, number), comm, PETSC_ERR_ARG_OUTOFRANGE, "-dm_vpatchdg_%s_parameters %g%s: for %s it is %s", what,
             (double)number[0], kind->numbers > 1 ? ",..." : "", kind->name, kind->words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetMapKind(DM dm, const char name[], PetscInt n, const PetscReal number[])
{
  const VpMapKind *kind;

  PetscFunctionBegin;
  PetscCall(FindKind(dm, name, &kind));
  PetscCheck(kind || !n, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_map_parameters are the numbers of a map: -dm_vpatchdg_map must name one");
  PetscCall(DMVPatchDGSetMapOf(dm, kind, n, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSetMapOf(DM dm, const VpMapKind *kind, PetscInt n, const PetscReal number[])
{
  DM_VPatchDG  *dg = dm->data;
  VpMapSettings map = {.by = kind ? VP_MAP_NAMED : VP_MAP_NONE, .kind = kind};
  PetscBool     same;

  PetscFunctionBegin;
  if (kind) {
    for (PetscInt i = 0; i < kind->numbers; i++) map.number[i] = i < n ? number[i] : kind->preset[i];
    PetscCall(CheckNumbers(dm, kind, n, map.number));
  }
  PetscCall(PetscMemcmp(map.number, dg->map.number, sizeof(map.number), &same));
  PetscCall(DMVPatchDGCheckChange(dm, (PetscBool)(!same || map.by != dg->map.by || map.kind != dg->map.kind), "map"));
  PetscCall(StoreMap(dm, &map));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGMapOptions(DM dm, VpOptionItems PetscOptionsObject)
{
  const VpMapKind *kind = DMVPatchDGData(dm)->map.kind;
  PetscReal        number[8] = {0};
  PetscInt         n = PETSC_STATIC_ARRAY_LENGTH(number);
  char             name[64];
  PetscBool        named, numbers;

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, kind && !kind->trees ? kind->name : "none", sizeof(name)));
  PetscCall(PetscOptionsString("-dm_vpatchdg_map", "Map of the unit square or cube: none, shear, sine, annulus, kershaw, torus or bump",
                               "DMVPatchDGSetMap", name, name, sizeof(name), &named));
  PetscCall(PetscOptionsRealArray("-dm_vpatchdg_map_parameters", "Numbers of that map", "DMVPatchDGSetMap", number, &n, &numbers));
  if (!named && !numbers) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!DMVPatchDGData(dm)->corner, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_map maps boxes: the trees of -dm_vpatchdg_domain %s have maps", VPatchDGDomains[DMVPatchDGData(dm)->domain]);
  PetscCall(DMVPatchDGSetMapKind(dm, name, numbers ? n : 0, number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckMapAgrees(DM dm)
{
  const VpMapSettings *map = &DMVPatchDGData(dm)->map;
  PetscReal            number[2 + VP_MAP_NUMBERS] = {(PetscReal)map->by, (PetscReal)(map->kind ? map->kind - VpMapKinds : 0)};

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(number + 2, map->number, VP_MAP_NUMBERS));
  PetscCall(VpCheckSameReals(PetscObjectComm((PetscObject)dm), 2 + VP_MAP_NUMBERS, number,
                             "the map (-dm_vpatchdg_map, _map_parameters, DMVPatchDGSetMap())"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
