// The C++ types that elements are stored in, and their values as doubles.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/half.hpp"

namespace heptad {

/// Calls action.template operator()<T>() with the type that elements of a type are stored in.
template <class Action>
decltype(auto) with_stored_type(Type type, Action&& action) {
    switch (type) {
        case Type::f64:
            return action.template operator()<double>();
        case Type::bf16:
            return action.template operator()<bf16>();
        case Type::f16:
            return action.template operator()<f16>();
        case Type::i32:
            return action.template operator()<std::int32_t>();
        case Type::i64:
            return action.template operator()<std::int64_t>();
        case Type::gf2:
        case Type::boolean:
            return action.template operator()<std::uint8_t>();
        default:
            return action.template operator()<float>();
    }
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, bf16> || std::is_same_v<T, f16>;

/// Exactly, but for i64 beyond 2^53.
template <class T>
double to_double(T x) {
    if constexpr (is_half<T>) {
        return static_cast<double>(to_float(x));
    } else {
        return static_cast<double>(x);
    }
}

/// The nearest element; of integers, where it is one.
template <class T>
T from_double(double x) {
    if constexpr (std::is_same_v<T, bf16>) {
        return to_bf16(static_cast<float>(x));
    } else if constexpr (std::is_same_v<T, f16>) {
        return to_f16(static_cast<float>(x));
    } else {
        return static_cast<T>(x);
    }
}

}  // namespace heptad
