#include "base/workspace.hpp"
#include "base/huge_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <new>
#include <vector>

#include "base/fail_if.hpp"
#include "base/free_memory.hpp"
#include "base/shared_state.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

using Clock = std::chrono::steady_clock;

/// Taken unasked: reading what is free costs as much as touching them.
constexpr std::int64_t kUnaskedBytes = 1 << 20;
/// Blocks kept: as many as products that usually run side by side and as a chain of bit matrices has.
constexpr std::size_t kMostKept = 6;
/// Together they are at most this part of what was free when the last one was made.
constexpr std::int64_t kKeptPart = 4;
/// A block of more than this part is the system's to take while it is kept. Smaller ones are not worth the faults that
/// writing to such pages costs where they are not huge.
constexpr std::int64_t kYieldingPart = 16;
/// Kept blocks that no product asked for in this time are given back.
constexpr std::chrono::seconds kLongestIdle{10};

struct Block {
    void* data;
    std::int64_t bytes;
    std::int64_t free_bytes;  // when it was made
    Clock::time_point idle_since{};

    bool yields() const { return bytes > free_bytes / kYieldingPart; }
};

struct Store {
    std::vector<Block> kept;  // the one given back last at the end
    std::vector<Block> lent;
};
constinit Guarded<Store> the_store;

void unmap(const Block& block) {
    unmap_pages(block.data, block.bytes);
}

std::int64_t total_bytes(const std::vector<Block>& blocks) {
    std::int64_t bytes = 0;
    for (const Block& block : blocks) {
        bytes += block.bytes;
    }
    return bytes;
}

void drop_kept(Store& s) {
    std::for_each(s.kept.begin(), s.kept.end(), unmap);
    s.kept.clear();
}

void drop_idle(Store& s, std::chrono::nanoseconds longest = kLongestIdle) {
    const Clock::time_point now = Clock::now();
    while (!s.kept.empty() && now - s.kept.front().idle_since > longest) {
        unmap(s.kept.front());
        s.kept.erase(s.kept.begin());
    }
}

/// Bytes of pages between two addresses that hold nothing yet: touching them takes memory.
std::int64_t untouched_bytes(std::uintptr_t begin, std::uintptr_t end) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    constexpr std::uintptr_t kPagesAtOnce = 16384;
    unsigned char is_there[kPagesAtOnce];
    std::uintptr_t pages = 0;
    for (std::uintptr_t at = begin / page * page; at < end; at += kPagesAtOnce * page) {
        const std::uintptr_t count = std::min(kPagesAtOnce, (end - at + page - 1) / page);
        const bool told = mincore(reinterpret_cast<void*>(at), count * page, is_there) == 0;  // NOLINT
        pages += told ? static_cast<std::uintptr_t>(
                            std::count_if(is_there, is_there + count, [](unsigned char x) { return (x & 1) == 0; }))
                      : count;
    }
    return static_cast<std::int64_t>(pages * page);
}
std::int64_t untouched_bytes(const Block& block) {
    const auto begin = reinterpret_cast<std::uintptr_t>(block.data);
    return untouched_bytes(begin, begin + static_cast<std::uintptr_t>(block.bytes));
}

/// The smallest kept block that is large enough. A much larger one stays for the product it was made for.
std::vector<Block>::iterator fitting(Store& s, std::int64_t bytes) {
    auto found = s.kept.end();
    for (auto it = s.kept.begin(); it != s.kept.end(); ++it) {
        if (it->bytes >= bytes && (found == s.kept.end() || it->bytes < found->bytes)) {
            found = it;
        }
    }
    return found != s.kept.end() && found->bytes / 8 <= std::max(bytes, kHugePage_bytes) ? found : s.kept.end();
}

std::int64_t free_now() noexcept {
    try {
        return std::min(free_memory_bytes(), free_address_bytes() - reserved_address_bytes());
    } catch (const std::bad_alloc&) {
        return 0;
    }
}

/// What may be had: `bytes`, or less. Kept blocks go where that makes room for it.
struct Room {
    std::int64_t bytes;
    std::int64_t free_bytes;  // as far as was asked
};
Room room(Store& s, std::int64_t bytes, const ByteRange& result) {
    const auto kept = fitting(s, bytes);
    const std::int64_t needed = kept == s.kept.end() ? bytes : untouched_bytes(*kept);
    if (needed <= kUnaskedBytes) {
        return {bytes, std::numeric_limits<std::int64_t>::max()};
    }
    std::int64_t promised = untouched_bytes(result.begin, result.end), in_the_way = 0;
    for (const Block& block : s.lent) {
        promised += untouched_bytes(block);
    }
    for (const Block& block : s.kept) {
        in_the_way += block.yields() ? 0 : block.bytes;  // others count as free already
    }
    const std::int64_t free = std::min(free_now(), std::numeric_limits<std::int64_t>::max() / 2);
    if (needed <= workspace_share(free - promised)) {
        return {bytes, free};
    }
    const std::int64_t allowed = workspace_share(free + in_the_way - promised);
    if (bytes <= allowed) {
        drop_kept(s);
        return {bytes, free};
    }
    return {allowed, free};
}

