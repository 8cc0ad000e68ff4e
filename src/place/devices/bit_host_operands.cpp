#include "place/devices/bit_host_operands.hpp"

#include "base/error.hpp"
#include "bits/bit_product.hpp"
#include "place/devices/bit_device_product.hpp"
#include "place/devices/device_bits.hpp"

namespace heptad {
namespace {

void require_host_view(const ConstBitView& view, const char* name) {
    bits::require_view(view, name);
    if (view.offset != 0) {
        fail(ErrorCode::usage, "{} begins at bit {} of a word; for a product on a device it must begin at bit 0", name,
             view.offset);
    }
}

DeviceBits brought_over(const ConstBitView& host, const char* name, const cuda::Stream& stream) {
    require_host_view(host, name);
    DeviceBits copy(host.rows, host.cols, stream.device(), stream.handle());
    copy_bit_rows(host, copy.view, stream.handle());
    return copy;
}

}  // namespace

void multiply_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b,
                                  const BitView& c, bool accumulate, int device) {
    cuda::require_device(device);
    require_host_view(c, "C");
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    const DeviceBits device_a = brought_over(a, "A", stream), device_b = brought_over(b, "B", stream);
    const DeviceBits device_c(c.rows, c.cols, device, stream.handle());
    if (accumulate) {
        copy_bit_rows(c, device_c.view, stream.handle());
    }
    multiply_bits_on_device(plan, device_a.view, device_b.view, device_c.view, accumulate, device, stream.handle());
    copy_bit_rows(device_c.view, c, stream.handle());
    stream.synchronize();
}

void count_host_bits_on_device(const BitDevicePlan& plan, const ConstBitView& a, const ConstBitView& b, std::int32_t* c,
                               std::int64_t c_row_stride, int device) {
    cuda::require_device(device);
    const cuda::DeviceScope scope(device);
    const cuda::Stream stream(device);
    const DeviceBits device_a = brought_over(a, "A", stream), device_b = brought_over(b, "B", stream);
    const std::int64_t row_bytes = 4 * b.cols;
    const cuda::DeviceMemory device_c(device, std::max<std::int64_t>(checked_mul(a.rows, row_bytes), 16),
                                      stream.handle());
    auto* const counts = static_cast<std::int32_t*>(device_c.data());
    count_bits_on_device(plan, device_a.view, device_b.view, counts, b.cols, false, device, stream.handle());
    cuda::copy_rows(counts, row_bytes, c, 4 * c_row_stride, row_bytes, a.rows, stream.handle());
    stream.synchronize();
}

}  // namespace heptad
