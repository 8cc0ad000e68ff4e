// The tests behind verify(). Preconditions, checked by verify(): shapes and types match, c0 is there if beta !=
// 0, alpha and beta are integers for i32, i64 and gf2.
#pragma once

#include "base/thread_pool.hpp"
#include "check/verify.hpp"

namespace heptad::check {

struct VerifyProblem {
    ConstView a, b, c;
    const VerifyOptions& options;
    std::uint64_t seed;
    ThreadPool& pool;
    /// alpha = 0 or k = 0: A and B are not read.
    bool uses_product() const { return (options.alpha != 0 || options.alpha_imaginary != 0) && a.cols > 0; }
    bool uses_c0() const { return options.adds(); }
    void stop_if_cancelled() const;
};

VerifyResult verify_ring(const VerifyProblem& problem);
VerifyResult verify_bool(const VerifyProblem& problem);
VerifyResult verify_float(const VerifyProblem& problem);
VerifyResult verify_complex(const VerifyProblem& problem);

/// A seed that no input can have been made for.
std::uint64_t seed_from_system();

}  // namespace heptad::check
