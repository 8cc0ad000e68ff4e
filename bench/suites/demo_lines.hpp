// The lines of `heptad demo`: one product each, timed side by side with another way to get the same result, and the
// errors of both.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::cli {

struct DemoLine {
    std::string kind;     // "f32", "exact", "files" ...
    std::string what;     // the product
    double seconds = 0;   // of Heptad
    double ratio = 0;     // the other way's seconds over Heptad's
    std::string against;  // the other way
    std::string error;    // beside the other way's
};

struct DemoSettings {
    int threads = 1;
    int rounds = 3;
    std::int64_t divisor = 1;  // of the sizes
    std::function<void()> stop_if_interrupted;

    std::int64_t size(std::int64_t usual) const { return usual / divisor; }
};

using DemoStep = std::function<DemoLine(const DemoSettings&)>;

/// f32, f64 and i32 against the best library of this machine, or a loop; bf16 and `exact` against a classical product.
std::vector<DemoStep> demo_number_steps();
/// Over GF(2) and Boolean, against a loop over words.
std::vector<DemoStep> demo_bit_steps();
/// From file to file in pieces against the same in memory, a check against the product that it checks, and a plan
/// against what it predicts.
std::vector<DemoStep> demo_service_steps();
/// Of an NVIDIA device against cuBLAS; none where there is no device.
std::vector<DemoStep> demo_device_steps();

}  // namespace heptad::cli
