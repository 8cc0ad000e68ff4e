#include "plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "algorithm/catalogue.hpp"
#include "base/device_layout.hpp"
#include "base/error.hpp"
#include "base/size.hpp"
#include "plan/error_bound.hpp"
#include "plan/level_layout.hpp"

namespace heptad {
namespace {

bool is_float(Type type) {
    return type != Type::i32 && type != Type::gf2 && type != Type::boolean;
}

bool has_16_bits(Type type) {
    return type == Type::bf16 || type == Type::f16;
}

/// Types for which levels pay on this backend: CPUs convert the 16-bit types, which costs more than levels gain.
bool has_levels(Type type, const std::string& backend) {
    return (backend == "cuda" && (type == Type::tf32 || has_16_bits(type))) || type == Type::f64 || type == Type::f32 ||
           type == Type::i32 || (type == Type::gf2 && backend != "cuda");
}

std::string backend_of(const std::string& device) {
    return device == "auto" ? "cpu" : device.starts_with("cuda") ? "cuda" : device;
}

/// A device judges A and B while the product runs, so C must stay as it is until the end: the outermost level keeps its
/// products in workspace.
void keep_c_until_the_end(ProductPlan& plan) {
    if (plan.backend == "cuda" && plan.accumulate && !plan.change_basis && !plan.extended && !plan.levels.empty()) {
        plan.levels.front().mode = LevelMode::parallel;
        plan.levels.front().schedule.clear();
    }
}

/// Whether the scaled sums of 16-bit floats stayed within range shows only at the end, so C must not be needed then:
/// all levels breadth first, and beta zero or C in workspace.
bool can_scale_sums(const ProductPlan& plan) {
    return plan.backend == "cuda" && has_16_bits(plan.type) && !plan.levels.empty() && !plan.change_basis &&
           (plan.extended || !plan.accumulate) &&
           std::all_of(plan.levels.begin(), plan.levels.end(),
                       [](const LevelPlan& level) { return level.mode == LevelMode::parallel; });
}

/// Fills in the divisible part; drops levels that the sizes do not allow.
void set_core(ProductPlan& plan) {
    std::int64_t unit_m = 1;
    std::int64_t unit_k = 1;
    std::int64_t unit_n = 1;
    std::size_t kept = 0;
    for (; kept < plan.levels.size(); ++kept) {
        const Algorithm& algorithm = find_algorithm(plan.levels[kept].algorithm).algorithm;
        const std::int64_t next_m = checked_mul(unit_m, algorithm.m);
        const std::int64_t next_k = checked_mul(unit_k, algorithm.k);
        const std::int64_t next_n = checked_mul(unit_n, algorithm.n);
        if (next_m > plan.m || next_k > plan.k || next_n > plan.n) {
            break;
        }
        unit_m = next_m;
        unit_k = next_k;
        unit_n = next_n;
    }
    plan.levels.resize(kept);
    if (plan.extended) {
        // Blocks at the bottom have sides in multiples of 16: every type's rows are aligned, and the tensor cores'
        // tiles are full.
        constexpr std::int64_t kSide = 16;
        plan.core_m = round_up(plan.m, checked_mul(unit_m, kSide));
        plan.core_k = round_up(plan.k, checked_mul(unit_k, kSide));
        plan.core_n = round_up(plan.n, checked_mul(unit_n, kSide));
        return;
    }
    plan.core_m = plan.m / unit_m * unit_m;
    plan.core_k = plan.k / unit_k * unit_k;
    plan.core_n = plan.n / unit_n * unit_n;
}

bool shares_one_basis(const std::vector<LevelPlan>& levels) {
    return !levels.empty() && find_algorithm(levels.front().algorithm).algorithm.basis.has_value() &&
           std::all_of(levels.begin(), levels.end(), [&](const LevelPlan& level) {
               return level.algorithm == levels.front().algorithm && level.schedule.empty();
           });
}

/// A schedule that keeps a value in a block of another shape needs square blocks, and one that overwrites its inputs a
/// level that may; anything else falls back to one that fits.
void drop_unfitting_schedules(ProductPlan& plan) {
    BlockSize block{plan.core_m, plan.core_k, plan.core_n};
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        LevelPlan& level = plan.levels[depth];
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        block = {block.m / algorithm.m, block.k / algorithm.k, block.n / algorithm.n};
        if (!level.schedule.empty()) {
            const Schedule& schedule = find_schedule(level.schedule);
            const std::vector<LevelEntry> entries = level_entries(plan)[depth];
            const bool may_overwrite =
                std::any_of(entries.begin(), entries.end(), [](const LevelEntry& entry) { return entry.operands_die; });
            if ((schedule.overwrites_inputs && !may_overwrite) ||
                (schedule.square_blocks_only && (block.m != block.k || block.k != block.n))) {
                level.schedule.clear();
            }
        }
    }
}

bool overwrites_inputs(const LevelPlan& level) {
    return !level.schedule.empty() && find_schedule(level.schedule).overwrites_inputs;
}

/// Leave to overwrite A and B is one thing; the plan says whether it does.
bool makes_use_of_inputs(const ProductPlan& plan) {
    return plan.overwrite_inputs &&
           (plan.change_basis || std::any_of(plan.levels.begin(), plan.levels.end(), overwrites_inputs));
}

/// What follows from the levels asked for.
void settle_levels(ProductPlan& plan) {
    set_core(plan);
    drop_unfitting_schedules(plan);
    plan.change_basis = shares_one_basis(plan.levels);
    keep_c_until_the_end(plan);
    plan.overwrite_inputs = makes_use_of_inputs(plan);
    plan.scaled_sums = plan.scaled_sums && can_scale_sums(plan);
    if (plan.type == Type::f16 && !plan.levels.empty() && !plan.scaled_sums) {
        plan.levels.clear();  // its range does not hold the products of large sums
        settle_levels(plan);
    }
}

std::string fringe_leaf(const ProductPlan& plan) {
    if (plan.leaf.ends_with("-batched")) {
        return "cublas";
    }
    // Limbs of a whole operand for a few rows of the other would cost more workspace than all the rest.
    return plan.leaf == kLimbLeaf && !plan.levels.empty() ? "heptad" : plan.leaf;
}

/// Rows of A, B or C that do not begin on 16-byte boundaries, if they lie as close as they can.
bool rows_are_misaligned(const ProductPlan& plan) {
    constexpr std::int64_t kRowAlignment = 16;
    const auto element = static_cast<std::int64_t>(element_bytes(plan.type));
    return plan.k * element % kRowAlignment != 0 || plan.n * element % kRowAlignment != 0;
}

/// Depth first, each product at the bottom is one by itself.
bool are_leaves_alone(const ProductPlan& plan) {
    return plan.levels.empty() || plan.levels.back().mode == LevelMode::serial;
}

/// On a device a lone product may be a call that does not work for batches.
LeafUse leaf_use(const ProductPlan& plan) {
    return plan.levels.empty() || (plan.backend == "cuda" && are_leaves_alone(plan)) ? LeafUse::whole_product
                                                                                     : LeafUse::below_levels;
}

void fill_in(ProductPlan& plan, const Problem& problem, const Machine& machine) {
    settle_levels(plan);
    const LeafSize leaf = leaf_size(plan);
    plan.leaf = plan.backend == "reference" ? "reference"  // the machine description is the CPU backend's
                : problem.options.leaf != "auto"
                    ? problem.options.leaf
                    : best_leaf(machine, leaf_type(plan), leaf.m, leaf.k, leaf.n, leaf_use(plan));
    if (plan.leaf == "cublas" && !plan.levels.empty() && !plan.extended && rows_are_misaligned(plan)) {
        plan.leaf = "cublas-batched";  // whose blocks are aligned
    }
    plan.fringe_leaf = fringe_leaf(plan);
    if (plan.backend == "cuda" && plan.leaf.starts_with("cublas") &&
        problem.options.workspace_limit_bytes >= kCublasWorkspaceBytes) {
        plan.vendor_workspace_bytes = kCublasWorkspaceBytes;
    }
    plan.workspace_bytes = plan_workspace_bytes(plan);
    if (plan.leaf == kLimbLeaf && problem.options.leaf == "auto" &&
        plan.workspace_bytes > problem.options.workspace_limit_bytes) {  // no room for the limbs
        plan.leaf = plan.fringe_leaf = "heptad";
        plan.workspace_bytes = plan_workspace_bytes(plan);
    }
    plan.predicted_s = predict_seconds(plan, machine);
    plan.error_bound = error_bound(plan);
}

/// f16 always, for its range; bf16 unless everything is for speed: the scans of A and B take 2 % at n = 16384.
bool wants_scaled_sums(const Problem& problem) {
    return problem.type == Type::f16 || (problem.type == Type::bf16 && problem.options.accuracy != Accuracy::fast);
}

ProductPlan empty_plan(const Problem& problem) {
    ProductPlan plan;
    plan.m = problem.m;
    plan.k = problem.k;
    plan.n = problem.n;
    plan.type = problem.type;
    plan.backend = backend_of(problem.options.device);
    plan.threads = problem.threads;
    plan.accumulate = problem.options.accumulate;
    plan.overwrite_inputs = problem.options.overwrite_inputs;
    plan.scaled_sums = wants_scaled_sums(problem);
    return plan;
}

/// Seconds of the parts peeled off: the rest of k for the core, the last rows, the last columns.
double fringe_seconds(const ProductPlan& plan, const Machine& machine) {
    // cuBLAS is that much slower on products a few rows thin (measured on an H200, n = 8191 and 16383).
    const double thin = plan.backend == "cuda" ? 25 : 1;
    double seconds = 0;
    const auto add = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
        if (m > 0 && k > 0 && n > 0) {
            seconds += thin * leaf_seconds(machine, plan.fringe_leaf, plan.type, m, k, n);
        }
    };
    add(plan.core_m, plan.k - plan.core_k, plan.core_n);
    add(plan.m - plan.core_m, plan.k, plan.n);
    add(plan.core_m, plan.k, plan.n - plan.core_n);
    return seconds;
}

