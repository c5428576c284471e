/* Numbers for many cells or patches of which most are alike. */
#pragma once
#include "../mesh/mesh.h"

/* Items are alike if they are at cells of the same box and zones, and `alike` says so. */
typedef struct {
  VpMesh         mesh;
  int32_t        n;
  const int32_t *cell; /* item i is at cell[stride i]; NULL: at cell i */
  int            stride;
  int            width; /* numbers an item */
  void          *context;
  PetscBool (*alike)(const void *context, int32_t i, int32_t j);                             /* Called in threads */
  PetscErrorCode (*number)(void *context, int32_t item, int32_t number[]);                   /* finds the item's numbers */
  PetscErrorCode (*number_at)(void *context, int32_t box, int zone, int d, int32_t *number); /* of VpNumberByBox; *number is -1 before */
} VpItems;

/* Calls items->number for samples in ascending order, such that every item is a sample or like one that comes before it: then number[] has
   the numbers of all items. Which items are samples may depend on the number of threads. */
PetscErrorCode VpNumberItems(const VpItems *, int32_t number[]);

/* The same where number d of an item depends on its box and on the zone in direction d alone (width: dim). Calls
   items->number_at for these. Boxes of a class (VpDomainGetClasses) have the same numbers if what is beyond them along
   d is the same: one box below, two above. */
PetscErrorCode VpNumberByBox(const VpItems *, int32_t number[]);
