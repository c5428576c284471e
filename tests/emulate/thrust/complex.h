/* PETSc's headers include this one where CUDA is compiled. */
#pragma once
#include <complex>

namespace thrust {
template <class T>
using complex = std::complex<T>;
}
