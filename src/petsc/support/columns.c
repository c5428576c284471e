/* Columns of dense matrices. */
#include "columns.h"
#include "../../compat.h"

static PetscErrorCode OnColumn(Mat X, Mat Y, PetscInt column, VpOneColumn one, void *context)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(MatDenseGetColumnVecRead(X, column, &x));
  PetscCall(MatDenseGetColumnVecWrite(Y, column, &y));
  PetscCall(one(context, x, y));
  PetscCall(MatDenseRestoreColumnVecWrite(Y, column, &y));
  PetscCall(MatDenseRestoreColumnVecRead(X, column, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpOnColumns(Mat X, Mat Y, PetscInt most, VpOneColumn one, VpSomeColumns some, void *context)
{
  PetscInt all, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &all));
  for (PetscInt first = 0; first < all; first += n) {
    n = PetscMin(most, all - first);
    if (2 * n <= most) n = 1;
    if (n > 1) PetscCall(some(context, X, Y, first, n));
    else PetscCall(OnColumn(X, Y, first, one, context));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
