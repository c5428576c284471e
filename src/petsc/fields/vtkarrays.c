/* The arrays of a .vtu file. Rank 0 writes the data that other ranks send. */
#include "vtk.h"
#include "../../base/progress.h"

#define CHUNK ((size_t)1 << 26) /* bytes of a message */

void VpVtkWrite(VpVtk *grid, const void *data, size_t bytes)
{
  if (fwrite(data, 1, bytes, grid->file) != bytes) grid->failed = PETSC_TRUE;
}

void VpVtkLine(VpVtk *grid, const char text[])
{
  if (grid->rank) return;
  VpVtkWrite(grid, text, strlen(text));
  VpVtkWrite(grid, "\n", 1);
}

/* Writes a part of an array and reports -vpatchdg_progress. */
static PetscErrorCode WriteData(VpVtk *grid, const char *data, size_t bytes)
{
  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += CHUNK) {
    VpVtkWrite(grid, data + at, PetscMin(bytes - at, CHUNK));
    PetscCall(VpProgress("VTK file", (double)ftello(grid->file), (double)grid->bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An appended array consists of its size and the ranks' parts in order. */
static PetscErrorCode WriteArray(VpVtk *grid, const void *data, size_t bytes)
{
  uint64_t    mine = bytes, total = 0, *of_rank;
  const char *at = data;
  char       *buffer;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(grid->size, &of_rank, grid->rank ? 0 : CHUNK, &buffer));
  PetscCallMPI(MPI_Gather(&mine, 1, MPI_UINT64_T, of_rank, 1, MPI_UINT64_T, 0, grid->comm));
  if (!grid->rank) {
    for (int r = 0; r < grid->size; r++) total += of_rank[r];
    VpVtkWrite(grid, &total, sizeof(total));
    PetscCall(WriteData(grid, data, bytes));
    for (int r = 1; r < grid->size; r++) {
      for (uint64_t left = of_rank[r]; left > 0;) {
        const size_t n = PetscMin(left, CHUNK);

        PetscCallMPI(MPI_Recv(buffer, (int)n, MPI_BYTE, r, 0, grid->comm, MPI_STATUS_IGNORE));
        PetscCall(WriteData(grid, buffer, n));
        left -= n;
      }
    }
  } else {
    for (size_t left = bytes; left > 0;) {
      const size_t n = PetscMin(left, CHUNK);

      PetscCallMPI(MPI_Send(at, (int)n, MPI_BYTE, 0, 0, grid->comm));
      at += n;
      left -= n;
    }
  }
  PetscCall(PetscFree2(of_rank, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVtkWritePoints(VpVtk *grid)
{
  const int n = grid->points.count[0], dim = grid->mesh->dim;
  PetscReal xi[3];
  double   *x;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)grid->mesh->nown * grid->npoint * 3, &x));
  for (int32_t c = 0; c < grid->mesh->nown; c++) {
    for (int p = 0; p < grid->npoint; p++) {
      for (int d = 0, q = p; d < dim; d++, q /= n) xi[d] = grid->points.x[0][q % n];
      VpGeometryPoint(grid->mesh->geometry, c, xi, x + 3 * ((size_t)c * grid->npoint + p));
    }
  }
  PetscCall(WriteArray(grid, x, (size_t)grid->mesh->nown * grid->npoint * 3 * sizeof(*x)));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* VTK_QUAD, and each end of a VTK_HEXAHEDRON, numbers corners around the face. This library numbers them with x fastest. */
PetscErrorCode VpVtkWriteConnectivity(VpVtk *grid)
{
  const int n = grid->points.count[0], k = n - 1, dim = grid->mesh->dim;
  int64_t  *corner, *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)grid->mesh->nown * grid->ncell * grid->ncorner, &corner));
  at = corner;
  for (int32_t c = 0; c < grid->mesh->nown; c++) {
    for (int cell = 0; cell < grid->ncell; cell++) {
      for (int v = 0; v < grid->ncorner; v++) {
        const int around = v ^ (v >> 1 & 1);
        int64_t   point = 0, stride = 1;

        for (int d = 0, r = cell; d < dim; d++, r /= k, stride *= n) point += (r % k + (around >> d & 1)) * stride;
        *at++ = ((int64_t)grid->mesh->first + c) * grid->npoint + point;
      }
    }
  }
  PetscCall(WriteArray(grid, corner, (size_t)(at - corner) * sizeof(*corner)));
  PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVtkWriteCells(VpVtk *grid)
{
  const size_t n = (size_t)grid->mesh->nown * grid->ncell;
  int64_t     *offset;
  uint8_t     *type;
  int32_t     *rank;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &offset, n, &type, n, &rank));
  for (size_t i = 0; i < n; i++) {
    offset[i] = ((int64_t)grid->mesh->first * grid->ncell + (int64_t)i + 1) * grid->ncorner;
    type[i] = grid->mesh->dim == 3 ? 12 : 9; /* VTK_HEXAHEDRON, VTK_QUAD */
    rank[i] = grid->rank;
  }
  PetscCall(WriteArray(grid, offset, n * sizeof(*offset)));
  PetscCall(WriteArray(grid, type, n * sizeof(*type)));
  PetscCall(WriteArray(grid, rank, n * sizeof(*rank)));
  PetscCall(PetscFree3(offset, type, rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVtkWriteCellData(VpVtk *grid, int vector, const PetscReal values[])
{
  const size_t width = vector ? 3 : 1, n = (size_t)grid->mesh->nown * grid->ncell * width;
  double      *data;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &data));
  for (size_t i = 0; i < n; i++) {
    const size_t cell = i / width / grid->ncell, d = i % width;

    if (vector) data[i] = d < (size_t)vector ? values[cell * vector + d] : 0;
    else data[i] = values[cell];
  }
  PetscCall(WriteArray(grid, data, n * sizeof(*data)));
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpVtkWriteField(VpVtk *grid, Vec v)
{
  const VpField     *field = &grid->field;
  const PetscScalar *written;
  Vec                values;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(field->dm, &values));
  PetscCall(VpComputeAtPoints(field, VP_GIVEN_SOURCE, VP_VALUE, grid->points.x[0], v, values));
  PetscCall(VecGetArrayRead(values, &written));
  PetscCall(WriteArray(grid, written, (size_t)grid->mesh->nown * grid->npoint * sizeof(*written)));
  PetscCall(VecRestoreArrayRead(values, &written));
  PetscCall(DMRestoreGlobalVector(field->dm, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}
