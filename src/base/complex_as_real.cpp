#include "base/complex_as_real.hpp"

#include "base/over_rows.hpp"

namespace heptad {
namespace {

template <class T>
std::complex<T> times(const std::complex<double>& factor, T real, T imaginary) {
    if (factor == 1.0) {
        return {real, imaginary};
    }
    const auto x = static_cast<double>(real), y = static_cast<double>(imaginary);
    return {static_cast<T>(factor.real() * x - factor.imag() * y),
            static_cast<T>(factor.real() * y + factor.imag() * x)};
}

}  // namespace

void copy_rows(const ConstView& from, void* to, ThreadPool& pool, const std::complex<double>& factor) {
    with_part_type(from.type, [&]<class T>() {
        over_rows(from.rows, from.cols, pool, [&](std::int64_t i) {
            const T* const row = static_cast<const T*>(from.data) + 2 * i * from.row_stride;
            T* const copy = static_cast<T*>(to) + 2 * i * from.cols;
            for (std::int64_t j = 0; j < from.cols; ++j) {
                const T* const at = row + 2 * j * from.col_stride;
                const std::complex<T> value = times(factor, at[0], at[1]);
                copy[2 * j] = value.real();
                copy[2 * j + 1] = value.imag();
            }
        });
    });
}

void expand_right(const ConstView& b, bool left_is_conjugate, void* to, ThreadPool& pool,
                  const std::complex<double>& factor) {
    with_part_type(b.type, [&]<class T>() {
        const T of_imaginary = b.conjugate ? T{-1} : T{1}, of_second_row = left_is_conjugate ? T{-1} : T{1};
        over_rows(b.rows, 4 * b.cols, pool, [&](std::int64_t p) {
            const T* const row = static_cast<const T*>(b.data) + 2 * p * b.row_stride;
            T* const first = static_cast<T*>(to) + 4 * p * b.cols;
            T* const second = first + 2 * b.cols;
            for (std::int64_t j = 0; j < b.cols; ++j) {
                const T* const at = row + 2 * j * b.col_stride;
                const std::complex<T> value = times(factor, at[0], of_imaginary * at[1]);
                const T real = value.real(), imaginary = value.imag();
                first[2 * j] = real;
                first[2 * j + 1] = imaginary;
                second[2 * j] = -of_second_row * imaginary;
                second[2 * j + 1] = of_second_row * real;
            }
        });
    });
}

}  // namespace heptad
