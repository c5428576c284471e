/* The lines of a level: the operators of its cells along every direction. A line depends on sizes and coefficients of three cells, or on a
   boundary. So few lines are different unless the coefficient varies. The different ones are the entries of view.lines. */
#include "numbering.h"
#include "lines.h"
#include "../base/threads.h"

double VpRoundRatio(double ratio)
{
  return exp2(ceil(VP_RATIO_STEPS * log2(ratio) - 1e-6) / VP_RATIO_STEPS);
}

/* size of the cell beyond a side, or alpha of a boundary */
static PetscReal SizeBeyond(VpLevel level, int32_t cell, int side, int32_t beyond)
{
  const VpMesh mesh = level->mesh;

  if (beyond == VP_LEVEL_END) return 2 * VpLatticeSize(mesh->geometry->lattice, VpGeometryBoxBeyond(mesh->geometry, cell, side), side / 2);
  return beyond < 0 ? VpLevelAlpha(level, cell, side, beyond)
                    : VpGeometrySize(mesh->geometry, beyond, VpMeshSideBeyond(mesh, cell, side) / 2);
}

PetscReal VpLevelLargest(VpLevel level, int32_t cell)
{
  PetscReal largest = VpLevelCoefficient(level, cell, 0);

  for (int d = 1; d < level->problem.tensor; d++) largest = PetscMax(largest, VpLevelCoefficient(level, cell, d));
  return largest;
}

/* Divides the key's coefficients by the cell's largest one. Requires: a_beyond is divided by the cell's coefficient along d already. */
static void MakeRelative(VpLevel level, int32_t cell, int d, VpLineKey *key)
{
  const double ratio = VpLevelCoefficient(level, cell, d) / VpLevelLargest(level, cell);

  key->a = VpLevelIsUniform(level) ? ratio : VpRoundRatio(ratio);
  for (int s = 0; s < 2; s++) key->a_beyond[s] *= key->a;
}

VpLineKey VpLevelLineKey(VpLevel level, PetscBool relative, int32_t cell, int d)
{
  VpMesh    mesh = level->mesh;
  VpLineKey key = {.h = VpGeometrySize(mesh->geometry, cell, d), .a = VpLevelCoefficient(level, cell, d)};

  for (int s = 0; s < 2; s++) {
    const int32_t beyond = VpMeshNeighbor(mesh, cell, 2 * d + s);

    key.side[s] = VpDomainSide(mesh->geometry->domain, beyond);
    key.h_beyond[s] = SizeBeyond(level, cell, 2 * d + s, beyond);
    key.a_beyond[s] = VpLevelCoefficientBeyond(level, cell, 2 * d + s);
    key.larger[s] = VpLevelLargerBeyond(level, cell, 2 * d + s);
    if (level->alone && key.side[s] == VP_SIDE_INTERIOR) {
      key.side[s] = VP_SIDE_NONE;
      key.h_beyond[s] = key.a_beyond[s] = key.larger[s] = 0;
    }
    if (relative) key.larger[s] = round(VP_RATIO_STEPS * key.larger[s]) / VP_RATIO_STEPS;
    if (relative && key.a_beyond[s] > 0) key.a_beyond[s] = exp2(round(VP_RATIO_STEPS * log2(key.a_beyond[s] / key.a)) / VP_RATIO_STEPS);
  }
  if (relative) MakeRelative(level, cell, d, &key);
  return key;
}

/* Whether the numbers of two cells, and the coefficients of their neighbours, are equal. Requires: the cells are of one box and zone, so
   that they have neighbours on the same sides. */
static PetscBool HaveSameCoefficients(const void *context, int32_t cell, int32_t other)
{
  const VpLevel    level = ((const VpLines *)context)->level;
  const int        nside = 2 * level->mesh->dim;
  const size_t     width = (size_t)VpProblemWidth(&level->problem);
  const PetscReal *a = level->problem.coefficient;
  PetscBool        same = PETSC_TRUE;

  for (size_t i = (size_t)VpProblemDirections(&level->problem); i < width; i++)
    same = (PetscBool)(same && a[(size_t)cell * width + i] == a[(size_t)other * width + i]);
  for (int d = 0; d < VpProblemDirections(&level->problem); d++)
    same = (PetscBool)(same && VpLevelCoefficient(level, cell, d) == VpLevelCoefficient(level, other, d));
  for (int side = 0; side < nside && same; side++)
    same = (PetscBool)(VpLevelCoefficientBeyond(level, cell, side) == VpLevelCoefficientBeyond(level, other, side) &&
                       VpLevelLargerBeyond(level, cell, side) == VpLevelLargerBeyond(level, other, side));
  return same;
}

