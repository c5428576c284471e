/* Operations on vectors and matrices. */
#include "api.h"

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return PETSC_SUCCESS;
}

static PetscErrorCode Refuses(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_USER, "The fuzzer's function refuses");
}

static PetscErrorCode points(Api *api, Slot *s)
{
  PetscReal error[2];
  Vec       coordinates;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(5)) {
  case 0:
    Legal(DMVPatchDGGetPoints(s->dm, &coordinates));
    Legal(VecDestroy(&coordinates));
    break;
  case 1:
    Legal(DMVPatchDGInterpolate(s->dm, One, NULL, s->x));
    break;
  case 2:
    Legal(DMVPatchDGComputeErrors(s->dm, s->x, Draw(2) ? One : NULL, NULL, NULL, Draw(2) ? &error[0] : NULL, &error[1]));
    break;
  case 3:
    Legal(DMVPatchDGComputeRHS(s->dm, One, Draw(2) ? One : NULL, NULL, NULL, s->y));
    break;
  case 4: /* two vectors that are one */
    Legal(DMVPatchDGInterpolate(s->dm, One, NULL, s->x));
    Illegal(DMVPatchDGGetPointValues(s->dm, s->x, s->x));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a function that fails where it is called: on ranks with cells */
static PetscErrorCode failing_functions(Api *api, Slot *s)
{
  PetscInt  n, least;
  PetscReal error;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGGetCells(s->dm, &n));
  PetscCallMPI(MPI_Allreduce(&n, &least, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (least == 0) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(3)) {
  case 0:
    Illegal(DMVPatchDGInterpolate(s->dm, Refuses, NULL, s->x));
    break;
  case 1:
    Illegal(DMVPatchDGComputeRHS(s->dm, Refuses, NULL, NULL, NULL, s->x));
    break;
  case 2:
    Illegal(DMVPatchDGComputeErrors(s->dm, s->x, Refuses, NULL, NULL, &error, NULL));
    break;
  }
  Legal(VecDestroy(&s->x)); /* a lock may be left on it */
  Legal(DMCreateGlobalVector(s->dm, &s->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* of another length: on all ranks; moved: on two of them, the sum stays */
static PetscErrorCode WrongVec(Api *api, Slot *s, PetscBool moved, Vec *v)
{
  static const PetscInt more[] = {1, -1, 1000, -1000000};
  const PetscInt        add = DrawFrom(more);
  PetscInt              n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(s->x, &n));
  if (!moved) n = PetscMax(n + add, 0);
  else if (api->rank == 0) n++;
  else if (api->rank == api->size - 1 && n > 0) n--;
  PetscCall(VecCreate(PETSC_COMM_WORLD, v));
  PetscCall(VecSetSizes(*v, n, PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(*v));
  PetscCall(VecZeroEntries(*v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* moved: not where PETSc itself looks at sizes of its own rank only, in MatMult() and in assembled matrices */
static PetscErrorCode UseWrong(Api *api, Slot *s, PetscBool moved, Vec v)
{
  PetscReal error;
  PetscBool shell;
  Vec       local;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)s->A, MATSHELL, &shell));
  switch (Draw(!moved ? 13 : shell ? 11 : 9)) {
  case 0:
    Illegal(DMVPatchDGGetPointValues(s->dm, v, s->x));
    break;
  case 1:
    Illegal(DMVPatchDGGetPointValues(s->dm, s->x, v));
    break;
  case 2:
    Illegal(DMVPatchDGSetPointValues(s->dm, v, s->x));
    break;
  case 3:
    Illegal(DMVPatchDGSetPointValues(s->dm, s->x, v));
    break;
  case 4:
    Illegal(DMVPatchDGInterpolate(s->dm, One, NULL, v));
    break;
  case 5:
    Illegal(DMVPatchDGComputeRHS(s->dm, One, NULL, NULL, NULL, v));
    break;
  case 6:
    Illegal(DMVPatchDGComputeErrors(s->dm, v, NULL, NULL, NULL, &error, NULL));
    break;
  case 7:
    Legal(DMCreateLocalVector(s->dm, &local));
    Illegal(DMGlobalToLocalBegin(s->dm, v, INSERT_VALUES, local));
    Legal(VecDestroy(&local));
    break;
  case 8:
    Legal(DMCreateLocalVector(s->dm, &local));
    Illegal(DMLocalToGlobalBegin(s->dm, local, Draw(2) ? INSERT_VALUES : ADD_VALUES, v));
    Legal(VecDestroy(&local));
    break;
  case 9:
    Illegal(MatGetDiagonal(s->A, v));
    break;
  case 10:
    Illegal(MatResidual(s->A, v, s->x, s->y));
    break;
  case 11:
    Illegal(MatMult(s->A, v, s->y));
    break;
  case 12:
    Illegal(MatMult(s->A, s->x, v));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WrongSize(Api *api, Slot *s, PetscBool moved)
{
  Vec v;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Expect(LEGAL, WrongVec(api, s, moved, &v), "a vector of %s size", moved ? "another local" : "another");
  PetscCall(UseWrong(api, s, moved, v));
  PetscCall(VecDestroy(&v));
  if (!api->result && Draw(2)) PetscCall(StillWorks(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode wrong_sizes(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(WrongSize(api, s, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode moved_sizes(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  if (api->size > 1) PetscCall(WrongSize(api, s, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode local_vectors(Api *api, Slot *s)
{
  const InsertMode mode = Draw(2) ? INSERT_VALUES : ADD_VALUES;
  Vec              local, borrowed;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  Legal(DMCreateLocalVector(s->dm, &local));
  Legal(DMGetLocalVector(s->dm, &borrowed));
  Legal(DMGlobalToLocal(s->dm, s->x, mode, local));
  Legal(DMLocalToGlobal(s->dm, local, mode, s->y));
  Legal(DMRestoreLocalVector(s->dm, &borrowed));
  switch (Draw(3)) {
  case 0:
    Illegal(DMGlobalToLocal(s->dm, s->x, MAX_VALUES, local));
    break;
  case 1:
    Either(DMLocalToLocalBegin(s->dm, local, INSERT_VALUES, local));
    break;
  case 2:
    break;
  }
  Legal(VecDestroy(&local));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a relative's and a stranger's vectors and interpolation */
static PetscErrorCode other_meshes(Api *api, Slot *s)
{
  Slot *to = &api->slot[Draw(SLOTS)];
  Mat   P = NULL;
  DM    coarse = NULL;

  PetscFunctionBeginUser;
  if (s->refine > 0 && Draw(2)) {
    Legal(DMCoarsen(s->dm, PETSC_COMM_WORLD, &coarse));
    Expect(LEGAL, DMSetMatType(s->dm, Draw(2) ? MATSHELL : MATAIJ), "DMSetMatType()");
    Legal(DMCreateInterpolation(coarse, s->dm, &P, NULL));
    Legal(MatDestroy(&P));
    Illegal(DMCreateInterpolation(s->dm, coarse, &P, NULL));
    Legal(DMDestroy(&coarse));
  } else if (to != s && to->dm && to->up && (to->dim != s->dim || to->refine == s->refine)) {
    Illegal(DMCreateInterpolation(s->dm, to->dm, &P, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* legal, with what it makes of A */
static PetscErrorCode matrices(Api *api, Slot *s)
{
  static const PetscReal factors[] = {2, -1, 1e-3, 1}, shifts[] = {0, 1, 10};
  const PetscReal        factor = DrawFrom(factors), shift = DrawFrom(shifts);
  PetscReal              norm;
  Mat                    B;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(7)) {
  case 0:
    Legal(MatMultTranspose(s->A, s->x, s->y));
    break;
  case 1:
    Legal(MatGetDiagonal(s->A, s->y));
    break;
  case 2:
    Expect(LEGAL, MatNorm(s->A, Draw(2) ? NORM_1 : NORM_FROBENIUS, &norm), "MatNorm()");
    break;
  case 3:
    Expect(LEGAL, MatScale(s->A, factor), "MatScale(%g)", (double)factor);
    s->scale *= factor;
    s->shift *= factor;
    break;
  case 4:
    Expect(LEGAL, MatShift(s->A, shift), "MatShift(%g)", (double)shift);
    s->shift += shift;
    break;
  case 5:
    Legal(MatDuplicate(s->A, MAT_COPY_VALUES, &B));
    if (Draw(2)) Legal(MatCopy(s->A, B, SAME_NONZERO_PATTERN));
    Legal(MatDestroy(&s->A));
    Legal(KSPDestroy(&s->ksp)); /* it goes on with the original */
    s->A = B;
    s->copy = PETSC_TRUE;
    break;
  case 6:
    Legal(MatMultAdd(s->A, s->x, s->y, s->y));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what a shell can not do; MatAXPY() is left out: PETSC 3.18 keeps a pointer there that dies */
static PetscErrorCode impossible(Api *api, Slot *s)
{
  const PetscInt row = 0;
  PetscReal      norm;
  PetscBool      shell;
  Expected       expected;
  Mat            B = NULL;

  PetscFunctionBeginUser;
  PetscCall(NeedSystem(api, s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)s->A, MATSHELL, &shell));
  if (!shell) PetscFunctionReturn(PETSC_SUCCESS);
  expected = ILLEGAL;
  switch (Draw(9)) {
  case 0:
    Expect(expected, MatZeroRows(s->A, 1, &row, 1, NULL, NULL), "MatZeroRows()");
    break;
  case 1:
    Expect(expected, MatZeroRowsColumns(s->A, 1, &row, 1, NULL, NULL), "MatZeroRowsColumns()");
    break;
  case 2:
    Expect(expected, MatDiagonalScale(s->A, s->x, s->x), "MatDiagonalScale()");
    break;
  case 3:
    Expect(expected, MatDiagonalSet(s->A, s->x, ADD_VALUES), "MatDiagonalSet()");
    break;
  case 4:
    Expect(expected, MatSetValue(s->A, 0, 0, 1, ADD_VALUES), "MatSetValue()");
    break;
  case 5:
    Expect(expected, MatNorm(s->A, NORM_2, &norm), "MatNorm(2)");
    break;
  case 6:
    Expect(EITHER, MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &B), "MatConvert(aij)");
    break;
  case 7:
    s->known = PETSC_FALSE;
    Expect(EITHER, MatZeroEntries(s->A), "MatZeroEntries()");
    break;
  case 8:
    Expect(EITHER, MatTranspose(s->A, MAT_INITIAL_MATRIX, &B), "MatTranspose()");
    break;
  }
  PetscCall(MatDestroy(&B));
  Legal(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY)); /* MatSetValue() refused leaves PETSc's mark that it is needed */
  Legal(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation vector_operations[] = {{"points", points},
                                       {"failing_functions", failing_functions},
                                       {"wrong_sizes", wrong_sizes},
                                       {"moved_sizes", moved_sizes},
                                       {"local_vectors", local_vectors},
                                       {"other_meshes", other_meshes},
                                       {NULL, NULL}};
const Operation matrix_operations[] = {{"matrices", matrices}, {"impossible", impossible}, {NULL, NULL}};
