/* The problem of a level: degree, penalty and coefficient, and what follows from them before there are tables. */
#pragma once
#include "metric/metric.h"

/* the numbers that cells have apart from a, in this order */
typedef struct {
  int reaction; /* 1: each cell has its own c, and the problem's c is their mean; 0: the problem's c is that of all cells */
  int sides;    /* 2 dim: a alpha of the cell's sides, 0 where a side has none; 0: alpha is that of boundaries */
  int volume;   /* 1: volume of the cell in space, relative to that in its tree; 0: sides between trees do not weigh by volumes */
} VpApart;
static inline int VpApartWidth(VpApart apart)
{
  return apart.reaction + apart.sides + apart.volume;
}
/* The operator 2^exponent (-div(a grad u) + c u) on polynomials of a degree. coefficient [nown][VpProblemWidth] ([nlocal] in a level's own
   copy) has the numbers of cells: a, or dim numbers of a diagonal tensor, then those apart. NULL: a is 1, and there are no others. The
   exponent brings numbers near 1, where single precision holds them. Only a level's tables contain it. */
struct VpProblem_ {
  int              degree;
  double           penalty, reaction;
  const PetscReal *coefficient;
  const PetscReal *coarser; /* coefficient of the next coarser level, if this level covers a part of the domain; else NULL */
  int              tensor;  /* dim where a is a tensor, else 0 */
  VpApart          apart;
  VpLattice        lattice; /* the lattice by which cycles coarsen, with the means of a in boxes; NULL: VpMeshBaseLattice() */
  int              exponent;
  VpQuadrature     quadrature;
  VpBasisType      outer;    /* the basis of outer vectors */
  double           robin[6]; /* [side] factor of alpha on sides with this number; 0: 1 */
  PetscBool        nodal;    /* Vectors enter the cycle as functionals of, and leave it as values at, the nodes of cells. An
                                outer operator is that on continuous functions (nodes.h): it has no terms on sides between cells. */
  const double    *point;    /* [degree + 1] places of these nodes along a direction of the cell [0,1]^dim; NULL: Gauss-Lobatto points */
  PetscBool        oblique;  /* The coefficient is the diagonal of a full matrix. */
  VpMetricKind     kind;     /* of the means of the metric in a cycle */
  VpMetric         metric;   /* of an operator whose coefficient is given at points; then `outer` is the Gauss basis, and `coefficient` has
                               means. Else, and on coarser levels, NULL */
};
/* numbers per cell of a coefficient along directions; all numbers of a cell */
static inline int VpProblemDirections(const VpProblem *problem)
{
  return PetscMax(problem->tensor, 1);
}
static inline int VpProblemWidth(const VpProblem *problem)
{
  return VpProblemDirections(problem) + VpApartWidth(problem->apart);
}
/* alpha of a side whose entry in VpMesh.neighbor is `beyond`; of the sides with this number */
static inline PetscReal VpProblemAlphaOf(const VpProblem *problem, int side, PetscReal alpha)
{
  return problem->robin[side] > 0 ? alpha * problem->robin[side] : alpha;
}
static inline PetscReal VpProblemAlpha(const VpProblem *problem, VpDomain domain, int32_t beyond)
{
  return VpIsBoundary(beyond) ? VpProblemAlphaOf(problem, VpBoundaryEntry(beyond) % (2 * domain->dim), VpDomainAlpha(domain, beyond)) : 0;
}
/* the coefficient of a cell along direction d; its reaction; a alpha of its side, where cells have numbers for sides, else 0 */
static inline PetscReal VpProblemCoefficient(const VpProblem *problem, int32_t cell, int d)
{
  if (!problem->coefficient) return 1;
  return problem->coefficient[(size_t)cell * VpProblemWidth(problem) + (problem->tensor ? d : 0)];
}
static inline PetscReal VpProblemReaction(const VpProblem *problem, int32_t cell)
{
  if (!problem->apart.reaction) return problem->reaction;
  return problem->coefficient[(size_t)cell * VpProblemWidth(problem) + VpProblemDirections(problem)];
}
static inline PetscReal VpProblemRobin(const VpProblem *problem, int32_t cell, int side)
{
  const int at = VpProblemDirections(problem) + problem->apart.reaction + side;

  return problem->apart.sides ? problem->coefficient[(size_t)cell * VpProblemWidth(problem) + at] : 0;
}
static inline PetscReal VpProblemVolume(const VpProblem *problem, int32_t cell)
{
  const size_t width = (size_t)VpProblemWidth(problem);

  return problem->apart.volume ? problem->coefficient[(size_t)cell * width + width - 1] : 1;
}
/* VP_MOST_PENALTY: largest penalty k(k+1) for a precision. Above it sweeps in single precision diverge, and A x in double precision has
   fewer than three correct digits.
   VP_SPREAD_SINGLE: single precision holds the numbers of VpProblemRange() if their ratio is at most 2^VP_SPREAD_SINGLE. */
