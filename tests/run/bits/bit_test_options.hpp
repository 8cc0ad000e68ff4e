// What tests of products over bits ask for, and the code of an answer.
#pragma once

#include <string>

#include <heptad/bits.hpp>

namespace heptad::test {

inline bits::BitOptions options_of(const std::string& algorithm, int levels, const std::string& leaf = "auto") {
    bits::BitOptions options;
    options.algorithm = algorithm;
    options.levels = levels;
    options.leaf = leaf;
    return options;
}

/// The code of what it throws; 0: nothing.
template <class Call>
int code(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        return static_cast<int>(error.code());
    }
    return 0;
}

}  // namespace heptad::test
