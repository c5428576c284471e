/* What is made of a user's functions of points on a device is what the host makes, with the host as the device.
   ranks: 1 2 */
#include "support/backend.h"
#include "support/pretend.h"
#include "support/tap.h"

static PetscErrorCode NoStream(void *stream)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode Value(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = PetscExpReal(x[0]) * PetscSinReal(3 * x[1] + x[dim - 1]);
  return 0;
}
static PetscErrorCode Gradient(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  for (PetscInt d = 0; d < dim; d++) value[d] = PetscCosReal(x[d] + (PetscReal)d);
  return 0;
}
static PetscErrorCode Flux(PetscInt dim, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  value[0] = x[0] + 2 * normal[0] - 3 * normal[1] + x[1];
  return 0;
}
static PetscErrorCode Values(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n; i++) value[i] = PetscExpReal(x[i * dim]) + (normal ? normal[1] : 0);
  return 0;
}
static PetscErrorCode Gradients(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  for (PetscInt i = 0; i < n * dim; i++) value[i] = PetscExpReal(x[i]);
  return 0;
}

/* a problem with all kinds of data and a coefficient that varies */
static PetscErrorCode CreateDM(PetscInt dim, const char map[], const VpBackend *device, DM *dm)
{
  const VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_ROBIN,
                                        VPATCHDG_BOUNDARY_DIRICHLET, VPATCHDG_BOUNDARY_NEUMANN, VPATCHDG_BOUNDARY_ROBIN};
  PetscReal             *a;
  PetscInt               n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, 3, 2, dm));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(PetscOptionsInsertString(NULL, map));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscCall(DMSetUp(*dm));
  if (device) PetscCall(Pretend(*dm, device, VP_TRANSPORT_HOST)); /* before the coefficient, which makes the operator anew */
  PetscCall(DMVPatchDGGetCells(*dm, &n));
  PetscCall(PetscMalloc1(n, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 1 + (PetscReal)(i % 7);
  PetscCall(DMVPatchDGSetCoefficient(*dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* right-hand sides and interpolants of functions and batches, and errors */
static PetscErrorCode Use(DM dm, PetscMemType where, Vec v[4], PetscReal error[4])
{
  PetscFunctionBeginUser;
  for (int i = 0; i < 4; i++) PetscCall(DMCreateGlobalVector(dm, &v[i]));
  PetscCall(DMVPatchDGComputeRHS(dm, Value, Value, Flux, NULL, v[0]));
  PetscCall(DMVPatchDGComputeRHSBatch(dm, Values, Values, Values, where, NULL, v[1]));
  PetscCall(DMVPatchDGInterpolate(dm, Value, NULL, v[2]));
  PetscCall(DMVPatchDGInterpolateBatch(dm, Values, where, NULL, v[3]));
  PetscCall(DMVPatchDGComputeErrors(dm, v[3], Value, Gradient, NULL, &error[0], &error[1]));
  PetscCall(DMVPatchDGComputeErrorsBatch(dm, v[2], Values, Gradients, where, NULL, &error[2], &error[3]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode device_makes_what_the_host_makes(PetscInt dim, const char map[], PetscMemType where)
{
  VpBackend device = PretendedBackend(PETSC_FALSE);
  Vec       v[2][4];
  PetscReal error[2][4], worst = 0;
  PetscBool same = PETSC_TRUE;

  PetscFunctionBeginUser;
  device.use_stream = NoStream;
  for (int i = 0; i < 2; i++) {
    DM dm;

    PetscCall(CreateDM(dim, map, i ? &device : NULL, &dm));
    PetscCall(Use(dm, i ? where : PETSC_MEMTYPE_HOST, v[i], error[i]));
    PetscCall(DMDestroy(&dm));
  }
  for (int i = 0; i < 4; i++) {
    PetscBool equal;

    PetscCall(VecEqual(v[0][i], v[1][i], &equal));
    same = (PetscBool)(same && equal);
    worst = PetscMax(worst, PetscAbsReal(error[1][i] / error[0][i] - 1));
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&v[k][i]));
  }
  TapOk((PetscBool)(same && worst < 1e-13), "device_makes_what_the_host_makes, %dD, %s, functions of %s memory: %d, errors %.1e", (int)dim,
        map, PetscMemTypeHost(where) ? "host" : "device", same, (double)worst);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a number or a full matrix, which jumps inside of cells where *ctx is so */
static PetscErrorCode Matrix(PetscInt dim, PetscInt n, const PetscReal x[], const PetscReal normal[], PetscScalar value[], void *ctx)
{
  const PetscInt *components = (PetscInt *)ctx;

  for (PetscInt i = 0; i < n; i++, x += dim) {
    for (PetscInt d = 0, k = 0; k < components[0]; d++) {
      for (PetscInt e = d; e < (components[0] > 1 ? dim : 1); e++, k++)
        *value++ = (d == e) * (1 + (components[1] && x[0] > 0.3 ? 100 : 0)) + x[d] * x[e] / 4;
    }
  }
  return 0;
}

/* Compares what a metric has of cells and of their sides, with coefficients of host and of device memory. */
static PetscErrorCode coefficients_are_those_of_the_host(PetscInt dim, const char map[], PetscInt components, PetscInt jumps)
{
  VpBackend device = PretendedBackend(PETSC_FALSE);
  PetscInt  ctx[2] = {components, jumps};
  DM        dm[2];
  VpMetric  metric[2];
  int       same = 1;

  PetscFunctionBeginUser;
  device.use_stream = NoStream;
  for (int i = 0; i < 2; i++) {
    const PetscMemType where = i ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
    char               options[128];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-dm_vpatchdg_basis gauss %s", map));
    PetscCall(CreateDM(dim, options, i ? &device : NULL, &dm[i]));
    PetscCall(DMVPatchDGSetCoefficientFunction(dm[i], components, Matrix, where, ctx));
    PetscCall(DMVPatchDGSetReactionFunction(dm[i], Values, where, NULL));
    metric[i] = DMVPatchDGData(dm[i])->op->problem.metric;
  }
  if (metric[0]->ncell) {
    const size_t cells = (size_t)metric[0]->ncell, sides = cells * (size_t)(2 * dim * VpFaceSize(4, (int)dim));

    same = (!memcmp(metric[0]->mean, metric[1]->mean, cells * (size_t)dim * sizeof(double)) &&
            !memcmp(metric[0]->masses, metric[1]->masses, cells * sizeof(double)) &&
            !memcmp(metric[0]->beyond, metric[1]->beyond, sides * sizeof(double)));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, PETSC_COMM_WORLD));
  TapOk((PetscBool)same, "coefficients_are_those_of_the_host, %dD, %s, components %d, jumps %d", (int)dim, map, (int)components,
        (int)jumps);
  for (int i = 0; i < 2; i++) PetscCall(DMDestroy(&dm[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  if (PetscDefined(HAVE_CUDA) && !UsableBackend("cuda")) /* Such a PETSc opens a GPU of its own, too. */
    PetscFunctionReturn(TapSkip("PETSc has CUDA, and there is no GPU"));
  for (int i = 0; i < 12; i++) {
    static const char *const maps[] = {"", "-dm_vpatchdg_map shear -dm_vpatchdg_map_parameters 60",
                                       "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1"};

    PetscCall(device_makes_what_the_host_makes(2 + i % 2, maps[i / 4], i / 2 % 2 ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST));
  }
  for (PetscInt dim = 2; dim <= 3; dim++) {
    PetscCall(coefficients_are_those_of_the_host(dim, "", 1, 0));
    PetscCall(coefficients_are_those_of_the_host(dim, "", dim * (dim + 1) / 2, 1));
    PetscCall(coefficients_are_those_of_the_host(dim, "-dm_vpatchdg_map sine -dm_vpatchdg_map_parameters 0.1", dim * (dim + 1) / 2, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
