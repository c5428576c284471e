/* However ghosts travel between devices, operator, cycle and solve are those of the host. Where there is no GPU, the host pretends to be
   one. And a transport that can not be is refused. ranks: 1 2 3 4 */
#include "support/agree.h"
#include "support/pretend.h"
#include "support/refused.h"
#include "../src/petsc/dm/internal.h"

static const Case cases[] = {
  {"square", 2, 3, 4, UNIT},
  {"L-shape", 2, 4, 4, VPATCHDG_DOMAIN_LSHAPE, 0, D, D, 0, PETSC_FALSE},
  {"channel in 2D", 2, 5, 4, BOX, P, N, 1, PETSC_FALSE},
  {"cube", 3, 4, 3, UNIT},
  {"Fichera corner", 3, 2, 2, VPATCHDG_DOMAIN_FICHERA, 0, D, D, 0, PETSC_FALSE},
  {"torus", 3, 3, 3, BOX, P, P, 0, PETSC_FALSE},
};

static const struct {
  const char      *name;
  VpAskedTransport asked;
  VpTransport      taken;
} transports[] = {
  {"host", VP_ASKED_HOST, VP_TRANSPORT_HOST},
  {"mpi", VP_ASKED_MPI, VP_TRANSPORT_MPI},
  {"nccl", VP_ASKED_NCCL, VP_TRANSPORT_LINK},
  {"peer", VP_ASKED_PEER, VP_TRANSPORT_LINK},
};
#define NTRANSPORT (int)PETSC_STATIC_ARRAY_LENGTH(transports)

static PetscBool usable[NTRANSPORT];
static VpBackend pretended;
static Place     place; /* HOST: it pretends */

