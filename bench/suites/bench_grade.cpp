// heptad bench grade: what a product looks like from outside, by the tests with which Demmel and others grade
// implementations of the BLAS ("How to grade the accuracy of an implementation of the BLAS", 2024): are structural
// zeros zero (Strassen-like algorithms fail), do rows and columns of a wide span keep their digits (fixed-point
// arithmetic fails), and does the error over |A||B| grow with n no more than linearly. All three make grade A.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/error.hpp"
#include "base/types.hpp"
#include "bench/suites/bench_machine.hpp"
#include "bench/suites/bench_words.hpp"
#include "bench/suites/cublas_emulation.hpp"
#include "bench/suites/device_operand.hpp"
#include "bench/suites/result_files.hpp"
#include "check/double_double.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"

namespace heptad::cli {
namespace {

struct GradeArguments {
    std::vector<Type> types;
    std::vector<std::int64_t> sizes;
    std::string device, command;
    ResultFiles results;
};

/// One way to multiply.
struct Graded {
    const char* name;
    Accuracy accuracy;
    bool is_library;
    int emulated_bits = 0;  // cuBLAS's own emulation of f64, with so many
};
constexpr Graded kGraded[] = {{"library", Accuracy::strict, true},        {"strict", Accuracy::strict, false},
                              {"balanced", Accuracy::balanced, false},    {"fast", Accuracy::fast, false},
                              {"exact", Accuracy::exact, false},          {"emulated-53", Accuracy::strict, true, 53},
                              {"emulated-55", Accuracy::strict, true, 55}};

/// Matrices that come from the host and go back there, multiplied by cuBLAS's emulation in between.
class Emulation {
public:
    Emulation(const std::string& device, int bits) : stream_(cuda::device_index(device)), bits_(bits) {}

    void multiply(const double* a, const double* b, double* c, std::int64_t n) {
        constexpr std::int64_t kBytes = 3 * 48;  // of workspace for each entry: more than it takes
        const std::int64_t row_bytes = n * 8;
        const DeviceOperand left(Type::f64, n, n, stream_), right(Type::f64, n, n, stream_),
            result(Type::f64, n, n, stream_);
        const auto copy = [&](const void* from, void* to) {
            cuda::copy_rows(from, row_bytes, to, row_bytes, row_bytes, n, stream_.handle());
        };
        copy(a, left.view.data);
        copy(b, right.view.data);
        copy(c, result.view.data);
        cuda::CublasEmulation emulation(stream_.device(), stream_.handle(), bits_, kBytes * n * n);
        emulation.multiply({1, left.view, right.view, 0, result.view});
        if (emulation.bits_used() == 0) {
            fail(ErrorCode::input, "cuBLAS does not emulate this product; its own arithmetic is graded as 'library'");
        }
        copy(result.view.data, c);
        stream_.synchronize();
    }

private:
    cuda::Stream stream_;
    int bits_;
};

template <class T>
struct Square {
    explicit Square(std::int64_t side) : n(side), values(static_cast<std::size_t>(side * side)) {}
    T& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * n + j)]; }
    T operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * n + j)]; }
    std::int64_t n;
    std::vector<T> values;
};

template <class T>
class Grading {
public:
    Grading(const Graded& graded, const std::string& device) {
        options_.accuracy = graded.accuracy;
        options_.device = device;
        options_.levels = graded.is_library ? 0 : options_.levels;
        if (graded.emulated_bits > 0) {
            emulation_ = std::make_unique<Emulation>(device, graded.emulated_bits);
        }
    }

    /// A and B are full of numbers, but a row and a column never have one in the same place for some entries of C.
    bool keeps_zeros(std::int64_t n) {
        Square<T> a(n), b(n);
        std::normal_distribution<double> normal;
        for (Square<T>* x : {&a, &b}) {
            std::generate(x->values.begin(), x->values.end(), [&] { return static_cast<T>(normal(random_)); });
        }
        std::vector<std::int64_t> rows(static_cast<std::size_t>(n)), cols = rows, places = rows;
        for (auto* order : {&rows, &cols, &places}) {
            std::iota(order->begin(), order->end(), std::int64_t{0});
            std::shuffle(order->begin(), order->end(), random_);
        }
        const auto zeros = static_cast<std::size_t>(std::max<std::int64_t>(1, n / 2));
        for (std::size_t entry = 0; entry < zeros; ++entry) {
            std::shuffle(places.begin(), places.end(), random_);
            const auto cut = std::uniform_int_distribution<std::int64_t>(1, n - 1)(random_);
            for (std::int64_t p = 0; p < n; ++p) {
                const std::int64_t place = places[static_cast<std::size_t>(p)];
                (p < cut ? a(rows[entry], place) : b(place, cols[entry])) = 0;
            }
        }
        const Square<T> c = product(a, b);
        for (std::size_t entry = 0; entry < zeros; ++entry) {
            if (c(rows[entry], cols[entry]) != T(0)) {
                return false;
            }
        }
        return true;
    }

