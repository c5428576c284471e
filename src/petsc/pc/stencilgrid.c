/* The cells around the points of a stencil: between points, and one more at sides whose Dirichlet nodes are outside. */
#include "stencil.h"
#include "../../base/memory.h"
#include "../../base/threads.h"
#include <petscdmda.h>

/* quotients that decide: of couplings along a side and inside, and of the sum of a side's rows and the couplings to points inside */
#define HALF_MOST   0.6
#define WHOLE_LEAST 0.85
#define WHOLE_MOST  1.2
#define NEAR        0.4

static PetscErrorCode DecideSide(const VpStencil *s, VpPoints points, int side, VpStencilSide *is)
{
  const double along = s->sums[side].next > 0 ? s->sums[side].along / s->sums[side].next : 1;
  const double out = s->sums[side].inner > 0 ? s->sums[side].sum / s->sums[side].inner : -1;
  const double whole = floor(out + 0.5);
  PetscBool    half = (PetscBool)(along < HALF_MOST), clear;

  PetscFunctionBegin;
  if (s->periodic[side / 2]) *is = VP_STENCIL_PERIODIC;
  else if (s->sums[side].rows == 0 || 2 * s->sums[side].fixed > s->sums[side].rows) *is = VP_STENCIL_IDENTITY;
  else {
    clear = (PetscBool)(fabs(out - whole) < NEAR && whole >= 0 && whole <= 2 && (half || (along > WHOLE_LEAST && along < WHOLE_MOST)) &&
                        !(half && whole > 0));
    PetscCheck(clear || points != VP_POINTS_AUTO, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
               "-pc_type vpatchdg: what the points on side %d of the DMDA are is not clear from their rows, whose sum is %.3g times the "
               "coupling to the next points, and whose couplings along the side are %.3g times those inside: say -pc_vpatchdg_points nodes "
               "or -pc_vpatchdg_points centers",
               side, out, along);
    if (points == VP_POINTS_NODES) *is = out > 0.5 ? VP_STENCIL_OUTSIDE : VP_STENCIL_NATURAL;
    else if (points == VP_POINTS_CENTERS) *is = out > 0.5 ? VP_STENCIL_HALF : VP_STENCIL_CENTERS;
    else *is = whole == 2 ? VP_STENCIL_HALF : whole == 1 ? VP_STENCIL_OUTSIDE : half ? VP_STENCIL_NATURAL : VP_STENCIL_CENTERS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x [n]: coordinates of points along d: those of the DMDA, or equidistant ones whose distance follows from the couplings */
static PetscErrorCode FindPoints(const VpStencil *s, int d, PetscReal x[])
{
  const MPI_Comm comm = PetscObjectComm((PetscObject)s->da);
  double         most = 0, least = PETSC_MAX_REAL;
  Vec            coordinates;

  PetscFunctionBegin;
  for (int e = 0; e < s->dim; e++) least = PetscMin(least, s->typical[e]);
  for (PetscInt i = 0; i < s->n[d]; i++) x[i] = (PetscReal)i * sqrt(least / s->typical[d]);
  PetscCall(DMGetCoordinates(s->da, &coordinates));
  if (!coordinates) PetscFunctionReturn(PETSC_SUCCESS);
  { /* every rank knows those of its points, and takes one line of these */
    const PetscInt     stride = d == 0 ? 1 : d == 1 ? s->count[0] : s->count[0] * s->count[1];
    const PetscScalar *all;

    for (PetscInt i = 0; i < s->n[d]; i++) x[i] = PETSC_MIN_REAL;
    PetscCall(VecGetArrayRead(coordinates, &all));
    for (PetscInt i = 0; i < s->count[d] && s->own; i++) x[s->start[d] + i] = PetscRealPart(all[i * stride * s->dim + d]);
    PetscCall(VecRestoreArrayRead(coordinates, &all));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, x, (PetscMPIInt)s->n[d], MPIU_REAL, MPIU_MAX, comm));
  for (PetscInt i = 1; i < s->n[d]; i++) most = PetscMax(most, x[i] - x[i - 1]);
  for (PetscInt i = 1; i < s->n[d]; i++)
    PetscCheck(x[i] > x[i - 1] + 1e-12 * most, comm, PETSC_ERR_SUP,
               "-pc_type vpatchdg: the coordinates of the DMDA do not ascend in direction %c", (char)('x' + d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills faces and widths along d. */
static PetscErrorCode FindFaces(const VpStencil *s, VpStencilGrid *c, int d)
{
  const VpStencilSide *side = c->side + 2 * d;
  const PetscInt       n = s->n[d];
  PetscReal           *x, *face;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &x));
  PetscCall(FindPoints(s, d, x));
  c->shift[d] = side[0] == VP_STENCIL_OUTSIDE || side[0] == VP_STENCIL_HALF;
  c->ncell[d] = n - 1 + c->shift[d] + (side[1] == VP_STENCIL_OUTSIDE || side[1] == VP_STENCIL_HALF || side[1] == VP_STENCIL_PERIODIC);
  PetscCall(PetscMalloc2(c->ncell[d] + 1, &c->face[d], n, &c->width[d]));
  face = c->face[d];
  for (PetscInt i = 0; i < n; i++) face[i + c->shift[d]] = x[i];
  if (c->shift[d]) face[0] = x[0] - (x[1] - x[0]) / (side[0] == VP_STENCIL_HALF ? 2 : 1);
  if (n + c->shift[d] == c->ncell[d]) face[c->ncell[d]] = x[n - 1] + (x[n - 1] - x[n - 2]) / (side[1] == VP_STENCIL_HALF ? 2 : 1);
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal below = i ? x[i] - x[i - 1] : x[1] - x[0], above = i < n - 1 ? x[i + 1] - x[i] : x[n - 1] - x[n - 2];

    c->width[d][i] = (below + above) / 2;
    if ((i == 0 && side[0] == VP_STENCIL_NATURAL) || (i == n - 1 && side[1] == VP_STENCIL_NATURAL)) c->width[d][i] /= 2;
  }
  PetscCall(PetscFree(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* how often cells may be halves of boxes */
static PetscInt CountRefinements(const VpStencil *s, const VpStencilGrid *c)
{
  for (PetscInt level = 0;; level++) {
    const PetscInt more = (PetscInt)2 << level;

    for (int d = 0; d < s->dim; d++) {
      if (c->ncell[d] % more) return level;
      for (PetscInt i = 0; i < c->ncell[d]; i++) {
        const PetscReal h = c->face[d][i + 1] - c->face[d][i], first = c->face[d][i / more * more + 1] - c->face[d][i / more * more];

        if (PetscAbsReal(h - first) > 1e-8 * first) return level;
      }
    }
  }
}

/* widens most [2] = {-least, largest} coefficient to those of the edges of own points */
static void FindEdges(const VpStencil *s, const VpStencilGrid *c, int32_t piece, double most[])
{
  PetscInt at[3];

  VpStencilPoint(s, VpStencilPiece(s, piece), at);
  for (PetscInt i = VpStencilPiece(s, piece); i < VpStencilPiece(s, piece + 1); i++, VpStencilNext(s, at)) {
    for (int d = 0; d < s->dim; d++) {
      double a = PetscRealPart(s->up[d][i]);

      if (a <= 0) continue;
      a *= c->face[d][at[d] + c->shift[d] + 1] - c->face[d][at[d] + c->shift[d]];
      for (int e = 0; e < s->dim; e++) a /= e == d ? 1 : c->width[e][at[e]];
      most[0] = PetscMax(most[0], -a);
      most[1] = PetscMax(most[1], a);
    }
  }
}

static PetscErrorCode FindContrast(const VpStencil *s, VpStencilGrid *c)
{
  double most[2] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL};

  PetscFunctionBegin;
  VP_LOOP_HEAVY_MOST (piece, VP_STENCIL_PIECES, most[:2]) FindEdges(s, c, piece, most);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)s->da)));
  c->varies = (PetscBool)(most[1] > -(1 + VP_STENCIL_VARIES) * most[0]);
  c->a = most[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the largest reaction, and how much reactions differ. */
static PetscErrorCode FindReactions(const VpStencil *s, VpStencilGrid *c)
{
  const PetscScalar *mass = s->mass;
  double             most[2] = {0, -PETSC_MAX_REAL}; /* c, -c */

  PetscFunctionBegin;
  if (!mass) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt i = 0; i < s->own; i++) {
    PetscInt at[3];

    if (PetscRealPart(mass[i]) < 0) continue;
    VpStencilPoint(s, i, at);
    most[0] = PetscMax(most[0], PetscRealPart(mass[i]) / VpStencilVolume(s, c, at));
    most[1] = PetscMax(most[1], -PetscRealPart(mass[i]) / VpStencilVolume(s, c, at));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PetscObjectComm((PetscObject)s->da)));
  c->reaction = most[0];
  c->spread = (most[0] + most[1]) / most[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define STRETCHED 1.25 /* Point smoothers do well where distances along two directions differ by at most this factor. */

/* why cells cannot be wide; NULL: they can */
static const char *WhyNarrow(const VpStencil *s, const VpStencilGrid *c)
{
  PetscReal least[3] = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL}, most[3] = {0, 0, 0};

  for (int side = 0; side < 2 * s->dim; side++)
    if (c->side[side] == VP_STENCIL_CENTERS || c->side[side] == VP_STENCIL_HALF) return "points are centers of cells";
  if (c->varies) return "the coefficient varies";
  if (CountRefinements(s, c) == 0) return "not all cells come in pairs of equal ones";
  for (int d = 0; d < s->dim; d++)
    if (c->ncell[d] < 4) return "there are fewer than four distances of points along a direction";
  for (int d = 0; d < s->dim; d++) {
    for (PetscInt i = 0; i < c->ncell[d]; i++) {
      least[d] = PetscMin(least[d], c->face[d][i + 1] - c->face[d][i]);
      most[d] = PetscMax(most[d], c->face[d][i + 1] - c->face[d][i]);
    }
  }
  for (int d = 0; d < s->dim; d++)
    for (int e = 0; e < s->dim; e++)
      if (most[d] > STRETCHED * least[e]) return "distances of points differ";
  return NULL;
}

