/* The matrices made from a DM, and what preconditioners ask of them. */
#pragma once
#include "../dmdata/dmdata.h"

/* Record of a matrix scale A + shift I made from a DM, with or without entries. */
typedef struct VpMatrix_ *VpMatrix;
struct VpMatrix_ {
  DM          dm;
  Mat         mat;  /* not referenced, because the record is destroyed with the matrix */
  VpOperator  kept; /* A of a copy; NULL: A is the present operator of the DM */
  PetscScalar scale, shift;
  PetscBool   shell;     /* The matrix has no entries. */
  VpFunction *native[4]; /* MatDuplicate(), MatCopy(), MatScale() and MatShift() of an assembled matrix's type */
  VpMatrix    next;      /* next record of the same DM */
};
/* scaleshift.c. Ensures: NULL if the matrix was not made from a DM. */
PetscErrorCode VpMatrixFind(Mat, VpMatrix *);
VpOperator     VpMatrixOperator(VpMatrix);
/* shell.c: y = A x and *energy = (x, y), in less time than by MatMult() and a product; *did: whether there is a way */
PetscErrorCode VpMatrixApplyEnergy(VpMatrix, Vec x, Vec y, PetscScalar *energy, PetscBool *did);

/* mat.c */
PetscErrorCode DMCreateMatrix_VPatchDG(DM, Mat *);
/* Updates all existing matrices except copies after the DM's coefficient has changed. */
PetscErrorCode DMVPatchDGUpdateMatrices(DM);
/* The operator scale A + shift I of a DMVPATCHDG behind a PC's Pmat. caller: the option that needs the operator, "-pc_type vpatchdg".
   Ensures: an error with advice if the matrix is of another kind. */
typedef struct {
  DM          dm;
  VpOperator  op;
  PetscScalar scale, shift;
} VpPmat;
PetscErrorCode MatGetVPatchDG(Mat, const char caller[], VpPmat *);

/* refuse.c: raises the error for entries of a matrix-free operator; registers factorizations and set-ups of PETSc's preconditioners that
   raise this error */
PetscErrorCode VpRefuse(Mat);
PetscErrorCode VpRegisterFactors(void);
PetscErrorCode VpRegisterAssembledPCs(void);

/* interpolation.c */
PetscErrorCode DMCreateInterpolation_VPatchDG(DM coarse, DM fine, Mat *, Vec *scale);
