#include "product/device/bit_host_operands.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/bit_words.hpp"
#include "base/error.hpp"
#include "base/timing.hpp"
#include "move/staging.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/bit_transfers.hpp"
#include "product/device/device_bits.hpp"
#include "product/device/product_pace.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

using bits::kWordBits;

void require_host_view(const ConstBitView& view, const char* name) {
    bits::require_view(view, name);
    if (view.offset != 0) {
        fail(ErrorCode::usage, "{} begins at bit {} of a word; for a product on a device it must begin at bit 0", name,
             view.offset);
    }
}

void require_shapes(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b) {
    require_host_view(a, "A");
    require_host_view(b, "B");
    if (a.rows != plan.m || a.cols != plan.k || b.rows != plan.k || b.cols != plan.n) {
        fail(ErrorCode::usage, "the plan is for a product of {} x {} x {}, but A is {} x {} and B is {} x {}", plan.m,
             plan.k, plan.n, a.rows, a.cols, b.rows, b.cols);
    }
}

/// A matrix of the host and its copy on the device.
struct DeviceMirror {
    BitView host;  // of A and B only read
    DeviceBits device;

    DeviceMirror(const ConstBitView& view, const cuda::Stream& stream)
        : host{const_cast<std::uint64_t*>(view.words), view.rows, view.cols, view.stride, view.offset},
          device(view.rows, view.cols, stream.device(), stream.handle()) {}

    HostRows host_rows(const BitRectangle& piece) const {
        return {reinterpret_cast<std::byte*>(host.words + piece.row * host.stride + piece.word), piece.rows,
                8 * piece.words, 8 * host.stride};
    }
    DeviceRows device_rows(const BitRectangle& piece) const {
        const BitView& view = device.view;
        return {reinterpret_cast<std::byte*>(view.words + piece.row * view.stride + piece.word), 8 * view.stride};
    }
    /// The words all of whose bits are the matrix's.
    BitRectangle whole_words(BitRectangle piece) const {
        piece.words = std::min(piece.words, host.cols / kWordBits - piece.word);
        return piece;
    }
};

class CudaMover final : public BitMover {
public:
    CudaMover(const DeviceMirror& a, const DeviceMirror& b, const cuda::Stream& compute, const RunHooks& hooks,
              double predicted_s)
        : a_(a),
          b_(b),
          pace_(hooks, predicted_s, compute),
          staging_(compute.device()),
          compute_(compute),
          upload_(compute.device()),
          download_(compute.device()) {
        upload_.wait_for(compute);  // which the memory comes from
    }

    void set_result(const DeviceMirror& c) { result_ = &c; }

    void bring(BitOperand operand, const BitRectangle& piece) override {
        pace_.stop_if_cancelled();
        const DeviceMirror& mirror = operand == BitOperand::a ? a_ : b_;
        staging_.upload(mirror.host_rows(piece), mirror.device_rows(piece), upload_);
    }
    void wait_for_brought() override { compute_.wait_for(upload_); }

    /// The host has to help with the way back, so it goes on with its launches first.
    void put_away(const BitRectangle& piece) override {
        if (result_ != nullptr) {
            auto made = std::make_unique<cuda::Event>(compute_.device());
            made->record(compute_);
            complete_.push_back({piece, std::move(made), pace_.last_enqueued()});
        }
    }

    void launched(std::int64_t number, std::int64_t count) override { pace_.enqueued(number, count); }

    void wait_for_uploads() const { upload_.synchronize(); }
    void wait_for_products() { pace_.wait_for(pace_.last_enqueued()); }
    void fetch_results() {
        for (const Complete& next : complete_) {
            pace_.wait_for(next.products);
            pace_.stop_if_cancelled();
            next.made->hold_back(download_);
            const BitRectangle whole = result_->whole_words(next.piece);
            if (whole.words > 0) {
                staging_.download(result_->device_rows(whole), result_->host_rows(whole), download_);
            }
            if (whole.words < next.piece.words) {  // the last word of a row has bits that are not C's
                fetch_last_words(next.piece.row, next.piece.rows);
            }
        }
        download_.synchronize();
    }

private:
    struct Complete {
        BitRectangle piece;
        std::unique_ptr<cuda::Event> made;
        std::int64_t products;  // that were enqueued by then
    };

