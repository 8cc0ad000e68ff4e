// The two ways of a call.
#pragma once

#include "api/cublas/calling_object.hpp"
#include "api/cublas/cublas_abi.hpp"
#include "api/cublas/cublas_takeover.hpp"
#include "api/drop_in/pass_on.hpp"

namespace heptad::cublas {

/// May it be taken over, as far as its size, its caller and the calls around it go?
inline bool is_taken(const CallingObject& caller, Type type, std::int64_t m, std::int64_t n, std::int64_t k) {
    return !is_small(type, m, n, k) && !drop_in::PassOn::is_on() && !caller.is_cublas();
}

/// As it came, with the calls that cuBLAS makes on its behalf. A process that has no cuBLAS has no handle either.
template <class... Arguments>
Status pass_on(CallingObject& caller, Function entry, Arguments... arguments) {
    const auto real = caller.function<Status (*)(Arguments...)>(entry);
    if (real == nullptr) {
        return kNotInitialized;
    }
    const drop_in::PassOn nested_calls;
    return real(arguments...);
}

}  // namespace heptad::cublas
