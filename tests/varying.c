/* Iterations where the coefficient varies, by FGMRES and by refinement. References of V cycles in 2D are a computation by another program
   with other right-hand sides and partly other grids, all others are earlier figures: so bounds.
   ranks: 1 2 3 */
#include "support/nu.h"

/* exp(sin .. sin), exp(3 sin .. sin) and 1000 to the power of a random number at a cell's centre; 1000 in a ball, in
   its outside, in the part x < 11/32; in every second coarsest cell; in a middle box along the last direction, or along
   any; in every second box along y; in every second layer of
   cells along the last direction; random in every box. Tensors: the jump along x in one box, or in a column; along x in boxes of every
   second column or row, along y in the others; random along every direction of every box; waves along x, their inverse along
   all others */
typedef enum {
  WAVES,
  STEEP_WAVES,
  NOISE,
  BALL,
  HOLE,
  PLANE,
  CHECKERBOARD,
  BLOCKS,
  LAYER,
  SOFT_LAYER,
  CROSS,
  STRIPES,
  FINE_LAYERS,
  BOXES,
  STRONG_BOX,
  STRONG_COLUMN,
  TURNING,
  STRONG_BOXES,
  CROSSED_WAVES
} Shape;
static const char *const shapes[] = {"waves",      "steep waves", "noise",         "ball",    "hole",         "plane",       "checkerboard",
                                     "blocks",     "layer",       "soft layer",    "cross",   "stripes",      "fine layers", "boxes",
                                     "strong box", "column",      "turning boxes", "tensors", "crossed waves"};

typedef struct {
  Shape       shape;
  PetscReal   jump;
  int         dim, degree, refine;
  const char *width[3], *options;
  PetscReal   nu[2]; /* FGMRES, refinement; 0: not looked at */
} Case;

#define V   "-pc_vpatchdg_cycle_type v -pc_vpatchdg_cell_sweeps 0 -pc_vpatchdg_handover_ratio 1e99"
#define F   "-pc_vpatchdg_cycle_type f -pc_vpatchdg_cell_sweeps 0 -pc_vpatchdg_handover_ratio 1e99"
#define FC  "-pc_vpatchdg_cycle_type f -pc_vpatchdg_cell_sweeps 1 -pc_vpatchdg_handover_ratio 1e99"
#define NOW "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 3" /* by default on the host */
#define DG  "-pc_vpatchdg_levels 0 -pc_vpatchdg_handover_ratio 1e99"

