/* Keys of interface patches. If the coefficient varies, a product approximates F's coefficients (VpFit), and numbers are rounded so that
   few keys differ: F's coefficients relative to K's to steps, those beyond the patch to octaves. */
#include "interfacekey.h"

void VpInterfaceWords(const VpInterfaceKey *key, int dim, uint64_t word[VP_INTERFACE_WORDS])
{
  int n = 2;

  memset(word, 0, VP_INTERFACE_WORDS * sizeof(*word));
  word[0] = (uint64_t)key->side;
  word[1] = VpWord(key->reaction);
  for (int i = 0; i <= dim; i++, n += VP_LINE_WORDS) VpLineWords(i < dim ? &key->own[i] : &key->normal, word + n);
  for (int i = 0; i < dim - 1; i++) {
    VpFdmWords(&key->tangential[i], word + n);
    n += VP_FDM_WORDS;
    word[n++] = VpWord(key->times[i]);
  }
}

/* The number among F of cell c of a fit. A fit has the 2^dim cells of a patch, so two of them stand for each F. */
static int FineOf(int c, int normal)
{
  return (c & ((1 << normal) - 1)) | (c >> (normal + 1)) << normal;
}

/* Approximates F's coefficients by products of one factor per direction, which is 1 along the normal: those along d by times[d] times a
   product. They are divided by `largest`, K's coefficient. */
static void FitBeyond(VpLevel fine, const VpFace *interface, double largest, VpFit *fit, double times[3])
{
  const int          dim = fine->mesh->dim;
  VpPatchCoefficient coefficient;
  int32_t            cell[VP_PATCH_CELLS];
  double             most;

  for (int c = 0; c < 1 << dim; c++) cell[c] = interface->cell[1 + FineOf(c, interface->side / 2)];
  VpPatchCoefficientGet(fine, cell, NULL, &coefficient);
  VpCoefficientFit(&coefficient, VP_COARSE_GRAIN, fit, times);
  most = PetscMax(times[0], PetscMax(times[1], dim == 3 ? times[2] : 0));
  for (int d = 0; d < dim; d++) {
    if (VpLevelIsUniform(fine)) times[d] /= largest;
    else times[d] = VpRoundRatio(most / largest) * VpRoundRatio(times[d] / most);
  }
}

static double RoundToOctave(double ratio)
{
  return ratio > 0 ? exp2(round(log2(ratio))) : 0;
}

/* key of F's line of two cells along d, which is the direction number `bit` along the side */
static VpFdmKey PairKey(VpLevel fine, const VpFace *interface, int d, int bit, const VpFit *fit)
{
  const int dim = fine->mesh->dim;
  VpFdmKey  pair = {.step = fit->step[d], .skew = fit->skew[d]};

  for (int s = 0; s < 2; s++) {
    const int32_t   cell = interface->cell[1 + (s << bit)], *beyond = fine->mesh->neighbor + (size_t)cell * 2 * dim + 2 * d;
    const VpLineKey line = VpLevelLineKey(fine, PETSC_TRUE, cell, d);
    const PetscBool wrap = (PetscBool)(beyond[0] == beyond[1] && beyond[0] >= 0);

    pair.h[s] = line.h;
    pair.side[s] = wrap ? VP_SIDE_WRAP : line.side[s];
    pair.h_beyond[s] = wrap ? 0 : line.h_beyond[s];
    if (pair.side[s] == VP_SIDE_INTERIOR || pair.side[s] == VP_SIDE_LEVEL_END) pair.face[s] = fit->face[d][s];
  }
  return pair;
}

/* Sets the coefficients of the forms between K and F, and the coefficients beyond the ends of lines along the normal. A line has one number
   per end. K's line has the coefficient of the stiffest F. F's line has the coefficient of K relative to the softest F and, at its other
   end, the largest ratio there. The coefficients of a patch must not be smaller than the true ones, or sweeps may enlarge errors. f: scale
   of F's fit along the normal, divided by `largest`, K's coefficient. */
static void SetFaceForms(VpLevel fine, const VpFace *interface, const VpFit *fit, double f, double largest, VpInterfaceKey *key)
{
  const int    dim = fine->mesh->dim, normal = key->side / 2, s = key->side % 2;
  const double a = key->own[normal].a;
  double       least = 1, most = 0, beyond = 0;

  for (int c = 0; c < 1 << dim; c++) {
    const int32_t cell = interface->cell[1 + FineOf(c, normal)];
    const double  product = VpFitProduct(dim, fit, c, normal);

    least = PetscMin(least, product);
    most = PetscMax(most, product);
    beyond = PetscMax(beyond, VpLevelCoefficientBeyond(fine, cell, key->side) / product);
    key->form[VP_HANG_A + FineOf(c, normal)] = VpHarmonicMean(a, f * product);
  }
  key->own[normal].a_beyond[s] = f * most;
  key->normal.a = f;
  key->normal.a_beyond[s] = f * RoundToOctave(beyond / (f * largest));
  key->normal.a_beyond[1 - s] = a / least;
}

VpInterfaceKey VpInterfaceKeyOf(VpLevel fine, VpLevel coarse, const VpFace *interface)
{
  const int      dim = fine->mesh->dim, normal = interface->side / 2;
  VpInterfaceKey key = {
    .side = interface->side, .normal = VpLevelLineKey(fine, PETSC_TRUE, interface->cell[1], normal), .reaction = VpLevelReaction(fine)};
  const double largest = VpLevelLargest(coarse, interface->cell[0]);
  const double weight = fine->typical / largest;
  double       times[3];
  VpFit        fit;

  FitBeyond(fine, interface, largest, &fit, times);
  key.reaction *= VpLevelIsUniform(fine) ? weight : VpRoundRatio(weight);
  for (int d = 0, bit = 0; d < dim; d++) {
    VpLineKey *own = &key.own[d];

    *own = VpLevelLineKey(coarse, PETSC_TRUE, interface->cell[0], d);
    for (int s = 0; s < 2; s++) own->a_beyond[s] = own->a * RoundToOctave(own->a_beyond[s] / own->a);
    if (d == normal) continue;
    key.tangential[bit] = PairKey(fine, interface, d, bit, &fit);
    key.times[bit++] = times[d];
  }
  VpHangingForm(coarse, fine, interface, key.form);
  SetFaceForms(fine, interface, &fit, times[normal], largest, &key);
  for (int i = 0; i < 1 << (dim - 1); i++) key.form[VP_HANG_A + i] *= fine->typical;
  return key;
}
