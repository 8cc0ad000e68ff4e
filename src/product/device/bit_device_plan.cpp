#include "product/device/bit_device_plan.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/size.hpp"
#include "base/text_stream.hpp"

namespace heptad {
namespace {

using cuda::BitOperation;

/// Rows of k and of n are moved 16 bytes at a time.
constexpr std::int64_t kUnit = 128;
/// A panel of B that is transposed at a time is a multiple of the leaf's tile.
constexpr std::int64_t kPanelUnit = 256;
/// Shorter leaves spend their time on filling the pipeline and packing.
constexpr std::int64_t kSmallestLeaf = 1024;
/// A product must be so many times as long as the panel after which it may end: every panel costs something.
constexpr std::int64_t kPanelsBeforeEarlyEnds = 16;

std::int64_t power(std::int64_t base, int exponent) {
    std::int64_t result = 1;
    for (int i = 0; i < exponent; ++i) {
        result *= base;
    }
    return result;
}

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

bits::LeafShape leaf_shape(const ProblemSize& size, int levels) {
    const auto part = [&](std::int64_t n, std::int64_t unit) {
        return round_up(std::max<std::int64_t>(ceil_div(n, std::int64_t{1} << levels), 1), unit);
    };
    return {part(size.m, 1), part(size.k, kUnit), part(size.n, kUnit)};
}

/// Words of all blocks between the first and the second pass of an expanding layer; 0 where there is one pass.
std::int64_t between_passes(std::int64_t leaf_words, const std::vector<int>& passes) {
    return passes.size() < 2 ? 0 : leaf_words * power(7, passes[0]) * power(4, passes[1]);
}

/// Lays the workspace out. The place of the results serves the sums of B while they are made, that of the operands the
/// sums of products.
void lay_out(BitDevicePlan& plan) {
    const bits::LeafShape& s = plan.shape;
    const ProblemSize& size = plan.problem.size;
    if (plan.levels() == 0) {
        const std::int64_t k_words = round_up(plan.panel_k, kUnit) / 64;
        plan.left = {0, plan.problem.aligned ? 0 : checked_mul(size.m, k_words)};
        plan.right = {plan.left.words, checked_mul(plan.panel_cols, k_words)};
        plan.result = {plan.left.words + plan.right.words, 0};
        plan.open_tiles = {plan.result.offset,
                           plan.first_panel_k > 0 ? cuda::bit_open_tile_words(size.m, plan.panel_cols) : 0};
        return;
    }
    const std::vector<int> passes = bit_pass_levels(plan.parallel_levels);
    const std::int64_t leaves = power(7, plan.parallel_levels), blocks = power(4, plan.parallel_levels);
    const auto block_words = [&](std::int64_t rows, std::int64_t cols) {
        const std::int64_t words = checked_mul(rows, cols / 64);
        checked_mul(words, 64 * leaves);  // all that follows fits in 64 bits
        return words;
    };
    const std::int64_t a = block_words(s.m, s.k), b = block_words(s.n, s.k), c = block_words(s.m, s.n);
    const std::int64_t transposed = plan.parallel_levels > 0 ? blocks * b : 0;
    const std::int64_t sums = std::max(between_passes(a, passes), transposed + between_passes(b, passes));
    const std::int64_t operands = std::max(leaves * (a + b), between_passes(c, passes));
    // Even numbers of words, so that every region begins on a 16-byte boundary.
    plan.left = {0, round_up(leaves * a, 2)};
    plan.right = {plan.left.words, round_up(operands, 2) - plan.left.words};
    plan.result = {plan.left.words + plan.right.words, round_up(std::max(leaves * c, sums), 2)};
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

double predict(const BitDevicePlan& plan, const BitDeviceFacts& facts) {
    const bits::LeafShape& s = plan.shape;
    const ProblemSize& size = plan.problem.size;
    if (plan.levels() == 0) {
        double k_panels = 0, leaves_s = 0;
        std::int64_t first_k = 0;
        do {  // an empty sum is made once, too
            const std::int64_t end = plan.panel_end(first_k);
            leaves_s += leaf_seconds(facts, {size.m, end - first_k, size.n}, 1);
            k_panels += 1;
            first_k = end;
        } while (first_k < size.k);
        const double col_panels = std::max(
            1.0,
            std::ceil(static_cast<double>(size.n) / static_cast<double>(std::max<std::int64_t>(plan.panel_cols, 1))));
        const double bits_of_c = static_cast<double>(size.m) * static_cast<double>(size.n);
        const double bytes_of_c = plan.problem.operation == BitOperation::count ? 4 * bits_of_c : bits_of_c / 8;
        const double moved = 2.0 * static_cast<double>(size.k) * static_cast<double>(size.n) / 8 +
                             16.0 * k_panels * static_cast<double>(plan.left.words) + (2 * k_panels - 1) * bytes_of_c;
        return moved / facts.bytes_per_s + 2 * k_panels * col_panels * facts.launch_s + leaves_s;
    }
    const double a = static_cast<double>(s.m) * static_cast<double>(s.k) / 8;
    const double b = static_cast<double>(s.n) * static_cast<double>(s.k) / 8;
    const double c = static_cast<double>(s.m) * static_cast<double>(s.n) / 8;
    const auto blocks = static_cast<double>(power(4, plan.parallel_levels));
    // A sum in the standard basis has two terms per level on average, and a product goes to two quarters.
    const auto terms = static_cast<double>(power(2, plan.serial_levels));
    double moved = blocks * (terms * a + (terms + 2) * b + (plan.serial_levels > 0 ? 2 * terms : 1) * c);
    double outer = 1, launches = 2;
    for (const int levels : bit_pass_levels(plan.parallel_levels)) {
        const double before = outer,
                     after = outer * static_cast<double>(power(7, levels)) / static_cast<double>(power(4, levels));
        const double read = before > 1 ? before * blocks : 0;  // the first pass is counted above
        moved += (read + after * blocks) * (a + b + c);
        outer = after;
        launches += 3;
    }
    const auto sub_products = static_cast<double>(power(7, plan.serial_levels));
    return sub_products * (moved / facts.bytes_per_s + launches * facts.launch_s +
                           leaf_seconds(facts, s, static_cast<double>(power(7, plan.parallel_levels))));
}

/// What a prediction was off by where a split was measured: at the size nearest to this one. Splits that were not
/// measured are off by as much as the others on average.
double correction(const BitDevicePlan& plan, const BitDeviceFacts& facts) {
    if (facts.measured.empty() || plan.problem.operation != BitOperation::parity) {
        return 1;
    }
    const auto log_volume = [](const ProblemSize& size) {
        return std::log(std::max(static_cast<double>(size.m), 1.0)) +
               std::log(std::max(static_cast<double>(size.k), 1.0)) +
               std::log(std::max(static_cast<double>(size.n), 1.0));
    };
    const auto off_by = [&](const BitSplitSample& sample) {
        BitDevicePlan cube;
        cube.problem = {BitOperation::parity, {sample.n, sample.n, sample.n}, true};
        cube.serial_levels = sample.serial_levels;
        cube.parallel_levels = sample.parallel_levels;
        cube.shape = leaf_shape(cube.problem.size, cube.levels());
        cube.panel_k = std::min(sample.n, BitDeviceOptions{}.most_panel_k);
        cube.panel_cols = sample.n;
        return sample.seconds / predict(cube, facts);
    };
    const BitSplitSample* nearest = nullptr;
    double logs = 0;
    const auto distance = [&](const BitSplitSample& sample) {
        return std::abs(log_volume({sample.n, sample.n, sample.n}) - log_volume(plan.problem.size));
    };
    for (const BitSplitSample& sample : facts.measured) {
        logs += std::log(off_by(sample));
        if (sample.serial_levels == plan.serial_levels && sample.parallel_levels == plan.parallel_levels &&
            (nearest == nullptr || distance(sample) < distance(*nearest))) {
            nearest = &sample;
        }
    }
    return nearest != nullptr ? off_by(*nearest) : std::exp(logs / static_cast<double>(facts.measured.size()));
}

/// Without levels: what of B is transposed at a time, and what of an unaligned A is copied.
struct Panels {
    std::int64_t k = 0, cols = 0;
};

/// The longest panels of k of which the workspace holds at least one unit of columns, and as many as it holds.
Panels fitting_panels(const BitDeviceProblem& problem, std::int64_t most_k, std::int64_t limit_bytes) {
    const ProblemSize& size = problem.size;
    const std::int64_t all = round_up(size.n, kPanelUnit), copied_rows = problem.aligned ? 0 : size.m;
    std::int64_t panel_k = std::min(size.k, most_k);
    if (panel_k == 0 || all == 0) {
        return {panel_k, all};
    }
    for (;; panel_k = round_up(panel_k / 2, kUnit)) {
        const std::int64_t row_bytes = round_up(panel_k, kUnit) / 8;
        const std::int64_t fitting =
            (limit_bytes - checked_mul(copied_rows, row_bytes)) / row_bytes / kPanelUnit * kPanelUnit;
        if (fitting > 0) {
            return {panel_k, std::min(all, fitting)};
        }
        if (panel_k <= kUnit) {
            fail(ErrorCode::resource,
                 "a product of {} x {} x {} bits needs at least {} bytes of workspace on the device, but "
                 "workspace_limit_bytes is {}",
                 size.m, size.k, size.n, (copied_rows + kPanelUnit) * row_bytes, limit_bytes);
        }
    }
}

void validate(const BitDeviceProblem& problem, const BitDeviceOptions& options) {
    const ProblemSize& size = problem.size;
    if (size.m < 0 || size.k < 0 || size.n < 0) {
        fail(ErrorCode::input, "a product of {} x {} x {} bits cannot be; sizes start at 0", size.m, size.k, size.n);
    }
    if (std::max({size.m, size.k, size.n}) >= kMostBitSide) {
        fail(ErrorCode::input, "a product of {} x {} x {} bits is too large for one device; each side must be below {}",
             size.m, size.k, size.n, kMostBitSide);
    }
    if (options.most_panel_k < kUnit || options.most_panel_k % kUnit != 0) {
        fail(ErrorCode::usage, "{} bits of k at a time cannot be; take a multiple of {}", options.most_panel_k, kUnit);
    }
    if (options.first_panel_k < 0 || options.first_panel_k % kUnit != 0) {
        fail(ErrorCode::usage, "{} bits of k before a product may end cannot be; take a multiple of {}, or 0 for never",
             options.first_panel_k, kUnit);
    }
    const int most = kMostSerialBitLevels + kMostParallelBitLevels;
    if (options.levels < -1 || options.levels > most) {
        fail(ErrorCode::usage, "{} levels cannot be on a device; take 0 to {}, or -1 for as many as pay",
             options.levels, most);
    }
    if (options.serial_levels < -1 || options.serial_levels > kMostSerialBitLevels) {
        fail(ErrorCode::usage, "{} serial levels cannot be; take 0 to {}, or -1 for as few as fit",
             options.serial_levels, kMostSerialBitLevels);
    }
    const bool fast = options.algorithm != "auto" && options.algorithm != "classical";
    if (problem.operation != BitOperation::parity && (options.levels > 0 || options.serial_levels > 0 || fast)) {
        fail(ErrorCode::usage,
             "a {} product has no subtraction, so no levels; leave the algorithm and the levels to auto",
             name_of(problem.operation));
    }
    if (options.algorithm == "classical" && (options.levels > 0 || options.serial_levels > 0)) {
        fail(ErrorCode::usage, "the classical algorithm has no levels, but {} were asked for",
             std::max(options.levels, options.serial_levels));
    }
    const std::vector<std::string> leaves = cuda::bit_leaf_names();
    if (options.leaf != "auto" && std::find(leaves.begin(), leaves.end(), options.leaf) == leaves.end()) {
        fail(ErrorCode::usage, "there is no leaf '{}' for bit matrices on cuda; there is {}", options.leaf,
             fmt::join(leaves, ", "));
    }
}

BitDevicePlan with_levels(const BitDeviceProblem& problem, const bits::LevelProgram* program, int serial, int parallel,
                          const BitDeviceOptions& options, const BitDeviceFacts& facts) {
    BitDevicePlan plan;
    plan.problem = problem;
    plan.serial_levels = serial;
    plan.parallel_levels = parallel;
    plan.program = serial + parallel > 0 ? program : nullptr;
    plan.leaf = options.leaf == "auto" ? facts.leaf : options.leaf;
    plan.shape = leaf_shape(problem.size, serial + parallel);
    if (serial + parallel == 0) {
        const Panels panels = fitting_panels(problem, options.most_panel_k, options.workspace_limit_bytes);
        plan.panel_k = panels.k;
        plan.panel_cols = panels.cols;
        if (problem.operation == BitOperation::any &&
            problem.size.k / kPanelsBeforeEarlyEnds >= std::max<std::int64_t>(options.first_panel_k, 1)) {
            plan.first_panel_k = std::min(options.first_panel_k, plan.panel_k);
        }
    }
    lay_out(plan);
    if (plan.workspace_bytes() > options.workspace_limit_bytes) {  // the list of tiles is only to save time
        plan.first_panel_k = 0;
        lay_out(plan);
    }
    plan.predicted_s = predict(plan, facts) * correction(plan, facts);
    return plan;
}

}  // namespace

std::vector<int> bit_pass_levels(int parallel_levels) {
    // The smaller step first: fewer blocks lie between two passes.
    switch (parallel_levels) {
        case 0:
            return {0};
        case 1:
            return {1};
        case 2:
            return {2};
        case 3:
            return {1, 2};
        default:
            return {2, 2};
    }
}

BitDevicePlan plan_bit_device_product(const BitDeviceProblem& problem, const BitDeviceOptions& options,
                                      const BitDeviceFacts& facts) {
    validate(problem, options);
    const bool classical = problem.operation != BitOperation::parity || options.algorithm == "classical";
    const bits::LevelProgram& program = options.algorithm == "auto" || classical
                                            ? bits::usual_level_program()
                                            : bits::find_level_program(options.algorithm);
    const ProblemSize& size = problem.size;
    const std::int64_t shortest = std::min({size.m, size.k, size.n});
    std::vector<BitDevicePlan> fitting;
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
            BitDevicePlan plan = with_levels(problem, &program, serial, parallel, options, facts);
            least_bytes = std::min(least_bytes, plan.workspace_bytes());
            if (plan.workspace_bytes() <= options.workspace_limit_bytes) {
                least_s = std::min(least_s, plan.predicted_s);
                fitting.push_back(std::move(plan));
            }
        }
    }
    // Of those that are predicted to be about as fast as the fastest, the one with the smallest workspace.
    constexpr double kAboutAsFast = 1.01;
    std::erase_if(fitting, [&](const BitDevicePlan& plan) { return plan.predicted_s > kAboutAsFast * least_s; });
    const auto best = std::min_element(fitting.begin(), fitting.end(), [](const auto& x, const auto& y) {
        return x.workspace_bytes() < y.workspace_bytes();
    });
    if (best == fitting.end()) {
        fail(ErrorCode::resource,
             "a product of {} x {} x {} bits with the levels asked for needs at least {} bytes of workspace on the "
             "device, but workspace_limit_bytes is {}; leave the levels to auto or allow more",
             size.m, size.k, size.n, least_bytes, options.workspace_limit_bytes);
    }
    return *best;
}

