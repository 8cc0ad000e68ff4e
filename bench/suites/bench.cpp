// heptad bench: the command that the suites stand below.
#include <CLI/CLI.hpp>

#include "cli/command.hpp"

namespace heptad::cli {
namespace {

Command add_bench(CLI::App& root, const std::string& /*typed*/) {
    CLI::App* bench = root.add_subcommand("bench", "time Heptad against the vendor libraries, in one run");
    bench->require_subcommand(1);
    bench->footer("Without a suite: cpu.\nExample: heptad bench cpu --quick");
    return {bench, {}, "cpu"};
}

const RegisterCommand registered_bench({.order = 10, .add = add_bench});

}  // namespace
}  // namespace heptad::cli
