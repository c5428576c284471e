/* A vector knows its state: its ghosts travel when they are stale and read, and only then; what a verb requires is checked.
   ranks: 1 2 3 */
#include "support/multigrid.h"
#include "support/refused.h"

/* how often ghosts begin to travel */
static int begun;

static PetscErrorCode CountingMove(int32_t n, size_t block, const int32_t *list, const void *from, const int32_t *places, void *to)
{
  begun += !places;
  return VpBackendHost.move(n, block, list, from, places, to);
}

/* own cells' global positions plus `shift`, in the first number of a cell */
static PetscErrorCode WritePositions(VpVector v, double shift)
{
  const VpLevel level = v->level;
  const size_t  ndof = level->block / level->real;
  void         *values;

  PetscFunctionBeginUser;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, &values));
  for (int32_t c = 0; c < level->mesh->nown; c++) ((double *)values)[c * ndof] = shift + (double)(level->mesh->first + c);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* do the ghosts in [nown, end) hold their positions plus `shift`? */
static PetscErrorCode HavePositions(VpVector v, int32_t end, double shift, PetscBool *have)
{
  const VpMesh  mesh = v->level->mesh;
  const size_t  ndof = v->level->block / v->level->real;
  const double *values = (const double *)v->buffer[0];
  PetscInt     *position;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(mesh->nlocal, &position));
  PetscCall(VpMeshPositions(mesh, position));
  *have = PETSC_TRUE;
  for (int32_t c = mesh->nown; c < end; c++) *have = (PetscBool)(*have && values[c * ndof] == shift + (double)position[c]);
  PetscCall(PetscFree(position));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Travels(VpVector v, VpGhostKind kind, int expected, const char what[])
{
  const int before = begun;

  PetscFunctionBeginUser;
  PetscCall(VpVectorRead(v, kind, NULL));
  TapOk((PetscBool)(begun - before == expected), "ghosts_travel_when_stale: %s", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Ghosts(VpVector v)
{
  const VpMesh mesh = v->level->mesh;
  const int    stale = mesh->nlocal > mesh->nown; /* messages go both ways */
  PetscBool    have;
  VpGhosts     ghosts, again;

  PetscFunctionBeginUser;
  PetscCall(Travels(v, VP_GHOST_ALL, 0, "not those of a new vector, which is 0"));
  PetscCall(WritePositions(v, 1));
  TapOk((PetscBool)!VpVectorIsZero(v), "a_written_vector_is_not_zero");
  PetscCall(Travels(v, VP_GHOST_NONE, 0, "none are read"));
  PetscCall(Travels(v, VP_GHOST_SWEEP, stale, "those for a sweep"));
  PetscCall(HavePositions(v, mesh->nsweep, 1, &have));
  TapOk(have, "ghosts_are_the_owners: for a sweep");
  PetscCall(Travels(v, VP_GHOST_FACE, 0, "not those among them"));
  PetscCall(Travels(v, VP_GHOST_HALO, stale, "those beyond them"));
  PetscCall(HavePositions(v, mesh->nlocal, 1, &have));
  TapOk(have, "ghosts_are_the_owners: all");
  PetscCall(Travels(v, VP_GHOST_ALL, 0, "not all, which came with the halo"));
  PetscCall(WritePositions(v, 2));
  PetscCall(VpVectorReadBegin(v, VP_GHOST_ALL, NULL, &ghosts));
  PetscCall(VpVectorReadBegin(v, VP_GHOST_FACE, NULL, &again));
  TapOk((PetscBool)(!stale || (ghosts.arrive && again.arrive)), "ghosts_are_under_way");
  PetscCall(VpArrive(again));
  PetscCall(HavePositions(v, mesh->nlocal, 2, &have));
  PetscCall(VpVectorReadBegin(v, VP_GHOST_ALL, NULL, &ghosts));
  TapOk((PetscBool)(have && !ghosts.arrive), "ghosts_under_way_arrive_once");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* zero is a state: memory follows when it is read, and what is added to it is written */
static PetscErrorCode Zero(VpVector v)
{
  double   *values = (double *)v->buffer[0];
  PetscBool add, zeros = PETSC_TRUE;
  void     *to;

  PetscFunctionBeginUser;
  PetscCall(WritePositions(v, 3));
  PetscCall(VpVectorZero(v));
  TapOk((PetscBool)(VpVectorIsZero(v) && (!v->level->mesh->nown || values[0] >= 3)), "zero_touches_no_memory");
  PetscCall(Travels(v, VP_GHOST_ALL, 0, "not those of zero"));
  for (int32_t c = 0; c < v->level->mesh->nlocal; c++) zeros = (PetscBool)(zeros && values[c * (v->level->block / v->level->real)] == 0);
  TapOk(zeros, "zero_is_written_when_it_is_read");
  PetscCall(VpVectorAdd(v, VP_GHOST_HALO, &add, &to));
  TapOk((PetscBool)!add, "what_is_added_to_zero_is_written");
  PetscCall(VpVectorAdd(v, VP_GHOST_HALO, &add, &to));
  TapOk(add, "what_is_added_to_other_vectors_is_added");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Contract(VpVector v, VpVector single)
{
  const PetscBool travel = (PetscBool)(v->level->mesh->nlocal > v->level->mesh->nown);
  VpVectorState   state;
  PetscBool       add;

  PetscFunctionBeginUser;
  PetscCall(VpVectorWrite(v, VP_GHOST_NONE, NULL));
  if (travel) Refused(VpVectorAdd(v, VP_GHOST_HALO, &add, NULL), "they are stale", "adding to stale ghosts");
  PetscCall(VpVectorReadBegin(v, VP_GHOST_ALL, NULL, NULL));
  if (travel) {
    Refused(VpVectorWrite(v, VP_GHOST_NONE, NULL), "while its ghosts are under way", "writing what is under way");
    Refused(VpVectorGetState(v, &state), "under way", "the state of what is under way");
  }
  PetscCall(VpVectorArrive(v));
  Refused(VpVectorSwept(single, 1), "one buffer", "sweeping a vector with one buffer");
  PetscCall(VpVectorSwept(v, 1));
  Refused(VpVectorReadBegin(v, VP_GHOST_NONE, NULL, NULL), "read during a sweep", "reading during a sweep");
  Refused(VpVectorWrite(v, VP_GHOST_NONE, NULL), "written during a sweep", "writing during a sweep");
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  const Setting s = {"square", 2, 2, 3, {1, 1, 1}, PETSC_FALSE, VP_SIDE_DIRICHLET, COEFFICIENT_ONE, 0};
  VpBackend     backend = VpBackendHost;
  World         w;
  VpLevel       level;
  VpVector      v, single;

  PetscFunctionBeginUser;
  backend.move = CountingMove;
  PetscCall(WorldCreate(PETSC_COMM_WORLD, &s, &w));
  PetscCall(VpLevelCreate(w.mesh, &w.problem, VP_BASIS_THIN, VP_DOUBLE, &backend, &level));
  PetscCall(VpVectorCreate(level, 2, "test", &v));
  PetscCall(VpVectorCreate(level, 1, "test", &single));
  PetscCall(Ghosts(v));
  PetscCall(Zero(v));
  PetscCall(Contract(v, single));
  PetscCall(VpVectorDestroy(&v));
  PetscCall(VpVectorDestroy(&single));
  PetscCall(VpLevelDestroy(&level));
  PetscCall(WorldDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
