// How often a test of this folder repeats: a seeded sample in `make test`, the full count in `make soak`.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace heptad::citizen {

inline bool is_soak() {
    const char* const word = std::getenv("HEPTAD_SOAK");
    return word != nullptr && std::string(word) == "1";
}

/// `sample` in `make test`, `full` in `make soak`.
inline std::int64_t repetitions(std::int64_t sample, std::int64_t full) {
    return is_soak() ? full : sample;
}

/// The same in every run, unless HEPTAD_SEED says otherwise; print it where a test fails.
inline std::uint64_t seed() {
    const char* const word = std::getenv("HEPTAD_SEED");
    return word == nullptr ? 20 : std::strtoull(word, nullptr, 10);
}

}  // namespace heptad::citizen
