// The registry of commands. A command enters itself, from its own file, so that a program has the commands it is linked
// with and nobody keeps a list of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace heptad::cli {

/// An entry that stands in the list of its kind from before main() on. The list is made of the entries themselves:
/// memory that ran out there could not be told.
template <class Entry>
class Registration {
public:
    explicit Registration(const Entry& given) : entry(given), next(first) { first = this; }
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

    const Entry entry;
    const Registration* const next;
    static inline constinit const Registration* first = nullptr;
};

using Action = std::function<void()>;

/// A command that stands in the parser.
struct Command {
    CLI::App* app = nullptr;
    std::function<Action()> action;  // from the words, once they are parsed. Throws Error(usage)
    std::string usual = {};          // of a command with others below it: the one that is meant where none is named
};

struct CommandEntry {
    std::string_view parent = {};  // empty: the program
    int order = 0;                 // in the help of the parent
    /// Adds the command and its options. `typed` is the whole command line, for result files.
    Command (*add)(CLI::App& parent, const std::string& typed) = nullptr;
};
using RegisterCommand = Registration<CommandEntry>;

/// Whether other commands stand below the one of this name.
bool holds_commands(std::string_view name);

/// What the words ask for, help and version too. Throws Error(usage).
Action parse_command_line(const std::vector<std::string>& given);

/// What `heptad algorithms NAME` tells besides algorithms.
struct AlgorithmTopic {
    const char* name = "";
    const char* does = "";  // in the help, after its name
    void (*run)(bool json) = nullptr;
};
using RegisterTopic = Registration<AlgorithmTopic>;

}  // namespace heptad::cli
