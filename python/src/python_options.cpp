#include "python_options.hpp"

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

}  // namespace heptad::python
