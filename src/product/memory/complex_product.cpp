#include "product/memory/complex_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/complex_as_real.hpp"
#include "base/error.hpp"
#include "base/over_rows.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/workspace.hpp"
#include "product/memory/validate.hpp"

namespace heptad {
namespace {

using Factor = std::complex<double>;

struct ComplexProduct {
    Factor alpha;
    ConstView a, b;
    Factor beta;
    View c;

    Type part() const { return part_type(c.type); }
    std::int64_t bytes(std::int64_t parts) const {
        return checked_mul(parts, static_cast<std::int64_t>(element_bytes(part())));
    }
    bool has_real_factors() const { return alpha.imag() == 0 && beta.imag() == 0; }
    /// Rows of C lie side by side, and A's are used as they are or copied.
    bool writes_in_place() const { return c.col_stride == 1 && has_real_factors(); }
    bool reads_in_place() const { return a.col_stride == 1; }

    std::int64_t planes_bytes() const {
        return bytes(checked_mul(3, checked_add(checked_add(checked_mul(a.rows, a.cols), checked_mul(b.rows, b.cols)),
                                                checked_mul(c.rows, c.cols))));
    }
    std::int64_t expanded_bytes() const {
        std::int64_t parts = checked_mul(4, checked_mul(b.rows, b.cols));
        parts = checked_add(parts, reads_in_place() ? 0 : checked_mul(2, checked_mul(a.rows, a.cols)));
        return bytes(checked_add(parts, writes_in_place() ? 0 : checked_mul(2, checked_mul(c.rows, c.cols))));
    }
};

/// The real products of a complex one, each told as its part of the progress.
class RealProducts {
public:
    RealProducts(const Options& options, const ProductContext& context, ProductPlan* carried_out)
        : options_(options), context_(context), carried_out_(carried_out), all_(context.hooks.progress) {
        options_.overwrite_inputs = false;
    }

    /// Memory beside the products: the caller's first, which they get the rest of, or the system's.
    bool take(std::int64_t bytes, const View& result) {
        if (context_.workspace_bytes >= 0) {
            constexpr std::int64_t kUnit = 4096;
            const auto begin = reinterpret_cast<std::uintptr_t>(context_.workspace);
            const auto skipped = static_cast<std::int64_t>((kUnit - begin % kUnit) % kUnit);
            const std::int64_t used = skipped + round_up(bytes, kUnit);
            if (used > context_.workspace_bytes || bytes > options_.workspace_limit_bytes) {
                return false;
            }
            memory_ = static_cast<std::byte*>(context_.workspace) + skipped;
            context_.workspace = static_cast<std::byte*>(context_.workspace) + used;
            context_.workspace_bytes -= used;
        } else {
            std::int64_t limit = 0;
            if (bytes > options_.workspace_limit_bytes || !own_.try_take(bytes, result, limit)) {
                return false;
            }
            memory_ = static_cast<std::byte*>(own_.data());
        }
        beside_bytes_ = bytes;
        if (options_.workspace_limit_bytes != Options{}.workspace_limit_bytes) {
            options_.workspace_limit_bytes -= bytes;
        }
        return true;
    }
    /// The next of that memory.
    void* next(std::int64_t bytes) {
        std::byte* const part = memory_;
        memory_ += bytes;
        return part;
    }

    void begin(int count) {
        count_ = count;
        done_ = 0;
    }
    void multiply(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c) {
        if (all_) {
            context_.hooks.progress = [this](const Progress& now) {
                all_({(done_ + now.fraction) / count_, now.stage});
            };
        }
        RunReport part = multiply_in_memory(alpha, a, b, beta, c, options_, context_, carried_out_);
        part.workspace_used_bytes += beside_bytes_;
        report_.add(part);
        ++done_;
        if (carried_out_ != nullptr) {
            carried_out_->predicted_s *= count_;
        }
    }

