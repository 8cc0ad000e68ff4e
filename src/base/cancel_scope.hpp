// Who may end the product that this thread has under way: leaves and passes look at it before each of their parts.
#pragma once

#include <utility>

#include <heptad/heptad.hpp>

namespace heptad {

/// Until its end, products of this thread heed the token; null: none.
class CancelScope {
public:
    explicit CancelScope(const CancelToken* token) : before_(std::exchange(here_, token)) {}
    ~CancelScope() { here_ = before_; }
    CancelScope(const CancelScope&) = delete;
    CancelScope& operator=(const CancelScope&) = delete;

    static const CancelToken* here() { return here_; }

private:
    static inline thread_local constinit const CancelToken* here_ = nullptr;
    const CancelToken* before_;
};

}  // namespace heptad
