/* Fits the coefficient on every patch, in threads, and numbers the one-dimensional problems of patches. */
#include "patchproblems.h"
#include "../level/numbering.h"
#include "../level/keys.h"
#include "../base/threads.h"

enum { NWORD = VP_FDM_WORDS + 1, ALONG_WORDS = 3, FIT_WORDS = 3 * ALONG_WORDS };
/* Fits are not rounded if at most MOST_FITS of them differ, and at most MOST_ALONG of their factors along lines, of all directions
   together. Then most tables are still those of many patches. */
enum { MOST_FITS = 1024, MOST_ALONG = 192 };

static void SetWords(const VpPatchKey *problem, uint64_t word[NWORD])
{
  VpFdmWords(&problem->fdm, word);
  word[VP_FDM_WORDS] = VpWord(problem->ratio);
}

/* the key along d of a patch in trees, without regard to its coefficient. At a mixed side it has the size of the cells beyond, or of the
   patch's own cells if there are none. */
static VpFdmKey ProblemKeyInTrees(const VpPatchProblems *problems, int32_t p, int d)
{
  const VpLevel  level = problems->level;
  const VpMesh   mesh = level->mesh;
  const int32_t *cell = problems->patches->cell + ((size_t)p << mesh->dim);
  const uint8_t *frame = problems->patches->frame ? problems->patches->frame + ((size_t)p << mesh->dim) : NULL;
  VpFdmKey       key = {.step = 0};

  for (int c = 0; c < 1 << mesh->dim; c++) {
    const int     s = c >> d & 1, side = VpFrameSide(frame ? frame[c] : 0, 2 * d + s);
    const int32_t beyond = VpMeshNeighbor(mesh, cell[c], side);

    key.side[s] = (VpSide)problems->patches->side[(size_t)p * 2 * (size_t)mesh->dim + (size_t)(2 * d + s)];
    key.h[s] = VpGeometrySize(mesh->geometry, cell[c], side / 2);
    if (beyond >= 0) key.h_beyond[s] = VpGeometrySize(mesh->geometry, beyond, VpMeshSideBeyond(mesh, cell[c], side) / 2);
    else if (key.side[s] != VP_SIDE_MIXED) key.h_beyond[s] = VpProblemAlpha(&level->problem, mesh->geometry->domain, beyond);
    else if (key.h_beyond[s] <= 0) key.h_beyond[s] = key.h[s];
  }
  return key;
}

/* size of the cells beyond a mixed side, or of the patch's own cells if there are none */
static PetscReal MixedSizeBeyond(VpMesh mesh, const int32_t cell[], int side)
{
  const int d = side / 2;

  for (int c = 0; c < 1 << mesh->dim; c++) {
    const int32_t box = (c >> d & 1) == side % 2 ? VpGeometryBoxBeyond(mesh->geometry, cell[c], side) : VP_UNKNOWN;

    if (box >= 0) return VpLatticeSize(mesh->geometry->lattice, box, d);
  }
  return VpGeometrySize(mesh->geometry, cell[side % 2 << d], d);
}

/* the key along d of patches without mixed sides whose first cells are in a zone of a box. The patch's two cells along d, and the cells
   beyond them, lie in these boxes, which are often one:

     below | box | upper | above    */
