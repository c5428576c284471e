/* VecView() into a VTK viewer: an unstructured grid (.vtu) for ParaView. Every cell becomes k^dim linear cells on its (k+1)^dim equidistant
   points. Cells share no points, so jumps are visible. Rank 0 writes the file and receives the arrays of other ranks one by one. */
#include "fields.h"
#include "vtk.h"

/* The vectors that a viewer still has to write: vectors of the DM, and vectors with one value per cell. The first vector is composed with
   the viewer, each other one with its predecessor. */
typedef enum { FIELD, CELLS } Kind;
static const char *const next_key[] = {"DMVPatchDG VTK field", "DMVPatchDG VTK cells"};

/* Writes a line of the header. Ensures: *offset has grown by the array's size. attributes: Name, NumberOfComponents */
static PetscErrorCode DeclareArray(VpVtk *grid, const char type[], const char attributes[], double count, int bytes, uint64_t *offset)
{
  char text[512];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "        <DataArray type=\"%s\" %s format=\"appended\" offset=\"%llu\"/>", type, attributes,
                          (unsigned long long)*offset));
  VpVtkLine(grid, text);
  *offset += 8 + (uint64_t)count * bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Characters that XML forbids in an attribute become underscores. */
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

static PetscErrorCode GetNext(PetscObject object, Kind kind, Vec *v)
{
  return PetscObjectQuery(object, next_key[kind], (PetscObject *)v);
}

