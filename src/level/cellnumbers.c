/* The numbers that the cells of a cycle have apart from the coefficient: c of the reaction, and a alpha at Robin sides. A cycle works on
   boxes. Their c is the mean of c |det J| over a cell's points, and their a alpha that of the side's alpha a times its area. Both are
   smaller where the cycle works with a multiple of u (VpMetric.entry). On trees their volume is the mean of |det J|. */
#include "internal.h"
#include "../base/threads.h"

#define ALIKE  0.01 /* Reactions, Robin sides, and volumes that differ by less have one number. */
#define DIGITS 36   /* binary ones that means over boxes keep */

typedef struct {
  VpMesh           mesh;
  const VpProblem *problem;
  double           weight[VP_MAX_N];
  int              n, size;
  double           more;  /* as in VpProblemForCycle() */
  VpApart          apart; /* which numbers differ */
  PetscReal       *robin; /* [nown][2 dim]; NULL: no side has an alpha */
} Numbers;

static PetscReal ReactionOf(const Numbers *to, int32_t cell)
{
  const VpMetric m = to->problem->metric;

  return m->masses[cell] + to->more * m->volumes[cell];
}

/* Sets the numbers of the sides with this number. */
static void SetRobin(Numbers *to, int side)
{
  const VpMesh  mesh = to->mesh;
  const int     dim = mesh->dim, face = to->size / to->n;
  const double *flux = to->problem->metric->flux[side];

  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    const size_t at = (size_t)cell * 2 * (size_t)dim + (size_t)side;
    const VpSide kind = VpDomainSide(mesh->geometry->domain, mesh->neighbor[at]);
    double       sum = 0;

    if (!VpIsCondition(kind) || VpConditions[kind].given != VP_GIVEN_FLUX) continue;
    for (int i = 0; i < face; i++, flux++) sum += to->weight[i % to->n] * (dim == 3 ? to->weight[i / to->n] : 1) * *flux;
    to->robin[at] = VpDomainAlpha(mesh->geometry->domain, mesh->neighbor[at]) * sum / VpGeometryArea(mesh->geometry, cell, side) *
                    to->problem->metric->shares[cell];
  }
}

