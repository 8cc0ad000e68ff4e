#include "python_options.hpp"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace heptad::python {

Accuracy accuracy_of(const std::string& word) {
    if (word == "balanced") {
        return Accuracy::balanced;
    }
    if (word == "strict") {
        return Accuracy::strict;
    }
    if (word == "fast") {
        return Accuracy::fast;
    }
    if (word == "exact") {
        return Accuracy::exact;
    }
    throw Error(ErrorCode::usage, "'" + word + "' is not an accuracy; use exact, strict, balanced or fast");
}

std::string word_of(nb::handle given, const char* name, const char* example) {
    std::string word;
    if (!nb::try_cast(given, word)) {
        throw nb::type_error((std::string(name) + " is a " + nb::cast<std::string>(given.type().attr("__name__")) +
                              "; give a word, such as '" + example + "'")
                                 .c_str());
    }
    return word;
}

Options options_of(const std::string& accuracy, const std::string& algorithm, int levels, const std::string& device,
                   std::int64_t workspace_limit_bytes) {
    Options options;
    options.accuracy = accuracy_of(accuracy);
    options.algorithm = algorithm;
    options.levels = levels;
    options.device = device;
    if (workspace_limit_bytes >= 0) {
        options.workspace_limit_bytes = workspace_limit_bytes;
    }
    return options;
}

Options options_of(nb::handle accuracy, nb::handle algorithm, int levels, nb::handle device,
                   std::int64_t workspace_limit_bytes) {
    return options_of(word_of(accuracy, "accuracy", "balanced"), word_of(algorithm, "algorithm", "auto"), levels,
                      word_of(device, "device", "auto"), workspace_limit_bytes);
}

}  // namespace heptad::python
