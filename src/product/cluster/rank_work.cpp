#include "product/cluster/rank_work.hpp"

#include "kernels/cpu/cpu_backend.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product.hpp"

namespace heptad {

void add_partial_sum(const View& to, const View& from, int threads) {
    cpu::CpuBackend(shared_pool(threads)).combine({{to, from}, {{0, {{0, 1}, {1, 1}}}}});
}

void multiply_on_node(const RankWork& work, const ConstView& a, const ConstView& b, double beta, const View& c) {
    ProductContext context;
    context.threads = work.node.threads;
    context.hooks.cancel = &work.failure.cancel();
    work.trace.time(Stage::multiply, [&] {
        work.node.note(is_device_product(work.node.options.device)
                           ? multiply_on_device(work.node.alpha, a, b, beta, c, work.node.options, context)
                           : multiply_in_memory(work.node.alpha, a, b, beta, c, work.node.options, context));
    });
}

}  // namespace heptad