    /// Every row of A and column of B has numbers of all sizes that do not overflow; large ones meet small ones on the
    /// diagonal. All are positive.
    bool keeps_span(std::int64_t n) {
        const int most = std::numeric_limits<T>::max_exponent / 2 - static_cast<int>(std::log2(n)) - 2;
        std::uniform_real_distribution<double> between(1, 2);
        Square<T> a(n), b(n);
        std::vector<T> y(static_cast<std::size_t>(n)), z = y;
        for (std::int64_t i = 0; i < n; ++i) {
            const double share = n == 1 ? 0 : static_cast<double>(i) / static_cast<double>(n - 1);
            const int exponent = most - static_cast<int>(2 * most * share);
            const auto x = static_cast<T>(between(random_));
            y[static_cast<std::size_t>(i)] = std::ldexp(x, exponent);
            z[static_cast<std::size_t>(i)] = std::ldexp(x, -exponent);
        }
        for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                a(i, j) = y[static_cast<std::size_t>((i + j) % n)];
                b(i, j) = z[static_cast<std::size_t>((i + j) % n)];
            }
        }
        return largest_error(a, b, product(a, b)) <= 10 * static_cast<double>(n);
    }

    /// The largest error over u |A||B|, of uniform data in [0, 1).
    double usual_error(std::int64_t n) {
        std::uniform_real_distribution<double> uniform(0, 1);
        Square<T> a(n), b(n);
        for (Square<T>* x : {&a, &b}) {
            std::generate(x->values.begin(), x->values.end(), [&] { return static_cast<T>(uniform(random_)); });
        }
        return largest_error(a, b, product(a, b));
    }

private:
    Square<T> product(const Square<T>& a, const Square<T>& b) const {
        Square<T> c(a.n);
        std::fill(c.values.begin(), c.values.end(), std::numeric_limits<T>::quiet_NaN());
        if constexpr (std::is_same_v<T, double>) {
            if (emulation_ != nullptr) {
                emulation_->multiply(a.values.data(), b.values.data(), c.values.data(), c.n);
                return c;
            }
        }
        multiply(MatrixView<const T>::row_major(a.values.data(), a.n, a.n),
                 MatrixView<const T>::row_major(b.values.data(), b.n, b.n),
                 MatrixView<T>::row_major(c.values.data(), c.n, c.n), options_);
        return c;
    }

    /// Of all columns, or of some where there are many.
    static double largest_error(const Square<T>& a, const Square<T>& b, const Square<T>& c) {
        constexpr std::int64_t kColumns = 64;
        const double u = std::numeric_limits<T>::epsilon() / 2;
        double largest = 0;
        for (std::int64_t j = 0; j < a.n; j += std::max<std::int64_t>(1, a.n / kColumns)) {
            for (std::int64_t i = 0; i < a.n; ++i) {
                check::DoubleDouble sum;
                double size = 0;
                for (std::int64_t p = 0; p < a.n; ++p) {
                    const double x = a(i, p), y = b(p, j);
                    check::add_product(sum, x, y);
                    size += std::abs(x * y);
                }
                const double error = std::abs((static_cast<double>(c(i, j)) - sum.hi) - sum.lo);
                const double here = error == 0 ? 0 : error / (u * size);
                largest = here <= largest ? largest : here;  // NaN is large
            }
        }
        return largest;
    }

    Options options_;
    std::unique_ptr<Emulation> emulation_;
    std::mt19937 random_{42};
};

/// b of the line a + b x nearest to the points.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
    const auto mean = [](const std::vector<double>& v) {
        return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    };
    const double middle_x = mean(x), middle_y = mean(y);
    double squares = 0, products = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        squares += (x[i] - middle_x) * (x[i] - middle_x);
        products += (x[i] - middle_x) * (y[i] - middle_y);
    }
    return squares > 0 ? products / squares : 0;
}

/// "yes" for all sizes, or the first that says otherwise; a product may be refused in a sentence instead.
template <class Test>
std::string verdict(const std::vector<std::int64_t>& sizes, Test&& test) {
    for (const std::int64_t n : sizes) {
        try {
            if (!test(n)) {
                return fmt::format("no, {}", n);
            }
        } catch (const Error& error) {
            if (error.code() != ErrorCode::input && error.code() != ErrorCode::usage) {
                throw;
            }
            return "refused";
        }
    }
    return "yes";
}

