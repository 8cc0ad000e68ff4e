#include "api/cublas/pointer_batch.hpp"

#include "base/fail_if.hpp"

namespace heptad::cublas {
namespace {

/// Read and written; an H200 reaches 4.3e12 in plain copies.
constexpr double kCopiedBytesPerS = 3e12;
constexpr double kLaunch_s = 3e-6;

cuda::PointedMatrix pointed(const Operand& x, std::int64_t rows, std::int64_t cols, Type type) {
    return {static_cast<void* const*>(x.data), rows, cols, x.leading, element_bytes(type)};
}

void check_launch(cuda::DeviceStatus status) {
    fail_if(status != 0, ErrorCode::internal, "CUDA could not copy a matrix of a batch by pointers (error {})", status);
}

cuda::PointedMatrix at(cuda::PointedMatrix first, std::int64_t index) {
    first.address += index;
    return first;
}

std::byte* after(void* memory, std::int64_t bytes) {
    return static_cast<std::byte*>(memory) + bytes;
}

}  // namespace

PointerBatch::PointerBatch(const GemmCall& call, bool reads_result)
    : call_(call), reads_result_(reads_result), c_(pointed(call.c, call.m, call.n, call.type)) {
    const bool a_as_is = call.op_a == kOpN, b_as_is = call.op_b == kOpN;
    a_ = pointed(call.a, a_as_is ? call.m : call.k, a_as_is ? call.k : call.m, call.type);
    b_ = pointed(call.b, b_as_is ? call.k : call.n, b_as_is ? call.n : call.k, call.type);
    offset_b_ = bytes_of(a_);
    offset_c_ = offset_b_ + bytes_of(b_);
    call_.count = 1;
    call_.a.leading = a_.rows;
    call_.b.leading = b_.rows;
    call_.c.leading = c_.rows;
}

/// To the next boundary that kernels like.
std::int64_t PointerBatch::bytes_of(const cuda::PointedMatrix& matrix) const {
    constexpr std::int64_t kBoundary = 256;
    const std::int64_t bytes = matrix.rows * matrix.cols * static_cast<std::int64_t>(matrix.element_bytes);
    return (bytes + kBoundary - 1) / kBoundary * kBoundary;
}

double PointerBatch::copies_s() const {
    const std::int64_t copied = offset_c_ + bytes_of(c_) * (reads_result_ ? 2 : 1);
    return 2 * static_cast<double>(copied) / kCopiedBytesPerS + (reads_result_ ? 4 : 3) * kLaunch_s;
}

Product PointerBatch::gather(std::int64_t index, void* memory, void* stream) const {
    check_launch(cuda::launch_gather(at(a_, index), memory, stream));
    check_launch(cuda::launch_gather(at(b_, index), after(memory, offset_b_), stream));
    if (reads_result_) {
        check_launch(cuda::launch_gather(at(c_, index), after(memory, offset_c_), stream));
    }
    GemmCall copied = call_;
    copied.a.data = memory;
    copied.b.data = after(memory, offset_b_);
    copied.c.data = after(memory, offset_c_);
    return product_of(as_products(copied).value(), 0);
}

void PointerBatch::scatter(std::int64_t index, const void* memory, void* stream) const {
    check_launch(cuda::launch_scatter(static_cast<const std::byte*>(memory) + offset_c_, at(c_, index), stream));
}

}  // namespace heptad::cublas
