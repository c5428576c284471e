/* Messages between ranks, and the links by which a backend may send them itself. */
#pragma once
#include "../compat.h"
#include <stddef.h>
#include <stdint.h>

/* the two ends of messages, at which items go out and come in; their number */
enum { VP_OUT, VP_IN, VP_BOTH };

/* Items of `block` bytes that travel between ranks, out and in. Items to or from rank[i] are [start[i], start[i+1]) of data. All pointers
   but rank and start are on the backend. */
typedef struct VpMessages_ VpMessages;
struct VpMessages_ {
  size_t             block;
  const int32_t     *list[VP_BOTH]; /* roots of items that go out, leaves of items that come in */
  PetscMPIInt        n[VP_BOTH];
  const PetscMPIInt *rank[VP_BOTH];
  const PetscInt    *start[VP_BOTH]; /* [n+1]; unread where n is 0 */
  void              *data[VP_BOTH];
  /* Packs items from roots to data[VP_OUT] (end VP_OUT), or unpacks them from data[VP_IN] to leaves (end VP_IN). */
  PetscErrorCode (*pack)(const VpMessages *, int end, const void *from, void *to);
  const void *context; /* context of pack */
  void       *route;   /* a link's own data for these messages */
};

static inline int32_t VpMessageItems(const VpMessages *m, int end)
{
  return m->n[end] ? (int32_t)m->start[end][m->n[end]] : 0;
}

/* Links connect the devices of a communicator's ranks. No host waits for messages through links. */
typedef struct VpLinks_ VpLinks;
typedef struct VpLink_ {
  const VpLinks *kind; /* first member of links of all kinds */
} * VpLink;
struct VpLinks_ {
  const char *name; /* name in options */
  /* Connects the ranks. Collective. If that is impossible, *link stays NULL and *why says the reason. */
  PetscErrorCode (*connect)(MPI_Comm, VpLink *, const char **why);
  /* Prepare messages that are sent repeatedly. reserve() allocates data[VP_IN], to which other ranks may write. Then prepare(), collective,
     tells neighbours its address. remove() releases it. All three are NULL if messages may go to any memory. */
  PetscErrorCode (*reserve)(VpLink, VpMessages *);
  PetscErrorCode (*prepare)(VpLink, VpMessages *);
  PetscErrorCode (*remove)(VpLink, VpMessages *);
  /* begin() packs messages after the work given so far. If roots is NULL, data[VP_OUT] is packed already. Work given after end() runs after
     the unpacking. Requires: work given between begin() and end() neither writes roots nor reads leaves; all ranks begin and end the same
     messages in the same order. */
  PetscErrorCode (*begin)(VpLink, const VpMessages *, const void *roots);
  PetscErrorCode (*end)(VpLink, const VpMessages *, void *leaves);
};