    void fetch_last_words(std::int64_t first, std::int64_t rows) {
        const std::int64_t word = result_->host.cols / kWordBits;
        std::vector<std::uint64_t> words(static_cast<std::size_t>(rows));
        const DeviceRows from = result_->device_rows({first, word, rows, 1});
        cuda::copy_rows(from.data, from.pitch_bytes, words.data(), 8, 8, rows, download_.handle());
        download_.synchronize();
        for (std::int64_t i = 0; i < rows; ++i) {
            bits::store_word<bits::Store::assign>(result_->host, first + i, word, words[static_cast<std::size_t>(i)]);
        }
    }

    const DeviceMirror& a_;
    const DeviceMirror& b_;
    const DeviceMirror* result_ = nullptr;
    std::vector<Complete> complete_;
    ProductPace pace_;
    Staging staging_;  // before the streams, which are waited for at the end
    const cuda::Stream& compute_;
    cuda::Stream upload_, download_;
};

}  // namespace

HostBitTimes multiply_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b,
                                          const BitView& c, bool accumulate, int device, const RunHooks& hooks) {
    start_product(hooks);
    cuda::require_device(device);
    require_shapes(plan, a, b);
    require_host_view(c, "C");
    bits::require_product(a, b, c);
    if (plan.count) {
        fail(ErrorCode::usage, "the plan makes counts, which do not fit into bits; plan gf2 or bool");
    }
    HostBitTimes times;
    const Clock::time_point start = Clock::now();
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    const DeviceMirror mirror_a(a, compute), mirror_b(b, compute), mirror_c(c, compute);
    const cuda::DeviceMemory workspace(device, plan.workspace_bytes, compute.handle());
    CudaMover mover(mirror_a, mirror_b, compute, hooks, plan.predicted_s);
    mover.set_result(mirror_c);
    if (accumulate) {
        const BitRectangle all{0, 0, c.rows, bits::words_of(c.cols)};
        Staging(device).upload(mirror_c.host_rows(all), mirror_c.device_rows(all), compute);
    }
    const BitDeviceOperands operands{mirror_a.device.view.words,
                                     mirror_a.device.view.stride,
                                     mirror_b.device.view.words,
                                     mirror_b.device.view.stride,
                                     mirror_c.device.view.words,
                                     mirror_c.device.view.stride,
                                     accumulate,
                                     static_cast<std::uint64_t*>(workspace.data())};
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), operands, mover);
    times.enqueued_s = seconds_since(start);
    mover.wait_for_uploads();
    times.uploaded_s = seconds_since(start);
    mover.fetch_results();
    times.total_s = seconds_since(start);
    finish_product(hooks);
    return times;
}

void count_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device, const RunHooks& hooks) {
    start_product(hooks);
    cuda::require_device(device);
    require_shapes(plan, a, b);
    if (!plan.count) {
        fail(ErrorCode::usage, "the plan makes bits, not counts; plan counts");
    }
    if (c_row_stride < b.cols) {
        fail(ErrorCode::input, "C has {} columns but only {} counts from row to row", b.cols, c_row_stride);
    }
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    const DeviceMirror mirror_a(a, compute), mirror_b(b, compute);
    const std::int64_t row_bytes = 4 * b.cols;
    const cuda::DeviceMemory device_c(device, std::max<std::int64_t>(checked_mul(a.rows, row_bytes), 16),
                                      compute.handle());
    const cuda::DeviceMemory workspace(device, plan.workspace_bytes, compute.handle());
    CudaMover mover(mirror_a, mirror_b, compute, hooks, plan.predicted_s);
    const BitDeviceOperands operands{mirror_a.device.view.words,
                                     mirror_a.device.view.stride,
                                     mirror_b.device.view.words,
                                     mirror_b.device.view.stride,
                                     device_c.data(),
                                     b.cols,
                                     false,
                                     static_cast<std::uint64_t*>(workspace.data())};
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), operands, mover);
    mover.wait_for_products();
    cuda::copy_rows(device_c.data(), row_bytes, c, 4 * c_row_stride, row_bytes, a.rows, compute.handle());
    compute.synchronize();
    mover.wait_for_uploads();
    finish_product(hooks);
}

}  // namespace heptad
