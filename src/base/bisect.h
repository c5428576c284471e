/* Search in what ascends. */
#pragma once

/* low = the last index below `high` for which `is`, an expression of the index `middle`, is true. Requires: it is true for low, or taken to
   be, and not for indices behind one for which it is not */
#define VP_BISECT(low, high, middle, is) \
  while ((high) - (low) > 1) { \
    const __typeof__(low) middle = (low) + ((high) - (low)) / 2; \
\
    if (is) (low) = middle; \
    else (high) = middle; \
  }
