// One function per command, each in the file of its name. All throw heptad::Error; its code is the exit code.
#pragma once

#include "options.hpp"

namespace heptad::cli {

void run(const MulArguments& mul);
void run(const PlanArguments& arguments);
void run(const VerifyArguments& arguments);
void run(const GenArguments& arguments);
void run(const InfoArguments& arguments);
void run(const ClosureArguments& asked);
void run(const AlgorithmsArguments& arguments);
void run(const TuneArguments& arguments);

}  // namespace heptad::cli
