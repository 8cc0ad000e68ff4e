// What the files that know option names share.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "options.hpp"

namespace CLI {
class App;
}

namespace heptad::cli {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostThreads = 4096;

/// Every command adds itself to the parser and leaves behind how to turn its words into arguments.
struct Registered {
    CLI::App* app = nullptr;
    std::function<Invocation()> arguments;
};

/// 0 where nothing was typed.
int thread_count(const std::string& word);

/// How the host cuts a product up, as typed; only products over devices have that.
struct HostWords {
    std::string device_memory, levels, algorithm, pipelines;
    bool given() const { return !(device_memory.empty() && levels.empty() && algorithm.empty() && pipelines.empty()); }
};
void add_host_options(CLI::App& command, HostWords& words);
/// Throws Error(usage) where options are given and `device` is no device beside the processor.
HostOptions host_options(const HostWords& words, const std::string& device);

/// The suites of `heptad bench`. `typed` is the whole command line, for the result files.
std::vector<Registered> add_bench_suites(CLI::App& bench, const std::string& typed);

}  // namespace heptad::cli
