#include "move/ranks/stored_elements.hpp"

#include "base/half.hpp"

namespace heptad {

Type type_in_memory(Type stored) {
    return stored == Type::bf16 || stored == Type::f16 ? Type::f32 : stored;
}

void widen(Type stored, const void* from, std::int64_t count, float* to) {
    const auto convert = [&](const auto* elements) {
        for (std::int64_t i = 0; i < count; ++i) {
            to[i] = to_float(elements[i]);
        }
    };
    if (stored == Type::bf16) {
        convert(static_cast<const bf16*>(from));
    } else {
        convert(static_cast<const f16*>(from));
    }
}

void narrow(Type stored, const float* from, std::int64_t count, void* to) {
    for (std::int64_t i = 0; i < count; ++i) {
        if (stored == Type::bf16) {
            static_cast<bf16*>(to)[i] = to_bf16(from[i]);
        } else {
            static_cast<f16*>(to)[i] = to_f16(from[i]);
        }
    }
}

}  // namespace heptad
