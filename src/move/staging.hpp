// Transfers between a device and ordinary memory of the host, at nearly the speed of the link: all cores copy rows into
// or out of small buffers whose pages are locked, while the link moves others.
//
// Locking the caller's pages instead takes longer than this copy, unlocking them as long again, and nothing runs on the
// device meanwhile. Memory that is locked already needs neither.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/device/device.hpp"
#include "move/compute_device.hpp"

namespace heptad {

/// Rows on a device.
struct DeviceRows {
    std::byte* data = nullptr;
    std::int64_t pitch_bytes = 0;
};

/// All of them together stay in the cache of a large processor, so that the link reads from there what the cores have
/// written. Seven cores of a Xeon, rows of 8 and 32 KB: 40 and 44 GB/s through buffers of 16 MB, 32 and 35 of 64 MB.
inline constexpr int kStagingSlots = 3;
/// What the buffers of one take on the host, and the least bytes that go through them.
inline constexpr std::int64_t kStagingBytes = kStagingSlots * (std::int64_t{16} << 20);
inline constexpr std::int64_t kLeastStagedBytes = std::int64_t{4} << 20;

/// Used by one thread at a time.
class Staging {
public:
    /// Takes its buffers when they are first needed.
    explicit Staging(int device) : device_(device) {}
    /// Waits for what is under way.
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// Enqueues the copy of the rows to the device; `from` has been read on return, unless its pages are locked: then
    /// it is read in the order of the stream.
    void upload(const HostRows& from, const DeviceRows& to, const cuda::Stream& stream);
    /// The rows have arrived on return, unless the pages of `to` are locked: then they arrive in the order of the
    /// stream.
    void download(const DeviceRows& from, const HostRows& to, const cuda::Stream& stream);

private:
    struct Slot {
        HostBuffer memory;
        std::unique_ptr<cuda::Event> moved;  // what was last moved from or to it
    };
    Slot& next_slot();

    int device_;
    std::array<Slot, kStagingSlots> slots_;
    std::size_t next_ = 0;
};

/// Memory of the host in huge pages, written once, and locked where the system allows it.
HostBuffer locked_buffer(std::int64_t bytes);

}  // namespace heptad