/// On a device the rows of A, B and C as the caller has them may be slow to multiply; blocks in workspace are not.
double alignment_factor(const ProductPlan& plan, const Machine& machine) {
    const bool from_workspace = !plan.levels.empty() && level_storage(plan, plan.levels.size() - 1).batched;
    if (plan.backend != "cuda" || from_workspace || plan.extended) {
        return 1;
    }
    return rows_are_misaligned(plan) ? misaligned_factor(machine, plan.leaf, plan.type) : 1;
}

/// Does x have nothing over y, an algorithm for the same sizes and at least the same types?
bool is_dominated(const CatalogueEntry& x, const CatalogueEntry& y) {
    const bool same_use = x.algorithm.m == y.algorithm.m && x.algorithm.k == y.algorithm.k &&
                          x.algorithm.n == y.algorithm.n &&
                          (y.algorithm.ring == Ring::integers || y.algorithm.ring == x.algorithm.ring);
    return same_use && y.facts.rank <= x.facts.rank && y.facts.additions() <= x.facts.additions() &&
           y.facts.rms_growth <= x.facts.rms_growth;
}

/// What "auto" chooses from: every algorithm of the catalogue that saves products, is small enough for its passes to
/// stay fast, works in the standard basis (bases pay only when all levels share them) and is not dominated by another
/// one. Square ones first: ties go to the earlier.
const std::vector<std::string>& considered_algorithms() {
    static const std::vector<std::string> names = [] {
        constexpr int kMostBlocks =
            27;  // m * k * n; more blocks are more streams through memory than caches can follow
        std::vector<const CatalogueEntry*> entries;
        for (const std::string& name : small_algorithm_names(kMostBlocks)) {
            const CatalogueEntry& entry = find_algorithm(name);
            const Algorithm& algorithm = entry.algorithm;
            const int volume = algorithm.m * algorithm.k * algorithm.n;
            if (algorithm.rank() < volume && !algorithm.basis) {
                entries.push_back(&entry);
            }
        }
        std::stable_sort(entries.begin(), entries.end(), [](const CatalogueEntry* x, const CatalogueEntry* y) {
            const auto order = [](const CatalogueEntry& e) {
                return std::tuple(e.algorithm.m * e.algorithm.k * e.algorithm.n, e.facts.additions());
            };
            return order(*x) < order(*y);
        });
        std::vector<const CatalogueEntry*> kept;
        for (const CatalogueEntry* entry : entries) {
            if (std::none_of(kept.begin(), kept.end(),
                             [&](const CatalogueEntry* k) { return is_dominated(*entry, *k); })) {
                kept.push_back(entry);
            }
        }
        std::vector<std::string> result;
        for (const CatalogueEntry* entry : kept) {
            result.push_back(entry->algorithm.name);
        }
        return result;
    }();
    return names;
}

