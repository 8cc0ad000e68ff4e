// Data of all kinds on a device, in every mode and for every way in which A and B lie in memory, without anybody
// waiting: where rows, columns or places along k differ, powers of two are taken out of them, and where that does not
// make A and B even, the classical product answers. So `balanced` stays within a digit of the classical product.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "base/device_layout.hpp"
#include "base/types.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/reference/reference_backend.hpp"
#include "product/device/device_product.hpp"
#include "product/memory/product_cases.hpp"
#include "run/dense/evenness.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad::test {
namespace {

class UnevenOnDevice : public ::testing::Test {
protected:
    void SetUp() override {
        if (!cuda::report().available) {
            GTEST_SKIP() << cuda::report().problem;
        }
    }
};

struct Operands {
    GuardedMatrix a, b, c;
};

/// What an element is multiplied by, by its place; or replaced by.
struct Family {
    const char* name;
    std::function<double(double x, double i, double j)> a, b;  // places from 0 to 1
    bool is_normal = false, is_positive = false;
};

double same(double x, double, double) {
    return x;
}
/// Large beside small.
double shuffled(double t) {
    return std::fmod(t * 1031, 1.0);
}
double grade(double t) {
    return std::exp2(-40 * t);
}

std::vector<Family> families(Type type) {
    const double smallest = type == Type::f64 ? 0x1p-1040 : 0x1p-138;
    const auto is_first = [](double t) { return t == 0; };
    return {
        {"uniform", same, same},
        {"normal", same, same, true},
        {"positive", same, same, false, true},
        {"log-uniform", [](double x, double, double) { return std::copysign(grade(std::abs(x)), x); },
         [](double x, double, double) { return std::copysign(grade(std::abs(x)), x); }},
        {"rows of A graded", [](double x, double i, double) { return x * grade(i); }, same},
        {"rows of A shuffled", [](double x, double i, double) { return x * grade(shuffled(i)); }, same},
        {"columns of B graded", same, [](double x, double, double j) { return x * grade(j); }},
        {"rows and columns shuffled", [](double x, double i, double) { return x * grade(shuffled(i)); },
         [](double x, double, double j) { return x / grade(shuffled(j)); }},
        {"inner graded", [](double x, double, double j) { return x * grade(j); },
         [](double x, double i, double) { return x / grade(i); }},
        {"inner shuffled", [](double x, double, double j) { return x * grade(shuffled(j)); },
         [](double x, double i, double) { return x / grade(shuffled(i)); }},
        {"columns of A graded alone", [](double x, double, double j) { return x * grade(j); }, same},
        {"all graded", [](double x, double i, double j) { return x * grade(i) * grade(shuffled(j)); },
         [](double x, double i, double j) { return x / grade(shuffled(i)) * grade(j); }},
        {"one huge entry", [](double x, double i, double j) { return i == 0 && j == 0 ? 1e8 : x; }, same},
        {"a huge row", [=](double x, double i, double) { return is_first(i) ? x * 1e8 : x; }, same},
        {"a huge column", same, [=](double x, double, double j) { return is_first(j) ? x * 1e8 : x; }},
        {"a huge place along k", [=](double x, double, double j) { return is_first(j) ? x * 1e8 : x; },
         [=](double x, double i, double) { return is_first(i) ? x * 1e-8 : x; }},
        {"a small row", [=](double x, double i, double) { return is_first(i) ? x * 0x1p-9 : x; }, same},
        {"two blocks",
         [](double x, double i, double j) { return (i < 0.5) == (j < 0.5) ? (i < 0.5 ? x : x * 1e6) : 0; },
         [](double x, double i, double j) { return (i < 0.5) == (j < 0.5) ? (i < 0.5 ? x : x * 1e6) : 0; }},
        {"rows and columns of zeros", [](double x, double i, double) { return shuffled(i) < 0.02 ? 0 : x; },
         [](double x, double, double j) { return shuffled(j) < 0.02 ? 0 : x; }},
        {"zeros along k", [](double x, double, double j) { return shuffled(j) < 0.02 ? 0 : x; }, same},
        {"tiny rows", [=](double x, double i, double) { return shuffled(i) < 0.1 ? x * smallest : x; }, same},
        {"nearly cancelling",
         [](double x, double i, double j) { return j < 0.5 ? 1 + i / 8 : -1 - i / 8 + x * 0x1p-10; },
         [](double x, double, double) { return 1 + x * 0x1p-10; }},
    };
}

Operands operands(Type type, const ProblemSize& size, Layout layout_a, Layout layout_b, const Family& family) {
    std::mt19937 random(11);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    Operands x{GuardedMatrix(type, size.m, size.k, layout_a), GuardedMatrix(type, size.k, size.n, layout_b),
               GuardedMatrix(type, size.m, size.n, Layout::rows)};
    const auto fill = [&](GuardedMatrix& matrix, std::int64_t rows, std::int64_t cols, const auto& made_of) {
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) {
                double value = family.is_normal ? normal(random) : uniform(random);
                value = family.is_positive ? std::abs(value) : value;
                matrix.set(i, j,
                           made_of(value, static_cast<double>(i) / static_cast<double>(rows),
                                   static_cast<double>(j) / static_cast<double>(cols)));
            }
        }
    };
    fill(x.a, size.m, size.k, family.a);
    fill(x.b, size.k, size.n, family.b);
    x.c.fill(7);
    return x;
}

