/* Five-point and seven-point matrices on random DMDAs: points, distances, sides, coefficients, reactions. -seed n -draws n: others, and
   more of them. */
/* ranks: 1 2 3 */
#include "support/random.h"
#include "support/stencil.h"

typedef enum { ONE, WAVES, BLOCKS, NOISE } Varies; /* what a coefficient or a reaction does */
static const char *const names[] = {"constant", "waves", "1:100 by blocks", "noise 1:10"};
static const char *const kinds[] = {"outside", "rows", "natural", "centers", "half", "around"};

static double Waves(const double x[])
{
  return exp(sin(6 * x[0] + 1) * cos(5 * x[1]) * cos(4 * x[2]));
}

static double Blocks(const double x[])
{
  const int block = (int)floor(4 * x[0]) + 5 * (int)floor(4 * x[1]) + 25 * (int)floor(4 * x[2]);

  return pow(100, block * 7919 % 101 / 101.);
}

static double Noise(const double x[])
{
  const int number = (int)(7919 * fabs(sin(1000 * x[0] + 2000 * x[1] + 3000 * x[2]))) % 101;

  return pow(10, number / 101.);
}

typedef enum { MIXED, NODES, CENTERED } Points; /* what points are */
static const char *const points[] = {"", "-pc_vpatchdg_points nodes", "-pc_vpatchdg_points centers"};

typedef struct {
  Stencil s;
  Varies  a, c;
  double  thin; /* the largest ratio of two distances */
  Points  points;
} Draws;

static Kind DrawKind(Points are)
{
  return are == MIXED ? (Kind)Pick(5) : are == NODES ? (Kind)Pick(3) : Pick(2) ? HALF : CENTERS;
}

/* What points are is clear if coefficient and reaction are one number. */
static void Draw(Draws *w)
{
  static double (*const functions[])(const double[]) = {NULL, Waves, Blocks, Noise};
  static const Varies often[] = {ONE, ONE, ONE, WAVES, BLOCKS, NOISE};
  static const double distances[] = {1, 1, 1, .5, .25, .2}, growths[] = {0, 0, 0, 1.02, 1.05};
  double              least = PETSC_MAX_REAL, most = 0;
  Stencil            *s = &w->s;

  *w = (Draws){.s = {.dim = 2 + (int)Pick(2), .scale = pow(10, (double)Pick(13) - 6), .columns = (PetscBool)Pick(2), .differ = PETSC_TRUE}};
  w->a = often[Pick(6)];
  s->a = functions[w->a];
  if (Pick(2)) w->c = often[Pick(6)];
  s->c = functions[w->c];
  w->points = (Points)(w->a || w->c ? 1 + Pick(2) : Pick(3));
  for (int d = 0; d < 3; d++) {
    s->n[d] = d < s->dim ? 4 + Pick(s->dim == 2 ? 60 : 14) : 1;
    s->h[d] = d < s->dim ? distances[Pick(6)] : 1;
    s->kind[d] = Pick(6) ? DrawKind(w->points) : AROUND;
    s->upper[d] = s->kind[d] == AROUND ? AROUND : DrawKind(w->points);
    if (d >= s->dim) continue;
    if (s->kind[d] != AROUND) s->grow[d] = growths[Pick(5)];
    least = PetscMin(least, DistanceAt(s, d, 0));
    most = PetscMax(most, DistanceAt(s, d, s->n[d]));
  }
  w->thin = most / least;
  if (w->c || Pick(2)) s->reaction = pow(10, (double)Pick(9) - 5) / least / least;
}

/* the most iterations for eight digits. Cells know the means of numbers that vary from point to point. */
static double MostIterations(const Draws *w)
{
  static const double coefficient[] = {9, 16, 40, 40}, reaction[] = {0, 4, 20, 20};
  PetscBool           centers = PETSC_FALSE;

  for (int side = 0; side < 2 * w->s.dim; side++) {
    const Kind kind = KindOf(&w->s, side / 2, (PetscBool)(side % 2));

    centers = (PetscBool)(centers || kind == CENTERS || kind == HALF);
  }
  return coefficient[w->a] + reaction[w->c] + (centers ? 7 : 0);
}

static PetscErrorCode DescribeSides(const Stencil *s, char sides[], size_t size)
{
  PetscFunctionBeginUser;
  sides[0] = 0;
  for (int side = 0; side < 2 * s->dim; side++) {
    if (side) PetscCall(PetscStrlcat(sides, side % 2 ? "-" : ", ", size));
    PetscCall(PetscStrlcat(sides, kinds[KindOf(s, side / 2, (PetscBool)(side % 2))], size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MakeProblem(const Stencil *s, Problem *p)
{
  KSP first;
  PC  pc;

  PetscFunctionBeginUser;
  *p = (Problem){.dm = NULL};
  PetscCall(CreateKSP(s, &first));
  PetscCall(KSPGetPC(first, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetUp(first));
  PetscCall(KSPGetOperators(first, &p->A, NULL));
  PetscCall(PetscObjectReference((PetscObject)p->A));
  PetscCall(KSPDestroy(&first));
  PetscCall(CompleteProblem(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode random_stencils_are_solved(PetscInt draws)
{
  PetscFunctionBeginUser;
  PetscCall(VPatchDGInitializePackage());
  for (PetscInt i = 0; i < draws; i++) {
    PetscReal error, residual;
    PetscInt  its;
    double    nu;
    Problem   p;
    Draws     w;
    Vec       known;
    char      sides[128], options[256];

    Draw(&w);
    PetscCall(DescribeSides(&w.s, sides, sizeof(sides)));
    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-pc_type vpatchdg -ksp_type fgmres -ksp_gmres_restart 100 -ksp_rtol 1e-10 -ksp_max_it 100 %s",
                            points[w.points]));
    PetscCall(MakeProblem(&w.s, &p));
    PetscCall(VecDuplicate(p.b, &known));
    PetscCall(SolveDirectly(&p, IsSingular(&w.s), known));
    PetscCall(SolveWith(&p, options, &residual, &its, NULL));
    PetscCall(FindError(&p, IsSingular(&w.s), known, &error));
    nu = 8 * its / -log10((double)residual);
    TapOk(
      (PetscBool)(error < 1e-5 && nu < MostIterations(&w)),
      "random_stencils_are_solved, %d: %d x %d x %d points, %s, distances up to 1:%.3g, coefficient %s, %s%s: %.1f iterations, error %.1e",
      (int)i, (int)w.s.n[0], (int)w.s.n[1], (int)w.s.n[2], sides, w.thin, names[w.a], w.s.reaction > 0 ? "reaction " : "no reaction",
      w.s.reaction > 0 ? names[w.c] : "", nu, (double)error);
    PetscCall(VecDestroy(&known));
    PetscCall(ProblemDestroy(&p));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  return RunDraws(24, random_stencils_are_solved);
}
