/* Domains of trees that meet in any way, as a setting: by arrays, or by the name of a domain. */
#include "internal.h"

#define SAME_POINT 1e-9 /* distance of corners of trees that are one vertex, in domains with a name */

PetscErrorCode DMVPatchDGStoreTrees(DM dm, PetscInt nvertex, PetscInt ntree, const PetscInt corner[])
{
  DM_VPatchDG   *dg = dm->data;
  const PetscInt n = ntree << dm->dim;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGStoreBoxes(dm, ntree, NULL, NULL));
  for (PetscInt i = 0; i < ntree * dm->dim; i++) {
    dg->box_lower[i] = i % dm->dim ? 0 : 2 * (PetscReal)(i / dm->dim);
    dg->box_upper[i] = dg->box_lower[i] + 1;
  }
  PetscCall(PetscFree(dg->corner));
  PetscCall(PetscMalloc1(n, &dg->corner));
  for (PetscInt i = 0; i < n; i++) dg->corner[i] = corner[i] >= 0 && corner[i] < nvertex ? (int32_t)corner[i] : -1;
  dg->nvertex = (int32_t)nvertex;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the map the nodes of trees, which are the same on all ranks: each gives its own. */
static PetscErrorCode SetNodes(DM dm, PetscInt ntree, int degree, const PetscReal node[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscInt       n = PETSC_DECIDE, end, *tree;

  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(comm, &n, &ntree));
  PetscCallMPI(MPI_Scan(&n, &end, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(PetscMalloc1(n, &tree));
  for (PetscInt i = 0; i < n; i++) tree[i] = end - n + i;
  node += (size_t)(end - n) * (size_t)(VpMapNodes((int)dm->dim, degree) * dm->dim);
  PetscCall(DMVPatchDGSetMapLattice(dm, (PetscInt[]){ntree, 1, 1}, degree, n, tree, node));
  PetscCall(PetscFree(tree));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetTrees - Makes the domain a mesh of quadrilaterals or hexahedra that meet in any way

   Logically Collective

   Input Parameters:
+  dm      - the DM, whose dimension is set
.  nvertex - number of vertices
.  x       - [nvertex][dim] the vertices; or `NULL` if there are nodes
.  ntree   - number of trees, as the cells of this mesh are called
.  corner  - [ntree][2^dim] the numbers of the vertices of every tree, x fastest
.  degree  - the degree of the trees' maps, 1 to 8; not used without nodes
-  node    - [ntree][(degree+1)^dim][dim] the nodes of every tree, x fastest; or `NULL`: trees are multilinear

   Level: intermediate

   Notes:
   All ranks must give the same numbers. The arrays are copied. Ranks get trees with consecutive numbers, so that trees that touch should
   have near numbers. `DMConvert()` gives them these.

   Every tree is refined -dm_refine times, which makes 2^dim cells of each cell. The nodes of a tree are the images of its Gauss-Lobatto
   points. Cells take their map from them, of the degree of `DMVPatchDGSetMapDegree()`.

   Trees with the same vertices on a side meet there, however their directions are turned against one another. Trees may be left-handed.
   The function returns an error, or `DMSetUp()` does so, for a tree that has a vertex twice, a face of three trees, trees that share two
   faces, trees that do not hang together, and trees whose nodes differ on their face.

   Tree b is the unit box with the lower corner (2 b, 0, 0) on the reference domain, where a `VPatchDGBoundaryFunction` finds its sides. The
   conditions of `DMVPatchDGSetBoundary()` are those of trees' sides by their own directions. `DMVPatchDGSetDomain()` makes some domains of
   trees without code.

   `PCVPATCHDG` takes trees, refined or not, on the host and on GPUs. Some cells of trees can be refined
   (`DMVPatchDGRefineCells()`), if in 3D all trees have the same hand, but `PCVPATCHDG` does not take these meshes.
   -dm_mat_type aij assembles the matrix, for instance for -pc_type gamg or hypre.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetDomain()`, `DMVPatchDGSetBoxes()`, `DMVPatchDGSetMapCoordinates()`
@*/
PetscErrorCode DMVPatchDGSetTrees(DM dm, PetscInt nvertex, const PetscReal x[], PetscInt ntree, const PetscInt corner[], PetscInt degree,
                                  const PetscReal node[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  DM_VPatchDG   *dg;
  PetscReal     *linear;
  PetscErrorCode error;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscValidLogicalCollectiveInt(dm, ntree, 4);
  PetscCall(DMVPatchDGCheckBoxes(dm, ntree, "list of trees"));
  VpAssertPointer(corner, 5);
  if (!node) VpAssertPointer(x, 3);
  PetscCheck(nvertex > 0 && nvertex <= VP_MAX_BOXES, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetTrees(): %" PetscInt_FMT " vertices, there are 1 to %d", nvertex, VP_MAX_BOXES);
  PetscCheck(!node || (degree >= 1 && degree <= VP_MAX_DEGREE), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "DMVPatchDGSetTrees(): degree %" PetscInt_FMT " of the maps, there are 1 to %d", degree, VP_MAX_DEGREE);
  for (PetscInt i = 0; i < ntree << dm->dim; i++)
    PetscCheck(corner[i] >= 0 && corner[i] < nvertex, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "DMVPatchDGSetTrees(): tree %" PetscInt_FMT " has vertex %" PetscInt_FMT ", and there are the vertices 0 to %" PetscInt_FMT,
               i >> dm->dim, corner[i], nvertex - 1);
  PetscCall(DMVPatchDGStoreTrees(dm, nvertex, ntree, corner));
  dg->domain = VPATCHDG_DOMAIN_TREES;
  if (node) {
    PetscCall(SetNodes(dm, ntree, (int)degree, node));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1((ntree << dm->dim) * dm->dim, &linear));
  for (PetscInt i = 0; i < (ntree << dm->dim) * dm->dim; i++) linear[i] = x[corner[i / dm->dim] * dm->dim + i % dm->dim];
  error = SetNodes(dm, ntree, 1, linear);
  PetscCall(PetscFree(linear));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* corner [ntree][2^dim] = numbers of the vertices, which are where the map takes corners */
static PetscErrorCode NumberVertices(int dim, const VpMapKind *kind, const double number[], PetscInt ntree, PetscInt corner[], PetscInt *n)
{
  double *found;

  PetscFunctionBegin;
  *n = 0;
  PetscCall(PetscMalloc1(3 * (ntree << dim), &found));
  for (PetscInt i = 0; i < ntree << dim; i++) {
    const double x[3] = {(double)(2 * (i >> dim) + (i & 1)), (double)(i >> 1 & 1), dim == 3 ? (double)(i >> 2 & 1) : 0};
    double      *X = found + 3 * *n;
    PetscInt     v = 0;

    X[2] = 0;
    VpFormulaPoint(kind->formula, dim, number, x, X);
    while (v < *n && fabs(found[3 * v] - X[0]) + fabs(found[3 * v + 1] - X[1]) + fabs(found[3 * v + 2] - X[2]) > SAME_POINT) v++;
    corner[i] = v;
    *n += v == *n;
  }
  PetscCall(PetscFree(found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the map of a domain with a name, or NULL */
static const VpMapKind *KindOf(VPatchDGDomain domain)
{
  const VpMapKind *kind = VpMapKinds;

  while (kind->name && (!kind->trees || strcmp(kind->name, VPatchDGDomains[domain]))) kind++;
  return kind->name ? kind : NULL;
}

PetscInt VpDomainDimension(VPatchDGDomain domain)
{
  const VpMapKind *kind = KindOf(domain);

  if (kind) return kind->dim;
  return domain == VPATCHDG_DOMAIN_LSHAPE ? 2 : domain == VPATCHDG_DOMAIN_FICHERA ? 3 : 0;
}

PetscErrorCode DMVPatchDGSetTreeNumbers(DM dm, PetscInt n, const PetscReal number[])
{
  DM_VPatchDG     *dg = dm->data;
  const VpMapKind *kind = KindOf(dg->domain);
  PetscInt        *corner, ntree, nvertex;

  PetscFunctionBegin;
  PetscCheck(kind || !n, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_domain_parameters are the numbers of -dm_vpatchdg_domain star, disc, cylinder, ball or shell, this is %s",
             VPatchDGDomains[dg->domain]);
  if (!kind) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGSetMapOf(dm, kind, n, number));
  ntree = kind->trees;
  for (int i = 0; i < kind->numbers; i++) ntree *= kind->whole[i] ? (PetscInt)dg->map.number[i] : 1;
  PetscCall(PetscMalloc1(ntree << dm->dim, &corner));
  PetscCall(NumberVertices((int)dm->dim, kind, dg->map.number, ntree, corner, &nvertex));
  PetscCall(DMVPatchDGStoreTrees(dm, nvertex, ntree, corner));
  PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckSameTrees(DM dm)
{
  const DM_VPatchDG *dg = dm->data;
  const PetscInt     n = dg->corner ? dg->nbox << dm->dim : 0;
  PetscReal         *number;
  PetscErrorCode     error;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n + 1, &number));
  for (PetscInt i = 0; i < n; i++) number[i] = dg->corner[i];
  number[n] = dg->nvertex;
  error = VpCheckSameReals(PetscObjectComm((PetscObject)dm), n + 1, number, "the corners of trees that DMVPatchDGSetTrees() is given");
  PetscCall(PetscFree(number));
  PetscCall(error);
  PetscFunctionReturn(PETSC_SUCCESS);
}
