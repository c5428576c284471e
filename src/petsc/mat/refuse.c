/* Raises an error with advice if PETSc asks a matrix-free operator for entries. */
#include "internal.h"
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>

/* PETSc calls this for a product of two matrices of type MATSHELL. */
static PetscErrorCode RefuseProduct(Mat product)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)product), PETSC_ERR_SUP,
          "A matrix-free operator of a DMVPATCHDG has no product with another one. Leave -pc_mg_galerkin out (coarse DMs have operators of "
          "their own), or assemble: -dm_mat_type aij");
}

PetscErrorCode VpRefuse(Mat A)
{
  PetscFunctionBegin;
  SETERRQ(
    PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
    "A matrix-free operator of a DMVPATCHDG has no entries, which this solver needs. Assemble it with -dm_mat_type aij, or take -pc_type "
    "vpatchdg (or none); in PCMG -mg_levels_pc_type vpatch (or jacobi) and -mg_coarse_pc_type vpatchdg, or as many levels as reach whole "
    "boxes (-pc_mg_levels n + 1)");
}

#define REFUSED(name, ...) \
  static PetscErrorCode name(Mat A, __VA_ARGS__) \
  { \
    return VpRefuse(A); \
  }

REFUSED(GetRow, PetscInt row, PetscInt *n, PetscInt **cols, PetscScalar **values)
REFUSED(SOR, Vec b, PetscReal omega, MatSORType type, PetscReal shift, PetscInt its, PetscInt lits, Vec x)
REFUSED(CreateSubMatrices, PetscInt n, const IS row[], const IS col[], MatReuse reuse, Mat *B[])
REFUSED(DiagonalSet, Vec d, InsertMode mode)
REFUSED(GetDiagonalBlock, Mat *block)
REFUSED(IncreaseOverlap, PetscInt n, IS is[], PetscInt overlap)
REFUSED(InvertBlockDiagonal, const PetscScalar **values)
REFUSED(CreateGraph, PetscBool symmetric, PetscBool scale, PetscReal filter) /* Newer versions of PETSc pass more arguments. */

/* PCGAMG calls this before it asks for entries. MatView(), which must not fail, prints the result. */
static PetscErrorCode GetInfo(Mat A, MatInfoType type, MatInfo *info)
{
  PetscFunctionBegin;
  *info = (MatInfo){0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A PC without a type becomes PCBJACOBI, which asks for the diagonal block, if the matrix has this operation, otherwise PCNONE. */
static PetscErrorCode HasOperation(Mat A, MatOperation operation, PetscBool *has)
{
  PetscFunctionBegin;
  *has = (PetscBool)(operation != MATOP_GET_DIAGONAL_BLOCK && ((VpFunction **)A->ops)[operation]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRefuseEntries(Mat A)
{
  const struct {
    MatOperation operation;
    VpFunction  *function;
  } set[] = {{MATOP_GET_ROW, (VpFunction *)GetRow},
             {MATOP_SOR, (VpFunction *)SOR},
             {MATOP_CREATE_SUBMATRICES, (VpFunction *)CreateSubMatrices},
             {MATOP_CREATE_SUB_MATRICES_MPI, (VpFunction *)CreateSubMatrices},
             {MATOP_DIAGONAL_SET, (VpFunction *)DiagonalSet},
             {MATOP_GET_DIAGONAL_BLOCK, (VpFunction *)GetDiagonalBlock},
             {MATOP_INCREASE_OVERLAP, (VpFunction *)IncreaseOverlap},
             {MATOP_INVERT_BLOCK_DIAGONAL, (VpFunction *)InvertBlockDiagonal},
             {MATOP_HAS_OPERATION, (VpFunction *)HasOperation},
             {MATOP_GETINFO, (VpFunction *)GetInfo},
             {(MatOperation)(offsetof(struct _MatOps, creategraph) / sizeof(VpFunction *)),
              (VpFunction *)CreateGraph}}; /* PETSc 3.18 has no name for this operation. */

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(set); i++) PetscCall(MatShellSetOperation(A, set[i].operation, set[i].function));
  PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatProductSetFromOptions_shell_shell_C", RefuseProduct));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc looks for factorizations by matrix type, so it also calls this for other MATSHELLs, which have none either. */
static PetscErrorCode GetFactor(Mat A, MatFactorType type, Mat *F)
{
  VpMatrix matrix;

  PetscFunctionBegin;
  *F = NULL;
  PetscCall(VpMatrixFind(A, &matrix));
  PetscCheck(matrix, PetscObjectComm((PetscObject)A), PETSC_ERR_MISSING_FACTOR,
             "Could not locate a solver type for factorization type %s and matrix type %s", MatFactorTypes[type],
             ((PetscObject)A)->type_name);
  PetscCall(VpRefuse(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRegisterFactors(void)
{
  const MatFactorType type[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC, MAT_FACTOR_QR};

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(type); i++) PetscCall(MatSolverTypeRegister("vpatchdg", MATSHELL, type[i], GetFactor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's preconditioners that, without entries, do nothing or raise an error without advice */
static const PCType assembled[] = {PCBJACOBI, PCVPBJACOBI, PCDEFLATION, PCML, PCBDDC, PCNN, PCTFS, PCCP, PCPFMG, PCSYSPFMG, PCLMVM};
static PetscErrorCode (*creators[PETSC_STATIC_ARRAY_LENGTH(assembled)])(PC); /* PETSc's constructors; NULL: PETSc lacks the type */

static const char native[] = "PCSetUp_VPatchDG_C";

static PetscErrorCode SetUpAssembledPC(PC pc)
{
  VpMatrix matrix;
  PetscErrorCode (*setup)(PC);

  PetscFunctionBegin;
  PetscCall(VpMatrixFind(pc->pmat, &matrix));
  if (matrix && matrix->shell) PetscCall(VpRefuse(pc->pmat));
  PetscCall(PetscObjectQueryFunction((PetscObject)pc, native, &setup));
  if (setup) PetscCall((*setup)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateAssembledPC(PC pc)
{
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(assembled) && !same; i++) {
    PetscCall(PetscObjectTypeCompare((PetscObject)pc, assembled[i], &same));
    if (same) PetscCall((*creators[i])(pc));
  }
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, native, pc->ops->setup));
  pc->ops->setup = SetUpAssembledPC;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRegisterAssembledPCs(void)
{
  PetscErrorCode (*create)(PC);

  PetscFunctionBegin;
  PetscCall(PCInitializePackage());
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(assembled); i++) {
    PetscCall(PetscFunctionListFind(PCList, assembled[i], &create));
    if (!create || create == CreateAssembledPC) continue;
    creators[i] = create;
    PetscCall(PCRegister(assembled[i], CreateAssembledPC));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
