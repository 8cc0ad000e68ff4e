#include "product/device/bit_device_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/fail_if.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

using cuda::BitOperation;

/// Shorter leaves spend their time on filling the pipeline and packing.
constexpr std::int64_t kSmallestLeaf = 1024;
/// A product must be so many times as long as the panel after which it may end: every panel costs something.
constexpr std::int64_t kPanelsBeforeEarlyEnds = 16;

const char* name_of(BitOperation operation) {
    switch (operation) {
        case BitOperation::parity:
            return "gf2";
        case BitOperation::any:
            return "bool";
        default:
            return "count";
    }
}

/// Seconds of `count` leaf products of one size in one launch.
double leaf_seconds(const BitDeviceFacts& facts, const bits::LeafShape& s, double count) {
    // What two blocks make together takes its steps of k and, as long as some of them, its beginning and its end. Small
    // tiles are slower, but their last round is fuller.
    struct Tiles {
        double rows, cols, extra_steps, rate;
    };
    constexpr Tiles kLarge{256, 384, 1.15, 1}, kSmall{256, 256, 1.1, 0.89};
    constexpr double kStep = 1024;
    const double clusters = std::max(facts.multiprocessors / 2, 1);
    const auto seconds = [&](const Tiles& t) {
        const double tiles =
            count * std::ceil(static_cast<double>(s.m) / t.rows) * std::ceil(static_cast<double>(s.n) / t.cols);
        const double steps = std::ceil(static_cast<double>(s.k) / kStep) + t.extra_steps;
        return std::ceil(tiles / clusters) * clusters * 2 * t.rows * t.cols * kStep * steps /
               (t.rate * facts.operations_per_s);
    };
    return std::min(seconds(kLarge), seconds(kSmall));
}

double predict(const BitDeviceLaunch& launch, const BitDeviceFacts& facts) {
    const bits::LeafShape& s = launch.shape;
    const ProblemSize& size = launch.problem.size;
    if (launch.levels() == 0) {
        double k_panels = 0, leaves_s = 0;
        std::int64_t first_k = 0;
        do {  // an empty sum is made once, too
            const std::int64_t end = launch.panel_end(first_k);
            leaves_s += leaf_seconds(facts, {size.m, end - first_k, size.n}, 1);
            k_panels += 1;
            first_k = end;
        } while (first_k < size.k);
        const double col_panels =
            std::max(1.0, std::ceil(static_cast<double>(size.n) /
                                    static_cast<double>(std::max<std::int64_t>(launch.panels.cols, 1))));
        const double bits_of_c = static_cast<double>(size.m) * static_cast<double>(size.n);
        const double bytes_of_c = launch.problem.operation == BitOperation::count ? 4 * bits_of_c : bits_of_c / 8;
        const double moved = 2.0 * static_cast<double>(size.k) * static_cast<double>(size.n) / 8 +
                             16.0 * k_panels * static_cast<double>(launch.left.words) + (2 * k_panels - 1) * bytes_of_c;
        return moved / facts.bytes_per_s + 2 * k_panels * col_panels * facts.launch_s + leaves_s;
    }
    const double a = static_cast<double>(s.m) * static_cast<double>(s.k) / 8;
    const double b = static_cast<double>(s.n) * static_cast<double>(s.k) / 8;
    const double c = static_cast<double>(s.m) * static_cast<double>(s.n) / 8;
    const auto blocks = static_cast<double>(integer_power(4, launch.parallel_levels));
    // A sum in the standard basis has two terms per level on average, and a product goes to two quarters.
    const auto terms = static_cast<double>(integer_power(2, launch.serial_levels));
    double moved = blocks * (terms * a + (terms + 2) * b + (launch.serial_levels > 0 ? 2 * terms : 1) * c);
    double outer = 1, launches = 2;
    for (const int levels : bit_pass_levels(launch.parallel_levels)) {
        const double before = outer, after = outer * static_cast<double>(integer_power(7, levels)) /
                                             static_cast<double>(integer_power(4, levels));
        const double read = before > 1 ? before * blocks : 0;  // the first pass is counted above
        moved += (read + after * blocks) * (a + b + c);
        outer = after;
        launches += 3;
    }
    const auto sub_products = static_cast<double>(integer_power(7, launch.serial_levels));
    return sub_products * (moved / facts.bytes_per_s + launches * facts.launch_s +
                           leaf_seconds(facts, s, static_cast<double>(integer_power(7, launch.parallel_levels))));
}

