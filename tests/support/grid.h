/* Grids of boxes, described by a few characters per direction. */
#pragma once
#include <math.h>
#include <petscsys.h>
#include <stdlib.h>

enum { GRID_MOST = 128 };

/* Faces of boxes from a list of widths: "1,.25"; "4*30": 4 boxes of width 30; "24^1.3": 24 boxes, each 1.3 times as wide as the previous
   one from both ends inwards. Returns the number of boxes. */
static inline int GridFaces(const char *text, PetscReal face[GRID_MOST + 1])
{
  int n = 0;

  face[0] = 0;
  while (*text) {
    char  *end;
    double width = strtod(text, &end), ratio = 1;
    int    count = 1;

    if (*end == '*') {
      count = (int)width;
      width = strtod(end + 1, &end);
    } else if (*end == '^') {
      count = (int)width;
      ratio = strtod(end + 1, &end);
      width = 1;
    }
    for (int i = 0; i < count; i++, n++) face[n + 1] = face[n] + width * pow(ratio, PetscMin(i, count - 1 - i));
    text = *end ? end + 1 : end;
  }
  return n;
}

/* Boxes of a grid, z fastest so that no order agrees by chance. notched: without the boxes of the last quarter (eighth). lower, upper:
   [n][dim], freed together by PetscFree2() */
static inline PetscErrorCode GridBoxes(int dim, const char *const width[], PetscBool notched, PetscInt *nbox, PetscReal **lower,
                                       PetscReal **upper)
{
  PetscReal face[3][GRID_MOST + 1];
  int       n[3] = {1, 1, 1}, all;

  PetscFunctionBeginUser;
  for (int d = 0; d < dim; d++) n[d] = GridFaces(width[d], face[d]);
  all = n[0] * n[1] * n[2];
  PetscCall(PetscMalloc2(all * dim, lower, all * dim, upper));
  *nbox = 0;
  for (int b = 0; b < all; b++) {
    const int at[3] = {b / (n[1] * n[2]), b / n[2] % n[1], b % n[2]};
    PetscBool last = notched;

    for (int d = 0; d < dim; d++) last = (PetscBool)(last && at[d] >= n[d] / 2);
    if (last) continue;
    for (int d = 0; d < dim; d++) {
      (*lower)[*nbox * dim + d] = face[d][at[d]];
      (*upper)[*nbox * dim + d] = face[d][at[d] + 1];
    }
    (*nbox)++;
  }
  PetscFunctionReturn((PetscErrorCode)0);
}
