#include "run/bits/bit_chain.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/workspace.hpp"
#include "kernels/bits/word_buffer.hpp"

namespace heptad::bits {
namespace {

/// A matrix in the packed layout of a plan, in the basis its products want, or, as a result, in the one they leave.
struct Packed {
    PackedShape shape;
    WordBuffer words;

    explicit Packed(const PackedShape& s) : shape(s), words(s.words()) {}
    PackedTarget target() { return {shape, words.data()}; }
};

/// The steps of a chain, on packed matrices that the caller keeps: fresh memory costs more than what is done in it.
class PackedSteps {
public:
    PackedSteps(const BitLaunch& launch, WorkMeter& meter)
        : launch_(launch), pool_(shared_pool(launch.threads)), meter_(meter), scratch_(launch.scratch_words()) {}

    void pack(const ConstBitView& view, Packed& to) const {
        bits::pack(*launch_.leaf->layout, to.shape, view, launch_.into(), to.words.data(), pool_);
    }
    void multiply(const Packed& left, const Packed& right, Packed& result) const {
        multiply_packed(launch_, left.words.data(), right.words.data(), result.words.data(), scratch_.data(), meter_);
    }
    /// A result becomes operands of this launch; it is lost.
    void repack(Packed& result, std::span<const PackedTarget> operands) const {
        const bool stays = launch_.program == nullptr || launch_.program->chains;
        const auto none = std::span<const Change>();
        bits::repack(*launch_.leaf->layout, result.shape, result.words.data(), stays ? none : launch_.out_of(),
                     operands, stays ? none : launch_.into(), pool_);
    }
    BitMatrix unpacked(Packed& result) const {
        BitMatrix matrix(launch_.size.m, launch_.size.n);
        unpack(*launch_.leaf->layout, result.shape, result.words.data(), launch_.out_of(), matrix.view(), Store::assign,
               pool_);
        return matrix;
    }

private:
    const BitLaunch& launch_;
    ThreadPool& pool_;
    WorkMeter& meter_;
    WordBuffer scratch_;
};

/// Hooks that show the part [done, done + share) of something larger.
RunHooks part_of(const RunHooks& whole, double done, double share) {
    if (!whole.progress) {
        return {whole.cancel};
    }
    return {whole.cancel, [&whole, done, share](const Progress& progress) {
                whole.progress({done + share * progress.fraction, progress.stage});
            }};
}

BitMatrix chain_packed(const ChainPlan& chain, const std::vector<ConstBitView>& factors, const RunHooks& hooks) {
    std::vector<BitLaunch> launches;
    double work = 0;
    for (const ProductPlan& plan : chain.plans) {
        work += launches.emplace_back(bit_launch(plan)).work();
    }
    WorkMeter meter(hooks, work);
    Packed left(launches[0].left());
    PackedSteps(launches[0], meter).pack(factors[0], left);
    for (std::size_t i = 0;; ++i) {
        const PackedSteps steps(launches[i], meter);
        Packed right(launches[i].right()), result(launches[i].result());
        steps.pack(factors[i + 1], right);
        steps.multiply(left, right, result);
        if (i + 1 == launches.size()) {
            return steps.unpacked(result);
        }
        left = Packed(launches[i + 1].left());
        const PackedTarget next = left.target();
        PackedSteps(launches[i + 1], meter).repack(result, {&next, 1});
    }
}

BitMatrix chain_apart(const ChainPlan& chain, const std::vector<ConstBitView>& factors, const RunHooks& hooks) {
    BitMatrix left;
    double done = 0;
    for (std::size_t i = 0; i < chain.plans.size(); ++i) {
        const ProductPlan& plan = chain.plans[i];
        BitMatrix result(plan.m, plan.n);
        const double share = plan.predicted_s / chain.predicted_s;
        multiply_bits(plan, i == 0 ? factors[0] : ConstBitView(left), factors[i + 1], result.view(), false,
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

BitMatrix raise_packed(const ProductPlan& plan, const ConstBitView& a, const std::vector<bool>& squares,
                       const RunHooks& hooks) {
    const BitLaunch launch = bit_launch(plan);
    WorkMeter meter(hooks, launch.work() * static_cast<double>(squares.size()));
    const PackedSteps steps(launch, meter);
    Packed left(launch.left()), right(launch.right()), result(launch.result());
    steps.pack(a, left);
    steps.pack(a, right);
    std::optional<Packed> factor;
    if (std::find(squares.begin(), squares.end(), false) != squares.end()) {
        factor.emplace(launch.right());
        std::copy_n(right.words.data(), right.shape.words(), factor->words.data());
    }
    const PackedTarget operands[] = {left.target(), right.target()};
    for (std::size_t i = 0; i < squares.size(); ++i) {
        if (i > 0) {
            steps.repack(result, {operands, squares[i] ? std::size_t{2} : std::size_t{1}});
        }
        steps.multiply(left, squares[i] ? right : *factor, result);
    }
    return steps.unpacked(result);
}

BitMatrix raise_apart(const ProductPlan& plan, const ConstBitView& a, const std::vector<bool>& squares,
                      const RunHooks& hooks) {
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

/// What a chain takes beside its factors and its result: a step's memory, and the operand that waits for the next one.
std::int64_t chain_bytes(const ChainPlan& chain) {
    std::int64_t most = 0;
    for (const ProductPlan& plan : chain.plans) {
        const auto waiting = bit_launch(plan).right().words() * static_cast<std::int64_t>(sizeof(std::uint64_t));
        most = std::max(most, checked_add(plan.workspace_bytes, waiting));
    }
    return most;
}

int most_levels(const ChainPlan& chain) {
    int most = 0;
    for (const ProductPlan& plan : chain.plans) {
        most = std::max(most, static_cast<int>(plan.levels.size()));
    }
    return most;
}

/// With fewer levels where the memory of more is not free now.
ChainPlan make_fitting_chain(Type algebra, const std::vector<std::int64_t>& sizes, const BitOptions& options,
                             int threads) {
    ChainPlan chain = make_chain_plan(algebra, sizes, options, threads);
    BitOptions fewer = options;
    while (options.levels < 0 && most_levels(chain) > 0 &&
           room_for_workspace(chain_bytes(chain), {}) < chain_bytes(chain)) {
        fewer.levels = most_levels(chain) - 1;
        chain = make_chain_plan(algebra, sizes, fewer, threads);
    }
    return chain;
}

}  // namespace

BitMatrix multiply_chain(Type algebra, const std::vector<ConstBitView>& factors, const BitOptions& options,
                         const BitContext& context) {
    fail_if(factors.empty(), ErrorCode::usage, "a chain of no matrices has no size; give at least one");
    std::vector<std::int64_t> sizes{factors.front().rows};
    for (const ConstBitView& factor : factors) {
        require_view(factor, "a factor");
        if (factor.rows != sizes.back()) {
            fail(ErrorCode::input, "a factor with {} columns is followed by one with {} rows; the two must be equal",
                 sizes.back(), factor.rows);
        }
        sizes.push_back(factor.cols);
    }
    const ChainPlan chain = make_fitting_chain(algebra, sizes, options, context.threads);
    if (chain.plans.empty()) {
        return BitMatrix::copy_of(factors.front());
    }
    return (chain.packed ? chain_packed : chain_apart)(chain, factors, context.hooks);
}

BitMatrix raise(Type algebra, const ConstBitView& a, std::int64_t exponent, const BitOptions& options,
                const BitContext& context) {
    require_view(a, "A");
    fail_if(a.rows != a.cols, ErrorCode::input, "only square matrices have powers, and this one is {} x {}", a.rows,
            a.cols);
    fail_if(exponent < 0, ErrorCode::usage, "an exponent of {} is not possible; use 0 or more", exponent);
    if (exponent < 2) {
        return exponent == 0 ? BitMatrix::identity(a.rows) : BitMatrix::copy_of(a);
    }
    const std::vector<std::int64_t> sizes(squarings(exponent).size() + 2, a.rows);
    return raise_by(make_fitting_chain(algebra, sizes, options, context.threads), a, exponent, context.hooks);
}

BitMatrix raise_by(const ChainPlan& chain, const ConstBitView& a, std::int64_t exponent, const RunHooks& hooks) {
    const auto power = chain.packed ? raise_packed : raise_apart;
    return power(chain.plans.front(), a, squarings(exponent), hooks);
}

}  // namespace heptad::bits
