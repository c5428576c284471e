/* Refuses a DMVPATCHDG that exceeds the range of numbers, the size of vectors, or the memory. */
#include "internal.h"

#define MOST  1e95  /* largest value of volumes, h^2, a/h^2 and their inverses for which the squared norms of x and b are representable */
#define ENTRY 1e290 /* largest entry of the operator */

/* PETSc's vectors call BLAS, which may count a rank's unknowns in int, and on GPUs cuBLAS, which does so. */
static PetscErrorCode MostUnknowns(DM dm, double *most)
{
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(PetscStrInList(dm->vectype, "standard|seq|mpi", '|', &host));
  *most = host && sizeof(PetscBLASInt) > sizeof(int) ? (double)PETSC_MAX_INT : (double)INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* cause: what determines the size of the mesh, for the message */
static PetscErrorCode CheckSize(DM dm, const VpBackend *backend, const VpSize *size, const char cause[])
{
  const double unknowns = VpUnknowns(size), share = ceil(size->cells / size->ranks) * pow(size->degree + 1, size->dim);
  double       most;
  VpBytes      need = VpMeshMemory(size);

  PetscFunctionBegin;
  PetscCheck(unknowns <= (double)PETSC_MAX_INT, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
             "%s means %.0f cells and %.0f unknowns, more than the %" PetscInt_FMT
             " that PetscInt counts: take fewer, or a PETSc configured --with-64-bit-indices",
             cause, size->cells, unknowns, PETSC_MAX_INT);
  PetscCall(MostUnknowns(dm, &most));
  PetscCheck(
    share <= most, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE,
    "%s means %.0f cells and %.0f unknowns, %.0f per rank, where PETSc's vectors of type %s hold %.0f at most: BLAS counts them in "
    "32 bits. Use more ranks, or take fewer",
    cause, size->cells, unknowns, share, dm->vectype, most);
  need.work += 2 * VpVectorMemory(size);
  PetscCall(VpCheckMemory(PetscObjectComm((PetscObject)dm), backend, need, 0, "Mesh and two vectors", "Refine less (-dm_refine)"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void DMVPatchDGCountPoints(DM dm, VpSize *size)
{
  const DM_VPatchDG *dg = dm->data;
  const PetscBool    mapped = (PetscBool)(dg->map.by != VP_MAP_NONE);
  const PetscBool    formula = (PetscBool)(size->device && size->parts == 0 && dg->map.kind && dg->map.kind->formula);
  const PetscBool    functions = (PetscBool)(VpPointFunctionExists(&dg->coefficient_at) || VpPointFunctionExists(&dg->reaction_at));
  const int          dim = size->dim, full = dim * (dim + 1) / 2;

  if (dg->basis == VPATCHDG_BASIS_GAUSS || (dg->basis == VPATCHDG_BASIS_AUTO && (mapped || functions)))
    VpCountPoints(mapped || dg->coefficient_at.components > dim ? full : dim,
                  mapped ? VpMapNumbers(size, DMVPatchDGMapDegree(dm), formula) : 0, NULL, size);
  size->nodal = dg->continuous;
  if (dg->coefficient_at.values) size->at_points += (double)dg->coefficient_at.components;
  if (dg->reaction_at.values) size->at_points++;
}

PetscErrorCode DMVPatchDGSizeOf(DM dm, PetscInt nbox, PetscInt level, const VpBackend **backend, VpSize *size)
{
  PetscFunctionBegin;
  PetscCall(DMVPatchDGFindBackend(dm, backend));
  *size = (VpSize){.dim = (int)dm->dim, .degree = (int)DMVPatchDGData(dm)->degree, .boxes = (double)nbox, .level = (int)level};
  PetscCall(VpSizeFill(PetscObjectComm((PetscObject)dm), *backend, size));
  DMVPatchDGCountPoints(dm, size);
  size->trees = (PetscBool)(DMVPatchDGData(dm)->boxes && DMVPatchDGData(dm)->boxes->trees);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckSize(DM dm, PetscInt nbox, PetscInt level)
{
  const VpBackend *backend;
  VpSize           size;
  char             cause[32];

  PetscFunctionBegin;
  PetscCall(DMVPatchDGSizeOf(dm, nbox, level, &backend, &size));
  PetscCall(PetscSNPrintf(cause, sizeof cause, "-dm_refine %" PetscInt_FMT, level));
  PetscCall(CheckSize(dm, backend, &size, cause));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckMesh(DM dm, VpMesh mesh)
{
  const VpBackend *backend;
  VpSize           size;

  PetscFunctionBegin;
  PetscCall(DMVPatchDGCheckScale(dm, mesh->geometry->domain, mesh->level));
  PetscCall(DMVPatchDGFindBackend(dm, &backend));
  PetscCall(VpSizeOfMesh(mesh, (int)DMVPatchDGData(dm)->degree, backend, &size));
  DMVPatchDGCountPoints(dm, &size);
  PetscCall(CheckSize(dm, backend, &size, "The refined mesh"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsRepresentable(PetscReal x)
{
  return x >= 1 / MOST && x <= MOST;
}

/* Tests whether double precision represents the product and the squares of a cell's sizes h[dim], and 1/h^2. */
static PetscBool IsSizeRepresentable(PetscInt dim, const PetscReal h[])
{
  PetscReal volume = 1;
  PetscBool fits = PETSC_TRUE;

  for (PetscInt d = 0; d < dim; d++) {
    volume *= h[d];
    fits = fits && IsRepresentable(h[d]) && IsRepresentable(h[d] * h[d]) && IsRepresentable(volume);
  }
  return fits;
}

PetscErrorCode DMVPatchDGCheckScale(DM dm, VpDomain boxes, PetscInt level)
{
  DM_VPatchDG    *dg = dm->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)dm);
  const PetscReal k = (PetscReal)(dg->degree + 1);
  PetscReal       h[3] = {1, 1, 1}, least = PETSC_MAX_REAL;
  char            third[32] = "";

  PetscFunctionBegin;
  for (int32_t box = 0; box < boxes->nbox; box++) {
    for (PetscInt d = 0; d < dm->dim; d++) {
      h[d] = ldexp(VpDomainWidth(boxes, box, (int)d), -(int)level);
      least = PetscMin(least, h[d]);
    }
    if (IsSizeRepresentable(dm->dim, h)) continue;
    if (dm->dim == 3) PetscCall(PetscSNPrintf(third, sizeof(third), " x %g", (double)h[2]));
    SETERRQ(comm, PETSC_ERR_ARG_OUTOFRANGE,
            "Box %d has cells of size %g x %g%s (-dm_refine %" PetscInt_FMT "): their volume, h^2 or 1/h^2 is beyond %g, where what "
            "is computed from it leaves the range of double precision. Choose other units of length",
            (int)box, (double)h[0], (double)h[1], third, level, MOST);
  }
  PetscCheck(dg->penalty * k * k * k * k / least / least <= ENTRY, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_penalty %g on cells of size %g: penalty (k+1)^4/h^2 overflows. Use a smaller penalty", (double)dg->penalty,
             (double)least);
  for (int32_t i = 0; i < 2 * (int32_t)dm->dim * boxes->nbox; i++) {
    const PetscReal alpha = VpDomainAlpha(boxes, boxes->beyond[i]);

    PetscCheck(alpha == 0 || (IsRepresentable(alpha) && IsRepresentable(alpha / least)), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-dm_vpatchdg_robin %g: it and its quotient by the size of a cell lie between %g and %g, where what is computed from it "
               "stays in the range of double precision. Choose other units",
               (double)alpha, 1 / MOST, MOST);
  }
  PetscCheck(dg->reaction <= MOST, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-dm_vpatchdg_reaction %g: up to %g what is computed from it stays in the range of double precision. Choose other units",
             (double)dg->reaction, MOST);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckCoefficient(DM dm, int tensor, const PetscReal a[])
{
  DM_VPatchDG    *dg = dm->data;
  const VpProblem problem = {.coefficient = a, .tensor = tensor};
  const PetscReal k = (PetscReal)(dg->degree + 1), factor = PetscMax(dg->penalty, 1) * k * k * k * k;
  PetscReal       range[2];

  PetscFunctionBegin;
  PetscCall(VpProblemRange(dg->mesh, &problem, range));
  PetscCheck(IsRepresentable(range[0]) && range[1] <= MOST && range[1] * factor <= ENTRY, PetscObjectComm((PetscObject)dm),
             PETSC_ERR_ARG_OUTOFRANGE,
             "With this coefficient a/h^2 reaches from %g to %g (h: the size of a cell), times penalty (k+1)^4 to %g: what is computed "
             "from it leaves the range of double precision. Choose other units of length, or of the coefficient",
             (double)range[0], (double)range[1], (double)(range[1] * factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
