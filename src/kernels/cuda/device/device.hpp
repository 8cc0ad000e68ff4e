// What the rest of the program may ask of NVIDIA devices: which there are, memory on them, and where a pointer points.
// The same header serves builds without CUDA; there everything answers that there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "base/machine_facts.hpp"

namespace heptad::cuda {

using heptad::DeviceInfo;
using Report = DeviceReport;
/// Looked up once, free memory apart. The thread's current device stays the current one.
Report report();
/// The same without free memory: after the first call nothing is asked of any device.
const Report& known_report();
/// Free on a device that is there; 0 where it cannot be asked, as one that another process has for itself.
std::int64_t free_bytes(int device);
/// Gives back what CUDA keeps of this process's workspace for products to come.
void release_kept_memory() noexcept;
/// Throws Error(resource) that says why, unless that device can be used.
void require_device(int device);
/// The number in "cuda" or "cuda:1". Throws Error(usage) for anything else.
int device_index(const std::string& name);
/// Names of the leaves for a type, best first by default knowledge; the same in every build.
std::vector<std::string> device_leaves(Type type);
/// Does the name mean an NVIDIA device?
bool is_device_name(const std::string& name);

/// The calling thread's.
int current_device();

/// Makes a device the current one of this thread, and the former one again at the end of the scope.
class DeviceScope {
public:
    explicit DeviceScope(int device);
    ~DeviceScope();
    DeviceScope(const DeviceScope&) = delete;
    DeviceScope& operator=(const DeviceScope&) = delete;

private:
    int before_ = 0;
    int now_ = 0;
};

/// While a stream is captured into a graph, calls that have nothing to do with it (memory for a library, loading a
/// kernel) are refused by default. Within this scope this thread may make them.
class CaptureScope {
public:
    CaptureScope();
    ~CaptureScope();
    CaptureScope(const CaptureScope&) = delete;
    CaptureScope& operator=(const CaptureScope&) = delete;

private:
    int before_ = 0;
};

/// Is the stream being captured into a graph?
bool is_captured(void* stream);

enum class PointerKind : std::uint8_t { host, device };
struct PointerPlace {
    PointerKind kind = PointerKind::host;
    int device = 0;
};
PointerPlace place_of(const void* pointer);

/// Memory on a device, in the order of a stream. Throws Error(resource) that names the bytes; the device stays usable.
class DeviceMemory {
public:
    DeviceMemory() = default;
    DeviceMemory(int device, std::int64_t bytes, void* stream);
    ~DeviceMemory();
    DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        swap(other);
        return *this;
    }
    void* data() const { return data_; }

private:
    void swap(DeviceMemory& other) noexcept;
    void* data_ = nullptr;
    void* stream_ = nullptr;
    int device_ = 0;
};

/// Locks the pages of host memory for all devices, so that transfers reach the full speed of the link and run beside
/// other work. Memory that was written once, in huge pages, is locked twenty times as fast as the runtime allocates
/// such memory itself. False: the system does not allow it, and transfers are slow but right.
bool lock_pages(void* memory, std::int64_t bytes) noexcept;
void unlock_pages(void* memory) noexcept;
/// Does the address lie in host memory whose pages are locked already?
bool is_locked(const void* memory) noexcept;

/// A stream of our own.
class Stream {
public:
    explicit Stream(int device);
    ~Stream();
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    void* handle() const { return handle_; }
    int device() const { return device_; }
    void synchronize() const;
    /// What is enqueued here from now on waits for what is in the other stream by now.
    void wait_for(const Stream& other) const;

private:
    void* handle_ = nullptr;
    int device_ = 0;
};

/// A place in a stream that the host can wait for.
class Event {
public:
    explicit Event(int device);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    /// From now on it means what is in the stream by now.
    void record(const Stream& stream);
    /// Returns when the device has come there; at once where nothing was recorded.
    void wait() const;
    /// What is enqueued in the stream from now on waits as well.
    void hold_back(const Stream& stream) const;

private:
    void* handle_ = nullptr;
};

/// Rows of `row_bytes` bytes, `from_pitch` and `to_pitch` apart, between host and device or on the device.
void copy_rows(const void* from, std::int64_t from_pitch, void* to, std::int64_t to_pitch, std::int64_t row_bytes,
               std::int64_t rows, void* stream);
/// Sets every byte, in the order of the stream.
void fill_bytes(void* data, unsigned char value, std::int64_t bytes, void* stream);

/// The time between two places of a stream, as the device sees it.
class Timer {
public:
    explicit Timer(int device);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    void start(void* stream);
    void stop(void* stream);
    /// Waits until the device has passed both.
    double seconds() const;
    /// The same from the start of another one to the start of this, on whatever streams.
    double seconds_after(const Timer& first) const;

private:
    void* start_ = nullptr;
    void* stop_ = nullptr;
};

}  // namespace heptad::cuda
