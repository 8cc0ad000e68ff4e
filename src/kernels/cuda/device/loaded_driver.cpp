#include "kernels/cuda/device/loaded_driver.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace heptad::cuda {
namespace {

// The driver's own numbers. cuPointerGetAttributes() takes any pointer; that for one attribute calls those of the host
// an error, which tools that watch a program's calls would show.
constexpr int kSuccess = 0;
constexpr int kMemoryType = 2, kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_...
constexpr unsigned kDeviceMemory = 2;               // CU_MEMORYTYPE_DEVICE
using GetAttributes = int (*)(unsigned count, int* attributes, void** data, std::uintptr_t pointer);
using GetCurrentContext = int (*)(void** context);
using GetDevice = int (*)(int* device);

std::atomic<GetAttributes> get_attributes{nullptr};  // the last one to be found
std::atomic<GetCurrentContext> get_current_context{nullptr};
std::atomic<GetDevice> get_device{nullptr};
std::atomic<std::int64_t> looked_at_tick{-1};

/// Files by which a process reaches a device: of a workstation or server, of Windows's Linux, of a board.
bool has_device_files() noexcept {
    enum State : int { unknown, none, some };
    static constinit std::atomic<int> known{unknown};
    if (known.load(std::memory_order_relaxed) == unknown) {
        const bool there =
            access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0 || access("/dev/nvmap", F_OK) == 0;
        known.store(there ? some : none, std::memory_order_relaxed);
    }
    return known.load(std::memory_order_relaxed) == some;
}

/// Changes every few milliseconds.
std::int64_t tick() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Where the heap begins that ends at the program's break: field 47 of the process's line, of which the second is in
/// brackets. 0: not told.
std::uintptr_t read_heap_begin() noexcept {
    const int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char line[2048];
    const ssize_t length = read(file, line, sizeof line);
    close(file);
    std::string_view rest(line, length > 0 ? static_cast<std::size_t>(length) : 0);
    rest.remove_prefix(rest.rfind(')') + 1);
    for (int field = 3; field <= 47; ++field) {
        const std::size_t gap = rest.find(' ');
        if (gap == std::string_view::npos) {
            return 0;
        }
        rest.remove_prefix(gap + 1);
    }
    std::uintptr_t begin = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), begin);
    return begin;
}

/// The answer may be some milliseconds old, which is less than a driver takes to start. Takes a clock's time before one
/// is loaded, or none on machines without such devices.
bool has_loaded_driver() noexcept {
    if (!has_device_files()) {
        return false;
    }
    if (get_attributes.load(std::memory_order_acquire) != nullptr) {
        return true;
    }
    const std::int64_t now = tick();
    if (looked_at_tick.load(std::memory_order_relaxed) == now) {
        return false;
    }
    looked_at_tick.store(now, std::memory_order_relaxed);  // others may look in this tick, too; they find the same
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (driver == nullptr) {
        return false;
    }
    // The handle is kept: the driver must not be unloaded between two looks.
    get_current_context.store(reinterpret_cast<GetCurrentContext>(dlsym(driver, "cuCtxGetCurrent")));
    get_device.store(reinterpret_cast<GetDevice>(dlsym(driver, "cuCtxGetDevice")));
    const auto found = reinterpret_cast<GetAttributes>(dlsym(driver, "cuPointerGetAttributes"));
    get_attributes.store(found, std::memory_order_release);
    return found != nullptr;
}

}  // namespace

bool are_of_heap(std::initializer_list<const void*> pointers) noexcept {
    static constinit std::atomic<std::uintptr_t> known_begin{0};
    std::uintptr_t begin = known_begin.load(std::memory_order_relaxed);
    if (begin == 0) {
        begin = read_heap_begin();
        begin = begin != 0 ? begin : UINTPTR_MAX;
        known_begin.store(begin, std::memory_order_relaxed);
    }
    const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
    return std::all_of(pointers.begin(), pointers.end(), [begin, end](const void* pointer) {
        const auto place = reinterpret_cast<std::uintptr_t>(pointer);
        return place >= begin && place < end;
    });
}

bool may_lie_on_device(std::initializer_list<const void*> pointers) noexcept {
    return has_device_files() && !are_of_heap(pointers) && has_loaded_driver();
}

std::optional<int> device_holding(const void* pointer) noexcept {
    if (!may_lie_on_device({pointer})) {
        return std::nullopt;
    }
    unsigned memory_type = 0;
    int device = 0;
    int attributes[] = {kMemoryType, kDeviceOrdinal};
    void* data[] = {&memory_type, &device};
    const GetAttributes get = get_attributes.load(std::memory_order_acquire);
    if (get(2, attributes, data, reinterpret_cast<std::uintptr_t>(pointer)) != kSuccess ||
        memory_type != kDeviceMemory) {
        return std::nullopt;
    }
    return device;
}

std::optional<int> device_of_context() noexcept {
    if (!has_loaded_driver()) {
        return std::nullopt;
    }
    const GetCurrentContext current = get_current_context.load(std::memory_order_relaxed);
    const GetDevice device_of_current = get_device.load(std::memory_order_relaxed);
    void* context = nullptr;
    int device = 0;
    // Without a context the second is an error, which tools would show.
    if (current == nullptr || device_of_current == nullptr || current(&context) != kSuccess || context == nullptr ||
        device_of_current(&device) != kSuccess) {
        return std::nullopt;
    }
    return device;
}

}  // namespace heptad::cuda
