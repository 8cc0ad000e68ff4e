#include "place/devices/bit_host_operands.hpp"

#include <chrono>
#include <vector>

#include "base/error.hpp"
#include "bits/bit_product.hpp"
#include "bits/bit_words.hpp"
#include "place/devices/bit_device_product.hpp"
#include "place/devices/bit_transfers.hpp"
#include "place/devices/device_bits.hpp"
#include "place/devices/locked_rows.hpp"

namespace heptad {
namespace {

using Clock = std::chrono::steady_clock;
using bits::kWordBits;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

void require_host_view(const ConstBitView& view, const char* name) {
    bits::require_view(view, name);
    if (view.offset != 0) {
        fail(ErrorCode::usage, "{} begins at bit {} of a word; for a product on a device it must begin at bit 0", name,
             view.offset);
    }
}

void require_shapes(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b) {
    require_host_view(a, "A");
    require_host_view(b, "B");
    const ProblemSize& size = plan.problem.size;
    if (a.rows != size.m || a.cols != size.k || b.rows != size.k || b.cols != size.n) {
        fail(ErrorCode::usage, "the plan is for a product of {} x {} x {}, but A is {} x {} and B is {} x {}", size.m,
             size.k, size.n, a.rows, a.cols, b.rows, b.cols);
    }
}

/// A matrix of the host and its copy on the device.
struct Twin {
    LockedRows pages;
    ConstBitView host;
    DeviceBits device;

    Twin(const ConstBitView& view, bool lockable, const cuda::Stream& stream)
        : pages(view, lockable), host(view), device(view.rows, view.cols, stream.device(), stream.handle()) {}

    void bring(const BitRectangle& piece, const cuda::Stream& stream) {
        pages.each_band(piece.row, piece.row + piece.rows, [&](std::int64_t first, std::int64_t last) {
            cuda::copy_rows(host.words + first * host.stride + piece.word, 8 * host.stride,
                            device.view.words + first * device.view.stride + piece.word, 8 * device.view.stride,
                            8 * piece.words, last - first, stream.handle());
        });
    }
};

class CudaMover final : public BitMover {
public:
    CudaMover(Twin& a, Twin& b, const cuda::Stream& compute)
        : a_(a), b_(b), compute_(compute), upload_(compute.device()), download_(compute.device()) {
        upload_.wait_for(compute);  // which the memory comes from
    }

    void set_result(Twin& twin, const BitView& c) {
        result_ = &twin;
        c_ = c;
        partial_.resize(c.cols % kWordBits != 0 ? static_cast<std::size_t>(c.rows) : 0);
    }

    void bring(BitOperand operand, const BitRectangle& piece) override {
        (operand == BitOperand::a ? a_ : b_).bring(piece, upload_);
    }
    void wait_for_brought() override { compute_.wait_for(upload_); }

    void put_away(const BitRectangle& piece) override {
        if (result_ == nullptr) {
            return;
        }
        download_.wait_for(compute_);
        const BitView& device = result_->device.view;
        const std::int64_t whole = c_.cols / kWordBits;
        const std::int64_t words = std::min(piece.words, whole - piece.word);
        result_->pages.each_band(piece.row, piece.row + piece.rows, [&](std::int64_t first, std::int64_t last) {
            cuda::copy_rows(device.words + first * device.stride + piece.word, 8 * device.stride,
                            c_.words + first * c_.stride + piece.word, 8 * c_.stride, 8 * words, last - first,
                            download_.handle());
        });
        if (piece.word + piece.words > whole) {  // the last word of a row has bits that are not C's
            cuda::copy_rows(device.words + piece.row * device.stride + whole, 8 * device.stride,
                            partial_.data() + piece.row, 8, 8, piece.rows, download_.handle());
        }
    }

