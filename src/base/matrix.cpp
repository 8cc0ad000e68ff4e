#include "base/matrix.hpp"

#include <cstring>
#include <new>
#include <utility>

#include "base/fail_if.hpp"
#include "base/huge_pages.hpp"
#include "base/size.hpp"

namespace heptad {
namespace {

constexpr std::size_t kAlignment = 64;
// From here on memory is mapped: it comes back to the system at once when freed, and huge pages spare the TLB.
constexpr std::int64_t kMapFrom_bytes = std::int64_t{4} << 20;

}  // namespace

std::int64_t matrix_bytes(Type type, std::int64_t rows, std::int64_t cols) {
    fail_if(rows < 0 || cols < 0, ErrorCode::input, "a matrix of {} x {} cannot exist; sizes are 0 or more", rows,
            cols);
    std::int64_t elements = 0;
    std::int64_t bytes = 0;
    fail_if(__builtin_mul_overflow(rows, cols, &elements) ||
                __builtin_mul_overflow(elements, static_cast<std::int64_t>(element_bytes(type)), &bytes),
            ErrorCode::input, "a matrix of {} x {} {} takes more bytes than 64 bits can count; use smaller sizes", rows,
            cols, type_name(type));
    return bytes;
}

void Matrix::Release::operator()(void* memory) const noexcept {
    if (mapped_bytes > 0) {
        unmap_pages(memory, mapped_bytes);
    } else {
        ::operator delete (memory, std::align_val_t{kAlignment});
    }
}

Matrix::Matrix(Type type, std::int64_t rows, std::int64_t cols, Order order)
    : type_(type), rows_(rows), cols_(cols), order_(order), bytes_(matrix_bytes(type, rows, cols)) {
    if (bytes_ == 0) {
        return;
    }
    void* memory = nullptr;
    std::int64_t mapped_bytes = 0;
    if (bytes_ < kMapFrom_bytes) {
        memory = ::operator new (static_cast<std::size_t>(bytes_), std::align_val_t{kAlignment}, std::nothrow);
    } else if (bytes_ <= (std::int64_t{1} << 62)) {
        mapped_bytes = round_up(bytes_, kHugePage_bytes);
        memory = map_huge_pages(mapped_bytes);
    }
    fail_if(memory == nullptr, ErrorCode::resource,
            "no memory for a matrix of {} x {} {}: {} bytes ({:.1f} GiB) were refused; free memory "
            "or use smaller matrices",
            rows, cols, type_name(type), bytes_, static_cast<double>(bytes_) / (1 << 30));
    memory_ = std::unique_ptr<void, Release>(memory, Release(mapped_bytes));
}

Matrix& Matrix::operator=(Matrix&& other) noexcept {
    Matrix taken(std::move(other));  // and what this one held goes with `taken`
    swap(taken);
    return *this;
}

void Matrix::swap(Matrix& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(order_, other.order_);
    std::swap(bytes_, other.bytes_);
    std::swap(memory_, other.memory_);
}

View Matrix::view() {
    const bool by_rows = order_ == Order::row_major;
    return {data(), type_, rows_, cols_, by_rows ? cols_ : 1, by_rows ? 1 : rows_};
}

ConstView Matrix::view() const {
    const bool by_rows = order_ == Order::row_major;
    return {data(), type_, rows_, cols_, by_rows ? cols_ : 1, by_rows ? 1 : rows_};
}

void Matrix::clear() {
    if (bytes_ > 0) {
        std::memset(data(), 0, static_cast<std::size_t>(bytes_));
    }
}

}  // namespace heptad
