/* KSPs that tolerate a preconditioner in single precision.

   A cycle in single precision is linear only up to its rounding errors. KSPs that form x from the same vectors as the residual, A M v from
   the M v that x gets, keep r = b - A x. KSPs that take M A v or x = M (V y) for linear do not, and their true residual stalls. The table
   was found by running all KSPs (tests/ksp_table.c). Pipelined CG and GCR keep the relation less well and need more iterations, so they use
   double precision. */
#include "pcbase.h"

static const char *const keeping[] = {KSPRICHARDSON, KSPCHEBYSHEV, KSPFGMRES, KSPPIPEFGMRES, KSPGCR,  KSPFCG,  KSPBICG,        KSPFBCGS,
                                      KSPFBCGSR,     KSPQMRCGS,    KSPCG,     KSPNASH,       KSPSTCG, KSPGLTR, KSPVPATCHDGFCG, NULL};
static const char *const symmetric[] = {KSPCG,       KSPNASH,    KSPSTCG, KSPGLTR,   KSPGROPPCG, KSPPIPECG, KSPPIPECGRR, KSPPIPELCG,
                                        KSPPIPEPRCG, KSPPIPECG2, KSPQCG,  KSPMINRES, KSPSYMMLQ,  KSPCR,     KSPPIPECR,   NULL};

/* KSPs that keep A x of the vectors that make x, or compute the residual anew: the preconditioner may change from step to step. */
static const char *const flexible[] = {KSPRICHARDSON, KSPFGMRES,  KSPPIPEFGMRES,  KSPGCR, KSPPIPEGCR,
                                       KSPFCG,        KSPPIPEFCG, KSPVPATCHDGFCG, NULL};

static PetscBool IsAmong(const char *const types[], KSPType type)
{
  while (*types && strcmp(*types, type)) types++;
  return *types != NULL;
}

PetscBool VpKSPKeepsResidual(KSPType type)
{
  return IsAmong(keeping, type);
}

PetscBool VpKSPNeedsSymmetry(KSPType type)
{
  return IsAmong(symmetric, type);
}

PetscBool VpKSPIsFlexible(KSPType type)
{
  return IsAmong(flexible, type);
}