/// Some rows of A * B and of |A||B|.
class Reference {
public:
    Reference(const Operands& x, const ProblemSize& size) : size_(size) {
        std::vector<long double> right(static_cast<std::size_t>(size.k * size.n));
        for (std::int64_t l = 0; l < size.k; ++l) {
            for (std::int64_t j = 0; j < size.n; ++j) {
                right[static_cast<std::size_t>(l * size.n + j)] = x.b.get(l, j);
            }
        }
        for (const std::int64_t i : {std::int64_t{0}, std::int64_t{3}, size.m / 2, size.m / 4 * 4 - 1, size.m - 1}) {
            Row row{i, std::vector<long double>(static_cast<std::size_t>(size.n)),
                    std::vector<long double>(static_cast<std::size_t>(size.n))};
            for (std::int64_t l = 0; l < size.k; ++l) {
                const long double left = x.a.get(i, l);
                for (std::size_t j = 0; j < row.sums.size(); ++j) {
                    const long double product = left * right[static_cast<std::size_t>(l * size.n) + j];
                    row.sums[j] += product;
                    row.magnitudes[j] += std::abs(product);
                }
            }
            rows_.push_back(std::move(row));
        }
    }
    /// Largest error over |A||B|; infinite for any where that is zero. `added`: what C was, times beta.
    double worst_error(const GuardedMatrix& c, double added) const {
        long double worst = 0;
        for (const Row& row : rows_) {
            for (std::int64_t j = 0; j < size_.n; ++j) {
                const auto at = static_cast<std::size_t>(j);
                const long double error = std::abs(c.get(row.number, j) - row.sums[at] - added);
                const long double here = error == 0 ? 0 : error / (row.magnitudes[at] + std::abs(added));
                worst = here <= worst ? worst : here;
            }
        }
        return static_cast<double>(worst);
    }

private:
    struct Row {
        std::int64_t number;
        std::vector<long double> sums, magnitudes;
    };
    ProblemSize size_;
    std::vector<Row> rows_;
};

struct Way {
    const char* algorithm;
    int levels;
    const char *mode, *leaf;
};

bool loses_much(const Way& way) {
    const std::string name = way.algorithm;
    return name == "winograd*winograd" || name == "alternative-basis" || (name == "winograd" && way.levels == 2);
}

std::vector<Way> ways(Type type) {
    std::vector<Way> all = {{"winograd", 1, "parallel", "cublas"},
                            {"winograd", 1, "parallel", "cublas-batched"},
                            {"winograd", 2, "parallel", "cublas"},
                            {"winograd*winograd", 1, "parallel", "cublas-batched"},
                            {"winograd*winograd", 1, "parallel", "cublas"},
                            {"winograd", 1, "serial", "auto"},
                            {"winograd", 2, "serial", "auto"}};
    if (type == Type::f32 || type == Type::f64) {
        all.push_back({"alternative-basis", 1, "parallel", "auto"});
        all.push_back({"strassen", 1, "fused", "auto"});
        all.push_back({"strassen", 2, "fused", "auto"});
        all.push_back({"auto", 0, "auto", kResidueLeaf});
    }
    return all;
}

Options options_of(const Way& way, Accuracy accuracy, double beta) {
    Options options;
    options.device = "cuda";
    options.accuracy = accuracy;
    options.algorithm = way.algorithm;
    options.levels = way.levels;
    options.mode = way.mode;
    options.leaf = way.leaf;
    options.accumulate = beta != 0;
    return options;
}

RunReport multiply(Operands& x, const Options& options, double beta) {
    x.c.fill(7);
    return multiply_on_device(1, x.a.view(), x.b.view(), beta, x.c.view(), options, {});
}

/// What the host says of the same data, where it is clear: far from the limit.
struct Expected {
    bool is_clear = false, is_uneven = false, falls_back = false, is_scaled = false;
};
/// Of the lines that are not zero.
double least_line(const std::vector<double>& largest) {
    double least = std::numeric_limits<double>::infinity();
    for (const double x : largest) {
        least = x > 0 ? std::min(least, x) : least;
    }
    return least;
}
Expected expected(const ProductPlan& plan, Operands& x, double beta) {
    ReferenceBackend host;
    const std::int64_t m = plan.padded ? plan.m : plan.core_m, k = plan.padded ? plan.k : plan.core_k,
                       n = plan.padded ? plan.n : plan.core_n;
    const ConstView a = block(ConstView(x.a.view()), 0, 0, m, k), b = block(ConstView(x.b.view()), 0, 0, k, n);
    const ScanResult of_a = host.scan(a), of_b = host.scan(b);
    const Evenness even = judge_evenness(host, a, of_a, b, of_b, {}, can_scale(plan, beta));
    const double value = even.value / plan.least_evenness;
    // Powers of two need room above the subnormal numbers.
    const double room = plan.type == Type::f64 ? 0x1p-960 : plan.type == Type::f16 ? 0x1p-6 : 0x1p-96;
    const bool is_small = even.scales() && least_line(of_a.rows) * least_line(of_b.cols) < room;
    return {value > 1.5 || value < 0.6, value < 1, value < 1 || is_small, value >= 1 && even.scales() && !is_small};
}

