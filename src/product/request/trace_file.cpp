#include "product/request/trace_file.hpp"

#include <algorithm>
#include <system_error>

#include "base/error.hpp"
#include "io/npy.hpp"

namespace heptad {

std::filesystem::path place_of(const std::filesystem::path& path) {
    std::error_code refused;
    const std::filesystem::path whole = std::filesystem::absolute(path, refused);
    if (refused) {
        return path;
    }
    std::filesystem::path followed = std::filesystem::weakly_canonical(whole, refused);
    return refused ? whole : followed;
}

void require_trace_file(const std::string& trace, const std::vector<std::string>& taken) {
    if (std::ranges::any_of(
            taken, [&](const std::string& path) { return !path.empty() && place_of(path) == place_of(trace); })) {
        fail(ErrorCode::usage, "--trace '{}' would replace a file of the product itself; give another name", trace);
    }
    check_writable(trace);
}

}  // namespace heptad
