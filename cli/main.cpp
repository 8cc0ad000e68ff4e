// heptad: parses the command line, runs one command, and turns what it throws into one sentence and an exit code:
// 0 done; 2 wrong usage; 3 bad input; 4 a resource ran out; 5 verification failed; 130 interrupted; 1 internal error.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/errors_only.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "process.hpp"

namespace heptad::cli {
namespace {

/// Printed where there are no words.
std::string welcome_text() {
    // Those of bench/ are there where they were linked.
    const bool compares = holds_commands("bench");
    return fmt::format(
        "Heptad {} multiplies matrices with fewer multiplications.\n\n"
        "  heptad mul A.npy B.npy -o C.npy                multiply two files; add --verify to have C checked\n"
        "  heptad gen uniform --shape 4096x4096 -o A.npy  make a matrix to try things with\n"
        "{}"
        "  heptad plan 8192 8192 8192                     how long a product would take, and how accurate it is\n"
        "  heptad tune                                    measure this machine once, in two minutes: plans get "
        "better\n\n"
        "'heptad --help' lists all commands, 'heptad mul --help' the options of one of them.\n",
        version(),
        compares ? "  heptad demo                                    a product of every kind, in under a minute\n"
                 : "");
}

/// Returns the exit code of what did not fail.
int run_words(char** first, char** last) try {
    interrupt_token();
    if (first == last) {
        print(welcome_text());  // nothing was done, which scripts see by the code, and people need no error to
        return static_cast<int>(ErrorCode::usage);
    }
    parse_command_line({first, last})();
    return 0;
} catch (...) {
    rethrow_as_error();
}

int run_program(int argc, char** argv) {
    // Asked before parsing, because a command line that does not parse is answered in the same form, and of the words
    // as they came, because there may be no memory for copies. A command with others below it (`bench`) takes a file
    // name after --json and prints its table.
    char** const first = argv + std::min(argc, 1);
    char** const last = argv + argc;
    const auto wants_json = [](const char* word) { return word == std::string_view("--json"); };
    const bool names_file = first != last && holds_commands(*first);
    const bool json = !names_file && std::any_of(first, last, wants_json);
    try {
        return run_words(first, last);
    } catch (const Error& error) {
        return print_failure(error, json);
    } catch (const std::exception& error) {
        return print_internal_failure(error.what(), json);
    }
}

}  // namespace
}  // namespace heptad::cli

int main(int argc, char** argv) {
    heptad::cli::prepare_process();
    return heptad::cli::run_program(argc, argv);
}
