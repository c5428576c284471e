/* A smoother that corrects values also where patches are replaceable, to compare both. */
#pragma once
#include "../../src/smoother/smootherimpl.h"

static PetscErrorCode AlwaysCorrect(VpSmoother smoother)
{
  PetscFunctionBegin;
  for (Subset *s = smoother->subset; s < smoother->subset + SUBSETS; s++) {
    for (int c = 0; c < smoother->ncolor; c++) {
      for (int i = 0; i < s->color[c].n; i++) {
        if (s->color[c].batch[i].mode == VP_MODE_REPLACE) s->color[c].batch[i].mode = VP_MODE_CORRECT;
      }
    }
    for (int k = 0; k < VP_MOST_COVERS; k++) s->view[k].replaceable = NULL;
    s->nreplaceable = 0;
  }
  PetscCall(VpSmootherWritePrograms(smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}
