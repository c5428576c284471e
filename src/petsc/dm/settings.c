/* The settings of a DMVPATCHDG that are a number or a name, with their setters and getters. Those of the domain are in boxes.c. */
#include "internal.h"
#include <float.h>

static const VpSetting petsc_row[] = {
  [VP_DM_DIM] =
    VP_SETTING(INT, struct _p_DM, dim, 3, "-dm_vpatchdg_dim", "DMSetDimension", "dimension", "Dimension, 2 or 3", .least = 2, .most = 3),
  [VP_DM_REFINE] =
    VP_SETTING(INT, struct _p_DM, levelup, 0, "-dm_refine", "DMSetRefineLevel", "number of refinements", "How often every box is refined"),
};
const VpSettings DMVPatchDGPetscSettings = {DMVPATCHDG, PETSC_STATIC_ARRAY_LENGTH(petsc_row), petsc_row};

static const VpSetting row[VP_DM_SETTINGS] = {
  [VP_DM_DOMAIN] = VP_SETTING(ENUM, DM_VPatchDG, domain, VPATCHDG_DOMAIN_BOX, "-dm_vpatchdg_domain", "DMVPatchDGSetDomain", "domain",
                              "Domain: box, lshape, fichera, star, disc, cylinder, ball or shell; boxes and trees come from functions",
                              .names = VPatchDGDomains,
                              .refusal = "DMVPatchDGSetDomain(): domain %s does not exist, box, lshape, fichera, boxes, trees, star, disc, "
                                         "cylinder, ball and shell do"),
  [VP_DM_NBOX] = {.noun = "number of boxes that DMVPatchDGSetBoxes() is given",
                  .type = VP_SETTING_INT,
                  .offset = offsetof(DM_VPatchDG, nbox)},
  [VP_DM_DEGREE] =
    VP_SETTING(INT, DM_VPatchDG, degree, 3, "-dm_vpatchdg_degree", "DMVPatchDGSetDegree", "degree", "Degree of the polynomials, 1 to 8",
               .least = 1, .most = VP_MAX_DEGREE, .refusal = "-dm_vpatchdg_degree %s: degrees 1 to 8 exist"),
  [VP_DM_PENALTY] =
    VP_SETTING(REAL, DM_VPatchDG, penalty, 1, "-dm_vpatchdg_penalty", "DMVPatchDGSetPenalty", "penalty", "Factor of the interior penalty",
               .least = DBL_TRUE_MIN, .refusal = "-dm_vpatchdg_penalty %s: the factor of the interior penalty is positive"),
  [VP_DM_REACTION] =
    VP_SETTING(REAL, DM_VPatchDG, reaction, 0, "-dm_vpatchdg_reaction", "DMVPatchDGSetReaction", "reaction", "Adds this number times u",
               .refusal = "-dm_vpatchdg_reaction %s: the reaction coefficient is not negative"),
  [VP_DM_BASIS] = VP_SETTING(ENUM, DM_VPatchDG, basis, VPATCHDG_BASIS_AUTO, "-dm_vpatchdg_basis", "DMVPatchDGSetBasis", "basis",
                             "Basis of vectors: legendre, or gauss for coefficients at points", .names = VPatchDGBases),
  [VP_DM_QUADRATURE] =
    VP_SETTING(ENUM, DM_VPatchDG, quadrature, VPATCHDG_QUADRATURE_GAUSS, "-dm_vpatchdg_quadrature", "DMVPatchDGSetQuadrature", "quadrature",
               "Rule for masses: gauss, or lobatto as for spectral elements", .names = VPatchDGQuadratures),
  [VP_DM_CONTINUOUS] = VP_SETTING(BOOL, DM_VPatchDG, continuous, PETSC_FALSE, "-dm_vpatchdg_continuous", "DMVPatchDGSetContinuous",
                                  "continuity", "Functions are continuous, and vectors have their values at Gauss-Lobatto points"),
  [VP_DM_JUMP] = VP_SETTING(REAL, DM_VPatchDG, jump, 20, "-dm_vpatchdg_jump", NULL, "jump",
                            "Cells where a coefficient at points changes by this factor take its harmonic mean; 0: none do",
                            .refusal = "-dm_vpatchdg_jump %s: the factor is more than 1, or 0 for never"),
  [VP_DM_GEOMETRY] =
    VP_SETTING(ENUM, DM_VPatchDG, geometry, VP_DOUBLE, "-dm_vpatchdg_geometry_precision", NULL, "precision of the geometry",
               "Of maps and coefficients at points: double, or single, which is faster and has 7 digits", .names = VpGeometryPrecisions),
  [VP_DM_BACKEND] = VP_SETTING(ENUM, DM_VPatchDG, backend, VPATCHDG_BACKEND_AUTO, "-dm_vpatchdg_backend", "DMVPatchDGSetBackend", "backend",
                               "Where the work is done: auto follows -dm_vec_type", .names = VPatchDGBackends),
  [VP_DM_TRANSPORT] = VP_SETTING(ENUM, DM_VPatchDG, transport, VP_ASKED_AUTO, "-dm_vpatchdg_transport", NULL, "transport",
                                 "How ghosts travel between GPUs", .names = VpAskedTransports),
  [VP_DM_MAP_DEGREE] = VP_SETTING(INT, DM_VPatchDG, map_degree, 0, "-dm_vpatchdg_map_degree", "DMVPatchDGSetMapDegree", "degree of the map",
                                  "Degree of the map of cells, 1 to 8; 0: the degree of the functions", .least = 0, .most = VP_MAX_DEGREE,
                                  .refusal = "-dm_vpatchdg_map_degree %s: degrees 1 to 8 exist, and 0, that of the functions")};
