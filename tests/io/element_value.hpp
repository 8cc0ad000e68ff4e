// One element of a matrix of any type as a double, for tests that compare values across types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.hpp"
#include "base/types.hpp"
#include "base/view.hpp"

namespace heptad {

inline double value_at(const ConstView& v, std::int64_t i, std::int64_t j) {
    const std::byte* const at = element_pointer(v, i, j);
    switch (v.type) {
        case Type::f64:
            return *reinterpret_cast<const double*>(at);
        case Type::f32:
        case Type::tf32:
            return *reinterpret_cast<const float*>(at);
        case Type::bf16:
            return to_float(*reinterpret_cast<const bf16*>(at));
        case Type::f16:
            return to_float(*reinterpret_cast<const f16*>(at));
        case Type::i32:
            return *reinterpret_cast<const std::int32_t*>(at);
        case Type::i64:
            return static_cast<double>(*reinterpret_cast<const std::int64_t*>(at));
        default:
            return *reinterpret_cast<const std::uint8_t*>(at);
    }
}

}  // namespace heptad
