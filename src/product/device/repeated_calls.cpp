#include "product/device/repeated_calls.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "base/shared_state.hpp"
#include "kernels/cuda/device/cuda_backend.hpp"
#include "kernels/cuda/device/device.hpp"
#include "kernels/cuda/device/loaded_driver.hpp"
#include "product/memory/validate.hpp"
#include "product/plan_cache.hpp"

namespace heptad {
namespace {

struct RepeatedCall {
    std::shared_ptr<const ProductPlan> plan{};
    int device = 0;
    std::string name{};  // "cuda:0"

    bool is_on(const std::string& asked) const {
        return asked == "auto" || asked == name || (device == 0 && asked == "cuda");
    }
};
constinit PlanCache<RepeatedCall, 256> repeated_calls;

/// Whether the device is named or left open.
PlanQuestion question_of_call(const Product& p, const Options& options) {
    return {p.a.rows, p.a.cols, p.b.cols, p.a.type, p.a.type, 1, p.reads_result(), options.workspace_limit_bytes,
            options,  "any"};
}

/// Real floats of moderate size, and nothing that has to be told or looked at on the way.
bool is_plain(const Product& product, const ProductContext& context) {
    return context.workspace_bytes < 0 && !context.hooks.progress && !context.hooks.before_change &&
           product.imaginary.alpha == 0 && product.imaginary.beta == 0 &&
           is_plainly_valid(product.a, product.b, product.c);
}

/// The first is asked for every time. The matrices of a valid product lie in one place, so it tells where all of them
/// do; that nobody has mixed places up is looked at when this thread meets the three for the first time.
bool all_lie_on(int device, const Product& product) {
    struct Three {
        const void *a = nullptr, *b = nullptr, *c = nullptr;
        int device = -1;
        bool operator==(const Three&) const = default;
    };
    const Three three{product.a.data, product.b.data, product.c.data, device};
    constexpr std::uintptr_t kBlock = 256;  // what allocations are multiples of
    const auto number = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) / kBlock; };
    struct Tag {};
    auto& seen = per_thread<Tag, std::array<Three, 16>>();
    Three& slot = seen[(number(three.a) + 3 * number(three.b) + 5 * number(three.c)) % seen.size()];
    const auto lies_there = [device](const void* data) { return cuda::device_holding(data) == device; };
    if (!lies_there(three.a)) {
        return false;
    }
    if (slot != three) {
        if (!lies_there(three.b) || !lies_there(three.c)) {
            return false;
        }
        slot = three;
    }
    return true;
}

}  // namespace

void keep_for_repeats(const Product& product, const std::shared_ptr<const ProductPlan>& plan, const Options& options,
                      int device, const ProductContext& context) {
    const bool is_one_call = plan->levels.empty() && !plan->padded && plan->leaf == "cublas" &&
                             plan->workspace_bytes == plan->vendor_workspace_bytes;
    if (is_one_call && is_plain(product, context)) {
        repeated_calls.keep(question_of_call(product, options), {plan, device, "cuda:" + std::to_string(device)});
    }
}

bool repeat_on_device(const Product& product, const Options& options, const ProductContext& context) {
    const CancelToken* const cancel = context.hooks.cancel;
    if (!is_plain(product, context) || (cancel != nullptr && cancel->cancelled())) {
        return false;
    }
    const RepeatedCall* const call = repeated_calls.recent(question_of_call(product, options));
    if (call == nullptr || !call->is_on(options.device) || !cuda::known_report().available ||
        !all_lie_on(call->device, product)) {
        return false;
    }
    const auto backend = cuda::kept_backend(call->device, context.stream);
    if (backend == nullptr) {
        return false;
    }
    const std::lock_guard lock(backend->mutex());
    const cuda::DeviceScope scope(call->device);
    backend->set_vendor_workspace(nullptr, call->plan->vendor_workspace_bytes);
    backend->multiply({&product, 1}, call->plan->leaf);
    return true;
}

}  // namespace heptad
