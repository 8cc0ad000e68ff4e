#include "move/transfer_streams.hpp"

#include <array>
#include <utility>

#include "base/shared_state.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"

namespace heptad {
namespace {

constexpr std::size_t kMostKept = 4;  // as many as products that usually run side by side

}  // namespace

/// Those that the parent of a fork has kept stay where they are: its driver is of no use here.
struct TransferStreams::Store {
    std::uint32_t process = process_generation();
    std::array<std::unique_ptr<Set>, kMostKept> kept;

    static Guarded<Store>& shared() {
        static constinit Guarded<Store> store;
        return store;
    }
    std::array<std::unique_ptr<Set>, kMostKept>& here() {
        if (process != process_generation()) {
            for (std::unique_ptr<Set>& set : kept) {
                static_cast<void>(set.release());
            }
            process = process_generation();
        }
        return kept;
    }
};

TransferStreams::TransferStreams(int device) {
    {
        const auto store = Store::shared().lock();
        for (std::unique_ptr<Set>& kept : store->here()) {
            if (!set_ && kept && kept->compute.device() == device) {
                set_ = std::move(kept);
            }
        }
    }
    if (!set_) {
        set_ = std::make_unique<Set>(device);
    }
    cuda::backend_for(device, set_->compute.handle());
    cuda::backend_for(device, set_->there.handle());
}

TransferStreams::~TransferStreams() {
    const auto store = Store::shared().lock();
    for (std::unique_ptr<Set>& kept : store->here()) {
        if (!kept) {
            kept = std::move(set_);
            return;
        }
    }
}

void TransferStreams::release() noexcept {
    const auto store = Store::shared().lock();
    for (std::unique_ptr<Set>& kept : store->here()) {
        kept.reset();
    }
}

}  // namespace heptad