/* apart = which numbers differ among the cells of all ranks */
static PetscErrorCode FindApart(const Numbers *to, VpApart *apart)
{
  const VpMesh mesh = to->mesh;
  const int    nside = 2 * mesh->dim;
  double       most[5] = {0, -PETSC_MAX_REAL, 0, 0, -PETSC_MAX_REAL}; /* c, -c, relative change of alpha; volume, -volume */

  PetscFunctionBegin;
  VP_LOOP_MOST (cell, mesh->nown, most[:5]) {
    most[0] = PetscMax(most[0], ReactionOf(to, cell));
    most[1] = PetscMax(most[1], -ReactionOf(to, cell));
    most[3] = PetscMax(most[3], to->problem->metric->volumes[cell]);
    most[4] = PetscMax(most[4], -to->problem->metric->volumes[cell]);
    for (int side = 0; side < nside && to->robin; side++) {
      const size_t    at = (size_t)cell * (size_t)nside + (size_t)side;
      const PetscReal alpha = VpProblemAlpha(to->problem, mesh->geometry->domain, mesh->neighbor[at]);
      const PetscReal own = to->robin[at] / VpProblemCoefficient(to->problem, cell, side / 2);

      if (own > 0) most[2] = PetscMax(most[2], PetscAbsReal(own / alpha - 1));
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 5, MPI_DOUBLE, MPI_MAX, mesh->comm));
  *apart = (VpApart){.reaction = most[0] + most[1] > ALIKE * most[0],
                     .sides = mesh->geometry->map && most[2] > ALIKE ? 2 * mesh->dim : 0,
                     .volume = mesh->geometry->domain->trees && most[3] + most[4] > ALIKE * most[3]};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficient becomes its mean over the cell's box. Means that differ by rounding errors become equal. */
static PetscErrorCode TakeBoxMeans(VpMesh mesh, VpProblem *problem, PetscReal **numbers)
{
  const int width = VpProblemDirections(problem);
  PetscReal rounded[3] = {0, 0, 0};
  int32_t   box = -1;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)mesh->nown * (size_t)width + 1, numbers)); /* not NULL on ranks without cells */
  for (int32_t cell = 0; cell < mesh->nown; cell++) {
    for (int d = 0; d < width && mesh->geometry->box[cell] != box; d++) {
      const PetscReal mean = problem->lattice->a[3 * (size_t)mesh->geometry->box[cell] + (size_t)d];
      const double    unit = ldexp(1, ilogb(mean) - DIGITS);

      rounded[d] = round(mean / unit) * unit;
    }
    box = mesh->geometry->box[cell];
    for (int d = 0; d < width; d++) (*numbers)[(size_t)cell * (size_t)width + (size_t)d] = rounded[d];
  }
  problem->coefficient = *numbers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode JoinNumbers(Numbers *to, VpProblem *problem, PetscReal **numbers)
{
  PetscFunctionBegin;
  to->apart = problem->apart;
  PetscCall(VpMallocLarge((size_t)to->mesh->nown * (size_t)VpProblemWidth(problem) + 1, numbers)); /* not NULL on ranks without cells */
  VP_LOOP (cell, to->mesh->nown) {
    PetscReal *a = *numbers + (size_t)cell * (size_t)VpProblemWidth(problem);

    for (int d = 0; d < VpProblemDirections(to->problem); d++) *a++ = VpProblemCoefficient(to->problem, cell, d);
    if (to->apart.reaction) *a++ = ReactionOf(to, cell);
    for (int side = 0; side < to->apart.sides; side++) *a++ = to->robin[(size_t)cell * 2 * (size_t)to->mesh->dim + (size_t)side];
    if (to->apart.volume) *a++ = to->problem->metric->volumes[cell];
  }
  problem->coefficient = *numbers;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the numbers of Robin sides, where there are some. */
static PetscErrorCode FindRobin(Numbers *to)
{
  PetscFunctionBegin;
  if (!VpDomainReadsAlpha(to->mesh->geometry->domain)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1((size_t)to->mesh->nown * 2 * (size_t)to->mesh->dim + 1, &to->robin));
  for (int side = 0; side < 2 * to->mesh->dim; side++) SetRobin(to, side);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives cells their own numbers, where these differ. */
static PetscErrorCode TakeCells(VpMesh mesh, const VpProblem *problem, double more, VpProblem *out, PetscReal **numbers)
{
  Numbers to = {.mesh = mesh, .problem = problem, .n = problem->degree + 1, .more = more};
  double  x[VP_MAX_N];

  PetscFunctionBegin;
  to.size = to.n * VpFaceSize(to.n, mesh->dim);
  VpGauss(to.n, x, to.weight);
  PetscCall(FindRobin(&to));
  PetscCall(FindApart(&to, &out->apart));
  if (VpApartWidth(out->apart)) PetscCall(VpTogether(mesh->comm, JoinNumbers(&to, out, numbers)));
  PetscCall(PetscFree(to.robin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpProblemForCycle(VpMesh mesh, const VpProblem *problem, double unlike, double more, VpProblem *out, PetscReal **numbers)
{
  PetscFunctionBegin;
  *out = *problem;
  *numbers = NULL;
  out->reaction += more * VpProblemDilation(problem);
  if (!problem->metric) PetscFunctionReturn(PETSC_SUCCESS);
  out->kind = VpMetricChoose(problem->metric, problem->kind, unlike);
  if (problem->kind != VP_METRIC_CONST) PetscCall(TakeCells(mesh, problem, more, out, numbers));
  if (VpApartWidth(out->apart)) out->kind = VP_METRIC_CELL;
  if (out->kind == VP_METRIC_CONST && problem->coefficient) PetscCall(VpTogether(mesh->comm, TakeBoxMeans(mesh, out, numbers)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
