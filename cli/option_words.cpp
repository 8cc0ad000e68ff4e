// Options that several commands have, and sentences about words that are no command.
#include "option_words.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/error.hpp"
#include "base/nearest_word.hpp"
#include "product/device/device_facts.hpp"
#include "product/device/device_list.hpp"
#include "product/device/device_product.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

/// What may be meant by a word that `command` does not know.
std::string hint_at(const CLI::App& command, const std::string& word) {
    std::vector<std::string> known;
    if (word.starts_with("-")) {
        for (const CLI::Option* option : command.get_options({})) {
            for (const std::string& name : option->get_lnames()) {
                known.push_back("--" + name);
            }
        }
    } else if (command.get_require_subcommand_min() > 0) {
        for (const CLI::App* one : command.get_subcommands({})) {
            known.push_back(one->get_name());
        }
    } else if (const CLI::Option* output = command.get_option_no_throw("--output"); output && output->count() == 0) {
        return " (the result is named by -o)";
    }
    return nearest_hint(word.substr(0, word.find('=')), known);
}

[[noreturn]] void fail_nothing_after(const std::string& word) {
    fail(ErrorCode::usage,
         "there is nothing after '{}', where a value was expected; give a value or leave the option out", word);
}

/// Help of no more columns than a page of code.
class NarrowHelp : public CLI::Formatter {
public:
    std::string make_option_desc(const CLI::Option* option) const override {
        std::string text = Formatter::make_option_desc(option);
        const std::size_t room = kHelpColumns - get_column_width();
        for (std::size_t line = 0; text.size() - line > room;) {
            const std::size_t blank = text.rfind(' ', line + room);
            if (blank == std::string::npos || blank <= line) {
                break;
            }
            text[blank] = '\n';
            line = blank + 1;
        }
        return text;
    }

private:
    static constexpr std::size_t kHelpColumns = 120;
};

}  // namespace

void narrow_help(CLI::App& root) {
    root.formatter(std::make_shared<NarrowHelp>());
}

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
    const bool needs_command = deepest->get_require_subcommand_min() > 0;
    if (!extra.empty()) {
        const char* kind = extra[0].starts_with("-") ? "option" : needs_command ? "command" : "argument";
        complaint = fmt::format("unknown {} '{}'{}", kind, extra[0], hint_at(*deepest, extra[0]));
    } else if (needs_command) {
        complaint = "a command is missing";
    } else if (const auto alone = complaint.find(": 1 required "); alone != std::string::npos) {
        fail_nothing_after(complaint.substr(0, alone));
    }
    return fmt::format("{}; see '{} --help'", complaint, path);
}

void require_words(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const bool option_without_value = words[i].starts_with("--") && words[i].ends_with("=");
        if (words[i].empty() || option_without_value) {
            fail_nothing_after(option_without_value ? words[i] : i > 0 ? words[i - 1] : "heptad");
        }
    }
}

CLI::Option& add_value(CLI::App& command, const std::string& name, std::string& word, const std::string& help) {
    const auto blank = std::min(name.find(' '), name.size());
    return *command.add_option(name.substr(0, blank), word, help)
                ->type_name(name.substr(std::min(blank + 1, name.size())));
}

void add_threads_option(CLI::App& command, std::string& threads) {
    add_value(command, "--threads N", threads,
              "threads to use (default: HEPTAD_THREADS, OMP_NUM_THREADS or all cores)");
}

int thread_count(const std::string& word) {
    return word.empty() ? 0 : static_cast<int>(parse_integer("--threads", word, 1, kMostThreads));
}

void add_columns_option(CLI::App& command, std::string& columns) {
    add_value(command, "--columns N", columns,
              "bit matrices: .npy files are packed (numpy.packbits) and have this many columns");
}

std::optional<std::int64_t> column_count(const std::string& word) {
    return word.empty() ? std::nullopt : std::optional(parse_integer("--columns", word, 0, kLargestSize));
}

void add_json_flag(CLI::App& command, bool& json) {
    command.add_flag("--json", json, "print one JSON object");
}

std::string parse_device(const std::string& word) {
    if (is_device_list(word)) {
        parse_device_list(word);
        return word;
    }
    if (is_device_product(word)) {
        nvidia_index(word);
        return word;
    }
    return parse_choice("--device", word, {"auto", "cpu", "reference", "cuda", "cuda:N", "cuda:N,M", "cpu:N"});
}

void add_cluster_options(CLI::App& command, ClusterWords& words) {
    add_value(command, "--network RATE", words.network,
              "rate of each node's link, each way: bits per second as in 10G, or bytes as in 1.2GB (default 10G)");
    add_value(command, "--grid PMxPKxPN", words.grid, "algorithm grid: ranks in m, k and n (default: the fastest)");
    add_value(command, "--block XxYxZ", words.block,
              "pegmm and mod-pegmm: blocks of A are XxY, of B YxZ (default: by the rule of Ryu and Kim)");
    command.add_flag("--scatter", words.scatter, "only the root has the files, and sends each rank its parts");
    add_value(command, "--broadcast WORD", words.broadcast, "pegmm with --scatter: pipelined (default) or linear");
}

bool any_given(const ClusterWords& words) {
    return words.scatter ||
           !(words.network.empty() && words.grid.empty() && words.block.empty() && words.broadcast.empty());
}

ClusterRequest cluster_request(const ClusterWords& words, const std::string& algorithm) {
    ClusterRequest request;
    if (is_cluster_algorithm(algorithm)) {
        request.algorithm = algorithm;
    }
    if (!words.grid.empty()) {
        const std::vector<std::int64_t> grid = parse_shape("--grid", words.grid, 3);
        request.grid = ClusterGrid{grid[0], grid[1], grid[2]};
    }
    if (!words.block.empty()) {
        const std::vector<std::int64_t> block = parse_shape("--block", words.block, 3);
        request.block = BlockSize{block[0], block[1], block[2]};
    }
    return request;
}

std::string node_algorithm(const std::string& algorithm) {
    return algorithm.empty() || is_cluster_algorithm(algorithm) ? "auto" : algorithm;
}

ForecastOptions forecast_options(const ClusterWords& words) {
    ForecastOptions options;
    options.scatter = words.scatter;
    if (!words.broadcast.empty()) {
        options.broadcast = parse_choice("--broadcast", words.broadcast, {"pipelined", "linear"}) == "linear"
                                ? Broadcast::linear
                                : Broadcast::pipelined;
    }
    return options;
}

double network_rate(const ClusterWords& words) {
    return words.network.empty() ? ClusterRates{}.network_bytes_per_s
                                 : parse_rate("--network", words.network, RateUnit::bits);
}

}  // namespace heptad::cli
