#include "bench/suites/host_layer_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/bit_words.hpp"
#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "base/timing.hpp"
#include "cli/text.hpp"

namespace heptad::cli {
namespace {

/// The first block of a matrix, as far as the matrix goes.
HostRows first_block(const ConstBitView& matrix, const BlockLayout& block) {
    // Devices only read it.
    auto* const data = const_cast<std::uint64_t*>(matrix.words);
    return {reinterpret_cast<std::byte*>(data), std::min(matrix.rows, block.rows),
            8 * bits::words_of(std::min(matrix.cols, block.cols)), 8 * matrix.stride};
}

/// The second of two runs: the first one meets cold pages.
double seconds_of(const std::function<void()>& work) {
    double seconds = 0;
    for (int run = 0; run < 2; ++run) {
        const auto start = Clock::now();
        work();
        seconds = seconds_since(start);
    }
    return seconds;
}

/// Bytes per second that all cores copy from one half of the memory to the other.
double copied_bytes_per_s(void* memory, std::int64_t bytes) {
    constexpr std::int64_t kTaskBytes = std::int64_t{1} << 20;
    const std::int64_t half = bytes / 2;
    auto* const from = static_cast<std::byte*>(memory);
    const double seconds = seconds_of([&] {
        shared_pool(threads_or_default()).run(ceil_div(half, kTaskBytes), [&](std::int64_t task) {
            const std::int64_t first = task * kTaskBytes;
            std::memcpy(from + half + first, from + first,
                        static_cast<std::size_t>(std::min(kTaskBytes, half - first)));
        });
    });
    return static_cast<double>(half) / seconds;
}

}  // namespace

double HostLayerBound::seconds() const {
    return std::max({products_s, link_s, host_memory_s});
}

std::string HostLayerBound::text(double wall_s) const {
    return fmt::format("{:.3f} times the bound of {} (products {}, link {}, host memory {})", wall_s / seconds(),
                       format_seconds(seconds()), format_seconds(products_s), format_seconds(link_s),
                       format_seconds(host_memory_s));
}

BlockProducts::BlockProducts(HostForecast forecast, const SubProduct& product, ComputeDevice& device,
                             const ConstBitView& a, const ConstBitView& b)
    : forecast_(forecast),
      product_(product),
      device_(device),
      left_(device.open_place(product, Operand::left)),
      right_(device.open_place(product, Operand::right)),
      lane_(device.open_lane(product)) {
    lane_->upload_rows(*left_, first_block(a, product.left));
    lane_->upload_rows(*right_, first_block(b, product.right));
}

void BlockProducts::run() {
    const std::int64_t steps = forecast_.steps, groups = ceil_div(forecast_.tasks / steps, forecast_.devices);
    for (std::int64_t task = 0; task < groups * steps; ++task) {
        lane_->solve(*left_, *right_, 1, task % steps > 0 ? 1 : 0);
    }
}

HostLayerBound BlockProducts::bound(double products_s) {
    const HostBuffer left = device_.host_buffer(product_.left.bytes());
    const HostBuffer result = device_.host_buffer(product_.result.bytes());
    const double up_s = seconds_of([&] { lane_->upload(*left_, left.get()); });
    const double down_s = seconds_of([&] { lane_->download(result.get()); });
    const auto share = [&](std::int64_t all, std::int64_t block) {
        return static_cast<double>(all) / static_cast<double>(block) / forecast_.devices;
    };
    HostLayerBound bound;
    bound.products_s = products_s;
    bound.link_s = std::max(share(forecast_.upload_bytes, product_.left.bytes()) * up_s,
                            share(forecast_.download_bytes, product_.result.bytes()) * down_s);
    bound.host_memory_s = static_cast<double>(forecast_.upload_bytes + forecast_.download_bytes) /
                          copied_bytes_per_s(left.get(), product_.left.bytes());
    return bound;
}

}  // namespace heptad::cli