#define VP_MOST_PENALTY(precision) ((precision) == VP_SINGLE ? 8e6 : 4e10)
#define VP_SPREAD_SINGLE           80
/* range = the smallest and the largest number in the operator over all cells, directions and ranks. These numbers are max(a/h^2, reaction)
   and, at Robin sides, a alpha/h. If constants would be the null space without the reaction, the reaction is one of them, too. */
PetscErrorCode VpProblemRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* hold.c: smallest ratio of a cell's hold to the largest number of the cell itself, at most 1 */
PetscErrorCode VpProblemHold(VpMesh, const VpProblem *, PetscReal *least);
/* the smallest and the largest value of the coefficient on all ranks, in any direction */
PetscErrorCode VpCoefficientRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* whether every direction has one coefficient on all cells of all ranks. Collective */
PetscErrorCode VpProblemIsUniform(VpMesh, const VpProblem *, PetscBool *);
/* new reference to the lattice by which a cycle coarsens */
PetscErrorCode VpProblemGetLattice(VpMesh, const VpProblem *, VpLattice *);
/* number of levels that a cycle may have, the finest included, and of their cells (NULL: not wanted) */
PetscErrorCode VpProblemCountLevels(VpMesh, const VpProblem *, VpCoarsen, int *levels, double cells[]);
/* creates the lattice with the means of the coefficient in boxes. Collective */
PetscErrorCode VpProblemCreateLattice(VpMesh, const VpProblem *, VpLattice *);
/* *most = the largest quotient of two cells of a box in their ratios of h/sqrt(a) along two directions. Requires: cells of a box have one
   size. Collective */
PetscErrorCode VpProblemUnevenness(VpMesh, const VpProblem *, double *most);
/* how a coefficient is coarsened */
typedef struct {
  int       from, to; /* numbers per cell along directions, 1 or dim, on the fine and on the coarse mesh */
  PetscBool harmonic; /* Children that lie in a row along a direction have the harmonic mean along it. Else means are arithmetic. */
  VpApart   apart;    /* what follows these numbers. A side has the mean of the children that have a number there. */
} VpMeans;
/* coarse = numbers of the own coarse cells, means of those of their children, unchanged if a cell has none. a: numbers of the fine mesh's
   own cells. contrast [own coarse cells], or NULL: largest ratio of the coefficients of two children along one direction. Requires:
   means->to >= means->from; it is dim where means are harmonic */
PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const VpMeans *, const PetscReal a[], PetscReal coarse[], PetscReal contrast[]);
/* A coefficient varies if it differs by more than this factor among a cell's children. Then F cycles are faster than V cycles, or sweeps of
   single cells pay. */
#define VP_VARIES 3.5
static inline double VpProblemDilation(const VpProblem *problem)
{
  return problem->metric ? problem->metric->dilation : 1;
}
/* cellnumbers.c: The problem that a cycle solves, whose reaction is larger by `more` times the ratio of volumes in space and on the boxes.
   Its kind is not auto. With VP_METRIC_CELL, where the problem has a metric whose reactions or Robin sides differ among cells, cells have
   their own, and auto becomes this. *numbers: the new coefficient, for the caller to free, or NULL. Collective */
PetscErrorCode VpProblemForCycle(VpMesh, const VpProblem *, double unlike, double more, VpProblem *, PetscReal **numbers);
/* whether constants are the null space: no Dirichlet or Robin side, no reaction */
PetscBool VpProblemIsSingular(VpMesh, const VpProblem *);
