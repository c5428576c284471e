/* Iterations on mapped cells and with coefficients at points: those of an independent program, for random right-hand sides. */
/* ranks: 1 2 4 */
#include "support/mapped_nu.h"

#define MAP(name, numbers) " -dm_vpatchdg_map " name " -dm_vpatchdg_map_parameters " numbers
#define CHEAP              " -pc_vpatchdg_colors 1 -pc_vpatchdg_cell_sweeps 2"
#define CONST              " -pc_vpatchdg_metric const"
#define RING               "-dm_refine 3 -dm_vpatchdg_boxes 1,8 -dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic" MAP("annulus", "1,2,360")
#define CHANNEL            " -dm_vpatchdg_boundary periodic,periodic,dirichlet,dirichlet" MAP("bump", "2")
#define TORUS              " -dm_vpatchdg_boundary dirichlet,dirichlet,periodic,periodic,dirichlet,dirichlet" MAP("torus", "90")
#define HILL               " -dm_vpatchdg_boundary periodic,periodic,dirichlet,dirichlet,dirichlet,dirichlet" MAP("bump", "2")

typedef struct {
  NuCase is;
  double nu; /* the program's; 0: not known */
} Row;
static const Row rows[] = {
  {{2, 1, "-dm_refine 4" MAP("shear", "60"), ONE, 1.5, 0, 0}, 13.4},
  {{2, 3, "-dm_refine 4" MAP("shear", "30"), ONE, 1.5, 0, 0}, 32.9},
  {{2, 2, "-dm_refine 4" MAP("sine", ".05"), ONE, 1.5, 0, 0}, 10.6},
  {{2, 4, "-dm_refine 4" MAP("sine", ".05"), ONE, 1.5, 0, 0}, 11.4},
  {{2, 3, "-dm_refine 4" MAP("sine", ".10"), ONE, 1.5, 0, 0}, 24.3},
  {{2, 2, "-dm_refine 4" MAP("sine", ".149"), ONE, 1.5, 0, 0}, 57},
  {{2, 3, "-dm_refine 4" MAP("annulus", "1,2,90"), ONE, 1.5, 0, 0}, 4.7},
  {{2, 2, RING, ONE, 1.5, 0, 0}, 5.5},
  {{2, 3, "-dm_refine 3 -dm_vpatchdg_boxes 3,3" MAP("kershaw", ".3"), ONE, 1.5, 0, 0}, 63},
  {{2, 2, "-dm_refine 3 -dm_vpatchdg_boxes 4,2" CHANNEL, ONE, 1.5, 0, 0}, 8.9},
  {{3, 2, "-dm_refine 3" MAP("shear", "60"), ONE, 1.25, 0, 0}, 12.9},
  {{3, 2, "-dm_refine 3" MAP("sine", ".05"), ONE, 1.25, 0, 0}, 10.9},
  {{3, 3, "-dm_refine 3" MAP("annulus", "1,2,90"), ONE, 1.25, 0, 0}, 5.9},
  {{3, 2, "-dm_refine 2 -dm_vpatchdg_boxes 1,4,2" TORUS, ONE, 1.25, 0, 0}, 6.8},
  {{3, 2, "-dm_refine 2 -dm_vpatchdg_boxes 4,4,2" HILL, ONE, 1.25, 0, 0}, 8.5},
  {{2, 3, "-dm_refine 4", SIN4, 1, 0, 0}, 13.3},
  {{2, 3, "-dm_refine 4", EXP3, 1, 0, 0}, 13.7},
  {{2, 2, "-dm_refine 4", TURN, 1, 0, 0}, 23.5},
  {{3, 2, "-dm_refine 3", SIN4, 1, 0, 0}, 14.5},
  {{3, 2, "-dm_refine 3" MAP("annulus", "1,2,90"), SIN4, 1, 0, 0}, 18.4},
  {{3, 2, "-dm_refine 3", TURN, 1, 0, 0}, 25.1},
  {{2, 1, "-dm_refine 4" MAP("sine", ".10"), ONE, 1.5, 0, 0}, 18},
  {{2, 2, "-dm_refine 4" MAP("shear", "60"), ONE, 1.5, 0, 0}, 14.1},
  {{2, 1, "-dm_refine 4" MAP("shear", "30"), ONE, 1.5, 0, 0}, 24.8},
  {{2, 4, "-dm_refine 2 -dm_vpatchdg_boxes 4,4" MAP("annulus", "1,10,90"), ONE, 1.5, 0, 0}, 8.2},
  {{2, 1, "-dm_refine 4" MAP("annulus", "1,2,90"), ONE, 1.5, 0, 0}, 5.9},
  {{2, 1, "-dm_refine 3 -dm_vpatchdg_boxes 3,3" MAP("kershaw", ".3"), ONE, 1.5, 0, 0}, 35},
  {{2, 4, "-dm_refine 3 -dm_vpatchdg_boxes 4,2" CHANNEL, ONE, 1.5, 0, 0}, 9.2},
  {{2, 2, "-dm_refine 5", SIN4, 1, 0, 0}, 0},
  {{2, 3, "-dm_refine 5", EXP3, 1, 0, 0}, 12},
  {{2, 3, "-dm_refine 4" MAP("sine", ".05"), TURN, 1.5, 0, 0}, 0},
  {{2, 2, "-dm_refine 4" MAP("shear", "75"), ONE, 1.5, 0, 0}, 0},
  {{2, 3, "-dm_refine 4" MAP("shear", "45"), ONE, 1.5, 0, 0}, 0},
  {{2, 2, "-dm_refine 4" MAP("annulus", "1,4,180"), ONE, 1.5, 0, 0}, 0},
  {{2, 3, "-dm_refine 4" MAP("annulus", "1,2,90"), SIN4, 1.5, 0, 0}, 0},
  {{2, 3, "-dm_refine 3 -dm_vpatchdg_boxes 3,3" MAP("kershaw", ".6"), ONE, 1.5, 0, 0}, 0},
};

