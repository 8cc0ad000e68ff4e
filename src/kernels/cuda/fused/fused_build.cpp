#include "kernels/cuda/fused/fused_build.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heptad::cuda {
namespace {

/// A product whose result is stored by columns is its transpose, stored by rows: M' = (sum of right')(sum of left').
void transpose(std::vector<FusedTerm>& left, std::vector<FusedTerm>& right, std::vector<FusedTarget>& targets) {
    std::swap(left, right);
    for (std::vector<FusedTerm>* const side : {&left, &right}) {
        for (FusedTerm& term : *side) {
            term.block = transposed(term.block);
        }
    }
    for (FusedTarget& target : targets) {
        target.block = transposed(target.block);
        target.addend = transposed(target.addend);
    }
}

bool is_power_of_two(double x) {
    int exponent = 0;
    return std::isfinite(x) && x != 0 && std::abs(std::frexp(x, &exponent)) == 0.5;
}

/// Rewrites a sum so that its first coefficient is 1 and costs no arithmetic, and returns the factor that was taken out
/// of it for that: a power of two, by which dividing is exact, or the only coefficient. Where there is none, c * x
/// becomes x + (c - 1) * x.
double take_out_factor(std::vector<FusedTerm>& terms) {
    if (terms.size() == 1) {
        return std::exchange(terms[0].coefficient, 1.0);
    }
    const auto first = std::find_if(terms.begin(), terms.end(),
                                    [](const FusedTerm& term) { return is_power_of_two(term.coefficient); });
    if (first == terms.end()) {
        terms[0].coefficient -= 1;
        terms.insert(terms.begin(), {terms[0].block, 1.0});
        return 1;
    }
    std::rotate(terms.begin(), first, first + 1);
    const double factor = terms[0].coefficient;
    for (FusedTerm& term : terms) {
        term.coefficient /= factor;
    }
    return factor;
}

bool is_wide(const void* data, std::int64_t stride, std::size_t element) {
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride * static_cast<std::int64_t>(element) % 16 == 0;
}

/// All terms are outer x depth in size and can be read by whole vectors of four.
bool are_regular(const std::vector<FusedTerm>& terms, bool left, std::int64_t outer, std::int64_t depth) {
    constexpr std::int64_t kFarthest = std::int64_t{1} << 23;  // steps of 128 lines fit into 32 bits
    const bool has_first = terms.size() == 1 || std::any_of(terms.begin(), terms.end(), [](const FusedTerm& term) {
                               return is_power_of_two(term.coefficient);
                           });
    return has_first && terms.size() <= 2 && std::all_of(terms.begin(), terms.end(), [&](const FusedTerm& term) {
               const ConstView block = left ? term.block : transposed(term.block);
               const bool along_depth = block.col_stride == 1;
               const std::int64_t across = along_depth ? block.row_stride : block.col_stride;
               return block.rows == outer && block.cols == depth && (along_depth || block.row_stride == 1) &&
                      (along_depth ? depth : outer) % 4 == 0 && std::abs(across) < kFarthest &&
                      is_wide(block.data, across, element_bytes(block.type));
           });
}

bool result_by_columns(const FusedProduct& product) {
    const View& result = product.targets[0].block;
    return result.row_stride == 1 && result.col_stride != 1;
}

template <class T>
void add_terms(const std::vector<FusedTerm>& terms, bool left, FusedOperandLayout& layout, FusedArguments<T>& args,
               int& at) {
    for (const FusedTerm& term : terms) {
        const ConstView& block = term.block;
        args.terms[at++] = {static_cast<const T*>(block.data), static_cast<T>(term.coefficient),
                            static_cast<std::int32_t>(left ? block.rows : block.cols),
                            static_cast<std::int32_t>(left ? block.cols : block.rows)};
        if (block.rows == 0 || block.cols == 0) {
            continue;
        }
        const std::int64_t across = layout.along_depth != 0 ? layout.outer_stride : layout.depth_stride;
        if (layout.contiguous == 0 || !is_wide(block.data, across, sizeof(T))) {
            layout.wide = 0;
        }
    }
}

FusedOperandLayout operand_layout(std::int64_t outer_stride, std::int64_t depth_stride) {
    FusedOperandLayout layout{outer_stride, depth_stride, 0, 0, 1};
    layout.along_depth = depth_stride == 1 || outer_stride != 1 ? 1 : 0;
    layout.contiguous = depth_stride == 1 || outer_stride == 1 ? 1 : 0;
    return layout;
}

}  // namespace

bool fused_conflict(const FusedProduct& one, const FusedProduct& other) {
    return std::any_of(one.targets.begin(), one.targets.end(), [&](const FusedTarget& a) {
        return std::any_of(other.targets.begin(), other.targets.end(),
                           [&](const FusedTarget& b) { return a.block.data == b.block.data; });
    });
}

