/* Entries of a matrix that couples sums over modes (kernels/views.h says which), for one mode of the first direction after the other. */
#include "host.h"

PetscErrorCode VpHostCouple(const VpCouple *c, double *K)
{
  const int32_t *m = c->modes, nj = c->j, ni = c->i;
  double        *X, *R;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2((size_t)ni, &X, (size_t)nj * ni, &R));
  for (int32_t k = 0; k < m[0]; k++) {
    PetscCall(PetscArrayzero(R, (size_t)nj * ni));
    for (int32_t l = 0; l < m[1]; l++) {
      PetscCall(PetscArrayzero(X, ni));
      for (int32_t q = 0; q < m[2]; q++) {
        const double by = 1 / (c->lambda[0][k] + c->lambda[1][l] + c->lambda[2][q]);
        for (int32_t i = 0; i < ni; i++) X[i] += by * c->beta[(size_t)q * ni + i];
      }
      for (int32_t j = 0; j < nj; j++) {
        for (int32_t i = 0; i < ni; i++) R[(size_t)j * ni + i] += c->alpha[(size_t)l * nj + j] * c->gamma[(size_t)l * ni + i] * X[i];
      }
    }
    for (int32_t r = 0; r < c->rows; r++) {
      const int32_t *row = c->row + 3 * (size_t)r;

      for (int32_t q = 0; q < c->columns; q++) {
        const int32_t *column = c->column + 3 * (size_t)q;
        double        *to = K + (size_t)row[0] * c->size + column[0];

        if (!k) *to = 0;
        *to += c->W[(size_t)k * c->a + row[1]] * c->W[(size_t)k * c->a + column[1]] * R[(size_t)row[2] * ni + column[2]];
      }
    }
  }
  PetscCall(PetscFree2(X, R));
  PetscFunctionReturn(PETSC_SUCCESS);
}
