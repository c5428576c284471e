/* Approximates the coefficients of a patch's cells by products of one factor per direction, which tables can follow. */
#include "internal.h"

enum { MOST_SLOPE = 100, MOST_FACE = 800 }; /* octaves that the key of a patch's problem holds */
#define KEPT_UNIT 0x1p-40                   /* unit of numbers that are not rounded: it removes what rounding errors leave of 0 */
#define SLACK     1e-9                      /* Products whose relative difference is smaller are equal up to rounding errors. */

void VpPatchCoefficientGet(VpLevel level, const int32_t cell[], const uint8_t frame[], VpPatchCoefficient *to)
{
  const int32_t *box = level->mesh->geometry->box;
  const int      dim = level->mesh->dim;

  to->dim = dim;
  to->tensor = level->problem.tensor;
  to->robin = to->weighs = PETSC_FALSE;
  for (int c = 0; c < 1 << dim; c++) {
    to->weighs = (PetscBool)(to->weighs || box[cell[c]] != box[cell[0]]);
    for (int d = 0; d < dim; d++) {
      const int       side = VpFrameSide(frame ? frame[c] : 0, 2 * d + (c >> d & 1));
      const PetscReal next = VpLevelCoefficientBeyond(level, cell[c], side);
      const PetscReal robin = level->scale * VpProblemRobin(&level->problem, cell[c], side);
      const PetscReal larger = VpLevelLargerBeyond(level, cell[c], side);

      to->a[c][d] = VpLevelCoefficient(level, cell[c], side / 2);
      to->beyond[c][d] = next > 0 ? next : robin > 0 ? -robin : to->a[c][d];
      to->larger[c][d] = larger;
      to->robin = (PetscBool)(to->robin || to->beyond[c][d] < 0);
      to->weighs = (PetscBool)(to->weighs || larger != 0);
      if (next > 0 && larger != 0) to->beyond[c][d] *= exp2(larger);
    }
  }
}

/* by how many octaves the coefficients of the upper half of a patch in one direction are larger than those of the lower half: the
   coefficient along that direction, and the mean of those along the others */
typedef struct {
  double own, mass;
} Slope;

static double ClampTo(double number, double most)
{
  return PetscMax(-most, PetscMin(most, number));
}

/* the nearest multiple of the unit */
static double RoundTo(double number, double unit)
{
  return round(number / unit) * unit + 0.; /* no -0. */
}

/* log2 of VpFitProduct; d < 0: of VpFitMass */
static double LogProduct(int dim, const VpFit *fit, int c, int d)
{
  double steps = 0;

  for (int e = 0; e < dim; e++) {
    const double step = fit->step[e] + (e == d ? 0 : fit->skew[e]);

    steps += PetscMax(c >> e & 1 ? step : -step, 0);
  }
  return steps / VP_STEPS;
}

double VpFitProduct(int dim, const VpFit *fit, int c, int d)
{
  return exp2(LogProduct(dim, fit, c, d));
}

double VpFitMass(int dim, const VpFit *fit, int c)
{
  return exp2(LogProduct(dim, fit, c, -1));
}

double VpPatchReaction(VpLevel level, const int32_t cell[], const VpFit *fit)
{
  const int dim = level->mesh->dim;
  double    reaction = 0, mass = 0;

  if (!level->problem.apart.reaction) return VpLevelReaction(level);
  for (int c = 0; c < 1 << dim; c++) {
    reaction += level->scale * VpProblemReaction(&level->problem, cell[c]);
    mass += VpFitMass(dim, fit, c);
  }
  return reaction / mass;
}

/* whether there is a number a alpha at all of the patch's cells on a side */
static PetscBool IsRobin(const VpPatchCoefficient *of, int side)
{
  PetscBool robin = of->robin;

  for (int c = 0; c < 1 << of->dim && robin; c++)
    robin = (PetscBool)(robin && ((c >> side / 2 & 1) != side % 2 || of->beyond[c][side / 2] < 0));
  return robin;
}

