#include "product/file/layered_files.hpp"

#include "base/error.hpp"
#include "base/types.hpp"
#include "move/last_pass.hpp"
#include "plan/predict/error_bound.hpp"
#include "plan/search/planner.hpp"
#include "product/file/layered_check.hpp"
#include "run/dense/spread.hpp"

namespace heptad {

void require_safe_sums(const LayeredRun& run, const OperandSums& sums) {
    const Type type = run.layers.whole.type;
    if (unit_roundoff(type) > 0 &&
        !layer_sums_are_safe(run.growth, type, run.layers.whole.k, run.request.alpha, 0, sums.seen())) {
        throw SumsNotSafe{};
    }
}

void require_even_operands(const LayeredRun& run, OperandSums& sums, bool resumed) {
    require_safe_sums(run, sums);
    if (unit_roundoff(run.layers.whole.type) == 0 || run.request.accuracy != Accuracy::balanced) {
        return;
    }
    if (resumed) {
        const std::unique_ptr<IoQueue> queue = make_io_queue(run.request.io, run.hooks.watch);
        sums.a.read_all(*queue);
        sums.b.read_all(*queue);
    }
    const ScanResult of_a = sums.a.scan(), of_b = sums.b.scan();
    if ((run.layers.cut.mirrored ? spread_of(of_b, of_a) : spread_of(of_a, of_b)) >
        most_spread(expected_growth(run.request.outer), PlannerLimits{}.balanced_growth)) {
        throw SumsNotSafe{};
    }
}

std::optional<VerifyResult> add_up_products(const LayeredRun& run, const OpenInputs& inputs, const Outputs& outputs,
                                            const check::JudgedProduct& judged) {
    const FileHooks& hooks = run.hooks;
    LastPassOptions options;
    options.alpha = run.request.alpha;
    options.beta = run.request.beta;
    options.threads = hooks.threads;
    options.overlap = run.request.overlap;
    options.io = run.request.io;
    options.watch = hooks.watch;
    options.progress = [&](double fraction) {
        if (hooks.progress) {
            hooks.progress({1 - kLastPassShare + kLastPassShare * fraction, "files"});
        }
    };
    options.stop_wanted = [&] { return hooks.cancel.cancelled(); };
    std::optional<LayeredCheck> check;
    if (run.request.verify) {
        check.emplace(run.layers, judged, hooks.threads);
        const std::unique_ptr<IoQueue> queue = make_io_queue(run.request.io, hooks.watch);
        if (!check->read_operands(inputs, *queue, run.trace, options.stop_wanted)) {
            fail(ErrorCode::cancelled, "interrupted");
        }
        options.completed = [&](const FileWindow& rows, const ConstView& c, const ConstView* c0) {
            check->after_rows(rows, c, c0);
        };
    }
    const LastPassFiles files{&*outputs.products, &outputs.result, inputs.c0 ? &*inputs.c0 : nullptr};
    if (!run_last_pass(run.layers, files, options, run.trace)) {
        fail(ErrorCode::cancelled, "interrupted");
    }
    inputs.require_unchanged();
    return check ? std::optional(check->result()) : std::nullopt;
}

}  // namespace heptad
