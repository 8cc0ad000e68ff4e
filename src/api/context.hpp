// What stands behind heptad::Context.
#pragma once

#include <utility>

#include "plan/model/plan.hpp"
#include "product/memory/product.hpp"

namespace heptad {

struct Context::Impl {
    int threads = 0;
    std::string device = "auto";
    void* workspace = nullptr;
    std::int64_t workspace_bytes = -1;
    void* stream = nullptr;
    ProgressCallback progress;
    std::optional<CancelToken> cancel;
};

/// The options, with the device of the context where they leave it open. Bit options are alike.
template <class OptionsLike>
OptionsLike with_device(OptionsLike options, const Context& context) {
    if (options.device == "auto" && context.impl() != nullptr) {
        options.device = context.impl()->device;
    }
    return options;
}
/// Is there anything to put in? Asked before options are copied.
inline bool names_device(const Context& context) {
    return context.impl() != nullptr && context.impl()->device != "auto";
}

/// The inner view of a context; refers to it, so it must outlive the result.
ProductContext product_context(const Context& context);

struct Plan::Impl {
    ProductPlan plan;
    int device = 0;  // of several NVIDIA devices the one it was made for; the print does not tell
};

inline Plan make_plan_handle(ProductPlan plan, int device = 0) {
    return Plan(std::make_unique<Plan::Impl>(Plan::Impl{std::move(plan), device}));
}

}  // namespace heptad
