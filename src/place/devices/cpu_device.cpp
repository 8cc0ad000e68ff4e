#include "place/devices/cpu_device.hpp"

#include <cstring>

#include "base/error.hpp"
#include "bits/bit_product.hpp"
#include "bits/word_buffer.hpp"
#include "place/memory/product.hpp"

namespace heptad {
namespace {

class CpuLane final : public Lane {
public:
    explicit CpuLane(const SubProduct& product)
        : product_(product),
          left_(product.left.bytes() / 8),
          right_(product.right.bytes() / 8),
          result_(product.result.bytes() / 8) {}

    void upload(Operand operand, const void* from) override {
        const bool is_left = operand == Operand::left;
        std::memcpy(is_left ? left_.data() : right_.data(), from,
                    static_cast<std::size_t>(is_left ? product_.left.bytes() : product_.right.bytes()));
    }

    void solve(double alpha, double beta) override {
        if (product_.left.packed) {
            bits::multiply_bits(product_.left.type, product_.left.bits(left_.data()),
                                product_.right.bits(right_.data()), product_.result.bits(result_.data()), beta != 0,
                                product_.bit_options, {1, {product_.cancel}});
            return;
        }
        ProductContext context;
        context.threads = 1;
        context.hooks.cancel = product_.cancel;
        multiply_in_memory(alpha, product_.left.view(left_.data()), product_.right.view(right_.data()), beta,
                           product_.result.view(result_.data()), product_.options, context);
    }

    void download(void* to) override {
        std::memcpy(to, result_.data(), static_cast<std::size_t>(product_.result.bytes()));
    }

    void upload_rows(Operand operand, const HostRows& from) override {
        const bool is_left = operand == Operand::left;
        auto* const to = reinterpret_cast<std::byte*>(is_left ? left_.data() : right_.data());
        const std::int64_t pitch = (is_left ? product_.left : product_.right).line_bytes();
        for (std::int64_t i = 0; i < from.count; ++i) {
            std::memcpy(to + i * pitch, from.data + i * from.pitch_bytes, static_cast<std::size_t>(from.row_bytes));
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
    bits::WordBuffer left_, right_, result_;
};

}  // namespace

std::string CpuDevice::name() const {
    return fmt::format("core {}", index_);
}

std::unique_ptr<Lane> CpuDevice::open_lane(const SubProduct& product) {
    return std::make_unique<CpuLane>(product);
}

HostBuffer CpuDevice::host_buffer(std::int64_t bytes) {
    return {bits::allocate_words(bytes), [](void* memory) { bits::release_words(memory); }};
}

}  // namespace heptad
