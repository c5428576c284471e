/* The lines of a level: the one-dimensional operators of all cells and directions, few of them different unless the coefficient varies. */
#include "internal.h"

typedef struct {
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

static PetscBool HasCoefficients(VpLevel level, int32_t cell, int d, const VpLineKey *key)
{
  const int32_t *beyond = level->mesh->neighbor + (size_t)cell * 2 * level->mesh->dim + 2 * d;
  PetscBool      has = (PetscBool)(VpLevelCoefficient(level, cell) == key->a);

  for (int s = 0; s < 2; s++) has = (PetscBool)(has && (beyond[s] < 0 || VpLevelCoefficient(level, beyond[s]) == key->a_beyond[s]));
  return has;
}

/* Entry of every line of the view's [0, nsweep). Lines of one box and zone differ by coefficients only, so most need no key of their
   own. */
static PetscErrorCode FindLines(VpLevel level, Lines *lines, int32_t line[])
{
  VpMesh    mesh = level->mesh;
  const int dim = mesh->dim;
  VpLineKey last[3] = {{0}};

  PetscFunctionBegin;
  for (int32_t cell = 0; cell < level->view.nsweep; cell++) {
    const PetscBool within = (PetscBool)(cell && mesh->box[cell] == mesh->box[cell - 1]);
    const int       moved = within ? mesh->zone[cell] ^ mesh->zone[cell - 1] : 0x3f; /* 2 bits a direction, as in a zone */

    for (int d = 0; d < dim; d++) {
      int32_t *entry = &line[(size_t)cell * dim + d];

      if (!(moved >> 2 * d & 3) && (level->uniform > 0 || HasCoefficients(level, cell, d, &last[d]))) {
        *entry = entry[-dim];
      } else {
        const VpLineKey key = LineKey(level, cell, d);

        if (!memcmp(&key, &last[d], sizeof(key))) *entry = entry[-dim];
        else
          PetscCall(LinesAdd(lines, &key, entry));
        last[d] = key;
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinesCreate(VpLevel level, Lines *lines, int32_t **line)
{
  PetscFunctionBegin;
  *lines = (Lines){.capacity = 0};
  PetscCall(VpDictionaryCreate(7, &lines->dictionary));
  PetscCall(VpMallocLarge((size_t)level->view.nsweep * level->mesh->dim, line));
  PetscCall(FindLines(level, lines, *line));
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