/* clang-format off */
static const Case cases[] = {
  {WAVES,           1, 2, 3, 5, {"1", "1"},                                V,   {5.4, 6.7}},
  {WAVES,           1, 2, 3, 5, {"1", "1"},                                FC,  {4.5, 4.6}},
  {STEEP_WAVES,     1, 2, 3, 4, {"1", "1"},                                FC,  {7.5, 13.7}},
  {STEEP_WAVES,     1, 2, 3, 5, {"1", "1"},                                V,   {9.2, 18.6}},
  {STEEP_WAVES,     1, 2, 3, 5, {"1", "1"},                                F,   {6.8, 9.6}},
  {STEEP_WAVES,     1, 2, 3, 5, {"1", "1"},                                FC,  {6.6, 9.5}},
  {STEEP_WAVES,     1, 2, 3, 6, {"1", "1"},                                FC,  {5.2, 6.6}},
  {WAVES,           1, 2, 3, 5, {"16", "1"},                               V,   {5.3, 6.5}},
  {WAVES,           1, 2, 3, 5, {"16", "1"},                               FC,  {4.8, 5.0}},
  {STEEP_WAVES,     1, 2, 3, 5, {"16", "1"},                               V,   {9.9, 21.7}},
  {STEEP_WAVES,     1, 2, 3, 5, {"16", "1"},                               FC,  {8.0, 13.0}},
  {WAVES,           1, 2, 3, 2, {"16*16", "16*1"},                         V,   {5.3, 6.8}},
  {WAVES,           1, 2, 3, 2, {"16*16", "16*1"},                         FC,  {4.2, 4.2}},
  {STEEP_WAVES,     1, 2, 3, 2, {"16*16", "16*1"},                         V,   {7.3, 11.0}},
  {STEEP_WAVES,     1, 2, 3, 2, {"16*16", "16*1"},                         FC,  {6.0, 7.3}},
  {WAVES,           1, 2, 3, 3, {"16,16", "1,2,4,8,16,16,8,4,2,1"},        V,   {4.4, 5.2}},
  {WAVES,           1, 2, 3, 3, {"16,16", "1,2,4,8,16,16,8,4,2,1"},        FC,  {3.8, 3.9}},
  {STEEP_WAVES,     1, 2, 3, 3, {"16,16", "1,2,4,8,16,16,8,4,2,1"},        V,   {6.9, 13.9}},
  {STEEP_WAVES,     1, 2, 3, 3, {"16,16", "1,2,4,8,16,16,8,4,2,1"},        FC,  {5.6, 7.4}},
  {WAVES,           1, 2, 3, 2, {"4*64", "24^1.3"},                        V,   {4.7, 5.4}},
  {WAVES,           1, 2, 3, 2, {"4*64", "24^1.3"},                        FC,  {4.2, 4.2}},
  {STEEP_WAVES,     1, 2, 3, 2, {"4*64", "24^1.3"},                        V,   {7.2, 13.8}},
  {STEEP_WAVES,     1, 2, 3, 2, {"4*64", "24^1.3"},                        FC,  {5.7, 6.6}},
  {STEEP_WAVES,     1, 2, 2, 5, {"1", "1"},                                F,   {6.7, 8.7}},
  {STEEP_WAVES,     1, 2, 4, 5, {"1", "1"},                                F,   {7.0, 9.7}},
  {WAVES,           1, 2, 2, 5, {"1", "1"},                                NOW, {5.5, 6.4}},
  {WAVES,           1, 2, 4, 5, {"1", "1"},                                NOW, {5.7, 6.9}},
  {NOISE,        1000, 2, 3, 5, {"1", "1"},                                FC,  {33, 0}},
  {BALL,         1000, 2, 3, 5, {"1", "1"},                                V,   {16.5, 0}},
  {BALL,         1000, 2, 3, 5, {"1", "1"},                                FC,  {13.2, 0}},
  {HOLE,         1000, 2, 3, 5, {"1", "1"},                                V,   {12.8, 37}},
  {HOLE,         1000, 2, 3, 5, {"1", "1"},                                FC,  {11.1, 28}},
  {PLANE,        1000, 2, 3, 5, {"1", "1"},                                V,   {11.1, 28.5}},
  {PLANE,        1000, 2, 3, 5, {"1", "1"},                                FC,  {10.9, 26}},
  {CHECKERBOARD, 1000, 2, 3, 5, {"1", "1"},                                V,   {4.0, 4.1}},
  {CHECKERBOARD, 1000, 2, 3, 5, {"1", "1"},                                FC,  {3.9, 4.1}},
  {BLOCKS,       1000, 2, 3, 5, {"1", "1"},                                V,   {5.0, 6.7}},
  {BLOCKS,       1000, 2, 3, 5, {"1", "1"},                                FC,  {3.8, 3.8}},
  {LAYER,        1000, 2, 3, 4, {"1", "1,.0625,1"},                        V,   {4.0, 4.7}},
  {SOFT_LAYER,   1000, 2, 3, 4, {"1", "1,.0625,1"},                        V,   {3.5, 4.0}},
  {LAYER,        1000, 2, 3, 4, {"1", "1,.00390625,1"},                    V,   {6.7, 9.6}},
  {LAYER,        1000, 2, 3, 4, {"1", "1,.00390625,1"},                    FC,  {5.0, 5.4}},
  {LAYER,       10000, 2, 3, 4, {"1", "1,.00390625,1"},                    V,   {4.6, 5.2}},
  {LAYER,       10000, 2, 3, 4, {"1", "1,.00390625,1"},                    FC,  {4.4, 5.2}},
  {CROSS,        1000, 2, 3, 4, {"1,.0625,1", "1,.0625,1"},                V,   {5.2, 6.4}},
  {CROSS,        1000, 2, 3, 4, {"1,.0625,1", "1,.0625,1"},                FC,  {4.8, 5.2}},
  {BOXES,        1000, 2, 3, 2, {"8*16", "8*1"},                           V,   {4.2, 4.4}},
  {BOXES,        1000, 2, 3, 2, {"8*16", "8*1"},                           FC,  {4.8, 6.3}},
  {BOXES,        1000, 2, 3, 2, {"8*1", "8*1"},                            V,   {5.5, 6.0}},
  {BOXES,        1000, 2, 3, 2, {"8*1", "8*1"},                            FC,  {5.3, 6.5}},
  {STRIPES,         4, 2, 3, 4, {"64", "16*1"},                            V,   {7.7, 13.5}},
  {STRIPES,         4, 2, 3, 4, {"64", "16*1"},                            FC,  {4.0, 4.3}},
  {STRIPES,        10, 2, 3, 4, {"64", "16*1"},                            V,   {4.1, 4.3}},
  {STRIPES,        10, 2, 3, 4, {"64", "16*1"},                            FC,  {3.7, 4.3}},
  {STRIPES,      1000, 2, 3, 4, {"64", "16*1"},                            V,   {4.2, 4.6}},
  {STRIPES,      1000, 2, 3, 4, {"64", "16*1"},                            FC,  {3.9, 4.6}},
  {STRIPES,      4.01, 2, 3, 4, {"64", "16*1"},                            V,   {4.0, 4.2}},
  {STRIPES,      4.01, 2, 3, 4, {"64", "16*1"},                            FC,  {3.6, 4.2}},
  {STRONG_BOX,    256, 2, 3, 3, {"4*1", "4*1"},                            V,   {4.4, 5.4}},
  {STRONG_BOX,    256, 2, 3, 3, {"4*1", "4*1"},                            FC,  {3.8, 3.9}},
  {STRONG_COLUMN, 256, 2, 3, 3, {"4*1", "4*1"},                            V,   {4.0, 4.3}},
  {STRONG_COLUMN, 256, 2, 3, 3, {"4*1", "4*1"},                            FC,  {4.1, 4.4}},
  {TURNING,        16, 2, 3, 3, {"4*1", "1"},                              V,   {3.4, 3.6}},
  {TURNING,        16, 2, 3, 3, {"4*1", "1"},                              FC,  {3.4, 3.9}},
  {TURNING,       256, 2, 3, 3, {"4*1", "1"},                              V,   {5.2, 7.2}},
  {TURNING,       256, 2, 3, 3, {"4*1", "1"},                              FC,  {5.3, 7.7}},
  {STRONG_BOXES,   16, 2, 3, 3, {"4*1", "4*1"},                            V,   {4.5, 4.8}},
  {STRONG_BOXES,   16, 2, 3, 3, {"4*1", "4*1"},                            FC,  {3.6, 3.6}},
  {STRONG_BOXES,  256, 2, 3, 3, {"4*1", "4*1"},                            V,   {5.5, 7.3}},
  {STRONG_BOXES,  256, 2, 3, 3, {"4*1", "4*1"},                            FC,  {3.3, 3.6}},
  {CROSSED_WAVES,   1, 2, 3, 5, {"1", "1"},                                NOW, {6.2, 7.4}},
  {STRONG_BOX,    256, 3, 2, 2, {"4*1", "4*1", "4*1"},                     NOW, {4.7, 5.9}},
  {STRONG_BOXES,   16, 3, 2, 2, {"4*1", "4*1", "4*1"},                     NOW, {6.2, 7.8}},
  {STRONG_BOXES,  256, 3, 2, 2, {"4*1", "4*1", "4*1"},                     NOW, {6.2, 7.8}},
  {CROSSED_WAVES,   1, 3, 2, 3, {"1", "1", "1"},                           NOW, {9.9, 20}},
  {STEEP_WAVES,     1, 3, 2, 3, {"1", "1", "1"},                           FC,  {7.5, 10.5}},
  {STEEP_WAVES,     1, 3, 2, 4, {"1", "1", "1"},                           V,   {8.0, 0}},
  {STEEP_WAVES,     1, 3, 2, 4, {"1", "1", "1"},                           FC,  {6.2, 8.6}},
  {STEEP_WAVES,     1, 3, 2, 3, {"16", "16", "1"},                         FC,  {7.6, 12.6}},
  {STEEP_WAVES,     1, 3, 2, 1, {"4*30", "4*30", "16^1.3"},                V,   {7.4, 10.3}},
  {LAYER,        1000, 3, 2, 3, {"1", "1", "1,.0625,1"},                   V,   {4.6, 5}},
  {STEEP_WAVES,     1, 3, 2, 3, {"1", "1", "1"},                         V,   {13.2, 0}},
  {STEEP_WAVES,     1, 3, 2, 3, {"16", "16", "1"},                       V,   {13.4, 0}},
  {STEEP_WAVES,     1, 3, 2, 1, {"4*30", "4*30", "16^1.3"},              FC,  {4.9, 5.6}},
  {WAVES,           1, 3, 3, 4, {"1", "1", "1"},                           NOW, {4.9, 5.4}},
  {STEEP_WAVES,     1, 2, 2, 5, {"1", "1"},                                NOW, {7, 10}},
  {STEEP_WAVES,     1, 2, 4, 5, {"1", "1"},                                NOW, {7, 10}},
  {CHECKERBOARD, 1000, 3, 3, 3, {"1", "1", "1"},                           NOW, {3.8, 3.9}},
  {NOISE,          10, 3, 3, 3, {"1", "1", "1"},                           DG,  {10.4, 0}},
  {NOISE,          10, 3, 3, 3, {"1", "1", "1"},                           NOW, {8.0, 0}},
  {NOISE,        1000, 2, 3, 5, {"1", "1"},                                NOW, {17.3, 0}},
  {NOISE,         1e6, 2, 2, 5, {"1", "1"},                                NOW, {17.9, 0}},
  {NOISE,        1000, 3, 1, 4, {"1", "1", "1"},                           NOW, {9.5, 0}},
  {NOISE,        1000, 3, 2, 3, {"1", "1", "1"},                           NOW, {12.6, 0}},
  {FINE_LAYERS,  1000, 2, 2, 5, {"1", "1"},                                NOW, {5.9, 8.2}},
  {FINE_LAYERS,  1000, 3, 2, 3, {"1", "1", "1"},                           NOW, {5.1, 6.4}},
  {FINE_LAYERS,  1000, 2, 3, 4, {"1", "8*1"},                              NOW, {5.9, 7.7}},
  {FINE_LAYERS,  1000, 2, 2, 5, {"16", "1"},                               NOW, {13.0, 17.0}},
  {NOISE,          10, 2, 2, 5, {"16", "1"},                               NOW, {9.4, 17.7}},
  {BALL,         1000, 2, 3, 5, {"1", "1"},                                NOW, {9.0, 12.0}},
  {BALL,         1000, 3, 2, 3, {"1", "1", "1"},                           NOW, {6.5, 10.5}},
  {HOLE,         1000, 2, 3, 5, {"1", "1"},                                NOW, {9.2, 13.3}},
  {PLANE,        1000, 2, 3, 5, {"1", "1"},                                NOW, {6.4, 8.3}},
};
/* clang-format on */

