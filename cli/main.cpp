// heptad: parses the command line, runs one command, and turns what it throws into one sentence and an exit code:
// 0 done; 2 wrong usage; 3 bad input; 4 a resource ran out; 5 verification failed; 130 interrupted; 1 internal error.
#include <algorithm>
#include <new>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "process.hpp"

namespace heptad::cli {
namespace {

void run(const HelpText& help) {
    print(help.text);
}

int run_words(const std::vector<std::string>& words) {
    // Asked before parsing, because a command line that does not parse is answered in the same form. `bench` takes a
    // file name after --json and prints its table.
    const bool bench = !words.empty() && words[0] == "bench";
    const bool json = !bench && std::find(words.begin(), words.end(), "--json") != words.end();
    try {
        interrupt_token();
        std::visit([](const auto& arguments) { run(arguments); }, parse_command_line(words));
        return 0;
    } catch (const Error& error) {
        return print_failure(error, json);
    } catch (const std::bad_alloc&) {
        return print_failure(Error(ErrorCode::resource, "memory ran out; use smaller matrices or a smaller --memory"),
                             json);
    } catch (const std::exception& error) {
        return print_failure(Error(ErrorCode::internal, std::string("internal error: ") + error.what()), json);
    }
}

}  // namespace
}  // namespace heptad::cli

int main(int argc, char** argv) {
    heptad::cli::prepare_process();
    return heptad::cli::run_words({argv + std::min(argc, 1), argv + argc});
}
