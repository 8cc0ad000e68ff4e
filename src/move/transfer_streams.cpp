#include "move/transfer_streams.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "kernels/cuda/device/cuda_backend.hpp"

namespace heptad {
namespace {

constexpr std::size_t kMostKept = 4;  // as many as products that usually run side by side

}  // namespace

struct TransferStreams::Store {
    Store() { kept.reserve(kMostKept); }
    std::mutex mutex;
    std::vector<std::unique_ptr<Set>> kept;
};

TransferStreams::Store& TransferStreams::store() {
    static auto* const the_store = new Store;  // never destroyed: the driver may be gone by then
    return *the_store;
}

TransferStreams::TransferStreams(int device) {
    {
        Store& s = store();
        const std::lock_guard lock(s.mutex);
        const auto found = std::find_if(s.kept.begin(), s.kept.end(),
                                        [&](const auto& set) { return set->compute.device() == device; });
        if (found != s.kept.end()) {
            set_ = std::move(*found);
            s.kept.erase(found);
        }
    }
    if (!set_) {
        set_ = std::make_unique<Set>(device);
    }
    cuda::backend_for(device, set_->compute.handle());
    cuda::backend_for(device, set_->there.handle());
}

TransferStreams::~TransferStreams() {
    Store& s = store();
    const std::lock_guard lock(s.mutex);
    if (s.kept.size() < kMostKept) {
        s.kept.push_back(std::move(set_));
    }
}

}  // namespace heptad
