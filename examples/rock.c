static char help[] =
  "Pressure in a reservoir of rock: layers in its upper half, shale with sinuous channels of sand in the lower one. Permeabilities differ\n\
by a factor of 1e7. Water enters by one well, half of it leaves by another one, and half through the northern side, whose pressure is\n\
given.\n\n\
  -cells nx,ny,nz : cells of 20 x 10 x 2 ft (12,22,10); the large model has 60,220,85\n\
  -contrast c     : the largest permeability is c times the smallest one (1e7)\n\
  -vertical r     : the vertical permeability is r times the horizontal one (0.03)\n\
  -seed n         : another n, another rock (1)\n\
  -solves n       : the first solve includes the set-up, the last one does not (1)\n\
  -save rock.bin  : what rock.py draws, permeability and pressure\n\
  -solution_view vtk:rock.vtu : the same for ParaView\n\n";

#include <vpatchdg.h>

enum { NMODE = 60 };

static const PetscReal cell[] = {20, 10, 2};                     /* feet */
static const PetscReal length[] = {300, 300, 12};                /* of correlation, feet */
static const PetscReal layer_height = 10, channel_spacing = 200; /* feet */
static const PetscReal largest = 2e4;                            /* permeability, millidarcy */

/* a wave cos(wave . x + phase) */
typedef struct {
  PetscReal wave[3], phase;
} Mode;

typedef struct {
  PetscInt  n[3]; /* cells */
  PetscReal size[3], contrast, vertical;
  PetscInt  seed;
  Mode      mode[NMODE];
} Rock;

/* where a vertical well is, as fractions of the sizes, and what it gives; negative: takes */
typedef struct {
  PetscReal x, y, rate;
} Well;

static const Well wells[] = {{0.5, 0.2, 1}, {0.5, 0.6, -0.5}};

/* Numbers between `low` and `high` that depend on the state only (splitmix64), so they are the same on all ranks and machines. */
static PetscReal Random(uint64_t *state, PetscReal low, PetscReal high)
{
  uint64_t z = *state += 0x9E3779B97F4A7C15u;

  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return low + (high - low) * (PetscReal)((z ^ z >> 31) >> 11) / 9007199254740992.; /* 2^53 */
}

static PetscReal RandomNormal(uint64_t *state)
{
  const PetscReal radius = PetscSqrtReal(-2 * PetscLogReal(Random(state, 1e-12, 1)));

  return radius * PetscCosReal(Random(state, 0, 2 * PETSC_PI));
}

/* the state from which the numbers of a layer, or of one of its channels, are drawn */
static uint64_t StateOf(const Rock *rock, PetscInt layer, PetscInt channel)
{
  uint64_t state = (uint64_t)rock->seed << 40 ^ (uint64_t)layer << 20 ^ (uint64_t)(channel + 1);

  Random(&state, 0, 1);
  return state;
}

/* Draws the waves: one third each for the correlation lengths, for half of them, and for a quarter of them. */
static void MakeModes(Rock *rock)
{
  uint64_t state = (uint64_t)rock->seed;

  for (int m = 0; m < NMODE; m++) {
    for (int d = 0; d < 3; d++) rock->mode[m].wave[d] = RandomNormal(&state) * (PetscReal)(1 << m % 3) / length[d];
    rock->mode[m].phase = Random(&state, 0, 2 * PETSC_PI);
  }
}

/* a random function: a sum of waves, approximately normal, with the variance 1 */
static PetscReal Noise(const Rock *rock, const PetscReal x[])
{
  PetscReal sum = 0;

  for (int m = 0; m < NMODE; m++) {
    const Mode *mode = &rock->mode[m];

    sum += PetscCosReal(mode->wave[0] * x[0] + mode->wave[1] * x[1] + mode->wave[2] * x[2] + mode->phase);
  }
  return sum * PetscSqrtReal(2. / NMODE);
}

