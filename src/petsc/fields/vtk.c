/* VecView into a VTK viewer: an unstructured grid (.vtu) for ParaView. Every cell becomes k^dim linear ones on its (k+1)^dim equidistant
   points, which no two cells share, so that jumps show. One file: rank 0 writes what the others send it, array by array. */
#include "fields.h"
#include "functions.h"
#include "../../base/progress.h"

#define CHUNK ((size_t)1 << 26) /* bytes of a message */

static const char field_name[] =
  "DMVPatchDG VTK field %d"; /* the vectors that a viewer has yet to write are composed with it under these names */

/* all that describes a cell's points */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  FILE       *file;   /* on rank 0 */
  PetscBool   failed; /* Something could not be written there; the others are told when all is sent. */
  uint64_t    bytes;  /* all that its arrays take */
  VpMesh      mesh;
  VpField     field;
  VpGrid      points;                 /* equidistant ones */
  int         npoint, ncell, ncorner; /* the points and linear cells of a cell, the corners of a linear cell */
} Grid;

static void Write(Grid *grid, const void *data, size_t bytes)
{
  if (fwrite(data, 1, bytes, grid->file) != bytes) grid->failed = PETSC_TRUE;
}

static void Line(Grid *grid, const char text[])
{
  if (grid->rank) return;
  Write(grid, text, strlen(text));
  Write(grid, "\n", 1);
}

