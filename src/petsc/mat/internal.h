/* Declarations shared by the files of this folder. */
#pragma once
#include "mat.h"

/* scaleshift.c: gives a matrix its record, with scale 1 and shift 0 */
PetscErrorCode VpMatrixAttach(DM, Mat, VpMatrix *);
/* Records B = MatDuplicate(original). MAT_COPY_VALUES: B equals the original. Otherwise a matrix-free B is 0, and an assembled B, whose
   values the caller will write, is A. */
PetscErrorCode VpMatrixDuplicated(VpMatrix original, MatDuplicateOption, Mat);
PetscErrorCode MatScale_VPatchDG(Mat, PetscScalar);
PetscErrorCode MatShift_VPatchDG(Mat, PetscScalar);
PetscErrorCode MatCopy_VPatchDG(Mat, Mat, MatStructure);
/* indices of an assembled matrix's own operations in VpMatrix->native */
enum { VP_NATIVE_DUPLICATE, VP_NATIVE_COPY, VP_NATIVE_SCALE, VP_NATIVE_SHIFT };

/* shell.c, assembled.c: create a matrix-free or an assembled matrix of the DM's present operator */
PetscErrorCode DMVPatchDGCreateShell(DM, Mat *);
/* shell.c: y = A x, or y = b - A x if b is not NULL, without scale and shift */
PetscErrorCode VpMatrixApply(VpMatrix, Vec x, Vec b, Vec y);
/* refuse.c: replaces operations that need entries by an error with advice */
PetscErrorCode VpRefuseEntries(Mat);
/* product.c: Y = A X for dense X and Y */
PetscErrorCode MatMatMultNumeric_VPatchDG(Mat A, Mat X, Mat Y, void *);
PetscErrorCode DMVPatchDGCreateAssembled(DM, MatType, Mat *);
/* assembled.c: the matrix of a level on the host, for the DM's vectors */
PetscErrorCode VpAssembleOn(DM, VpLevel, MatType, Mat *);
/* assembled.c: gives an assembled matrix its record and keeps the operations of its type. like: record of another matrix of this type, or
   NULL */
PetscErrorCode VpMatrixAttachAssembled(DM, Mat, VpMatrix like);