/* Decides how wide the cells of the DM are. */
static PetscErrorCode ChooseWidth(const VpStencil *s, const VpStencilAsked *asked, VpStencilGrid *c)
{
  const char *why = WhyNarrow(s, c);

  PetscFunctionBegin;
  if (!why && !asked->smooths) why = "-pc_vpatchdg_jacobi has to be auto or both";
  PetscCheck(!why || asked->width != VP_WIDTH_WIDE, PetscObjectComm((PetscObject)s->da), PETSC_ERR_SUP,
             "-pc_vpatchdg_cells wide: %s. Say auto or narrow", why);
  c->wide = (PetscBool)(!why && asked->width != VP_WIDTH_NARROW);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDM(const VpStencil *s, const VpStencilGrid *c, const char prefix[], DM *dm)
{
  const PetscInt   level = CountRefinements(s, c), step = (PetscInt)1 << level;
  PetscReal        lower[3] = {0}, upper[3] = {0}, *face;
  PetscInt         n[3] = {1, 1, 1};
  VPatchDGBoundary boundary[6] = {VPATCHDG_BOUNDARY_DIRICHLET};
  VecType          type;

  PetscFunctionBegin;
  PetscCall(DMCreate(PetscObjectComm((PetscObject)s->da), dm));
  PetscCall(DMSetType(*dm, DMVPATCHDG));
  PetscCall(DMSetOptionsPrefix(*dm, prefix));
  PetscCall(DMSetDimension(*dm, s->dim));
  PetscCall(DMVPatchDGSetDegree(*dm, 1));
  PetscCall(DMVPatchDGSetQuadrature(*dm, VPATCHDG_QUADRATURE_LOBATTO));
  for (int d = 0; d < s->dim; d++) {
    n[d] = c->ncell[d] / step;
    lower[d] = c->face[d][0];
    upper[d] = c->face[d][c->ncell[d]];
  }
  PetscCall(DMVPatchDGSetBoxGrid(*dm, n, lower, upper));
  for (int d = 0; d < s->dim; d++) {
    PetscCall(PetscMalloc1(n[d] + 1, &face));
    for (PetscInt i = 0; i <= n[d]; i++) face[i] = c->face[d][i * step];
    PetscCall(DMVPatchDGSetGrid(*dm, d, n[d], face));
    PetscCall(PetscFree(face));
  }
  for (int side = 0; side < 2 * s->dim; side++) {
    const VpStencilSide is = c->side[side];

    boundary[side] = is == VP_STENCIL_PERIODIC                              ? VPATCHDG_BOUNDARY_PERIODIC
                     : is == VP_STENCIL_NATURAL || is == VP_STENCIL_CENTERS ? VPATCHDG_BOUNDARY_NEUMANN
                                                                            : VPATCHDG_BOUNDARY_DIRICHLET;
  }
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMSetRefineLevel(*dm, level - c->wide));
  PetscCall(DMGetVecType(s->da, &type));
  PetscCall(DMSetVecType(*dm, type));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DescribeSides(const VpStencil *s, const VpStencilGrid *c, PetscBool varies, char says[], size_t size)
{
  static const char *const names[] = {"periodic",         "rows of the identity", "nodes, Neumann", "Dirichlet nodes outside",
                                      "centers, Neumann", "centers, Dirichlet"};
  size_t                   used = 0;

  PetscFunctionBegin;
  for (int side = 0; side < 2 * s->dim; side++) {
    PetscBool said = PETSC_FALSE;

    for (int other = 0; other < side; other++) said = (PetscBool)(said || c->side[other] == c->side[side]);
    if (said) continue;
    PetscCall(PetscSNPrintf(says + used, size - used, "%s%s", used ? "; " : "", names[c->side[side]]));
    PetscCall(PetscStrlen(says, &used));
  }
  PetscCall(PetscSNPrintf(says + used, size - used, "%s%s%s%s", varies ? "; its coefficient varies" : "",
                          c->reaction == 0               ? ""
                          : c->spread > VP_STENCIL_ALIKE ? "; its reaction varies"
                                                         : "; it has a reaction",
                          s->factor ? "; rows have a factor each" : "", c->wide ? "; cells are two distances wide" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpStencilConvert(VpStencil *s, const VpStencilAsked *asked, VpContinuous to)
{
  PetscBool     varies = PETSC_FALSE;
  VpStencilGrid c = {.face = {NULL}};

  PetscFunctionBegin;
  for (int side = 0; side < 2 * s->dim; side++) PetscCall(DecideSide(s, asked->points, side, &c.side[side]));
  for (int d = 0; d < s->dim; d++) PetscCall(FindFaces(s, &c, d));
  PetscCall(FindContrast(s, &c));
  PetscCall(FindReactions(s, &c));
  PetscCall(ChooseWidth(s, asked, &c));
  PetscCall(CreateDM(s, &c, asked->prefix, &to->dm));
  PetscCall(VpStencilFillCells(s, &c, to->dm, &to->node, &varies));
  to->wide = c.wide;
  to->centered = (PetscBool)(varies || c.spread > VP_STENCIL_ALIKE);
  for (int side = 0; side < 2 * s->dim; side++)
    to->centered = (PetscBool)(to->centered || c.side[side] == VP_STENCIL_CENTERS || c.side[side] == VP_STENCIL_HALF);
  /* Centers at corners stand for 2^dim times the volume that cells between points have there. Cells have means of reactions. */
  to->alike = c.spread > VP_STENCIL_ALIKE ? 1e100 : c.reaction > 0 && to->centered ? (PetscReal)(1 << s->dim) : 0;
  to->exact = c.varies || s->factor || c.spread > VP_STENCIL_VARIES || s->negative > VP_STENCIL_VARIES || to->centered ? 0 : c.a;
  PetscCall(DescribeSides(s, &c, varies, to->origin, sizeof(to->origin)));
  to->known = PETSC_TRUE;
  to->coupled = s->coupled;
  to->factor = s->factor;
  to->diagonal = s->diagonal;
  s->factor = NULL;
  s->diagonal = NULL;
  for (int d = 0; d < s->dim; d++) PetscCall(PetscFree2(c.face[d], c.width[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
