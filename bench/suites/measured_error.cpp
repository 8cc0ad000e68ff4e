#include "bench/suites/measured_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "base/matrix.hpp"
#include "base/thread_pool.hpp"
#include "check/exact_rows.hpp"
#include "check/float_facts.hpp"
#include "kernels/scalars.hpp"

namespace heptad {
namespace {

using namespace check;

// Below this many products every row is measured.
constexpr double kSmall = 1 << 22;

void require_shapes(const ConstView& a, const ConstView& b, const ConstView& c, const ErrorOptions& options) {
    if (a.cols != b.rows || c.rows != a.rows || c.cols != b.cols || a.type != b.type || a.type != c.type) {
        fail(ErrorCode::input, "C of {} x {} {} cannot be the product of A, {} x {} {}, and B, {} x {} {}", c.rows,
             c.cols, type_name(c.type), a.rows, a.cols, type_name(a.type), b.rows, b.cols, type_name(b.type));
    }
    if (options.beta != 0 &&
        (!options.c0 || options.c0->rows != c.rows || options.c0->cols != c.cols || options.c0->type != c.type)) {
        fail(ErrorCode::input, "beta is {}, so the C it multiplied, {} x {} of {}, is needed; give c0", options.beta,
             c.rows, c.cols, type_name(c.type));
    }
    if (options.rows < 1) {
        fail(ErrorCode::usage, "the error of {} rows cannot be measured; choose 1 or more", options.rows);
    }
}

/// Max that keeps a NaN.
double worse(double x, double y) {
    return std::isnan(x) || std::isnan(y) ? std::numeric_limits<double>::quiet_NaN() : std::max(x, y);
}

/// Rows of the product, side by side: in double-double for f64; else in double, where each product of two elements is
/// exact and a sum of k has a relative error below k * 2^-53.
std::vector<DoubleDouble> exact_float_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows,
                                           ThreadPool& pool) {
    std::vector<DoubleDouble> sums;
    if (product.uses_product() && product.a.type == Type::f64) {
        sums = exact_rows<double, DoubleDouble>(product.a, product.b, rows, pool,
                                                [](DoubleDouble& sum, double a, double b) { add_product(sum, a, b); });
    } else if (product.uses_product()) {
        const std::vector<double> plain = exact_rows<double, double>(
            product.a, product.b, rows, pool, [](double& sum, double a, double b) { sum += a * b; });
        sums.resize(plain.size());
        std::transform(plain.begin(), plain.end(), sums.begin(), [](double x) { return DoubleDouble{x, 0}; });
    }
    return with_scalars(
        product, rows, product.b.cols, sums, product.alpha, product.beta,
        [](DoubleDouble& to, double factor, const DoubleDouble& term) { add_product(to, factor, term.hi, term.lo); });
}

/// Rows of |alpha| |A| |B| + |beta| |C0|.
std::vector<double> magnitude_rows(const FloatProduct& product, const std::vector<std::int64_t>& rows,
                                   ThreadPool& pool) {
    std::vector<double> sums;
    if (product.uses_product()) {
        sums = exact_rows<double, double>(product.a, product.b, rows, pool,
                                          [](double& sum, double a, double b) { sum += std::fabs(a * b); });
    }
    return with_scalars(product, rows, product.b.cols, sums, std::fabs(product.alpha), std::fabs(product.beta),
                        [](double& to, double factor, double term) { to += factor * std::fabs(term); });
}

ErrorMeasure measure_floats(const FloatProduct& product, const ConstView& c, const std::vector<std::int64_t>& rows,
                            ThreadPool& pool) {
    const std::vector<DoubleDouble> exact = exact_float_rows(product, rows, pool);
    const std::vector<double> magnitude = magnitude_rows(product, rows, pool);
    ErrorMeasure measure;
    double squares = 0, largest_error = 0;
    std::vector<double> now(static_cast<std::size_t>(c.cols));
    for (std::size_t r = 0; r < rows.size(); ++r) {
        load_block(c, rows[r], 1, 0, c.cols, now.data());
        for (std::size_t j = 0; j < now.size(); ++j) {
            const std::size_t at = r * now.size() + j;
            const double error = std::fabs((now[j] - exact[at].hi) - exact[at].lo);
            measure.max_abs = worse(measure.max_abs, error);
            measure.relative_to_product = worse(measure.relative_to_product, error == 0 ? 0 : error / magnitude[at]);
            if (error > largest_error) {  // squares are relative to the largest error, so that none overflows
                squares *= std::isfinite(error) ? (largest_error / error) * (largest_error / error) : 0;
                largest_error = error;
            }
            squares += error == 0 ? 0 : (error / largest_error) * (error / largest_error);
        }
    }
    const auto entries = static_cast<double>(rows.size()) * static_cast<double>(c.cols);
    measure.rms = std::isfinite(measure.max_abs) ? (entries > 0 ? largest_error * std::sqrt(squares / entries) : 0)
                                                 : measure.max_abs;
    const double max_a = product.alpha != 0 ? largest(scan_rows(product.a, pool)).max_abs : 0;
    const double max_b = product.alpha != 0 ? largest(scan_rows(product.b, pool)).max_abs : 0;
    measure.normalised = measure.max_abs == 0 ? 0 : measure.max_abs / max_a / max_b;
    return measure;
}

/// Exact types: an entry is right (0) or wrong (1).
template <class In, class Add>
ErrorMeasure measure_exact(const ConstView& a, const ConstView& b, const ConstView& c,
                           const std::vector<std::int64_t>& rows, In alpha, In beta, const std::optional<ConstView>& c0,
                           ThreadPool& pool, Add add) {
    std::vector<In> sums(rows.size() * static_cast<std::size_t>(c.cols), In{});
    if (alpha != 0) {
        sums = exact_rows<In, In>(a, b, rows, pool, add);
    }
    std::vector<In> now(static_cast<std::size_t>(c.cols)), old(static_cast<std::size_t>(c.cols), In{});
    std::int64_t wrong = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        load_block(c, rows[r], 1, 0, c.cols, now.data());
        if (beta != 0) {
            load_block(*c0, rows[r], 1, 0, c.cols, old.data());
        }
        for (std::size_t j = 0; j < now.size(); ++j) {
            In expected{};
            add(expected, alpha, sums[r * now.size() + j]);
            add(expected, beta, old[j]);
            wrong += expected != now[j] ? 1 : 0;
        }
    }
    ErrorMeasure measure;
    const auto entries = static_cast<double>(rows.size()) * static_cast<double>(c.cols);
    measure.max_abs = measure.normalised = measure.relative_to_product = wrong > 0 ? 1 : 0;
    measure.rms = wrong > 0 ? std::sqrt(static_cast<double>(wrong) / entries) : 0;
    return measure;
}

}  // namespace

