#include "product/device/cuda_device.hpp"

#include <utility>

#include "kernels/cuda/device/device.hpp"
#include "move/staging.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_product.hpp"

namespace heptad {

/// Memory that is there for all streams.
struct SharedMemory {
    SharedMemory(int device, std::int64_t size) : stream(device), memory(device, size, stream.handle()), bytes(size) {
        stream.synchronize();
    }
    cuda::Stream stream;  // before the memory, which is given back in its order
    cuda::DeviceMemory memory;
    std::int64_t bytes;
};
struct SharedWorkspace : SharedMemory {
    using SharedMemory::SharedMemory;
};

namespace {

struct CudaPlace final : OperandPlace {
    CudaPlace(int device, const BlockLayout& of) : layout(of), shared(device, of.bytes()) {}
    void* data() const { return shared.memory.data(); }
    BlockLayout layout;
    SharedMemory shared;
};

/// Q of a lane and the ways between the device and the host, whatever the elements are.
class CudaLane : public Lane {
public:
    CudaLane(const SubProduct& product, int device, std::shared_ptr<SharedWorkspace> workspace)
        : product_(product),
          device_(device),
          workspace_(std::move(workspace)),
          stream_(device),
          result_(device, product.result.bytes(), stream_.handle()),
          staging_(device) {
        stream_.synchronize();
    }
    /// Places and workspace may go right after the lane, whatever was left under way by an error.
    ~CudaLane() override {
        try {
            stream_.synchronize();
        } catch (...) {  // NOLINT(bugprone-empty-catch): a device that is lost does nothing any more
        }
    }
    CudaLane(const CudaLane&) = delete;
    CudaLane& operator=(const CudaLane&) = delete;

    void upload(OperandPlace& to, const void* from) override {
        const auto& place = static_cast<const CudaPlace&>(to);
        copy(from, place.data(), place.layout.bytes());
    }

    void upload_result(const void* from) override { copy(from, result_.data(), product_.result.bytes()); }

    void download(void* to) override { copy(result_.data(), to, product_.result.bytes()); }

    void upload_rows(OperandPlace& to, const HostRows& from) override {
        const auto& place = static_cast<const CudaPlace&>(to);
        const cuda::DeviceScope scope(device_);
        staging_.upload(from, {static_cast<std::byte*>(place.data()), place.layout.line_bytes()}, stream_);
        stream_.synchronize();
    }

    void download_rows(const HostRows& to) override {
        const cuda::DeviceScope scope(device_);
        staging_.download({static_cast<std::byte*>(result_.data()), product_.result.line_bytes()}, to, stream_);
        stream_.synchronize();
    }

protected:
    const SubProduct& product() const { return product_; }
    int device() const { return device_; }
    const cuda::Stream& stream() const { return stream_; }
    const SharedWorkspace& workspace() const { return *workspace_; }
    static void* data_of(const OperandPlace& place) { return static_cast<const CudaPlace&>(place).data(); }
    void* result() const { return result_.data(); }

private:
    void copy(const void* from, void* to, std::int64_t bytes) {
        const cuda::DeviceScope scope(device_);
        cuda::copy_rows(from, bytes, to, bytes, bytes, 1, stream_.handle());
        stream_.synchronize();
    }

    SubProduct product_;
    int device_;
    std::shared_ptr<SharedWorkspace> workspace_;
    cuda::Stream stream_;  // before the memory, which is given back in its order
    cuda::DeviceMemory result_;
    Staging staging_;
};

class DenseCudaLane final : public CudaLane {
public:
    using CudaLane::CudaLane;

    void solve(const OperandPlace& left, const OperandPlace& right, Factor alpha, double beta) override {
        const ProductContext context{.workspace = workspace().memory.data(),
                                     .workspace_bytes = workspace().bytes,
                                     .stream = stream().handle(),
                                     .hooks = {product().cancel}};
        multiply_on_device(alpha, product().left.operand(data_of(left)), product().right.operand(data_of(right)), beta,
                           product().result.view(result()), product().plan, device(), context);
        stream().synchronize();
    }
};

class PackedCudaLane final : public CudaLane {
public:
    using CudaLane::CudaLane;

    void solve(const OperandPlace& left, const OperandPlace& right, Factor /*alpha*/, double beta) override {
        multiply_bits_on_device(product().plan, product().left.bits(data_of(left)),
                                product().right.bits(data_of(right)), product().result.bits(result()), beta != 0,
                                device(), stream().handle(), workspace().memory.data());
        stream().synchronize();
    }
};

}  // namespace

CudaDevice::CudaDevice(int index) : index_(index) {
    cuda::require_device(index);
}

std::unique_ptr<Lane> CudaDevice::open_lane(const SubProduct& product) {
    const cuda::DeviceScope scope(index_);
    if (product.left.packed) {
        return std::make_unique<PackedCudaLane>(product, index_, workspace_of(product.plan.workspace_bytes));
    }
    return std::make_unique<DenseCudaLane>(product, index_, workspace_of(product.plan.workspace_bytes));
}

std::unique_ptr<OperandPlace> CudaDevice::open_place(const SubProduct& product, Operand operand) {
    const cuda::DeviceScope scope(index_);
    return std::make_unique<CudaPlace>(index_, operand == Operand::left ? product.left : product.right);
}

std::shared_ptr<SharedWorkspace> CudaDevice::workspace_of(std::int64_t bytes) {
    std::shared_ptr<SharedWorkspace> workspace = workspace_.lock();
    if (!workspace || workspace->bytes < bytes) {
        workspace_ = workspace = std::make_shared<SharedWorkspace>(index_, bytes);
    }
    return workspace;
}

HostBuffer CudaDevice::host_buffer(std::int64_t bytes) {
    const cuda::DeviceScope scope(index_);
    return locked_buffer(bytes);
}

}  // namespace heptad
