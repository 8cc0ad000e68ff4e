#include "progress.hpp"

#include <cstdio>

#include "interrupt.hpp"

namespace heptad::cli {

RequestHooks request_hooks(ProgressMeter& meter) {
    return {[&meter](const std::string& stage, double operations, Type type) {
                stage.empty() ? meter.clear() : meter.begin(stage, operations, type);
            },
            [&meter](double fraction, const std::string& detail) { meter.update(fraction, detail); },
            [](const std::string& sentence) { std::fputs((sentence + "\n").c_str(), stderr); }, interrupt_token()};
}

FileHooks file_hooks(ProgressMeter& meter, const std::string& stage, int threads) {
    meter.begin(stage);
    return {threads, [&meter](const Progress& progress) { meter.update(progress.fraction); }, interrupt_token()};
}

Context product_context(ProgressMeter& meter, int threads) {
    Context context;
    context.set_threads(threads);
    context.set_cancel(interrupt_token());
    context.set_progress([&meter](const Progress& progress) { meter.update(progress.fraction, progress.stage); });
    return context;
}

}  // namespace heptad::cli
