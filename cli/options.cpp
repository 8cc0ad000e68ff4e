// From the words of a command line to the arguments of one command. Values are taken as words and turned into checked
// values by the files of each command, so that every wrong one is answered by a sentence of ours.
#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "option_words.hpp"

namespace heptad::cli {
namespace {

/// `heptad bench` alone, or with options only, means its first suite.
std::vector<std::string> with_default_suite(std::vector<std::string> words) {
    const bool bench = !words.empty() && words[0] == "bench";
    const bool help = words.size() > 1 && (words[1] == "-h" || words[1] == "--help");
    if (bench && !help && (words.size() == 1 || words[1].starts_with("-"))) {
        words.insert(words.begin() + 1, "cpu");
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

std::string usage_sentence(const CLI::App& root, const CLI::ParseError& error) {
    std::string path = root.get_name();
    const CLI::App* deepest = &root;
    while (!deepest->get_subcommands().empty()) {
        deepest = deepest->get_subcommands().front();
        path += " " + deepest->get_name();
    }
    std::string complaint = error.what();
    if (const auto twice = complaint.find(": At Most 1 required"); twice != std::string::npos) {
        complaint = complaint.substr(0, twice) + " was given more than once; give it once";
    }
    // A word that nobody knows explains whatever else is missing.
    const std::vector<std::string> extra = root.remaining(true);
    const bool needs_command = deepest == &root || path == "heptad bench";
    if (!extra.empty()) {
        const char* kind = extra[0].starts_with("-") ? "option" : needs_command ? "command" : "argument";
        complaint = fmt::format("unknown {} '{}'", kind, extra[0]);
    } else if (needs_command) {
        complaint = "a command is missing";
    }
    return fmt::format("{}; see '{} --help'", complaint, path);
}

void require_words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool option_without_value = words[i].starts_with("--") && words[i].ends_with("=");
        if (words[i].empty() || option_without_value) {
            fail(ErrorCode::usage, "there is nothing after '{}', where a word was expected; give it or leave both out",
                 option_without_value ? words[i]
                 : i > 0              ? words[i - 1]
                                      : "heptad");
        }
    }
}

Invocation parse_command_line(const std::vector<std::string>& given) {
    CLI::App root("Heptad multiplies matrices with fewer multiplications.", "heptad");
    root.set_version_flag("--version", std::string("heptad ") + version());
    root.require_subcommand(1);
    root.footer(
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 4 out of memory or disk, 5 verification failed, "
        "130 interrupted.\nExample: heptad mul A.npy B.npy -o C.npy");
    std::vector<Registered> commands{add_mul(root),        add_plan(root), add_verify(root),
                                     add_gen(root),        add_info(root), add_closure(root),
                                     add_algorithms(root), add_tune(root), add_report(root)};
    CLI::App* bench = root.add_subcommand("bench", "time Heptad against the vendor libraries, in one run");
    bench->require_subcommand(1);
    bench->footer("Without a suite: cpu.\nExample: heptad bench cpu --quick");
    for (Registered& suite : add_bench_suites(*bench, as_typed(given))) {
        commands.push_back(std::move(suite));
    }

    require_words(given);
    std::vector<std::string> words = with_default_suite(given);
    std::reverse(words.begin(), words.end());  // the order this form of parse() wants
    try {
        root.parse(words);
    } catch (const CLI::CallForVersion& call) {
        return HelpText{std::string(call.what()) + "\n"};
    } catch (const CLI::CallForHelp&) {
        return HelpText{root.help()};
    } catch (const CLI::ParseError& error) {
        fail(ErrorCode::usage, "{}", usage_sentence(root, error));
    }
    for (const Registered& command : commands) {
        if (command.app->parsed()) {
            return command.arguments();
        }
    }
    fail(ErrorCode::internal, "the command line was parsed but names no command");
}

}  // namespace heptad::cli
