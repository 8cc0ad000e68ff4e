// From the words of a command line to what one command does. Values are taken as words and turned into checked values
// by the files of each command, so that every wrong one is answered by a sentence of ours.
#include "command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <tuple>

#include <heptad/heptad.hpp>

#include "base/error.hpp"
#include "option_words.hpp"
#include "output.hpp"

namespace heptad::cli {
namespace {

/// Those of the program first, then those below them, each in its order.
std::vector<CommandEntry> sorted_entries() {
    std::vector<CommandEntry> entries;
    for (const RegisterCommand* each = RegisterCommand::first; each != nullptr; each = each->next) {
        entries.push_back(each->entry);
    }
    std::ranges::sort(entries, [](const CommandEntry& x, const CommandEntry& y) {
        return std::tie(x.parent, x.order) < std::tie(y.parent, y.order);
    });
    return entries;
}

/// A command with others below it, alone or with options only, means the usual one of those.
std::vector<std::string> with_usual_command(std::vector<std::string> words, const std::vector<Command>& commands) {
    const bool help = words.size() > 1 && (words[1] == "-h" || words[1] == "--help");
    if (words.empty() || help || (words.size() > 1 && !words[1].starts_with("-"))) {
        return words;
    }
    for (const Command& command : commands) {
        if (!command.usual.empty() && command.app->get_name() == words[0]) {
            words.insert(words.begin() + 1, command.usual);
            break;
        }
    }
    return words;
}

std::string as_typed(const std::vector<std::string>& words) {
    std::string typed = "heptad";
    for (const std::string& word : words) {
        typed += " " + (word.find(' ') == std::string::npos ? word : "'" + word + "'");
    }
    return typed;
}

}  // namespace

bool holds_commands(std::string_view name) {
    for (const RegisterCommand* each = RegisterCommand::first; each != nullptr; each = each->next) {
        if (!name.empty() && each->entry.parent == name) {
            return true;
        }
    }
    return false;
}

Action parse_command_line(const std::vector<std::string>& given) {
    CLI::App root("Heptad multiplies matrices with fewer multiplications.", "heptad");
    narrow_help(root);
    root.set_version_flag("--version", std::string("heptad ") + version());
    root.require_subcommand(1);
    root.footer(
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 out of memory or disk, 5 verification failed, "
        "130 interrupted.\nExample: heptad mul A.npy B.npy -o C.npy");
    const std::string typed = as_typed(given);
    std::vector<Command> commands;
    for (const CommandEntry& entry : sorted_entries()) {
        CLI::App& parent = entry.parent.empty() ? root : *root.get_subcommand(std::string(entry.parent));
        commands.push_back(entry.add(parent, typed));
    }

    require_words(given);
    std::vector<std::string> words = with_usual_command(given, commands);
    std::ranges::reverse(words);  // the order this form of parse() wants
    try {
        root.parse(words);
    } catch (const CLI::CallForVersion& call) {
        return [text = std::string(call.what()) + "\n"] { print(text); };
    } catch (const CLI::CallForHelp&) {
        return [text = root.help()] { print(text); };
    } catch (const CLI::ParseError& error) {
        fail(ErrorCode::usage, "{}", usage_sentence(root, error));
    }
    for (const Command& command : commands) {
        if (command.app->parsed() && command.action) {
            return command.action();
        }
    }
    fail(ErrorCode::internal, "the command line was parsed but names no command");
}

}  // namespace heptad::cli
