/* What ranks tell each other. This room lies above the mesh, which finds the ghosts, and the kernels, which pack and unpack them. */
#pragma once
#include "../kernels/ops.h"
#include "../mesh/mesh.h"

extern PetscLogEvent VP_EVENT_EXCHANGE;

/* The arrays whose values travel: those of one mesh, of cells with `block` bytes. Only traces, and cells during a sweep, need the view and
   its kernels. */
typedef struct {
  VpMesh           mesh;
  const VpBackend *backend;
  const VpOps     *ops;
  const VpView    *view;
  size_t           block;
} VpCells;

/* Cells from the roots of an SF to its leaves; or, where `traces` says that these are sides, what makes the traces there. */
typedef struct VpExchanger_ *VpExchanger;
PetscErrorCode               VpExchangerCreate(const VpCells *, PetscSF, PetscBool traces, VpExchanger *);
PetscErrorCode               VpExchangerRun(VpExchanger, const void *roots, void *leaves); /* from the roots to the leaves */
PetscErrorCode               VpExchangerDestroy(VpExchanger *);

/* The exchangers of all kinds of ghosts. At first all is zero but `cells`. Each is made when it is first used. */
typedef struct {
  VpCells     cells;
  VpExchanger exchanger[VP_GHOST_KINDS];
} VpGhostExchange;
/* Ghosts of a kind from their owners' cells own[nown]; of VP_GHOST_SIDE only what makes the traces on that side. Ensures: they are at ghost
   after VpArrive. Requires: the last exchange of the kind has arrived. */
PetscErrorCode VpGhostExchangeBegin(VpGhostExchange *, VpGhostKind, const void *own, void *ghost, VpGhosts *);
/* During a sweep of these patches, after the colours `done` (ops.h), begins to bring the owners' current values to the ghosts of
   VP_GHOST_SWEEP in x[0]. */
PetscErrorCode VpGhostExchangeBeginCurrent(VpGhostExchange *, const VpPatchView *, unsigned done, void *const x[2], VpGhosts *);
PetscErrorCode VpGhostExchangeClear(VpGhostExchange *);

/* The first transport of links, MPI from device memory and host memory that is possible and among `allowed` (bits 1 << VpTransport); host
   memory where none is. kind: the only kind of links, or NULL. why: the reasons why there is no link of the kinds that come before the one
   that is taken. Collective. */
PetscErrorCode VpTransportChoose(MPI_Comm, const VpBackend *, unsigned allowed, const char *kind, VpTransport *, VpLink *, char why[],
                                 size_t length);
