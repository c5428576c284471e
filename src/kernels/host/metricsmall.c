/* metric.c for degrees whose rows fill half of the widest vectors at most: with vectors of 32 bytes. */
#define VP_ONLY_SMALL
#ifdef __AVX512F__
  #define VECTOR_BYTES 32
#endif
#include "metric.c"
