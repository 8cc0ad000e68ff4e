#include "base/idle_threads.hpp"

#include <ctime>

#include <chrono>
#include <cmath>
#include <thread>

namespace heptad {
namespace {

constexpr double kNap_s = 0.005;
/// Of a nap: waking up and looking at the clock costs some microseconds, one spinning thread all of it.
constexpr double kBusyShare = 0.2;

void sleep_here(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

}  // namespace

double process_cpu_s() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

bool wait_until_idle(const IdleRules& rules) {
    const std::function<void(double)> sleep = rules.sleep ? rules.sleep : sleep_here;
    const int most_naps = static_cast<int>(std::ceil(rules.most_s / kNap_s));
    for (int nap = 0; nap < most_naps; ++nap) {
        const double before_s = rules.cpu_clock_s();
        sleep(kNap_s);
        if (rules.cpu_clock_s() - before_s < kBusyShare * kNap_s) {
            return true;
        }
    }
    return false;
}

}  // namespace heptad