ErrorMeasure measure_error(const ConstView& a, const ConstView& b, const ConstView& c, const ErrorOptions& options) {
    require_shapes(a, b, c, options);
    ThreadPool& pool = shared_pool(threads_or_default(options.threads));
    const double products = static_cast<double>(a.rows) * static_cast<double>(a.cols) * static_cast<double>(b.cols);
    const std::vector<std::int64_t> rows = spread_rows(c.rows, products <= kSmall ? c.rows : options.rows);
    if (options.cancel.cancelled()) {
        fail(ErrorCode::cancelled, "cancelled while an error was measured");
    }
    ErrorMeasure measure;
    if (is_complex(c.type)) {
        Matrix right(part_type(b.type), 2 * b.rows, 2 * b.cols);
        expand_right(b, false, right.data(), pool);
        return measure_error(rows_as_reals(a), std::as_const(right).view(), rows_as_reals(c), options);
    }
    if (is_float(c.type)) {
        measure = measure_floats({a, b, a.cols > 0 ? options.alpha : 0, options.beta, options.c0}, c, rows, pool);
    } else if (c.type == Type::i32) {
        measure = measure_exact<std::uint32_t>(
            a, b, c, rows, residue_mod_2_32(options.alpha), residue_mod_2_32(options.beta), options.c0, pool,
            [](std::uint32_t& sum, std::uint32_t x, std::uint32_t y) { sum += x * y; });
    } else if (c.type == Type::i64) {
        measure = measure_exact<std::uint64_t>(
            a, b, c, rows, residue_mod_2_64(options.alpha), residue_mod_2_64(options.beta), options.c0, pool,
            [](std::uint64_t& sum, std::uint64_t x, std::uint64_t y) { sum += x * y; });
    } else if (c.type == Type::gf2) {
        measure = measure_exact<std::uint8_t>(
            a, b, c, rows, residue_mod_2(options.alpha), residue_mod_2(options.beta), options.c0, pool,
            [](std::uint8_t& sum, std::uint8_t x, std::uint8_t y) { sum = static_cast<std::uint8_t>(sum ^ (x & y)); });
    } else {
        measure = measure_exact<std::uint8_t>(
            a, b, c, rows, options.alpha != 0, options.beta != 0, options.c0, pool,
            [](std::uint8_t& sum, std::uint8_t x, std::uint8_t y) { sum = static_cast<std::uint8_t>(sum | (x & y)); });
    }
    measure.rows_measured = static_cast<std::int64_t>(rows.size());
    return measure;
}

}  // namespace heptad
