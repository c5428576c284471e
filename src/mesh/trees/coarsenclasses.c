/* Which cells of trees merge on the next coarser lattice: only along classes of directions in which they are thin.

   All trees of a class are halved together, so that cells go on conforming. A class may be halved if every cell has a regular vertex after
   that, where it gets a patch:

     +--+--+--+--+    two trees: x is a class of each, y one of both. Once both x are halved, cells are in patches at the vertices
     |  |  |  |  |    of the face between the trees. Then y cannot be halved any more, since the trees' corners are on the boundary.
     +--+--+--+--+    So the step after that is to one cell per tree.
     |  |  |  |  |
     +--+--+--+--+

   The ratio of a class is the largest quotient, in one of its trees, of the size along it and the size along another class that may be
   halved. If no ratio is larger than VpLattice.mild, all classes are halved. Else those with ratios up to LIMIT are halved, or where there
   are none, those of about the smallest ratio. A class that is two directions of one tree has one ratio, so that both are halved together.
   The end is one cell per tree. */
#include "../internal.h"

#define LIMIT (PETSC_SQRT2 * (1 + VP_SIZE_SLACK))

typedef struct {
  PetscReal ratio;
  PetscBool allowed, chosen;
} Class;

typedef struct {
  VpLattice fine;
  VpDomain  domain;
  int       dim;
  int32_t  *class_of; /* [nbox][dim] */
  Class    *classes;  /* [nbox dim], by the numbers of classes */
} Rule;

static inline Class *ClassAt(const Rule *rule, int32_t tree, int d)
{
  return &rule->classes[rule->class_of[(size_t)tree * (size_t)rule->dim + (size_t)d]];
}

static inline int BitsOf(const Rule *rule, int32_t tree, int d)
{
  return VpHalvingsOf(rule->fine, tree)->bits[d];
}

/* Whether patches contain the cells of a tree that is one cell wide along the directions which are bits of `thin`: the tree needs a regular
   corner, edge or side there. */
static PetscBool HasVertex(VpDomain domain, int32_t tree, int thin)
{
  const int    dim = domain->dim;
  const size_t at = (size_t)tree;

  if (!thin) return PETSC_TRUE;
  if (thin == (1 << dim) - 1) return (PetscBool)(domain->trees->regular[at].corners != 0);
  for (int d = 0; d < dim; d++) {
    if (thin == 1 << d) return (PetscBool)(VpBoxBeyond(domain, tree, 2 * d) >= 0 || VpBoxBeyond(domain, tree, 2 * d + 1) >= 0);
    if (dim == 3 && thin == (7 ^ 1 << d)) return (PetscBool)((domain->trees->regular[at].edges >> 4 * d & 15) != 0);
  }
  return PETSC_TRUE;
}

/* the directions in which a tree has one cell after one class (NULL: those that are chosen) was halved */
static int ThinAfter(const Rule *rule, int32_t tree, const Class *one)
{
  int thin = 0;

  for (int d = 0; d < rule->dim; d++) {
    const Class *c = ClassAt(rule, tree, d);

    thin |= (BitsOf(rule, tree, d) - (one ? c == one : c->chosen) <= 0) << d;
  }
  return thin;
}

static PetscReal SizeSeen(const Rule *rule, int32_t tree, int d)
{
  const PetscReal size = VpLatticeSize(rule->fine, tree, d);

  return rule->fine->a ? size / PetscSqrtReal(rule->fine->a[3 * (size_t)tree + (size_t)d]) : size;
}

/* Only classes with two cells per tree can leave cells without a vertex. */
static void AllowClasses(Rule *rule)
{
  for (int32_t i = 0; i < rule->domain->nbox * rule->dim; i++)
    rule->classes[rule->class_of[i]].allowed = (PetscBool)(BitsOf(rule, i / rule->dim, i % rule->dim) > 0);
  for (int32_t i = 0; i < rule->domain->nbox * rule->dim; i++) {
    const int32_t tree = i / rule->dim;
    Class        *c = &rule->classes[rule->class_of[i]];

    if (BitsOf(rule, tree, i % rule->dim) == 1 && !HasVertex(rule->domain, tree, ThinAfter(rule, tree, c))) c->allowed = PETSC_FALSE;
  }
}

