/* Grids of boxes whose faces are given, as numbers or in words. */
/* ranks: 1 3 */
#include "support/problem.h"
#include "support/refused.h"

/* a DM in 2D with these options, set up */
static PetscErrorCode FromOptions(const char options[], DM *dm)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, dm));
  PetscCall(DMSetOptionsPrefix(*dm, "g_"));
  PetscCall(DMSetFromOptions(*dm));
  PetscCall(DMSetUp(*dm));
  PetscCall(DMSetFromOptions(*dm)); /* the same again is no change */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode words_mean_faces(void)
{
  const PetscReal t = PetscTanhReal(0.5) / PetscTanhReal(1);
  const struct {
    const char *words;
    PetscInt    n;
    PetscReal   face[8];
  } given[] = {
    {"0,0.1,0.5,1", 3, {0, 0.1, 0.5, 1}},
    {"-1:1:4", 4, {-1, -0.5, 0, 0.5, 1}},
    {"0:15:4:2", 4, {0, 1, 3, 7, 15}},
    {"0:15:4:0.5", 4, {0, 8, 12, 14, 15}},
    {"0:2:2:1", 2, {0, 1, 2}},
    {"tanh:-2:2:4:1", 4, {-2, -2 * t, 0, 2 * t, 2}},
    {"0:3:2:2,4,5:7:2", 6, {0, 1, 3, 4, 5, 6, 7}},
    {"1:3:2,3:6:2:2", 4, {1, 2, 3, 4, 6}},
  };
  PetscReal face[8];
  PetscInt  n;
  char      options[128];
  DM        dm;

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(given); i++) {
    PetscReal error = 0;

    PetscCall(PetscSNPrintf(options, sizeof(options), "-g_dm_vpatchdg_grid_y %s", given[i].words));
    PetscCall(FromOptions(options, &dm));
    PetscCall(DMVPatchDGGetGrid(dm, 1, &n, NULL));
    if (n == given[i].n) PetscCall(DMVPatchDGGetGrid(dm, 1, NULL, face));
    for (PetscInt j = 0; j <= n && n == given[i].n; j++) error = PetscMax(error, PetscAbsReal(face[j] - given[i].face[j]));
    TapOk((PetscBool)(n == given[i].n && error < 1e-14), "words_mean_faces, %s: %d boxes, error %.1e", given[i].words, (int)n,
          (double)error);
    PetscCall(DMDestroy(&dm));
    PetscCall(PetscOptionsClearValue(NULL, "-g_dm_vpatchdg_grid_y"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is the mesh that of faces x and y, every box refined `refine` times? By sums over cells that tell meshes apart. */
static PetscErrorCode HasCells(DM dm, PetscInt nx, const PetscReal x[], PetscInt ny, const PetscReal y[], PetscInt refine, PetscBool *has)
{
  const PetscInt parts = 1 << refine;
  PetscReal      lower[2], upper[2], sum[3] = {0}, expected = 0;
  PetscInt       n;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    sum[0] += PetscCosReal(3 * lower[0] + 5 * lower[1]) * PetscCosReal(7 * upper[0] + upper[1]);
    sum[1] += 1;
    sum[2] += (upper[0] - lower[0]) * (upper[1] - lower[1]);
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < nx * parts; i++) {
    for (PetscInt j = 0; j < ny * parts; j++) {
      const PetscReal hx = (x[i / parts + 1] - x[i / parts]) / (PetscReal)parts, hy = (y[j / parts + 1] - y[j / parts]) / (PetscReal)parts;
      const PetscReal at[2] = {x[i / parts] + (PetscReal)(i % parts) * hx, y[j / parts] + (PetscReal)(j % parts) * hy};

      expected += PetscCosReal(3 * at[0] + 5 * at[1]) * PetscCosReal(7 * (at[0] + hx) + at[1] + hy);
    }
  }
  *has = (PetscBool)(sum[1] == (PetscReal)(nx * ny * parts * parts) && PetscAbsReal(sum[0] - expected) < 1e-12 &&
                     PetscAbsReal(sum[2] - (x[nx] - x[0]) * (y[ny] - y[0])) < 1e-13);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode boxes_lie_between_faces(void)
{
  const PetscReal x[] = {0, 0.5, 1, 1.5, 2}, y[] = {-1, -0.75, 0, 1};
  PetscBool       has[5];
  DM              dm, clone, fine;

  PetscFunctionBeginUser;
  PetscCall(FromOptions("-g_dm_vpatchdg_grid_x 0:2:4 -g_dm_vpatchdg_grid_y -1,-0.75,0,1 -g_dm_refine 1", &dm));
  PetscCall(HasCells(dm, 4, x, 3, y, 1, &has[0]));
  PetscCall(DMRefine(dm, PETSC_COMM_WORLD, &fine));
  PetscCall(HasCells(fine, 4, x, 3, y, 2, &has[1]));
  TapOk((PetscBool)(has[0] && has[1]), "boxes_lie_between_faces");
  PetscCall(ViewSays((PetscObject)dm, "domain box: 4 x 3 boxes in [0.,2.] x [-1.,1.], each refined 1 time\n", &has[2]));
  PetscCall(ViewSays((PetscObject)dm, "cells of aspect ratio 1.5 to 2\n", &has[3]));
  TapOk((PetscBool)(has[2] && has[3]), "view_shows_the_range_of_aspect_ratios");
  PetscCall(DMDestroy(&fine));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscOptionsClear(NULL));

  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 1, &dm));
  PetscCall(DMVPatchDGSetGrid(dm, 0, 4, x));
  PetscCall(DMVPatchDGSetGrid(dm, 1, 3, y));
  PetscCall(DMClone(dm, &clone));
  PetscCall(DMSetRefineLevel(clone, 1));
  PetscCall(DMDestroy(&dm));
  PetscCall(DMSetUp(clone));
  PetscCall(HasCells(clone, 4, x, 3, y, 1, &has[0]));
  TapOk(has[0], "clone_has_the_grid");
  PetscCall(DMDestroy(&clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the corners of what the cells cover, and how much it is */
static PetscErrorCode Covered(DM dm, PetscReal low[2], PetscReal high[2], PetscReal *area)
{
  PetscReal lower[2], upper[2];
  PetscInt  n;

  PetscFunctionBeginUser;
  *area = 0;
  for (int d = 0; d < 2; d++) low[d] = PETSC_INFINITY, high[d] = PETSC_NINFINITY;
  PetscCall(DMVPatchDGGetCells(dm, &n));
  for (PetscInt i = 0; i < n; i++) {
    PetscCall(DMVPatchDGGetCellBounds(dm, i, lower, upper));
    *area += (upper[0] - lower[0]) * (upper[1] - lower[1]);
    for (int d = 0; d < 2; d++) {
      low[d] = PetscMin(low[d], lower[d]);
      high[d] = PetscMax(high[d], upper[d]);
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, area, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, low, 2, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, high, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode coordinates_say_where_the_domain_is(const char domain[], PetscReal expected)
{
  PetscReal low[2], high[2], lower[2], upper[2], area;
  char      options[128];
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-g_dm_vpatchdg_domain %s -g_dm_vpatchdg_coordinates -1,3,2,3 -g_dm_refine 1", domain));
  PetscCall(FromOptions(options, &dm));
  PetscCall(Covered(dm, low, high, &area));
  PetscCall(DMVPatchDGGetBoxGrid(dm, NULL, lower, upper));
  TapOk((PetscBool)(low[0] == -1 && high[0] == 3 && low[1] == 2 && high[1] == 3 && !memcmp(low, lower, sizeof(low)) &&
                    !memcmp(high, upper, sizeof(high)) && PetscAbsReal(area - expected) < 1e-14),
        "coordinates_say_where_the_domain_is, %s: [%g, %g] x [%g, %g], of which %g", domain, (double)low[0], (double)high[0],
        (double)low[1], (double)high[1], (double)area);
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscOptionsClear(NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode names_bring_their_corners(void)
{
  PetscReal low[2], high[2], box[4], area;
  DM        dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, &dm));
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_LSHAPE));
  PetscCall(DMVPatchDGGetBoxGrid(dm, NULL, box, box + 2));
  PetscCall(DMVPatchDGSetBoxes(dm, 1, (PetscReal[]){4, 4}, (PetscReal[]){5, 6}));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, (PetscReal[]){2, 3}));
  PetscCall(DMVPatchDGSetDomain(dm, VPATCHDG_DOMAIN_BOX));
  PetscCall(DMSetUp(dm));
  PetscCall(Covered(dm, low, high, &area));
  TapOk(
    (PetscBool)(box[0] == -1 && box[1] == -1 && box[2] == 1 && box[3] == 1 && low[0] == 0 && low[1] == 0 && high[0] == 2 && high[1] == 3),
    "names_bring_their_corners");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode last_setter_counts(void)
{
  const PetscReal y[] = {0, 0.25, 1}, x[] = {0, 1}, halves[] = {0, 0.5, 1}, thirds[] = {0, 1. / 3, 2. / 3, 1};
  PetscBool       has[2];
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, &dm));
  PetscCall(DMVPatchDGSetGrid(dm, 1, 2, y));
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){1, 2}, NULL, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(HasCells(dm, 1, x, 2, halves, 0, &has[0]));
  PetscCall(DMDestroy(&dm));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, &dm));
  PetscCall(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){3, 5}, NULL, NULL));
  PetscCall(DMVPatchDGSetGrid(dm, 1, 2, y));
  PetscCall(DMVPatchDGSetBoxGrid(dm, NULL, NULL, NULL));
  PetscCall(DMSetUp(dm));
  PetscCall(HasCells(dm, 3, thirds, 2, y, 0, &has[1]));
  TapOk((PetscBool)(has[0] && has[1]), "last_setter_counts");
  PetscCall(DMVPatchDGSetGrid(dm, 1, 2, y));
  Refused(DMVPatchDGSetGrid(dm, 1, 2, halves), "after DMSetUp", "other faces after set-up");
  Refused(DMVPatchDGSetBoxGrid(dm, (PetscInt[]){3, 2}, NULL, NULL), "after DMSetUp", "equal boxes after set-up");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode bad_faces_are_refused(void)
{
  const PetscReal back[] = {0, 2, 1}, zero = 0, none[] = {0, 1 / zero};
  PetscMPIInt     rank, size;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 2, 2, 0, &dm));
  Refused(DMVPatchDGSetGrid(dm, 0, 2, back), "are at 2 and 1: coordinates must increase", "faces that do not increase");
  Refused(DMVPatchDGSetGrid(dm, 0, 1, none), "is no coordinate", "a face that is nowhere");
  Refused(DMVPatchDGSetGrid(dm, 0, 0, back), "at least one", "no box");
  Refused(DMVPatchDGSetGrid(dm, 2, 1, back), "Direction 2 of a grid in dimension 2", "a direction that is not there");
  Refused(DMVPatchDGSetGrid(dm, 0, 1, NULL), "Null pointer", "no faces");
  PetscCall(DMVPatchDGSetGrid(dm, 0, 1, (PetscReal[]){0, rank == 0 ? 1 : 2}));
  if (size > 1) Refused(DMSetUp(dm), "boxes and corners", "another grid on another rank");
  PetscCall(DMVPatchDGSetGrid(dm, 0, 2, (PetscReal[]){0, rank == 0 ? 0.25 : 0.5, 1}));
  if (size > 1) Refused(DMSetUp(dm), "faces of boxes", "other faces on another rank");
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(words_mean_faces());
  PetscCall(boxes_lie_between_faces());
  PetscCall(coordinates_say_where_the_domain_is("box", 4));
  PetscCall(coordinates_say_where_the_domain_is("lshape", 3));
  PetscCall(names_bring_their_corners());
  PetscCall(last_setter_counts());
  PetscCall(bad_faces_are_refused());
  PetscFunctionReturn(PETSC_SUCCESS);
}
