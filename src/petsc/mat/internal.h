/* What the files of this folder share. */
#pragma once
#include "mat.h"

/* scaleshift.c: gives a matrix its record, which says scale 1, shift 0 */
PetscErrorCode VpMatrixAttach(DM, Mat, VpMatrix *);
/* records what MatDuplicate() with this option made of the original. With MAT_COPY_VALUES that is a copy, else a matrix without values,
   which stands for 0 if it is matrix-free, and for A if it has entries that somebody will write. */
PetscErrorCode VpMatrixDuplicated(VpMatrix original, MatDuplicateOption, Mat);
PetscErrorCode MatScale_VPatchDG(Mat, PetscScalar);
PetscErrorCode MatShift_VPatchDG(Mat, PetscScalar);
PetscErrorCode MatCopy_VPatchDG(Mat, Mat, MatStructure);
/* the places of an assembled matrix's own operations in VpMatrix->native */
enum { VP_NATIVE_DUPLICATE, VP_NATIVE_COPY, VP_NATIVE_SCALE, VP_NATIVE_SHIFT };

/* shell.c, assembled.c: the matrix that stands for the DM's present operator, without entries, and with entries in PETSc's type */
PetscErrorCode DMVPatchDGCreateShell(DM, Mat *);
/* shell.c: y = A x, or b - A x where b is not NULL, without scale and shift */
PetscErrorCode VpMatrixApply(VpMatrix, Vec x, Vec b, Vec y);
/* refuse.c: what asks the operator for its entries gets an error that says what to type. */
PetscErrorCode VpRefuseEntries(Mat);
/* product.c: Y = A X for dense X and Y */
PetscErrorCode MatMatMultNumeric_VPatchDG(Mat A, Mat X, Mat Y, void *);
PetscErrorCode DMVPatchDGCreateAssembled(DM, MatType, Mat *);
/* assembled.c: gives an assembled matrix its record, which keeps its type's operations. like: the record of another matrix of the type, or
   NULL */
PetscErrorCode VpMatrixAttachAssembled(DM, Mat, VpMatrix like);
