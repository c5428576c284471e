/* Meshes of cells of different levels in PETSc's hands: DMAdaptLabel(), DMRefine(), DMCoarsen(), PCMG, KSPGuess; what is
   refused, what is too large, and ranks without cells. */
/* ranks: 1 3 */
#include "support/leaves.h"
#include "support/refused.h"

static PetscErrorCode CountCells(DM dm, PetscInt *all)
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCallMPI(MPI_Allreduce(&n, all, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a square of 16 cells whose one in a corner is refined twice: 22 */
static PetscErrorCode CornerDM(PetscInt degree, DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, degree, 2, dm));
  PetscCall(DMVPatchDGSetLocalRefinement(*dm, 2, (PetscReal[]){0, 0}, NULL));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what DMVPatchDGRefineCells() makes of the same marks */
static PetscErrorCode labels_adapt_as_marks_do(void)
{
  PetscInt     n, cells[2];
  PetscReal    bound[2][3], worst = 0;
  DMAdaptFlag *mark;
  DMLabel      label;
  DM           dm, adapted[2];

  PetscFunctionBeginUser;
  PetscCall(CornerDM(1, &dm));
  PetscCall(DMLabelCreate(PETSC_COMM_SELF, "adapt", &label));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &mark));
  for (PetscInt c = 0; c < n; c++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, c, bound[0], bound[1]));
    mark[c] = bound[0][0] > 0.7 ? DM_ADAPT_REFINE : (bound[1][0] < 0.26 ? DM_ADAPT_COARSEN : DM_ADAPT_KEEP);
    if (mark[c] != DM_ADAPT_KEEP) PetscCall(DMLabelSetValue(label, c, mark[c]));
  }
  PetscCall(DMVPatchDGRefineCells(dm, mark, &adapted[0]));
  PetscCall(PetscOptionsSetValue(NULL, "-dm_adaptor", "vpatchdg"));
  PetscCall(DMAdaptLabel(dm, label, &adapted[1]));
  for (int i = 0; i < 2; i++) PetscCall(DMVPatchDGGetCells(adapted[i], &cells[i]));
  for (PetscInt c = 0; c < PetscMin(cells[0], cells[1]); c++) {
    for (int i = 0; i < 2; i++) {
      PetscReal upper[3];

      PetscCall(DMVPatchDGGetCellBounds(adapted[i], c, bound[i], upper));
    }
    worst = PetscMax(worst, PetscMax(PetscAbsReal(bound[0][0] - bound[1][0]), PetscAbsReal(bound[0][1] - bound[1][1])));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  TapOk((PetscBool)(cells[0] == cells[1] && worst == 0), "labels_adapt_as_marks_do: %d cells on rank 0", (int)cells[0]);
  PetscCall(DMDestroy(&adapted[0]));
  PetscCall(DMDestroy(&adapted[1]));
  PetscCall(DMLabelSetValue(label, n, DM_ADAPT_REFINE));
  Refused(DMAdaptLabel(dm, label, &adapted[1]), "points that are no cells of this rank", "a label that is too long");
  PetscCall(PetscOptionsClearValue(NULL, "-dm_adaptor"));
  PetscCall(PetscFree(mark));
  PetscCall(DMLabelDestroy(&label));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode all_cells_are_refined_and_coarsened(void)
{
  PetscInt before, finer, coarser;
  DM       dm, fine, coarse;

  PetscFunctionBeginUser;
  PetscCall(CornerDM(1, &dm));
  PetscCall(CountCells(dm, &before));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(CountCells(fine, &finer));
  PetscCall(DMCoarsen(fine, PETSC_COMM_WORLD, &coarse));
  PetscCall(CountCells(coarse, &coarser));
  TapOk((PetscBool)(finer == 4 * before && coarser == before), "all_cells_are_refined_and_coarsened: %d, %d, %d", (int)before, (int)finer,
        (int)coarser);
  PetscCall(DMDestroy(&coarse));
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode pcmg_is_refused(void)
{
  Problem p;
  DM      dm;

  PetscFunctionBeginUser;
  PetscCall(CornerDM(2, &dm));
  PetscCall(ProblemOf(dm, "mg_", &p));
  PetscCall(GiveLevels(&p));
  PetscCall(ReadOptions(&p, "-mg_pc_type mg -mg_pc_mg_levels 3", PETSC_FALSE));
  Refused(KSPSetUp(p.ksp), "On such a mesh there are -pc_type vpatchdg", "PCMG");
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* all cells of so many that their children are more than PetscInt counts */
static PetscErrorCode meshes_that_are_too_large_are_refused(void)
{
  const PetscReal inside[3] = {0.3, 0.3, 0.3};
  PetscInt        boxes[3] = {2, 1, 1}, n;
  DMAdaptFlag    *mark;
  DM              dm, next = NULL;

  PetscFunctionBeginUser;
  for (PetscInt dim = 2; dim <= 3; dim++) {
    PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, 1, 1, &dm));
    PetscCall(DMVPatchDGSetLocalRefinement(dm, 40, inside, NULL));
    Refused(DMSetUp(dm), "p4est has no smaller ones", dim == 2 ? "more levels than p4est has, 2D" : "more levels than p4est has, 3D");
    PetscCall(DMDestroy(&dm));
  }
  if (sizeof(PetscInt) > 4) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 3, 8, 6, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, boxes, NULL, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &mark));
  for (PetscInt c = 0; c < n; c++) mark[c] = DM_ADAPT_REFINE;
  Refused(DMVPatchDGRefineCells(dm, mark, &next), "--with-64-bit-indices", "more unknowns than PetscInt counts");
  PetscCall(PetscFree(mark));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode One(PetscInt dim, const PetscReal x[], PetscScalar value[], void *ctx)
{
  value[0] = 1;
  return PETSC_SUCCESS;
}