static VpFdmKey ProblemKeyAt(VpLevel level, int32_t box, int zone, int d)
{
  const VpMesh    mesh = level->mesh;
  const VpLattice L = mesh->geometry->lattice;
  const int32_t  *beyond = mesh->geometry->domain->beyond + 2 * d;
  const int       bits = VpHalvingsOf(L, box)->bits[d], nside = 2 * mesh->dim;
  const PetscBool first = VpGeometryIsAtEnd(mesh->geometry, box, zone, 2 * d),
                  last = VpGeometryIsAtEnd(mesh->geometry, box, zone, 2 * d + 1);
  const int32_t upper = last ? beyond[(size_t)box * nside + 1] : box;
  int32_t       ends[2] = {first ? beyond[(size_t)box * nside] : box, upper};
  VpFdmKey      key = {.step = 0};

  if (last ? !VpHalvingsOf(L, upper)->bits[d] : zone == 2 || bits == 1) ends[1] = beyond[(size_t)upper * nside + 1];
  for (int s = 0; s < 2; s++) {
    key.h[s] = VpLatticeSize(L, s ? upper : box, d);
    key.side[s] = VpDomainSide(mesh->geometry->domain, ends[s]);
    key.h_beyond[s] = ends[s] < 0 ? VpProblemAlpha(&level->problem, mesh->geometry->domain, ends[s]) : VpLatticeSize(L, ends[s], d);
  }
  if (first && (upper == box ? bits <= 1 && ends[0] == box : ends[0] == upper && ends[1] == box && !bits)) {
    key.side[0] = key.side[1] = VP_SIDE_WRAP;
    key.h_beyond[0] = key.h_beyond[1] = 0;
  }
  return key;
}

/* the same in boxes */
static VpFdmKey ProblemKeyInBoxes(const VpPatchProblems *problems, int32_t p, int d)
{
  const VpMesh   mesh = problems->level->mesh;
  const int32_t *cell = problems->patches->cell + ((size_t)p << mesh->dim);
  const uint8_t *side = problems->patches->side + (size_t)p * 2 * mesh->dim;
  VpFdmKey       key = ProblemKeyAt(problems->level, mesh->geometry->box[cell[0]], VpGeometryZone(mesh->geometry, cell[0], d), d);

  for (int s = 0; s < 2; s++) {
    key.side[s] = side[2 * d + s];
    if (key.side[s] == VP_SIDE_LEVEL_END) key.h_beyond[s] *= 2;
    if (key.side[s] == VP_SIDE_MIXED) key.h_beyond[s] = MixedSizeBeyond(mesh, cell, 2 * d + s);
  }
  return key;
}

static inline PetscBool AreInTrees(const VpPatchProblems *problems)
{
  return (PetscBool)(problems->level->mesh->geometry->domain->trees != NULL);
}

/* whether all cells have one size in all directions, and no boundary has an alpha: then patches in trees differ by fits and sides alone */
static PetscBool HaveOneSize(VpMesh mesh)
{
  const VpLattice L = mesh->geometry->lattice;
  const VpDomain  domain = mesh->geometry->domain;
  PetscBool       one = (PetscBool)!VpDomainReadsAlpha(domain);

  for (int32_t i = 0; i < domain->nbox * mesh->dim && one; i++)
    one = (PetscBool)(VpLatticeSize(L, i / mesh->dim, i % mesh->dim) == VpLatticeSize(L, 0, 0));
  return (PetscBool)(one && !VpMeshIsAdaptive(mesh));
}

static void AddVolumes(const int16_t larger[4], VpFdmKey *key)
{
  key->larger = larger[2] / (double)VP_RATIO_STEPS;
  for (int s = 0; s < 2; s++) {
    const int steps = larger[3 * s] - larger[1 + s];

    if (steps && !VpIsCondition(key->side[s])) key->h_beyond[s] *= exp2(steps / (double)VP_RATIO_STEPS);
  }
}

static VpFdmKey ProblemKey(const VpPatchProblems *problems, int32_t p, int d)
{
  const VpFit *fit = problems->fit ? &problems->fit[p] : NULL;
  VpFdmKey     key = (AreInTrees(problems) ? ProblemKeyInTrees : ProblemKeyInBoxes)(problems, p, d);

  if (fit) {
    key.step = fit->step[d];
    key.skew = fit->skew[d];
    AddVolumes(fit->larger[d], &key);
  }
  for (int s = 0; s < 2; s++) {
    if (fit && (key.side[s] == VP_SIDE_MIXED || key.side[s] == VP_SIDE_LEVEL_END ||
                (key.side[s] == VP_SIDE_INTERIOR && problems->space == VP_SPACE_FULL)))
      key.face[s] = fit->face[d][s];
    if (problems->level->problem.apart.sides && VpReadsAlpha(key.side[s]) && key.h_beyond[s] > 0) key.h_beyond[s] = exp2(fit->face[d][s]);
  }
  return key;
}

