/* Whether a map matches across periodic sides: as seen from both sides, lengths along a face have to agree. */
#include "internal.h"
#include "../../level/metric/pullback.h"

enum { PRODUCTS = 3 };  /* of tangents at a point: yy, yz and zz on a side along x, for instance */
#define MOST_APART 1e-6 /* relative difference of lengths */

/* the tangents' products at the points of one direction's sides */
typedef struct {
  int     d, face;
  double *product; /* [nface][lower, upper][face][PRODUCTS] */
} Sides;

PetscBool VpIsAround(VpMesh mesh, int32_t cell, int d)
{
  const VpGeometry g = mesh->geometry;
  const int32_t    beyond = VpMeshNeighbor(mesh, cell, 2 * d + 1);
  PetscReal        here[3], there[3], size[3];

  if (beyond < 0 || g->domain->trees) return PETSC_FALSE;
  if (!g->depth && g->box[beyond] == g->box[cell]) return (PetscBool)(g->coord[3 * (size_t)beyond + d] <= g->coord[3 * (size_t)cell + d]);
  VpGeometryBounds(g, cell, here, size);
  VpGeometryBounds(g, beyond, there, size);
  return (PetscBool)(there[d] <= here[d]);
}

/* whether a cell has its box's lower end as its own, where a periodic direction may begin */
static PetscBool IsFirst(VpMesh mesh, int32_t cell, int d)
{
  return (PetscBool)(mesh->geometry->coord[3 * (size_t)cell + d] == 0);
}

static void FindProducts(VpMesh mesh, int32_t cell, int end, const VpMapGrid *grid, const Sides *s)
{
  const int dim = mesh->dim, axis[2] = {s->d ? 0 : 1, dim == 2 ? (s->d ? 0 : 1) : s->d == 2 ? 1 : 2};
  double    J[9 * VP_MAX_N * VP_MAX_N], *to = s->product + ((size_t)cell * 2 + (size_t)end) * (size_t)s->face * PRODUCTS;

  VpGeometryEvaluateGrid(mesh->geometry, cell, grid, NULL, J);
  for (int q = 0; q < s->face; q++) {
    for (int k = 0; k < PRODUCTS; k++) {
      to[q * PRODUCTS + k] = 0;
      for (int i = 0; i < dim; i++)
        to[q * PRODUCTS + k] += J[(q * dim + i) * dim + axis[k / 2]] * J[(q * dim + i) * dim + axis[(k + 1) / 2]];
    }
  }
}

/* whether the lengths on both sides agree */
static PetscBool LengthsAgree(const Sides *s, int32_t cell, int32_t beyond)
{
  const double *own = s->product + ((size_t)cell * 2 + 1) * (size_t)s->face * PRODUCTS,
               *other = s->product + (size_t)beyond * 2 * (size_t)s->face * PRODUCTS;
  PetscBool agree = PETSC_TRUE;

  for (int i = 0; i < s->face * PRODUCTS; i++) {
    const double *at = own + i / PRODUCTS * PRODUCTS;

    if (fabs(own[i] - other[i]) > 2 * MOST_APART * (at[0] + at[2])) agree = PETSC_FALSE; /* NaN is left to the check of det J. */
  }
  return agree;
}

static PetscErrorCode CheckDirection(VpMesh mesh, int n, int d)
{
  Sides       s = {.d = d, .face = VpFaceSize(n, mesh->dim)};
  VpMapGrid   lower, upper;
  PetscMPIInt first;
  PetscBool   agree = PETSC_TRUE;

  PetscFunctionBegin;
  VpGaussPoints(mesh->geometry, n, 2 * d, &lower);
  VpGaussPoints(mesh->geometry, n, 2 * d + 1, &upper);
  PetscCall(PetscCalloc1((size_t)mesh->nface * 2 * (size_t)s.face * PRODUCTS + 1, &s.product));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (IsFirst(mesh, c, d)) FindProducts(mesh, c, 0, &lower, &s);
    if (VpIsAround(mesh, c, d)) FindProducts(mesh, c, 1, &upper, &s);
  }
  PetscCall(VpMeshExchange(mesh, VP_GHOST_FACE, 2 * (size_t)s.face * PRODUCTS, MPI_DOUBLE, s.product,
                           s.product + (size_t)mesh->nown * 2 * (size_t)s.face * PRODUCTS));
  for (int32_t c = 0; c < mesh->nown; c++) {
    if (VpIsAround(mesh, c, d)) agree = (PetscBool)(agree && LengthsAgree(&s, c, VpMeshNeighbor(mesh, c, 2 * d + 1)));
  }
  PetscCall(PetscFree(s.product));
  PetscCall(VpFirstRank(mesh->comm, (PetscBool)!agree, &first));
  PetscCheck(
    first == INT_MAX, mesh->comm, PETSC_ERR_ARG_INCOMP,
    "The map of cells does not match across the periodic sides %c- and %c+: the same points of both have other distances from each "
    "other. Sides may be moved or turned, but not stretched (DMVPatchDGSetMap())",
    'x' + d, 'x' + d);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMVPatchDGCheckPeriods(DM dm, VpMesh mesh)
{
  PetscFunctionBegin;
  for (int d = 0; d < mesh->dim; d++) {
    PetscMPIInt first;
    PetscBool   around = PETSC_FALSE;

    if (!mesh->geometry->domain->periodic[d]) continue;
    for (int32_t c = 0; c < mesh->nown && !around; c++) around = VpIsAround(mesh, c, d);
    PetscCall(VpFirstRank(mesh->comm, around, &first));
    if (first < INT_MAX) PetscCall(CheckDirection(mesh, (int)DMVPatchDGData(dm)->degree + 1, d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