std::int64_t BitDevicePlan::panel_end(std::int64_t first_k) const {
    const std::int64_t step = std::max<std::int64_t>(panel_k, 1);
    const std::int64_t end = first_k < first_panel_k ? first_panel_k : (first_k / step + 1) * step;
    return std::min(end, problem.size.k);
}

std::string BitDevicePlan::to_string() const {
    const double side =
        std::cbrt(static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n));
    return fmt::format(
        "bits {} {} {} {} device cuda algorithm {} d_h 0 d_s {} d_p {} d_i {:.0f} leaf {} {}x{}x{} workspace {}",
        name_of(problem.operation), problem.size.m, problem.size.k, problem.size.n,
        program == nullptr ? "classical" : program->name, serial_levels, parallel_levels,
        std::ceil(std::log2(std::max(side, 1.0))), leaf, shape.m, shape.k, shape.n, workspace_bytes());
}

BitDevicePlan parse_bit_device_plan(const std::string& text, const BitDeviceFacts& facts) {
    std::istringstream words = stream_of(text);
    std::string bits, operation, device_word, device, algorithm_word, h_word, s_word, p_word, i_word, leaf_word, shape,
        workspace_word;
    BitDeviceProblem problem;
    BitDeviceOptions options;
    int host_levels = 0, parallel_levels = 0, inner_levels = 0;
    words >> bits >> operation >> problem.size.m >> problem.size.k >> problem.size.n >> device_word >> device >>
        algorithm_word >> options.algorithm >> h_word >> host_levels >> s_word >> options.serial_levels >> p_word >>
        parallel_levels >> i_word >> inner_levels >> leaf_word >> options.leaf >> shape >> workspace_word >>
        options.workspace_limit_bytes;
    const bool known = operation == name_of(BitOperation::parity) || operation == name_of(BitOperation::any) ||
                       operation == name_of(BitOperation::count);
    if (!words || bits != "bits" || !known || device_word != "device" || device != "cuda" ||
        algorithm_word != "algorithm" || h_word != "d_h" || host_levels != 0 || s_word != "d_s" || p_word != "d_p" ||
        i_word != "d_i" || leaf_word != "leaf" || workspace_word != "workspace" || options.workspace_limit_bytes < 0 ||
        options.serial_levels < 0 || options.serial_levels > kMostSerialBitLevels || parallel_levels < 0 ||
        parallel_levels > kMostParallelBitLevels) {
        fail(ErrorCode::input,
             "'{}' is no plan for bit matrices on a device; one reads 'bits gf2 M K N device cuda algorithm NAME d_h 0 "
             "d_s S d_p P d_i I leaf NAME MxKxN workspace BYTES'",
             text.substr(0, 100));
    }
    problem.operation = operation == name_of(BitOperation::parity) ? BitOperation::parity
                        : operation == name_of(BitOperation::any)  ? BitOperation::any
                                                                   : BitOperation::count;
    options.levels = options.serial_levels + parallel_levels;
    try {
        return plan_bit_device_product(problem, options, facts);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) {
            throw;
        }
        // A word of the text, not one of the caller.
        fail(ErrorCode::input, "'{}' cannot be carried out: {}", text.substr(0, 100), error.what());
    }
}

}  // namespace heptad
