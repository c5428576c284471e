/* The matrices made from a DM, and what a preconditioner learns of them. */
#pragma once
#include "../dmdata/dmdata.h"

/* What is known of a matrix made from a DM, with or without entries: it is scale A + shift I. */
typedef struct VpMatrix_ *VpMatrix;
struct VpMatrix_ {
  DM          dm;
  Mat         mat;  /* not referenced: this dies with it */
  VpOperator  kept; /* A of a copy; NULL: A is the present operator of the DM */
  PetscScalar scale, shift;
  VpFunction *native[4]; /* what an assembled matrix's type does in MatDuplicate(), MatCopy(), MatScale(), MatShift() */
  VpMatrix    next;      /* of the same DM */
};
/* scaleshift.c. Ensures: NULL where the matrix was not made from a DM. */
PetscErrorCode VpMatrixFind(Mat, VpMatrix *);
VpOperator     VpMatrixOperator(VpMatrix);

/* mat.c */
PetscErrorCode DMCreateMatrix_VPatchDG(DM, Mat *);
/* makes every living matrix but copies follow a new coefficient of the DM */
PetscErrorCode DMVPatchDGUpdateMatrices(DM);
/* what is behind a PC's Pmat: scale A + shift I of a DMVPATCHDG; caller: the option that needs it, "-pc_type vpatchdg". Ensures: an error
   that says what to pass if it is no such matrix. */
typedef struct {
  DM          dm;
  VpOperator  op;
  PetscScalar scale, shift;
} VpPmat;
PetscErrorCode MatGetVPatchDG(Mat, const char caller[], VpPmat *);

/* refuse.c: the error for who needs the entries of a matrix-free operator, and for who asks for a factorization of it or sets up one of
   PETSc's preconditioners that need entries */
PetscErrorCode VpRefuse(Mat);
PetscErrorCode VpRegisterFactors(void);
PetscErrorCode VpRegisterAssembledPCs(void);

/* interpolation.c */
PetscErrorCode DMCreateInterpolation_VPatchDG(DM coarse, DM fine, Mat *, Vec *scale);
