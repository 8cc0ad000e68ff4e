// Memory of this process as the kernel counts it.
#pragma once

#include <cstdint>

namespace heptad {

/// What it has now.
std::int64_t resident_bytes();
/// The most that it ever had since it was started, or since forget_peak_resident(). Not what the program had that
/// started it, which getrusage(2) would count as well.
std::int64_t peak_resident_bytes();
/// Lets that count begin anew with what it has now, for the whole process. False: the kernel does not allow it.
bool forget_peak_resident();

}  // namespace heptad
