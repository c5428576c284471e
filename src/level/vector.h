/* A vector of a level that knows its state: where its values lie, which ghosts are current or under way, whether it is zero. Whoever uses
   its values says so by one of the verbs, which exchanges what is stale, and checks what it requires. */
#pragma once
#include "../communication/communication.h"

typedef struct VpLevel_  *VpLevel;
typedef struct VpVector_ *VpVector;

/* What is known of a vector between two pieces of work; cycle/apply.c keeps it and restores it. */
typedef struct {
  unsigned  current; /* bit k: the ghosts of kind k hold their owners' values */
  PetscBool zero;    /* all values are 0, ghosts included */
  PetscBool blank;   /* it is zero, but its memory has not been written */
} VpVectorState;

/* Only vector.c writes these. */
struct VpVector_ {
  VpLevel       level;
  void         *buffer[2]; /* [cells][n^dim]; the second one is there for sweeps, NULL where there are none */
  unsigned      done;      /* the colours that the present sweep has been through, a bit each (0: no sweep is going on); a cell's
                              values lie in buffer[popcount(cover[cell] & done) & 1] */
  VpVectorState state;
  VpGhostKind   under_way; /* the kind that travels, or VP_GHOST_NONE */
  VpGhosts      travel;
  PetscBool     window; /* The buffer is another vector's. */
};

/* All values are 0. what: for the error if memory runs out */
PetscErrorCode VpVectorCreate(VpLevel, int buffers, const char *what, VpVector *);
PetscErrorCode VpVectorDestroy(VpVector *);
/* A vector of a level whose own values are those of cells first, first + 1, ... of another vector. It has no ghosts and
   knows nothing of the other one's state. */
PetscErrorCode          VpVectorCreateWindow(VpVector of, VpLevel, int32_t first, VpVector *);
static inline PetscBool VpVectorIsZero(const struct VpVector_ *v)
{
  return v->state.zero;
}

/* Sets all values to 0. The memory is written when somebody reads it. */
PetscErrorCode VpVectorZero(VpVector);
/* Begins to read own values and the ghosts of a kind (VP_GHOST_NONE: own values alone), which begin to travel where they are stale.
   Ensures: they are there after VpArrive. Requires: no sweep is going on. values and ghosts may be NULL. */
PetscErrorCode VpVectorReadBegin(VpVector, VpGhostKind, const void **values, VpGhosts *ghosts);
PetscErrorCode VpVectorRead(VpVector, VpGhostKind, const void **values); /* begins and waits */
/* Waits for the ghosts that are under way, if there are any. */
PetscErrorCode VpVectorArrive(VpVector);
/* Own values and the ghosts of a kind are about to be written; all others become stale. Requires: nothing is under way, no sweep is going
   on. */
PetscErrorCode VpVectorWrite(VpVector, VpGhostKind, void **values);
/* The same for v += w. Ensures: *add is false where v was zero; the caller then writes w instead of adding it. Requires: the ghosts of the
   kind are current. */
PetscErrorCode VpVectorAdd(VpVector, VpGhostKind, PetscBool *add, void **values);
/* The same for values that are changed in places. The ghosts of the first kind are fetched before, those of the second are changed, too. */
PetscErrorCode VpVectorChange(VpVector, VpGhostKind before, VpGhostKind after, void **values);

/* where the first buffer has ghosts, as they are now */
const void *VpVectorGhosts(VpVector);

/* The buffers, and the colours that the present sweep has been through (done, or NULL), for a kernel that changes both. */
static inline void *const *VpVectorBuffers(VpVector v, unsigned *done)
{
  if (done) *done = v->done;
  return v->buffer;
}
/* Says that the sweep has been through these colours (a bit each). All ghosts become stale. */
PetscErrorCode VpVectorSwept(VpVector, unsigned colors);
/* Brings the values of cells [0, count) to the first buffer, which ends the sweep. */
PetscErrorCode VpVectorSettle(VpVector, const VpPatchView *, int32_t count);
/* During a sweep: begins to bring the owners' current values to the ghosts of VP_GHOST_SWEEP, in both buffers. */
PetscErrorCode VpVectorRenewGhosts(VpVector, const VpPatchView *, VpGhosts *);

/* Ends what an error left unfinished: waits for ghosts that are under way, leaves a sweep. Values may be anything then. */
PetscErrorCode VpVectorAbandon(VpVector);

/* Read and set the state. Requires: nothing is under way, no sweep is going on. */
PetscErrorCode VpVectorGetState(VpVector, VpVectorState *);
PetscErrorCode VpVectorSetState(VpVector, const VpVectorState *);

/* Own values from and to outer vectors, which are in double precision and the orthonormal basis. */
/* v = scale r. */
PetscErrorCode VpVectorEnter(VpVector, double scale, const double *r);
/* v = scale (f - A x) with the outer level's A (x NULL: scale f); norm2: the sum of its squares over all ranks, or NULL. */
PetscErrorCode VpVectorEnterResidual(VpVector, VpLevel outer, double scale, const double *x, VpGhosts, const double *f, PetscReal *norm2);
/* z = scale v (add: z += scale v). */
PetscErrorCode VpVectorLeave(VpVector, PetscBool add, double scale, double *z);