/// Prints a line, and returns what it says.
template <class T>
nlohmann::ordered_json grade(const Graded& graded, Type type, const GradeArguments& arguments) {
    nlohmann::ordered_json record{{"type", type_name(type)}, {"product", graded.name}};
    Grading<T> grading(graded, arguments.device);
    std::vector<double> logs_n, logs_error;
    double last = 0;
    const std::string grows = verdict(arguments.sizes, [&](std::int64_t n) {
        last = grading.usual_error(n);
        logs_n.push_back(std::log(static_cast<double>(n)));
        logs_error.push_back(std::log(std::max(last, 0.5)));  // half a roundoff is none
        return std::isfinite(last);
    });
    if (grows == "refused") {
        print(fmt::format("{:<5} {:<11} refused\n", type_name(type), graded.name));
        record["grade"] = grows;
        return record;
    }
    const std::string zeros = verdict(arguments.sizes, [&](std::int64_t n) { return grading.keeps_zeros(n); });
    const std::string span = verdict(arguments.sizes, [&](std::int64_t n) { return grading.keeps_span(n); });
    const double growth = slope(logs_n, logs_error);
    const bool is_a = zeros == "yes" && !span.starts_with("no") && growth <= 1 && std::isfinite(last);
    const char* const told = !is_a ? "below A" : span == "refused" ? "A, or refused" : "A";
    print(fmt::format("{:<5} {:<11} {:<9} {:<9} {:>10.2f} {:>10.2f}  {}\n", type_name(type), graded.name, zeros, span,
                      last, growth, told));
    record.update({{"zeros", zeros}, {"wide_span", span}, {"error_over_u", last}, {"growth", growth}, {"grade", told}});
    return record;
}

void run(const GradeArguments& arguments) {
    require_writable(arguments.results);
    const bool on_device = cuda::is_device_name(arguments.device);
    print(fmt::format("{:<5} {:<11} {:<9} {:<9} {:>10} {:>10}  {}\n", "type", "product", "zeros", "wide span",
                      "error / u", "growth", "grade"));
    nlohmann::ordered_json grades = nlohmann::ordered_json::array();
    for (const Type type : arguments.types) {
        for (const Graded& graded : kGraded) {
            if (graded.emulated_bits > 0 && (type != Type::f64 || !on_device || !cuda::CublasEmulation::is_there())) {
                continue;
            }
            grades.push_back(type == Type::f64 ? grade<double>(graded, type, arguments)
                                               : grade<float>(graded, type, arguments));
        }
    }
    if (arguments.results.any()) {
        const std::optional<int> device =
            on_device ? std::optional(cuda::device_index(arguments.device)) : std::nullopt;
        write_results(arguments.results, {{"machine", machine_facts(arguments.command, device)},
                                          {"results", nlohmann::ordered_json::array()},
                                          {"grades", grades}});
        print(results_line(arguments.results));
    }
}

Command add_bench_grade(CLI::App& bench, const std::string& typed) {
    CLI::App* suite = bench.add_subcommand("grade", "grades of products, by the tests for implementations of the BLAS");
    auto words = std::make_shared<BenchWords>();
    auto results = std::make_shared<ResultFiles>();
    add_value(*suite, "--types T,...", words->types, "of f32, f64 (default: both)");
    add_value(*suite, "--sizes N,...", words->sizes, "sides of squares (default: 16 to 512)");
    add_value(*suite, "--device D", words->device, "cpu (default), cuda or cuda:N");
    add_result_options(*suite, *results);
    suite->footer(
        "zeros: entries of C that are sums of zeros are zero. wide span: rows and columns with numbers of all sizes "
        "keep\n"
        "their digits. error: the largest over |A||B|, at the largest n; growth: its slope over n, in logarithms.\n"
        "emulated-53: cuBLAS's own emulation of f64 with so many bits, on a device that has it.\n"
        "Example: heptad bench grade --types f64 --sizes 256,512,1024,2048");
    return {
        suite, [words, results, typed] {
            auto arguments = std::make_shared<GradeArguments>();
            for (const std::string& name : chosen("--types", words->types, "f32,f64")) {
                arguments->types.push_back(type_from_name(name));
            }
            for (const ProblemSize& size : bench_sizes(words->sizes.empty() ? "16,32,64,128,256,512" : words->sizes)) {
                if (size.m != size.k || size.k != size.n || size.n < 2) {
                    fail(ErrorCode::usage, "grades are of squares from 2 on; {}x{}x{} was asked for", size.m, size.k,
                         size.n);
                }
                arguments->sizes.push_back(size.n);
            }
            arguments->device = words->device.empty() ? "cpu" : words->device;
            arguments->command = typed;
            arguments->results = *results;
            return [arguments] { run(*arguments); };
        }};
}

const RegisterCommand registered_bench_grade({.parent = "bench", .order = 11, .add = add_bench_grade});

}  // namespace
}  // namespace heptad::cli
