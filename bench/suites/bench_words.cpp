#include "bench/suites/bench_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/error.hpp"
#include "base/fail_if.hpp"
#include "base/types.hpp"
#include "cli/option_words.hpp"
#include "kernels/cuda/device/device.hpp"

namespace heptad::cli {
namespace {

constexpr std::int64_t kMostRounds = 1000;

/// What stands between the x's; nothing unless all are sizes of at least 1.
std::vector<std::int64_t> typed_sides(const std::string& word) {
    std::vector<std::int64_t> sides;
    for (const std::string& part : split(word, 'x')) {
        std::int64_t side = 0;
        const char* end = part.data() + part.size();
        const auto [stop, status] = std::from_chars(part.data(), end, side);
        if (status != std::errc() || stop != end || side < 1) {
            return {};
        }
        sides.push_back(side);
    }
    return sides;
}

}  // namespace

ProblemSize bench_shape(const std::string& option, const std::string& word) {
    const std::vector<std::int64_t> shape = parse_shape(option, word, 3);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        fail(ErrorCode::usage, "{} takes sizes of at least 1, not '{}'", option, word);
    }
    return {shape[0], shape[1], shape[2]};
}

std::vector<ProblemSize> bench_sizes(const std::string& sizes) {
    std::vector<ProblemSize> shapes;
    if (sizes.empty()) {
        return shapes;
    }
    for (const std::string& word : split(sizes, ',')) {
        const std::vector<std::int64_t> sides = typed_sides(word);
        fail_if(sides.size() != 1 && sides.size() != 3, ErrorCode::usage,
                "--sizes takes n or MxKxN, each at least 1, such as 2048,1024x512x2048, not '{}'", word);
        shapes.push_back({sides.front(), sides[sides.size() / 2], sides.back()});
    }
    return shapes;
}

Accuracy bench_accuracy(const std::string& word) {
    return word.empty() ? Options{}.accuracy : parse_accuracy("--accuracy", word);
}

BenchData bench_data(const std::string& word, const std::vector<Type>& types) {
    const std::string data = word.empty() ? "uniform" : parse_choice("--data", word, {"uniform", "lines", "inner"});
    for (const Type type : types) {
        fail_if(data != "uniform" && !may_be_graded(type), ErrorCode::usage,
                "--data {} is made of f32, tf32 or f64, not of {}; choose --types", data, type_name(type));
    }
    return data == "lines" ? BenchData::lines : data == "inner" ? BenchData::inner : BenchData::uniform;
}

void add_data_option(CLI::App& suite, BenchWords& words) {
    add_value(
        suite, "--data D", words.data,
        "uniform (default); graded over 40 octaves, beside uniform data: lines (rows of A, columns of B), inner (k)");
}

double bench_density(const std::string& word) {
    const double density = parse_real("--density", word);
    if (!(density > 0 && density < 1)) {
        fail(ErrorCode::usage, "--density takes a number between 0 and 1, not '{}'", word);
    }
    return density;
}

int bench_rounds(const std::string& word) {
    return word.empty() ? 0 : static_cast<int>(parse_integer("--rounds", word, 1, kMostRounds));
}

std::string bench_device(const std::string& word) {
    if (word.empty()) {
        return "cuda";
    }
    cuda::device_index(word);  // or wrong usage
    return word;
}

std::vector<std::string> chosen(const std::string& option, const std::string& typed, const std::string& choices) {
    std::vector<std::string> words = split(typed.empty() ? choices : typed, ',');
    for (std::string& word : words) {
        word = parse_choice(option, word, split(choices, ','));
    }
    return words;
}

void add_result_options(CLI::App& suite, ResultFiles& results) {
    add_value(suite, "--json F", results.json, "write the result file");
    add_value(suite, "--html F", results.html, "write a page with the results as tables and plots");
}

void add_bench_options(CLI::App& suite, BenchWords& words, bool& quick, ResultFiles& results) {
    suite.add_flag("--quick", quick, "fewer repetitions and fewer sizes");
    add_accuracy_option(suite, words);
    add_result_options(suite, results);
}

void add_accuracy_option(CLI::App& suite, BenchWords& words) {
    add_value(suite, "--accuracy WORD", words.accuracy, kAccuracyHelp);
}

void add_threads_option(CLI::App& suite, BenchWords& words) {
    add_value(suite, "--threads N", words.threads, "threads of Heptad and of the libraries");
}

void add_force_options(CLI::App& suite, BenchWords& words) {
    add_value(suite, "--algorithm NAME", words.algorithm, "auto (default) or a name of the catalogue");
    add_value(suite, "--levels N", words.levels, "exactly this many (default: the predicted best)");
    add_value(suite, "--rounds R", words.rounds, "samples of each (default: by the size of the product)");
}

}  // namespace heptad::cli
