/* Work on the columns of dense matrices, one or several at a time. */
#pragma once
#include <petscmat.h>

typedef PetscErrorCode (*VpOneColumn)(void *context, Vec x, Vec y);
typedef PetscErrorCode (*VpSomeColumns)(void *context, Mat X, Mat Y, PetscInt first, PetscInt n);

/* Applies `some` to `most` columns of X and Y at a time. The remaining columns are done one by one if they are at most half as many, which
   is faster. */
PetscErrorCode VpOnColumns(Mat X, Mat Y, PetscInt most, VpOneColumn one, VpSomeColumns some, void *context);
