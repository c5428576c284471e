/* VecView() into a VTK viewer: an unstructured grid (.vtu) for ParaView. Every cell becomes k^dim linear cells on its (k+1)^dim
   equidistant points. A mapped cell becomes one curved cell on these points, a Lagrange cell of VTK. Cells share no points, so jumps are
   visible. Rank 0 writes the file and receives the arrays of other ranks one by one. */
#include "fields.h"
#include "functions.h"
#include "../../base/progress.h"
#include <petsc/private/vecimpl.h>
#include <stdarg.h>

#define CHUNK ((size_t)1 << 26) /* bytes of a message */

/* the sections of a file, in this order */
typedef enum { POINTS, CELLS, CELL_DATA, POINT_DATA } Section;
static const char *const sections[] = {"Points", "Cells", "CellData", "PointData"};

/* the file, and the points of a cell */
typedef struct {
  MPI_Comm    comm;
  PetscMPIInt rank, size;
  FILE       *file;    /* on rank 0 */
  PetscBool   failed;  /* Rank 0 could not write. Other ranks learn this when all data is sent. */
  Section     section; /* of the header, the one that is open */
  uint64_t    bytes;   /* bytes of the arrays in the header */
  VpMesh      mesh;
  VpField     field;
  double      x[VP_MAX_N]; /* equidistant points, n in each direction */
  int         n;
  int         npoint, ncell, ncorner; /* numbers of points and of VTK's cells of a cell, and of points that each of these joins */
  PetscBool   curved;                 /* VTK's cells are Lagrange cells. */
} Vtk;

/* An array of the file, with `count` numbers for each cell of the mesh. fill() writes the numbers of an own cell. */
typedef struct Array_ Array;
struct Array_ {
  Section     section;
  const char *type, *name;
  int         components;   /* attribute of the array; 0: none */
  int         count, bytes; /* bytes: of a number */
  void (*fill)(const Vtk *, const Array *, int32_t cell, void *to);
  int              width;
  const PetscReal *values; /* [own cells][width] to be written; NULL: the mesh tells the numbers */
};

static void WriteBytes(Vtk *vtk, const void *data, size_t bytes)
{
  if (fwrite(data, 1, bytes, vtk->file) != bytes) vtk->failed = PETSC_TRUE;
}

static void PrintText(Vtk *vtk, const char format[], ...)
{
  va_list arguments;

  if (vtk->rank) return;
  va_start(arguments, format);
  if (vfprintf(vtk->file, format, arguments) < 0) vtk->failed = PETSC_TRUE;
  va_end(arguments);
}

