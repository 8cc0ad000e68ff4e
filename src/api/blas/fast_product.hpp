// A large product of somebody's dgemm_ or cblas_dgemm as one of ours.
#pragma once

#include <complex>

#include "api/blas/real_function.hpp"
#include "base/view.hpp"

namespace heptad::blas {

/// What was asked for, checked, in views: c = alpha * a * b + beta * c.
struct GemmCall {
    std::complex<double> alpha = 1;  // real where the matrices are
    ConstView a, b;
    std::complex<double> beta = 0;
    View c;
};

/// Seconds that the library takes for a product of the type, of kProbeSide in all directions.
using ProbeSeconds = double (*)(RealFunction& real);
inline constexpr int kProbeSide = 512;

/// False: nothing was done, call the real function. That is so where levels do not pay, where there is no memory for
/// them, and where we do not know what is meant (C overlaps A or B). Never throws.
bool multiply_fast(const GemmCall& call, RealFunction& real, ProbeSeconds probe) noexcept;

/// For a process without a BLAS: the classical product, of any size.
void multiply_without_library(const GemmCall& call) noexcept;

}  // namespace heptad::blas
