// Whether a plan that was read can be carried out on the files at hand: every number that decides what is read, written
// or taken of the memory.

#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "plan/search/file_cuts.hpp"

namespace heptad {
namespace {

constexpr double kMostSteps = 1 << 26;  // more do not fit in memory as a list
constexpr std::int64_t kMostBuffers = 2;

[[noreturn]] void refuse(const std::string& why) {
    fail(ErrorCode::input, "the plan's cut of files cannot be carried out: {}", why);
}

/// A piece of `size` that is at least as large as any that is planned, and ends between units.
bool is_part(std::int64_t part, std::int64_t size, std::int64_t unit) {
    return part <= size && part >= least_cut(size, unit) && (part == size || part % unit == 0);
}

}  // namespace

void check_disk_plan(const FileProblem& problem, const ProductPlan& plan) {
    fail_if(!plan.disk, ErrorCode::input, "the plan is not for a product from file to file: disk={{...}} is missing");
    fail_if(plan.m != problem.m || plan.k != problem.k || plan.n != problem.n || plan.type != problem.type,
            ErrorCode::input,
            "the plan is for a product of {} x {} x {} in {}, and the files hold one of {} x {} x {} in {}", plan.m,
            plan.k, plan.n, type_name(plan.type), problem.m, problem.k, problem.n, type_name(problem.type));
    fail_if(problem.adds && !plan.accumulate, ErrorCode::input,
            "the plan is for a product that is not added to a matrix; plan it with --beta");
    if (plan.disk->algorithm.empty() != (plan.disk->levels == 0)) {
        refuse("outer levels have an algorithm, and an algorithm has levels");
    }
}

void check_disk_cut(const FileProblem& problem, const DiskCut& cut) {
    constexpr std::int64_t kWord_bits = 64;
    const std::int64_t rows = cut.mirrored ? problem.n : problem.m, cols = cut.mirrored ? problem.m : problem.n;
    const std::int64_t unit = problem.a.packed ? kWord_bits : 1, row_unit = problem.a.by_columns ? unit : 1;
    if (!is_part(cut.tile_m, rows, row_unit) || !is_part(cut.tile_n, cols, unit)) {
        refuse(fmt::format("tiles of {} x {} of a result of {} x {}", cut.tile_m, cut.tile_n, rows, cols));
    }
    const bool cuts_k = cut.depth < problem.k;
    if (!is_part(cut.depth, problem.k, unit) || cut.first_depth < 1 || cut.first_depth > cut.depth ||
        (cuts_k && cut.first_depth % unit != 0) || (!cuts_k && cut.first_depth != problem.k) ||
        (cuts_k && (cut.kept != Kept::c || !may_cut_k(problem.type)))) {
        refuse(fmt::format("panels of {}, the first of {}, of k = {}", cut.depth, cut.first_depth, problem.k));
    }
    if (cut.strip_m < 1 || cut.strip_m > cut.tile_m || (cut.strip_m < cut.tile_m && cut.strip_m % row_unit != 0)) {
        refuse(fmt::format("strips of {} of tiles of {} rows", cut.strip_m, cut.tile_m));
    }
    if (cut.mirrored ? problem.a.packed || cut.kept == Kept::a : cut.kept == Kept::b) {
        refuse(fmt::format("it keeps {} and is {}mirrored", kept_name(cut.kept), cut.mirrored ? "" : "not "));
    }
    if (cut.panel_buffers < 1 || cut.panel_buffers > kMostBuffers) {
        refuse(fmt::format("{} buffers of panels", cut.panel_buffers));
    }
    const auto pieces = [](std::int64_t size, std::int64_t piece) {
        return static_cast<double>(ceil_div(size, piece));
    };
    if (pieces(rows, cut.strip_m) * pieces(cols, cut.tile_n) * (1 + pieces(problem.k, cut.depth)) > kMostSteps) {
        refuse("it has more steps than can be listed");
    }
}

}  // namespace heptad
