#include "move/staging.hpp"

#include <algorithm>
#include <cstring>

#include "base/size.hpp"
#include "base/thread_pool.hpp"
#include "kernels/bits/word_buffer.hpp"
#include "move/locked_pages.hpp"
#include "move/streaming_copy.hpp"

namespace heptad {
namespace {

constexpr std::int64_t kSlotBytes = kStagingBytes / kStagingSlots;
/// Several for each core from every buffer: a core that comes late holds up all others.
constexpr std::int64_t kTaskBytes = std::int64_t{1} << 18;
/// In shorter rows most of what is stored past the caches would be parts of lines.
constexpr std::int64_t kLeastStreamedBytes = 1024;

void copy_row(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

/// Rows of the host and rows that lie side by side in a buffer, copied by all cores.
template <class CopyRow>
void copy_rows_by_all_cores(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
                            std::int64_t row_bytes, std::int64_t rows, CopyRow copy) {
    const std::int64_t rows_per_task = std::max<std::int64_t>(1, kTaskBytes / row_bytes);
    shared_pool(threads_or_default()).run(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
        const std::int64_t last = std::min(rows, (task + 1) * rows_per_task);
        for (std::int64_t i = task * rows_per_task; i < last; ++i) {
            copy(to + i * to_pitch, from + i * from_pitch, row_bytes);
        }
    });
}

/// Can the link move these as they are, or is it over by the driver's own way before a buffer would be there?
bool goes_directly(const HostRows& rows) {
    return rows.row_bytes * rows.count < kLeastStagedBytes || rows.row_bytes > kSlotBytes || cuda::is_locked(rows.data);
}

}  // namespace

HostBuffer locked_buffer(std::int64_t bytes) {
    void* const memory = bits::allocate_words(bytes);
    HostBuffer buffer(memory, [](void* unlocked) { bits::release_words(unlocked); });
    // Smaller ones share pages with others, and are moved in no time.
    if (bytes < kLeastStagedBytes) {
        return buffer;
    }
    touch_pages(static_cast<std::byte*>(memory), bytes);
    if (cuda::lock_pages(memory, bytes)) {
        buffer.get_deleter() = [](void* locked) {
            cuda::unlock_pages(locked);
            bits::release_words(locked);
        };
    }
    return buffer;
}

Staging::~Staging() {
    for (const Slot& slot : slots_) {
        try {
            if (slot.moved) {
                slot.moved->wait();
            }
        } catch (...) {  // NOLINT(bugprone-empty-catch): a device that is lost moves nothing any more
        }
    }
}

Staging::Slot& Staging::next_slot() {
    Slot& slot = slots_[next_++ % slots_.size()];
    if (!slot.moved) {
        slot.memory = locked_buffer(kSlotBytes);
        slot.moved = std::make_unique<cuda::Event>(device_);
    }
    slot.moved->wait();
    return slot;
}

void Staging::upload(const HostRows& from, const DeviceRows& to, const cuda::Stream& stream) {
    if (goes_directly(from)) {
        cuda::copy_rows(from.data, from.pitch_bytes, to.data, to.pitch_bytes, from.row_bytes, from.count,
                        stream.handle());
        return;
    }
    const std::int64_t together = kSlotBytes / from.row_bytes;
    for (std::int64_t first = 0; first < from.count; first += together) {
        const std::int64_t rows = std::min(together, from.count - first);
        Slot& slot = next_slot();
        auto* const buffer = static_cast<std::byte*>(slot.memory.get());
        copy_rows_by_all_cores(buffer, from.row_bytes, from.data + first * from.pitch_bytes, from.pitch_bytes,
                               from.row_bytes, rows, copy_row);
        cuda::copy_rows(buffer, from.row_bytes, to.data + first * to.pitch_bytes, to.pitch_bytes, from.row_bytes, rows,
                        stream.handle());
        slot.moved->record(stream);
    }
}

void Staging::download(const DeviceRows& from, const HostRows& to, const cuda::Stream& stream) {
    if (goes_directly(to)) {
        cuda::copy_rows(from.data, from.pitch_bytes, to.data, to.pitch_bytes, to.row_bytes, to.count, stream.handle());
        return;
    }
    const std::int64_t together = kSlotBytes / to.row_bytes;
    const std::int64_t chunks = ceil_div(to.count, together);
    std::array<Slot*, 2> filled{};  // of the chunk that arrives, and of the one before, which is copied meanwhile
    for (std::int64_t chunk = 0; chunk <= chunks; ++chunk) {
        if (chunk < chunks) {
            const std::int64_t first = chunk * together, rows = std::min(together, to.count - first);
            Slot& slot = next_slot();
            cuda::copy_rows(from.data + first * from.pitch_bytes, from.pitch_bytes, slot.memory.get(), to.row_bytes,
                            to.row_bytes, rows, stream.handle());
            slot.moved->record(stream);
            filled[static_cast<std::size_t>(chunk % 2)] = &slot;
        }
        if (chunk > 0) {
            const std::int64_t first = (chunk - 1) * together, rows = std::min(together, to.count - first);
            const Slot& slot = *filled[static_cast<std::size_t>((chunk - 1) % 2)];
            slot.moved->wait();
            copy_rows_by_all_cores(to.data + first * to.pitch_bytes, to.pitch_bytes,
                                   static_cast<const std::byte*>(slot.memory.get()), to.row_bytes, to.row_bytes, rows,
                                   to.row_bytes < kLeastStreamedBytes ? copy_row : copy_past_caches);
        }
    }
}

}  // namespace heptad
