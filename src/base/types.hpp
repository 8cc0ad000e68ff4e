// Facts of the element types that are not public.
#pragma once

#include <heptad/heptad.hpp>

namespace heptad {

/// 2^-p for a significand of p bits; 0 for exact types. For tf32: of the rounded factors, not of the f32 as stored.
double unit_roundoff(Type type);

/// Integers that wrap: modulo 2^32, modulo 2^64.
constexpr bool is_integer(Type type) {
    return type == Type::i32 || type == Type::i64;
}

constexpr bool is_float(Type type) {
    return !is_integer(type) && type != Type::gf2 && type != Type::boolean;
}

constexpr bool is_complex(Type type) {
    return type == Type::c64 || type == Type::c128;
}

/// Of the real and imaginary parts.
constexpr Type part_type(Type complex) {
    return complex == Type::c64 ? Type::f32 : Type::f64;
}

/// May a product of such operands have such a result? The same type, or f32 for the 16-bit floats, whose sums are f32
/// anyway.
constexpr bool is_result_type(Type operands, Type result) {
    return result == operands || (result == Type::f32 && (operands == Type::bf16 || operands == Type::f16));
}

}  // namespace heptad
