#include "product/memory/batch.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/cancel_scope.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/types.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "product/memory/packed_bits.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

template <class AnyKindOfView>
AnyKindOfView shifted(const AnyKindOfView& view, std::int64_t elements) {
    AnyKindOfView result = view;
    using Bytes = std::conditional_t<std::is_same_v<AnyKindOfView, View>, std::byte, const std::byte>;
    if (view.data != nullptr) {
        result.data = static_cast<Bytes*>(view.data) + elements * static_cast<std::int64_t>(element_bytes(view.type));
    }
    return result;
}

/// All matrices of one operand, from the first byte of any to the last one.
ByteRange range_of_all(const ConstView& first, std::int64_t stride, std::int64_t count) {
    const ByteRange x = byte_range(first), y = byte_range(shifted(first, stride * (count - 1)));
    return {std::min(x.begin, y.begin), std::max(x.end, y.end)};
}

bool ranges_meet(const ByteRange& x, const ByteRange& y) {
    return x.begin < y.end && y.begin < x.end;
}

void refuse_overlap_of_results(const ProductBatch& batch) {
    const auto bytes = static_cast<std::uintptr_t>(element_bytes(batch.c.type));
    const ByteRange one = byte_range(batch.c);
    for (std::int64_t i = 1; i < batch.count; ++i) {
        if (static_cast<std::uintptr_t>(std::llabs(batch.stride_c * i)) * bytes >= one.end - one.begin) {
            return;  // this far apart none can meet any more
        }
        fail_if(may_overlap(batch.c, shifted(batch.c, batch.stride_c * i)), ErrorCode::input,
                "C of products 0 and {} of the batch share elements; a stride of {} is too short for {} x {}", i,
                batch.stride_c, batch.c.rows, batch.c.cols);
    }
}

/// Batches interleaved in one array are looked at pair by pair.
void refuse_overlap_with(const char* name, const ConstView& first, std::int64_t stride, const ProductBatch& batch) {
    constexpr std::int64_t kMostPairwise = 4096;
    const ByteRange results = range_of_all(batch.c, batch.stride_c, batch.count);
    if (!ranges_meet(range_of_all(first, stride, batch.count), results)) {
        return;
    }
    fail_if(batch.count > kMostPairwise, ErrorCode::input,
            "the memory of {} and C of a batch of {} is interleaved; keep them apart, or use up to {}", name,
            batch.count, kMostPairwise);
    for (std::int64_t i = 0; i < batch.count; ++i) {
        for (std::int64_t j = 0; j < batch.count; ++j) {
            fail_if(may_overlap(shifted(first, stride * i), shifted(batch.c, batch.stride_c * j)), ErrorCode::input,
                    "C of product {} overlaps {} of product {}; give it memory of its own", j, name, i);
        }
    }
}

/// The leaf for products that our threads share out whole, instead of one with threads of its own.
std::string shared_out(const std::string& leaf) {
    constexpr std::string_view kOwnThreads = "-mt";
    return leaf.ends_with(kOwnThreads) ? leaf.substr(0, leaf.size() - kOwnThreads.size()) : leaf;
}

}  // namespace

Product product_of(const ProductBatch& batch, std::int64_t index) {
    return {batch.alpha, shifted(batch.a, batch.stride_a * index), shifted(batch.b, batch.stride_b * index),
            batch.beta,  shifted(batch.c, batch.stride_c * index), batch.imaginary};
}

std::vector<Product> products_of(const ProductBatch& batch, std::int64_t first, std::int64_t count) {
    std::vector<Product> products;
    products.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
        products.push_back(product_of(batch, first + i));
    }
    return products;
}

void validate_batch(const ProductBatch& batch, const ProductContext& context) {
    fail_if(batch.count < 0, ErrorCode::usage, "a batch of {} products is not possible; use 0 or more", batch.count);
    if (batch.count == 0) {
        return;
    }
    validate_product(batch.alpha, batch.a, batch.b, batch.beta, batch.c);
    for (const auto& [stride, type] :
         {std::pair{batch.stride_a, batch.a.type}, {batch.stride_b, batch.b.type}, {batch.stride_c, batch.c.type}}) {
        fail_if(stride == std::numeric_limits<std::int64_t>::min(), ErrorCode::usage,
                "a stride of {} reaches beyond 64-bit addresses", stride);
        checked_mul(checked_mul(std::llabs(stride), batch.count), static_cast<std::int64_t>(element_bytes(type)));
    }
    const Product last = product_of(batch, batch.count - 1);
    validate_product(last.alpha, last.a, last.b, last.beta, last.c);
    if (batch.c.rows == 0 || batch.c.cols == 0) {
        return;
    }
    refuse_overlap_of_results(batch);
    refuse_overlap_with("A", batch.a, batch.stride_a, batch);
    refuse_overlap_with("B", batch.b, batch.stride_b, batch);
    if (context.workspace_bytes > 0) {
        for (const Product& p : products_of(batch, 0, batch.count)) {
            validate_workspace(context.workspace, context.workspace_bytes, p.a, p.b, p.c);
        }
    }
}

void multiply_batch_in_memory(const ProductBatch& batch, const Options& options, const ProductContext& context) {
    validate_batch(batch, context);
    start_product(context.hooks);
    const CancelScope heeded(context.hooks.cancel);
    Options planned = batch.c.type == batch.a.type ? options : without_levels(options);
    planned.accumulate = product_of(batch, 0).reads_result();
    const ProductPlan plan = plan_product(batch.a.rows, batch.a.cols, batch.b.cols, batch.a.type, planned, context);
    ProductContext quiet = context;
    quiet.hooks.progress = {};  // of the batch, not of each product
    const bool many_at_a_time = plan.levels.empty() && !is_complex(batch.a.type) && plan.backend == "cpu" &&
                                plan.leaf != kPackedLeaf && !is_by_residues(plan);
    constexpr std::int64_t kManyAtATime = 1024;
    const std::int64_t step = many_at_a_time ? kManyAtATime : 1;
    for (std::int64_t first = 0; first < batch.count; first += step) {
        stop_if_cancelled(quiet.hooks, "the product was cancelled; C is undefined");
        if (context.hooks.progress && first > 0) {
            context.hooks.progress({static_cast<double>(first) / static_cast<double>(batch.count), "multiply"});
        }
        if (many_at_a_time) {
            cpu::CpuBackend backend(shared_pool(effective_threads(context)));
            const std::int64_t count = std::min(step, batch.count - first);
            backend.multiply(products_of(batch, first, count), count > 1 ? shared_out(plan.leaf) : plan.leaf);
        } else {
            const Product p = product_of(batch, first);
            multiply_in_memory(Factor(p.alpha, p.imaginary.alpha), p.a, p.b, Factor(p.beta, p.imaginary.beta), p.c,
                               planned, quiet);
        }
    }
    finish_product(context.hooks);
}

}  // namespace heptad
