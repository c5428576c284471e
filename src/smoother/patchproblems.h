/* The one-dimensional eigenproblems of a level's patches, numbered. A patch has one per direction. It depends on the sizes of four cells or
   on the boundary, and on ratios of the coefficients of neighbouring cells, so few of them differ. */
#pragma once
#include "internal.h"
#include "../base/dictionary.h"

typedef struct {
  VpFdmKey fdm;
  double   ratio; /* a factor of the eigenvalues; 1 where patches have factors */
} VpPatchKey;
typedef struct {
  VpLevel          level;
  const VpPatches *patches;
  VpSpace          space;
  VpFit           *fit;         /* [patches->n], or NULL where the coefficient is constant */
  uint8_t         *replaceable; /* [patches->n] as in VpPatchView, or NULL */
  PetscBool        keeps;       /* Fits of products are not rounded. */
  PetscBool        sized;       /* Patches in trees differ by sizes or by alphas at boundaries, too. */
  double          *factor;      /* [patches->n][dim + 1] as in VpPatchView, or NULL */
  VpDictionary     dictionary;  /* its items are VpPatchKey */
  int32_t         *type;        /* [patches->n][dim] the number of the patch's problem along every direction */
} VpPatchProblems;
PetscErrorCode VpPatchProblemsCreate(VpLevel, const VpPatches *, VpSpace, VpPatchProblems *);
PetscErrorCode VpPatchProblemsDestroy(VpPatchProblems *);
int32_t        VpPatchProblemFind(const VpPatchProblems *, const VpPatchKey *); /* its number, or -1 */
/* patchtables.c: fills the view except `drop`, and adds its arrays to VpArrays. Collective. Error if a problem cannot be solved. */
PetscErrorCode VpPlacePatches(const VpPatchProblems *, VpArrays *, VpPatchView *);
/* patchtables.c: the view of some of the patches of a view */
PetscErrorCode VpPlaceSomePatches(const VpPatchProblems *, const VpPatchView *, const VpPatches *some, VpArrays *, VpPatchView *);
