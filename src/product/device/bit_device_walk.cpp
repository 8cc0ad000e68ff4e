// One product as a row of passes: what is summed, transposed, multiplied and added, in what order and where.
#include <algorithm>
#include <vector>

#include "base/bit_words.hpp"
#include "base/size.hpp"
#include "product/device/bit_device_product.hpp"

namespace heptad {
namespace {

using cuda::BitLevelMasks;
using cuda::BitWindows;

/// Blocks of a matrix that is cut into 2^d_s x 2^d_s of them.
using Places = std::vector<Term<BlockPlace>>;

/// Those blocks as windows of the matrix; blocks that lie outside of it altogether are left out.
BitWindows windows_of(const Places& places, std::int64_t block_rows, std::int64_t block_words, std::uint64_t* data,
                      std::int64_t rows, std::int64_t cols, std::int64_t row_words) {
    BitWindows windows;
    windows.data = data;
    windows.rows = rows;
    windows.cols = cols;
    windows.row_words = row_words;
    windows.count = 0;
    for (const auto& [place, coefficient] : places) {
        const BitWindows::Corner corner{place.row * block_rows, place.col * block_words};
        if (corner.row < rows && corner.word * bits::kWordBits < cols) {
            windows.corner[windows.count++] = corner;
        }
    }
    return windows;
}

/// Matrices of rows x words, one after another.
BitWindows whole_matrices(std::uint64_t* data, std::int64_t rows, std::int64_t words) {
    BitWindows windows;
    windows.data = data;
    windows.rows = rows;
    windows.cols = words * bits::kWordBits;
    windows.row_words = words;
    windows.block_words = rows * words;
    windows.assigned = 1;
    return windows;
}

class Walk {
public:
    Walk(const BitDeviceLaunch& launch, cuda::BitVerbs& verbs, const BitDeviceOperands& operands)
        : launch_(launch), verbs_(verbs), operands_(operands) {}

    void without_levels() {
        const ProblemSize& size = launch_.problem.size;
        cuda::BitLeafLaunch leaf;
        leaf.operation = launch_.problem.operation;
        leaf.m = size.m;
        leaf.c_row_stride = operands_.c_row_stride;
        std::int64_t first_k = 0;
        do {  // once for an empty sum, too: it is zero
            const std::int64_t end = launch_.panel_end(first_k);
            leaf.k = end - first_k;
            leaf.a = launch_.left.words > 0 ? copied_panel(first_k, leaf.k)
                                            : BitBlocks{operands_.a + words(first_k), operands_.a_row_words, 0};
            leaf.accumulate = operands_.accumulate || first_k > 0;
            leaf.open_tiles = leaf.accumulate && launch_.open_tiles.words > 0 ? at(launch_.open_tiles) : nullptr;
            for (std::int64_t col = 0; col < size.n; col += launch_.panels.cols) {
                leaf.n = std::min(launch_.panels.cols, size.n - col);
                leaf.b = transposed_panel(first_k, leaf.k, col, leaf.n);
                leaf.c = leaf.operation == cuda::BitOperation::count
                             ? static_cast<void*>(static_cast<std::int32_t*>(operands_.c) + col)
                             : static_cast<std::uint64_t*>(operands_.c) + words(col);
                verbs_.multiply(leaf);
            }
            first_k = end;
        } while (first_k < size.k);
    }

    void with_levels() {
        const LevelTerms level = bits::level_terms(*launch_.program, bits::ProgramBasis::standard);
        masks_a_ = bit_level_masks(level, &BlockProduct::left);
        masks_b_ = bit_level_masks(level, &BlockProduct::right);
        masks_c_ = bit_level_masks(level, &BlockProduct::result);
        const int serial = launch_.serial_levels;
        std::vector<BlockProduct> products = nested_levels(level, serial, BlockNumbers::by_rows).products;
        // Which blocks of C hold something already.
        std::vector<bool> written(std::size_t{1} << (2 * serial), operands_.accumulate);
        // Those that need the fewest blocks come first: where operands arrive while the product runs, it begins sooner.
        std::stable_sort(products.begin(), products.end(), [](const BlockProduct& x, const BlockProduct& y) {
            return x.left.size() + x.right.size() < y.left.size() + y.right.size();
        });
        for (const BlockProduct& product : products) {
            make_left(placed(product.left, 1 << serial));
            make_right(placed(product.right, 1 << serial));
            multiply_leaves();
            add_results(placed(product.result, 1 << serial), written);
        }
    }

private:
    using BitBlocks = cuda::BitBlocks;

