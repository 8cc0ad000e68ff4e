// The words that the suites of `heptad bench` share, and what they mean. What is wrong throws Error(usage).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/suites/graded_data.hpp"
#include "bench/suites/result_files.hpp"
#include "cli/option_words.hpp"
#include "cli/text.hpp"

namespace heptad::cli {

constexpr int kMostLevels = 20;

/// As typed; a suite with more options of its own derives from it.
struct BenchWords {
    std::string types, sizes, accuracy, threads, device, rounds, algorithm, levels, leaf, density, data;
};

void add_result_options(CLI::App& suite, ResultFiles& results);
/// --quick, --accuracy and the result files.
void add_bench_options(CLI::App& suite, BenchWords& words, bool& quick, ResultFiles& results);
void add_threads_option(CLI::App& suite, BenchWords& words);
/// What the planner and the suite decide unless told.
void add_force_options(CLI::App& suite, BenchWords& words);

/// m x k x n without zeros.
ProblemSize bench_shape(const std::string& option, const std::string& word);
/// Sides of squares, or m x k x n; nothing where nothing was typed.
std::vector<ProblemSize> bench_sizes(const std::string& sizes);
/// `fast` where nothing was typed.
/// By default that of products.
Accuracy bench_accuracy(const std::string& word);
void add_accuracy_option(CLI::App& suite, BenchWords& words);
/// lines and inner are made of f32, tf32 and f64 only.
BenchData bench_data(const std::string& word, const std::vector<Type>& types);
void add_data_option(CLI::App& suite, BenchWords& words);
/// Between 0 and 1.
double bench_density(const std::string& word);
/// 0 where nothing was typed.
int bench_rounds(const std::string& word);
/// A CUDA device; the first where nothing was typed.
std::string bench_device(const std::string& word);
/// The words of a list, each one of the choices; all of them where nothing was typed.
std::vector<std::string> chosen(const std::string& option, const std::string& typed, const std::string& choices);

template <class Arguments>
void set_forced(const BenchWords& words, Arguments& arguments) {
    if (!words.algorithm.empty()) {
        arguments.algorithm = words.algorithm;
    }
    if (!words.levels.empty()) {
        arguments.levels = static_cast<int>(parse_integer("--levels", words.levels, 0, kMostLevels));
    }
    arguments.rounds = bench_rounds(words.rounds);
}

}  // namespace heptad::cli