/* writes a part of an array; -vpatchdg_progress says how far the file is */
static PetscErrorCode WriteData(Grid *grid, const char *data, size_t bytes)
{
  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += CHUNK) {
    Write(grid, data + at, PetscMin(bytes - at, CHUNK));
    PetscCall(VpProgress("VTK file", (double)ftello(grid->file), (double)grid->bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An appended array is its size, then the ranks' parts in their order. */
static PetscErrorCode WriteArray(Grid *grid, const void *data, size_t bytes)
{
  uint64_t    mine = bytes, total = 0, *of_rank;
  const char *at = data;
  char       *buffer;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(grid->size, &of_rank, grid->rank ? 0 : CHUNK, &buffer));
  PetscCallMPI(MPI_Gather(&mine, 1, MPI_UINT64_T, of_rank, 1, MPI_UINT64_T, 0, grid->comm));
  if (!grid->rank) {
    for (int r = 0; r < grid->size; r++) total += of_rank[r];
    Write(grid, &total, sizeof(total));
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

static PetscErrorCode WritePoints(Grid *grid)
{
  const int n = grid->points.count[0], dim = grid->mesh->dim;
  PetscReal lower[3], size[3];
  double   *x;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)grid->mesh->nown * grid->npoint * 3, &x));
  for (int32_t c = 0; c < grid->mesh->nown; c++) {
    VpMeshCellBounds(grid->mesh, c, lower, size);
    for (int p = 0; p < grid->npoint; p++) {
      double *point = x + 3 * ((size_t)c * grid->npoint + p);
      for (int d = 0, q = p; d < dim; d++, q /= n) point[d] = lower[d] + size[d] * grid->points.x[0][q % n];
    }
  }
  PetscCall(WriteArray(grid, x, (size_t)grid->mesh->nown * grid->npoint * 3 * sizeof(*x)));
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The corners of a VTK_PIXEL or VTK_VOXEL run with x fastest, as ours do. */
static PetscErrorCode WriteConnectivity(Grid *grid)
{
  const int n = grid->points.count[0], k = n - 1, dim = grid->mesh->dim;
  int64_t  *corner, *at;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)grid->mesh->nown * grid->ncell * grid->ncorner, &corner));
  at = corner;
  for (int32_t c = 0; c < grid->mesh->nown; c++) {
    for (int cell = 0; cell < grid->ncell; cell++) {
      for (int v = 0; v < grid->ncorner; v++) {
        int64_t point = 0, stride = 1;

        for (int d = 0, r = cell; d < dim; d++, r /= k, stride *= n) point += (r % k + (v >> d & 1)) * stride;
        *at++ = ((int64_t)grid->mesh->first + c) * grid->npoint + point;
      }
    }
  }
  PetscCall(WriteArray(grid, corner, (size_t)(at - corner) * sizeof(*corner)));
  PetscCall(PetscFree(corner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* writes of every linear cell where its corners end, what it is, whose it is, and its coefficient where there is one */
static PetscErrorCode WriteCells(Grid *grid)
{
  const PetscReal *coefficient = grid->field.level->problem.coefficient;
  const size_t     n = (size_t)grid->mesh->nown * grid->ncell;
  int64_t         *offset;
  uint8_t         *type;
  int32_t         *rank;
  double          *a;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n, &offset, n, &type, n, &rank, n, &a));
  for (size_t i = 0; i < n; i++) {
    offset[i] = ((int64_t)grid->mesh->first * grid->ncell + (int64_t)i + 1) * grid->ncorner;
    type[i] = grid->mesh->dim == 3 ? 11 : 8; /* VTK_VOXEL, VTK_PIXEL */
    rank[i] = grid->rank;
    a[i] = coefficient ? coefficient[i / grid->ncell] : 1;
  }
  PetscCall(WriteArray(grid, offset, n * sizeof(*offset)));
  PetscCall(WriteArray(grid, type, n * sizeof(*type)));
  PetscCall(WriteArray(grid, rank, n * sizeof(*rank)));
  if (coefficient) PetscCall(WriteArray(grid, a, n * sizeof(*a)));
  PetscCall(PetscFree4(offset, type, rank, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteField(Grid *grid, Vec v)
{
  const VpField     *field = &grid->field;
  const PetscScalar *written;
  PetscScalar       *x, *y;
  VpValues           xv, yv;
  Vec                values;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(field->dm, &values));
  PetscCall(VpValuesGet(field->level->backend, v, VP_READ, &xv, &x));
  PetscCall(VpValuesGet(field->level->backend, values, VP_WRITE, &yv, &y));
  PetscCall(VpEvaluate(field, &grid->points, VpOwnCells(), 1, x, y));
  PetscCall(VpValuesRestore(&yv));
  PetscCall(VpValuesRestore(&xv));
  PetscCall(VecGetArrayRead(values, &written));
  PetscCall(WriteArray(grid, written, (size_t)grid->mesh->nown * grid->npoint * sizeof(*written)));
  PetscCall(VecRestoreArrayRead(values, &written));
  PetscCall(DMRestoreGlobalVector(field->dm, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* writes one line of the header. Ensures: *offset has grown by the array's size. attributes: Name, NumberOfComponents */
static PetscErrorCode Declare(Grid *grid, const char type[], const char attributes[], double count, int bytes, uint64_t *offset)
{
  char text[512];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "        <DataArray type=\"%s\" %s format=\"appended\" offset=\"%llu\"/>", type, attributes,
                          (unsigned long long)*offset));
  Line(grid, text);
  *offset += 8 + (uint64_t)count * bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What may not stand in an attribute of XML becomes an underscore. */
static PetscErrorCode FieldAttributes(Vec v, char text[], size_t length)
{
  const char *name;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetName((PetscObject)v, &name));
  PetscCall(PetscSNPrintf(text, length, "Name=\"%s", name));
  for (char *c = text + 6; *c; c++) {
    if (*c == '"' || *c == '<' || *c == '>' || *c == '&') *c = '_';
  }
  PetscCall(PetscStrlcat(text, "\" NumberOfComponents=\"1\"", length));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode QueryField(PetscViewer viewer, int i, Vec *v)
{
  char key[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof(key), field_name, i));
  PetscCall(PetscObjectQuery((PetscObject)viewer, key, (PetscObject *)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ComposeField(PetscViewer viewer, int i, Vec v)
{
  char key[64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(key, sizeof(key), field_name, i));
  PetscCall(PetscObjectCompose((PetscObject)viewer, key, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteHeader(Grid *grid, PetscViewer viewer)
{
  const double points = (double)grid->mesh->ncell * grid->npoint, cells = (double)grid->mesh->ncell * grid->ncell;
  const union {
    uint16_t word;
    uint8_t  byte[2];
  } order = {1};
  uint64_t offset = 0;
  char     text[256];
  Vec      v;

  PetscFunctionBegin;
  Line(grid, "<?xml version=\"1.0\"?>");
  PetscCall(PetscSNPrintf(
    text, sizeof(text),
    "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%sEndian\" header_type=\"UInt64\">\n  <UnstructuredGrid>",
    order.byte[0] ? "Little" : "Big"));
  Line(grid, text);
  PetscCall(PetscSNPrintf(text, sizeof(text), "    <Piece NumberOfPoints=\"%.0f\" NumberOfCells=\"%.0f\">\n      <Points>", points, cells));
  Line(grid, text);
  PetscCall(Declare(grid, "Float64", "Name=\"Position\" NumberOfComponents=\"3\"", 3 * points, 8, &offset));
  Line(grid, "      </Points>\n      <Cells>");
  PetscCall(Declare(grid, "Int64", "Name=\"connectivity\"", cells * grid->ncorner, 8, &offset));
  PetscCall(Declare(grid, "Int64", "Name=\"offsets\"", cells, 8, &offset));
  PetscCall(Declare(grid, "UInt8", "Name=\"types\"", cells, 1, &offset));
  Line(grid, "      </Cells>\n      <CellData>");
  PetscCall(Declare(grid, "Int32", "Name=\"rank\"", cells, 4, &offset));
  if (grid->field.level->problem.coefficient) PetscCall(Declare(grid, "Float64", "Name=\"coefficient\"", cells, 8, &offset));
  Line(grid, "      </CellData>\n      <PointData>");
  for (int i = 0;; i++) {
    PetscCall(QueryField(viewer, i, &v));
    if (!v) break;
    PetscCall(FieldAttributes(v, text, sizeof(text)));
    PetscCall(Declare(grid, "Float64", text, points, 8, &offset));
  }
  grid->bytes = offset;
  Line(grid, "      </PointData>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">");
  if (!grid->rank) Write(grid, "_", 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks where rank 0 met one. PETSc flushes the viewer again at its end: it then has nothing to write. */
static PetscErrorCode CheckFile(Grid *grid, PetscViewer viewer, const char what[])
{
  PetscMPIInt failed = grid->failed;
  const char *name;
  Vec         v;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, grid->comm));
  if (!failed) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0;; i++) {
    PetscCall(QueryField(viewer, i, &v));
    if (!v) break;
    PetscCall(ComposeField(viewer, i, NULL));
  }
  PetscCall(PetscViewerFileGetName(viewer, &name));
  SETERRQ(grid->comm, PETSC_ERR_FILE_WRITE, "The file %s cannot be %s", name, what);
}

static PetscErrorCode GridCreate(DM dm, PetscViewer viewer, Grid *grid)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  const char  *name;
  double       x[VP_MAX_N];

  PetscFunctionBegin;
  *grid = (Grid){.failed = PETSC_FALSE};
  grid->comm = PetscObjectComm((PetscObject)dm);
  grid->mesh = dg->mesh;
  PetscCallMPI(MPI_Comm_rank(grid->comm, &grid->rank));
  PetscCallMPI(MPI_Comm_size(grid->comm, &grid->size));
  PetscCall(VpFieldGet(dm, &grid->field));
  for (int i = 0; i <= dg->degree; i++) x[i] = (double)i / (double)dg->degree;
  PetscCall(VpGridCreate(grid->field.basis, dg->mesh->dim, grid->field.basis->n, x, &grid->points));
  grid->npoint = VpGridSize(&grid->points);
  grid->ncell = (int)PetscPowInt(dg->degree, dg->mesh->dim);
  grid->ncorner = 1 << dg->mesh->dim;
  PetscCall(PetscViewerFileGetName(viewer, &name));
  if (!grid->rank) grid->failed = (PetscBool) !(grid->file = fopen(name, "wb"));
  PetscCall(CheckFile(grid, viewer, "opened: is there such a folder, and may it be written?"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GridClose(Grid *grid, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!grid->rank && fclose(grid->file)) grid->failed = PETSC_TRUE;
  PetscCall(CheckFile(grid, viewer, "written: is the disk full?"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls it when the viewer is flushed or destroyed. */
static PetscErrorCode WriteAll(PetscObject object, PetscViewer viewer)
{
  Grid grid = {0};
  Vec  v;

  PetscFunctionBegin;
  PetscCall(QueryField(viewer, 0, &v));
  if (!v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridCreate((DM)object, viewer, &grid));
  PetscCall(WriteHeader(&grid, viewer));
  PetscCall(WritePoints(&grid));
  PetscCall(WriteConnectivity(&grid));
  PetscCall(WriteCells(&grid));
  for (int i = 0;; i++) {
    PetscCall(QueryField(viewer, i, &v));
    if (!v) break;
    PetscCall(WriteField(&grid, v));
    PetscCall(ComposeField(viewer, i, NULL));
  }
  Line(&grid, "\n  </AppendedData>\n</VTKFile>");
  PetscCall(GridClose(&grid, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckName(PetscViewer viewer)
{
  const char *name;
  size_t      length = 0;
  PetscBool   vtu = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscViewerFileGetName(viewer, &name));
  if (name) PetscCall(PetscStrlen(name, &length));
  if (length > 4) PetscCall(PetscStrcasecmp(name + length - 4, ".vtu", &vtu));
  PetscCheck(vtu, PetscObjectComm((PetscObject)viewer), PETSC_ERR_SUP, "A DMVPATCHDG writes VTK files whose name ends in .vtu, not %s",
             name ? name : "without a name");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The viewer keeps a copy, so that the caller may go on with v. */
static PetscErrorCode AddField(DM dm, Vec v, PetscViewer viewer)
{
  const char *name;
  int         i = -1;
  Vec         copy, other;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, v, "VecView()"));
  PetscCall(CheckName(viewer));
  PetscCall(PetscObjectGetName((PetscObject)v, &name));
  PetscCall(VecDuplicate(v, &copy));
  PetscCall(VecCopy(v, copy));
  PetscCall(PetscObjectSetName((PetscObject)copy, name));
  do PetscCall(QueryField(viewer, ++i, &other));
  while (other);
  PetscCall(ComposeField(viewer, i, copy));
  PetscCall(PetscViewerVTKAddField(viewer, (PetscObject)dm, WriteAll, PETSC_DEFAULT, PETSC_VTK_POINT_FIELD, PETSC_TRUE,
                                   (PetscObject)copy)); /* takes over copy */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecView_VPatchDG(Vec v, PetscViewer viewer)
{
  PetscBool vtk;
  DM        dm;

  PetscFunctionBegin;
  PetscCall(VecGetDM(v, &dm));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERVTK, &vtk));
  if (dm && vtk) PetscCall(AddField(dm, v, viewer));
  else PetscCall(VecViewNative(v, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
