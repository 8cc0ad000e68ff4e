#include "product/memory/packed_bits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/transpose.hpp"
#include "plan/search/planner.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

static_assert(std::endian::native == std::endian::little, "eight bytes are read as one word");

/// Seconds on one thread in which a byte becomes a bit or back, and of what every such product does besides.
constexpr double kByteS = 0.4e-9;
constexpr double kStartS = 5e-6;

/// A matrix of bits in the workspace.
BitView bits_at(std::uint64_t*& memory, std::int64_t rows, std::int64_t cols) {
    const std::int64_t stride = round_up(ceil_div(cols, 64), 8);  // rows start at multiples of 64 bytes
    const BitView view{memory, rows, cols, stride, 0};
    memory += rows * stride;
    return view;
}
std::int64_t bit_copy_bytes(std::int64_t rows, std::int64_t cols) {
    return checked_mul(checked_mul(rows, round_up(ceil_div(cols, 64), 8)), 8);
}

std::int64_t needed_bytes(const ProductPlan& inside) {
    const std::int64_t copies =
        checked_add(checked_add(bit_copy_bytes(inside.m, inside.k), bit_copy_bytes(inside.k, inside.n)),
                    bit_copy_bytes(inside.m, inside.n));
    return checked_add(copies, inside.workspace_bytes);
}

ProductPlan bit_plan_of(const ProductPlan& plan) {
    return bits::make_bit_plan(plan.type, {plan.m, plan.k, plan.n}, {}, plan.threads);
}

/// Bit i: is byte i a one of the type?
std::uint64_t gather_8(const std::uint8_t* bytes, Type type) {
    std::uint64_t x;
    std::memcpy(&x, bytes, 8);
    constexpr std::uint64_t low_bits = 0x0101010101010101U;
    if (type == Type::gf2) {
        x &= low_bits;
    } else {
        constexpr std::uint64_t all_but_high = 0x7f7f7f7f7f7f7f7fU;
        x = ((((x & all_but_high) + all_but_high) | x) >> 7) & low_bits;
    }
    return (x * 0x0102040810204080U) >> 56;
}

/// Byte i: bit i.
std::uint64_t spread_8(std::uint64_t bits) {
    constexpr std::uint64_t low_bits = 0x0101010101010101U, diagonal = 0x8040201008040201U;
    const std::uint64_t chosen = ((bits & 0xff) * low_bits) & diagonal;
    return ((chosen + 0x7f7f7f7f7f7f7f7fU) >> 7) & low_bits;
}

/// Whether bytes lie one after another along columns, so that squares of 64 x 64 are best read column by column.
bool runs_down(const ConstView& x) {
    return x.row_stride == 1 && x.col_stride != 1;
}

/// Elements (i, first) to (i, first + count - 1), up to 64.
std::uint64_t gather_word(const ConstView& x, std::int64_t i, std::int64_t first, std::int64_t count) {
    const auto* bytes = static_cast<const std::uint8_t*>(x.data) + i * x.row_stride + first * x.col_stride;
    std::uint64_t word = 0;
    std::int64_t j = 0;
    for (; x.col_stride == 1 && j + 8 <= count; j += 8) {
        word |= gather_8(bytes + j, x.type) << j;
    }
    for (; j < count; ++j) {
        const std::uint8_t value = bytes[j * x.col_stride];
        const bool one = x.type == Type::gf2 ? (value & 1) != 0 : value != 0;
        word |= static_cast<std::uint64_t>(one) << j;
    }
    return word;
}

/// The same elements (+)= the word.
void spread_word(const View& x, std::int64_t i, std::int64_t first, std::int64_t count, std::uint64_t word, bool adds) {
    if (adds) {
        const std::uint64_t old = gather_word(x, i, first, count);
        word = x.type == Type::gf2 ? word ^ old : word | old;
    }
    auto* bytes = static_cast<std::uint8_t*>(x.data) + i * x.row_stride + first * x.col_stride;
    std::int64_t j = 0;
    for (; x.col_stride == 1 && j + 8 <= count; j += 8) {
        const std::uint64_t eight = spread_8(word >> j);
        std::memcpy(bytes + j, &eight, 8);
    }
    for (; j < count; ++j) {
        bytes[j * x.col_stride] = static_cast<std::uint8_t>((word >> j) & 1);
    }
}

/// task(first row, rows, first column, columns) for squares of 64 x 64 and what is left of them; rows in parallel.
template <class Task>
void for_each_square(std::int64_t rows, std::int64_t cols, ThreadPool& pool, const Task& task) {
    pool.run(ceil_div(rows, 64), [&](std::int64_t band) {
        for (std::int64_t j = 0; j < cols; j += 64) {
            task(64 * band, std::min<std::int64_t>(64, rows - 64 * band), j, std::min<std::int64_t>(64, cols - j));
        }
    });
}

