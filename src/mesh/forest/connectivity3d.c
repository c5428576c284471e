/* connectivity.c for octrees */
#include <p4est_to_p8est.h>
#include "connectivity.c"
