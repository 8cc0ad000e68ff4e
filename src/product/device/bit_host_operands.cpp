#include "product/device/bit_host_operands.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/bit_words.hpp"
#include "base/fail_if.hpp"
#include "base/timing.hpp"
#include "product/device/bit_transfers.hpp"
#include "product/device/device_mirror.hpp"
#include "product/device/product_pace.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

using bits::kWordBits;

void require_host_view(const ConstBitView& view, const char* name) {
    bits::require_view(view, name);
    fail_if(view.offset != 0, ErrorCode::usage,
            "{} begins at bit {} of a word; for a product on a device it must begin at bit 0", name, view.offset);
}

void require_shapes(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b) {
    require_host_view(a, "A");
    require_host_view(b, "B");
    require_sizes(plan, a, b);
}

/// The words of a matrix, which are moved as bytes.
ConstView bytes_of(const ConstBitView& view) {
    return {view.words, Type::boolean, view.rows, 8 * bits::words_of(view.cols), 8 * view.stride, 1};
}
MatrixWindow bytes_of(const BitRectangle& piece) {
    return {piece.row, piece.rows, 8 * piece.word, 8 * piece.words};
}

class CudaMover final : public BitMover {
public:
    /// `c` has no rows where ones are counted: then it is somebody else's.
    CudaMover(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, const BitView& c,
              const cuda::Stream& compute, const RunHooks& hooks)
        : host_c_(c),
          pace_(hooks, plan.predicted_s, compute),
          compute_(compute),
          upload_(compute.device()),
          download_(compute.device()),
          staging_there_(compute.device()),
          staging_back_(compute.device()),
          there_(upload_, &staging_there_),
          back_(download_, &staging_back_),
          a_("A", bytes_of(a), compute),
          b_("B", bytes_of(b), compute),
          c_("C", bytes_of(c), compute),
          workspace_(compute.device(), plan.workspace_bytes, compute.handle()) {
        upload_.wait_for(compute);  // which the memory comes from
    }

    /// With C on the device: of this, or of counts.
    BitDeviceOperands operands(bool accumulate) {
        const BitRectangle all_of_c{0, 0, host_c_.rows, bits::words_of(host_c_.cols)};
        if (accumulate) {
            there_.bring(c_, bytes_of(all_of_c));
            compute_.wait_for(upload_);
        }
        const auto [a, a_bytes] = a_.device_lines({});
        const auto [b, b_bytes] = b_.device_lines({});
        const auto [c, c_bytes] = c_.device_lines({});
        return {reinterpret_cast<std::uint64_t*>(a),
                a_bytes / 8,
                reinterpret_cast<std::uint64_t*>(b),
                b_bytes / 8,
                c,
                c_bytes / 8,
                accumulate,
                static_cast<std::uint64_t*>(workspace_.data())};
    }
    HostBitTimes finish() {
        download_.synchronize();
        times_.total_s = seconds_since(start_);
        return times_;
    }

private:
    void expect(std::size_t brought, std::size_t fetched) override {
        for (auto [events, count] : {std::pair{&arrived_, brought}, {&made_, fetched}}) {
            std::generate_n(std::back_inserter(*events), count,
                            [&] { return std::make_unique<cuda::Event>(compute_.device()); });
        }
    }
    void bring(std::size_t number, BitOperand operand, const BitRectangle& piece) override {
        const cuda::DeviceScope scope(compute_.device());
        pace_.stop_if_cancelled();
        there_.bring(operand == BitOperand::a ? a_ : b_, bytes_of(piece));
        arrived_[number]->record(upload_);
    }
    void hold_back_for(std::size_t number) override { arrived_[number]->hold_back(compute_); }
    void launched(std::int64_t number, std::int64_t count) override { pace_.enqueued(number, count); }
    void completed(std::size_t number) override { made_[number]->record(compute_); }
    void launched_all() override {
        times_.enqueued_s = seconds_since(start_);
        upload_.synchronize();  // pages that are locked are read until then
        times_.uploaded_s = seconds_since(start_);
        pace_.wait_for(pace_.last_enqueued());
    }
    void fetch(std::size_t number, const BitRectangle& piece) override {
        const cuda::DeviceScope scope(compute_.device());
        made_[number]->hold_back(download_);
        BitRectangle whole = piece;  // the words all of whose bits are C's
        whole.words = std::min(piece.words, host_c_.cols / kWordBits - piece.word);
        back_.fetch(c_, bytes_of(whole));
        if (whole.words < piece.words) {
            fetch_last_words(piece.row, piece.rows);
        }
    }

    void fetch_last_words(std::int64_t first, std::int64_t rows) {
        const std::int64_t word = host_c_.cols / kWordBits;
        std::vector<std::uint64_t> words(static_cast<std::size_t>(rows));
        const DeviceRows from = c_.device_lines(bytes_of(BitRectangle{first, word, rows, 1}));
        cuda::copy_rows(from.data, from.pitch_bytes, words.data(), 8, 8, rows, download_.handle());
        download_.synchronize();
        for (std::int64_t i = 0; i < rows; ++i) {
            bits::store_word<bits::Store::assign>(host_c_, first + i, word, words[static_cast<std::size_t>(i)]);
        }
    }

    const Clock::time_point start_ = Clock::now();
    HostBitTimes times_;
    const BitView host_c_;
    ProductPace pace_;
    const cuda::Stream& compute_;
    cuda::Stream upload_, download_;
    Staging staging_there_, staging_back_;
    CopyChannel there_, back_;
    DeviceMirror a_, b_, c_;
    cuda::DeviceMemory workspace_;
    std::vector<std::unique_ptr<cuda::Event>> arrived_, made_;
    WaitAtEnd wait_{&upload_, &compute_, &download_};  // before the memory goes
};

}  // namespace

HostBitTimes multiply_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b,
                                          const BitView& c, bool accumulate, int device, const RunHooks& hooks) {
    start_product(hooks);
    cuda::require_device(device);
    require_shapes(plan, a, b);
    require_host_view(c, "C");
    bits::require_product(a, b, c);
    fail_if(plan.count, ErrorCode::usage, "the plan makes counts, which do not fit into bits; plan gf2 or bool");
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    CudaMover mover(plan, a, b, c, compute, hooks);
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), mover.operands(accumulate),
                       mover);
    const HostBitTimes times = mover.finish();
    finish_product(hooks);
    return times;
}

void count_host_bits_on_device(const ProductPlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device, const RunHooks& hooks) {
    start_product(hooks);
    cuda::require_device(device);
    require_shapes(plan, a, b);
    fail_if(!plan.count, ErrorCode::usage, "the plan makes bits, not counts; plan counts");
    fail_if(c_row_stride < b.cols, ErrorCode::input, "C has {} columns but only {} counts from row to row", b.cols,
            c_row_stride);
    const cuda::DeviceScope scope(device);
    const cuda::Stream compute(device);
    const std::int64_t row_bytes = 4 * b.cols;
    const cuda::DeviceMemory device_c(device, std::max<std::int64_t>(checked_mul(a.rows, row_bytes), 16),
                                      compute.handle());
    CudaMover mover(plan, a, b, {}, compute, hooks);
    BitDeviceOperands operands = mover.operands(false);
    operands.c = device_c.data();
    operands.c_row_stride = b.cols;
    run_with_transfers(plan, *cuda::device_bit_verbs(device, compute.handle(), plan.leaf), operands, mover);
    cuda::copy_rows(device_c.data(), row_bytes, c, 4 * c_row_stride, row_bytes, a.rows, compute.handle());
    compute.synchronize();
    finish_product(hooks);
}

}  // namespace heptad
