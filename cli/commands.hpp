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
void run(const BenchCpuArguments& bench);
void run(const BenchGpuArguments& bench);
void run(const BenchP0Arguments& bench);
void run(const BenchP1Arguments& bench);
void run(const BenchP3Arguments& bench);
void run(const BenchModelArguments& bench);
void run(const BenchBitsArguments& bench);
void run(const BenchDevicesArguments& bench);
void run(const BenchFilesArguments& bench);
void run(const ReportArguments& arguments);
/// `heptad bench files` without files.
void run_p4_set(const BenchFilesArguments& bench);

}  // namespace heptad::cli