/* product[c][d] = VpFitProduct() to rounding, with two powers per direction */
static void FindProducts(int dim, const VpFit *fit, double product[VP_PATCH_CELLS][3])
{
  for (int c = 0; c < 1 << dim; c++)
    for (int d = 0; d < dim; d++) product[c][d] = 1;
  for (int e = 0; e < dim; e++) {
    const double own = fit->step[e], mass = own + fit->skew[e], factor[2] = {exp2(fabs(own) / VP_STEPS), exp2(fabs(mass) / VP_STEPS)};

    for (int c = 0; c < 1 << dim; c++)
      for (int d = 0; d < dim; d++) product[c][d] *= (c >> e & 1) == ((e == d ? own : mass) > 0) ? factor[e != d] : 1;
  }
}

/* Sets the face factors. They follow jumps beyond the patch, so that much softer or stiffer neighbours look like neither a Neumann nor a
   Dirichlet side. */
static void FitFaces(const VpPatchCoefficient *of, const double sigma[3], int grain, VpFit *fit)
{
  const int dim = of->dim;
  double    product[VP_PATCH_CELLS][3];

  FindProducts(dim, fit, product);
  for (int side = 0; side < 2 * dim; side++) {
    const int       d = side / 2;
    const PetscBool robin = IsRobin(of, side);
    const double    unit = !grain ? KEPT_UNIT : robin ? 1. / VP_RATIO_STEPS : 1;
    double          largest = 0;

    for (int c = 0; c < 1 << dim; c++) {
      const double a = of->a[c][d], beyond = of->beyond[c][d];

      if ((c >> d & 1) != side % 2) continue;
      largest = PetscMax(largest, (robin ? -beyond : beyond < 0 ? a : VpHarmonicMean(a, beyond)) / product[c][d]);
    }
    fit->face[d][side % 2] = ClampTo(RoundTo(log2(largest / sigma[d]), unit), MOST_FACE);
  }
}

/* the difference between the halves of the patch along e [octaves]; log[c]: the logarithm of cell c's coefficient along some direction */
static double SlopeAlong(int dim, const double log[VP_PATCH_CELLS], int e)
{
  double slope = 0;

  for (int c = 0; c < 1 << dim; c++) slope += (c >> e & 1 ? 1 : -1) * log[c] / (1 << dim) * 2;
  return ClampTo(slope, MOST_SLOPE);
}

static int16_t LargerSteps(double octaves)
{
  return (int16_t)round(ClampTo(octaves, MOST_SLOPE) * VP_RATIO_STEPS);
}

/* how much larger the cells beyond a patch's cells are, towards end s of its row along d */
static double MeanLarger(const VpPatchCoefficient *of, int d, int s)
{
  double sum = 0;

  for (int c = 0; c < 1 << of->dim; c++) sum += (c >> d & 1) == s ? of->larger[c][d] : 0;
  return sum / (1 << (of->dim - 1));
}

/* how much larger the second cells of a patch's row along d are than the first */
static double MeanInside(VpLevel level, const int32_t cell[], const uint8_t frame[], int d)
{
  const int dim = level->mesh->dim;
  double    sum = 0;

  for (int c = 0; c < 1 << dim; c++)
    sum += c >> d & 1 ? 0 : VpLevelLargerBeyond(level, cell[c], VpFrameSide(frame ? frame[c] : 0, 2 * d + 1));
  return sum / (1 << (dim - 1));
}

void VpPatchVolumes(VpLevel level, const int32_t cell[], const uint8_t frame[], const VpPatchCoefficient *of, VpFit *fit)
{
  for (int d = 0; d < of->dim && of->weighs && level->problem.apart.volume; d++) {
    fit->larger[d][0] = LargerSteps(MeanLarger(of, d, 0));
    fit->larger[d][2] = LargerSteps(MeanInside(level, cell, frame, d));
    fit->larger[d][3] = (int16_t)(fit->larger[d][2] + LargerSteps(MeanLarger(of, d, 1)));
  }
}

/* Sets the slopes. Along e the masses of all directions but e share one factor. */
static void FindSlopes(int dim, int tensor, const double log[3][VP_PATCH_CELLS], Slope slope[3])
{
  for (int e = 0; e < dim; e++) {
    slope[e].own = SlopeAlong(dim, log[tensor ? e : 0], e);
    slope[e].mass = tensor ? 0 : slope[e].own;
    for (int d = 0; d < tensor; d++) slope[e].mass += d == e ? 0 : SlopeAlong(dim, log[d], e) / (dim - 1);
  }
}

