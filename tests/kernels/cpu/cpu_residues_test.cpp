// Products by residues with every kernel that this machine can run: entries are the integers that wide arithmetic
// gives, whatever the number of moduli, the layout and the fringes.
#include "kernels/cpu/cpu_residues.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/moduli.hpp"
#include "base/wide_integer.hpp"

namespace heptad::cpu {
namespace {

using Wide = WideInteger<6>;

/// Of a double that is one.
Wide wide_integer(double x) {
    int power = 0;
    const double fraction = std::frexp(std::abs(x), &power);
    Wide result;
    result.words[0] = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    result = result.shifted(power - 53);
    if (x < 0) {
        result.negate();
    }
    return result;
}

Wide wide_entry(const IntegerTile& tile, std::int64_t i, std::int64_t j) {
    Wide result;
    for (int q = 0; q < tile.piece_count; ++q) {
        const double piece = tile.pieces[(std::int64_t{q} * kResidueTile + i) * kResidueTile + j];
        result.add_multiple(wide_integer(std::ldexp(piece, kEntryPieceBits * q)), 1);
    }
    return result;
}

template <class T>
struct Strided {
    std::vector<T> data;
    ConstView view;
    Strided(std::int64_t rows, std::int64_t cols, int layout)
        : data(static_cast<std::size_t>(2 * rows * cols + 1), std::numeric_limits<T>::quiet_NaN()) {
        const Type type = sizeof(T) == 8 ? Type::f64 : Type::f32;
        view = layout == 0   ? ConstView{data.data(), type, rows, cols, cols, 1}
               : layout == 1 ? ConstView{data.data(), type, rows, cols, 1, rows}
                             : ConstView{data.data() + 1, type, rows, cols, 2 * cols, 2};
    }
    T& at(std::int64_t i, std::int64_t j) {
        return const_cast<T*>(static_cast<const T*>(view.data))[i * view.row_stride + j * view.col_stride];
    }
};

struct Planes {
    std::vector<std::uint8_t> a, b;
};
Planes pack(CpuResidues& residues, const ConstView& a, const ConstView& b, int moduli, const std::int32_t* rows,
            const std::int32_t* cols, double bits) {
    Planes planes{
        std::vector<std::uint8_t>(static_cast<std::size_t>(moduli * packed_residue_bytes(a.rows, a.cols)), 0xee),
        std::vector<std::uint8_t>(static_cast<std::size_t>(moduli * packed_residue_bytes(b.cols, a.cols)), 0xee)};
    residues.pack(0, {a, rows, bits}, moduli, planes.a.data());
    residues.pack(1, {transposed(b), cols, bits}, moduli, planes.b.data());
    return planes;
}

/// Integers of up to so many bits, of any size below.
template <class T>
double random_integer(std::mt19937_64& random, double bits) {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    const auto size = static_cast<T>(std::exp2(bits * u));
    const double x = std::floor(static_cast<double>(size));
    return (random() & 1) != 0 ? -x : x;
}

template <class T>
void expect_exact(int moduli, int layout, std::int64_t m, std::int64_t k, std::int64_t n) {
    std::mt19937_64 random(static_cast<std::uint64_t>(moduli));
    const double room = log2_of_moduli(moduli) - kSignAndMargin - std::log2(static_cast<double>(k));
    const double bits = std::min(std::max(0.0, room / 2), sizeof(T) == 8 ? 1000.0 : 100.0);
    Strided<T> a(m, k, layout), b(k, n, layout);
    // Stored with powers of two that the exponents of the lines take out again.
    std::vector<std::int32_t> rows, cols;
    for (std::int64_t i = 0; i < m; ++i) {
        rows.push_back(static_cast<std::int32_t>(i % 20) - 10);
    }
    for (std::int64_t j = 0; j < n; ++j) {
        cols.push_back(static_cast<std::int32_t>(j % 7) - 3);
    }
    std::vector<Wide> expected(static_cast<std::size_t>(m * n)), of_a, of_b;
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t p = 0; p < k; ++p) {
            const double x = random_integer<T>(random, bits);
            of_a.push_back(wide_integer(x));
            a.at(i, p) = static_cast<T>(std::ldexp(x, -rows[static_cast<std::size_t>(i)]));
        }
    }
    for (std::int64_t p = 0; p < k; ++p) {
        for (std::int64_t j = 0; j < n; ++j) {
            const double x = random_integer<T>(random, bits);
            of_b.push_back(wide_integer(x));
            b.at(p, j) = static_cast<T>(std::ldexp(x, -cols[static_cast<std::size_t>(j)]));
            // x * a, word by word, with the signs of both
            for (std::int64_t i = 0; i < m; ++i) {
                Wide left = of_a[static_cast<std::size_t>(i * k + p)], right = of_b.back();
                const bool negative = left.is_negative() != right.is_negative();
                if (left.is_negative()) {
                    left.negate();
                }
                if (right.is_negative()) {
                    right.negate();
                }
                Wide product;
                for (std::size_t w = 0; w < 3; ++w) {
                    Wide part;
                    part.add_multiple(left, right.words[w]);
                    product.add_multiple(part.shifted(static_cast<int>(64 * w)), 1);
                }
                if (negative) {
                    product.negate();
                }
                expected[static_cast<std::size_t>(i * n + j)].add_multiple(product, 1);
            }
        }
    }
    std::vector<std::pair<const ByteKernels*, int>> with;
    for (const ByteKernels* const kernels : usable_byte_kernels()) {
        with.emplace_back(kernels, 1);
        with.emplace_back(kernels, 3);
    }
    for (const auto& way : with) {
        const ByteKernels* const kernels = way.first;
        CpuResidues residues(shared_pool(way.second), kernels);
        const Planes planes = pack(residues, a.view, b.view, moduli, rows.data(), cols.data(), bits);
        std::vector<int> seen(static_cast<std::size_t>(m * n));
        for (std::int64_t first = 0; first < m; first += kResidueTile) {  // in bands
            const std::int64_t band = std::min<std::int64_t>(kResidueTile, m - first);
            residues.multiply({planes.a.data(), planes.b.data(), m, k, n, moduli, first, band},
                              [&](const IntegerTile& tile) {
                                  for (std::int64_t i = 0; i < tile.rows; ++i) {
                                      for (std::int64_t j = 0; j < tile.cols; ++j) {
                                          const auto at = static_cast<std::size_t>((tile.row + i) * n + tile.col + j);
                                          ++seen[at];
                                          ASSERT_EQ(wide_entry(tile, i, j), expected[at])
                                              << kernels->name << " " << moduli << " moduli, layout " << layout << ", "
                                              << tile.row + i << " " << tile.col + j;
                                      }
                                  }
                              });
        }
        EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
    }
}

