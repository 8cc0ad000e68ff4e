#include "product/request/request.hpp"

#include "base/error.hpp"

namespace heptad {

FileHooks stage_hooks(const RequestHooks& hooks, const std::string& stage, int threads) {
    hooks.begin(stage);
    return {threads, [&hooks](const Progress& progress) { hooks.update(progress.fraction, ""); }, hooks.cancel};
}

ProductContext stage_context(const RequestHooks& hooks, int threads) {
    ProductContext context;
    context.threads = threads;
    context.hooks.cancel = &hooks.cancel;
    context.hooks.progress = [&hooks](const Progress& progress) { hooks.update(progress.fraction, progress.stage); };
    return context;
}

void stop_if_cancelled(const RequestHooks& hooks) {
    if (hooks.cancel.cancelled()) {
        fail(ErrorCode::cancelled, "interrupted; no output was written");
    }
}

double operation_count(const ProblemSize& size) {
    return 2.0 * static_cast<double>(size.m) * static_cast<double>(size.k) * static_cast<double>(size.n);
}

}  // namespace heptad
