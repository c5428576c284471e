/* What -vpatchdg_doctor says of a coefficient, and the iterations that it predicts. The doctor itself: doctor.t. */
/* ranks: 1 3 */
#include "support/problem.h"
#include "../src/petsc/forecast/forecast.h"
#include "../cuda/prefers.h"
#include "../src/petsc/dm/internal.h"

static FILE *said; /* the doctor's words, on rank 0 */

/* is the text among what was said since the last time? */
static PetscErrorCode Said(const char text[], PetscBool *yes)
{
  static char words[1 << 14];
  static long start = 0;
  PetscMPIInt found = 0;
  size_t      n;

  PetscFunctionBeginUser;
  if (!tap.rank) {
    fflush(said);
    fseek(said, start, SEEK_SET);
    n = fread(words, 1, sizeof(words) - 1, said);
    words[n] = 0;
    start = ftell(said);
    fseek(said, 0, SEEK_END);
    found = strstr(words, text) != NULL;
  }
  PetscCallMPI(MPI_Bcast(&found, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *yes = (PetscBool)found;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscReal Aligned(const PetscReal lower[], const PetscReal upper[], PetscReal jump)
{
  return lower[0] > 0.49 ? jump : 1;
}

static PetscReal Unaligned(const PetscReal lower[], const PetscReal upper[], PetscReal jump)
{
  return lower[0] > 0.24 ? jump : 1;
}

static PetscErrorCode doctor_sees_the_coefficient(PetscInt dim, PetscInt degree)
{
  Problem   p;
  PetscReal residual;
  PetscInt  its;
  PetscBool yes;
  int       range[2];

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, dim, degree, 3, NULL, &p));
  PetscCall(Said("doctor: mesh", &yes));
  TapOk(yes, "doctor_is_there, %" PetscInt_FMT "D", dim);
  PetscCall(SolveWith(&p, "-vpatchdg_doctor -ksp_type fgmres -ksp_rtol 1e-8 -pc_type vpatchdg", &residual, &its, NULL));
  PetscCall(Said("contrast 1:1, inside of the coarsest cells 1:1\n", &yes));
  TapOk(yes, "doctor_sees_no_contrast, %" PetscInt_FMT "D", dim);

  PetscCall(SetCoefficient(p.dm, Aligned, 1000));
  PetscCall(SolveWith(&p, "-vpatchdg_doctor", &residual, &its, NULL));
  PetscCall(Said("contrast 1:1e+03, inside of the coarsest cells 1:1\n", &yes));
  VpExpectIterations(&(VpProblem){.degree = (int)degree}, 1, VP_COARSEN_LOCAL, range);
  TapOk((PetscBool)(yes && range[0] <= its && its <= range[1]),
        "doctor_sees_aligned_jumps, %" PetscInt_FMT "D, %" PetscInt_FMT " iterations", dim, its);

  PetscCall(SetCoefficient(p.dm, Unaligned, 1000));
  PetscCall(SolveWith(&p, "-vpatchdg_doctor -ksp_max_it 200", &residual, &its, NULL));
  PetscCall(Said("contrast 1:1e+03, inside of the coarsest cells 1:1e+03\n  iterations for eight digits: not known", &yes));
  TapOk((PetscBool)(yes && its >= range[0]),
        "doctor_does_not_know_what_jumps_inside_cost, %" PetscInt_FMT "D, %" PetscInt_FMT " iterations", dim, its);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a coefficient that differs in all cells makes lines for each of them */
static PetscErrorCode memory_grows_with_the_coefficient(void)
{
  Problem p;
  VpSize  size = {.dim = 3, .degree = 2, .boxes = 1, .level = 3};
  VpMesh  mesh;
  double  plain, varying;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreate(PETSC_COMM_WORLD, 3, 2, 3, NULL, &p));
  mesh = ((DM_VPatchDG *)p.dm->data)->mesh;
  PetscCall(VpSizeFill(PETSC_COMM_WORLD, &VpBackendHost, &size));
  plain = VpMeshMemory(&size).work;
  PetscCall(SetCoefficient(p.dm, Unaligned, 3));
  PetscCall(VpCountLines(mesh, &((DM_VPatchDG *)p.dm->data)->op->problem, &size));
  varying = VpMeshMemory(&size).work;
  TapOk((PetscBool)(size.lines > 0 && varying > plain), "memory_grows_with_the_coefficient: %.0f, %.0f bytes", plain, varying);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a dense matrix in single precision, and one of double precision while it is made */
static PetscErrorCode memory_grows_with_a_dense_matrix(void)
{
  const VpCycleOptions options = {.post = 1, .levels = 4};
  VpSize               size = {.dim = 3, .degree = 4, .level = 4, .levels = 5, .cells = 28672, .ranks = 1, .device = PETSC_TRUE};
  const double         all = PetscSqr(56 * 125.);
  double               more;

  PetscFunctionBeginUser;
  size.prefers = &VpCudaPrefers;
  for (int l = 0; l < size.levels; l++) size.cells_of[l] = ldexp(size.cells, -3 * l);
  more = -VpCycleMemory(&size, &options).work;
  size.dense = PETSC_TRUE;
  more += VpCycleMemory(&size, &options).work;
  TapOk((PetscBool)(more > 11.99 * all && more < 12.01 * all), "memory_grows_with_a_dense_matrix: %.0f bytes", more);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* frames of patches and turns of sides, a byte each; finite volumes for the coarsest level's steps */
static PetscErrorCode memory_knows_trees(void)
{
  const VpCycleOptions options = {.post = 1, .levels = 3};
  VpSize               size = {.dim = 3, .degree = 2, .boxes = 1000, .level = 2};
  double               cycle[2], mesh[2];

  PetscFunctionBeginUser;
  PetscCall(VpSizeFill(PETSC_COMM_SELF, &VpBackendHost, &size));
  size.dense = PETSC_TRUE;
  for (int trees = 0; trees < 2; trees++) {
    size.trees = (PetscBool)trees;
    cycle[trees] = VpCycleMemory(&size, &options).work;
    mesh[trees] = VpMeshMemory(&size).work;
  }
  TapOk((PetscBool)(mesh[1] - mesh[0] > 6 * size.cells + 200 * size.boxes), "memory_knows_trees: mesh, %.0f, %.0f bytes", mesh[0], mesh[1]);
  TapOk((PetscBool)(cycle[1] - cycle[0] > 0), "memory_knows_trees: cycle, %.0f, %.0f bytes", cycle[0], cycle[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the lists of nodes of a continuous DM, and what numbers them */
static PetscErrorCode memory_knows_nodes(PetscInt dim, PetscInt degree)
{
  const VpBackend *backend;
  DM               dm;
  VpNodes          nodes;
  VpMesh           mesh;
  VpSize           size;
  double           more, made;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, dim == 2 ? 5 : 3, &dm));
  PetscCall(DMVPatchDGSetContinuous(dm, PETSC_TRUE));
  PetscCall(DMSetUp(dm));
  mesh = ((DM_VPatchDG *)dm->data)->mesh;
  PetscCall(DMVPatchDGUseBackend(dm, &backend));
  PetscCall(DMVPatchDGGetNodes(dm, backend, &nodes));
  PetscCall(VpSizeOfMesh(mesh, (int)degree, backend, &size));
  more = -VpMeshMemory(&size).work - VpMeshMemory(&size).host;
  size.nodal = PETSC_TRUE;
  more += VpMeshMemory(&size).work + VpMeshMemory(&size).host;
  made = (double)mesh->nown * nodes->view.ndof * (2 * sizeof(int32_t) + sizeof(double)) + (double)nodes->view.nnode * sizeof(int32_t);
  made += (double)mesh->nsweep * (sizeof(PetscInt) + sizeof(int32_t)) + (double)mesh->nown * sizeof(double);
  if (mesh->size > 1) made += (double)nodes->view.nnode * sizeof(double) + (double)mesh->nlocal * sizeof(PetscInt);
  if (!VpIsDevice(backend)) made += (double)mesh->nown * nodes->view.ndof * sizeof(PetscInt); /* while nodes are numbered */
  TapOk((PetscBool)(more > 0.9 * made && more < 1.1 * made), "memory_knows_nodes, %" PetscInt_FMT "D Q%" PetscInt_FMT ": %.0f, %.0f bytes",
        dim, degree, more, made);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A map with a name has nodes on the host, not on a device. Metrics are counted as they are stored. */
static PetscErrorCode memory_knows_maps(PetscInt dim, PetscInt degree)
{
  const double symmetric = (double)(dim * (dim + 1)) / 2;
  Problem      p;
  VpSize       size[3];
  VpMesh       mesh;
  DM           dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, dim, degree, 2, &dm));
  PetscCall(TestDMOptions(dm, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters .05"));
  PetscCall(DMSetUp(dm));
  PetscCall(ProblemOf(dm, NULL, &p));
  mesh = ((DM_VPatchDG *)p.dm->data)->mesh;
  for (int i = 0; i < 3; i++) {
    PetscCall(VpSizeOfMesh(mesh, (int)degree, &VpBackendHost, &size[i]));
    size[i].device = (PetscBool)(i == 1);
    if (i < 2) DMVPatchDGCountPoints(p.dm, &size[i]);
    else VpCountMetric(mesh, &((DM_VPatchDG *)p.dm->data)->op->problem, &size[i]);
  }
  TapOk((PetscBool)(fabs(size[0].at_points - size[1].at_points - (double)dim) < 1e-12),
        "memory_knows_maps: %" PetscInt_FMT "D, %g numbers per unknown, on a device %g", dim, size[0].at_points, size[1].at_points);
  TapOk((PetscBool)(size[2].at_points > symmetric + (double)dim && size[2].at_points <= size[0].at_points),
        "memory_knows_metrics: %" PetscInt_FMT "D, %g numbers per unknown", dim, size[2].at_points);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (!tap.rank) {
    PetscCheck((said = tmpfile()) != NULL, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No temporary file");
    PETSC_STDOUT = said; /* closed with the viewer */
  }
  PetscCall(PetscOptionsSetValue(NULL, "-vpatchdg_doctor", NULL));
  PetscCall(doctor_sees_the_coefficient(2, 3));
  PetscCall(doctor_sees_the_coefficient(3, 2));
  PetscCall(memory_grows_with_the_coefficient());
  PetscCall(memory_grows_with_a_dense_matrix());
  PetscCall(memory_knows_trees());
  PetscCall(memory_knows_nodes(2, 4));
  PetscCall(memory_knows_nodes(3, 2));
  for (PetscInt dim = 2; dim < 4; dim++) PetscCall(memory_knows_maps(dim, 2));
  PETSC_STDOUT = stdout;
  PetscFunctionReturn(PETSC_SUCCESS);
}
