// The products of a product of packed bits from file to file, on the processor.
#include "base/bit_bytes.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "product/file/file_product.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kByte = 8;

/// Columns are those of whole bytes.
ProductPlan fitting_plan(Type algebra, std::int64_t m, std::int64_t k, std::int64_t n, const bits::BitOptions& options,
                         int threads, std::int64_t limit_bytes) {
    return bits::make_fitting_bit_plan(algebra, {m, k, round_up(n, kByte)}, options, threads, limit_bytes);
}

}  // namespace

StageProducts packed_bits_stage(Type algebra, const bits::BitOptions& options, int threads) {
    const int used = threads_or_default(threads);
    StageProducts stage;
    stage.plan = [=](const StageProduct& product, Type type) {
        const ProductPlan bit_plan =
            fitting_plan(algebra, product.m, product.k, product.n, options, used, product.workspace_limit_bytes);
        ProductPlan plan;
        plan.m = plan.core_m = product.m;
        plan.k = plan.core_k = product.k;
        plan.n = plan.core_n = product.n;
        plan.type = type;
        plan.threads = used;
        plan.accumulate = product.accumulate;
        plan.leaf = plan.fringe_leaf = "packed";
        plan.workspace_bytes = bit_plan.workspace_bytes;
        plan.predicted_s = bit_plan.predicted_s;
        return plan;
    };
    stage.multiply = [=](Factor, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                         const ProductPlan& plan, void* workspace, std::int64_t workspace_bytes) {
        const ProductPlan bit_plan = fitting_plan(algebra, plan.m, plan.k, plan.n, options, used, workspace_bytes);
        if (bit_plan.workspace_bytes > workspace_bytes) {  // options of today, memory of the run that began
            fail(ErrorCode::resource,
                 "with {} levels and {} threads a step of {} x {} x {} takes {} bytes beside its matrices, and {} were "
                 "set aside for it when the result was begun; give the same --levels, --leaf and --threads again, or "
                 "start over without --resume",
                 bit_plan.levels.size(), used, plan.m, plan.k, plan.n, bit_plan.workspace_bytes, workspace_bytes);
        }
        bits::multiply_bits(bit_plan, bits_of_bytes(a, plan.k), bits_of_bytes(b, bit_plan.n),
                            bits_of_bytes(c, bit_plan.n), beta != 0.0, {}, static_cast<std::uint64_t*>(workspace));
        return RunReport{};
    };
    return stage;
}

}  // namespace heptad
