/* What the cells of a metric that is being made say together. */
#include "making.h"
#include "../../base/threads.h"

enum { CELLS = 4096 }; /* of a piece. Sums do not depend on the number of threads. */

static const VpMadeCells none = {.least = PETSC_MAX_REAL, .variation = 1, .change = 1, .jump = 1, .indefinite = -1};

static VpMadeCells OfCell(const VpMetricWork *mk, int32_t cell)
{
  const VpMadeCell *made = &mk->made[cell];

  return (VpMadeCells){.least = made->least,
                       .most = made->most,
                       .variation = made->variation,
                       .change = made->change,
                       .jump = made->jump,
                       .logs = log(made->most / made->least),
                       .mass = made->mass,
                       .volume = made->volume,
                       .boxes = VpGeometryVolume(mk->mesh->geometry, cell),
                       .hand = made->sign * VpCellHand(mk->mesh, cell),
                       .indefinite = made->definite ? -1 : cell,
                       .quotient = made->most / made->least,
                       .worst = cell};
}

/* Adds what later cells say. */
static void JoinCells(VpMadeCells *to, const VpMadeCells *later)
{
  to->least = PetscMin(to->least, later->least);
  to->most = PetscMax(to->most, later->most);
  to->variation = PetscMax(to->variation, later->variation);
  to->change = PetscMax(to->change, later->change);
  to->jump = PetscMax(to->jump, later->jump);
  to->logs += later->logs;
  to->mass += later->mass;
  to->volume += later->volume;
  to->boxes += later->boxes;
  to->hand += later->hand;
  if (to->indefinite < 0) to->indefinite = later->indefinite;
  if (later->quotient <= to->quotient) return;
  to->quotient = later->quotient;
  to->worst = later->worst;
}

PetscErrorCode VpFetchMade(VpMetricWork *mk)
{
  const int32_t nown = mk->mesh->nown, pieces = nown / CELLS + (nown % CELLS > 0);
  VpMadeCells  *of; /* [pieces] */

  PetscFunctionBegin;
  PetscCall(mk->backend->download(mk->to.made, (size_t)nown * sizeof(*mk->made), mk->made));
  PetscCall(PetscMalloc1(pieces + 1, &of));
  VP_LOOP_HEAVY (i, pieces) {
    of[i] = none;
    for (int32_t cell = i * CELLS; cell < PetscMin(nown, (i + 1) * CELLS); cell++) {
      const VpMadeCells one = OfCell(mk, cell);

      JoinCells(&of[i], &one);
    }
  }
  mk->all = none;
  for (int32_t i = 0; i < pieces; i++) JoinCells(&mk->all, &of[i]);
  PetscCall(PetscFree(of));
  PetscFunctionReturn(PETSC_SUCCESS);
}
