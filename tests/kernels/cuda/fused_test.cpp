// Products with sums inside on a device against the reference loops: bit for bit on small integers, with every tile and
// order, at every edge of a tile, for any strides; guard bytes around the targets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/fused/fused_build.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "product/device/device_matrix.hpp"

namespace heptad::test {
namespace {

using Random = std::mt19937;

int pick(Random& random, int lowest, int highest) {
    return std::uniform_int_distribution<int>(lowest, highest)(random);
}

/// Blocks side by side in one guarded matrix, so that all have the same strides; some lack rows or columns at the end,
/// unless they are to be complete.
struct Side {
    GuardedMatrix matrix;
    std::int64_t rows, cols;
    int count;
    std::vector<std::int64_t> rows_there, cols_there;

    Side(Type type, std::int64_t block_rows, std::int64_t block_cols, int blocks, Layout layout, bool complete,
         Random& random)
        : matrix(type, block_rows, block_cols * blocks, layout), rows(block_rows), cols(block_cols), count(blocks) {
        for (int b = 0; b < blocks; ++b) {
            rows_there.push_back(rows - (!complete && rows > 1 && pick(random, 0, 2) == 0 ? 1 : 0));
            cols_there.push_back(cols - (!complete && cols > 1 && pick(random, 0, 2) == 0 ? 1 : 0));
        }
    }
    View in(const View& whole, int number) const {
        const auto b = static_cast<std::size_t>(number);
        return block(whole, 0, number * cols, rows_there[b], cols_there[b]);
    }
};

struct Case {
    std::int64_t m, k, n;
    int left, right, targets, products;
    Layout left_layout, right_layout, target_layout;
    FusedTile tile;
    FusedOrder order;
    bool scales;  // the first update of a block
    Type type = Type::f32;
    bool adds = false;  // targets have addends, and some of them do without the product
    bool regular =
        false;  // for the faster f32 kernel, and no fringe of f64: operands are complete, coefficients powers of two
};

/// Products over the same blocks; which terms and targets, with which coefficients, is drawn.
std::vector<FusedProduct> draw_products(const Case& c, const Side& left, const View& left_view, const Side& right,
                                        const View& right_view, const Side& target, const View& target_view,
                                        const View& addend_view, unsigned seed) {
    Random random(seed);
    constexpr double coefficients[] = {1, -1, 2, -0.5, 3};
    const int most = c.regular ? 3 : 4;  // of a sum with 3 and 3 the builder makes three terms
    std::vector<bool> is_written(static_cast<std::size_t>(target.count));
    std::vector<FusedProduct> products;
    const auto some = [&](int count, auto&& use) {
        const int first = pick(random, 0, count - 1);
        const int length = pick(random, 1, count);
        for (int i = 0; i < length; ++i) {
            use((first + i) % count, coefficients[pick(random, 0, most)]);
        }
    };
    for (int p = 0; p < c.products; ++p) {
        FusedProduct product{c.m, c.k, c.n, {}, {}, {}};
        some(c.left, [&](int b, double x) { product.left.push_back({left.in(left_view, b), x}); });
        some(c.right, [&](int b, double x) { product.right.push_back({right.in(right_view, b), x}); });
        some(c.targets, [&](int b, double x) {
            const auto number = static_cast<std::size_t>(b);
            const double beta = is_written[number] ? 1.0 : c.scales ? 2.0 : 0.0;
            product.targets.push_back({target.in(target_view, b), x, beta});
            if (c.adds && pick(random, 0, 2) > 0) {
                FusedTarget& added = product.targets.back();
                added.addend = target.in(addend_view, b);
                added.addend_coefficient = coefficients[pick(random, 0, 4)];
                added.coefficient = pick(random, 0, 3) > 0 ? x : 0;
            }
            is_written[number] = true;
        });
        products.push_back(std::move(product));
    }
    return products;
}

void compare(const Case& c, const cuda::Stream& stream, cuda::CudaBackend& backend, unsigned seed) {
    Random random(seed);
    Side left(c.type, c.m, c.k, c.left, c.left_layout, c.regular, random);
    Side right(c.type, c.k, c.n, c.right, c.right_layout, c.regular, random);
    Side target(c.type, c.m, c.n, c.targets, c.target_layout, false, random);
    GuardedMatrix addend(c.type, c.m, c.n * c.targets, c.left_layout);  // strides of its own
    addend.fill_random(random, 3);
    left.matrix.fill_random(random, 2);
    right.matrix.fill_random(random, 2);
    if (c.scales) {
        target.matrix.fill_random(random, 3);
    } else {
        target.matrix.fill(std::numeric_limits<double>::quiet_NaN());
    }
    GuardedMatrix expected = target.matrix;
    ReferenceBackend reference;
    const std::vector<FusedProduct> on_host = draw_products(c, left, left.matrix.view(), right, right.matrix.view(),
                                                            target, expected.view(), addend.view(), seed);
    reference.multiply_fused(on_host, FusedOrder::serial, FusedTile::automatic);

    DeviceMatrixCopy left_copy(left.matrix, stream.handle()), right_copy(right.matrix, stream.handle()),
        target_copy(target.matrix, stream.handle()), addend_copy(addend, stream.handle());
    const std::vector<FusedProduct> on_device = draw_products(c, left, left_copy.view(), right, right_copy.view(),
                                                              target, target_copy.view(), addend_copy.view(), seed);
    if (c.regular) {
        ASSERT_TRUE(cuda::regular_layout(on_device)) << c.m << "x" << c.k << "x" << c.n << ", seed " << seed;
    }
    backend.multiply_fused(on_device, c.order, c.tile);
    target_copy.fetch();
    stream.synchronize();
    // What no product has written is still NaN, which equals nothing.
    for (GuardedMatrix* const matrix : {&expected, &target.matrix}) {
        for (std::int64_t i = 0; i < matrix->view().rows; ++i) {
            for (std::int64_t j = 0; j < matrix->view().cols; ++j) {
                if (matrix->get(i, j) != matrix->get(i, j)) {
                    matrix->set(i, j, 12345);
                }
            }
        }
    }
    ASSERT_TRUE(target.matrix.equals(expected))
        << type_name(c.type) << " " << c.m << "x" << c.k << "x" << c.n << ", terms " << c.left << " and " << c.right
        << ", targets " << c.targets << ", products " << c.products << ", layouts " << static_cast<int>(c.left_layout)
        << static_cast<int>(c.right_layout) << static_cast<int>(c.target_layout) << ", tile " << kFusedTiles.of(c.tile)
        << ", order " << kFusedOrders.of(c.order) << ", scales " << c.scales << ", seed " << seed;
}

/// f64 has one tile.
struct Kernel {
    Type type;
    FusedTile tile;
};
std::string kernel_name(const ::testing::TestParamInfo<Kernel>& kernel) {
    return fmt::format("{}_{}", type_name(kernel.param.type), kFusedTiles.of(kernel.param.tile));
}

class FusedOnDevice : public ::testing::TestWithParam<Kernel> {};

TEST_P(FusedOnDevice, every_edge_of_a_tile_equals_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    unsigned seed = 1;
    for (const std::int64_t m : {1, 2, 31, 63, 64, 65, 127, 128, 129, 256}) {
        for (const std::int64_t n : {1, 3, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}) {
            for (const std::int64_t k : {1, 4, 7, 8, 9, 15, 16, 17, 32, 65}) {
                const int terms = static_cast<int>(seed % 3) + 1;  // f64: copied, of two terms, of more
                const Case c{m,
                             k,
                             n,
                             terms,
                             terms,
                             2,
                             2,
                             all_layouts[seed % 4],
                             all_layouts[seed / 4 % 4],
                             all_layouts[seed / 16 % 4],
                             GetParam().tile,
                             FusedOrder::persistent,
                             seed % 2 == 0,
                             GetParam().type};
                compare(c, stream, backend, seed++);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(FusedOnDevice, any_terms_targets_strides_and_orders_equal_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    Random random(7);
    for (unsigned seed = 0; seed < 400; ++seed) {
        const auto layout = [&] { return all_layouts[pick(random, 0, 5)]; };
        const Case c{pick(random, 1, 150),
                     pick(random, 0, 129),
                     pick(random, 1, 150),
                     pick(random, 1, 6),
                     pick(random, 1, 6),
                     pick(random, 1, 6),
                     pick(random, 1, 9),
                     layout(),
                     layout(),
                     layout(),
                     GetParam().tile,
                     fused_orders[pick(random, 0, 4)],
                     pick(random, 0, 1) == 0,
                     GetParam().type};
        compare(c, stream, backend, seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(kernels, FusedOnDevice,
                         ::testing::Values(Kernel{Type::f32, FusedTile::automatic}, Kernel{Type::f32, FusedTile::small},
                                           Kernel{Type::f32, FusedTile::tall}, Kernel{Type::f32, FusedTile::large},
                                           Kernel{Type::f32, FusedTile::huge}, Kernel{Type::f64, FusedTile::automatic}),
                         kernel_name);

/// Lines along k may be of any number, lines across it only of a multiple of four.
Case regular_case(std::int64_t m, std::int64_t k, std::int64_t n, const Kernel& kernel, FusedOrder order,
                  unsigned seed) {
    Case c{m,          k, n, 2, 2, 2, 3, Layout::rows, Layout::rows, Layout::rows, kernel.tile, order, seed % 2 == 0,
           kernel.type};
    c.left_layout = m % 4 == 0 && seed % 3 == 0 ? Layout::columns : Layout::rows;
    c.right_layout = n % 4 != 0 || seed % 5 == 0 ? Layout::columns : Layout::rows;
    c.target_layout = all_layouts[seed / 2 % 6];
    c.regular = true;
    return c;
}

class RegularOnDevice : public ::testing::TestWithParam<Kernel> {};

TEST_P(RegularOnDevice, every_edge_of_a_tile_equals_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    unsigned seed = 1;
    for (const std::int64_t m : {1, 2, 4, 63, 64, 65, 127, 128, 129, 132}) {
        for (const std::int64_t n : {1, 4, 33, 64, 65, 124, 128, 129, 252, 255, 256, 257, 260}) {
            for (const std::int64_t k : {8, 16, 24, 32, 40, 72}) {
                compare(regular_case(m, k, n, GetParam(), fused_orders[seed % 5], seed), stream, backend, seed);
                ++seed;
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST_P(RegularOnDevice, long_products_whose_last_tiles_are_made_in_pieces_equal_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    unsigned seed = 1;
    for (const std::int64_t k : {128, 136, 264, 1048}) {
        for (const FusedOrder order : {FusedOrder::persistent, FusedOrder::atomic, FusedOrder::batched}) {
            for (const std::int64_t n : {64, 256, 300}) {
                Case c = regular_case(131, k, n, GetParam(), order, seed);
                c.products = 9;
                c.targets = 4;
                compare(c, stream, backend, seed++);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

/// Several rounds of tiles, the last of which is shared out in ranges in the atomic order. Targets take whole tiles,
/// and those of one product the same factor with both signs, other factors, or parts of tiles.
TEST_P(RegularOnDevice, many_products_whose_last_tiles_are_shared_out_equal_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    unsigned seed = 1;
    for (const std::int64_t k : {8, 136}) {
        for (const auto& [order, n] : {std::pair{FusedOrder::atomic, 256}, std::pair{FusedOrder::atomic, 260},
                                       std::pair{FusedOrder::persistent, 256}}) {
            Case c{384,
                   k,
                   n,
                   2,
                   2,
                   3,
                   60,
                   Layout::rows,
                   Layout::rows,
                   Layout::rows,
                   GetParam().tile,
                   order,
                   seed % 2 == 0,
                   GetParam().type};
            c.regular = true;
            compare(c, stream, backend, seed++);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(kernels, RegularOnDevice,
                         ::testing::Values(Kernel{Type::f32, FusedTile::automatic}, Kernel{Type::f32, FusedTile::large},
                                           Kernel{Type::f32, FusedTile::huge}, Kernel{Type::f64, FusedTile::automatic}),
                         kernel_name);

/// More tiles than multiprocessors, so that loading goes on from one tile to the next: with one slab of k a tile, with
/// fewer than there are stages, and with more.
TEST(fused, f64_with_several_tiles_for_each_block_equals_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    unsigned seed = 1;
    for (const std::int64_t k : {5, 16, 48, 130}) {
        for (const int terms : {1, 2, 4}) {
            for (const FusedOrder order : {FusedOrder::persistent, FusedOrder::serial}) {
                const Case c{128 * 13,
                             k,
                             128 * 12,
                             terms,
                             terms,
                             2,
                             2,
                             Layout::rows,
                             Layout::rows,
                             Layout::rows,
                             FusedTile::automatic,
                             order,
                             seed % 2 == 0,
                             Type::f64};
                compare(c, stream, backend, seed++);
                if (HasFatalFailure()) {
                    return;
                }
            }
        }
    }
}

TEST(fused, targets_with_addends_equal_the_reference_bit_for_bit) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    Random random(13);
    for (unsigned seed = 0; seed < 200; ++seed) {
        const auto layout = [&] { return all_layouts[pick(random, 0, 5)]; };
        const Case c{pick(random, 1, 2) * pick(random, 64, 129),
                     pick(random, 0, 65),
                     pick(random, 1, 2) * pick(random, 64, 129),
                     pick(random, 1, 2),
                     pick(random, 1, 2),
                     pick(random, 1, 4),
                     pick(random, 1, 4),
                     layout(),
                     layout(),
                     layout(),
                     FusedTile::automatic,
                     fused_orders[pick(random, 0, 4)],
                     pick(random, 0, 1) == 0,
                     seed % 2 == 0 ? Type::f32 : Type::f64,
                     true};
        compare(c, stream, backend, seed);
        if (HasFatalFailure()) {
            return;
        }
    }
}

/// P0's mulIncIncInc: W = U*V; Y += W; Z += Y; Y += X, where Y is read as the addend of Z before it changes.
TEST(fused, an_addend_that_is_a_later_target_counts_with_its_old_value) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    Random random(17);
    for (const Type type : {Type::f32, Type::f64}) {
        for (const std::int64_t side : {1, 64, 128, 129, 256}) {
            GuardedMatrix factors(type, side, 2 * side, Layout::rows), results(type, side, 4 * side, Layout::rows);
            factors.fill_random(random, 2);
            results.fill_random(random, 3);
            GuardedMatrix expected = results;
            const auto multiply = [&](Backend& on, const View& uv, const View& wxyz) {
                const auto part = [&](const View& whole, std::int64_t number) {
                    return block(whole, 0, number * side, side, side);
                };
                const View w = part(wxyz, 0), x = part(wxyz, 1), y = part(wxyz, 2), z = part(wxyz, 3);
                const FusedProduct product{side,
                                           side,
                                           side,
                                           {{part(uv, 0), 1}},
                                           {{part(uv, 1), 1}},
                                           {{w, 1, 0}, {z, 1, 1, y, 1}, {y, 1, 1, x, 1}}};
                on.multiply_fused({&product, 1}, FusedOrder::persistent, FusedTile::automatic);
            };
            ReferenceBackend reference;
            multiply(reference, factors.view(), expected.view());
            DeviceMatrixCopy factors_copy(factors, stream.handle()), results_copy(results, stream.handle());
            multiply(backend, factors_copy.view(), results_copy.view());
            results_copy.fetch();
            stream.synchronize();
            EXPECT_TRUE(results.equals(expected)) << type_name(type) << " " << side;
        }
    }
}

TEST(fused, more_products_than_fit_into_a_launch_keep_their_order) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    for (const FusedOrder order : fused_orders) {
        compare({70, 20, 70, 4, 4, 3, 150, Layout::rows, Layout::rows, Layout::rows, FusedTile::automatic, order, true},
                stream, backend, 5);
    }
}

TEST(fused, an_empty_inner_dimension_scales_the_targets) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    cuda::CudaBackend backend(0, stream.handle());
    compare({65, 0, 66, 1, 1, 2, 1, Layout::rows, Layout::rows, Layout::rows, FusedTile::automatic,
             FusedOrder::persistent, true},
            stream, backend, 3);
}

TEST(fused, f32_and_f64_are_taken_and_other_types_refused) {
    HEPTAD_NEEDS_DEVICE();
    const cuda::Stream stream(0);
    const cuda::CudaBackend backend(0, stream.handle());
    EXPECT_TRUE(backend.fuses(Type::f32, 1, 1, 1));
    EXPECT_TRUE(backend.fuses(Type::f32, 16, 16, 16));
    EXPECT_FALSE(backend.fuses(Type::f32, 4000, 1, 1));
    EXPECT_TRUE(backend.fuses(Type::f64, 4, 4, 4));
    EXPECT_EQ(backend.fused_tile_shapes(Type::f64).size(), 1U);
    EXPECT_FALSE(backend.fuses(Type::i32, 1, 1, 1));
    EXPECT_FALSE(backend.fused_tile_shapes(Type::f32).empty());
    EXPECT_TRUE(backend.fused_tile_shapes(Type::i32).empty());
}

}  // namespace
}  // namespace heptad::test
