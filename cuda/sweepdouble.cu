/* sweep.cu in double precision */
#define VP_SWEEP VpCudaSweepDouble
#define VP_REAL  double
#include "sweep.cu"
