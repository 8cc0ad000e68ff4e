#include "kernels/cuda/device/device.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/shared_state.hpp"
#include "kernels/cuda/device/loaded_driver.hpp"
#include "kernels/cuda/device/status.hpp"
#include "kernels/cuda/vendor/cublas_library.hpp"

namespace heptad::cuda {
namespace {

std::string version_text(int version) {
    return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// The oldest chip that the kernels are compiled for.
constexpr int kOldestMajor = 8;

Report look_around() {
    Report report;
    report.built = true;
    int driver = 0, runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    report.runtime = version_text(runtime);
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        report.problem = "there is no NVIDIA driver on this machine";
        cudaGetLastError();
        return report;
    }
    report.driver = version_text(driver);
    int count = 0;
    if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
        report.problem = fmt::format("the driver shows no device ({})", cudaGetErrorString(status));
        cudaGetLastError();
        return report;
    }
    for (int i = 0; i < count; ++i) {
        cudaDeviceProp properties{};
        if (cudaGetDeviceProperties(&properties, i) == cudaSuccess) {
            report.devices.push_back({i, properties.name, properties.major, properties.minor,
                                      properties.multiProcessorCount,
                                      static_cast<int>(properties.sharedMemPerBlockOptin),
                                      static_cast<std::int64_t>(properties.totalGlobalMem), 0});
        } else {
            cudaGetLastError();
        }
    }
    const CublasLibrary& library = cublas_library();
    report.cublas = library.version;
    report.cublas_path = library.path;
    if (!library.found) {
        report.problem = library.problem;
        return report;
    }
    report.available = true;
    return report;
}

/// Memory that CUDA keeps for later allocations of this process in the order of a stream: it is taken from the system's
/// point of view, and free from ours.
std::int64_t kept_bytes(int device) {
    cudaMemPool_t pool = nullptr;
    std::uint64_t reserved = 0, used = 0;
    if (cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return reserved > used ? static_cast<std::int64_t>(reserved - used) : 0;
}

/// What the devices are, and in which process that was looked up: CUDA does not survive a fork.
struct Known {
    Report report;
    std::uint32_t generation;
};
/// Devices on which this process allocated in the order of a stream, one bit each.
std::atomic<std::uint64_t> allocated_on{0};

}  // namespace

const Report& known_report() {
    static constinit Once<Known> known;
    static constinit Once<Report> forked;
    const Known& found = known.get([] { return Known{look_around(), process_generation()}; });
    if (found.report.available && found.generation != process_generation()) {
        return forked.get([&] {
            Report report = found.report;
            report.available = false;
            report.problem = "CUDA cannot be used in the child of a fork whose parent has used it";
            return report;
        });
    }
    return found.report;
}

std::int64_t free_bytes(int device) {
    try {
        const DeviceScope scope(device);
        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "look up the free memory");
        return static_cast<std::int64_t>(free) + kept_bytes(device);
    } catch (const Error&) {
        return 0;
    }
}

void release_kept_memory() noexcept {
    for (std::uint64_t left = allocated_on.load(), device = 0; left != 0; left >>= 1, ++device) {
        cudaMemPool_t pool = nullptr;
        if ((left & 1) != 0 && (cudaDeviceGetDefaultMemPool(&pool, static_cast<int>(device)) != cudaSuccess ||
                                cudaMemPoolTrimTo(pool, 0) != cudaSuccess)) {
            cudaGetLastError();
        }
    }
}

Report report() {
    Report report = known_report();
    if (report.available) {
        for (DeviceInfo& device : report.devices) {
            device.free_bytes = free_bytes(device.index);
        }
    }
    return report;
}

