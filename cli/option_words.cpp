// Options that several commands have.
#include "option_words.hpp"

#include <CLI/CLI.hpp>

#include "kernels/cuda/device/device.hpp"
#include "product/device/device_list.hpp"
#include "text.hpp"

namespace heptad::cli {

int thread_count(const std::string& word) {
    return word.empty() ? 0 : static_cast<int>(parse_integer("--threads", word, 1, kMostThreads));
}

void add_columns_option(CLI::App& command, std::string& columns) {
    command
        .add_option("--columns", columns,
                    "bit matrices: .npy files hold eight bits per byte (numpy.packbits), and so many columns")
        ->type_name("N");
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
    if (cuda::is_device_name(word)) {
        cuda::device_index(word);
        return word;
    }
    return parse_choice("--device", word, {"auto", "cpu", "reference", "cuda", "cuda:N", "cuda:N,M", "cpu:N"});
}

}  // namespace heptad::cli
