/* Error of each cell from the approximation of a smooth coefficient by one number per cell. */
#include "functions.h"
#include "../../base/norm.h"

typedef struct {
  VpMesh             mesh;
  int                dim, n, points; /* n: number of points in one direction */
  double             w[VP_MAX_N];
  const VpGiven     *exact;
  const PetscReal   *own; /* [nown] the DM's coefficient, or NULL: 1 */
  const PetscScalar *at;
  PetscScalar       *flux; /* [points of own cells][dim] grad u_h, then a grad u_h for the exact coefficient a */
} Points;

/* norm: of (a - own) grad u_h / sqrt(a) on a cell. The flux becomes a grad u_h. *positive becomes false if a is not a positive number. */
static PetscErrorCode ComputeCellNorm(const Points *p, int32_t cell, double *norm, PetscBool *positive)
{
  const PetscReal own = p->own ? p->own[cell] : 1;
  double          term[3 * VP_MAX_N * VP_MAX_N * VP_MAX_N], volume = VpGeometryVolume(p->mesh->geometry, cell);

  PetscFunctionBegin;
  for (int q = 0; q < p->points; q++) {
    const size_t first = ((size_t)cell * (size_t)p->points + (size_t)q) * (size_t)p->dim;
    PetscScalar  a = 0;
    double       weight = volume;

    PetscCall(p->exact->function(p->dim, p->at + first, &a, p->exact->ctx));
    for (int d = 0, r = q; d < p->dim; d++, r /= p->n) weight *= p->w[r % p->n];
    for (int d = 0; d < p->dim; d++) {
      PetscScalar *flux = &p->flux[first + (size_t)d];

      term[q * p->dim + d] = sqrt(weight / a) * (a - own) * *flux;
      *flux *= a;
    }
    if (!(a > 0 && a < INFINITY)) *positive = PETSC_FALSE;
  }
  *norm = VpNorm(p->points * p->dim, term);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b += div(flux), for a flux that is given at every point */
static PetscErrorCode AddDivergence(DM dm, int dim, Vec flux, Vec b)
{
  Vec values, component, slopes;

  PetscFunctionBegin;
  PetscCall(DMGetGlobalVector(dm, &values));
  PetscCall(DMGetGlobalVector(dm, &component));
  PetscCall(VecDuplicate(flux, &slopes));
  for (int d = 0; d < dim; d++) {
    PetscCall(VecStrideGather(flux, d, values, INSERT_VALUES));
    PetscCall(DMVPatchDGSetPointValues(dm, values, component));
    PetscCall(DMVPatchDGGetPointGradients(dm, component, slopes));
    PetscCall(VecStrideGather(slopes, d, values, INSERT_VALUES));
    PetscCall(DMVPatchDGSetPointValues(dm, values, component));
    PetscCall(VecAXPY(b, 1, component));
  }
  PetscCall(VecDestroy(&slopes));
  PetscCall(DMRestoreGlobalVector(dm, &component));
  PetscCall(DMRestoreGlobalVector(dm, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpEstimateCoefficient(DM dm, Vec x, const VpGiven *a, Vec b, PetscReal term[], PetscBool *positive)
{
  const VpProblem *problem = &DMVPatchDGData(dm)->op->problem;
  Points           p = {.mesh = DMVPatchDGData(dm)->mesh, .exact = a, .own = problem->coefficient, .n = problem->degree + 1};
  double           points[VP_MAX_N];
  Vec              at, flux;

  PetscFunctionBegin;
  p.dim = p.mesh->dim;
  p.points = (int)PetscPowInt(p.n, p.dim);
  VpGauss(p.n, points, p.w);
  PetscCall(DMVPatchDGGetPoints(dm, &at));
  PetscCall(VecDuplicate(at, &flux));
  PetscCall(DMVPatchDGGetPointGradients(dm, x, flux));
  PetscCall(VecGetArrayRead(at, &p.at));
  PetscCall(VecGetArray(flux, &p.flux));
  for (int32_t c = 0; c < p.mesh->nown; c++) PetscCall(ComputeCellNorm(&p, c, &term[c], positive));
  PetscCall(VecRestoreArray(flux, &p.flux));
  PetscCall(VecRestoreArrayRead(at, &p.at));
  PetscCall(AddDivergence(dm, p.dim, flux, b));
  PetscCall(VecDestroy(&flux));
  PetscCall(VecDestroy(&at));
  PetscFunctionReturn(PETSC_SUCCESS);
}
