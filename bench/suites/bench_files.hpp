// heptad bench files: one product from files to a file, by Heptad and by the vendor libraries in the same run; the
// result is checked before it is written. This is what `make run` shows.
#pragma once

#include <string>

#include <heptad/heptad.hpp>

#include "bench/suites/result_files.hpp"

namespace heptad::cli {

struct BenchFilesArguments {
    std::string a, b, output;
    ResultFiles results;
    bool quick = false;
    Accuracy accuracy = Accuracy::balanced;
    int threads = 0;
    std::string command;  // as typed, for the result file
};

void bench_files(const BenchFilesArguments& bench);

}  // namespace heptad::cli