/* the case's DM where its ghosts travel so; `refused`: it can not be */
static PetscErrorCode TransportDM(const Case *c, int t, DM *dm, PetscErrorCode *refused)
{
  const VpBackend *backend = &pretended;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(c, place, dm));
  DMVPatchDGData(*dm)->transport = transports[t].asked;
  PetscCall(DMSetUp(*dm));
  *refused = PETSC_SUCCESS;
  if (place == HOST) PetscCall(Pretend(*dm, &pretended, transports[t].taken));
  else {
    PetscCall(PetscPushErrorHandler(Remember, NULL));
    *refused = DMVPatchDGUseBackend(*dm, &backend);
    PetscCall(PetscPopErrorHandler());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* what can not be used says why; the host always can */
static PetscErrorCode FindTransports(void)
{
  PetscFunctionBeginUser;
  for (int t = 0; t < NTRANSPORT; t++) {
    PetscErrorCode refused;
    DM             dm;

    PetscCall(TransportDM(&cases[0], t, &dm, &refused));
    usable[t] = (PetscBool)!refused;
    if (usable[t]) {
      const VpMesh    mesh = ((DM_VPatchDG *)dm->data)->mesh;
      const PetscBool same = (PetscBool)(place == HOST || !mesh->link || !strcmp(mesh->link->kind->name, transports[t].name));

      TapOk((PetscBool)(tap.size == 1 || (mesh->transport == transports[t].taken && same)), "the_transport_asked_for_is_taken: %s",
            transports[t].name);
    } else {
      TapOk((PetscBool)(t > 0 && strstr(message, transports[t].name)), "transports_agree: %s # SKIP %s", transports[t].name, message);
    }
    if (place == HOST && (transports[t].asked == VP_ASKED_MPI || transports[t].asked == VP_ASKED_PEER))
      usable[t] = PETSC_FALSE; /* by mpi the host sends anyway, and it pretends one kind of links */
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a ghost A x reads no more than its traces on one side: what it holds besides is NaN, from now on, and what travels is these. The
   bytes of p[0], whose messages PETSc counts itself. */
static PetscErrorCode traces_alone_travel(const Case *c, Problem p[2])
{
  DM_VPatchDG   *dg = (DM_VPatchDG *)p[1].dm->data;
  const size_t   bytes = dg->mesh->shared->n * dg->op->level->block;
  PetscLogDouble sent[2];
  PetscReal      apart;
  void          *nan;
  Vec            y;

  PetscFunctionBeginUser;
  sent[0] = -petsc_isend_len;
  PetscCall(MatMult(p[0].A, p[0].b, p[0].x));
  sent[0] += petsc_isend_len;
  sent[1] = dg->mesh->shared->n * 2 * PetscPowReal(c->degree + 1, c->dim - 1) * sizeof(double);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sent, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(VecDuplicate(p[1].x, &y));
  PetscCall(MatMult(p[1].A, p[1].b, y));
  PetscCall(PetscMalloc(bytes, &nan));
  if (bytes) memset(nan, 0xff, bytes);
  PetscCall(dg->in_use->upload(nan, bytes, dg->ghost));
  PetscCall(PetscFree(nan));
  PetscCall(MatMult(p[1].A, p[1].b, p[1].x));
  PetscCall(Difference(p[1].x, y, &apart));
  TapOk((PetscBool)(apart == 0 && sent[0] == sent[1] && (tap.size == 1 || sent[1] > 0)), "traces_alone_travel: %s, %g bytes", c->name,
        sent[0]);
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode transports_agree(const Case *c, int t)
{
  static const struct {
    const char *options;
    PetscInt    degree; /* at least */
    PetscBool   amplifies;
  } cycles[] = {
    {"-pc_vpatchdg_smooth_pre 1", 1, PETSC_FALSE},
    {"-pc_vpatchdg_smooth_pre 1 -pc_vpatchdg_smooth_post 0", 1, PETSC_FALSE},
    {"-pc_vpatchdg_gather 1000", 1, PETSC_FALSE},
    {"-pc_vpatchdg_exchange color", 1, PETSC_FALSE},
    {"-pc_vpatchdg_cycle_type w -pc_vpatchdg_coarse sweeps", 1, PETSC_TRUE},
    {"-pc_vpatchdg_cycle_type w -pc_vpatchdg_coarse sweeps -pc_vpatchdg_symmetric", 1, PETSC_TRUE},
    {"-pc_vpatchdg_residual global -pc_vpatchdg_smooth_post 2", 1, PETSC_FALSE},
    {"-pc_vpatchdg_space dirichlet -pc_vpatchdg_replay 0", 1, PETSC_FALSE},
    {"-pc_vpatchdg_space clamped", 3, PETSC_FALSE},
  };
  PetscErrorCode refused;
  Problem        p[2];
  Case           named = *c;
  char           name[64];
  DM             dm;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s, by %s", c->name, transports[t].name));
  named.name = name;
  PetscCall(CaseDM(c, HOST, &dm));
  PetscCall(CaseProblem(c, dm, &p[0]));
  PetscCall(TransportDM(c, t, &dm, &refused));
  PetscCheck(!refused, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s", message);
  PetscCall(CaseProblem(c, dm, &p[1]));
  PetscCall(CopyValues(p[0].b, p[1].b));
  PetscCall(operators_agree(&named, p));
  PetscCall(traces_alone_travel(&named, p));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(cycles); i++) {
    if (c->degree >= cycles[i].degree) PetscCall(cycles_agree(&named, p, cycles[i].options, PETSC_FALSE, cycles[i].amplifies));
  }
  PetscCall(solver_agrees(&named, p, "-ksp_type richardson", 1));
  PetscCall(solver_agrees(&named, p, "-ksp_type fgmres -pc_vpatchdg_precision double -pc_vpatchdg_gather 1000", 0));
  for (int i = 0; i < 2; i++) PetscCall(ProblemDestroy(&p[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* on every rank, and no rank waits for another for ever */
static PetscErrorCode transports_are_refused(void)
{
  const VpBackend shared = PretendedBackend(PETSC_FALSE);
  DM              dm;

  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  use_gpu_aware_mpi = PETSC_FALSE;
#endif
  for (int asked = 0; asked < 5; asked++) {
    PetscCall(CaseDM(&cases[0], HOST, &dm));
    DMVPatchDGData(dm)->transport = (VpAskedTransport)asked;
    PetscCall(DMSetUp(dm));
    if (!asked) Refused(DMVPatchDGSet(dm, VP_DM_TRANSPORT, VP_ASKED_NCCL), "after DMSetUp", "another transport after set-up");
    if (asked == VP_ASKED_NCCL && tap.size > 1) {
      Refused(DMVPatchDGChooseTransport(dm, &shared), "-dm_vpatchdg_transport nccl: ranks share a GPU", "NCCL where ranks share a GPU");
    } else if (asked == VP_ASKED_PEER && tap.size > 1) {
      Refused(DMVPatchDGChooseTransport(dm, &shared), "-dm_vpatchdg_transport peer: ranks share a GPU", "peers where ranks share a GPU");
    } else if (asked == VP_ASKED_MPI && tap.size > 1) {
      Refused(DMVPatchDGChooseTransport(dm, &shared), "-dm_vpatchdg_transport mpi: PETSc was told", "MPI that does not take device memory");
    } else {
      PetscCall(DMVPatchDGChooseTransport(dm, &shared));
      TapOk((PetscBool)(tap.size == 1 || strstr(((DM_VPatchDG *)dm->data)->travel,
                                                asked ? "host memory" : "host memory (peer: ranks share a GPU, nccl: ranks share a GPU)")),
            "what_can_be_is_taken: %s", VpAskedTransports[asked]);
    }
    PetscCall(DMDestroy(&dm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode backend_is_known_by_its_name(void)
{
  VPatchDGBackend backend;
  DM              dm;

  PetscFunctionBeginUser;
  PetscCall(CaseDM(&cases[0], HOST, &dm));
  PetscCall(DMSetUp(dm));
  PetscCall(Pretend(dm, &pretended, VP_TRANSPORT_HOST));
  PetscCall(DMVPatchDGGetBackend(dm, &backend));
  TapOk((PetscBool)(backend == VPATCHDG_BACKEND_HOST), "backend_is_known_by_its_name: %s", VPatchDGBackends[backend]);
  PetscCall(DMDestroy(&dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TAP_MAIN()
{
  PetscFunctionBeginUser;
  pretended = PretendedBackend(PETSC_TRUE);
  place = UsableBackend("cuda") ? DEVICE : HOST;
  PetscCall(FindTransports());
  for (int t = 0; t < (tap.size == 1 ? 1 : NTRANSPORT); t++) { /* nothing travels with one rank */
    for (size_t i = 0; usable[t] && i < PETSC_STATIC_ARRAY_LENGTH(cases); i++) PetscCall(transports_agree(&cases[i], t));
  }
  PetscCall(transports_are_refused());
  PetscCall(backend_is_known_by_its_name());
  if (pretended_link.open) PetscCallMPI(MPI_Comm_free(&pretended_link.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
