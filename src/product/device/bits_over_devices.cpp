// Products of packed bits over devices.
#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/bit_words.hpp"
#include "base/fail_if.hpp"
#include "base/over_rows.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/word_sums.hpp"
#include "move/layer_stages.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/dense_blocks.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

/// Bit operations (2mkn) that a core does in a second by the leaves of src/kernels/bits, roughly: between a Neoverse V1
/// and a Xeon with GFNI. It is the same for all cuts, so it decides only between them and the time of the host.
constexpr double kCoreBitOperationsPerS = 1e13;

/// A block that does not fit is forecast with what it would need: another cut is tried then.
template <class MakePlan>
ProductPlan plan_within(std::int64_t workspace, const MakePlan& make_plan) {
    try {
        return make_plan(workspace);
    } catch (const Error& problem) {
        if (problem.code() != ErrorCode::resource) {
            throw;
        }
        return make_plan(std::numeric_limits<std::int64_t>::max());
    }
}

BlockPlanner block_planner(const DeviceList& list, Type algebra, const bits::BitOptions& options) {
    if (list.cuda) {
        const BitDeviceFacts facts = bit_device_facts(list.indices.front());
        return [=](const ProblemSize& block, bool /*accumulate*/, std::int64_t workspace) {
            if (std::max({block.m, block.k, block.n}) >= kMostBitSide) {  // other cuts have smaller blocks
                ProductPlan none;
                none.workspace_bytes = std::numeric_limits<std::int64_t>::max() / 4;
                return none;
            }
            return plan_within(workspace, [&](std::int64_t limit) {
                return plan_bit_device_product({bit_operation(algebra), block}, bit_device_options(options, limit),
                                               facts);
            });
        };
    }
    return [=](const ProblemSize& block, bool /*accumulate*/, std::int64_t /*workspace*/) {
        ProductPlan plan = bits::make_bit_plan(algebra, block, options, 1);
        const bits::BitLaunch launch = bits::bit_launch(plan);
        // What the leaf takes for tables and the like counts as rows of A, as in its own plan.
        plan.predicted_s = 2 * launch.work() *
                           (1 + static_cast<double>(launch.leaf->overhead_rows) / static_cast<double>(launch.shape.m)) /
                           kCoreBitOperationsPerS;
        return plan;
    };
}

using bits::kWordBits;
using bits::words_of;

constexpr std::int64_t kLineWords = 8;

ConstBitView clipped(const ConstBitView& matrix, const BlockCut& cut, int block) {
    const auto [row, rows, col, cols] = cut.inside(block, matrix.rows, matrix.cols);
    return rows > 0 && cols > 0 ? matrix.block(row, col, rows, cols) : ConstBitView{};
}

/// Words from the start of a row that can be taken as they are, in whole lines; the others need masks or shifts.
std::int64_t plain_words(const ConstBitView& view) {
    return view.offset == 0 ? view.cols / kWordBits / kLineWords * kLineWords : 0;
}

/// One row of the sum of `parts`, whose plain words end at the sorted `edges`.
void sum_row(std::span<const ConstBitView> parts, std::span<const std::int64_t> edges, std::int64_t row,
             std::uint64_t* to) {
    const bits::WordSum sum = bits::word_sum();
    const std::uint64_t* sources[bits::kMostTerms];
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        const std::int64_t begin = edges[i], end = edges[i + 1];
        int count = 0;
        bool adds = false;
        for (const ConstBitView& part : parts) {
            if (row < part.rows && plain_words(part) >= end) {
                if (count == bits::kMostTerms) {
                    sum(to + begin, sources, count, end - begin, adds);
                    adds = true;
                    count = 0;
                }
                sources[count++] = part.words + row * part.stride + begin;
            }
        }
        if (count > 0) {
            sum(to + begin, sources, count, end - begin, adds);
        } else {
            std::memset(to + begin, 0, static_cast<std::size_t>(end - begin) * 8);
        }
    }
    for (const ConstBitView& part : parts) {
        for (std::int64_t w = plain_words(part); row < part.rows && w < words_of(part.cols); ++w) {
            to[w] ^= bits::load_word(part, row, w);
        }
    }
}

template <bits::Store mode>
void update_row(const BitView& target, std::int64_t row, const std::uint64_t* from) {
    const std::int64_t plain = plain_words(target);
    std::uint64_t* to = target.words + row * target.stride;
    if constexpr (mode == bits::Store::assign) {
        std::memcpy(to, from, static_cast<std::size_t>(plain) * 8);
    } else if constexpr (mode == bits::Store::exclusive_or) {
        if (plain > 0) {
            bits::word_sum()(to, &from, 1, plain, true);
        }
    } else {
        for (std::int64_t w = 0; w < plain; ++w) {
            to[w] |= from[w];
        }
    }
    for (std::int64_t w = plain; w < words_of(target.cols); ++w) {
        bits::store_word<mode>(target, row, w, from[w]);
    }
}

