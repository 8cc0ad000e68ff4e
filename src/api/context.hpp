// What stands behind heptad::Context and heptad::Plan.
#pragma once

#include "place/memory/product.hpp"

namespace heptad {

struct Context::Impl {
    int threads = 0;
    void* workspace = nullptr;
    std::int64_t workspace_bytes = -1;
    void* stream = nullptr;
    ProgressCallback progress;
    std::optional<CancelToken> cancel;
};

struct Plan::Impl {
    ProductPlan plan;
    int device = 0;  // of several NVIDIA devices the one it was made for; the print does not tell
};

/// The inner view of a context; refers to it, so it must outlive the result.
ProductContext product_context(const Context& context);

}  // namespace heptad
