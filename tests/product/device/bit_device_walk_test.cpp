// The walk through serial and parallel levels in host memory, against the definition: no device is needed.
#include "product/device/bit_device_cases.hpp"
#include "product/device/host_bit_verbs.hpp"

namespace heptad::test {
namespace {

constexpr std::uint64_t kGuard = 0x5a5aa5a5c3c33c3cU;

/// Runs a case in exactly the workspace that its plan tells, with a guard behind it.
void check_case(const BitDeviceCase& x, std::mt19937_64& random) {
    SCOPED_TRACE(x.text());
    BitDeviceData data(x, random);
    const std::vector<std::uint64_t> a = data.a.words, b = data.b.words;
    const bool aligned = is_aligned_for_leaf(a.data(), data.a.row_words);
    const ProductPlan plan = plan_bit_device_product({x.operation, x.size, aligned}, x.options);
    const auto words = static_cast<std::size_t>(plan.workspace_bytes / 8);
    std::vector<std::uint64_t> workspace(words + 2, kGuard);
    HostBitVerbs verbs;
    void* const c = x.operation == cuda::BitOperation::count ? static_cast<void*>(data.counts.data()) : data.c.data();
    const BitDeviceOperands operands{a.data(), data.a.row_words,  b.data(),     data.b.row_words,
                                     c,        data.c_row_stride, x.accumulate, workspace.data()};
    walk_bit_device(bit_device_launch(plan, operands), verbs, operands);
    EXPECT_TRUE(data.c == data.wanted);
    EXPECT_TRUE(data.counts == data.wanted_counts);
    EXPECT_TRUE(a == data.a.words && b == data.b.words);
    EXPECT_TRUE(workspace[words] == kGuard && workspace[words + 1] == kGuard);
}

TEST(bit_device_walk, every_split_of_levels_and_every_basis_equals_the_definition) {
    std::mt19937_64 random(1);
    std::vector<std::string> algorithms{"strassen"};  // which has no schedule for bits
    for (const bits::LevelProgram& program : bits::level_programs()) {
        algorithms.push_back(program.name);
    }
    for (const std::string& algorithm : algorithms) {
        for (int serial = 0; serial <= kMostSerialBitLevels; ++serial) {
            for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
                if (serial + parallel > 4) {
                    continue;  // the same passes again, in longer rows
                }
                for (int repeat = 0; repeat < 4; ++repeat) {
                    BitDeviceCase x = random_bit_case(random);
                    x.options.algorithm = algorithm;
                    x.options.levels = serial + parallel;
                    x.options.serial_levels = serial;
                    check_case(x, random);
                }
            }
        }
    }
}

TEST(bit_device_walk, blocks_of_several_words_keep_their_places) {
    std::mt19937_64 random(2);
    for (const auto& [serial, levels] : {std::pair{0, 1}, {0, 2}, {1, 2}, {2, 2}}) {
        BitDeviceCase x;
        x.size = {130, 1100, 900};
        x.options.levels = levels;
        x.options.serial_levels = serial;
        x.accumulate = serial == 1;
        check_case(x, random);
    }
}

TEST(bit_device_walk, classical_boolean_and_count_products_equal_the_definition) {
    std::mt19937_64 random(3);
    for (int repeat = 0; repeat < 60; ++repeat) {
        BitDeviceCase x = random_bit_case(random);
        x.operation = static_cast<cuda::BitOperation>(repeat % 3);
        x.options.algorithm = x.operation == cuda::BitOperation::parity ? "classical" : "auto";
        check_case(x, random);
    }
}

TEST(bit_device_walk, panels_of_columns_equal_the_whole) {
    std::mt19937_64 random(4);
    for (const cuda::BitOperation operation :
         {cuda::BitOperation::parity, cuda::BitOperation::any, cuda::BitOperation::count}) {
        BitDeviceCase x;
        x.size = {70, 300, 1000};
        x.operation = operation;
        x.options.algorithm = operation == cuda::BitOperation::parity ? "classical" : "auto";
        x.options.workspace_limit_bytes = 256 * 48 + 70 * 48;  // 256 columns of 384 bits, and a copy of A
        check_case(x, random);
    }
}

TEST(bit_device_walk, panels_of_k_add_up) {
    std::mt19937_64 random(6);
    for (int repeat = 0; repeat < 24; ++repeat) {
        BitDeviceCase x = random_bit_case(random);
        x.size.k = 1 + static_cast<std::int64_t>(random() % 700);
        x.operation = static_cast<cuda::BitOperation>(repeat % 3);
        x.options.algorithm = x.operation == cuda::BitOperation::parity ? "classical" : "auto";
        x.options.most_panel_k = 128 * static_cast<std::int64_t>(1 + random() % 3);
        check_case(x, random);
    }
}

TEST(bit_device_walk, the_least_workspace_that_is_not_refused_is_enough) {
    std::mt19937_64 random(7);
    for (const std::int64_t gap : {0, 1}) {  // A in place, and copied panel by panel
        for (int repeat = 0; repeat < 6; ++repeat) {
            BitDeviceCase x = random_bit_case(random);
            x.size.k = 300 + static_cast<std::int64_t>(random() % 700);
            x.size.n = 200 + static_cast<std::int64_t>(random() % 400);
            x.operation = static_cast<cuda::BitOperation>(repeat % 3);
            x.options.algorithm = x.operation == cuda::BitOperation::parity ? "classical" : "auto";
            x.gap_a = ceil_div(x.size.k, 64) % 2 + gap;
            x.options.workspace_limit_bytes = 16 * (256 + gap * x.size.m);
            check_case(x, random);
        }
    }
}

/// Leaves C alone where it is all ones and the walk allows that, and spoils the room for the list of tiles.
class EarlyEndingVerbs final : public cuda::BitVerbs {
public:
    void expand(const cuda::BitExpandLaunch& launch) override { verbs_.expand(launch); }
    void compress(const cuda::BitCompressLaunch& launch) override { verbs_.compress(launch); }
    void transpose(const cuda::BitTransposeLaunch& launch) override { verbs_.transpose(launch); }
    void multiply(const cuda::BitLeafLaunch& launch) override {
        panels.push_back(launch.k);
        EXPECT_EQ(launch.open_tiles != nullptr, launch.accumulate);
        if (launch.open_tiles != nullptr) {
            std::fill_n(launch.open_tiles, cuda::bit_open_tile_words(launch.m, launch.n), ~kGuard);
            if (is_full(launch)) {
                ++left_alone;
                return;
            }
        }
        verbs_.multiply(launch);
    }

