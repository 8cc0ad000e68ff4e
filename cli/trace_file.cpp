#include "trace_file.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "place/file/npy.hpp"

namespace heptad::cli {

void require_trace_file(const std::string& trace, const std::vector<std::string>& taken) {
    const auto place = [](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
    };
    if (std::any_of(taken.begin(), taken.end(),
                    [&](const std::string& path) { return !path.empty() && place(path) == place(trace); })) {
        fail(ErrorCode::usage, "--trace '{}' would replace a file of the product itself; give another name", trace);
    }
    check_writable(trace);
}

}  // namespace heptad::cli
