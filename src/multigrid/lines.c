/* The lines of a level: the one-dimensional operators of all cells and directions, few of them different unless the coefficient varies. */
#include "internal.h"
#include "alike.h"

typedef struct {
  VpLevel      level;
  VpDictionary dictionary;
  VpLineKey   *key; /* [dictionary.n] */
  int32_t      capacity;
} Lines;

static PetscErrorCode LinesAdd(Lines *lines, const VpLineKey *key, int32_t *entry)
{
  const uint64_t word[] = {VpWord(key->h),
                           VpWord(key->h_beyond[0]),
                           VpWord(key->h_beyond[1]),
                           VpWord(key->a),
                           VpWord(key->a_beyond[0]),
                           VpWord(key->a_beyond[1]),
                           (uint64_t)(16 - key->face[0]) << 8 | (uint64_t)(16 - key->face[1])};

  PetscFunctionBegin;
  PetscCall(VpDictionaryAdd(&lines->dictionary, word, entry));
  if (*entry == lines->capacity) {
    lines->capacity = 2 * lines->capacity + 64;
    PetscCall(PetscRealloc(lines->capacity * sizeof(*lines->key), &lines->key));
  }
  lines->key[*entry] = *entry == lines->dictionary.n - 1 ? *key : lines->key[*entry];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static VpLineKey LineKey(VpLevel level, int32_t cell, int d)
{
  VpMesh    mesh = level->mesh;
  VpLineKey key = {.h = VpCellSize(mesh, cell, d), .a = VpLevelCoefficient(level, cell)};

  for (int s = 0; s < 2; s++) {
    const int32_t beyond = mesh->neighbor[(size_t)cell * 2 * mesh->dim + 2 * d + s];

    key.face[s] = beyond < 0 ? beyond : VP_FACE_CELL;
    key.h_beyond[s] = beyond < 0 ? 0 : VpCellSize(mesh, beyond, d);
    key.a_beyond[s] = beyond < 0 ? 0 : VpLevelCoefficient(level, beyond);
  }
  return key;
}

/* of cells of one box and zone, which have cells beyond the same sides */
static PetscBool HaveSameCoefficients(const void *context, int32_t cell, int32_t other)
{
  const VpLevel  level = ((const Lines *)context)->level;
  const int      nside = 2 * level->mesh->dim;
  const int32_t *beyond = level->mesh->neighbor + (size_t)cell * nside, *there = level->mesh->neighbor + (size_t)other * nside;
  PetscBool      same = (PetscBool)(VpLevelCoefficient(level, cell) == VpLevelCoefficient(level, other));

  for (int side = 0; side < nside && same; side++)
    same = (PetscBool)(beyond[side] < 0 || VpLevelCoefficient(level, beyond[side]) == VpLevelCoefficient(level, there[side]));
  return same;
}

static PetscErrorCode NumberLines(void *context, int32_t cell, int32_t entry[])
{
  Lines *lines = (Lines *)context;

  PetscFunctionBegin;
  for (int d = 0; d < lines->level->mesh->dim; d++) {
    const VpLineKey key = LineKey(lines->level, cell, d);

    PetscCall(LinesAdd(lines, &key, &entry[d]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* and the entry of every line of the view's [0, nsweep) */
static PetscErrorCode LinesCreate(VpLevel level, Lines *lines, int32_t **line)
{
  const int     dim = level->mesh->dim;
  const VpItems items = {.mesh = level->mesh,
                         .n = level->view.nsweep,
                         .width = dim,
                         .context = lines,
                         .alike = level->uniform > 0 ? NULL : HaveSameCoefficients,
                         .number = NumberLines};
  int32_t       nsample, *sample;

  PetscFunctionBegin;
  *lines = (Lines){.level = level};
  PetscCall(VpDictionaryCreate(7, &lines->dictionary));
  PetscCall(VpMallocLarge((size_t)items.n * dim, line));
  PetscCall(VpNumberItems(&items, *line, &nsample, &sample));
  PetscCall(PetscFree(sample));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinesDestroy(Lines *lines, int32_t **line)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*line));
  PetscCall(PetscFree(lines->key));
  PetscCall(VpDictionaryDestroy(&lines->dictionary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BuildLine(VpLevel level, const VpLineKey *key, double table[])
{
  const int n = level->basis.n;

  VpLineBuild(&level->basis, key, level->problem.penalty, VpLevelReaction(level) / level->mesh->dim, table, table + n * n);
}

PetscErrorCode VpLevelPlaceLines(VpLevel level)
{
  const size_t nline = (size_t)level->view.nsweep * level->mesh->dim, size = VpLineSize(level->basis.n);
  VpView      *view = &level->view;
  Lines        lines;
  int32_t     *line;
  double      *table;

  PetscFunctionBegin;
  PetscCall(LinesCreate(level, &lines, &line));
  PetscCall(PetscMalloc1(lines.dictionary.n * size, &table));
  for (int32_t i = 0; i < lines.dictionary.n; i++) BuildLine(level, &lines.key[i], table + i * size);
  PetscCall(VpArraysPlace(&level->arrays, line, nline * sizeof(*line), "operator tables", (const void **)&view->line));
  PetscCall(VpArraysPlaceReals(&level->arrays, table, lines.dictionary.n * size, "operator tables", &view->lines));
  PetscCall(PetscFree(table));
  PetscCall(LinesDestroy(&lines, &line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlaceDrops(VpLevel level, VpArrays *arrays, const void **drop)
{
  const size_t size = VpLineSize(level->basis.n);
  Lines        lines;
  int32_t     *line;
  double      *table;

  PetscFunctionBegin;
  PetscCall(LinesCreate(level, &lines, &line));
  PetscCall(PetscMalloc1(2 * lines.dictionary.n * size, &table));
  for (int32_t i = 0; i < lines.dictionary.n; i++) {
    for (int s = 0; s < 2; s++) {
      VpLineKey key = lines.key[i];

      if (key.face[s] == VP_FACE_CELL) key.face[s] = VP_FACE_NONE;
      BuildLine(level, &key, table + (2 * i + s) * size);
    }
  }
  PetscCall(VpArraysPlaceReals(arrays, table, 2 * lines.dictionary.n * size, "operator tables", drop));
  PetscCall(PetscFree(table));
  PetscCall(LinesDestroy(&lines, &line));
  PetscFunctionReturn(PETSC_SUCCESS);
}