/* a number in [0, 1) that the integers decide */
static PetscReal Hash(const int i[3])
{
  PetscReal x = 0;

  for (int d = 0; d < 3; d++) x = PetscSinReal(x + 1000 * i[d] + 1) * 10000;
  return x - PetscFloorReal(x);
}

/* position: in the domain, [0,1]^dim; box: on the grid, which has n boxes */
static PetscReal Coefficient(const Case *c, const PetscReal position[], const int box[3], const int n[3])
{
  PetscReal wave = 1, r2 = 0;
  int       sum = 0, middle = 0, cell[3], block[3];

  for (int d = 0; d < 3; d++) {
    const PetscReal x = d < c->dim ? position[d] : 0;

    if (d < c->dim) {
      wave *= PetscSinReal(2 * PETSC_PI * x);
      r2 += PetscSqr(x - 0.5);
      sum += x > 0.5;
      middle += n[d] > 2 && box[d] == n[d] / 2;
    }
    cell[d] = (int)(x * 1000000);
    block[d] = (int)(4 * x);
  }
  switch (c->shape) {
  case WAVES:
    return PetscExpReal(wave);
  case STEEP_WAVES:
    return PetscExpReal(3 * wave);
  case NOISE:
    return PetscPowReal(c->jump, Hash(cell));
  case BALL:
    return r2 < 0.09 ? c->jump : 1;
  case HOLE:
    return r2 < 0.09 ? 1 : c->jump;
  case PLANE:
    return position[0] < 11. / 32 ? c->jump : 1;
  case CHECKERBOARD:
    return sum % 2 ? c->jump : 1;
  case BLOCKS:
    return PetscPowReal(c->jump, Hash(block));
  case STRIPES:
    return box[1] % 2 ? c->jump : 1;
  case FINE_LAYERS:
    return (int)(position[c->dim - 1] * n[c->dim - 1] * (1 << c->refine)) % 2 ? c->jump : 1;
  case BOXES:
    return PetscPowReal(c->jump, Hash(box));
  case SOFT_LAYER:
    return middle ? 1 : c->jump;
  default:
    return middle ? c->jump : 1;
  }
}

