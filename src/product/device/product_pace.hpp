// Progress and cancelling of a product whose leaf products are enqueued on a device one after another.
//
// What is enqueued cannot be taken back: a host that hands everything over at once would learn of a cancelled product
// only at its end. So, where somebody listens, it keeps about half a second ahead of the device, which is enough for
// the transfers that run beside.
#pragma once

#include <deque>
#include <memory>

#include "kernels/cuda/device/device.hpp"
#include "run/dense/runner.hpp"

namespace heptad {

/// Leaf products that the host may be ahead of the device, of `count` that are predicted to take so long in all.
std::int64_t products_ahead(std::int64_t count, double predicted_s);

class ProductPace {
public:
    /// The hooks and the stream outlive this. Without hooks nothing is done at all.
    ProductPace(const RunHooks& hooks, double predicted_s, const cuda::Stream& stream)
        : hooks_(hooks), predicted_s_(predicted_s), stream_(stream) {}

    /// Throws Error(cancelled) if the token is set.
    void stop_if_cancelled() const;
    /// Leaf product `number` (from 1) of `count` was enqueued.
    void enqueued(std::int64_t number, std::int64_t count);
    std::int64_t last_enqueued() const { return done_ + static_cast<std::int64_t>(under_way_.size()); }
    /// Returns when the device has made the first `number` of them, telling of each.
    void wait_for(std::int64_t number);

private:
    const RunHooks& hooks_;
    double predicted_s_;
    const cuda::Stream& stream_;
    std::deque<std::unique_ptr<cuda::Event>> under_way_;
    std::int64_t done_ = 0, count_ = 0;
};

}  // namespace heptad
