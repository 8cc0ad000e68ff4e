// Blocks on their way through the processor or the device of a rank. Messages and files only ever see host memory: with
// a device, its pages are locked, so that P4's stages M2G (host to device) and MM run beside the others at the full
// speed of the link, and buffers are used again, because locking takes time.
//
//   host block --M2G--> operand on the device --MM--> result on the device --G2M--> host block
//
// Without a device an operand is the host block itself, and the two copies do not exist.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/matrix.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/stage_trace.hpp"
#include "move/stages.hpp"
#include "product/cluster/node_settings.hpp"

namespace heptad {

/// A matrix in host memory whose pages may be locked.
class HostBlock {
public:
    HostBlock() = default;
    HostBlock(Matrix elements, bool lock);
    ~HostBlock();
    HostBlock(HostBlock&& other) noexcept { swap(other); }
    HostBlock& operator=(HostBlock&& other) noexcept {
        HostBlock taken(std::move(other));
        swap(taken);
        return *this;
    }
    Matrix& elements() { return elements_; }
    const Matrix& elements() const { return elements_; }
    void* data() { return elements_.data(); }
    const void* data() const { return elements_.data(); }
    std::int64_t size_bytes() const { return elements_.size_bytes(); }

private:
    void swap(HostBlock& other) noexcept;
    Matrix elements_;
    bool locked_ = false;
};

/// A block where it is multiplied.
struct NodeBlock {
    HostBlock host;             // the elements, without a device; with one, what a result goes back to
    cuda::DeviceMemory memory;  // with a device
    View view;
};

/// Any thread may call anything; each stage is called by one.
class NodeBlocks {
public:
    NodeBlocks(const NodeSettings& node, Type type, StageTrace& trace, const StageFailure& failure);
    ~NodeBlocks();

    bool on_device() const { return streams_ != nullptr; }
    /// A block of host memory, of undefined contents, used before if possible.
    HostBlock take(std::int64_t rows, std::int64_t cols);
    void give_back(HostBlock block);

    /// Stage M2G: an operand.
    NodeBlock bring(HostBlock host);
    /// A result before its first product; `brings`: with the elements that it has.
    NodeBlock begin_result(HostBlock host, bool brings);
    /// Stage MM: c = alpha * a * b + beta * c, of views of such blocks.
    void multiply(const ConstView& a, const ConstView& b, Factor beta, const View& c);
    /// Stage G2M: the result in host memory.
    HostBlock fetch(NodeBlock result);
    /// An operand that is not needed any more.
    void release(NodeBlock operand);

private:
    struct Streams;
    NodeBlock on_device_like(HostBlock host, const cuda::Stream& stream) const;

    const NodeSettings node_;
    const Type type_;
    StageTrace& trace_;
    const StageFailure& failure_;
    std::unique_ptr<Streams> streams_;  // without a device there are none
    std::mutex mutex_;
    std::vector<HostBlock> free_;
};

}  // namespace heptad