void require_device(int device) {
    const Report& known = known_report();
    if (!known.available) {
        fail(ErrorCode::resource, "no CUDA device can be used: {}; set device to cpu", known.problem);
    }
    if (device < 0 || static_cast<std::size_t>(device) >= known.devices.size()) {
        fail(ErrorCode::resource, "there is no device cuda:{}; this machine has {}", device, known.devices.size());
    }
    const DeviceInfo& info = known.devices[static_cast<std::size_t>(device)];
    if (info.major < kOldestMajor) {
        fail(ErrorCode::resource, "cuda:{} ({}) has compute capability {}.{}; {}.0 is the minimum", device, info.name,
             info.major, info.minor, kOldestMajor);
    }
}

int current_device() {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess) {
        cudaGetLastError();
    }
    return device;
}

DeviceScope::DeviceScope(int device) : before_(device), now_(device) {
    if (device_of_context() == device) {
        return;
    }
    if (cudaGetDevice(&before_) != cudaSuccess) {
        cudaGetLastError();
        before_ = device;
    }
    if (before_ != device) {
        check(cudaSetDevice(device), "select the device");
    }
}
DeviceScope::~DeviceScope() {
    if (before_ != now_ && cudaSetDevice(before_) != cudaSuccess) {
        cudaGetLastError();  // or the next launch would take it for its own
    }
}

bool is_captured(void* stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &capture) == cudaSuccess &&
           capture == cudaStreamCaptureStatusActive;
}

CaptureScope::CaptureScope() {
    auto mode = cudaStreamCaptureModeRelaxed;
    if (cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess) {
        cudaGetLastError();  // no driver: nothing can be captured either
        mode = cudaStreamCaptureModeGlobal;
    }
    before_ = mode;
}
CaptureScope::~CaptureScope() {
    auto mode = static_cast<cudaStreamCaptureMode>(before_);
    if (cudaThreadExchangeStreamCaptureMode(&mode) != cudaSuccess) {
        cudaGetLastError();
    }
}

PointerPlace place_of(const void* pointer) {
    if (!known_report().available) {
        return {};
    }
    // Small products ask for three pointers each: two attributes of the driver are had sooner than all of the runtime.
    if (const std::optional<int> device = device_holding(pointer)) {
        return {PointerKind::device, *device};
    }
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
        cudaGetLastError();
        return {};
    }
    if (attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged) {
        return {PointerKind::device, attributes.device};
    }
    return {};
}

DeviceMemory::DeviceMemory(int device, std::int64_t bytes, void* stream) : stream_(stream), device_(device) {
    if (bytes <= 0) {
        return;
    }
    const DeviceScope scope(device);
    allocated_on.fetch_or(std::uint64_t{1} << device);
    const cudaError_t status =
        cudaMallocAsync(&data_, static_cast<std::size_t>(bytes), static_cast<cudaStream_t>(stream));
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free = 0, total = 0;
        cudaMemGetInfo(&free, &total);
        data_ = nullptr;
        fail(ErrorCode::resource,
             "cuda:{} has {} of {} bytes free, and the product needs {} more; limit its workspace or use fewer levels",
             device, free, total, bytes);
    }
    check(status, "allocate device memory");
}

DeviceMemory::~DeviceMemory() {
    if (data_ != nullptr) {
        cudaFreeAsync(data_, static_cast<cudaStream_t>(stream_));
    }
}

void DeviceMemory::swap(DeviceMemory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(stream_, other.stream_);
    std::swap(device_, other.device_);
}

bool lock_pages(void* memory, std::int64_t bytes) noexcept {
    const bool locked =
        cudaHostRegister(memory, static_cast<std::size_t>(bytes), cudaHostRegisterPortable) == cudaSuccess;
    if (!locked) {
        cudaGetLastError();
    }
    return locked;
}

void unlock_pages(void* memory) noexcept {
    if (cudaHostUnregister(memory) != cudaSuccess) {
        cudaGetLastError();
    }
}

bool is_locked(const void* memory) noexcept {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        cudaGetLastError();
        return false;
    }
    return attributes.type == cudaMemoryTypeHost;
}

