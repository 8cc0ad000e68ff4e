// A large call of somebody's cublasSgemm as a product of ours, enqueued on his stream.
#pragma once

#include <optional>

#include "api/cublas/gemm_call.hpp"

namespace heptad::cublas {

/// What the handle of a call says of it. `type`: f32 becomes tf32 where the handle's math mode allows that.
struct HandleSettings {
    void* stream = nullptr;
    Type type = Type::f32;
};

/// Nothing: the call is for the library alone, because its scalars lie on the device, its handle asks for arithmetic
/// that we do not have, or for a part of the device.
std::optional<HandleSettings> settings_of(CallingObject& caller, Handle handle, Type type);

/// The status to return; nothing: nothing was done, call the real function. That is so where no plan of ours pays,
/// where there is no memory for it, and where we do not know what is meant (C overlaps A or B). Never waits for the
/// device, never throws.
std::optional<Status> multiply_fast(CallingObject& caller, const GemmCall& call, void* stream) noexcept;

}  // namespace heptad::cublas
