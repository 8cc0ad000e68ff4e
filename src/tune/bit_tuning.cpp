#include "tune/bit_tuning.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "kernels/cuda/device/device.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"

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
    std::ranges::sort(samples);
    return samples[samples.size() / 2];
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

}  // namespace heptad
