/* Forecasts the memory of a mesh, of vectors and of a cycle, and compares it with the free memory. */
#include "forecast.h"
#include "../support/session.h"

/* number of a rank's cells on a level: own cells, cells that sweeps update, all cells with ghosts */
typedef struct {
  double own, sweep, local;
} Share;

/* Model: the cells form a cube, which the ranks divide into cubes. A rank has ghosts on at most two sides of each direction, and on fewer
   if there are few ranks. */
static double WithLayers(const VpSize *size, double cells, int layers)
{
  const double side = pow(size->ranks, 1. / size->dim), edge = pow(cells, 1. / size->dim) / side;

  return PetscMin(cells, pow(edge + 2 * layers * (1 - 1 / side), size->dim));
}

static Share ShareOf(const VpSize *size, int coarser)
{
  const double cells = coarser ? size->cells_of[coarser] : size->cells;
  const Share  share = {cells / size->ranks, WithLayers(size, cells, 2), WithLayers(size, cells, coarser ? 4 : 3)};

  return share;
}

/* Arrays of mesh.h: box, coord, zone, neighbor, in trees turn. With several ranks also beyond, and the exchanges' data of each ghost. */
static double MeshBytes(const VpSize *size, Share c)
{
  const double sides = 2 * size->dim * sizeof(int32_t), turns = size->trees ? 2 * size->dim : 0;

  return (4 * sizeof(int32_t) + 1) * c.local + (sides + turns) * c.sweep + (size->ranks > 1 ? sides * c.own + 64 * (c.local - c.own) : 0);
}

/* Tables of A x on the backend: line numbers of each cell, the distinct lines, and a device's copy of the neighbours. */
static double OperatorBytes(const VpSize *size, double cells, size_t real)
{
  const double lines = cells * size->dim * sizeof(int32_t) + size->lines * cells * VpLineSize(size->degree + 1) * real;

  return lines + (size->device ? 2 * size->dim * sizeof(int32_t) * cells : 0);
}

