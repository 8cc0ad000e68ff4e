#include "bits/bit_chain.hpp"

#include <utility>

#include "base/error.hpp"
#include "bits/word_buffer.hpp"

namespace heptad::bits {
namespace {

std::span<const Change> into(const BitPlan& plan) {
    return plan.program != nullptr ? std::span<const Change>(plan.program->into) : std::span<const Change>();
}
std::span<const Change> out_of(const BitPlan& plan) {
    return plan.program != nullptr ? std::span<const Change>(plan.program->out_of) : std::span<const Change>();
}

/// A matrix in the packed layout and the basis of a plan.
struct Packed {
    PackedShape shape;
    WordBuffer words;

    explicit Packed(const PackedShape& s) : shape(s), words(s.words()) {}
};

Packed packed(const BitPlan& plan, const PackedShape& shape, const ConstBitView& view, ThreadPool& pool) {
    Packed result(shape);
    pack(*plan.leaf->layout, shape, view, into(plan), result.words.data(), pool);
    return result;
}

/// `from` in the role of `shape`.
Packed in_role(const BitPlan& plan, const PackedShape& shape, const Packed& from, ThreadPool& pool) {
    Packed result(shape);
    repack(*plan.leaf->layout, from.shape, from.words.data(), shape, result.words.data(), pool);
    return result;
}

Packed times(const BitPlan& plan, const Packed& left, const Packed& right, const CancelToken* cancel) {
    Packed result(plan.result());
    multiply_packed(plan, left.words.data(), right.words.data(), result.words.data(), cancel);
    return result;
}

BitMatrix unpacked(const BitPlan& plan, const Packed& from, std::int64_t rows, std::int64_t cols, ThreadPool& pool) {
    BitMatrix result(rows, cols);
    unpack(*plan.leaf->layout, from.shape, from.words.data(), out_of(plan), result.view(), Store::assign, pool);
    return result;
}

}  // namespace

BitMatrix multiply_chain(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                         const BitContext& context) {
    if (factors.empty()) {
        fail(ErrorCode::usage, "a chain of no factors has no size; give at least one matrix");
    }
    std::vector<std::int64_t> sizes{factors.front().rows};
    for (const ConstBitView& factor : factors) {
        require_view(factor, "a factor");
        if (factor.rows != sizes.back()) {
            fail(ErrorCode::input, "a factor with {} columns is followed by one with {} rows; the two must be equal",
                 sizes.back(), factor.rows);
        }
        sizes.push_back(factor.cols);
    }
    const std::vector<BitPlan> plans = make_chain_plans(algebra, sizes, options, context.threads);
    if (plans.empty()) {
        return BitMatrix::copy_of(factors.front());
    }
    ThreadPool& pool = shared_pool(context.threads);
    Packed left = packed(plans[0], plans[0].left(), factors[0], pool);
    for (std::size_t i = 0;; ++i) {
        const Packed right = packed(plans[i], plans[i].right(), factors[i + 1], pool);
        const Packed result = times(plans[i], left, right, context.cancel);
        if (i + 1 == plans.size()) {
            return unpacked(plans[i], result, sizes.front(), sizes.back(), pool);
        }
        left = in_role(plans[i + 1], plans[i + 1].left(), result, pool);
    }
}

BitMatrix raise(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const BitContext& context) {
    require_view(a, "A");
    if (a.rows != a.cols) {
        fail(ErrorCode::input, "only square matrices have powers, and this one is {} x {}", a.rows, a.cols);
    }
    if (exponent < 0) {
        fail(ErrorCode::usage, "an exponent of {} cannot be; take 0 or more", exponent);
    }
    const BitPlan plan = make_chain_plans(algebra, {a.rows, a.rows, a.rows}, options, context.threads).front();
    if (exponent < 2) {
        return exponent == 0 ? BitMatrix::identity(a.rows) : BitMatrix::copy_of(a);
    }
    ThreadPool& pool = shared_pool(context.threads);
    // From the highest bit of the exponent down: square, and multiply by A where the bit is set.
    const Packed factor = packed(plan, plan.right(), a, pool);
    Packed left = packed(plan, plan.left(), a, pool);
    Packed result(plan.result());
    const int highest = 63 - __builtin_clzll(static_cast<unsigned long long>(exponent));
    for (int bit = highest - 1; bit >= 0; --bit) {
        if (bit == highest - 1) {
            result = times(plan, left, factor, context.cancel);
        } else {
            left = in_role(plan, plan.left(), result, pool);
            const Packed right = in_role(plan, plan.right(), result, pool);
            result = times(plan, left, right, context.cancel);
        }
        if (((exponent >> bit) & 1) != 0) {
            left = in_role(plan, plan.left(), result, pool);
            result = times(plan, left, factor, context.cancel);
        }
    }
    return unpacked(plan, result, a.rows, a.cols, pool);
}

}  // namespace heptad::bits
