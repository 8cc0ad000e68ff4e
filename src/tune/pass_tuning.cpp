#include "base/timing.hpp"
#include "tune/device_tuning.hpp"

#include <algorithm>
#include <cmath>

#include "run/dense/combine_passes.hpp"
#include "run/dense/level_runner.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kPassSide = 8192;
constexpr int kPassRounds = 5;
constexpr double kPassSampleSeconds = 0.002;
/// A shape must be this much faster than the default one to take its place: samples are not better than that.
constexpr double kWorthChanging = 1.01;

struct Trial {
    cuda::PassClass pass = cuda::PassClass::few;
    CombinePass combine;
    double bytes = 0;  // read and written
};

/// Blocks of one size, one after another in memory.
std::vector<View> blocks_at(std::byte* memory, Type type, std::int64_t side, std::size_t count) {
    std::vector<View> blocks;
    const std::int64_t bytes = side * side * static_cast<std::int64_t>(element_bytes(type));
    for (std::size_t i = 0; i < count; ++i) {
        blocks.emplace_back(memory + static_cast<std::int64_t>(i) * bytes, type, side, side, side, 1);
    }
    return blocks;
}

double block_count(const CombinePass& pass) {
    return static_cast<double>(
        std::ranges::count_if(pass.slots, [](const View& slot) { return slot.data != nullptr; }));
}

/// Sums of the blocks of a matrix, or (`of_result`) of products into them.
Trial trial_of(const char* algorithm, int grid, bool of_result, Type type, std::byte* memory) {
    const LevelPrograms programs = level_programs(algorithm, false);
    const auto matrix = kPassSide * kPassSide * static_cast<std::int64_t>(element_bytes(type));
    const std::vector<View> blocks = blocks_of(View(memory, type, kPassSide, kPassSide, kPassSide, 1), grid, grid);
    const OperandLayout layout = operand_layout(*programs.a, true);
    const std::vector<View> others =
        blocks_at(memory + matrix, type, kPassSide / grid,
                  static_cast<std::size_t>(of_result ? programs.c->inputs : layout.stored));
    Trial trial;
    trial.pass =
        of_result ? cuda::pass_class(others.size(), blocks.size()) : cuda::pass_class(blocks.size(), others.size());
    trial.combine = of_result ? result_pass(*programs.c, {others, {}}, 0, {blocks, {}})
                              : operand_pass(*programs.a, layout, {blocks, {}}, {others, {}});
    trial.bytes = block_count(trial.combine) * static_cast<double>(matrix) / grid / grid;
    return trial;
}

struct Measured {
    cuda::PassShape shape;
    std::int64_t calls = 1;
    std::vector<double> seconds;
};

/// All shapes in turn, round after round: what drifts, drifts for all of them.
PassProfile tune(const Trial& trial, Type type, cuda::CudaBackend& backend, const cuda::Stream& stream) {
    cuda::Timer timer(stream.device());
    const auto seconds_of = [&](const cuda::PassShape& shape, std::int64_t calls) {
        cuda::PassShapes shapes;
        shapes.of(type, trial.pass) = shape;
        backend.set_pass_shapes(shapes);
        timer.start(stream.handle());
        for (std::int64_t i = 0; i < calls; ++i) {
            backend.combine(trial.combine);
        }
        timer.stop(stream.handle());
        return timer.seconds() / static_cast<double>(calls);
    };
    std::vector<Measured> all{{cuda::PassShape{}, 1, {}}};
    for (const int threads : cuda::kTriedThreads) {
        for (const int places : cuda::kTriedPlaces) {
            const cuda::PassShape shape{threads, places};
            if (shape != all.front().shape && threads <= cuda::most_threads(trial.pass)) {
                all.push_back({shape, 1, {}});
            }
        }
    }
    for (Measured& one : all) {
        seconds_of(one.shape, 1);  // the first call of a kernel loads it
        one.calls = static_cast<std::int64_t>(
            std::ceil(kPassSampleSeconds / std::max(seconds_of(one.shape, 1), kPassSampleSeconds / 1000)));
    }
    for (int round = 0; round < kPassRounds; ++round) {
        for (Measured& one : all) {
            one.seconds.push_back(seconds_of(one.shape, one.calls));
        }
    }
    backend.set_pass_shapes({});
    const double usual_s = median(all.front().seconds);
    const Measured* best = &all.front();
    double best_s = usual_s / kWorthChanging;
    for (Measured& one : all) {
        if (const double seconds = median(one.seconds); seconds < best_s) {
            best = &one;
            best_s = seconds;
        }
    }
    const double chosen_s = best == &all.front() ? usual_s : best_s;
    return {type,
            cuda::pass_class_name(trial.pass),
            best->shape.threads,
            best->shape.places,
            trial.bytes / chosen_s,
            trial.bytes / usual_s};
}

}  // namespace

std::int64_t pass_tuning_bytes(Type type) {
    constexpr std::int64_t kBlocksIn = 16, kBlocksOut = 49;
    return kPassSide / 4 * kPassSide / 4 * (kBlocksIn + kBlocksOut) * static_cast<std::int64_t>(element_bytes(type));
}

std::vector<PassProfile> tune_passes(Type type, cuda::CudaBackend& backend, const cuda::Stream& stream, void* memory) {
    auto* const start = static_cast<std::byte*>(memory);
    std::vector<PassProfile> profiles;
    for (const Trial& trial :
         {trial_of("winograd", 2, false, type, start), trial_of("winograd*winograd", 4, false, type, start),
          trial_of("winograd*winograd", 4, true, type, start)}) {
        profiles.push_back(tune(trial, type, backend, stream));
    }
    return profiles;
}

}  // namespace heptad
