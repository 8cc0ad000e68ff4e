#include "base/error.hpp"
#include "tune/device_tuning.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <random>

#include "base/timing.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/device_list.hpp"
#include "product/device/over_devices.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kSides[] = {16384, 32768, 65536};
/// Shorter leaves never pay.
constexpr std::int64_t kSmallestLeaf = 2048;
constexpr std::int64_t kReserveBytes = std::int64_t{1} << 30;
constexpr int kBitRounds = 3;

double seconds_of(const ProductPlan& plan, const DeviceBits& a, const DeviceBits& b, const DeviceBits& c,
                  const cuda::DeviceMemory& workspace, const cuda::Stream& stream) {
    cuda::Timer timer(stream.device());
    std::vector<double> samples;
    for (int round = 0; round < kBitRounds; ++round) {
        timer.start(stream.handle());
        multiply_bits_on_device(plan, a.view, b.view, c.view, false, stream.device(), stream.handle(),
                                workspace.data());
        timer.stop(stream.handle());
        samples.push_back(timer.seconds());
    }
    return median(samples);
}

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

std::vector<BitSplitSample> measure_bit_splits(int device, const std::function<void(const std::string&)>& note) {
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    BitDeviceFacts facts = bit_device_facts(device);
    facts.measured.clear();
    std::vector<BitSplitSample> found;
    for (const std::int64_t n : kSides) {
        note(fmt::format("bits {}", n));
        stream.synchronize();
        const std::int64_t free = cuda::report().devices.at(static_cast<std::size_t>(device)).free_bytes;
        const std::int64_t limit = free - 3 * DeviceBits::bytes(n, n) - kReserveBytes;
        std::vector<ProductPlan> plans;
        std::int64_t workspace_bytes = 0;
        for (int serial = 0; serial <= kMostSerialBitLevels && limit > 0; ++serial) {
            for (int parallel = 0; parallel <= kMostParallelBitLevels; ++parallel) {
                if (serial + parallel > 0 && n >> (serial + parallel) < kSmallestLeaf) {
                    continue;
                }
                BitDeviceOptions options{.levels = serial + parallel, .serial_levels = serial};
                const ProductPlan plan =
                    plan_bit_device_product({cuda::BitOperation::parity, {n, n, n}, true}, options, facts);
                if (plan.workspace_bytes <= limit) {
                    workspace_bytes = std::max(workspace_bytes, plan.workspace_bytes);
                    plans.push_back(plan);
                }
            }
        }
        if (plans.empty()) {
            break;
        }
        const DeviceBits a(n, n, device, stream.handle()), b(n, n, device, stream.handle()),
            c(n, n, device, stream.handle());
        cuda::fill_random_bits(a.view.words, n * a.view.stride, 1, 0.5, stream.handle());
        cuda::fill_random_bits(b.view.words, n * b.view.stride, 2, 0.5, stream.handle());
        const cuda::DeviceMemory workspace(device, workspace_bytes, stream.handle());
        for (const ProductPlan& plan : plans) {
            found.push_back({n, levels_in_mode(plan, LevelMode::serial), levels_in_mode(plan, LevelMode::parallel),
                             seconds_of(plan, a, b, c, workspace, stream)});
        }
    }
    stream.synchronize();
    return found;
}

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
                const auto start = Clock::now();
                run_host_plan(made->plan, devices, a.view(), b.view(), c.view(), false, {});
                seconds = std::min(seconds, seconds_since(start));
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
