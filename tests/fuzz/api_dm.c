/* Operations on DMs: settings, set-up, relatives, coefficient. */
#include "api.h"

/* a scalar setting: value drawn, legal or not, before or after set-up */
static PetscErrorCode SetNumbers(Api *api, Slot *s, PetscBool up)
{
  static const PetscReal penalties[] = {1, 2, 10, 0, -1, NAN, INFINITY}, reactions[] = {0, 1, 100, -1, NAN, INFINITY};
  static const PetscInt  degrees[] = {1, 2, 3, 0, 9, -1, PETSC_MAX_INT, PETSC_MIN_INT};
  const PetscInt         i = Draw(7), j = Draw(6), k = Draw(8);
  PetscReal              now;

  PetscFunctionBeginUser;
  switch (Draw(3)) {
  case 0:
    Legal(DMVPatchDGGetPenalty(s->dm, &now));
    Expect(i < 3 && (!up || now == penalties[i]) ? LEGAL : ILLEGAL, DMVPatchDGSetPenalty(s->dm, penalties[i]), "DMVPatchDGSetPenalty(%g)",
           (double)penalties[i]);
    break;
  case 1:
    Legal(DMVPatchDGGetReaction(s->dm, &now));
    Expect(j < 3 && (!up || now == reactions[j]) ? LEGAL : ILLEGAL, DMVPatchDGSetReaction(s->dm, reactions[j]), "DMVPatchDGSetReaction(%g)",
           (double)reactions[j]);
    break;
  case 2:
    Expect(k < 3 && (!up || s->degree == degrees[k]) ? LEGAL : ILLEGAL, DMVPatchDGSetDegree(s->dm, degrees[k]),
           "DMVPatchDGSetDegree(%" PetscInt_FMT ")", degrees[k]);
    if (k < 3 && !up) s->degree = degrees[k];
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values that exist are refused, or change what is expected of later calls, unless they are those below. */
static PetscErrorCode SetEnums(Api *api, Slot *s, PetscBool up)
{
  VPatchDGBoundary boundary[6], side;
  PetscBool        exists;
  int              value;

  PetscFunctionBeginUser;
  switch (Draw(3)) {
  case 0:
    value = DrawEnum(VPatchDGBoundaries, &exists);
    if (exists && value != VPATCHDG_BOUNDARY_DIRICHLET && value != VPATCHDG_BOUNDARY_NEUMANN) break;
    Legal(DMVPatchDGGetBoundary(s->dm, boundary));
    side = boundary[1];
    boundary[1] = (VPatchDGBoundary)value;
    Expect(exists && (!up || (int)side == value) ? LEGAL : ILLEGAL, DMVPatchDGSetBoundary(s->dm, boundary),
           "DMVPatchDGSetBoundary(side 1: %d)", value);
    break;
  case 1:
    value = DrawEnum(VPatchDGDomains, &exists);
    if (exists && value != VPATCHDG_DOMAIN_BOX) break;
    Expect(exists ? LEGAL : ILLEGAL, DMVPatchDGSetDomain(s->dm, (VPatchDGDomain)value), "DMVPatchDGSetDomain(%d)", value);
    break;
  case 2:
    value = DrawEnum(VPatchDGBackends, &exists);
    if (exists && value == VPATCHDG_BACKEND_CUDA) break; /* Whether it is refused shows at the set-up. */
    Expect(exists ? EITHER : ILLEGAL, DMVPatchDGSetBackend(s->dm, (VPatchDGBackend)value), "DMVPatchDGSetBackend(%d)", value);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetBoxes(Api *api, Slot *s, PetscBool up)
{
  const PetscInt  n[3] = {1 + Draw(2), Draw(4) ? 1 : 0, 1};
  const PetscReal upper[3] = {1 + (PetscReal)Draw(2), 1, 1};
  PetscInt        now[3];
  PetscReal       corner[3];
  PetscBool       same;

  PetscFunctionBeginUser;
  Legal(DMVPatchDGGetBoxGrid(s->dm, now, NULL, corner));
  same = (PetscBool)(now[0] == n[0] && now[1] == n[1] && corner[0] == upper[0] && corner[1] == 1);
  Expect(n[1] > 0 && (!up || same) ? LEGAL : ILLEGAL, DMVPatchDGSetBoxGrid(s->dm, n, NULL, upper),
         "DMVPatchDGSetBoxGrid(%" PetscInt_FMT " x %" PetscInt_FMT ", to %g)", n[0], n[1], (double)upper[0]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetAnything(Api *api, Slot *s)
{
  const PetscBool up = s->up;

  PetscFunctionBeginUser;
  switch (Draw(3)) {
  case 0:
    PetscCall(SetNumbers(api, s, up));
    break;
  case 1:
    PetscCall(SetEnums(api, s, up));
    break;
  case 2:
    PetscCall(SetBoxes(api, s, up));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a DM with some settings, refused ones among them */
static PetscErrorCode new_dm(Api *api, Slot *unused)
{
  Slot          *s = &api->slot[Draw(SLOTS)];
  const PetscInt n = Draw(5);

  PetscFunctionBeginUser;
  PetscCall(NewDM(api, s));
  for (PetscInt i = 0; i < n && !api->result; i++) PetscCall(SetAnything(api, s));
  if (!api->result) PetscCall(SetUp(api, s));
  if (!api->result && Draw(2)) Legal(DMSetUp(s->dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode settings_after_setup(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(SetAnything(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* boxes that match, overlap, hang together by half a side, are empty, lie apart */
static PetscErrorCode boxes(Api *api, Slot *unused)
{
  static const PetscReal lower[][4] = {{0, 0, 1, 0}, {0, 0, 0.5, 0}, {0, 0, 1, 0}, {0, 0, 1, 0}, {0, 0, 2, 0}, {0, 0, 1, 1}},
                         upper[][4] = {{1, 1, 3, 1}, {1, 1, 2, 1}, {1, 1, 2, 0.5}, {1, 1, 1, 1}, {1, 1, 3, 1}, {1, 1, 2, NAN}};
  static const Expected expected[] = {LEGAL, ILLEGAL, ILLEGAL, ILLEGAL, EITHER, ILLEGAL};
  const PetscInt        kind = Draw(6);
  const PetscReal      *corner;
  PetscInt              n;
  Slot                  s = {.dm = NULL};
  VPatchDGDomain        domain;

  PetscFunctionBeginUser;
  Legal(DMVPatchDGCreate(PETSC_COMM_WORLD, 2, 1, 1, &s.dm));
  Expect(LEGAL, DMVPatchDGSetBoxes(s.dm, 2, lower[kind], upper[kind]), "DMVPatchDGSetBoxes(%" PetscInt_FMT ")", kind);
  Legal(DMVPatchDGGetBoxes(s.dm, &n, NULL, &corner));
  Legal(DMVPatchDGGetDomain(s.dm, &domain));
  if (n != 2 || domain != VPATCHDG_DOMAIN_BOXES || corner[0] != upper[kind][0]) api->result = "wrong mathematics";
  Expect(expected[kind], DMSetUp(s.dm), "DMSetUp()");
  Expect(expected[kind] == ILLEGAL ? LEGAL : EITHER, DMVPatchDGSetDomain(s.dm, VPATCHDG_DOMAIN_BOX), "DMVPatchDGSetDomain(box)");
  Legal(DMSetUp(s.dm));
  Legal(DMDestroy(&s.dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode getters(Api *api, Slot *s)
{
  VPatchDGDomain  domain;
  VPatchDGBackend backend;
  PetscInt        degree, dim, level, n;

  PetscFunctionBeginUser;
  Legal(DMVPatchDGGetDomain(s->dm, &domain));
  Legal(DMVPatchDGGetBackend(s->dm, &backend));
  Legal(DMVPatchDGGetBoxes(s->dm, &n, NULL, NULL));
  Legal(DMVPatchDGGetDegree(s->dm, &degree));
  Legal(DMGetDimension(s->dm, &dim));
  Legal(DMGetRefineLevel(s->dm, &level));
  if (degree != s->degree || dim != s->dim || level != s->refine) {
    Say("degree, dimension and level are %" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT ", not %" PetscInt_FMT " %" PetscInt_FMT
        " %" PetscInt_FMT,
        degree, dim, level, s->degree, s->dim, s->refine);
    api->result = "wrong mathematics";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what needs a set-up, without one */
static PetscErrorCode too_early(Api *api, Slot *unused)
{
  Slot             s = {.dm = NULL};
  PetscInt         n;
  PetscReal        lower[3], upper[3], error;
  const PetscReal *a;
  Vec              v = NULL;
  Mat              A = NULL;
  DM               dm = NULL;

  PetscFunctionBeginUser;
  PetscCall(NewDM(api, &s));
  if (api->result) PetscFunctionReturn(PETSC_SUCCESS);
  switch (Draw(11)) {
  case 0:
    Illegal(DMVPatchDGGetCells(s.dm, &n));
    break;
  case 1:
    Illegal(DMVPatchDGGetCellBounds(s.dm, 0, lower, upper));
    break;
  case 2:
    Illegal(DMVPatchDGGetCoefficient(s.dm, &a));
    break;
  case 3:
    Illegal(DMVPatchDGSetCoefficient(s.dm, NULL));
    break;
  case 4:
    Illegal(DMCreateGlobalVector(s.dm, &v));
    break;
  case 5:
    Illegal(DMCreateLocalVector(s.dm, &v));
    break;
  case 6:
    Illegal(DMCreateMatrix(s.dm, &A));
    break;
  case 7:
    Illegal(DMRefine(s.dm, PETSC_COMM_WORLD, &dm));
    break;
  case 8:
    Illegal(DMCoarsen(s.dm, PETSC_COMM_WORLD, &dm));
    break;
  case 9:
    Illegal(DMVPatchDGGetPoints(s.dm, &v));
    break;
  case 10:
    Illegal(DMVPatchDGComputeErrors(s.dm, v, NULL, NULL, NULL, &error, NULL));
    break;
  }
  Legal(DMSetUp(s.dm));
  Legal(DMVPatchDGGetCells(s.dm, &n));
  PetscCall(Empty(api, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode relatives(Api *api, Slot *s)
{
  Slot *to = &api->slot[Draw(SLOTS)], like = *s;
  DM    dm = NULL;

  PetscFunctionBeginUser;
  if (to == s) PetscFunctionReturn(PETSC_SUCCESS);
  like.A = NULL;
  like.x = like.y = NULL;
  like.ksp = NULL;
  switch (Draw(3)) {
  case 0:
    Legal(DMClone(s->dm, &dm));
    break;
  case 1:
    if (s->refine >= (s->dim == 2 ? 3 : 2)) PetscFunctionReturn(PETSC_SUCCESS);
    Legal(DMRefine(s->dm, PETSC_COMM_WORLD, &dm));
    like.refine++;
    break;
  case 2:
    Expect(s->refine > 0 ? LEGAL : ILLEGAL, DMCoarsen(s->dm, PETSC_COMM_WORLD, &dm), "DMCoarsen()");
    if (dm) Legal(DMGetRefineLevel(dm, &like.refine)); /* Thin cells may merge in some directions alone. */
  }
  if (!dm) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Empty(api, to));
  like.dm = dm;
  *to = like;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's own setters after the set-up: refused or without effect */
static PetscErrorCode foreign_setters(Api *api, Slot *s)
{
  PetscInt level;

  PetscFunctionBeginUser;
  switch (Draw(6)) {
  case 0:
    Either(DMSetDimension(s->dm, 5 - s->dim));
    break;
  case 1:
    Either(DMSetRefineLevel(s->dm, 7));
    break;
  case 2:
    Either(DMSetCoarsenLevel(s->dm, 3));
    break;
  case 3:
    Legal(DMSetFromOptions(s->dm));
    break;
  case 4:
    Legal(DMSetOptionsPrefix(s->dm, "other_"));
    break;
  case 5:
    Either(DMSetCoordinateDim(s->dm, 1));
    break;
  }
  Legal(DMSetUp(s->dm));
  Legal(DMGetRefineLevel(s->dm, &level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a number that can not be, in one cell of the last rank that has cells */
static PetscErrorCode bad_coefficient(Api *api, Slot *s)
{
  static const PetscReal bad[] = {0, -1, NAN, INFINITY};
  const PetscReal        value = DrawFrom(bad);
  PetscInt               n, last = -1;
  PetscReal             *a;

  PetscFunctionBeginUser;
  PetscCall(DMVPatchDGGetCells(s->dm, &n));
  if (n > 0) last = api->rank;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  PetscCall(PetscMalloc1(n + 1, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = 1;
  if (last == api->rank) a[n - 1] = value;
  Expect(ILLEGAL, DMVPatchDGSetCoefficient(s->dm, a), "DMVPatchDGSetCoefficient(%g on one rank)", (double)value);
  PetscCall(PetscFree(a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode coefficient(Api *api, Slot *s)
{
  const PetscReal *now;
  const PetscInt   kind = Draw(3); /* of DrawCoefficient() */
  const PetscReal  range = 1 + 100 * DrawReal();

  PetscFunctionBeginUser;
  if (s->A && (s->copy || s->scale != 1 || s->shift != 0)) s->known = PETSC_FALSE;
  s->rough = (PetscBool)(kind != 0);
  switch (kind) {
  case 0:
    Legal(DMVPatchDGSetCoefficient(s->dm, NULL));
    break;
  case 1:
    Legal(DrawCoefficient(s->dm, 1, range));
    break;
  case 2:
    Legal(DrawCoefficient(s->dm, 2, range));
    break;
  }
  Legal(DMVPatchDGGetCoefficient(s->dm, &now));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode no_cell(Api *api, Slot *s)
{
  const PetscInt end = Draw(2);
  PetscReal      lower[3], upper[3];
  PetscInt       n;

  PetscFunctionBeginUser;
  Legal(DMVPatchDGGetCells(s->dm, &n));
  Expect(ILLEGAL, DMVPatchDGGetCellBounds(s->dm, end ? n : -1, lower, upper), "DMVPatchDGGetCellBounds(%s)", end ? "n" : "-1");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(Empty(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode works(Api *api, Slot *s)
{
  PetscFunctionBeginUser;
  PetscCall(StillWorks(api, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Operation dm_operations[] = {{"new_dm", new_dm},
                                   {"settings_after_setup", settings_after_setup},
                                   {"boxes", boxes},
                                   {"getters", getters},
                                   {"too_early", too_early},
                                   {"relatives", relatives},
                                   {"foreign_setters", foreign_setters},
                                   {"coefficient", coefficient},
                                   {"bad_coefficient", bad_coefficient},
                                   {"no_cell", no_cell},
                                   {"destroy", destroy},
                                   {"works", works},
                                   {NULL, NULL}};
