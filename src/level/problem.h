/* The problem of a level: degree, penalty and coefficient, and what follows from them before there are tables. */
#pragma once
#include "../mesh/mesh.h"

/* The operator 2^exponent (-div(a grad u) + c u) on polynomials of a degree. coefficient [nown] ([nlocal] in a level's own copy) is a on
   cells; NULL means 1. Where a is a diagonal tensor, coefficient [nown][dim] are its diagonals. The exponent brings the numbers near 1,
   where single precision holds them; only a level's tables contain it. */
typedef struct {
  int              degree;
  double           penalty, reaction;
  const PetscReal *coefficient;
  const PetscReal *coarser; /* of a level with a part of its cells that has a coefficient: the same of the next coarser one; else NULL */
  int              tensor;  /* dim where a is a tensor, else 0 */
  VpLattice        lattice; /* with the means of a in boxes, or NULL: VpMeshBaseLattice(). Cycles coarsen by it */
  int              exponent;
} VpProblem;
/* numbers of a cell's coefficient, and that along direction d */
static inline int VpProblemWidth(const VpProblem *problem)
{
  return PetscMax(problem->tensor, 1);
}
static inline PetscReal VpProblemCoefficient(const VpProblem *problem, int32_t cell, int d)
{
  if (!problem->coefficient) return 1;
  return problem->coefficient[problem->tensor ? (size_t)cell * problem->tensor + d : (size_t)cell];
}
/* The most that a precision holds of penalty k(k+1). Beyond it sweeps in single precision diverge (it is 1/eps there), and A x in double
   precision has fewer than three digits. Single precision holds numbers of VpProblemRange() whose quotient is at most
   2^VP_SPREAD_SINGLE. */
#define VP_MOST_PENALTY(precision) ((precision) == VP_SINGLE ? 8e6 : 4e10)
#define VP_SPREAD_SINGLE           80
/* The least and the largest number that the operator is made of, over all cells, directions and ranks: a/h^2, or the reaction where it is
   larger, and a alpha/h at Robin sides. Where constants would be the null space without the reaction, the reaction also counts as the least
   number. */
PetscErrorCode VpProblemRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* hold.c: the least hold of a cell, beside the largest number of the cell itself: 1 where all cells are held as firmly as they are stiff */
PetscErrorCode VpProblemHold(VpMesh, const VpProblem *, PetscReal *least);
/* the smallest and the largest value of the coefficient on all ranks, in any direction */
PetscErrorCode VpCoefficientRange(VpMesh, const VpProblem *, PetscReal range[2]);
/* whether every direction has one coefficient on all cells of all ranks. Collective */
PetscErrorCode VpProblemIsUniform(VpMesh, const VpProblem *, PetscBool *);
/* what a cycle coarsens by: a new reference */
PetscErrorCode VpProblemGetLattice(VpMesh, const VpProblem *, VpLattice *);
/* the number of levels that a cycle may have, the finest included, and their cells (NULL: not asked for) */
PetscErrorCode VpProblemCountLevels(VpMesh, const VpProblem *, VpCoarsen, int *levels, double cells[]);
/* the lattice for a problem with a coefficient. Collective */
PetscErrorCode VpProblemCreateLattice(VpMesh, const VpProblem *, VpLattice *);
/* The coefficient's means over the children, on the coarse mesh's own cells, but where there are none; a: that of own cells, so many
   numbers a cell. contrast [own coarse cells] or NULL: the largest quotient of the coefficients of two children, along one direction. */
PetscErrorCode VpCoarsenCoefficient(VpMesh fine, int width, const PetscReal a[], PetscReal coarse[], PetscReal contrast[]);
/* If a coefficient varies by more than this factor among a cell's children, F cycles are faster than V cycles, or sweeps of cells pay, as
   measured. */
#define VP_VARIES 3.5
/* whether constants are the null space: no Dirichlet or Robin side, no reaction */
PetscBool VpProblemIsSingular(VpMesh, const VpProblem *);