/// On a device two levels in one go pay: their sums stay in registers in between, and 49 products fill the chip.
std::vector<std::string> considered_on(const std::string& backend) {
    // Rectangular ones have no compiled passes there, and leaves that do not fill their tiles: 3x2x3-15 lost where it
    // was predicted to win.
    return backend == "cuda"
               ? std::vector<std::string>{"winograd", "strassen", "winograd*winograd", "strassen*strassen"}
               : considered_algorithms();
}

/// The shipped schedules of an algorithm that overwrite A and B, those that do not add to C first.
std::vector<std::string> overwriting_schedules(const std::string& algorithm, Type type) {
    std::vector<std::string> names;
    for (const std::string& name : schedule_names()) {
        const Schedule& schedule = find_schedule(name);
        if (schedule.overwrites_inputs && schedule.algorithm == algorithm && ring_admits(schedule.ring, type)) {
            names.push_back(name);
        }
    }
    std::stable_partition(names.begin(), names.end(),
                          [](const std::string& name) { return !find_schedule(name).accumulates; });
    return names;
}

/// Whether breadth-first plans for the problem keep their sums in f16 (see can_scale_sums).
bool scales_sums(const Problem& problem) {
    return backend_of(problem.options.device) == "cuda" && wants_scaled_sums(problem) && !problem.options.accumulate;
}

