/* The CUDA backend. All its work goes on one stream, the default stream until another one is given. */
#pragma once
#include "../src/kernels/ops.h"

#ifdef __cplusplus
extern "C" {
#endif
extern const VpBackend VpBackendCuda;
#ifdef __cplusplus
}
#endif
