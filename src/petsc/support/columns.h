/* Work on dense matrices column by column, or on some columns at once. */
#pragma once
#include <petscmat.h>

typedef PetscErrorCode (*VpOneColumn)(void *context, Vec x, Vec y);
typedef PetscErrorCode (*VpSomeColumns)(void *context, Mat X, Mat Y, PetscInt first, PetscInt n);

/* Goes through the columns of X and Y, `most` at once. Where at most half as many are left, one by one is faster. */
PetscErrorCode VpOnColumns(Mat X, Mat Y, PetscInt most, VpOneColumn one, VpSomeColumns some, void *context);
