#include "product/memory/complex_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/over_rows.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "plan/search/level_layout.hpp"

namespace heptad {
namespace {

struct ComplexProduct {
    Factor alpha;
    ConstView a, b;
    Factor beta;
    View c;

    Type part() const { return part_type(c.type); }
    std::int64_t bytes(std::int64_t parts) const { return parts * static_cast<std::int64_t>(element_bytes(part())); }
    bool has_real_factors() const { return alpha.imag() == 0 && beta.imag() == 0; }
    /// Rows of C lie side by side, and A's are used as they are or copied.
    bool writes_in_place() const { return c.col_stride == 1 && has_real_factors(); }
    bool reads_in_place() const { return a.col_stride == 1; }

    /// Of the copies of one product.
    std::int64_t expanded_bytes() const {
        const std::int64_t of_a = reads_in_place() ? 0 : 2 * a.rows * a.cols;
        const std::int64_t of_c = writes_in_place() ? 0 : 2 * c.rows * c.cols;
        return bytes(4 * b.rows * b.cols + of_a + of_c) + 3 * kWorkspaceAlignment;
    }
};

/// Carries out the real products, each told as its part of the progress, and hands the workspace out piece by piece.
class RealProducts {
public:
    RealProducts(const ProductPlan& plan, void* workspace, const RunHooks& hooks, const RealMultiply& multiply)
        : pool_(shared_pool(plan.threads)),
          begin_(static_cast<std::byte*>(workspace)),
          next_(begin_),
          bytes_(plan.workspace_bytes),
          hooks_(hooks),
          multiply_(multiply) {
        report_.workspace_used_bytes = bytes_;
    }

    /// The copies were of no use: the products are made without a plan, and all of the workspace is free again.
    void start_over() {
        next_ = begin_;
        has_plan_ = false;
        report_.fell_back = true;
    }
    bool has_room_for(std::int64_t bytes) const { return bytes <= bytes_; }
    void* next(std::int64_t bytes) {
        std::byte* const part = next_;
        next_ += round_up(bytes, kWorkspaceAlignment);
        return part;
    }

    void begin(int count) {
        count_ = count;
        done_ = 0;
    }
    void multiply(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c) {
        RunHooks hooks = hooks_;
        // The errors of three products add up: of numbers that are positive in both parts, with two levels of
        // Strassen's, to 30 times those of a classical product. Of one product these levels are expected to lose 3.7 to
        // 6.6 times the classical error on numbers of both signs, 8.1 to 11.5 times on positive ones; 7.6 divides them.
        hooks.error_share = count_ == 3 ? 0.63 : 1;
        if (hooks_.progress) {
            hooks.progress = [this](const Progress& now) {
                hooks_.progress({(done_ + now.fraction) / count_, now.stage});
            };
        }
        RunReport part = multiply_(alpha, a, b, beta, c, has_plan_ ? next_ : nullptr, hooks, has_plan_);
        part.workspace_used_bytes = 0;
        report_.add(part);
        ++done_;
    }

