/* Messages between ranks, and the links by which a backend may send them itself. */
#pragma once
#include "../compat.h"
#include <stddef.h>
#include <stdint.h>

/* the two ways of messages */
enum { VP_OUT, VP_IN, VP_WAYS };

/* Items of `block` bytes that travel between ranks, out and in. Those of rank[i] lie from start[i] to start[i+1] in data. All pointers but
   rank and start are the backend's. */
typedef struct VpMessages_ VpMessages;
struct VpMessages_ {
  size_t             block;
  const int32_t     *list[VP_WAYS]; /* the roots of the items that go out, the leaves of those that come in */
  PetscMPIInt        n[VP_WAYS];
  const PetscMPIInt *rank[VP_WAYS];
  const PetscInt    *start[VP_WAYS]; /* [n+1]; unread where n is 0 */
  void              *data[VP_WAYS];
  /* Packs items from roots to data[VP_OUT] (way VP_OUT), or unpacks them from data[VP_IN] to leaves (way VP_IN). */
  PetscErrorCode (*pack)(const VpMessages *, int way, const void *from, void *to);
  const void *context; /* of pack */
  void       *route;   /* what a link keeps of these messages */
};

static inline int32_t VpMessageItems(const VpMessages *m, int way)
{
  return m->n[way] ? (int32_t)m->start[way][m->n[way]] : 0;
}

/* Links between the devices of a communicator's ranks, for which no host waits. */
typedef struct VpLinks_ VpLinks;
typedef struct VpLink_ {
  const VpLinks *kind; /* A link of any kind begins with it. */
} * VpLink;
struct VpLinks_ {
  const char *name; /* as an option says it */
  /* Collective. *link stays NULL where there can be none; *why says the reason. */
  PetscErrorCode (*connect)(MPI_Comm, VpLink *, const char **why);
  /* Messages that are sent again and again: reserve() allocates data[VP_IN], which other ranks may write to; then prepare(), collective,
     tells neighbours where it is. remove() releases it. All are NULL where messages go to any memory. */
  PetscErrorCode (*reserve)(VpLink, VpMessages *);
  PetscErrorCode (*prepare)(VpLink, VpMessages *);
  PetscErrorCode (*remove)(VpLink, VpMessages *);
  /* Messages are packed after the work given so far, unless roots is NULL: then they lie in data[VP_OUT] already. Work
     that is given after `end` comes after their unpacking. Requires: work that is given between the two neither writes
     roots nor reads leaves; all ranks begin and end the same messages in the same order. */
  PetscErrorCode (*begin)(VpLink, const VpMessages *, const void *roots);
  PetscErrorCode (*end)(VpLink, const VpMessages *, void *leaves);
};