static void RateClasses(Rule *rule)
{
  for (int32_t tree = 0; tree < rule->domain->nbox; tree++) {
    for (int d = 0; d < rule->dim; d++) {
      Class *c = ClassAt(rule, tree, d);

      for (int e = 0; e < rule->dim; e++) {
        const Class *other = ClassAt(rule, tree, e);

        if (other != c && other->allowed) c->ratio = PetscMax(c->ratio, SizeSeen(rule, tree, d) / SizeSeen(rule, tree, e));
      }
    }
  }
}

/* whether all cells are trees after the chosen classes were halved */
static PetscBool AreTrees(const Rule *rule)
{
  for (int32_t tree = 0; tree < rule->domain->nbox; tree++) {
    if (ThinAfter(rule, tree, NULL) != (1 << rule->dim) - 1) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Of the chosen classes of a tree, drops the one with the largest ratio. */
static void DropClass(const Rule *rule, int32_t tree)
{
  Class *worst = NULL;

  for (int d = 0; d < rule->dim; d++) {
    Class *c = ClassAt(rule, tree, d);

    if (c->chosen && (!worst || c->ratio > worst->ratio)) worst = c;
  }
  if (worst) worst->chosen = PETSC_FALSE;
}

/* Chooses the classes of small ratios, and drops some of them where cells would be without a vertex. */
static void ChooseClasses(Rule *rule)
{
  const int32_t n = rule->domain->nbox * rule->dim;
  PetscReal     least = PETSC_MAX_REAL, most = 0;
  PetscBool     again = PETSC_TRUE;

  for (int32_t i = 0; i < n; i++) {
    if (!rule->classes[i].allowed) continue;
    least = PetscMin(least, rule->classes[i].ratio);
    most = PetscMax(most, rule->classes[i].ratio);
  }
  if (most > rule->fine->mild) most = LIMIT * PetscMax(1, least <= LIMIT ? 1 : least);
  for (int32_t i = 0; i < n; i++) rule->classes[i].chosen = (PetscBool)(rule->classes[i].allowed && rule->classes[i].ratio <= most);
  if (AreTrees(rule)) return;
  while (again) { /* Every pass but the last one drops classes. */
    again = PETSC_FALSE;
    for (int32_t tree = 0; tree < rule->domain->nbox; tree++) {
      if (HasVertex(rule->domain, tree, ThinAfter(rule, tree, NULL))) continue;
      DropClass(rule, tree);
      again = PETSC_TRUE;
    }
  }
}

PetscErrorCode VpCoarsenByClasses(VpLattice fine, VpCoarsening *step, PetscBool *ends)
{
  const VpDomain domain = fine->domain;
  const int      dim = domain->dim;
  Rule           rule = {.fine = fine, .domain = domain, .dim = dim};
  PetscBool      some = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1((size_t)domain->nbox * (size_t)dim, &rule.class_of));
  PetscCall(PetscCalloc1((size_t)domain->nbox * (size_t)dim, &rule.classes));
  (void)VpDomainGetClasses(domain, rule.class_of);
  PetscCall(VpDomainFindRegular(domain));
  AllowClasses(&rule);
  RateClasses(&rule);
  ChooseClasses(&rule);
  for (int32_t i = 0; i < domain->nbox * dim; i++) some = (PetscBool)(some || rule.classes[i].chosen);
  *ends = PETSC_TRUE;
  for (int32_t tree = 0; tree < domain->nbox; tree++) {
    for (int d = 0; d < dim; d++) { /* If no class can be halved alone, all are: they have two cells per tree at most. */
      if (!BitsOf(&rule, tree, d) || (some && !ClassAt(&rule, tree, d)->chosen)) continue;
      step->merge[3 * (size_t)tree + (size_t)d] = VP_MERGE_HALVES;
      *ends = PETSC_FALSE;
    }
  }
  PetscCall(PetscFree(rule.classes));
  PetscCall(PetscFree(rule.class_of));
  PetscFunctionReturn(PETSC_SUCCESS);
}