PetscErrorCode VpSizeFill(MPI_Comm comm, const VpBackend *backend, VpSize *size)
{
  PetscMPIInt ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  size->ranks = ranks;
  size->cells = ldexp(size->boxes, size->dim * size->level);
  size->levels = PetscMin(size->level, VP_MOST_LEVELS);
  for (int l = 0; l < size->levels; l++) size->cells_of[l] = ldexp(size->cells, -l * size->dim);
  size->patch = (double)backend->patch_bytes;
  size->device = VpIsDevice(backend);
  size->prefers = backend->prefers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpSizeOfMesh(VpMesh mesh, int degree, const VpBackend *backend, VpSize *size)
{
  PetscFunctionBegin;
  *size = (VpSize){.dim = mesh->dim, .degree = degree, .boxes = mesh->geometry->domain->nbox, .level = mesh->level};
  PetscCall(VpSizeFill(mesh->comm, backend, size));
  size->cells = (double)mesh->ncell;
  size->trees = (PetscBool)(mesh->geometry->domain->trees != NULL);
  for (int32_t i = 0; i < mesh->faces.n; i++)
    size->parts += (mesh->faces.face[i].kind == VP_FACE_COARSE ? 1 << (mesh->dim - 1) : 1) / (double)mesh->nown;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines differ if the coefficients of the cell and its two neighbours differ. Their number is at most the number of cells, and at most the
   number of ways to choose three values of the coefficient. */
PetscErrorCode VpCountLines(VpMesh mesh, const VpProblem *problem, VpSize *size)
{
  const PetscReal *a = problem->coefficient;
  const int32_t    width = VpProblemWidth(problem);
  const PetscInt   most = 1 + (PetscInt)cbrt(mesh->nown / 9.); /* With more values, each cell may have lines of its own. */
  PetscReal       *known;
  PetscInt         n = 0, i;
  PetscBool        uniform;

  PetscFunctionBegin;
  size->lines = 0;
  PetscCall(VpProblemIsUniform(mesh, problem, &uniform));
  if (uniform) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(most, &known));
  for (int32_t c = 0; a && c < mesh->nown * width && n < most; c++) {
    for (i = 0; i < n && known[i] != a[c]; i++)
      ;
    if (i == n) known[n++] = a[c];
  }
  PetscCall(PetscFree(known));
  size->lines = n > 1 ? size->dim * PetscMin(1, 9 * pow((double)n, 3) / mesh->nown) : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &size->lines, 1, MPI_DOUBLE, MPI_MAX, mesh->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

double VpMapNumbers(const VpSize *size, PetscInt degree, PetscBool formula)
{
  return 1 + (formula ? 0 : size->dim * pow((double)(degree + 1) / (size->degree + 1), size->dim));
}

/* G, sides' numbers and, where they are kept, traces; reaction */
void VpCountPoints(int components, double map, VpMetric made, VpSize *size)
{
  const int    dim = size->dim;
  const double side = (2 * dim + size->parts) / (size->degree + 1), stored = components + VpMetricRows(dim, components) * side;
  const double kept = size->device || size->parts == 0 ? 0 : 2 * side;

  size->at_points = (made ? VpMetricNumbers(made, dim, size->degree + 1) : stored) + side + kept + map + 1;
}

void VpCountMetric(VpMesh mesh, const VpProblem *problem, VpSize *size)
{
  const VpMap map = mesh->geometry->map;

  if (problem->metric)
    VpCountPoints(problem->metric->components, map ? VpMapNumbers(size, map->degree, (PetscBool)(map->formula > 0)) : 0, problem->metric,
                  size);
}

double VpUnknowns(const VpSize *size)
{
  return size->cells * pow(size->degree + 1, size->dim);
}

/* How trees meet, which every rank knows: VpDomain and VpTrees, and p4est's connectivity by vertices and sides, in 3D by edges, too. */
static double TreesBytes(const VpSize *size)
{
  const double corners = 1 << size->dim, sides = 2 * size->dim, edges = size->dim == 3 ? 12 : 0;
  const double domain = 6 * sizeof(PetscReal) + corners * sizeof(int32_t) + sides * (sizeof(int32_t) + 1) + 5;
  const double forest = 2 * corners * (2 * sizeof(int32_t) + 1) + sides * (sizeof(int32_t) + 1) + edges * (2 * sizeof(int32_t) + 1);

  return size->trees ? size->boxes * (domain + forest) : 0;
}

/* Lists of nodes and of places, values at places, volumes of cells; on several ranks values at nodes */
static double ListsBytes(const VpSize *size, double rows, double places)
{
  const double cells = size->cells / size->ranks, values = VpUnknowns(size) / size->ranks;

  return places * 2 * sizeof(int32_t) + (values + cells) * sizeof(double) +
         rows * (sizeof(int32_t) + (size->ranks > 1 ? sizeof(double) : 0));
}

/* The nodes of a continuous DM: lists, and on the host the numbers of cells' first nodes, the entities that cells own and positions; the
   numbers of nodes in cells, too, unless a device makes them */
static VpBytes OwnNodesBytes(const VpSize *size, Share c)
{
  const double values = VpUnknowns(size) / size->ranks,
               rows = pow(pow(size->cells, 1. / size->dim) * size->degree + 1, size->dim) / size->ranks;
  const double entities = c.sweep * (sizeof(PetscInt) + sizeof(int32_t)) + (size->ranks > 1 ? c.local * sizeof(PetscInt) : 0);
  const double numbers = size->device && size->ranks == 1 ? 0 : values * (sizeof(PetscInt) + (size->device ? sizeof(int32_t) : 0));
  const double lists = ListsBytes(size, rows, values), host = entities + numbers;

  return size->device ? (VpBytes){lists, host} : (VpBytes){lists + host, 0};
}

VpBytes VpMeshMemory(const VpSize *size)
{
  const Share   c = ShareOf(size, 0);
  const double  points = size->at_points * c.own * pow(size->degree + 1, size->dim) * sizeof(double);
  const double  mesh = MeshBytes(size, c) + TreesBytes(size), tables = OperatorBytes(size, c.own, sizeof(double));
  const VpBytes nodes = size->nodal ? OwnNodesBytes(size, c) : (VpBytes){0, 0};
  VpBytes       bytes = {mesh + tables + points, 0};

  if (size->device) bytes = (VpBytes){tables + points, mesh + points};
  return (VpBytes){bytes.work + nodes.work, bytes.host + nodes.host};
}

double VpVectorMemory(const VpSize *size)
{
  return VpUnknowns(size) / size->ranks * sizeof(double);
}

/* Lists, weights and vectors; on the host the entries as they were given, and those of a device as lists */
VpBytes VpNodesMemory(const VpSize *size, double rows, PetscBool wide)
{
  enum { VECTORS = 7 };
  const double places = wide ? size->cells / size->ranks * pow(3, size->dim) : VpUnknowns(size) / size->ranks;
  const double work = ListsBytes(size, rows, places) + rows * (2 * sizeof(double) + VECTORS * sizeof(PetscScalar));
  const double given = places * sizeof(PetscInt), lists = (places + rows) * sizeof(int32_t);

  return size->device ? (VpBytes){work, given + lists} : (VpBytes){work + given, 0};
}

/* bytes per patch: its cells and types, in trees the cells' frames */
static double PatchBytes(const VpSize *size)
{
  return ((1 << size->dim) + size->dim) * sizeof(int32_t) + (size->trees ? 1 << size->dim : 0);
}

/* Bytes of level l of a cycle: parents, children and corners; if it is swept, patches, their types and covers; vectors; messages in both
   directions for the ghosts of sweeps and for all ghosts */
static double LevelBytes(const VpSize *size, const VpCycleOptions *o, int l, PetscBool swept)
{
  const Share     c = ShareOf(size, l);
  const size_t    real = VpRealBytes(o->precision);
  const double    block = real * pow(size->degree + 1, size->dim), links = (2 * sizeof(int32_t) + 1) * c.local;
  const double    patches = (PatchBytes(size) + size->patch + 1) * c.sweep;
  const PetscBool repeats = (PetscBool)(o->type == VP_CYCLE_AUTO ? size->lines > 0 : o->type != VP_CYCLE_V);
  const PetscBool corrects = (PetscBool)(o->pre || o->symmetric || (repeats && l));
  const int       vectors = 3 + (swept && corrects) + (swept && o->residual == VP_RESIDUAL_GLOBAL);

  return OperatorBytes(size, c.sweep, real) + links + (swept ? patches : 0) +
         block * (vectors * c.local + 2 * (c.sweep + c.local - 2 * c.own));
}

/* The case of a mesh that does not exist yet. The boxes are assumed to form a grid, unless the matrix is known to be dense. Up to
   WHOLE_EDGE cells per edge, each rank with cells has all other cells as ghosts. */
static VpCoarseCase CoarseCase(const VpSize *size, const VpCycleOptions *o, double cells)
{
  enum { WHOLE_EDGE = 6 };
  const double edge = pow(cells, 1. / size->dim);
  VpCoarseCase c = {.type = o->coarse,
                    .prefers = size->prefers,
                    .ranks = size->device ? 1 : (PetscInt)size->ranks,
                    .n = size->degree + 1,
                    .dim = size->dim,
                    .cells = cells,
                    .trees = size->trees};

  c.extent[0] =
    !size->dense && !size->trees && !(size->lines > 0) && edge * c.n <= VP_LONGEST_LINE && (size->ranks == 1 || edge <= WHOLE_EDGE);
  return c;
}

/* bytes of a sparse matrix, with about 3 dim n entries per row, and of its KSP's vectors */
static double SparseBytes(const VpCoarseCase *c, double ranks)
{
  enum { VECTORS = 24 };

  return VpCoarseUnknowns(c) / ranks * (3 * c->dim * c->n * (sizeof(PetscScalar) + sizeof(PetscInt)) + VECTORS * sizeof(PetscScalar));
}

/* The bytes of an algebraic multigrid as multiples of those of T's entries, as measured: hypre's, gamg's on one rank and on several, which
   exchange what products of matrices need. */
static double MultigridGrowth(const VpSize *size)
{
  static const double growth[2][3] = {{4.2, 3, 5}, {5.6, 3, 5}};

  return growth[size->dim - 2][PetscDefined(HAVE_HYPRE) && !size->device ? 0 : size->ranks > 1 ? 2 : 1];
}

/* Bytes of finite volumes: T, its algebraic multigrid, P, vectors of cells and of their low modes. A row of T has 1 + 2 dim numbers. A row
   of P has 3, and from degree 2 on there are two rows for a direction. */
static VpBytes VolumesBytes(const VpSize *size, double cells)
{
  enum { VECTORS = 6, ROW = 7 }; /* of cells, with those of CG; integers of a row of an AIJ matrix */
  const double mine = cells / size->ranks, modes = 1 + 2 * size->dim;
  const double entry = sizeof(PetscScalar) + sizeof(PetscInt), row = ROW * sizeof(PetscInt);
  const double T = modes * entry * (1 + MultigridGrowth(size)) + row + VECTORS * sizeof(PetscScalar);
  const double P = (1 + 3 * size->dim * (size->degree > 1 ? 2 : 1)) * entry + modes * (row + sizeof(PetscScalar));
  const double outer = modes * sizeof(double) + size->dim * sizeof(int32_t);
  const double dense = size->ranks == 1 && cells <= size->prefers->most_volumes ? 2 * cells * cells * sizeof(double) : 0;

  return size->device ? (VpBytes){mine * outer + dense, mine * (T + P)} : (VpBytes){mine * (T + P + outer), 0};
}

/* Bytes of steps: finite volumes, the vectors of a sweep and of GCR with its directions, and the numbers of single cells */
static VpBytes StepsBytes(const VpSize *size, const VpCoarseCase *c, double real)
{
  enum { SWEEP = 4, GCR = 10 };
  const double mine = VpCoarseUnknowns(c) / size->ranks, vectors = mine * GCR * sizeof(PetscScalar);
  const double sweep = mine * SWEEP * real + c->cells / size->ranks * (size->dim + 1) * sizeof(int32_t);
  VpBytes      bytes = VolumesBytes(size, c->cells);

  bytes.work += sweep + (size->device ? 0 : vectors);
  bytes.host += size->device ? vectors : 0;
  return bytes;
}

/* Bytes of the coarsest level in addition to LevelBytes(). A dense matrix is inverted in double precision. On the host each rank has some
   of its rows, and one rank has all rows during the inversion. */
static VpBytes CoarseBytes(const VpSize *size, const VpCycleOptions *o, double cells, PetscBool *swept)
{
  const VpCoarseCase c = CoarseCase(size, o, cells);
  const VpCoarseWay  way = VpCoarseExpect(&c);
  const double       real = VpRealBytes(o->precision), unknowns = VpCoarseUnknowns(&c);
  const double       all = unknowns * unknowns, ranks = (double)c.ranks;

  *swept = (PetscBool)(way == VP_WAY_SWEEPS || way == VP_WAY_VOLUMES || way == VP_WAY_STEPS);
  switch (way) {
  case VP_WAY_DENSE:
    return size->device ? (VpBytes){all * (real + sizeof(double)), 0}
                        : (VpBytes){all * real / ranks, all * (1 + 2 / ranks) * sizeof(double)};
  case VP_WAY_KSP:
    return (VpBytes){SparseBytes(&c, size->ranks), 0};
  case VP_WAY_VOLUMES:
    return VolumesBytes(size, size->leaves > 0 ? size->leaves : cells);
  case VP_WAY_STEPS:
    return StepsBytes(size, &c, real);
  default:
    return (VpBytes){0, 0};
  }
}

/* Making the finest level's patches takes additional memory, which is free again when coarser levels are made. Inverting the coarsest
   level's matrix takes additional memory at the end. */
VpBytes VpCycleMemory(const VpSize *size, const VpCycleOptions *o)
{
  const int     levels = o->levels > 0 ? (int)o->levels : size->levels;
  double        passing, host = 0, finest, coarser;
  PetscBool     swept;
  const VpBytes coarsest = CoarseBytes(size, o, levels > 1 ? size->cells_of[levels - 1] : size->cells, &swept);

  finest = LevelBytes(size, o, 0, (PetscBool)(levels > 1 || swept));
  coarser = coarsest.work;
  for (int l = 1; l < levels; l++) {
    coarser += LevelBytes(size, o, l, (PetscBool)(l < levels - 1 || swept));
    host += MeshBytes(size, ShareOf(size, l));
  }
  passing = levels > 1 || swept ? (PatchBytes(size) + 2 * size->dim + 3) * ShareOf(size, 0).sweep : 0;
  passing = PetscMax(passing, coarsest.host);
  return size->device ? (VpBytes){finest + coarser, PetscMax(host, passing)} : (VpBytes){finest + PetscMax(coarser + host, passing), 0};
}

PetscErrorCode VpMemoryThere(MPI_Comm comm, const VpBackend *backend, double taken, VpBytes *there)
{
  PetscMPIInt size;
  PetscReal   told;
  PetscBool   set;
  double      total;
  int         devices = 1;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  size = PetscMin(size, VPatchDGHostSize);
  there->work = there->host = VpHostMemory() / size;
  if (VpIsDevice(backend)) {
    PetscCall(backend->choose(-1, &devices));
    PetscCall(backend->memory(&there->work, &total));
    there->work /= PetscMax(1, (size + devices - 1) / PetscMax(1, devices));
  }
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-vpatchdg_memory", &told, &set));
  if (set) there->work = PetscMax(0, told - taken);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *VpBytesText(double bytes, char text[VP_BYTES_TEXT])
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  int                      unit = 0;

  for (; bytes >= 999.5 && unit < 6; unit++) bytes /= 1000;
  (void)PetscSNPrintf(text, VP_BYTES_TEXT, bytes < 9.95 && unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return text;
}

PetscErrorCode VpCheckMemory(MPI_Comm comm, const VpBackend *backend, VpBytes need, double taken, const char what[], const char instead[])
{
  VpBytes   there;
  PetscReal worst[4]; /* largest need, minus the least free memory; largest excess where the work is, and on the host */
  char      text[3][VP_BYTES_TEXT];
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(VpMemoryThere(comm, backend, taken, &there));
  worst[2] = there.work < 0 ? -1 : need.work - there.work;
  worst[3] = there.host < 0 ? -1 : need.host - there.host;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst + 2, 2, MPIU_REAL, MPIU_MAX, comm));
  if (worst[2] <= 0 && worst[3] <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  host = worst[2] <= 0;
  worst[0] = host ? need.host : need.work;
  worst[1] = -(host ? there.host : there.work);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPIU_REAL, MPIU_MAX, comm));
  SETERRQ(
    comm, PETSC_ERR_MEM,
    "%s: about %s per rank, where %s is left for each %s. %s, or take more hosts; if more may be taken than is free, -vpatchdg_memory "
    "bytes says how much each rank may take",
    what, VpBytesText(worst[0], text[0]), VpBytesText(-worst[1], text[1]), VpIsDevice(backend) && !host ? "on its GPU" : "on its host",
    instead);
}