/// Search over algorithms and modes, level by level from the outside. Only the most promising few of each depth are
/// followed, and only while they promise to pay, so that planning takes microseconds where a product takes
/// milliseconds.
class Search {
public:
    Search(const Problem& problem, const Machine& machine, const PlannerLimits& limits)
        : problem_(problem),
          machine_(machine),
          limits_(limits),
          scales_sums_(scales_sums(problem)),
          best_(plan_with_levels(problem, machine, {})) {
        // With scaled sums, levels must gain over aligned operands, which zeros appended to them give more surely.
        classical_s_ = best_.predicted_s / (scales_sums_ ? alignment_factor(best_, machine) : 1);
        if (is_float(problem.type) && problem.options.accuracy == Accuracy::balanced) {
            // Sums in f16 have two bits more than the bf16 of a classical result.
            constexpr double kFinerThanBf16 = 4;
            growth_limit_ = limits.balanced_growth * (scales_sums_ && problem.type == Type::bf16 ? kFinerThanBf16 : 1);
        }
    }

    ProductPlan run() {
        // Breadth first costs less traffic at every level; depth first is for those who cannot have its memory, and
        // overwriting A and B, where that is allowed, for those who cannot have that much either.
        for (const LevelMode mode : {LevelMode::parallel, LevelMode::serial}) {
            if (mode == LevelMode::serial && scales_sums_) {
                break;  // depth first, sums would be rounded to bf16
            }
            if (problem_.options.mode == "auto" || problem_.options.mode == mode_name(mode)) {
                add_candidates(mode);
                follow_the_best();
                if (!refused_) {
                    return best_;
                }
            }
        }
        if (problem_.options.overwrite_inputs && problem_.options.mode != mode_name(LevelMode::parallel)) {
            add_overwriting_candidates();
            follow_the_best();
        }
        return best_;
    }

private:
    struct Candidate {
        const CatalogueEntry* entry;
        LevelPlan level;
        LevelCost stores, adds;  // entered with beta = 0, and with another
    };

    std::vector<std::string> names() const {
        return problem_.options.algorithm == "auto" ? considered_on(backend_of(problem_.options.device))
                                                    : std::vector<std::string>{problem_.options.algorithm};
    }

