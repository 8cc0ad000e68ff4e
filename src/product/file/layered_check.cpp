#include "product/file/layered_check.hpp"

#include <fmt/format.h>

#include "plan/search/file_schedule.hpp"

namespace heptad {

LayeredCheck::LayeredCheck(const OuterLaunch& layers, const check::JudgedProduct& product, int threads)
    : layers_(layers), schedule_(layers.whole, layers.check_cut), check_(schedule_, product, threads) {}

bool LayeredCheck::read_operands(const OpenInputs& inputs, IoQueue& queue, StageTrace& trace,
                                 const std::function<bool()>& stop_wanted) {
    const FileBuffers sizes = check_buffers(layers_);
    const PageBuffer strip(sizes.strip_bytes), panel(sizes.panel_bytes);
    ConstView left, right;
    for (const FileStep& step : schedule_.steps({0})) {
        if (stop_wanted()) {
            return false;
        }
        const auto from = Clock::now();
        const FileWindow of_a = schedule_.left_window(0, step.panel, step.strip),
                         of_b = schedule_.right_window(0, step.panel);
        std::int64_t bytes = moved_bytes(schedule_.left(), of_a);
        if (step.loads_right) {
            right = inputs.b.read(queue, schedule_.right(), of_b, panel.data());
            bytes += moved_bytes(schedule_.right(), of_b);
        }
        left = inputs.a.read(queue, schedule_.left(), of_a, strip.data());
        trace.add(Stage::disk_read, fmt::format("check, panel {} strip {}", step.panel, step.strip), from, Clock::now(),
                  static_cast<double>(bytes));
        check_.before_product(step, left, right, {});
    }
    return true;
}

void LayeredCheck::after_rows(const FileWindow& rows, const ConstView& c, const ConstView* c0) {
    check_.after_band(rows, c, c0);
}

}  // namespace heptad
