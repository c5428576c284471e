/* Coefficients that vary inside cells: functions of points, and values there. */
#include "internal.h"
#include "../mat/mat.h"

PetscErrorCode DMVPatchDGChooseBasis(DM dm)
{
  DM_VPatchDG     *dg = dm->data;
  const MPI_Comm   comm = PetscObjectComm((PetscObject)dm);
  const VpBackend *backend;

  PetscFunctionBegin;
  if (dg->basis == VPATCHDG_BASIS_AUTO) {
    const PetscBool points =
      (PetscBool)(VpPointFunctionExists(&dg->coefficient_at) || VpPointFunctionExists(&dg->reaction_at) || dg->mesh->geometry->map);

    dg->basis = points ? VPATCHDG_BASIS_GAUSS : VPATCHDG_BASIS_LEGENDRE;
  }
  PetscCheck(dg->basis == VPATCHDG_BASIS_GAUSS || !dg->mesh->geometry->map, comm, PETSC_ERR_ARG_INCOMP,
             "-dm_vpatchdg_basis legendre has no mapped cells: use -dm_vpatchdg_basis gauss");
  if (dg->quadrature == VPATCHDG_QUADRATURE_LOBATTO) PetscCall(VpCheckNotAdaptive(dg->mesh, "-dm_vpatchdg_quadrature lobatto"));
  if (dg->basis == VPATCHDG_BASIS_LEGENDRE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(dg->quadrature == VPATCHDG_QUADRATURE_GAUSS, comm, PETSC_ERR_SUP,
             "-dm_vpatchdg_quadrature lobatto is for boxes with one coefficient, or a diagonal tensor, per cell: maps and coefficients as "
             "functions of points, with the Gauss basis, have -dm_vpatchdg_quadrature gauss");
  PetscCall(DMVPatchDGFindBackend(dm, &backend));
  PetscCall(VpCheckMetricBackend(dg->mesh, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error unless a coefficient may have this number of components. */
static PetscErrorCode CheckComponents(DM dm, PetscInt components, const char caller[])
{
  const PetscInt dim = DMVPatchDGDim(dm);

  PetscFunctionBegin;
  PetscCheck(components == 1 || components == dim || components == dim * (dim + 1) / 2, PetscObjectComm((PetscObject)dm),
             PETSC_ERR_ARG_OUTOFRANGE,
             "%s: %" PetscInt_FMT " components; in dimension %" PetscInt_FMT " a coefficient has 1, a diagonal matrix %" PetscInt_FMT
             " and a symmetric matrix %" PetscInt_FMT,
             caller, components, dim, dim, dim * (dim + 1) / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes a new function, after which the operator of a DM that is set up changes. */
static PetscErrorCode SetFunction(DM dm, VpPointFunction *f, const VpPointFunction *given, PetscMemType where, const char caller[])
{
  DM_VPatchDG   *dg = dm->data;
  const MPI_Comm comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCheck(PetscMemTypeHost(where) || PetscMemTypeCUDA(where), comm, PETSC_ERR_SUP,
             "%s: functions of points read and write PETSC_MEMTYPE_HOST or PETSC_MEMTYPE_CUDA", caller);
  PetscCheck(
    !dg->mesh || dg->basis == VPATCHDG_BASIS_GAUSS || !given->batch, comm, PETSC_ERR_ARG_WRONGSTATE,
    "%s: the vectors of this DM are in the Legendre basis, where a coefficient is constant in each cell. Call %s before DMSetUp(), or "
    "use -dm_vpatchdg_basis gauss",
    caller, caller);
  PetscCall(VpPointFunctionReplace(f, given));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the operator again, on dm and on the coarser DMs that PCMG, for instance, made from it. keep: the numbers of cells stay, where they
   are the coefficient; else it is 1 where there is no function */
static PetscErrorCode RenewOperators(DM dm, PetscBool keep)
{
  const DM_VPatchDG *dg = dm->data;
  const VpProblem   *given = dg->mesh ? &dg->op->given : NULL;
  DM                 coarse;
  VpPointFunction    a;

  PetscFunctionBegin;
  if (!given) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGSetOperator(dm, keep ? given->tensor : 0, (VpApart){0}, keep ? given->coefficient : NULL));
  PetscCall(DMVPatchDGUpdateMatrices(dm));
  PetscCall(DMGetCoarseDM(dm, &coarse));
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGCheck(coarse, "DMVPatchDGSetCoefficientFunction()"));
  for (int i = 0; i < 2; i++) {
    DM_VPatchDG *to = coarse->data;

    PetscCall(VpPointFunctionMove(i ? &dg->reaction_at : &dg->coefficient_at, (int)dg->degree + 1, dg->mesh, to->mesh, &a));
    PetscCall(VpPointFunctionReplace(i ? &to->reaction_at : &to->coefficient_at, &a));
    PetscCall(VecDestroy(&a.values));
  }
  PetscCall(RenewOperators(coarse, keep));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGSetCoefficientFunction - Sets the coefficient a of -div(a grad u) as a function of points

   Logically Collective

   Input Parameters:
+  dm         - the DM
.  components - 1 for a number; dim for a diagonal matrix a_x, a_y, a_z; dim (dim+1)/2 for a symmetric matrix, in 2D a_xx, a_xy, a_yy, in
                3D a_xx, a_xy, a_xz, a_yy, a_yz, a_zz
.  a          - the function, with value[n][components]; `NULL`: the coefficient is 1
.  where      - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points and of the values
-  ctx        - context that is passed to the function

   Level: intermediate

   Notes:
   The operator integrates a with k+1 Gauss points in each direction, so a smooth coefficient keeps the order k+1 of the L2 error, where one
   number per cell (`DMVPatchDGSetCoefficient()`) reduces it to 2. The coefficient may jump on faces of cells: points of a face are
   evaluated from inside each of both cells. Where a jumps inside cells, one number per cell is better.

   Call this function before `DMSetUp()`, or use the Gauss basis (`DMVPatchDGSetBasis()`). The function is called at once if the DM is set
   up, else by `DMSetUp()`, and again for each DM that `DMRefine()`, `DMCoarsen()`, `DMVPatchDGRefineCells()` or `DMClone()` makes. ctx must
   live as long as these. A later call replaces the coefficient, as `DMVPatchDGSetCoefficient()` does.

   `PCVPATCHDG` works with the means over cells. It takes 4 to 10 iterations where a varies little inside cells, and about 25 where a
   changes by a factor of 10 in a cell. Use `KSPFCG` or `KSPFGMRES`.

   The source of the method is Arnold, Brezzi, Cockburn and Marini, SIAM J. Numer. Anal. 39 (2002), with the weights of Ern, Stephansen and
   Zunino, IMA J. Numer. Anal. 29 (2009), on faces where a jumps.

   Errors are: a value that is not finite, a number that is not positive, a matrix that is not positive definite.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGSetReactionFunction()`, `DMVPatchDGSetBasis()`, `VPatchDGBatch`
@*/
PetscErrorCode DMVPatchDGSetCoefficientFunction(DM dm, PetscInt components, VPatchDGBatch a, PetscMemType where, void *ctx)
{
  static const char caller[] = "DMVPatchDGSetCoefficientFunction()";
  DM_VPatchDG      *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(CheckComponents(dm, components, caller));
  PetscCall(
    SetFunction(dm, &dg->coefficient_at, &(VpPointFunction){a, ctx, components, NULL, (PetscBool)!PetscMemTypeHost(where)}, where, caller));
  PetscCall(RenewOperators(dm, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks unless `values` are those of a coefficient, or of a reaction, at the points of the DM's cells. */
static PetscErrorCode CheckValues(DM dm, PetscBool reaction, PetscInt components, Vec values, const char caller[])
{
  const DM_VPatchDG *dg = dm->data;
  const PetscInt     each = DMVPatchDGCellSize(dm) * components;
  const PetscReal   *a;
  PetscInt           n;
  int64_t            bad = PETSC_MAX_INT;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VpCheckEverywhere(dg->mesh->comm, (PetscBool)(n == dg->mesh->nown * each),
                              "Values of a coefficient or a reaction: each rank needs `components` numbers for every point of its cells, "
                              "in the order of DMVPatchDGGetPoints()"));
  PetscCall(VecGetArrayRead(values, &a));
  for (PetscInt i = n / components - 1; i >= 0; i--) {
    if (reaction && a[i] == 0) continue;
    if (!VpKIsDefinite(dg->mesh->dim, (int)components, a + i * components)) bad = dg->mesh->first + i / DMVPatchDGCellSize(dm);
  }
  PetscCall(VecRestoreArrayRead(values, &a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT64_T, MPI_MIN, dg->mesh->comm));
  PetscCheck(bad == PETSC_MAX_INT, dg->mesh->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%s: the values must be finite and %s, at every point: cell %" PetscInt64_FMT " has a point where they are not", caller,
             reaction ? "not negative" : "positive, as matrices positive definite", (PetscInt64)bad);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes a copy of the values for the coefficient or the reaction f. */
static PetscErrorCode SetValues(DM dm, VpPointFunction *f, PetscInt components, Vec values, const char caller[])
{
  const DM_VPatchDG *dg = dm->data;
  const PetscBool    reaction = (PetscBool)(f == &dg->reaction_at);
  VpPointFunction    given = {.components = components};
  PetscReal         *to;
  const PetscReal   *from;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCheck(
    dg->basis == VPATCHDG_BASIS_GAUSS, dg->mesh->comm, PETSC_ERR_ARG_WRONGSTATE,
    "%s: the vectors of this DM are in the Legendre basis, where a coefficient is constant in each cell. Use -dm_vpatchdg_basis gauss",
    caller);
  PetscCall(CheckComponents(dm, components, caller));
  PetscCall(CheckValues(dm, reaction, components, values, caller));
  PetscCall(VecGetLocalSize(values, &n));
  PetscCall(VecCreateMPI(dg->mesh->comm, n, PETSC_DETERMINE, &given.values));
  PetscCall(VecGetArrayRead(values, &from));
  PetscCall(VecGetArrayWrite(given.values, &to));
  PetscCall(PetscArraycpy(to, from, n));
  PetscCall(VecRestoreArrayWrite(given.values, &to));
  PetscCall(VecRestoreArrayRead(values, &from));
  PetscCall(VpPointFunctionReplace(f, &given));
  PetscCall(VecDestroy(&given.values));
  PetscCall(RenewOperators(dm, reaction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetCoefficientValues - Sets the coefficient a of -div(a grad u) by its values at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm         - the DM, set up, in the Gauss basis (`DMVPatchDGSetBasis()`, or a map)
.  components - numbers per point, as in `DMVPatchDGSetCoefficientFunction()`: 1, dim, or dim (dim+1)/2
-  values     - [points][components] the values, in the order and layout of `DMVPatchDGGetPoints()`; with one component, the vectors of
                `DMVPatchDGGetPointValues()` have this layout

   Level: intermediate

   Notes:
   The values are copied. A later call, `DMVPatchDGSetCoefficientFunction()` and `DMVPatchDGSetCoefficient()` replace them. Use this
   function where a follows from data or from another solution, and call it again when these change.

   In a cell a is the polynomial through the values, which says what a is on the cell's sides. Where this polynomial is not positive
   (definite), which happens if a changes too much inside of a cell, the side has the value of the nearest point. `DMRefine()` and
   `DMCoarsen()` evaluate these polynomials at the points of the other mesh. What else the page of `DMVPatchDGSetCoefficientFunction()` says
   holds as well.

   Errors are: another number of values, a value that is not finite, a number that is not positive, a matrix that is not positive definite,
   a DM in the Legendre basis.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGSetCoefficient()`, `DMVPatchDGGetPoints()`, `DMVPatchDGSetBasis()`
@*/
PetscErrorCode DMVPatchDGSetCoefficientValues(DM dm, PetscInt components, Vec values)
{
  static const char caller[] = "DMVPatchDGSetCoefficientValues()";

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  VpAssertObject(values, VEC_CLASSID, 3);
  PetscCall(SetValues(dm, &DMVPatchDGData(dm)->coefficient_at, components, values, caller));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetReactionValues - Sets the reaction c of -div(a grad u) + c u by its values at the points of `DMVPatchDGGetPoints()`

   Collective

   Input Parameters:
+  dm     - the DM, set up, in the Gauss basis (`DMVPatchDGSetBasis()`, or a map)
-  values - the values, not negative, in the layout of `DMVPatchDGGetPointValues()`

   Level: intermediate

   Note:
   What the page of `DMVPatchDGSetCoefficientValues()` says about values holds for c. `DMVPatchDGSetReactionFunction()` replaces the values,
   by a function or, with `NULL`, by the number of `DMVPatchDGSetReaction()`.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetReactionFunction()`, `DMVPatchDGSetReaction()`, `DMVPatchDGSetCoefficientValues()`,
          `DMVPatchDGGetPoints()`
@*/
PetscErrorCode DMVPatchDGSetReactionValues(DM dm, Vec values)
{
  static const char caller[] = "DMVPatchDGSetReactionValues()";

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, caller));
  VpAssertObject(values, VEC_CLASSID, 2);
  PetscCall(SetValues(dm, &DMVPatchDGData(dm)->reaction_at, 1, values, caller));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
   DMVPatchDGSetReactionFunction - Sets the reaction c of -div(a grad u) + c u as a function of points

   Logically Collective

   Input Parameters:
+  dm    - the DM
.  c     - the function, with value[n] not negative; `NULL`: the number of `DMVPatchDGSetReaction()`
.  where - `PETSC_MEMTYPE_HOST`, or `PETSC_MEMTYPE_CUDA`: the memory of the points and of the values
-  ctx   - context that is passed to the function

   Level: intermediate

   Note:
   The notes of `DMVPatchDGSetCoefficientFunction()` hold for c. `PCVPATCHDG` works with the means of c over cells.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetReaction()`, `DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGSetBasis()`, `VPatchDGBatch`
@*/
PetscErrorCode DMVPatchDGSetReactionFunction(DM dm, VPatchDGBatch c, PetscMemType where, void *ctx)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  PetscCall(SetFunction(dm, &dg->reaction_at, &(VpPointFunction){c, ctx, 1, NULL, (PetscBool)!PetscMemTypeHost(where)}, where,
                        "DMVPatchDGSetReactionFunction()"));
  PetscCall(RenewOperators(dm, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGSetSerialFunctions - Says whether one thread at a time calls the functions that a DM keeps: map, coefficient, reaction

   Logically Collective

   Input Parameters:
+  dm     - the DM
-  serial - `PETSC_TRUE`: the thread that calls the DM calls the functions; `PETSC_FALSE` (default): several threads call them

   Level: advanced

   Note:
   Functions need this if they call PETSc, or if they are in a language whose interpreter one thread at a time may use. DMs that
   `DMRefine()`, `DMCoarsen()` and `DMClone()` make inherit it.

.seealso: `DMVPATCHDG`, `DMVPatchDGSetMap()`, `DMVPatchDGSetCoefficientFunction()`, `DMVPatchDGSetReactionFunction()`, `VPatchDGBatch`
@*/
PetscErrorCode DMVPatchDGSetSerialFunctions(DM dm, PetscBool serial)
{
  DM_VPatchDG *dg;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGGetData(dm, &dg));
  dg->serial = serial;
  PetscFunctionReturn(PETSC_SUCCESS);
}
