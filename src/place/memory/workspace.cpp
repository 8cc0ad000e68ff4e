#include "place/memory/workspace.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/error.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kHugePage = 2 << 20;
/// Blocks kept: as many as products that usually run side by side; the rest goes back to the system.
constexpr std::size_t kMostKept = 2;

struct Kept {
    void* data;
    std::int64_t bytes;
};

struct Store {
    std::mutex mutex;
    std::vector<Kept> kept;
};

Store& store() {
    static auto* const the_store = new Store;  // never destroyed: products may still run in other threads at exit
    return *the_store;
}

}  // namespace

Workspace::Workspace(std::int64_t bytes) {
    if (bytes == 0) {
        return;
    }
    {
        Store& s = store();
        const std::lock_guard lock(s.mutex);
        auto fitting = s.kept.end();
        for (auto it = s.kept.begin(); it != s.kept.end(); ++it) {
            if (it->bytes >= bytes && (fitting == s.kept.end() || it->bytes < fitting->bytes)) {
                fitting = it;
            }
        }
        // A much larger block stays for the product it was made for.
        if (fitting != s.kept.end() && fitting->bytes / 8 <= std::max(bytes, kHugePage)) {
            data_ = fitting->data;
            capacity_bytes_ = fitting->bytes;
            s.kept.erase(fitting);
            return;
        }
    }
    capacity_bytes_ = round_up(bytes, kHugePage);
    void* memory = mmap(nullptr, static_cast<std::size_t>(capacity_bytes_), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fail(ErrorCode::resource,
             "{} bytes of workspace are not to be had; set a workspace limit, or ask for mode serial or fewer levels",
             bytes);
    }
    madvise(memory, static_cast<std::size_t>(capacity_bytes_),
            MADV_HUGEPAGE);  // a hint: nothing is lost if it is refused
    data_ = memory;
}

Workspace::~Workspace() {
    if (data_ == nullptr) {
        return;
    }
    Store& s = store();
    Kept dropped{data_, capacity_bytes_};
    {
        const std::lock_guard lock(s.mutex);
        s.kept.push_back(dropped);
        if (s.kept.size() <= kMostKept) {
            return;
        }
        const auto smallest = std::min_element(s.kept.begin(), s.kept.end(),
                                               [](const Kept& x, const Kept& y) { return x.bytes < y.bytes; });
        dropped = *smallest;
        s.kept.erase(smallest);
    }
    munmap(dropped.data, static_cast<std::size_t>(dropped.bytes));
}

void release_kept_workspace() {
    std::vector<Kept> freed;
    {
        Store& s = store();
        const std::lock_guard lock(s.mutex);
        freed.swap(s.kept);
    }
    for (const Kept& block : freed) {
        munmap(block.data, static_cast<std::size_t>(block.bytes));
    }
}

}  // namespace heptad