class Tally {
public:
    /// One family in every way; returns by how much the worst of them is beyond the classical product.
    void run(Type type, const ProblemSize& size, const Family& family, Layout a, Layout b) {
        Operands x = operands(type, size, a, b, family);
        const Reference reference(x, size);
        Options strict = options_of({"auto", 0, "auto", "auto"}, Accuracy::strict, 0);
        multiply(x, strict, 0);
        const double classical = reference.worst_error(x.c, 0);
        double worst = 0;
        const char* worst_way = "";
        for (const Way& way : ways(type)) {
            for (const double beta : {0.0, 2.0}) {
                const Options options = options_of(way, Accuracy::balanced, beta);
                const ProductPlan plan = plan_device_product(size.m, size.k, size.n, type, options, {});
                const std::string what =
                    fmt::format("{} {} {}x{}x{} {} {} {} {} beta {}", family.name, type_name(type), size.m, size.k,
                                size.n, way.algorithm, way.levels, way.mode, way.leaf, beta);
                const RunReport report = multiply(x, options, beta);
                const double error = reference.worst_error(x.c, 7 * beta);
                // These are asked for here at sizes where `balanced` would not take them.
                const double allowed = loses_much(way) ? 20 : 10;
                EXPECT_LE(error, allowed * std::max(classical, unit_roundoff(type))) << what;
                if (error > worst) {
                    worst = error;
                    worst_way = way.mode;
                }
                if (plan.levels.empty()) {
                    continue;
                }
                ++products;
                const Expected says = expected(plan, x, beta);
                if (says.is_clear && family.name != std::string("tiny rows")) {  // the host takes those for zeros
                    ++clear;
                    EXPECT_EQ(report.fell_back, says.falls_back) << what;
                    EXPECT_EQ(report.uneven, says.is_uneven) << what;
                    EXPECT_EQ(report.scaled, says.is_scaled) << what;
                }
                scaled += report.scaled ? 1 : 0;
            }
        }
        fmt::print("{:28} {} {}x{}x{}: classical {:.2g}, levels {:.2g} ({:.1f} times, {})\n", family.name,
                   type_name(type), size.m, size.k, size.n, classical, worst, worst / classical, worst_way);
    }
    int products = 0, clear = 0, scaled = 0;
};

TEST_F(UnevenOnDevice, balanced_is_within_a_digit_of_the_classical_product_on_data_of_all_kinds) {
    Tally tally;
    for (const Type type : {Type::f32, Type::f64}) {
        for (const Family& family : families(type)) {
            tally.run(type, {512, 512, 512}, family, Layout::rows, Layout::rows);
            tally.run(type, {771, 642, 905}, family, Layout::columns, Layout::rows_padded);
        }
    }
    EXPECT_GT(tally.products, 600);
    EXPECT_GT(tally.clear, tally.products * 3 / 4);
    EXPECT_GT(tally.scaled, tally.products / 4);
}

TEST_F(UnevenOnDevice, short_floats_are_scaled_too) {
    Tally tally;
    for (const Type type : {Type::bf16, Type::f16, Type::tf32}) {
        for (const Family& family : families(type)) {
            const std::string name = family.name;
            if (name == "uniform" || name == "a small row" || name == "a huge row" || name == "two blocks" ||
                name == "rows and columns of zeros") {
                if (type != Type::f16 || (name != "a huge row" && name != "two blocks")) {  // it has no room for those
                    tally.run(type, {516, 644, 520}, family, Layout::rows, Layout::columns);
                }
            }
        }
    }
    EXPECT_GT(tally.scaled, 0);
}

TEST_F(UnevenOnDevice, even_data_goes_the_fast_way_and_fast_takes_any) {
    for (const Type type : {Type::f32, Type::f64, Type::bf16}) {
        const std::vector<Family> all = families(type);
        for (const Way& way : ways(type)) {
            const ProblemSize size{384, 256, 320};
            Operands even = operands(type, size, Layout::rows, Layout::rows, all.front());
            const RunReport report = multiply(even, options_of(way, Accuracy::balanced, 0), 0);
            EXPECT_FALSE(report.fell_back || report.uneven || report.scaled)
                << type_name(type) << " " << way.levels << " " << way.mode;
            EXPECT_LE(Reference(even, size).worst_error(even.c, 0), 64 * unit_roundoff(type));
            Operands uneven = operands(type, size, Layout::rows, Layout::rows, all[4]);
            EXPECT_FALSE(multiply(uneven, options_of(way, Accuracy::fast, 0), 0).fell_back) << way.mode;
        }
    }
}

}  // namespace
}  // namespace heptad::test