    void wait_for_uploads() const { upload_.synchronize(); }
    void wait_for_downloads() const {
        download_.synchronize();
        for (std::size_t row = 0; row < partial_.size(); ++row) {
            bits::store_word<bits::Store::assign>(c_, static_cast<std::int64_t>(row), c_.cols / kWordBits,
                                                  partial_[row]);
        }
    }

private:
    Twin& a_;
    Twin& b_;
    Twin* result_ = nullptr;
    BitView c_{};
    std::vector<std::uint64_t> partial_;  // before the streams, which are waited for at the end
    const cuda::Stream& compute_;
    cuda::Stream upload_, download_;
};

}  // namespace

HostBitTimes multiply_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b,
                                          const BitView& c, bool accumulate, int device) {
    cuda::require_device(device);
    require_shapes(plan, a, b);
    require_host_view(c, "C");
    bits::require_product(a, b, c);
    if (plan.problem.operation == cuda::BitOperation::count) {
        fail(ErrorCode::usage, "the plan makes counts, which do not fit into bits; plan gf2 or bool");
    }
    HostBitTimes times;
    const Clock::time_point start = Clock::now();
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    const bool apart = !share_pages(a, b) && !share_pages(a, c) && !share_pages(b, c);
    Twin twin_a(a, apart, compute), twin_b(b, apart, compute), twin_c(c, apart, compute);
    const cuda::DeviceMemory workspace(device, plan.workspace_bytes(), compute.handle());
    CudaMover mover(twin_a, twin_b, compute);
    mover.set_result(twin_c, c);
    if (accumulate) {
        twin_c.bring({0, 0, c.rows, bits::words_of(c.cols)}, compute);
    }
    const BitDeviceOperands operands{twin_a.device.view.words,
                                     twin_a.device.view.stride,
                                     twin_b.device.view.words,
                                     twin_b.device.view.stride,
                                     twin_c.device.view.words,
                                     twin_c.device.view.stride,
                                     accumulate,
                                     static_cast<std::uint64_t*>(workspace.data())};
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), operands, mover);
    times.enqueued_s = seconds_since(start);
    mover.wait_for_uploads();
    times.uploaded_s = seconds_since(start);
    times.lock_s = twin_a.pages.seconds() + twin_b.pages.seconds() + twin_c.pages.seconds();
    twin_a.pages.unlock();  // beside the product
    twin_b.pages.unlock();
    compute.synchronize();
    times.multiplied_s = seconds_since(start);
    mover.wait_for_downloads();
    twin_c.pages.unlock();
    times.total_s = seconds_since(start);
    return times;
}

void count_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device) {
    cuda::require_device(device);
    require_shapes(plan, a, b);
    if (plan.problem.operation != cuda::BitOperation::count) {
        fail(ErrorCode::usage, "the plan makes bits, not counts; plan counts");
    }
    if (c_row_stride < b.cols) {
        fail(ErrorCode::input, "C has {} columns but only {} counts from row to row", b.cols, c_row_stride);
    }
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    const bool apart = !share_pages(a, b);
    Twin twin_a(a, apart, compute), twin_b(b, apart, compute);
    const std::int64_t row_bytes = 4 * b.cols;
    const cuda::DeviceMemory device_c(device, std::max<std::int64_t>(checked_mul(a.rows, row_bytes), 16),
                                      compute.handle());
    const cuda::DeviceMemory workspace(device, plan.workspace_bytes(), compute.handle());
    CudaMover mover(twin_a, twin_b, compute);
    const BitDeviceOperands operands{twin_a.device.view.words,
                                     twin_a.device.view.stride,
                                     twin_b.device.view.words,
                                     twin_b.device.view.stride,
                                     device_c.data(),
                                     b.cols,
                                     false,
                                     static_cast<std::uint64_t*>(workspace.data())};
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), operands, mover);
    cuda::copy_rows(device_c.data(), row_bytes, c, 4 * c_row_stride, row_bytes, a.rows, compute.handle());
    compute.synchronize();
    mover.wait_for_uploads();
}

}  // namespace heptad
