// The C++ interface of src/check, and what a plan promises about errors.
#include <heptad/check.hpp>

#include "api/context.hpp"
#include "base/errors_only.hpp"
#include "base/fail_if.hpp"
#include "check/verify_bits.hpp"
#include "plan/predict/promised_error.hpp"

namespace heptad {
namespace {

VerifyOptions inner_options(const CheckOptions& options) {
    fail_if(options.threads < 0 || options.threads > 4096, ErrorCode::usage,
            "{} threads are not possible; use 1 to 4096, or 0 for all cores", options.threads);
    VerifyOptions inner;
    inner.by.accuracy = options.accuracy;
    inner.all_rows = options.all_rows;
    inner.seed = options.seed;
    inner.threads = options.threads;
    inner.cancel = options.cancel;
    return inner;
}

ProductCheck told(const VerifyResult& result) {
    return {.passed = result.passed(),
            .decided = result.verdict != Verdict::not_verifiable,
            .miss_chance = result.miss_chance,
            .detectable_error = result.detectable_error,
            .residual = result.residual,
            .tolerance = result.tolerance,
            .bad_row = result.bad_row,
            .bad_col = result.bad_col,
            .explanation = result.explanation};
}

}  // namespace

ErrorOutlook error_outlook(const Plan& handle) try {
    const ProductPlan& plan = handle.impl().plan;
    const ErrorPromise promise = promised_error(plan, expected_growth(plan), false);
    return {.expected_growth = promise.growth,
            .typical_error = promise.typical,
            .bound = promise.bound,
            .bound_over = bound_over_text(promise.over)};
} catch (...) {
    rethrow_as_error();
}

ProductCheck check_product(const ConstAnyView& a, const ConstAnyView& b, const ConstAnyView& c,
                           const CheckOptions& options) try {
    return told(verify(a, b, c, inner_options(options)));
} catch (...) {
    rethrow_as_error();
}

ProductCheck check_product(Type algebra, const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                           const CheckOptions& options) try {
    return told(verify_bits(algebra, a, b, c, std::nullopt, inner_options(options)));
} catch (...) {
    rethrow_as_error();
}

}  // namespace heptad
