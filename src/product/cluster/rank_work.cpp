#include "product/cluster/rank_work.hpp"

#include "base/complex_as_real.hpp"
#include "kernels/cpu/cpu_backend.hpp"

namespace heptad {

void add_partial_sum(const View& to, const View& from, int threads) {
    const bool by_rows = is_row_contiguous(to);
    cpu::CpuBackend(shared_pool(threads_or_default(threads)))
        .combine({{lines_as_reals(to, by_rows), lines_as_reals(from, by_rows)}, {{0, {{0, 1}, {1, 1}}}}});
}

void multiply_on_node(const RankWork& work, const ConstView& a, const ConstView& b, Factor beta, const View& c) {
    const ProductContext context{.threads = work.node.threads, .hooks = {&work.failure.cancel()}};
    work.trace.time(Stage::multiply, [&] { work.node.multiply(a, b, beta, c, context); });
}

}  // namespace heptad