/* Writes a part of an array and reports -vpatchdg_progress. */
static PetscErrorCode WritePart(Vtk *vtk, const char *data, size_t bytes)
{
  PetscFunctionBegin;
  for (size_t at = 0; at < bytes; at += CHUNK) {
    WriteBytes(vtk, data + at, PetscMin(bytes - at, CHUNK));
    PetscCall(VpProgress("VTK file", (double)ftello(vtk->file), (double)vtk->bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the ranks' parts of an array in order, after the size of the array. */
static PetscErrorCode WriteParts(Vtk *vtk, const char *data, size_t bytes)
{
  uint64_t mine = bytes, total = 0, *of_rank;
  char    *buffer;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(vtk->size, &of_rank, vtk->rank ? 0 : CHUNK, &buffer));
  PetscCallMPI(MPI_Gather(&mine, 1, MPI_UINT64_T, of_rank, 1, MPI_UINT64_T, 0, vtk->comm));
  for (size_t at = 0; vtk->rank && at < bytes; at += CHUNK)
    PetscCallMPI(MPI_Send(data + at, (int)PetscMin(bytes - at, CHUNK), MPI_BYTE, 0, 0, vtk->comm));
  if (!vtk->rank) {
    for (int r = 0; r < vtk->size; r++) total += of_rank[r];
    WriteBytes(vtk, &total, sizeof(total));
    PetscCall(WritePart(vtk, data, bytes));
  }
  for (int r = 1; !vtk->rank && r < vtk->size; r++) {
    for (uint64_t at = 0; at < of_rank[r]; at += CHUNK) {
      const size_t n = PetscMin(of_rank[r] - at, CHUNK);

      PetscCallMPI(MPI_Recv(buffer, (int)n, MPI_BYTE, r, 0, vtk->comm, MPI_STATUS_IGNORE));
      PetscCall(WritePart(vtk, buffer, n));
    }
  }
  PetscCall(PetscFree2(of_rank, buffer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void FillPoints(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  const int dim = vtk->mesh->dim;
  PetscReal X[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N], *x = (PetscReal *)to;

  VpGeometryEvaluate(vtk->mesh->geometry, cell, (int[]){vtk->n, vtk->n, dim == 3 ? vtk->n : 1},
                     (const double *const[]){vtk->x, vtk->x, vtk->x}, X, NULL);
  for (int i = 0; i < 3 * vtk->npoint; i++) x[i] = i % 3 < dim ? X[i / 3 * dim + i % 3] : 0;
}

/* The number that VTK's Lagrange cell of degree k gives to a point: corners come first, then the inner points of edges, of faces, and of
   the cell. The order of the last two edges along z is that of files before version 2.2, which VTK knows by the version. */
static int LagrangeNumber(int dim, int k, const int at[3])
{
  const int x = at[0] > 0, y = at[1] > 0, z = at[2] > 0, m = k - 1;
  int       inner = 0, first = 1 << dim, stride = 1, number = 0, normal = 0;

  for (int d = 0; d < dim; d++) {
    if (at[d] == 0 || at[d] == k) normal = d;
    else {
      number += (at[d] - 1) * stride;
      stride *= m;
      inner++;
    }
  }
  if (inner == 0) return (x ? 1 + y : 3 * y) + 4 * z;
  if (inner == 1 && at[0] % k) return first + number + 2 * m * y + 4 * m * z;
  if (inner == 1 && at[1] % k) return first + number + (x ? m : 3 * m) + 4 * m * z;
  if (inner == 1) return first + number + m * (8 + x + 2 * y);
  first += m * (dim == 3 ? 12 : 4);
  if (inner == dim) return first + number + (dim == 3 ? 6 * m * m : 0);
  return first + number + m * m * (2 * normal + (at[normal] > 0));
}

static void FillCurved(const Vtk *vtk, int32_t cell, int64_t to[])
{
  for (int p = 0; p < vtk->npoint; p++) {
    const int at[3] = {p % vtk->n, p / vtk->n % vtk->n, p / (vtk->n * vtk->n)};

    to[LagrangeNumber(vtk->mesh->dim, vtk->n - 1, at)] = ((int64_t)vtk->mesh->first + cell) * vtk->npoint + p;
  }
}

/* VTK_QUAD, and each end of a VTK_HEXAHEDRON, numbers corners around the face. This library numbers them with x fastest. */
static void FillConnectivity(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  int64_t *at = (int64_t *)to;

  if (vtk->curved) FillCurved(vtk, cell, at);
  for (int linear = 0; linear < vtk->ncell && !vtk->curved; linear++) {
    for (int v = 0; v < vtk->ncorner; v++) {
      const int around = v ^ (v >> 1 & 1);
      int64_t   point = 0, stride = 1;

      for (int d = 0, r = linear; d < vtk->mesh->dim; d++, r /= vtk->n - 1, stride *= vtk->n)
        point += (r % (vtk->n - 1) + (around >> d & 1)) * stride;
      *at++ = ((int64_t)vtk->mesh->first + cell) * vtk->npoint + point;
    }
  }
}

/* Writes where the points of each of VTK's cells end. */
static void FillOffsets(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  for (int i = 0; i < vtk->ncell; i++) ((int64_t *)to)[i] = (((int64_t)vtk->mesh->first + cell) * vtk->ncell + i + 1) * vtk->ncorner;
}

static void FillTypes(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  static const int types[2][2] = {{9, 12}, {70, 72}}; /* VTK_QUAD, VTK_HEXAHEDRON; VTK_LAGRANGE_QUADRILATERAL, VTK_LAGRANGE_HEXAHEDRON */

  memset(to, types[vtk->curved][vtk->mesh->dim - 2], (size_t)vtk->ncell);
}

static void FillRanks(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  for (int i = 0; i < vtk->ncell; i++) ((int32_t *)to)[i] = vtk->rank;
}

/* Repeats the cell's values for each of VTK's cells. A vector gets three components. */
static void FillCellValues(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  const int components = a->count / vtk->ncell;

  for (int i = 0; i < a->count; i++)
    ((double *)to)[i] = i % components < a->width ? a->values[(size_t)cell * (size_t)a->width + (size_t)(i % components)] : 0;
}

static void FillPointValues(const Vtk *vtk, const Array *a, int32_t cell, void *to)
{
  memcpy(to, a->values + (size_t)cell * (size_t)a->width, (size_t)a->width * sizeof(double));
}

/* The vectors that a viewer still has to write, vectors of the DM or with one value per cell, are a list: the first is composed with the
   viewer, each other one with its predecessor. */
static const char next_key[] = "DMVPatchDG VTK next";

static PetscErrorCode GetNext(PetscObject object, Vec *v)
{
  return PetscObjectQuery(object, next_key, (PetscObject *)v);
}

/* Vectors with one value per cell belong to no DM. */
static PetscErrorCode FindSection(Vec v, Section *section)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(VecGetDM(v, &dm));
  *section = dm ? POINT_DATA : CELL_DATA;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what is done with an array; v: the vector that has its values, or NULL */
typedef PetscErrorCode (*Visit)(Vtk *, Array *, Vec v);

/* Visits the composed vectors of a section. */
static PetscErrorCode VisitVectors(Vtk *vtk, PetscViewer viewer, Section wanted, Visit visit)
{
  const PetscBool points = (PetscBool)(wanted == POINT_DATA);
  const int       count = points ? vtk->npoint : vtk->ncell;
  Array           a = {wanted, "Float64", NULL, 1, count, 8, points ? FillPointValues : FillCellValues, points ? count : 1, NULL};
  Vec             v;
  Section         section;

  PetscFunctionBegin;
  PetscCall(GetNext((PetscObject)viewer, &v));
  while (v) {
    PetscCall(PetscObjectGetName((PetscObject)v, &a.name));
    PetscCall(FindSection(v, &section));
    if (section == wanted) PetscCall(visit(vtk, &a, v));
    PetscCall(GetNext((PetscObject)v, &v));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Visits all arrays in the order of the file. */
static PetscErrorCode VisitArrays(Vtk *vtk, PetscViewer viewer, Visit visit)
{
  const VpProblem *problem = VpOperatorGiven(DMVPatchDGData(vtk->field.dm)->op);
  const PetscReal *values = problem->coefficient;
  const int        n = vtk->ncell, width = VpProblemWidth(problem), components = problem->tensor ? 3 : 1;
  Array            array[] = {{POINTS, "Float64", "Position", 3, 3 * vtk->npoint, 8, FillPoints, 0, NULL},
                              {CELLS, "Int64", "connectivity", 0, n * vtk->ncorner, 8, FillConnectivity, 0, NULL},
                              {CELLS, "Int64", "offsets", 0, n, 8, FillOffsets, 0, NULL},
                              {CELLS, "UInt8", "types", 0, n, 1, FillTypes, 0, NULL},
                              {CELL_DATA, "Int32", "rank", 0, n, 4, FillRanks, 0, NULL},
                              {CELL_DATA, "Float64", "coefficient", problem->tensor ? 3 : 0, components * n, 8, FillCellValues, width, values}};

  PetscFunctionBegin;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(array) - !values; i++) PetscCall(visit(vtk, &array[i], NULL));
  PetscCall(VisitVectors(vtk, viewer, CELL_DATA, visit));
  PetscCall(VisitVectors(vtk, viewer, POINT_DATA, visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Opens a section of the header and closes those before it. */
static void OpenSection(Vtk *vtk, Section section)
{
  for (; vtk->section < section; vtk->section++)
    PrintText(vtk, "      </%s>\n      <%s>\n", sections[vtk->section], sections[vtk->section + 1]);
}

/* Declares an array in the header. In its name, characters that XML forbids in an attribute become underscores. */
static PetscErrorCode DeclareArray(Vtk *vtk, Array *a, Vec v)
{
  char name[128];

  PetscFunctionBegin;
  PetscCall(PetscStrncpy(name, a->name, sizeof(name)));
  for (char *c = name; *c; c++) {
    if (strchr("\"<>&", *c)) *c = '_';
  }
  OpenSection(vtk, a->section);
  PrintText(vtk, "        <DataArray type=\"%s\" Name=\"%s\"", a->type, name);
  if (a->components) PrintText(vtk, " NumberOfComponents=\"%d\"", a->components);
  PrintText(vtk, " format=\"appended\" offset=\"%llu\"/>\n", (unsigned long long)vtk->bytes);
  vtk->bytes += 8 + (uint64_t)vtk->mesh->ncell * (uint64_t)a->count * (uint64_t)a->bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode WriteHeader(Vtk *vtk, PetscViewer viewer)
{
  const double points = (double)vtk->mesh->ncell * vtk->npoint, cells = (double)vtk->mesh->ncell * vtk->ncell;
  const union {
    uint16_t word;
    uint8_t  byte[2];
  } order = {1};

  PetscFunctionBegin;
  PrintText(vtk,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%sEndian\" header_type=\"UInt64\">\n",
            order.byte[0] ? "Little" : "Big");
  PrintText(vtk, "  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%.0f\" NumberOfCells=\"%.0f\">\n      <Points>\n", points, cells);
  PetscCall(VisitArrays(vtk, viewer, DeclareArray));
  OpenSection(vtk, POINT_DATA);
  PrintText(vtk, "      </PointData>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes an array. A vector of the DM is evaluated at the equidistant points. */
static PetscErrorCode WriteArray(Vtk *vtk, Array *a, Vec v)
{
  const PetscBool points = (PetscBool)(a->section == POINT_DATA);
  const size_t    each = (size_t)a->count * (size_t)a->bytes, n = (size_t)vtk->mesh->nown;
  Vec             values = v;
  char           *data;

  PetscFunctionBegin;
  if (points) PetscCall(VpPointVectorCreate(&vtk->field, VP_GIVEN_SOURCE, 1, &values));
  if (points) PetscCall(VpComputeAtPoints(&vtk->field, VP_GIVEN_SOURCE, VP_VALUE, vtk->x, v, values));
  if (v) PetscCall(VecGetArrayRead(values, &a->values));
  PetscCall(PetscMalloc1(n * each, &data));
  for (size_t c = 0; c < n; c++) a->fill(vtk, a, (int32_t)c, data + c * each);
  PetscCall(WriteParts(vtk, data, n * each));
  PetscCall(PetscFree(data));
  if (v) PetscCall(VecRestoreArrayRead(values, &a->values));
  if (points) PetscCall(VecDestroy(&values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ensures: an error on all ranks if rank 0 met one. The viewer is emptied because PETSc flushes it once more when it is destroyed. */
static PetscErrorCode CheckFile(Vtk *vtk, PetscViewer viewer, const char what[])
{
  PetscMPIInt failed = vtk->failed;
  const char *name;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&failed, 1, MPI_INT, 0, vtk->comm));
  if (!failed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectCompose((PetscObject)viewer, next_key, NULL));
  PetscCall(PetscViewerFileGetName(viewer, &name));
  SETERRQ(vtk->comm, PETSC_ERR_FILE_WRITE, "The file %s cannot be %s", name, what);
}

static PetscErrorCode OpenFile(DM dm, PetscViewer viewer, Vtk *vtk)
{
  const DM_VPatchDG *dg = DMVPatchDGData(dm);
  const char        *name;

  PetscFunctionBegin;
  *vtk = (Vtk){.comm = PetscObjectComm((PetscObject)dm), .mesh = dg->mesh, .n = (int)dg->degree + 1};
  PetscCallMPI(MPI_Comm_rank(vtk->comm, &vtk->rank));
  PetscCallMPI(MPI_Comm_size(vtk->comm, &vtk->size));
  PetscCall(VpFieldGet(dm, &vtk->field));
  for (int i = 0; i < vtk->n; i++) vtk->x[i] = (double)i / (double)dg->degree;
  vtk->npoint = (int)PetscPowInt(vtk->n, dg->mesh->dim);
  vtk->curved = (PetscBool)(dg->mesh->geometry->map && dg->degree > 1);
  vtk->ncell = vtk->curved ? 1 : (int)PetscPowInt(dg->degree, dg->mesh->dim);
  vtk->ncorner = vtk->curved ? vtk->npoint : 1 << dg->mesh->dim;
  PetscCall(PetscViewerFileGetName(viewer, &name));
  if (!vtk->rank) vtk->failed = (PetscBool) !(vtk->file = fopen(name, "wb"));
  PetscCall(CheckFile(vtk, viewer, "opened: is there such a folder, and may it be written?"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc calls this when the viewer is flushed or destroyed. */
static PetscErrorCode WriteAll(PetscObject object, PetscViewer viewer)
{
  Vtk vtk;
  Vec first;

  PetscFunctionBegin;
  PetscCall(GetNext((PetscObject)viewer, &first));
  if (!first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(OpenFile((DM)object, viewer, &vtk));
  PetscCall(WriteHeader(&vtk, viewer));
  PetscCall(VisitArrays(&vtk, viewer, WriteArray));
  PetscCall(PetscObjectCompose((PetscObject)viewer, next_key, NULL));
  PrintText(&vtk, "\n  </AppendedData>\n</VTKFile>\n");
  if (!vtk.rank && fclose(vtk.file)) vtk.failed = PETSC_TRUE;
  PetscCall(CheckFile(&vtk, viewer, "written: is the disk full?"));
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

/* Appends a vector to the viewer, which takes over its reference. A vector of the DM whose name is NULL becomes "u", then "u2". */
static PetscErrorCode AddVector(DM dm, PetscViewer viewer, const char name[], Vec v)
{
  PetscObject last = (PetscObject)viewer;
  char        made[16] = "u";
  int         number = 1;
  Vec         other;
  Section     section;

  PetscFunctionBegin;
  PetscCall(GetNext(last, &other));
  while (other) {
    last = (PetscObject)other;
    PetscCall(FindSection(other, &section));
    number += section == POINT_DATA;
    PetscCall(GetNext(last, &other));
  }
  if (number > 1) PetscCall(PetscSNPrintf(made, sizeof(made), "u%d", number));
  PetscCall(PetscObjectSetName((PetscObject)v, name ? name : made));
  PetscCall(PetscObjectCompose(last, next_key, (PetscObject)v));
  PetscCall(FindSection(v, &section));
  PetscCall(PetscViewerVTKAddField(viewer, (PetscObject)dm, WriteAll, PETSC_DEFAULT,
                                   section == CELL_DATA ? PETSC_VTK_CELL_FIELD : PETSC_VTK_POINT_FIELD, PETSC_TRUE, (PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies v, so that the caller may change it. A name that PETSc derived from its address counts as none. */
static PetscErrorCode AddField(DM dm, Vec v, PetscViewer viewer)
{
  const char *name = ((PetscObject)v)->name;
  PetscBool   made = PETSC_TRUE;
  Vec         copy;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckVector(dm, v, "VecView()"));
  PetscCall(CheckName(viewer));
  if (name) PetscCall(PetscStrncmp(name, "Vec_0x", 6, &made));
  PetscCall(VecDuplicate(v, &copy));
  PetscCall(VecSetDM(copy, dm));
  PetscCall(VecCopy(v, copy));
  PetscCall(AddVector(dm, viewer, made ? NULL : name, copy));
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
   Every file also contains the rank and the coefficient of each cell. Mapped cells are curved in the file (Lagrange cells of degree k).

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
  PetscCall(AddVector(dm, viewer, name, copy));
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
