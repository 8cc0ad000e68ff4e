#include "io/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/fail_if.hpp"

namespace heptad {

OpenFile open_to_read(const std::string& path, const char* wanted) {
    // O_NONBLOCK: a pipe without a writer must be refused below, not waited for.
    OpenFile open{Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)), 0};
    if (open.file.get() < 0) {
        const int why = errno;
        fail(why == EMFILE || why == ENFILE || why == ENOMEM ? ErrorCode::resource : ErrorCode::input,
             "'{}' cannot be opened: {}", path, system_error_text(why));
    }
    struct stat facts {};
    if (::fstat(open.file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        fail(ErrorCode::input, "'{}' is {}; give {}", path, S_ISDIR(facts.st_mode) ? "a folder" : "not a regular file",
             wanted);
    }
    open.bytes = facts.st_size;
    return open;
}

std::string suffix_of(const std::string& path) {
    std::string suffix = path.substr(std::min(path.find_last_of("./"), path.size()));
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return suffix.starts_with('.') ? suffix : "";
}

void require_bits(const void* bytes, std::int64_t count, std::int64_t first_index, const std::string& path) {
    const auto* const first = static_cast<const unsigned char*>(bytes);
    unsigned seen = 0;
    for (std::int64_t i = 0; i < count; ++i) {  // quicker than to look for the first
        seen |= first[i];
    }
    if (seen <= 1) {
        return;
    }
    const auto* const bad = std::find_if(first, first + count, [](unsigned char byte) { return byte > 1; });
    fail(ErrorCode::input,
         "element {} of '{}' is {}, and a matrix of bits holds only 0 and 1; save (a != 0), or give --columns "
         "if it is packed",
         first_index + (bad - first), path, *bad);
}

void stop_if_cancelled(const FileHooks& hooks, const std::string& path) {
    fail_if(hooks.cancel.cancelled(), ErrorCode::cancelled, "cancelled while working on '{}'", path);
}

void report(const FileHooks& hooks, std::int64_t done, std::int64_t all, const char* stage) {
    if (hooks.progress) {
        hooks.progress({all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 1.0, stage});
    }
}

}  // namespace heptad