/// Null where memory ran out, kept blocks given back.
void* lend(Store& s, std::int64_t bytes, std::int64_t free_bytes) noexcept {
    try {
        s.lent.reserve(s.lent.size() + 1);
        s.kept.reserve(kMostKept + 1);  // so that giving back cannot fail
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    if (const auto kept = fitting(s, bytes); kept != s.kept.end()) {
        s.lent.push_back(*kept);
        s.kept.erase(kept);
        return s.lent.back().data;
    }
    if (bytes > std::numeric_limits<std::int64_t>::max() - 2 * kHugePage_bytes) {
        return nullptr;
    }
    const std::int64_t capacity = round_up(bytes, kHugePage_bytes);
    void* memory = map_huge_pages(capacity);
    if (memory == nullptr && !s.kept.empty()) {
        drop_kept(s);
        memory = map_huge_pages(capacity);
    }
    if (memory != nullptr) {
        s.lent.push_back({memory, capacity, free_bytes});
    }
    return memory;
}

/// Powers of two, as workspace_share() gives.
std::int64_t next_lower_limit(std::int64_t bytes) {
    const std::int64_t half = bytes / 2;
    return half < kUnaskedBytes ? 0 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(half)));
}

}  // namespace

std::int64_t workspace_share(std::int64_t free_bytes) {
    // Packing memory of the leaves, thread by thread, and what the caller takes meanwhile.
    constexpr std::int64_t kReservedBytes = std::int64_t{64} << 20;
    return free_bytes <= kReservedBytes ? 0 : next_lower_limit(free_bytes - kReservedBytes);
}

Workspace::Workspace(std::int64_t bytes) {
    if (bytes == 0) {
        return;
    }
    const auto store = the_store.lock();
    Store& s = *store;
    drop_idle(s);
    const bool is_known = bytes <= kUnaskedBytes || fitting(s, bytes) != s.kept.end();
    data_ = lend(s, bytes, is_known ? std::numeric_limits<std::int64_t>::max() : free_now());
    fail_if(data_ == nullptr, ErrorCode::resource,
            "{} bytes of workspace cannot be allocated; set a workspace limit, or ask for mode serial or fewer levels",
            bytes);
}

bool Workspace::try_take(std::int64_t bytes, const ByteRange& result, std::int64_t& limit_bytes) {
    if (bytes == 0) {
        return true;
    }
    const auto store = the_store.lock();
    Store& s = *store;
    drop_idle(s);
    const Room found = room(s, bytes, result);
    if (found.bytes < bytes) {
        limit_bytes = found.bytes;
        return false;
    }
    data_ = lend(s, bytes, found.free_bytes);
    if (data_ == nullptr) {
        limit_bytes = next_lower_limit(bytes);
    }
    return data_ != nullptr;
}

std::int64_t room_for_workspace(std::int64_t bytes, const ByteRange& result) {
    const auto store = the_store.lock();
    Store& s = *store;
    return room(s, bytes, result).bytes;
}

LentMemory lent_memory(void* memory, std::int64_t bytes) {
    constexpr std::uintptr_t kLine_bytes = 64;
    const auto skipped = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(memory) % kLine_bytes);
    return bytes > skipped ? LentMemory{static_cast<std::byte*>(memory) + skipped, bytes - skipped} : LentMemory{};
}

void require_workspace_apart(const void* memory, std::int64_t bytes, const ByteRange& a, const ByteRange& b,
                             const ByteRange& c) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t end = begin + static_cast<std::uintptr_t>(std::max<std::int64_t>(bytes, 0));
    for (const auto& [name, matrix] : {std::pair{"A", a}, {"B", b}, {"C", c}}) {
        fail_if(begin < end && matrix.begin < matrix.end && matrix.begin < end && begin < matrix.end, ErrorCode::input,
                "the workspace of {} bytes at {} overlaps {}; give it memory of its own", bytes, memory, name);
    }
}

Workspace::~Workspace() {
    if (data_ == nullptr) {
        return;
    }
    const auto store = the_store.lock();
    Store& s = *store;
    const auto lent = std::ranges::find_if(s.lent, [&](const Block& x) { return x.data == data_; });
    if (lent == s.lent.end()) {  // made by a parent of this process, in the middle of a change
        return;
    }
    Block block = *lent;
    s.lent.erase(lent);
    if (block.bytes > block.free_bytes / kKeptPart) {
        unmap(block);
        return;
    }
    if (block.yields()) {
        madvise(block.data, static_cast<std::size_t>(block.bytes), MADV_FREE);  // a hint as well
    }
    block.idle_since = Clock::now();
    s.kept.push_back(block);
    while (s.kept.size() > kMostKept || total_bytes(s.kept) > block.free_bytes / kKeptPart) {
        unmap(s.kept.front());
        s.kept.erase(s.kept.begin());
    }
    drop_idle(s);
}

void release_idle_workspace(std::chrono::nanoseconds longest_idle) {
    const auto store = the_store.lock();
    Store& s = *store;
    drop_idle(s, longest_idle);
}

void release_kept_workspace() noexcept {
    try {
        const auto store = the_store.lock();
        drop_kept(*store);
    } catch (const std::bad_alloc&) {  // nothing was ever kept
    }
}

std::int64_t kept_workspace_bytes() {
    const auto store = the_store.lock();
    Store& s = *store;
    return total_bytes(s.kept);
}

}  // namespace heptad