    BitBlocks copied_panel(std::int64_t first_k, std::int64_t k) {
        const ProblemSize& size = launch_.problem.size;
        cuda::BitExpandLaunch copy;
        copy.source =
            windows_of(Places(1), 0, 0, const_cast<std::uint64_t*>(operands_.a), size.m, size.k, operands_.a_row_words);
        copy.source.corner[0] = {0, words(first_k)};
        copy.target = at(launch_.left);
        copy.rows = size.m;
        copy.words = words(round_up(k, 2 * bits::kWordBits));
        verbs_.expand(copy);
        return {copy.target, copy.words, 0};
    }

    BitBlocks transposed_panel(std::int64_t first_k, std::int64_t k, std::int64_t col, std::int64_t cols) {
        const ProblemSize& size = launch_.problem.size;
        cuda::BitTransposeLaunch transpose;
        transpose.source =
            windows_of(Places(1), 0, 0, const_cast<std::uint64_t*>(operands_.b), size.k, size.n, operands_.b_row_words);
        transpose.source.corner[0] = {first_k, words(col)};
        transpose.target = at(launch_.right);
        transpose.rows = cols;
        transpose.words = words(round_up(k, 2 * bits::kWordBits));
        verbs_.transpose(transpose);
        return {transpose.target, transpose.words, 0};
    }

    std::uint64_t* at(const BitRegion& region) const { return operands_.workspace + region.offset; }
    std::int64_t words(std::int64_t cols) const { return cols / bits::kWordBits; }

    /// The passes of an expanding layer, from windows to leaves; between two passes blocks wait in `waiting`.
    void expand(BitWindows source, std::int64_t leaf_rows, std::int64_t leaf_words, bool transposed,
                const BitLevelMasks& masks, std::uint64_t* waiting, std::uint64_t* leaves) {
        const std::vector<int> passes = bit_pass_levels(launch_.parallel_levels);
        int below = launch_.parallel_levels;
        std::int64_t batch = 1;
        for (std::size_t i = 0; i < passes.size(); ++i) {
            below -= passes[i];
            cuda::BitExpandLaunch pass;
            pass.source = source;
            pass.batch = batch;
            pass.levels = passes[i];
            pass.transposed = transposed;
            pass.masks = masks;
            pass.target = i + 1 < passes.size() ? waiting : leaves;
            pass.rows = leaf_rows << below;
            pass.words = leaf_words << below;
            verbs_.expand(pass);
            source = whole_matrices(pass.target, pass.rows, pass.words);
            for (int level = 0; level < passes[i]; ++level) {
                batch *= cuda::kBitProducts;
            }
        }
        leaves_ = batch;
    }

    void make_left(const Places& places) {
        const bits::LeafShape& s = launch_.shape;
        const int parallel = launch_.parallel_levels;
        expand(windows_of(places, s.m << parallel, words(s.k) << parallel, const_cast<std::uint64_t*>(operands_.a),
                          launch_.problem.size.m, launch_.problem.size.k, operands_.a_row_words),
               s.m, words(s.k), false, masks_a_, at(launch_.result), at(launch_.left));
    }