/* the program's, where the cycle has one metric in the whole box */
static const Row constant[] = {
  {{2, 1, "-dm_refine 4" MAP("shear", "60") CONST, ONE, 1.5, 0, 0}, 13.4},
  {{2, 3, "-dm_refine 4" MAP("shear", "30") CONST, ONE, 1.5, 0, 0}, 32.9},
  {{2, 2, "-dm_refine 4" MAP("sine", ".05") CONST, ONE, 1.5, 0, 0}, 12.3},
  {{2, 3, "-dm_refine 4" MAP("sine", ".10") CONST, ONE, 1.5, 0, 0}, 26.9},
  {{2, 3, "-dm_refine 4" MAP("annulus", "1,2,90") CONST, ONE, 1.5, 0, 0}, 10.7},
  {{2, 2, "-dm_refine 2 -dm_vpatchdg_boxes 4,4" MAP("annulus", "1,10,90") CONST, ONE, 1.5, 0, 0}, 15.2},
  {{2, 2, RING CONST, ONE, 1.5, 0, 0}, 10.6},
  {{3, 2, "-dm_refine 3" MAP("sine", ".05") CONST, ONE, 1.25, 0, 0}, 11.8},
  {{3, 3, "-dm_refine 3" MAP("annulus", "1,2,90") CONST, ONE, 1.25, 0, 0}, 10.5},
  {{3, 2, "-dm_refine 2 -dm_vpatchdg_boxes 1,4,2" TORUS CONST, ONE, 1.25, 0, 0}, 13.5},
};

/* the program's, where a sweep goes through one colour of patches, then twice through single cells */
static const Row cheap[] = {
  {{3, 2, "-dm_refine 3" MAP("shear", "60") CHEAP, ONE, 1.25, 0, 0}, 15},
  {{3, 2, "-dm_refine 3" MAP("shear", "30") CHEAP, ONE, 1.25, 0, 0}, 29.8},
  {{3, 2, "-dm_refine 3" MAP("sine", ".05") CHEAP, ONE, 1.25, 0, 0}, 13.6},
  {{3, 2, "-dm_refine 3" MAP("sine", ".10") CHEAP, ONE, 1.25, 0, 0}, 24.4},
};

static PetscErrorCode Check(const char name[], const Row *row, int *right)
{
  const NuCase *is = &row->is;
  double        nu = 0, foretold[2] = {0};

  PetscFunctionBeginUser;
  PetscCall(MeasureNu(is, &nu, foretold));
  *right += foretold[1] < 1.5 * nu && nu < 1.5 * foretold[1];
  TapOk((PetscBool)(nu < row->nu + PetscMax(0.1 * row->nu, 1) && nu > 0.85 * row->nu - 1), "%s, %dD Q%d %s: %.1f for %.1f", name,
        (int)is->dim, (int)is->degree, is->options, nu, row->nu);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode other_cycles_take_as_many_as_published(void)
{
  const int n = (int)PETSC_STATIC_ARRAY_LENGTH(constant);
  int       right = 0, unused = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) PetscCall(Check("one_metric_in_a_box", &constant[i], &right));
  TapOk((PetscBool)(right >= 0.9 * n), "iterations_with_one_metric_in_a_box_are_foretold: in %d of %d cases", right, n);
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cheap); i++) PetscCall(Check("cheap_sweeps", &cheap[i], &unused));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MeasureWith(const NuCase *is, const char metric[], double *nu, double foretold[])
{
  char   all[400];
  NuCase with = *is;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "%s -pc_vpatchdg_metric %s", is->options, metric));
  with.options = all;
  PetscCall(MeasureNu(&with, nu, foretold));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One mean in a box is taken where angles alone differ, and not where sizes, the coefficient or the reaction of cells do. */