static void Tensor(const Case *c, const PetscReal position[], const int box[3], const int n[3], PetscReal a[])
{
  const Case      waves = {.shape = WAVES, .dim = c->dim};
  const PetscReal wave = Coefficient(&waves, position, box, n);
  PetscBool       middle = PETSC_TRUE;

  for (int d = 0; d < c->dim; d++) middle = (PetscBool)(middle && box[d] == n[d] / 2);
  for (int d = 0; d < c->dim; d++) {
    const int random[3] = {box[0] + 100 * d, box[1], box[2]};

    switch (c->shape) {
    case STRONG_BOX:
      a[d] = middle && !d ? c->jump : 1;
      break;
    case STRONG_COLUMN:
      a[d] = box[0] == n[0] / 2 && !d ? c->jump : 1;
      break;
    case TURNING:
      a[d] = d == box[0] % 2 ? 1 : c->jump;
      break;
    case STRONG_BOXES:
      a[d] = PetscPowReal(c->jump, Hash(random));
      break;
    default:
      a[d] = d ? 1 / wave : wave;
    }
  }
}

static PetscErrorCode SetCoefficient(const Case *c, DM dm)
{
  PetscInt   ncell;
  PetscReal *a, lower[3], upper[3], face[3][GRID_MOST + 1];
  int        n[3] = {1, 1, 1};

  PetscFunctionBeginUser;
  for (int d = 0; d < c->dim; d++) n[d] = GridFaces(c->width[d], face[d]);
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc1(ncell * c->dim + 1, &a));
  for (PetscInt i = 0; i < ncell; i++) {
    PetscReal position[3];
    int       box[3] = {0, 0, 0};

    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    for (int d = 0; d < c->dim; d++) {
      const PetscReal x = (lower[d] + upper[d]) / 2;

      while (x > face[d][box[d] + 1]) box[d]++;
      position[d] = x / face[d][n[d]];
    }
    if (c->shape >= STRONG_BOX) Tensor(c, position, box, n, a + i * c->dim);
    else a[i] = Coefficient(c, position, box, n);
  }
  if (c->shape >= STRONG_BOX) PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  else PetscCall(DMVPatchDGSetCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode Check(const Case *c, PetscReal within)
{
  DM        dm;
  Vec       b;
  PetscReal nu[2];

  PetscFunctionBeginUser;
  PetscCall(NuProblem(c->dim, c->degree, c->refine, 0, PETSC_FALSE, c->width, &dm, &b));
  PetscCall(SetCoefficient(c, dm));
  PetscCall(Nu(dm, b, KSPFGMRES, c->options, &nu[0]));
  nu[1] = 0;
  if (c->nu[1] > 0) PetscCall(Nu(dm, b, KSPRICHARDSON, c->options, &nu[1]));
  TapOk((PetscBool)(nu[0] > 0 && nu[0] <= c->nu[0] + within && nu[1] >= 0 && nu[1] <= c->nu[1] + within + 0.15 * c->nu[1]),
        "iterations_are_few: %s 1:%g, %dD Q%d %s x %s x %s, refined %d times, '%s': nu %.2f / %.2f, reference %.1f / %.1f",
        shapes[c->shape], (double)c->jump, c->dim, c->degree, c->width[0], c->width[1], c->width[2] ? c->width[2] : "-", c->refine,
        c->options, (double)nu[0], (double)nu[1], (double)c->nu[0], (double)c->nu[1]);
  PetscCall(VecDestroy(&b));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* how many more iterations devices may take, where patches fit the coefficient in larger steps: waves on thin cells need most */
static PetscReal OnDevice(const Case *c)
{
  return c->shape == WAVES && !strcmp(c->options, V) ? 1 : 0.3;
}

TAP_MAIN()
{
  const PetscReal within = tap.size == 1 ? 0.3 : 0.5;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    if (tap.size > 1 && i % 3 != (size_t)tap.size % 3) continue; /* several ranks share the cores of a test machine */
    PetscCall(Check(&cases[i], within + (VpIsDevice(TestBackend()) ? OnDevice(&cases[i]) : 0)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