    void result_changes(bool old_values_count) const { hooks_.result_changes(old_values_count); }
    ThreadPool& pool() const { return pool_; }
    const RunReport& report() const { return report_; }

private:
    ThreadPool& pool_;
    std::byte* const begin_;
    std::byte* next_;
    std::int64_t bytes_;
    const RunHooks& hooks_;
    const RealMultiply& multiply_;
    RunReport report_;
    bool has_plan_ = true;
    int count_ = 1, done_ = 0;
};

/// factor * (real, imaginary). A real factor meets each part alone: an infinite one does not make the other a NaN.
template <class T>
std::complex<T> times(const std::complex<T>& factor, T real, T imaginary) {
    if (factor.imag() == 0) {
        return {factor.real() * real, factor.real() * imaginary};
    }
    return {factor.real() * real - factor.imag() * imaginary, factor.real() * imaginary + factor.imag() * real};
}

/// c = alpha * product + beta * c, where product(i, j) is a complex number. beta = 0: c is not read.
template <class T, class ProductAt>
void update(const ComplexProduct& x, const RealProducts& products, ProductAt&& product_at) {
    const std::complex<T> alpha(x.alpha), beta(x.beta);
    const bool adds = beta != std::complex<T>();
    products.result_changes(adds);
    over_rows(x.c.rows, x.c.cols, products.pool(), [&](std::int64_t i) {
        T* const row = static_cast<T*>(x.c.data) + 2 * i * x.c.row_stride;
        for (std::int64_t j = 0; j < x.c.cols; ++j) {
            T* const entry = row + 2 * j * x.c.col_stride;
            const std::complex<T> product = product_at(i, j);
            std::complex<T> result = times(alpha, product.real(), product.imag());
            if (adds) {
                result += times(beta, entry[0], entry[1]);
            }
            entry[0] = result.real();
            entry[1] = result.imag();
        }
    });
}

/// Real parts, imaginary parts and their sums, in the order of the operand in memory.
struct Planes {
    ConstView real, imaginary, sum;
    double largest = 0;  // of all parts; infinite if one is not finite
};

template <class T>
Planes split(const ConstView& given, RealProducts& products) {
    const bool by_rows = given.cols <= 1 || std::abs(given.row_stride) >= std::abs(given.col_stride);
    const ConstView v = by_rows ? given : turned(given);
    const std::int64_t elements = v.rows * v.cols;
    T* const real = static_cast<T*>(products.next(3 * elements * static_cast<std::int64_t>(sizeof(T))));
    std::vector<T> largest(static_cast<std::size_t>(v.rows), T{0});
    over_rows(v.rows, v.cols, products.pool(), [&](std::int64_t i) {
        const T* const row = static_cast<const T*>(v.data) + 2 * i * v.row_stride;
        T* const re = real + i * v.cols;
        T* const im = re + elements;
        T* const sum = im + elements;
        const T sign = v.conjugate ? T{-1} : T{1};
        T most = 0;
        bool finite = true;
        for (std::int64_t j = 0; j < v.cols; ++j) {
            const T x = row[2 * j * v.col_stride], y = sign * row[2 * j * v.col_stride + 1];
            re[j] = x;
            im[j] = y;
            sum[j] = x + y;
            const T larger = std::max(std::fabs(x), std::fabs(y));
            most = std::max(most, larger);
            finite = finite && std::isfinite(x) && std::isfinite(y);
        }
        largest[static_cast<std::size_t>(i)] = finite ? most : std::numeric_limits<T>::infinity();
    });
    const auto plane = [&](int number) {
        const ConstView whole(real + number * elements, part_type(v.type), v.rows, v.cols, v.cols, 1);
        return by_rows ? whole : transposed(whole);
    };
    return {plane(0), plane(1), plane(2),
            largest.empty() ? 0 : static_cast<double>(*std::ranges::max_element(largest))};
}

/// False: nothing was written, because A and B are not finite or their sums could overflow.
template <class T>
bool by_three_products(const ComplexProduct& x, RealProducts& products) {
    const Planes a = split<T>(x.a, products), b = split<T>(x.b, products);
    // Each entry of R is at most 4 k max|A| max|B|, and the inner products of levels are watched by themselves.
    const double most = 8.0 * static_cast<double>(x.a.cols) * a.largest * b.largest;
    if (!(most < static_cast<double>(std::numeric_limits<T>::max()))) {
        return false;
    }
    const std::int64_t elements = x.c.rows * x.c.cols;
    T* const p = static_cast<T*>(products.next(3 * elements * static_cast<std::int64_t>(sizeof(T))));
    const auto result = [&](int number) {
        return View(p + number * elements, x.part(), x.c.rows, x.c.cols, x.c.cols, 1);
    };
    products.begin(3);
    products.multiply(1, a.real, b.real, 0, result(0));
    products.multiply(1, a.imaginary, b.imaginary, 0, result(1));
    products.multiply(1, a.sum, b.sum, 0, result(2));
    update<T>(x, products, [&](std::int64_t i, std::int64_t j) {
        const T* const at = p + i * x.c.cols + j;
        return std::complex<T>(at[0] - at[elements], at[2 * elements] - at[0] - at[elements]);
    });
    return true;
}

template <class T>
void by_one_product(const ComplexProduct& x, RealProducts& products) {
    void* const expanded = products.next(x.bytes(4 * x.b.rows * x.b.cols));
    expand_right(x.b, x.a.conjugate, expanded, products.pool());
    const ConstView b(expanded, x.part(), 2 * x.b.rows, 2 * x.b.cols, 2 * x.b.cols, 1);
    ConstView a = rows_as_reals(x.a);
    if (!x.reads_in_place()) {
        a = {products.next(x.bytes(2 * x.a.rows * x.a.cols)), x.part(), x.a.rows, 2 * x.a.cols, 2 * x.a.cols, 1};
        copy_rows(x.a, const_cast<void*>(a.data), products.pool());
    }
    products.begin(1);
    if (x.writes_in_place()) {
        products.multiply(x.alpha.real(), a, b, x.beta.real(), rows_as_reals(x.c));
        return;
    }
    T* const result = static_cast<T*>(products.next(x.bytes(2 * x.c.rows * x.c.cols)));
    products.multiply(1, a, b, 0, View(result, x.part(), x.c.rows, 2 * x.c.cols, 2 * x.c.cols, 1));
    update<T>(x, products, [&](std::int64_t i, std::int64_t j) {
        const T* const at = result + 2 * (i * x.c.cols + j);
        return std::complex<T>(at[0], at[1]);
    });
}

template <class T>
void in_place(const ComplexProduct& x, RealProducts& products) {
    ComplexProduct without_product = x;
    without_product.alpha = 0;
    update<T>(without_product, products, [](std::int64_t, std::int64_t) { return std::complex<T>(); });
    products.begin(x.alpha.real() != 0 && x.alpha.imag() != 0 ? 8 : 4);
    for (const bool a_imaginary : {false, true}) {
        for (const bool b_imaginary : {false, true}) {
            Factor factor = x.alpha;
            factor = a_imaginary ? Factor(-factor.imag(), factor.real()) * (x.a.conjugate ? -1.0 : 1.0) : factor;
            factor = b_imaginary ? Factor(-factor.imag(), factor.real()) * (x.b.conjugate ? -1.0 : 1.0) : factor;
            const ConstView a = part_of(x.a, a_imaginary), b = part_of(x.b, b_imaginary);
            if (factor.real() != 0) {
                products.multiply(factor.real(), a, b, 1, part_of(x.c, false));
            }
            if (factor.imag() != 0) {
                products.multiply(factor.imag(), a, b, 1, part_of(x.c, true));
            }
        }
    }
}

template <class T>
void carry_out(const ComplexProduct& x, ComplexWay way, RealProducts& products) {
    if (way == ComplexWay::three_products) {
        if (by_three_products<T>(x, products)) {
            return;
        }
        products.start_over();
        way = products.has_room_for(x.expanded_bytes()) ? ComplexWay::one_product : ComplexWay::in_place;
    }
    way == ComplexWay::one_product ? by_one_product<T>(x, products) : in_place<T>(x, products);
}

}  // namespace

bool is_rounded_once(const Factor& alpha, const Factor& beta, const View& c) {
    return ComplexProduct{alpha, {}, {}, beta, c}.writes_in_place();
}

RunReport multiply_complex(const ProductPlan& plan, const Factor& alpha, const ConstView& a, const ConstView& b,
                           const Factor& beta, const View& c, void* workspace, const RunHooks& hooks,
                           const RealMultiply& multiply) {
    start_product(hooks);
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    ComplexProduct x{alpha, a, b, beta, c};
    RealProducts products(plan, workspace, hooks, multiply);
    with_part_type(c.type, [&]<class T>() {
        const bool reads_operands = alpha != Factor() && a.cols > 0;
        if (!reads_operands && is_by_residues(plan)) {
            products.begin(1);
            products.multiply(0, {}, {}, beta.real(), rows_as_reals(c));
        } else if (!reads_operands) {
            x.alpha = 0;
            update<T>(x, products, [](std::int64_t, std::int64_t) { return std::complex<T>(); });
            finish_product(hooks);
        } else {
            carry_out<T>(x, plan.complex, products);
        }
    });
    return products.report();
}

}  // namespace heptad