std::vector<int> stream_numbers(std::span<const FusedProduct> products) {
    std::vector<int> numbers(products.size(), 0);
    std::vector<int> ends(products.size(), 0);
    int busy_until[2] = {0, 0};
    for (std::size_t i = 0; i < products.size(); ++i) {
        int earliest = 0, preferred = 0;
        for (std::size_t j = 0; j < i; ++j) {
            if (ends[j] >= earliest && fused_conflict(products[j], products[i])) {
                earliest = ends[j];
                preferred = numbers[j];
            }
        }
        const int other = 1 - preferred;
        const bool changes = std::max(busy_until[other], earliest) < std::max(busy_until[preferred], earliest);
        numbers[i] = changes ? other : preferred;
        ends[i] = busy_until[numbers[i]] = std::max(busy_until[numbers[i]], earliest) + 1;
    }
    return numbers;
}

std::optional<RegularLayout> regular_layout(std::span<const FusedProduct> products) {
    constexpr std::int64_t kSlab = 8;
    const bool all_regular = std::all_of(products.begin(), products.end(), [](const FusedProduct& product) {
        return product.m > 0 && product.n > 0 && product.k > 0 && product.k % kSlab == 0 &&
               are_regular(product.left, true, product.m, product.k) &&
               are_regular(product.right, false, product.n, product.k);
    });
    if (products.empty() || !all_regular) {
        return {};
    }
    const bool left_along_depth = products.back().left[0].block.col_stride == 1;
    const bool right_along_depth = products.back().right[0].block.row_stride == 1;
    return result_by_columns(products[0]) ? RegularLayout{right_along_depth, left_along_depth}
                                          : RegularLayout{left_along_depth, right_along_depth};
}

std::size_t fused_run_length(std::span<const FusedProduct> products) {
    std::size_t terms = 0, targets = 0, length = 0;
    for (const FusedProduct& product : products) {
        terms += product.left.size() + product.right.size() + kSpareFusedTerms;
        targets += product.targets.size();
        if (length == kMostFusedInstances || terms > kMostFusedTerms || targets > kMostFusedTargets ||
            product.m != products[0].m || product.k != products[0].k || product.n != products[0].n) {
            break;
        }
        ++length;
    }
    return length;
}

template <class T>
void build_fused(std::span<const FusedProduct> products, FusedArguments<T>& args) {
    const bool by_columns = result_by_columns(products[0]);
    struct Block {
        std::int32_t number, updates;
    };
    std::unordered_map<const void*, Block> blocks;
    blocks.reserve(2 * products.size());
    std::vector<FusedTerm> left, right;
    std::vector<FusedTarget> targets;
    int terms = 0, target_count = 0, count = 0;
    for (const FusedProduct& product : products) {
        left = product.left;
        right = product.right;
        targets = product.targets;
        if (by_columns) {
            transpose(left, right, targets);
        }
        if (count == 0) {
            args.m = static_cast<std::int32_t>(by_columns ? product.n : product.m);
            args.k = static_cast<std::int32_t>(product.k);
            args.n = static_cast<std::int32_t>(by_columns ? product.m : product.n);
            args.left = operand_layout(left[0].block.row_stride, left[0].block.col_stride);
            args.right = operand_layout(right[0].block.col_stride, right[0].block.row_stride);
            const View& target = targets[0].block;
            args.target = {target.row_stride, target.col_stride, target.col_stride == 1 ? 1 : 0};
        }
        const double factor = take_out_factor(left) * take_out_factor(right);
        FusedInstanceArgument& instance = args.instances[count++];
        instance.left_begin = static_cast<std::int16_t>(terms);
        add_terms(left, true, args.left, args, terms);
        instance.left_count = static_cast<std::int16_t>(left.size());
        instance.right_begin = static_cast<std::int16_t>(terms);
        add_terms(right, false, args.right, args, terms);
        instance.right_count = static_cast<std::int16_t>(right.size());
        instance.target_begin = static_cast<std::int16_t>(target_count);
        instance.target_count = static_cast<std::int16_t>(targets.size());
        for (const FusedTarget& target : targets) {
            Block& block =
                blocks.try_emplace(target.block.data, Block{static_cast<std::int32_t>(blocks.size()), 0}).first->second;
            if (target.addend_coefficient != 0) {
                args.addend = {target.addend.row_stride, target.addend.col_stride};
            }
            args.targets[target_count++] = {static_cast<T*>(target.block.data),
                                            static_cast<const T*>(target.addend.data),
                                            static_cast<T>(target.coefficient * factor),
                                            static_cast<T>(target.beta),
                                            static_cast<T>(target.addend_coefficient),
                                            static_cast<std::int32_t>(target.block.rows),
                                            static_cast<std::int32_t>(target.block.cols),
                                            block.number,
                                            block.updates++,
                                            {0, 0}};
            if (!is_wide(target.block.data, target.block.row_stride, sizeof(T))) {
                args.target.wide = 0;
            }
        }
    }
    args.instance_count = count;
}
template void build_fused(std::span<const FusedProduct>, FusedArguments<float>&);
template void build_fused(std::span<const FusedProduct>, FusedArguments<double>&);

}  // namespace heptad::cuda
