/* What suits GPUs, as measured on an H200 at degree 4. Tests without a GPU read it too. */
#pragma once
#include "../src/kernels/ops.h"

/* step, color, value, product, along, pair, entry, steps, invert (on an H100) */
static const VpLevelCosts VpCudaCosts[] = {{45e-6, 6e-6, 54e-12, 2e-6, 45e-9, 118e-15, 1.0e-12, 2, 0.2e-12},   /* VP_SINGLE */
                                           {45e-6, 6e-6, 108e-12, 2e-6, 45e-9, 176e-15, 2.0e-12, 1, 0.2e-12}}; /* VP_DOUBLE */

/* Launches make an algebraic multigrid as slow as one to three more cycles, so that coefficients of 1:10 stay on levels; on the host it
   would be as slow as a hundred, unless there are few cells. A GPU reads the entries of the largest dense inverse in less time than ten
   sweeps take. */
static const VpPrefers VpCudaPrefers = {.matrix = PetscDefined(HAVE_CUDA) ? "aijcusparse" : NULL,
                                        .matrix_cells = 20000,
                                        .vector = PetscDefined(HAVE_CUDA) ? "cuda" : NULL,
                                        .handover = 30,
                                        .costs = VpCudaCosts,
                                        .gather_cells = 4096,
                                        .gather_unknowns = 0,
                                        .most_columns = 1 << 20,
                                        .unlike = 1.25,
                                        .most_volumes = PetscDefined(HAVE_CUDA) ? 4000 : 0,
                                        .most_dense = 10000,
                                        .coarse_stays = PETSC_TRUE,
                                        .coarse_fits = PETSC_TRUE,
                                        .sorts_patches = PETSC_TRUE,
                                        .rehearses = PETSC_TRUE,
                                        .makes_lines = PETSC_TRUE,
                                        .gpu_flops = PETSC_TRUE};
