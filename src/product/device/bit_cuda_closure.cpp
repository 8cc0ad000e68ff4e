#include <functional>

#include "base/bit_words.hpp"
#include "base/fail_if.hpp"
#include "base/size.hpp"
#include "kernels/cuda/device/device.hpp"
#include "move/staging.hpp"
#include "product/device/bit_closure.hpp"
#include "product/device/bit_cuda_product.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

class DeviceClosureSteps final : public ClosureSteps {
public:
    DeviceClosureSteps(const cuda::Stream& stream, const std::string& leaf, std::int64_t workspace_bytes)
        : stream_(stream),
          facts_(bit_device_facts(stream.device())),
          workspace_(stream.device(), workspace_bytes, stream.handle()) {
        options_.leaf = leaf;
        options_.workspace_limit_bytes = workspace_bytes;
    }
    void copy(const ConstBitView& from, const BitView& to) override { copy_bit_rows(from, to, stream_.handle()); }
    void add_product(const ConstBitView& a, const ConstBitView& b, const BitView& c) override {
        const ProductPlan plan = plan_bit_device_product(
            {cuda::BitOperation::any, {a.rows, a.cols, b.cols}, is_aligned_for_leaf(a.words, a.stride)}, options_,
            facts_);
        multiply_bits_on_device(plan, a, b, c, true, stream_.device(), stream_.handle(), workspace_.data());
    }
    void finish_band(double share) override {
        stream_.synchronize();  // so that a cancelled run ends soon
        if (progress) {
            progress(share);
        }
    }
    std::function<void(double)> progress;

private:
    const cuda::Stream& stream_;
    BitDeviceFacts facts_;
    BitDeviceOptions options_;
    cuda::DeviceMemory workspace_;
};

}  // namespace

BitMatrix close_on_cuda(const ConstBitView& graph, const bits::BitOptions& options, const ProductContext& context) {
    const int device = cuda::device_index(options.device);
    cuda::require_device(device);
    bits::require_view(graph, "the graph");
    fail_if(graph.rows != graph.cols, ErrorCode::input, "a graph is a square matrix, and this one is {} x {}",
            graph.rows, graph.cols);
    if (graph.rows > 0) {
        if (const cuda::PointerPlace place = cuda::place_of(graph.words); place.kind == cuda::PointerKind::device) {
            fail(ErrorCode::input, "the graph is in the memory of cuda:{}; copy it to host memory first", place.device);
        }
    }
    BitMatrix result = BitMatrix::copy_of(graph);
    const std::int64_t n = graph.rows;
    if (n == 0) {
        return result;
    }
    const std::int64_t band = std::min(n, kDeviceClosureBand);
    // The transposed operand of the largest product.
    const std::int64_t workspace = DeviceBits::bytes(round_up(n, 256), band);
    const std::int64_t needed =
        checked_add(checked_add(DeviceBits::bytes(n, n), 2 * DeviceBits::bytes(band, band)),
                    checked_add(checked_add(DeviceBits::bytes(band, n), DeviceBits::bytes(n, band)), workspace));
    if (const std::int64_t free = usable_bytes(device); needed > free) {
        fail(ErrorCode::resource,
             "the closure of {} vertices needs {} bytes on cuda:{}, and {} are available; set device to cpu", n, needed,
             device, free);
    }
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    const DeviceBits there(n, n, device, stream.handle());
    const DeviceBits inside(band, band, device, stream.handle()), next(band, band, device, stream.handle());
    const DeviceBits rows(band, n, device, stream.handle()), columns(n, band, device, stream.handle());
    DeviceClosureSteps steps(stream, options.leaf, workspace);
    steps.progress = [&](double share) {
        fail_if(context.hooks.cancel != nullptr && context.hooks.cancel->cancelled(), ErrorCode::cancelled,
                "the closure was cancelled");
        if (context.hooks.progress) {
            context.hooks.progress({share, "closure"});
        }
    };
    const HostRows host{reinterpret_cast<std::byte*>(result.view().words), n, 8 * bits::words_of(n),
                        8 * result.stride()};
    const DeviceRows copy{reinterpret_cast<std::byte*>(there.view.words), 8 * there.view.stride};
    Staging staging(device);
    staging.upload(host, copy, stream);
    close_in_bands(there.view, {inside.view, next.view, rows.view, columns.view}, band, steps);
    staging.download(copy, host, stream);
    stream.synchronize();
    return result;
}

}  // namespace heptad
