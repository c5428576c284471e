/* The problem of a level: degree, penalty and coefficient, and what follows from them before there are tables. */
#pragma once
#include "metric.h"

/* The operator 2^exponent (-div(a grad u) + c u) on polynomials of a degree. coefficient [nown] ([nlocal] in a level's own copy) is a on
   cells; NULL means 1. If a is a diagonal tensor, coefficient is [nown][dim]. The exponent brings numbers near 1, where single precision
   holds them. Only a level's tables contain it. */
struct VpProblem_ {
  int              degree;
  double           penalty, reaction;
  const PetscReal *coefficient;
  const PetscReal *coarser; /* coefficient of the next coarser level, if this level covers a part of the domain; else NULL */
  int              tensor;  /* dim where a is a tensor, else 0 */
  VpLattice        lattice; /* the lattice by which cycles coarsen, with the means of a in boxes; NULL: VpMeshBaseLattice() */
  int              exponent;
  VpBasisType      outer;    /* the basis of outer vectors */
  double           robin[6]; /* [side] factor of alpha on sides with this number; 0: 1 */
  PetscBool        oblique;  /* The coefficient is the diagonal of a full matrix. */
  VpMetric         metric;   /* of an operator whose coefficient is given at points; then `outer` is the Gauss basis, and `coefficient` has
                               means. Else, and on coarser levels, NULL */
};
/* alpha of a side whose entry in VpMesh.neighbor is `beyond`; of the sides with this number */
static inline PetscReal VpProblemAlphaOf(const VpProblem *problem, int side, PetscReal alpha)
{
  return problem->robin[side] > 0 ? alpha * problem->robin[side] : alpha;
}
static inline PetscReal VpProblemAlpha(const VpProblem *problem, VpDomain domain, int32_t beyond)
{
  return VpIsBoundary(beyond) ? VpProblemAlphaOf(problem, VpBoundaryEntry(beyond) % (2 * domain->dim), VpDomainAlpha(domain, beyond)) : 0;
}
/* numbers per cell of a coefficient; the coefficient of a cell along direction d */
static inline int VpProblemWidth(const VpProblem *problem)
{
  return PetscMax(problem->tensor, 1);
}
static inline PetscReal VpProblemCoefficient(const VpProblem *problem, int32_t cell, int d)
{
  if (!problem->coefficient) return 1;
  return problem->coefficient[problem->tensor ? (size_t)cell * problem->tensor + d : (size_t)cell];
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
/* how a coefficient is coarsened */
typedef struct {
  int       from, to; /* numbers per cell, 1 or dim, on the fine and on the coarse mesh */
  PetscBool harmonic; /* Children that lie in a row along a direction have the harmonic mean along it. Else means are arithmetic. */
} VpMeans;
/* coarse [own coarse cells][means->to] = mean coefficient over the children of a coarse cell, unchanged if it has none.
   a [nown][means->from]: coefficient of the fine mesh's own cells. contrast [own coarse cells], or NULL: largest ratio of the coefficients
   of two children along one direction. Requires: means->to >= means->from; it is dim where means are harmonic */
PetscErrorCode VpCoarsenCoefficient(VpMesh fine, const VpMeans *, const PetscReal a[], PetscReal coarse[], PetscReal contrast[]);
/* A coefficient varies if it differs by more than this factor among a cell's children. Then F cycles are faster than V cycles, or sweeps of
   single cells pay. */
#define VP_VARIES 3.5
/* whether constants are the null space: no Dirichlet or Robin side, no reaction */
PetscBool VpProblemIsSingular(VpMesh, const VpProblem *);
