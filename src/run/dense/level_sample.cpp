#include "run/dense/level_sample.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "algorithm/catalogue.hpp"
#include "base/stored_type.hpp"
#include "base/types.hpp"

namespace heptad {
namespace {

/// Blocks of samples, row by row, each of so many numbers.
struct Blocks {
    std::int64_t rows, cols;
    std::size_t size;
    std::vector<double> values;
    Blocks(std::int64_t r, std::int64_t c, std::size_t each)
        : rows(r), cols(c), size(each), values(static_cast<std::size_t>(r * c) * each) {}
    double* at(std::int64_t i, std::int64_t j) { return values.data() + static_cast<std::size_t>(i * cols + j) * size; }
    const double* at(std::int64_t i, std::int64_t j) const {
        return values.data() + static_cast<std::size_t>(i * cols + j) * size;
    }
};

/// Row `s` of the coefficients times the outer blocks, of which there are grid_rows x grid_cols.
Blocks sum_of(const Blocks& x, const CoefficientMatrix& coefficients, int s, int grid_rows, int grid_cols) {
    Blocks sum(x.rows / grid_rows, x.cols / grid_cols, x.size);
    for (int g = 0; g < grid_rows * grid_cols; ++g) {
        if (coefficients(s, g).is_zero()) {
            continue;
        }
        const double factor = coefficients(s, g).to_double();
        for (std::int64_t i = 0; i < sum.rows; ++i) {
            const double* const from = x.at(g / grid_cols * sum.rows + i, g % grid_cols * sum.cols);
            double* const to = sum.at(i, 0);
            for (std::size_t e = 0; e < static_cast<std::size_t>(sum.cols) * x.size; ++e) {
                to[e] += factor * from[e];
            }
        }
    }
    return sum;
}

/// A library adds up about so many products before it adds their sum to C.
constexpr double kSumsOf = 192;

struct Pairs {
    std::size_t of_a, of_b, places;  // lines of each, and places along k of a block
    double each;                     // so many products are seen by one place
    std::size_t together() const {
        return std::max<std::size_t>(1, static_cast<std::size_t>(std::lrint(kSumsOf / each)));
    }
};

/// Squares of the sums at which a product of lines x and y rounds; and what |x||y| add up to. Blocks follow one another
/// along k.
class RoundedSums {
public:
    RoundedSums(const Pairs& pairs, double* squares, double* magnitudes)
        : pairs_(pairs), squares_(squares), magnitudes_(magnitudes), sums_(2 * pairs.of_a * pairs.of_b) {}

    void add(const double* x, const double* y) {
        for (std::size_t p = 0; p < pairs_.places; ++p) {
            const bool ends = ++added_ % pairs_.together() == 0;
            for (std::size_t i = 0; i < pairs_.of_a; ++i) {
                add_line(x[p * pairs_.of_a + i], y + p * pairs_.of_b, i * pairs_.of_b, ends);
            }
        }
    }

private:
    void add_line(double left, const double* right, std::size_t at, bool ends) {
        double* const sums = sums_.data() + at;
        double* const squares = squares_ + at;
        for (std::size_t j = 0; j < pairs_.of_b; ++j) {
            sums[j] += left * right[j];
            squares[j] += pairs_.each * sums[j] * sums[j];
        }
        for (std::size_t j = 0; j < pairs_.of_b && magnitudes_ != nullptr; ++j) {
            magnitudes_[at + j] += std::abs(left * right[j]);
        }
        if (ends) {
            double* const totals = sums + pairs_.of_a * pairs_.of_b;
            for (std::size_t j = 0; j < pairs_.of_b; ++j) {
                totals[j] += std::exchange(sums[j], 0);
                squares[j] += totals[j] * totals[j];
            }
        }
    }

    Pairs pairs_;
    double *squares_, *magnitudes_;
    std::vector<double> sums_;  // that go on, and what was added to C
    std::size_t added_ = 0;
};

/// Squares of the errors of C = A B by levels.
Blocks squares_of(const Blocks& a, const Blocks& b, std::span<const LevelPlan> levels, const Pairs& pairs) {
    Blocks squares(a.rows, b.cols, pairs.of_a * pairs.of_b);
    if (levels.empty()) {
        RoundedSums(pairs, squares.at(0, 0), nullptr).add(a.at(0, 0), b.at(0, 0));
        return squares;
    }
    const Algorithm& algorithm = find_algorithm(levels.front().algorithm).standard;
    for (int s = 0; s < algorithm.rank(); ++s) {
        const Blocks of_product =
            squares_of(sum_of(a, algorithm.u, s, algorithm.m, algorithm.k),
                       sum_of(b, algorithm.v, s, algorithm.k, algorithm.n), levels.subspan(1), pairs);
        for (int c = 0; c < algorithm.m * algorithm.n; ++c) {
            const double factor = algorithm.w(s, c).to_double();
            for (std::int64_t i = 0; i < of_product.rows && factor != 0; ++i) {
                const double* const from = of_product.at(i, 0);
                double* const to = squares.at(c / algorithm.n * of_product.rows + i, c % algorithm.n * of_product.cols);
                for (std::size_t e = 0; e < static_cast<std::size_t>(of_product.cols) * of_product.size; ++e) {
                    to[e] += factor * factor * from[e];
                }
            }
        }
    }
    return squares;
}

void note_classical(const Blocks& a, const Blocks& b, const Pairs& pairs, Blocks& squares, Blocks& magnitudes) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            RoundedSums sums(pairs, squares.at(i, j), magnitudes.at(i, j));
            for (std::int64_t p = 0; p < a.cols; ++p) {
                sums.add(a.at(i, p), b.at(p, j));
            }
        }
    }
}

}  // namespace

