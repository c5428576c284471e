/* The continuous elements of a DMPLEX with a PetscFE, as a DMVPATCHDG and its element restriction. */
#pragma once
#include "../../tables/tables.h"
#include <petscdm.h>

typedef struct {
  DM        dm;              /* set up */
  PetscInt *node;            /* [own cells of dm][n^dim], x fastest: rows; -1: constrained */
  double    point[VP_MAX_N]; /* [n] places of nodes along a direction of a cell */
} VpElements;
/* rows: of the matrix. The caller frees dm and node. Collective. Ensures: an error on all ranks that says what to do unless the DMPLEX has
   one field of one component, tensor elements of degree 1 to VP_MAX_DEGREE, and cells that DMConvert() takes. */
PetscErrorCode VpElementsCreate(DM plex, PetscLayout rows, const char prefix[], VpElements *);
