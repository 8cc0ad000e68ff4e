// Scratch memory of products, kept between calls: fresh pages cost more to touch than a product's sums cost to make.
#pragma once

#include <cstdint>

namespace heptad {

/// Borrowed scratch memory, aligned to a page, given back to the store at the end of the scope.
class Workspace {
public:
    /// Throws Error(resource) with the bytes asked for when memory runs out. Zero bytes: a null pointer.
    explicit Workspace(std::int64_t bytes);
    ~Workspace();
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    void* data() const { return data_; }

private:
    void* data_ = nullptr;
    std::int64_t capacity_bytes_ = 0;
};

/// Frees what is kept and not borrowed now.
void release_kept_workspace();

}  // namespace heptad