LevelSample::LevelSample(std::int64_t count, std::int64_t length, std::int64_t blocks_of_lines,
                         std::int64_t blocks_along_k, bool runs_of_lines)
    : block_lines(count / blocks_of_lines),
      block_places(length / blocks_along_k),
      line_blocks(blocks_of_lines),
      inner_blocks(blocks_along_k),
      k(length) {
    lines = tried_lines(block_lines, line_blocks, runs_of_lines);
    places = tried_places(block_places, inner_blocks);
    values.resize(static_cast<std::size_t>(line_blocks * inner_blocks) * lines.size() * places.size());
    left_out_.resize(static_cast<std::size_t>(line_blocks) * lines.size());
}

void LevelSample::note(const ConstView& part, std::int64_t first_line, std::int64_t first_inner,
                       const LineExponents& exponents, double usual, int number, int parts) {
    const auto shift = static_cast<int>(std::lrint(usual));
    with_stored_type(part.type, [&]<class T>() {
        const auto* data = static_cast<const T*>(part.data);
        double* to = values.data();
        for (std::int64_t block = 0; block < line_blocks * inner_blocks; ++block) {
            for (std::size_t at = 0; at < places.size(); ++at) {
                const std::int64_t p = block % inner_blocks * block_places + places[at] - first_inner;
                if (p < 0 || p >= part.cols || static_cast<int>(at) % parts != number) {
                    to += lines.size();
                    continue;
                }
                for (const std::int64_t line : lines) {
                    const std::int64_t i = block / inner_blocks * block_lines + line - first_line;
                    if (i >= 0 && i < part.rows) {
                        const int power = (exponents.rows == nullptr ? 0 : exponents.rows[i]) +
                                          (exponents.cols == nullptr ? 0 : exponents.cols[p]) - shift;
                        *to = std::ldexp(to_double(data[i * part.row_stride + p * part.col_stride]), power);
                    }
                    ++to;
                }
            }
        }
    });
}

void LevelSample::leave_out_zeros(const std::vector<std::int32_t>& exponents, std::int64_t lines_there) {
    for (std::size_t at = 0; at < left_out_.size(); ++at) {
        const std::int64_t line = static_cast<std::int64_t>(at / lines.size()) * block_lines + lines[at % lines.size()];
        left_out_[at] =
            line >= lines_there || (!exponents.empty() && exponents[static_cast<std::size_t>(line)] == kZeroLine);
    }
}

double growth_in(const LevelSample& of_a, const LevelSample& of_b, const std::vector<LevelPlan>& levels) {
    const Pairs pairs{
        of_a.lines.size(), of_b.lines.size(), of_a.places.size(),
        static_cast<double>(of_a.block_places) / static_cast<double>(std::max<std::size_t>(of_a.places.size(), 1))};
    if (of_a.values.empty() || of_b.values.empty()) {
        return 0;
    }
    Blocks a(of_a.line_blocks, of_a.inner_blocks, pairs.of_a * pairs.places);
    Blocks b(of_b.inner_blocks, of_b.line_blocks, pairs.of_b * pairs.places);
    a.values = of_a.values;
    for (std::int64_t p = 0; p < b.rows; ++p) {
        for (std::int64_t j = 0; j < b.cols; ++j) {
            std::copy_n(of_b.values.data() + static_cast<std::size_t>(j * b.rows + p) * b.size, b.size, b.at(p, j));
        }
    }
    Blocks classical(a.rows, b.cols, pairs.of_a * pairs.of_b), magnitudes = classical;
    note_classical(a, b, pairs, classical, magnitudes);
    const Blocks fast = squares_of(a, b, levels, pairs);
    double most = 0, most_classical = 0;
    for (std::size_t e = 0; e < fast.values.size(); ++e) {
        const std::size_t pair = e % fast.size, block = e / fast.size;
        if (of_a.is_left_out(static_cast<std::int64_t>(block) / fast.cols, pair / pairs.of_b) ||
            of_b.is_left_out(static_cast<std::int64_t>(block) % fast.cols, pair % pairs.of_b)) {
            continue;
        }
        const double size = magnitudes.values[e] * magnitudes.values[e];
        const double here = fast.values[e] == 0 ? 0 : fast.values[e] / size;
        most = here <= most ? most : here;  // NaN too
        most_classical = std::max(most_classical, size > 0 ? classical.values[e] / size : 0);
    }
    return most == 0 ? 0 : std::sqrt(most / most_classical);
}

}  // namespace heptad
