// A matrix that owns its memory. Storage is dense, row- or column-major, aligned to a cache line, and to 2 MiB (huge
// pages asked for) from 4 MiB on.
#pragma once

#include <cstdint>
#include <memory>

#include "base/view.hpp"

namespace heptad {

enum class Order : std::uint8_t { row_major, column_major };

class Matrix {
public:
    /// 0 x 0 of f32.
    Matrix() = default;
    /// Contents are undefined. Throws Error(input) for a negative or overflowing size and Error(resource), naming the
    /// bytes, where the memory cannot be had.
    Matrix(Type type, std::int64_t rows, std::int64_t cols, Order order = Order::row_major);

    /// A matrix that was moved from is 0 x 0.
    Matrix(Matrix&& other) noexcept { swap(other); }
    Matrix& operator=(Matrix&& other) noexcept;

    Type type() const { return type_; }
    std::int64_t rows() const { return rows_; }
    std::int64_t cols() const { return cols_; }
    Order order() const { return order_; }
    std::int64_t size_bytes() const { return bytes_; }
    /// nullptr only where there are no elements.
    void* data() { return memory_.get(); }
    const void* data() const { return memory_.get(); }

    View view();
    ConstView view() const;
    operator ConstView() const { return view(); }

    /// Sets every element to zero.
    void clear();

private:
    void swap(Matrix& other) noexcept;

    struct Release {
        std::int64_t mapped_bytes;  // 0: came from operator new
        Release() : mapped_bytes(0) {}
        explicit Release(std::int64_t mapped) : mapped_bytes(mapped) {}
        void operator()(void* memory) const noexcept;
    };
    Type type_ = Type::f32;
    std::int64_t rows_ = 0, cols_ = 0;
    Order order_ = Order::row_major;
    std::int64_t bytes_ = 0;
    std::unique_ptr<void, Release> memory_;
};

/// The bytes rows x cols elements of a type take. Throws Error(input) for a negative or overflowing size.
std::int64_t matrix_bytes(Type type, std::int64_t rows, std::int64_t cols);

}  // namespace heptad