    ThreadPool& pool() const { return shared_pool(effective_threads(context_)); }
    RunReport report() const { return report_; }

private:
    Options options_;
    ProductContext context_;
    ProductPlan* carried_out_;
    ProgressCallback all_;
    RunReport report_;
    Workspace own_;
    std::byte* memory_ = nullptr;
    std::int64_t beside_bytes_ = 0;
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
void update(const ComplexProduct& x, ThreadPool& pool, ProductAt&& product_at) {
    const std::complex<T> alpha(x.alpha), beta(x.beta);
    const bool adds = beta != std::complex<T>();
    over_rows(x.c.rows, x.c.cols, pool, [&](std::int64_t i) {
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
            largest.empty() ? 0 : static_cast<double>(*std::max_element(largest.begin(), largest.end()))};
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
    update<T>(x, products.pool(), [&](std::int64_t i, std::int64_t j) {
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
    update<T>(x, products.pool(), [&](std::int64_t i, std::int64_t j) {
        const T* const at = result + 2 * (i * x.c.cols + j);
        return std::complex<T>(at[0], at[1]);
    });
}

template <class T>
void in_place(const ComplexProduct& x, RealProducts& products) {
    ComplexProduct without_product = x;
    without_product.alpha = 0;
    update<T>(without_product, products.pool(), [](std::int64_t, std::int64_t) { return std::complex<T>(); });
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

/// Whatever they write: one way to take, and its plan.
struct Choice {
    ComplexWay way = ComplexWay::in_place;
    ProductPlan plan;
};

Choice choose(const ProblemSize& size, Type type, const Options& options, const ProductContext& context) {
    const Type part = part_type(type);
    Options real = options;
    real.overwrite_inputs = false;
    const auto bytes = static_cast<double>(element_bytes(part));
    const auto m = static_cast<double>(size.m), k = static_cast<double>(size.k), n = static_cast<double>(size.n);
    Choice one{ComplexWay::one_product,
               plan_product(size.m, checked_mul(2, size.k), checked_mul(2, size.n), part, real, context)};
    if (options.accuracy == Accuracy::strict || options.accuracy == Accuracy::exact) {
        return one;
    }
    Choice three{ComplexWay::three_products, plan_product(size.m, size.k, size.n, part, real, context)};
    const int threads = effective_threads(context);
    one.plan.predicted_s += pass_s(6 * k * n * bytes, threads);
    three.plan.predicted_s = 3 * three.plan.predicted_s + pass_s(5 * (m * k + k * n + m * n) * bytes, threads);
    return three.plan.predicted_s < one.plan.predicted_s ? three : one;
}

template <class T>
void carry_out(const ComplexProduct& x, ComplexWay way, RealProducts& products, const Options& options,
               const ProductContext& context, ProductPlan* carried_out) {
    if (way == ComplexWay::three_products && products.take(x.planes_bytes(), x.c)) {
        if (by_three_products<T>(x, products)) {
            return;
        }
        products = RealProducts(options, context, carried_out);  // gives the planes back
    }
    if (way != ComplexWay::in_place && products.take(x.expanded_bytes(), x.c)) {
        by_one_product<T>(x, products);
        return;
    }
    if (options.accuracy == Accuracy::exact) {
        fail(ErrorCode::resource,
             "an exact product of {} needs {} bytes of workspace for its real numbers, which are not to be had; raise "
             "the limit or take accuracy strict",
             type_name(x.c.type), x.expanded_bytes());
    }
    in_place<T>(x, products);
}

}  // namespace

RunReport multiply_complex(Factor alpha, const ConstView& a, const ConstView& b, Factor beta, const View& c,
                           const Options& options, const ProductContext& context, ProductPlan* carried_out,
                           ComplexWay way) {
    validate_product(1, a, b, 0, c);
    if (!is_complex(c.type)) {
        fail(ErrorCode::usage, "complex factors are for matrices of c64 and c128, not of {}", type_name(c.type));
    }
    validate_workspace(context.workspace, context.workspace_bytes, a, b, c);
    start_product(context.hooks);
    if (c.rows == 0 || c.cols == 0) {
        return {};
    }
    const bool by_rows = c.cols <= 1 || c.col_stride == 1 || (c.rows > 1 && c.row_stride != 1);
    const ComplexProduct x = by_rows ? ComplexProduct{alpha, a, b, beta, c}
                                     : ComplexProduct{alpha, turned(b), turned(a), beta, transposed(c)};
    RealProducts products(options, context, carried_out);
    if (alpha == Factor() || a.cols == 0) {
        with_part_type(c.type, [&]<class T>() {
            ComplexProduct only_c = x;
            only_c.alpha = 0;
            update<T>(only_c, products.pool(), [](std::int64_t, std::int64_t) { return std::complex<T>(); });
        });
        finish_product(context.hooks);
        return {};
    }
    if (options.accuracy == Accuracy::exact && !x.writes_in_place()) {
        fail(ErrorCode::usage,
             "exact products of {} take real alpha and beta, and a C whose rows or columns lie side by side; give "
             "those or take accuracy strict",
             type_name(c.type));
    }
    if (way == ComplexWay::automatic) {
        way = choose({x.a.rows, x.a.cols, x.b.cols}, c.type, options, context).way;
    }
    with_part_type(c.type, [&]<class T>() { carry_out<T>(x, way, products, options, context, carried_out); });
    return products.report();
}

std::int64_t bytes_beside_products(const ProblemSize& size, Type type, const ProductPlan& plan) {
    const auto copied = [&](std::int64_t m, std::int64_t n) {  // no matrix lies as it is needed
        return ComplexProduct{
            0, {nullptr, type, m, size.k, 0, 0}, {nullptr, type, size.k, n, 0, 0}, 0, {nullptr, type, m, n, 0, 0}};
    };
    const ComplexProduct x = copied(size.m, size.n);
    return plan.k == size.k ? x.planes_bytes() : std::max(x.expanded_bytes(), copied(size.n, size.m).expanded_bytes());
}

ProductPlan plan_complex(const ProblemSize& size, Type type, const Options& options, const ProductContext& context) {
    return choose(size, type, options, context).plan;
}

}  // namespace heptad