static PetscReal Waves(const PetscReal lower[], const PetscReal upper[], PetscReal unused)
{
  return PetscExpReal(PetscSinReal(1.5 * (lower[0] + upper[0])) * PetscSinReal(1.5 * (lower[1] + upper[1])));
}

/* one cell at first, so that all but one rank have none, then some more: estimates, marks, transfers and solves are those of one rank */
static PetscErrorCode ranks_without_cells(MPI_Comm comm, PetscReal *norm)
{
  DM  dm, next;
  Vec y;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(comm, 2, 2, 0, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(DMCreateGlobalVector(dm, &y));
  PetscCall(VecSet(y, 1));
  for (int step = 0; step < 4; step++) {
    Problem      p;
    PetscInt     n;
    PetscReal   *eta;
    DMAdaptFlag *mark;

    PetscCall(DMVPatchDGGetCells(dm, &n));
    PetscCall(PetscMalloc2(n, &eta, n, &mark));
    PetscCall(DMVPatchDGEstimate(dm, y, One, NULL, NULL, NULL, n ? eta : NULL));
    PetscCall(DMVPatchDGMark(dm, VPATCHDG_MARK_DOERFLER, 0.3, 0, n ? eta : NULL, n ? mark : NULL));
    PetscCall(DMVPatchDGRefineCells(dm, n ? mark : NULL, &next));
    PetscCall(PetscFree2(eta, mark));
    PetscCall(ProblemOf(next, "few_", &p));
    PetscCall(DMVPatchDGTransfer(dm, next, y, p.x));
    PetscCall(DMVPatchDGComputeRHS(next, One, NULL, NULL, NULL, p.b));
    PetscCall(KSPSetInitialGuessNonzero(p.ksp, PETSC_TRUE));
    PetscCall(ReadOptions(&p, "-few_ksp_type fgmres -few_pc_type vpatchdg -few_ksp_rtol 1e-12", PETSC_TRUE));
    PetscCall(VecDestroy(&y));
    PetscCall(PetscObjectReference((PetscObject)(y = p.x)));
    PetscCall(DMDestroy(&dm));
    PetscCall(PetscObjectReference((PetscObject)(dm = next)));
    PetscCall(ProblemDestroy(&p));
  }
  PetscCall(VecNorm(y, NORM_2, norm));
  PetscCall(VecDestroy(&y));
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what does not exist on cells of different levels */
static PetscErrorCode multigrid_refuses(PC pc)
{
  PetscFunctionBeginUser;
  for (VPatchDGSpace space = VPATCHDG_SPACE_DIRICHLET; space <= VPATCHDG_SPACE_CLAMPED; space++) {
    PetscCall(PCVPatchDGSetSpace(pc, space));
    Refused(PCSetUp(pc), "there are -pc_vpatchdg_space full and -pc_vpatchdg_residual exact", VPatchDGSpaces[space]);
  }
  PetscCall(SetByOption(pc, "-pc_vpatchdg_residual", "local"));
  Refused(PCSetUp(pc), "there are -pc_vpatchdg_space full and -pc_vpatchdg_residual exact", "residual local");
  PetscCall(PCVPatchDGSetSpace(pc, VPATCHDG_SPACE_FULL));
  PetscCall(SetByOption(pc, "-pc_vpatchdg_residual", "global"));
  Refused(PCSetUp(pc), "there are -pc_vpatchdg_space full and -pc_vpatchdg_residual exact", "residual global");
  PetscCall(SetByOption(pc, "-pc_vpatchdg_residual", "exact"));
  PetscCall(PCVPatchDGSetSmooth(pc, 1, 1));
  Refused(PCSetUp(pc), "symmetric ones", "pre-smoothing that is not the adjoint");
  PetscCall(PCVPatchDGSetSmooth(pc, 0, 1));
  PetscCall(PCVPatchDGSetLevels(pc, 2));
  Refused(PCSetUp(pc), "need 3 or more", "too few levels");
  PetscCall(PCVPatchDGSetLevels(pc, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nested iteration leaves a tenth of the residual at most; where cells crowd at a point it sweeps the finest level, too. */
static PetscErrorCode guesses_come_from_all_levels(const char name[], VPatchDGDomain domain, PetscInt dim, PetscReal radius,
                                                   PetscInt levels, PetscBool varies, const char options[])
{
  const PetscReal origin[3] = {0, 0, 0}, sphere[4] = {0, 0, dim == 2 ? radius : 0, radius};
  PetscReal       residual;
  PetscInt        its;
  char            all[256];
  Problem         p;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, dim, 3, 2, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, domain));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, levels, radius > 0 ? NULL : origin, radius > 0 ? sphere : NULL));
  PetscCall(DMSetUp(dm));
  if (varies) PetscCall(SetCoefficient(dm, Waves, 0));
  PetscCall(ProblemOf(dm, "guess_", &p));
  PetscCall(DMVPatchDGComputeRHS(dm, One, NULL, NULL, NULL, p.b));
  PetscCall(PetscSNPrintf(all, sizeof(all),
                          "-guess_ksp_type fgmres -guess_pc_type vpatchdg -guess_ksp_guess_type vpatchdg -guess_ksp_max_it 0 %s", options));
  PetscCall(SolveWith(&p, all, &residual, &its, NULL));
  TapOk((PetscBool)(its == 0 && residual < 0.15), "guesses_come_from_all_levels, %s: residual %.1e", name, (double)residual);
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckGuesses(void)
{
  PetscFunctionBeginUser;
  PetscCall(guesses_come_from_all_levels("L-shape", VPATCHDG_DOMAIN_LSHAPE, 2, 0, 5, PETSC_FALSE, ""));
  PetscCall(
    guesses_come_from_all_levels("L-shape, symmetric", VPATCHDG_DOMAIN_LSHAPE, 2, 0, 5, PETSC_FALSE, "-guess_pc_vpatchdg_symmetric"));
  PetscCall(guesses_come_from_all_levels("circle", VPATCHDG_DOMAIN_BOX, 2, 0.6, 3, PETSC_FALSE, ""));
  PetscCall(guesses_come_from_all_levels("circle, coefficient", VPATCHDG_DOMAIN_BOX, 2, 0.6, 2, PETSC_TRUE, ""));
  PetscCall(guesses_come_from_all_levels("ball", VPATCHDG_DOMAIN_BOX, 3, 0.7, 1, PETSC_FALSE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refinement_ends_where_no_cell_is(void)
{
  const PetscReal outside[2] = {5, 5};
  PetscInt        cells;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  PetscCall(DMVPatchDGSetLocalRefinement(dm, PETSC_MAX_INT, outside, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(DMVPatchDGGetCells(dm, &cells));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &cells, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  TapOk((PetscBool)(cells == 16), "refinement_ends_where_no_cell_is: %d cells", (int)cells);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_input_is_refused(void)
{
  const PetscReal inside[2] = {0.3, 0.3}, sphere[3] = {0, 0, -1};
  DMAdaptFlag    *mark;
  PetscInt        n;
  DM              dm, next = NULL;
  Problem         p;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 2, 2, &dm));
  Refused(DMVPatchDGSetLocalRefinement(dm, 2, NULL, NULL), "needs a place", "refinement nowhere");
  Refused(DMVPatchDGSetLocalRefinement(dm, -1, inside, NULL), "0 or more", "less than no refinement");
  Refused(DMVPatchDGSetLocalRefinement(dm, 1, NULL, sphere), "not negative", "negative radius");
  PetscCall(DMVPatchDGSetLocalRefinement(dm, 2, inside, NULL));
  PetscCall(DMSetUp(dm));
  Refused(DMVPatchDGSetLocalRefinement(dm, 1, inside, NULL), "cannot change after DMSetUp()", "refinement of a DM that is set up");
  PetscCall(DMVPatchDGGetCells(dm, &n));
  PetscCall(PetscMalloc1(n, &mark));
  for (PetscInt c = 0; c < n; c++) mark[c] = DM_ADAPT_DETERMINE;
  Refused(DMVPatchDGRefineCells(dm, mark, &next), "marks are DM_ADAPT_REFINE", "unknown marks");
  Refused(DMVPatchDGRefineCells(dm, NULL, &next), "one is needed for each cell", "no marks");
  PetscCall(PetscFree(mark));
  PetscCall(ProblemOf(dm, "refused_", &p));
  PetscCall(KSPGetPC(p.ksp, &pc));
  for (int i = 0; i < 2; i++) {
    PetscCall(PCSetType(pc, i ? PCVPATCH : PCVPATCHDG));
    if (i) Refused(PCSetUp(pc), "refined 2 to 4 times", "PCVPATCH");
    else PetscCall(multigrid_refuses(pc));
  }
  PetscCall(ProblemDestroy(&p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscReal norm[2];

  PetscFunctionBeginUser;
  PetscCall(LossesAreExpected()); /* by PCMG, of the DMs that it has made when the interpolation between them is refused */
  PetscCall(labels_adapt_as_marks_do());
  PetscCall(all_cells_are_refined_and_coarsened());
  PetscCall(pcmg_is_refused());
  PetscCall(meshes_that_are_too_large_are_refused());
  PetscCall(ranks_without_cells(PETSC_COMM_WORLD, &norm[0]));
  PetscCall(ranks_without_cells(PETSC_COMM_SELF, &norm[1]));
  TapOk((PetscBool)(PetscAbsReal(norm[0] - norm[1]) < 1e-10 * norm[1]), "ranks_without_cells_adapt_as_one_does: %.12g, %.12g",
        (double)norm[0], (double)norm[1]);
  PetscCall(CheckGuesses());
  PetscCall(refinement_ends_where_no_cell_is());
  PetscCall(bad_input_is_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
