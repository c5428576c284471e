/* Work whose launches a backend records and replays. Its vectors' states and PETSc's counters are then as if it had been gone through. */
#include "internal.h"

static PetscLogDouble *const counters[VP_COUNTERS] = {&petsc_isend_ct, &petsc_isend_len, &petsc_irecv_ct, &petsc_irecv_len};

typedef struct {
  VpWork    work;
  void     *context;
  PetscBool done;
} Run;

static PetscErrorCode GoThrough(void *context)
{
  Run *run = context;

  PetscFunctionBegin;
  PetscCall(run->work(run->context));
  run->done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the work was gone through: what became of vectors and counters, which were `flops` and `counted` before */
static PetscErrorCode Remember(VpRecorded *recorded, PetscInt n, const VpVector vectors[], PetscLogDouble flops,
                               const PetscLogDouble counted[])
{
  PetscLogDouble now;

  PetscFunctionBegin;
  PetscCall(PetscGetFlops(&now));
  recorded->flops = now - flops;
  for (int i = 0; i < VP_COUNTERS; i++) recorded->messages[i] = *counters[i] - counted[i];
  if (!recorded->after) PetscCall(PetscCalloc1(n, &recorded->after));
  for (PetscInt i = 0; i < n; i++) {
    if (vectors[i]) PetscCall(VpVectorGetState(vectors[i], &recorded->after[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Restore(VpLevel level, const VpRecorded *recorded, PetscInt n, const VpVector vectors[])
{
  PetscFunctionBegin;
  PetscCall(VpLogFlops(level, recorded->flops));
  for (int i = 0; i < VP_COUNTERS; i++) *counters[i] += recorded->messages[i];
  for (PetscInt i = 0; i < n; i++) {
    if (vectors[i]) PetscCall(VpVectorSetState(vectors[i], &recorded->after[i]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpReplay(VpLevel level, VpRecorded *recorded, PetscInt n, const VpVector vectors[], VpWork work, void *context)
{
  Run            run = {work, context, PETSC_FALSE};
  PetscLogDouble flops, counted[VP_COUNTERS];

  PetscFunctionBegin;
  PetscCall(PetscGetFlops(&flops));
  for (int i = 0; i < VP_COUNTERS; i++) counted[i] = *counters[i];
  PetscCall(level->backend->replay(&recorded->recording, GoThrough, &run));
  if (run.done) PetscCall(Remember(recorded, n, vectors, flops, counted));
  else PetscCall(Restore(level, recorded, n, vectors));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VpRecordedForget(const VpBackend *backend, VpRecorded *recorded)
{
  PetscFunctionBegin;
  if (backend->forget) PetscCall(backend->forget(&recorded->recording));
  PetscCall(PetscFree(recorded->after));
  PetscFunctionReturn(PETSC_SUCCESS);
}
