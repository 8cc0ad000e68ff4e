// The arithmetic of each element type: how an element is read, multiplied, added and written back.
//   f64: double          f32: float          bf16, f16: float, rounded once when written
//   tf32: float, operands of a product rounded to 10 significand bits
//   i32: integers mod 2^32      i64: integers mod 2^64      gf2: XOR and AND      boolean: OR and AND
#pragma once

#include <bit>
#include <cstdint>

#include "base/stored_type.hpp"
#include "base/view.hpp"
#include "kernels/scalars.hpp"

namespace heptad::reference {

template <class Storage, class Arithmetic>
struct FloatElement {
    using Stored = Storage;
    using Value = Arithmetic;
    static Value load(Stored x) { return static_cast<Value>(to_double(x)); }
    static Stored store(Value x) { return from_double<Stored>(x); }
    static Value coefficient(double x) { return static_cast<Value>(x); }
    static Value zero() { return 0; }
    static Value factor(Value x) { return x; }
    static Value times(Value x, Value y) { return x * y; }
    static Value plus(Value x, Value y) { return x + y; }
};
using F64 = FloatElement<double, double>;
using F32 = FloatElement<float, float>;
using Bf16 = FloatElement<bf16, float>;
using F16 = FloatElement<f16, float>;
struct Tf32 : F32 {
    static Value factor(Value x) { return round_to_tf32(x); }
};

template <class Storage, class Residue, Residue (*residue)(double)>
struct WrappingInteger {
    using Stored = Storage;
    using Value = Residue;
    static Value load(Stored x) { return std::bit_cast<Value>(x); }
    static Stored store(Value x) { return std::bit_cast<Stored>(x); }
    static Value coefficient(double x) { return residue(x); }
    static Value zero() { return 0; }
    static Value factor(Value x) { return x; }
    static Value times(Value x, Value y) { return x * y; }
    static Value plus(Value x, Value y) { return x + y; }
};
using I32 = WrappingInteger<std::int32_t, std::uint32_t, residue_mod_2_32>;
using I64 = WrappingInteger<std::int64_t, std::uint64_t, residue_mod_2_64>;

struct Bit {
    using Stored = std::uint8_t;
    using Value = bool;
    static Stored store(Value x) { return x ? 1 : 0; }
    static Value zero() { return false; }
    static Value factor(Value x) { return x; }
    static Value times(Value x, Value y) { return x && y; }
};
struct Gf2 : Bit {
    static Value load(Stored x) { return (x & 1U) != 0; }
    static Value coefficient(double x) { return residue_mod_2(x); }
    static Value plus(Value x, Value y) { return x != y; }
};
struct Boolean : Bit {
    static Value load(Stored x) { return x != 0; }
    static Value coefficient(double x) { return x != 0; }
    static Value plus(Value x, Value y) { return x || y; }
};

/// Calls action.template operator()<Element>() with the arithmetic of a type.
template <class Action>
void with_element(Type type, Action&& action) {
    switch (type) {
        case Type::f64:
            return action.template operator()<F64>();
        case Type::f32:
            return action.template operator()<F32>();
        case Type::tf32:
            return action.template operator()<Tf32>();
        case Type::bf16:
            return action.template operator()<Bf16>();
        case Type::f16:
            return action.template operator()<F16>();
        case Type::i32:
            return action.template operator()<I32>();
        case Type::i64:
            return action.template operator()<I64>();
        case Type::gf2:
            return action.template operator()<Gf2>();
        case Type::boolean:
            return action.template operator()<Boolean>();
        case Type::c64:
        case Type::c128:
            break;  // made of products of real numbers
    }
}

template <class Element>
typename Element::Value load(const ConstView& v, std::int64_t i, std::int64_t j) {
    return Element::load(static_cast<const typename Element::Stored*>(v.data)[i * v.row_stride + j * v.col_stride]);
}

template <class Element>
void store(const View& v, std::int64_t i, std::int64_t j, typename Element::Value x) {
    static_cast<typename Element::Stored*>(v.data)[i * v.row_stride + j * v.col_stride] = Element::store(x);
}

}  // namespace heptad::reference
