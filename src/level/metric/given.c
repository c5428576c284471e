/* What a metric keeps of sides where values or fluxes are given, on the host: they are few. */
#include "making.h"

PetscErrorCode VpMoveBlocks(const VpMetricWork *mk, VpBlocks b, PetscBool put, double *all, double *here)
{
  const size_t bytes[2] = {(size_t)b.n * sizeof(*b.list), (size_t)b.n * b.each * sizeof(*here)};
  void        *there[2];

  PetscFunctionBegin;
  if (!b.n) PetscFunctionReturn(PETSC_SUCCESS);
  for (int i = 0; i < 2; i++) PetscCall(mk->backend->borrow(bytes[i], "numbers of some cells", &there[i]));
  PetscCall(mk->backend->upload(b.list, bytes[0], there[0]));
  if (put) {
    PetscCall(mk->backend->upload(here, bytes[1], there[1]));
    PetscCall(mk->backend->move(b.n, b.each * sizeof(*here), NULL, there[1], there[0], all));
  } else {
    PetscCall(mk->backend->move(b.n, b.each * sizeof(*here), there[0], all, NULL, there[1]));
    PetscCall(mk->backend->download(there[1], bytes[1], here));
  }
  for (int i = 0; i < 2; i++) PetscCall(mk->backend->give_back(there[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps row d of G on all sides where values or fluxes are given, before it is weighed. */
PetscErrorCode VpKeepOutflow(VpMetricWork *mk)
{
  const size_t each = (size_t)(mk->rows * mk->face);
  double     **to = &mk->metric->outflows;
  int32_t      n[12], *list[12], *all;
  VpBlocks     of = {.each = each};

  PetscFunctionBegin;
  for (int i = 0; i < 4 * mk->dim; i++) {
    PetscCall(VpMeshListEnds(mk->mesh, i % 2 ? VP_GIVEN_FLUX : VP_GIVEN_VALUE, i / 2, &n[i], &list[i]));
    of.n += n[i];
  }
  PetscCall(PetscMalloc1(of.n + 1, &all));
  PetscCall(VpMallocLarge((size_t)of.n * each + 1, to));
  of.list = all;
  of.n = 0;
  for (int i = 0; i < 4 * mk->dim; i++) {
    mk->metric->outflow[i % 2 ? VP_GIVEN_FLUX : VP_GIVEN_VALUE][i / 2] = *to + (size_t)of.n * each;
    PetscCall(PetscArraycpy(all + of.n, list[i], n[i]));
    PetscCall(PetscFree(list[i]));
    of.n += n[i];
  }
  PetscCall(VpMoveBlocks(mk, of, PETSC_FALSE, mk->to.H, *to));
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets sums to those of the fluxes, and of what they are on the boxes, and adds alpha times the flux to `beyond`. seen: of these sides */
static void FindFluxes(const VpMetricWork *mk, int side, VpBlocks of, const double seen[], double beyond[], double sum[2])
{
  const VpMesh mesh = mk->mesh;
  const int    dim = mk->dim, d = side / 2, face = mk->face;
  double       J[9 * VP_MAX_N * VP_MAX_N], *to = mk->metric->flux[side];

  for (int32_t k = 0; k < of.n; k++, seen += 2 * face) {
    const int32_t cell = of.list[k] / (2 * dim), next = VpMeshNeighbor(mesh, cell, side);
    const double  alpha =
      (double)VpConditionGamma(VpDomainSide(mesh->geometry->domain, next), 0, VpDomainAlpha(mesh->geometry->domain, next));

    VpGeometryEvaluateGrid(mesh->geometry, cell, &mk->at[1 + side], NULL, J);
    sum[1] += mk->metric->mean[(size_t)cell * (size_t)dim + (size_t)d] * VpGeometryArea(mesh->geometry, cell, side);
    for (int i = 0; i < face; i++, to++, beyond++) {
      double inverse[9], length = 0;

      VpInvert(dim, J + i * dim * dim, VpDeterminant(dim, J + i * dim * dim), inverse);
      for (int e = 0; e < dim; e++) length += PetscSqr(inverse[d * dim + e]);
      *to = seen[i] / sqrt(length);
      sum[0] += mk->weight[i % mk->n] * (dim == 3 ? mk->weight[i / mk->n] : 1) * *to;
      *beyond += alpha * *to;
    }
  }
}

/* flux = G_dd / |J^-T e_d| at the points of sides where a flux is given, and alpha times it beyond. G_dd = |det J| n.K n |J^-T e_d|^2,
   and |det J| |J^-T e_d| is the area of the side there. */
static PetscErrorCode MakeFluxes(VpMetricWork *mk, int side, double sum[2])
{
  const size_t face = (size_t)mk->face;
  double      *seen, *beyond;
  int32_t      n, *list;
  VpBlocks     of;

  PetscFunctionBegin;
  PetscCall(VpMeshListEnds(mk->mesh, VP_GIVEN_FLUX, side, &n, &list));
  mk->metric->nflux[side] = n;
  PetscCall(PetscMalloc1((size_t)n * face + 1, &mk->metric->flux[side]));
  PetscCall(PetscMalloc2((size_t)n * 2 * face, &seen, (size_t)n * face, &beyond));
  of = (VpBlocks){n, list, face};
  PetscCall(VpMoveBlocks(mk, (VpBlocks){n, list, 2 * face}, PETSC_FALSE, mk->to.seen, seen));
  PetscCall(VpMoveBlocks(mk, of, PETSC_FALSE, mk->to.beyond, beyond));
  FindFluxes(mk, side, of, seen, beyond, sum);
  PetscCall(VpMoveBlocks(mk, of, PETSC_TRUE, mk->to.beyond, beyond));
  PetscCall(PetscFree2(seen, beyond));
  PetscCall(PetscFree(list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeAllFluxes(VpMetricWork *mk, double sum[][2])
{
  PetscFunctionBegin;
  for (int side = 0; side < 2 * mk->dim; side++) PetscCall(MakeFluxes(mk, side, sum[side]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpMakeFluxes(VpMetricWork *mk)
{
  const VpMesh mesh = mk->mesh;
  double       sum[6][2] = {{0}};

  PetscFunctionBegin;
  PetscCall(VpTogether(mesh->comm, MakeAllFluxes(mk, sum)));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 12, MPI_DOUBLE, MPI_SUM, mesh->comm));
  for (int side = 0; side < 2 * mk->dim; side++)
    mk->metric->robin[side] = mesh->geometry->map && sum[side][1] > 0 ? sum[side][0] / sum[side][1] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
