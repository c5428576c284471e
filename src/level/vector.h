/* A vector of a level that knows its state: where its values lie, which ghosts are current or under way, whether it is zero. Code that uses
   the values says so by one of the verbs. A verb exchanges stale ghosts and checks what it requires. */
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
  void         *buffer[2]; /* [cells][n^dim]; the second buffer is for sweeps, or NULL */
  unsigned      done;      /* bits of the colours that the current sweep has done (0: no sweep is going on); a cell's values lie in
                              buffer[popcount(cover[cell] & done) & 1] */
  VpVectorState state;
  VpGhostKind   under_way; /* the kind that travels, or VP_GHOST_NONE */
  VpGhosts      travel;
  PetscBool     window; /* The buffer is another vector's. */
};

/* Creates a vector of zeros. what: names the vector in the error if memory runs out */
PetscErrorCode VpVectorCreate(VpLevel, int buffers, const char *what, VpVector *);
PetscErrorCode VpVectorDestroy(VpVector *);
/* Creates a vector whose own values are those of cells first, first + 1, ... of the vector `of`. The new vector has no ghosts, and does not
   know the state of `of`. */
PetscErrorCode          VpVectorCreateWindow(VpVector of, VpLevel, int32_t first, VpVector *);
static inline PetscBool VpVectorIsZero(const struct VpVector_ *v)
{
  return v->state.zero;
}

/* Sets all values to 0. The memory is written at the first read. */
PetscErrorCode VpVectorZero(VpVector);
/* Begins to read own values and the ghosts of a kind (VP_GHOST_NONE: no ghosts). Stale ghosts begin to travel. Ensures: the ghosts are
   there after VpArrive. Requires: no sweep is going on. values and ghosts may be NULL. */
PetscErrorCode VpVectorReadBegin(VpVector, VpGhostKind, const void **values, VpGhosts *ghosts);
PetscErrorCode VpVectorRead(VpVector, VpGhostKind, const void **values); /* begins and waits */
/* Waits for ghosts that are under way. */
PetscErrorCode VpVectorArrive(VpVector);
/* Announces that own values and the ghosts of a kind are to be written. All other ghosts become stale. Requires: nothing is under way, no
   sweep is going on. */
PetscErrorCode VpVectorWrite(VpVector, VpGhostKind, void **values);
/* The same for v += w. Ensures: *add is false if v was zero. Then the caller writes w instead of adding it. Requires: the ghosts of the
   kind are current. */
PetscErrorCode VpVectorAdd(VpVector, VpGhostKind, PetscBool *add, void **values);
/* The same for a change of some of the values. Fetches ghosts of the kind `before` first. Ghosts of the kind `after` are changed, too. */
PetscErrorCode VpVectorChange(VpVector, VpGhostKind before, VpGhostKind after, void **values);

/* ghosts in the first buffer, current or not */
const void *VpVectorGhosts(VpVector);

/* The buffers, for a kernel that changes both. *done = bits of the colours that the current sweep has done (done may be NULL). */
static inline void *const *VpVectorBuffers(VpVector v, unsigned *done)
{
  if (done) *done = v->done;
  return v->buffer;
}
/* Notes that the sweep has done these colours (bits). All ghosts become stale. */
PetscErrorCode VpVectorSwept(VpVector, unsigned colors);
/* Copies current values of cells [0, count) to the first buffer, and ends the sweep. */
PetscErrorCode VpVectorSettle(VpVector, const VpPatchView *, int32_t count);
/* Begins, during a sweep, to fetch the owners' current values for the ghosts of VP_GHOST_SWEEP, in both buffers. */
PetscErrorCode VpVectorRenewGhosts(VpVector, const VpPatchView *, VpGhosts *);

/* Cleans up after an error: waits for ghosts that are under way, and ends a sweep. The values are undefined afterwards. */
PetscErrorCode VpVectorAbandon(VpVector);

/* Read and set the state. Requires: nothing is under way, no sweep is going on. */
PetscErrorCode VpVectorGetState(VpVector, VpVectorState *);
PetscErrorCode VpVectorSetState(VpVector, const VpVectorState *);

/* r = b - A x by the level's operator, or A x if b is NULL. It reads the ghosts of x of that kind. */
PetscErrorCode VpVectorResidual(VpVector x, VpGhostKind, VpVector b, VpVector r);
/* Convert own values from and to outer vectors, which are in double precision and the orthonormal basis. */
/* v = scale r. */
PetscErrorCode VpVectorEnter(VpVector, double scale, const double *r);
/* scale (f - A x) with the outer level's A; x NULL: scale f */
typedef struct {
  VpLevel         outer;
  double          scale;
  const double   *x, *f;
  VpGhosts        ghosts; /* of x */
  const VpGather *gather; /* f has values at nodes. NULL: of cells */
} VpOuterResidual;
/* v = that. norm2: sum of the squares of v over all ranks, or NULL */
PetscErrorCode VpVectorEnterResidual(VpVector, const VpOuterResidual *, PetscReal *norm2);
/* z = scale v (add: z += scale v). */
PetscErrorCode VpVectorLeave(VpVector, PetscBool add, double scale, double *z);
/* sums[n] = the inner products of outer vectors y[n], n = 1 or 2, with what leaves, over all ranks. Requires: the level has
   leave_products() */
PetscErrorCode VpVectorLeaveProducts(VpVector, double scale, int n, const double *const y[], double sums[]);
/* the same for vectors of the boxes where outer ones are of mapped cells; the basis is the outer one */
PetscErrorCode VpVectorEnterBoxes(VpVector, double scale, const double *r);
PetscErrorCode VpVectorLeaveBoxes(VpVector, double *z);
