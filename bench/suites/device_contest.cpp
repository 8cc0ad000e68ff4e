#include "bench/suites/device_contest.hpp"

#include <chrono>

#include "cli/interrupt.hpp"

namespace heptad::cli {
namespace {

constexpr double kWarmSeconds = 0.05;

}  // namespace

Contestant device_contestant(const std::string& name, cuda::Timer& timer, void* stream, std::function<void()> call) {
    Contestant contestant;
    contestant.name = name;
    contestant.run_timed = [&timer, stream, call = std::move(call)](std::int64_t calls) {
        timer.start(stream);
        for (std::int64_t i = 0; i < calls; ++i) {
            call();
        }
        timer.stop(stream);
        return timer.seconds();
    };
    return contestant;
}

void warm_up_device(const std::vector<Contestant>& contestants) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kWarmSeconds);
    while (std::chrono::steady_clock::now() < end) {
        for (const Contestant& contestant : contestants) {
            contestant.run_timed(1);
        }
        stop_if_interrupted();
    }
}

}  // namespace heptad::cli
