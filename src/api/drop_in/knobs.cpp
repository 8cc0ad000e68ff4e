#include "api/drop_in/knobs.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "algorithm/catalogue.hpp"
#include "base/cores.hpp"
#include "base/names.hpp"
#include "base/shared_state.hpp"
#include "io/machine_file.hpp"

namespace heptad::drop_in {
namespace {

void complain(const char* name, std::string_view value, const char* meant) {
    std::fprintf(stderr, "heptad: %s is '%.*s', which is ignored; set it to %s\n", name, static_cast<int>(value.size()),
                 value.data(), meant);
}

/// Empty counts as not set.
std::string_view setting(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

template <class Number>
void read_number(const char* name, Number least, Number most, const char* meant, Number& number) {
    const std::string_view text = setting(name);
    if (text.empty()) {
        return;
    }
    Number read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size() || read < least || read > most) {
        return complain(name, text, meant);
    }
    number = read;
}

std::optional<bool> yes_or_no(std::string_view word) {
    for (const char* yes : {"1", "on", "yes", "true"}) {
        if (word == yes) {
            return true;
        }
    }
    for (const char* no : {"", "0", "off", "no", "false"}) {
        if (word == no) {
            return false;
        }
    }
    return std::nullopt;
}

void read_accuracy(Accuracy& accuracy) {
    static constexpr Names<Accuracy, 3> names{{"strict", "balanced", "fast"}};
    const std::string_view word = setting("HEPTAD_ACCURACY");
    if (!word.empty() && !names.find(word)) {
        complain("HEPTAD_ACCURACY", word, "strict, balanced or fast");
    }
    accuracy = names.find(word).value_or(accuracy);
}

/// A number with one of the letters K, M, G, T of 1024.
void read_workspace(std::int64_t& bytes) {
    std::string_view text = setting("HEPTAD_WORKSPACE");
    const std::string_view whole = text;
    constexpr std::string_view kLetters = "KMGT";
    int shift = 0;
    if (!text.empty() && kLetters.find(text.back()) != std::string_view::npos) {
        shift = 10 * static_cast<int>(1 + kLetters.find(text.back()));
        text.remove_suffix(1);
    }
    std::int64_t number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    if (error == std::errc() && end == text.data() + text.size() && number >= 0 && number <= kMost >> shift) {
        bytes = number << shift;
    } else if (!whole.empty()) {
        complain("HEPTAD_WORKSPACE", whole, "a number of bytes such as 0, 500M or 8G");
    }
}

void read_algorithm(std::string& algorithm) {
    const std::string_view word = setting("HEPTAD_ALGORITHM");
    if (word.empty() || word == "auto") {
        return;
    }
    bool is_of_numbers = false;
    try {
        is_of_numbers = ring_admits(find_algorithm(std::string(word)).algorithm.ring, Type::f64);
    } catch (const Error&) {  // there is none
    }
    if (is_of_numbers) {
        algorithm = word;
    } else {
        complain("HEPTAD_ALGORITHM", word, "auto or a name that `heptad algorithms` prints, not over GF(2)");
    }
}

/// Plans refuse a file that cannot be read. Here nobody would hear of that, and every call would be passed on.
void read_tune_file() {
    const std::string_view file = setting("HEPTAD_TUNE_FILE");
    try {
        if (!file.empty()) {
            static_cast<void>(read_machines(tune_file_for("", "HEPTAD_TUNE_FILE")));
        }
    } catch (const Error&) {
        complain("HEPTAD_TUNE_FILE", file, "a file that `heptad tune` has made");
    }
    allow_unreadable_files();
}

Knobs read_knobs() {
    Knobs knobs;
    const std::string_view off = setting("HEPTAD_OFF");
    knobs.off = yes_or_no(off).value_or(true);  // whatever is meant by it, it is meant to be off
    if (knobs.off) {
        return knobs;
    }
    read_accuracy(knobs.accuracy);
    constexpr std::int64_t kLargest = std::int64_t{1} << 62;
    read_number<std::int64_t>("HEPTAD_MIN_SIZE", 1, kLargest, "the smallest size to be taken over", knobs.min_size);
    read_workspace(knobs.workspace_bytes);
    read_number("HEPTAD_LEVELS", 0, 8, "0 to 8", knobs.levels);
    read_algorithm(knobs.algorithm);
    read_tune_file();
    const std::string_view device = setting("HEPTAD_DEVICE");
    if (device == "cuda") {
        knobs.may_use_device = true;
    } else if (!device.empty() && device != "off" && device != "cpu") {
        complain("HEPTAD_DEVICE", device, "off or cuda");
    }
    const std::string_view log = setting("HEPTAD_LOG");
    knobs.log = yes_or_no(log).value_or(true) ? (yes_or_no(log) ? "1" : std::string(log)) : "";
    try {
        knobs.threads = threads_in(std::getenv("HEPTAD_THREADS"), nullptr).by_heptad;
    } catch (const Error&) {
        complain("HEPTAD_THREADS", setting("HEPTAD_THREADS"), "1 to 4096");
    }
    return knobs;
}

}  // namespace

const Knobs& knobs() {
    static constinit Once<Knobs> all;
    return all.get(read_knobs);
}

}  // namespace heptad::drop_in