static int GrainOf(VpLevel level)
{
  return level->backend->prefers->coarse_fits ? VP_COARSE_GRAIN : 1;
}

/* Whether the patch is replaceable; fit: whether its fit is exact. Where the coefficient steps, the tables' mass has the steps, and the
   reaction's does not. The reactions of cells are rounded. */
static PetscBool IsReplaceable(const VpPatchProblems *problems, int32_t p, PetscBool fit)
{
  const double   *step = problems->fit[p].step;
  const PetscBool steps = (PetscBool)(step[0] != 0 || step[1] != 0 || step[2] != 0);

  if (problems->level->problem.apart.reaction) return PETSC_FALSE;
  return (PetscBool)(fit && !problems->patches->mixed[p] && !(steps && problems->level->problem.reaction > 0));
}

static void FitCoefficient(const VpPatchProblems *problems, int32_t p)
{
  const VpLevel      level = problems->level;
  const int          dim = problems->patches->dim;
  const int32_t     *cell = problems->patches->cell + ((size_t)p << dim);
  const uint8_t     *frame = problems->patches->frame ? problems->patches->frame + ((size_t)p << dim) : NULL;
  double            *factor = problems->factor + (size_t)p * (dim + 1), sigma[3];
  VpPatchCoefficient coefficient;

  VpPatchCoefficientGet(level, cell, frame, &coefficient);
  const VpPattern pattern = level->problem.apart.volume ? VP_PATTERN_ANY : VpCoefficientPattern(&coefficient);
  const PetscBool keep = (PetscBool)(pattern == VP_PATTERN_PRODUCT && problems->keeps);

  VpCoefficientFit(&coefficient, keep ? 0 : GrainOf(level), &problems->fit[p], sigma);
  VpPatchVolumes(level, cell, frame, &coefficient, &problems->fit[p]);
  for (int d = 0; d < dim; d++) factor[d] = sigma[d] / level->typical;
  factor[dim] = VpPatchReaction(level, cell, &problems->fit[p]);
  if (problems->replaceable) problems->replaceable[p] = IsReplaceable(problems, p, (PetscBool)(keep || pattern == VP_PATTERN_CONSTANT));
}

