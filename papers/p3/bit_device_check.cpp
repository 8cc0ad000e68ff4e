#include "papers/p3/bit_device_check.hpp"

#include "base/splitmix.hpp"
#include "product/device/bit_device_product.hpp"
#include "product/device/device_bits.hpp"

namespace heptad {
namespace {

void multiply_plainly(cuda::BitOperation operation, const ConstBitView& a, const ConstBitView& b, const BitView& c,
                      int device, void* stream) {
    BitDeviceOptions options;
    options.leaf = "words";
    options.levels = 0;
    const bool aligned = is_aligned_for_leaf(a.words, a.stride);
    multiply_bits_on_device(plan_bit_device_product({operation, {a.rows, a.cols, b.cols}, aligned}, options), a, b, c,
                            false, device, stream);
}

void copy_to_host(const std::uint64_t* from, std::int64_t row_words, std::uint64_t* to, std::int64_t rows,
                  std::int64_t words, void* stream) {
    cuda::copy_rows(from, 8 * row_words, to, 8 * words, 8 * words, rows, stream);
}

/// A stream of its own would not see what the caller's is still making; a fence in that stream does.
void wait_for(int device, void* stream) {
    cuda::Timer fence(device);
    fence.start(stream);
    fence.stop(stream);
    fence.seconds();
}

std::int64_t differing(const std::vector<std::uint64_t>& x, const std::vector<std::uint64_t>& y, std::int64_t rows,
                       std::int64_t words, std::uint64_t last_mask) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
        bool same = true;
        for (std::int64_t w = 0; w < words; ++w) {
            const auto at = static_cast<std::size_t>(i * words + w);
            same = same && ((x[at] ^ y[at]) & (w + 1 == words ? last_mask : ~std::uint64_t{0})) == 0;
        }
        count += same ? 0 : 1;
    }
    return count;
}

}  // namespace

std::int64_t differing_rows_over_gf2(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                                     std::uint64_t seed, int device, void* stream) {
    constexpr std::int64_t kVectors = 64;
    const cuda::DeviceScope scope(device);
    DeviceBits x(b.cols, kVectors, device, stream), bx(b.rows, kVectors, device, stream),
        abx(a.rows, kVectors, device, stream), cx(a.rows, kVectors, device, stream);
    cuda::fill_random_bits(x.view.words, b.cols * x.view.stride, seed, 0.5, stream);
    multiply_plainly(cuda::BitOperation::parity, b, x.view, bx.view, device, stream);
    multiply_plainly(cuda::BitOperation::parity, a, bx.view, abx.view, device, stream);
    multiply_plainly(cuda::BitOperation::parity, c, x.view, cx.view, device, stream);
    std::vector<std::uint64_t> left(static_cast<std::size_t>(a.rows)), right(left.size());
    copy_to_host(abx.view.words, abx.view.stride, left.data(), a.rows, 1, stream);
    copy_to_host(cx.view.words, cx.view.stride, right.data(), a.rows, 1, stream);
    wait_for(device, stream);
    return differing(left, right, a.rows, 1, ~std::uint64_t{0});
}

std::int64_t differing_rows_of_booleans(const ConstBitView& a, const ConstBitView& b, const ConstBitView& c,
                                        std::int64_t count, std::uint64_t seed, int device, void* stream) {
    const cuda::DeviceScope scope(device);
    const std::int64_t rows = std::min(count, a.rows), words = bits::words_of(c.cols);
    DeviceBits some(rows, a.cols, device, stream), product(rows, c.cols, device, stream);
    std::vector<std::uint64_t> wanted(static_cast<std::size_t>(rows * words)), found(wanted.size());
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto row = static_cast<std::int64_t>(splitmix_word(seed, i) % static_cast<std::uint64_t>(a.rows));
        const std::int64_t row_bytes = 8 * bits::words_of(a.cols);
        cuda::copy_rows(a.words + row * a.stride, row_bytes, some.view.words + i * some.view.stride, row_bytes,
                        row_bytes, 1, stream);
        copy_to_host(c.words + row * c.stride, c.stride, found.data() + i * words, 1, words, stream);
    }
    multiply_plainly(cuda::BitOperation::any, some.view, b, product.view, device, stream);
    copy_to_host(product.view.words, product.view.stride, wanted.data(), rows, words, stream);
    wait_for(device, stream);
    return differing(wanted, found, rows, words, bits::low_bits(c.cols - 64 * (words - 1)));
}

}  // namespace heptad
