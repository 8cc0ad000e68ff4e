#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "place/file/atomic_file.hpp"

namespace heptad::cli {
namespace {

// File names may hold any bytes; those that are no UTF-8 are replaced, never refused.
std::string dump(const nlohmann::ordered_json& object, int indent) {
    return object.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

DetailedError::DetailedError(ErrorCode code, const std::string& sentence, const nlohmann::ordered_json& details)
    : Error(code, sentence), details_(dump(details, -1)) {}

void print(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0) {
        fail(ErrorCode::resource, "standard output cannot be written: {}", std::strerror(errno));
    }
}

void print(const nlohmann::ordered_json& object) {
    print(pretty(object));
}

int print_failure(const Error& error, bool json) noexcept {
    try {
        std::fputs(fmt::format("heptad: {}\n", error.what()).c_str(), stderr);
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

void write_text_file(const std::string& path, const std::string& text) {
    const auto bytes = static_cast<std::int64_t>(text.size());
    AtomicFile file(path, bytes);
    file.write(text.data(), bytes);
    file.commit();
}

std::string pretty(const nlohmann::ordered_json& object) {
    return dump(object, 2) + "\n";
}

}  // namespace heptad::cli