/* Declares the composed vectors of one kind. */
static PetscErrorCode DeclareAll(VpVtk *grid, PetscViewer viewer, Kind kind, double count, uint64_t *offset)
{
  char text[256];
  Vec  v;

  PetscFunctionBegin;
  PetscCall(GetNext((PetscObject)viewer, kind, &v));
  while (v) {
    PetscCall(FieldAttributes(v, text, sizeof(text)));
    PetscCall(DeclareArray(grid, "Float64", text, count, 8, offset));
    PetscCall(GetNext((PetscObject)v, kind, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes all vectors from the viewer. */
static PetscErrorCode ForgetAll(PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)viewer, next_key[FIELD], NULL));
  PetscCall(PetscObjectCompose((PetscObject)viewer, next_key[CELLS], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteHeader(VpVtk *grid, PetscViewer viewer)
{
  const double points = (double)grid->mesh->ncell * grid->npoint, cells = (double)grid->mesh->ncell * grid->ncell;
  const union {
    uint16_t word;
    uint8_t  byte[2];
  } order = {1};
  const VpProblem *problem = &grid->field.level->problem;
  uint64_t         offset = 0;
  char             text[256];

  PetscFunctionBegin;
  VpVtkLine(grid, "<?xml version=\"1.0\"?>");
  PetscCall(PetscSNPrintf(
    text, sizeof(text),
    "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%sEndian\" header_type=\"UInt64\">\n  <UnstructuredGrid>",
    order.byte[0] ? "Little" : "Big"));
  VpVtkLine(grid, text);
  PetscCall(PetscSNPrintf(text, sizeof(text), "    <Piece NumberOfPoints=\"%.0f\" NumberOfCells=\"%.0f\">\n      <Points>", points, cells));
  VpVtkLine(grid, text);
  PetscCall(DeclareArray(grid, "Float64", "Name=\"Position\" NumberOfComponents=\"3\"", 3 * points, 8, &offset));
  VpVtkLine(grid, "      </Points>\n      <Cells>");
  PetscCall(DeclareArray(grid, "Int64", "Name=\"connectivity\"", cells * grid->ncorner, 8, &offset));
  PetscCall(DeclareArray(grid, "Int64", "Name=\"offsets\"", cells, 8, &offset));
  PetscCall(DeclareArray(grid, "UInt8", "Name=\"types\"", cells, 1, &offset));
  VpVtkLine(grid, "      </Cells>\n      <CellData>");
  PetscCall(DeclareArray(grid, "Int32", "Name=\"rank\"", cells, 4, &offset));
  if (problem->coefficient && problem->tensor)
    PetscCall(DeclareArray(grid, "Float64", "Name=\"coefficient\" NumberOfComponents=\"3\"", 3 * cells, 8, &offset));
  else if (problem->coefficient) PetscCall(DeclareArray(grid, "Float64", "Name=\"coefficient\"", cells, 8, &offset));
  PetscCall(DeclareAll(grid, viewer, CELLS, cells, &offset));
  VpVtkLine(grid, "      </CellData>\n      <PointData>");
  PetscCall(DeclareAll(grid, viewer, FIELD, points, &offset));
  grid->bytes = offset;
  VpVtkLine(grid, "      </PointData>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">");
  if (!grid->rank) VpVtkWrite(grid, "_", 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks if rank 0 met one. The viewer is emptied because PETSc flushes it once more when it is destroyed. */
static PetscErrorCode CheckFile(VpVtk *grid, PetscViewer viewer, const char what[])
{
  PetscMPIInt failed = grid->failed;
  const char *name;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, grid->comm));
  if (!failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ForgetAll(viewer));
  PetscCall(PetscViewerFileGetName(viewer, &name));
  SETERRQ(grid->comm, PETSC_ERR_FILE_WRITE, "The file %s cannot be %s", name, what);
}

static PetscErrorCode GridCreate(DM dm, PetscViewer viewer, VpVtk *grid)
{
  DM_VPatchDG *dg = (DM_VPatchDG *)dm->data;
  const char  *name;
  double       x[VP_MAX_N];

  PetscFunctionBegin;
  *grid = (VpVtk){.failed = PETSC_FALSE};
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

static PetscErrorCode GridClose(VpVtk *grid, PetscViewer viewer)
{
  PetscFunctionBegin;
  if (!grid->rank && fclose(grid->file)) grid->failed = PETSC_TRUE;
  PetscCall(CheckFile(grid, viewer, "written: is the disk full?"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the arrays in the order of the header. */
static PetscErrorCode WriteArrays(VpVtk *grid, PetscViewer viewer)
{
  const VpProblem   *problem = &grid->field.level->problem;
  const PetscScalar *values;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(VpVtkWritePoints(grid));
  PetscCall(VpVtkWriteConnectivity(grid));
  PetscCall(VpVtkWriteCells(grid));
  if (problem->coefficient) PetscCall(VpVtkWriteCellData(grid, problem->tensor, problem->coefficient));
  PetscCall(GetNext((PetscObject)viewer, CELLS, &v));
  while (v) {
    PetscCall(VecGetArrayRead(v, &values));
    PetscCall(VpVtkWriteCellData(grid, 0, values));
    PetscCall(VecRestoreArrayRead(v, &values));
    PetscCall(GetNext((PetscObject)v, CELLS, &v));
  }
  PetscCall(GetNext((PetscObject)viewer, FIELD, &v));
  while (v) {
    PetscCall(VpVtkWriteField(grid, v));
    PetscCall(GetNext((PetscObject)v, FIELD, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this when the viewer is flushed or destroyed. */
static PetscErrorCode WriteAll(PetscObject object, PetscViewer viewer)
{
  VpVtk grid = {0};
  Vec   field, cells;

  PetscFunctionBegin;
  PetscCall(GetNext((PetscObject)viewer, FIELD, &field));
  PetscCall(GetNext((PetscObject)viewer, CELLS, &cells));
  if (!field && !cells) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GridCreate((DM)object, viewer, &grid));
  PetscCall(WriteHeader(&grid, viewer));
  PetscCall(WriteArrays(&grid, viewer));
  PetscCall(ForgetAll(viewer));
  VpVtkLine(&grid, "\n  </AppendedData>\n</VTKFile>");
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

/* name = the vector's name. A vector without a name, or with a name that PETSc derived from its address, becomes "u", then "u2". */
static PetscErrorCode GetName(Vec v, PetscViewer viewer, char name[], size_t length)
{
  const char *given = ((PetscObject)v)->name;
  PetscBool   made = PETSC_TRUE;
  int         number = 1;
  Vec         other;

  PetscFunctionBegin;
  if (given) PetscCall(PetscStrncmp(given, "Vec_0x", 6, &made));
  if (!made) PetscCall(PetscStrncpy(name, given, length));
  if (!made) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetNext((PetscObject)viewer, FIELD, &other));
  for (; other; number++) PetscCall(GetNext((PetscObject)other, FIELD, &other));
  if (number == 1) PetscCall(PetscStrncpy(name, "u", length));
  else PetscCall(PetscSNPrintf(name, length, "u%d", number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Appends a vector to the viewer, which takes over its reference. */
static PetscErrorCode AddVector(DM dm, PetscViewer viewer, Kind kind, const char name[], Vec v)
{
  const PetscViewerVTKFieldType type[] = {PETSC_VTK_POINT_FIELD, PETSC_VTK_CELL_FIELD};
  PetscObject                   last;
  Vec                           other = NULL;

  PetscFunctionBegin;
  PetscCall(PetscObjectSetName((PetscObject)v, name));
  do {
    last = other ? (PetscObject)other : (PetscObject)viewer;
    PetscCall(GetNext(last, kind, &other));
  } while (other);
  PetscCall(PetscObjectCompose(last, next_key[kind], (PetscObject)v));
  PetscCall(PetscViewerVTKAddField(viewer, (PetscObject)dm, WriteAll, PETSC_DEFAULT, type[kind], PETSC_TRUE, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies v, so that the caller may change it. */
static PetscErrorCode AddField(DM dm, Vec v, PetscViewer viewer)
{
  char name[128];
  Vec  copy;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, v, "VecView()"));
  PetscCall(CheckName(viewer));
  PetscCall(GetName(v, viewer, name, sizeof(name)));
  PetscCall(VecDuplicate(v, &copy));
  PetscCall(VecCopy(v, copy));
  PetscCall(AddVector(dm, viewer, FIELD, name, copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   DMVPatchDGViewCells - Writes one number per cell to a file for ParaView

   Collective

   Input Parameters:
+  dm     - the DM, set up
.  name   - name of the numbers in the file
.  values - [cells of this rank] the numbers, in the order of `DMVPatchDGGetCellBounds()`
-  viewer - a viewer of type `PETSCVIEWERVTK` whose file ends in .vtu

   Level: intermediate

   Note:
   The numbers are copied. The viewer writes them when it is flushed or destroyed, together with the vectors that `VecView()` has added.
   Every file also contains the rank and the coefficient of each cell.

.seealso: `DMVPATCHDG`, `DMVPatchDGGetCells()`, `DMVPatchDGGetCellBounds()`, `VecView()`, `PetscViewerVTKOpen()`
@*/
PetscErrorCode DMVPatchDGViewCells(DM dm, const char name[], const PetscReal values[], PetscViewer viewer)
{
  PetscBool    vtk;
  PetscInt     n;
  PetscScalar *to;
  Vec          copy;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheck(dm, "DMVPatchDGViewCells()"));
  VpAssertPointer(name, 2);
  VpAssertObject(viewer, PETSC_VIEWER_CLASSID, 4);
  n = DMVPatchDGData(dm)->mesh->nown;
  PetscCall(VpCheckEverywhere(PetscObjectComm((PetscObject)dm), (PetscBool)(values || !n), "DMVPatchDGViewCells(): there are no values"));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERVTK, &vtk));
  PetscCheck(vtk, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "DMVPatchDGViewCells() needs a viewer of type vtk (PetscViewerVTKOpen()), not %s", VpTypeName((PetscObject)viewer));
  PetscCall(CheckName(viewer));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)dm), n, PETSC_DETERMINE, &copy));
  PetscCall(VecGetArrayWrite(copy, &to));
  for (PetscInt i = 0; i < n; i++) to[i] = values[i];
  PetscCall(VecRestoreArrayWrite(copy, &to));
  PetscCall(AddVector(dm, viewer, CELLS, name, copy));
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