    void add_candidates(LevelMode mode) {
        for (const std::string& name : names()) {
            const CatalogueEntry& entry = find_algorithm(name);
            if (ring_admits(entry.algorithm.ring, problem_.type)) {
                add_candidate(entry, {name, mode, ""});
            }
        }
    }

    void add_overwriting_candidates() {
        for (const std::string& name : names()) {
            for (const std::string& schedule : overwriting_schedules(name, problem_.type)) {
                add_candidate(find_algorithm(name), {name, LevelMode::serial, schedule});
            }
        }
    }

    void add_candidate(const CatalogueEntry& entry, const LevelPlan& level) {
        const bool core = entry.algorithm.basis.has_value();
        const LevelStorage storage =
            level_storage(backend_of(problem_.options.device), "cublas-batched", true, level.mode);
        candidates_.push_back({&entry, level, level_cost(level, core, {false, true}, storage),
                               level_cost(level, core, {true, true}, storage)});
    }

    /// The outer levels of a plan: `products` of that size are left to do, and the passes so far cost `passes_s`.
    struct Partial {
        std::vector<LevelPlan> levels;
        BlockSize size;
        double products = 1, passes_s = 0, seconds = 0, growth = 1;
        bool accumulate = false;
    };

    void follow_the_best() {
        std::vector<Partial> kept(1);
        kept.front().size = {problem_.m, problem_.k, problem_.n};
        kept.front().seconds = classical_s_;
        kept.front().accumulate = problem_.options.accumulate;
        for (int depth = 0; depth < limits_.most_levels && !kept.empty(); ++depth) {
            std::vector<Partial> next;
            for (const Partial& partial : kept) {
                extend(partial, next);
            }
            std::stable_sort(next.begin(), next.end(),
                             [](const Partial& x, const Partial& y) { return x.seconds < y.seconds; });
            kept.clear();
            for (Partial& partial : next) {
                if (kept.size() == kMostFollowed) {
                    break;
                }
                if (consider(partial)) {
                    kept.push_back(std::move(partial));
                }
            }
        }
    }

    /// Appends what one more level makes of it, as far as that promises to pay.
    void extend(const Partial& partial, std::vector<Partial>& next) const {
        for (const Candidate& candidate : candidates_) {
            const Algorithm& algorithm = candidate.entry->algorithm;
            const BlockSize block{partial.size.m / algorithm.m, partial.size.k / algorithm.k,
                                  partial.size.n / algorithm.n};
            const double growth = partial.growth * std::max(1.0, candidate.entry->facts.rms_growth);
            if (std::min({block.m, block.k, block.n}) < limits_.smallest_leaf || growth > growth_limit_) {
                continue;
            }
            const LevelCost& cost = partial.accumulate ? candidate.adds : candidate.stores;
            const double passes_s = partial.passes_s + partial.products * (traffic_bytes(cost, block, problem_.type) /
                                                                               machine_.combine_bytes_per_s +
                                                                           cost.passes * machine_.call_s);
            const double products = partial.products * algorithm.rank();
            const double seconds = passes_s + products * leaf_estimate(block);
            if (seconds <= partial.seconds * kWorthFollowing) {
                next.push_back({partial.levels, block, products, passes_s, seconds, growth, cost.adds_products});
                next.back().levels.push_back(candidate.level);
            }
        }
    }

    double leaf_estimate(const BlockSize& block) const {
        const Type type = scales_sums_ ? Type::f16 : problem_.type;
        const std::string leaf = problem_.options.leaf == "auto"
                                     ? best_leaf(machine_, type, block.m, block.k, block.n, LeafUse::below_levels)
                                     : problem_.options.leaf;
        return leaf_seconds(machine_, leaf, type, block.m, block.k, block.n, LeafUse::below_levels);
    }

