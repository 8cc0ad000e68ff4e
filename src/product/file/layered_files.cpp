#include "product/file/layered_files.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/fail_if.hpp"
#include "base/types.hpp"
#include "check/streamed_check.hpp"
#include "move/last_pass.hpp"
#include "plan/search/file_schedule.hpp"
#include "plan/search/planner.hpp"

namespace heptad {
namespace {

/// --verify. Steps multiply sums of blocks, so that no strip of A or B passes by itself: A and B are read once more,
/// for A (B X), and C X is compared while the last pass makes C. False: a stop was wanted.
bool read_for_check(const LayeredRun& run, const FileSchedule& schedule, StreamedCheck& check, const OpenInputs& inputs,
                    const std::function<bool()>& stop_wanted) {
    const std::unique_ptr<IoQueue> queue = make_io_queue(run.request.io);
    const FileBuffers sizes = check_buffers(run.layers);
    const PageBuffer strip(sizes.strip_bytes), panel(sizes.panel_bytes);
    ConstView left, right;
    for (const FileStep& step : schedule.steps({0})) {
        if (stop_wanted()) {
            return false;
        }
        const auto from = Clock::now();
        const FileWindow of_a = schedule.left_window(0, step.panel, step.strip),
                         of_b = schedule.right_window(0, step.panel);
        std::int64_t bytes = moved_bytes(schedule.left(), of_a);
        if (step.loads_right) {
            right = inputs.b.read(*queue, schedule.right(), of_b, panel.data());
            bytes += moved_bytes(schedule.right(), of_b);
        }
        left = inputs.a.read(*queue, schedule.left(), of_a, strip.data());
        run.trace.add(Stage::disk_read, fmt::format("check, panel {} strip {}", step.panel, step.strip), from,
                      Clock::now(), static_cast<double>(bytes));
        check.before_product(step, left, right, {});
    }
    return true;
}

}  // namespace

void require_safe_sums(const LayeredRun& run, const OperandSums& sums) {
    const Type type = run.layers.whole.type;
    if (unit_roundoff(type) > 0 &&
        !layer_sums_are_safe(run.growth, type, run.layers.whole.k, run.request.alpha.real(), 0, sums.seen())) {
        throw SumsNotSafe{};
    }
}

LayerScaling::LayerScaling(const LayeredRun& run, const OpenInputs& inputs, OperandSums& sums) : run_(run) {
    const OuterLaunch& layers = run.layers;
    if (unit_roundoff(layers.whole.type) == 0) {
        return;
    }
    const std::unique_ptr<IoQueue> queue = make_io_queue(run.request.io);
    const Clock::time_point from = Clock::now();
    files_.emplace(layers, inputs, *queue);
    run.trace.add(Stage::disk_read, "sample", from, Clock::now(), static_cast<double>(layers.sample_bytes));
    const std::vector<LevelPlan> levels = levels_of(layers.outer);
    const Evenness& even = files_->even();
    least_evenness_ = least_evenness_of(levels);
    uneven_ = !(files_->value() >= least_evenness_);
    if (run.request.accuracy == Accuracy::balanced &&
        (uneven_ || only_levels_round(even, layers.whole.k, levels) || !files_->levels_keep_the_digit())) {
        throw SumsNotSafe{};
    }
    if (uneven_ || !even.scales()) {  // what no powers make even may be worse with them
        return;
    }
    const auto turned = [&](const LineExponents& lines) {
        return layers.cut.mirrored ? LineExponents{lines.cols, lines.rows} : lines;
    };
    sums.a.scale_by(turned(even.of_a()));
    sums.b.scale_by(turned(even.of_b()));
    scales_ = true;
}

void LayerScaling::require_even_operands(OperandSums& sums, bool resumed) const {
    require_safe_sums(run_, sums);
    const bool balanced = run_.request.accuracy == Accuracy::balanced;
    if (!files_ || (!balanced && !scales())) {  // `fast` takes what it was given, but no powers that make it worse
        return;
    }
    if (resumed) {
        const std::unique_ptr<IoQueue> queue = make_io_queue(run_.request.io);
        sums.a.read_all(*queue);
        sums.b.read_all(*queue);
    }
    const auto turned = [&](ScanResult scan) {
        if (run_.layers.cut.mirrored) {
            std::swap(scan.rows, scan.cols);
            std::swap(scan.row_sums, scan.col_sums);
        }
        return scan;
    };
    const auto seen = [&](const BlockSums& operand) {
        return FileEvenness::Seen{turned(operand.plain_scan()), turned(operand.scan())};
    };
    if (!files_->holds(seen(sums.a), seen(sums.b), scales(), balanced ? least_evenness_ : 0)) {
        throw SumsNotSafe{};
    }
}

std::optional<VerifyResult> add_up_products(const LayeredRun& run, const LayerScaling& scaling,
                                            const OpenInputs& inputs, const Outputs& outputs,
                                            const check::JudgedProduct& judged) {
    const FileHooks& hooks = run.hooks;
    LastPassOptions options;
    options.alpha = run.request.alpha.real();
    options.beta = run.request.beta.real();
    options.lines = scaling.of_result();
    options.threads = hooks.threads;
    options.overlap = run.request.overlap;
    options.io = run.request.io;
    options.progress = [&](double fraction) {
        if (hooks.progress) {
            hooks.progress({1 - kLastPassShare + kLastPassShare * fraction, "files"});
        }
    };
    options.stop_wanted = [&] { return hooks.cancel.cancelled(); };
    std::optional<FileSchedule> all_of_c;  // one tile, of which only vectors are kept
    std::optional<StreamedCheck> check;
    if (run.request.verify) {
        all_of_c.emplace(run.layers.whole, run.layers.check_cut);
        check.emplace(*all_of_c, judged, hooks.threads);
        fail_if(!read_for_check(run, *all_of_c, *check, inputs, options.stop_wanted), ErrorCode::cancelled,
                "interrupted");
        options.completed = [&](const FileWindow& rows, const ConstView& c, const ConstView* c0) {
            check->after_band(rows, c, c0);
        };
    }
    const LastPassFiles files{&*outputs.products, &outputs.result, inputs.c0 ? &*inputs.c0 : nullptr};
    fail_if(!run_last_pass(run.layers, files, options, run.trace), ErrorCode::cancelled, "interrupted");
    inputs.require_unchanged();
    return check ? std::optional(check->result()) : std::nullopt;
}

}  // namespace heptad