    std::vector<std::int64_t> panels;  // their bits of k
    int left_alone = 0;

private:
    static bool is_full(const cuda::BitLeafLaunch& launch) {
        const auto* const words = static_cast<const std::uint64_t*>(launch.c);
        for (std::int64_t i = 0; i < launch.m; ++i) {
            for (std::int64_t j = 0; j < launch.n; ++j) {
                if ((words[i * launch.c_row_stride + j / 64] >> (j % 64) & 1) == 0) {
                    return false;
                }
            }
        }
        return true;
    }

    HostBitVerbs verbs_;
};

TEST(bit_device_walk, a_boolean_product_ends_where_c_is_all_ones) {
    std::mt19937_64 random(7);
    for (const bool accumulate : {false, true}) {
        for (const double density : {0.02, 0.5}) {
            constexpr std::int64_t m = 70, k = 2100, n = 300;
            BitDeviceOptions options;
            options.first_panel_k = 128;
            options.most_panel_k = 512;
            options.workspace_limit_bytes = 1 << 20;
            const BitMatrix a = BitMatrix::random(m, k, random(), density),
                            b = BitMatrix::random(k, n, random(), density);
            BitMatrix c = BitMatrix::random(m, n, random(), 0.5);
            BitMatrix wanted = product_by_definition(Type::boolean, a, b);
            for (std::int64_t i = 0; accumulate && i < m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    wanted.set(i, j, wanted(i, j) || c(i, j));
                }
            }
            const ProductPlan plan = plan_bit_device_product({cuda::BitOperation::any, {m, k, n}, true}, options);
            const auto words = static_cast<std::size_t>(plan.workspace_bytes / 8);
            std::vector<std::uint64_t> workspace(words + 1, kGuard);
            EarlyEndingVerbs verbs;
            walk_bit_device(bit_device_launch(plan, true), verbs,
                            {a.view().words, a.stride(), b.view().words, b.stride(), c.view().words, c.stride(),
                             accumulate, workspace.data()});
            EXPECT_TRUE(c == wanted) << accumulate << density;
            EXPECT_EQ(workspace[words], kGuard);
            EXPECT_EQ(verbs.panels, (std::vector<std::int64_t>{128, 384, 512, 512, 512, 52}));
            EXPECT_EQ(verbs.left_alone > 0, density == 0.5);
        }
    }
}

TEST(bit_device_walk, empty_sums_are_zero_or_leave_c_alone) {
    std::mt19937_64 random(5);
    for (const bool accumulate : {false, true}) {
        for (int levels = 0; levels <= 2; ++levels) {
            BitDeviceCase x;
            x.size = {65, 0, 129};
            x.accumulate = accumulate;
            x.options.levels = levels;
            check_case(x, random);
        }
    }
}

TEST(bit_device_walk, tables_of_every_program_are_a_matrix_product) {
    for (const bits::LevelProgram& program : bits::level_programs()) {
        const LevelTerms level = bits::level_terms(program, bits::ProgramBasis::standard);
        const auto a_of = bit_level_masks(level, &BlockProduct::left),
                   b_of = bit_level_masks(level, &BlockProduct::right),
                   c_of = bit_level_masks(level, &BlockProduct::result);
        for (int a = 0; a < 4; ++a) {
            for (int b = 0; b < 4; ++b) {
                for (int c = 0; c < 4; ++c) {
                    int sum = 0;
                    for (int p = 0; p < cuda::kBitProducts; ++p) {
                        sum += static_cast<int>(a_of.of[p][a] & b_of.of[p][b] & c_of.of[p][c] & 1U);
                    }
                    const bool wanted = a % 2 == b / 2 && a / 2 == c / 2 && b % 2 == c % 2;
                    EXPECT_EQ(sum % 2 != 0, wanted) << program.name << " " << a << b << c;
                }
            }
        }
    }
}

TEST(bit_device_walk, an_unaligned_operand_needs_a_plan_that_knows) {
    const ProductPlan plan = plan_bit_device_product({cuda::BitOperation::any, {64, 64, 64}, true}, {});
    std::vector<std::uint64_t> words(64 * 3 + 1000);
    const BitDeviceOperands operands{words.data(), 1, words.data(), 1, words.data(), 1, false, words.data()};
    EXPECT_THROW(bit_device_launch(plan, operands), Error);
}

}  // namespace
}  // namespace heptad::test
