// Handles of the vendor's libraries that nobody uses any more, for the next one who needs one on that device. To
// destroy a handle waits for the whole device, and that breaks whatever capture into a graph anybody has under way; so
// none is destroyed, and there are never more than were in use at one time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/shared_state.hpp"

namespace heptad::cuda {

template <class Handle>
class KeptHandles {
public:
    constexpr KeptHandles() = default;
    /// Null: there is none.
    Handle take(int device) {
        const auto kept = kept_.lock();
        const auto found = std::find_if(kept->begin(), kept->end(), [&](const auto& k) { return k.first == device; });
        if (found == kept->end()) {
            return nullptr;
        }
        const Handle handle = found->second;
        kept->erase(found);
        return handle;
    }
    void keep(int device, Handle handle) noexcept {
        try {
            kept_.lock()->emplace_back(device, handle);
        } catch (...) {  // NOLINT(bugprone-empty-catch): no memory to remember it; it is lost until the process ends
        }
    }

private:
    Guarded<std::vector<std::pair<int, Handle>>> kept_;
};

}  // namespace heptad::cuda
