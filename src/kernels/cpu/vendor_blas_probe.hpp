// Asking dangerous questions: in a short-lived child process.
//
// A BLAS can only say which kernels it picked after it was loaded, when it is too late to change its mind, and BLIS and
// MKL end the process when a setting does not suit them. So the question is put to a fork of this process: what the
// child does to itself, the parent never sees. The answer comes back through a pipe. The child has no output, leaves no
// core file, and is killed after the time limit (a fork of a threaded process may find a lock taken for ever).
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace heptad::cpu {

/// What question() returned in a child process, or nothing if the child died, hung or could not be made.
std::optional<std::string> ask_child(const std::function<std::string()>& question, int limit_ms = 5000);

/// An environment variable with another value (nullptr: unset) while this lives. Other threads that read or change the
/// environment at that moment are on their own, as with any setenv: hold it as briefly as possible.
class ScopedEnvironment {
public:
    ScopedEnvironment(const char* name, const char* value);
    ~ScopedEnvironment();
    ScopedEnvironment(const ScopedEnvironment&) = delete;
    ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

}  // namespace heptad::cpu
