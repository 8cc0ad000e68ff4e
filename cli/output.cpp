#include "output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/errors_only.hpp"
#include "text.hpp"

namespace heptad::cli {
namespace {

// File names may hold any bytes; those that are no UTF-8 are replaced, never refused.
std::string dump(const nlohmann::ordered_json& object, int indent) {
    return object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool standard_output_is_claimed = false;

/// Is it open as our standard output? What goes to /dev/null does not get in the way.
bool is_standard_output(const std::string& path) {
    struct stat named {
    }, open{};
    constexpr const char* kNowhere = "/dev/null";
    return path != kNowhere && ::stat(path.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

}  // namespace

std::string claim_output(const std::string& path) {
    const std::string place = path == "-" ? "/dev/stdout" : path;
    standard_output_is_claimed = standard_output_is_claimed || is_standard_output(place);
    return place;
}

DetailedError::DetailedError(ErrorCode code, const std::string& sentence, const nlohmann::ordered_json& details)
    : Error(code, sentence), details_(dump(details, -1)) {}

void print(const std::string& text) {
    std::FILE* const to = standard_output_is_claimed ? stderr : stdout;
    const bool written = std::fwrite(text.data(), 1, text.size(), to) == text.size();
    if (!written || std::fflush(to) != 0) {
        fail(ErrorCode::resource, "standard output cannot be written: {}", std::strerror(errno));
    }
}

void print(const nlohmann::ordered_json& object) {
    print(pretty(object));
}

int print_failure(const Error& error, bool json) noexcept {
    try {
        std::string shown;
        try {
            shown = visible(error.what());
        } catch (const std::bad_alloc&) {  // then as it is
        }
        std::fprintf(stderr, "heptad: %s\n", shown.empty() ? error.what() : shown.c_str());
        if (json) {
            nlohmann::ordered_json object{{"error", error.what()}, {"code", static_cast<int>(error.code())}};
            if (const auto* detailed = dynamic_cast<const DetailedError*>(&error)) {
                object.update(nlohmann::ordered_json::parse(detailed->details()));
            }
            print(object);
        }
    } catch (const std::exception&) {
        // Nothing is left to tell it with: the exit code has to do.
    }
    return static_cast<int>(error.code());
}

int print_internal_failure(const char* what, bool json) noexcept {
    try {
        return print_failure(Error(ErrorCode::internal, std::string("internal error: ") + what), json);
    } catch (const std::exception&) {  // no memory for that
        return print_failure(out_of_memory(), json);
    }
}

std::string pretty(const nlohmann::ordered_json& object) {
    return dump(object, 2) + "\n";
}

}  // namespace heptad::cli
