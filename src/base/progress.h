/* -vpatchdg_progress prints how far long work is, on the first rank's stderr, at most one line per second. */
#pragma once
#include <petscsys.h>

PetscErrorCode VpProgress(const char what[], double done, double total); /* cheap enough to be called often */