/// to = XOR of blocks; `to` has the size of a block, begins on a 64-byte boundary and has rows of whole 64-byte lines,
/// which are filled up with zeros. Precondition: cut.cols is a multiple of 64.
void sum_bit_blocks(const ConstBitView& matrix, const BlockCut& cut, std::span<const BlockTerm> terms,
                    const BitView& to, ThreadPool& pool) {
    std::vector<ConstBitView> parts;
    std::vector<std::int64_t> edges{0, to.stride};
    for (const BlockTerm& term : terms) {
        const ConstBitView part = clipped(matrix, cut, term.block);
        if (part.rows > 0) {
            parts.push_back(part);
            edges.push_back(plain_words(part));
        }
    }
    edges = sorted_edges(std::move(edges));
    over_rows(to.rows, to.stride, pool,
              [&](std::int64_t row) { sum_row(parts, edges, row, to.words + row * to.stride); });
}

/// Puts, XORs or ORs `from` into a block. Precondition: the matrix begins at bit 0 of a word, so that no two blocks
/// share one.
void update_bit_block(const BitView& matrix, const BlockCut& cut, int block, bits::Store mode, const ConstBitView& from,
                      ThreadPool& pool) {
    const ConstBitView inside = clipped(matrix, cut, block);
    const BitView target{const_cast<std::uint64_t*>(inside.words), inside.rows, inside.cols, inside.stride,
                         inside.offset};
    over_rows(target.rows, words_of(target.cols), pool, [&](std::int64_t row) {
        const std::uint64_t* source = from.words + row * from.stride;
        switch (mode) {
            case bits::Store::assign:
                return update_row<bits::Store::assign>(target, row, source);
            case bits::Store::exclusive_or:
                return update_row<bits::Store::exclusive_or>(target, row, source);
            case bits::Store::inclusive_or:
                return update_row<bits::Store::inclusive_or>(target, row, source);
        }
    });
}

class PackedMatrices final : public HostMatrices {
public:
    PackedMatrices(const BlockGrid& grid, bool in_place, const SubProduct& product, const ConstBitView& a,
                   const ConstBitView& b, const BitView& c, bool accumulate, ThreadPool& pool)
        : a_(a),
          b_(b),
          c_(c),
          product_(product),
          cut_a_{product.left.rows, product.left.cols, grid.k},
          cut_b_{product.right.rows, product.right.cols, grid.n},
          cut_c_{product.result.rows, product.result.cols, grid.n},
          adding_(product.left.type == Type::gf2 ? bits::Store::exclusive_or : bits::Store::inclusive_or),
          accumulate_(accumulate),
          in_place_(in_place && !accumulate && a.offset == 0 && b.offset == 0 && c.offset == 0),
          pool_(pool) {}

    void make_left(const BlockProduct& instance, void* to) override {
        sum_bit_blocks(a_, cut_a_, instance.left, product_.left.bits(to), pool_);
    }
    void make_right(const BlockProduct& instance, void* to) override {
        sum_bit_blocks(b_, cut_b_, instance.right, product_.right.bits(to), pool_);
    }
    void update(const BlockResult& term, bool first, const void* from) override {
        update_bit_block(c_, cut_c_, term.block, first && !accumulate_ ? bits::Store::assign : adding_,
                         product_.result.bits(const_cast<void*>(from)), pool_);  // a view to read through
    }

    bool in_place() const override { return in_place_; }
    HostRows rows_of_left(const BlockProduct& instance) override {
        return rows_of(a_, cut_a_, instance.left.front().block);
    }
    HostRows rows_of_right(const BlockProduct& instance) override {
        return rows_of(b_, cut_b_, instance.right.front().block);
    }
    HostRows rows_of_result(const BlockResult& term) override { return rows_of(c_, cut_c_, term.block); }

private:
    static HostRows rows_of(const ConstBitView& matrix, const BlockCut& cut, int block) {
        // Devices write rows of C alone.
        auto* const data = const_cast<std::uint64_t*>(matrix.words) + cut.first_row(block) * matrix.stride +
                           cut.first_col(block) / bits::kWordBits;
        return {reinterpret_cast<std::byte*>(data), cut.rows, cut.cols / bits::kWordBits * 8, matrix.stride * 8};
    }

    ConstBitView a_, b_;
    BitView c_;
    const SubProduct& product_;
    BlockCut cut_a_, cut_b_, cut_c_;
    bits::Store adding_;
    bool accumulate_;
    bool in_place_;
    ThreadPool& pool_;
};

bits::BitOptions device_options(const bits::BitOptions& options) {
    bits::BitOptions one = options;
    one.device = "auto";
    one.host = {};
    return one;
}

/// Where there is nothing to multiply, no device is asked.
bool multiplied_as_empty(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c, bool accumulate,
                         const ProductContext& context) {
    const bool empty = c.rows == 0 || c.cols == 0 || a.cols == 0;
    if (empty) {
        bits::multiply_bits(algebra, a, b, c, accumulate, {}, {effective_threads(context), {context.hooks.cancel}});
    }
    return empty;
}

}  // namespace