/* The same for meshes where depths may differ and sides may hang or be at the level's end: whether all of this is equal, too. */
static PetscBool HaveSameSizes(const void *context, int32_t cell, int32_t other)
{
  const VpLevel  level = ((const VpLines *)context)->level;
  const VpMesh   mesh = level->mesh;
  const int      nside = 2 * mesh->dim;
  const int32_t *beyond = mesh->neighbor + (size_t)cell * nside, *there = mesh->neighbor + (size_t)other * nside;
  PetscBool      same = (PetscBool)(VpGeometryHalvings(mesh->geometry, cell, 0) == VpGeometryHalvings(mesh->geometry, other, 0));

  for (int side = 0; side < nside && same; side++)
    same = (PetscBool)(beyond[side] == there[side] || (beyond[side] >= 0 && there[side] >= 0));
  return (PetscBool)(same && (VpLevelIsUniform(level) || HaveSameCoefficients(context, cell, other)));
}

/* The share of the reaction in the line along d. Where cells have reactions of their own, one direction has all of it. A relative reaction
   is rounded as coefficients are. */
static double ReactionOf(const VpLines *lines, int32_t cell, int d)
{
  const VpLevel level = lines->level;
  const double  c = level->scale * VpProblemReaction(&level->problem, cell);

  if (!level->problem.apart.reaction) return lines->relative ? 0 : c / level->mesh->dim;
  if (d || c <= 0) return 0;
  return lines->relative ? VpRoundRatio(c / VpLevelLargest(level, cell)) : c;
}

static LinePlace GetLinePlace(VpMesh mesh, int32_t cell, int d)
{
  const int32_t *beyond = mesh->neighbor + (size_t)cell * 2 * mesh->dim + 2 * d;

  return (LinePlace){.box = mesh->geometry->box[cell],
                     .beyond = {PetscMin(beyond[0], 0), PetscMin(beyond[1], 0)},
                     .depth = (uint8_t)VpGeometryHalvings(mesh->geometry, cell, d),
                     .ends = (uint8_t)VpGeometryZone(mesh->geometry, cell, d),
                     .d = (uint8_t)d,
                     .known = 1};
}

/* VpNumbering.key */
static void MakeLineKey(const void *context, int32_t cell, int d, uint64_t word[], void *to)
{
  const VpLines *lines = (const VpLines *)context;
  VpLineKey     *key = (VpLineKey *)to;

  *key = VpLevelLineKey(lines->level, lines->relative, cell, d);
  key->reaction = ReactionOf(lines, cell, d);
  VpLineWords(key, word);
}

