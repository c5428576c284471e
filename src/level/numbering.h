/* Numbers many cells or patches, most of which are equivalent. */
#pragma once
#include "../base/dictionary.h"
#include "../mesh/mesh.h"

/* Items, which are cells or patches, and how they are numbered. Two items are equivalent if their cells share box and zones and equal()
   holds. */
typedef struct {
  VpMesh         mesh;
  int32_t        n;    /* items */
  const int32_t *cell; /* item i is at cell[stride i]; NULL: at cell i */
  int            stride;
  int            width; /* numbers per item */
  void          *context;
  PetscBool (*apart)(const void *context, int32_t i); /* whether VpNumberByBox numbers the item by itself; NULL: none. Called in threads */
  PetscBool (*equal)(const void *context, int32_t i, int32_t j);                 /* called in threads */
  PetscErrorCode (*number)(void *context, int32_t item, int k, int32_t *number); /* finds number k of the item */
  /* in place of number(), for VpNumberBySample: sets the key and the dictionary's item of number k. Called in threads */
  void (*key)(const void *context, int32_t item, int k, uint64_t word[], void *key);
  VpDictionary *dictionary;
} VpNumbering;

/* Sets number [n][width] of all items. Calls number(), or adds keys, for samples in ascending order. Every item is a sample, or
   equivalent to a sample before it. Which items are samples may depend on the number of threads. */
PetscErrorCode VpNumberBySample(const VpNumbering *, int32_t number[]);

/* The same where number d of an item depends on its box and on the zone in direction d alone (width: dim). Calls number() for one
   item of each zone, and for the items apart. Boxes of a slab (VpDomainGetSlabs) have the same numbers if what is beyond them along d is
   the same: one box below, two above. */
PetscErrorCode VpNumberByBox(const VpNumbering *, int32_t number[]);