/// What a prediction was off by where a split was measured: at the size nearest to this one. Splits that were not
/// measured are off by as much as the others on average.
double correction(const BitDeviceLaunch& launch, const BitDeviceFacts& facts) {
    if (facts.measured.empty() || launch.problem.operation != BitOperation::parity) {
        return 1;
    }
    const auto log_volume = [](const ProblemSize& size) {
        return std::log(std::max(static_cast<double>(size.m), 1.0)) +
               std::log(std::max(static_cast<double>(size.k), 1.0)) +
               std::log(std::max(static_cast<double>(size.n), 1.0));
    };
    const auto off_by = [&](const BitSplitSample& sample) {
        BitDeviceLaunch cube;
        cube.problem = {BitOperation::parity, {sample.n, sample.n, sample.n}, true};
        cube.serial_levels = sample.serial_levels;
        cube.parallel_levels = sample.parallel_levels;
        cube.shape = bit_device_leaf(cube.problem.size, cube.levels());
        cube.panels = {std::min(sample.n, BitDeviceOptions{}.most_panel_k), sample.n};
        return sample.seconds / predict(cube, facts);
    };
    const BitSplitSample* nearest = nullptr;
    double logs = 0;
    const auto distance = [&](const BitSplitSample& sample) {
        return std::abs(log_volume({sample.n, sample.n, sample.n}) - log_volume(launch.problem.size));
    };
    for (const BitSplitSample& sample : facts.measured) {
        logs += std::log(off_by(sample));
        if (sample.serial_levels == launch.serial_levels && sample.parallel_levels == launch.parallel_levels &&
            (nearest == nullptr || distance(sample) < distance(*nearest))) {
            nearest = &sample;
        }
    }
    return nearest != nullptr ? off_by(*nearest) : std::exp(logs / static_cast<double>(facts.measured.size()));
}

/// The longest panels of k of which the workspace holds at least one unit of columns, and as many as it holds.
PanelCut fitting_panels(const BitDeviceProblem& problem, std::int64_t most_k, std::int64_t limit_bytes) {
    const ProblemSize& size = problem.size;
    const std::int64_t all = round_up(size.n, kBitPanelUnit), copied_rows = problem.aligned ? 0 : size.m;
    std::int64_t panel_k = std::min(size.k, most_k);
    if (panel_k == 0 || all == 0) {
        return {panel_k, all};
    }
    for (;; panel_k = round_up(panel_k / 2, kBitUnit)) {
        const std::int64_t row_bytes = round_up(panel_k, kBitUnit) / 8;
        const std::int64_t fitting =
            (limit_bytes - checked_mul(copied_rows, row_bytes)) / row_bytes / kBitPanelUnit * kBitPanelUnit;
        if (fitting > 0) {
            return {panel_k, std::min(all, fitting)};
        }
        fail_if(panel_k <= kBitUnit, ErrorCode::resource,
                "a product of {} x {} x {} bits needs at least {} bytes of workspace on the device, but "
                "workspace_limit_bytes is {}",
                size.m, size.k, size.n, (copied_rows + kBitPanelUnit) * row_bytes, limit_bytes);
    }
}

void validate(const BitDeviceProblem& problem, const BitDeviceOptions& options) {
    const ProblemSize& size = problem.size;
    fail_if(size.m < 0 || size.k < 0 || size.n < 0, ErrorCode::input,
            "a product of {} x {} x {} bits is not possible; sizes start at 0", size.m, size.k, size.n);
    fail_if(std::max({size.m, size.k, size.n}) >= kMostBitSide, ErrorCode::input,
            "a product of {} x {} x {} bits is too large for one device; each side must be below {}", size.m, size.k,
            size.n, kMostBitSide);
    fail_if(options.most_panel_k < kBitUnit || options.most_panel_k % kBitUnit != 0, ErrorCode::usage,
            "{} bits of k at a time are not possible; use a multiple of {}", options.most_panel_k, kBitUnit);
    fail_if(options.first_panel_k < 0 || options.first_panel_k % kBitUnit != 0, ErrorCode::usage,
            "{} bits of k before a product may end are not possible; use a multiple of {}, or 0 for never",
            options.first_panel_k, kBitUnit);
    const int most = kMostSerialBitLevels + kMostParallelBitLevels;
    fail_if(options.levels < -1 || options.levels > most, ErrorCode::usage,
            "{} levels are not possible on a device; use 0 to {}, or -1 for the predicted best", options.levels, most);
    fail_if(options.serial_levels < -1 || options.serial_levels > kMostSerialBitLevels, ErrorCode::usage,
            "{} serial levels are not possible; use 0 to {}, or -1 for as few as will fit", options.serial_levels,
            kMostSerialBitLevels);
    const bool fast = options.algorithm != "auto" && options.algorithm != "classical";
    fail_if(problem.operation != BitOperation::parity && (options.levels > 0 || options.serial_levels > 0 || fast),
            ErrorCode::usage, "a {} product has no subtraction, so no levels; set the algorithm and the levels to auto",
            name_of(problem.operation));
    fail_if(options.algorithm == "classical" && (options.levels > 0 || options.serial_levels > 0), ErrorCode::usage,
            "the classical algorithm has no levels, but {} were asked for",
            std::max(options.levels, options.serial_levels));
    const std::vector<std::string> leaves = cuda::bit_leaf_names();
    if (options.leaf != "auto" && std::find(leaves.begin(), leaves.end(), options.leaf) == leaves.end()) {
        fail(ErrorCode::usage, "there is no leaf '{}' for bit matrices on cuda; choose one of {}", options.leaf,
             fmt::join(leaves, ", "));
    }
}

