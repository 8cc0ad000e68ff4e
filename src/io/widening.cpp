#include "io/matrix_source.hpp"

#include <algorithm>

#include "base/fail_if.hpp"
#include "base/stored_type.hpp"
#include "io/hdf5_dataset.hpp"
#include "io/matrix_market.hpp"
#include "io/npy.hpp"

namespace heptad {

bool is_widened(Type from, Type to) {
    const bool is_half = from == Type::f16 || from == Type::bf16;
    return (to == Type::f64 && (is_half || from == Type::f32 || from == Type::i32)) || (to == Type::f32 && is_half) ||
           (to == Type::i64 && from == Type::i32);
}

namespace {

/// None: it has no type of its own, or cannot be read without being told one.
std::optional<Type> stored_type(const MatrixName& name) {
    if (name.raw || name.bits || is_matrix_market_name(name.path)) {
        return std::nullopt;
    }
    try {
        return is_hdf5_name(name.path) ? find_hdf5_dataset(name.path, {}).type : read_npy_header(name.path).type;
    } catch (const Error&) {
        return std::nullopt;  // told by whoever reads it as what was asked for
    }
}

template <class To>
Matrix converted(const Matrix& matrix, Type to) {
    Matrix result(to, matrix.rows(), matrix.cols(), matrix.order());
    with_stored_type(matrix.type(), [&]<class From>() {
        const auto* const from = static_cast<const From*>(matrix.data());
        std::transform(from, from + matrix.size_bytes() / static_cast<std::int64_t>(sizeof(From)),
                       static_cast<To*>(result.data()), [](From x) { return static_cast<To>(to_double(x)); });
    });
    return result;
}

}  // namespace

std::optional<Type> widened_from(const MatrixName& name) {
    const std::optional<Type> stored = name.as ? stored_type(name) : std::nullopt;
    return stored && is_widened(*stored, *name.as) ? stored : std::nullopt;
}

Matrix widened(const Matrix& matrix, Type to) {
    fail_if(!is_widened(matrix.type(), to), ErrorCode::input, "{} does not hold every value of {}", type_name(to),
            type_name(matrix.type()));
    return to == Type::f64   ? converted<double>(matrix, to)
           : to == Type::i64 ? converted<std::int64_t>(matrix, to)
                             : converted<float>(matrix, to);
}

}  // namespace heptad