    /// Takes it if it is the best so far. False: it does not fit the workspace, nor will it with more levels.
    bool consider(const Partial& partial) {
        const bool limited = problem_.options.workspace_limit_bytes != std::numeric_limits<std::int64_t>::max();
        // On a device only the innermost level copies its operands, but every level is estimated as if it did.
        const bool estimate_may_be_high = backend_of(problem_.options.device) == "cuda";
        if (!limited && !estimate_may_be_high && partial.seconds >= best_.predicted_s) {
            return true;
        }
        const ProductPlan plan = plan_with_levels(problem_, machine_, partial.levels);
        const bool fits = plan.workspace_bytes <= problem_.options.workspace_limit_bytes;
        const bool pays = plan.predicted_s < best_.predicted_s && plan.predicted_s * least_gain() < classical_s_;
        refused_ = refused_ || !fits;
        if (fits && pays) {
            best_ = plan;
        }
        return fits;
    }

    /// What f16 gains over large products while it is measured by itself, the device's power takes away again (H200:
    /// 1.2 predicted and 0.96 to 0.99 measured at n = 16384, 1.5 and 1.12 to 1.14 at n = 32768).
    double least_gain() const {
        constexpr double kForScaledSums = 1.3;
        return scales_sums_ ? std::max(kForScaledSums, limits_.least_gain) : limits_.least_gain;
    }

    /// A level that seems to lose this much may still pay together with the next one; beyond, it never did.
    static constexpr double kWorthFollowing = 1.05;
    /// Beginnings of plans followed at each depth. Over 240 problems (n = 1000 to 20000, square and thin, with and
    /// without a workspace limit) 1024 came within 2.2 % of following 8192 of them; 16 lost up to 17 %.
    static constexpr std::size_t kMostFollowed = 1024;

    const Problem& problem_;
    const Machine& machine_;
    const PlannerLimits& limits_;
    const bool scales_sums_;
    std::vector<Candidate> candidates_;
    double growth_limit_ = HUGE_VAL;
    double classical_s_ = 0;
    bool refused_ = false;  // something faster did not fit the workspace
    ProductPlan best_;
};

/// As many levels as asked for, in the mode with the least predicted time that fits the workspace.
ProductPlan forced_levels(const Problem& problem, const Machine& machine) {
    const std::string name = problem.options.algorithm == "auto" ? "winograd" : problem.options.algorithm;
    const auto all = [&](int count, int serial, const std::string& schedule) {
        std::vector<LevelPlan> levels;
        for (int i = 0; i < count; ++i) {
            levels.push_back({name, i < serial ? LevelMode::serial : LevelMode::parallel, i < serial ? schedule : ""});
        }
        return plan_with_levels(problem, machine, levels);
    };
    const auto fits = [&](const ProductPlan& plan) {
        return plan.workspace_bytes <= problem.options.workspace_limit_bytes;
    };
    const int fewest_serial = problem.options.mode == "serial" ? problem.options.levels : 0;
    const int most_serial = problem.options.mode == "parallel" ? 0 : problem.options.levels;
    for (int serial = fewest_serial; serial <= most_serial; ++serial) {
        if (ProductPlan plan = all(problem.options.levels, serial, ""); fits(plan)) {
            return plan;
        }
    }
    const std::vector<std::string> overwriting = problem.options.overwrite_inputs && most_serial > 0
                                                     ? overwriting_schedules(name, problem.type)
                                                     : std::vector<std::string>{};
    // Not even depth first fits: A and B are overwritten, or there are fewer levels, down to the classical product that
    // needs nothing.
    for (int count = problem.options.levels; count > 0; --count) {
        if (ProductPlan plan = all(count, most_serial == 0 ? 0 : count, ""); fits(plan)) {
            return plan;
        }
        for (int serial = std::max(1, std::min(fewest_serial, count)); serial <= count; ++serial) {
            for (const std::string& schedule : overwriting) {
                if (ProductPlan plan = all(count, serial, schedule); fits(plan)) {
                    return plan;
                }
            }
        }
    }
    return plan_with_levels(problem, machine, {});
}

