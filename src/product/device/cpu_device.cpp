#include <cstring>

#include "kernels/bits/word_buffer.hpp"
#include "product/device/device_list.hpp"
#include "product/memory/product.hpp"
#include "run/bits/bit_product.hpp"

namespace heptad {
namespace {

struct CpuPlace final : OperandPlace {
    explicit CpuPlace(const BlockLayout& of) : layout(of), memory(of.bytes() / 8) {}
    void* data() const { return memory.data(); }
    BlockLayout layout;
    bits::WordBuffer memory;
};

class CpuLane final : public Lane {
public:
    explicit CpuLane(const SubProduct& product) : product_(product), result_(product.result.bytes() / 8) {}

    void upload(OperandPlace& to, const void* from) override {
        const auto& place = static_cast<const CpuPlace&>(to);
        std::memcpy(place.data(), from, static_cast<std::size_t>(place.layout.bytes()));
    }

    void upload_result(const void* from) override {
        std::memcpy(result_.data(), from, static_cast<std::size_t>(product_.result.bytes()));
    }

    void solve(const OperandPlace& left, const OperandPlace& right, Factor alpha, double beta) override {
        void* const t = static_cast<const CpuPlace&>(left).data();
        void* const s = static_cast<const CpuPlace&>(right).data();
        if (product_.left.packed) {
            bits::multiply_bits(product_.plan, product_.left.bits(t), product_.right.bits(s),
                                product_.result.bits(result_.data()), beta != 0, {product_.cancel});
            return;
        }
        const ProductContext context{.threads = 1, .hooks = {product_.cancel}};
        multiply_in_memory(alpha, product_.left.operand(t), product_.right.operand(s), beta,
                           product_.result.view(result_.data()), product_.plan, context);
    }

    void download(void* to) override {
        std::memcpy(to, result_.data(), static_cast<std::size_t>(product_.result.bytes()));
    }

    void upload_rows(OperandPlace& to, const HostRows& from) override {
        const auto& place = static_cast<const CpuPlace&>(to);
        auto* const first = static_cast<std::byte*>(place.data());
        const std::int64_t pitch = place.layout.line_bytes();
        for (std::int64_t i = 0; i < from.count; ++i) {
            std::memcpy(first + i * pitch, from.data + i * from.pitch_bytes, static_cast<std::size_t>(from.row_bytes));
        }
    }

    void download_rows(const HostRows& to) override {
        const auto* const from = reinterpret_cast<const std::byte*>(result_.data());
        const std::int64_t pitch = product_.result.line_bytes();
        for (std::int64_t i = 0; i < to.count; ++i) {
            std::memcpy(to.data + i * to.pitch_bytes, from + i * pitch, static_cast<std::size_t>(to.row_bytes));
        }
    }

private:
    SubProduct product_;
    bits::WordBuffer result_;
};

class CpuDevice final : public ComputeDevice {
public:
    std::unique_ptr<Lane> open_lane(const SubProduct& product) override { return std::make_unique<CpuLane>(product); }
    std::unique_ptr<OperandPlace> open_place(const SubProduct& product, Operand operand) override {
        return std::make_unique<CpuPlace>(operand == Operand::left ? product.left : product.right);
    }
    HostBuffer host_buffer(std::int64_t bytes) override {
        return {bits::allocate_words(bytes), [](void* memory) { bits::release_words(memory); }};
    }
};

}  // namespace

std::unique_ptr<ComputeDevice> open_core() {
    return std::make_unique<CpuDevice>();
}

}  // namespace heptad
