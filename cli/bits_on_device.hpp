// `heptad mul` and `plan` of packed bits on an NVIDIA device.
#pragma once

#include "options.hpp"

namespace heptad::cli {

void run_bits_on_device(const MulArguments& mul, Type algebra);
void run_bits_on_device(const PlanArguments& arguments, Type algebra);

}  // namespace heptad::cli