void validate(const Problem& problem) {
    const Options& options = problem.options;
    if (problem.m < 0 || problem.k < 0 || problem.n < 0) {
        fail(ErrorCode::usage, "sizes are not negative; {}x{}x{} was asked for", problem.m, problem.k, problem.n);
    }
    for (const auto& [rows, cols] : {std::pair{problem.m, problem.k}, {problem.k, problem.n}, {problem.m, problem.n}}) {
        checked_mul(checked_mul(rows, cols), static_cast<std::int64_t>(element_bytes(problem.type)));
    }
    if (options.mode != "auto" && options.mode != "serial" && options.mode != "parallel") {
        fail(ErrorCode::usage, "'{}' is not the mode of a level; say auto, serial or parallel", options.mode);
    }
    if (options.levels < -1 || options.levels > 20) {
        fail(ErrorCode::usage, "{} levels are not possible; say 0 to 20, or -1 for as many as pay", options.levels);
    }
    if (options.algorithm != "auto") {
        const Algorithm& algorithm = find_algorithm(options.algorithm).algorithm;
        if (!algorithm_admits(algorithm, problem.type) && options.levels != 0) {
            fail(ErrorCode::usage,
                 "algorithm {} is over {} and does not apply to {}; `heptad algorithms` lists the others",
                 options.algorithm, ring_name(algorithm.ring), type_name(problem.type));
        }
    }
}

}  // namespace

void check_plan(const ProductPlan& plan) {
    ProductPlan expected = plan;
    settle_levels(expected);
    for (const LevelPlan& level : plan.levels) {
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        if (!ring_admits(algorithm.ring, plan.type)) {
            fail(ErrorCode::input, "the plan uses {}, which is over {} and does not apply to {}", level.algorithm,
                 ring_name(algorithm.ring), type_name(plan.type));
        }
        if (!level.schedule.empty() && find_schedule(level.schedule).algorithm != level.algorithm) {
            fail(ErrorCode::input, "schedule {} is not one of algorithm {}", level.schedule, level.algorithm);
        }
    }
    if (!has_levels(plan.type, plan.backend) && !plan.levels.empty()) {
        fail(ErrorCode::input, "products of {} have no levels on this backend", type_name(plan.type));
    }
    if (plan.threads < 1 || plan.threads > 4096) {
        fail(ErrorCode::input, "a plan for {} threads cannot be carried out; say 1 to 4096", plan.threads);
    }
    expected.workspace_bytes = plan_workspace_bytes(expected);
    expected.error_bound = error_bound(expected);
    if (!(expected == plan)) {
        fail(ErrorCode::input, "the plan does not fit together: with its levels it would read '{}'",
             to_string(expected));
    }
}

double predict_seconds(const ProductPlan& plan, const Machine& machine) {
    const LeafSize leaf = leaf_size(plan);
    double seconds = static_cast<double>(leaf.count) *
                     leaf_seconds(machine, plan.leaf, leaf_type(plan), leaf.m, leaf.k, leaf.n,
                                  are_leaves_alone(plan) ? LeafUse::whole_product : LeafUse::below_levels) *
                     alignment_factor(plan, machine);
    BlockSize block{plan.core_m, plan.core_k, plan.core_n};
    if (plan.extended) {  // each matrix is read and written once
        seconds +=
            traffic_bytes({2, 2, 2, 0, false}, block, plan.type) / machine.combine_bytes_per_s + 5 * machine.call_s;
    }
    if (plan.levels.empty()) {
        return seconds;
    }
    double count = 1;
    double bytes = 0;
    double passes = 0;
    const std::vector<std::vector<LevelEntry>> entries = level_entries(plan);
    LevelEntry entry = entries.front().back();  // adding to C, if it may be asked for
    const auto element = static_cast<double>(element_bytes(plan.type));
    const auto operands = [&](const BlockSize& b) {
        return (static_cast<double>(b.m) * static_cast<double>(b.k) +
                static_cast<double>(b.k) * static_cast<double>(b.n)) *
               element;
    };
    if (plan.change_basis) {  // read and write every operand and the result once per level
        bytes += 2 * static_cast<double>(plan.levels.size()) *
                 (operands(block) + static_cast<double>(block.m) * static_cast<double>(block.n) * element);
    }
    for (std::size_t depth = 0; depth < plan.levels.size(); ++depth) {
        const LevelPlan& level = plan.levels[depth];
        const Algorithm& algorithm = find_algorithm(level.algorithm).algorithm;
        block = {block.m / algorithm.m, block.k / algorithm.k, block.n / algorithm.n};
        const LevelCost cost = level_cost(level, plan.change_basis, entry, level_storage(plan, depth));
        bytes += count * traffic_bytes(cost, block, plan.type);
        passes += count * cost.passes;
        const bool operands_die = entry.operands_die && level.mode == LevelMode::serial &&
                                  level_schedule(level, plan.change_basis, entry).operands_die;
        entry = {cost.adds_products, operands_die};
        count *= algorithm.rank();
    }
    seconds += bytes / machine.combine_bytes_per_s + passes * machine.call_s;
    seconds += plan.extended ? 0 : fringe_seconds(plan, machine);
    const bool watched_in_passes = plan.backend == "cuda" && plan.levels.front().mode == LevelMode::parallel &&
                                   !plan.change_basis && !plan.scaled_sums;
    if (is_float(plan.type) && !watched_in_passes) {
        seconds += operands({plan.m, plan.k, plan.n}) / machine.scan_bytes_per_s;
    }
    return seconds;
}

