// What a call would have taken otherwise is not known, since it was not made. The library is timed once per type, on a
// product of kProbeSide; only where there is a log.
#include "api/blas/call_log.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "api/blas/takeover.hpp"
#include "api/drop_in/product_log.hpp"
#include "base/shared_state.hpp"

namespace heptad::blas {

void log_call(const GemmCall& call, RealFunction& real, ProbeSeconds probe, const ProductPlan& plan, double seconds) {
    if (!drop_in::is_logged()) {
        return;
    }
    static constinit std::array<Once<double>, kTypes> probes;
    const double probe_s = probes[type_index(call.a.type)].get([&] { return std::max(probe(real), 1e-9); });
    const ProblemSize size{call.a.rows, call.a.cols, call.b.cols};
    const double probes_of_it = static_cast<double>(size.m) * static_cast<double>(size.k) *
                                static_cast<double>(size.n) / std::pow(kProbeSide, 3);
    drop_in::log_product(real.name(), size, plan, seconds, probe_s * probes_of_it);
}

}  // namespace heptad::blas
