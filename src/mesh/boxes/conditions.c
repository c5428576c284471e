/* The conditions on the boundary, which may differ from box to box: the domain's table of them. */
#include "../mesh.h"
#include "../../compat.h"

/* the entry of a normal that is this condition; the table grows where there is none. Of entries that are not in use the kind is 0. */
static PetscErrorCode FindEntry(VpDomain domain, int side, VpBoundary condition, int32_t *entry)
{
  const int nside = 2 * domain->dim;
  int32_t   i = side;

  PetscFunctionBeginUser;
  while (i < domain->nboundary && domain->boundary[i].kind && !VpBoundaryIs(domain->boundary[i], condition)) i += nside;
  if (i >= domain->nboundary) {
    PetscCall(PetscRealloc((size_t)(domain->nboundary + nside) * sizeof(*domain->boundary), &domain->boundary));
    PetscCall(PetscArrayzero(domain->boundary + domain->nboundary, nside));
    domain->nboundary += nside;
  }
  domain->boundary[i] = condition;
  *entry = i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of every normal, the condition of most sides changes places with the first one. */
static PetscErrorCode PutCommonestFirst(VpDomain domain)
{
  const int     nside = 2 * domain->dim;
  const int64_t n = (int64_t)domain->nbox * nside;
  int32_t      *count, most[6];

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc1(domain->nboundary, &count));
  for (int64_t i = 0; i < n; i++) {
    if (domain->beyond[i] < 0) count[VpBoundaryEntry(domain->beyond[i])]++;
  }
  for (int side = 0; side < nside; side++) {
    const VpBoundary first = domain->boundary[side];

    most[side] = side;
    for (int32_t i = side; i < domain->nboundary; i += nside) most[side] = count[i] > count[most[side]] ? i : most[side];
    domain->boundary[side] = domain->boundary[most[side]];
    domain->boundary[most[side]] = first;
  }
  for (int64_t i = 0; i < n; i++) {
    const int32_t side = (int32_t)(i % nside), entry = VpBoundaryEntry(domain->beyond[i]);

    if (entry < 0) continue;
    if (entry == most[side]) domain->beyond[i] = VpBoundaryAt(side);
    else if (entry == side) domain->beyond[i] = VpBoundaryAt(most[side]);
  }
  PetscCall(PetscFree(count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpDomainSetBoundary(VpDomain domain, const VpBoundary condition[])
{
  const int nside = 2 * domain->dim;

  PetscFunctionBeginUser;
  for (int64_t i = 0; i < (int64_t)domain->nbox * nside; i++) {
    int32_t entry = 0;

    if (domain->beyond[i] >= 0) continue;
    PetscCall(FindEntry(domain, (int)(i % nside), condition[i], &entry));
    domain->beyond[i] = VpBoundaryAt(entry);
  }
  PetscCall(PutCommonestFirst(domain));
  domain->corners = VP_CORNERS_UNKNOWN;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscBool VpDomainIsByNormal(VpDomain domain)
{
  const int nside = 2 * domain->dim;

  for (int64_t i = 0; i < (int64_t)domain->nbox * nside; i++) {
    if (domain->beyond[i] < 0 && VpBoundaryEntry(domain->beyond[i]) >= nside) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
