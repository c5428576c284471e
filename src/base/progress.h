/* -vpatchdg_progress: how far long work is, on the first rank's stderr, at most a line a second. */
#pragma once
#include <petscsys.h>

PetscErrorCode VpProgress(const char what[], double done, double total); /* It is cheap to call often. */
