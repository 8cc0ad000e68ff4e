// Who may end the product that this thread has under way. Leaves look at it before each tile, or before each product
// where a library's own threads make it, and sums of blocks before each part; a small product looks at nothing.
#pragma once

#include <utility>

#include <heptad/heptad.hpp>

#include "base/shared_state.hpp"

namespace heptad {

/// Until its end, products of this thread heed the token; null: none.
class CancelScope {
public:
    explicit CancelScope(const CancelToken* token) : before_(std::exchange(kept(), token)) {}
    ~CancelScope() { kept() = before_; }
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;

    static const CancelToken* here() { return kept(); }

private:
    struct Here {
        const CancelToken* token = nullptr;
    };
    static const CancelToken*& kept() { return per_thread<CancelScope, Here>().token; }

    const CancelToken* before_;
};

}  // namespace heptad
