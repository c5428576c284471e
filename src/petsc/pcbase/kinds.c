/* Which KSPs stand a preconditioner in single precision.

   A cycle in single precision is a linear map only up to its rounding errors. KSPs that form x from the same vectors as the residual, A M v
   from the M v that x gets, keep r = b - A x; those that take M A v or x = M (V y) for linear do not, and their true residual stalls. Which
   do what was found by running all of them (tests/ksp_table.c has the table that follows from it). Pipelined CG and GCR keep the relation
   less well and need more iterations: they are left in double. */
#include "pcbase.h"

static const VpKSPKind kinds[] = {
  {KSPRICHARDSON, PETSC_TRUE, PETSC_FALSE}, {KSPCHEBYSHEV, PETSC_TRUE, PETSC_FALSE}, {KSPFGMRES, PETSC_TRUE, PETSC_FALSE},
  {KSPPIPEFGMRES, PETSC_TRUE, PETSC_FALSE}, {KSPGCR, PETSC_TRUE, PETSC_FALSE},       {KSPFCG, PETSC_TRUE, PETSC_FALSE},
  {KSPBICG, PETSC_TRUE, PETSC_FALSE},       {KSPFBCGS, PETSC_TRUE, PETSC_FALSE},     {KSPFBCGSR, PETSC_TRUE, PETSC_FALSE},
  {KSPQMRCGS, PETSC_TRUE, PETSC_FALSE},     {KSPCG, PETSC_TRUE, PETSC_TRUE},         {KSPNASH, PETSC_TRUE, PETSC_TRUE},
  {KSPSTCG, PETSC_TRUE, PETSC_TRUE},        {KSPGLTR, PETSC_TRUE, PETSC_TRUE},       {KSPGROPPCG, PETSC_FALSE, PETSC_TRUE},
  {KSPPIPECG, PETSC_FALSE, PETSC_TRUE},     {KSPPIPECGRR, PETSC_FALSE, PETSC_TRUE},  {KSPPIPELCG, PETSC_FALSE, PETSC_TRUE},
  {KSPPIPEPRCG, PETSC_FALSE, PETSC_TRUE},   {KSPPIPECG2, PETSC_FALSE, PETSC_TRUE},   {KSPQCG, PETSC_FALSE, PETSC_TRUE},
  {KSPMINRES, PETSC_FALSE, PETSC_TRUE},     {KSPSYMMLQ, PETSC_FALSE, PETSC_TRUE},    {KSPCR, PETSC_FALSE, PETSC_TRUE},
  {KSPPIPECR, PETSC_FALSE, PETSC_TRUE},
};

VpKSPKind VpKSPKindOf(KSPType type)
{
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(kinds); i++) {
    if (!strcmp(kinds[i].type, type)) return kinds[i];
  }
  return (VpKSPKind){type, PETSC_FALSE, PETSC_FALSE};
}
