/* Chooses the way to solve the coarsest level's problem. */
#include "internal.h"

enum { MOST = 10000 }; /* unknowns beyond which a dense inverse, or a KSP on the host beside a device, takes too much time */

struct VpCoarse_ {
  VpLevel            level;
  const VpCoarseOps *ops;
  void              *data;
};

static PetscBool IsSeparable(const VpCoarseCase *c)
{
  return (PetscBool)(c->type == VP_COARSE_AUTO && c->extent[0]);
}

static PetscBool IsSmall(const VpCoarseCase *c)
{
  if ((c->prefers->coarse_stays && c->ranks > 1) || (c->type != VP_COARSE_DENSE && c->type != VP_COARSE_AUTO)) return PETSC_FALSE;
  return (PetscBool)(VpCoarseUnknowns(c) <= (c->type == VP_COARSE_DENSE ? MOST : c->prefers->most_dense));
}

static PetscBool IsHandedOver(const VpCoarseCase *c)
{
  return (PetscBool)(c->type == VP_COARSE_VOLUMES);
}

static PetscBool SuitsSweeps(const VpCoarseCase *c)
{
  return (PetscBool)(c->type == VP_COARSE_SWEEPS || (c->type == VP_COARSE_AUTO && c->prefers->coarse_stays && !c->trees));
}

/* Also where sweeps would be too many, instead of a KSP on the host, for more unknowns than that is fast for */
static PetscBool SuitsSteps(const VpCoarseCase *c)
{
  const PetscBool many = (PetscBool)(c->prefers->coarse_stays && VpCoarseUnknowns(c) > MOST);

  return (PetscBool)(c->type == VP_COARSE_STEPS || (c->type == VP_COARSE_AUTO && (c->trees || many)));
}

static PetscBool IsAlwaysPossible(const VpCoarseCase *c)
{
  return PETSC_TRUE;
}

static const struct {
  const VpCoarseOps *ops;
  PetscBool (*suits)(const VpCoarseCase *);
} ways[VP_COARSE_WAYS] = {[VP_WAY_LINES] = {&VpCoarseSeparable, IsSeparable},  [VP_WAY_DENSE] = {&VpCoarseDense, IsSmall},
                          [VP_WAY_VOLUMES] = {&VpCoarseVolumes, IsHandedOver}, [VP_WAY_SWEEPS] = {&VpCoarseSweeps, SuitsSweeps},
                          [VP_WAY_STEPS] = {&VpCoarseSteps, SuitsSteps},       [VP_WAY_KSP] = {&VpCoarseKSP, IsAlwaysPossible}};

VpCoarseWay VpCoarseExpect(const VpCoarseCase *c)
{
  VpCoarseWay way = (VpCoarseWay)0;

  while (!ways[way].suits(c)) way++;
  return way;
}

PetscErrorCode VpCoarseCaseComplete(VpLattice L, PetscBool uniform, VpCoarseCase *c)
{
  PetscFunctionBegin;
  c->dim = L->domain->dim;
  c->cells = (double)L->ncell;
  c->trees = (PetscBool)(L->domain->trees != NULL);
  if (uniform) PetscCall(VpBoxGridFind(L, c->n, c->extent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CaseOfLevel(VpLevel level, VpCoarseType type, VpCoarseCase *c)
{
  PetscFunctionBegin;
  *c = (VpCoarseCase){.type = type, .prefers = level->backend->prefers, .ranks = VpMeshRanks(level->mesh), .n = level->basis.n};
  PetscCall(VpCoarseCaseComplete(level->mesh->geometry->lattice, VpLevelIsUniform(level), c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseIsExact(VpLevel level, VpCoarseType type, PetscBool *exact)
{
  VpCoarseCase c;
  VpCoarseWay  way;

  PetscFunctionBegin;
  PetscCall(CaseOfLevel(level, type, &c));
  way = VpCoarseExpect(&c);
  *exact =
    (PetscBool)(way == VP_WAY_LINES || way == VP_WAY_DENSE ||
                (way == VP_WAY_KSP && VpCoarseUnknowns(&c) <= VpDirectLimit(c.dim) && !VpProblemIsSingular(level->mesh, &level->problem)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RefuseDense(MPI_Comm comm, const VpCoarseCase *c)
{
  PetscFunctionBegin;
  PetscCheck(VpCoarseUnknowns(c) <= MOST, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_vpatchdg_coarse dense: the coarsest level has %.0f unknowns, at most %d are inverted. Take more levels "
             "(-pc_vpatchdg_levels 0: all), or leave -pc_vpatchdg_coarse out",
             VpCoarseUnknowns(c), MOST);
  SETERRQ(comm, PETSC_ERR_SUP,
          "-pc_vpatchdg_coarse dense: on GPUs the coarsest level must be on one rank, not on %" PetscInt_FMT
          ". Leave -pc_vpatchdg_gather out, or -pc_vpatchdg_coarse",
          c->ranks);
}

PetscErrorCode VpCoarseCreate(VpLevel level, VpCoarseType type, const char prefix[], PetscObject parent, VpCoarse *out)
{
  VpCoarseCase c;
  VpCoarse     coarse;

  PetscFunctionBegin;
  PetscCall(CaseOfLevel(level, type, &c));
  if (type == VP_COARSE_DENSE && !IsSmall(&c)) PetscCall(RefuseDense(level->mesh->comm, &c));
  PetscCall(PetscNew(&coarse));
  *out = coarse;
  coarse->level = VpReference(level);
  for (VpCoarseWay way = (VpCoarseWay)0; way < VP_COARSE_WAYS && !coarse->data; way++) {
    if (!ways[way].suits(&c)) continue;
    coarse->ops = ways[way].ops;
    PetscCall(coarse->ops->create(level, prefix, parent, &coarse->data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpCoarseSolve(VpCoarse coarse, int32_t n, VpVector b, VpVector x)
{
  return coarse->ops->solve(coarse->data, n, b, x);
}

PetscBool VpCoarseTakesColumns(VpCoarse coarse)
{
  return (PetscBool)(coarse->ops->columns && VpMeshRanks(coarse->level->mesh) == 1);
}

KSP VpCoarseGetKSP(VpCoarse coarse)
{
  return coarse->ops->solver ? ((VpCoarseSolver *)coarse->data)->ksp : NULL;
}

PetscInt VpCoarseStopped(VpCoarse coarse)
{
  VpCoarseSolver *solver = coarse->ops->solver ? coarse->data : NULL;
  const PetscInt  stopped = solver ? solver->stopped : 0;

  if (solver) solver->stopped = 0;
  return stopped;
}

PetscErrorCode VpCoarseMeet(VpCoarse coarse, PetscBool flexible)
{
  return coarse->ops->meet ? coarse->ops->meet(coarse->data, flexible) : PETSC_SUCCESS;
}

PetscErrorCode VpCoarseView(VpCoarse coarse, PetscViewer viewer)
{
  return coarse->ops->view(coarse->data, viewer);
}

PetscErrorCode VpCoarseDestroy(VpCoarse *out)
{
  VpCoarse coarse = *out;

  PetscFunctionBegin;
  *out = NULL;
  if (!coarse) PetscFunctionReturn(PETSC_SUCCESS);
  if (coarse->data) PetscCall(coarse->ops->destroy(coarse->data));
  PetscCall(VpLevelDestroy(&coarse->level));
  PetscCall(PetscFree(coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}
