#include "bench/suites/graded_data.hpp"

#include <cmath>

namespace heptad::cli {
namespace {

constexpr std::int64_t kOctaves = 40;

/// Line number `line` of `lines` counts 2^-this.
int octave(std::int64_t line, std::int64_t lines) {
    return static_cast<int>(kOctaves * line / lines);
}

enum class Grading : std::uint8_t { rows, columns, rows_upwards };

template <class T>
void grade_matrix(Grading by, const View& matrix) {
    T* const entries = static_cast<T*>(matrix.data);
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        for (std::int64_t j = 0; j < matrix.cols; ++j) {
            const int exponent = by == Grading::columns ? octave(j, matrix.cols)
                                 : by == Grading::rows  ? octave(i, matrix.rows)
                                                        : kOctaves - octave(i, matrix.rows);
            T& entry = entries[i * matrix.row_stride + j];
            entry = std::ldexp(entry, -exponent);
        }
    }
}

void grade_matrix(Grading by, const View& matrix) {
    matrix.type == Type::f64 ? grade_matrix<double>(by, matrix) : grade_matrix<float>(by, matrix);
}

}  // namespace

const char* variant_name(BenchData data) {
    return data == BenchData::lines ? "graded lines" : data == BenchData::inner ? "graded k" : "";
}

bool may_be_graded(Type type) {
    return type == Type::f32 || type == Type::tf32 || type == Type::f64;
}

void grade(BenchData data, const View& a, const View& b) {
    if (data == BenchData::lines) {
        grade_matrix(Grading::rows, a);
        grade_matrix(Grading::columns, b);
    } else if (data == BenchData::inner) {
        grade_matrix(Grading::columns, a);
        grade_matrix(Grading::rows_upwards, b);
    }
}

}  // namespace heptad::cli