/* *few: few of the fits of replaceable patches differ, and few of their factors along lines */
static PetscErrorCode CountFits(const VpPatchProblems *problems, PetscBool *few)
{
  const int    dim = problems->patches->dim;
  VpDictionary fits, along;

  PetscFunctionBegin;
  PetscCall(VpDictionaryCreate(FIT_WORDS, 0, &fits));
  PetscCall(VpDictionaryCreate(ALONG_WORDS, 0, &along));
  for (int32_t p = 0; p < problems->patches->n && fits.n <= MOST_FITS && along.n <= MOST_ALONG; p++) {
    const VpFit *fit = &problems->fit[p];
    uint64_t     word[FIT_WORDS];
    int32_t      number;

    if (!problems->replaceable[p] || (p && !memcmp(fit, fit - 1, sizeof(*fit)))) continue;
    for (int d = 0; d < 3; d++) {
      word[ALONG_WORDS * d] = VpWord(fit->step[d]);
      for (int s = 0; s < 2; s++) word[ALONG_WORDS * d + 1 + s] = VpWord(fit->face[d][s]);
    }
    PetscCall(VpDictionaryAdd(&fits, word, NULL, &number));
    for (int d = 0; d < dim && number == fits.n - 1; d++) PetscCall(VpDictionaryAdd(&along, word + ALONG_WORDS * d, NULL, &(int32_t){0}));
  }
  *few = (PetscBool)(fits.n <= MOST_FITS && along.n <= MOST_ALONG);
  PetscCall(VpDictionaryDestroy(&fits));
  PetscCall(VpDictionaryDestroy(&along));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets fit, factor and replaceable. Collective: if one rank rounds fits, all do, because ranks solve on copies of the same patches. */
static PetscErrorCode FitPatches(VpPatchProblems *problems)
{
  const VpPatches *patches = problems->patches;
  MPI_Comm         comm = problems->level->mesh->comm;
  PetscMPIInt      many; /* the first rank with too many different fits */

  PetscFunctionBegin;
  problems->keeps = (PetscBool)(problems->space == VP_SPACE_FULL);
  VP_LOOP (p, patches->n) FitCoefficient(problems, p);
  if (!problems->keeps) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VpTogether(comm, CountFits(problems, &problems->keeps)));
  PetscCall(VpFirstRank(comm, (PetscBool)!problems->keeps, &many));
  problems->keeps = (PetscBool)(many == INT_MAX);
  if (problems->keeps) PetscFunctionReturn(PETSC_SUCCESS);
  VP_LOOP (p, patches->n) FitCoefficient(problems, p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool HaveSameFits(const void *context, int32_t p, int32_t other)
{
  const VpPatchProblems *problems = (const VpPatchProblems *)context;
  const size_t           nside = 2 * (size_t)problems->patches->dim;
  const uint8_t         *side = problems->patches->side;

  if (problems->fit && memcmp(&problems->fit[p], &problems->fit[other], sizeof(*problems->fit))) return PETSC_FALSE;
  for (int d = 0; d < problems->patches->dim && problems->sized; d++) {
    const VpFdmKey key = ProblemKeyInTrees(problems, p, d), same = ProblemKeyInTrees(problems, other, d);

    if (memcmp(key.h, same.h, sizeof(key.h)) || memcmp(key.h_beyond, same.h_beyond, sizeof(key.h_beyond))) return PETSC_FALSE;
  }
  return (PetscBool)!memcmp(side + nside * p, side + nside * other, nside);
}

/* VpNumbering.key. Sizes that the dictionary does not tell apart become equal, so that rounding errors do not hide that a patch is its own
   mirror image. */
static void MakeProblemKey(const void *context, int32_t p, int d, uint64_t word[], void *to)
{
  const VpPatchProblems *problems = (const VpPatchProblems *)context;
  const VpLevel          level = problems->level;
  VpPatchKey             problem = {ProblemKey(problems, p, d), problems->fit ? 1 : level->uniform[d] / level->typical};
  VpFdmKey              *key = &problem.fdm;

  if (VpWord(key->h[1]) == VpWord(key->h[0])) key->h[1] = key->h[0];
  if (VpWord(key->h_beyond[1]) == VpWord(key->h_beyond[0])) key->h_beyond[1] = key->h_beyond[0];
  SetWords(&problem, word);
  *(VpPatchKey *)to = problem;
}

/* VpNumbering.number: the problem of patch p along d */
static PetscErrorCode NumberProblem(void *context, int32_t p, int d, int32_t *entry)
{
  VpPatchProblems *problems = (VpPatchProblems *)context;
  VpPatchKey       problem;
  uint64_t         word[NWORD];

  MakeProblemKey(problems, p, d, word, &problem);
  return VpDictionaryAdd(&problems->dictionary, word, &problem, entry);
}

/* VpNumbering.apart */
static PetscBool HasMixedSide(const void *context, int32_t p)
{
  const VpPatches *patches = ((const VpPatchProblems *)context)->patches;

  return (PetscBool)(patches->mixed[p] && memchr(patches->side + (size_t)p * 2 * patches->dim, VP_SIDE_MIXED, 2 * (size_t)patches->dim));
}

/* Sets problems->type. Patches whose first cells share box and zone have the same problems unless coefficients differ, sides are mixed, or
   the level is partial or one of trees. */
static PetscErrorCode FindProblems(VpPatchProblems *problems)
{
  const VpPatches  *patches = problems->patches;
  const VpNumbering numbering = {.mesh = problems->level->mesh,
                                 .n = patches->n,
                                 .cell = patches->cell,
                                 .stride = 1 << patches->dim,
                                 .width = patches->dim,
                                 .context = problems,
                                 .apart = HasMixedSide,
                                 .equal = HaveSameFits,
                                 .number = NumberProblem,
                                 .key = MakeProblemKey,
                                 .dictionary = &problems->dictionary};

  PetscFunctionBegin;
  problems->sized = (PetscBool)(AreInTrees(problems) && !HaveOneSize(problems->level->mesh));
  if (!VpLevelIsUniform(problems->level)) PetscCall(FitPatches(problems)); /* collective, also on ranks without patches */
  PetscCall((problems->fit || VpMeshIsPart(problems->level->mesh) || AreInTrees(problems) ? VpNumberBySample
                                                                                          : VpNumberByBox)(&numbering, problems->type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bits of a mixed patch, which is replaceable if its tables are those of the level's common cells and the level ends at its mixed
   sides. */
static uint8_t BitsWhereLevelEnds(const VpPatchProblems *problems, int32_t p)
{
  const VpMesh   mesh = problems->level->mesh;
  const int      dim = mesh->dim;
  const uint8_t *side = problems->patches->side + (size_t)p * 2 * dim;
  uint8_t        bits = 1;

  for (int i = 0; i < 2 * dim; i++) {
    const VpPatchKey *key = (const VpPatchKey *)problems->dictionary.item + problems->type[(size_t)p * dim + i / 2];
    const uint64_t    h = VpWord(problems->level->common[i / 2]);

    if (side[i] == VP_SIDE_WRAP) return 0;
    if (side[i] != VP_SIDE_MIXED) continue;
    if (VpWord(key->fdm.h[0]) != h || VpWord(key->fdm.h[1]) != h || VpWord(key->fdm.h_beyond[i % 2]) != h) return 0;
    for (int c = 0; c < 1 << dim; c++) {
      const int32_t beyond = VpMeshNeighbor(mesh, problems->patches->cell[((size_t)p << dim) + c], i);

      if ((c >> i / 2 & 1) == i % 2 && beyond < 0 && beyond != VP_LEVEL_END) return 0;
    }
    bits |= (uint8_t)(2 << i);
  }
  return bits;
}

/* whether mixed patches may be replaceable: on partial levels, whose tables say what A is at the level's end */
static PetscBool EndsMayBeReplaceable(const VpPatchProblems *problems)
{
  const VpLevel level = problems->level;

  return (PetscBool)(problems->space == VP_SPACE_FULL && VpLevelIsUniform(level) && VpMeshIsPart(level->mesh) && level->view.common.found &&
                     !level->backend->prefers->sorts_patches);
}

int32_t VpPatchProblemFind(const VpPatchProblems *problems, const VpPatchKey *key)
{
  uint64_t word[NWORD];

  SetWords(key, word);
  return VpDictionaryFind(&problems->dictionary, word);
}

PetscErrorCode VpPatchProblemsCreate(VpLevel level, const VpPatches *patches, VpSpace space, VpPatchProblems *problems)
{
  PetscFunctionBegin;
  *problems = (VpPatchProblems){.level = level, .patches = patches, .space = space};
  PetscCall(VpDictionaryCreate(NWORD, sizeof(VpPatchKey), &problems->dictionary));
  PetscCall(VpMallocLarge((size_t)patches->n * patches->dim, &problems->type));
  if (!VpLevelIsUniform(level)) {
    PetscCall(VpMallocLarge(patches->n, &problems->fit));
    PetscCall(VpMallocLarge((size_t)patches->n * (patches->dim + 1), &problems->factor));
    if (space == VP_SPACE_FULL) PetscCall(VpMallocLarge(patches->n, &problems->replaceable));
  }
  PetscCall(FindProblems(problems));
  if (EndsMayBeReplaceable(problems)) {
    PetscCall(VpMallocLarge(patches->n, &problems->replaceable));
    VP_LOOP (p, patches->n) problems->replaceable[p] = patches->mixed[p] ? BitsWhereLevelEnds(problems, p) : 0;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpPatchProblemsDestroy(VpPatchProblems *problems)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(problems->fit));
  PetscCall(PetscFree(problems->factor));
  PetscCall(PetscFree(problems->replaceable));
  PetscCall(PetscFree(problems->type));
  PetscCall(VpDictionaryDestroy(&problems->dictionary));
  PetscFunctionReturn(PETSC_SUCCESS);
}