    void make_right(const Places& places) {
        const bits::LeafShape& s = launch_.shape;
        const int parallel = launch_.parallel_levels;
        cuda::BitTransposeLaunch transpose;
        transpose.source =
            windows_of(places, s.k << parallel, words(s.n) << parallel, const_cast<std::uint64_t*>(operands_.b),
                       launch_.problem.size.k, launch_.problem.size.n, operands_.b_row_words);
        transpose.rows = s.n << parallel;
        transpose.words = words(s.k) << parallel;
        transpose.target = parallel > 0 ? at(launch_.result) : at(launch_.right);
        verbs_.transpose(transpose);
        if (parallel > 0) {
            expand(whole_matrices(transpose.target, transpose.rows, transpose.words), s.n, words(s.k), true, masks_b_,
                   transpose.target + transpose.rows * transpose.words, at(launch_.right));
        }
    }

    void multiply_leaves() {
        const bits::LeafShape& s = launch_.shape;
        cuda::BitLeafLaunch leaf;
        leaf.operation = launch_.problem.operation;
        leaf.m = s.m;
        leaf.k = s.k;
        leaf.n = s.n;
        leaf.batch = leaves_;
        leaf.a = {at(launch_.left), words(s.k), s.m * words(s.k)};
        leaf.b = {at(launch_.right), words(s.k), s.n * words(s.k)};
        leaf.c = at(launch_.result);
        leaf.c_row_stride = words(s.n);
        leaf.c_block_stride = s.m * words(s.n);
        verbs_.multiply(leaf);
    }

    /// The compressing layer, whose last pass adds to the blocks of C. A block's first result is stored.
    void add_results(const Places& places, std::vector<bool>& written) {
        const bits::LeafShape& s = launch_.shape;
        const int parallel = launch_.parallel_levels;
        BitWindows target;
        target.data = static_cast<std::uint64_t*>(operands_.c);
        target.rows = launch_.problem.size.m;
        target.cols = launch_.problem.size.n;
        target.row_words = operands_.c_row_stride;
        target.count = 0;
        for (const auto& [place, coefficient] : places) {
            const auto block = static_cast<std::size_t>((place.row << launch_.serial_levels) + place.col);
            target.assigned |= (written[block] ? 0U : 1U) << target.count;
            target.corner[target.count++] = {place.row * (s.m << parallel), place.col * (words(s.n) << parallel)};
            written[block] = true;
        }
        std::vector<int> passes = bit_pass_levels(parallel);
        std::uint64_t* source = at(launch_.result);
        std::int64_t batch = leaves_;
        int below = 0;
        while (!passes.empty()) {
            const int levels = passes.back();
            passes.pop_back();
            for (int level = 0; level < levels; ++level) {
                batch /= cuda::kBitProducts;
            }
            cuda::BitCompressLaunch pass;
            pass.source = source;
            pass.rows = s.m << below;
            pass.words = words(s.n) << below;
            pass.batch = batch;
            pass.levels = levels;
            pass.masks = masks_c_;
            below += levels;
            pass.target = passes.empty() ? target : whole_matrices(at(launch_.left), s.m << below, words(s.n) << below);
            verbs_.compress(pass);
            source = at(launch_.left);
        }
    }

    const BitDeviceLaunch& launch_;
    cuda::BitVerbs& verbs_;
    const BitDeviceOperands& operands_;
    BitLevelMasks masks_a_{}, masks_b_{}, masks_c_{};
    std::int64_t leaves_ = 1;
};

}  // namespace

bool is_aligned_for_leaf(const std::uint64_t* a, std::int64_t row_words) {
    return reinterpret_cast<std::uintptr_t>(a) % 16 == 0 && row_words % 2 == 0;
}

BitDeviceLaunch bit_device_launch(const ProductPlan& plan, const BitDeviceOperands& operands) {
    return bit_device_launch(plan, is_aligned_for_leaf(operands.a, operands.a_row_words));
}

void walk_bit_device(const BitDeviceLaunch& launch, cuda::BitVerbs& verbs, const BitDeviceOperands& operands) {
    if (launch.problem.size.m == 0 || launch.problem.size.n == 0) {
        return;
    }
    Walk walk(launch, verbs, operands);
    if (launch.levels() == 0) {
        walk.without_levels();
    } else {
        walk.with_levels();
    }
}

}  // namespace heptad
