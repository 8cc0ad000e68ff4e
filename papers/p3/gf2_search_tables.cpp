#include "papers/p3/gf2_search_tables.hpp"

#include <algorithm>
#include <bit>

#include "base/shared_state.hpp"

namespace heptad {
namespace {

constexpr unsigned unit_vectors = (1U << 1U) | (1U << 2U) | (1U << 4U) | (1U << 8U);
constexpr std::uint8_t out_of_reach = 255;

}  // namespace

Nibble times(Nibble x, const NibbleMatrix& m) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 4; ++i) {
        sum ^= ((static_cast<unsigned>(x) >> i) & 1U) != 0 ? m[i] : 0U;
    }
    return static_cast<Nibble>(sum);
}

NibbleMatrix times(const NibbleMatrix& x, const NibbleMatrix& y) {
    return {times(x[0], y), times(x[1], y), times(x[2], y), times(x[3], y)};
}

NibbleMatrix transposed(const NibbleMatrix& m) {
    NibbleMatrix result = {};
    for (unsigned i = 0; i < 4; ++i) {
        for (unsigned j = 0; j < 4; ++j) {
            result[j] = static_cast<Nibble>(result[j] | (((static_cast<unsigned>(m[i]) >> j) & 1U) << i));
        }
    }
    return result;
}

NibbleMatrix inverse(const NibbleMatrix& m) {
    // Row i of the inverse is the vector x with x m = e_i; sixteen candidates are quicker tried than eliminated.
    NibbleMatrix result = {};
    for (unsigned x = 1; x < 16; ++x) {
        const unsigned image = times(static_cast<Nibble>(x), m);
        if (std::has_single_bit(image)) {
            result[static_cast<std::size_t>(std::countr_zero(image))] = static_cast<Nibble>(x);
        }
    }
    return result;
}

const std::vector<NibbleMatrix>& invertible_matrices() {
    static constinit Once<std::vector<NibbleMatrix>> all;
    return all.get([] {
        std::vector<NibbleMatrix> found;
        for (unsigned code = 0; code < 65536; ++code) {
            const NibbleMatrix m = {static_cast<Nibble>(code & 15U), static_cast<Nibble>((code >> 4U) & 15U),
                                    static_cast<Nibble>((code >> 8U) & 15U), static_cast<Nibble>(code >> 12U)};
            bool has_kernel = false;
            for (unsigned x = 1; x < 16; ++x) {
                has_kernel = has_kernel || times(static_cast<Nibble>(x), m) == 0;
            }
            if (!has_kernel) {
                found.push_back(m);
            }
        }
        return found;
    });
}

AdditionTable::AdditionTable() : least_(65536, out_of_reach) {
    // A set is in reach if one of its vectors is a sum of two others of a set in reach. Supersets are larger numbers,
    // so one upward pass finds all sets that a program makes exactly.
    least_[unit_vectors] = 0;
    for (unsigned set = unit_vectors; set < 65536; ++set) {
        if (least_[set] == out_of_reach) {
            continue;
        }
        for (unsigned x = 1; x < 16; ++x) {
            for (unsigned y = x + 1; y < 16; ++y) {
                if (((set >> x) & 1U) != 0 && ((set >> y) & 1U) != 0) {
                    const unsigned larger = set | (1U << (x ^ y));
                    if (larger != set) {
                        least_[larger] = static_cast<std::uint8_t>(std::popcount(larger) - 4);
                    }
                }
            }
        }
    }
    // A program for a larger set makes the smaller one too.
    for (unsigned bit = 0; bit < 16; ++bit) {
        for (unsigned set = 0; set < 65536; ++set) {
            if (((set >> bit) & 1U) == 0) {
                least_[set] = std::min(least_[set], least_[set | (1U << bit)]);
            }
        }
    }
    for (unsigned set = 1; set < 65536; set += 2) {  // the zero vector costs nothing
        least_[set] = least_[set - 1];
    }
}

CoefficientMatrix to_coefficients(const std::vector<Nibble>& rows) {
    CoefficientMatrix result(static_cast<int>(rows.size()), 4);
    for (int r = 0; r < result.rows; ++r) {
        for (int i = 0; i < 4; ++i) {
            result(r, i) = (rows[static_cast<std::size_t>(r)] >> i) & 1;
        }
    }
    return result;
}

CoefficientMatrix to_coefficients(const NibbleMatrix& m) {
    return to_coefficients(std::vector<Nibble>(m.begin(), m.end()));
}

std::vector<Nibble> to_nibbles(const CoefficientMatrix& x) {
    const CoefficientMatrix reduced = reduced_mod_2(x);
    std::vector<Nibble> rows;
    for (int r = 0; r < reduced.rows; ++r) {
        unsigned row = 0;
        for (int i = 0; i < 4; ++i) {
            row |= reduced(r, i).is_zero() ? 0U : 1U << static_cast<unsigned>(i);
        }
        rows.push_back(static_cast<Nibble>(row));
    }
    return rows;
}

}  // namespace heptad
