/* Communication between ranks. The mesh finds the ghosts, kernels pack and unpack them, and this layer sends them. */
#pragma once
#include "../kernels/ops.h"
#include "../mesh/mesh.h"

extern PetscLogEvent VP_EVENT_EXCHANGE;

/* A kind of arrays whose values travel: those of one mesh, with `block` bytes per cell. The view and its kernels are used for traces, and
   for cells during a sweep. */
typedef struct {
  VpMesh           mesh;
  const VpBackend *backend;
  const VpOps     *ops;
  const VpView    *view;
  size_t           block;
} VpCells;

/* Sends cells from the roots of an SF to its leaves. If `traces` is true, roots and leaves are sides of cells, and traces on these sides
   are sent. */
typedef struct VpExchanger_ *VpExchanger;
PetscErrorCode               VpExchangerCreate(const VpCells *, PetscSF, PetscBool traces, VpExchanger *);
PetscErrorCode               VpExchangerRun(VpExchanger, const void *roots, void *leaves); /* sends and waits */
PetscErrorCode               VpExchangerDestroy(VpExchanger *);

/* The exchangers of all kinds of ghosts. Each is made at its first use. All members but `cells` are zero at first. */
typedef struct {
  VpCells     cells;
  VpExchanger exchanger[VP_GHOST_KINDS];
} VpGhostExchange;
/* Begins to send cells from their owners' own [nown] to ghosts of a kind. Ghosts of VP_GHOST_SIDE get only the coefficients that make the
   traces on their side. Ensures: the values are at `ghost` after VpArrive. Requires: the last exchange of the kind has arrived. */
PetscErrorCode VpGhostExchangeBegin(VpGhostExchange *, VpGhostKind, const void *own, void *ghost, VpGhosts *);
/* Begins, during a sweep of these patches after the colours `done` (ops.h), to send the owners' current values to the ghosts of
   VP_GHOST_SWEEP in x[0]. */
PetscErrorCode VpGhostExchangeBeginCurrent(VpGhostExchange *, const VpPatchView *, unsigned done, void *const x[2], VpGhosts *);
PetscErrorCode VpGhostExchangeClear(VpGhostExchange *);

typedef struct {
  VpTransport transport;
  VpLink      link;     /* NULL without one */
  char        why[128]; /* why kinds of links that were tried failed */
} VpTransportChoice;
/* Chooses the first of these transports that is possible and among `allowed` (bits 1 << VpTransport): links, MPI from device memory, host
   memory. If there is none, it chooses host memory. kind: the only kind of links to try, or NULL. Collective. */
PetscErrorCode VpTransportChoose(MPI_Comm, const VpBackend *, unsigned allowed, const char *kind, VpTransportChoice *);
