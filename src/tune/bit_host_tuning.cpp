#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <random>

#include "base/error.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"
#include "tune/bit_tuning.hpp"

namespace heptad {
namespace {

constexpr int kMostHostLevels = 2, kMostPipelines = 3;
/// More pipelines gain less than half.
constexpr double kBitFarBehind = 2;

/// What the bits are does not matter to the time, but pages must be there, and power depends on them.
void fill(const BitView& matrix, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> line(static_cast<std::size_t>(matrix.stride));
    for (std::uint64_t& word : line) {
        word = random();
    }
    const auto words = static_cast<std::ptrdiff_t>(matrix.cols / 64);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        std::rotate(line.begin(), line.begin() + 1, line.end());
        std::copy(line.begin(), line.begin() + words, matrix.words + row * matrix.stride);
    }
}

/// Nothing if it does not fit.
std::optional<HostDecision> plan_of(const BitHostTrial& trial, const bits::BitOptions& options) {
    try {
        return make_bit_plan_over_devices(Type::gf2, {trial.n, trial.n, trial.n}, false, options, {});
    } catch (const Error& problem) {
        if (problem.code() != ErrorCode::resource) {
            throw;
        }
        return std::nullopt;
    }
}

}  // namespace

BitHostTrial host_trial_of(int device) {
    return {fmt::format("cuda:{}", device), 65536, std::int64_t{1} << 30};
}

std::vector<BitHostSample> measure_bit_hosts(const BitHostTrial& trial,
                                             const std::function<void(const std::string&)>& note) {
    const DeviceSet devices = open_devices(parse_device_list(trial.devices));
    BitMatrix a(trial.n, trial.n), b(trial.n, trial.n), c(trial.n, trial.n);
    fill(a.view(), 1);
    fill(b.view(), 2);
    std::vector<BitHostSample> found;
    double least_s = std::numeric_limits<double>::infinity();
    for (int levels = 0; levels <= kMostHostLevels; ++levels) {
        note(fmt::format("bits from the host, d_h = {}", levels));
        for (int pipelines = 1; pipelines <= kMostPipelines; ++pipelines) {
            bits::BitOptions options;
            options.device = trial.devices;
            options.host.device_memory_bytes = trial.device_memory_bytes;
            options.host.levels = levels;
            options.host.pipelines = pipelines;
            const std::optional<HostDecision> made = plan_of(trial, options);
            if (!made) {
                break;  // more pipelines take more memory
            }
            double seconds = std::numeric_limits<double>::infinity();
            constexpr int kRounds = 2;  // the first one takes memory and pages
            for (int round = 0; round < kRounds; ++round) {
                const auto start = std::chrono::steady_clock::now();
                run_host_plan(made->plan, devices, a.view(), b.view(), c.view(), false, {});
                const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
                seconds = std::min(seconds, taken.count());
            }
            found.push_back({trial.n, trial.device_memory_bytes, levels, pipelines,
                             made->forecast.predicted_s - made->forecast.measured_more_s, seconds});
            least_s = std::min(least_s, seconds);
            if (seconds > kBitFarBehind * least_s) {
                break;
            }
        }
    }
    return found;
}

}  // namespace heptad