ProductPlan plan_with_levels(const Problem& problem, const Machine& machine, const std::vector<LevelPlan>& levels) {
    ProductPlan plan = empty_plan(problem);
    plan.levels = levels;
    fill_in(plan, problem, machine);
    return plan;
}

namespace {

/// tf32 rounds the sums it multiplies, f16 those it keeps, bf16 too where they cannot be scaled: two levels of
/// winograd, the first plan that pays, came out at 8.0 to 10.7 times cuBLAS's error (H200, n = 16384 and 32768), which
/// is more than `balanced` promises. Only `fast` takes them.
bool is_at_the_edge_of_balanced(const Problem& problem) {
    const bool at_the_edge = problem.type == Type::tf32 || problem.type == Type::f16 ||
                             (problem.type == Type::bf16 && !scales_sums(problem));
    return problem.options.accuracy == Accuracy::balanced && at_the_edge;
}

ProductPlan best_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    const Options& options = problem.options;
    const bool levels_allowed = has_levels(problem.type, backend_of(options.device)) &&
                                !(is_float(problem.type) && options.accuracy == Accuracy::strict) &&
                                options.levels != 0 &&
                                (options.workspace_limit_bytes > 0 || options.overwrite_inputs) &&
                                !(options.levels < 0 && is_at_the_edge_of_balanced(problem));
    // Too small to be cut: not worth a look at the catalogue.
    const bool too_small = options.levels < 0 && std::min({problem.m, problem.k, problem.n}) < 2 * limits.smallest_leaf;
    if (!levels_allowed || too_small) {
        return plan_with_levels(problem, machine, {});
    }
    return options.levels > 0 ? forced_levels(problem, machine) : Search(problem, machine, limits).run();
}

/// The plan for the problem with zeros appended, whose levels are those of the larger problem.
ProductPlan extended_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    constexpr std::int64_t kUnit = 64;
    Problem larger = problem;
    larger.m = round_up(problem.m, kUnit);
    larger.k = round_up(problem.k, kUnit);
    larger.n = round_up(problem.n, kUnit);
    larger.options.accumulate = false;  // C is added to when it is copied back
    ProductPlan plan = empty_plan(problem);
    plan.extended = true;
    plan.levels = best_plan(larger, machine, limits).levels;
    fill_in(plan, problem, machine);
    return plan;
}

}  // namespace

ProductPlan make_plan(const Problem& problem, const Machine& machine, const PlannerLimits& limits) {
    validate(problem);
    ProductPlan plan = best_plan(problem, machine, limits);
    const bool has_fringes = plan.core_m != plan.m || plan.core_k != plan.k || plan.core_n != plan.n;
    const bool worth_a_look = plan.backend == "cuda" && problem.options.levels < 0 &&
                              problem.options.workspace_limit_bytes > 0 &&
                              std::min({problem.m, problem.k, problem.n}) >= limits.smallest_leaf &&
                              (has_fringes || rows_are_misaligned(plan));
    if (worth_a_look) {
        ProductPlan extended = extended_plan(problem, machine, limits);
        if (extended.predicted_s * limits.least_gain < plan.predicted_s &&
            extended.workspace_bytes <= problem.options.workspace_limit_bytes) {
            return extended;
        }
    }
    return plan;
}

}  // namespace heptad