/* Tests whether x is in a channel of its layer: x = middle + sway sin(wave y + phase), of some width. */
static PetscBool IsInChannel(const Rock *rock, PetscInt layer, const PetscReal x[])
{
  const PetscInt nearest = (PetscInt)(x[0] / channel_spacing) + 1;

  for (PetscInt i = nearest - 1; i <= nearest + 1; i++) {
    uint64_t        state = StateOf(rock, layer, i);
    const PetscReal middle = channel_spacing * ((PetscReal)i - Random(&state, 0, 1)), sway = Random(&state, 20, 80);
    const PetscReal wave = 2 * PETSC_PI / Random(&state, 300, 1200), phase = Random(&state, 0, 2 * PETSC_PI);
    const PetscReal width = Random(&state, 40, 120);

    if (PetscAbsReal(x[0] - middle - sway * PetscSinReal(wave * x[1] + phase)) < width / 2) return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* horizontal, in millidarcy */
static PetscReal Permeability(const Rock *rock, const PetscReal x[])
{
  const PetscInt  layer = (PetscInt)(x[2] / layer_height);
  const PetscReal noise = Noise(rock, x);
  uint64_t        state = StateOf(rock, layer, -1);
  PetscReal       exponent; /* 0: the smallest permeability, 1: the largest one */

  if (x[2] > rock->size[2] / 2) exponent = Random(&state, 0.3, 0.8) + 0.15 * noise;
  else if (IsInChannel(rock, layer, x)) exponent = 0.85 + 0.08 * noise;
  else exponent = 0.2 + 0.12 * noise;
  return largest * PetscPowReal(rock->contrast, PetscClipInterval(exponent, 0, 1) - 1);
}

/* Sets the permeability of each cell from its centre. Gets the range of the horizontal one. */
static PetscErrorCode SetRock(DM dm, const Rock *rock, PetscReal range[2])
{
  PetscInt   ncell;
  PetscReal *a, lower[3], upper[3];

  PetscFunctionBeginUser;
  range[0] = -rock->contrast * largest;
  range[1] = 0;
  PetscCall(DMVPatchDGGetCells(dm, &ncell));
  PetscCall(PetscMalloc1(3 * ncell, &a));
  for (PetscInt c = 0; c < ncell; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, lower, upper));
    for (int d = 0; d < 3; d++) lower[d] = (lower[d] + upper[d]) / 2;
    a[3 * c] = a[3 * c + 1] = Permeability(rock, lower);
    a[3 * c + 2] = rock->vertical * a[3 * c];
    range[0] = PetscMax(range[0], -a[3 * c]);
    range[1] = PetscMax(range[1], a[3 * c]);
  }
  PetscCall(DMVPatchDGSetTensorCoefficient(dm, a));
  PetscCall(PetscFree(a));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, range, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  range[0] = -range[0];
  PetscFunctionReturn(0);
}

/* Adds a well: a point source in every cell of a column, proportional to the permeability there. */
static PetscErrorCode AddWell(DM dm, const Rock *rock, const Well *well, Vec b)
{
  const PetscInt n = rock->n[2];
  PetscReal     *points, sum = 0;
  PetscScalar   *q;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCall(PetscMalloc2(3 * n, &points, n, &q));
  for (PetscInt i = 0; i < n; i++) {
    points[3 * i] = (PetscFloorReal(well->x * (PetscReal)rock->n[0]) + 0.5) * cell[0];
    points[3 * i + 1] = (PetscFloorReal(well->y * (PetscReal)rock->n[1]) + 0.5) * cell[1];
    points[3 * i + 2] = ((PetscReal)i + 0.5) * cell[2];
    q[i] = Permeability(rock, points + 3 * i);
    sum += PetscRealPart(q[i]);
  }
  for (PetscInt i = 0; i < n; i++) q[i] *= well->rate / sum;
  PetscCall(DMVPatchDGAddPointSources(dm, rank ? 0 : n, points, q, b)); /* One rank gives the sources of all. */
  PetscCall(PetscFree2(points, q));
  PetscFunctionReturn(0);
}

/* Creates the mesh. Boxes are halved as often as the numbers of cells allow; 60 x 220 x 85 cells are as many boxes. */
static PetscErrorCode CreateReservoir(const Rock *rock, DM *dm)
{
  VPatchDGBoundary boundary[6];
  PetscInt         boxes[] = {rock->n[0], rock->n[1], rock->n[2]}, level = 0, dim;

  PetscFunctionBeginUser;
  for (; !(boxes[0] % 2 || boxes[1] % 2 || boxes[2] % 2); level++)
    for (int d = 0; d < 3; d++) boxes[d] /= 2;
  for (int side = 0; side < 6; side++) boundary[side] = VPATCHDG_BOUNDARY_NEUMANN;
  boundary[3] = VPATCHDG_BOUNDARY_DIRICHLET;                      /* y+, the north */
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 2, level, dm)); /* dimension 3, degree 2 */
  PetscCall(DMVPatchDGSetBoxGrid(*dm, boxes, (PetscReal[]){0, 0, 0}, rock->size));
  PetscCall(DMVPatchDGSetBoundary(*dm, boundary));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMGetDimension(*dm, &dim));
  PetscCheck(dim == 3, PETSC_COMM_WORLD, PETSC_ERR_SUP, "-dm_vpatchdg_dim %" PetscInt_FMT ": the rock has three dimensions", dim);
  PetscFunctionReturn(0);
}

