// Other people's programs with libheptad_blas.so preloaded.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace heptad::blas_testing {

struct Outcome {
    int exit_code = -1;
    std::string text;  // standard output and standard error
};

/// In a folder of its own, which is left empty: testers write files where they are started.
inline Outcome run_in(const std::filesystem::path& folder, const std::string& command) {
    std::filesystem::create_directories(folder);
    Outcome outcome;
    const std::string line = "cd '" + folder.string() + "' && { " + command + " ; } 2>&1";
    if (FILE* const pipe = popen(line.c_str(), "r")) {
        std::array<char, 4096> buffer{};
        for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
            outcome.text.append(buffer.data(), n);
        }
        const int status = pclose(pipe);
        outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    }
    return outcome;
}

/// For the front of a command. settings: "HEPTAD_LEVELS=1 ..." or "".
inline std::string preloaded(const std::string& settings) {
    return "LD_PRELOAD=" HEPTAD_BLAS_LIBRARY " " + settings + " ";
}

inline std::size_t count(const std::string& text, const std::string& word) {
    std::size_t times = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        ++times;
    }
    return times;
}

}  // namespace heptad::blas_testing