/* the slope in steps, rounded to multiples of the grain; less than a grain becomes 0 */
static double RoundSlope(double slope, int grain)
{
  const double steps = slope * VP_STEPS;

  return fabs(steps) < grain ? 0 : RoundTo(steps, grain ? grain : KEPT_UNIT);
}

/* The scale of the product for the coefficients along d, whose logarithms are log[c]. With slopes that are not rounded, the product is
   nowhere smaller than the coefficients. With rounded slopes it is larger in some cells and smaller in others. A larger scale would prevent
   the latter, but patches that are stiffer than A leave too much of the error. */
static double ScaleOfProduct(int dim, const double log[VP_PATCH_CELLS], int d, const Slope slope[3], const VpFit *fit)
{
  double most = -PETSC_MAX_REAL, mean = 0; /* of the product's logarithms: half of the cells have a step, and the others have 0 */

  for (int e = 0; e < dim; e++) mean += fabs(fit->step[e] + (e == d ? 0 : fit->skew[e])) / (2 * VP_STEPS);
  for (int c = 0; c < 1 << dim; c++) {
    double rest = log[c];

    for (int e = 0; e < dim; e++) rest -= (c >> e & 1 ? 0.5 : -0.5) * (e == d ? slope[e].own : slope[e].mass);
    most = PetscMax(most, rest);
  }
  return exp2(most - mean);
}

/* Sets the fit's steps, and sigma[d], the scale along d. Requires: the coefficients of the patch's cells differ. */
static void FitProducts(const VpPatchCoefficient *of, int grain, double sigma[3], VpFit *fit)
{
  const int dim = of->dim, tensor = of->tensor;
  double    log[3][VP_PATCH_CELLS];
  Slope     slope[3];

  for (int d = 0; d < PetscMax(tensor, 1); d++)
    for (int c = 0; c < 1 << dim; c++) log[d][c] = log2(of->a[c][d]);
  FindSlopes(dim, tensor, log, slope);
  for (int e = 0; e < dim; e++) {
    fit->step[e] = RoundSlope(slope[e].own, grain);
    fit->skew[e] = RoundSlope(slope[e].mass, grain) - fit->step[e];
  }
  for (int d = 0; d < PetscMax(tensor, 1); d++) sigma[d] = ScaleOfProduct(dim, log[d], d, slope, fit);
}

void VpCoefficientFit(const VpPatchCoefficient *of, int grain, VpFit *fit, double sigma[3])
{
  const int dim = of->dim;
  PetscBool inside = PETSC_TRUE, same = PETSC_TRUE; /* in the patch; also beyond it */

  *fit = (VpFit){.step = {0}};
  for (int d = 0; d < dim; d++) sigma[d] = of->a[0][d];
  for (int c = 0; c < 1 << dim; c++) {
    for (int d = 0; d < dim; d++) {
      inside = (PetscBool)(inside && of->a[c][d] == of->a[0][d]);
      same = (PetscBool)(same && of->beyond[c][d] == of->a[0][d]);
    }
  }
  if (!inside) FitProducts(of, grain, sigma, fit);
  for (int d = 1; d < dim && !of->tensor; d++) sigma[d] = sigma[0];
  if (!inside || !same) FitFaces(of, sigma, grain, fit);
}

static PetscBool AreClose(double a, double b)
{
  return (PetscBool)(fabs(a - b) <= SLACK * fabs(b));
}

VpPattern VpCoefficientPattern(const VpPatchCoefficient *of)
{
  const int dim = of->dim;
  const PetscReal(*a)[3] = of->a, (*beyond)[3] = of->beyond;
  PetscBool constant = PETSC_TRUE, product = (PetscBool)!of->tensor;

  for (int c = 0; c < 1 << dim && (constant || product); c++) {
    for (int d = 0; d < dim; d++) {
      const int side = c & 1 << d, low = c & ((1 << d) - 1); /* the cells that have only bit d of c, and only the bits below d */

      constant = (PetscBool)(constant && a[c][d] == a[0][d] && beyond[c][d] == a[0][d]);
      product = (PetscBool)(product && AreClose(beyond[c][d] * a[side][d], beyond[side][d] * a[c][d]) &&
                            AreClose(a[low | side][0] * a[0][0], a[low][0] * a[side][0]));
    }
  }
  return constant ? VP_PATTERN_CONSTANT : product ? VP_PATTERN_PRODUCT : VP_PATTERN_ANY;
}