TEST(cpu_residues, entries_are_exact_with_every_kernel_and_number_of_moduli) {
    ASSERT_FALSE(usable_byte_kernels().empty());
    for (int moduli = 1; moduli <= kMostModuli; ++moduli) {
        expect_exact<double>(moduli, moduli % 3, 37, 1 + 9 * moduli, 45);
        expect_exact<float>(moduli, (moduli + 1) % 3, 33, 66, 5);
    }
}

TEST(cpu_residues, single_lines_and_depths_are_exact) {
    for (int layout = 0; layout < 3; ++layout) {
        expect_exact<double>(14, layout, 1, 1, 1);
        expect_exact<double>(14, layout, 1, 130, 70);
        expect_exact<float>(7, layout, 70, 64, 1);
    }
}

TEST(cpu_residues, long_sums_of_the_largest_bytes_do_not_overflow) {
    constexpr std::int64_t k = 3 * 65536 + 77;
    constexpr int moduli = 2;  // 256 and 255
    Strided<float> a(1, k, 0), b(k, 1, 0);
    for (std::int64_t p = 0; p < k; ++p) {
        a.at(0, p) = 128 + 256 * 127;  // -128 modulo 256, 127 modulo 255
        b.at(p, 0) = 255 * 255 + 254;  // 255 and 254
    }
    const std::int64_t exact = k % (256 * 255) * (128 + 256 * 127) % (256 * 255) * (255 * 255 + 254) % (256 * 255);
    const std::int32_t zero = 0;
    for (const ByteKernels* const kernels : usable_byte_kernels()) {
        CpuResidues residues(shared_pool(1), kernels);
        const Planes planes = pack(residues, a.view, b.view, moduli, &zero, &zero, 17);
        residues.multiply({planes.a.data(), planes.b.data(), 1, k, 1, moduli, 0, 1}, [&](const IntegerTile& tile) {
            EXPECT_EQ((static_cast<std::int64_t>(tile.pieces[0]) - exact) % (256 * 255), 0) << kernels->name;
        });
    }
}

TEST(cpu_residues, numbers_are_rounded_to_nearest_even_and_what_is_not_finite_is_zero) {
    const std::vector<double> given{0.5,
                                    1.5,
                                    -2.5,
                                    2.50001,
                                    0x1p51 + 0.5,
                                    -0x1p52 - 1,
                                    0x1p60,
                                    std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
    const std::vector<double> integers{0, 2, -2, 3, 0x1p51, -0x1p52 - 1, 0x1p60, 0, 0};
    const auto k = static_cast<std::int64_t>(given.size());
    Strided<double> a(k, k, 0), b(k, 1, 1);
    for (std::int64_t i = 0; i < k; ++i) {
        for (std::int64_t p = 0; p < k; ++p) {
            a.at(i, p) = i == p ? given[static_cast<std::size_t>(i)] : 0;
        }
        b.at(i, 0) = 1;
    }
    const std::vector<std::int32_t> zeros(static_cast<std::size_t>(k));
    for (const ByteKernels* const kernels : usable_byte_kernels()) {
        CpuResidues residues(shared_pool(1), kernels);
        const Planes planes = pack(residues, a.view, b.view, 10, zeros.data(), zeros.data(), 61);
        residues.multiply({planes.a.data(), planes.b.data(), k, k, 1, 10, 0, k}, [&](const IntegerTile& tile) {
            for (std::int64_t i = 0; i < k; ++i) {
                EXPECT_EQ(wide_entry(tile, i, 0), wide_integer(integers[static_cast<std::size_t>(i)]))
                    << kernels->name << " " << given[static_cast<std::size_t>(i)];
            }
        });
    }
}

}  // namespace
}  // namespace heptad::cpu
