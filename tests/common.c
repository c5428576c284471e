/* The common lines and patches of a level, which kernels are made for: against what every cell and patch has.
   ranks: 1 3 */
#include "support/multigrid.h"

/* 0: all lines of the cell are inside; 1 + side: at a boundary there, and else inside; -1: neither */
static int KindOf(const VpView *view, int32_t cell)
{
  int kind = 0;

  for (int d = 0; d < view->dim; d++) {
    const int32_t line = view->line[cell * view->dim + d];

    if (line == view->common.inside[d]) continue;
    if (kind || (line != view->common.bounded[d][0] && line != view->common.bounded[d][1])) return -1;
    kind = 1 + 2 * d + (line == view->common.bounded[d][1]);
  }
  return kind;
}

/* boundaries are where the lines say, and no other cells have most lines; of a cube of equal cells all are common */
static PetscErrorCode CheckLines(const Setting *s, VpLevel level, PetscBool cube)
{
  const VpView *view = &level->view;
  const int     nside = 2 * view->dim;
  int32_t       ncommon = 0, ninterface = 0, bad = 0, left = 0;

  PetscFunctionBeginUser;
  for (int32_t cell = 0; cell < view->nsweep; cell++) {
    const int kind = KindOf(view, cell);
    int       nboundary = 0;

    for (int side = 0; side < nside; side++) {
      nboundary += view->neighbor[cell * nside + side] < 0;
      bad += kind >= 0 && (view->neighbor[cell * nside + side] < 0) != (kind == 1 + side);
    }
    ncommon += kind == 0;
    ninterface += kind > 0;
    left += kind < 0 && nboundary < 2;
  }
  TapOk((PetscBool)(view->common.found && !bad && (!view->nown || ncommon) && (!cube || !left)),
        "lines_are_common: %s, %d inside, %d at boundaries, %d are neither", s->name, ncommon, ninterface, left);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* patches inside have neighbours on all sides, and cells inside; those at boundaries where they say */
static PetscErrorCode CheckPatches(const Setting *s, VpLevel level, VpSmoother smoother, int32_t npatch, PetscBool cube)
{
  const VpView      *view = &level->view;
  const VpPatchView *patches = VpSmootherPatches(smoother);
  const VpCommon    *common = &patches->common;
  const int          dim = view->dim, nside = 2 * dim, ncell = 1 << dim;
  int32_t            n[2] = {0, 0}, bad = 0;

  PetscFunctionBeginUser;
  for (int32_t p = 0; p < npatch; p++) {
    PetscBool is = PETSC_TRUE;

    for (int d = 0; d < dim; d++) {
      const int32_t type = patches->type[p * dim + d];
      is = (PetscBool)(is && (type == common->inside[d] || type == common->bounded[d][0] || type == common->bounded[d][1]));
    }
    n[is]++;
    for (int i = 0; is && i < nside * ncell; i++) {
      const int     d = i / 2 % dim, side = i % 2, at = i / nside;
      const int32_t cell = patches->patch[p * ncell + at], type = patches->type[p * dim + d];
      const int32_t beyond = view->neighbor[cell * nside + 2 * d + side];

      bad += (beyond < 0) != ((at >> d & 1) == side && type == common->bounded[d][side]);
      bad += (at >> d & 1) == side && beyond >= 0 && view->line[cell * dim + d] != view->common.inside[d];
    }
  }
  for (int d = 0; common->found && d < dim; d++) bad += !patches->mirrored[common->inside[d]];
  TapOk((PetscBool)(!bad && (!npatch || common->found) && (!npatch || n[1]) && (!cube || !n[0])),
        "patches_are_common: %s, %d are, %d are not", s->name, n[1], n[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const Setting *s, PetscBool cube)
{
  World      w;
  VpLevel    level;
  VpSmoother smoother;
  VpPatches  patches;

  PetscFunctionBeginUser;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, s, &w));
  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_DOUBLE, &VpBackendHost, &level));
  PetscCall(VpSmootherCreate(level, VP_SPACE_FULL, VP_RESIDUAL_EXACT, VP_EXCHANGE_SWEEP, 0, &smoother));
  PetscCall(VpPatchesCreate(w.mesh, w.mesh->geometry->lattice->thinnest, &patches));
  PetscCall(CheckLines(s, w.host, cube));
  PetscCall(CheckLines(s, level, cube));
  PetscCall(CheckPatches(s, level, smoother, patches.n, cube));
  PetscCall(VpPatchesDestroy(&patches));
  PetscCall(VpSmootherDestroy(&smoother));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  static const Setting cube = {"cube", 3, 1, 4, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  static const Setting others[] = {
    {"boxes", 3, 2, 2, {3, 2, 2}, PETSC_FALSE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 1},
    {"tenths, which rounding makes unlike", 3, 1, 1, {10, 2, 2}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0},
    {"Fichera", 3, 1, 3, {2, 2, 2}, PETSC_TRUE, VP_SIDE_DIRICHLET, COEFFICIENT_UNIFORM, 0},
    {"torus", 3, 1, 3, {1, 1, 1}, PETSC_FALSE, 0, COEFFICIENT_ONE, 1},
    {"L-shape", 2, 3, 4, {2, 2, 1}, PETSC_TRUE, VP_SIDE_NEUMANN, COEFFICIENT_ONE, 1},
  };

  PetscFunctionBeginUser;
  PetscCall(Check(&cube, PETSC_TRUE));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(others); i++) PetscCall(Check(&others[i], PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
