// What a command leaves beside matrices: one JSON object or text on standard output, and one sentence per
// failure on standard error.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include <heptad/heptad.hpp>

namespace heptad::cli {

/// A failure that has something to tell beside its sentence: the fields of a JSON object, printed in --json mode.
class DetailedError : public Error {
public:
    DetailedError(ErrorCode code, const std::string& sentence, const nlohmann::ordered_json& details);
    const std::string& details() const { return details_; }

private:
    std::string details_;
};

/// Where a result goes: "-" is standard output. Where it goes there, by whatever name, data is all that does, and
/// print() writes to standard error from now on.
std::string claim_output(const std::string& path);

/// Text to standard output. Throws Error(resource) when it cannot be written.
void print(const std::string& text);
inline void print(const char* text) {
    print(std::string(text));
}
void print(const nlohmann::ordered_json& object);

/// "heptad: sentence" to standard error; with `json` also {"error": ..., "code": ...} to standard output.
/// Returns the exit code.
int print_failure(const Error& error, bool json) noexcept;
/// The same for what is no Error.
int print_internal_failure(const char* what, bool json) noexcept;

/// JSON text with two blanks of indentation; non-finite numbers are null.
std::string pretty(const nlohmann::ordered_json& object);

}  // namespace heptad::cli
