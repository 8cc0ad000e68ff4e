// One way to fail: throw heptad::Error with a code and a formatted sentence.
#pragma once

#include <fmt/format.h>

#include <heptad/heptad.hpp>

namespace heptad {

template <class... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> sentence, Args&&... args) {
    throw Error(code, fmt::format(sentence, std::forward<Args>(args)...));
}

}  // namespace heptad