static PetscErrorCode the_means_that_take_less_time_are_chosen(void)
{
  static const struct {
    NuCase      is;
    const char *takes, *not ;
  } cases[] = {{{3, 2, "-dm_refine 3" MAP("sine", ".05"), ONE, 1, 0, 0}, "const", "cell"},
               {{2, 4, "-dm_refine 4" MAP("sine", ".05"), ONE, 1, 0, 0}, "const", "cell"},
               {{2, 2, "-dm_refine 4", TURN, 1, 0, 0}, "const", "cell"},
               {{3, 3, "-dm_refine 2" MAP("annulus", "1,2,90"), ONE, 1, 0, 0}, "cell", "const"},
               {{2, 2, "-dm_refine 5", SIN4, 1, 0, 0}, "cell", "const"},
               {{2, 3, "-dm_refine 4" MAP("sine", ".10"), ONE, 1, 1e4, 0}, "cell", "const"}};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) {
    double nu[3];

    if (cases[i].is.kind == TURN && VpIsDevice(TestBackend())) continue; /* Both take as long there. */
    PetscCall(MeasureWith(&cases[i].is, "auto", &nu[0], NULL));
    PetscCall(MeasureWith(&cases[i].is, cases[i].takes, &nu[1], NULL));
    PetscCall(MeasureWith(&cases[i].is, cases[i].not, &nu[2], NULL));
    TapOk((PetscBool)(fabs(nu[0] - nu[1]) < 0.01 && fabs(nu[0] - nu[2]) > 0.1),
          "the_means_that_take_less_time_are_chosen, %s: auto %.2f, %s %.2f, %s %.2f", cases[i].is.options, nu[0], cases[i].takes, nu[1],
          cases[i].not, nu[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterations for eight digits are as many, to 10 % or one. A few less are as good. Coarser fits on a device cost up to one more. In
   nine of ten cases the forecast is right to a factor of 1.5. */
static PetscErrorCode iterations_are_as_published(void)
{
  const int    n = (int)PETSC_STATIC_ARRAY_LENGTH(rows);
  const double more = VpIsDevice(TestBackend());
  int          right = 0;

  PetscFunctionBeginUser;
  for (int i = 0; i < n; i++) {
    const NuCase *is = &rows[i].is;
    double        nu = 0, foretold[2] = {0};

    PetscCall(MeasureWith(is, "cell", &nu, foretold));
    right += foretold[0] < 1.5 * nu && nu < 1.5 * foretold[0];
    TapOk((PetscBool)(!rows[i].nu || (nu < rows[i].nu + PetscMax(0.1 * rows[i].nu, 1) + more && nu > 0.85 * rows[i].nu - 1)),
          "iterations_are_as_published, %dD Q%d %s: %.1f for %.1f, %.1f were foretold", (int)is->dim, (int)is->degree, is->options, nu,
          rows[i].nu, foretold[0]);
  }
  TapOk((PetscBool)(right >= 0.9 * n), "iterations_are_foretold: in %d of %d cases", right, n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The cycle sees a ring of another size, with alpha in that unit, as the same ring. */
static PetscErrorCode robin_sides_have_any_unit(void)
{
  static const char *const options[] = {"-dm_vpatchdg_map_parameters 1,2,90 -dm_vpatchdg_robin 100",
                                        "-dm_vpatchdg_map_parameters 10,20,90 -dm_vpatchdg_robin 10",
                                        "-dm_vpatchdg_map_parameters .01,.02,90 -dm_vpatchdg_robin 1e4"};
  double                   nu[3] = {0};

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; i++) {
    char all[256];

    PetscCall(PetscSNPrintf(all, sizeof(all), "-dm_refine 4 -dm_vpatchdg_map annulus -dm_vpatchdg_boundary robin %s", options[i]));
    PetscCall(MeasureNu(&(NuCase){2, 3, all, ONE, 1, 0, 0}, &nu[i], NULL));
  }
  TapOk((PetscBool)(nu[0] < 9 && fabs(nu[1] - nu[0]) < 0.5 && fabs(nu[2] - nu[0]) < 0.5), "robin_sides_have_any_unit: %.1f %.1f %.1f",
        nu[0], nu[1], nu[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Directions do not merge one by one, as they do in 2D. */
static PetscErrorCode cells_merge_in_all_directions_where_angles_rule(void)
{
  const double       right[] = {1728, 216, 27, 8};
  double             cells[VP_MOST_LEVELS];
  int                levels;
  const DM_VPatchDG *dg;
  DM                 dm;

  PetscFunctionBeginUser;
  PetscCall(TestDMCreate(PETSC_COMM_WORLD, 3, 2, 0, &dm));
  PetscCall(TestDMOptions(dm, "-dm_refine 2 -dm_vpatchdg_boxes 3,3,3" MAP("kershaw", ".3")));
  PetscCall(DMSetUp(dm));
  dg = dm->data;
  PetscCall(VpProblemCountLevels(dg->mesh, &dg->op->problem, VP_COARSEN_LOCAL, &levels, cells));
  TapOk((PetscBool)(levels == 4 && !memcmp(cells, right, sizeof(right))), "cells_merge_in_all_directions_where_angles_rule: %d levels",
        levels);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  PetscCall(the_means_that_take_less_time_are_chosen());
  PetscCall(iterations_are_as_published());
  PetscCall(other_cycles_take_as_many_as_published());
  PetscCall(robin_sides_have_any_unit());
  PetscCall(cells_merge_in_all_directions_where_angles_rule());
  PetscFunctionReturn(PETSC_SUCCESS);
}
