/* Matrices whose rows are computed one after the other: how they are assembled. */
#include "internal.h"
#include "../base/threads.h"

void VpRowAdd(VpRow *row, PetscInt column, double value)
{
  if (value == 0) return;
  row->column[row->n] = column;
  row->value[row->n++] = value;
}

void VpRowSum(VpRow *row, PetscInt column, double value)
{
  for (int i = 0; i < row->n; i++) {
    if (row->column[i] != column) continue;
    row->value[i] += value;
    return;
  }
  VpRowAdd(row, column, value);
}

PetscErrorCode VpRowMerge(VpRow *row)
{
  int n = 0;

  PetscFunctionBegin;
  PetscCall(PetscSortIntWithScalarArray(row->n, row->column, row->value));
  for (int i = 0; i < row->n; i++) {
    if (n && row->column[n - 1] == row->column[i]) row->value[n - 1] += row->value[i];
    else {
      row->column[n] = row->column[i];
      row->value[n++] = row->value[i];
    }
  }
  row->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the rows of the cells [first, first + BLOCK) */
enum { BLOCK = 1 << 14 };
/* All threads create the rows of a block of cells, then one thread hands them over. */
static PetscErrorCode ForEachInThreads(const VpRows *rows, const PetscInt                             position[],
                                       PetscErrorCode (*what)(PetscInt, const VpRow *, void *), void *context)
{
  const int32_t nown = rows->level->mesh->nown, most = PetscMin(nown, BLOCK);
  const size_t  count = (size_t)most * (size_t)rows->rows, size = count * rows->most;
  VpRow        *row; /* [BLOCK][rows->rows] */
  PetscInt     *column, at = 0;
  PetscScalar  *value;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(count, &row, size, &column, size, &value));
  for (size_t i = 0; i < count; i++) row[i] = (VpRow){.column = column + i * rows->most, .value = value + i * rows->most};
  for (int32_t first = 0; first < nown; first += BLOCK) {
    const int32_t cells = PetscMin(nown - first, BLOCK);

    VP_LOOP_HEAVY (c, cells) {
      for (int i = 0; i < rows->rows; i++) {
        row[(size_t)c * (size_t)rows->rows + (size_t)i].n = 0;
        (void)rows->create(rows, position, first + c, i, &row[(size_t)c * (size_t)rows->rows + (size_t)i]);
      }
    }
    for (int32_t i = 0; i < cells * rows->rows; i++) PetscCall(what(at++, &row[i], context));
  }
  PetscCall(PetscFree3(row, column, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ForEachInTurn(const VpRows *rows, const PetscInt position[], PetscErrorCode (*what)(PetscInt, const VpRow *, void *),
                                    void *context)
{
  PetscInt at = 0;
  VpRow    row;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(rows->most, &row.column, rows->most, &row.value));
  for (int32_t c = 0; c < rows->level->mesh->nown; c++) {
    for (int i = 0; i < rows->rows; i++) {
      row.n = 0;
      PetscCall(rows->create(rows, position, c, i, &row));
      PetscCall(what(at++, &row, context));
    }
  }
  PetscCall(PetscFree2(row.column, row.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpForEachRow(const VpRows *rows, PetscErrorCode (*what)(PetscInt, const VpRow *, void *), void *context)
{
  PetscInt *position;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(rows->level->mesh->nlocal, &position));
  PetscCall(VpMeshPositions(rows->level->mesh, position));
  PetscCall((rows->threads ? ForEachInThreads : ForEachInTurn)(rows, position, what, context));
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct {
  Mat       A;
  PetscInt  row;        /* the first own one */
  PetscInt  first, end; /* own columns */
  PetscInt *diagonal, *off;
} Assembly;

static PetscErrorCode CountRow(PetscInt i, const VpRow *row, void *context)
{
  Assembly *as = context;

  PetscFunctionBegin;
  as->diagonal[i] = as->off[i] = 0;
  for (int k = 0; k < row->n; k++) {
    if (row->column[k] >= as->first && row->column[k] < as->end) as->diagonal[i]++;
    else as->off[i]++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetRow(PetscInt i, const VpRow *row, void *context)
{
  Assembly      *as = context;
  const PetscInt global = as->row + i;

  return MatSetValues(as->A, 1, &global, row->n, row->column, row->value, INSERT_VALUES);
}

PetscErrorCode VpAssembleRows(const VpRows *rows, MatType type, Mat *out)
{
  const VpMesh  mesh = rows->level->mesh;
  const int64_t most = mesh->ncell * (int64_t)PetscMax(rows->rows, rows->columns);
  PetscInt      nrow, ncolumn;
  PetscBool     aij;
  Assembly      as;

  PetscFunctionBegin;
  PetscCheck(most <= PETSC_MAX_INT, mesh->comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt64_FMT " unknowns are too many for PetscInt",
             (PetscInt64)most);
  nrow = mesh->nown * rows->rows;
  ncolumn = mesh->nown * rows->columns;
  as.row = mesh->first * rows->rows;
  as.first = mesh->first * rows->columns;
  as.end = as.first + ncolumn;
  PetscCall(MatCreate(mesh->comm, &as.A));
  PetscCall(MatSetSizes(as.A, nrow, ncolumn, mesh->ncell * rows->rows, mesh->ncell * rows->columns));
  PetscCall(MatSetBlockSizes(as.A, rows->rows, rows->columns));
  PetscCall(MatSetType(as.A, type));
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)as.A, &aij, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCheck(aij, mesh->comm, PETSC_ERR_SUP, "A matrix of type %s cannot be assembled row by row: use aij, or a type that derives from it",
             type);
  PetscCall(PetscMalloc2(nrow, &as.diagonal, nrow, &as.off));
  PetscCall(VpForEachRow(rows, CountRow, &as));
  PetscCall(MatSeqAIJSetPreallocation(as.A, 0, as.diagonal));
  PetscCall(MatMPIAIJSetPreallocation(as.A, 0, as.diagonal, 0, as.off));
  PetscCall(PetscFree2(as.diagonal, as.off));
  PetscCall(MatSetOption(as.A, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(VpForEachRow(rows, SetRow, &as));
  PetscCall(MatAssemblyBegin(as.A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(as.A, MAT_FINAL_ASSEMBLY));
  *out = as.A;
  PetscFunctionReturn(PETSC_SUCCESS);
}
