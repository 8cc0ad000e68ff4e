#include "bench/suites/device_operand.hpp"

#include <algorithm>

#include "cli/interrupt.hpp"
#include "io/generate.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kLargestBlock = 4096;  // rows and columns
constexpr std::int64_t kSmallestBlock = 64;

std::int64_t block_side(std::int64_t largest_side) {
    return std::clamp(std::min(largest_side, kLargestBlock) * 2, kSmallestBlock, kLargestBlock);
}

/// Well mixed bits of a number (the finaliser of splitmix64).
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

std::int64_t element_size(Type type) {
    return static_cast<std::int64_t>(element_bytes(type));
}

}  // namespace

DeviceOperand::DeviceOperand(Type type, std::int64_t rows, std::int64_t cols, const cuda::Stream& stream)
    : memory(stream.device(), matrix_bytes(type, rows, cols), stream.handle()),
      size_bytes(matrix_bytes(type, rows, cols)),
      view(memory.data(), type, rows, cols, cols, 1) {}

RandomBlock::RandomBlock(Type type, std::int64_t largest_side, const cuda::Stream& stream)
    : stream_(&stream), block_(type, block_side(largest_side), block_side(largest_side), stream) {
    const Matrix host =
        generate("uniform", block_.view.rows, block_.view.cols, type, 1, {}, FileHooks{0, {}, interrupt_token()});
    cuda::copy_rows(host.data(), host.size_bytes(), block_.view.data, host.size_bytes(), host.size_bytes(), 1,
                    stream.handle());
    stream.synchronize();  // before the host's copy goes
}

DeviceOperand RandomBlock::matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) const {
    DeviceOperand operand(type(), rows, cols, *stream_);
    const std::int64_t part = block_.view.rows / 2;
    const auto places = static_cast<std::uint64_t>(block_.view.rows - part + 1);
    std::uint64_t state = mixed(seed);
    const auto next_place = [&] {
        state = mixed(state);
        return static_cast<std::int64_t>(state % places);
    };
    for (std::int64_t i = 0; i < rows; i += part) {
        for (std::int64_t j = 0; j < cols; j += part) {
            const std::int64_t from_row = next_place(), from_col = next_place();
            cuda::copy_rows(element_pointer(block_.view, from_row, from_col),
                            block_.view.row_stride * element_size(type()), element_pointer(operand.view, i, j),
                            cols * element_size(type()), std::min(part, cols - j) * element_size(type()),
                            std::min(part, rows - i), stream_->handle());
        }
    }
    return operand;
}

}  // namespace heptad::cli
