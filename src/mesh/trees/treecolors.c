/* Colours of whole trees: trees that share a face have different ones. */
#include "../internal.h"

int VpDomainColorTrees(VpDomain domain, uint8_t color[])
{
  int n = 0;

  for (int32_t tree = 0; tree < domain->nbox; tree++) {
    unsigned taken = 0;

    for (int side = 0; side < 2 * domain->dim; side++) {
      const int32_t beyond = VpBoxBeyond(domain, tree, side);

      if (beyond >= 0 && beyond < tree) taken |= 1u << color[beyond];
    }
    for (color[tree] = 0; taken >> color[tree] & 1;) color[tree]++;
    n = PetscMax(n, color[tree] + 1);
  }
  return n;
}