HostDecision make_bit_plan_over_devices(Type algebra, const ProblemSize& size, bool accumulate,
                                        const bits::BitOptions& options, const ProductContext& context,
                                        const BitOffsets& offsets) {
    fail_if(algebra != Type::gf2 && algebra != Type::boolean, ErrorCode::usage,
            "bit matrices are multiplied over gf2 or bool, not {}", type_name(algebra));
    const DeviceList list = parse_device_list(options.device);
    HostProblem problem{size, algebra, algebra, true, accumulate, Accuracy::fast, options.host, offsets.operands};
    if (list.cuda && algebra == Type::gf2) {
        problem.measured = bit_device_facts(list.indices.front()).measured_at_host;
    }
    if (offsets.result) {
        problem.copied_bytes = padded_block_bytes(algebra, true, size.m, size.n);
    }
    if (options.algorithm == "classical" && problem.constraints.levels < 0) {
        problem.constraints.levels = 0;  // P3 3.18: the cubic product, at the host too
    }
    return make_host_plan(problem, device_facts(list),
                          host_facts(options.host.host_memory_bytes, effective_threads(context)),
                          block_planner(list, algebra, device_options(options)));
}

ProductPlan check_bit_block_plan(const ProductPlan& plan) {
    ProductPlan block = block_plan(plan);
    block.accumulate = true;  // as all of packed bits may
    check_packed_plan(block);
    return block;
}

SubProduct bit_sub_product(const ProductPlan& plan, const ProductContext& context) {
    const HostCut& cut = *plan.host;
    SubProduct product;
    product.left = {plan.type, true, true, cut.block_m, cut.block_k};
    product.right = {plan.type, true, true, cut.block_k, cut.block_n};
    product.result = {plan.type, true, true, cut.block_m, cut.block_n};
    product.plan = block_plan(plan);
    product.cancel = context.hooks.cancel;
    return product;
}

void run_host_plan(const ProductPlan& plan, const DeviceSet& devices, const ConstBitView& a, const ConstBitView& b,
                   const BitView& c, bool accumulate, const ProductContext& context) {
    const HostLayer layer = layer_of(plan);
    LayerRun run;
    run.layer = &layer;
    run.product = bit_sub_product(plan, context);
    run.pipelines = plan.host->pipelines;
    const bool cuda = parse_device_list(plan.host->devices).cuda;
    ThreadPool& pool = shared_pool(cuda ? effective_threads(context) : 1);
    // Blocks of a view that begins inside a word share words, which two threads must not write at a time.
    const bool shifts = c.offset != 0;
    BitMatrix shifted = !shifts ? BitMatrix() : accumulate ? BitMatrix::copy_of(c) : BitMatrix(c.rows, c.cols);
    PackedMatrices matrices(layer.grid, plan.host->in_place, run.product, a, b, shifts ? shifted.view() : c, accumulate,
                            pool);
    run_layer(run, devices, matrices, context.hooks);
    if (shifts) {
        bits::copy(std::as_const(shifted).view(), c);
    }
}

void multiply_bits_over_devices(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                                bool accumulate, const ProductContext& context) {
    require_no_workspace_or_stream(context);
    bits::require_product(a, b, c);
    fail_if(plan.m != a.rows || plan.k != a.cols || plan.n != b.cols || (accumulate && !plan.accumulate),
            ErrorCode::usage, "the plan is for {}x{}x{}{} and the product is {}x{}x{}{}", plan.m, plan.k, plan.n,
            plan.accumulate ? ", added to C" : "", a.rows, a.cols, b.cols, accumulate ? ", added to C" : "");
    check_plan_over_devices(plan);
    if (multiplied_as_empty(plan.type, a, b, c, accumulate, context)) {
        return;
    }
    run_host_plan(plan, open_devices(parse_device_list(plan.host->devices)), a, b, c, accumulate, context);
}

void multiply_bits_over_devices(Type algebra, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                                bool accumulate, const bits::BitOptions& options, const ProductContext& context) {
    require_no_workspace_or_stream(context);
    bits::require_product(a, b, c);
    const DeviceSet devices = open_devices(parse_device_list(options.device));
    if (multiplied_as_empty(algebra, a, b, c, accumulate, context)) {
        return;
    }
    bits::BitOptions limited = options;
    if (options.host.host_memory_bytes == HostOptions{}.host_memory_bytes) {
        limited.host.host_memory_bytes = default_host_bytes();
    }
    const HostDecision made = make_bit_plan_over_devices(algebra, {a.rows, a.cols, b.cols}, accumulate, limited,
                                                         context, {a.offset != 0 || b.offset != 0, c.offset != 0});
    run_host_plan(made.plan, devices, a, b, c, accumulate, context);
}

}  // namespace heptad