ProductPlan with_levels(const BitDeviceProblem& problem, const bits::LevelProgram* program, int serial, int parallel,
                        const BitDeviceOptions& options, const BitDeviceFacts& facts) {
    BitDeviceLaunch launch;
    launch.problem = problem;
    launch.serial_levels = serial;
    launch.parallel_levels = parallel;
    launch.program = serial + parallel > 0 ? program : nullptr;
    launch.leaf = options.leaf == "auto" ? facts.leaf : options.leaf;
    launch.shape = bit_device_leaf(problem.size, serial + parallel);
    if (serial + parallel == 0) {
        launch.panels = fitting_panels(problem, options.most_panel_k, options.workspace_limit_bytes);
        if (problem.operation == BitOperation::any &&
            problem.size.k / kPanelsBeforeEarlyEnds >= std::max<std::int64_t>(options.first_panel_k, 1)) {
            launch.panels.first_k = std::min(options.first_panel_k, launch.panels.k);
        }
    }
    lay_out(launch);
    if (launch.workspace_bytes() > options.workspace_limit_bytes) {  // the list of tiles is only to save time
        launch.panels.first_k = 0;
        lay_out(launch);
    }
    ProductPlan plan = plan_of(launch);
    plan.predicted_s = predict(launch, facts) * correction(launch, facts);
    return plan;
}

}  // namespace

ProductPlan plan_bit_device_product(const BitDeviceProblem& problem, const BitDeviceOptions& options,
                                    const BitDeviceFacts& facts) {
    validate(problem, options);
    const bool classical = problem.operation != BitOperation::parity || options.algorithm == "classical";
    const bits::LevelProgram& program = options.algorithm == "auto" || classical
                                            ? bits::usual_level_program()
                                            : bits::find_level_program(options.algorithm);
    const ProblemSize& size = problem.size;
    const std::int64_t shortest = std::min({size.m, size.k, size.n});
    std::vector<ProductPlan> fitting;
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    double least_s = std::numeric_limits<double>::infinity();
    for (int serial = 0; serial <= (classical ? 0 : kMostSerialBitLevels); ++serial) {
        for (int parallel = 0; parallel <= (classical ? 0 : kMostParallelBitLevels); ++parallel) {
            const int levels = serial + parallel;
            if ((options.levels >= 0 && levels != options.levels) ||
                (options.serial_levels >= 0 && serial != options.serial_levels)) {
                continue;
            }
            if (options.levels < 0 && options.serial_levels < 0 && levels > 0 && shortest >> levels < kSmallestLeaf) {
                continue;
            }
            ProductPlan plan = with_levels(problem, &program, serial, parallel, options, facts);
            least_bytes = std::min(least_bytes, plan.workspace_bytes);
            if (plan.workspace_bytes <= options.workspace_limit_bytes) {
                least_s = std::min(least_s, plan.predicted_s);
                fitting.push_back(std::move(plan));
            }
        }
    }
    // Of those that are predicted to be about as fast as the fastest, the one with the smallest workspace.
    constexpr double kAboutAsFast = 1.01;
    std::erase_if(fitting, [&](const ProductPlan& plan) { return plan.predicted_s > kAboutAsFast * least_s; });
    const auto best = std::min_element(fitting.begin(), fitting.end(), [](const auto& x, const auto& y) {
        return x.workspace_bytes < y.workspace_bytes;
    });
    fail_if(best == fitting.end(), ErrorCode::resource,
            "a product of {} x {} x {} bits with the levels asked for needs at least {} bytes of workspace on the "
            "device, but workspace_limit_bytes is {}; set the levels to auto or allow more",
            size.m, size.k, size.n, least_bytes, options.workspace_limit_bytes);
    return *best;
}

}  // namespace heptad