const VpSettings DMVPatchDGSettings = {DMVPATCHDG, VP_DM_SETTINGS, row};

PetscErrorCode DMVPatchDGCheckChange(DM dm, PetscBool changes, const char what[])
{
  PetscFunctionBegin;
  PetscCheck(!changes || !DMVPatchDGData(dm)->mesh, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "The %s cannot change after DMSetUp(): set it before, or make another DM", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckDimension(DM dm)
{
  PetscFunctionBegin;
  PetscCheck(DMVPatchDGDim(dm) == 2 || DMVPatchDGDim(dm) == 3, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_dim %" PetscInt_FMT ": dimensions 2 and 3 exist", dm->dim);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGSet(DM dm, int setting, PetscReal value)
{
  const VpSetting *s = &row[setting];
  DM_VPatchDG     *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(VpSettingCheck(s, (PetscObject)dm, value));
  PetscCall(DMVPatchDGCheckChange(dm, VpSettingValue(s, dg) != value, s->noun));
  VpSettingStore(s, value, dg);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGGet(DM dm, int setting, void *value, const char caller[])
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(VpSettingGet(&row[setting], dg, value, caller));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetDegree - Sets the degree of the polynomials

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  degree - the degree, 1 to 8; 3 by default

   Level: beginner

.seealso: `DMVPATCHDG`, `DMVPatchDGGetDegree()`
@*/
PetscErrorCode DMVPatchDGSetDegree(DM dm, PetscInt degree)
{
  return DMVPatchDGSet(dm, VP_DM_DEGREE, degree);
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
  return DMVPatchDGGet(dm, VP_DM_DEGREE, degree, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetPenalty - Sets the factor s of the interior penalty

   Logically Collective

   Input Parameters:
+  dm      - the DM
-  penalty - s, positive; 1 by default. The penalty is s k(k+1)(1/h- + 1/h+) on interior faces and s 2k(k+1)/h on Dirichlet faces, where k
             is the degree and h is the width of a cell normal to the face

   Level: intermediate

   Notes:
   On mapped cells and with full matrices as coefficient, s is 1.25 times the number that is set here, at degree 1 1.5 times. There cells
   that need more get more: the penalty of a cell is at least 1.1 times the one that makes the operator positive definite, which is found
   for up to 125 functions per cell.

   `PCVPATCHDG` and `PCVPATCH` report an error if the operator is not positive definite on patches because s is too small. They also report
   an error if s k(k+1) is so large that rounding errors matter: more than 8e6 in single precision or 4e10 in double precision.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetPenalty()`
@*/
PetscErrorCode DMVPatchDGSetPenalty(DM dm, PetscReal penalty)
{
  return DMVPatchDGSet(dm, VP_DM_PENALTY, penalty);
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
  return DMVPatchDGGet(dm, VP_DM_PENALTY, penalty, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetReaction - Sets the reaction coefficient c of -div(a grad u) + c u

   Logically Collective

   Input Parameters:
+  dm       - the DM
-  reaction - c, not negative; 0 by default

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGGetReaction()`
@*/
PetscErrorCode DMVPatchDGSetReaction(DM dm, PetscReal reaction)
{
  return DMVPatchDGSet(dm, VP_DM_REACTION, reaction);
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
  return DMVPatchDGGet(dm, VP_DM_REACTION, reaction, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetBasis - Sets the basis in which vectors of the DM have their coefficients

   Logically Collective

   Input Parameters:
+  dm    - the DM, not set up
-  basis - `VPATCHDG_BASIS_LEGENDRE`, `VPATCHDG_BASIS_GAUSS`, or `VPATCHDG_BASIS_AUTO` (default): Gauss if a coefficient or a reaction is
           given as a function before `DMSetUp()`, otherwise Legendre

   Options Database Key:
.  -dm_vpatchdg_basis auto|legendre|gauss - the basis

   Level: intermediate

   Notes:
   Both bases are orthonormal in L2, so that norms and products of vectors are those of functions. A function of the Legendre basis is a
   product of polynomials of ascending degrees. Here the coefficient a is one number per cell, or dim numbers, and products with A are
   fastest.

   The Gauss basis has a function for every one of the (k+1)^dim Gauss points of a cell. The vector's number there is x_q = s_q u(x_q), with
   s_q = sqrt(w_q |cell|), where w_q is the point's weight on the unit cell. Here a and c may vary inside cells
   (`DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGSetCoefficientValues()`, `DMVPatchDGSetReactionFunction()`). On adaptive meshes it
   works on the host (-dm_vpatchdg_backend host).

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBasis()`, `DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGGetPointValues()`
@*/
PetscErrorCode DMVPatchDGSetBasis(DM dm, VPatchDGBasis basis)
{
  return DMVPatchDGSet(dm, VP_DM_BASIS, basis);
}

/*@
   DMVPatchDGGetBasis - Gets the basis in which vectors of the DM have their coefficients

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  basis - the basis; before `DMSetUp()` the one that was set

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBasis()`
@*/
PetscErrorCode DMVPatchDGGetBasis(DM dm, VPatchDGBasis *basis)
{
  return DMVPatchDGGet(dm, VP_DM_BASIS, basis, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetQuadrature - Sets the rule by which masses are found

   Logically Collective

   Input Parameters:
+  dm         - the DM, not set up
-  quadrature - `VPATCHDG_QUADRATURE_GAUSS` (default): masses are exact; `VPATCHDG_QUADRATURE_LOBATTO`: masses are those of the rule with
                degree + 1 Gauss-Lobatto points along each direction, as of spectral elements and, at degree 1, of finite differences

   Level: intermediate

   Notes:
   With the Gauss-Lobatto rule, the mass of the Legendre polynomial of the highest degree k is 2 + 1/k and not 1. Basis functions of this
   degree are then multiplied by (2 + 1/k)^(-1/2), so that the basis is orthonormal in the sense of the rule. The exact integrals of
   derivatives along a direction are multiplied by masses of the rule along the others.

   This is the DM for the preconditioner of a continuous operator with lumped masses (`PCVPatchDGSetElementRestriction()`), which takes two
   to three times as many iterations otherwise. At degree 1 the five-point and the seven-point stencil are such operators. Cells are boxes
   of one level, with one coefficient or a diagonal tensor each. Right-hand sides remain integrals by Gauss's rule, so that errors of the
   DM's own solutions are two to three times as large as with `VPATCHDG_QUADRATURE_GAUSS`.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetQuadrature()`, `PCVPatchDGSetElementRestriction()`
@*/
PetscErrorCode DMVPatchDGSetQuadrature(DM dm, VPatchDGQuadrature quadrature)
{
  return DMVPatchDGSet(dm, VP_DM_QUADRATURE, quadrature);
}

/*@
   DMVPatchDGGetQuadrature - Gets the rule by which masses are found

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  quadrature - as in `DMVPatchDGSetQuadrature()`

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetQuadrature()`
@*/
PetscErrorCode DMVPatchDGGetQuadrature(DM dm, VPatchDGQuadrature *quadrature)
{
  return DMVPatchDGGet(dm, VP_DM_QUADRATURE, quadrature, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGSetContinuous - Makes the functions of the DM continuous

   Logically Collective

   Input Parameters:
+  dm         - the DM, not set up
-  continuous - `PETSC_TRUE`: functions are continuous; `PETSC_FALSE` (default): they are polynomials on each cell alone

   Options Database Key:
.  -dm_vpatchdg_continuous - functions are continuous

   Level: intermediate

   Notes:
   A vector of the DM then has the values of the function at the nodes, which are the (k+1)^dim Gauss-Lobatto points of every cell, for
   degree 1 the vertices. Cells that meet at a node share it. A right-hand side has the integrals of f times the nodes' functions.
   `DMVPatchDGGetElementRestriction()` says which nodes a cell has.

   The operator is E^T A E, where E takes values at nodes to coefficients in cells, and A is the discontinuous operator. Its terms on
   sides between cells vanish, so it is that of continuous elements of degree k, with exact integrals or, with
   `VPATCHDG_QUADRATURE_LOBATTO`, those of the Gauss-Lobatto points. Dirichlet sides have nodes, too. Values there are weakly imposed, by
   the terms that A has on these sides. `PCVPATCHDG` preconditions this operator as `PCVPatchDGSetElementRestriction()` describes.

   All cells have one level, and are those of boxes, not of trees. `DMVPatchDGInterpolate()`, `DMVPatchDGSetPointValues()` and
   `DMVPatchDGTransfer()` take the mean of what cells have at a node.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetContinuous()`, `DMVPatchDGGetElementRestriction()`, `DMVPatchDGSetQuadrature()`
@*/
PetscErrorCode DMVPatchDGSetContinuous(DM dm, PetscBool continuous)
{
  return DMVPatchDGSet(dm, VP_DM_CONTINUOUS, continuous);
}

/*@
   DMVPatchDGGetContinuous - Gets whether the functions of the DM are continuous

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  continuous - as in `DMVPatchDGSetContinuous()`

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetContinuous()`
@*/
PetscErrorCode DMVPatchDGGetContinuous(DM dm, PetscBool *continuous)
{
  return DMVPatchDGGet(dm, VP_DM_CONTINUOUS, continuous, PETSC_FUNCTION_NAME);
}

/*@
   DMVPatchDGGetElementRestriction - Gets the entries that the nodes of cells have in vectors of a continuous DM

   Not Collective

   Input Parameter:
.  dm - the DM, set up, with `DMVPatchDGSetContinuous()`

   Output Parameters:
+  ncell - number of own cells, or `NULL`
-  node  - [ncell][(degree + 1)^dim] the global numbers of the entries, x fastest; the DM owns the array

   Level: intermediate

   Note:
   Cells are in the order of `DMVPatchDGGetCellBounds()`. Numbers do not depend on the number of ranks. This is the element restriction of
   libCEED and of MFEM.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetContinuous()`, `PCVPatchDGSetElementRestriction()`
@*/
PetscErrorCode DMVPatchDGGetElementRestriction(DM dm, PetscInt *ncell, const PetscInt *node[])
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGGetElementRestriction()"));
  PetscCheck(DMVPatchDGData(dm)->layout, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE,
             "DMVPatchDGGetElementRestriction(): vectors of this DM have coefficients of cells, not values at nodes: use "
             "-dm_vpatchdg_continuous (DMVPatchDGSetContinuous())");
  if (ncell) *ncell = DMVPatchDGData(dm)->mesh->nown;
  if (node) PetscCall(DMVPatchDGGetNumbers(dm, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetBackend - Sets where operators, preconditioners and transfers of the DM run

   Logically Collective

   Input Parameters:
+  dm      - the DM
-  backend - `VPATCHDG_BACKEND_AUTO` (on the GPU if the vectors are of type `VECCUDA`, otherwise on the host), `VPATCHDG_BACKEND_HOST`, or
             `VPATCHDG_BACKEND_CUDA`

   Level: intermediate

   Note:
   Vectors are copied at every use if they are not in the memory of the backend. With a PETSc without CUDA, the backend cuda always
   copies them.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetBackend()`, `DMSetVecType()`
@*/
PetscErrorCode DMVPatchDGSetBackend(DM dm, VPatchDGBackend backend)
{
  return DMVPatchDGSet(dm, VP_DM_BACKEND, backend);
}

/*@
   DMVPatchDGGetBackend - Gets where operators, preconditioners and transfers of the DM run

   Not Collective

   Input Parameter:
.  dm - the DM

   Output Parameter:
.  backend - the backend in use; before the first computation with the DM, the one that was set

   Level: intermediate

.seealso: `DMVPATCHDG`, `DMVPatchDGSetBackend()`
@*/
PetscErrorCode DMVPatchDGGetBackend(DM dm, VPatchDGBackend *backend)
{
  const VpBackend *in_use;
  PetscBool        found;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGet(dm, VP_DM_BACKEND, backend, PETSC_FUNCTION_NAME));
  in_use = DMVPatchDGData(dm)->in_use;
  if (in_use) PetscCall(PetscEnumFind(VPatchDGBackends, in_use->name, (PetscEnum *)backend, &found));
  PetscFunctionReturn(PETSC_SUCCESS);
}
