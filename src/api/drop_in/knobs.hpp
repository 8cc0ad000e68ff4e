// What the environment asks of a drop-in; the table with all of them is in docs/drop-in.md.
#pragma once

#include <cstdint>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad::drop_in {

struct Knobs {
    bool off = false;                        // HEPTAD_OFF
    Accuracy accuracy = Accuracy::balanced;  // HEPTAD_ACCURACY
    std::int64_t min_size = 0;               // HEPTAD_MIN_SIZE; 0: by the table
    std::int64_t workspace_bytes = -1;       // HEPTAD_WORKSPACE; -1: what is free
    int levels = -1;                         // HEPTAD_LEVELS; -1: by the table
    std::string algorithm = "auto";          // HEPTAD_ALGORITHM
    bool may_use_device = false;             // HEPTAD_DEVICE
    std::string log;                         // HEPTAD_LOG: "" none, "1" standard error, or a file
    int threads = 0;                         // HEPTAD_THREADS; 0: as the library is set
};

/// As the environment was when first asked. A value that means nothing is told on standard error, once, and left out.
const Knobs& knobs();

}  // namespace heptad::drop_in
