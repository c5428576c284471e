/* Finds the common lines of a level: most cells have these, and fast kernels are made for them. */
#include "lines.h"

enum {
  NLOOK = 4096,   /* number of cells, about, that are looked at for common lines */
  MOST_APART = 30 /* largest difference of the depths of two leaves in p4est */
};

/* whether the key is a line inside: the cells beyond have the cell's own size and coefficient */
static PetscBool IsInside(const VpLineKey *key)
{
  uint64_t word[VP_LINE_WORDS];

  VpLineWords(key, word);
  return word[2] == word[0] && word[3] == word[0] && word[4] == word[1] && word[5] == word[1] && !word[6] && !word[8];
}

/* Finds the most frequent combination of a cell's lines, among cells whose lines are all inside. Looks at every `step`-th cell. */
static PetscErrorCode FindCommonest(VpLevel level, const VpLines *lines, const int32_t line[])
{
  const int32_t n = level->view.nsweep, step = n / NLOOK | 1; /* odd, to meet cells in all corners of their parents */
  const int     dim = level->mesh->dim;
  VpCommon     *common = &level->view.common;
  VpDictionary  combinations; /* combinations of lines */
  int32_t      *count, most = 0;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(dim, 0, &combinations));
  PetscCall(PetscCalloc1(n / step + 1, &count));
  for (int32_t cell = 0; cell < n; cell += step) {
    const int32_t *entry = line + (size_t)cell * dim;
    PetscBool      inside = PETSC_TRUE;
    uint64_t       word[3] = {0};
    int32_t        number;

    for (int d = 0; d < dim; d++) {
      inside = inside && IsInside(VpLineKeyOf(lines, entry[d]));
      word[d] = (uint64_t)entry[d];
    }
    if (!inside) continue;
    PetscCall(VpDictionaryAdd(&combinations, word, NULL, &number));
    if (++count[number] <= most) continue;
    most = count[number];
    common->found = PETSC_TRUE;
    PetscCall(PetscArraycpy(common->inside, entry, dim));
  }
  PetscCall(PetscFree(count));
  PetscCall(VpDictionaryDestroy(&combinations));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets view.ending: the boundary matrix of a line inside whose upper side is at the level's end. All sides have the same matrix. */
static void FindEnding(VpLevel level, const VpLineKey *inside)
{
  VpLineKey key = *inside;

  key.side[1] = VP_SIDE_LEVEL_END;
  key.h_beyond[1] = 2 * key.h;
  VpLineBoundary(&key, level->problem.degree, 1, level->problem.penalty, level->view.ending);
}

void VpLevelSetOutside(VpLevel level, int d, const VpLineKey *inside)
{
  level->common[d] = inside->h;
  for (int s = 0; s < 2; s++) {
    const VpBoundary boundary = level->mesh->geometry->domain->boundary[2 * d + s];
    VpLineKey        key = *inside;

    key.side[s] = boundary.kind;
    key.h_beyond[s] = VpProblemAlphaOf(&level->problem, 2 * d + s, boundary.alpha);
    VpLineBoundary(&key, level->problem.degree, s, level->problem.penalty, level->view.outside[d][s]);
  }
}

/* the entry that differs from a line only by what lies beyond side s, or -1 */
static int32_t FindOther(const VpLines *lines, VpLineKey key, int s, VpSide side, PetscReal beyond)
{
  uint64_t word[VP_LINE_WORDS];

  key.side[s] = side;
  key.h_beyond[s] = beyond;
  key.a_beyond[s] = 0;
  VpLineWords(&key, word);
  return VpDictionaryFind(&lines->dictionary, word);
}

/* Finds the lines that differ from common lines inside by one side. size: 0, or 1 + index of view.size */
static void FindOthers(VpLevel level, const VpLines *lines, int size)
{
  VpCommon *common = size ? &level->view.size[size - 1] : &level->view.common;

  for (int side = 0; side < 2 * level->mesh->dim; side++) {
    const int        d = side / 2, s = side % 2;
    const VpLineKey *inside = VpLineKeyOf(lines, common->inside[d]);
    const VpBoundary boundary = level->mesh->geometry->domain->boundary[side];

    common->bounded[d][s] = FindOther(lines, *inside, s, boundary.kind, VpProblemAlphaOf(&level->problem, side, boundary.alpha));
    common->hanging[d][s] = FindOther(lines, *inside, s, VP_SIDE_NONE, 0);
    VpLineLift(inside, level->problem.degree, level->problem.penalty, level->view.hanging[size][d]);
    /* A side with an alpha has another matrix for every size. */
    if (size && VpReadsAlpha(boundary.kind)) common->bounded[d][s] = -1;
  }
}

/* Finds cells of other sizes (powers of two) that have lines inside in all directions, and their other lines. */
static void FindSizes(VpLevel level, const VpLines *lines)
{
  VpView *view = &level->view;

  for (int j = -MOST_APART; j <= MOST_APART && view->common.found && VpMeshIsAdaptive(level->mesh) && view->nsize < VP_MOST_SIZES; j++) {
    VpCommon size = {.found = (PetscBool)(j != 0)};

    for (int d = 0; d < level->mesh->dim; d++) {
      VpLineKey key = *VpLineKeyOf(lines, view->common.inside[d]);
      uint64_t  word[VP_LINE_WORDS];

      key.h = key.h_beyond[0] = key.h_beyond[1] = ldexp(key.h, j);
      VpLineWords(&key, word);
      size.inside[d] = VpDictionaryFind(&lines->dictionary, word);
      size.found = (PetscBool)(size.found && size.inside[d] >= 0);
    }
    if (!size.found) continue;
    view->size[view->nsize++] = size;
    FindOthers(level, lines, view->nsize);
  }
}

PetscErrorCode VpLevelFindCommonLines(VpLevel level, const VpLines *lines, const int32_t line[])
{
  VpView *view = &level->view;

  PetscFunctionBegin;
  PetscCall(FindCommonest(level, lines, line));
  if (!view->common.found) PetscFunctionReturn(PETSC_SUCCESS);
  FindEnding(level, VpLineKeyOf(lines, view->common.inside[0]));
  FindOthers(level, lines, 0);
  for (int d = 0; d < level->mesh->dim; d++) VpLevelSetOutside(level, d, VpLineKeyOf(lines, view->common.inside[d]));
  FindSizes(level, lines);
  PetscFunctionReturn(PETSC_SUCCESS);
}
