/* The backends this library was compiled with. */
#include "ops.h"
#include <string.h>

#ifdef VP_HAVE_CUDA
static const VpBackend *const backends[] = {&VpBackendHost, &VpBackendCuda};
#else
static const VpBackend *const backends[] = {&VpBackendHost};
#endif

const VpBackend *VpBackendFind(const char *name)
{
  for (size_t i = 0; i < sizeof(backends) / sizeof(*backends); i++) {
    if (!strcmp(backends[i]->name, name)) return backends[i];
  }
  return NULL;
}