void pack_bytes(const ConstView& from, const BitView& to, ThreadPool& pool) {
    for_each_square(from.rows, from.cols, pool,
                    [&](std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols) {
                        std::uint64_t square[64] = {};
                        if (runs_down(from)) {
                            for (std::int64_t c = 0; c < cols; ++c) {
                                square[c] = gather_word(transposed(from), j + c, i, rows);
                            }
                            bits::transpose_64x64(square);
                        } else {
                            for (std::int64_t r = 0; r < rows; ++r) {
                                square[r] = gather_word(from, i + r, j, cols);
                            }
                        }
                        for (std::int64_t r = 0; r < rows; ++r) {
                            to.words[(i + r) * to.stride + j / 64] = square[r];
                        }
                    });
}

void unpack_bytes(const ConstBitView& from, const View& to, bool adds, ThreadPool& pool) {
    const View down{to.data, to.type, to.cols, to.rows, to.col_stride, to.row_stride};
    for_each_square(to.rows, to.cols, pool, [&](std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t cols) {
        std::uint64_t square[64] = {};
        for (std::int64_t r = 0; r < rows; ++r) {
            square[r] = from.words[(i + r) * from.stride + j / 64];
        }
        if (runs_down(to)) {
            bits::transpose_64x64(square);
            for (std::int64_t c = 0; c < cols; ++c) {
                spread_word(down, j + c, i, rows, square[c], adds);
            }
        } else {
            for (std::int64_t r = 0; r < rows; ++r) {
                spread_word(to, i + r, j, cols, square[r], adds);
            }
        }
    });
}

/// A scalar as an element of the type.
bool is_one(double scalar, Type type) {
    return type == Type::gf2 ? std::fmod(std::abs(scalar), 2.0) == 1.0 : scalar != 0;
}

}  // namespace

bool has_packed_leaf(Type type, const std::string& backend) {
    return backend == "cpu" && (type == Type::gf2 || type == Type::boolean);
}

ProductPlan packed_plan(const ProductPlan& plan) {
    const ProductPlan inside = bit_plan_of(plan);
    ProductPlan packed = plan;
    packed.levels.clear();
    packed.change_basis = packed.padded = packed.overwrite_inputs = false;
    packed.core_m = plan.m;
    packed.core_k = plan.k;
    packed.core_n = plan.n;
    packed.leaf = packed.fringe_leaf = kPackedLeaf;
    packed.workspace_bytes = needed_bytes(inside);
    const double elements = static_cast<double>(plan.m) * static_cast<double>(plan.k) +
                            static_cast<double>(plan.k) * static_cast<double>(plan.n) +
                            static_cast<double>(plan.m) * static_cast<double>(plan.n);
    packed.predicted_s = kStartS + inside.predicted_s + kByteS * elements / plan.threads;
    return packed;
}

void check_plan_in_memory(const ProductPlan& plan) {
    if (plan.leaf != kPackedLeaf) {
        check_plan(plan);
        return;
    }
    if (!plan.levels.empty() || !has_packed_leaf(plan.type, plan.backend)) {
        fail(ErrorCode::input,
             "the leaf 'packed' is for gf2 and bool on the CPU and has its levels inside; the plan is '{}'",
             to_string(plan));
    }
    ProductPlan outside = plan;
    outside.workspace_bytes = 0;  // what packing takes is compared when the plan is carried out
    check_plan(outside);
}

RunReport multiply_packed_bits(const ProductPlan& plan, double alpha, const ConstView& a, const ConstView& b,
                               double beta, const View& c, void* workspace, const RunHooks& hooks) {
    const ProductPlan inside = bit_plan_of(plan);
    const std::int64_t needed = needed_bytes(inside);
    fail_if(needed > plan.workspace_bytes, ErrorCode::usage,
            "the plan states {} bytes of workspace, but packed bits take {} on this machine; make the plan here",
            plan.workspace_bytes, needed);
    start_product(hooks);
    auto* memory = static_cast<std::uint64_t*>(workspace);
    const BitView bits_a = bits_at(memory, plan.m, plan.k), bits_b = bits_at(memory, plan.k, plan.n);
    const BitView bits_c = bits_at(memory, plan.m, plan.n);
    ThreadPool& pool = shared_pool(plan.threads);
    if (is_one(alpha, plan.type)) {  // otherwise A and B are not read
        pack_bytes(a, bits_a, pool);
        pack_bytes(b, bits_b, pool);
        bits::multiply_bits(inside, bits_a, bits_b, bits_c, false, hooks, memory);
    } else {
        std::fill_n(bits_c.words, bits_c.rows * bits_c.stride, 0);
    }
    unpack_bytes(bits_c, c, is_one(beta, plan.type), pool);
    finish_product(hooks);
    return {plan.workspace_bytes, false};
}

}  // namespace heptad
