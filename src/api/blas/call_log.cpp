// What a call would have taken otherwise is not known, since it was not made. The library is timed once per type, on a
// product of kProbeSide; only where there is a log.
#include "api/blas/call_log.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "api/drop_in/product_log.hpp"
#include "base/shared_state.hpp"

namespace heptad::blas {

void log_call(const GemmCall& call, RealFunction& real, ProbeSeconds probe, const ProductPlan& plan, double seconds) {
    if (!drop_in::is_logged()) {
        return;
    }
    static constinit std::array<Once<double>, 2> rates;
    const double rate = rates[call.a.type == Type::f64 ? 1 : 0].get(
        [&] { return 2 * std::pow(kProbeSide, 3) / std::max(probe(real), 1e-9); });
    const ProblemSize size{call.a.rows, call.a.cols, call.b.cols};
    const double flops = 2 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
    drop_in::log_product(real.name(), size, plan, seconds, flops / rate);
}

}  // namespace heptad::blas