/* VpNumbering.number: the entry of a cell's line along d. Requires: the coefficient is the same everywhere */
static PetscErrorCode NumberLine(void *context, int32_t cell, int d, int32_t *entry)
{
  VpLines        *lines = context;
  const LinePlace place = GetLinePlace(lines->level->mesh, cell, d);
  const uint32_t  both = (uint32_t)place.beyond[0] + 3 * (uint32_t)place.beyond[1];
  Seen *seen = &lines->seen[((uint32_t)place.box * 37 + both * 11 + place.depth * 17u + place.ends * 3u + (uint32_t)d) % VP_LINES_SEEN];

  PetscFunctionBegin;
  if (memcmp(&seen->place, &place, sizeof(place))) {
    VpLineKey key;
    uint64_t  word[VP_LINE_WORDS];

    MakeLineKey(lines, cell, d, word, &key);
    PetscCall(VpDictionaryAdd(&lines->dictionary, word, &key, &seen->entry));
    seen->place = place;
  }
  *entry = seen->entry;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* line[cell][d] = the entry of the cell's line along d, for the view's cells [0, nsweep) */
static PetscErrorCode LinesCreate(VpLevel level, PetscBool relative, VpLines *lines, int32_t **line)
{
  const int         dim = level->mesh->dim;
  const PetscBool   same = VpMeshIsByBox(level->mesh);
  const VpNumbering numbering = {.mesh = level->mesh,
                                 .n = level->view.nsweep,
                                 .width = dim,
                                 .context = lines,
                                 .equal = same ? HaveSameCoefficients : HaveSameSizes,
                                 .number = NumberLine,
                                 .key = VpLevelIsUniform(level) ? NULL : MakeLineKey,
                                 .dictionary = &lines->dictionary};

  PetscFunctionBegin;
  *lines = (VpLines){.level = level, .relative = relative};
  PetscCall(VpDictionaryCreate(VP_LINE_WORDS, sizeof(VpLineKey), &lines->dictionary));
  PetscCall(PetscCalloc1(VP_LINES_SEEN, &lines->seen));
  PetscCall(VpMallocLarge((size_t)numbering.n * dim, line));
  PetscCall(same && VpLevelIsUniform(level) ? VpNumberByBox(&numbering, *line) : VpNumberBySample(&numbering, *line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LinesDestroy(VpLines *lines, int32_t **line)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(*line));
  PetscCall(PetscFree(lines->seen));
  PetscCall(VpDictionaryDestroy(&lines->dictionary));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Places the tables of all different lines. drops: there are two tables per line: without face terms towards a cell on the lower side, and
   on the upper side */
static PetscErrorCode PlaceEntries(VpLevel level, const VpLines *lines, PetscBool drops, VpArrays *arrays, const void **p)
{
  const int     n = level->basis.n;
  const int32_t count = lines->dictionary.n << drops;
  const size_t  size = VpLineSize(n) * (size_t)count;
  double       *tables;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(size, &tables));
  VP_LOOP (i, count) {
    double   *table = tables + (size_t)i * (size_t)VpLineSize(n);
    VpLineKey key = *VpLineKeyOf(lines, i >> drops);

    if (drops && key.side[i % 2] == VP_SIDE_INTERIOR) key.side[i % 2] = VP_SIDE_NONE;
    VpLineBuild(&level->basis, &key, level->problem.penalty, key.reaction, table, table + VpLineSide(n, 0));
  }
  PetscCall(VpArraysPlaceReals(arrays, tables, size, "operator tables", p));
  PetscCall(PetscFree(tables));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all cells have one size; then size[d] is that size. */
static PetscBool HaveOneSize(VpMesh mesh, PetscReal size[3])
{
  for (int d = 0; d < mesh->dim; d++) {
    size[d] = VpLatticeSize(mesh->geometry->lattice, 0, d);
    for (int32_t box = 1; box < mesh->geometry->domain->nbox; box++) {
      if (VpWord(VpLatticeSize(mesh->geometry->lattice, box, d)) != VpWord(size[d])) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/* a [view.nlocal][directions] = the coefficients of ghosts by sides */
static void CopyBeyondSides(VpLevel level, double a[])
{
  const VpMesh mesh = level->mesh;
  const size_t swept = (size_t)level->view.nsweep, nside = 2 * (size_t)mesh->dim, count = (size_t)VpProblemDirections(&level->problem);

  for (size_t i = 0; i < swept * nside && mesh->shared->n; i++) {
    const int32_t beyond = mesh->shared->beyond[i];

    for (size_t d = 0; d < count && beyond >= level->view.nsweep; d++)
      a[(size_t)beyond * count + d] = VpLevelCoefficient(level, mesh->neighbor[i], (int)d);
  }
}

static PetscErrorCode PlaceCoefficients(VpLevel level)
{
  const PetscBool sides = (PetscBool)(level->reads == VP_GHOST_SIDE);
  VpView         *view = &level->view;
  const int32_t   n = sides ? view->nsweep : view->nlocal;
  const int       directions = VpProblemDirections(&level->problem);
  const size_t    count = (size_t)view->nlocal * (size_t)directions;
  double         *a;       /* [view.nlocal][directions] */
  uint8_t        *weighed; /* [view.nsweep] */

  PetscFunctionBegin;
  PetscCall(VpMallocLarge(count + 1, &a));
  VP_LOOP (cell, n) {
    for (int d = 0; d < directions; d++) a[(size_t)cell * (size_t)directions + (size_t)d] = VpLevelCoefficient(level, cell, d);
  }
  if (sides) CopyBeyondSides(level, a);
  PetscCall(VpArraysPlaceReals(&level->arrays, a, count, "coefficients", &view->coefficient));
  PetscCall(PetscFree(a));
  if (!level->problem.apart.volume) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(view->nsweep + 1, &weighed));
  VP_LOOP (cell, view->nsweep) {
    weighed[cell] = 0;
    for (int side = 0; side < 2 * level->mesh->dim; side++)
      weighed[cell] |= (uint8_t)((VpLevelLargerBeyond(level, cell, side) != 0) << side);
  }
  PetscCall(VpPlaceArray(&level->arrays, weighed, (size_t)view->nsweep, "sides of trees", &view->weighed));
  PetscCall(PetscFree(weighed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* whether lines for a = 1 and coefficients are numbers of the level's precision: their products are near 1 for any h */
static PetscBool FitUnit(VpLevel level, const PetscReal h[3])
{
  PetscBool fit = PETSC_TRUE;

  for (int d = 0; d < level->mesh->dim; d++) fit = (PetscBool)(fit && h[d] > 1e-12 && h[d] < 1e12);
  return (PetscBool)(fit || level->arrays.precision == VP_DOUBLE);
}

/* whether coefficients vary over cells of one size; then h[d] is that size */
static PetscBool HasUnit(VpLevel level, PetscReal h[3])
{
  const VpApart apart = level->problem.apart;

  return (PetscBool)(!VpLevelIsUniform(level) && !apart.reaction && !apart.sides && !(apart.volume && !level->mesh->turn) &&
                     !VpMeshIsAdaptive(level->mesh) && HaveOneSize(level->mesh, h) && FitUnit(level, h));
}

/* Makes what the view has then. */
static PetscErrorCode PlaceUnit(VpLevel level, const PetscReal h[3])
{
  const int dim = level->mesh->dim, n = level->basis.n, size = VpLineSize(n);
  VpView   *view = &level->view;
  double   *table;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(dim * size, &table));
  for (int d = 0; d < dim; d++) {
    const VpLineKey inside = {.h = h[d], .a = 1, .h_beyond = {h[d], h[d]}, .a_beyond = {1, 1}};

    VpLineBuild(&level->basis, &inside, level->problem.penalty, 0, table + d * size, table + d * size + VpLineSide(n, 0));
    VpLevelSetOutside(level, d, &inside);
  }
  view->directions = VpProblemDirections(&level->problem);
  view->reaction = VpLevelReaction(level);
  PetscCall(VpArraysPlaceReals(&level->arrays, table, (size_t)(dim * size), "operator tables", &view->unit));
  PetscCall(PetscFree(table));
  PetscCall(PlaceCoefficients(level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes view.parts. */
static PetscErrorCode PlaceParts(VpLevel level, const PetscReal h[3])
{
  const VpProblem *problem = &level->problem;
  const VpDomain   domain = level->mesh->geometry->domain;
  const size_t     width = (size_t)VpProblemWidth(problem);
  const double     k = problem->degree;
  VpLineParts     *parts = &level->view.parts;
  double          *condition, *volume;

  PetscFunctionBegin;
  PetscCall(PetscArraycpy(parts->h, h, 3));
  parts->penalty = problem->penalty * k * (k + 1);
  parts->reaction = VpLevelReaction(level) / level->mesh->dim;
  PetscCall(PetscMalloc1(3 * (size_t)domain->nboundary, &condition));
  for (int32_t i = 0; i < domain->nboundary; i++) {
    const VpSide is = domain->boundary[i].kind;

    condition[3 * i] = VpConditions[is].mean;
    condition[3 * i + 1] = (double)VpConditionGamma(is, 2 * parts->penalty, 0);
    condition[3 * i + 2] =
      (double)VpConditionGamma(is, 0, VpProblemAlphaOf(problem, i % (2 * level->mesh->dim), domain->boundary[i].alpha));
  }
  PetscCall(VpPlaceArray(&level->arrays, condition, 3 * (size_t)domain->nboundary, "conditions", &parts->condition));
  PetscCall(PetscFree(condition));
  if (!level->view.weighed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpMallocLarge(level->view.nlocal + 1, &volume));
  VpLoopTake(volume, 1, problem->coefficient + width - 1, width, level->view.nlocal);
  PetscCall(VpArraysPlaceReals(&level->arrays, volume, (size_t)level->view.nlocal, "volumes of cells", &parts->volume));
  PetscCall(PetscFree(volume));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PlaceTables(VpLevel level)
{
  const size_t nline = (size_t)level->view.nsweep * level->mesh->dim;
  VpView      *view = &level->view;
  VpLines      lines;
  int32_t     *line;

  PetscFunctionBegin;
  PetscCall(LinesCreate(level, PETSC_FALSE, &lines, &line));
  PetscCall(VpLevelFindCommonLines(level, &lines, line));
  PetscCall(VpPlaceArray(&level->arrays, line, nline, "operator tables", &view->line));
  PetscCall(PlaceEntries(level, &lines, PETSC_FALSE, &level->arrays, &view->lines));
  PetscCall(LinesDestroy(&lines, &line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If each cell of trees has the means of its own metric, few lines are equal. On lattices maps have symmetries. */
PetscErrorCode VpLevelPlaceLines(VpLevel level)
{
  PetscReal       h[3] = {0};
  const PetscBool unit = HasUnit(level, h), many = (PetscBool)(level->problem.kind == VP_METRIC_CELL && level->mesh->turn);
  const PetscBool later = (PetscBool)(unit && many && level->reads == VP_GHOST_FACE && level->backend->prefers->makes_lines);

  PetscFunctionBegin;
  if (!later) PetscCall(PlaceTables(level));
  if (unit) PetscCall(PlaceUnit(level, h));
  if (later) PetscCall(PlaceParts(level, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlaceDrops(VpLevel level, VpArrays *arrays, const void **drop)
{
  VpLines  lines;
  int32_t *line;

  PetscFunctionBegin;
  if (!level->view.lines) PetscCall(PlaceTables(level)); /* Both have the same entries. */
  PetscCall(LinesCreate(level, PETSC_FALSE, &lines, &line));
  PetscCall(PlaceEntries(level, &lines, PETSC_TRUE, arrays, drop));
  PetscCall(LinesDestroy(&lines, &line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpLevelPlaceBlocks(VpLevel level, VpArrays *arrays, VpCellView *view)
{
  const int    dim = level->mesh->dim, n = level->basis.n, size = VpBlockSize(n);
  const size_t nown = level->mesh->nown;
  VpLines      lines;
  int32_t     *line;
  double      *table, *weight;

  PetscFunctionBegin;
  PetscCall(LinesCreate(level, PETSC_TRUE, &lines, &line));
  PetscCall(PetscMalloc2((size_t)lines.dictionary.n * size, &table, nown, &weight));
  for (int32_t i = 0; i < lines.dictionary.n; i++) {
    double *to = table + (size_t)i * size, *lambda = to + VpLambdaAt(n);

    VpBlockBuild(&level->basis, VpLineKeyOf(&lines, i), level->problem.penalty, to);
    for (int k = 0; k < n; k++) lambda[k] = (lambda[k] + VpLineKeyOf(&lines, i)->reaction) * level->typical;
  }
  for (size_t cell = 0; cell < nown; cell++) weight[cell] = level->typical / VpLevelLargest(level, (int32_t)cell);
  PetscCall(VpPlaceArray(arrays, line, nown * dim, "cell blocks", &view->type));
  PetscCall(VpArraysPlaceReals(arrays, table, (size_t)lines.dictionary.n * size, "cell blocks", &view->table));
  if (!VpLevelIsUniform(level)) PetscCall(VpArraysPlaceReals(arrays, weight, nown, "cell blocks", &view->weight));
  view->reaction = VpLevelRest(level);
  PetscCall(PetscFree2(table, weight));
  PetscCall(LinesDestroy(&lines, &line));
  PetscFunctionReturn(PETSC_SUCCESS);
}