Stream::Stream(int device) : device_(device) {
    const DeviceScope scope(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "create a stream");
    handle_ = stream;
}

Stream::~Stream() {
    cudaStreamSynchronize(static_cast<cudaStream_t>(handle_));
    cudaStreamDestroy(static_cast<cudaStream_t>(handle_));
}

void Stream::synchronize() const {
    check(cudaStreamSynchronize(static_cast<cudaStream_t>(handle_)), "wait for the device");
}

void Stream::wait_for(const Stream& other) const {
    const DeviceScope scope(device_);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "create an event");
    cudaError_t status = cudaEventRecord(event, static_cast<cudaStream_t>(other.handle_));
    if (status == cudaSuccess) {
        status = cudaStreamWaitEvent(static_cast<cudaStream_t>(handle_), event);
    }
    cudaEventDestroy(event);  // released when the work that uses it is done
    check(status, "order two streams");
}

Event::Event(int device) {
    const DeviceScope scope(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "create an event");
    handle_ = event;
}

Event::~Event() {
    cudaEventDestroy(static_cast<cudaEvent_t>(handle_));
}

void Event::record(const Stream& stream) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(handle_), static_cast<cudaStream_t>(stream.handle())),
          "record an event");
}

void Event::wait() const {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(handle_)), "wait for the device");
}

void Event::hold_back(const Stream& stream) const {
    check(cudaStreamWaitEvent(static_cast<cudaStream_t>(stream.handle()), static_cast<cudaEvent_t>(handle_)),
          "order two streams");
}

void copy_rows(const void* from, std::int64_t from_pitch, void* to, std::int64_t to_pitch, std::int64_t row_bytes,
               std::int64_t rows, void* stream) {
    if (row_bytes == 0 || rows == 0) {
        return;
    }
    const auto bytes = static_cast<std::size_t>(row_bytes);
    auto* const queue = static_cast<cudaStream_t>(stream);
    if (rows == 1 || (from_pitch == row_bytes && to_pitch == row_bytes)) {
        check(cudaMemcpyAsync(to, from, bytes * static_cast<std::size_t>(rows), cudaMemcpyDefault, queue), "copy");
        return;
    }
    check(cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_pitch), from, static_cast<std::size_t>(from_pitch), bytes,
                            static_cast<std::size_t>(rows), cudaMemcpyDefault, queue),
          "copy");
}

void fill_bytes(void* data, unsigned char value, std::int64_t bytes, void* stream) {
    if (bytes > 0) {
        check(cudaMemsetAsync(data, value, static_cast<std::size_t>(bytes), static_cast<cudaStream_t>(stream)),
              "fill device memory");
    }
}

Timer::Timer(int device) {
    const DeviceScope scope(device);
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "create an event");
    start_ = begin;
    if (const cudaError_t status = cudaEventCreate(&end); status != cudaSuccess) {
        cudaEventDestroy(begin);
        check(status, "create an event");
    }
    stop_ = end;
}

Timer::~Timer() {
    cudaEventDestroy(static_cast<cudaEvent_t>(start_));
    cudaEventDestroy(static_cast<cudaEvent_t>(stop_));
}

void Timer::start(void* stream) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(start_), static_cast<cudaStream_t>(stream)), "start a timer");
}

void Timer::stop(void* stream) {
    check(cudaEventRecord(static_cast<cudaEvent_t>(stop_), static_cast<cudaStream_t>(stream)), "stop a timer");
}

namespace {

double seconds_between(void* first, void* then) {
    check(cudaEventSynchronize(static_cast<cudaEvent_t>(then)), "wait for the device");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(first), static_cast<cudaEvent_t>(then)),
          "read a timer");
    return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace

double Timer::seconds() const {
    return seconds_between(start_, stop_);
}

double Timer::seconds_after(const Timer& first) const {
    return seconds_between(first.start_, start_);
}

}  // namespace heptad::cuda
