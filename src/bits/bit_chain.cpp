#include "bits/bit_chain.hpp"

#include <bit>
#include <utility>

#include "base/error.hpp"
#include "bits/word_buffer.hpp"

namespace heptad::bits {
namespace {

/// A matrix in the packed layout of a plan, in the basis its products want, or, as a result, in the one they leave.
struct Packed {
    PackedShape shape;
    WordBuffer words;
    bool standard = false;  // a result that is in the standard basis by now

    explicit Packed(const PackedShape& s) : shape(s), words(s.words()) {}
};

/// The steps of a chain, on packed matrices.
class PackedSteps {
public:
    PackedSteps(const BitPlan& plan, WorkMeter& meter) : plan_(plan), pool_(shared_pool(plan.threads)), meter_(meter) {}

    Packed left(const ConstBitView& view) const { return packed(plan_.left(), view); }
    Packed right(const ConstBitView& view) const { return packed(plan_.right(), view); }
    Packed times(const Packed& left, const Packed& right) const {
        Packed result(plan_.result());
        const WordBuffer scratch(plan_.scratch_words());
        multiply_packed(plan_, left.words.data(), right.words.data(), result.words.data(), scratch.data(), meter_);
        return result;
    }
    /// A result as an operand of this plan.
    Packed left(Packed& result) const { return in_role(plan_.left(), result); }
    Packed right(Packed& result) const { return in_role(plan_.right(), result); }
    BitMatrix unpacked(const Packed& result) const {
        BitMatrix matrix(plan_.size.m, plan_.size.n);
        const auto change = result.standard ? std::span<const Change>() : plan_.out_of();
        unpack(*plan_.leaf->layout, result.shape, result.words.data(), change, matrix.view(), Store::assign, pool_);
        return matrix;
    }

private:
    Packed packed(const PackedShape& shape, const ConstBitView& view) const {
        Packed result(shape);
        pack(*plan_.leaf->layout, shape, view, plan_.into(), result.words.data(), pool_);
        return result;
    }
    Packed in_role(const PackedShape& shape, Packed& from) const {
        Packed operand(shape);
        const bool stays = plan_.program == nullptr || plan_.program->chains;
        const auto none = std::span<const Change>();
        repack(*plan_.leaf->layout, from.shape, from.words.data(), stays || from.standard ? none : plan_.out_of(),
               shape, operand.words.data(), stays ? none : plan_.into(), pool_);
        from.standard = !stays;
        return operand;
    }

    const BitPlan& plan_;
    ThreadPool& pool_;
    WorkMeter& meter_;
};

double total_work(const std::vector<BitPlan>& plans) {
    double work = 0;
    for (const BitPlan& plan : plans) {
        work += plan.work();
    }
    return work;
}

/// Hooks that show the part [done, done + share) of something larger.
BitHooks part_of(const BitHooks& whole, double done, double share) {
    if (!whole.progress) {
        return {whole.cancel};
    }
    return {whole.cancel, [&whole, done, share](const Progress& progress) {
                whole.progress({done + share * progress.fraction, progress.stage});
            }};
}

BitMatrix chain_packed(const std::vector<BitPlan>& plans, const std::vector<ConstBitView>& factors,
                       const BitHooks& hooks) {
    WorkMeter meter(hooks, total_work(plans));
    Packed left = PackedSteps(plans[0], meter).left(factors[0]);
    for (std::size_t i = 0;; ++i) {
        const PackedSteps steps(plans[i], meter);
        Packed result = steps.times(left, steps.right(factors[i + 1]));
        if (i + 1 == plans.size()) {
            return steps.unpacked(result);
        }
        left = PackedSteps(plans[i + 1], meter).left(result);
    }
}

BitMatrix chain_apart(const std::vector<BitPlan>& plans, const std::vector<ConstBitView>& factors,
                      const BitHooks& hooks) {
    BitMatrix left;
    double done = 0;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        BitMatrix result(plans[i].size.m, plans[i].size.n);
        const double share = plans[i].work() / total_work(plans);
        multiply_bits(plans[i], i == 0 ? factors[0] : ConstBitView(left), factors[i + 1], result.view(), false,
                      part_of(hooks, done, share));
        done += share;
        left = std::move(result);
    }
    return left;
}

/// Products that a power takes, first to last: is it a squaring, or a product with the matrix itself?
std::vector<bool> squarings(std::int64_t exponent) {
    std::vector<bool> steps;
    for (int bit = 62 - std::countl_zero(static_cast<std::uint64_t>(exponent)); bit >= 0; --bit) {
        steps.push_back(true);
        if (((exponent >> bit) & 1) != 0) {
            steps.push_back(false);
        }
    }
    return steps;
}

BitMatrix raise_packed(const BitPlan& plan, const ConstBitView& a, const std::vector<bool>& squares,
                       const BitHooks& hooks) {
    WorkMeter meter(hooks, plan.work() * static_cast<double>(squares.size()));
    const PackedSteps steps(plan, meter);
    const Packed factor = steps.right(a);
    Packed result = steps.times(steps.left(a), factor);
    for (std::size_t i = 1; i < squares.size(); ++i) {
        const Packed left = steps.left(result);
        result = squares[i] ? steps.times(left, steps.right(result)) : steps.times(left, factor);
    }
    return steps.unpacked(result);
}

BitMatrix raise_apart(const BitPlan& plan, const ConstBitView& a, const std::vector<bool>& squares,
                      const BitHooks& hooks) {
    BitMatrix power = BitMatrix::copy_of(a);
    const double share = 1 / static_cast<double>(squares.size());
    for (std::size_t i = 0; i < squares.size(); ++i) {
        BitMatrix result(a.rows, a.cols);
        multiply_bits(plan, power, squares[i] ? ConstBitView(power) : a, result.view(), false,
                      part_of(hooks, share * static_cast<double>(i), share));
        power = std::move(result);
    }
    return power;
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
    const ChainPlan chain = make_chain_plan(algebra, sizes, options, context.threads);
    if (chain.plans.empty()) {
        return BitMatrix::copy_of(factors.front());
    }
    return chain.packed ? chain_packed(chain.plans, factors, context.hooks)
                        : chain_apart(chain.plans, factors, context.hooks);
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
    if (exponent < 2) {
        return exponent == 0 ? BitMatrix::identity(a.rows) : BitMatrix::copy_of(a);
    }
    const std::vector<std::int64_t> sizes(squarings(exponent).size() + 2, a.rows);
    return raise_by(make_chain_plan(algebra, sizes, options, context.threads), a, exponent, context.hooks);
}

BitMatrix raise_by(const ChainPlan& chain, const ConstBitView& a, std::int64_t exponent, const BitHooks& hooks) {
    const auto power = chain.packed ? raise_packed : raise_apart;
    return power(chain.plans.front(), a, squarings(exponent), hooks);
}

}  // namespace heptad::bits