static PetscErrorCode CreateSolver(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPFGMRES));   /* It takes the fewest iterations if the coefficient is rough, */
  PetscCall(KSPGMRESSetRestart(*ksp, 100)); /* unless it restarts early. */
  PetscCall(KSPSetTolerances(*ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetConvergenceTest(*ksp, VPatchDGConvergedEnergy, NULL, NULL)); /* A small residual may hide a large error in the shale. */
  PetscCall(KSPSetErrorIfNotConverged(*ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCVPATCHDG));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

/* Solves several times from 0. Prints the times of the first solve, which includes the set-up, and of the last one. */
static PetscErrorCode Solve(Mat A, Vec b, Vec p)
{
  PetscLogDouble start, seconds[2] = {0, 0};
  PetscInt       its, solves = 1;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-solves", &solves, NULL));
  PetscCheck(solves > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-solves %" PetscInt_FMT ": 1 or more", solves);
  PetscCall(CreateSolver(A, &ksp));
  for (PetscInt i = 0; i < solves; i++) {
    PetscCall(PetscTime(&start));
    PetscCall(KSPSolve(ksp, b, p));
    PetscCall(PetscTime(&seconds[i > 0]));
    seconds[i > 0] -= start;
  }
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " iterations, %.2f s with set-up", its, seconds[0]));
  if (solves > 1) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", %.2f s without", seconds[1]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

/* Prints what the wells give, what leaves through the north, and the rates of the wells times the pressures there. */
static PetscErrorCode PrintFlow(DM dm, Mat A, Vec b, Vec p)
{
  PetscReal   given = 0;
  PetscScalar leaving, power;
  Vec         one, flow;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < sizeof(wells) / sizeof(wells[0]); i++) given += wells[i].rate;
  PetscCall(DMCreateGlobalVector(dm, &one));
  PetscCall(VecDuplicate(one, &flow));
  PetscCall(VecSet(flow, 1));
  PetscCall(DMVPatchDGSetPointValues(dm, flow, one));
  PetscCall(MatMult(A, p, flow));
  PetscCall(VecDot(flow, one, &leaving)); /* A p, tested by the function 1: the discrete flow through the side with given pressure */
  PetscCall(VecDot(b, p, &power));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the wells give %.6f, %.6f leave through the north, power %.5e\n", (double)given,
                        (double)PetscRealPart(leaving), (double)PetscRealPart(power)));
  PetscCall(VecDestroy(&flow));
  PetscCall(VecDestroy(&one));
  PetscFunctionReturn(0);
}

static PetscErrorCode Save(DM dm, Vec p)
{
  char        file[PETSC_MAX_PATH_LEN];
  PetscBool   wanted;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(VecViewFromOptions(p, NULL, "-solution_view"));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-save", file, sizeof(file), &wanted));
  if (!wanted) PetscFunctionReturn(0);
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  PetscCall(DMView(dm, viewer));
  PetscCall(VecView(p, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

/* Reads the options and draws the rock. */
static PetscErrorCode GetRock(Rock *rock)
{
  PetscInt  three = 3;
  PetscBool given;

  PetscFunctionBeginUser;
  *rock = (Rock){.n = {12, 22, 10}, .contrast = 1e7, .vertical = 0.03, .seed = 1};
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-cells", rock->n, &three, &given));
  PetscCheck(!given || (three == 3 && rock->n[0] > 0 && rock->n[1] > 0 && rock->n[2] > 0), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-cells: three numbers, for instance 60,220,85");
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-contrast", &rock->contrast, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-vertical", &rock->vertical, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &rock->seed, NULL));
  for (int d = 0; d < 3; d++) rock->size[d] = (PetscReal)rock->n[d] * cell[d];
  MakeModes(rock);
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Rock      rock;
  PetscInt  rows;
  PetscReal range[2];
  DM        dm;
  Mat       A;
  Vec       b, p;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(GetRock(&rock));
  PetscCall(CreateReservoir(&rock, &dm));
  PetscCall(SetRock(dm, &rock, range));
  PetscCall(DMCreateMatrix(dm, &A));
  PetscCall(MatCreateVecs(A, &p, &b));
  PetscCall(PetscObjectSetName((PetscObject)p, "pressure"));
  for (size_t i = 0; i < sizeof(wells) / sizeof(wells[0]); i++) PetscCall(AddWell(dm, &rock, &wells[i], b));
  PetscCall(MatGetSize(A, &rows, NULL));
  PetscCall(
    PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " unknowns, permeability %.1e to %.1e\n", rows, (double)range[0], (double)range[1]));
  PetscCall(Solve(A, b, p));
  PetscCall(PrintFlow(dm, A, b, p));
  PetscCall(Save(dm, p));

  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return 0;
}
