#include "api/blas/takeover.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/shared_state.hpp"
#include "io/machine_file.hpp"
#include "kernels/cpu/cpu_kernels.hpp"

namespace heptad::blas {
namespace {

constexpr std::int64_t kBeyondAll = std::numeric_limits<std::int64_t>::max();

/// The smallest size from which 1, 2 and 3 levels pay.
using Sides = std::array<std::int64_t, 3>;

/// Complex products of either type pay from one size on: three real products in place of the four that a library makes,
/// for passes over the matrices.
struct Row {
    Sides f32, f64;
    std::int64_t complex;
    std::int64_t classical_f32;      // from there on our kernel leads without levels, and with smaller errors
    std::size_t levels_in_triangle;  // that its product, half of the work, must be worth
};

Row row_of_this_processor() {
    switch (cpu::best_instruction_set()) {
        case cpu::InstructionSet::avx512:  // by the sizes below, f64 3072 was 0.93 on a Cascade Lake
            return {{5120, 6144, 16384}, {6656, 8192, 16384}, 1024, kBeyondAll, 2};
        case cpu::InstructionSet::avx512bf16:
            return {{2304, 4608, 14336}, {1920, 2816, 7168}, 1024, kBeyondAll, 2};
        case cpu::InstructionSet::amx:  // f32 by parts of bf16
            return {{6144, 12288, 24576}, {1920, 2816, 7168}, 768, 256, 2};
        case cpu::InstructionSet::neon:
        case cpu::InstructionSet::i8mm:
            return {{1152, 2048, 4096}, {1152, 2048, 4096}, 768, kBeyondAll, 1};
        default:  // not measured: careful
            return {{3072, 8192, 16384}, {3072, 8192, 16384}, 1536, kBeyondAll, 2};
    }
}

Sides sides_of(Type type) {
    const Row row = row_of_this_processor();
    return type == Type::f32 ? row.f32 : row.f64;
}

/// Rows that are whole pages apart fall onto the same few sets of a cache. Libraries are slower there than at other
/// sizes, so that levels pay sooner: f32 2048 gains a tenth where 2047 gains nothing.
constexpr double kWholePages = 7.0 / 8;

/// Sums are as fast as memory is, which many threads share; the sizes are of two.
double by_threads(int threads) {
    return std::sqrt(std::max(1.0, threads / 2.0));
}

/// The sizes that `heptad tune` found on this processor with as many threads; without it, none.
std::optional<Sides> measured_sides(Type type, int threads) {
    // Of the library's time, and of its error. `balanced` allows ten; but growth is measured beside the fastest
    // library, and the one that a call would have reached may be more accurate: OpenBLAS by 1.6 beside BLIS, f64 on a
    // Neoverse V1.
    constexpr double kWorthIt = 0.98, kMostGrowth = 6;
    struct Best {
        double relative_time = kWorthIt;
        std::size_t levels = 0;
    };
    std::map<std::int64_t, Best> squares;
    for (const Machine& machine : machines_of_this_processor()) {
        for (const MeasuredPlan& row : machine.measured_plans) {
            const bool is_of_these = machine.threads == threads && row.type == type && row.m == row.k && row.k == row.n;
            // Where none of these was tried, or only with too large an error, nothing is known of them.
            const bool may_be_taken = row.plan.leaf == "heptad" && row.error_growth <= kMostGrowth &&
                                      (!row.plan.levels.empty() || classical_leads(type));
            if (is_of_these && may_be_taken) {
                Best& best = squares[row.n];
                if (row.relative_time < best.relative_time) {
                    best = {row.relative_time, row.plan.levels.size()};
                }
            }
        }
    }
    Sides sides = sides_of(type);
    if (squares.empty()) {
        return std::nullopt;
    }
    for (std::size_t level = 0; level < sides.size(); ++level) {
        std::int64_t from = std::max(sides[level], squares.rbegin()->first + 1);  // beyond what was measured
        for (auto square = squares.rbegin(); square != squares.rend() && square->second.levels > level; ++square) {
            from = static_cast<std::int64_t>(static_cast<double>(square->first) / kWholePages);  // as those are
        }
        sides[level] = from;
    }
    return sides;
}

/// Found at the first large call, then kept.
Sides sides_with(Type type, int threads) {
    static constinit Guarded<std::map<std::pair<Type, int>, std::optional<Sides>>> kept;
    const auto all = kept.lock();
    auto found = all->find({type, threads});
    if (found == all->end()) {
        found = all->emplace(std::pair(type, threads), measured_sides(type, threads)).first;
    }
    if (found->second) {
        return *found->second;
    }
    Sides scaled = sides_of(type);
    for (std::int64_t& side : scaled) {
        side = static_cast<std::int64_t>(static_cast<double>(side) * by_threads(threads));
    }
    return scaled;
}

bool has_whole_pages(const ConstView& v) {
    constexpr std::int64_t kPage = 4096;
    return std::max(v.row_stride, v.col_stride) * static_cast<std::int64_t>(element_bytes(v.type)) % kPage == 0;
}

}  // namespace

constinit Limits smallest_sides{kBeyondAll, kBeyondAll, kBeyondAll, kBeyondAll};
constinit Limits smallest_sides_in_triangles{kBeyondAll, kBeyondAll, kBeyondAll, kBeyondAll};

void set_smallest_sides() {
    const Knobs& asked = knobs();
    if (asked.off || asked.accuracy == Accuracy::strict || asked.levels == 0 || asked.workspace_bytes == 0) {
        return;  // they stay beyond every size: a strict product is what the library makes
    }
    for (const Type type : {Type::f32, Type::f64, Type::c64, Type::c128}) {
        const auto set = [&](Limits& limits, double least) {
            limits[type_index(type)].store(asked.min_size > 0 ? asked.min_size : static_cast<std::int64_t>(least),
                                           std::memory_order_relaxed);
        };
        if (is_complex(type)) {
            const auto least = static_cast<double>(row_of_this_processor().complex);
            set(smallest_sides, least);
            set(smallest_sides_in_triangles, least);
        } else {
            set(smallest_sides, kWholePages * static_cast<double>(sides_of(type)[0]));
            const std::size_t levels = row_of_this_processor().levels_in_triangle;
            set(smallest_sides_in_triangles,
                (levels == 1 ? kWholePages : 1) * static_cast<double>(sides_of(type)[levels - 1]));
            if (classical_leads(type)) {
                const auto least = static_cast<double>(row_of_this_processor().classical_f32);
                set(smallest_sides, least);
                set(smallest_sides_in_triangles, least);
            }
        }
    }
}

bool classical_leads(Type type) {
    return type == Type::f32 && row_of_this_processor().classical_f32 < kBeyondAll;
}

int levels_for(const ConstView& a, const ConstView& b, int threads) {
    if (knobs().levels >= 0) {
        return knobs().levels;
    }
    const Sides sides = sides_with(a.type, threads);
    const double scale = has_whole_pages(a) && has_whole_pages(b) ? kWholePages : 1;
    const auto side = static_cast<double>(std::min({a.rows, a.cols, b.cols}));
    const auto levels = std::count_if(sides.begin(), sides.end(),
                                      [&](std::int64_t least) { return side >= scale * static_cast<double>(least); });
    return static_cast<int>(std::max<std::int64_t>(levels, knobs().min_size > 0 ? 1 : 0));
}

bool three_products_pay(const ConstView& a, const ConstView& b, int threads) {
    const auto least = static_cast<double>(row_of_this_processor().complex) * by_threads(threads);
    const auto side = static_cast<double>(std::min({a.rows, a.cols, b.cols}));
    return knobs().min_size > 0 || side >= least;
}

}  // namespace heptad::blas
