#include "base/complex_as_real.hpp"

#include "base/over_rows.hpp"

namespace heptad {

void copy_rows(const ConstView& from, void* to, ThreadPool& pool) {
    with_part_type(from.type, [&]<class T>() {
        over_rows(from.rows, from.cols, pool, [&](std::int64_t i) {
            const T* const row = static_cast<const T*>(from.data) + 2 * i * from.row_stride;
            T* const copy = static_cast<T*>(to) + 2 * i * from.cols;
            for (std::int64_t j = 0; j < from.cols; ++j) {
                copy[2 * j] = row[2 * j * from.col_stride];
                copy[2 * j + 1] = row[2 * j * from.col_stride + 1];
            }
        });
    });
}

void expand_right(const ConstView& b, bool left_is_conjugate, void* to, ThreadPool& pool) {
    with_part_type(b.type, [&]<class T>() {
        const T of_imaginary = b.conjugate ? T{-1} : T{1}, of_second_row = left_is_conjugate ? T{-1} : T{1};
        over_rows(b.rows, 4 * b.cols, pool, [&](std::int64_t p) {
            const T* const row = static_cast<const T*>(b.data) + 2 * p * b.row_stride;
            T* const first = static_cast<T*>(to) + 4 * p * b.cols;
            T* const second = first + 2 * b.cols;
            for (std::int64_t j = 0; j < b.cols; ++j) {
                const T real = row[2 * j * b.col_stride];
                const T imaginary = of_imaginary * row[2 * j * b.col_stride + 1];
                first[2 * j] = real;
                first[2 * j + 1] = imaginary;
                second[2 * j] = -of_second_row * imaginary;
                second[2 * j + 1] = of_second_row * real;
            }
        });
    });
}

}  // namespace heptad
