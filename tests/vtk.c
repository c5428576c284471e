/* VTK output: a file that says what the vector is, whatever the number of ranks. */
/* ranks: 1 2 3 4 */
#include "support/refused.h"
#include "support/problem.h"
#include <unistd.h>

static PetscErrorCode Linear(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  PetscFunctionBeginUser;
  value[0] = 1 + x[0] + 10 * x[1] + (dim == 3 ? 100 * x[2] : 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static char *ReadAll(const char name[], long *length)
{
  FILE *file = fopen(name, "rb");
  char *text;

  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *length = ftell(file);
  rewind(file);
  text = malloc(*length + 1);
  if (fread(text, 1, *length, file) != (size_t)*length) *length = 0;
  text[*length] = 0;
  fclose(file);
  return text;
}

/* the array of that name and its size in bytes */
static const void *Array(const char *text, const char name[], uint64_t *bytes)
{
  const char *data = strstr(text, "<AppendedData encoding=\"raw\">"), *at;
  char        key[64];

  snprintf(key, sizeof(key), "Name=\"%s\"", name);
  at = strstr(text, key);
  if (!at || !data) return NULL;
  data = strchr(data, '_') + 1 + strtoull(strstr(at, "offset=\"") + 8, NULL, 10);
  memcpy(bytes, data, sizeof(*bytes));
  return data + sizeof(*bytes);
}

/* the coefficient of the cell with this lower corner; cells have the size 1/2 */
static PetscReal CoefficientAt(PetscReal x)
{
  return 5 + PetscFloorReal(2 * x + 1e-9);
}

/* Every linear cell is a box with its corners in VTK's order of a quad or hexahedron; their volumes add up; the field is the function. */
static PetscBool FileIsRight(const char text[], PetscInt dim, PetscInt npoint, PetscInt ncell, PetscBool varies, double volume)
{
  const int   ncorner = 1 << dim, above[8] = {0, 1, 3, 2, 4, 5, 7, 6}; /* bit d: the corner is at the upper end along d */
  uint64_t    bytes[9];
  const char *points = Array(text, "Position", &bytes[0]), *corners = Array(text, "connectivity", &bytes[1]),
             *ends = Array(text, "offsets", &bytes[2]);
  const char *types = Array(text, "types", &bytes[3]), *field = Array(text, "u", &bytes[4]), *twice = Array(text, "v_w", &bytes[5]);
  const char *coefficient = Array(text, "coefficient", &bytes[6]);
  const char *left = Array(text, "left end", &bytes[7]), *odd = Array(text, "_odd_", &bytes[8]);
  double      sum = 0;

  if (!points || !corners || !ends || !types || !field || !twice || !left || !odd) return PETSC_FALSE;
  if (bytes[0] != (uint64_t)npoint * 24 || bytes[1] != (uint64_t)ncell * ncorner * 8 || bytes[2] != (uint64_t)ncell * 8 ||
      bytes[3] != (uint64_t)ncell)
    return PETSC_FALSE;
  if (varies ? !coefficient || bytes[6] != (uint64_t)ncell * 8 : coefficient != NULL) return PETSC_FALSE;
  if (bytes[7] != (uint64_t)ncell * 8 || bytes[8] != bytes[7]) return PETSC_FALSE;
  if (bytes[4] != (uint64_t)npoint * 8 || bytes[5] != bytes[4]) return PETSC_FALSE;
  for (PetscInt c = 0; c < ncell; c++) {
    int64_t end;
    double  corner[8][3], size = 1;

    memcpy(&end, ends + 8 * c, 8);
    if (end != (c + 1) * ncorner || types[c] != (dim == 3 ? 12 : 9)) return PETSC_FALSE;
    for (int v = 0; v < ncorner; v++) {
      int64_t     p;
      double      value, other;
      PetscScalar exact;

      memcpy(&p, corners + 8 * (c * ncorner + v), 8);
      if (p < 0 || p >= npoint) return PETSC_FALSE;
      memcpy(corner[v], points + 24 * p, 24);
      memcpy(&value, field + 8 * p, 8);
      memcpy(&other, twice + 8 * p, 8);
      if (Linear(dim, corner[v], &exact, NULL) || fabs(value - exact) > 1e-11 || fabs(other - 2 * exact) > 1e-11) return PETSC_FALSE;
    }
    for (int d = 0; d < dim; d++) {
      const int opposite = dim == 3 ? 6 : 2;

      size *= corner[opposite][d] - corner[0][d];
      for (int v = 0; v < ncorner; v++) {
        if (corner[v][d] != corner[above[v] >> d & 1 ? opposite : 0][d]) return PETSC_FALSE;
      }
    }
    if (size <= 0) return PETSC_FALSE;
    {
      double x[2];

      memcpy(&x[0], left + 8 * c, 8);
      memcpy(&x[1], odd + 8 * c, 8);
      if (x[0] > corner[0][0] + 1e-12 || x[0] + 0.5 < corner[1][0] - 1e-12 || x[1] != -x[0]) return PETSC_FALSE;
    }
    if (varies) {
      double a;

      memcpy(&a, coefficient + 8 * c, 8);
      if (a != CoefficientAt(corner[0][0])) return PETSC_FALSE;
    }
    sum += size;
  }
  return (PetscBool)(fabs(sum - volume) < 1e-10);
}

static PetscErrorCode SetCoefficientBy(DM dm)
{
  PetscReal *a, lower[3], upper[3];
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    a[i] = CoefficientAt(lower[0]);
  }
  PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* two numbers a cell: the least x, and its negative */
static PetscErrorCode ViewCells(DM dm, PetscViewer viewer)
{
  PetscReal *x, lower[3], upper[3];
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &x));
  for (int sign = 1; sign > -2; sign -= 2) {
    for (PetscInt i = 0; i < n; i++) {
      PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
      x[i] = sign * lower[0];
    }
    PetscCall(DMVPatchDGViewCells(dm, sign > 0 ? "left end" : "<odd>", x, viewer));
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode vtk_file_is_readable(const char name[], PetscInt dim, VPatchDGDomain domain, PetscInt degree, PetscInt nbox,
                                           PetscBool varies)
{
  const PetscInt ncell = nbox << dim;
  DM             dm;
  Vec            u, v;
  PetscViewer    viewer;
  PetscBool      right = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, 1, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, domain));
  PetscCall(DMSetUp(dm));
  if (varies) PetscCall(SetCoefficientBy(dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(DMVPatchDGInterpolate(dm, Linear, NULL, u));
  PetscCall(PetscObjectSetName((PetscObject)v, "v<w"));
  PetscCall(VecAXPBY(v, 2, 0, u));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(ViewCells(dm, viewer));
  PetscCall(VecView(v, viewer));
  PetscCall(VecZeroEntries(u));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!tap.rank) {
    long  length = 0;
    char *text = ReadAll(name, &length);

    right = (PetscBool)(text &&
                        FileIsRight(text, dim, ncell * PetscPowInt(degree + 1, (int)dim), ncell * PetscPowInt(degree, (int)dim), varies,
                                    (double)nbox) &&
                        length > 12 && !strncmp(text + length - 11, "</VTKFile>\n", 11));
    free(text);
    remove(name);
  }
  TapOk(right, "vtk_file_is_readable, %s, degree %d%s", VPatchDGDomains[domain], (int)degree, varies ? ", with a coefficient" : "");
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the corners of which a point of VTK's quadratic Lagrange cell is the middle, in VTK's order of files before version 2.2 */
static const char *const middle_2d[] = {"0", "1", "2", "3", "01", "12", "23", "03", "0123"};
static const char *const middle_3d[] = {"0",  "1",  "2",  "3",  "4",  "5",  "6",    "7",    "01",   "12",   "23",   "03",   "45",      "56",
                                        "67", "47", "04", "15", "37", "26", "0347", "1256", "0145", "2367", "0123", "4567", "01234567"};

static PetscBool CurvedFileIsRight(const char text[], PetscInt dim, PetscInt ncell)
{
  const char *const *middle = dim == 3 ? middle_3d : middle_2d;
  const int          n = dim == 3 ? 27 : 9;
  uint64_t           bytes[4];
  const char        *points = Array(text, "Position", &bytes[0]), *nodes = Array(text, "connectivity", &bytes[1]);
  const char        *ends = Array(text, "offsets", &bytes[2]), *types = Array(text, "types", &bytes[3]);

  if (!points || !nodes || !ends || !types || bytes[1] != (uint64_t)(ncell * n * 8) || bytes[3] != (uint64_t)ncell) return PETSC_FALSE;
  for (PetscInt c = 0; c < ncell; c++) {
    double  x[27][3];
    int64_t p, end;

    memcpy(&end, ends + 8 * c, 8);
    if (types[c] != (dim == 3 ? 72 : 70) || end != n * (c + 1)) return PETSC_FALSE;
    for (int i = 0; i < n; i++) {
      memcpy(&p, nodes + 8 * (c * n + i), 8);
      memcpy(x[i], points + 24 * p, 24);
      for (int d = 0; d < 3; d++) {
        double mean = 0;

        for (const char *v = middle[i]; *v; v++) mean += x[*v - '0'][d] / (double)strlen(middle[i]);
        if (fabs(mean - x[i][d]) > 1e-13) return PETSC_FALSE;
      }
    }
  }
  return PETSC_TRUE;
}

/* Maps are affine or multilinear, so that points are in the middle of corners. ncell: number of cells */
static PetscErrorCode mapped_cells_are_lagrange_cells(const char name[], PetscInt dim, const char options[], PetscInt ncell)
{
  DM          dm;
  Vec         u;
  PetscViewer viewer;
  PetscBool   right = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, "-dm_vpatchdg_backend host"));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, 2, 1, &dm));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(DMVPatchDGInterpolate(dm, Linear, NULL, u));
  PetscCall(PetscViewerVTKOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!tap.rank) {
    long  length = 0;
    char *text = ReadAll(name, &length);

    right = (PetscBool)(text && CurvedFileIsRight(text, dim, ncell));
    free(text);
    remove(name);
  }
  TapOk(right, "mapped_cells_are_lagrange_cells: %dD %s", (int)dim, options);
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_viewers_show_the_numbers(void)
{
  DM          dm;
  Vec         u, v;
  PetscViewer viewer;
  PetscReal   error;
  char        name[] = "/tmp/vpatchdgXXXXXX";

  PetscFunctionBeginUser;
  if (!tap.rank) close(mkstemp(name));
  PetscCallMPI(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &u));
  PetscCall(VecDuplicate(u, &v));
  PetscCall(DMVPatchDGInterpolate(dm, Linear, NULL, u));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(u, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  Refused(DMVPatchDGViewCells(dm, "a", (PetscReal[16]){0}, viewer), "needs a viewer of type vtk", "a viewer that is none of ParaView's");
  PetscCall(VecLoad(v, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(Difference(v, u, &error));
  TapOk((PetscBool)(error == 0), "other_viewers_show_the_numbers");
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!tap.rank) {
    char info[PETSC_MAX_PATH_LEN];

    snprintf(info, sizeof(info), "%s.info", name);
    remove(info);
    remove(name);
  }
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define SHEAR "-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 60"

TAP_MAIN()
{
  char name[64] = "";

  PetscFunctionBeginUser;
  if (!tap.rank) snprintf(name, sizeof(name), "/tmp/vpatchdg%ld.vtu", (long)getpid());
  PetscCallMPI(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(vtk_file_is_readable(name, 2, VPATCHDG_DOMAIN_LSHAPE, 1, 3, PETSC_TRUE));
  PetscCall(vtk_file_is_readable(name, 2, VPATCHDG_DOMAIN_BOX, 4, 1, PETSC_FALSE));
  PetscCall(vtk_file_is_readable(name, 3, VPATCHDG_DOMAIN_BOX, 3, 1, PETSC_TRUE));
  PetscCall(vtk_file_is_readable(name, 3, VPATCHDG_DOMAIN_FICHERA, 2, 7, PETSC_FALSE));
  PetscCall(mapped_cells_are_lagrange_cells(name, 2, SHEAR, 4));
  PetscCall(mapped_cells_are_lagrange_cells(name, 3, SHEAR, 8));
  PetscCall(mapped_cells_are_lagrange_cells(name, 2, SHEAR " -dm_vpatchdg_refine_levels 1 -dm_vpatchdg_refine_point 0,0", 7));
  PetscCall(mapped_cells_are_lagrange_cells(name, 3, SHEAR " -dm_vpatchdg_refine_levels 1 -dm_vpatchdg_refine_point 0,0,0", 15));
  PetscCall(mapped_cells_are_lagrange_cells(name, 2, "-dm_vpatchdg_domain star", 20));
  PetscCall(other_viewers_show_the_numbers());
  PetscFunctionReturn(PETSC_SUCCESS);
}
